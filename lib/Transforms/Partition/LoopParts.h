//===- LoopParts.h - Programs of a chunk around its loops -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A chunk's ops of one direction are cut where loops begin and end: even parts
// are straight lines, odd ones a loop each. A trip is cut in the same way where
// other loops are in it, so a part has a number for each loop around it, and
// one more. What a trip carries to the next one is handed on by its last part.
//
//   a, loop(b, loop(c), d), e     ->    a [0], b [1, 0], c [1, 1, 0], d [1, 2],
//                                       e [2]
//
// What a program of a loop takes and returns lies in slots, so what goes into
// the first trip, and what comes out of the last one and is handed on, is made
// by a straight part:
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
#include <set>

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

  /// Parts of a chunk run in the order of their numbers.
  using Part = SmallVector<int64_t, 2>;

  bool empty() const { return loops.empty(); }
  /// Of what is in no segment: nothing.
  Part getPart(Operation *op) const { return parts.lookup(op); }
  /// Null for what is of no loop.
  dist::LoopAttr getLoop(Operation *op) const;

private:
  int64_t findFirst(Operation *op, Home home, ArrayRef<int64_t> around) const;
  void number(int run, const Part &around);
  void numberOp(Operation *op, const Part &around, int64_t first);
  int64_t numberRun(int run, const Part &around);

  dist::LoopRuns loops;
  llvm::function_ref<Home(Operation *)> homeOf;
  llvm::DenseMap<Operation *, Part> parts;
  std::set<std::pair<std::pair<int, int64_t>, Part>> taken;
};

} // namespace llmc

#endif // LLMC_LIB_TRANSFORMS_PARTITION_LOOPPARTS_H
