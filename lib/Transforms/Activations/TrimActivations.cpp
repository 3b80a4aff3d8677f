//===- TrimActivations.cpp - Keep what kernels keep anyway ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A value of the forward that the backward reads is kept when it is a base: in
// memory anyway (findKeptValues), the result of a reduction, or of an op that
// is not element-wise. Any other is computed again from bases, unless these
// weigh more than the value itself, and so is a weight that is rounded. What is
// kept for one value serves the others, so values are taken in program order.
//
//   forward   d = dot, u = d + b, t = tanh u, y = u * t; dot(y)   backward: u,
//   t, y kept      d and y (operand and result of contractions); u, t from d
//   and b
//
// Ops that are decomposed before kernels are formed are so here already, where
// the backward reads them: only then is seen which of their parts are
// element-wise, as the result of a norm is one of its operand and statistics.
//
// Test: test/Transforms/Activations/trim-activations.mlir
//===----------------------------------------------------------------------===//

#include "SegmentResults.h"
#include "llmc/Analysis/KernelFormation/KernelFormation.h"
#include "llmc/Analysis/Program/Program.h"
#include "llmc/Analysis/Program/Stages.h"
#include "llmc/Dialect/Dist/IR/Signature.h"
#include "llmc/Dialect/Graph/IR/GraphInterfaces.h"
#include "llmc/Transforms/Activations/Passes.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Remarks.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace llmc;
using dist::Phase;

namespace llmc {
#define GEN_PASS_DEF_TRIMACTIVATIONSPASS
#include "llmc/Transforms/Activations/Passes.h.inc"
} // namespace llmc

namespace {
struct TrimActivationsPass
    : llmc::impl::TrimActivationsPassBase<TrimActivationsPass> {
  void runOnOperation() override;
};

/// What one backward segment reads of a forward segment, trimmed.
class SegmentPair {
public:
  SegmentPair(dist::SegmentOp forward, dist::SegmentOp backward)
      : forward(forward), backward(backward) {}

  void plan();
  /// Returns the forward segment, which may be a new op.
  dist::SegmentOp apply();
  bool isEmpty() const { return dropped.empty(); }
  int64_t getSavedBytes() const { return savedBytes; }
  int64_t getNumOps() const { return ops.size(); }

private:
  static constexpr size_t maxOps = 64;

  bool isInside(Value value) const {
    Operation *def = value.getDefiningOp();
    return def && def->getParentOp() == forward;
  }
  /// Enters the loop as it is, or by rows: the backward reads it where it lies.
  static bool isEntered(Value value) {
    auto enter = value.getDefiningOp<dist::EnterOp>();
    return enter && !enter.isCarry();
  }
  bool isReadBackward(OpResult result) const {
    return llvm::any_of(result.getUsers(), [&](Operation *user) {
      return backward->isProperAncestor(user);
    });
  }
  bool isRoundedState(Value value) const;
  bool isBase(Value value) const;
  bool expand(Value value, llvm::SetVector<Operation *> &chain,
              llvm::SetVector<Value> &bases) const;
  void cloneOps();

  dist::SegmentOp forward, backward;
  llvm::SetVector<Value> inMemory;
  /// Inner values of the forward that are kept for the backward, and those that
  /// enter its trips too.
  llvm::SetVector<Value> kept, entered;
  /// Numbers of the results that are computed again, and by which ops.
  SmallVector<unsigned> dropped;
  llvm::SetVector<Operation *> ops;
  int64_t savedBytes = 0;
};
} // namespace

/// Element by element, the same bytes under another type, or a coordinate.
static bool isRecomputable(Operation *op) {
  if (isMadeAnywhere(op))
    return true;
  auto kernel = dyn_cast<graph::KernelOpInterface>(op);
  return kernel && (isView(op) || isElementwise(op));
}

static unsigned getWidth(Value value) {
  return getElementTypeOrSelf(value.getType()).getIntOrFloatBitWidth();
}

