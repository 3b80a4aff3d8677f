//===- Models.cpp - The five answers of the chlo ops ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// square, erf, erfc. With g the result's cotangent, the operand's is
//
//   square 2*x*g     erf 2/sqrt(pi) * exp(-x*x) * g     erfc minus that
//
// Test: test/Dialect/Chlo/Models/ChloModelsTest.cpp
//===----------------------------------------------------------------------===//

#include "llmc/Dialect/Chlo/Models/Models.h"
#include "llmc/Dialect/Chlo/IR/Chlo.h"
#include "llmc/Dialect/Graph/IR/Pointwise.h"
#include "llmc/Dialect/StableHLO/IR/Builders.h"
#include "llmc/Dialect/StableHLO/IR/Slopes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include <cmath>

using namespace mlir;
using namespace llmc;
using namespace llmc::graph;
using namespace llmc::stablehlo;

//===----------------------------------------------------------------------===//
// Derivatives
//===----------------------------------------------------------------------===//

static LogicalResult deriveSquare(Derivation &d) {
  Value two = constantLike(d.builder, d.loc(), d.operand(0), 2);
  Value slope = mul(d.builder, d.loc(), two, d.operand(0));
  d.gradients[0] = mul(d.builder, d.loc(), d.cotangent, slope);
  return success();
}

/// factor * exp(-x*x) * g.
static LogicalResult deriveGauss(Derivation &d, double factor) {
  return deriveBySlope(
      d, d.operand(0), [&](OpBuilder &b, Location loc, Value x) {
        Value bell = stablehlo::exp(b, loc, neg(b, loc, mul(b, loc, x, x)));
        return mul(b, loc, constantLike(b, loc, x, factor), bell);
      });
}

static constexpr double kTwoOverSqrtPi = 1.1283791670955126;

static LogicalResult deriveErf(Derivation &d) {
  return deriveGauss(d, kTwoOverSqrtPi);
}
static LogicalResult deriveErfc(Derivation &d) {
  return deriveGauss(d, -kTwoOverSqrtPi);
}

//===----------------------------------------------------------------------===//
// Scalar code and evaluation
//===----------------------------------------------------------------------===//

static Value emitSquare(OpBuilder &b, Location loc, Operation *, ValueRange x) {
  return arith::MulFOp::create(b, loc, x[0], x[0]);
}
static Value emitErf(OpBuilder &b, Location loc, Operation *, ValueRange x) {
  return math::ErfOp::create(b, loc, x[0]);
}
static Value emitErfc(OpBuilder &b, Location loc, Operation *, ValueRange x) {
  return math::ErfcOp::create(b, loc, x[0]);
}

static double squareFloat(double x) { return x * x; }
static double erfFloat(double x) { return std::erf(x); }
static double erfcFloat(double x) { return std::erfc(x); }

//===----------------------------------------------------------------------===//
// Registration
//===----------------------------------------------------------------------===//

static const PointwiseAnswers squareAnswers = {
    1, 0, nullptr, deriveSquare, emitSquare, evaluateUnary<squareFloat>};
static const PointwiseAnswers erfAnswers = {
    0, 1, nullptr, deriveErf, emitErf, evaluateUnary<erfFloat>};
static const PointwiseAnswers erfcAnswers = {
    0, 1, nullptr, deriveErfc, emitErfc, evaluateUnary<erfcFloat>};

void chlo::registerModels(DialectRegistry &registry) {
  registry.insert<ChloDialect, StableHLODialect, arith::ArithDialect,
                  math::MathDialect>();
  registry.addExtension(+[](MLIRContext *context, ChloDialect *) {
    context->loadDialect<StableHLODialect, arith::ArithDialect,
                         math::MathDialect>();
    attachPointwise<SquareOp, squareAnswers>(context);
    attachPointwise<ErfOp, erfAnswers>(context);
    attachPointwise<ErfcOp, erfcAnswers>(context);
  });
  registerAngleModels(registry);
  registerBesselModels(registry);
  registerBitsModels(registry);
  registerComplexModels(registry);
  registerGammaModels(registry);
  registerInverseModels(registry);
  registerRaggedDotModels(registry);
  registerTopKModels(registry);
}
