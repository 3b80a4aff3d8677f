//===- PairLoops.cpp - A loop that undoes another one ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   %ys = leave stack %y of "f"                      %g = f %y
//   %r = enter row (reverse %ys) of "b"     ->       leave stack %g of
//   %g = f %r                                          "f", reversed
//   reverse (leave stack %g of "b")
//
// Loops in each other are paired from the outermost on: then a loop in a trip
// of "b" reads the stack that one in the same trip of "f" leaves, or one that
// computes it again in that trip of "b".
//
// In a manual region the dims of devices stand ahead of rows, outside of loops:
// dims are moved before and after the reverse, which is the same.
//
// Test: test/Transforms/Training/pair-loops.mlir
//===----------------------------------------------------------------------===//

#include "../Parts/PartBuilder.h"
#include "../TrainingMarks.h"
#include "llmc/Analysis/Program/ElementPaths.h"
#include "llmc/Dialect/Dist/IR/LoopRuns.h"
#include "llmc/Dialect/StableHLO/IR/Builders.h"
#include "llmc/Transforms/Training/Passes.h"
#include "llvm/ADT/MapVector.h"

namespace llmc {
#define GEN_PASS_DEF_PAIRLOOPSPASS
#include "llmc/Transforms/Training/Passes.h.inc"
} // namespace llmc

using namespace mlir;
using namespace llmc;

/// What the value is, in front of barriers. A constraint may be the user's.
static Value skipBarriers(Value value) {
  for (auto result = dyn_cast<OpResult>(value);
       result && !isa<dist::ConstraintOp>(result.getOwner());
       result = dyn_cast<OpResult>(value)) {
    OpOperand *source = getForwarded(result);
    if (!source)
      break;
    value = source->get();
  }
  return value;
}

namespace {
/// A value as a view of another one: dims in another order, some from their
/// last position on. Barriers and hints of layouts are no part of it.
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
  if (Value before = skipBarriers(from); before != from) {
    from = before;
    return true;
  }
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

/// Whether each trip of `read` has one of `made` whose values are there: they
/// are the same loops, or reversed ones of these.
static bool areTripsIn(dist::LoopAttr made, dist::LoopAttr read) {
  if (!made || !read)
    return !made && !read;
  return made.getName() == read.getName() &&
         (read.getReversed() || !made.getReversed()) &&
         areTripsIn(made.getIn(), read.getIn());
}

/// The loop with `to` in the place of `from`, which is it or around it.
static dist::LoopAttr putAround(dist::LoopAttr loop, dist::LoopAttr from,
                                dist::LoopAttr to) {
  return loop == from ? to : loop.withIn(putAround(loop.getIn(), from, to));
}

namespace {
/// The loops of a function, of which a pair is looked for.
class LoopPairer {
public:
  explicit LoopPairer(func::FuncOp function)
      : loops(function.front()), builder(function.getContext()) {
    for (const dist::LoopRun &run : loops.getRuns())
      if (run.loop.getReversed())
        paired.insert(run.loop.getName());
  }

  /// Makes a reversed loop of the backward loop that reads the most states of
  /// a forward one, of the outermost such; false where there is none.
  bool pairOne();
  /// Says which loops have no pair, but read rows as a backward one does.
  void reportOthers() const;

private:
  struct Pair {
    int forward = -1, backward = -1;
    int64_t states = 0;
  };

  llvm::MapVector<int, int64_t> countStates(int backward) const;
  bool mayUndo(int backward, int forward) const;
  Pair find() const;
  void apply();
  Value enterAgain(dist::EnterOp old, dist::EnterOp like);
  Value readState(dist::EnterOp enter, Value state);
  void turnEnter(dist::EnterOp enter);
  void turnLeave(dist::LeaveOp leave);

