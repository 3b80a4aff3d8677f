//===- Resize.cpp - Tensors of other sizes --------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each dimension is resized alone. An element of the result lies somewhere
// between elements of the operand: it is the nearest of them, a repetition
// where whole numbers come out, or a sum of some of them with weights, which is
// the product with a matrix that is known:
//
//   [a b] -> [a, 3/4 a + 1/4 b, 1/4 a + 3/4 b, b]     linear, twice the size
//
//===----------------------------------------------------------------------===//

#include "../GraphImporter.h"
#include <cmath>

using namespace mlir;
using namespace llmc;
using namespace llmc::onnx;
namespace hlo = llmc::stablehlo;

namespace {
/// Along one dimension.
struct ResizeDim {
  int64_t from = 0, to = 0;
  double scale = 1;
  /// Of a crop, in parts of the dimension.
  double begin = 0, end = 1;
};

class ResizeBuilder {
public:
  explicit ResizeBuilder(NodeImport &node)
      : node(node), b(node.b), loc(node.loc) {}
  rt::Status build();
  rt::Status readOld(ArrayRef<double> scales);

private:
  rt::Status read();
  rt::Status readAxes();
  rt::Status readSizes(unsigned operand);
  rt::Status setScales(ArrayRef<double> scales);
  void keepAspect(MutableArrayRef<double> scales);
  rt::Status checkModes() const;
  double placeOf(const ResizeDim &dim, int64_t i) const;
  int64_t nearestTo(double place) const;
  double weightAt(double distance) const;
  SmallVector<double> rowOf(const ResizeDim &dim, int64_t i) const;
  Value apply(Value x, int64_t dim);
  Value pickNearest(Value x, int64_t dim);
  Value multiply(Value x, int64_t dim);
  Value fillOutside(Value x);

  NodeImport &node;
  OpBuilder &b;
  Location loc;
  StringRef mode, places, rounding;
  SmallVector<int64_t> axes;
  SmallVector<ResizeDim> dims;
};
} // namespace

/// Elements of the matrices of one op.
static constexpr int64_t kMostWeights = int64_t(1) << 24;

rt::Status ResizeBuilder::readAxes() {
  axes = range(0, node.rank(0));
  if (std::optional<SmallVector<int64_t>> given = node.getInts("axes")) {
    LLMC_TRY_ASSIGN(axes, node.axes(*given, node.rank(0)));
  }
  for (int64_t size : node.shape(0))
    dims.push_back({size, size});
  return rt::Status::success();
}

rt::Status ResizeBuilder::setScales(ArrayRef<double> scales) {
  if (scales.size() != axes.size())
    return node.refuse("expected " + std::to_string(axes.size()) +
                       " scales, got " + std::to_string(scales.size()));
  for (auto [axis, scale] : llvm::zip_equal(axes, scales)) {
    ResizeDim &dim = dims[axis];
    double size = std::floor(static_cast<double>(dim.from) * scale);
    if (!(scale > 0) || !(size < 0x1p40))
      return node.refuse("expected scales above 0, got " +
                         std::to_string(scale));
    dim.scale = scale;
    dim.to = static_cast<int64_t>(size);
  }
  return rt::Status::success();
}

/// One scale for all, so that nothing is larger, or smaller, than asked for.
void ResizeBuilder::keepAspect(MutableArrayRef<double> scales) {
  StringRef policy = node.getText("keep_aspect_ratio_policy", "stretch");
  if (policy == "stretch" || scales.empty())
    return;
  double one = policy == "not_larger"
                   ? *std::min_element(scales.begin(), scales.end())
                   : *std::max_element(scales.begin(), scales.end());
  for (double &scale : scales)
    scale = one;
}

