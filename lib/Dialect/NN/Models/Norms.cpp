//===- Norms.cpp - Answers of layer_norm and rms_norm ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// With x one row of n elements (an RMS norm is the layer norm of rows that are
// taken as they are):
//
//   c = x - mean x,  rstd = rsqrt(mean(c^2) + epsilon),  y = c * rstd
//
// and with g, h the cotangents of y and rstd
//
//   dx = (g - mean g - y * mean(g * y)) * rstd - y * rstd^2 * h / n
//
// where the first term is one layer_norm_grad; an rms_norm_grad has no mean g.
// Both read y and not x, so that x need not be kept. Means are sums over n,
// which no layout changes.
//
// Rows split freely. When a row is split, each op is replaced by the global ops
// above: the sums are then over devices, the rest is local. The kernels are
// formed from the same ops. f16 and bf16 are computed in f32.
//
// Evaluation computes in double and rounds once.
//
// Test: test/Dialect/NN/Models/NormsTest.cpp
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
RankedTensorType getNormType(Value value) {
  return cast<RankedTensorType>(value.getType());
}

/// Rows pass. The last `numDims` dimensions have a distributed form.
ShardingRule buildNormRule(Operation *op, int64_t numDims) {
  ShardingRule rule = ShardingRule::forOp(op);
  RankedTensorType type = getNormType(op->getOperand(0));
  int64_t numRows = type.getRank() - numDims;
  for (int64_t dim = 0; dim < type.getRank(); ++dim) {
    bool isRow = dim < numRows;
    int factor = rule.addFactor(type.getDimSize(dim),
                                isRow ? FactorKind::Pass : FactorKind::Whole);
    if (!isRow)
      rule.distributed.push_back(factor);
    for (auto *tensors : {&rule.operands, &rule.results})
      for (TensorFactors &tensor : *tensors)
        if (dim < static_cast<int64_t>(tensor.size()))
          tensor[dim] = {factor};
  }
  return rule;
}

OpCost buildNormCost(Operation *op, int64_t flops) {
  OpCost cost = getTrafficCost(op);
  cost.flops = flops * getNormType(op->getOperand(0)).getNumElements();
  return cost;
}

int64_t countRowElements(Value full, int64_t numDims) {
  ArrayRef<int64_t> shape = getNormType(full).getShape().take_back(numDims);
  int64_t count = 1;
  for (int64_t size : shape)
    count *= size;
  return count;
}

//===----------------------------------------------------------------------===//
// In global ops
//===----------------------------------------------------------------------===//

/// The ops that the decompositions share, in the type that they compute in.
struct NormRows {
  OpBuilder &b;
  Location loc;
  RankedTensorType type;
  SmallVector<int64_t> dims;
  double size;

  NormRows(OpBuilder &b, Location loc, Value full, Value rstd, int64_t numDims)
      : b(b), loc(loc),
        type(RankedTensorType::get(getNormType(full).getShape(),
                                   getNormType(rstd).getElementType())),
        dims(llvm::to_vector(
            llvm::seq(type.getRank() - numDims, type.getRank()))),
        size(static_cast<double>(countRowElements(full, numDims))) {}

  Value widen(Value value) {
    return hlo::convertTo(b, loc, value, type.getElementType());
  }
  Value narrow(Value value, Value like) {
    return hlo::convertTo(b, loc, value, getNormType(like).getElementType());
  }
  Value spread(Value rows) {
    return hlo::broadcastAlong(b, loc, rows, type, dims);
  }
  Value mean(Value full) {
    Value sum = hlo::reduceAdd(b, loc, full, dims);
    return hlo::div(b, loc, sum, hlo::constantLike(b, loc, sum, size));
  }
  Value sub(Value x, Value y) { return hlo::sub(b, loc, x, y); }
  Value mul(Value x, Value y) { return hlo::mul(b, loc, x, y); }
};

template <typename Op>
LogicalResult buildNorm(Op op, OpBuilder &b, SmallVectorImpl<Value> &results) {
  Location loc = op.getLoc();
  NormRows rows(b, loc, op.getOperand(), op.getRstd(), op.getDims());
  Value x = rows.widen(op.getOperand());
  if (isa<LayerNormOp>(op))
    x = rows.sub(x, rows.spread(rows.mean(x)));
  Value square = rows.mean(rows.mul(x, x));
  double epsilon = op.getEpsilon().convertToDouble();
  Value rstd = hlo::rsqrt(
      b, loc,
      hlo::add(b, loc, square, hlo::constantLike(b, loc, square, epsilon)));
  Value result = rows.mul(x, rows.spread(rstd));
  results.push_back(rows.narrow(result, op.getResult()));
  results.push_back(rstd);
  return success();
}

template <typename Op>
LogicalResult buildNormGradient(Op op, OpBuilder &b,
                                SmallVectorImpl<Value> &results) {
  NormRows rows(b, op.getLoc(), op.getNormalized(), op.getRstd(), op.getDims());
  Value y = rows.widen(op.getNormalized()), g = rows.widen(op.getCotangent());
  Value along = rows.spread(rows.mean(rows.mul(g, y)));
  Value centred =
      isa<LayerNormGradOp>(op) ? rows.sub(g, rows.spread(rows.mean(g))) : g;
  Value across = rows.sub(centred, rows.mul(y, along));
  Value result = rows.mul(across, rows.spread(op.getRstd()));
  results.push_back(rows.narrow(result, op.getResult()));
  return success();
}

