//===- BatchedConvolution.cpp - Convolutions on values of all devices -----===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What all devices compute (Batching.h) of a convolution, with the letters of
// Convolution.cpp. An axis along which the input alone varies is one of more
// samples, one of the kernel alone of more output features, and one of both of
// more groups:
//
//   input    [p b, q g i, x]     p: axes of the input alone, q: of both,
//   kernel   [i, q g r o, k]     r: of the kernel alone
//   result   [p b, q g r o, y]
//
// Groups of samples stand where groups of features do not: [q g p b, i, x].
//
// Test: test/EndToEnd/manual.test
//===----------------------------------------------------------------------===//

#include "../Movement.h"
#include "Convolution.h"
#include "llmc/Dialect/Graph/IR/Batching.h"
#include "llmc/Dialect/StableHLO/IR/Builders.h"
#include "llmc/Dialect/StableHLO/Models/DeviceArrangement.h"
#include "llmc/Dialect/StableHLO/Models/Models.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::graph;
using namespace llmc::stablehlo;

namespace {
using Parts = SmallVector<DeviceDim>;

/// A group's number and what is left, as parts of a dim.
constexpr int64_t kGroup = 0;

/// The convolution of all devices, on its way.
class DeviceConvolution {
public:
  DeviceConvolution(BatchForm &form, ConvolutionOp op)
      : form(form), op(op), parts(op), input(form.getValue(op.getLhs())),
        kernel(form.getValue(op.getRhs())),
        ofInput(subtractAxes(input.axes, kernel.axes)),
        ofKernel(subtractAxes(kernel.axes, input.axes)),
        ofBoth(subtractAxes(input.axes, ofInput)) {}

  DeviceValue build();

private:
  Parts describe(int64_t dim, ArrayRef<DeviceAxes> axes, bool isGrouped) const;
  Value compose(const DeviceValue &value, Value ofDevice,
                ArrayRef<Parts> dims) const;
  DeviceValue decompose(Value result, ArrayRef<Parts> dims);
  int64_t getSize(DeviceDim part, RankedTensorType ofDevice,
                  bool isGrouped) const;

  BatchForm &form;
  ConvolutionOp op;
  ConvolutionParts parts;
  DeviceValue input, kernel;
  DeviceAxes ofInput, ofKernel, ofBoth;
};
} // namespace

/// Of a dim, major to minor: the axes `axes[0]`, the groups, the axes
/// `axes[1]`, the rest.
Parts DeviceConvolution::describe(int64_t dim, ArrayRef<DeviceAxes> axes,
                                  bool isGrouped) const {
  Parts list;
  for (unsigned axis : axes[0])
    list.push_back(DeviceDim::ofAxis(axis));
  if (isGrouped)
    list.push_back(DeviceDim::ofPart(dim, kGroup));
  for (unsigned axis : axes[1])
    list.push_back(DeviceDim::ofAxis(axis));
  list.push_back(DeviceDim::ofDim(dim));
  return list;
}

int64_t DeviceConvolution::getSize(DeviceDim part, RankedTensorType ofDevice,
                                   bool isGrouped) const {
  if (part.isAxis)
    return form.mesh[part.number];
  if (part.part == kGroup)
    return parts.groups;
  int64_t size = ofDevice.getDimSize(part.number);
  return isGrouped ? size / parts.groups : size;
}

static bool isGrouped(ArrayRef<DeviceDim> parts) {
  return llvm::any_of(parts, [](DeviceDim part) {
    return !part.isAxis && part.part == kGroup;
  });
}

/// A tensor whose dims are made of parts, from axes ahead of dims.
Value DeviceConvolution::compose(const DeviceValue &value, Value ofDevice,
                                 ArrayRef<Parts> dims) const {
  RankedTensorType type = typeOf(ofDevice);
  Parts have;
  SmallVector<int64_t> split, order, shape;
  for (unsigned axis : value.axes)
    have.push_back(DeviceDim::ofAxis(axis));
  for (const Parts &list : dims)
    llvm::copy_if(list, std::back_inserter(have),
                  [](DeviceDim part) { return !part.isAxis; });
  auto sizeOf = [&](DeviceDim part) {
    return getSize(part, type, !part.isAxis && isGrouped(dims[part.number]));
  };
  for (DeviceDim part : have)
    split.push_back(sizeOf(part));
  for (const Parts &list : dims) {
    int64_t size = 1;
    for (DeviceDim part : list) {
      order.push_back(llvm::find(have, part) - have.begin());
      size *= sizeOf(part);
    }
    shape.push_back(size);
  }
  Value x = reshape(form.builder, form.loc, value.value, split);
  x = transpose(form.builder, form.loc, x, order);
  return reshape(form.builder, form.loc, x, shape);
}

/// The other way round.
DeviceValue DeviceConvolution::decompose(Value result, ArrayRef<Parts> dims) {
  RankedTensorType type = op.getType();
  Parts all;
  SmallVector<int64_t> split;
  for (const Parts &list : dims)
    for (DeviceDim part : list) {
      all.push_back(part);
      split.push_back(getSize(part, type, isGrouped(list)));
    }
  return arrange(form, reshape(form.builder, form.loc, result, split),
                 type.getShape(), all);
}

DeviceValue DeviceConvolution::build() {
  bool hasGroups = parts.groups > 1;
  auto list = [&](int64_t rank) {
    SmallVector<Parts> dims;
    for (int64_t d = 0; d < rank; ++d)
      dims.push_back({DeviceDim::ofDim(d)});
    return dims;
  };
  int64_t rank = op.getType().getRank();
  SmallVector<Parts> x = list(rank), k = list(rank), y = list(rank);
  bool ofSamples = parts.groupsBatch;
  DeviceAxes none;
  x[parts.input.first] = describe(
      parts.input.first, {ofSamples ? ofBoth : none, ofInput}, ofSamples);
  x[parts.input.second] =
      describe(parts.input.second, {ofSamples ? none : ofBoth, none},
               hasGroups && !ofSamples);
  k[parts.kernel.second] =
      describe(parts.kernel.second, {ofBoth, ofKernel}, hasGroups);
  y[parts.output.first] = describe(parts.output.first, {none, ofInput}, false);
  y[parts.output.second] =
      describe(parts.output.second, {ofBoth, ofKernel}, hasGroups);
  SmallVector<int64_t> shape;
  for (const Parts &dim : y) {
    int64_t size = 1;
    for (DeviceDim part : dim)
      size *= getSize(part, op.getType(), isGrouped(dim));
    shape.push_back(size);
  }
  int64_t times = 1;
  for (unsigned axis : ofBoth)
    times *= form.mesh[axis];
  Value operands[] = {compose(input, op.getLhs(), x),
                      compose(kernel, op.getRhs(), k)};
  auto clone = cast<ConvolutionOp>(form.cloneOp(operands, none));
  form.results.pop_back();
  clone.getResult().setType(op.getType().clone(shape));
  if (ofSamples)
    clone.setBatchGroupCount(op.getBatchGroupCount() * times);
  else
    clone.setFeatureGroupCount(op.getFeatureGroupCount() * times);
  return decompose(clone, y);
}

namespace {
struct ConvolutionBatching
    : BatchingOpInterface::ExternalModel<ConvolutionBatching, ConvolutionOp> {
  LogicalResult buildBatched(Operation *op, BatchForm &form) const {
    form.results.push_back(
        DeviceConvolution(form, cast<ConvolutionOp>(op)).build());
    return success();
  }
};
} // namespace

void stablehlo::registerBatchedConvolution(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, StableHLODialect *) {
    ConvolutionOp::attachInterface<ConvolutionBatching>(*context);
  });
}
