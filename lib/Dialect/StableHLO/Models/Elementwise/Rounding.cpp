//===- Rounding.cpp - Answers of ops that round floats --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// ceil, floor, round_nearest_even and round_nearest_afz are inactive: as in JAX
// no derivative flows through them. reduce_precision is taken as linear, so
// that its cotangent is rounded as it is.
//
// Scalar code rounds by floor and exact differences, reduce_precision on the
// bits of the element; evaluation computes both in double.
//
// Tests: test/Dialect/StableHLO/Models/ElementTest.cpp,
// test/EndToEnd/semantics.test
//===----------------------------------------------------------------------===//

#include "llmc/Dialect/Graph/IR/Pointwise.h"
#include "llmc/Dialect/StableHLO/IR/Builders.h"
#include "llmc/Dialect/StableHLO/Models/Models.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace llmc;
using namespace llmc::graph;
using namespace llmc::stablehlo;

//===----------------------------------------------------------------------===//
// To integers
//===----------------------------------------------------------------------===//

template <typename FloatOp>
static Value emitRounding(OpBuilder &b, Location loc, Operation *,
                          ValueRange x) {
  return FloatOp::create(b, loc, x[0]);
}

static Value compareFloat(OpBuilder &b, Location loc,
                          arith::CmpFPredicate predicate, Value x,
                          double bound) {
  return arith::CmpFOp::create(b, loc, predicate, x,
                               scalarConstant(b, loc, x.getType(), bound));
}

/// Whether the integer `x` >= 0 is odd.
static Value emitIsOdd(OpBuilder &b, Location loc, Value x) {
  Value half = arith::MulFOp::create(b, loc, x,
                                     scalarConstant(b, loc, x.getType(), 0.5));
  Value floor = math::FloorOp::create(b, loc, half);
  return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::ONE, half, floor);
}

/// floor(|x|), one more where the rest (which is exact) asks for it, and the
/// sign of x. An infinity has a NaN as rest, which asks for nothing.
template <bool tiesToEven>
static Value emitRound(OpBuilder &b, Location loc, Operation *, ValueRange x) {
  Value magnitude = math::AbsFOp::create(b, loc, x[0]);
  Value floor = math::FloorOp::create(b, loc, magnitude);
  Value rest = arith::SubFOp::create(b, loc, magnitude, floor);
  Value isMore = compareFloat(b, loc,
                              tiesToEven ? arith::CmpFPredicate::OGT
                                         : arith::CmpFPredicate::OGE,
                              rest, 0.5);
  if (tiesToEven) {
    Value isTie = compareFloat(b, loc, arith::CmpFPredicate::OEQ, rest, 0.5);
    Value goesUp =
        arith::AndIOp::create(b, loc, isTie, emitIsOdd(b, loc, floor));
    isMore = arith::OrIOp::create(b, loc, isMore, goesUp);
  }
  Value one = scalarConstant(b, loc, x[0].getType(), 1);
  Value next = arith::AddFOp::create(b, loc, floor, one);
  Value rounded = arith::SelectOp::create(b, loc, isMore, next, floor);
  return math::CopySignOp::create(b, loc, rounded, x[0]);
}

static double ceilFloat(double x) { return std::ceil(x); }
static double floorFloat(double x) { return std::floor(x); }
static double roundFloat(double x) { return std::round(x); }
/// In the rounding mode that every program starts in.
static double roundEvenFloat(double x) { return std::nearbyint(x); }

//===----------------------------------------------------------------------===//
// reduce_precision
//===----------------------------------------------------------------------===//

static LogicalResult deriveReducePrecision(Derivation &d) {
  auto op = cast<ReducePrecisionOp>(d.op);
  d.gradients[0] =
      ReducePrecisionOp::create(d.builder, d.loc(), d.cotangent,
                                op.getExponentBits(), op.getMantissaBits());
  return success();
}

namespace {
/// What is known of a float type and of the narrower format.
struct Reduction {
  unsigned width, mantissa, exponent; // bits of the type
  unsigned keptMantissa, keptExponent;

  Reduction(ReducePrecisionOp op, Type element)
      : width(element.getIntOrFloatBitWidth()),
        mantissa(cast<FloatType>(element).getFPMantissaWidth() - 1),
        exponent(width - 1 - mantissa),
        keptMantissa(std::min<unsigned>(op.getMantissaBits(), mantissa)),
        keptExponent(std::min<unsigned>(op.getExponentBits(), exponent)) {}

  int64_t bias() const { return (int64_t(1) << (exponent - 1)) - 1; }
  int64_t keptBias() const { return (int64_t(1) << (keptExponent - 1)) - 1; }
};

/// Integer code on the bits of one element.
struct BitCode {
  OpBuilder &b;
  Location loc;
  IntegerType type;

  Value constant(const APInt &value) {
    return arith::ConstantOp::create(b, loc, b.getIntegerAttr(type, value));
  }
  Value constant(uint64_t value) {
    return constant(APInt(type.getWidth(), value));
  }
  Value land(Value x, Value y) { return arith::AndIOp::create(b, loc, x, y); }
  Value add(Value x, Value y) { return arith::AddIOp::create(b, loc, x, y); }
  Value choose(arith::CmpIPredicate predicate, Value x, Value y, Value ifTrue,
               Value ifFalse) {
    Value holds = arith::CmpIOp::create(b, loc, predicate, x, y);
    return arith::SelectOp::create(b, loc, holds, ifTrue, ifFalse);
  }

