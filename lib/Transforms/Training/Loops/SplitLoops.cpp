//===- SplitLoops.cpp - A loop for each chunk of a pipeline ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   loop "l" of 12 trips over %W          four chunks:
//     ->  loop "l.0" of 3 trips over rows 0 to 2 of %W,
//         loop "l.1" of 3 trips over rows 3 to 5, from where "l.0" ends, ...
//
// Each piece is a block of its own, so that the pieces can lie on different
// stages; a stack of parameters is then stored in parts (`llmc-split-states`).
// A loop of a derivative that the text has goes through the trips of its
// forward loop from the last to the first, and is cut at the same ones.
//
// Test: test/Transforms/Training/split-loops.mlir
//===----------------------------------------------------------------------===//

#include "../TrainingMarks.h"
#include "ForwardSteps.h"
#include "llmc/Dialect/Dist/IR/LoopRuns.h"
#include "llmc/Dialect/Graph/IR/Parts.h"
#include "llmc/Dialect/StableHLO/IR/Builders.h"
#include "llmc/Transforms/Training/Passes.h"
#include "mlir/Analysis/TopologicalSortUtils.h"
#include "mlir/IR/IRMapping.h"

namespace llmc {
#define GEN_PASS_DEF_SPLITLOOPSPASS
#include "llmc/Transforms/Training/Passes.h.inc"
} // namespace llmc

using namespace mlir;
using namespace llmc;

namespace {
/// Builds the pieces of one loop after its last op.
class LoopSplitter {
public:
  LoopSplitter(const dist::LoopRun &run, Operation *last)
      : run(run), builder(last->getContext()) {
    builder.setInsertionPointAfter(last);
  }

  void split(int64_t numPieces, bool isBackward);

private:
  void buildPiece(int64_t number, int64_t begin, int64_t end);
  dist::LoopAttr nameInner(dist::LoopAttr loop, int64_t number) const;
  void cloneOp(Operation *op, int64_t number);
  void buildEnter(dist::EnterOp enter, int64_t begin, int64_t end);
  void buildLeave(dist::LeaveOp leave);

  const dist::LoopRun &run;
  OpBuilder builder;
  dist::LoopAttr piece;
  IRMapping mapping;
  /// What each carried value is after the last piece, by its `dist.enter`.
  llvm::DenseMap<Operation *, Value> carried;
  /// What each piece gives for each `dist.leave`.
  llvm::DenseMap<Operation *, SmallVector<Value>> given;
};
} // namespace

/// A part of a stack; of one that is put together, or reversed, that of what it
/// is made of, so that a parameter's rows are read where their piece is.
static Value takePart(OpBuilder &builder, Location loc, Value stack,
                      graph::DimRange range) {
  auto type = cast<RankedTensorType>(stack.getType());
  if (range.getSize() == type.getDimSize(range.dim))
    return stack;
  if (auto parts = stack.getDefiningOp<graph::PartOpInterface>()) {
    auto partOf = [&](Value value, graph::DimRange inner) {
      return takePart(builder, loc, value, inner);
    };
    if (Value part = parts.buildPart(builder, range, partOf))
      return part;
  }
  SmallVector<int64_t> starts(type.getRank(), 0), limits(type.getShape());
  starts[range.dim] = range.begin;
  limits[range.dim] = range.end;
  return stablehlo::slice(builder, loc, stack, starts, limits);
}

void LoopSplitter::buildEnter(dist::EnterOp enter, int64_t begin, int64_t end) {
  Location loc = enter.getLoc();
  Value input = enter.getInput();
  if (enter.isRow())
    input = takePart(builder, loc, input, {0, begin, end});
  if (Value last = carried.lookup(enter))
    input = last;
  int64_t number = enter.getNumber() ? int64_t(*enter.getNumber()) : -1;
  auto made = dist::EnterOp::create(builder, loc, input, enter.getKind(), piece,
                                    number);
  mapping.map(enter.getResult(), made.getResult());
}

static StringAttr getPieceName(StringAttr name, int64_t number) {
  return StringAttr::get(name.getContext(),
                         name.getValue() + "." + Twine(number));
}

