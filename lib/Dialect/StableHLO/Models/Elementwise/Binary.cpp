//===- Binary.cpp - Answers of arithmetic on two operands -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// add, subtract, multiply, divide, remainder, power, maximum, minimum, atan2.
// With y the result and g its cotangent, the operands' cotangents are
//
//   add g, g                  subtract g, -g
//   multiply g*b, g*a         divide g/b, -g*y/b
//   remainder g, -g*trunc(a/b)
//   power(x, p)               g * select(p == 0, 0, p * x^(p-1)),
//                             g * y * log(select(x == 0, 1, x))
//   atan2(a, b)               g*b/(a*a+b*b), -g*a/(a*a+b*b)
//   maximum, minimum          g to the chosen operand, half to each on a tie
//
// A constant exponent of 1, 2 or 3 makes multiplications. On i1 add and maximum
// are or, multiply and minimum are and.
//
// Integers: division by zero gives -1 (all bits set), its remainder the
// dividend; the smallest integer divided by -1 is itself, with remainder 0. So
// no kernel traps, and CPU and CUDA agree.
//
// Test: test/Dialect/StableHLO/Models/BinaryTest.cpp
//===----------------------------------------------------------------------===//

#include "../Splat.h"
#include "llmc/Dialect/Graph/IR/Pointwise.h"
#include "llmc/Dialect/StableHLO/IR/Builders.h"
#include "llmc/Dialect/StableHLO/Models/Models.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include <cmath>

using namespace mlir;
using namespace llmc;
using namespace llmc::graph;
using namespace llmc::stablehlo;

//===----------------------------------------------------------------------===//
// Which partial values pass
//===----------------------------------------------------------------------===//

static bool isBool(Operation *op) {
  return getElement(op->getResult(0)).isInteger(1);
}

static void carryAdd(Operation *op, graph::ShardingRule &rule) {
  rule.addLinear(isBool(op) ? ReductionKind::bitOr : ReductionKind::sum,
                 {{0, 1}});
  if (!isBool(op))
    rule.addends = {0, 1};
}

static void carrySubtract(Operation *, graph::ShardingRule &rule) {
  rule.addLinear(ReductionKind::sum, {{0, 1}});
}

static void carryMultiply(Operation *op, graph::ShardingRule &rule) {
  if (isBool(op))
    return rule.addLinear(ReductionKind::bitAnd, {{0, 1}});
  rule.addLinear(ReductionKind::sum, {{0}, {1}});
  rule.addLinear(ReductionKind::product, {{0, 1}});
}

/// Integers truncate: only a float quotient is linear in the dividend.
static void carryDivide(Operation *op, graph::ShardingRule &rule) {
  if (isa<FloatType>(getElement(op->getResult(0))))
    rule.addLinear(ReductionKind::sum, {{0}});
}

static void carryMaximum(Operation *op, graph::ShardingRule &rule) {
  rule.addLinear(isBool(op) ? ReductionKind::bitOr : ReductionKind::max,
                 {{0, 1}});
}

static void carryMinimum(Operation *op, graph::ShardingRule &rule) {
  rule.addLinear(isBool(op) ? ReductionKind::bitAnd : ReductionKind::min,
                 {{0, 1}});
}

//===----------------------------------------------------------------------===//
// Derivatives
//===----------------------------------------------------------------------===//

static LogicalResult deriveAdd(Derivation &d) {
  d.gradients[0] = d.cotangent;
  d.gradients[1] = d.cotangent;
  return success();
}

static LogicalResult deriveSubtract(Derivation &d) {
  d.gradients[0] = d.cotangent;
  if (d.needed[1])
    d.gradients[1] = neg(d.builder, d.loc(), d.cotangent);
  return success();
}

static LogicalResult deriveMultiply(Derivation &d) {
  for (unsigned i : {0u, 1u})
    if (d.needed[i])
      d.gradients[i] = mul(d.builder, d.loc(), d.cotangent, d.operand(1 - i));
  return success();
}

static LogicalResult deriveDivide(Derivation &d) {
  Value quotient = div(d.builder, d.loc(), d.cotangent, d.operand(1));
  d.gradients[0] = quotient;
  if (d.needed[1])
    d.gradients[1] =
        neg(d.builder, d.loc(), mul(d.builder, d.loc(), quotient, d.result()));
  return success();
}

