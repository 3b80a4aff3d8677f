//===- Norms.cpp - Normalisations -----------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All are written as sums, so that what they are is found again by their form.
//
//===----------------------------------------------------------------------===//

#include "../GraphImporter.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::onnx;
namespace hlo = llmc::stablehlo;

namespace {
/// Statistics of a tensor over some dimensions, and values along the others.
class NormBuilder {
public:
  NormBuilder(NodeImport &node, Value x, ArrayRef<int64_t> dims)
      : b(node.b), loc(node.loc), type(cast<RankedTensorType>(x.getType())),
        dims(dims) {}

  Value mean(Value x) {
    Value sum = hlo::reduceAdd(b, loc, x, dims);
    double count = 1;
    for (int64_t dim : dims)
      count *= static_cast<double>(type.getDimSize(dim));
    return hlo::div(b, loc, sum, hlo::constantLike(b, loc, sum, count));
  }
  /// In the shape of the tensor.
  Value spread(Value reduced) {
    return hlo::broadcastAlong(b, loc, reduced, type, dims);
  }
  /// x less its mean.
  Value centre(Value x, Value mean) {
    return hlo::sub(b, loc, x, spread(mean));
  }
  /// The mean of squares.
  Value power(Value x) { return mean(hlo::mul(b, loc, x, x)); }
  Value inverseRoot(Value variance, double epsilon) {
    return hlo::rsqrt(b, loc,
                      hlo::add(b, loc, variance,
                               hlo::constantLike(b, loc, variance, epsilon)));
  }
  Value scale(Value x, Value reduced) {
    return hlo::mul(b, loc, x, spread(reduced));
  }

private:
  OpBuilder &b;
  Location loc;
  RankedTensorType type;
  SmallVector<int64_t> dims;
};
} // namespace

/// x * scale + bias, both repeated; `bias` may be null.
static rt::Result<Value> applyAffine(NodeImport &node, Value x, Value scale,
                                     Value bias) {
  for (auto [value, isScale] : {std::pair(scale, true), {bias, false}}) {
    if (!value)
      continue;
    LLMC_TRY_ASSIGN(SmallVector<int64_t> shape,
                    node.broadcastShape({x, value}));
    if (ArrayRef<int64_t>(shape) != shapeOf(x))
      return node.refuse("expected scale and bias that can be repeated to " +
                         show(x.getType()) + ", got " + show(value.getType()));
    Value wide = node.broadcast(value, shape);
    x = isScale ? hlo::mul(node.b, node.loc, x, wide)
                : hlo::add(node.b, node.loc, x, wide);
  }
  return x;
}

/// A value for each channel (dimension 1), in the rank of the tensor.
static rt::Result<Value> perChannel(NodeImport &node, Value value,
                                    ArrayRef<int64_t> shape) {
  if (shape.size() < 2 || rankOf(value) != 1 || shapeOf(value)[0] != shape[1])
    return node.refuse("expected one number for each channel of " +
                       show(shape) + ", got " + show(value.getType()));
  SmallVector<int64_t> wide(shape.size() - 1, 1);
  wide[0] = shape[1];
  return hlo::reshape(node.b, node.loc, value, wide);
}

//===----------------------------------------------------------------------===//
// Batch norm
//===----------------------------------------------------------------------===//

/// Whether statistics are those of the batch.
static bool isTraining(NodeImport &node) {
  if (node.importer.isMutated(node.input(3)))
    return true;
  if (node.version >= 14)
    return node.getInt("training_mode", 0);
  if (node.version < 7)
    return !node.getInt("is_test", 0) && (node.wants(1) || node.wants(2));
  return node.wants(1) || node.wants(2) || node.wants(3) || node.wants(4);
}

static rt::Status finishBatchNorm(NodeImport &node, Value mean, Value variance,
                                  Value x) {
  ArrayRef<int64_t> shape = node.shape(0);
  LLMC_TRY_ASSIGN(Value m, perChannel(node, mean, shape));
  LLMC_TRY_ASSIGN(Value v, perChannel(node, variance, shape));
  LLMC_TRY_ASSIGN(Value scale, perChannel(node, node.input(1), shape));
  LLMC_TRY_ASSIGN(Value bias, perChannel(node, node.input(2), shape));
  Type wide = elementOf(m);
  Value centred = hlo::sub(node.b, node.loc, node.convert(x, wide),
                           node.broadcast(m, shape));
  Value root =
      hlo::rsqrt(node.b, node.loc,
                 hlo::add(node.b, node.loc, v,
                          node.like(v, node.getFloat("epsilon", 1e-5f))));
  Value normal =
      hlo::mul(node.b, node.loc, centred, node.broadcast(root, shape));
  LLMC_TRY_ASSIGN(Value result,
                  applyAffine(node, normal, node.convert(scale, wide),
                              node.convert(bias, wide)));
  node.outputs.push_back({{node.convert(result, node.element(0))}, false});
  return rt::Status::success();
}

