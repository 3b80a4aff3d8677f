//===- ComplexNumbers.cpp - Functions of complex numbers ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   square (a, b)   ->   (a^2 - b^2, 2 a b)
//   sinh (a, b)     ->   (sinh a * cos b, cosh a * sin b)
//   cosh (a, b)     ->   (cosh a * cos b, sinh a * sin b)
//
// Inverse functions are Kahan's (Branch Cuts for Complex Elementary Functions,
// 1987): of square roots, whose signs of zero say on which side of a cut a
// number lies, and without differences of what is nearly equal.
//
// Test: test/EndToEnd/complex.test
//===----------------------------------------------------------------------===//

#include "llmc/Dialect/Chlo/IR/Chlo.h"
#include "llmc/Dialect/Chlo/Models/Models.h"
#include "llmc/Dialect/Graph/IR/ComplexParts.h"
#include "llmc/Dialect/StableHLO/IR/Builders.h"
#include "llmc/Dialect/StableHLO/IR/ComplexMath.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::chlo;
using graph::ComplexPair;

static ComplexPair squarePair(OpBuilder &b, Location loc, ComplexPair x) {
  Value real = stablehlo::mul(b, loc, x.real, x.real);
  Value imag = stablehlo::mul(b, loc, x.imag, x.imag);
  Value both = stablehlo::mul(b, loc, x.real, x.imag);
  return {stablehlo::sub(b, loc, real, imag),
          stablehlo::add(b, loc, both, both)};
}

/// `First` of the real part times a cosine, `Second` times a sine.
template <typename First, typename Second>
static ComplexPair turnPair(OpBuilder &b, Location loc, ComplexPair x) {
  Value first = First::create(b, loc, x.real);
  Value second = Second::create(b, loc, x.real);
  return {stablehlo::mul(b, loc, first, stablehlo::cosine(b, loc, x.imag)),
          stablehlo::mul(b, loc, second, stablehlo::sine(b, loc, x.imag))};
}

//===----------------------------------------------------------------------===//
// Inverse functions
//===----------------------------------------------------------------------===//

namespace {
/// The square roots of two numbers.
struct Roots {
  OpBuilder &b;
  Location loc;
  ComplexPair p, q;

  Roots(OpBuilder &b, Location loc, ComplexPair x, ComplexPair y)
      : b(b), loc(loc), p(stablehlo::ComplexMath{b, loc}.sqrt(x)),
        q(stablehlo::ComplexMath{b, loc}.sqrt(y)) {}

  Value times(Value x, Value y) const { return stablehlo::mul(b, loc, x, y); }
  /// Of p q.
  Value realOfProduct() const {
    return stablehlo::sub(b, loc, times(p.real, q.real), times(p.imag, q.imag));
  }
  /// Of the conjugate of p, times q.
  Value realOfTurned() const {
    return stablehlo::add(b, loc, times(p.real, q.real), times(p.imag, q.imag));
  }
  Value imagOfTurned() const {
    return stablehlo::sub(b, loc, times(p.real, q.imag), times(p.imag, q.real));
  }
  Value twiceAngle(Value y, Value x) const {
    Value angle = stablehlo::Atan2Op::create(b, loc, y, x);
    return stablehlo::add(b, loc, angle, angle);
  }
};
} // namespace

static ComplexPair moved(OpBuilder &b, Location loc, ComplexPair x, double by) {
  Value offset = stablehlo::constantLike(b, loc, x.real, by);
  return {stablehlo::add(b, loc, x.real, offset), x.imag};
}
/// 1 - x
static ComplexPair complement(OpBuilder &b, Location loc, ComplexPair x) {
  Value one = stablehlo::constantLike(b, loc, x.real, 1);
  return {stablehlo::sub(b, loc, one, x.real), stablehlo::neg(b, loc, x.imag)};
}
/// i x and -i x
static ComplexPair turnLeft(OpBuilder &b, Location loc, ComplexPair x) {
  return {stablehlo::neg(b, loc, x.imag), x.real};
}
static ComplexPair turnRight(OpBuilder &b, Location loc, ComplexPair x) {
  return {x.imag, stablehlo::neg(b, loc, x.real)};
}

