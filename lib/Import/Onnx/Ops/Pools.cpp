//===- Pools.cpp - Maxima and means of windows ----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../GraphImporter.h"
#include "Windows.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::onnx;
namespace hlo = llmc::stablehlo;

/// How often a window fits. Rounded up, a last one that begins in the padding
/// behind the input is none.
static int64_t countPlaces(const OnnxWindow &w, bool isCeil) {
  int64_t room = w.size + w.low + w.high - w.reach();
  if (room < 0)
    return 0;
  int64_t count =
      (isCeil ? llvm::divideCeil(room, w.stride) : room / w.stride) + 1;
  if (isCeil && (count - 1) * w.stride >= w.size + w.low)
    --count;
  return count;
}

/// Reduces the windows; padding is the neutral element.
static Value reduceWindows(NodeImport &node, Value x, ReductionKind kind,
                           ArrayRef<OnnxWindow> windows, bool isCeil) {
  OpBuilder &b = node.b;
  Type element = elementOf(x);
  SmallVector<int64_t> sizes = {1, 1}, strides = {1, 1}, dilations = {1, 1},
                       padding = {0, 0, 0, 0},
                       shape = {shapeOf(x)[0], shapeOf(x)[1]};
  for (const OnnxWindow &w : windows) {
    int64_t count = countPlaces(w, isCeil);
    sizes.push_back(w.window);
    strides.push_back(w.stride);
    dilations.push_back(w.dilation);
    // As much behind as the last window reaches.
    int64_t high = count == 0
                       ? w.high
                       : (count - 1) * w.stride + w.reach() - w.size - w.low;
    padding.append({w.low, high});
    shape.push_back(count);
  }
  Value init = hlo::neutralScalar(b, node.loc, kind, element);
  auto pads = DenseIntElementsAttr::get(
      RankedTensorType::get({rankOf(x), 2}, b.getI64Type()), padding);
  auto op = hlo::ReduceWindowOp::create(
      b, node.loc, TypeRange{RankedTensorType::get(shape, element)},
      ValueRange{x}, ValueRange{init}, b.getDenseI64ArrayAttr(sizes),
      b.getDenseI64ArrayAttr(strides), DenseI64ArrayAttr(),
      b.getDenseI64ArrayAttr(dilations), pads);
  addCombination(b, node.loc, op.getBody(), kind, element);
  return op->getResult(0);
}

static rt::Result<SmallVector<OnnxWindow>> readPool(NodeImport &node) {
  std::optional<SmallVector<int64_t>> kernel = node.getInts("kernel_shape");
  if (!kernel)
    return node.refuse("expected a kernel_shape, got none");
  return readWindows(node, *kernel);
}

/// Where the maximum of each window stands in the flat tensor: the least of the
/// places in the window whose element is the maximum.
static Value buildIndices(NodeImport &node, ArrayRef<OnnxWindow> windows,
                          Value most, bool isCeil);

static rt::Status importMaxPool(NodeImport &node) {
  LLMC_TRY_ASSIGN(SmallVector<OnnxWindow> windows, readPool(node));
  bool isCeil = node.getInt("ceil_mode", 0);
  Value most =
      reduceWindows(node, node.input(0), ReductionKind::max, windows, isCeil);
  if (!node.wants(1))
    return node.finish({most});
  constexpr int64_t kMostTaps = 4096;
  int64_t taps = 1;
  for (const OnnxWindow &w : windows)
    taps = std::min(taps * w.window, kMostTaps + 1);
  if (taps > kMostTaps)
    return node.unsupported("expected windows of at most " +
                            std::to_string(kMostTaps) +
                            " elements where their places are asked for");
  return node.finish({most, buildIndices(node, windows, most, isCeil)});
}