/// Running statistics: the old ones, and those of the batch in their place by
/// a part.
static rt::Status finishTraining(NodeImport &node, Value mean, Value variance) {
  double momentum = node.getFloat("momentum", 0.9f);
  auto mix = [&](Value old, Value now) {
    Value kept = hlo::mul(node.b, node.loc, old, node.like(old, momentum));
    Value added = hlo::mul(node.b, node.loc, now, node.like(now, 1 - momentum));
    return hlo::add(node.b, node.loc, kept, added);
  };
  if (shapeOf(mean) != node.shape(3) || shapeOf(mean) != node.shape(4))
    return node.refuse("expected statistics of one number for each channel, "
                       "got " +
                       show(Type(node.type(3))));
  SmallVector<Value> results = {node.outputs.front().values.front(),
                                mix(node.input(3), mean),
                                mix(node.input(4), variance)};
  node.outputs.clear();
  for (unsigned i : {3u, 4u})
    if (node.importer.isWeight(node.input(i)))
      node.importer.updates[node.input(i)] = results[i - 2];
  if (node.version < 14)
    results.append({mean, variance});
  return node.finish(results);
}

static rt::Status importBatchNorm(NodeImport &node) {
  if (!node.getInt("spatial", 1))
    return node.unsupported("expected spatial = 1, got 0");
  if (node.rank(0) < 2)
    return node.refuse("expected channels, got " + show(Type(node.type(0))));
  for (unsigned i : {3u, 4u})
    if (node.importer.isWeight(node.input(i)))
      node.importer.statistics.insert(node.input(i));
  if (!isTraining(node))
    return finishBatchNorm(node, node.input(3), node.input(4), node.input(0));
  SmallVector<int64_t> dims = range(0, node.rank(0));
  dims.erase(dims.begin() + 1);
  Value x = node.convert(node.input(0), node.element(3));
  NormBuilder norm(node, x, dims);
  Value mean = norm.mean(x);
  Value variance = norm.power(norm.centre(x, mean));
  LLMC_TRY(finishBatchNorm(node, mean, variance, x));
  return finishTraining(node, mean, variance);
}

//===----------------------------------------------------------------------===//
// Layer norm and its relatives
//===----------------------------------------------------------------------===//

/// The dimensions from `axis` on, and the type in which statistics are.
static rt::Result<SmallVector<int64_t>> readNormDims(NodeImport &node) {
  LLMC_TRY_ASSIGN(int64_t axis,
                  node.axis(node.getInt("axis", -1), node.rank(0)));
  return range(axis, node.rank(0));
}

static Type readStatisticsType(NodeImport &node) {
  auto type = static_cast<ElementType>(node.getInt("stash_type", 1));
  Type element = toElement(node.b.getContext(), type);
  bool isWider =
      element && isa<FloatType>(element) &&
      element.getIntOrFloatBitWidth() > node.element(0).getIntOrFloatBitWidth();
  return isWider ? element : node.element(0);
}

static rt::Status importLayerNorm(NodeImport &node) {
  LLMC_TRY_ASSIGN(SmallVector<int64_t> dims, readNormDims(node));
  Type wide = readStatisticsType(node), narrow = node.element(0);
  Value x = node.convert(node.input(0), wide);
  NormBuilder norm(node, x, dims);
  Value mean = norm.mean(x), centred = norm.centre(x, mean);
  Value root =
      norm.inverseRoot(norm.power(centred), node.getFloat("epsilon", 1e-5f));
  Value normal = node.convert(norm.scale(centred, root), narrow);
  LLMC_TRY_ASSIGN(Value result,
                  applyAffine(node, normal, node.input(1),
                              node.has(2) ? node.input(2) : Value()));
  SmallVector<int64_t> kept(node.shape(0));
  for (int64_t dim : dims)
    kept[dim] = 1;
  return node.finish({result, hlo::reshape(node.b, node.loc, mean, kept),
                      hlo::reshape(node.b, node.loc, root, kept)});
}

static rt::Status importRmsNorm(NodeImport &node) {
  LLMC_TRY_ASSIGN(SmallVector<int64_t> dims, readNormDims(node));
  Type wide = readStatisticsType(node);
  Value x = node.convert(node.input(0), wide);
  NormBuilder norm(node, x, dims);
  Value root = norm.inverseRoot(norm.power(x), node.getFloat("epsilon", 1e-5f));
  Value normal = node.convert(norm.scale(x, root), node.element(0));
  LLMC_TRY_ASSIGN(Value result,
                  applyAffine(node, normal, node.input(1), Value()));
  return node.finish({result});
}

