//===- Dropout.h - A dropout of the runtime as an attribute -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Text and hash of the struct that both houses share:
//
//   threefry from 1844674407370955161 factor 1.111111e+00
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_SUPPORT_DROPOUT_H
#define LLMC_SUPPORT_DROPOUT_H

#include "llmc/Runtime/Base/RandomBits.h"
#include "mlir/IR/DialectImplementation.h"
#include "llvm/ADT/Hashing.h"

namespace llmc {
namespace rt {
llvm::hash_code hash_value(const Dropout &dropout);
} // namespace rt

mlir::FailureOr<rt::Dropout> parseDropout(mlir::AsmParser &parser);
void printDropout(mlir::AsmPrinter &printer, const rt::Dropout &dropout);
} // namespace llmc

#endif // LLMC_SUPPORT_DROPOUT_H
