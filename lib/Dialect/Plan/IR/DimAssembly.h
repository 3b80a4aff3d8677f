//===- DimAssembly.h - A dim of a descriptor as text ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A library's loops run over dims of kinds that the descriptor names, and a dim
// has a stride in some of the operands:
//
//   <m, 128, a = 64, c = 256>     kind, size, strides that are not 0
//
// Tests: test/Dialect/Plan/ops.mlir, invalid-libraries.mlir,
// invalid-attention.mlir
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_DIALECT_PLAN_IR_DIMASSEMBLY_H
#define LLMC_LIB_DIALECT_PLAN_IR_DIMASSEMBLY_H

#include "llmc/Support/LLVM.h"
#include "mlir/IR/OpImplementation.h"

namespace llmc::plan {

/// The words of a descriptor's dims, in the order of their numbers.
struct DimWords {
  SmallVector<StringRef> kinds;
  /// Of the operands that may have a stride.
  SmallVector<StringRef> strides;
};

struct DimText {
  uint32_t kind;
  int64_t size;
  /// One for each word, 0 where the text has none.
  SmallVector<int64_t> strides;
};

/// On failure an error has been emitted at the word that does not fit.
FailureOr<DimText> parseDim(mlir::AsmParser &parser, const DimWords &words);
void printDim(mlir::AsmPrinter &printer, const DimText &dim,
              const DimWords &words);

} // namespace llmc::plan

#endif // LLMC_LIB_DIALECT_PLAN_IR_DIMASSEMBLY_H
