//===- Unary.cpp - Answers of functions of one operand --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// abs, negate, sign and the transcendental functions. With y the
// result and g its cotangent, the operand's cotangent is
//
//   exponential g*y          exponential_minus_one g*(y+1)
//   log g/x                  log_plus_one g/(1+x)
//   logistic g*y*(1-y)       tanh g*(1-y*y)       (f16, bf16: in f32)
//   tan g*(1+y*y)            (likewise)
//   sqrt g*0.5/y             rsqrt -0.5*g*y/x     cbrt g/(3*y*y)
//   sine g*cos x             cosine -g*sin x
//   abs g where x >= 0, -g elsewhere (so g at 0, as JAX)
//   negate -g
//
// The result is used rather than the operand where both would do: it is often
// kept anyway. sign is inactive.
//
// Test: test/Dialect/StableHLO/Models/UnaryTest.cpp
//===----------------------------------------------------------------------===//

#include "llmc/Dialect/Graph/IR/Pointwise.h"
#include "llmc/Dialect/StableHLO/IR/Builders.h"
#include "llmc/Dialect/StableHLO/IR/Slopes.h"
#include "llmc/Dialect/StableHLO/Models/Models.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include <cmath>

using namespace mlir;
using namespace llmc;
using namespace llmc::graph;
using namespace llmc::stablehlo;

//===----------------------------------------------------------------------===//
// Rules and derivatives
//===----------------------------------------------------------------------===//

static void carrySum(Operation *, graph::ShardingRule &rule) {
  rule.addLinear(ReductionKind::sum, {{0}});
}

static LogicalResult deriveNegate(Derivation &d) {
  d.gradients[0] = neg(d.builder, d.loc(), d.cotangent);
  return success();
}

static LogicalResult deriveAbs(Derivation &d) {
  Value zero = constantLike(d.builder, d.loc(), d.operand(0), 0);
  Value isUp =
      compare(d.builder, d.loc(), ComparisonDirection::GE, d.operand(0), zero);
  d.gradients[0] = select(d.builder, d.loc(), isUp, d.cotangent,
                          neg(d.builder, d.loc(), d.cotangent));
  return success();
}

static LogicalResult deriveExp(Derivation &d) {
  d.gradients[0] = mul(d.builder, d.loc(), d.cotangent, d.result());
  return success();
}

static LogicalResult deriveExpm1(Derivation &d) {
  Value one = constantLike(d.builder, d.loc(), d.result(), 1);
  Value slope = add(d.builder, d.loc(), d.result(), one);
  d.gradients[0] = mul(d.builder, d.loc(), d.cotangent, slope);
  return success();
}

static LogicalResult deriveLog(Derivation &d) {
  d.gradients[0] = div(d.builder, d.loc(), d.cotangent, d.operand(0));
  return success();
}

static LogicalResult deriveLog1p(Derivation &d) {
  Value one = constantLike(d.builder, d.loc(), d.operand(0), 1);
  Value shifted = add(d.builder, d.loc(), one, d.operand(0));
  d.gradients[0] = div(d.builder, d.loc(), d.cotangent, shifted);
  return success();
}

static LogicalResult deriveLogistic(Derivation &d) {
  return deriveBySlope(d, d.result(), [](OpBuilder &b, Location loc, Value y) {
    return mul(b, loc, y, sub(b, loc, constantLike(b, loc, y, 1), y));
  });
}

static LogicalResult deriveTanh(Derivation &d) {
  return deriveBySlope(d, d.result(), [](OpBuilder &b, Location loc, Value y) {
    return sub(b, loc, constantLike(b, loc, y, 1), mul(b, loc, y, y));
  });
}

static LogicalResult deriveTan(Derivation &d) {
  return deriveBySlope(d, d.result(), [](OpBuilder &b, Location loc, Value y) {
    return add(b, loc, constantLike(b, loc, y, 1), mul(b, loc, y, y));
  });
}

static LogicalResult deriveSqrt(Derivation &d) {
  Value half = constantLike(d.builder, d.loc(), d.result(), 0.5);
  Value scaled = mul(d.builder, d.loc(), d.cotangent, half);
  d.gradients[0] = div(d.builder, d.loc(), scaled, d.result());
  return success();
}

static LogicalResult deriveRsqrt(Derivation &d) {
  Value factor = constantLike(d.builder, d.loc(), d.result(), -0.5);
  Value slope = mul(d.builder, d.loc(), factor,
                    div(d.builder, d.loc(), d.result(), d.operand(0)));
  d.gradients[0] = mul(d.builder, d.loc(), d.cotangent, slope);
  return success();
}

