//===- Reductions.cpp - Reductions, softmax, cumulative sums --------------===//
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
/// What a reduction is of: a function before, a combination, one after.
struct ReductionSteps {
  ReductionKind kind;
  Value (*before)(NodeImport &, Value);
  Value (*after)(NodeImport &, Value);
  bool isMean = false;
  /// Before this version of the operator set, axes are an attribute.
  int64_t axesAsInput = 18;
};
} // namespace

static Value keepValue(NodeImport &, Value x) { return x; }
static Value squareOf(NodeImport &node, Value x) {
  return hlo::mul(node.b, node.loc, x, x);
}
static Value sizeOfElement(NodeImport &node, Value x) {
  return elementOf(x).isUnsignedInteger() ? x : hlo::abs(node.b, node.loc, x);
}
static Value rootOf(NodeImport &node, Value x) {
  return hlo::sqrt(node.b, node.loc, x);
}
static Value logOf(NodeImport &node, Value x) {
  return hlo::log(node.b, node.loc, x);
}

/// The reduced dimensions; nothing where nothing is reduced.
static rt::Result<std::optional<SmallVector<int64_t>>>
readReducedAxes(NodeImport &node, int64_t axesAsInput) {
  std::optional<SmallVector<int64_t>> given;
  if (node.version < axesAsInput) {
    given = node.getInts("axes");
  } else {
    LLMC_TRY_ASSIGN(given, node.getIntsOrInput("axes", 1));
  }
  if (!given || given->empty()) {
    if (node.getInt("noop_with_empty_axes", 0))
      return std::optional<SmallVector<int64_t>>();
    return std::optional(range(0, node.rank(0)));
  }
  LLMC_TRY_ASSIGN(SmallVector<int64_t> axes, node.axes(*given, node.rank(0)));
  return std::optional(axes);
}

/// With the reduced dimensions at size 1.
static Value putBack(NodeImport &node, Value reduced, ArrayRef<int64_t> shape,
                     ArrayRef<int64_t> axes) {
  SmallVector<int64_t> kept(shape);
  for (int64_t axis : axes)
    kept[axis] = 1;
  return hlo::reshape(node.b, node.loc, reduced, kept);
}

static rt::Status importReduction(NodeImport &node,
                                  const ReductionSteps &steps) {
  LLMC_TRY_ASSIGN(std::optional<SmallVector<int64_t>> axes,
                  readReducedAxes(node, steps.axesAsInput));
  Value x = node.input(0);
  if (!axes)
    return node.finish({steps.after(node, steps.before(node, x))});
  Value result =
      hlo::reduce(node.b, node.loc, steps.kind, steps.before(node, x), *axes);
  if (steps.isMean) {
    double count = 1;
    for (int64_t axis : *axes)
      count *= static_cast<double>(node.shape(0)[axis]);
    result = hlo::div(node.b, node.loc, result, node.like(result, count));
  }
  result = steps.after(node, result);
  if (node.getInt("keepdims", 1))
    result = putBack(node, result, node.shape(0), *axes);
  return node.finish({result});
}

static rt::Status importReduceSum(NodeImport &node) {
  return importReduction(node,
                         {ReductionKind::sum, keepValue, keepValue, false, 13});
}
static rt::Status importReduceMean(NodeImport &node) {
  return importReduction(node,
                         {ReductionKind::sum, keepValue, keepValue, true});
}
static rt::Status importReduceMax(NodeImport &node) {
  return importReduction(node, {ReductionKind::max, keepValue, keepValue});
}
static rt::Status importReduceMin(NodeImport &node) {
  return importReduction(node, {ReductionKind::min, keepValue, keepValue});
}
static rt::Status importReduceProd(NodeImport &node) {
  return importReduction(node, {ReductionKind::product, keepValue, keepValue});
}
static rt::Status importReduceL1(NodeImport &node) {
  return importReduction(node, {ReductionKind::sum, sizeOfElement, keepValue});
}
static rt::Status importReduceL2(NodeImport &node) {
  return importReduction(node, {ReductionKind::sum, squareOf, rootOf});
}
static rt::Status importReduceSumSquare(NodeImport &node) {
  return importReduction(node, {ReductionKind::sum, squareOf, keepValue});
}
static rt::Status importReduceLogSum(NodeImport &node) {
  return importReduction(node, {ReductionKind::sum, keepValue, logOf});
}

/// m + log(sum(exp(x - m))) with m the maximum, so that nothing overflows, or 0
/// where that is infinite.
static rt::Status importReduceLogSumExp(NodeImport &node) {
  LLMC_TRY_ASSIGN(std::optional<SmallVector<int64_t>> axes,
                  readReducedAxes(node, 18));
  Value x = node.input(0);
  if (!axes)
    return node.finish({x});
  OpBuilder &b = node.b;
  Location loc = node.loc;
  Value most = hlo::reduceMax(b, loc, x, *axes);
  auto type = cast<RankedTensorType>(most.getType());
  Value isFinite =
      hlo::IsFiniteOp::create(b, loc, type.clone(b.getI1Type()), most);
  most = hlo::select(b, loc, isFinite, most, node.like(most, 0));
  Value spread = hlo::broadcastAlong(b, loc, most, node.type(0), *axes);
  Value sum = hlo::reduceAdd(
      b, loc, hlo::exp(b, loc, hlo::sub(b, loc, x, spread)), *axes);
  Value result = hlo::add(b, loc, most, hlo::log(b, loc, sum));
  if (node.getInt("keepdims", 1))
    result = putBack(node, result, node.shape(0), *axes);
  return node.finish({result});
}