/// A weight in smaller elements: made again of states, which the backward has
/// where they lie, rather than kept for each microbatch in flight.
bool SegmentPair::isRoundedState(Value value) const {
  Operation *maker = value.getDefiningOp();
  if (maker->getNumOperands() != 1 ||
      getWidth(value) >= getWidth(maker->getOperand(0)))
    return false;
  llvm::SetVector<Value> open;
  open.insert(value);
  for (size_t i = 0; i < open.size() && i <= maxOps; ++i) {
    Operation *op = open[i].getDefiningOp();
    if (isInside(open[i]) && isRecomputable(op)) {
      open.insert(op->operand_begin(), op->operand_end());
      continue;
    }
    auto argument = dyn_cast<BlockArgument>(open[i]);
    auto function = forward->getParentOfType<func::FuncOp>();
    if (!argument || argument.getOwner() != &function.front() ||
        !dist::isPort(dist::getArgumentPort(function, argument.getArgNumber()),
                      dist::PortKind::Parameter))
      return false;
  }
  return open.size() <= maxOps;
}

bool SegmentPair::isBase(Value value) const {
  if (!isInside(value) || !isRecomputable(value.getDefiningOp()))
    return true;
  // A constant in memory is made again rather than kept.
  return inMemory.contains(value) && value.getDefiningOp()->getNumOperands() &&
         !isRoundedState(value);
}

/// Collects the ops between `value` and its bases; false when there are many.
bool SegmentPair::expand(Value value, llvm::SetVector<Operation *> &chain,
                         llvm::SetVector<Value> &bases) const {
  SmallVector<Value> work = {value};
  while (!work.empty()) {
    Value next = work.pop_back_val();
    if (isBase(next)) {
      bases.insert(next);
      continue;
    }
    if (chain.insert(next.getDefiningOp()))
      llvm::append_range(work, next.getDefiningOp()->getOperands());
    if (chain.size() > maxOps)
      return false;
  }
  return true;
}

void SegmentPair::plan() {
  // A result that only a backward reads does not count: it is what we decide.
  auto isRead = [&](OpOperand &operand) {
    OpResult result = forward->getResult(operand.getOperandNumber());
    return llvm::any_of(result.getUsers(), [&](Operation *user) {
      auto segment = user->getParentOfType<dist::SegmentOp>();
      return !segment || segment.getPhase() == Phase::Forward;
    });
  };
  inMemory = findKeptValues(forward.getBody().front(), isRead);
  dist::YieldOp yield = forward.getYield();
  SmallVector<std::pair<Value, unsigned>> candidates;
  for (OpResult result : forward->getResults()) {
    if (!isReadBackward(result))
      continue;
    Value inner = yield.getOperand(result.getResultNumber());
    if (isBase(inner))
      kept.insert(inner);
    else
      candidates.push_back({inner, result.getResultNumber()});
  }
  llvm::sort(candidates, [](auto &a, auto &b) {
    Operation *first = a.first.getDefiningOp();
    Operation *second = b.first.getDefiningOp();
    return first == second ? a.second < b.second
                           : first->isBeforeInBlock(second);
  });
  for (auto [value, number] : candidates) {
    llvm::SetVector<Operation *> chain;
    llvm::SetVector<Value> bases;
    int64_t added = 0;
    bool small = expand(value, chain, bases);
    for (Value base : bases)
      if (isInside(base) && !isEntered(base) && !kept.contains(base))
        added += getBytes(base);
    if (!small || added > getBytes(value)) {
      kept.insert(value);
      inMemory.insert(value);
      continue;
    }
    for (Value base : bases)
      if (isInside(base))
        (isEntered(base) ? entered : kept).insert(base);
    ops.insert_range(chain);
    dropped.push_back(number);
    savedBytes += getBytes(value) - added;
  }
}

