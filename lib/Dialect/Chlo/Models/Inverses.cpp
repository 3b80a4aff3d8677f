//===- Inverses.cpp - Answers of the inverse error function ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// With y = erf_inv x and g its cotangent, the operand's is g * sqrt(pi)/2 *
// exp(y*y).
//
// In f32 (and narrower) the two polynomials of M. Giles, "Approximating the
// erfinv function" (GPU Computing Gems, 2011), table 1. In f64 an estimate with
// an error of 2e-3 (S. Winitzki, 2008) and two steps of Halley's method, each
// of which cubes the error.
//
// Tests: test/Dialect/Chlo/Models/ChloModelsTest.cpp,
// test/EndToEnd/{semantics,derivatives}.test
//===----------------------------------------------------------------------===//

#include "ScalarCode.h"
#include "llmc/Dialect/Chlo/IR/Chlo.h"
#include "llmc/Dialect/Chlo/Models/Models.h"
#include "llmc/Dialect/StableHLO/IR/Slopes.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace llmc;
using namespace llmc::chlo;
using namespace llmc::graph;
using namespace llmc::stablehlo;
using Predicate = arith::CmpFPredicate;

static constexpr double kHalfSqrtPi = 0.88622692545275801;

static LogicalResult deriveErfInv(Derivation &d) {
  return deriveBySlope(d, d.result(), [](OpBuilder &b, Location loc, Value y) {
    Value growth = stablehlo::exp(b, loc, mul(b, loc, y, y));
    return mul(b, loc, constantLike(b, loc, y, kHalfSqrtPi), growth);
  });
}

//===----------------------------------------------------------------------===//
// Scalar code
//===----------------------------------------------------------------------===//

static constexpr double kCentral[] = {
    2.81022636e-08,  3.43273939e-07, -3.5233877e-06,
    -4.39150654e-06, 0.00021858087,  -0.00125372503,
    -0.00417768164,  0.246640727,    1.50140941};
static constexpr double kTail[] = {
    -0.000200214257, 0.000100950558, 0.00134934322,
    -0.00367342844,  0.00573950773,  -0.0076224613,
    0.00943887047,   1.00167406,     2.83297682};

/// -log(1 - x*x).
static Value emitDepth(ScalarCode &c, Value x) {
  Value one = c.constant(1);
  return c.neg(c.log(c.mul(c.sub(one, x), c.add(one, x))));
}

static Value emitBySeries(ScalarCode &c, Value x) {
  Value w = emitDepth(c, x);
  Value central = c.polynomial(c.sub(w, c.constant(2.5)), kCentral);
  Value tail = c.polynomial(c.sub(c.sqrt(w), c.constant(3)), kTail);
  Value isCentral = c.compare(Predicate::OLT, w, 5);
  return c.mul(c.select(isCentral, central, tail), x);
}

/// Within 2e-3 of the inverse for 0 <= a < 1.
static Value emitEstimate(ScalarCode &c, Value a) {
  constexpr double shape = 0.147;
  Value w = c.neg(emitDepth(c, a));
  Value t = c.add(c.mul(w, c.constant(0.5)),
                  c.constant(2 / (3.14159265358979323846 * shape)));
  Value root = c.sqrt(c.sub(c.mul(t, t), c.div(w, c.constant(shape))));
  return c.sqrt(c.sub(root, t));
}

/// One step for erf(y) = a. From a half on erfc keeps the digits of 1 - a.
static Value emitHalleyStep(ScalarCode &c, Value y, Value a) {
  Value central = c.sub(c.erf(y), a);
  Value tail = c.sub(c.sub(c.constant(1), a), c.erfc(y));
  Value error = c.select(c.compare(Predicate::OLT, a, 0.5), central, tail);
  Value slope = c.mul(c.constant(kHalfSqrtPi), c.exp(c.mul(y, y)));
  Value step = c.mul(error, slope);
  return c.sub(y, c.div(step, c.add(c.constant(1), c.mul(y, step))));
}

static Value emitByIteration(ScalarCode &c, Value x) {
  Value a = c.abs(x);
  Value y = emitEstimate(c, a);
  for (int step = 0; step < 2; ++step)
    y = emitHalleyStep(c, y, a);
  return c.copySign(y, x);
}

static Value emitErfInv(OpBuilder &b, Location loc, Operation *,
                        ValueRange elements) {
  bool isDouble = elements[0].getType().isF64();
  return emitInWider(
      b, loc, b.getF32Type(), elements, [&](ScalarCode &c, ArrayRef<Value> v) {
        Value y = isDouble ? emitByIteration(c, v[0]) : emitBySeries(c, v[0]);
        Value infinity = c.copySign(
            c.constant(std::numeric_limits<double>::infinity()), v[0]);
        Value isEnd = c.compare(Predicate::OEQ, c.abs(v[0]), 1);
        Value finite = c.select(isEnd, infinity, y);
        // The estimate's roots are NaN at 0 by a rounding, and beyond 1.
        Value isOutside = c.compare(Predicate::UGT, c.abs(v[0]), 1);
        Value nan = c.constant(std::numeric_limits<double>::quiet_NaN());
        Value isZero = c.compare(Predicate::OEQ, v[0], 0);
        return c.select(isOutside, nan, c.select(isZero, v[0], finite));
      });
}

//===----------------------------------------------------------------------===//
// Evaluation
//===----------------------------------------------------------------------===//

/// Bisection on erf and erfc of the C library: no digit is shared with the code
/// above.
static double erfInvFloat(double x) {
  if (!(std::fabs(x) < 1) || x == 0)
    return std::fabs(x) == 1
               ? std::copysign(std::numeric_limits<double>::infinity(), x)
           : x == 0 ? x
                    : std::numeric_limits<double>::quiet_NaN();
  double a = std::fabs(x), low = 0, high = 7;
  for (int step = 0; step < 1100 && low < high; ++step) {
    double middle = low + (high - low) / 2;
    if (middle == low || middle == high)
      break;
    bool isBelow = a < 0.5 ? std::erf(middle) < a : std::erfc(middle) > 1 - a;
    (isBelow ? low : high) = middle;
  }
  return std::copysign(high, x);
}

//===----------------------------------------------------------------------===//
// Registration
//===----------------------------------------------------------------------===//

static const PointwiseAnswers erfInvAnswers = {
    20, 1, nullptr, deriveErfInv, emitErfInv, evaluateUnary<erfInvFloat>};

void chlo::registerInverseModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, ChloDialect *) {
    attachPointwise<ErfInvOp, erfInvAnswers>(context);
  });
}
