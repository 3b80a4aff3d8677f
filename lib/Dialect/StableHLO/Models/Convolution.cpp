//===- Convolution.cpp - Expansion of convolution -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The padded input becomes patches, which have the window's elements as
// dimensions of their own, and one contraction of the patches with the kernel
// is the convolution:
//
//   [batch, rows, columns, features]
//     -> [batch, places, places, kernel rows, kernel columns, features]
//
// Patches are made along one spatial dimension after another: a slice for each
// element of the window, or for each place of it where these are fewer, all
// joined along a new dimension. So there are as many slices as the sum of the
// kernel's sizes, not their product, and batch and features keep dimensions of
// their own, whose splits pass. The new dimensions stand in the kernel's order:
// kernel and patches are read as they lie. A kernel of size 1 makes no patches.
//
// Why one contraction and not one for each element of the kernel: a product of
// depth kernel x features runs faster than many shallow ones whose results are
// added in memory. What it costs are the patches: the input, times the kernel's
// size, divided by the strides. They are movement only, so that what the
// backward needs of them may be computed again.
//
// Groups become a batching dimension. Where each input feature is a group of
// its own, contractions would have depth 1: slices are multiplied and added.
//
// Test: test/Import/StableHLO/expand-windows.mlir, test/EndToEnd/windows.test
//===----------------------------------------------------------------------===//

#include "Movement.h"
#include "Windows.h"
#include "llmc/Dialect/Graph/IR/GraphInterfaces.h"
#include "llmc/Dialect/StableHLO/Models/Models.h"
#include "llmc/Support/HostTensor.h"
#include "llmc/Support/Refusal.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::stablehlo;

namespace {
/// Slices along one dimension, and terms of a depthwise kernel, of one
/// convolution: more would be programs that nobody waits for.
constexpr int64_t kMostSlices = 256;

class ConvolutionExpansion {
public:
  ConvolutionExpansion(ConvolutionOp op, OpBuilder &b)
      : op(op), b(b), loc(op.getLoc()), dims(op.getDimensionNumbers()),
        window(op.getWindow()), rank(op.getLhs().getType().getRank()),
        groups(op.getFeatureGroupCount() * op.getBatchGroupCount()) {}

  FailureOr<Value> run();

private:
  bool hasBatchGroups() { return op.getBatchGroupCount() > 1; }
  bool isDepthwise();
  int64_t countPlaces(int64_t spatial) {
    return op.getType().getDimSize(dims.getOutputSpatialDimensions()[spatial]);
  }
  LogicalResult checkSize();
  Value padInput();
  Value reverseKernel();
  Value arrangeResult(Value result);

  Value splitGroups(Value x, int64_t dim);
  Value slideAlong(Value x, int64_t dim, int64_t spatial, int64_t at);
  Value buildPatches(Value x);
  Value buildProduct(Value x, Value kernel);
  Value joinGroups(Value result);

  Value repeatFeatures(Value x, int64_t features);
  Value buildDepthwise(Value x, Value kernel);

