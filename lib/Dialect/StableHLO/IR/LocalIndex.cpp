//===- LocalIndex.cpp - Global indices of what a device holds -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See LocalIndex.h. Test: test/Dialect/StableHLO/Models/LocalIndexTest.cpp
//
//===----------------------------------------------------------------------===//

#include "llmc/Dialect/StableHLO/IR/LocalIndex.h"
#include "llmc/Dialect/StableHLO/IR/Builders.h"
#include "llmc/Runtime/Base/SeededFault.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::stablehlo;
using graph::LocalDim;

namespace {
using Factors = ArrayRef<std::pair<int64_t, int64_t>>;

Value divBy(OpBuilder &b, Location loc, Value x, int64_t divisor) {
  return divisor == 1 ? x : div(b, loc, x, constantLike(b, loc, x, divisor));
}

Value remBy(OpBuilder &b, Location loc, Value x, int64_t divisor) {
  return RemOp::create(b, loc, x, constantLike(b, loc, x, divisor));
}

/// Reads numbers with digits over `from` as digits over `to`.
Value convertDigits(OpBuilder &b, Location loc, Value number,
                    ArrayRef<int64_t> from, ArrayRef<int64_t> to) {
  Value sum;
  int64_t scale = 1, weight = 1;
  for (size_t k = from.size(); k-- > 0;) {
    Value digit = divBy(b, loc, number, scale);
    if (k > 0)
      digit = remBy(b, loc, digit, from[k]);
    if (weight != 1)
      digit = mul(b, loc, digit, constantLike(b, loc, digit, weight));
    sum = sum ? add(b, loc, sum, digit) : digit;
    scale *= from[k];
    weight *= to[k];
  }
  return sum;
}

SmallVector<int64_t> getSizes(const LocalDim &dim) {
  return llvm::map_to_vector(dim.factors, [](auto f) { return f.first; });
}
SmallVector<int64_t> getExtents(const LocalDim &dim) {
  return llvm::map_to_vector(dim.factors, [](auto f) { return f.second; });
}
} // namespace

bool stablehlo::isContiguous(const LocalDim &dim) {
  return llvm::all_of(Factors(dim.factors).drop_front(),
                      [](auto f) { return f.first == f.second; });
}

Type stablehlo::getPositionType(MLIRContext *context, const LocalDim &dim) {
  bool isSmall = dim.extent <= std::numeric_limits<int32_t>::max();
  return IntegerType::get(context, isSmall ? 32 : 64);
}

Value stablehlo::buildPositions(OpBuilder &b, Location loc, const LocalDim &dim,
                                Value offset, Type element) {
  auto type = RankedTensorType::get({dim.local}, element);
  Value positions = iota(b, loc, type, 0);
  if (!offset)
    return positions;
  return add(b, loc, positions, broadcastInDim(b, loc, offset, type, {}));
}

Value stablehlo::buildIsElement(OpBuilder &b, Location loc, const LocalDim &dim,
                                Value positions) {
  Value all;
  int64_t scale = 1;
  for (size_t k = dim.factors.size(); k-- > 0;) {
    auto [size, extent] = dim.factors[k];
    if (size != extent) {
      // The most major digit needs no division.
      int64_t bound = k == 0 ? size * scale : size;
      if (isSeeded(Fault::positionsMeetTheExtent))
        bound = k == 0 ? extent * scale : extent;
      Value digit =
          k == 0 ? positions
                 : remBy(b, loc, divBy(b, loc, positions, scale), extent);
      Value fits = compare(b, loc, ComparisonDirection::LT, digit,
                           constantLike(b, loc, digit, bound));
      all = all ? logicalAnd(b, loc, all, fits) : fits;
    }
    scale *= extent;
  }
  return all;
}

Value stablehlo::buildIndices(OpBuilder &b, Location loc, const LocalDim &dim,
                              Value positions) {
  if (isContiguous(dim))
    return positions;
  return convertDigits(b, loc, positions, getExtents(dim), getSizes(dim));
}

Value stablehlo::buildPositionsOf(OpBuilder &b, Location loc,
                                  const LocalDim &dim, Value indices) {
  if (isContiguous(dim))
    return indices;
  return convertDigits(b, loc, indices, getSizes(dim), getExtents(dim));
}