rt::Status ResizeBuilder::readSizes(unsigned operand) {
  LLMC_TRY_ASSIGN(SmallVector<int64_t> sizes, node.integers(operand, "sizes"));
  if (sizes.size() != axes.size())
    return node.refuse("expected " + std::to_string(axes.size()) +
                       " sizes, got " + show(sizes));
  SmallVector<double> scales;
  for (auto [axis, size] : llvm::zip_equal(axes, sizes)) {
    if (size < 0 || size > (int64_t(1) << 40) || dims[axis].from == 0)
      return node.refuse("expected sizes of at least 0 of a tensor that is not "
                         "empty, got " +
                         show(sizes));
    scales.push_back(double(size) / double(dims[axis].from));
  }
  keepAspect(scales);
  for (auto [i, axis] : llvm::enumerate(axes)) {
    dims[axis].scale = scales[i];
    dims[axis].to = std::llround(scales[i] * double(dims[axis].from));
  }
  return rt::Status::success();
}

rt::Status ResizeBuilder::checkModes() const {
  static constexpr const char *kPlaces[] = {
      "half_pixel",          "half_pixel_symmetric", "pytorch_half_pixel",
      "align_corners",       "asymmetric",           "tf_crop_and_resize",
      "tf_half_pixel_for_nn"};
  if (llvm::find(kPlaces, places) == std::end(kPlaces))
    return node.unsupported("expected a coordinate_transformation_mode that "
                            "llmc knows, got '" +
                            places.str() + "'");
  if (mode != "nearest" && mode != "linear" && mode != "cubic")
    return node.refuse("expected mode nearest, linear or cubic, got '" +
                       mode.str() + "'");
  for (const ResizeDim &dim : dims)
    if (mode != "nearest" && dim.from != dim.to &&
        (dim.from > kMostWeights || dim.to > kMostWeights ||
         dim.from * dim.to > kMostWeights))
      return node.unsupported("expected dimensions of which the product is at "
                              "most " +
                              std::to_string(kMostWeights) + ", got " +
                              std::to_string(dim.from) + " and " +
                              std::to_string(dim.to));
  return rt::Status::success();
}

rt::Status ResizeBuilder::read() {
  mode = node.getText("mode", "nearest");
  bool isOld = node.version < 11;
  places = node.getText("coordinate_transformation_mode",
                        isOld ? "asymmetric" : "half_pixel");
  rounding =
      node.getText("nearest_mode", isOld ? "floor" : "round_prefer_floor");
  LLMC_TRY(readAxes());
  unsigned scales = isOld ? 1 : 2;
  if (!isOld && node.has(3) && node.type(3).getNumElements())
    LLMC_TRY(readSizes(3));
  else if (node.has(scales)) {
    LLMC_TRY_ASSIGN(HostTensor given, node.constant(scales, "scales"));
    SmallVector<double> numbers;
    for (int64_t i = 0; i < given.getNumElements(); ++i)
      numbers.push_back(given.getFloat(i));
    LLMC_TRY(setScales(numbers));
  } else
    return node.refuse("expected scales or sizes, got none");
  if (places != "tf_crop_and_resize" || !node.has(1))
    return rt::Status::success();
  LLMC_TRY_ASSIGN(HostTensor roi, node.constant(1, "roi"));
  auto count = static_cast<int64_t>(axes.size());
  if (roi.getNumElements() != 2 * count)
    return node.refuse("expected two bounds for each axis, got " +
                       std::to_string(roi.getNumElements()));
  for (auto [i, axis] : llvm::enumerate(axes)) {
    dims[axis].begin = roi.getFloat(i);
    dims[axis].end = roi.getFloat(count + static_cast<int64_t>(i));
  }
  return rt::Status::success();
}

/// Where element `i` of the result lies among those of the operand.
double ResizeBuilder::placeOf(const ResizeDim &dim, int64_t i) const {
  double at = double(i), from = double(dim.from), to = double(dim.to);
  // As asked for, before it is rounded down to a size.
  double wide = dim.scale * from;
  double half = (at + 0.5) / dim.scale - 0.5;
  if (places == "half_pixel")
    return half;
  if (places == "pytorch_half_pixel")
    return dim.to > 1 ? half : 0;
  if (places == "asymmetric")
    return at / dim.scale;
  if (places == "align_corners")
    return wide > 1 ? at * (from - 1) / (wide - 1) : 0;
  if (places == "half_pixel_symmetric")
    return from / 2 * (1 - to / wide) + half;
  if (places == "tf_half_pixel_for_nn")
    return (at + 0.5) / dim.scale;
  double width = (dim.end - dim.begin) * (from - 1);
  return dim.to > 1 ? dim.begin * (from - 1) + at * width / (to - 1)
                    : 0.5 * (dim.begin + dim.end) * (from - 1);
}

