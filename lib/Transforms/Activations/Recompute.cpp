//===- Recompute.cpp - Save or recompute each block -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What stays: the values that cross between blocks of the forward (a block's
// inputs). What a selected block's backward uses beyond them is cloned in front
// of the block's first backward op (Chen et al., 1604.06174, by blocks). Of the
// other blocks, with `gathers`, that is what collectives make of states alone
// (Zhao et al., 2304.11277, 3.2: resharding after the forward).
//
// Test: test/Transforms/Activations/recompute.mlir
//===----------------------------------------------------------------------===//

#include "SegmentResults.h"
#include "llmc/Analysis/Program/Program.h"
#include "llmc/Analysis/Program/Stages.h"
#include "llmc/Transforms/Activations/Passes.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Remarks.h"

using namespace mlir;
using namespace llmc;
using dist::DistDialect;
using dist::Phase;

namespace llmc {
#define GEN_PASS_DEF_RECOMPUTEPASS
#include "llmc/Transforms/Activations/Passes.h.inc"
} // namespace llmc

namespace {
struct RecomputePass : llmc::impl::RecomputePassBase<RecomputePass> {
  void runOnOperation() override;
};

/// One block's recomputation in one backward segment.
class BlockClone {
public:
  BlockClone(dist::SegmentOp forward, dist::SegmentOp backward, int64_t block,
             const llvm::DenseSet<Value> &crossing, bool gathersAlone)
      : forward(forward), backward(backward), block(block), crossing(crossing),
        gathersAlone(gathersAlone) {}

  /// Collects what would be cloned; false when there is nothing.
  bool plan();
  void apply();

  /// Inner values of `forward` that the clones read.
  const llvm::SetVector<Value> &getFrontier() const { return frontier; }
  int64_t getNumOps() const { return ops.size(); }
  int64_t getDroppedBytes() const { return droppedBytes; }

private:
  SmallVector<Value> getIncoming(Operation *before);
  Value getOuter(Value inner);
  Operation *getFirst();
  bool isWanted(OpResult result);
  bool isGathered(Value inner);

  dist::SegmentOp forward, backward;
  int64_t block;
  const llvm::DenseSet<Value> &crossing;
  bool gathersAlone;
  /// Results of `forward` to replace.
  SmallVector<OpResult> wanted;
  llvm::SetVector<Operation *> ops;
  llvm::SetVector<Value> frontier;
  int64_t droppedBytes = 0;
};
} // namespace

/// What enters a trip is read there, and what a loop hands on is copied before
/// another trip overwrites it: neither is computed again.
static bool isPassedOn(Operation *op) {
  return isa<dist::EnterOp, dist::FenceOp>(op);
}

/// A state, what a step prepares of states, or what a loop reads of them.
static bool isOfState(Value value) {
  while (auto enter = value.getDefiningOp<dist::EnterOp>()) {
    if (enter.isCarry())
      return false;
    value = enter.getInput();
  }
  if (auto segment = value.getDefiningOp<dist::SegmentOp>())
    return segment.getPhase() == Phase::Prepare;
  auto argument = dyn_cast<BlockArgument>(value);
  auto function =
      argument ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp())
               : func::FuncOp();
  return function &&
         dist::getArgumentPort(function, argument.getArgNumber()).isState();
}

/// Whether collectives make the value of states alone.
bool BlockClone::isGathered(Value inner) {
  bool isMoved = false;
  llvm::SetVector<Value> open;
  open.insert(inner);
  for (size_t i = 0; i < open.size(); ++i) {
    if (isOfState(open[i]))
      continue;
    Operation *def = open[i].getDefiningOp();
    if (!def || def->getParentOp() != forward || isPassedOn(def) ||
        crossing.contains(open[i]))
      return false;
    isMoved |= isa<dist::CollectiveInterface>(def);
    open.insert(def->operand_begin(), def->operand_end());
  }
  return isMoved;
}

/// Whether the backward reads what the block's forward may compute again.
bool BlockClone::isWanted(OpResult result) {
  Value inner = forward.getYield().getOperand(result.getResultNumber());
  Operation *def = inner.getDefiningOp();
  bool isUsed = llvm::any_of(result.getUsers(), [&](Operation *user) {
    return backward->isProperAncestor(user);
  });
  return isUsed && def && getBlock(def) == block && !crossing.contains(inner) &&
         !isPassedOn(def) && (!gathersAlone || isGathered(inner));
}

bool BlockClone::plan() {
  dist::YieldOp yield = forward.getYield();
  SmallVector<Value> work;
  for (OpResult result : forward->getResults()) {
    if (!isWanted(result))
      continue;
    Value inner = yield.getOperand(result.getResultNumber());
    wanted.push_back(result);
    work.push_back(inner);
    droppedBytes += getBytes(inner);
  }
  while (!work.empty()) {
    Value value = work.pop_back_val();
    Operation *def = value.getDefiningOp();
    bool isInside = def && def->getParentOp() == forward && !isPassedOn(def);
    if (!isInside || crossing.contains(value)) {
      frontier.insert(value);
      continue;
    }
    if (!ops.insert(def))
      continue;
    def->walk([&](Operation *nested) {
      for (Value operand : nested->getOperands())
        if (!def->isAncestor(operand.getParentBlock()->getParentOp()))
          work.push_back(operand);
    });
  }
  return !wanted.empty();
}