//===----------------------------------------------------------------------===//
// The answers
//===----------------------------------------------------------------------===//

template <typename NormOp, typename GradientOp>
struct NormAnswers : AnswerDefaults<NormOp> {
  using Op = NormOp;
  static ShardingRule rule(Op op) { return buildNormRule(op, op.getDims()); }
  static OpCost cost(Op op) {
    return buildNormCost(op, isa<LayerNormOp>(op) ? 5 : 3);
  }
  static KernelForm form(Op) { return KernelForm::Decompose; }
  static LogicalResult decompose(Op op, OpBuilder &b,
                                 SmallVectorImpl<Value> &results) {
    return buildNorm(op, b, results);
  }
  static LogicalResult distribute(Op op, OpBuilder &b,
                                  SmallVectorImpl<Value> &results) {
    return buildNorm(op, b, results);
  }

  /// What the cotangent of rstd adds: - y * rstd^2 * h / n.
  static Value buildRstdTerm(Op op, DerivativeCall &call, Value h) {
    NormRows rows(call.builder, call.loc, op.getOperand(), op.getRstd(),
                  op.getDims());
    Value square = rows.mul(op.getRstd(), op.getRstd());
    Value slope = rows.mul(
        rows.mul(square, h),
        hlo::constantLike(call.builder, call.loc, square, -1 / rows.size));
    Value term = rows.mul(rows.widen(op.getResult()), rows.spread(slope));
    return rows.narrow(term, op.getOperand());
  }

  static LogicalResult derive(Op op, DerivativeCall &call) {
    if (!call.needed[0])
      return success();
    Value sum;
    if (Value g = call.cotangents[0])
      sum = GradientOp::create(call.builder, call.loc, op.getResult(),
                               op.getRstd(), g, op.getDims());
    if (Value h = call.cotangents[1]) {
      Value term = buildRstdTerm(op, call, h);
      sum = sum ? hlo::add(call.builder, call.loc, sum, term) : term;
    }
    call.gradients[0] = sum;
    return success();
  }

  static LogicalResult evaluate(Op op, EvaluationCall &call) {
    HostTensor result(getNormType(op.getResult())),
        rstd(getNormType(op.getRstd()));
    int64_t size = countRowElements(op.getOperand(), op.getDims());
    std::vector<double> row(size);
    for (int64_t i = 0; i < rstd.getNumElements(); ++i) {
      loadFloats(call.operands[0], i * size, row);
      double mean = 0, square = 0;
      for (double x : row)
        mean += isa<LayerNormOp>(op) ? x / size : 0;
      for (double &x : row)
        x -= mean;
      for (double x : row)
        square += x * x / size;
      double root = 1 / std::sqrt(square + op.getEpsilon().convertToDouble());
      for (double &x : row)
        x *= root;
      rstd.setFloat(i, root);
      storeFloats(result, i * size, row);
    }
    call.results.push_back(std::move(result));
    call.results.push_back(std::move(rstd));
    return success();
  }
};

template <typename GradientOp>
struct NormGradientAnswers : AnswerDefaults<GradientOp> {
  using Op = GradientOp;
  /// Linear in the cotangent.
  static ShardingRule rule(Op op) {
    ShardingRule rule = buildNormRule(op, op.getDims());
    rule.addLinear(ReductionKind::sum, {{2}});
    return rule;
  }
  static OpCost cost(Op op) {
    return buildNormCost(op, isa<LayerNormGradOp>(op) ? 7 : 5);
  }
  static KernelForm form(Op) { return KernelForm::Decompose; }
  static LogicalResult decompose(Op op, OpBuilder &b,
                                 SmallVectorImpl<Value> &results) {
    return buildNormGradient(op, b, results);
  }
  static LogicalResult distribute(Op op, OpBuilder &b,
                                  SmallVectorImpl<Value> &results) {
    return buildNormGradient(op, b, results);
  }

  static LogicalResult evaluate(Op op, EvaluationCall &call) {
    HostTensor result(getNormType(op.getResult()));
    int64_t size = countRowElements(op.getResult(), op.getDims());
    std::vector<double> y(size), g(size);
    for (int64_t i = 0; i < call.operands[1].getNumElements(); ++i) {
      loadFloats(call.operands[0], i * size, y);
      loadFloats(call.operands[2], i * size, g);
      double rstd = call.operands[1].getFloat(i), mean = 0, along = 0;
      for (int64_t j = 0; j < size; ++j) {
        mean += isa<LayerNormGradOp>(op) ? g[j] / size : 0;
        along += g[j] * y[j] / size;
      }
      for (int64_t j = 0; j < size; ++j)
        g[j] = (g[j] - mean - y[j] * along) * rstd;
      storeFloats(result, i * size, g);
    }
    call.results.push_back(std::move(result));
    return success();
  }
};

template <typename Op> void attachGradient(MLIRContext *context) {
  attachSomeAnswers<Op, NormGradientAnswers<Op>, graph::detail::RuleModel,
                    graph::detail::CostModel, graph::detail::KernelModel,
                    graph::detail::EvaluationModel>(context);
}
} // namespace

void nn::registerNormModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, NNDialect *) {
    attachAnswers<LayerNormOp, NormAnswers<LayerNormOp, LayerNormGradOp>>(
        context);
    attachAnswers<RmsNormOp, NormAnswers<RmsNormOp, RmsNormGradOp>>(context);
    attachGradient<LayerNormGradOp>(context);
    attachGradient<RmsNormGradOp>(context);
  });
}
