//===- PairLoops.cpp - A loop that undoes another one ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   %ys = leave stack %y of "f"                      %g = f %y
//   %r = enter row (reverse %ys) of "b"     ->       leave stack %g of
//   %g = f %r                                          "f", reversed
//   reverse (leave stack %g of "b")
//
// In a manual region the dims of devices stand ahead of rows, outside of loops:
// dims are moved before and after the reverse, which is the same.
//
// Test: test/Transforms/Training/pair-loops.mlir
//===----------------------------------------------------------------------===//

#include "PartBuilder.h"
#include "TrainingMarks.h"
#include "llmc/Dialect/Dist/IR/LoopRuns.h"
#include "llmc/Dialect/StableHLO/IR/Builders.h"
#include "llmc/Transforms/Training/Passes.h"

namespace llmc {
#define GEN_PASS_DEF_PAIRLOOPSPASS
#include "llmc/Transforms/Training/Passes.h.inc"
} // namespace llmc

using namespace mlir;
using namespace llmc;

namespace {
/// A value as a view of another one: dims in another order, some from their
/// last position on. Hints of layouts are no part of it.
struct RowsView {
  explicit RowsView(Value value)
      : from(value),
        dims(llvm::to_vector(llvm::seq<int64_t>(
            0, cast<RankedTensorType>(value.getType()).getRank()))),
        isReversed(dims.size(), false) {}

  /// Looks through the op that makes `from`; false where that is no view.
  bool moveUp();
  /// Whether the rows of `from` are there from the last on, and nothing else.
  bool isOfReversedRows() const {
    return !dims.empty() && isReversed[0] &&
           llvm::none_of(llvm::drop_begin(isReversed),
                         [](bool r) { return r; }) &&
           llvm::equal(dims, llvm::seq<int64_t>(0, dims.size()));
  }

  Value from;
  /// By dim of the value: the dim of `from` that it is.
  SmallVector<int64_t> dims;
  SmallVector<bool> isReversed;
};
} // namespace

bool RowsView::moveUp() {
  Operation *op = from.getDefiningOp();
  auto reverse = dyn_cast_or_null<stablehlo::ReverseOp>(op);
  auto transpose = dyn_cast_or_null<stablehlo::TransposeOp>(op);
  auto constraint = dyn_cast_or_null<dist::ConstraintOp>(op);
  if (!reverse && !transpose && !(constraint && constraint.getHint()))
    return false;
  for (auto [dim, reversed] : llvm::zip(dims, isReversed))
    if (transpose)
      dim = transpose.getPermutation()[dim];
    else if (reverse && llvm::is_contained(reverse.getDimensions(), dim))
      reversed = !reversed;
  from = op->getOperand(0);
  return true;
}

/// What `value` has from the last row on; null where it is no such view.
static Value getReversed(Value value) {
  Value found;
  for (RowsView view(value); view.moveUp();)
    if (view.isOfReversedRows())
      found = view.from;
  return found;
}

/// The value from its last row on, for a loop with the marks of `like`.
static Value reverseFor(OpBuilder &builder, Operation *like, Value value) {
  if (Value known = getReversed(value))
    return known;
  Value reversed = stablehlo::reverse(builder, like->getLoc(), value, {0});
  training::copyMarks(like, reversed.getDefiningOp());
  return reversed;
}

static bool isForward(const dist::LoopRun &run) {
  auto phase = run.ops.front()->getAttrOfType<dist::PhaseAttr>(
      dist::DistDialect::kPhase);
  return phase && phase.getValue() == dist::Phase::Forward;
}

/// A loop can be read where it is made in its own block alone.
static bool areInOneBlock(const dist::LoopRun &a, const dist::LoopRun &b) {
  return training::getBlockMark(a.ops.front()) ==
         training::getBlockMark(b.ops.front());
}

namespace {
class LoopPairer {
public:
  explicit LoopPairer(func::FuncOp function)
      : loops(function.front()), builder(function.getContext()) {}

  void run();

private:
  dist::LeaveOp getState(dist::EnterOp enter, int of) const;
  int findForward(const dist::LoopRun &run) const;
  Value readState(dist::EnterOp enter, Value state, dist::LoopAttr loop);
  void turnEnter(dist::EnterOp enter, int of, dist::LoopAttr loop);
  void turnLeave(dist::LeaveOp leave, dist::LoopAttr loop);

  dist::LoopRuns loops;
  OpBuilder builder;
  llvm::SmallDenseSet<int> paired;
};
} // namespace

