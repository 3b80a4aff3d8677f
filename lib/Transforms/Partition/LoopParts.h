//===- LoopParts.h - Programs of a chunk around its loops -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A chunk's ops of one direction are cut where loops begin and end: even parts
// are straight lines, odd ones a loop each. What a program of a loop takes and
// returns lies in slots, so what goes into the first trip, and what comes out
// of the last one and is handed on, is made by a straight part:
//
//   %x = enter carry %x0         ->  %s = fence %x0    %x = enter carry %s
//   transfer (leave last %f)     ->  %s = fence (leave last %f)   transfer %s
//   leave sum %t                 ->  a carried value that starts from zero
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_TRANSFORMS_PARTITION_LOOPPARTS_H
#define LLMC_LIB_TRANSFORMS_PARTITION_LOOPPARTS_H

#include "llmc/Dialect/Dist/IR/LoopRuns.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <map>

namespace llmc {

/// Whether `op` computes a constant, element by element: cheaper to make in
/// each trip of a loop than to read.
bool isConstantCone(Operation *op);

/// Makes the loops of a function such that each can be a program.
void prepareLoops(mlir::func::FuncOp function);

class LoopParts {
public:
  /// Direction and chunk of an op; nothing for what is in no segment.
  using Home = std::optional<std::pair<int, int64_t>>;

  LoopParts(mlir::Block &block, llvm::function_ref<Home(Operation *)> homeOf);

  bool empty() const { return loops.empty(); }
  /// 0 where there are no loops.
  int64_t getPart(Operation *op) const { return parts.lookup(op); }
  /// Null for what is of no loop.
  dist::LoopAttr getLoop(Operation *op) const;

private:
  int64_t findFirst(Operation *op, Home home) const;

  dist::LoopRuns loops;
  llvm::function_ref<Home(Operation *)> homeOf;
  llvm::DenseMap<Operation *, int64_t> parts;
};

} // namespace llmc

#endif // LLMC_LIB_TRANSFORMS_PARTITION_LOOPPARTS_H
