//===- ReverseSweep.cpp - One reverse sweep over a function ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Phases of backward ops: an op is `backward_input` when its result reaches the
// cotangent of an activation that came from an earlier block, since the stage
// before waits for it; all others are `backward_weight`. The sum of cotangents
// belongs to the first block that has contributed: contributions of later
// blocks are thus added up in their block, and one value crosses the cut. Ops
// need not stand in the order of blocks.
//
// Test: test/Transforms/Training/differentiate.mlir
//===----------------------------------------------------------------------===//

#include "ReverseSweep.h"
#include "../TrainingMarks.h"
#include "Activity.h"
#include "OpenLoops.h"
#include "llmc/Dialect/Graph/IR/GraphInterfaces.h"
#include "llmc/Dialect/StableHLO/IR/Builders.h"
#include "llmc/Support/Refusal.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace llmc;
using llmc::graph::DerivativeOpInterface;
using llmc::training::KnownCall;
using llmc::training::ReverseSweep;

/// Collects the ops that are put into the function's block.
struct ReverseSweep::Listener : OpBuilder::Listener {
  explicit Listener(ReverseSweep &sweep) : sweep(sweep) {}
  void notifyOperationInserted(Operation *op,
                               OpBuilder::InsertPoint previous) override {
    if (!previous.isSet())
      sweep.created.push_back(op);
  }
  ReverseSweep &sweep;
};

static int64_t getBlock(Operation *op) {
  return op ? training::getBlockMark(op).value_or(0) : 0;
}

ReverseSweep::ReverseSweep(func::FuncOp function, ArrayRef<bool> wanted,
                           ArrayRef<bool> inputs)
    : function(function), wanted(wanted), builder(function.getContext()),
      known(function.getContext()) {
  for (BlockArgument argument : function.getArguments())
    if (inputs[argument.getArgNumber()])
      activations.insert(argument);
  for (Operation &op : function.front().without_terminator()) {
    forwardOps.push_back(&op);
    if (llvm::any_of(op.getOperands(),
                     [&](Value v) { return activations.contains(v); }))
      activations.insert(op.result_begin(), op.result_end());
  }
}

LogicalResult ReverseSweep::checkDerivatives() {
  struct Row {
    Operation *first = nullptr;
    int64_t count = 0;
  };
  llvm::MapVector<StringRef, Row> missing;
  for (Operation *op : forwardOps) {
    bool isActive = llvm::any_of(op->getResults(), [&](Value result) {
      return active.contains(result);
    });
    if (!isActive || isa<DerivativeOpInterface>(op))
      continue;
    Row &row = missing[op->getName().getStringRef()];
    if (!row.first)
      row.first = op;
    ++row.count;
  }
  if (missing.empty())
    return success();
  InFlightDiagnostic diag =
      emitRefusal(function.getLoc(), rt::ErrorKind::unsupported)
      << "expected a derivative of every op between "
         "parameters and loss, got none for "
      << missing.size()
      << (missing.size() == 1 ? " kind of op" : " kinds of ops");
  for (auto &[name, row] : missing) {
    StringRef reason = graph::getRefusal(name, graph::Answer::Derivative);
    Diagnostic &note = diag.attachNote(row.first->getLoc())
                       << "'" << name << "' (" << row.count
                       << (row.count == 1 ? " op" : " ops") << ")";
    if (!reason.empty())
      note << ": " << reason;
  }
  return diag;
}

bool ReverseSweep::entersBlockBefore(Value value, int64_t block) const {
  Operation *producer = value.getDefiningOp();
  return producer && activations.contains(value) && getBlock(producer) < block;
}

void ReverseSweep::markCreatedOps(Location forward, int64_t block) {
  Location loc = FusedLoc::get(builder.getContext(), {forward},
                               builder.getStringAttr("backward"));
  for (Operation *op : created) {
    if (op->getBlock() != &function.front())
      continue;
    auto sum = sums.find(op);
    training::setBlockMark(op, sum == sums.end() ? block : sum->second);
    training::setPhaseMark(op, dist::Phase::BackwardWeight);
    op->setLoc(loc);
  }
  created.clear();
  sums.clear();
}

