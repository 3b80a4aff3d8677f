//===- BatchedMovement.cpp - Ops on values of all devices -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What all devices compute (Batching.h) of ops that are not element by element:
// numbers of dims stand behind the leading dims of the axes. A contraction
// pairs the axes along which both sides vary, as batching dims; an axis of one
// side is a free dim, so that a weight which is the same on all devices stays
// one.
//
// Test: test/EndToEnd/manual.test
//===----------------------------------------------------------------------===//

#include "../Movement.h"
#include "llmc/Dialect/StableHLO/IR/StableHLO.h"
#include "llmc/Dialect/StableHLO/Models/DeviceArrangement.h"
#include "llmc/Dialect/StableHLO/Models/Models.h"
#include "llmc/Support/Refusal.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::graph;
using namespace llmc::stablehlo;

namespace {
template <typename Model, typename Op>
using Batching = BatchingOpInterface::ExternalModel<Model, Op>;

/// The op itself, of which only the shapes change.
template <typename Op> struct SameBatching : Batching<SameBatching<Op>, Op> {
  LogicalResult buildBatched(Operation *, BatchForm &form) const {
    form.cloneAlong(form.getAxes());
    return success();
  }
};

struct BroadcastBatching : Batching<BroadcastBatching, BroadcastInDimOp> {
  LogicalResult buildBatched(Operation *, BatchForm &form) const {
    DeviceAxes axes = form.getAxes();
    auto clone = cast<BroadcastInDimOp>(form.cloneAlong(axes));
    clone.setBroadcastDimensions(
        withLeading(clone.getBroadcastDimensions(), axes.size()));
    return success();
  }
};

struct TransposeBatching : Batching<TransposeBatching, TransposeOp> {
  LogicalResult buildBatched(Operation *, BatchForm &form) const {
    DeviceAxes axes = form.getAxes();
    auto clone = cast<TransposeOp>(form.cloneAlong(axes));
    clone.setPermutation(withLeading(clone.getPermutation(), axes.size()));
    return success();
  }
};

struct ReverseBatching : Batching<ReverseBatching, ReverseOp> {
  LogicalResult buildBatched(Operation *, BatchForm &form) const {
    DeviceAxes axes = form.getAxes();
    auto clone = cast<ReverseOp>(form.cloneAlong(axes));
    clone.setDimensions(behindLeading(clone.getDimensions(), axes.size()));
    return success();
  }
};

/// `list`, which has an entry for each dim, with those of the leading dims.
SmallVector<int64_t> prepend(ArrayRef<int64_t> leading,
                             ArrayRef<int64_t> list) {
  SmallVector<int64_t> all(leading);
  llvm::append_range(all, list);
  return all;
}

struct SliceBatching : Batching<SliceBatching, SliceOp> {
  LogicalResult buildBatched(Operation *, BatchForm &form) const {
    DeviceAxes axes = form.getAxes();
    auto clone = cast<SliceOp>(form.cloneAlong(axes));
    SmallVector<int64_t> zeros(axes.size(), 0), ones(axes.size(), 1);
    clone.setStartIndices(prepend(zeros, clone.getStartIndices()));
    clone.setLimitIndices(
        prepend(form.getSizes(axes), clone.getLimitIndices()));
    clone.setStrides(prepend(ones, clone.getStrides()));
    return success();
  }
};

struct PadBatching : Batching<PadBatching, PadOp> {
  LogicalResult buildBatched(Operation *op, BatchForm &form) const {
    auto padding = form.getValue(cast<PadOp>(op).getPaddingValue());
    if (padding.varies())
      return emitRefusal(op, rt::ErrorKind::unsupported)
             << "expected padding that is the same on all devices of a manual "
                "region, got one that varies (pad with zeros, and choose by "
                "jnp.where)";
    DeviceAxes axes = form.getAxes();
    Value operand = form.getAlong(op->getOperand(0), axes);
    auto clone = cast<PadOp>(form.cloneOp({operand, padding.value}, axes));
    SmallVector<int64_t> zeros(axes.size(), 0);
    clone.setEdgePaddingLow(prepend(zeros, clone.getEdgePaddingLow()));
    clone.setEdgePaddingHigh(prepend(zeros, clone.getEdgePaddingHigh()));
    clone.setInteriorPadding(prepend(zeros, clone.getInteriorPadding()));
    return success();
  }
};

struct ConcatenateBatching : Batching<ConcatenateBatching, ConcatenateOp> {
  LogicalResult buildBatched(Operation *, BatchForm &form) const {
    DeviceAxes axes = form.getAxes();
    auto clone = cast<ConcatenateOp>(form.cloneAlong(axes));
    clone.setDimension(clone.getDimension() + axes.size());
    return success();
  }
};

struct ReduceBatching : Batching<ReduceBatching, ReduceOp> {
  LogicalResult buildBatched(Operation *op, BatchForm &form) const {
    auto reduce = cast<ReduceOp>(op);
    DeviceAxes axes = form.getAxes();
    SmallVector<Value> operands;
    for (Value input : reduce.getInputs())
      operands.push_back(form.getAlong(input, axes));
    for (Value value : reduce.getInitValues()) {
      DeviceValue init = form.getValue(value);
      if (init.varies())
        return emitRefusal(op, rt::ErrorKind::unsupported)
               << "expected a reduction that starts from the same value on all "
                  "devices of a manual region, got one that varies";
      operands.push_back(init.value);
    }
    auto clone = cast<ReduceOp>(form.cloneOp(operands, axes));
    clone.setDimensions(behindLeading(clone.getDimensions(), axes.size()));
    return success();
  }
};

/// Each value has leading dims of its own.
struct BarrierBatching : Batching<BarrierBatching, OptimizationBarrierOp> {
  LogicalResult buildBatched(Operation *op, BatchForm &form) const {
    SmallVector<Value> values;
    for (Value operand : op->getOperands()) {
      DeviceValue value = form.getValue(operand);
      values.push_back(value.value);
      form.results.push_back(value);
    }
    auto clone = OptimizationBarrierOp::create(
        form.builder, form.loc, ValueRange(values).getTypes(), values);
    for (auto [result, value] : llvm::zip(form.results, clone->getResults()))
      result.value = value;
    return success();
  }
};

struct DotBatching : Batching<DotBatching, DotGeneralOp> {
  LogicalResult buildBatched(Operation *op, BatchForm &form) const {
    DotDimensionNumbersAttr dims =
        cast<DotGeneralOp>(op).getDotDimensionNumbers();
    DeviceValue lhs = form.getValue(op->getOperand(0)),
                rhs = form.getValue(op->getOperand(1));
    DeviceAxes leftOnly = subtractAxes(lhs.axes, rhs.axes),
               rightOnly = subtractAxes(rhs.axes, lhs.axes),
               both = subtractAxes(lhs.axes, leftOnly);
    auto join = [&](const DeviceValue &side, ArrayRef<int64_t> batch) {
      return prepend(getPlaces(both, side.axes),
                     behindLeading(batch, side.axes.size()));
    };
    DeviceAxes axes = uniteAxes(lhs.axes, rhs.axes);
    auto clone = cast<DotGeneralOp>(form.cloneOp({lhs.value, rhs.value}, axes));
    clone.setDotDimensionNumbersAttr(DotDimensionNumbersAttr::get(
        op->getContext(), join(lhs, dims.getLhsBatchingDimensions()),
        join(rhs, dims.getRhsBatchingDimensions()),
        behindLeading(dims.getLhsContractingDimensions(), lhs.axes.size()),
        behindLeading(dims.getRhsContractingDimensions(), rhs.axes.size())));
    form.results.back() = orderResult(form, clone, both, leftOnly, rightOnly);
    return success();
  }

