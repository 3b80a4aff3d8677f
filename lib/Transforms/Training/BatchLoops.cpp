//===- BatchLoops.cpp - How what loops carry depends on the batch ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A trip of a loop is visited until it leaves what it finds; see BatchSums.h.
//
// Tests: test/EndToEnd/random-loops.test
//===----------------------------------------------------------------------===//

#include "BatchSums.h"
#include "llmc/Dialect/Dist/IR/LoopRuns.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::training;
using Kind = BatchState::Kind;

/// Also what a loop carries that starts from zero, as long as nothing is known
/// of it.
bool BatchSums::isZero(Value value) const {
  if (auto enter = value.getDefiningOp<dist::EnterOp>())
    return !carried.contains(value) && isZero(enter.getInput());
  return matchPattern(value, m_AnyZeroFloat()) || matchPattern(value, m_Zero());
}

/// What a trip leaves, the next one finds: until both are the same.
void BatchSums::visit(const dist::LoopRun &run) {
  constexpr int mostRounds = 4;
  for (int round = 0; round < mostRounds; ++round) {
    for (Operation *op : run.ops)
      visit(*op);
    if (close(run))
      break;
  }
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

/// What enters and leaves the trips of a loop as it is; false for all else.
bool BatchSums::visitLoopOp(Operation &op) {
  auto enter = dyn_cast<dist::EnterOp>(op);
  auto next = dyn_cast<dist::NextOp>(op);
  auto leave = dyn_cast<dist::LeaveOp>(op);
  if ((!enter || !enter.isCarry()) && !next && (!leave || !leave.isLast()))
    return false;
  Value from = next ? next.getValue() : op.getOperand(0);
  BatchState state = get(from);
  if (auto known = carried.find(op.getResult(0)); known != carried.end())
    state = known->second;
  states[op.getResult(0)] = std::move(state);
  return true;
}

/// Whether each trip finds what the one before it leaves; else what is left is
/// taken for what is found.
bool BatchSums::close(const dist::LoopRun &run) {
  bool isClosed = true;
  for (Operation *op : run.ops) {
    auto next = dyn_cast<dist::NextOp>(op);
    if (!next)
      continue;
    const BatchState &found = get(next.getCarried());
    BatchState left = get(next.getValue());
    bool isLike = found.isLike(left);
    left.isData &= found.isData;
    if (isLike && found.isData == left.isData)
      continue;
    isClosed = false;
    bool isFixed = found.kind == Kind::Fixed;
    if (!isLike && (!isFixed || carried.contains(next.getCarried()))) {
      left.kind = Kind::Mixed;
      left.culprit = next;
      left.reason = "changes how it depends on the batch from trip to trip";
    }
    carried[next.getCarried()] = std::move(left);
  }
  return isClosed;
}
