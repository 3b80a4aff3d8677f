//===- BatchedIndexing.cpp - Indexing on values of all devices ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What all devices compute (Batching.h) of gather, scatter, dynamic_slice and
// dynamic_update_slice. An axis along which the indices vary is a batching dim
// of both tensors where the operand varies too, else one more dim of positions;
// an axis of the operand alone is a whole window dim. Boxes whose starts vary
// are gathered and scattered:
//
//   dynamic_slice %x, %i, sizes = [4]     %i varies along an axis of 2
//     ->
//   gather %x, %i[2x1], window 4          2x4
//
// Test: test/EndToEnd/manual.test
//===----------------------------------------------------------------------===//

#include "../Movement.h"
#include "llmc/Dialect/Graph/IR/Batching.h"
#include "llmc/Dialect/StableHLO/IR/Builders.h"
#include "llmc/Dialect/StableHLO/Models/Models.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::graph;
using namespace llmc::stablehlo;

namespace {
template <typename Model, typename Op>
using Batching = BatchingOpInterface::ExternalModel<Model, Op>;

SmallVector<int64_t> join(ArrayRef<int64_t> leading, ArrayRef<int64_t> list) {
  SmallVector<int64_t> all(leading);
  llvm::append_range(all, list);
  return all;
}

/// The axes of a gather or scatter: those of the indices, and those that only
/// the other tensors have, whose dims are whole windows.
struct IndexedAxes {
  DeviceAxes all, ofIndices, ofWindow;

  IndexedAxes(DeviceAxes all, DeviceAxes ofIndices)
      : all(all), ofIndices(ofIndices), ofWindow(subtractAxes(all, ofIndices)) {
  }
};

//===----------------------------------------------------------------------===//
// gather and scatter
//===----------------------------------------------------------------------===//

/// A gather of one device, on values of all.
DeviceValue gatherAlong(BatchForm &form, const DeviceValue &operand,
                        const DeviceValue &indices, Type ofDevice,
                        GatherDimensionNumbersAttr dims,
                        ArrayRef<int64_t> sizes, bool isSorted) {
  IndexedAxes axes(uniteAxes(operand.axes, indices.axes), indices.axes);
  DeviceAxes batch = subtractAxes(operand.axes, axes.ofWindow);
  int64_t n = axes.all.size(), ofOperand = operand.axes.size(),
          ofIndices = indices.axes.size();
  auto numbers = GatherDimensionNumbersAttr::get(
      form.builder.getContext(),
      join(getPlaces(axes.ofWindow, axes.all),
           behindLeading(dims.getOffsetDims(), n)),
      behindLeading(dims.getCollapsedSliceDims(), ofOperand),
      join(getPlaces(batch, operand.axes),
           behindLeading(dims.getOperandBatchingDims(), ofOperand)),
      join(getPlaces(batch, indices.axes),
           behindLeading(dims.getStartIndicesBatchingDims(), ofIndices)),
      behindLeading(dims.getStartIndexMap(), ofOperand),
      dims.getIndexVectorDim() + ofIndices);
  SmallVector<int64_t> window;
  for (unsigned axis : operand.axes)
    window.push_back(llvm::is_contained(batch, axis) ? 1 : form.mesh[axis]);
  Value result =
      gather(form.builder, form.loc, form.getType(ofDevice, axes.all),
             operand.value, indices.value, numbers, join(window, sizes),
             isSorted && !indices.varies());
  return {result, axes.all};
}

struct GatherBatching : Batching<GatherBatching, GatherOp> {
  LogicalResult buildBatched(Operation *op, BatchForm &form) const {
    auto gather = cast<GatherOp>(op);
    form.results.push_back(
        gatherAlong(form, form.getValue(gather.getOperand()),
                    form.getValue(gather.getStartIndices()), gather.getType(),
                    gather.getDimensionNumbers(), gather.getSliceSizes(),
                    gather.getIndicesAreSorted()));
    return success();
  }
};

/// The numbers of a scatter of one device, on values of all.
ScatterDimensionNumbersAttr alongAxes(ScatterDimensionNumbersAttr dims,
                                      const IndexedAxes &axes) {
  int64_t n = axes.all.size(), ofIndices = axes.ofIndices.size();
  return ScatterDimensionNumbersAttr::get(
      dims.getContext(),
      join(getPlaces(axes.ofWindow, axes.all),
           behindLeading(dims.getUpdateWindowDims(), n)),
      behindLeading(dims.getInsertedWindowDims(), n),
      join(getPlaces(axes.ofIndices, axes.all),
           behindLeading(dims.getInputBatchingDims(), n)),
      withLeading(dims.getScatterIndicesBatchingDims(), ofIndices),
      behindLeading(dims.getScatterDimsToOperandDims(), n),
      dims.getIndexVectorDim() + ofIndices);
}

struct ScatterBatching : Batching<ScatterBatching, ScatterOp> {
  LogicalResult buildBatched(Operation *op, BatchForm &form) const {
    auto scatter = cast<ScatterOp>(op);
    DeviceValue indices = form.getValue(scatter.getScatterIndices());
    IndexedAxes axes(form.getAxes(), indices.axes);
    SmallVector<Value> operands;
    for (Value input : scatter.getInputs())
      operands.push_back(form.getAlong(input, axes.all));
    operands.push_back(indices.value);
    for (Value update : scatter.getUpdates())
      operands.push_back(form.getAlong(update, axes.all));
    auto clone = cast<ScatterOp>(form.cloneOp(operands, axes.all));
    clone.setScatterDimensionNumbersAttr(
        alongAxes(scatter.getScatterDimensionNumbers(), axes));
    if (indices.varies())
      clone.setIndicesAreSorted(false);
    return success();
  }
};

//===----------------------------------------------------------------------===//
// Boxes at run-time positions
//===----------------------------------------------------------------------===//

/// A box in a tensor: the dims along which it is smaller, the starts there, and
/// the greatest starts for which it fits.
struct Box {
  SmallVector<int64_t> dims, lasts;
  SmallVector<Value> starts;

