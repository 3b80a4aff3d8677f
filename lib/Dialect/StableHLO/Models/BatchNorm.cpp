//===- BatchNorm.cpp - Expansions of batch normalization ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The arithmetic of the specification (sections batch_norm_*), with sums over
// all dimensions but that of the features:
//
//   inference  (x - mean) / sqrt(variance + epsilon) * scale + offset
//   training   the same with mean and variance of x
//   grad       x:      scale / sqrt(variance + epsilon) / n *
//                      (n g - sum g - (x - mean) sum (g (x - mean)) /
//                                     (variance + epsilon))
//              scale:  sum of g (x - mean) / sqrt(variance + epsilon)
//              offset: sum of g
//
// Floats narrower than f32 are computed in f32 and rounded once. What a
// derivative of these ops is follows from theirs, through mean and variance.
//
// Tests: test/EndToEnd/{expansions,derivatives}.test
//===----------------------------------------------------------------------===//

#include "Movement.h"
#include "llmc/Dialect/Graph/IR/GraphInterfaces.h"
#include "llmc/Dialect/Graph/IR/Pointwise.h"
#include "llmc/Dialect/StableHLO/IR/Builders.h"
#include "llmc/Dialect/StableHLO/Models/Models.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::graph;
using namespace llmc::stablehlo;

namespace {
/// Arithmetic on a value for each element and one for each feature.
class Normalization {
public:
  template <typename Op>
  Normalization(Op op, OpBuilder &b)
      : b(b), loc(op.getLoc()), element(getElement(op.getOperand())),
        wide(isNarrowFloat(element) ? Type(b.getF32Type()) : element),
        epsilon(op.getEpsilon().convertToFloat()),
        feature(static_cast<int64_t>(op.getFeatureIndex())),
        x(widen(op.getOperand())), scale(widen(op.getScale())) {
    for (int64_t d = 0; d < typeOf(x).getRank(); ++d)
      if (d != feature)
        others.push_back(d);
  }

  void setMoments(Value ofMean, Value ofVariance) {
    mean = widen(ofMean);
    variance = widen(ofVariance);
  }
  void computeMoments() {
    mean = average(x);
    Value centered = center();
    variance = average(mul(b, loc, centered, centered));
  }
  Value normalize(Value offset) {
    Value scaled = mul(b, loc, spread(scale), normal());
    return round(add(b, loc, scaled, spread(widen(offset))));
  }
  /// Of operand, scale and offset.
  SmallVector<Value> differentiate(Value cotangent);
  Value getMean() { return round(mean); }
  Value getVariance() { return round(variance); }

private:
  Value widen(Value value) { return convertTo(b, loc, value, wide); }
  Value round(Value value) { return convertTo(b, loc, value, element); }
  /// One for each feature, at all elements.
  Value spread(Value features) {
    return broadcastInDim(b, loc, features, typeOf(x), feature);
  }
  Value sum(Value elements) { return reduceAdd(b, loc, elements, others); }
  /// How many elements a feature has.
  double count() const {
    double number = 1;
    for (int64_t d : others)
      number *= static_cast<double>(typeOf(x).getDimSize(d));
    return number;
  }
  Value average(Value elements) {
    Value total = sum(elements);
    return div(b, loc, total, constantLike(b, loc, total, count()));
  }
  Value center() { return sub(b, loc, x, spread(mean)); }
  Value shiftedVariance() {
    return add(b, loc, variance, constantLike(b, loc, variance, epsilon));
  }
  Value deviation() { return sqrt(b, loc, shiftedVariance()); }
  Value normal() { return div(b, loc, center(), spread(deviation())); }

  OpBuilder &b;
  Location loc;
  Type element, wide;
  double epsilon;
  int64_t feature;
  Value x, scale, mean, variance;
  SmallVector<int64_t> others;
};

SmallVector<Value> Normalization::differentiate(Value cotangent) {
  Value g = widen(cotangent), centered = center();
  Value all = constantLike(b, loc, g, count());
  Value slope = div(b, loc, sum(mul(b, loc, g, centered)), shiftedVariance());
  Value ofMean = sub(b, loc, mul(b, loc, g, all), spread(sum(g)));
  Value inner = sub(b, loc, ofMean, mul(b, loc, centered, spread(slope)));
  Value factor = div(b, loc, div(b, loc, scale, deviation()),
                     constantLike(b, loc, scale, count()));
  return {round(mul(b, loc, spread(factor), inner)),
          round(sum(mul(b, loc, g, normal()))), round(sum(g))};
}

struct TrainingExpansion
    : ExpansionOpInterface::ExternalModel<TrainingExpansion,
                                          BatchNormTrainingOp> {
  LogicalResult expand(Operation *of, OpBuilder &builder,
                       SmallVectorImpl<Value> &results) const {
    auto op = cast<BatchNormTrainingOp>(of);
    Normalization norm(op, builder);
    norm.computeMoments();
    results.append(
        {norm.normalize(op.getOffset()), norm.getMean(), norm.getVariance()});
    return success();
  }
};

struct InferenceExpansion
    : ExpansionOpInterface::ExternalModel<InferenceExpansion,
                                          BatchNormInferenceOp> {
  LogicalResult expand(Operation *of, OpBuilder &builder,
                       SmallVectorImpl<Value> &results) const {
    auto op = cast<BatchNormInferenceOp>(of);
    Normalization norm(op, builder);
    norm.setMoments(op.getMean(), op.getVariance());
    results.push_back(norm.normalize(op.getOffset()));
    return success();
  }
};

struct GradExpansion
    : ExpansionOpInterface::ExternalModel<GradExpansion, BatchNormGradOp> {
  LogicalResult expand(Operation *of, OpBuilder &builder,
                       SmallVectorImpl<Value> &results) const {
    auto op = cast<BatchNormGradOp>(of);
    Normalization norm(op, builder);
    norm.setMoments(op.getMean(), op.getVariance());
    results.append(norm.differentiate(op.getGradOutput()));
    return success();
  }
};
} // namespace

void stablehlo::registerBatchNormModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, StableHLODialect *) {
    BatchNormTrainingOp::attachInterface<TrainingExpansion>(*context);
    BatchNormInferenceOp::attachInterface<InferenceExpansion>(*context);
    BatchNormGradOp::attachInterface<GradExpansion>(*context);
  });
}
