//===- ConvolutionDerivative.cpp - Cotangents by convolutions -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The derivation stands in Convolution.cpp.
//
// Test: test/Dialect/StableHLO/Models/ConvolutionTest.cpp
//===----------------------------------------------------------------------===//

#include "../Movement.h"
#include "Contraction.h"
#include "Convolution.h"
#include "llmc/Dialect/StableHLO/IR/Builders.h"
#include "llmc/Support/Refusal.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::graph;
using namespace llmc::stablehlo;

namespace {
ConvDimensionNumbersAttr makeNumbers(MLIRContext *context,
                                     const TensorDims &input,
                                     const TensorDims &kernel,
                                     const TensorDims &output) {
  return ConvDimensionNumbersAttr::get(
      context, input.first, input.second, input.spatial, kernel.first,
      kernel.second, kernel.spatial, output.first, output.second,
      output.spatial);
}

/// (size - 1) dilation + 1.
int64_t dilate(int64_t size, int64_t dilation) {
  return (size - 1) * dilation + 1;
}

/// Dimension `from` is groups of what stays; they become the major part of
/// dimension `to`.
Value moveGroups(OpBuilder &b, Location loc, Value x, int64_t from, int64_t to,
                 int64_t groups) {
  if (groups == 1)
    return x;
  SmallVector<int64_t> shape(typeOf(x).getShape());
  shape[from] /= groups;
  SmallVector<int64_t> moved = shape;
  moved[to] *= groups;
  shape.insert(shape.begin() + from, groups);
  auto order = llvm::to_vector(llvm::seq<int64_t>(0, shape.size()));
  order.erase(order.begin() + from);
  order.insert(order.begin() + to, from);
  x = transpose(b, loc, reshape(b, loc, x, shape), order);
  return reshape(b, loc, x, moved);
}

class ConvolutionDerivative {
public:
  ConvolutionDerivative(ConvolutionOp op, DerivativeCall &call)
      : op(op), b(call.builder), loc(call.loc), parts(op),
        lhs(op.getLhs().getType()), rhs(op.getRhs().getType()) {
    element = getCommonType(typeOf(call.cotangents[0]).getElementType(),
                            lhs.getElementType());
    cotangent = convertTo(b, loc, call.cotangents[0], element);
  }

  FailureOr<Value> buildInput();
  FailureOr<Value> buildKernel();

private:
  LogicalResult checkEdges(ArrayRef<WindowDim> window);
  Value convolve(Value left, Value right, ArrayRef<int64_t> shape,
                 ArrayRef<WindowDim> window, ConvDimensionNumbersAttr numbers,
                 int64_t featureGroups, int64_t batchGroups);