  Box(ValueRange all, ArrayRef<int64_t> whole, ArrayRef<int64_t> box) {
    for (auto [d, start] : llvm::enumerate(all))
      if (whole[d] != box[d]) {
        dims.push_back(d);
        starts.push_back(start);
        lasts.push_back(whole[d] - box[d]);
      }
  }
};

/// The axes along which some start varies.
DeviceAxes getAxesOf(BatchForm &form, ValueRange starts) {
  DeviceAxes axes;
  for (Value start : starts)
    axes = uniteAxes(axes, form.getValue(start).axes);
  return axes;
}

/// The starts as one vector of indices, limited so that the box fits if wanted.
DeviceValue buildIndices(BatchForm &form, const Box &box, bool isLimited) {
  OpBuilder &b = form.builder;
  Type wide = b.getI64Type();
  DeviceAxes axes = getAxesOf(form, box.starts);
  SmallVector<int64_t> shape = form.getSizes(axes);
  shape.push_back(1);
  SmallVector<Value> parts;
  for (auto [start, last] : llvm::zip(box.starts, box.lasts)) {
    Value value = form.getAlong(start, axes);
    // What i64 cannot hold lies beyond the last one.
    if (typeOf(value).getElementType().isUnsignedInteger(64))
      value = MinOp::create(b, form.loc, value,
                            constantLike(b, form.loc, value, last));
    value = convertTo(b, form.loc, value, wide);
    if (isLimited)
      value = ClampOp::create(b, form.loc, scalar(b, form.loc, wide, 0), value,
                              scalar(b, form.loc, wide, last));
    parts.push_back(reshape(b, form.loc, value, shape));
  }
  return {concatenate(b, form.loc, parts, axes.size()), axes};
}

/// Starts with those of `count` leading dims, which are whole, as others are
/// that the box does not have.
SmallVector<Value> addStarts(BatchForm &form, const Box &box, int64_t rank,
                             int64_t count) {
  Type element = typeOf(box.starts.front()).getElementType();
  SmallVector<Value> all(count + rank,
                         scalar(form.builder, form.loc, element, 0));
  for (auto [d, start] : llvm::zip(box.dims, box.starts))
    all[count + d] = form.getValue(start).value;
  return all;
}

struct DynamicSliceBatching : Batching<DynamicSliceBatching, DynamicSliceOp> {
  LogicalResult buildBatched(Operation *op, BatchForm &form) const {
    auto slice = cast<DynamicSliceOp>(op);
    ArrayRef<int64_t> sizes = slice.getSliceSizes();
    DeviceValue operand = form.getValue(slice.getOperand());
    Box box(slice.getStartIndices(), typeOf(slice.getOperand()).getShape(),
            sizes);
    if (box.dims.empty()) {
      form.results.push_back(operand);
    } else if (getAxesOf(form, box.starts).empty()) {
      SmallVector<int64_t> all = form.getSizes(operand.axes);
      llvm::append_range(all, sizes);
      Value result = DynamicSliceOp::create(
          form.builder, form.loc, operand.value,
          addStarts(form, box, sizes.size(), operand.axes.size()), all);
      form.results.push_back({result, operand.axes});
    } else {
      auto window = llvm::to_vector(llvm::seq<int64_t>(0, sizes.size()));
      auto dims = GatherDimensionNumbersAttr::get(op->getContext(), window, {},
                                                  {}, {}, box.dims, 0);
      form.results.push_back(gatherAlong(
          form, operand, buildIndices(form, box, /*isLimited=*/false),
          slice.getType(), dims, sizes, /*isSorted=*/false));
    }
    return success();
  }
};

struct DynamicUpdateSliceBatching
    : Batching<DynamicUpdateSliceBatching, DynamicUpdateSliceOp> {
  LogicalResult buildBatched(Operation *op, BatchForm &form) const {
    auto write = cast<DynamicUpdateSliceOp>(op);
    ArrayRef<int64_t> whole = write.getType().getShape(),
                      size = typeOf(write.getUpdate()).getShape();
    Box box(write.getStartIndices(), whole, size);
    if (box.dims.empty()) {
      form.results.push_back(form.getValue(write.getUpdate()));
      return success();
    }
    DeviceAxes starts = getAxesOf(form, box.starts);
    IndexedAxes axes(uniteAxes(uniteAxes(form.getValue(write.getOperand()).axes,
                                         form.getValue(write.getUpdate()).axes),
                               starts),
                     starts);
    Value operand = form.getAlong(write.getOperand(), axes.all),
          update = form.getAlong(write.getUpdate(), axes.all);
    Value result = starts.empty()
                       ? DynamicUpdateSliceOp::create(
                             form.builder, form.loc, operand, update,
                             addStarts(form, box, size.size(), axes.all.size()))
                             .getResult()
                       : assign(form, operand, update, box, axes);
    form.results.push_back({result, axes.all});
    return success();
  }

  /// Each device writes one box, which fits.
  static Value assign(BatchForm &form, Value operand, Value update,
                      const Box &box, const IndexedAxes &axes) {
    OpBuilder &b = form.builder;
    int64_t rank = typeOf(operand).getRank() - axes.all.size();
    auto window = llvm::to_vector(llvm::seq<int64_t>(0, rank));
    auto dims = ScatterDimensionNumbersAttr::get(b.getContext(), window, {}, {},
                                                 {}, box.dims, 0);
    DeviceValue indices = buildIndices(form, box, /*isLimited=*/true);
    auto scatter = ScatterOp::create(b, form.loc, TypeRange{operand.getType()},
                                     ValueRange{operand}, indices.value,
                                     ValueRange{update}, alongAxes(dims, axes),
                                     b.getBoolAttr(false), b.getBoolAttr(true));
    Type element = RankedTensorType::get({}, typeOf(operand).getElementType());
    OpBuilder::InsertionGuard guard(b);
    Block *body = b.createBlock(&scatter.getUpdateComputation(), {},
                                {element, element}, {form.loc, form.loc});
    ReturnOp::create(b, form.loc, ValueRange{body->getArgument(1)});
    return scatter.getResult().front();
  }
};
} // namespace

void stablehlo::registerBatchedIndexing(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, StableHLODialect *) {
    GatherOp::attachInterface<GatherBatching>(*context);
    ScatterOp::attachInterface<ScatterBatching>(*context);
    DynamicSliceOp::attachInterface<DynamicSliceBatching>(*context);
    DynamicUpdateSliceOp::attachInterface<DynamicUpdateSliceBatching>(*context);
  });
}
