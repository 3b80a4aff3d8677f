//===- GivenDerivative.cpp - Marks of a derivative that the text has ------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   %h = dot %x, %w                  [block 1, forward]
//   %y = tanh %h                     [block 1, forward]
//   %gh = ... %y, %gy                [block 1, backward_input]
//   %gw = dot %x, %gh                [block 1, backward_weight]
//   return gradient @w = %gw
//
// Nothing in the text says of which op a derivative is. Backward runs through
// the blocks downward, so an op stands no higher than what it takes from other
// ops of the backward. Where it reads values of the forward as well, it stands
// in the last block that makes or uses them and that is no higher. What reads
// none, as the sum of rows that is a bias' gradient, stands where the forward
// uses the state whose gradient is made of it. What does not depend on both the
// batch and a state, as a weight whose layers are reversed, or times of an
// input from the last one on, stands where it is used. The ops of a loop's
// trips, and what leaves them, are marked as one.
//
// Test: test/Transforms/Training/given-derivative.mlir
//===----------------------------------------------------------------------===//

#include "../TrainingMarks.h"
#include "llmc/Analysis/Program/ElementPaths.h"
#include "llmc/Dialect/Dist/IR/LoopRuns.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include <limits>

using namespace mlir;
using namespace llmc;
using llmc::dist::Phase;

static constexpr int64_t kAnywhere = std::numeric_limits<int64_t>::max();

namespace {
/// Ops that are marked alike: one, or a loop.
using Unit = SmallVector<Operation *>;

class DerivativeMarker {
public:
  explicit DerivativeMarker(func::FuncOp function)
      : function(function), body(function.front()) {
    collectUnits();
    for (BlockArgument argument : function.getArguments())
      if (training::isInput(function, argument.getArgNumber()))
        batch.insert(argument);
      else if (training::getRead(function, argument.getArgNumber()))
        states.insert(argument);
    addDependents(body, batch);
    addDependents(body, states);
  }

  void run();

private:
  void collectUnits();
  void findForward();
  bool isForward(Operation *op) const { return forward.contains(op); }
  bool dependsOn(const llvm::SetVector<Value> &values, const Unit &unit) const;
  int64_t findLimit(const Unit &unit) const;
  std::optional<int64_t> findAnchor(const Unit &unit, int64_t limit) const;
  std::optional<int64_t> findLastUse(const Unit &unit) const;
  std::optional<int64_t> findGradientHome(Operation *op);
  std::optional<int64_t> findHome(OpOperand &returned);
  bool isPassedDown(const Unit &unit) const;
  void mark(const Unit &unit, std::optional<int64_t> anchor);

  func::FuncOp function;
  Block &body;
  /// In an order in which each stands after what it takes.
  std::vector<Unit> units;
  llvm::DenseMap<Operation *, size_t> unitOf;
  llvm::DenseSet<Operation *> forward;
  /// What depends on the inputs, and on states.
  llvm::SetVector<Value> batch, states;
  /// Of the ops of the backward.
  llvm::DenseMap<Operation *, int64_t> blocks;
  llvm::DenseSet<Operation *> passedDown;
};
} // namespace

void DerivativeMarker::collectUnits() {
  dist::LoopRuns loops(body);
  auto add = [&](Unit unit) {
    for (Operation *op : unit)
      unitOf[op] = units.size();
    units.push_back(std::move(unit));
  };
  for (const dist::LoopStep &step : loops.getSteps()) {
    if (step.run >= 0) {
      const dist::LoopRun &run = loops.getRuns()[step.run];
      Unit unit(run.ops);
      llvm::append_range(unit, run.leaves);
      add(std::move(unit));
    } else if (!isa<dist::LeaveOp>(step.op)) {
      add({step.op});
    }
  }
}

/// What the loss, its count and the states of the next microbatch depend on.
void DerivativeMarker::findForward() {
  auto addMaker = [&](Value value) {
    if (Operation *op = value.getDefiningOp())
      for (Operation *other : units[unitOf.at(op)])
        forward.insert(other);
  };
  Operation *terminator = body.getTerminator();
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    if (dist::isAnyPort(dist::getResultPort(function, i),
                        {dist::PortKind::LossSum, dist::PortKind::Count,
                         dist::PortKind::Carried}))
      addMaker(terminator->getOperand(i));
  for (const Unit &unit : llvm::reverse(units))
    if (isForward(unit.front()))
      for (Operation *op : unit)
        llvm::for_each(op->getOperands(), addMaker);
}

bool DerivativeMarker::dependsOn(const llvm::SetVector<Value> &values,
                                 const Unit &unit) const {
  return llvm::any_of(unit, [&](Operation *op) {
    return llvm::any_of(op->getOperands(),
                        [&](Value value) { return values.contains(value); });
  });
}

