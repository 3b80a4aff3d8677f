//===- LocalMoves.cpp - Changes of layout that move nothing ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What is left of reshards and keeps when collectives are explicit:
//
//   axes appended to a dim       dynamic_slice at coordinate * local
//   another extent, not split    slice, or zeros after
//   stages that forget a value   nothing
//   stages without a term        dist.join of one operand
//   keep where "x" = k           select(coordinate == k, value, 0)
//   keep where "x"               the part put into zeros
//
// A view concerns what is minor to the split: {"t"}:[2, 192:195] to
// {"t"}:[2, 192] cuts 195 to 192 on each device.
//
// Test: test/Transforms/Partition/localize-moves.mlir
//===----------------------------------------------------------------------===//

#include "LocalBuilder.h"
#include "llmc/Dialect/Dist/IR/LayoutOnMesh.h"
#include "llmc/Dialect/Graph/IR/ShardingRule.h"
#include "llmc/Dialect/StableHLO/IR/Builders.h"
#include "llmc/Runtime/Base/SeededFault.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace llmc;
using graph::LocalDim;

namespace {
using Factors = SmallVector<std::pair<int64_t, int64_t>, 2>;

RankedTensorType typeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

SmallVector<int64_t> getSizes(const Factors &factors) {
  return llvm::map_to_vector(factors, [](auto f) { return f.first; });
}

/// Factors of both sides with equal sizes: what is not padded has any factors.
/// False when both are padded and differ.
bool align(const LocalDim &from, const LocalDim &to, Factors &a, Factors &b) {
  a = from.factors;
  b = to.factors;
  auto unpadded = [](const Factors &like) {
    Factors factors;
    for (auto [size, extent] : like)
      factors.push_back({size, size});
    return factors;
  };
  if (!from.isPadded())
    a = unpadded(b);
  else if (!to.isPadded())
    b = unpadded(a);
  return getSizes(a) == getSizes(b);
}

/// Replaces the factors that `parts` devices share by what one device has of
/// them, a factor of its own. False when the two sides differ in these.
bool takePart(Factors &a, Factors &b, int64_t parts) {
  if (parts == 1)
    return true;
  size_t used = 0;
  int64_t local = 1;
  while (parts > 1) {
    if (used == a.size() || a[used] != b[used])
      return false;
    int64_t extent = a[used++].second;
    if (extent % parts == 0) {
      local = extent / parts;
      parts = 1;
    } else if (parts % extent == 0) {
      parts /= extent;
    } else {
      return false;
    }
  }
  for (Factors *factors : {&a, &b}) {
    factors->erase(factors->begin(), factors->begin() + used);
    if (local != 1 || factors->empty())
      factors->insert(factors->begin(), {local, local});
  }
  return true;
}

/// Cuts or fills each factor of dim `d`.
Value buildView(OpBuilder &b, Location loc, Value x, int64_t d,
                const Factors &from, const Factors &to) {
  SmallVector<int64_t> shape(typeOf(x).getShape());
  auto withDim = [&](ArrayRef<int64_t> sizes) {
    SmallVector<int64_t> result(ArrayRef<int64_t>(shape).take_front(d));
    llvm::append_range(result, sizes);
    llvm::append_range(result, ArrayRef(shape).drop_front(d + 1));
    return result;
  };
  x = stablehlo::reshape(
      b, loc, x,
      withDim(llvm::map_to_vector(from, [](auto f) { return f.second; })));
  int64_t product = 1;
  for (auto [k, factors] : llvm::enumerate(llvm::zip(from, to))) {
    auto [old, wanted] = factors;
    product *= wanted.second;
    SmallVector<int64_t> low(typeOf(x).getRank(), 0), high(low);
    SmallVector<int64_t> limits(typeOf(x).getShape());
    limits[d + k] = wanted.second;
    high[d + k] = wanted.second - old.second;
    if (high[d + k] < 0)
      x = stablehlo::slice(b, loc, x, low, limits);
    else if (high[d + k] > 0)
      x = stablehlo::pad(
          b, loc, x, stablehlo::scalar(b, loc, typeOf(x).getElementType(), 0),
          low, high);
  }
  return stablehlo::reshape(b, loc, x, withDim({product}));
}

bool isPrefix(ArrayRef<dist::AxisAttr> prefix, ArrayRef<dist::AxisAttr> list) {
  return prefix.size() <= list.size() &&
         list.take_front(prefix.size()) == prefix;
}
} // namespace

SmallVector<Value> LocalBuilder::buildStarts(int64_t rank, int64_t dim,
                                             Value start) {
  Value zero = stablehlo::constantLike(builder, loc, start, 0);
  SmallVector<Value> starts(rank, zero);
  starts[dim] = start;
  return starts;
}

