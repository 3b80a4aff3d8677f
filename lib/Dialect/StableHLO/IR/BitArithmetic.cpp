//===- BitArithmetic.cpp - Unsigned arithmetic and random bits ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tests: test/Dialect/StableHLO/Models/RandomBitsTest.cpp,
// test/Dialect/NN/Models/AttentionTest.cpp
//===----------------------------------------------------------------------===//

#include "llmc/Dialect/StableHLO/IR/BitArithmetic.h"

#include "llmc/Dialect/StableHLO/IR/Builders.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::stablehlo;

static RankedTensorType tensorOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

static IntegerType getUnsigned(MLIRContext *context, unsigned width) {
  return IntegerType::get(context, width, IntegerType::Unsigned);
}

Value BitArithmetic::constant(Type type, uint64_t value) {
  Value &known = constants[{type, value}];
  if (known)
    return known;
  auto tensor = cast<RankedTensorType>(type);
  APInt element(tensor.getElementTypeBitWidth(), value);
  return known =
             ConstantOp::create(b, loc, DenseElementsAttr::get(tensor, element))
                 .getOutput();
}

Value BitArithmetic::indices(ArrayRef<int64_t> shape, int64_t dim) {
  Type element = getUnsigned(b.getContext(), 64);
  return iota(b, loc, RankedTensorType::get(shape, element), dim);
}

Value BitArithmetic::convert(Value x, unsigned width) {
  return convertTo(b, loc, x, getUnsigned(b.getContext(), width));
}

BitArithmetic::Words BitArithmetic::split(Value x) {
  return {convert(x, 32), convert(apply<ShiftRightLogicalOp>(x, 32), 32)};
}

Value BitArithmetic::join(Value low, Value high) {
  return apply<OrOp>(convert(low, 64),
                     apply<ShiftLeftOp>(convert(high, 64), 32));
}

Value BitArithmetic::rotateLeft(Value x, unsigned distance) {
  unsigned width = tensorOf(x).getElementTypeBitWidth();
  return apply<OrOp>(apply<ShiftLeftOp>(x, distance),
                     apply<ShiftRightLogicalOp>(x, width - distance));
}

Value BitArithmetic::isLess(Value x, Value y) {
  std::tie(x, y) = matchShapes(x, y);
  return compare(b, loc, ComparisonDirection::LT, x, y);
}

Value BitArithmetic::choose(Value condition, Value onTrue, Value onFalse) {
  onTrue = matchShapes(onTrue, condition).first;
  onFalse = matchShapes(onFalse, condition).first;
  return select(b, loc, condition, onTrue, onFalse);
}

Value BitArithmetic::pick(Words values, Value index) {
  for (uint64_t bit = 1; values.size() > 1; bit *= 2) {
    Value masked = apply<AndOp>(index, bit);
    Value isSet = compare(b, loc, ComparisonDirection::NE, masked,
                          constant(masked.getType(), 0));
    Words chosen;
    for (size_t i = 0; i + 1 < values.size(); i += 2)
      chosen.push_back(choose(isSet, values[i + 1], values[i]));
    values = chosen;
  }
  return values.front();
}

/// Repeats the one that is a scalar.
std::pair<Value, Value> BitArithmetic::matchShapes(Value x, Value y) {
  auto repeat = [&](Value scalar, Value like) {
    RankedTensorType type =
        tensorOf(like).clone(tensorOf(scalar).getElementType());
    return broadcastInDim(b, loc, scalar, type, {});
  };
  bool isScalar = tensorOf(x).getRank() == 0;
  if (isScalar == (tensorOf(y).getRank() == 0))
    return {x, y};
  return isScalar ? std::pair(repeat(x, y), y) : std::pair(x, repeat(y, x));
}

void BitArithmetic::applyThreefry(Words &x, const Words &key) {
  constexpr unsigned distances[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  Value parity = apply<XorOp>(apply<XorOp>(key[0], key[1]), 0x1BD11BDA);
  Value keys[] = {key[0], key[1], parity};
  for (unsigned i = 0; i < 2; ++i)
    x[i] = apply<AddOp>(x[i], keys[i]);
  for (unsigned group = 0; group < 5; ++group) {
    for (unsigned distance : distances[group % 2]) {
      x[0] = apply<AddOp>(x[0], x[1]);
      x[1] = apply<XorOp>(rotateLeft(x[1], distance), x[0]);
    }
    Value last = apply<AddOp>(keys[(group + 2) % 3], group + 1);
    x[0] = apply<AddOp>(x[0], keys[(group + 1) % 3]);
    x[1] = apply<AddOp>(x[1], last);
  }
}

Value BitArithmetic::drawBits(rt::RandomBits bits, Value key, Value counter) {
  Words x = split(counter);
  if (bits != rt::RandomBits::threefry)
    std::swap(x[0], x[1]);
  applyThreefry(x, split(key));
  switch (bits) {
  case rt::RandomBits::jax32:
    return apply<XorOp>(x[0], x[1]);
  case rt::RandomBits::jax64:
    return join(x[1], x[0]);
  default:
    return join(x[0], x[1]);
  }
}
