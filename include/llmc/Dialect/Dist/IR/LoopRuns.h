//===- LoopRuns.h - Which ops run in each trip of a loop --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The ops of a trip stand in a block among others (DistLoopOps.td). An op is of
// the loop whose `dist.enter` it depends on, not counting what comes out of
// `dist.leave`. Its run is the forward one or the reversed one of the loop's
// name: the reversed one where it depends on an enter of that, or is marked as
// an op of the backward. A loop whose forward run enters in the backward, as in
// a text that has its derivative, has that run alone, and so has a conditional
// one.
//
//   forward run of "l":   enter, f, next       trips 0 ... n - 1
//   reversed run of "l":  enter, vjp f, next   trips n - 1 ... 0
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_DIALECT_DIST_IR_LOOPRUNS_H
#define LLMC_DIALECT_DIST_IR_LOOPRUNS_H

#include "llmc/Dialect/Dist/IR/Dist.h"
#include "llmc/Support/LLVM.h"
#include "llvm/ADT/DenseMap.h"

namespace llmc::dist {

/// All that runs in the trips of a loop in one direction.
struct LoopRun {
  LoopAttr loop;
  /// In the order of the block: enters, the ops themselves, nexts.
  SmallVector<Operation *> ops;
  /// What comes out, in the order of the block.
  SmallVector<LeaveOp> leaves;
};

/// One step of a block's evaluation: an op that is of no loop (leaves are such
/// ops), or a run.
struct LoopStep {
  Operation *op = nullptr;
  int run = -1;
};

class LoopRuns {
public:
  explicit LoopRuns(mlir::Block &block);

  bool empty() const { return runs.empty(); }
  ArrayRef<LoopRun> getRuns() const { return runs; }
  /// The number of the op's run, or -1. Of a leave: -1.
  int getRunOf(Operation *op) const;
  /// The run out of which a leave comes, or -1.
  int getLeft(LeaveOp leave) const { return getRunOf(leave.getInput()); }
  /// The run in whose trips the value is made, or -1.
  int getRunOf(Value value) const;
  /// An order of evaluation in which a run is one step: that of the block, but
  /// what runs need comes before them. The terminator is left out.
  std::vector<LoopStep> getSteps() const;
  /// All ops of a step.
  ArrayRef<Operation *> getOps(const LoopStep &step) const {
    return step.op ? ArrayRef(step.op) : ArrayRef(runs[step.run].ops);
  }

private:
  mlir::Block &block;
  std::vector<LoopRun> runs;
  llvm::DenseMap<Operation *, int> runOf;
};

/// The values that `op` reads, in its regions too.
SmallVector<Value> getAllOperands(Operation *op);

/// Whether `op` only passes on what a loop carries: into a trip, to the next
/// one, or out of the last.
bool isOfCarried(Operation *op);

/// The name of the slot in which a chunk's conditional loop carries its
/// condition.
std::string getConditionName(LoopAttr loop, int64_t chunk);

/// The condition of a conditional loop; null where it has none.
EnterOp findCondition(mlir::Block &block, LoopAttr loop);

/// Erases the ops and leaves of a run, of which nothing is read any more but by
/// each other.
void eraseRun(const LoopRun &run);

/// Erases what of the block's loops gives nothing that is read.
void eraseDeadLoops(mlir::Block &block);

/// What leaves a loop and is no value of its trips enters it as it is.
void closeLeaves(mlir::Block &block);

} // namespace llmc::dist

#endif // LLMC_DIALECT_DIST_IR_LOOPRUNS_H