/// Each channel of each sample alone.
static rt::Status importInstanceNorm(NodeImport &node) {
  if (node.rank(0) < 3)
    return node.refuse("expected spatial dimensions, got " +
                       show(Type(node.type(0))));
  Value x = node.input(0);
  NormBuilder norm(node, x, range(2, node.rank(0)));
  Value centred = norm.centre(x, norm.mean(x));
  Value root =
      norm.inverseRoot(norm.power(centred), node.getFloat("epsilon", 1e-5f));
  LLMC_TRY_ASSIGN(Value scale, perChannel(node, node.input(1), node.shape(0)));
  LLMC_TRY_ASSIGN(Value bias, perChannel(node, node.input(2), node.shape(0)));
  LLMC_TRY_ASSIGN(Value result,
                  applyAffine(node, norm.scale(centred, root), scale, bias));
  return node.finish({result});
}

/// [batch, channels, ...] as [batch, groups, rest]; before version 21 scale and
/// bias are of groups, then of channels.
static rt::Status importGroupNorm(NodeImport &node) {
  ArrayRef<int64_t> shape = node.shape(0);
  int64_t groups = node.getInt("num_groups", 0);
  if (node.rank(0) < 2 || groups < 1 || shape[1] % groups != 0)
    return node.refuse("expected channels in " + std::to_string(groups) +
                       " groups, got " + show(Type(node.type(0))));
  int64_t rest = shape[1] / groups;
  for (int64_t size : shape.drop_front(2))
    rest *= size;
  Type wide = node.version < 21 ? node.element(0) : readStatisticsType(node);
  Value flat = hlo::reshape(node.b, node.loc, node.convert(node.input(0), wide),
                            {shape[0], groups, rest});
  NormBuilder norm(node, flat, {2});
  Value centred = norm.centre(flat, norm.mean(flat));
  Value root =
      norm.inverseRoot(norm.power(centred), node.getFloat("epsilon", 1e-5f));
  Value normal = node.convert(norm.scale(centred, root), node.element(0));
  bool isByGroup = node.version < 21;
  if (!isByGroup)
    normal = hlo::reshape(node.b, node.loc, normal, shape);
  SmallVector<int64_t> affine(shapeOf(normal));
  LLMC_TRY_ASSIGN(Value scale, perChannel(node, node.input(1), affine));
  LLMC_TRY_ASSIGN(Value bias, perChannel(node, node.input(2), affine));
  LLMC_TRY_ASSIGN(Value result, applyAffine(node, normal, scale, bias));
  return node.finish({hlo::reshape(node.b, node.loc, result, shape)});
}

/// (x - mean) / (deviation + 1e-9).
static rt::Status importMeanVarianceNorm(NodeImport &node) {
  SmallVector<int64_t> dims = {0, 2, 3};
  if (std::optional<SmallVector<int64_t>> given = node.getInts("axes"))
    dims = *given;
  LLMC_TRY_ASSIGN(dims, node.axes(dims, node.rank(0)));
  Value x = node.input(0);
  NormBuilder norm(node, x, dims);
  Value mean = norm.mean(x);
  Value variance = hlo::sub(node.b, node.loc, norm.power(x),
                            hlo::mul(node.b, node.loc, mean, mean));
  Value deviation = hlo::sqrt(node.b, node.loc, variance);
  deviation = hlo::add(node.b, node.loc, deviation, node.like(deviation, 1e-9));
  return node.finish({hlo::div(node.b, node.loc, norm.centre(x, mean),
                               norm.spread(deviation))});
}

static rt::Status importLpNorm(NodeImport &node) {
  LLMC_TRY_ASSIGN(int64_t axis,
                  node.axis(node.getInt("axis", -1), node.rank(0)));
  int64_t p = node.getInt("p", 2);
  if (p != 1 && p != 2)
    return node.refuse("expected p to be 1 or 2, got " + std::to_string(p));
  Value x = node.input(0);
  Value sum = hlo::reduceAdd(node.b, node.loc,
                             p == 2 ? hlo::mul(node.b, node.loc, x, x)
                                    : hlo::abs(node.b, node.loc, x),
                             {axis});
  Value size = p == 2 ? hlo::sqrt(node.b, node.loc, sum) : sum;
  // What is all zeros stays so.
  Value isZero = hlo::compare(node.b, node.loc, hlo::ComparisonDirection::EQ,
                              size, node.like(size, 0));
  size = hlo::select(node.b, node.loc, isZero, node.like(size, 1), size);
  return node.finish({hlo::div(
      node.b, node.loc, x,
      hlo::broadcastAlong(node.b, node.loc, size, node.type(0), {axis}))});
}

