//===- StageSums.h - Sums that may be left apart ----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ops of a microbatch whose results reach nothing but gradients and sums of the
// step, through additions and through ops that are linear in their only operand
// beside constants: their terms may stay at the stages that make them.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_TRANSFORMS_SHARDING_STAGESUMS_H
#define LLMC_LIB_TRANSFORMS_SHARDING_STAGESUMS_H

#include "llmc/Support/LLVM.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace llmc {

/// Linear in all its operands together (sums pass through it).
bool isJointlyLinear(Operation *op);

/// Jointly linear in two operands and symmetric in them.
bool isAddition(Operation *op);

/// Linear in the first operand, and any others are constants: of a sum it is
/// the sum of what it is of the terms.
bool isLinearInFirst(Operation *op);

/// The additions and ops that are linear in their first operand as above, in
/// program order.
SmallVector<Operation *> findStageSums(mlir::func::FuncOp function);

} // namespace llmc

#endif // LLMC_LIB_TRANSFORMS_SHARDING_STAGESUMS_H