  ConvolutionOp op;
  OpBuilder &b;
  Location loc;
  ConvDimensionNumbersAttr dims;
  SmallVector<WindowDim> window;
  int64_t rank, groups;
};

bool ConvolutionExpansion::isDepthwise() {
  return op.getFeatureGroupCount() > 1 &&
         op.getRhs().getType().getDimSize(
             dims.getKernelInputFeatureDimension()) == 1;
}

LogicalResult ConvolutionExpansion::checkSize() {
  int64_t terms = 1;
  for (auto [spatial, part] : llvm::enumerate(window)) {
    terms *= std::min(part.window, kMostSlices + 1);
    int64_t slices = std::min(part.window, countPlaces(spatial));
    if (isDepthwise() ? terms > kMostSlices : slices > kMostSlices)
      return emitRefusal(op, rt::ErrorKind::unsupported)
             << "expected a convolution of at most " << kMostSlices
             << " slices, got a kernel of size " << part.window
             << " in spatial dim " << spatial << " of "
             << op.getRhs().getType();
  }
  return success();
}

//===----------------------------------------------------------------------===//
// One order of dimensions
//===----------------------------------------------------------------------===//

/// Batch, spatial dimensions, features; dilated and padded.
Value ConvolutionExpansion::padInput() {
  SmallVector<int64_t> permutation = {dims.getInputBatchDimension()};
  llvm::append_range(permutation, dims.getInputSpatialDimensions());
  permutation.push_back(dims.getInputFeatureDimension());
  Value x = transpose(b, loc, op.getLhs(), permutation);
  auto spatial = llvm::to_vector(llvm::seq<int64_t>(1, rank - 1));
  return padWindows(b, loc, x, scalar(b, loc, typeOf(x).getElementType(), 0),
                    spatial, window);
}

/// A window that is taken from its end sees a kernel that is.
Value ConvolutionExpansion::reverseKernel() {
  SmallVector<int64_t> reversed;
  for (auto [dim, part] :
       llvm::zip_equal(dims.getKernelSpatialDimensions(), window))
    if (part.isReversed && part.window > 1)
      reversed.push_back(dim);
  return reversed.empty() ? Value(op.getRhs())
                          : reverse(b, loc, op.getRhs(), reversed);
}

/// From batch, spatial dimensions, features to the order of the result.
Value ConvolutionExpansion::arrangeResult(Value result) {
  SmallVector<int64_t> permutation(rank);
  permutation[dims.getOutputBatchDimension()] = 0;
  for (auto [spatial, dim] : llvm::enumerate(dims.getOutputSpatialDimensions()))
    permutation[dim] = spatial + 1;
  permutation[dims.getOutputFeatureDimension()] = rank - 1;
  return transpose(b, loc, result, permutation);
}

//===----------------------------------------------------------------------===//
// Patches and their product with the kernel
//===----------------------------------------------------------------------===//

/// Dimension `dim` as two: groups, and what is in each.
Value ConvolutionExpansion::splitGroups(Value x, int64_t dim) {
  SmallVector<int64_t> shape(typeOf(x).getShape());
  shape[dim] /= groups;
  shape.insert(shape.begin() + dim, groups);
  return reshape(b, loc, x, shape);
}

/// The places of the window along `dim`; its elements become dimension `at` of
/// the result.
Value ConvolutionExpansion::slideAlong(Value x, int64_t dim, int64_t spatial,
                                       int64_t at) {
  const WindowDim &part = window[spatial];
  int64_t places = countPlaces(spatial);
  bool byElement = part.window <= places;
  SmallVector<Value> slices;
  for (int64_t i = 0; i < std::min(part.window, places); ++i) {
    Value slice = byElement ? takeAlong(b, loc, x, dim, i * part.windowDilation,
                                        places, part.stride)
                            : takeAlong(b, loc, x, dim, i * part.stride,
                                        part.window, part.windowDilation);
    SmallVector<int64_t> shape(typeOf(slice).getShape());
    shape.insert(shape.begin() + (byElement ? at : dim), 1);
    slices.push_back(reshape(b, loc, slice, shape));
  }
  if (byElement)
    return slices.size() == 1 ? slices.front()
                              : concatenate(b, loc, slices, at);
  // [.., places, window, ..]: the window moves to its place.
  Value joined =
      slices.size() == 1 ? slices.front() : concatenate(b, loc, slices, dim);
  auto permutation =
      llvm::to_vector(llvm::seq<int64_t>(0, typeOf(joined).getRank()));
  std::rotate(permutation.begin() + dim + 1, permutation.begin() + dim + 2,
              permutation.begin() + at + 1);
  return transpose(b, loc, joined, permutation);
}

/// `x` ends in the input features of a group, behind the spatial dimensions
/// (and the groups of features). They and the window's elements end the
/// patches, in the order that they have in the kernel.
Value ConvolutionExpansion::buildPatches(Value x) {
  int64_t firstSpatial = hasBatchGroups() ? 2 : 1;
  int64_t base = typeOf(x).getRank() - 1;
  SmallVector<int64_t> inside = {dims.getKernelInputFeatureDimension()};
  for (auto [spatial, part] : llvm::enumerate(window)) {
    int64_t dim = firstSpatial + spatial, places = countPlaces(spatial);
    if (part.window == 1) {
      x = takeAlong(b, loc, x, dim, 0, places, part.stride);
      continue;
    }
    int64_t place = dims.getKernelSpatialDimensions()[spatial];
    int64_t before =
        llvm::count_if(inside, [=](int64_t other) { return other < place; });
    x = slideAlong(x, dim, spatial, base + before);
    inside.push_back(place);
  }
  return x;
}

/// Batch, places, output features; with groups, these come first and the
/// features are those of a group.
Value ConvolutionExpansion::buildProduct(Value x, Value kernel) {
  SmallVector<int64_t> shape, contracted, batching;
  int64_t outputDim = dims.getKernelOutputFeatureDimension();
  for (auto [dim, size] : llvm::enumerate(typeOf(kernel).getShape())) {
    bool isOutput = static_cast<int64_t>(dim) == outputDim;
    if (size == 1 && llvm::is_contained(dims.getKernelSpatialDimensions(),
                                        static_cast<int64_t>(dim)))
      continue;
    if (!isOutput)
      contracted.push_back(shape.size());
    if (isOutput && groups > 1) {
      batching.push_back(shape.size());
      shape.push_back(groups);
    }
    shape.push_back(isOutput ? size / groups : size);
  }
  kernel = reshape(b, loc, kernel, shape);
  SmallVector<int64_t> inputBatching;
  if (groups > 1) {
    x = splitGroups(x, hasBatchGroups() ? 0 : rank - 1);
    inputBatching.push_back(hasBatchGroups() ? 0 : rank - 1);
  }
  Value patches = buildPatches(x);
  int64_t end = typeOf(patches).getRank();
  auto inputContracted =
      llvm::to_vector(llvm::seq<int64_t>(end - contracted.size(), end));
  Value product = dotGeneral(b, loc, patches, kernel,
                             dotDims(b.getContext(), inputBatching, batching,
                                     inputContracted, contracted),
                             op.getType().getElementType());
  if (ArrayAttr precisions = op.getPrecisionConfigAttr();
      precisions && !precisions.empty())
    product.getDefiningOp<DotGeneralOp>().setPrecisionConfigAttr(precisions);
  return product;
}

/// Output features are grouped: group after group.
Value ConvolutionExpansion::joinGroups(Value result) {
  if (groups == 1)
    return result;
  auto permutation = llvm::to_vector(llvm::seq<int64_t>(1, rank));
  permutation.append({0, rank});
  result = transpose(b, loc, result, permutation);
  SmallVector<int64_t> shape(typeOf(result).getShape());
  int64_t features = shape.pop_back_val();
  shape.back() *= features;
  return reshape(b, loc, result, shape);
}

//===----------------------------------------------------------------------===//
// Depthwise convolutions
//===----------------------------------------------------------------------===//

/// An input feature has several output features, one after another.
Value ConvolutionExpansion::repeatFeatures(Value x, int64_t features) {
  RankedTensorType type = typeOf(x);
  SmallVector<int64_t> shape(type.getShape());
  if (shape.back() == features)
    return x;
  shape.push_back(features / shape.back());
  Value repeated = broadcastInDim(b, loc, x, type.clone(shape),
                                  llvm::to_vector(llvm::seq<int64_t>(0, rank)));
  shape.pop_back();
  shape.back() = features;
  return reshape(b, loc, repeated, shape);
}

/// The sum over the kernel's elements of slices times one weight for each
/// feature. Floats are added in f32 at least.
Value ConvolutionExpansion::buildDepthwise(Value x, Value kernel) {
  Type element = op.getType().getElementType();
  bool isNarrow =
      isa<FloatType>(element) && element.getIntOrFloatBitWidth() < 32;
  Type wide = isNarrow ? Type(b.getF32Type()) : element;
  int64_t features =
      typeOf(kernel).getDimSize(dims.getKernelOutputFeatureDimension());
  x = repeatFeatures(convertTo(b, loc, x, wide), features);
  SmallVector<int64_t> order(dims.getKernelSpatialDimensions());
  order.append({dims.getKernelInputFeatureDimension(),
                dims.getKernelOutputFeatureDimension()});
  kernel = transpose(b, loc, convertTo(b, loc, kernel, wide), order);
  SmallVector<int64_t> index(window.size(), 0), sizes;
  for (const WindowDim &part : window)
    sizes.push_back(part.window);
  Value sum;
  do {
    Value slice = x, weight = kernel;
    for (auto [spatial, part] : llvm::enumerate(window)) {
      slice = takeAlong(b, loc, slice, spatial + 1,
                        index[spatial] * part.windowDilation,
                        countPlaces(spatial), part.stride);
      weight = takeAlong(b, loc, weight, spatial, index[spatial], 1);
    }
    weight = broadcastInDim(b, loc, reshape(b, loc, weight, features),
                            typeOf(slice), rank - 1);
    Value term = mul(b, loc, slice, weight);
    sum = sum ? add(b, loc, sum, term) : term;
  } while (nextIndex(index, sizes));
  return convertTo(b, loc, sum, element);
}

FailureOr<Value> ConvolutionExpansion::run() {
  for (RankedTensorType type :
       {op.getLhs().getType(), op.getRhs().getType(), op.getType()})
    if (type.getNumElements() == 0) // sums of nothing are zero
      return constantSplat(b, loc, withoutEncoding(op.getType()), 0);
  if (failed(checkSize()))
    return failure();
  Value x = padInput(), kernel = reverseKernel();
  return arrangeResult(isDepthwise() ? buildDepthwise(x, kernel)
                                     : joinGroups(buildProduct(x, kernel)));
}

//===----------------------------------------------------------------------===//
// The expansion
//===----------------------------------------------------------------------===//

struct ConvolutionModel
    : graph::ExpansionOpInterface::ExternalModel<ConvolutionModel,
                                                 ConvolutionOp> {
  LogicalResult expand(Operation *of, OpBuilder &builder,
                       SmallVectorImpl<Value> &results) const {
    FailureOr<Value> result =
        ConvolutionExpansion(cast<ConvolutionOp>(of), builder).run();
    if (failed(result))
      return failure();
    results.push_back(*result);
    return success();
  }
};
} // namespace

void stablehlo::registerConvolutionModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, StableHLODialect *) {
    ConvolutionOp::attachInterface<ConvolutionModel>(*context);
  });
}
