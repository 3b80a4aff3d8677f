//===- Stages.h - Values between stages of the pipeline ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From phase 4 to 6 a function of several stages is a list of segments with
// transfers and joins between them. What the passes of these phases share about
// them stands here: above all, at which stages a value lives.
//
//   %a = dist.segment chunk(0) ...              lives at [0]
//   %b = dist.transfer @t0 %a along "pipe" 0 -> 1          [1]
//   %g = dist.join %a, %c over "pipe"           where %a or %c live
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_ANALYSIS_PROGRAM_STAGES_H
#define LLMC_ANALYSIS_PROGRAM_STAGES_H

#include "llmc/Dialect/Dist/IR/StateBuffers.h"
#include "llmc/Solvers/Schedules/Schedule.h"
#include "llmc/Support/LLVM.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"

namespace llmc {

/// Coordinates of the pipeline axis, ascending.
using Stages = SmallVector<int64_t>;

/// A constant or the device's coordinate: made again wherever it is used.
bool isMadeAnywhere(Operation *op);

/// A transfer or a join, which stand between segments.
bool isCrossing(Operation *op);

/// "[0, 2]".
std::string printStages(ArrayRef<int64_t> stages);

/// True for a collective over (at least) `axis`.
bool isCollectiveOver(Operation *op, StringRef axis);

/// Moves each transfer and join of `body` right after the last of its
/// operands; segments stand in an order that allows it.
void placeCrossings(mlir::Block &body);

/// Where each buffer lives, by its name; nothing without a pipeline axis.
llvm::DenseMap<Attribute, Stages> getBufferStages(ModuleOp module);

/// At which stages the values of one step or entry live, from localize on.
class StageMap {
public:
  /// `owner` is a `dist.step` or `dist.entry`.
  StageMap(ModuleOp module, Operation *owner);

  int64_t getNumStages() const { return numStages; }
  const Stages &getAll() const { return all; }
  StringRef getAxis() const { return axis; }
  /// The stage of a chunk.
  int64_t getStage(int64_t chunk) const {
    return getStageOfChunk(chunk, numStages);
  }

  /// The stages of a value at the top of a function: by its segment; in an
  /// update that is not cut yet by `dist.at`; arguments by their buffer, the
  /// layout of their port or, for sums, by the function that makes them.
  /// A join lives where its `dist.at` says, zero where none of its operands is.
  Stages getStages(Value value);
  /// The same without the stages at which a join is zero.
  Stages getMakers(Value value);
  /// Where the state's buffer lives.
  Stages getStateStages(mlir::StringAttr state) const;

private:
  Stages findStages(Value value, bool countsZeros);
  Stages getArgumentStages(mlir::BlockArgument argument, bool countsZeros);

  ModuleOp module;
  mlir::func::FuncOp microbatch;
  int64_t numStages;
  /// The pipeline axis, or "".
  StringRef axis;
  Stages all;
  dist::StateBuffers bufferOf;
  llvm::DenseMap<Attribute, Stages> buffers;
  /// Sums that the microbatch returns, by slot.
  llvm::DenseMap<Attribute, Value> sums;
};

} // namespace llmc

#endif // LLMC_ANALYSIS_PROGRAM_STAGES_H
