//===- CrossEntropy.cpp - Answers of softmax_cross_entropy ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// With x the logits of one row, c its target:
//
//   m = max x,  s = sum exp(x - m),  p = sum of x[j] where j == c
//   logsumexp = m + log s,  loss = logsumexp - p
//
// and with g, h the cotangents of loss and logsumexp
//
//   dx = (exp(x - logsumexp) - onehot c) * g + exp(x - logsumexp) * h
//
// where each term is one softmax_cross_entropy_grad; the second has no target
// (-1). A target outside of the classes picks 0.
//
// Rows split freely. When the classes are split, both ops are replaced by the
// global ops above: one maximum and two sums over devices (s and p), the rest
// is local. The kernels are formed from the same ops. f16 and bf16 are computed
// in f32, as is the picked logit.
//
// Evaluation computes in double and rounds once.
//
// Test: test/Dialect/NN/Models/CrossEntropyTest.cpp
//===----------------------------------------------------------------------===//

#include "llmc/Dialect/Graph/IR/Answers.h"
#include "llmc/Dialect/NN/IR/NN.h"
#include "llmc/Dialect/NN/Models/Models.h"
#include "llmc/Dialect/StableHLO/IR/Builders.h"
#include "llmc/Support/HostElements.h"
#include "llvm/ADT/Sequence.h"
#include <cmath>

using namespace mlir;
using namespace llmc;
using namespace llmc::graph;
using namespace llmc::nn;
namespace hlo = llmc::stablehlo;

namespace {
RankedTensorType typeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

/// Rows pass. The classes, the last dimension of the first operand, have a
/// distributed form.
ShardingRule buildRule(Operation *op) {
  ShardingRule rule = ShardingRule::forOp(op);
  RankedTensorType type = typeOf(op->getOperand(0));
  int64_t rows = type.getRank() - 1;
  for (int64_t d = 0; d < rows; ++d) {
    int factor = rule.addFactor(type.getDimSize(d));
    for (TensorFactors &tensor : rule.operands)
      tensor[d] = {factor};
    for (TensorFactors &tensor : rule.results)
      tensor[d] = {factor};
  }
  int classes = rule.addFactor(type.getDimSize(rows), FactorKind::Whole);
  rule.operands[0][rows] = {classes};
  for (TensorFactors &tensor : rule.results)
    if (static_cast<int64_t>(tensor.size()) == type.getRank())
      tensor[rows] = {classes};
  rule.distributed.push_back(classes);
  return rule;
}

OpCost buildCost(Operation *op, int64_t flopsPerLogit) {
  OpCost cost = getTrafficCost(op);
  int64_t logits = typeOf(op->getOperand(0)).getNumElements();
  cost.flops = flopsPerLogit * logits;
  cost.transcendentals = logits;
  return cost;
}

//===----------------------------------------------------------------------===//
// In global ops
//===----------------------------------------------------------------------===//

/// The ops that both decompositions share, in the type that they compute in.
struct Rows {
  OpBuilder &b;
  Location loc;
  Type element;
  Value logits;
  RankedTensorType type;
  int64_t classes; // the dimension

  Rows(OpBuilder &b, Location loc, Value value)
      : b(b), loc(loc), element(typeOf(value).getElementType()) {
    bool isNarrow = element.getIntOrFloatBitWidth() < 32;
    element = isNarrow ? b.getF32Type() : element;
    logits = hlo::convertTo(b, loc, value, element);
    type = typeOf(logits);
    classes = type.getRank() - 1;
  }

  Value spread(Value rows) {
    return hlo::broadcastAlong(
        b, loc, rows, type.clone(typeOf(rows).getElementType()), {classes});
  }

  /// Where the class is the row's target. Classes need not fit the type of the
  /// targets.
  Value buildIsTarget(Value targets) {
    Type integer = typeOf(targets).getElementType();
    if (integer.getIntOrFloatBitWidth() < 32)
      integer = b.getI32Type();
    Value numbers = hlo::iota(b, loc, type.clone(integer), classes);
    Value wanted = spread(hlo::convertTo(b, loc, targets, integer));
    return hlo::compare(b, loc, hlo::ComparisonDirection::EQ, numbers, wanted);
  }
};

LogicalResult buildLoss(SoftmaxCrossEntropyOp op, OpBuilder &b,
                        SmallVectorImpl<Value> &results) {
  Location loc = op.getLoc();
  Rows rows(b, loc, op.getLogits());
  Value max = hlo::reduceMax(b, loc, rows.logits, {rows.classes});
  Value shifted = hlo::sub(b, loc, rows.logits, rows.spread(max));
  Value sum = hlo::reduceAdd(b, loc, hlo::exp(b, loc, shifted), {rows.classes});
  Value zeros = hlo::constantLike(b, loc, rows.logits, 0);
  Value picked = hlo::select(b, loc, rows.buildIsTarget(op.getTargets()),
                             rows.logits, zeros);
  Value pick = hlo::reduceAdd(b, loc, picked, {rows.classes});
  Value logsumexp = hlo::add(b, loc, max, hlo::log(b, loc, sum));
  Value loss = hlo::sub(b, loc, logsumexp, pick);
  Type element = typeOf(op.getLoss()).getElementType();
  results.push_back(hlo::convertTo(b, loc, loss, element));
  results.push_back(hlo::convertTo(b, loc, logsumexp, element));
  return success();
}

LogicalResult buildGradient(SoftmaxCrossEntropyGradOp op, OpBuilder &b,
                            SmallVectorImpl<Value> &results) {
  Location loc = op.getLoc();
  Rows rows(b, loc, op.getLogits());
  auto spread = [&](Value value) {
    return rows.spread(hlo::convertTo(b, loc, value, rows.element));
  };
  Value shifted = hlo::sub(b, loc, rows.logits, spread(op.getLogsumexp()));
  Value softmax = hlo::exp(b, loc, shifted);
  Value reduced =
      hlo::sub(b, loc, softmax, hlo::constantLike(b, loc, softmax, 1));
  Value difference = hlo::select(b, loc, rows.buildIsTarget(op.getTargets()),
                                 reduced, softmax);
  Value product = hlo::mul(b, loc, difference, spread(op.getCotangent()));
  results.push_back(
      hlo::convertTo(b, loc, product, typeOf(op.getResult()).getElementType()));
  return success();
}

//===----------------------------------------------------------------------===//
// softmax_cross_entropy
//===----------------------------------------------------------------------===//

struct LossAnswers : AnswerDefaults<SoftmaxCrossEntropyOp> {
  using Op = SoftmaxCrossEntropyOp;
  static ShardingRule rule(Op op) { return buildRule(op); }
  static OpCost cost(Op op) { return buildCost(op, /*flopsPerLogit=*/5); }
  static KernelForm form(Op) { return KernelForm::Decompose; }
  static LogicalResult decompose(Op op, OpBuilder &b,
                                 SmallVectorImpl<Value> &results) {
    return buildLoss(op, b, results);
  }
  static LogicalResult distribute(Op op, OpBuilder &b,
                                  SmallVectorImpl<Value> &results) {
    return buildLoss(op, b, results);
  }

