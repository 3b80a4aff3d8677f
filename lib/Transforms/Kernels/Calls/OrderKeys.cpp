//===- OrderKeys.cpp - What elements are ordered by, in code --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See OrderKeys.h.
//
// Test: test/Codegen/CallLanesTest.cpp
//
//===----------------------------------------------------------------------===//

#include "OrderKeys.h"
#include "../WriterFaults.h"

using namespace mlir;

namespace llmc::kernels {

Type OrderKeys::getType(unsigned key) const {
  return code.getBuilder().getIntegerType(8 *
                                          rt::sizeOf(shape.keys[key].dtype));
}

static Value makeInteger(GridCode &code, Type type, const APInt &value) {
  return arith::ConstantOp::create(
      code.getBuilder(), code.getLoc(),
      code.getBuilder().getIntegerAttr(type, value));
}

/// Negative floats have all bits turned, positive ones and integers with a sign
/// have that turned, and a descending key all of them once more.
Value OrderKeys::toNumber(unsigned key, Value element) {
  OpBuilder &builder = code.getBuilder();
  Location loc = code.getLoc();
  const rt::ArgsortKey &what = shape.keys[key];
  Type type = getType(key);
  unsigned width = type.getIntOrFloatBitWidth();
  Value bits = element;
  if (!isa<IntegerType>(element.getType()))
    bits = arith::BitcastOp::create(builder, loc, type, element);
  if (what.dtype == rt::DType::u4) // The other bits count for nothing.
    bits = arith::AndIOp::create(builder, loc, bits,
                                 makeInteger(code, type, APInt(width, 15)));
  APInt flip = rt::isFloat(what.dtype) || rt::isSignedInteger(what.dtype)
                   ? APInt::getSignMask(width)
                   : APInt::getZero(width);
  APInt flipNegative = rt::isFloat(what.dtype) &&
                               !isSeeded(WriterFault::negativeKeysAreNotTurned)
                           ? APInt::getAllOnes(width)
                           : flip;
  if (what.isDescending)
    flip.flipAllBits(), flipNegative.flipAllBits();
  Value mask = makeInteger(code, type, flip);
  if (flip != flipNegative) {
    Value isNegative =
        code.compare(arith::CmpIPredicate::slt, bits,
                     makeInteger(code, type, APInt::getZero(width)));
    mask = code.select(isNegative, makeInteger(code, type, flipNegative), mask);
  }
  return arith::XOrIOp::create(builder, loc, bits, mask);
}

Value OrderKeys::offset(Value row, Value at, int64_t size) {
  Value outer = code.div(row, shape.inner), inner = code.rem(row, shape.inner);
  return code.add(code.mul(code.add(code.mul(outer, size), at), shape.inner),
                  inner);
}

OrderItem OrderKeys::load(Value row, Value place) {
  OrderItem item;
  Value at = offset(row, place, shape.size);
  for (unsigned key = 0; key < shape.keys.size(); ++key)
    item.keys.push_back(toNumber(key, code.load(code.getMemory(key), at)));
  item.place = place;
  return item;
}

OrderItem OrderKeys::makeLast(Value place) {
  OrderItem item;
  for (unsigned key = 0; key < shape.keys.size(); ++key)
    item.keys.push_back(
        makeInteger(code, getType(key),
                    APInt::getAllOnes(getType(key).getIntOrFloatBitWidth())));
  item.place = place;
  return item;
}

Value OrderKeys::isBefore(const OrderItem &left, const OrderItem &right) {
  Value before = isSeeded(WriterFault::equalKeysHaveNoOrder)
                     ? code.isLess(right.place, left.place)
                     : code.isLess(left.place, right.place);
  for (size_t key = left.keys.size(); key-- > 0;) {
    Value isEqual = code.isEqual(left.keys[key], right.keys[key]);
    before = code.select(isEqual, before,
                         code.isLess(left.keys[key], right.keys[key]));
  }
  return before;
}

OrderItem OrderKeys::select(Value condition, const OrderItem &left,
                            const OrderItem &right) {
  OrderItem item;
  for (auto [l, r] : llvm::zip_equal(left.keys, right.keys))
    item.keys.push_back(code.select(condition, l, r));
  item.place = code.select(condition, left.place, right.place);
  return item;
}

void OrderKeys::storeResult(Value memory, Value row, Value rank, Value place) {
  Type type = cast<MemRefType>(memory.getType()).getElementType();
  code.store(code.toWidth(place, type), memory, offset(row, rank, shape.count));
}

} // namespace llmc::kernels
