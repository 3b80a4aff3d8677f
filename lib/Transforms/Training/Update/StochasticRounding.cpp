//===- StochasticRounding.cpp - States that are rounded by chance ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See StochasticRounding.h.
//
// Tests: test/Transforms/Training/stochastic-rounding.mlir,
// test/EndToEnd/stochastic-rounding.test
//===----------------------------------------------------------------------===//

#include "StochasticRounding.h"
#include "llmc/Dialect/StableHLO/IR/BitArithmetic.h"
#include "llmc/Dialect/StableHLO/IR/Builders.h"
#include "mlir/IR/TypeUtilities.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/Support/xxhash.h"
#include <cmath>

using namespace mlir;
using namespace llmc;
namespace hlo = llmc::stablehlo;
using hlo::BitArithmetic;

bool training::canRoundStochastically(Type element) {
  return element.isBF16() || element.isF16();
}

/// The number of each element in row-major order.
static Value buildPlaces(BitArithmetic &a, ArrayRef<int64_t> shape) {
  Type element = IntegerType::get(a.b.getContext(), 64, IntegerType::Unsigned);
  Value place;
  uint64_t stride = 1;
  for (int64_t dim = static_cast<int64_t>(shape.size()) - 1; dim >= 0; --dim) {
    Value index = a.indices(shape, dim);
    if (stride != 1)
      index = a.apply<hlo::MulOp>(index, stride);
    place = place ? a.apply<hlo::AddOp>(place, index) : index;
    stride *= static_cast<uint64_t>(shape[dim]);
  }
  return place ? place : a.constant(RankedTensorType::get(shape, element), 0);
}

namespace {
/// Of a float that is narrower than f32, how f32 is cut to it.
struct Narrowing {
  explicit Narrowing(Type to) {
    const llvm::fltSemantics &semantics =
        cast<FloatType>(to).getFloatSemantics();
    numCut = 24 - llvm::APFloat::semanticsPrecision(semantics);
    leastExponent = 127 + llvm::APFloat::semanticsMinExponent(semantics);
    largest = llvm::APFloat::getLargest(semantics).convertToDouble();
  }

  /// Bits of the mantissa of f32 that a normal number of the type lacks.
  unsigned numCut;
  /// That of the type's least normal number, as f32 has it: 1 where all that is
  /// normal in f32 is so in the type.
  unsigned leastExponent;
  double largest;
};
} // namespace

/// The bits of f32 of numbers below the least normal one of the type: a
/// multiple of its least number, which is found as an integer. More bits are
/// cut, the smaller the number is; 31 are drawn.
static Value roundSmall(BitArithmetic &a, Value bits, Value drawn,
                        const Narrowing &narrowing) {
  constexpr unsigned mantissa = 23, mostDrawn = 31;
  auto shift = [&](Value x, auto by) {
    return a.apply<hlo::ShiftRightLogicalOp>(x, by);
  };
  Value magnitude = a.apply<hlo::AndOp>(bits, 0x7fffffff);
  Value digits = a.apply<hlo::OrOp>(a.apply<hlo::AndOp>(bits, 0x7fffff),
                                    uint64_t(1) << mantissa);
  Value numCut = a.apply<hlo::SubtractOp>(
      a.constant(bits.getType(), narrowing.numCut + narrowing.leastExponent),
      shift(magnitude, mantissa));
  Value most = a.constant(bits.getType(), mostDrawn);
  Value isFar = a.isLess(most, numCut);
  Value numDrawn = a.choose(isFar, most, numCut);
  Value beyond = a.apply<hlo::SubtractOp>(numCut, numDrawn);
  Value isNothing = a.isLess(most, beyond);
  digits = shift(digits, a.choose(isNothing, most, beyond));
  Value below =
      shift(drawn,
            a.apply<hlo::SubtractOp>(a.constant(bits.getType(), 32), numDrawn));
  Value count = shift(a.apply<hlo::AddOp>(digits, below), numDrawn);
  auto single = cast<RankedTensorType>(bits.getType()).clone(a.b.getF32Type());
  Value number = hlo::ConvertOp::create(a.b, a.loc, single, count);
  int least = static_cast<int>(narrowing.leastExponent) - 127 -
              static_cast<int>(mantissa - narrowing.numCut);
  number =
      hlo::mul(a.b, a.loc, number,
               hlo::constantLike(a.b, a.loc, number, std::ldexp(1, least)));
  return a.apply<hlo::OrOp>(
      hlo::BitcastConvertOp::create(a.b, a.loc, bits.getType(), number),
      a.apply<hlo::AndOp>(bits, 0x80000000));
}

/// The bits of f32 of `bits` cut to a number of the type.
static Value roundBits(BitArithmetic &a, Value bits, Value drawn,
                       const Narrowing &narrowing) {
  uint64_t cut = (uint64_t(1) << narrowing.numCut) - 1;
  Value raised = a.apply<hlo::AddOp>(bits, a.apply<hlo::AndOp>(drawn, cut));
  Value rounded = a.apply<hlo::AndOp>(raised, 0xffffffff & ~cut);
  if (narrowing.leastExponent == 1)
    return rounded;
  Value isSmall = a.isLess(
      a.apply<hlo::AndOp>(bits, 0x7fffffff),
      a.constant(bits.getType(), uint64_t(narrowing.leastExponent) << 23));
  return a.choose(isSmall, roundSmall(a, bits, drawn, narrowing), rounded);
}

/// Where a number is cut, and not converted: what is finite, and of a type with
/// smaller exponents than f32 what it has no larger number for.
static Value isCut(OpBuilder &builder, Location loc, Value wide,
                   const Narrowing &narrowing) {
  auto type = cast<RankedTensorType>(wide.getType());
  if (narrowing.leastExponent == 1)
    return hlo::IsFiniteOp::create(builder, loc,
                                   type.clone(builder.getI1Type()), wide);
  Value magnitude = hlo::abs(builder, loc, wide);
  return hlo::compare(
      builder, loc, hlo::ComparisonDirection::LE, magnitude,
      hlo::constantLike(builder, loc, magnitude, narrowing.largest));
}

Value training::roundStochastically(OpBuilder &builder, Location loc, Value x,
                                    Type to, StringRef name, Value seed,
                                    Value step) {
  BitArithmetic a(builder, loc);
  auto type = cast<RankedTensorType>(x.getType());
  Type single = builder.getF32Type();
  Type bits = IntegerType::get(builder.getContext(), 32, IntegerType::Unsigned);
  auto hash = static_cast<uint32_t>(llvm::xxh3_64bits(name));
  Value key = a.join(a.apply<hlo::XorOp>(a.convert(seed, 32), hash),
                     a.convert(step, 32));
  Value drawn =
      a.drawBits(rt::RandomBits::jax32, key, buildPlaces(a, type.getShape()));
  Value wide = hlo::convertTo(builder, loc, x, single);
  Narrowing narrowing(to);
  Value rounded = roundBits(
      a, hlo::BitcastConvertOp::create(builder, loc, type.clone(bits), wide),
      drawn, narrowing);
  Value cut =
      hlo::BitcastConvertOp::create(builder, loc, type.clone(single), rounded);
  return hlo::select(builder, loc, isCut(builder, loc, wide, narrowing),
                     hlo::convertTo(builder, loc, cut, to),
                     hlo::convertTo(builder, loc, wide, to));
}
