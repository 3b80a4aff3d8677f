//===- AxisPlacer.h - Reductions over one axis, of one kind -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Poses the problem of Solvers/Reshard/ReductionPlacement.h for a table of
// layouts, and writes its answer into the table.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_ANALYSIS_AXISPLACER_H
#define LLMC_LIB_ANALYSIS_AXISPLACER_H

#include "LayoutTable.h"
#include "llmc/Analysis/Layouts/ProgramPlacement.h"
#include "llmc/Analysis/Layouts/Remaking.h"
#include "llmc/Solvers/Reshard/ReductionPlacement.h"
#include "llvm/ADT/SetVector.h"

namespace llmc {

/// The dim that `axis` splits, and whether it is the minor-most axis there.
std::optional<std::pair<int64_t, bool>> findSplit(dist::LayoutAttr layout,
                                                  dist::AxisAttr axis);

/// Partial over `axis` instead of split by it; what stands after the axis in
/// the list of its dim leaves the dim too.
dist::LayoutAttr asPartial(dist::LayoutAttr layout, dist::AxisAttr axis,
                           ReductionKind kind);

/// Not split by `axis`, which is the minor-most one of its dim.
dist::LayoutAttr withoutSplit(dist::LayoutAttr layout, dist::AxisAttr axis);

/// Operands that are moved for an op: a value, and the layout that it is in
/// then.
using MovedValues = llvm::SmallSetVector<std::pair<Value, Attribute>, 4>;

class AxisPlacer {
public:
  /// `latency`: the part of a price that a message along the axis costs,
  /// whatever it carries.
  AxisPlacer(LayoutTable &table, LayoutReshards &reshards, dist::AxisAttr axis,
             ReductionKind kind, int64_t latency)
      : table(table), reshards(reshards), axis(axis), kind(kind),
        latency(latency), remaking(reshards, describe(), /*isEager=*/true) {}

  LogicalResult run(SmallVectorImpl<PlacedReduction> &placed);

private:
  bool isPipeline() const {
    const rt::Mesh &mesh = reshards.getMesh();
    return mesh.pipelineAxis >= 0 &&
           mesh.axes[mesh.pipelineAxis].name == axis.getName().getValue();
  }
  bool isInsidePin(dist::LayoutAttr inner, dist::LayoutAttr outer) const;
  int32_t define(Value value);
  PlacementProblem::Use use(Value value, dist::LayoutAttr want);
  void addItem(const ProgramOp &item);
  void addExit(const ProgramExit &exit);
  bool isSource(const ProgramOp &item) const;
  bool mayCarry(const ProgramOp &item) const;
  void addGroups(const ProgramOp &item, PlacementProblem::Op &op);
  bool isLegalGroup(const ProgramOp &item, ArrayRef<int> group) const;
  void addGroup(const ProgramOp &item, ArrayRef<int> group,
                PlacementProblem::Op &op, std::vector<int32_t> needed = {});
  void addLinear(const ProgramOp &item, ArrayRef<int> group,
                 PlacementProblem::Op &op);
  Remaking::Program describe();
  SmallVector<int> findSplitOperands(const ProgramOp &item) const;
  std::optional<MovedValues> findMoves(const ProgramOp &item,
                                       ArrayRef<int> operands);
  void addWhole(const ProgramOp &item, PlacementProblem::Op &op);
  std::optional<int> findHome(const ProgramOp &item) const;
  bool isApart(Value value) const;
  LogicalResult price(int32_t value);
  FailureOr<int64_t> priceOf(Value value, dist::LayoutAttr from,
                             dist::LayoutAttr to);
  LogicalResult pose();
  void leaveSums(const PlacementFlow &flow);
  void constrainOthers(const ReductionPlacement &placement);
  bool takeWholes(ArrayRef<int32_t> wholes);
  LogicalResult settle(ReductionPlacement &placement);
  /// Sources that could run whole by one and the same move.
  struct Sharers {
    std::pair<Value, Attribute> move;
    int64_t cost = 0;
    SmallVector<Operation *> ops;
    /// What their sums cost, each by itself, and how many there are.
    int64_t sums = 0, numSums = 0;
  };
  bool isDear(const Sharers &sharers) const;
  SmallVector<Sharers> findSharers();
  LogicalResult shareMoves(ReductionPlacement &placement);
  void apply(const ReductionPlacement &placement,
             SmallVectorImpl<PlacedReduction> &placed);

  LayoutTable &table;
  LayoutReshards &reshards;
  dist::AxisAttr axis;
  ReductionKind kind;
  int64_t latency;
  PlacementProblem problem;
  /// By number: the value, and the layouts that its uses want.
  SmallVector<Value> values;
  SmallVector<llvm::SmallSetVector<dist::LayoutAttr, 2>> wants;
  llvm::DenseMap<Value, int32_t> numbers;
  /// How ops run, and what they want of values, as they are.
  llvm::DenseMap<Operation *, const OpLayouts *> runsOf;
  llvm::DenseMap<Value, llvm::SmallSetVector<Attribute, 2>> wanted;
  Remaking remaking;
  /// Of what is moved the number in the problem.
  llvm::DenseMap<std::pair<Value, Attribute>, int32_t> moves;
  llvm::DenseMap<int32_t, Operation *> opsOf;
  /// Ops of the problem that hand over a sum of microbatches.
  llvm::DenseSet<int32_t> sums;
  /// By op of the problem: what is moved for it to run whole.
  llvm::DenseMap<int32_t, MovedValues> wholeMoves;
  /// Sources that run whole, and what the moves for them cost.
  llvm::SetVector<Operation *> wholes;
  int64_t paid = 0;
};

} // namespace llmc

#endif // LLMC_LIB_ANALYSIS_AXISPLACER_H
