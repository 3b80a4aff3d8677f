//===- SentGradients.cpp - Gradients are sent as their row says -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See SentGradients.h.
//
// Test: test/Transforms/Sharding/sent-gradients.mlir
//===----------------------------------------------------------------------===//

#include "SentGradients.h"
#include "llmc/Dialect/Dist/IR/LayoutOnMesh.h"
#include "llmc/Dialect/Dist/IR/PrecisionMarks.h"
#include "llmc/Dialect/Dist/IR/Signature.h"
#include "llmc/Dialect/Graph/IR/GraphInterfaces.h"
#include "llmc/Dialect/Graph/IR/Precision.h"
#include "llmc/Dialect/StableHLO/IR/StableHLO.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace llmc;
using dist::DistDialect;
using dist::LayoutAttr;

static bool isPartial(Value value) {
  LayoutAttr layout = dist::getLayout(value.getType());
  return layout && !layout.getPartial().empty();
}

/// It adds up terms of different devices.
static bool isSumOfDevices(dist::ReshardOp op) {
  LayoutAttr to = dist::getLayout(op.getType());
  auto isAdded = [&](dist::AxisAttr axis) {
    return !to.getPartialKind(axis.getName());
  };
  return llvm::any_of(dist::getLayout(op.getInput().getType()).getPartial(),
                      [&](dist::PartialAttr partial) {
                        return partial.getKind() == ReductionKind::sum &&
                               llvm::any_of(partial.getAxes(), isAdded);
                      });
}

static Operation *convertAs(OpBuilder &builder, Operation *like, Value value,
                            Type element) {
  auto type = cast<RankedTensorType>(value.getType());
  auto op = stablehlo::ConvertOp::create(
      builder, like->getLoc(),
      RankedTensorType::get(type.getShape(), element, type.getEncoding()),
      value);
  for (StringRef mark : {DistDialect::kBlock, DistDialect::kPhase})
    if (Attribute is = like->getAttr(mark))
      op->setAttr(mark, is);
  return op;
}

static void sendAs(dist::ReshardOp op, FloatType sent) {
  auto wide = cast<RankedTensorType>(op.getType());
  auto own = dyn_cast<FloatType>(wide.getElementType());
  if (!own || own.getWidth() <= sent.getWidth())
    return;
  OpBuilder builder(op);
  Operation *terms = convertAs(builder, op, op.getInput(), sent);
  terms->setAttr(dist::kRoundsTerms, builder.getUnitAttr());
  op.getInputMutable().assign(terms->getResult(0));
  op.getResult().setType(
      RankedTensorType::get(wide.getShape(), sent, wide.getEncoding()));
  builder.setInsertionPointAfter(op);
  Operation *back = convertAs(builder, op, op.getResult(), own);
  op.getResult().replaceAllUsesExcept(back->getResult(0), back);
}

using Reshards = llvm::SetVector<dist::ReshardOp>;

/// From the gradient of an update on, through what stays partial.
static void collectForward(Value gradient, Reshards &found) {
  llvm::SetVector<Value> values;
  values.insert(gradient);
  for (size_t i = 0; i < values.size(); ++i)
    for (Operation *user : values[i].getUsers()) {
      auto reshard = dyn_cast<dist::ReshardOp>(user);
      if (reshard && isSumOfDevices(reshard))
        found.insert(reshard);
      else
        for (Value result : user->getResults())
          if (isPartial(result))
            values.insert(result);
    }
}

/// Moves a value, or adds values.
static bool passesSums(Operation *op) {
  if (isa<dist::ReshardOp, dist::JoinOp, dist::KeepOp>(op))
    return true;
  if (auto move = dyn_cast<graph::PrecisionOpInterface>(op);
      move && move.isMove())
    return true;
  auto rule = dyn_cast<graph::ShardingRuleOpInterface>(op);
  return rule &&
         llvm::any_of(rule.getShardingRule().carries, [&](auto &carried) {
           return carried.kind == ReductionKind::sum &&
                  carried.groups.size() == 1 &&
                  carried.groups[0].size() == op->getNumOperands();
         });
}

/// From the result of a microbatch back. What is read for anything else as well
/// is no part of the gradient alone, and stays.
static void collectBackward(OpOperand &gradient, Reshards &found) {
  llvm::SetVector<Operation *> ops;
  llvm::SmallPtrSet<Operation *, 16> known = {gradient.getOwner()};
  auto add = [&](Value value) {
    Operation *op = value.getDefiningOp();
    if (op && passesSums(op) && llvm::all_of(op->getUsers(), [&](auto *user) {
          return known.contains(user);
        })) {
      ops.insert(op);
      known.insert(op);
    }
  };
  add(gradient.get());
  for (size_t i = 0; i < ops.size(); ++i) {
    auto reshard = dyn_cast<dist::ReshardOp>(ops[i]);
    if (reshard && isSumOfDevices(reshard))
      found.insert(reshard);
    llvm::for_each(ops[i]->getOperands(), add);
  }
}

void llmc::narrowSentGradients(const ProgramFunction &program,
                               const StateRows &rows) {
  func::FuncOp function = program.function;
  auto getSent = [&](dist::PortAttr port) -> FloatType {
    FlatSymbolRefAttr of = dist::getGradientOf(port);
    dist::StateOp state = of ? rows.lookup(of.getAttr()) : dist::StateOp();
    dist::RowAttr row = state ? rows.getRow(state) : dist::RowAttr();
    return row ? dyn_cast_or_null<FloatType>(row.getSent()) : FloatType();
  };
  auto send = [](const Reshards &reshards, FloatType sent) {
    for (dist::ReshardOp reshard : reshards)
      sendAs(reshard, sent);
  };
  for (BlockArgument argument : function.getArguments())
    if (FloatType sent =
            getSent(dist::getArgumentPort(function, argument.getArgNumber()))) {
      Reshards found;
      if (isPartial(argument))
        collectForward(argument, found);
      send(found, sent);
    }
  Operation *end = function.front().getTerminator();
  for (OpOperand &result : end->getOpOperands())
    if (FloatType sent =
            getSent(dist::getResultPort(function, result.getOperandNumber()))) {
      Reshards found;
      collectBackward(result, found);
      send(found, sent);
    }
}