static LogicalResult deriveRemainder(Derivation &d) {
  OpBuilder &b = d.builder;
  Location loc = d.loc();
  d.gradients[0] = d.cotangent;
  if (!d.needed[1])
    return success();
  Value quotient = div(b, loc, d.operand(0), d.operand(1));
  Value magnitude = FloorOp::create(b, loc, stablehlo::abs(b, loc, quotient));
  Value truncated = mul(b, loc, sign(b, loc, quotient), magnitude);
  d.gradients[1] = neg(b, loc, mul(b, loc, d.cotangent, truncated));
  return success();
}

static LogicalResult deriveAtan2(Derivation &d) {
  OpBuilder &b = d.builder;
  Location loc = d.loc();
  Value y = d.operand(0), x = d.operand(1);
  Value square = add(b, loc, mul(b, loc, y, y), mul(b, loc, x, x));
  if (d.needed[0])
    d.gradients[0] = mul(b, loc, d.cotangent, div(b, loc, x, square));
  if (d.needed[1])
    d.gradients[1] =
        mul(b, loc, d.cotangent, div(b, loc, neg(b, loc, y), square));
  return success();
}

/// The derivative p * x^(p-1) for an exponent that is the same everywhere.
static Value buildConstantPowerSlope(OpBuilder &b, Location loc, Value x,
                                     Value exponent, double p) {
  if (p == 0)
    return constantLike(b, loc, x, 0);
  if (p == 1)
    return constantLike(b, loc, x, 1);
  if (p == 2)
    return mul(b, loc, exponent, x);
  if (p == 3)
    return mul(b, loc, exponent, mul(b, loc, x, x));
  return mul(b, loc, exponent,
             stablehlo::pow(b, loc, x, constantLike(b, loc, x, p - 1)));
}

/// The same for any exponent; 0 where p is 0, also at x = 0.
static Value buildPowerSlope(OpBuilder &b, Location loc, Value x, Value p) {
  Value zero = constantLike(b, loc, p, 0);
  Value one = constantLike(b, loc, p, 1);
  Value lower = stablehlo::pow(b, loc, x, sub(b, loc, p, one));
  Value isZero = compare(b, loc, ComparisonDirection::EQ, p, zero);
  return select(b, loc, isZero, zero, mul(b, loc, p, lower));
}

static LogicalResult derivePower(Derivation &d) {
  OpBuilder &b = d.builder;
  Location loc = d.loc();
  Value x = d.operand(0), p = d.operand(1);
  if (d.needed[0]) {
    std::optional<double> constant = getSplat(p);
    Value slope = constant ? buildConstantPowerSlope(b, loc, x, p, *constant)
                           : buildPowerSlope(b, loc, x, p);
    d.gradients[0] = mul(b, loc, d.cotangent, slope);
  }
  if (d.needed[1]) {
    Value isZero =
        compare(b, loc, ComparisonDirection::EQ, x, constantLike(b, loc, x, 0));
    Value safe = select(b, loc, isZero, constantLike(b, loc, x, 1), x);
    Value slope = mul(b, loc, d.result(), stablehlo::log(b, loc, safe));
    d.gradients[1] = mul(b, loc, d.cotangent, slope);
  }
  return success();
}

/// Each operand gets g where it is chosen; on a tie half of it.
static LogicalResult deriveExtremum(Derivation &d, ComparisonDirection chosen) {
  OpBuilder &b = d.builder;
  Location loc = d.loc();
  Value zero = constantLike(b, loc, d.cotangent, 0);
  Value half = mul(b, loc, d.cotangent, constantLike(b, loc, d.cotangent, 0.5));
  Value isTie =
      compare(b, loc, ComparisonDirection::EQ, d.operand(0), d.operand(1));
  for (unsigned i : {0u, 1u}) {
    if (!d.needed[i])
      continue;
    Value isChosen = compare(b, loc, chosen, d.operand(i), d.operand(1 - i));
    Value whole = select(b, loc, isChosen, d.cotangent, zero);
    d.gradients[i] = select(b, loc, isTie, half, whole);
  }
  return success();
}

