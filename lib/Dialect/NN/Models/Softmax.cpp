//===- Softmax.cpp - Answers of softmax and log_softmax -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// With x one row along the dimension, m its maximum, g the result's cotangent:
//
//   softmax      y = exp(x - m) / sum exp(x - m)      dx = y (g - sum(g y))
//   log_softmax  y = (x - m) - log sum exp(x - m)     dx = g - exp(y) sum(g)
//
// Rows split freely. When a row is split, each op is replaced by the global ops
// above: a maximum and a sum over devices, or one sum, the rest is local. The
// kernels are formed from the same ops. f16 and bf16 are computed in f32.
//
// Evaluation computes in double and rounds once.
//
// Test: test/Dialect/NN/Models/SoftmaxTest.cpp
//===----------------------------------------------------------------------===//

#include "llmc/Dialect/Graph/IR/Answers.h"
#include "llmc/Dialect/NN/IR/NN.h"
#include "llmc/Dialect/NN/Models/Models.h"
#include "llmc/Dialect/StableHLO/IR/Builders.h"
#include "llmc/Support/HostElements.h"
#include <cmath>

using namespace mlir;
using namespace llmc;
using namespace llmc::graph;
using namespace llmc::nn;
namespace hlo = llmc::stablehlo;

namespace {
RankedTensorType getSoftmaxType(Operation *op) {
  return cast<RankedTensorType>(op->getOperand(0).getType());
}

/// All dims pass but `along`, which has a distributed form.
ShardingRule buildSoftmaxRule(Operation *op, int64_t along) {
  ShardingRule rule = ShardingRule::forOp(op);
  RankedTensorType type = getSoftmaxType(op);
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    int factor =
        rule.addFactor(type.getDimSize(dim),
                       dim == along ? FactorKind::Whole : FactorKind::Pass);
    if (dim == along)
      rule.distributed.push_back(factor);
    for (TensorFactors &tensor : rule.operands)
      tensor[dim] = {factor};
    for (TensorFactors &tensor : rule.results)
      tensor[dim] = {factor};
  }
  return rule;
}

/// The ops that the decompositions share, in the type that they compute in.
struct SoftmaxRows {
  OpBuilder &b;
  Location loc;
  RankedTensorType type;
  SmallVector<int64_t> dims;

  SoftmaxRows(OpBuilder &b, Operation *op, int64_t dim)
      : b(b), loc(op->getLoc()), dims({dim}) {
    RankedTensorType given = getSoftmaxType(op);
    Type element = given.getElementType();
    if (element.getIntOrFloatBitWidth() < 32)
      element = b.getF32Type();
    type = RankedTensorType::get(given.getShape(), element);
  }

  Value widen(Value value) {
    return hlo::convertTo(b, loc, value, type.getElementType());
  }
  Value narrow(Value value, Operation *op) {
    return hlo::convertTo(b, loc, value, getSoftmaxType(op).getElementType());
  }
  Value spread(Value rows) {
    return hlo::broadcastAlong(b, loc, rows, type, dims);
  }
  Value sum(Value full) { return spread(hlo::reduceAdd(b, loc, full, dims)); }
};

template <typename Op>
LogicalResult buildSoftmax(Op op, OpBuilder &b,
                           SmallVectorImpl<Value> &results) {
  SoftmaxRows rows(b, op, op.getDim());
  Value x = rows.widen(op.getOperand());
  Value max = hlo::reduceMax(b, rows.loc, x, rows.dims);
  Value shifted = hlo::sub(b, rows.loc, x, rows.spread(max));
  Value exponential = hlo::exp(b, rows.loc, shifted), result;
  if (isa<SoftmaxOp>(op)) {
    result = hlo::div(b, rows.loc, exponential, rows.sum(exponential));
  } else {
    Value sum = hlo::reduceAdd(b, rows.loc, exponential, rows.dims);
    result =
        hlo::sub(b, rows.loc, shifted, rows.spread(hlo::log(b, rows.loc, sum)));
  }
  results.push_back(rows.narrow(result, op));
  return success();
}

template <typename Op>
LogicalResult buildSoftmaxGradient(Op op, OpBuilder &b,
                                   SmallVectorImpl<Value> &results) {
  SoftmaxRows rows(b, op, op.getDim());
  Value y = rows.widen(op.getOutput()), g = rows.widen(op.getCotangent());
  Value result;
  if (isa<SoftmaxGradOp>(op)) {
    Value along = rows.sum(hlo::mul(b, rows.loc, g, y));
    result = hlo::mul(b, rows.loc, y, hlo::sub(b, rows.loc, g, along));
  } else {
    Value term = hlo::mul(b, rows.loc, hlo::exp(b, rows.loc, y), rows.sum(g));
    result = hlo::sub(b, rows.loc, g, term);
  }
  results.push_back(rows.narrow(result, op));
  return success();
}

//===----------------------------------------------------------------------===//
// Evaluation
//===----------------------------------------------------------------------===//

/// Calls `step` with the numbers of the elements of each row.
template <typename Step>
void forEachRow(RankedTensorType type, int64_t dim, Step step) {
  int64_t size = type.getDimSize(dim), stride = 1;
  for (int64_t later : type.getShape().drop_front(dim + 1))
    stride *= later;
  std::vector<int64_t> row(size);
  for (int64_t first = 0; first < type.getNumElements(); ++first) {
    if (first / stride % size != 0)
      continue;
    for (int64_t i = 0; i < size; ++i)
      row[i] = first + i * stride;
    step(row);
  }
}

