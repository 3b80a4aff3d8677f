//===- BatchNorm.cpp - Answers of batch_norm ------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// With x the n elements of one feature:
//
//   variance = mean((x - mean)^2) | max(0, mean(x^2) - mean^2)
//   y        = (x - mean) * rstd,   rstd = rsqrt(variance + epsilon)
//   result   = y * scale + offset
//
// and with g, h, v the cotangents of result, mean and variance
//
//   dscale = sum(g y),  doffset = sum g
//   dx     = scale * rstd * (g - doffset / n - y * dscale / n)
//            + h / n + 2 (x - mean) v / n
//
// where the terms of g are one batch_norm_grad: two sums over the batch, which
// the gradients of scale and offset are.
//
// Features split freely. When the batch or places are split, both ops are
// replaced by the global ops above: two sums over devices each, the rest is
// local. Or each device sends sum and centred squares of its part, and all join
// those of all parts (RowParts). The kernels are formed from the same ops. f16
// and bf16 are computed in f32.
//
// Evaluation computes in double and rounds once.
//
// Test: test/Dialect/NN/Models/BatchNormTest.cpp
//===----------------------------------------------------------------------===//

#include "RowForms.h"
#include "llmc/Dialect/NN/IR/NN.h"
#include "llmc/Dialect/NN/Models/Models.h"
#include "llmc/Support/HostElements.h"
#include <cmath>

using namespace mlir;
using namespace llmc;
using namespace llmc::graph;
using namespace llmc::nn;
namespace hlo = llmc::stablehlo;

namespace {
/// All dims but that of the features.
template <typename Op> SmallVector<int64_t> getBatchDims(Op op) {
  SmallVector<int64_t> dims;
  for (int64_t dim = 0; dim < op.getOperand().getType().getRank(); ++dim)
    if (dim != static_cast<int64_t>(op.getDim()))
      dims.push_back(dim);
  return dims;
}

template <typename Op>
RowBuilder makeFeatures(Op op, OpBuilder &b, Location loc) {
  return RowBuilder(b, loc, op.getOperand(), getBatchDims(op));
}

template <typename Op>
Value buildFeatureRstd(Op op, RowBuilder &rows, Value variance) {
  double epsilon = op.getEpsilon().convertToDouble();
  return hlo::rsqrt(rows.b, rows.loc,
                    rows.add(variance, rows.constant(variance, epsilon)));
}

/// Sums of the elements of each feature.
std::vector<double> sumFeatures(ArrayRef<int64_t> features, size_t count,
                                llvm::function_ref<double(int64_t)> element) {
  std::vector<double> sums(count, 0.0);
  for (auto [i, feature] : llvm::enumerate(features))
    sums[feature] += element(i);
  return sums;
}

HostTensor makeFeatureTensor(Value like, ArrayRef<double> numbers) {
  HostTensor tensor(getRankedType(like));
  for (auto [i, number] : llvm::enumerate(numbers))
    tensor.setFloat(i, number);
  return tensor;
}

struct BatchNormAnswers : RowAnswers<BatchNormOp, BatchNormAnswers> {
  static ShardingRule rule(Op op) { return buildRowRule(op, getBatchDims(op)); }
  static OpCost cost(Op op) { return buildRowCost(op, 7); }

  static void build(Op op, OpBuilder &b, SmallVectorImpl<Value> &results) {
    RowBuilder rows = makeFeatures(op, b, op.getLoc());
    Value x = rows.widen(op.getOperand()), mean = rows.mean(x);
    Value centred = rows.sub(x, rows.spread(mean)), variance;
    if (op.getSquares()) {
      variance = rows.sub(rows.mean(rows.mul(x, x)), rows.mul(mean, mean));
      variance = hlo::max(b, rows.loc, rows.constant(variance, 0), variance);
    } else {
      variance = rows.mean(rows.mul(centred, centred));
    }
    results.append({buildResult(op, rows, centred, variance), mean, variance});
  }

  static Value buildResult(Op op, RowBuilder &rows, Value centred,
                           Value variance) {
    Value rstd = buildFeatureRstd(op, rows, variance);
    Value normal = rows.mul(centred, rows.spread(rstd));
    Value result = rows.add(rows.mul(normal, rows.spread(op.getScale())),
                            rows.spread(op.getOffset()));
    return rows.narrow(result, op.getResult());
  }

  /// With `squares` both sums are of one round anyway, and nobody asks.
  static void buildTerms(Op op, OpBuilder &b, ArrayRef<int64_t> parts,
                         SmallVectorImpl<Value> &terms) {
    RowParts(b, op.getLoc(), op.getOperand(), getBatchDims(op), parts)
        .buildMoments(op.getOperand(), terms);
  }
  static void buildJoined(Op op, OpBuilder &b, ArrayRef<int64_t> parts,
                          ValueRange terms, SmallVectorImpl<Value> &results) {
    RowParts joined(b, op.getLoc(), op.getOperand(), getBatchDims(op), parts);
    auto [mean, variance] = joined.joinMoments(terms);
    RowBuilder rows = makeFeatures(op, b, op.getLoc());
    Value centred = rows.sub(rows.widen(op.getOperand()), rows.spread(mean));
    results.append({buildResult(op, rows, centred, variance), mean, variance});
  }