static LogicalResult deriveMaximum(Derivation &d) {
  return deriveExtremum(d, ComparisonDirection::GT);
}

static LogicalResult deriveMinimum(Derivation &d) {
  return deriveExtremum(d, ComparisonDirection::LT);
}

//===----------------------------------------------------------------------===//
// Scalar code
//===----------------------------------------------------------------------===//

template <typename FloatOp, typename IntOp, typename BoolOp = IntOp>
static Value emitBinary(OpBuilder &b, Location loc, Operation *, ValueRange x) {
  if (isa<FloatType>(x[0].getType()))
    return FloatOp::create(b, loc, x[0], x[1]);
  if (x[0].getType().isInteger(1))
    return BoolOp::create(b, loc, x[0], x[1]);
  return IntOp::create(b, loc, x[0], x[1]);
}

template <typename FloatOp, typename SignedOp, typename UnsignedOp,
          typename BoolOp>
static Value emitExtremum(OpBuilder &b, Location loc, Operation *op,
                          ValueRange x) {
  if (isUnsignedElement(getElement(op->getResult(0))))
    return emitBinary<FloatOp, UnsignedOp, BoolOp>(b, loc, op, x);
  return emitBinary<FloatOp, SignedOp, BoolOp>(b, loc, op, x);
}

/// x / y or its remainder, without a trap: the divisor is 1 where the quotient
/// does not exist.
template <typename SignedOp, typename UnsignedOp>
static Value emitSafeDivision(OpBuilder &b, Location loc, Operation *op,
                              Value x, Value y, Value whenZero) {
  Type type = x.getType();
  Value zero = scalarConstant(b, loc, type, 0);
  Value one = scalarConstant(b, loc, type, 1);
  Value isZero =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, y, zero);
  if (isUnsignedElement(getElement(op->getResult(0)))) {
    Value safe = arith::SelectOp::create(b, loc, isZero, one, y);
    Value value = UnsignedOp::create(b, loc, x, safe);
    return arith::SelectOp::create(b, loc, isZero, whenZero, value);
  }
  Value lowest = arith::ConstantOp::create(
      b, loc,
      b.getIntegerAttr(type,
                       APInt::getSignedMinValue(type.getIntOrFloatBitWidth())));
  Value isLowest =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, x, lowest);
  Value isMinusOne = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, y,
                                           scalarConstant(b, loc, type, -1));
  Value overflows = arith::AndIOp::create(b, loc, isLowest, isMinusOne);
  Value isUnsafe = arith::OrIOp::create(b, loc, isZero, overflows);
  Value safe = arith::SelectOp::create(b, loc, isUnsafe, one, y);
  Value value = SignedOp::create(b, loc, x, safe);
  return arith::SelectOp::create(b, loc, isZero, whenZero, value);
}

static Value emitDivide(OpBuilder &b, Location loc, Operation *op,
                        ValueRange x) {
  if (isa<FloatType>(x[0].getType()))
    return arith::DivFOp::create(b, loc, x[0], x[1]);
  Value ones = scalarConstant(b, loc, x[0].getType(), -1);
  return emitSafeDivision<arith::DivSIOp, arith::DivUIOp>(b, loc, op, x[0],
                                                          x[1], ones);
}

static Value emitRemainder(OpBuilder &b, Location loc, Operation *op,
                           ValueRange x) {
  if (isa<FloatType>(x[0].getType()))
    return arith::RemFOp::create(b, loc, x[0], x[1]);
  return emitSafeDivision<arith::RemSIOp, arith::RemUIOp>(b, loc, op, x[0],
                                                          x[1], x[0]);
}