/// The first block of what it takes from other ops of the backward.
int64_t DerivativeMarker::findLimit(const Unit &unit) const {
  int64_t limit = kAnywhere;
  for (Operation *op : unit)
    for (Value operand : op->getOperands())
      if (Operation *def = operand.getDefiningOp();
          def && !isForward(def) && !llvm::is_contained(unit, def))
        limit = std::min(limit, blocks.lookup(def));
  return limit;
}

/// The last block up to `limit` in which the forward makes or uses what the op
/// takes of it.
std::optional<int64_t> DerivativeMarker::findAnchor(const Unit &unit,
                                                    int64_t limit) const {
  std::optional<int64_t> anchor;
  auto consider = [&](Operation *other) {
    if (!other || !isForward(other))
      return;
    int64_t block = training::getBlockMark(other).value_or(0);
    if (block <= limit)
      anchor = std::max(block, anchor.value_or(block));
  };
  for (Operation *op : unit)
    for (Value operand : op->getOperands()) {
      Operation *def = operand.getDefiningOp();
      if (def && (!isForward(def) || def->hasTrait<OpTrait::ConstantLike>()))
        continue;
      consider(def);
      llvm::for_each(operand.getUsers(), consider);
    }
  return anchor;
}

/// The block in which the forward uses the state whose gradient is returned.
std::optional<int64_t> DerivativeMarker::findHome(OpOperand &returned) {
  FlatSymbolRefAttr state = dist::getGradientOf(
      dist::getResultPort(function, returned.getOperandNumber()));
  std::optional<int64_t> home;
  for (BlockArgument argument : function.getArguments())
    if (state && training::getRead(function, argument.getArgNumber()) == state)
      for (Operation *user : argument.getUsers())
        if (isForward(user)) {
          int64_t block = training::getBlockMark(user).value_or(0);
          home = std::max(block, home.value_or(block));
        }
  return home;
}

/// The last block that uses a result; what is returned counts as none.
std::optional<int64_t> DerivativeMarker::findLastUse(const Unit &unit) const {
  std::optional<int64_t> last;
  for (Operation *op : unit)
    for (Operation *user : op->getUsers())
      if (user != body.getTerminator() && !llvm::is_contained(unit, user))
        last = std::max(blocks.lookup(user), last.value_or(0));
  return last;
}

/// Where an op belongs that nothing but the gradient of a state is made of, by
/// ops of one operand: the terms of a sum stay in their blocks.
std::optional<int64_t> DerivativeMarker::findGradientHome(Operation *op) {
  std::optional<int64_t> last;
  for (OpOperand &use : op->getUses()) {
    Operation *user = use.getOwner();
    std::optional<int64_t> home;
    if (user == body.getTerminator())
      home = findHome(use);
    else if (user->getNumOperands() == 1)
      home = findGradientHome(user);
    if (!home)
      return std::nullopt;
    last = std::max(*home, last.value_or(0));
  }
  return last;
}

/// Whether another block waits for it.
bool DerivativeMarker::isPassedDown(const Unit &unit) const {
  auto isOfOther = [&](Operation *user) {
    if (user == body.getTerminator() || llvm::is_contained(unit, user))
      return false;
    return blocks.lookup(user) < blocks.lookup(unit.front()) ||
           passedDown.contains(user);
  };
  return llvm::any_of(unit, [&](Operation *op) {
    return llvm::any_of(op->getUsers(), isOfOther);
  });
}

/// A unit of the backward, once all that takes its results is marked.
void DerivativeMarker::mark(const Unit &unit, std::optional<int64_t> anchor) {
  int64_t block = blocks.lookup(unit.front());
  if (block == kAnywhere)
    block = findLastUse(unit).value_or(anchor.value_or(0));
  else if (!anchor && unit.size() == 1)
    block = std::min(block, findGradientHome(unit.front()).value_or(block));
  for (Operation *op : unit)
    blocks[op] = block;
  if (isPassedDown(unit))
    passedDown.insert_range(unit);
  for (Operation *op : unit) {
    training::setBlockMark(op, block);
    training::setPhaseMark(op, passedDown.contains(op) ? Phase::BackwardInput
                                                       : Phase::BackwardWeight);
  }
}

void DerivativeMarker::run() {
  findForward();
  SmallVector<std::pair<const Unit *, std::optional<int64_t>>> backward;
  for (const Unit &unit : units) {
    if (isForward(unit.front())) {
      for (Operation *op : unit)
        training::setPhaseMark(op, Phase::Forward);
      continue;
    }
    int64_t limit = findLimit(unit);
    std::optional<int64_t> anchor = findAnchor(unit, limit);
    backward.push_back({&unit, anchor});
    int64_t block = dependsOn(batch, unit) && dependsOn(states, unit)
                        ? anchor.value_or(limit)
                        : kAnywhere;
    for (Operation *op : unit)
      blocks[op] = block;
  }
  for (auto [unit, anchor] : llvm::reverse(backward))
    mark(*unit, anchor);
}

void training::markGivenDerivative(func::FuncOp function) {
  DerivativeMarker(function).run();
}
