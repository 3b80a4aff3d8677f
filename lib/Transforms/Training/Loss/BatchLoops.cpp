//===- BatchLoops.cpp - How what loops carry depends on the batch ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A trip of a loop is visited until it leaves what it finds; see BatchSums.h.
//
// Tests: test/Transforms/Training/sum-loss-loops.mlir
//===----------------------------------------------------------------------===//

#include "BatchSums.h"
#include "llmc/Analysis/Program/ElementPaths.h"
#include "llmc/Dialect/Dist/IR/LoopRuns.h"
#include "llmc/Dialect/Graph/IR/GraphInterfaces.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::training;
using graph::ShardingRule;
using Kind = BatchState::Kind;

/// Whether the op is linear in operands that are all zero.
bool BatchSums::isZero(Operation &op) const {
  if (op.getNumResults() == 1 && op.getNumOperands() == 0) {
    Value value = op.getResult(0);
    return matchPattern(value, m_AnyZeroFloat()) ||
           matchPattern(value, m_Zero());
  }
  auto isOfZero = [&](Value value) { return isZero(value); };
  auto iface = dyn_cast<graph::ShardingRuleOpInterface>(op);
  if (!iface || llvm::none_of(op.getOperands(), isOfZero))
    return false;
  ShardingRule rule = iface.getShardingRule();
  return llvm::any_of(rule.carries, [&](const graph::Linearity &linear) {
    return linear.kind == ReductionKind::sum &&
           llvm::any_of(linear.groups, [&](ArrayRef<int> group) {
             return !group.empty() && llvm::all_of(group, [&](int i) {
               return isZero(op.getOperand(i));
             });
           });
  });
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// What a trip leaves, the next one finds. Each round that finds something else
/// goes on with what may be more, of which there is an end.
void BatchSums::visit(const dist::LoopRun &run) {
  do {
    for (Operation *op : run.ops)
      visit(*op);
  } while (!close(run));
  if (run.loop.getConditional())
    mixByCondition(run);
}

/// Whatever a loop computes in as many trips as the batch decides depends on
/// all of it.
void BatchSums::mixByCondition(const dist::LoopRun &run) {
  BatchState state;
  for (Operation *op : run.ops)
    if (auto enter = dyn_cast<dist::EnterOp>(op); enter && enter.isCondition())
      state = get(enter.getNext().getValue());
  if (state.kind == Kind::Fixed)
    return;
  if (state.kind != Kind::Mixed) {
    state.kind = Kind::Mixed;
    state.culprit = run.ops.front();
    state.reason = "has as many trips as the batch decides";
  }
  for (Operation *op : run.ops)
    for (Value result : op->getResults())
      states[result] = state;
}

/// Of an op that reads a tensor without elements, the operand that it is by its
/// fold, as of a concatenation with nothing; else null.
static Value getFolded(Operation &op) {
  auto isEmpty = [](Value value) {
    auto type = dyn_cast<RankedTensorType>(value.getType());
    return type && type.getNumElements() == 0;
  };
  SmallVector<OpFoldResult> folded;
  if (op.getNumResults() != 1 || isEmpty(op.getResult(0)) ||
      llvm::none_of(op.getOperands(), isEmpty) || failed(op.fold(folded)) ||
      folded.size() != 1)
    return {};
  return dyn_cast<Value>(folded.front());
}

/// What passes as it is: into, through and out of the trips of a loop, through
/// a barrier, and what is joined with nothing. False for all else.
bool BatchSums::visitForwarding(Operation &op) {
  auto take = [&](Value result, Value from) {
    BatchState state = get(from);
    // What a loop in another one begins with may change from trip to trip of
    // that one.
    if (auto known = carried.find(result); known != carried.end())
      state = BatchState::join(known->second, state, &op);
    states[result] = std::move(state);
  };
  if (dist::isOfCarried(&op)) {
    auto next = dyn_cast<dist::NextOp>(op);
    take(op.getResult(0), next ? next.getValue() : op.getOperand(0));
    return true;
  }
  if (Value operand = getFolded(op)) {
    take(op.getResult(0), operand);
    return true;
  }
  SmallVector<OpOperand *> sources;
  for (OpResult result : op.getResults())
    sources.push_back(getForwarded(result));
  if (sources.empty() || llvm::is_contained(sources, nullptr))
    return false;
  for (auto [result, source] : llvm::zip_equal(op.getResults(), sources))
    take(result, source->get());
  return true;
}

/// Whether each trip finds what the one before it leaves.
bool BatchSums::close(const dist::LoopRun &run) {
  bool isClosed = true;
  for (Operation *op : run.ops) {
    auto next = dyn_cast<dist::NextOp>(op);
    if (!next)
      continue;
    const BatchState &found = get(next.getCarried());
    BatchState both = BatchState::join(found, get(next.getValue()), next);
    if (found.isLike(both))
      continue;
    isClosed = false;
    carried[next.getCarried()] = std::move(both);
  }
  return isClosed;
}