  static Value buildNoTargets(Op op, DerivativeCall &call) {
    RankedTensorType type = typeOf(op.getTargets());
    return hlo::constantSplat(call.builder, call.loc,
                              type.clone(call.builder.getI32Type()), -1);
  }

  static LogicalResult derive(Op op, DerivativeCall &call) {
    OpBuilder &b = call.builder;
    if (!call.needed[0])
      return success();
    Value sum;
    for (auto [i, g] : llvm::enumerate(call.cotangents)) {
      if (!g)
        continue;
      Value targets =
          i == 0 ? Value(op.getTargets()) : buildNoTargets(op, call);
      Value term = SoftmaxCrossEntropyGradOp::create(
          b, call.loc, op.getLogits(), targets, op.getLogsumexp(), g);
      sum = sum ? hlo::add(b, call.loc, sum, term) : term;
    }
    call.gradients[0] = sum;
    return success();
  }

  static LogicalResult evaluate(Op op, EvaluationCall &call) {
    const HostTensor &logits = call.operands[0], &targets = call.operands[1];
    HostTensor loss(typeOf(op.getLoss())), logsumexp(typeOf(op.getLogsumexp()));
    int64_t classes = logits.getShape().back();
    std::vector<double> row(classes);
    for (int64_t i = 0; i < loss.getNumElements(); ++i) {
      loadFloats(logits, i * classes, row);
      double max = -INFINITY, sum = 0;
      for (double x : row)
        max = std::isnan(x) || x > max ? x : max;
      for (double x : row)
        sum += std::exp(x - max);
      double total = max + std::log(sum);
      int64_t target = targets.getInt(i);
      bool isClass = target >= 0 && target < classes;
      logsumexp.setFloat(i, total);
      loss.setFloat(i, total - (isClass ? row[target] : 0.0));
    }
    call.results.push_back(std::move(loss));
    call.results.push_back(std::move(logsumexp));
    return success();
  }
};

//===----------------------------------------------------------------------===//
// softmax_cross_entropy_grad
//===----------------------------------------------------------------------===//

struct GradientAnswers : AnswerDefaults<SoftmaxCrossEntropyGradOp> {
  using Op = SoftmaxCrossEntropyGradOp;
  /// Linear in the cotangent of the loss.
  static ShardingRule rule(Op op) {
    ShardingRule rule = buildRule(op);
    rule.addLinear(ReductionKind::sum, {{3}});
    return rule;
  }
  static OpCost cost(Op op) { return buildCost(op, /*flopsPerLogit=*/3); }
  static KernelForm form(Op) { return KernelForm::Decompose; }
  static LogicalResult decompose(Op op, OpBuilder &b,
                                 SmallVectorImpl<Value> &results) {
    return buildGradient(op, b, results);
  }
  static LogicalResult distribute(Op op, OpBuilder &b,
                                  SmallVectorImpl<Value> &results) {
    return buildGradient(op, b, results);
  }

  static LogicalResult evaluate(Op op, EvaluationCall &call) {
    const HostTensor &logits = call.operands[0], &targets = call.operands[1];
    HostTensor result(typeOf(op.getResult()));
    int64_t classes = logits.getShape().back();
    std::vector<double> row(classes);
    for (int64_t i = 0; i < targets.getNumElements(); ++i) {
      loadFloats(logits, i * classes, row);
      double logsumexp = call.operands[2].getFloat(i);
      double g = call.operands[3].getFloat(i);
      int64_t target = targets.getInt(i);
      for (int64_t j = 0; j < classes; ++j)
        row[j] = (std::exp(row[j] - logsumexp) - (j == target ? 1 : 0)) * g;
      storeFloats(result, i * classes, row);
    }
    call.results.push_back(std::move(result));
    return success();
  }
};
} // namespace

void nn::registerCrossEntropyModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, NNDialect *) {
    attachAnswers<SoftmaxCrossEntropyOp, LossAnswers>(context);
    attachSomeAnswers<SoftmaxCrossEntropyGradOp, GradientAnswers,
                      graph::detail::RuleModel, graph::detail::CostModel,
                      graph::detail::KernelModel,
                      graph::detail::EvaluationModel>(context);
  });
}