//===----------------------------------------------------------------------===//
// Softmax
//===----------------------------------------------------------------------===//

/// Dimensions over which it normalises: before version 13 all from an axis on.
static rt::Result<SmallVector<int64_t>> readSoftmaxAxes(NodeImport &node) {
  bool isOld = node.version < 13;
  int64_t given = node.getInt("axis", isOld ? 1 : -1);
  if (isOld && given == node.rank(0))
    return SmallVector<int64_t>();
  LLMC_TRY_ASSIGN(int64_t axis, node.axis(given, node.rank(0)));
  return isOld ? range(axis, node.rank(0)) : SmallVector<int64_t>{axis};
}

static Value buildShifted(NodeImport &node, Value x, ArrayRef<int64_t> axes) {
  Value most = hlo::reduceMax(node.b, node.loc, x, axes);
  return hlo::sub(node.b, node.loc, x,
                  hlo::broadcastAlong(node.b, node.loc, most,
                                      cast<RankedTensorType>(x.getType()),
                                      axes));
}

static rt::Status importSoftmax(NodeImport &node) {
  LLMC_TRY_ASSIGN(SmallVector<int64_t> axes, readSoftmaxAxes(node));
  Value weights =
      hlo::exp(node.b, node.loc, buildShifted(node, node.input(0), axes));
  Value sum = hlo::reduceAdd(node.b, node.loc, weights, axes);
  return node.finish({hlo::div(
      node.b, node.loc, weights,
      hlo::broadcastAlong(node.b, node.loc, sum, node.type(0), axes))});
}

static rt::Status importLogSoftmax(NodeImport &node) {
  LLMC_TRY_ASSIGN(SmallVector<int64_t> axes, readSoftmaxAxes(node));
  Value shifted = buildShifted(node, node.input(0), axes);
  Value sum = hlo::reduceAdd(node.b, node.loc,
                             hlo::exp(node.b, node.loc, shifted), axes);
  Value log = hlo::log(node.b, node.loc, sum);
  return node.finish({hlo::sub(
      node.b, node.loc, shifted,
      hlo::broadcastAlong(node.b, node.loc, log, node.type(0), axes))});
}

//===----------------------------------------------------------------------===//
// Cumulative sums
//===----------------------------------------------------------------------===//

/// A sum over windows that reach to the edge, as JAX writes it.
static rt::Status importCumulative(NodeImport &node, ReductionKind kind) {
  OpBuilder &b = node.b;
  Location loc = node.loc;
  LLMC_TRY_ASSIGN(int64_t given, node.integer(1, "axis"));
  LLMC_TRY_ASSIGN(int64_t axis, node.axis(given, node.rank(0)));
  Value x = node.input(0);
  int64_t rank = node.rank(0), size = node.shape(0)[axis];
  if (size == 0)
    return node.finish({x});
  bool isReverse = node.getInt("reverse", 0);
  int64_t isExclusive = node.getInt("exclusive", 0) ? 1 : 0;
  SmallVector<int64_t> window(rank, 1), padding(2 * rank, 0);
  window[axis] = size;
  // An exclusive sum leaves out the element itself: windows move by one, and
  // the edge that they leave is cropped before.
  padding[2 * axis] = isReverse ? 0 : size - 1;
  padding[2 * axis + 1] = isReverse ? size - 1 : 0;
  if (isExclusive) {
    SmallVector<int64_t> low(rank, 0), high(rank, 0);
    low[axis] = isReverse ? -1 : 1;
    high[axis] = isReverse ? 1 : -1;
    Value edge = hlo::neutralScalar(b, loc, kind, node.element(0));
    x = hlo::pad(b, loc, x, edge, low, high);
  }
  Value init = hlo::neutralScalar(b, loc, kind, node.element(0));
  auto pads = DenseIntElementsAttr::get(
      RankedTensorType::get({rank, 2}, b.getI64Type()), padding);
  auto op = hlo::ReduceWindowOp::create(
      b, loc, TypeRange{x.getType()}, ValueRange{x}, ValueRange{init},
      b.getDenseI64ArrayAttr(window), DenseI64ArrayAttr(), DenseI64ArrayAttr(),
      DenseI64ArrayAttr(), pads);
  addCombination(b, loc, op.getBody(), kind, node.element(0));
  return node.finish({Value(op->getResult(0))});
}

static rt::Status importCumSum(NodeImport &node) {
  return importCumulative(node, ReductionKind::sum);
}
static rt::Status importCumProd(NodeImport &node) {
  return importCumulative(node, ReductionKind::product);
}

void onnx::addReductionOps(OpTable &table) {
  auto add = [&](StringRef name, rt::Status (*handle)(NodeImport &)) {
    table[name] = {handle, 1, 2, kNewestKnown};
  };
  add("ReduceSum", importReduceSum);
  add("ReduceMean", importReduceMean);
  add("ReduceMax", importReduceMax);
  add("ReduceMin", importReduceMin);
  add("ReduceProd", importReduceProd);
  add("ReduceL1", importReduceL1);
  add("ReduceL2", importReduceL2);
  add("ReduceSumSquare", importReduceSumSquare);
  add("ReduceLogSum", importReduceLogSum);
  add("ReduceLogSumExp", importReduceLogSumExp);
  table["Softmax"] = {importSoftmax, 1, 1, kNewestKnown};
  table["LogSoftmax"] = {importLogSoftmax, 1, 1, kNewestKnown};
  table["CumSum"] = {importCumSum, 2, 2, kNewestKnown};
  table["CumProd"] = {importCumProd, 2, 2, kNewestKnown};
}