static LogicalResult deriveCbrt(Derivation &d) {
  Value three = constantLike(d.builder, d.loc(), d.result(), 3);
  Value square = mul(d.builder, d.loc(), d.result(), d.result());
  Value slope = mul(d.builder, d.loc(), three, square);
  d.gradients[0] = div(d.builder, d.loc(), d.cotangent, slope);
  return success();
}

static LogicalResult deriveSine(Derivation &d) {
  Value slope = cosine(d.builder, d.loc(), d.operand(0));
  d.gradients[0] = mul(d.builder, d.loc(), d.cotangent, slope);
  return success();
}

static LogicalResult deriveCosine(Derivation &d) {
  Value slope = sine(d.builder, d.loc(), d.operand(0));
  Value product = mul(d.builder, d.loc(), d.cotangent, slope);
  d.gradients[0] = neg(d.builder, d.loc(), product);
  return success();
}

//===----------------------------------------------------------------------===//
// Scalar code
//===----------------------------------------------------------------------===//

template <typename FloatOp>
static Value emitFloat(OpBuilder &b, Location loc, Operation *, ValueRange x) {
  return FloatOp::create(b, loc, x[0]);
}

static Value emitAbs(OpBuilder &b, Location loc, Operation *, ValueRange x) {
  if (isa<FloatType>(x[0].getType()))
    return math::AbsFOp::create(b, loc, x[0]);
  return math::AbsIOp::create(b, loc, x[0]);
}

static Value emitNegate(OpBuilder &b, Location loc, Operation *, ValueRange x) {
  if (isa<FloatType>(x[0].getType()))
    return arith::NegFOp::create(b, loc, x[0]);
  Value zero = scalarConstant(b, loc, x[0].getType(), 0);
  return arith::SubIOp::create(b, loc, zero, x[0]);
}

/// Floats: zeros and NaN stay as they are.
static Value emitSign(OpBuilder &b, Location loc, Operation *, ValueRange x) {
  Type type = x[0].getType();
  Value zero = scalarConstant(b, loc, type, 0);
  Value one = scalarConstant(b, loc, type, 1);
  if (isa<FloatType>(type)) {
    Value isSigned =
        arith::CmpFOp::create(b, loc, arith::CmpFPredicate::ONE, x[0], zero);
    Value unit = math::CopySignOp::create(b, loc, one, x[0]);
    return arith::SelectOp::create(b, loc, isSigned, unit, x[0]);
  }
  Value minusOne = scalarConstant(b, loc, type, -1);
  Value isNegative =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::slt, x[0], zero);
  Value isZero =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, x[0], zero);
  Value unit = arith::SelectOp::create(b, loc, isNegative, minusOne, one);
  return arith::SelectOp::create(b, loc, isZero, zero, unit);
}

/// 1 / (1 + exp(-x)): 0 for large negative x, since exp is infinite there.
static Value emitLogistic(OpBuilder &b, Location loc, Operation *,
                          ValueRange x) {
  Value one = scalarConstant(b, loc, x[0].getType(), 1);
  Value decay =
      math::ExpOp::create(b, loc, arith::NegFOp::create(b, loc, x[0]));
  Value sum = arith::AddFOp::create(b, loc, one, decay);
  return arith::DivFOp::create(b, loc, one, sum);
}

//===----------------------------------------------------------------------===//
// Evaluation
//===----------------------------------------------------------------------===//

static double negateFloat(double x) { return -x; }
static double absFloat(double x) { return std::fabs(x); }
static double signFloat(double x) { return x > 0 ? 1 : x < 0 ? -1 : x; }
static double cbrtFloat(double x) { return std::cbrt(x); }
static double cosFloat(double x) { return std::cos(x); }
static double expFloat(double x) { return std::exp(x); }
static double expm1Float(double x) { return std::expm1(x); }
static double logFloat(double x) { return std::log(x); }
static double log1pFloat(double x) { return std::log1p(x); }
static double logisticFloat(double x) { return 1 / (1 + std::exp(-x)); }
static double rsqrtFloat(double x) { return 1 / std::sqrt(x); }
static double sinFloat(double x) { return std::sin(x); }
static double sqrtFloat(double x) { return std::sqrt(x); }
static double tanFloat(double x) { return std::tan(x); }
static double tanhFloat(double x) { return std::tanh(x); }