/// x^p by squaring over all bits of p, for p read as unsigned.
static Value emitIntPowerBySquaring(OpBuilder &b, Location loc, Value x,
                                    Value p) {
  Type type = x.getType();
  Value zero = scalarConstant(b, loc, type, 0);
  Value result = scalarConstant(b, loc, type, 1);
  Value base = x;
  for (unsigned bit = 0; bit < type.getIntOrFloatBitWidth(); ++bit) {
    Value mask = arith::ConstantOp::create(
        b, loc,
        b.getIntegerAttr(
            type, APInt::getOneBitSet(type.getIntOrFloatBitWidth(), bit)));
    Value isSet =
        arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne,
                              arith::AndIOp::create(b, loc, p, mask), zero);
    Value product = arith::MulIOp::create(b, loc, result, base);
    result = arith::SelectOp::create(b, loc, isSet, product, result);
    base = arith::MulIOp::create(b, loc, base, base);
  }
  return result;
}

/// The angle of two zeros is that of (copysign(1, x), y): upstream folds
/// atan2 of two zeros to NaN.
static Value emitAtan2(OpBuilder &b, Location loc, Operation *, ValueRange v) {
  Value y = v[0], x = v[1];
  Value zero = scalarConstant(b, loc, x.getType(), 0);
  auto isZero = [&](Value value) {
    return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OEQ, value,
                                 zero);
  };
  Value both = arith::AndIOp::create(b, loc, isZero(x), isZero(y));
  Value one = scalarConstant(b, loc, x.getType(), 1);
  Value unit = math::CopySignOp::create(b, loc, one, x);
  x = arith::SelectOp::create(b, loc, both, unit, x);
  return math::Atan2Op::create(b, loc, y, x);
}

/// Integers: a negative exponent gives 1 or -1 for such bases and 0 otherwise.
static Value emitPower(OpBuilder &b, Location loc, Operation *op,
                       ValueRange x) {
  Type type = x[0].getType();
  if (isa<FloatType>(type))
    return math::PowFOp::create(b, loc, x[0], x[1]);
  Value power = emitIntPowerBySquaring(b, loc, x[0], x[1]);
  if (isUnsignedElement(getElement(op->getResult(0))))
    return power;
  // The squarings of 1 and -1 are right for every exponent, by its lowest bit.
  Value zero = scalarConstant(b, loc, type, 0);
  Value one = scalarConstant(b, loc, type, 1);
  Value square = arith::MulIOp::create(b, loc, x[0], x[0]);
  Value isUnit =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, square, one);
  Value isPlusOrMinusOne = arith::AndIOp::create(
      b, loc, isUnit,
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ule,
                            arith::AddIOp::create(b, loc, x[0], one),
                            scalarConstant(b, loc, type, 2)));
  Value isNegative =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, x[1], zero);
  Value inverse =
      arith::SelectOp::create(b, loc, isPlusOrMinusOne, power, zero);
  return arith::SelectOp::create(b, loc, isNegative, inverse, power);
}

//===----------------------------------------------------------------------===//
// Evaluation
//===----------------------------------------------------------------------===//

static double addFloat(double x, double y) { return x + y; }
static double subtractFloat(double x, double y) { return x - y; }
static double multiplyFloat(double x, double y) { return x * y; }
static double divideFloat(double x, double y) { return x / y; }
static double remainderFloat(double x, double y) { return std::fmod(x, y); }
static double powerFloat(double x, double y) { return std::pow(x, y); }
static double atan2Float(double y, double x) { return std::atan2(y, x); }

/// NaN if either is; of two zeros the positive one.
static double maximumFloat(double x, double y) {
  if (std::isnan(x) || std::isnan(y))
    return std::nan("");
  if (x == y)
    return std::signbit(x) ? y : x;
  return x > y ? x : y;
}

static double minimumFloat(double x, double y) { return -maximumFloat(-x, -y); }

static uint64_t asUnsigned(int64_t x) { return static_cast<uint64_t>(x); }