template <typename Op>
LogicalResult evaluateSoftmax(Op op, EvaluationCall &call) {
  const HostTensor &x = call.operands[0];
  HostTensor result(x.getElementType(), x.getShape());
  forEachRow(getSoftmaxType(op), op.getDim(), [&](ArrayRef<int64_t> row) {
    double max = -INFINITY, sum = 0;
    for (int64_t i : row) {
      double value = x.getFloat(i);
      max = std::isnan(value) || value > max ? value : max;
    }
    for (int64_t i : row)
      sum += std::exp(x.getFloat(i) - max);
    for (int64_t i : row) {
      double shifted = x.getFloat(i) - max;
      result.setFloat(i, isa<SoftmaxOp>(op) ? std::exp(shifted) / sum
                                            : shifted - std::log(sum));
    }
  });
  call.results.push_back(std::move(result));
  return success();
}

template <typename Op>
LogicalResult evaluateSoftmaxGradient(Op op, EvaluationCall &call) {
  const HostTensor &y = call.operands[0], &g = call.operands[1];
  HostTensor result(y.getElementType(), y.getShape());
  bool isLog = isa<LogSoftmaxGradOp>(op);
  forEachRow(getSoftmaxType(op), op.getDim(), [&](ArrayRef<int64_t> row) {
    double sum = 0;
    for (int64_t i : row)
      sum += isLog ? g.getFloat(i) : g.getFloat(i) * y.getFloat(i);
    for (int64_t i : row)
      result.setFloat(i, isLog ? g.getFloat(i) - std::exp(y.getFloat(i)) * sum
                               : y.getFloat(i) * (g.getFloat(i) - sum));
  });
  call.results.push_back(std::move(result));
  return success();
}

//===----------------------------------------------------------------------===//
// The answers
//===----------------------------------------------------------------------===//

OpCost buildSoftmaxCost(Operation *op, int64_t flops, int64_t exponentials) {
  OpCost cost = getTrafficCost(op);
  cost.flops = flops * getSoftmaxType(op).getNumElements();
  cost.transcendentals = exponentials * getSoftmaxType(op).getNumElements();
  return cost;
}

template <typename SoftmaxLikeOp, typename GradientOp>
struct SoftmaxAnswers : AnswerDefaults<SoftmaxLikeOp> {
  using Op = SoftmaxLikeOp;
  static ShardingRule rule(Op op) { return buildSoftmaxRule(op, op.getDim()); }
  static OpCost cost(Op op) { return buildSoftmaxCost(op, 4, 1); }
  static KernelForm form(Op) { return KernelForm::Decompose; }
  static LogicalResult decompose(Op op, OpBuilder &b,
                                 SmallVectorImpl<Value> &results) {
    return buildSoftmax(op, b, results);
  }
  static LogicalResult distribute(Op op, OpBuilder &b,
                                  SmallVectorImpl<Value> &results) {
    return buildSoftmax(op, b, results);
  }
  static LogicalResult derive(Op op, DerivativeCall &call) {
    Value g = call.cotangents[0];
    if (call.needed[0] && g)
      call.gradients[0] =
          GradientOp::create(call.builder, call.loc, g.getType(),
                             op.getResult(), g, op.getDimAttr());
    return success();
  }
  static LogicalResult evaluate(Op op, EvaluationCall &call) {
    return evaluateSoftmax(op, call);
  }
};

template <typename GradientOp>
struct SoftmaxGradientAnswers : AnswerDefaults<GradientOp> {
  using Op = GradientOp;
  /// Linear in the cotangent.
  static ShardingRule rule(Op op) {
    ShardingRule rule = buildSoftmaxRule(op, op.getDim());
    rule.addLinear(ReductionKind::sum, {{1}});
    return rule;
  }
  static OpCost cost(Op op) {
    return buildSoftmaxCost(op, isa<SoftmaxGradOp>(op) ? 4 : 3,
                            isa<SoftmaxGradOp>(op) ? 0 : 1);
  }
  static KernelForm form(Op) { return KernelForm::Decompose; }
  static LogicalResult decompose(Op op, OpBuilder &b,
                                 SmallVectorImpl<Value> &results) {
    return buildSoftmaxGradient(op, b, results);
  }
  static LogicalResult distribute(Op op, OpBuilder &b,
                                  SmallVectorImpl<Value> &results) {
    return buildSoftmaxGradient(op, b, results);
  }
  static LogicalResult evaluate(Op op, EvaluationCall &call) {
    return evaluateSoftmaxGradient(op, call);
  }
};

template <typename Op> void attachSoftmaxGradient(MLIRContext *context) {
  attachSomeAnswers<Op, SoftmaxGradientAnswers<Op>, graph::detail::RuleModel,
                    graph::detail::CostModel, graph::detail::KernelModel,
                    graph::detail::EvaluationModel>(context);
}
} // namespace

void nn::registerSoftmaxModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, NNDialect *) {
    attachAnswers<SoftmaxOp, SoftmaxAnswers<SoftmaxOp, SoftmaxGradOp>>(context);
    attachAnswers<LogSoftmaxOp, SoftmaxAnswers<LogSoftmaxOp, LogSoftmaxGradOp>>(
        context);
    attachSoftmaxGradient<SoftmaxGradOp>(context);
    attachSoftmaxGradient<LogSoftmaxGradOp>(context);
  });
}