/// A loop in the one that is split, in the piece with this number.
dist::LoopAttr LoopSplitter::nameInner(dist::LoopAttr loop,
                                       int64_t number) const {
  if (loop == run.loop)
    return piece;
  return dist::LoopAttr::get(loop.getContext(),
                             getPieceName(loop.getName(), number),
                             loop.getTrips(), nameInner(loop.getIn(), number));
}

void LoopSplitter::cloneOp(Operation *op, int64_t number) {
  Operation *copy = builder.clone(*op, mapping);
  if (auto enter = dyn_cast<dist::EnterOp>(copy))
    enter.setLoopAttr(nameInner(enter.getLoop(), number));
  else if (auto leave = dyn_cast<dist::LeaveOp>(copy))
    leave.setLoopAttr(nameInner(leave.getLoop(), number));
}

void LoopSplitter::buildPiece(int64_t number, int64_t begin, int64_t end) {
  piece = dist::LoopAttr::get(builder.getContext(),
                              getPieceName(run.loop.getName(), number),
                              end - begin);
  mapping = IRMapping();
  for (Operation *op : run.ops) {
    auto enter = dyn_cast<dist::EnterOp>(op);
    if (enter && enter.getLoop() == run.loop)
      buildEnter(enter, begin, end);
    else
      cloneOp(op, number);
  }
  for (Operation *op : run.ops)
    if (auto next = dyn_cast<dist::NextOp>(op);
        next && next.getEnter().getLoop() == run.loop)
      carried[next.getEnter()] = dist::LeaveOp::create(
          builder, op->getLoc(), mapping.lookup(next.getResult()),
          dist::LeaveKind::Last, piece);
  for (dist::LeaveOp leave : run.leaves)
    if (!leave.isLast())
      given[leave].push_back(dist::LeaveOp::create(
          builder, leave.getLoc(), mapping.lookup(leave.getInput()),
          leave.getKind(), piece));
}

void LoopSplitter::buildLeave(dist::LeaveOp leave) {
  Location loc = leave.getLoc();
  Value result;
  if (leave.isLast()) {
    result = carried.lookup(
        leave.getInput().getDefiningOp<dist::NextOp>().getEnter());
  } else if (leave.isStack()) {
    result = stablehlo::concatenate(builder, loc, given[leave], 0);
  } else {
    for (Value term : given[leave])
      result = result ? stablehlo::add(builder, loc, result, term) : term;
  }
  leave.getResult().replaceAllUsesWith(result);
}

void LoopSplitter::split(int64_t numPieces, bool isBackward) {
  int64_t trips = run.loop.getTrips();
  auto cut = [&](int64_t k) {
    return isBackward ? trips - trips * (numPieces - k) / numPieces
                      : trips * k / numPieces;
  };
  for (int64_t k = 0; k < numPieces; ++k)
    buildPiece(k, cut(k), cut(k + 1));
  for (dist::LeaveOp leave : run.leaves)
    buildLeave(leave);
}

static void splitLoops(func::FuncOp function, int64_t numChunks) {
  Block &block = function.front();
  dist::LoopRuns loops(block);
  llvm::SmallDenseSet<int> forward;
  for (const dist::LoopStep &step : training::collectForward(function, loops))
    forward.insert(step.run);
  for (auto [number, run] : llvm::enumerate(loops.getRuns())) {
    if (run.loop.getConditional() || run.in >= 0)
      continue;
    Operation *last = run.ops.back();
    for (dist::LeaveOp leave : run.leaves)
      if (last->isBeforeInBlock(leave))
        last = leave;
    LoopSplitter(run, last).split(
        std::min<int64_t>(run.loop.getTrips(), numChunks),
        !forward.contains(static_cast<int>(number)));
  }
  for (const dist::LoopRun &run : loops.getRuns())
    if (!run.loop.getConditional() && run.in < 0)
      dist::eraseRun(run);
  if (!loops.empty())
    sortTopologically(&block);
}

namespace {
struct SplitLoopsPass : llmc::impl::SplitLoopsPassBase<SplitLoopsPass> {
  void runOnOperation() override {
    int64_t numChunks = training::countChunks(getOperation());
    if (numChunks == 1)
      return markAllAnalysesPreserved();
    for (func::FuncOp function : training::getGraphFunctions(getOperation()))
      if (!function.isExternal())
        splitLoops(function, numChunks);
  }
};
} // namespace
