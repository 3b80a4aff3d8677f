//===- Loop.cpp - Answers of enter, next and leave ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// On the values of one trip these are the identity, or take a row. The
// derivative of a loop is the reversed loop of its name, which each op builds
// its part of (Griewank & Walther, Evaluating Derivatives, chapter 4):
//
//   leave last  <->  enter carry        leave stack  <->  enter row
//   leave sum   <->  enter same         next of what enters, and the other way
//
// Where a carried value has a cotangent in one trip alone, those of the other
// trips are zero: so a next, and what it carries, is differentiated although
// its result may have no cotangent (`isOfTrips`).
//
// Test: test/Dialect/Dist/Models/LoopTest.cpp
//===----------------------------------------------------------------------===//

#include "llmc/Dialect/Dist/IR/Dist.h"
#include "llmc/Dialect/Dist/Models/Models.h"
#include "llmc/Dialect/Graph/IR/Answers.h"
#include "llmc/Dialect/Graph/IR/IndexLimits.h"
#include "llmc/Dialect/StableHLO/IR/Builders.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::graph;
using namespace llmc::dist;

/// Dim `d + 1` of `stacked` is dim `d` of `row`; its first dim is that of
/// trips.
static void tieRows(ShardingRule &rule, RankedTensorType stackedType,
                    TensorFactors &stacked, TensorFactors &row) {
  stacked[0] = {rule.addFactor(stackedType.getDimSize(0), FactorKind::Whole)};
  for (int64_t d = 1; d < stackedType.getRank(); ++d)
    stacked[d] = row[d - 1] = {rule.addFactor(stackedType.getDimSize(d))};
}

static void tieDims(ShardingRule &rule, RankedTensorType type) {
  for (int64_t d = 0; d < type.getRank(); ++d)
    rule.operands[0][d] =
        rule.results[0][d] = {rule.addFactor(type.getDimSize(d))};
}

static void passAllKinds(ShardingRule &rule) {
  for (const ReductionTraits &traits : reductionTraits)
    rule.addLinear(traits.kind, {{0}});
}

static RankedTensorType tensorOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

/// The carried cotangent of the reversed loop that has this number; made with
/// zero in the last trip where nothing after the loop has one.
static Value getCarriedCotangent(DerivativeCall &call, EnterOp carried) {
  LoopAttr loop = carried.getLoop().getReverse();
  auto number = static_cast<int64_t>(*carried.getNumber());
  for (auto enter : call.builder.getInsertionBlock()->getOps<EnterOp>())
    if (enter.getLoop() == loop && enter.getNumber() == number)
      return enter;
  Value zero =
      stablehlo::constantLike(call.builder, call.loc, carried.getInput(), 0);
  return EnterOp::create(call.builder, call.loc, zero, EnterKind::Carry, loop,
                         number);
}

namespace {
struct EnterAnswers : AnswerDefaults<EnterOp> {
  static ShardingRule rule(EnterOp op) {
    ShardingRule rule = ShardingRule::forOp(op);
    RankedTensorType type = tensorOf(op.getInput());
    op.isRow() ? tieRows(rule, type, rule.operands[0], rule.results[0])
               : tieDims(rule, type);
    // A carried value is the same in each trip: it is added up before.
    if (!op.isCarry())
      passAllKinds(rule);
    return rule;
  }

  static OpCost cost(EnterOp) { return {}; }
  static bool ofTrips(EnterOp op) { return op.isCarry(); }

  static LogicalResult derive(EnterOp op, DerivativeCall &call) {
    Value g = call.cotangents[0];
    LoopAttr loop = op.getLoop().getReverse();
    if (!op.isCarry()) {
      call.gradients[0] =
          LeaveOp::create(call.builder, call.loc, g,
                          op.isRow() ? LeaveKind::Stack : LeaveKind::Sum, loop);
      return success();
    }
    Value carried = getCarriedCotangent(call, op);
    if (!g)
      g = stablehlo::constantLike(call.builder, call.loc, op.getResult(), 0);
    Value last = NextOp::create(call.builder, call.loc, carried, g);
    call.gradients[0] =
        LeaveOp::create(call.builder, call.loc, last, LeaveKind::Last, loop);
    return success();
  }
};

struct NextAnswers : AnswerDefaults<NextOp> {
  static ShardingRule rule(NextOp op) {
    ShardingRule rule = ShardingRule::forOp(op);
    tieDims(rule, tensorOf(op.getResult()));
    rule.operands[1] = rule.operands[0];
    return rule;
  }