  dist::LoopRuns loops;
  OpBuilder builder;
  /// Names of loops that have a reversed run.
  llvm::DenseSet<StringAttr> paired;
  Pair pair;
  /// What the backward loop becomes.
  dist::LoopAttr reversed;
};
} // namespace

/// The stack of a loop of which `enter` reads the rows, the last first; null
/// where it reads something else. It may have entered the loops around as it is
/// (`readState`).
static dist::LeaveOp getState(dist::EnterOp enter) {
  Value stack = enter.isRow() ? getReversed(enter.getInput()) : Value();
  while (auto around =
             stack ? stack.getDefiningOp<dist::EnterOp>() : dist::EnterOp()) {
    if (around.getKind() != dist::EnterKind::Same)
      return {};
    stack = skipBarriers(around.getInput());
  }
  auto leave = stack ? stack.getDefiningOp<dist::LeaveOp>() : dist::LeaveOp();
  return leave && leave.isStack() ? leave : dist::LeaveOp();
}

/// How many states a loop reads of each other one.
llvm::MapVector<int, int64_t> LoopPairer::countStates(int backward) const {
  const dist::LoopRun &run = loops.getRuns()[backward];
  llvm::MapVector<int, int64_t> counts;
  for (Operation *op : run.ops)
    if (auto enter = dyn_cast<dist::EnterOp>(op);
        enter && enter.getLoop() == run.loop)
      if (dist::LeaveOp leave = getState(enter))
        ++counts[loops.getLeft(leave)];
  return counts;
}

/// Whether the one may become the reversed run of the other. Of loops in others
/// both may be of one phase: a trip computes states again, or has a derivative
/// of its own.
bool LoopPairer::mayUndo(int backward, int forward) const {
  if (forward < 0)
    return false;
  const dist::LoopRun &run = loops.getRuns()[backward];
  const dist::LoopRun &other = loops.getRuns()[forward];
  auto isOpen = [&](const dist::LoopRun &one) {
    return !one.loop.getConditional() && !paired.contains(one.loop.getName());
  };
  return isOpen(run) && isOpen(other) && backward != forward &&
         (run.in >= 0 || !isForward(run)) &&
         run.loop.getTrips() == other.loop.getTrips() &&
         areTripsIn(other.loop.getIn(), run.loop.getIn()) &&
         areInOneBlock(other, run);
}

LoopPairer::Pair LoopPairer::find() const {
  Pair best;
  int64_t depth = 0;
  for (int i = 0, end = static_cast<int>(loops.getRuns().size()); i < end; ++i)
    for (auto [forward, states] : countStates(i)) {
      int64_t own = loops.getRuns()[i].loop.getDepth();
      bool isBetter = best.states == 0 ||
                      std::pair(-own, states) > std::pair(-depth, best.states);
      if (!isBetter || !mayUndo(i, forward))
        continue;
      best = {forward, i, states};
      depth = own;
    }
  return best;
}

/// What has entered other loops as it is, or by rows, in the reversed ones that
/// are around `like`.
Value LoopPairer::enterAgain(dist::EnterOp old, dist::EnterOp like) {
  dist::LoopAttr loop = reversed.getPath()[old.getLoop().getDepth() - 1];
  if (old.getLoop() == loop)
    return old;
  Value input = old.getInput();
  auto around = input.getDefiningOp<dist::EnterOp>();
  if (around && !around.isCarry())
    input = enterAgain(around, like);
  auto again =
      dist::EnterOp::create(builder, like.getLoc(), input, old.getKind(), loop);
  training::copyMarks(like, again);
  return again;
}

/// A value of the forward loop's trip. What enters it as it is, or by rows,
/// enters the reversed loop again. Where both loops are of one phase, what is
/// read of the forward one enters the reversed one, which tells their ops
/// apart.
Value LoopPairer::readState(dist::EnterOp enter, Value state) {
  auto entered = skipBarriers(state).getDefiningOp<dist::EnterOp>();
  if (entered && !entered.isCarry())
    return enterAgain(entered, enter);
  if (isForward(loops.getRuns()[pair.forward]) &&
      !isForward(loops.getRuns()[pair.backward]))
    return state;
  auto read = dist::EnterOp::create(builder, enter.getLoc(), state,
                                    dist::EnterKind::Same, reversed);
  training::copyMarks(enter, read);
  return read;
}

void LoopPairer::turnEnter(dist::EnterOp enter) {
  builder.setInsertionPoint(enter);
  if (dist::LeaveOp leave = getState(enter);
      leave && loops.getLeft(leave) == pair.forward) {
    // Erased with all else that is dead, once the runs are looked at no more.
    enter.replaceAllUsesWith(readState(enter, leave.getInput()));
    return;
  }
  if (enter.isRow())
    enter.getInputMutable().assign(
        reverseFor(builder, enter, enter.getInput()));
  enter.setLoopAttr(reversed);
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

void LoopPairer::turnLeave(dist::LeaveOp leave) {
  leave.setLoopAttr(reversed);
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

/// The loops in the one that is turned run as before, in its reversed trips.
void LoopPairer::apply() {
  const dist::LoopRun &run = loops.getRuns()[pair.backward];
  dist::LoopAttr forward = loops.getRuns()[pair.forward].loop;
  reversed = forward.withIn(run.loop.getIn()).getOwnReversed();
  for (Operation *op : run.ops) {
    auto enter = dyn_cast<dist::EnterOp>(op);
    if (enter && enter.getLoop() == run.loop)
      turnEnter(enter);
    else if (enter)
      enter.setLoopAttr(putAround(enter.getLoop(), run.loop, reversed));
    else if (auto leave = dyn_cast<dist::LeaveOp>(op))
      leave.setLoopAttr(putAround(leave.getLoop(), run.loop, reversed));
  }
  for (dist::LeaveOp leave : run.leaves)
    turnLeave(leave);
}

static std::string describe(dist::LoopAttr loop) {
  return ("loop '" + loop.getName().getValue() + "'").str();
}

bool LoopPairer::pairOne() {
  pair = find();
  if (pair.states == 0)
    return false;
  const dist::LoopRun &run = loops.getRuns()[pair.backward];
  remark::passed(run.ops.front()->getLoc(), training::remarkOf("pair-loops"))
      << describe(run.loop) + " is the reversed run of " +
             describe(loops.getRuns()[pair.forward].loop) +
             ", whose states it reads where they are made: " +
             std::to_string(pair.states);
  apply();
  return true;
}

/// Whether a loop reads rows from the last one on, as one of a derivative does.
static bool readsBackwards(const dist::LoopRun &run) {
  return llvm::any_of(run.ops, [&](Operation *op) {
    auto enter = dyn_cast<dist::EnterOp>(op);
    return enter && enter.getLoop() == run.loop && enter.isRow() &&
           getReversed(enter.getInput());
  });
}

void LoopPairer::reportOthers() const {
  for (const dist::LoopRun &run : loops.getRuns())
    if (!isForward(run) && !paired.contains(run.loop.getName()) &&
        readsBackwards(run))
      remark::missed(run.ops.front()->getLoc(),
                     training::remarkOf("pair-loops"))
          << describe(run.loop) +
                 " reads rows from the last one on, and stays a loop of its "
                 "own: expected states of a loop of its block with " +
                 std::to_string(run.loop.getTrips()) + " trips, got none";
}

static void pairAll(func::FuncOp function) {
  for (bool isChanged = true; isChanged;) {
    LoopPairer pairer(function);
    isChanged = pairer.pairOne();
    if (!isChanged)
      pairer.reportOthers();
    training::eraseDeadOps(function.front());
  }
}

namespace {
struct PairLoopsPass : llmc::impl::PairLoopsPassBase<PairLoopsPass> {
  void runOnOperation() override {
    for (auto step : getOperation().getOps<dist::StepOp>()) {
      auto function =
          getOperation().lookupSymbol<func::FuncOp>(step.getMicrobatch());
      if (!function.isExternal())
        pairAll(function);
    }
  }
};
} // namespace
