//===- RowView.cpp - A tensor seen through shape ops ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmc/Dialect/StableHLO/IR/RowView.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::stablehlo;

RowView RowView::of(Value full) {
  RowView view;
  view.value = full;
  view.shape.assign(getShape(full).begin(), getShape(full).end());
  view.dims = llvm::to_vector(llvm::seq<int64_t>(0, view.shape.size()));
  return view;
}

RowView RowView::through(Value operand) const {
  RowView view = *this;
  view.value = operand;
  return view;
}

/// Dimensions of a reshape's operand for those of its result, where it only
/// adds or drops dimensions of size 1; nothing for any other reshape.
static std::optional<SmallVector<int64_t>>
matchUnitReshape(ArrayRef<int64_t> from, ArrayRef<int64_t> to) {
  SmallVector<int64_t> dims(to.size(), -1);
  size_t source = 0;
  for (size_t i = 0; i < to.size(); ++i) {
    if (to[i] == 1)
      continue;
    while (source < from.size() && from[source] == 1)
      ++source;
    if (source == from.size() || from[source] != to[i])
      return std::nullopt;
    dims[i] = source++;
  }
  for (; source < from.size(); ++source)
    if (from[source] != 1)
      return std::nullopt;
  return dims;
}

/// For each dimension of the op's result that of its operand, -1 if repeated.
static std::optional<SmallVector<int64_t>> matchShapeOp(Operation *op) {
  if (auto broadcast = dyn_cast<BroadcastInDimOp>(op)) {
    ArrayRef<int64_t> from = getShape(broadcast.getOperand());
    ArrayRef<int64_t> to = getShape(broadcast.getResult());
    SmallVector<int64_t> dims(to.size(), -1);
    for (auto [i, dim] : llvm::enumerate(broadcast.getBroadcastDimensions()))
      if (from[i] == to[dim])
        dims[dim] = i;
    return dims;
  }
  if (auto reshape = dyn_cast<ReshapeOp>(op))
    return matchUnitReshape(getShape(reshape.getOperand()),
                            getShape(reshape.getResult()));
  if (auto transpose = dyn_cast<TransposeOp>(op))
    return llvm::to_vector(transpose.getPermutation());
  return std::nullopt;
}

RowView &RowView::peel() {
  while (Operation *op = value.getDefiningOp()) {
    std::optional<SmallVector<int64_t>> map = matchShapeOp(op);
    if (!map)
      break;
    for (int64_t &dim : dims)
      if (dim >= 0)
        dim = (*map)[dim];
    value = op->getOperand(0);
  }
  return *this;
}

std::optional<RowReduction> stablehlo::matchReduction(const RowView &view,
                                                      ReductionKind kind) {
  auto reduce = view.value.getDefiningOp<ReduceOp>();
  if (!reduce || reduce.getInputs().size() != 1 ||
      reduceKindOf(reduce.getBody()) != kind ||
      !isNeutral(reduce.getInitValues()[0], kind))
    return std::nullopt;
  RowReduction reduction;
  reduction.input = reduce.getInputs()[0];
  reduction.dims = llvm::to_vector(reduce.getDimensions());
  llvm::sort(reduction.dims);
  ArrayRef<int64_t> shape = getShape(reduction.input);
  if (shape != ArrayRef<int64_t>(view.shape))
    return std::nullopt;
  int64_t remaining = 0;
  for (int64_t dim = 0; dim < static_cast<int64_t>(shape.size()); ++dim) {
    bool isReduced = llvm::is_contained(reduction.dims, dim);
    int64_t wanted = isReduced ? -1 : remaining++;
    if (shape[dim] != 1 && view.dims[dim] != wanted)
      return std::nullopt;
  }
  return reduction;
}

bool stablehlo::placesElements(Operation *op) {
  return isa<BroadcastInDimOp, ReshapeOp, TransposeOp>(op);
}

bool stablehlo::isSplatOf(Value value, double number) {
  Attribute splat = getSplatElement(value);
  if (auto real = dyn_cast_or_null<FloatAttr>(splat))
    return real.getValueAsDouble() == number;
  if (auto integer = dyn_cast_or_null<IntegerAttr>(splat))
    return static_cast<double>(integer.getValue().getSExtValue()) == number;
  return false;
}

/// Looks through JAX's wrapping of negative indices: x < 0 ? x + n : x, also
/// where it knows that none is negative.
static Value removeNegativeFix(Value value) {
  auto select = value.getDefiningOp<SelectOp>();
  if (!select)
    return value;
  if (isSplatOf(select.getPred(), 0))
    return select.getOnFalse();
  auto compare = select.getPred().getDefiningOp<CompareOp>();
  auto add = select.getOnTrue().getDefiningOp<AddOp>();
  Value index = select.getOnFalse();
  bool isFix = compare && add && compare.getLhs() == index &&
               isSplatOf(compare.getRhs(), 0) &&
               compare.getComparisonDirection() == ComparisonDirection::LT &&
               (add.getLhs() == index || add.getRhs() == index);
  return isFix ? index : value;
}

/// Each of the constant's elements is its position along `dim`.
static bool holdsPositions(Value value, int64_t dim) {
  DenseIntElementsAttr elements;
  if (!matchPattern(value, m_Constant(&elements)))
    return false;
  ArrayRef<int64_t> shape = getShape(value);
  int64_t inner = 1, number = 0;
  for (int64_t size : shape.drop_front(dim + 1))
    inner *= size;
  return llvm::all_of(elements.getValues<APInt>(), [&](const APInt &each) {
    return each == static_cast<uint64_t>(number++ / inner % shape[dim]);
  });
}

/// Looks through what leaves the numbers below `count` as they are: fixes of
/// negative ones, and conversions to integers that hold them.
static Value removeFixes(Value value, int64_t count) {
  Value inner = removeNegativeFix(value);
  while (auto convert = inner.getDefiningOp<ConvertOp>()) {
    auto type = dyn_cast<IntegerType>(convert.getType().getElementType());
    Type from =
        cast<RankedTensorType>(convert.getOperand().getType()).getElementType();
    unsigned bits = type ? type.getWidth() - !type.isUnsigned() : 0;
    if (!isa<IntegerType>(from) || !llvm::isUIntN(bits, count - 1))
      break;
    inner = removeNegativeFix(convert.getOperand());
  }
  return inner;
}

bool stablehlo::countsAlong(Value value, int64_t dim) {
  int64_t count = getShape(value)[dim];
  RowView view = RowView::of(value).peel();
  for (Value inner = removeFixes(view.value, count); inner != view.value;
       inner = removeFixes(view.value, count))
    view = view.through(inner).peel();
  int64_t along = view.dims[dim];
  if (along < 0 || getShape(view.value)[along] != count)
    return false;
  if (auto iota = view.value.getDefiningOp<IotaOp>())
    return static_cast<int64_t>(iota.getIotaDimension()) == along;
  return holdsPositions(view.value, along);
}
