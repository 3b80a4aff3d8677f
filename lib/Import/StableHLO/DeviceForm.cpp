//===- DeviceForm.cpp - What one op's form knows of values ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See DeviceProgram.h and Graph/IR/Batching.h.
//
// Test: test/Import/StableHLO/manual-regions.mlir
//===----------------------------------------------------------------------===//

#include "DeviceProgram.h"
#include "llmc/Dialect/StableHLO/IR/Builders.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::import;
using graph::DeviceAxes;
using graph::DeviceValue;

static RankedTensorType typeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

/// Broadcasts of broadcasts are one.
Value OpForm::broadcast(Value value, RankedTensorType type,
                        ArrayRef<int64_t> dims) {
  SmallVector<int64_t> places(dims);
  if (auto inner = value.getDefiningOp<stablehlo::BroadcastInDimOp>()) {
    places = llvm::map_to_vector(inner.getBroadcastDimensions(),
                                 [&](int64_t dim) { return dims[dim]; });
    value = inner.getOperand();
  }
  return stablehlo::broadcastInDim(builder, loc, value, type, places);
}

Value OpForm::repeat(const DeviceValue &value, ArrayRef<unsigned> along) {
  if (ArrayRef<unsigned>(value.axes) == along)
    return value.value;
  RankedTensorType type = typeOf(value.value);
  int64_t own = value.axes.size(), count = along.size();
  SmallVector<int64_t> dims = graph::getPlaces(value.axes, along);
  SmallVector<int64_t> shape = getSizes(along);
  for (int64_t d = own; d < type.getRank(); ++d) {
    dims.push_back(d - own + count);
    shape.push_back(type.getDimSize(d));
  }
  return broadcast(value.value, type.clone(shape), dims);
}

Value OpForm::spread(const DeviceValue &scalar, ArrayRef<unsigned> along,
                     ArrayRef<int64_t> shape) {
  SmallVector<int64_t> all = getSizes(along);
  llvm::append_range(all, shape);
  return broadcast(scalar.value, typeOf(scalar.value).clone(all),
                   graph::getPlaces(scalar.axes, along));
}

DeviceValue OpForm::place(const DeviceValue &value, ArrayRef<int64_t> whole) {
  bool isPlaced = !value.varies() || value.value.getDefiningOp<sdy::PlaceOp>();
  if (isPlaced && whole.empty())
    return value;
  int64_t rank = typeOf(value.value).getRank() - value.axes.size();
  SmallVector<sdy::DimensionShardingAttr> dims;
  for (int64_t d = 0; d < rank; ++d)
    dims.push_back(program.getDim({}, llvm::is_contained(whole, d)));
  Value placed =
      sdy::PlaceOp::create(builder, loc, value.value.getType(), value.value,
                           program.withAxes(value.axes, dims));
  return {placed, value.axes};
}

/// A choice and a sum: a slice would bring all values to all devices.
DeviceValue OpForm::takeFirst(const DeviceValue &value,
                              ArrayRef<unsigned> along) {
  DeviceAxes rest = graph::subtractAxes(value.axes, along),
             over = graph::subtractAxes(value.axes, rest);
  if (over.empty())
    return value;
  RankedTensorType type = typeOf(value.value);
  SmallVector<int64_t> dims = graph::getPlaces(over, value.axes);
  Value isFirst;
  for (int64_t dim : dims) {
    auto line =
        RankedTensorType::get(type.getDimSize(dim), builder.getI32Type());
    Value places = stablehlo::iota(builder, loc, line, 0);
    Value here = stablehlo::compare(
        builder, loc, stablehlo::ComparisonDirection::EQ, places,
        stablehlo::constantLike(builder, loc, places, 0));
    here = broadcast(here, type.clone(builder.getI1Type()), dim);
    isFirst =
        isFirst ? stablehlo::logicalAnd(builder, loc, isFirst, here) : here;
  }
  Value zero = stablehlo::constantLike(builder, loc, value.value, 0);
  Value kept = stablehlo::select(builder, loc, isFirst, value.value, zero);
  ReductionKind kind = type.getElementType().isInteger(1) ? ReductionKind::bitOr
                                                          : ReductionKind::sum;
  return {stablehlo::reduce(builder, loc, kind, kept, dims), rest};
}