static int64_t negateInt(Type, int64_t x) {
  return static_cast<int64_t>(-static_cast<uint64_t>(x));
}
static int64_t absInt(Type type, int64_t x) {
  return x < 0 ? negateInt(type, x) : x;
}
static int64_t signInt(Type, int64_t x) { return x > 0 ? 1 : x < 0 ? -1 : 0; }

//===----------------------------------------------------------------------===//
// Registration
//===----------------------------------------------------------------------===//

static const PointwiseAnswers negateAnswers = {
    1,          0,
    carrySum,   deriveNegate,
    emitNegate, evaluateUnary<negateFloat, negateInt>};
static const PointwiseAnswers absAnswers = {
    1, 0, nullptr, deriveAbs, emitAbs, evaluateUnary<absFloat, absInt>};
static const PointwiseAnswers signAnswers = {
    1, 0, nullptr, nullptr, emitSign, evaluateUnary<signFloat, signInt>};
static const PointwiseAnswers cbrtAnswers = {0,
                                             1,
                                             nullptr,
                                             deriveCbrt,
                                             emitFloat<math::CbrtOp>,
                                             evaluateUnary<cbrtFloat>};
static const PointwiseAnswers cosineAnswers = {0,
                                               1,
                                               nullptr,
                                               deriveCosine,
                                               emitFloat<math::CosOp>,
                                               evaluateUnary<cosFloat>};
static const PointwiseAnswers expAnswers = {
    0, 1, nullptr, deriveExp, emitFloat<math::ExpOp>, evaluateUnary<expFloat>};
static const PointwiseAnswers expm1Answers = {0,
                                              1,
                                              nullptr,
                                              deriveExpm1,
                                              emitFloat<math::ExpM1Op>,
                                              evaluateUnary<expm1Float>};
static const PointwiseAnswers logAnswers = {
    0, 1, nullptr, deriveLog, emitFloat<math::LogOp>, evaluateUnary<logFloat>};
static const PointwiseAnswers log1pAnswers = {0,
                                              1,
                                              nullptr,
                                              deriveLog1p,
                                              emitFloat<math::Log1pOp>,
                                              evaluateUnary<log1pFloat>};
static const PointwiseAnswers logisticAnswers = {
    3, 1, nullptr, deriveLogistic, emitLogistic, evaluateUnary<logisticFloat>};
static const PointwiseAnswers rsqrtAnswers = {0,
                                              1,
                                              nullptr,
                                              deriveRsqrt,
                                              emitFloat<math::RsqrtOp>,
                                              evaluateUnary<rsqrtFloat>};
static const PointwiseAnswers sineAnswers = {
    0, 1, nullptr, deriveSine, emitFloat<math::SinOp>, evaluateUnary<sinFloat>};
static const PointwiseAnswers sqrtAnswers = {1,
                                             0,
                                             nullptr,
                                             deriveSqrt,
                                             emitFloat<math::SqrtOp>,
                                             evaluateUnary<sqrtFloat>};
static const PointwiseAnswers tanAnswers = {
    0, 1, nullptr, deriveTan, emitFloat<math::TanOp>, evaluateUnary<tanFloat>};
static const PointwiseAnswers tanhAnswers = {0,
                                             1,
                                             nullptr,
                                             deriveTanh,
                                             emitFloat<math::TanhOp>,
                                             evaluateUnary<tanhFloat>};

void stablehlo::registerUnaryModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, StableHLODialect *) {
    attachPointwise<NegOp, negateAnswers>(context);
    attachPointwise<AbsOp, absAnswers>(context);
    attachPointwise<SignOp, signAnswers>(context);
    attachPointwise<CbrtOp, cbrtAnswers>(context);
    attachPointwise<CosineOp, cosineAnswers>(context);
    attachPointwise<ExpOp, expAnswers>(context);
    attachPointwise<Expm1Op, expm1Answers>(context);
    attachPointwise<LogOp, logAnswers>(context);
    attachPointwise<Log1pOp, log1pAnswers>(context);
    attachPointwise<LogisticOp, logisticAnswers>(context);
    attachPointwise<RsqrtOp, rsqrtAnswers>(context);
    attachPointwise<SineOp, sineAnswers>(context);
    attachPointwise<SqrtOp, sqrtAnswers>(context);
    attachPointwise<TanOp, tanAnswers>(context);
    attachPointwise<TanhOp, tanhAnswers>(context);
  });
}
