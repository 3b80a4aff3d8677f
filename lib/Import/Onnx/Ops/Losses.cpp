//===- Losses.cpp - Losses of class numbers -------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../GraphImporter.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::onnx;
namespace hlo = llmc::stablehlo;

namespace {
/// Scores [batch, classes, rest...] against class numbers [batch, rest...].
class LossBuilder {
public:
  explicit LossBuilder(NodeImport &node)
      : node(node), b(node.b), loc(node.loc) {}

  rt::Status check();
  /// The loss of `logs`, logarithms of probabilities.
  rt::Result<Value> build(Value logs);

private:
  Value pick(Value scores, Value targets);
  Value weightsOf(Value targets);
  /// 0 where the target is to be ignored, 1 elsewhere; null where none is.
  Value isCounted(Value targets, Type element);

  NodeImport &node;
  OpBuilder &b;
  Location loc;
};
} // namespace

rt::Status LossBuilder::check() {
  ArrayRef<int64_t> scores = node.shape(0);
  SmallVector<int64_t> expected(scores);
  if (scores.size() >= 2)
    expected.erase(expected.begin() + 1);
  if (scores.size() < 2 || ArrayRef<int64_t>(expected) != node.shape(1))
    return node.refuse("expected scores with a dimension of classes, and a "
                       "target for each of the others, got " +
                       show(Type(node.type(0))) + " and " +
                       show(Type(node.type(1))));
  if (node.has(2) && (node.rank(2) != 1 || node.shape(2)[0] != scores[1]))
    return node.refuse("expected a weight for each of " +
                       std::to_string(scores[1]) + " classes, got " +
                       show(Type(node.type(2))));
  return rt::Status::success();
}

/// The scores of the target classes; 0 for a target that is none.
Value LossBuilder::pick(Value scores, Value targets) {
  auto type = cast<RankedTensorType>(scores.getType());
  auto places = cast<RankedTensorType>(type.clone(elementOf(targets)));
  Value is = hlo::compare(b, loc, hlo::ComparisonDirection::EQ,
                          hlo::broadcastAlong(b, loc, targets, places, {1}),
                          hlo::iota(b, loc, places, 1));
  Value zero = hlo::constantLike(b, loc, scores, 0);
  return hlo::reduceAdd(b, loc, hlo::select(b, loc, is, scores, zero), {1});
}

Value LossBuilder::weightsOf(Value targets) {
  Value wide = hlo::broadcastInDim(
      b, loc, node.input(2),
      cast<RankedTensorType>(node.type(0).clone(node.element(2))), {1});
  return pick(wide, targets);
}

Value LossBuilder::isCounted(Value targets, Type element) {
  const NodeAttribute *ignored = node.attribute("ignore_index");
  if (!ignored || !ignored->i)
    return {};
  auto type = cast<RankedTensorType>(targets.getType());
  Value number = node.integersAsTensor({*ignored->i}, {});
  number =
      node.broadcast(node.convert(number, elementOf(targets)), type.getShape());
  Value is =
      hlo::compare(b, loc, hlo::ComparisonDirection::NE, targets, number);
  return node.convert(is, element);
}

rt::Result<Value> LossBuilder::build(Value logs) {
  Value targets = node.input(1);
  StringRef reduction = node.getText("reduction", "mean");
  if (reduction != "mean" && reduction != "sum" && reduction != "none")
    return node.refuse("expected reduction none, mean or sum, got '" +
                       reduction.str() + "'");
  Value loss = hlo::neg(b, loc, pick(logs, targets));
  Value counted = isCounted(targets, elementOf(loss)), weights;
  if (node.has(2))
    weights = weightsOf(targets);
  if (weights && counted)
    weights = hlo::mul(b, loc, weights, counted);
  weights = weights ? weights : counted;
  if (weights)
    loss = hlo::mul(b, loc, loss, weights);
  if (reduction == "none")
    return loss;
  SmallVector<int64_t> all = range(0, rankOf(loss));
  double count = static_cast<double>(node.type(1).getNumElements());
  Value sum = hlo::reduceAdd(b, loc, loss, all);
  if (reduction == "sum")
    return sum;
  Value divisor = weights ? hlo::reduceAdd(b, loc, weights, all)
                          : hlo::constantLike(b, loc, sum, count);
  return hlo::div(b, loc, sum, divisor);
}

static rt::Status importNegativeLogLikelihood(NodeImport &node) {
  LossBuilder loss(node);
  LLMC_TRY(loss.check());
  LLMC_TRY_ASSIGN(Value result, loss.build(node.input(0)));
  return node.finish({result});
}

/// Beside the loss, the logarithms of the probabilities.
static rt::Status importCrossEntropy(NodeImport &node) {
  LossBuilder loss(node);
  LLMC_TRY(loss.check());
  Value x = node.input(0);
  auto spread = [&](Value value) {
    return hlo::broadcastAlong(node.b, node.loc, value, node.type(0), {1});
  };
  Value shifted = hlo::sub(node.b, node.loc, x,
                           spread(hlo::reduceMax(node.b, node.loc, x, {1})));
  Value sum = hlo::reduceAdd(node.b, node.loc,
                             hlo::exp(node.b, node.loc, shifted), {1});
  Value logs = hlo::sub(node.b, node.loc, shifted,
                        spread(hlo::log(node.b, node.loc, sum)));
  LLMC_TRY_ASSIGN(Value result, loss.build(logs));
  return node.finish({result, logs});
}

void onnx::addLossOps(OpTable &table) {
  table["NegativeLogLikelihoodLoss"] = {importNegativeLogLikelihood, 2, 3,
                                        kNewestKnown};
  table["SoftmaxCrossEntropyLoss"] = {importCrossEntropy, 2, 3, kNewestKnown};
}