/// Of one tap of the windows: the element that it sees in each of them.
static Value takeTap(NodeImport &node, Value x, ArrayRef<OnnxWindow> windows,
                     ArrayRef<int64_t> tap, ArrayRef<int64_t> counts,
                     Value edge) {
  SmallVector<int64_t> low = {0, 0}, high = {0, 0}, starts = {0, 0},
                       limits(shapeOf(x).take_front(2)), strides = {1, 1};
  for (auto [i, w] : llvm::enumerate(windows)) {
    int64_t reach = (counts[i] - 1) * w.stride + w.reach();
    low.push_back(w.low);
    high.push_back(std::max<int64_t>(0, reach - w.size - w.low));
    starts.push_back(tap[i] * w.dilation);
    limits.push_back(tap[i] * w.dilation + (counts[i] - 1) * w.stride + 1);
    strides.push_back(w.stride);
  }
  Value padded = hlo::pad(node.b, node.loc, x, edge, low, high);
  return hlo::slice(node.b, node.loc, padded, starts, limits, strides);
}

/// i64: the place of each element of the flat tensor.
static Value buildPlaces(NodeImport &node) {
  auto type = RankedTensorType::get(node.shape(0), node.b.getI64Type());
  bool isColumnMajor = node.getInt("storage_order", 0);
  Value places = node.splat(node.shape(0), node.b.getI64Type(), 0);
  int64_t stride = 1, rank = node.rank(0);
  SmallVector<int64_t> dims;
  for (int64_t dim = rank; dim-- > 2;)
    dims.push_back(dim);
  if (isColumnMajor)
    std::reverse(dims.begin(), dims.end());
  dims.append({1, 0});
  for (int64_t dim : dims) {
    Value along = hlo::iota(node.b, node.loc, type, dim);
    Value part =
        hlo::mul(node.b, node.loc, along, node.like(along, double(stride)));
    places = hlo::add(node.b, node.loc, places, part);
    stride *= node.shape(0)[dim];
  }
  return places;
}

static Value buildIndices(NodeImport &node, ArrayRef<OnnxWindow> windows,
                          Value most, bool isCeil) {
  OpBuilder &b = node.b;
  Location loc = node.loc;
  Value places = buildPlaces(node), x = node.input(0), found;
  SmallVector<int64_t> counts, sizes, tap(windows.size(), 0);
  for (const OnnxWindow &w : windows) {
    counts.push_back(countPlaces(w, isCeil));
    sizes.push_back(w.window);
  }
  double none = double(node.type(0).getNumElements());
  Value nowhere = hlo::scalar(b, loc, b.getI64Type(), none);
  Value lowest = hlo::lowestScalar(b, loc, node.element(0));
  do {
    Value seen = takeTap(node, x, windows, tap, counts, lowest);
    Value at = takeTap(node, places, windows, tap, counts, nowhere);
    Value is = hlo::compare(b, loc, hlo::ComparisonDirection::EQ, seen, most);
    Value candidate = hlo::select(b, loc, is, at, node.like(at, none));
    found = found ? hlo::min(b, loc, found, candidate) : candidate;
  } while (nextIndex(tap, sizes));
  return found;
}

/// Elements of each window along one dimension that count.
static SmallVector<double> countElements(const OnnxWindow &w, bool isCeil,
                                         bool includesPadding) {
  SmallVector<double> counts;
  int64_t begin = includesPadding ? -w.low : 0;
  int64_t end = includesPadding ? w.size + w.high : w.size;
  for (int64_t i = 0; i < countPlaces(w, isCeil); ++i) {
    // The first element of the window that counts, and the first behind them.
    int64_t base = i * w.stride - w.low;
    auto firstFrom = [&](int64_t edge) {
      int64_t distance = std::max<int64_t>(0, edge - base);
      return std::min<int64_t>(w.window,
                               llvm::divideCeil(distance, w.dilation));
    };
    double count = double(firstFrom(end) - firstFrom(begin));
    counts.push_back(count);
  }
  return counts;
}