/// The cotangents that reach this block's backward, as far as they are there
/// in front of `before`.
SmallVector<Value> BlockClone::getIncoming(Operation *before) {
  llvm::SetVector<Value> incoming;
  for (Operation &op : backward.getBody().front()) {
    if (getBlock(&op) != block)
      continue;
    for (Value operand : op.getOperands()) {
      Operation *def = operand.getDefiningOp();
      if (def && def->getBlock() == before->getBlock() &&
          def->isBeforeInBlock(before) && !isMadeAnywhere(def) &&
          getBlock(def) != block)
        incoming.insert(operand);
    }
  }
  return incoming.takeVector();
}

/// `inner` as it is seen outside of `forward`.
Value BlockClone::getOuter(Value inner) {
  Operation *def = inner.getDefiningOp();
  if (!def || def->getParentOp() != forward)
    return inner;
  dist::YieldOp yield = forward.getYield();
  for (auto [value, result] :
       llvm::zip(yield.getOperands(), forward.getResults()))
    if (value == inner)
      return result;
  return {};
}

/// Before which op of the backward the copies are made: the first of the block,
/// or of another block that reads what they make, such as a scale.
Operation *BlockClone::getFirst() {
  Block &body = backward.getBody().front();
  llvm::DenseSet<Operation *> readers;
  for (OpResult result : wanted)
    for (Operation *user : result.getUsers())
      readers.insert(body.findAncestorOpInBlock(*user));
  for (Operation &op : body)
    if (readers.contains(&op) ||
        (getBlock(&op) == block && !isMadeAnywhere(&op)))
      return &op;
  return body.getTerminator();
}

void BlockClone::apply() {
  Operation *first = getFirst();
  OpBuilder builder(first);
  SmallVector<Value> inputs, inner;
  for (Value value : frontier) {
    inner.push_back(value);
    auto enter = value.getDefiningOp<dist::EnterOp>();
    bool isAgain = enter && !enter.isCarry() && enter->getParentOp() == forward;
    inputs.push_back(isAgain ? enterBackward(builder, value, backward)
                             : getOuter(value));
  }
  IRMapping mapping;
  // States are there: phase 7 puts what gathers them shortly before its use.
  if (gathersAlone) {
    mapping.map(inner, inputs);
  } else if (!inputs.empty()) {
    auto fence = dist::FenceOp::create(builder, first->getLoc(), inputs,
                                       getIncoming(first));
    mapping.map(inner, fence.getResults());
  }
  auto phase = dist::PhaseAttr::get(builder.getContext(), backward.getPhase());
  for (Operation &op : forward.getBody().front())
    if (ops.contains(&op)) {
      Operation *copy = builder.clone(op, mapping);
      if (copy->hasAttr(DistDialect::kPhase))
        copy->setAttr(DistDialect::kPhase, phase);
    }
  dist::YieldOp yield = forward.getYield();
  for (OpResult result : wanted) {
    Value copy = mapping.lookup(yield.getOperand(result.getResultNumber()));
    result.replaceUsesWithIf(copy, [&](OpOperand &use) {
      return backward->isProperAncestor(use.getOwner());
    });
  }
}

/// Whether ops of another block of the forward read a value of `forward`, in it
/// or in another segment: loops cut a chunk's forward into several.
static bool isCrossing(dist::SegmentOp forward, OpResult value) {
  SmallVector<OpOperand *> uses;
  for (OpOperand &use : value.getUses())
    if (!isa<dist::YieldOp>(use.getOwner()))
      uses.push_back(&use);
    else
      for (OpOperand &outer :
           forward->getResult(use.getOperandNumber()).getUses())
        uses.push_back(&outer);
  return llvm::any_of(uses, [&](OpOperand *use) {
    Operation *user = use->getOwner();
    auto segment = user->getParentOfType<dist::SegmentOp>();
    while (segment && user->getParentOp() != segment)
      user = user->getParentOp();
    bool isOfForward = !segment || segment.getPhase() == Phase::Forward;
    return isOfForward && getBlock(user) &&
           getBlock(user) != getBlock(value.getOwner());
  });
}

/// Values of `forward` that ops of another block read: a block's inputs.
static llvm::DenseSet<Value> getCrossing(dist::SegmentOp forward) {
  llvm::DenseSet<Value> crossing;
  for (Operation &op : forward.getBody().front())
    if (!isMadeAnywhere(&op))
      for (OpResult result : op.getResults())
        if (isCrossing(forward, result))
          crossing.insert(result);
  return crossing;
}

