//===- Sorting.cpp - Orders along a dimension -----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The space of pairs has the dims of the keys and one more, last: the element
// at `dim` is compared with every element along it.
//
// Test: test/EndToEnd/sorting.test
//===----------------------------------------------------------------------===//

#include "llmc/Dialect/StableHLO/IR/Sorting.h"
#include "llmc/Support/Refusal.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/Support/MathExtras.h"
#include <limits>

using namespace mlir;
using namespace llmc;
using namespace llmc::stablehlo;

LogicalResult stablehlo::verifyComparisons(Operation *op, RankedTensorType type,
                                           int64_t dim) {
  int64_t comparisons = 0;
  bool isTooLarge = llvm::MulOverflow(type.getNumElements(),
                                      type.getDimSize(dim), comparisons);
  if (!isTooLarge && comparisons <= kMostComparisons)
    return success();
  return emitRefusal(op, rt::ErrorKind::unsupported)
         << "expected at most " << kMostComparisons
         << " comparisons, elements times the sorted dimension, or a "
            "comparator that orders by keys, got "
         << type << " sorted along dimension " << dim;
}

namespace {
/// Broadcasts into the space of pairs.
struct Pairs {
  OpBuilder &b;
  Location loc;
  int64_t dim;
  SmallVector<int64_t> shape; // of the keys, and their size along dim

  RankedTensorType typeOf(Type element) const {
    return RankedTensorType::get(shape, element);
  }
  int64_t rank() const { return static_cast<int64_t>(shape.size()) - 1; }

  /// The element itself, or the one that it is compared with.
  Value spread(Value key, bool isOther) const {
    SmallVector<int64_t> dims = llvm::to_vector(llvm::seq<int64_t>(0, rank()));
    if (isOther)
      dims[dim] = rank();
    return broadcastInDim(b, loc, key,
                          typeOf(getElementTypeOrSelf(key.getType())), dims);
  }
  SmallVector<Value> spreadAll(ArrayRef<Value> keys, bool isOther) const {
    return llvm::map_to_vector(keys,
                               [&](Value key) { return spread(key, isOther); });
  }
  Value positions(int64_t along) const {
    return iota(b, loc, typeOf(b.getI32Type()), along);
  }
};
} // namespace

/// Of each element the number of those before it, i32.
static FailureOr<Value> buildRanks(const Pairs &pairs, ArrayRef<Value> keys,
                                   IsBefore isBefore) {
  OpBuilder &b = pairs.b;
  Location loc = pairs.loc;
  SmallVector<Value> own = pairs.spreadAll(keys, /*isOther=*/false);
  SmallVector<Value> other = pairs.spreadAll(keys, /*isOther=*/true);
  FailureOr<Value> otherFirst = isBefore(other, own);
  FailureOr<Value> ownFirst = isBefore(own, other);
  if (failed(otherFirst) || failed(ownFirst))
    return failure();
  Value standsFirst =
      compare(b, loc, ComparisonDirection::LT, pairs.positions(pairs.rank()),
              pairs.positions(pairs.dim));
  Value isTie = logicalAnd(b, loc, logicalNot(b, loc, *ownFirst), standsFirst);
  Value isFirst = OrOp::create(b, loc, *otherFirst, isTie);
  Value one = convertTo(b, loc, isFirst, b.getI32Type());
  return reduceAdd(b, loc, one, {pairs.rank()});
}

/// Dims but `dim`.
static SmallVector<int64_t> getOthers(int64_t rank, int64_t dim) {
  SmallVector<int64_t> others;
  for (int64_t d = 0; d < rank; ++d)
    if (d != dim)
      others.push_back(d);
  return others;
}

FailureOr<Value> stablehlo::buildOrder(OpBuilder &b, Location loc,
                                       ArrayRef<Value> keys, int64_t dim,
                                       int64_t count, IsBefore isBefore) {
  auto type = cast<RankedTensorType>(keys.front().getType());
  Pairs pairs{b, loc, dim, SmallVector<int64_t>(type.getShape())};
  pairs.shape.push_back(type.getDimSize(dim));
  FailureOr<Value> ranks = buildRanks(pairs, keys, isBefore);
  if (failed(ranks))
    return failure();
  // The position of each element goes to its rank; ranks from count on are out
  // of bounds and are dropped.
  SmallVector<int64_t> shape(type.getShape());
  Value places =
      iota(b, loc, RankedTensorType::get(shape, b.getI32Type()), dim);
  shape[dim] = count;
  Value zeros =
      constantSplat(b, loc, RankedTensorType::get(shape, b.getI32Type()), 0);
  SmallVector<int64_t> others = getOthers(type.getRank(), dim);
  auto dims = ScatterDimensionNumbersAttr::get(
      b.getContext(), /*updateWindowDims=*/{}, /*insertedWindowDims=*/{dim},
      /*inputBatchingDims=*/others, /*scatterIndicesBatchingDims=*/others,
      /*scatterDimsToOperandDims=*/{dim}, /*indexVectorDim=*/type.getRank());
  return scatter(b, loc, ReductionKind::sum, zeros, *ranks, places, dims,
                 /*sorted=*/false, /*unique=*/true);
}

Value stablehlo::buildNumberKey(OpBuilder &b, Location loc, Value x) {
  auto type = dyn_cast<FloatType>(getElementTypeOrSelf(x.getType()));
  if (!type)
    return x;
  Value zero = constantLike(b, loc, x, 0);
  Value nan = constantLike(b, loc, x, std::numeric_limits<double>::quiet_NaN());
  Value isZero = compare(b, loc, ComparisonDirection::EQ, x, zero);
  Value isNumber = compare(b, loc, ComparisonDirection::EQ, x, x);
  return select(b, loc, isNumber, select(b, loc, isZero, zero, x), nan);
}

Value stablehlo::buildOrderKey(OpBuilder &b, Location loc, Value x) {
  Type element = getElementTypeOrSelf(x.getType());
  bool isSmall =
      isa<FloatType>(element) && element.getIntOrFloatBitWidth() == 8;
  return isSmall ? convertTo(b, loc, x, b.getF32Type()) : x;
}

Value stablehlo::gatherAlong(OpBuilder &b, Location loc, Value x,
                             Value positions, int64_t dim) {
  auto type = cast<RankedTensorType>(x.getType());
  auto to = cast<RankedTensorType>(positions.getType());
  SmallVector<int64_t> others = getOthers(type.getRank(), dim);
  auto dims = GatherDimensionNumbersAttr::get(
      b.getContext(), /*offsetDims=*/{}, /*collapsedSliceDims=*/{dim},
      /*operandBatchingDims=*/others, /*startIndicesBatchingDims=*/others,
      /*startIndexMap=*/{dim}, /*indexVectorDim=*/type.getRank());
  SmallVector<int64_t> ones(type.getRank(), 1);
  return gather(b, loc,
                RankedTensorType::get(to.getShape(), type.getElementType()), x,
                positions, dims, ones);
}
