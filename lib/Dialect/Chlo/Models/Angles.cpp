//===- Angles.cpp - Answers of hyperbolic and inverse angle functions -----===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// With g the result's cotangent, the operand's is g times
//
//   sinh  cosh x           asin  1/sqrt(1 - x*x)     asinh  1/sqrt(x*x + 1)
//   cosh  sinh x           acos  minus that          acosh  1/sqrt(x*x - 1)
//   atan  1/(1 + x*x)                                atanh  1/(1 + x) * 1/(1 -
//   x)
//
// Each is an op of `math`, and so a call of the C library in f64.
//
// Tests: test/Dialect/Chlo/Models/ChloModelsTest.cpp,
// test/EndToEnd/{semantics,derivatives}.test
//===----------------------------------------------------------------------===//

#include "llmc/Dialect/Chlo/IR/Chlo.h"
#include "llmc/Dialect/Chlo/Models/Models.h"
#include "llmc/Dialect/StableHLO/IR/Slopes.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include <cmath>

using namespace mlir;
using namespace llmc;
using namespace llmc::chlo;
using namespace llmc::graph;
using namespace llmc::stablehlo;

//===----------------------------------------------------------------------===//
// Derivatives
//===----------------------------------------------------------------------===//

template <typename Other> static LogicalResult deriveHyperbolic(Derivation &d) {
  return deriveBySlope(d, d.operand(0),
                       [](OpBuilder &b, Location loc, Value x) -> Value {
                         return Other::create(b, loc, x);
                       });
}

/// One over the root of sign * x*x + shift.
static Value buildRootSlope(OpBuilder &b, Location loc, Value x, double shift,
                            bool isNegative) {
  Value square = mul(b, loc, x, x), offset = constantLike(b, loc, x, shift);
  return rsqrt(b, loc,
               isNegative ? sub(b, loc, offset, square)
                          : add(b, loc, square, offset));
}

static LogicalResult deriveAsin(Derivation &d) {
  return deriveBySlope(d, d.operand(0),
                       [](OpBuilder &b, Location loc, Value x) {
                         return buildRootSlope(b, loc, x, 1, true);
                       });
}

static LogicalResult deriveAcos(Derivation &d) {
  return deriveBySlope(d, d.operand(0),
                       [](OpBuilder &b, Location loc, Value x) {
                         return neg(b, loc, buildRootSlope(b, loc, x, 1, true));
                       });
}

static LogicalResult deriveAsinh(Derivation &d) {
  return deriveBySlope(d, d.operand(0),
                       [](OpBuilder &b, Location loc, Value x) {
                         return buildRootSlope(b, loc, x, 1, false);
                       });
}

static LogicalResult deriveAcosh(Derivation &d) {
  return deriveBySlope(d, d.operand(0),
                       [](OpBuilder &b, Location loc, Value x) {
                         return buildRootSlope(b, loc, x, -1, false);
                       });
}

static LogicalResult deriveAtan(Derivation &d) {
  return deriveBySlope(
      d, d.operand(0), [](OpBuilder &b, Location loc, Value x) {
        Value one = constantLike(b, loc, x, 1);
        return div(b, loc, one, add(b, loc, one, mul(b, loc, x, x)));
      });
}

static LogicalResult deriveAtanh(Derivation &d) {
  return deriveBySlope(
      d, d.operand(0), [](OpBuilder &b, Location loc, Value x) {
        Value one = constantLike(b, loc, x, 1);
        return mul(b, loc, div(b, loc, one, add(b, loc, one, x)),
                   div(b, loc, one, sub(b, loc, one, x)));
      });
}

//===----------------------------------------------------------------------===//
// Scalar code and evaluation
//===----------------------------------------------------------------------===//

template <typename FloatOp>
static Value emitFloat(OpBuilder &b, Location loc, Operation *, ValueRange x) {
  return FloatOp::create(b, loc, x[0]);
}

static double acosFloat(double x) { return std::acos(x); }
static double acoshFloat(double x) { return std::acosh(x); }
static double asinFloat(double x) { return std::asin(x); }
static double asinhFloat(double x) { return std::asinh(x); }
static double atanFloat(double x) { return std::atan(x); }
static double atanhFloat(double x) { return std::atanh(x); }
static double coshFloat(double x) { return std::cosh(x); }
static double sinhFloat(double x) { return std::sinh(x); }

//===----------------------------------------------------------------------===//
// Registration
//===----------------------------------------------------------------------===//

template <Derive derive, EmitElement emit, FloatUnary evaluate>
static constexpr PointwiseAnswers answers = {
    0, 1, nullptr, derive, emit, evaluateUnary<evaluate>};

void chlo::registerAngleModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, ChloDialect *) {
    attachPointwise<AcosOp,
                    answers<deriveAcos, emitFloat<math::AcosOp>, acosFloat>>(
        context);
    attachPointwise<AcoshOp,
                    answers<deriveAcosh, emitFloat<math::AcoshOp>, acoshFloat>>(
        context);
    attachPointwise<AsinOp,
                    answers<deriveAsin, emitFloat<math::AsinOp>, asinFloat>>(
        context);
    attachPointwise<AsinhOp,
                    answers<deriveAsinh, emitFloat<math::AsinhOp>, asinhFloat>>(
        context);
    attachPointwise<AtanOp,
                    answers<deriveAtan, emitFloat<math::AtanOp>, atanFloat>>(
        context);
    attachPointwise<AtanhOp,
                    answers<deriveAtanh, emitFloat<math::AtanhOp>, atanhFloat>>(
        context);
    attachPointwise<CoshOp, answers<deriveHyperbolic<SinhOp>,
                                    emitFloat<math::CoshOp>, coshFloat>>(
        context);
    attachPointwise<SinhOp, answers<deriveHyperbolic<CoshOp>,
                                    emitFloat<math::SinhOp>, sinhFloat>>(
        context);
  });
}
