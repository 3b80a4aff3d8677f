//===- WindowVerifiers.cpp - Verifiers of convolutions and windows --------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Lists have one entry for each dimension of the window; the sizes of the
// result are the numbers of places where the window stands.
// Tests: test/Dialect/StableHLO/invalid-windows.mlir,
// test/Dialect/StableHLO/invalid-convolutions.mlir.
//
//===----------------------------------------------------------------------===//

#include "Verification.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::stablehlo;

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

/// (size - 1) * dilation + 1, and 0 for 0; nothing if it overflows.
static std::optional<int64_t> dilate(int64_t size, int64_t dilation) {
  int64_t reach;
  if (size == 0)
    return 0;
  if (llvm::MulOverflow(size - 1, dilation, reach) ||
      llvm::AddOverflow<int64_t>(reach, 1, reach))
    return std::nullopt;
  return reach;
}

std::optional<int64_t> WindowDim::countPlaces() const {
  std::optional<int64_t> dilated = dilate(size, baseDilation);
  std::optional<int64_t> reach = dilate(window, windowDilation);
  int64_t padded;
  if (!dilated || !reach || llvm::AddOverflow(*dilated, low, padded) ||
      llvm::AddOverflow(padded, high, padded))
    return std::nullopt;
  if (padded <= 0 || *reach > padded)
    return 0;
  int64_t places;
  if (llvm::AddOverflow<int64_t>((padded - *reach) / stride, 1, places))
    return std::nullopt;
  return places;
}

bool WindowDim::reachesLessThan(int64_t most, int64_t places) const {
  auto isBelow = [&](int64_t count, int64_t step) {
    int64_t product;
    return !llvm::MulOverflow(count, step, product) && product < most;
  };
  return isBelow(size, baseDilation) && isBelow(window, windowDilation) &&
         isBelow(places, stride) && low > -most && low < most && high > -most &&
         high < most;
}

/// A list of the window, if it is given.
static LogicalResult verifyList(Operation *op, StringRef name,
                                std::optional<ArrayRef<int64_t>> list,
                                size_t rank) {
  if (!list)
    return success();
  if (failed(verifyCount(op, name, list->size(), rank)))
    return failure();
  for (int64_t value : *list)
    if (value < 1)
      return op->emitOpError("expected '")
             << name << "' of at least 1, got " << value;
  return success();
}

static LogicalResult verifyPadding(Operation *op,
                                   std::optional<DenseIntElementsAttr> padding,
                                   int64_t rank) {
  if (!padding)
    return success();
  ArrayRef<int64_t> shape = padding->getType().getShape();
  if (shape == ArrayRef<int64_t>({rank, 2}))
    return success();
  InFlightDiagnostic diag = op->emitOpError("expected a 'padding' of shape [")
                            << rank << ", 2], got [";
  llvm::interleaveComma(shape, diag);
  return diag << "]";
}

/// Puts the lists, which are verified, into the windows.
static void readWindow(SmallVectorImpl<WindowDim> &window,
                       std::optional<ArrayRef<int64_t>> strides,
                       std::optional<ArrayRef<int64_t>> baseDilations,
                       std::optional<ArrayRef<int64_t>> windowDilations,
                       std::optional<DenseIntElementsAttr> padding) {
  SmallVector<int64_t> edges;
  if (padding)
    edges.assign(padding->value_begin<int64_t>(),
                 padding->value_end<int64_t>());
  for (auto [d, dim] : llvm::enumerate(window)) {
    if (strides)
      dim.stride = (*strides)[d];
    if (baseDilations)
      dim.baseDilation = (*baseDilations)[d];
    if (windowDilations)
      dim.windowDilation = (*windowDilations)[d];
    if (padding) {
      dim.low = edges[2 * d];
      dim.high = edges[2 * d + 1];
    }
  }
}

