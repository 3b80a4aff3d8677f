//===- LoopRuns.h - Which ops run in each trip of a loop --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The ops of a trip stand in a block among others (DistLoopOps.td). An op is of
// the loop whose `dist.enter` it depends on, not counting what comes out of
// `dist.leave`; of several loops in each other, of the innermost. Its run is
// the forward one or the reversed one of the loop's name: the reversed one
// where it depends on an enter of that, or is marked as an op of the backward.
// A loop whose forward run enters in the backward, as in a text that has its
// derivative, has a reversed run only where ops enter that; a conditional one
// has none.
//
//   forward run of "l":   enter, f, next       trips 0 ... n - 1
//   reversed run of "l":  enter, vjp f, next   trips n - 1 ... 0
//
// What is left of a loop in another one is of that one:
//
//   run of "l":               enter, [all of "m" in "l"], leave of "m", next
//   run of "m" in "l":        enter, g, next
//
// In a reversed run of "l" there may be both runs of "m": the forward one
// computes again what the reversed one reads.
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
  /// The run in each of whose trips this one is, or -1.
  int in = -1;
  /// In the order of the block: enters, the ops themselves, nexts, and those of
  /// the runs in it.
  SmallVector<Operation *> ops;
  /// What comes out, in the order of the block.
  SmallVector<LeaveOp> leaves;
};

/// One step of the evaluation of a block or of a trip: an op that is of no
/// other loop (leaves of such are), or a run.
struct LoopStep {
  Operation *op = nullptr;
  int run = -1;
};

class LoopRuns {
public:
  explicit LoopRuns(mlir::Block &block);

  bool empty() const { return runs.empty(); }
  /// Each after the run that it is in.
  ArrayRef<LoopRun> getRuns() const { return runs; }
  /// The number of the innermost run that the op is of, or -1.
  int getRunOf(Operation *op) const;
  /// The run out of which a leave comes, or -1.
  int getLeft(LeaveOp leave) const { return getRunOf(leave.getInput()); }
  /// The innermost run in whose trips the value is made, or -1.
  int getRunOf(Value value) const;
  /// The run, or the one around it, that is in `level` itself; -1 where it is
  /// not in it.
  int getRunIn(int run, int level) const;
  /// Whether runs are in each other.
  bool isNested() const;
  /// An order of evaluation in which a run is one step: that of the block, but
  /// what runs need comes before them. The terminator is left out. With a
  /// number, the steps of a trip of that run.
  std::vector<LoopStep> getSteps(int run = -1) const;
  /// All ops of a step.
  ArrayRef<Operation *> getOps(const LoopStep &step) const {
    return step.op ? ArrayRef(step.op) : ArrayRef(runs[step.run].ops);
  }

private:
  int findRun(LoopAttr loop);
  void add(Operation *op, LoopAttr loop);

  mlir::Block &block;
  std::vector<LoopRun> runs;
  llvm::DenseMap<Operation *, int> runOf;
  llvm::DenseMap<Attribute, int> numbers;
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
