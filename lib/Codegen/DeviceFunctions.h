//===- DeviceFunctions.h - What a device has no library of ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_CODEGEN_DEVICEFUNCTIONS_H
#define LLMC_LIB_CODEGEN_DEVICEFUNCTIONS_H

#include "llmc/Support/LLVM.h"
#include "mlir/IR/Builders.h"

namespace llmc::codegen {

/// The function `name` of the C library, of scalars of f64 that f32 has too, as
/// code; its result is good to be rounded to f32. Null where there is none.
Value makeDeviceFunction(OpBuilder &builder, Location loc, StringRef name,
                         ValueRange arguments);

} // namespace llmc::codegen

#endif // LLMC_LIB_CODEGEN_DEVICEFUNCTIONS_H