  /// The result has batching dims, those of the left side, those of the right
  /// side; axes stand at the head of each.
  static DeviceValue orderResult(BatchForm &form, DotGeneralOp clone,
                                 ArrayRef<unsigned> both,
                                 ArrayRef<unsigned> left,
                                 ArrayRef<unsigned> right) {
    auto op = cast<DotGeneralOp>(form.op);
    DotDimensionNumbersAttr dims = op.getDotDimensionNumbers();
    int64_t batch = dims.getLhsBatchingDimensions().size();
    int64_t free = typeOf(op.getLhs()).getRank() - batch -
                   dims.getLhsContractingDimensions().size();
    SmallVector<DeviceDim> order;
    auto addAxes = [&](ArrayRef<unsigned> axes) {
      for (unsigned axis : axes)
        order.push_back(DeviceDim::ofAxis(axis));
    };
    int64_t next = 0;
    auto addDims = [&](int64_t count) {
      for (int64_t end = next + count; next < end; ++next)
        order.push_back(DeviceDim::ofDim(next));
    };
    addAxes(both);
    addDims(batch);
    addAxes(left);
    addDims(free);
    addAxes(right);
    addDims(op.getType().getRank() - next);
    SmallVector<int64_t> shape;
    for (DeviceDim dim : order)
      shape.push_back(dim.isAxis ? form.mesh[dim.number]
                                 : op.getType().getDimSize(dim.number));
    clone.getResult().setType(clone.getType().clone(shape));
    return arrange(form, clone, op.getType().getShape(), order);
  }
};
} // namespace

void stablehlo::registerBatchedMovement(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, StableHLODialect *) {
    ReshapeOp::attachInterface<SameBatching<ReshapeOp>>(*context);
    BitcastConvertOp::attachInterface<SameBatching<BitcastConvertOp>>(*context);
    BroadcastInDimOp::attachInterface<BroadcastBatching>(*context);
    TransposeOp::attachInterface<TransposeBatching>(*context);
    ReverseOp::attachInterface<ReverseBatching>(*context);
    SliceOp::attachInterface<SliceBatching>(*context);
    PadOp::attachInterface<PadBatching>(*context);
    ConcatenateOp::attachInterface<ConcatenateBatching>(*context);
    ReduceOp::attachInterface<ReduceBatching>(*context);
    OptimizationBarrierOp::attachInterface<BarrierBatching>(*context);
    DotGeneralOp::attachInterface<DotBatching>(*context);
  });
}
