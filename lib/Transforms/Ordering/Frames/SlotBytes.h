//===- SlotBytes.h - Values that share bytes --------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which values of a program lie in the same bytes before anything is ordered:
// aliases (Analysis/Program/Aliases.h), and results that kernels were formed to
// leave in an operand.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_TRANSFORMS_ORDERING_SLOTBYTES_H
#define LLMC_LIB_TRANSFORMS_ORDERING_SLOTBYTES_H

#include "llmc/Dialect/Dist/IR/Signature.h"
#include "llmc/Support/LLVM.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace llmc::ordering {

/// The pairs (result, operand) that kernels were formed with.
SmallVector<std::pair<int64_t, int64_t>> getFormedTies(Operation &op);

/// True when the bytes of `value` are returned in a slot of a microbatch, or
/// sent.
bool endsInSlot(mlir::func::FuncOp function, Value value);

} // namespace llmc::ordering

#endif // LLMC_LIB_TRANSFORMS_ORDERING_SLOTBYTES_H