int64_t ResizeBuilder::nearestTo(double place) const {
  double at = rounding == "floor"               ? std::floor(place)
              : rounding == "ceil"              ? std::ceil(place)
              : rounding == "round_prefer_ceil" ? std::floor(place + 0.5)
                                                : std::ceil(place - 0.5);
  return static_cast<int64_t>(at);
}

/// Of an element so far away.
double ResizeBuilder::weightAt(double distance) const {
  double t = std::abs(distance);
  if (mode == "linear")
    return std::max(0.0, 1 - t);
  double a = node.getFloat("cubic_coeff_a", -0.75);
  if (t <= 1)
    return ((a + 2) * t - (a + 3)) * t * t + 1;
  return t < 2 ? ((a * t - 5 * a) * t + 8 * a) * t - 4 * a : 0;
}

/// The weights of all elements in element `i`; the edges stand for what lies
/// beyond them.
SmallVector<double> ResizeBuilder::rowOf(const ResizeDim &dim,
                                         int64_t i) const {
  SmallVector<double> row(dim.from, 0);
  double place = placeOf(dim, i), sum = 0;
  bool isSmooth = node.getInt("antialias", 0);
  bool leavesOut = node.getInt("exclude_outside", 0);
  double narrow = isSmooth ? std::min(1.0, dim.scale) : 1;
  double reach = (mode == "linear" ? 1 : 2) / narrow;
  auto first = static_cast<int64_t>(std::floor(place - reach));
  auto last = static_cast<int64_t>(std::ceil(place + reach));
  for (int64_t k = first; k <= last; ++k) {
    double weight = weightAt((double(k) - place) * narrow);
    if (leavesOut && (k < 0 || k >= dim.from))
      continue;
    row[std::clamp<int64_t>(k, 0, dim.from - 1)] += weight;
    sum += weight;
  }
  if ((isSmooth || leavesOut) && sum != 0)
    for (double &weight : row)
      weight /= sum;
  return row;
}

/// Each element, `times` times one after another.
static Value repeatAlong(NodeImport &node, Value x, int64_t dim,
                         int64_t times) {
  SmallVector<int64_t> wide(shapeOf(x)), shape(shapeOf(x)), kept;
  wide.insert(wide.begin() + dim + 1, times);
  shape[dim] *= times;
  for (int64_t i = 0; i < rankOf(x); ++i)
    kept.push_back(i <= dim ? i : i + 1);
  Value repeated = hlo::broadcastInDim(
      node.b, node.loc, x, RankedTensorType::get(wide, elementOf(x)), kept);
  return hlo::reshape(node.b, node.loc, repeated, shape);
}

Value ResizeBuilder::pickNearest(Value x, int64_t at) {
  const ResizeDim &dim = dims[at];
  SmallVector<int64_t> from;
  int64_t times = dim.to / dim.from;
  bool isRepeated = times * dim.from == dim.to;
  for (int64_t i = 0; i < dim.to; ++i) {
    from.push_back(
        std::clamp<int64_t>(nearestTo(placeOf(dim, i)), 0, dim.from - 1));
    isRepeated = isRepeated && from.back() == i / times;
  }
  if (isRepeated)
    return repeatAlong(node, x, at, times);
  SmallVector<int64_t> shape(shapeOf(x)), sizes(shapeOf(x)), offsets;
  shape[at] = dim.to;
  sizes[at] = 1;
  for (int64_t i = 0; i < rankOf(x); ++i)
    if (i != at)
      offsets.push_back(i);
  auto numbers = hlo::GatherDimensionNumbersAttr::get(b.getContext(), offsets,
                                                      {at}, {}, {}, {at}, 1);
  return hlo::gather(b, loc, RankedTensorType::get(shape, elementOf(x)), x,
                     node.integersAsTensor(from, {dim.to}), numbers, sizes);
}

