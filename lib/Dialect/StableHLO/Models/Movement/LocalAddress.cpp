//===- LocalAddress.cpp - Addresses into a device's part ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See LocalAddress.h. For one dimension of 10 rows over two devices:
//
//   gather   p = clamp(i, 0, 9) - 5 * c     here: 0 <= p < 5
//   scatter  p = i - 5 * c                  out of range elsewhere: dropped
//
// With padding a scatter also moves what lies outside of the whole out of
// range, so that padding is never written.
//
// Test: test/Transforms/Partition/localize-ops.mlir
//===----------------------------------------------------------------------===//

#include "LocalAddress.h"
#include "../Movement.h"
#include "llmc/Dialect/StableHLO/IR/Builders.h"
#include "llmc/Dialect/StableHLO/IR/LocalIndex.h"
#include "llmc/Runtime/Base/SeededFault.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::graph;
using namespace llmc::stablehlo;

namespace {
class AddressBuilder {
public:
  AddressBuilder(LocalForm &form, Value operand, Value indices,
                 const Addressing &addressing, bool clamp)
      : form(form), b(form.builder), loc(form.loc), operand(operand),
        local(form.getLocal(indices)), a(addressing), clamp(clamp) {}

  LocalAddresses run() {
    if (llvm::none_of(a.map, [&](int64_t d) { return isMoved(d); }))
      return {local, Value()};
    element = getElement();
    SmallVector<Value> entries;
    for (auto [k, d] : llvm::enumerate(a.map)) {
      Value entry = takeEntry(k);
      entries.push_back(isMoved(d) ? move(entry, d)
                                   : convertTo(b, loc, entry, element));
    }
    if (isHere)
      isHere = reshape(b, loc, isHere, getPositionShape());
    return {entries.size() == 1 ? entries.front()
                                : concatenate(b, loc, entries, a.vectorDim),
            isHere};
  }

private:
  bool isMoved(int64_t d) {
    return llvm::is_contained(a.dropped, d) &&
           !form.getDim(operand, d).isPlain();
  }

  /// i32 where the indices and all positions fit.
  Type getElement() {
    auto type = cast<IntegerType>(typeOf(local).getElementType());
    bool isSmall =
        type.getWidth() < 32 || (type.getWidth() == 32 && !type.isUnsigned());
    for (int64_t d : a.map)
      isSmall &=
          form.getDim(operand, d).extent <= std::numeric_limits<int32_t>::max();
    return IntegerType::get(b.getContext(), isSmall ? 32 : 64);
  }

  bool isVector() { return a.vectorDim < typeOf(local).getRank(); }

  Value takeEntry(int64_t k) {
    if (a.map.size() == 1)
      return local;
    RankedTensorType type = typeOf(local);
    SmallVector<int64_t> starts(type.getRank(), 0), limits(type.getShape());
    starts[a.vectorDim] = k;
    limits[a.vectorDim] = k + 1;
    return slice(b, loc, local, starts, limits);
  }

  SmallVector<int64_t> getPositionShape() {
    SmallVector<int64_t> shape(typeOf(local).getShape());
    if (isVector())
      shape.erase(shape.begin() + a.vectorDim);
    return shape;
  }

  Value isInside(Value x, int64_t limit) {
    return logicalAnd(
        b, loc,
        compare(b, loc, ComparisonDirection::GE, x, constantLike(b, loc, x, 0)),
        compare(b, loc, ComparisonDirection::LT, x,
                constantLike(b, loc, x, limit)));
  }

  /// Limited in the indices' own type: unsigned ones may exceed the wider one.
  Value limit(Value entry, int64_t last) {
    auto type = cast<IntegerType>(typeOf(entry).getElementType());
    unsigned width = type.getWidth();
    bool isUnsigned = type.isUnsigned();
    APInt greatest = isUnsigned ? APInt::getMaxValue(width)
                                : APInt::getSignedMaxValue(width);
    if (greatest.ugt(static_cast<uint64_t>(last)))
      greatest = APInt(width, last);
    Value high = ConstantOp::create(
        b, loc,
        DenseElementsAttr::get(RankedTensorType::get({}, type),
                               ArrayRef<APInt>(greatest)));
    return ClampOp::create(b, loc, scalar(b, loc, type, 0), entry, high);
  }

  Value move(Value entry, int64_t d) {
    LocalDim dim = form.getDim(operand, d);
    if (clamp)
      entry = limit(entry, dim.size - 1);
    Value index = convertTo(b, loc, entry, element);
    Value position = buildPositionsOf(b, loc, dim, index);
    if (dim.isSplit() && !isSeeded(Fault::indicesStayGlobal)) {
      Value offset = form.buildOffset(operand, d, element);
      offset = broadcastInDim(b, loc, offset, typeOf(position), {});
      position = sub(b, loc, position, offset);
    }
    if (clamp && dim.isSplit() && !isSeeded(Fault::foreignRowsAreGathered)) {
      Value here = isInside(position, dim.local);
      isHere = isHere ? logicalAnd(b, loc, isHere, here) : here;
    }
    if (!clamp && dim.isPadded())
      position = select(b, loc, isInside(index, dim.size), position,
                        constantLike(b, loc, position, -1));
    return position;
  }

  LocalForm &form;
  OpBuilder &b;
  Location loc;
  Value operand, local;
  const Addressing &a;
  bool clamp;
  Type element;
  Value isHere;
};
} // namespace

LocalAddresses stablehlo::buildLocalAddresses(LocalForm &form, Value operand,
                                              Value indices,
                                              const Addressing &addressing,
                                              bool clamp) {
  return AddressBuilder(form, operand, indices, addressing, clamp).run();
}