void ReverseSweep::addContribution(Operation *op, Value operand,
                                   Value contribution) {
  auto [known, isNew] =
      cotangents.try_emplace(operand, Cotangent{contribution, getBlock(op)});
  Cotangent &cotangent = known->second;
  auto markInput = [&](Value value) {
    if (Operation *producer = value.getDefiningOp())
      inputCotangents.insert(producer);
  };
  if (!isNew) {
    cotangent.block = std::min(cotangent.block, getBlock(op));
    cotangent.value =
        stablehlo::add(builder, op->getLoc(), cotangent.value, contribution);
    sums[cotangent.value.getDefiningOp()] = cotangent.block;
    if (getBlock(op) > cotangent.block && activations.contains(operand))
      markInput(contribution);
  }
  if (entersBlockBefore(operand, cotangent.block))
    markInput(cotangent.value);
}

/// Whether other trips of a loop may have a cotangent of what `op` makes.
bool ReverseSweep::isOfTrips(Operation *op) const {
  auto answers = dyn_cast<DerivativeOpInterface>(op);
  return answers && answers.isOfTrips() && active.contains(op->getResult(0));
}

LogicalResult ReverseSweep::differentiateCall(const KnownCall &call) {
  SmallVector<Value> gradients;
  known.buildDerivative(builder, call, getCotangent(call.result()), gradients);
  for (auto [argument, gradient] : llvm::zip_equal(call.arguments, gradients))
    if (active.contains(argument))
      addContribution(call.root, argument, gradient);
  markCreatedOps(call.root->getLoc(), getBlock(call.root));
  return success();
}

LogicalResult ReverseSweep::differentiateOp(Operation *op) {
  SmallVector<Value> resultCotangents;
  for (Value result : op->getResults())
    resultCotangents.push_back(active.contains(result) ? getCotangent(result)
                                                       : Value());
  if (llvm::none_of(resultCotangents, [](Value value) { return !!value; }) &&
      !isOfTrips(op))
    return success();
  if (std::optional<KnownCall> call = known.match(op))
    return differentiateCall(*call);
  SmallVector<bool> needed;
  for (OpOperand &operand : op->getOpOperands())
    needed.push_back(active.contains(operand.get()) &&
                     !isStopped(op, operand.getOperandNumber()));
  SmallVector<Value> gradients(op->getNumOperands());
  if (failed(cast<DerivativeOpInterface>(op).buildDerivative(
          builder, resultCotangents, needed, gradients)))
    return failure();
  for (auto [operand, gradient, isNeeded] :
       llvm::zip_equal(op->getOperands(), gradients, needed)) {
    if (!gradient || !isNeeded)
      continue;
    if (gradient.getType() != operand.getType())
      return op->emitOpError()
             << "expected a derivative of type " << operand.getType()
             << ", got " << gradient.getType();
    addContribution(op, operand, gradient);
  }
  markCreatedOps(op->getLoc(), getBlock(op));
  return success();
}

void ReverseSweep::markPhases() {
  for (Operation *op : forwardOps)
    training::setPhaseMark(op, dist::Phase::Forward);
  llvm::DenseSet<Operation *> forward(forwardOps.begin(), forwardOps.end());
  llvm::DenseSet<Operation *> &reaching = inputCotangents;
  for (Operation &op : llvm::reverse(function.front().without_terminator())) {
    if (forward.contains(&op))
      break;
    if (!reaching.contains(&op))
      continue;
    training::setPhaseMark(&op, dist::Phase::BackwardInput);
    for (Value operand : op.getOperands())
      if (Operation *producer = operand.getDefiningOp();
          producer && !forward.contains(producer))
        reaching.insert(producer);
  }
}

LogicalResult ReverseSweep::run(Value loss, Seed seed,
                                SmallVectorImpl<Value> &gradients) {
  active = findActiveValues(function, wanted, loss);
  if (failed(checkDerivatives()) ||
      failed(training::refuseOpenLoops(function, active, loss)))
    return failure();
  Listener listener(*this);
  builder.setListener(&listener);
  builder.setInsertionPoint(function.front().getTerminator());
  // The loss may be a parameter itself.
  if (active.contains(loss)) {
    int64_t block = getBlock(loss.getDefiningOp());
    cotangents[loss] = {seed(builder, loss), block};
    markCreatedOps(loss.getLoc(), block);
  }
  for (Operation *op : llvm::reverse(forwardOps))
    if (failed(differentiateOp(op)))
      return failure();
  markPhases();
  for (BlockArgument argument : function.getArguments())
    gradients.push_back(active.contains(argument) ? getCotangent(argument)
                                                  : Value());
  return success();
}