  /// What the cotangents of mean and variance add.
  static Value buildMomentTerm(Op op, DerivativeCall &call) {
    RowBuilder rows = makeFeatures(op, call.builder, call.loc);
    Value sum;
    if (Value h = call.cotangents[1])
      sum = rows.spread(rows.div(h, rows.constant(h, rows.size())));
    if (Value v = call.cotangents[2]) {
      Value slope = rows.mul(v, rows.constant(v, 2 / rows.size()));
      Value centred =
          rows.sub(rows.widen(op.getOperand()), rows.spread(op.getMean()));
      Value term = rows.mul(centred, rows.spread(slope));
      sum = sum ? rows.add(sum, term) : term;
    }
    return sum ? rows.narrow(sum, op.getOperand()) : Value();
  }

  static LogicalResult derive(Op op, DerivativeCall &call) {
    if (Value g = call.cotangents[0]) {
      auto gradient = BatchNormGradOp::create(call.builder, call.loc, op, g);
      for (auto [i, result] : llvm::enumerate(gradient.getResults()))
        if (call.needed[i])
          call.gradients[i] = result;
    }
    Value term = call.needed[0] ? buildMomentTerm(op, call) : Value();
    if (term)
      call.gradients[0] = call.gradients[0] ? hlo::add(call.builder, call.loc,
                                                       call.gradients[0], term)
                                            : term;
    return success();
  }

  static LogicalResult evaluate(Op op, EvaluationCall &call) {
    const HostTensor &x = call.operands[0];
    HostTensor result(getRankedType(op.getResult()));
    std::vector<int64_t> features =
        numberRows(getRankedType(op.getOperand()), getBatchDims(op));
    size_t count = getRankedType(op.getMean()).getNumElements();
    double size = static_cast<double>(features.size()) / count;
    std::vector<double> mean = sumFeatures(
        features, count, [&](int64_t i) { return x.getFloat(i) / size; });
    std::vector<double> variance = sumFeatures(features, count, [&](int64_t i) {
      double centred = x.getFloat(i) - mean[features[i]];
      return centred * centred / size;
    });
    double epsilon = op.getEpsilon().convertToDouble();
    for (auto [i, f] : llvm::enumerate(features))
      result.setFloat(i, (x.getFloat(i) - mean[f]) /
                                 std::sqrt(variance[f] + epsilon) *
                                 call.operands[1].getFloat(f) +
                             call.operands[2].getFloat(f));
    call.results.push_back(std::move(result));
    call.results.push_back(makeFeatureTensor(op.getMean(), mean));
    call.results.push_back(makeFeatureTensor(op.getVariance(), variance));
    return success();
  }
};

struct BatchNormGradAnswers
    : RowAnswers<BatchNormGradOp, BatchNormGradAnswers> {
  /// Linear in the cotangent.
  static ShardingRule rule(Op op) {
    ShardingRule rule = buildRowRule(op, getBatchDims(op));
    rule.addLinear(ReductionKind::sum, {{4}});
    return rule;
  }
  static OpCost cost(Op op) { return buildRowCost(op, 10); }

  static void build(Op op, OpBuilder &b, SmallVectorImpl<Value> &results) {
    RowBuilder rows = makeFeatures(op, b, op.getLoc());
    Value g = rows.widen(op.getCotangent());
    Value centred =
        rows.sub(rows.widen(op.getOperand()), rows.spread(op.getMean()));
    Value rstd = buildFeatureRstd(op, rows, op.getVariance());
    Value y = rows.mul(centred, rows.spread(rstd));
    Value along = rows.sum(rows.mul(g, y)), sum = rows.sum(g);
    auto share = [&](Value total) {
      return rows.spread(rows.div(total, rows.constant(total, rows.size())));
    };
    Value across = rows.sub(rows.sub(g, share(sum)), rows.mul(y, share(along)));
    Value result = rows.mul(across, rows.spread(rows.mul(op.getScale(), rstd)));
    results.append({rows.narrow(result, op.getDoperand()), along, sum});
  }

  static LogicalResult evaluate(Op op, EvaluationCall &call) {
    const HostTensor &x = call.operands[0], &g = call.operands[4];
    HostTensor result(getRankedType(op.getDoperand()));
    std::vector<int64_t> features =
        numberRows(getRankedType(op.getOperand()), getBatchDims(op));
    size_t count = getRankedType(op.getDscale()).getNumElements();
    double size = static_cast<double>(features.size()) / count;
    std::vector<double> rstd(count);
    for (size_t f = 0; f < count; ++f)
      rstd[f] = 1 / std::sqrt(call.operands[3].getFloat(f) +
                              op.getEpsilon().convertToDouble());
    auto normalOf = [&](int64_t i) {
      int64_t f = features[i];
      return (x.getFloat(i) - call.operands[2].getFloat(f)) * rstd[f];
    };
    std::vector<double> along = sumFeatures(features, count, [&](int64_t i) {
      return g.getFloat(i) * normalOf(i);
    });
    std::vector<double> sum =
        sumFeatures(features, count, [&](int64_t i) { return g.getFloat(i); });
    for (auto [i, f] : llvm::enumerate(features))
      result.setFloat(i, call.operands[1].getFloat(f) * rstd[f] *
                             (g.getFloat(i) - sum[f] / size -
                              normalOf(i) * along[f] / size));
    call.results.push_back(std::move(result));
    call.results.push_back(makeFeatureTensor(op.getDscale(), along));
    call.results.push_back(makeFeatureTensor(op.getDoffset(), sum));
    return success();
  }
};
} // namespace

void nn::registerBatchNormModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, NNDialect *) {
    attachRowAnswers<BatchNormOp, BatchNormAnswers>(context);
    attachGradient<BatchNormGradOp, BatchNormGradAnswers>(context);
  });
}