Value ResizeBuilder::multiply(Value x, int64_t at) {
  const ResizeDim &dim = dims[at];
  HostTensor weights(elementOf(x), {dim.to, dim.from});
  for (int64_t i = 0; i < dim.to; ++i)
    for (auto [k, weight] : llvm::enumerate(rowOf(dim, i)))
      weights.setFloat(i * dim.from + static_cast<int64_t>(k), weight);
  Value matrix = hlo::ConstantOp::create(
      b, loc, cast<ElementsAttr>(weights.toAttribute()));
  Value product = hlo::dotGeneral(
      b, loc, x, matrix, hlo::dotDims(b.getContext(), {}, {}, {at}, {1}));
  // The new dimension comes last.
  SmallVector<int64_t> order = range(0, rankOf(x) - 1);
  order.insert(order.begin() + at, rankOf(x) - 1);
  return hlo::transpose(b, loc, product, order);
}

Value ResizeBuilder::apply(Value x, int64_t dim) {
  bool isSame = dims[dim].from == dims[dim].to && dims[dim].scale == 1 &&
                dims[dim].begin == 0 && dims[dim].end == 1;
  if (isSame)
    return x;
  return mode == "nearest" ? pickNearest(x, dim) : multiply(x, dim);
}

/// Of a crop that reaches beyond the operand.
Value ResizeBuilder::fillOutside(Value x) {
  auto type = cast<RankedTensorType>(x.getType());
  Value filler = node.like(x, node.getFloat("extrapolation_value", 0));
  for (auto [at, dim] : llvm::enumerate(dims)) {
    HostTensor isInside(b.getI1Type(), {dim.to});
    for (int64_t i = 0; i < dim.to; ++i) {
      double place = placeOf(dim, i);
      isInside.setInt(i, place >= 0 && place <= double(dim.from - 1));
    }
    Value flags = hlo::ConstantOp::create(
        b, loc, cast<ElementsAttr>(isInside.toAttribute()));
    Value wide = hlo::broadcastInDim(
        b, loc, flags, cast<RankedTensorType>(type.clone(b.getI1Type())),
        {static_cast<int64_t>(at)});
    x = hlo::select(b, loc, wide, x, filler);
  }
  return x;
}

rt::Status ResizeBuilder::build() {
  if (dims.empty())
    LLMC_TRY(read());
  LLMC_TRY(checkModes());
  Value x = node.input(0);
  for (const ResizeDim &dim : dims)
    if (dim.from == 0 || dim.to == 0 || dim.to > kMostWeights)
      return node.unsupported("expected sizes of at least 1 and at most " +
                              std::to_string(kMostWeights) + ", got " +
                              std::to_string(dim.from) + " and " +
                              std::to_string(dim.to));
  if (mode != "nearest" && !isa<FloatType>(elementOf(x)))
    return node.unsupported("expected floats in mode '" + mode.str() +
                            "', got " + show(x.getType()));
  for (int64_t dim = 0; dim < rankOf(x); ++dim)
    x = apply(x, dim);
  if (places == "tf_crop_and_resize")
    x = fillOutside(x);
  return node.finish({x});
}

/// Upsample: scales of all dimensions, and the first of equally near elements.
rt::Status ResizeBuilder::readOld(ArrayRef<double> scales) {
  mode = node.getText("mode", "nearest");
  places = "asymmetric";
  rounding = "floor";
  LLMC_TRY(readAxes());
  return setScales(scales);
}

static rt::Status importResize(NodeImport &node) {
  return ResizeBuilder(node).build();
}

static rt::Status importUpsample(NodeImport &node) {
  SmallVector<double> scales;
  if (const NodeAttribute *given = node.attribute("scales"))
    scales.assign(given->floats.begin(), given->floats.end());
  if (node.has(1)) {
    LLMC_TRY_ASSIGN(HostTensor given, node.constant(1, "scales"));
    for (int64_t i = 0; i < given.getNumElements(); ++i)
      scales.push_back(given.getFloat(i));
  }
  ResizeBuilder builder(node);
  LLMC_TRY(builder.readOld(scales));
  return builder.build();
}

void onnx::addResizeOps(OpTable &table) {
  table["Resize"] = {importResize, 1, 4, kNewestKnown};
  table["Upsample"] = {importUpsample, 1, 2, kNewestKnown};
}