  ConvolutionOp op;
  OpBuilder &b;
  Location loc;
  ConvolutionParts parts;
  RankedTensorType lhs, rhs;
  /// Has the values of the cotangent and of both operands.
  Type element;
  Value cotangent;
};

Value ConvolutionDerivative::convolve(Value left, Value right,
                                      ArrayRef<int64_t> shape,
                                      ArrayRef<WindowDim> window,
                                      ConvDimensionNumbersAttr numbers,
                                      int64_t featureGroups,
                                      int64_t batchGroups) {
  SmallVector<int64_t> strides, padding, lhsDilation, rhsDilation;
  SmallVector<bool> reversal;
  for (const WindowDim &dim : window) {
    strides.push_back(dim.stride);
    padding.append({dim.low, dim.high});
    lhsDilation.push_back(dim.baseDilation);
    rhsDilation.push_back(dim.windowDilation);
    reversal.push_back(dim.isReversed);
  }
  DenseIntElementsAttr edges;
  if (!window.empty())
    edges = DenseIntElementsAttr::get(
        RankedTensorType::get({static_cast<int64_t>(window.size()), 2},
                              b.getI64Type()),
        padding);
  return ConvolutionOp::create(
      b, loc, RankedTensorType::get(shape, element), left, right,
      b.getDenseI64ArrayAttr(strides), edges,
      b.getDenseI64ArrayAttr(lhsDilation), b.getDenseI64ArrayAttr(rhsDilation),
      b.getDenseBoolArrayAttr(reversal), numbers,
      b.getI64IntegerAttr(featureGroups), b.getI64IntegerAttr(batchGroups),
      op.getPrecisionConfigAttr());
}

/// Edges of cotangents are as far away as the sums of those of the op.
LogicalResult ConvolutionDerivative::checkEdges(ArrayRef<WindowDim> window) {
  for (const WindowDim &dim : window)
    for (int64_t edge : {dim.low, dim.high})
      if (edge <= -WindowDim::kMostPositions ||
          edge >= WindowDim::kMostPositions)
        return emitRefusal(op, rt::ErrorKind::unsupported)
               << "expected a convolution whose cotangents have edges of less "
                  "than 2^48 positions, got "
               << edge;
  return success();
}

FailureOr<Value> ConvolutionDerivative::buildInput() {
  SmallVector<WindowDim> window = parts.window;
  for (auto [dim, places] : llvm::zip_equal(window, parts.places)) {
    int64_t reach = dilate(dim.window, dim.windowDilation),
            end = dim.baseDilation * (dim.size - 1) + reach;
    std::swap(dim.stride, dim.baseDilation);
    dim.low = reach - 1 - dim.low;
    dim.high = end - dilate(places, dim.baseDilation) - dim.low;
    dim.isReversed = !dim.isReversed;
  }
  if (failed(checkEdges(window)))
    return failure();
  Value kernel = convertTo(b, loc, op.getRhs(), element);
  kernel = moveGroups(b, loc, kernel, parts.kernel.second, parts.kernel.first,
                      parts.groups);
  TensorDims exchanged = parts.kernel;
  std::swap(exchanged.first, exchanged.second);
  SmallVector<int64_t> shape(lhs.getShape());
  shape[parts.input.first] = parts.samples;
  shape[parts.input.second] = parts.groups * parts.inputs;
  Value result = convolve(
      cotangent, kernel, shape, window,
      makeNumbers(op.getContext(), parts.output, exchanged, parts.input),
      parts.groups, 1);
  if (parts.groupsBatch)
    result = moveGroups(b, loc, result, parts.input.second, parts.input.first,
                        parts.groups);
  return convertTo(b, loc, result, lhs.getElementType());
}

FailureOr<Value> ConvolutionDerivative::buildKernel() {
  SmallVector<WindowDim> window = parts.window;
  SmallVector<int64_t> reversed;
  for (auto [at, dim] : llvm::enumerate(window)) {
    int64_t end = dim.windowDilation * (dim.window - 1) +
                  dilate(parts.places[at], dim.stride);
    std::swap(dim.stride, dim.windowDilation);
    dim.high = end - dilate(dim.size, dim.baseDilation) - dim.low;
    if (dim.isReversed && dim.window > 1)
      reversed.push_back(parts.kernel.spatial[at]);
    dim.isReversed = false;
  }
  if (failed(checkEdges(window)))
    return failure();
  TensorDims exchanged = parts.input;
  std::swap(exchanged.first, exchanged.second);
  Value result = convolve(
      convertTo(b, loc, op.getLhs(), element), cotangent, rhs.getShape(),
      window,
      makeNumbers(op.getContext(), exchanged, parts.output, parts.kernel),
      parts.groupsBatch ? parts.groups : 1,
      parts.groupsBatch ? 1 : parts.groups);
  if (!reversed.empty())
    result = reverse(b, loc, result, reversed);
  return convertTo(b, loc, result, rhs.getElementType());
}

} // namespace

LogicalResult stablehlo::deriveConvolution(ConvolutionOp op,
                                           DerivativeCall &call) {
  ConvolutionDerivative derivative(op, call);
  for (unsigned operand : {0, 1}) {
    if (!call.needed[operand])
      continue;
    FailureOr<Value> gradient =
        operand == 0 ? derivative.buildInput() : derivative.buildKernel();
    if (failed(gradient))
      return failure();
    call.gradients[operand] = *gradient;
  }
  return success();
}