dist::SegmentOp llmc::withResults(dist::SegmentOp segment,
                                  ArrayRef<Value> values) {
  dist::YieldOp yield = segment.getYield();
  SmallVector<Value> all(yield.getOperands());
  for (Value value : values) {
    Operation *def = value.getDefiningOp();
    // What enters a loop as it is, or by rows, is there for all who enter.
    auto enter = dyn_cast_or_null<dist::EnterOp>(def);
    if (def && def->getParentOp() == segment && !(enter && !enter.isCarry()) &&
        !llvm::is_contained(all, value))
      all.push_back(value);
  }
  if (all.size() == yield.getNumOperands())
    return segment;
  OpBuilder builder(segment);
  auto wider = dist::SegmentOp::create(
      builder, segment.getLoc(), ValueRange(all).getTypes(),
      static_cast<int64_t>(*segment.getChunk()), segment.getPhase(),
      segment.getLoop().value_or(dist::LoopAttr()));
  wider.getBody().takeBody(segment.getBody());
  wider.getYield()->setOperands(all);
  segment->replaceAllUsesWith(
      wider->getResults().take_front(segment->getNumResults()));
  segment.erase();
  return wider;
}

Value llmc::enterBackward(OpBuilder &builder, Value entered,
                          dist::SegmentOp backward) {
  auto old = entered.getDefiningOp<dist::EnterOp>();
  auto around = old.getInput().getDefiningOp<dist::EnterOp>();
  Value input = old.getInput();
  if (around && around->getParentOp() == old->getParentOp())
    input = enterBackward(builder, input, backward);
  Operation *copy = builder.clone(*old);
  copy->setOperand(0, input);
  cast<dist::EnterOp>(copy).setLoopAttr(old.getLoop().getReverse());
  if (copy->hasAttr(DistDialect::kPhase))
    copy->setAttr(
        DistDialect::kPhase,
        dist::PhaseAttr::get(builder.getContext(), backward.getPhase()));
  return copy->getResult(0);
}

bool llmc::readsTripsOf(dist::SegmentOp backward, dist::SegmentOp forward) {
  std::optional<dist::LoopAttr> loop = forward.getLoop();
  // A conditional loop has no derivative that reads its trips.
  if (loop && loop->getConditional())
    return false;
  return forward.getChunk() == backward.getChunk() &&
         backward.getLoop() ==
             (loop ? std::optional(loop->getReverse()) : std::nullopt);
}

/// Whether the block runs again: with `every` all but each K-th.
static bool isSelected(dist::RecomputeAttr recompute, int64_t block) {
  switch (recompute.getKind()) {
  case dist::RecomputeKind::None:
    return false;
  case dist::RecomputeKind::All:
    return true;
  case dist::RecomputeKind::Every:
    return (block + 1) % recompute.getEvery() != 0;
  }
  return false;
}

/// All selected blocks of one forward segment in one backward segment.
static void recomputeIn(dist::SegmentOp &forward, dist::SegmentOp backward,
                        dist::StepOp step) {
  auto numBlocks = static_cast<int64_t>(step.getChunks()->size());
  for (int64_t block = 0; block < numBlocks; ++block) {
    bool gathersAlone = !isSelected(*step.getRecompute(), block);
    if (gathersAlone && !step.getRecompute()->getGathers())
      continue;
    llvm::DenseSet<Value> crossing = getCrossing(forward);
    BlockClone probe(forward, backward, block, crossing, gathersAlone);
    if (!probe.plan())
      continue;
    forward = withResults(forward, probe.getFrontier().getArrayRef());
    BlockClone clone(forward, backward, block, crossing, gathersAlone);
    clone.plan();
    clone.apply();
    remark::passed(forward.getLoc(),
                   remark::RemarkOpts::name("Recompute").category("memory"))
        << "block " + std::to_string(block) + ": " +
               std::to_string(clone.getNumOps()) + " ops are computed again, " +
               std::to_string(clone.getDroppedBytes()) + " B are not kept";
  }
}

void RecomputePass::runOnOperation() {
  bool isChanged = false;
  for (auto step : getOperation().getOps<dist::StepOp>()) {
    dist::RecomputeAttr recompute = step.getRecomputeAttr();
    if (!recompute || (recompute.getKind() == dist::RecomputeKind::None &&
                       !recompute.getGathers()))
      continue;
    if (!step.getChunks()) {
      step.emitOpError() << "expected 'chunks' before recomputation";
      return signalPassFailure();
    }
    auto function =
        getOperation().lookupSymbol<func::FuncOp>(step.getMicrobatch());
    SmallVector<dist::SegmentOp> forwards, backwards;
    for (auto segment : function.getOps<dist::SegmentOp>())
      if (segment.getPhase() != Phase::Prepare)
        (segment.getPhase() == Phase::Forward ? forwards : backwards)
            .push_back(segment);
    for (dist::SegmentOp &forward : forwards)
      for (dist::SegmentOp backward : backwards)
        if (readsTripsOf(backward, forward))
          recomputeIn(forward, backward, step);
    isChanged = true;
  }
  if (!isChanged)
    markAllAnalysesPreserved();
}
