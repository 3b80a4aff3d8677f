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
// uses the state whose gradient is made of it.
//
// Test: test/Transforms/Training/given-derivative.mlir
//===----------------------------------------------------------------------===//

#include "TrainingMarks.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"
#include <limits>

using namespace mlir;
using namespace llmc;
using llmc::dist::Phase;

static constexpr int64_t kAnywhere = std::numeric_limits<int64_t>::max();

namespace {
class DerivativeMarker {
public:
  explicit DerivativeMarker(func::FuncOp function)
      : function(function), body(function.front()) {}

  void run();

private:
  void findForward();
  bool isForward(Operation *op) const { return forward.contains(op); }
  int64_t findLimit(Operation *op) const;
  std::optional<int64_t> findAnchor(Operation *op, int64_t limit) const;
  std::optional<int64_t> findLastUse(Operation *op) const;
  std::optional<int64_t> findGradientHome(Operation *op);
  std::optional<int64_t> findHome(OpOperand &returned);
  bool isPassedDown(Operation *op) const;

  func::FuncOp function;
  Block &body;
  llvm::DenseSet<Operation *> forward;
  /// Of the ops of the backward.
  llvm::DenseMap<Operation *, int64_t> blocks;
  llvm::DenseSet<Operation *> passedDown;
};
} // namespace

/// What the loss, its count and the states of the next microbatch depend on.
void DerivativeMarker::findForward() {
  auto addMaker = [&](Value value) {
    if (Operation *op = value.getDefiningOp())
      forward.insert(op);
  };
  Operation *terminator = body.getTerminator();
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    if (dist::isAnyPort(dist::getResultPort(function, i),
                        {dist::PortKind::LossSum, dist::PortKind::Count,
                         dist::PortKind::Carried}))
      addMaker(terminator->getOperand(i));
  for (Operation &op : llvm::reverse(body.without_terminator()))
    if (isForward(&op))
      llvm::for_each(op.getOperands(), addMaker);
}

/// The first block of what it takes from other ops of the backward.
int64_t DerivativeMarker::findLimit(Operation *op) const {
  int64_t limit = kAnywhere;
  for (Value operand : op->getOperands())
    if (Operation *def = operand.getDefiningOp(); def && !isForward(def))
      limit = std::min(limit, blocks.lookup(def));
  return limit;
}

/// The last block up to `limit` in which the forward makes or uses what the op
/// takes of it.
std::optional<int64_t> DerivativeMarker::findAnchor(Operation *op,
                                                    int64_t limit) const {
  std::optional<int64_t> anchor;
  auto consider = [&](Operation *other) {
    if (!other || !isForward(other))
      return;
    int64_t block = training::getBlockMark(other).value_or(0);
    if (block <= limit)
      anchor = std::max(block, anchor.value_or(block));
  };
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
std::optional<int64_t> DerivativeMarker::findLastUse(Operation *op) const {
  std::optional<int64_t> last;
  for (Operation *user : op->getUsers())
    if (user != body.getTerminator())
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
bool DerivativeMarker::isPassedDown(Operation *op) const {
  return llvm::any_of(op->getUsers(), [&](Operation *user) {
    if (user == body.getTerminator())
      return false;
    return blocks.lookup(user) < blocks.lookup(op) || passedDown.contains(user);
  });
}

void DerivativeMarker::run() {
  findForward();
  SmallVector<Operation *> backward;
  llvm::DenseSet<Operation *> anchored;
  for (Operation &op : body.without_terminator()) {
    if (isForward(&op)) {
      training::setPhaseMark(&op, Phase::Forward);
      continue;
    }
    backward.push_back(&op);
    int64_t limit = findLimit(&op);
    std::optional<int64_t> anchor = findAnchor(&op, limit);
    if (anchor)
      anchored.insert(&op);
    blocks[&op] = anchor.value_or(limit);
  }
  for (Operation *op : llvm::reverse(backward)) {
    int64_t &block = blocks[op];
    if (block == kAnywhere)
      block = findLastUse(op).value_or(0);
    else if (!anchored.contains(op))
      block = std::min(block, findGradientHome(op).value_or(block));
    training::setBlockMark(op, block);
    if (isPassedDown(op))
      passedDown.insert(op);
    training::setPhaseMark(op, passedDown.contains(op) ? Phase::BackwardInput
                                                       : Phase::BackwardWeight);
  }
}

void training::markGivenDerivative(func::FuncOp function) {
  DerivativeMarker(function).run();
}
