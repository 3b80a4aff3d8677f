//===- ExpandOps.h - Ops that are written with other ops --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tests: test/Import/StableHLO/expand-ops.mlir
//===----------------------------------------------------------------------===//

#ifndef LLMC_IMPORT_PROGRAM_EXPANDOPS_H
#define LLMC_IMPORT_PROGRAM_EXPANDOPS_H

#include "llmc/Runtime/Base/Status.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace llmc::import {

/// Replaces each op that is written with other ops (ExpansionOpInterface) by
/// these, until none is left, and computes small integers of constants on the
/// way, so that counters of loops become constants. Ops that are simpler where
/// their operands are known (SimplificationOpInterface) become so.
rt::Status expandOps(mlir::func::FuncOp main);

/// Marks all loops, so that `expandOps` leaves none.
void unrollLoops(mlir::func::FuncOp main);

} // namespace llmc::import

#endif // LLMC_IMPORT_PROGRAM_EXPANDOPS_H
