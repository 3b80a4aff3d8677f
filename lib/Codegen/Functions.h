//===- Functions.h - Functions of f64 as code of kernels --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_CODEGEN_FUNCTIONS_H
#define LLMC_LIB_CODEGEN_FUNCTIONS_H

#include "llmc/Support/LLVM.h"
#include "mlir/IR/Builders.h"

namespace llmc::codegen {

/// The function that the op `op` ("math.sin") computes of f64, as a name for
/// it ("sin"); empty where this library has none.
StringRef getFunctionName(StringRef op);

/// The function `name` of scalars of f64, as code without calls: right to three
/// units in the last place, remainders exactly. Values at zeros,
/// infinities and for what is not a number are those of C's annex F.
Value makeFunction(OpBuilder &builder, Location loc, StringRef name,
                   ValueRange arguments);

} // namespace llmc::codegen

#endif // LLMC_LIB_CODEGEN_FUNCTIONS_H