static rt::Status importAveragePool(NodeImport &node) {
  LLMC_TRY_ASSIGN(SmallVector<OnnxWindow> windows, readPool(node));
  bool isCeil = node.getInt("ceil_mode", 0);
  bool includesPadding = node.getInt("count_include_pad", 0);
  constexpr int64_t kMostPlaces = int64_t(1) << 24;
  for (const OnnxWindow &w : windows)
    if (countPlaces(w, isCeil) > kMostPlaces)
      return node.unsupported("expected at most " +
                              std::to_string(kMostPlaces) +
                              " windows along a dimension, got " +
                              std::to_string(countPlaces(w, isCeil)));
  Value mean =
      reduceWindows(node, node.input(0), ReductionKind::sum, windows, isCeil);
  auto type = cast<RankedTensorType>(mean.getType());
  for (auto [i, w] : llvm::enumerate(windows)) {
    SmallVector<double> counts = countElements(w, isCeil, includesPadding);
    HostTensor tensor(node.element(0), {static_cast<int64_t>(counts.size())});
    for (auto [k, count] : llvm::enumerate(counts))
      tensor.setFloat(k, count);
    Value divisor = hlo::ConstantOp::create(
        node.b, node.loc, cast<ElementsAttr>(tensor.toAttribute()));
    if (llvm::all_equal(counts))
      divisor = node.like(mean, counts.empty() ? 1 : counts.front());
    else
      divisor = hlo::broadcastInDim(node.b, node.loc, divisor, type,
                                    {static_cast<int64_t>(i) + 2});
    mean = hlo::div(node.b, node.loc, mean, divisor);
  }
  return node.finish({mean});
}

/// The root of a sum of powers, over windows or all spatial dimensions.
template <typename Sum>
static rt::Status importNormPool(NodeImport &node, Sum sumUp) {
  double p = static_cast<double>(node.getInt("p", 2));
  if (p < 1)
    return node.refuse("expected p to be at least 1, got " +
                       std::to_string(node.getInt("p", 2)));
  Value size = hlo::abs(node.b, node.loc, node.input(0));
  Value power = hlo::pow(node.b, node.loc, size, node.like(size, p));
  Value sum = sumUp(power);
  return node.finish({hlo::pow(node.b, node.loc, sum, node.like(sum, 1 / p))});
}

static rt::Status importLpPool(NodeImport &node) {
  LLMC_TRY_ASSIGN(SmallVector<OnnxWindow> windows, readPool(node));
  bool isCeil = node.getInt("ceil_mode", 0);
  return importNormPool(node, [&](Value power) {
    return reduceWindows(node, power, ReductionKind::sum, windows, isCeil);
  });
}

static rt::Status importGlobalLpPool(NodeImport &node) {
  if (node.rank(0) < 3)
    return node.refuse("expected spatial dimensions, got " +
                       show(Type(node.type(0))));
  SmallVector<int64_t> dims = range(2, node.rank(0)), kept(node.shape(0));
  for (int64_t dim : dims)
    kept[dim] = 1;
  return importNormPool(node, [&](Value power) {
    Value sum = hlo::reduceAdd(node.b, node.loc, power, dims);
    return hlo::reshape(node.b, node.loc, sum, kept);
  });
}

/// One result for each channel, in the rank of the operand.
static rt::Status importGlobal(NodeImport &node, ReductionKind kind) {
  if (node.rank(0) < 3)
    return node.refuse("expected spatial dimensions, got " +
                       show(Type(node.type(0))));
  SmallVector<int64_t> dims = range(2, node.rank(0)), kept(node.shape(0));
  Value result = hlo::reduce(node.b, node.loc, kind, node.input(0), dims);
  double count = 1;
  for (int64_t dim : dims)
    count *= static_cast<double>(std::exchange(kept[dim], 1));
  if (kind == ReductionKind::sum)
    result = hlo::div(node.b, node.loc, result, node.like(result, count));
  return node.finish({hlo::reshape(node.b, node.loc, result, kept)});
}

static rt::Status importGlobalAveragePool(NodeImport &node) {
  return importGlobal(node, ReductionKind::sum);
}
static rt::Status importGlobalMaxPool(NodeImport &node) {
  return importGlobal(node, ReductionKind::max);
}

void onnx::addPoolOps(OpTable &table) {
  table["MaxPool"] = {importMaxPool, 1, 1, kNewestKnown};
  table["AveragePool"] = {importAveragePool, 1, 1, kNewestKnown};
  table["LpPool"] = {importLpPool, 1, 1, kNewestKnown};
  table["GlobalLpPool"] = {importGlobalLpPool, 1, 1, kNewestKnown};
  table["GlobalAveragePool"] = {importGlobalAveragePool, 1, 1, kNewestKnown};
  table["GlobalMaxPool"] = {importGlobalMaxPool, 1, 1, kNewestKnown};
}