/// x / (bias + alpha / size * sum of squares of the channels around) ^ beta.
static rt::Status importLocalResponseNorm(NodeImport &node) {
  OpBuilder &b = node.b;
  Location loc = node.loc;
  int64_t size = node.getInt("size", 0), rank = node.rank(0);
  if (rank < 2 || size < 1 || size > node.shape(0)[1] * 2)
    return node.refuse("expected a size of at least 1 and at most twice the "
                       "channels, got " +
                       std::to_string(size) + " of " +
                       show(Type(node.type(0))));
  Value x = node.input(0);
  SmallVector<int64_t> window(rank, 1), padding(2 * rank, 0);
  window[1] = size;
  padding[2] = (size - 1) / 2;
  padding[3] = size / 2;
  Value square = hlo::mul(b, loc, x, x);
  Value init = hlo::scalar(b, loc, node.element(0), 0);
  auto pads = DenseIntElementsAttr::get(
      RankedTensorType::get({rank, 2}, b.getI64Type()), padding);
  auto op = hlo::ReduceWindowOp::create(
      b, loc, TypeRange{x.getType()}, ValueRange{square}, ValueRange{init},
      b.getDenseI64ArrayAttr(window), DenseI64ArrayAttr(), DenseI64ArrayAttr(),
      DenseI64ArrayAttr(), pads);
  addCombination(b, loc, op.getBody(), ReductionKind::sum, node.element(0));
  Value sum = op->getResult(0);
  double alpha = node.getFloat("alpha", 1e-4f) / static_cast<double>(size);
  Value base = hlo::add(b, loc, hlo::mul(b, loc, sum, node.like(sum, alpha)),
                        node.like(sum, node.getFloat("bias", 1)));
  Value power =
      hlo::pow(b, loc, base, node.like(base, node.getFloat("beta", 0.75)));
  return node.finish({hlo::div(b, loc, x, power)});
}

/// Contrib: layer norm of a sum; results are the norm, nothing, nothing, and
/// the sum.
static rt::Status importSkipNorm(NodeImport &node, bool isRms) {
  unsigned bias = isRms ? 3 : 4;
  Value sum = hlo::add(node.b, node.loc, node.input(0), node.input(1));
  if (node.has(bias)) {
    LLMC_TRY_ASSIGN(sum, applyAffine(node, sum, Value(), node.input(bias)));
  }
  NormBuilder norm(node, sum, {node.rank(0) - 1});
  Value centred = isRms ? sum : norm.centre(sum, norm.mean(sum));
  Value root =
      norm.inverseRoot(norm.power(centred), node.getFloat("epsilon", 1e-12f));
  LLMC_TRY_ASSIGN(Value result,
                  applyAffine(node, norm.scale(centred, root), node.input(2),
                              !isRms && node.has(3) ? node.input(3) : Value()));
  if (node.wants(1) || node.wants(2))
    return node.unsupported("expected no statistics as results, got names");
  return node.finish({result, Value(), Value(), sum});
}

static rt::Status importSkipLayerNorm(NodeImport &node) {
  return importSkipNorm(node, false);
}
static rt::Status importSkipRmsNorm(NodeImport &node) {
  return importSkipNorm(node, true);
}

void onnx::addNormOps(OpTable &table) {
  table["BatchNormalization"] = {importBatchNorm, 5, 5, kNewestKnown};
  table["LayerNormalization"] = {importLayerNorm, 2, 3, kNewestKnown};
  table["RMSNormalization"] = {importRmsNorm, 2, 2, kNewestKnown};
  table["SimplifiedLayerNormalization"] = {importRmsNorm, 2, 2, kNewestKnown};
  table["InstanceNormalization"] = {importInstanceNorm, 3, 3, kNewestKnown};
  table["GroupNormalization"] = {importGroupNorm, 3, 3, kNewestKnown};
  table["MeanVarianceNormalization"] = {importMeanVarianceNorm, 1, 1,
                                        kNewestKnown};
  table["LRN"] = {importLocalResponseNorm, 1, 1, kNewestKnown};
  table["LpNormalization"] = {importLpNorm, 1, 1, kNewestKnown};
  table["com.microsoft.SkipLayerNormalization"] = {importSkipLayerNorm, 3, 5,
                                                   kNewestKnown};
  table["com.microsoft.SkipSimplifiedLayerNormalization"] = {
      importSkipRmsNorm, 3, 4, kNewestKnown};
}