/// Clones `ops`, each in front of its first reader, so that readers and what
/// they read stay near each other.
void SegmentPair::cloneOps() {
  dist::YieldOp yield = forward.getYield();
  OpBuilder builder(&backward.getBody().front(),
                    backward.getBody().front().begin());
  auto phase = dist::PhaseAttr::get(builder.getContext(), backward.getPhase());
  IRMapping mapping;
  for (auto [inner, result] :
       llvm::zip(yield.getOperands(), forward->getResults()))
    if (kept.contains(inner) && !mapping.contains(inner))
      mapping.map(inner, result);
  for (Value value : entered)
    mapping.map(value, enterBackward(builder, value, backward));
  SmallVector<Operation *> copies;
  for (Operation &op : forward.getBody().front()) {
    if (!ops.contains(&op))
      continue;
    copies.push_back(builder.clone(op, mapping));
    if (copies.back()->hasAttr(dist::DistDialect::kPhase))
      copies.back()->setAttr(dist::DistDialect::kPhase, phase);
  }
  for (unsigned number : dropped)
    forward->getResult(number).replaceUsesWithIf(
        mapping.lookup(yield.getOperand(number)), [&](OpOperand &use) {
          return backward->isProperAncestor(use.getOwner());
        });
  Block &block = backward.getBody().front();
  // The place of a copy is that of its first reader. Copies of one place keep
  // their order, so that what a copy reads is in front of it.
  SmallVector<Operation *> at;
  llvm::DenseMap<Operation *, size_t> place;
  for (Operation &op : block) {
    place[&op] = at.size();
    at.push_back(&op);
  }
  for (Operation *copy : llvm::reverse(copies)) {
    size_t first = at.size();
    for (Operation *user : copy->getUsers())
      if (Operation *reader = block.findAncestorOpInBlock(*user))
        first = std::min(first, place[reader]);
    place[copy] = first;
  }
  for (Operation *copy : copies)
    if (place[copy] < at.size())
      copy->moveBefore(at[place[copy]]);
  for (Operation *copy : llvm::reverse(copies))
    if (copy->use_empty())
      copy->erase();
}

dist::SegmentOp SegmentPair::apply() {
  forward = withResults(forward, kept.getArrayRef());
  cloneOps();
  return forward;
}

/// Replaces what is read beyond the segment by the ops that it will become.
static LogicalResult decomposeResults(dist::SegmentOp segment) {
  for (Value result : segment.getYield().getOperands()) {
    Operation *op = result.getDefiningOp();
    auto kernel = dyn_cast_or_null<graph::KernelOpInterface>(op);
    if (!kernel || kernel.getKernelForm() != graph::KernelForm::Decompose)
      continue;
    OpBuilder builder(op);
    SmallVector<Value> results;
    if (failed(kernel.decompose(builder, results)))
      return op->emitError("expected a decomposition of '")
             << op->getName() << "', got none";
    op->replaceAllUsesWith(results);
    op->erase();
  }
  return success();
}

static LogicalResult trim(func::FuncOp function) {
  SmallVector<dist::SegmentOp> forwards, backwards;
  for (auto segment : function.getOps<dist::SegmentOp>())
    if (segment.getPhase() != Phase::Prepare)
      (segment.getPhase() == Phase::Forward ? forwards : backwards)
          .push_back(segment);
  for (dist::SegmentOp &forward : forwards) {
    if (failed(decomposeResults(forward)))
      return failure();
    for (dist::SegmentOp backward : backwards) {
      if (!readsTripsOf(backward, forward))
        continue;
      SegmentPair pair(forward, backward);
      pair.plan();
      if (pair.isEmpty())
        continue;
      forward = pair.apply();
      remark::passed(forward.getLoc(),
                     remark::RemarkOpts::name("Trim").category("memory"))
          << std::to_string(pair.getSavedBytes()) +
                 " B less are kept for the backward; " +
                 std::to_string(pair.getNumOps()) + " ops are computed again";
    }
  }
  return success();
}

void TrimActivationsPass::runOnOperation() {
  for (auto step : getOperation().getOps<dist::StepOp>())
    if (auto function =
            getOperation().lookupSymbol<func::FuncOp>(step.getMicrobatch()))
      if (failed(trim(function)))
        return signalPassFailure();
}