/// The stack of the loop `of` of which `enter` reads the rows, the last first.
dist::LeaveOp LoopPairer::getState(dist::EnterOp enter, int of) const {
  Value stack = enter.isRow() ? getReversed(enter.getInput()) : Value();
  auto leave = stack ? stack.getDefiningOp<dist::LeaveOp>() : dist::LeaveOp();
  return leave && leave.isStack() && loops.getLeft(leave) == of
             ? leave
             : dist::LeaveOp();
}

/// The forward loop of which a loop of the backward reads the most states from
/// the last to the first; -1 where there is none.
int LoopPairer::findForward(const dist::LoopRun &run) const {
  int best = -1;
  int64_t most = 0;
  for (auto [number, other] : llvm::enumerate(loops.getRuns())) {
    int of = static_cast<int>(number);
    if (!isForward(other) || paired.contains(of) ||
        other.loop.getTrips() != run.loop.getTrips() ||
        other.loop.getReversed() || !areInOneBlock(other, run))
      continue;
    int64_t count = llvm::count_if(run.ops, [&](Operation *op) {
      auto enter = dyn_cast<dist::EnterOp>(op);
      return enter && getState(enter, of);
    });
    if (count > most) {
      most = count;
      best = of;
    }
  }
  return best;
}

/// A value of the forward loop's trip. What enters it as it is, or by rows,
/// enters the reversed loop again.
Value LoopPairer::readState(dist::EnterOp enter, Value state,
                            dist::LoopAttr loop) {
  auto entered = state.getDefiningOp<dist::EnterOp>();
  if (!entered || entered.isCarry())
    return state;
  auto again = dist::EnterOp::create(
      builder, enter.getLoc(), entered.getInput(), entered.getKind(), loop);
  training::copyMarks(enter, again);
  return again;
}

void LoopPairer::turnEnter(dist::EnterOp enter, int of, dist::LoopAttr loop) {
  builder.setInsertionPoint(enter);
  if (dist::LeaveOp leave = getState(enter, of)) {
    // Erased with all else that is dead, once the runs are looked at no more.
    enter.replaceAllUsesWith(readState(enter, leave.getInput(), loop));
    return;
  }
  if (enter.isRow())
    enter.getInputMutable().assign(
        reverseFor(builder, enter, enter.getInput()));
  enter.setLoopAttr(loop);
}

/// What reads `stack` by this use alone and has it from the last row on; null
/// where there is no such value.
static Value findTurned(Value stack, OpOperand &use) {
  for (Operation *user = use.getOwner(); user->getNumResults() == 1;) {
    Value view = user->getResult(0);
    if (getReversed(view) == stack)
      return view;
    if (!RowsView(view).moveUp() || !view.hasOneUse())
      break;
    user = *view.user_begin();
  }
  return {};
}

void LoopPairer::turnLeave(dist::LeaveOp leave, dist::LoopAttr loop) {
  leave.setLoopAttr(loop);
  if (!leave.isStack())
    return;
  builder.setInsertionPointAfter(leave);
  SmallVector<OpOperand *> others;
  for (OpOperand &use : llvm::make_early_inc_range(leave.getResult().getUses()))
    if (Value turned = findTurned(leave.getResult(), use))
      turned.replaceAllUsesWith(leave.getResult());
    else
      others.push_back(&use);
  if (others.empty())
    return;
  Value reversed = reverseFor(builder, leave, leave.getResult());
  for (OpOperand *use : others)
    use->set(reversed);
}

void LoopPairer::run() {
  for (const dist::LoopRun &run : loops.getRuns()) {
    // A text that has its derivative keeps one level of loops.
    if (isForward(run) || run.in >= 0 || run.loop.getConditional() ||
        run.loop.getReversed())
      continue;
    int of = findForward(run);
    if (of < 0)
      continue;
    paired.insert(of);
    dist::LoopAttr loop = loops.getRuns()[of].loop.getReverse();
    for (Operation *op : run.ops)
      if (auto enter = dyn_cast<dist::EnterOp>(op))
        turnEnter(enter, of, loop);
    for (dist::LeaveOp leave : run.leaves)
      turnLeave(leave, loop);
  }
}

namespace {
struct PairLoopsPass : llmc::impl::PairLoopsPassBase<PairLoopsPass> {
  void runOnOperation() override {
    for (auto step : getOperation().getOps<dist::StepOp>()) {
      auto function =
          getOperation().lookupSymbol<func::FuncOp>(step.getMicrobatch());
      if (function.isExternal())
        continue;
      LoopPairer(function).run();
      training::eraseDeadOps(function.front());
    }
  }
};
} // namespace
