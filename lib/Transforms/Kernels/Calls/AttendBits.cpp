//===- AttendBits.cpp - Random bits of weights, in code -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which weights of a tile dropout keeps: the bits of RandomBits.h, drawn where
// they are needed.
//
// Test: test/Codegen/AttendLanesTest.cpp
//
//===----------------------------------------------------------------------===//

#include "AttendCode.h"

using namespace mlir;

namespace llmc::kernels {

using rt::AttentionIndex;

Value AttendCode::half(Value wideNumber, bool isHigh) {
  if (isHigh)
    wideNumber = arith::ShRUIOp::create(code.getBuilder(), code.getLoc(),
                                        wideNumber, wide(32));
  return code.toWidth(wideNumber, code.getBuilder().getI32Type());
}

void AttendCode::loadState() {
  Value state = memory("state");
  Value key = code.load(state, code.constant(0));
  keyLow = half(key, false);
  keyHigh = half(key, true);
  counter = code.load(state, code.constant(1));
}

/// Threefry-2x32 with 20 rounds of the words x and y.
std::pair<Value, Value> AttendCode::threefry(Value x, Value y) {
  OpBuilder &builder = code.getBuilder();
  Location loc = code.getLoc();
  auto word = [&](uint32_t value) -> Value {
    return arith::ConstantOp::create(
        builder, loc, builder.getI32IntegerAttr(static_cast<int32_t>(value)));
  };
  auto exclusive = [&](Value a, Value b) -> Value {
    return arith::XOrIOp::create(builder, loc, a, b);
  };
  constexpr int distances[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  const Value keys[3] = {
      keyLow, keyHigh,
      exclusive(exclusive(keyLow, keyHigh), word(0x1BD11BDAu))};
  x = code.add(x, keys[0]);
  y = code.add(y, keys[1]);
  for (int group = 0; group < 5; ++group) {
    for (int distance : distances[group % 2]) {
      x = code.add(x, y);
      Value up = arith::ShLIOp::create(builder, loc, y, word(distance)),
            down = arith::ShRUIOp::create(builder, loc, y, word(32 - distance));
      y = exclusive(code.either(up, down), x);
    }
    x = code.add(x, keys[(group + 1) % 3]);
    y = code.add(code.add(y, keys[(group + 2) % 3]), word(group + 1));
  }
  return {x, y};
}

Value AttendCode::isKept(Value number) {
  const rt::Dropout &dropout = attention.shape.dropout;
  using arith::CmpIPredicate;
  bool isLowFirst = dropout.bits == rt::RandomBits::threefry;
  auto [x, y] = threefry(half(number, !isLowFirst), half(number, isLowFirst));
  CmpIPredicate isBelow =
      dropout.keepsBelow ? CmpIPredicate::ult : CmpIPredicate::uge;
  OpBuilder &builder = code.getBuilder();
  Location loc = code.getLoc();
  Type wideType = builder.getI64Type();
  if (dropout.bits == rt::RandomBits::jax32)
    return code.compare(
        isBelow,
        code.toWidth(arith::XOrIOp::create(builder, loc, x, y), wideType),
        wide(static_cast<int64_t>(dropout.limit)));
  Value low = code.toWidth(isLowFirst ? x : y, wideType),
        high = code.toWidth(isLowFirst ? y : x, wideType);
  Value bits =
      code.either(low, arith::ShLIOp::create(builder, loc, high, wide(32)));
  return code.compare(isBelow, bits, wide(static_cast<int64_t>(dropout.limit)));
}

Values AttendCode::drawKept(const AttendPlace &place, Value first) {
  if (!attention.shape.hasDropout())
    return {};
  Type wideType = code.getBuilder().getI64Type();
  auto step = [&](Value position, const AttentionIndex &index) -> Value {
    return code.mul(code.toWidth(position, wideType), wide(index.strideBits));
  };
  Value base = counter;
  for (const auto &[index, position] : place)
    base = code.add(base, step(position, index));
  AttendPart own = ownPart(), other = otherPart();
  Values kept;
  for (int64_t i = 0; i < own.count; ++i) {
    for (int64_t j = 0; j < other.count; ++j) {
      Value ownStep = step(own.at(code, firstOwn, i),
                           isRowOwn ? attention.row : attention.column),
            otherStep = step(other.at(code, first, j),
                             isRowOwn ? attention.column : attention.row);
      kept.push_back(isKept(code.add(base, code.add(ownStep, otherStep))));
    }
  }
  return kept;
}

Value AttendCode::keep(Value value, ArrayRef<Value> kept, size_t at) {
  if (kept.empty())
    return value;
  return code.select(
      kept[at], mulF(value, number(attention.shape.dropout.factor)), zero());
}

} // namespace llmc::kernels