/// Appends the number of places of each window.
static LogicalResult countPlaces(Operation *op, ArrayRef<WindowDim> window,
                                 SmallVectorImpl<int64_t> &counts) {
  for (auto [d, dim] : llvm::enumerate(window)) {
    std::optional<int64_t> count = dim.countPlaces();
    if (!count)
      return op->emitOpError("expected sizes below 2^63 in dim ")
             << d << " of the window, got " << dim.size << " dilated by "
             << dim.baseDilation << " and padded by " << dim.low << " and "
             << dim.high << " under " << dim.window << " dilated by "
             << dim.windowDilation;
    counts.push_back(*count);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Reduce window
//===----------------------------------------------------------------------===//

SmallVector<WindowDim> ReduceWindowOp::getWindow() {
  auto type = cast<RankedTensorType>(getInputs().front().getType());
  SmallVector<WindowDim> window(type.getRank());
  for (auto [d, dim] : llvm::enumerate(window)) {
    dim.size = type.getDimSize(d);
    dim.window = getWindowDimensions()[d];
  }
  readWindow(window, getWindowStrides(), getBaseDilations(),
             getWindowDilations(), getPadding());
  return window;
}

/// Inputs of one shape, results of `shape`; one element type in each pair.
static LogicalResult verifyWindowShapes(ReduceWindowOp op,
                                        ArrayRef<int64_t> shape,
                                        SmallVectorImpl<Type> &elements) {
  auto first = cast<RankedTensorType>(op.getInputs().front().getType());
  for (auto [input, init, result] :
       llvm::zip(op.getInputs().getTypes(), op.getInitValues().getTypes(),
                 op.getResultTypes())) {
    if (failed(verifyShape(op, "an input", input, first.getShape())) ||
        failed(verifyShape(op, "a result", result, shape)))
      return failure();
    if (!haveSameElement(input, init) || !haveSameElement(input, result))
      return op.emitOpError("expected input, init and result of one element "
                            "type, got ")
             << input << ", " << init << " and " << result;
    elements.push_back(cast<RankedTensorType>(input).getElementType());
  }
  return success();
}

LogicalResult ReduceWindowOp::verify() {
  size_t count = getInputs().size();
  if (count == 0)
    return emitOpError("expected at least 1 input, got 0");
  if (getNumResults() != count)
    return emitOpError("expected ")
           << count << (count == 1 ? " result" : " results") << ", got "
           << getNumResults();
  size_t rank = cast<RankedTensorType>(getInputs().front().getType()).getRank();
  if (failed(verifyList(*this, "window_dimensions", getWindowDimensions(),
                        rank)) ||
      failed(verifyList(*this, "window_strides", getWindowStrides(), rank)) ||
      failed(verifyList(*this, "base_dilations", getBaseDilations(), rank)) ||
      failed(
          verifyList(*this, "window_dilations", getWindowDilations(), rank)) ||
      failed(verifyPadding(*this, getPadding(), rank)))
    return failure();
  SmallVector<int64_t> shape;
  SmallVector<Type> elements;
  if (failed(countPlaces(*this, getWindow(), shape)) ||
      failed(verifyWindowShapes(*this, shape, elements)))
    return failure();
  return verifyScalarFunction(*this, getBody(), elements);
}

//===----------------------------------------------------------------------===//
// Select and scatter
//===----------------------------------------------------------------------===//

SmallVector<WindowDim> SelectAndScatterOp::getWindow() {
  RankedTensorType type = getOperand().getType();
  SmallVector<WindowDim> window(type.getRank());
  for (auto [d, dim] : llvm::enumerate(window)) {
    dim.size = type.getDimSize(d);
    dim.window = (*getWindowDimensions())[d];
  }
  readWindow(window, getWindowStrides(), {}, {}, getPadding());
  return window;
}

LogicalResult SelectAndScatterOp::verify() {
  RankedTensorType operand = getOperand().getType();
  int64_t rank = operand.getRank();
  ArrayRef<int64_t> sizes = getWindowDimensions().value_or(ArrayRef<int64_t>());
  if (failed(verifyList(*this, "window_dimensions", sizes, rank)) ||
      failed(verifyList(*this, "window_strides", getWindowStrides(), rank)) ||
      failed(verifyPadding(*this, getPadding(), rank)))
    return failure();
  SmallVector<int64_t> shape;
  if (failed(countPlaces(*this, getWindow(), shape)) ||
      failed(verifyShape(*this, "a source", getSource().getType(), shape)) ||
      failed(verifyShape(*this, "a result", getType(), operand.getShape())))
    return failure();
  for (Type type : {getSource().getType(), getInitValue().getType(), getType()})
    if (!haveSameElement(type, operand))
      return emitOpError("expected operand, source, initial value and result "
                         "of one element type, got ")
             << operand << " and " << type;
  Type element = operand.getElementType();
  if (failed(verifyScalarPredicate(*this, "selection", getSelect(), element)))
    return failure();
  return verifyScalarFunction(*this, getScatter(), element);
}

//===----------------------------------------------------------------------===//
// Convolution
//===----------------------------------------------------------------------===//

SmallVector<WindowDim> ConvolutionOp::getWindow() {
  ConvDimensionNumbersAttr dims = getDimensionNumbers();
  SmallVector<WindowDim> window(dims.getInputSpatialDimensions().size());
  std::optional<ArrayRef<bool>> reversal = getWindowReversal();
  for (auto [d, dim] : llvm::enumerate(window)) {
    dim.size =
        getLhs().getType().getDimSize(dims.getInputSpatialDimensions()[d]);
    dim.window =
        getRhs().getType().getDimSize(dims.getKernelSpatialDimensions()[d]);
    dim.isReversed = reversal && (*reversal)[d];
  }
  readWindow(window, getWindowStrides(), getLhsDilation(), getRhsDilation(),
             getPadding());
  return window;
}

/// The dimensions of one tensor: `rank` of them, each once.
static LogicalResult verifyTensorDims(ConvolutionOp op, StringRef name,
                                      int64_t first, int64_t second,
                                      ArrayRef<int64_t> spatial, int64_t rank) {
  SmallVector<int64_t> all(spatial);
  all.append({first, second});
  if (static_cast<int64_t>(all.size()) != rank)
    return op.emitOpError("expected dimensions of rank ")
           << rank << " for the " << name << ", got " << all.size();
  return verifyDistinctDims(op, (name + " dimensions").str(), all, rank);
}

static LogicalResult verifyDims(ConvolutionOp op) {
  ConvDimensionNumbersAttr dims = op.getDimensionNumbers();
  int64_t rank = op.getLhs().getType().getRank();
  for (RankedTensorType type : {op.getRhs().getType(), op.getType()})
    if (type.getRank() != rank)
      return op.emitOpError("expected a kernel and a result of rank ")
             << rank << ", as the input, got " << type;
  if (failed(verifyTensorDims(op, "input", dims.getInputBatchDimension(),
                              dims.getInputFeatureDimension(),
                              dims.getInputSpatialDimensions(), rank)) ||
      failed(verifyTensorDims(op, "kernel",
                              dims.getKernelInputFeatureDimension(),
                              dims.getKernelOutputFeatureDimension(),
                              dims.getKernelSpatialDimensions(), rank)))
    return failure();
  return verifyTensorDims(op, "output", dims.getOutputBatchDimension(),
                          dims.getOutputFeatureDimension(),
                          dims.getOutputSpatialDimensions(), rank);
}

static LogicalResult verifyLists(ConvolutionOp op) {
  size_t rank = op.getLhs().getType().getRank() - 2;
  if (failed(verifyList(op, "window_strides", op.getWindowStrides(), rank)) ||
      failed(verifyPadding(op, op.getPadding(), rank)) ||
      failed(verifyList(op, "lhs_dilation", op.getLhsDilation(), rank)) ||
      failed(verifyList(op, "rhs_dilation", op.getRhsDilation(), rank)))
    return failure();
  if (std::optional<ArrayRef<bool>> reversal = op.getWindowReversal())
    if (failed(verifyCount(op, "window_reversal", reversal->size(), rank)))
      return failure();
  auto precisions = op.getPrecisionConfig();
  return !precisions || precisions->empty()
             ? success()
             : verifyCount(op, "precision_config", precisions->size(), 2);
}

/// Groups divide the dimensions that they split, and at most one kind is used.
static LogicalResult verifyGroups(ConvolutionOp op) {
  ConvDimensionNumbersAttr dims = op.getDimensionNumbers();
  RankedTensorType lhs = op.getLhs().getType(), rhs = op.getRhs().getType();
  int64_t features = op.getFeatureGroupCount(),
          batches = op.getBatchGroupCount();
  if (features < 1 || batches < 1 || (features > 1 && batches > 1))
    return op.emitOpError("expected group counts of at least 1, one of them 1, "
                          "got ")
           << features << " of features and " << batches << " of the batch";
  auto divides = [&](StringRef what, int64_t size,
                     int64_t groups) -> LogicalResult {
    if (size % groups == 0)
      return success();
    return op.emitOpError("expected ")
           << what << " that " << groups << " groups divide, got " << size;
  };
  int64_t inputs = lhs.getDimSize(dims.getInputFeatureDimension());
  if (failed(divides("a batch", lhs.getDimSize(dims.getInputBatchDimension()),
                     batches)) ||
      failed(divides("input features", inputs, features)) ||
      failed(divides("output features",
                     rhs.getDimSize(dims.getKernelOutputFeatureDimension()),
                     features * batches)))
    return failure();
  int64_t kernel = rhs.getDimSize(dims.getKernelInputFeatureDimension());
  if (kernel != inputs / features)
    return op.emitOpError("expected a kernel of ")
           << inputs / features << " input features, got " << kernel;
  return success();
}

/// Positions of a convolution are numbers that may be added and doubled: so are
/// those of its cotangents.
static LogicalResult verifyReach(ConvolutionOp op, ArrayRef<int64_t> places) {
  for (auto [d, dim, count] : llvm::enumerate(op.getWindow(), places))
    if (!dim.reachesLessThan(WindowDim::kMostPositions, count))
      return op.emitOpError("expected less than 2^48 positions in spatial dim ")
             << d << ", got " << dim.size << " dilated by " << dim.baseDilation
             << " and padded by " << dim.low << " and " << dim.high << ", "
             << count << " places with stride " << dim.stride << " of "
             << dim.window << " dilated by " << dim.windowDilation;
  return success();
}

/// Both have floats of eight bits, of whatever kind.
static bool areSmallFloats(RankedTensorType lhs, RankedTensorType rhs) {
  return llvm::all_of(std::initializer_list<RankedTensorType>{lhs, rhs},
                      [](RankedTensorType type) {
                        return isFloatTensor(type) &&
                               type.getElementTypeBitWidth() == 8;
                      });
}

LogicalResult ConvolutionOp::verify() {
  RankedTensorType lhs = getLhs().getType(), rhs = getRhs().getType();
  if ((!haveSameElement(lhs, rhs) && !areSmallFloats(lhs, rhs)) ||
      isFloatTensor(lhs) != isFloatTensor(getType()))
    return emitOpError("expected operands of one element type, or of floats of "
                       "8 bits, and a result of floats where they are floats, "
                       "got ")
           << lhs << ", " << rhs << " and " << getType();
  if (lhs.getRank() < 2)
    return emitOpError("expected an input of rank 2 or more, got ") << lhs;
  if (failed(verifyDims(*this)) || failed(verifyLists(*this)) ||
      failed(verifyGroups(*this)))
    return failure();
  ConvDimensionNumbersAttr dims = getDimensionNumbers();
  SmallVector<int64_t> counts, shape(lhs.getRank());
  if (failed(countPlaces(*this, getWindow(), counts)) ||
      failed(verifyReach(*this, counts)))
    return failure();
  shape[dims.getOutputBatchDimension()] =
      lhs.getDimSize(dims.getInputBatchDimension()) /
      static_cast<int64_t>(getBatchGroupCount());
  shape[dims.getOutputFeatureDimension()] =
      rhs.getDimSize(dims.getKernelOutputFeatureDimension());
  for (auto [dim, count] : llvm::zip(dims.getOutputSpatialDimensions(), counts))
    shape[dim] = count;
  return verifyShape(*this, "a result", getType(), shape);
}