  static OpCost cost(NextOp) { return {}; }
  static bool ofTrips(NextOp) { return true; }

  static LogicalResult derive(NextOp op, DerivativeCall &call) {
    Value g = call.cotangents[0];
    call.gradients[1] = g ? g : getCarriedCotangent(call, op.getEnter());
    return success();
  }
};

struct LeaveAnswers : AnswerDefaults<LeaveOp> {
  static ShardingRule rule(LeaveOp op) {
    ShardingRule rule = ShardingRule::forOp(op);
    RankedTensorType type = tensorOf(op.getResult());
    op.isStack() ? tieRows(rule, type, rule.results[0], rule.operands[0])
                 : tieDims(rule, type);
    if (op.isStack())
      passAllKinds(rule);
    else if (op.isSum())
      rule.addLinear(ReductionKind::sum, {{0}});
    return rule;
  }

  static OpCost cost(LeaveOp) { return {}; }

  static LogicalResult derive(LeaveOp op, DerivativeCall &call) {
    Value g = call.cotangents[0];
    LoopAttr loop = op.getLoop().getReverse();
    EnterKind kind = op.isStack()  ? EnterKind::Row
                     : op.isLast() ? EnterKind::Carry
                                   : EnterKind::Same;
    int64_t number = -1;
    if (op.isLast())
      number = *op.getInput().getDefiningOp<NextOp>().getEnter().getNumber();
    call.gradients[0] =
        EnterOp::create(call.builder, call.loc, g, kind, loop, number);
    return success();
  }
};

/// The first trip reads what enters. A loop that its condition ends may have no
/// trip: it asks first.
struct EnterIndex
    : graph::IndexOpInterface::ExternalModel<EnterIndex, EnterOp> {
  SmallVector<Value> getIndexSources(Operation *op, int64_t) const {
    auto enter = cast<EnterOp>(op);
    if (enter.getLoop().getConditional())
      return {};
    SmallVector<Value> sources = {enter.getInput()};
    if (NextOp next = enter.isCarry() ? enter.getNext() : NextOp();
        next && enter.getLoop().getTrips() > 1)
      sources.push_back(next.getValue());
    return sources;
  }
};

struct NextIndex : graph::IndexOpInterface::ExternalModel<NextIndex, NextOp> {
  SmallVector<Value> getIndexSources(Operation *op, int64_t) const {
    return {cast<NextOp>(op).getValue()};
  }
};

struct LeaveIndex
    : graph::IndexOpInterface::ExternalModel<LeaveIndex, LeaveOp> {
  SmallVector<Value> getIndexSources(Operation *op, int64_t) const {
    auto leave = cast<LeaveOp>(op);
    if (leave.isSum() || leave.getLoop().getConditional())
      return {};
    return {leave.getInput()};
  }
};
} // namespace

void dist::registerLoopModels(DialectRegistry &registry) {
  using graph::detail::CostModel, graph::detail::DerivativeModel,
      graph::detail::RuleModel;
  registry.addExtension(+[](MLIRContext *context, DistDialect *) {
    attachSomeAnswers<EnterOp, EnterAnswers, RuleModel, DerivativeModel,
                      CostModel>(context);
    attachSomeAnswers<NextOp, NextAnswers, RuleModel, DerivativeModel,
                      CostModel>(context);
    attachSomeAnswers<LeaveOp, LeaveAnswers, RuleModel, DerivativeModel,
                      CostModel>(context);
    EnterOp::attachInterface<EnterIndex>(*context);
    NextOp::attachInterface<NextIndex>(*context);
    LeaveOp::attachInterface<LeaveIndex>(*context);
  });
}