static int64_t addInt(Type type, int64_t x, int64_t y) {
  return type.isInteger(1) ? x | y : int64_t(asUnsigned(x) + asUnsigned(y));
}
static int64_t subtractInt(Type, int64_t x, int64_t y) {
  return int64_t(asUnsigned(x) - asUnsigned(y));
}
static int64_t multiplyInt(Type, int64_t x, int64_t y) {
  return int64_t(asUnsigned(x) * asUnsigned(y));
}
static int64_t divideInt(Type type, int64_t x, int64_t y) {
  if (y == 0)
    return -1;
  if (isUnsignedElement(type))
    return int64_t(asUnsigned(x) / asUnsigned(y));
  return y == -1 ? int64_t(-asUnsigned(x)) : x / y;
}
static int64_t remainderInt(Type type, int64_t x, int64_t y) {
  if (y == 0)
    return x;
  if (isUnsignedElement(type))
    return int64_t(asUnsigned(x) % asUnsigned(y));
  return y == -1 ? 0 : x % y;
}
static int64_t maximumInt(Type type, int64_t x, int64_t y) {
  if (isUnsignedElement(type))
    return int64_t(std::max(asUnsigned(x), asUnsigned(y)));
  return std::max(x, y);
}
static int64_t minimumInt(Type type, int64_t x, int64_t y) {
  if (isUnsignedElement(type))
    return int64_t(std::min(asUnsigned(x), asUnsigned(y)));
  return std::min(x, y);
}
static int64_t powerInt(Type type, int64_t x, int64_t y) {
  if (!isUnsignedElement(type) && y < 0)
    return x == 1 ? 1 : x == -1 ? (y & 1 ? -1 : 1) : 0;
  uint64_t result = 1, base = asUnsigned(x);
  for (uint64_t rest = asUnsigned(y); rest; rest >>= 1, base *= base)
    if (rest & 1)
      result *= base;
  return int64_t(result);
}

//===----------------------------------------------------------------------===//
// Registration
//===----------------------------------------------------------------------===//

static const PointwiseAnswers addAnswers = {
    1,
    0,
    carryAdd,
    deriveAdd,
    emitBinary<arith::AddFOp, arith::AddIOp, arith::OrIOp>,
    evaluateBinary<addFloat, addInt>};
static const PointwiseAnswers subtractAnswers = {
    1,
    0,
    carrySubtract,
    deriveSubtract,
    emitBinary<arith::SubFOp, arith::SubIOp>,
    evaluateBinary<subtractFloat, subtractInt>};
static const PointwiseAnswers multiplyAnswers = {
    1,
    0,
    carryMultiply,
    deriveMultiply,
    emitBinary<arith::MulFOp, arith::MulIOp, arith::AndIOp>,
    evaluateBinary<multiplyFloat, multiplyInt>};
static const PointwiseAnswers divideAnswers = {
    1,           0,
    carryDivide, deriveDivide,
    emitDivide,  evaluateBinary<divideFloat, divideInt>};
static const PointwiseAnswers remainderAnswers = {
    0,
    1,
    nullptr,
    deriveRemainder,
    emitRemainder,
    evaluateBinary<remainderFloat, remainderInt>};
static const PointwiseAnswers powerAnswers = {
    0,           1,         nullptr,
    derivePower, emitPower, evaluateBinary<powerFloat, powerInt>};
static const PointwiseAnswers atan2Answers = {
    0, 1, nullptr, deriveAtan2, emitAtan2, evaluateBinary<atan2Float>};
static const PointwiseAnswers maximumAnswers = {
    1,
    0,
    carryMaximum,
    deriveMaximum,
    emitExtremum<arith::MaximumFOp, arith::MaxSIOp, arith::MaxUIOp,
                 arith::OrIOp>,
    evaluateBinary<maximumFloat, maximumInt>};
static const PointwiseAnswers minimumAnswers = {
    1,
    0,
    carryMinimum,
    deriveMinimum,
    emitExtremum<arith::MinimumFOp, arith::MinSIOp, arith::MinUIOp,
                 arith::AndIOp>,
    evaluateBinary<minimumFloat, minimumInt>};

void stablehlo::registerBinaryModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, StableHLODialect *) {
    attachPointwise<AddOp, addAnswers>(context);
    attachPointwise<SubtractOp, subtractAnswers>(context);
    attachPointwise<MulOp, multiplyAnswers>(context);
    attachPointwise<DivOp, divideAnswers>(context);
    attachPointwise<RemOp, remainderAnswers>(context);
    attachPointwise<PowOp, powerAnswers>(context);
    attachPointwise<Atan2Op, atan2Answers>(context);
    attachPointwise<MaxOp, maximumAnswers>(context);
    attachPointwise<MinOp, minimumAnswers>(context);
  });
}