static ComplexPair asinPair(OpBuilder &b, Location loc, ComplexPair x) {
  Roots roots(b, loc, complement(b, loc, x), moved(b, loc, x, 1));
  return {stablehlo::Atan2Op::create(b, loc, x.real, roots.realOfProduct()),
          AsinhOp::create(b, loc, roots.imagOfTurned())};
}

static ComplexPair acosPair(OpBuilder &b, Location loc, ComplexPair x) {
  Roots roots(b, loc, moved(b, loc, x, 1), complement(b, loc, x));
  return {roots.twiceAngle(roots.q.real, roots.p.real),
          AsinhOp::create(b, loc, roots.imagOfTurned())};
}

static ComplexPair acoshPair(OpBuilder &b, Location loc, ComplexPair x) {
  Roots roots(b, loc, moved(b, loc, x, -1), moved(b, loc, x, 1));
  return {AsinhOp::create(b, loc, roots.realOfTurned()),
          roots.twiceAngle(roots.p.imag, roots.q.real)};
}

static ComplexPair asinhPair(OpBuilder &b, Location loc, ComplexPair x) {
  return turnLeft(b, loc, asinPair(b, loc, turnRight(b, loc, x)));
}

/// With a and b of the number or its negative, so that a is not negative:
/// log1p(4a / ((1 - a)^2 + b^2)) / 4 + i atan2(2b, (1 - a)(1 + a) - b^2) / 2
static ComplexPair atanhPair(OpBuilder &b, Location loc, ComplexPair x) {
  auto times = [&](Value p, Value q) { return stablehlo::mul(b, loc, p, q); };
  auto scaled = [&](Value p, double by) {
    return times(p, stablehlo::constantLike(b, loc, p, by));
  };
  Value side = stablehlo::ComplexMath{b, loc}.signOf(x.real);
  Value width = times(side, x.real), height = times(side, x.imag);
  Value gap = complement(b, loc, {width, height}).real;
  Value square = times(height, height);
  Value bottom = stablehlo::add(b, loc, times(gap, gap), square);
  Value grown = stablehlo::Log1pOp::create(
      b, loc, stablehlo::div(b, loc, scaled(width, 4), bottom));
  Value rest =
      times(gap, stablehlo::add(b, loc, width,
                                stablehlo::constantLike(b, loc, width, 1)));
  Value angle = stablehlo::Atan2Op::create(
      b, loc, scaled(height, 2), stablehlo::sub(b, loc, rest, square));
  return {times(side, scaled(grown, 0.25)), times(side, scaled(angle, 0.5))};
}

static ComplexPair atanPair(OpBuilder &b, Location loc, ComplexPair x) {
  return turnRight(b, loc, atanhPair(b, loc, turnLeft(b, loc, x)));
}

namespace {
template <typename Op,
          ComplexPair (*function)(OpBuilder &, Location, ComplexPair)>
struct FunctionParts
    : graph::ComplexPartsOpInterface::ExternalModel<FunctionParts<Op, function>,
                                                    Op> {
  LogicalResult splitParts(Operation *op, OpBuilder &builder,
                           ArrayRef<ComplexPair> operands,
                           SmallVectorImpl<ComplexPair> &results) const {
    results.push_back(function(builder, op->getLoc(), operands[0]));
    return success();
  }
};
} // namespace

void chlo::registerComplexModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, ChloDialect *) {
    AcosOp::attachInterface<FunctionParts<AcosOp, acosPair>>(*context);
    AcoshOp::attachInterface<FunctionParts<AcoshOp, acoshPair>>(*context);
    AsinOp::attachInterface<FunctionParts<AsinOp, asinPair>>(*context);
    AsinhOp::attachInterface<FunctionParts<AsinhOp, asinhPair>>(*context);
    AtanOp::attachInterface<FunctionParts<AtanOp, atanPair>>(*context);
    AtanhOp::attachInterface<FunctionParts<AtanhOp, atanhPair>>(*context);
    SquareOp::attachInterface<FunctionParts<SquareOp, squarePair>>(*context);
    SinhOp::attachInterface<FunctionParts<SinhOp, turnPair<SinhOp, CoshOp>>>(
        *context);
    CoshOp::attachInterface<FunctionParts<CoshOp, turnPair<CoshOp, SinhOp>>>(
        *context);
  });
}
