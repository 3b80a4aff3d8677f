//===- KnownParts.cpp - Parts of what was put together --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   (concatenate %a, %b)[3:7]    ->  concatenate %a[3:4], %b[0:3]
//   (pad %x, %v, low = [2])[3:5] ->  %x[1:3]
//   (slice %x [4:8])[1:3]        ->  %x[5:7]
//   (reverse %x)[0:3]            ->  reverse %x[5:8], of 8
//   (transpose %x)[:, 1:3]       ->  transpose %x[1:3]
//   (reshape %x : 4x6 -> 4x2x3)[1:3]  ->  reshape %x[1:3]
//
// Test: test/Transforms/Training/split-contractions.mlir
//===----------------------------------------------------------------------===//

#include "llmc/Dialect/Graph/IR/Parts.h"
#include "llmc/Dialect/StableHLO/IR/Builders.h"
#include "llmc/Dialect/StableHLO/Models/Models.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::graph;
using namespace llmc::stablehlo;

static int64_t getSize(Value value, int64_t dim) {
  return cast<RankedTensorType>(value.getType()).getDimSize(dim);
}

static bool isPadded(PadOp pad, int64_t dim) {
  return pad.getEdgePaddingLow()[dim] || pad.getEdgePaddingHigh()[dim] ||
         pad.getInteriorPadding()[dim];
}

namespace {
template <typename Model, typename Known>
using PartModel = PartOpInterface::ExternalModel<Model, Known>;

struct ConcatenatePart : PartModel<ConcatenatePart, ConcatenateOp> {
  Value buildPart(Operation *op, OpBuilder &builder, DimRange range,
                  PartOf partOf) const {
    if (static_cast<int64_t>(cast<ConcatenateOp>(op).getDimension()) !=
        range.dim)
      return {};
    SmallVector<Value> parts;
    int64_t begin = 0;
    for (Value operand : op->getOperands()) {
      int64_t size = getSize(operand, range.dim);
      DimRange here{range.dim, std::max<int64_t>(range.begin - begin, 0),
                    std::min(range.end - begin, size)};
      if (here.begin < here.end)
        parts.push_back(partOf(operand, here));
      begin += size;
    }
    return parts.size() == 1
               ? parts.front()
               : concatenate(builder, op->getLoc(), parts, range.dim);
  }
};

/// A part that has the operand alone, or the padding alone.
struct PadPart : PartModel<PadPart, PadOp> {
  Value buildPart(Operation *op, OpBuilder &builder, DimRange range,
                  PartOf partOf) const {
    auto pad = cast<PadOp>(op);
    auto [dim, begin, end] = range;
    if (pad.getInteriorPadding()[dim] != 0)
      return {};
    int64_t low = pad.getEdgePaddingLow()[dim];
    int64_t high = low + getSize(pad.getOperand(), dim);
    bool others = false;
    for (int64_t d = 0; d < pad.getType().getRank(); ++d)
      others |= d != dim && isPadded(pad, d);
    if (!others && begin >= low && end <= high)
      return partOf(pad.getOperand(), {dim, begin - low, end - low});
    DenseElementsAttr element;
    bool isOutside = end <= low || begin >= high;
    if (!isOutside ||
        !matchPattern(pad.getPaddingValue(), m_Constant(&element)))
      return {};
    SmallVector<int64_t> shape(pad.getType().getShape());
    shape[dim] = end - begin;
    return ConstantOp::create(
        builder, op->getLoc(),
        cast<ElementsAttr>(element.resizeSplat(pad.getType().clone(shape))));
  }
};

/// The part of its operand that lies opposite, reversed.
struct ReversePart : PartModel<ReversePart, ReverseOp> {
  Value buildPart(Operation *op, OpBuilder &builder, DimRange range,
                  PartOf partOf) const {
    auto reverse = cast<ReverseOp>(op);
    int64_t size = getSize(reverse.getResult(), range.dim);
    if (llvm::is_contained(reverse.getDimensions(), range.dim))
      range = {range.dim, size - range.end, size - range.begin};
    return stablehlo::reverse(builder, op->getLoc(),
                              partOf(reverse.getOperand(), range),
                              reverse.getDimensions());
  }
};

/// A part of its operand along the dimension that comes here.
struct TransposePart : PartModel<TransposePart, TransposeOp> {
  Value buildPart(Operation *op, OpBuilder &builder, DimRange range,
                  PartOf partOf) const {
    auto transpose = cast<TransposeOp>(op);
    int64_t from = transpose.getPermutation()[range.dim];
    Value part = partOf(transpose.getOperand(), {from, range.begin, range.end});
    return stablehlo::transpose(builder, op->getLoc(), part,
                                transpose.getPermutation());
  }
};

/// A part along a dimension that the operand has too.
struct ReshapePart : PartModel<ReshapePart, ReshapeOp> {
  Value buildPart(Operation *op, OpBuilder &builder, DimRange range,
                  PartOf partOf) const {
    auto from = cast<RankedTensorType>(op->getOperand(0).getType());
    SmallVector<int64_t> shape(cast<ReshapeOp>(op).getType().getShape());
    int64_t before = 1, dim = 0;
    for (int64_t size : ArrayRef(shape).take_front(range.dim))
      before *= size;
    for (; dim < from.getRank() && before > 1; ++dim) {
      if (from.getDimSize(dim) == 0 || before % from.getDimSize(dim) != 0)
        return {};
      before /= from.getDimSize(dim);
    }
    while (dim < from.getRank() && from.getDimSize(dim) == 1)
      ++dim;
    if (before != 1 || dim == from.getRank() ||
        from.getDimSize(dim) != shape[range.dim])
      return {};
    shape[range.dim] = range.getSize();
    Value part = partOf(op->getOperand(0), {dim, range.begin, range.end});
    return stablehlo::reshape(builder, op->getLoc(), part, shape);
  }
};

/// A part of its operand, cut in the other dimensions as before.
struct SlicePart : PartModel<SlicePart, SliceOp> {
  Value buildPart(Operation *op, OpBuilder &builder, DimRange range,
                  PartOf partOf) const {
    auto slice = cast<SliceOp>(op);
    if (slice.getStrides()[range.dim] != 1)
      return {};
    SmallVector<int64_t> starts(slice.getStartIndices());
    SmallVector<int64_t> limits(slice.getLimitIndices());
    int64_t start = starts[range.dim];
    Value part = partOf(slice.getOperand(),
                        {range.dim, start + range.begin, start + range.end});
    starts[range.dim] = 0;
    limits[range.dim] = range.getSize();
    if (isWholeDense(part, starts, limits, slice.getStrides()))
      return part;
    return stablehlo::slice(builder, op->getLoc(), part, starts, limits,
                            slice.getStrides());
  }

private:
  static bool isWholeDense(Value value, ArrayRef<int64_t> starts,
                           ArrayRef<int64_t> limits,
                           ArrayRef<int64_t> strides) {
    return llvm::all_of(starts, [](int64_t s) { return s == 0; }) &&
           limits == cast<RankedTensorType>(value.getType()).getShape() &&
           llvm::all_of(strides, [](int64_t s) { return s == 1; });
  }
};
} // namespace

void stablehlo::registerKnownParts(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, StableHLODialect *) {
    ConcatenateOp::attachInterface<ConcatenatePart>(*context);
    PadOp::attachInterface<PadPart>(*context);
    ReverseOp::attachInterface<ReversePart>(*context);
    TransposeOp::attachInterface<TransposePart>(*context);
    ReshapeOp::attachInterface<ReshapePart>(*context);
    SliceOp::attachInterface<SlicePart>(*context);
  });
}