Value LocalBuilder::buildDim(Operation *op, Type fromType, Type toType,
                             Value input, int64_t d) {
  dist::DimAttr fromDim = dist::getLayout(fromType).getDims()[d];
  dist::DimAttr toDim = dist::getLayout(toType).getDims()[d];
  if (fromDim == toDim)
    return input;
  LocalDim from = getDim(fromType, d), to = getDim(toType, d);
  Factors a, b;
  bool isLocal = isPrefix(fromDim.getAxes(), toDim.getAxes());
  bool isSplit = !fromDim.getAxes().empty();
  if (isLocal && !align(from, to, a, b)) {
    // A whole dim goes by way of the unpadded one.
    isLocal = !isSplit;
    Factors plain = from.factors;
    for (auto &factor : plain)
      factor.second = factor.first;
    if (isLocal)
      input = buildView(builder, loc, input, d, from.factors, plain);
    b = to.factors;
    a = b;
    for (auto &factor : a)
      factor.second = factor.first;
  }
  if (isLocal && a != b)
    isLocal = takePart(a, b, fromDim.getNumParts(axes));
  if (!isLocal) {
    op->emitOpError() << "expected a change of layout that moves nothing in "
                         "dim "
                      << d << ", got " << dist::getLayout(fromType) << " to "
                      << dist::getLayout(toType)
                      << ": expand it to collectives first";
    return {};
  }
  if (a != b)
    input = buildView(builder, loc, input, d, a, b);
  ArrayRef<dist::AxisAttr> added =
      toDim.getAxes().drop_front(fromDim.getAxes().size());
  if (added.empty())
    return input;
  Value start = buildPartOffset(added, to.local, builder.getI32Type());
  SmallVector<int64_t> sizes(typeOf(input).getShape());
  sizes[d] = to.local;
  return stablehlo::DynamicSliceOp::create(
      builder, loc, input, buildStarts(sizes.size(), d, start), sizes);
}

/// Axes over which `to` is partial and `from` is not, with a kind under which a
/// full value is no term; other differences are not local.
static FailureOr<SmallVector<StringAttr>> getLifts(dist::LayoutAttr from,
                                                   dist::LayoutAttr to) {
  SmallVector<StringAttr> lifts;
  for (dist::PartialAttr partial : from.getPartial())
    for (dist::AxisAttr axis : partial.getAxes())
      if (to.getPartialKind(axis.getName()) != partial.getKind())
        return failure();
  for (dist::PartialAttr partial : to.getPartial())
    for (dist::AxisAttr axis : partial.getAxes()) {
      auto kind = partial.getKind();
      bool grows = !from.getPartialKind(axis.getName()) ||
                   from.getPin(axis.getName()) != to.getPin(axis.getName());
      if (grows && !isIdempotent(kind))
        lifts.push_back(axis.getName());
    }
  return lifts;
}

/// Every stage of `to` is one of `from`.
static bool isInside(ArrayRef<int64_t> to, ArrayRef<int64_t> from) {
  return from.empty() || (!to.empty() && llvm::all_of(to, [&](int64_t stage) {
           return llvm::is_contained(from, stage);
         }));
}

Value LocalBuilder::buildLocalMove(Operation *op, Type fromType, Type toType,
                                   Value input, StringRef pipeline) {
  dist::LayoutAttr from = dist::getLayout(fromType);
  dist::LayoutAttr to = dist::getLayout(toType);
  FailureOr<SmallVector<StringAttr>> lifts = getLifts(from, to);
  bool isLocal = succeeded(lifts);
  bool adds =
      isLocal &&
      llvm::is_contained(*lifts, StringAttr::get(from.getContext(), pipeline));
  isLocal = isLocal && lifts->size() == (adds ? 1 : 0);
  for (dist::PinAttr pin : from.getAt()) {
    ArrayRef<int64_t> wanted = to.getPin(pin.getAxis());
    bool mayGrow = adds && pin.getAxis() == pipeline;
    isLocal &= mayGrow ? isInside(pin.getCoordinates(), wanted)
                       : isInside(wanted, pin.getCoordinates());
  }
  if (!isLocal) {
    op->emitOpError() << "expected a change of layout that moves nothing, got "
                      << from << " to " << to
                      << ": expand it to collectives first";
    return {};
  }
  for (int64_t d = 0; d < to.getRank() && input; ++d)
    input = buildDim(op, fromType, toType, input, d);
  if (input && adds)
    input = dist::JoinOp::create(builder, loc, input.getType(),
                                 ValueRange{input}, pipeline);
  return input;
}

Value LocalBuilder::buildKeep(dist::KeepOp keep, Type from, Value input) {
  RankedTensorType type = typeOf(input);
  Type integer = builder.getI32Type();
  auto axis = dist::AxisAttr::get(builder.getContext(), keep.getAxis());
  ReductionKind kind = *dist::getLayout(keep.getResult().getType())
                            .getPartialKind(keep.getAxis());
  TypedAttr neutral = stablehlo::getNeutralElement(kind, type.getElementType());
  // It is the same on every coordinate.
  DenseElementsAttr elements;
  bool isNeutral = matchPattern(input, m_Constant(&elements)) &&
                   elements.isSplat() &&
                   elements.getSplatValue<Attribute>() == Attribute(neutral);
  std::optional<uint64_t> wanted = keep.getCoordinate();
  if (wanted && (isNeutral || isSeeded(Fault::keptValueIsNotMasked)))
    return input;
  if (wanted) {
    Value coordinate = buildPartOffset(axis, 1, integer);
    Value isHere = stablehlo::compare(
        builder, loc, stablehlo::ComparisonDirection::EQ, coordinate,
        stablehlo::constantLike(builder, loc, coordinate, *wanted));
    return stablehlo::select(builder, loc, isHere, input,
                             buildSplat(type, neutral));
  }
  int64_t dim = *dist::getLayout(from).getDimSplitBy(keep.getAxis());
  Value start = buildPartOffset(axis, type.getDimSize(dim), integer);
  Value rest = buildSplat(getLocalType(keep.getResult().getType()), neutral);
  return stablehlo::DynamicUpdateSliceOp::create(
      builder, loc, rest, input, buildStarts(type.getRank(), dim, start));
}