  /// Rounds to nearest even at the lowest bit that is kept; a carry out of the
  /// mantissa is the next exponent.
  Value roundMantissa(Value bits, const Reduction &r) {
    unsigned dropped = r.mantissa - r.keptMantissa;
    if (dropped == 0)
      return bits;
    Value shift = constant(dropped);
    Value last = land(arith::ShRUIOp::create(b, loc, bits, shift), constant(1));
    Value bias = add(constant((uint64_t(1) << (dropped - 1)) - 1), last);
    APInt mask = APInt::getHighBitsSet(r.width, r.width - dropped);
    return land(add(bits, bias), constant(mask));
  }

  /// Infinite above the exponents that are kept, zero below.
  Value limitExponent(Value bits, const Reduction &r) {
    if (r.keptExponent == r.exponent)
      return bits;
    APInt fieldMask = APInt::getBitsSet(r.width, r.mantissa, r.width - 1);
    auto at = [&](int64_t exponent) {
      return constant(APInt(r.width, exponent).shl(r.mantissa));
    };
    Value field = land(bits, constant(fieldMask));
    Value sign = land(bits, constant(APInt::getSignMask(r.width)));
    Value infinity = arith::OrIOp::create(b, loc, sign, constant(fieldMask));
    Value high = choose(arith::CmpIPredicate::ugt, field,
                        at(r.bias() + r.keptBias()), infinity, bits);
    return choose(arith::CmpIPredicate::ule, field, at(r.bias() - r.keptBias()),
                  sign, high);
  }
};
} // namespace

static Value emitReducePrecision(OpBuilder &b, Location loc, Operation *op,
                                 ValueRange x) {
  Type element = x[0].getType();
  Reduction r(cast<ReducePrecisionOp>(op), element);
  BitCode code{b, loc, b.getIntegerType(r.width)};
  Value bits = arith::BitcastOp::create(b, loc, code.type, x[0]);
  bits = code.limitExponent(code.roundMantissa(bits, r), r);
  Value reduced = arith::BitcastOp::create(b, loc, element, bits);
  Value isNaN =
      arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNO, x[0], x[0]);
  return arith::SelectOp::create(b, loc, isNaN, x[0], reduced);
}

/// The same in double, without bits: a multiple of the quantum of the exponent.
static double reduceFloat(double x, const Reduction &r) {
  if (x == 0 || !std::isfinite(x))
    return x;
  int leastExponent = 1 - int(r.bias());
  int quantum = std::max(std::ilogb(x), leastExponent) - int(r.keptMantissa);
  double y = std::ldexp(std::nearbyint(std::ldexp(x, -quantum)), quantum);
  if (r.keptExponent == r.exponent && y != 0)
    return std::ilogb(y) > r.bias()
               ? std::copysign(std::numeric_limits<double>::infinity(), x)
               : y;
  if (y == 0 || std::ilogb(y) < 1 - r.keptBias())
    return std::copysign(0.0, x);
  return std::ilogb(y) > r.keptBias()
             ? std::copysign(std::numeric_limits<double>::infinity(), x)
             : y;
}

static LogicalResult
evaluateReducePrecision(Operation *op, ArrayRef<HostTensor> operands,
                        SmallVectorImpl<HostTensor> &results) {
  const HostTensor &x = operands[0];
  Reduction r(cast<ReducePrecisionOp>(op), x.getElementType());
  HostTensor result(x.getElementType(), x.getShape());
  for (int64_t i = 0; i < x.getNumElements(); ++i)
    result.setFloat(i, reduceFloat(x.getFloat(i), r));
  results.push_back(std::move(result));
  return success();
}

//===----------------------------------------------------------------------===//
// Registration
//===----------------------------------------------------------------------===//

static const PointwiseAnswers ceilAnswers = {1,
                                             0,
                                             nullptr,
                                             nullptr,
                                             emitRounding<math::CeilOp>,
                                             evaluateUnary<ceilFloat>};
static const PointwiseAnswers floorAnswers = {1,
                                              0,
                                              nullptr,
                                              nullptr,
                                              emitRounding<math::FloorOp>,
                                              evaluateUnary<floorFloat>};
static const PointwiseAnswers roundAnswers = {
    4, 0, nullptr, nullptr, emitRound<false>, evaluateUnary<roundFloat>};
static const PointwiseAnswers roundEvenAnswers = {
    6, 0, nullptr, nullptr, emitRound<true>, evaluateUnary<roundEvenFloat>};
static const PointwiseAnswers reducePrecisionAnswers = {
    6,
    0,
    nullptr,
    deriveReducePrecision,
    emitReducePrecision,
    evaluateReducePrecision};

void stablehlo::registerRoundingModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, StableHLODialect *) {
    attachPointwise<CeilOp, ceilAnswers>(context);
    attachPointwise<FloorOp, floorAnswers>(context);
    attachPointwise<RoundOp, roundAnswers>(context);
    attachPointwise<RoundNearestEvenOp, roundEvenAnswers>(context);
    attachPointwise<ReducePrecisionOp, reducePrecisionAnswers>(context);
  });
}
