//===- Gamma.cpp - Answers of lgamma, digamma, polygamma ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each is the derivative of the one before it; a derivative by the order of
// polygamma does not exist, in JAX neither. With g the result's cotangent:
//
//   lgamma x        g * digamma x
//   digamma x       g * polygamma(1, x)
//   polygamma(n, x) g * polygamma(n + 1, x)
//
// In f64, by the recurrences up to an argument of at least kShifted and the
// asymptotic series there (Abramowitz and Stegun, 6.1.40, 6.3.18, and
// Euler-Maclaurin for zeta, 23.2.3), below 1/2 by reflection. At a pole lgamma
// and polygamma are infinite and digamma is NaN, as in JAX.
//
// Tests: test/Dialect/Chlo/Models/ChloModelsTest.cpp,
// test/EndToEnd/{semantics,derivatives}.test
//===----------------------------------------------------------------------===//

#include "ScalarCode.h"
#include "llmc/Dialect/Chlo/IR/Chlo.h"
#include "llmc/Dialect/Chlo/Models/Models.h"
#include "llmc/Dialect/StableHLO/IR/Slopes.h"
#include "llmc/Support/Refusal.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace llmc;
using namespace llmc::chlo;
using namespace llmc::graph;
using namespace llmc::stablehlo;
using Predicate = arith::CmpFPredicate;

static constexpr double kPi = 3.14159265358979323846;
static constexpr double kInfinity = std::numeric_limits<double>::infinity();
static constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
/// Where the asymptotic series have 15 digits.
static constexpr int kShifted = 10;

//===----------------------------------------------------------------------===//
// Derivatives
//===----------------------------------------------------------------------===//

static LogicalResult deriveLgamma(Derivation &d) {
  return deriveBySlope(d, d.operand(0),
                       [](OpBuilder &b, Location loc, Value x) -> Value {
                         return DigammaOp::create(b, loc, x);
                       });
}

static LogicalResult deriveDigamma(Derivation &d) {
  return deriveBySlope(d, d.operand(0),
                       [](OpBuilder &b, Location loc, Value x) -> Value {
                         Value one = constantLike(b, loc, x, 1);
                         return PolygammaOp::create(b, loc, one, x);
                       });
}

static LogicalResult derivePolygamma(Derivation &d) {
  if (d.needed[0])
    return emitRefusal(d.op, rt::ErrorKind::unsupported)
           << "expected an order that does not depend on parameters, got one "
              "that does: there is no derivative by it";
  Value order = d.operand(0);
  return deriveBySlope(
      d, d.operand(1),
      [&](OpBuilder &b, Location loc, Value x) -> Value {
        Value n = convertTo(b, loc, order, getElement(x));
        Value next = add(b, loc, n, constantLike(b, loc, x, 1));
        return PolygammaOp::create(b, loc, next, x);
      },
      /*operand=*/1);
}

//===----------------------------------------------------------------------===//
// Scalar code
//===----------------------------------------------------------------------===//

/// B(2k) / (2k (2k-1)), from k = 7 down: the series of lgamma in 1/z^2.
static constexpr double kStirling[] = {1.0 / 156,   -691.0 / 360360, 1.0 / 1188,
                                       -1.0 / 1680, 1.0 / 1260,      -1.0 / 360,
                                       1.0 / 12};
/// B(2k) / 2k, from k = 7 down: that of digamma.
static constexpr double kDigamma[] = {1.0 / 12,   -691.0 / 32760, 1.0 / 132,
                                      -1.0 / 240, 1.0 / 252,      -1.0 / 120,
                                      1.0 / 12};
/// B(2k) / (2k)!, from k = 1 up: that of zeta.
static constexpr double kZeta[] = {1.0 / 12,           -1.0 / 720,
                                   1.0 / 30240,        -1.0 / 1209600,
                                   1.0 / 47900160,     -691.0 / 1307674368000.0,
                                   1.0 / 74724249600.0};

/// What adding 1 to z until it is at least kShifted makes of it; `step` is told
/// each z that is passed, and whether it is.
static Value emitShift(ScalarCode &c, Value z,
                       llvm::function_ref<void(Value z, Value isPassed)> step) {
  Value one = c.constant(1), zero = c.constant(0);
  for (int i = 0; i < kShifted; ++i) {
    Value isPassed = c.compare(Predicate::OLT, z, kShifted);
    step(z, isPassed);
    z = c.add(z, c.select(isPassed, one, zero));
  }
  return z;
}

/// For z >= 1/2.
static Value emitPositiveLgamma(ScalarCode &c, Value x) {
  Value product = c.constant(1);
  Value z = emitShift(c, x, [&](Value passed, Value isPassed) {
    product = c.mul(product, c.select(isPassed, passed, c.constant(1)));
  });
  Value inverse = c.div(c.constant(1), z);
  Value series =
      c.mul(c.polynomial(c.mul(inverse, inverse), kStirling), inverse);
  Value main = c.sub(c.mul(c.sub(z, c.constant(0.5)), c.log(z)), z);
  Value shift = c.constant(0.5 * std::log(2 * kPi));
  Value value = c.sub(c.add(c.add(main, shift), series), c.log(product));
  return c.select(c.compare(Predicate::OEQ, x, kInfinity), x, value);
}

static Value emitLgamma(OpBuilder &b, Location loc, Operation *,
                        ValueRange elements) {
  return emitInWider(
      b, loc, b.getF64Type(), elements, [&](ScalarCode &c, ArrayRef<Value> v) {
        Value x = v[0], one = c.constant(1);
        Value isLow = c.compare(Predicate::OLT, x, 0.5);
        Value value = emitPositiveLgamma(c, c.select(isLow, c.sub(one, x), x));
        Value wave = c.abs(c.sin(c.mul(c.constant(kPi), c.fraction(x))));
        Value reflected = c.sub(c.log(c.div(c.constant(kPi), wave)), value);
        Value known = c.select(isLow, reflected, value);
        Value isPole = c.isPole(x);
        return c.select(isPole, c.constant(kInfinity), known);
      });
}

/// For z >= 1/2.
static Value emitPositiveDigamma(ScalarCode &c, Value x) {
  Value sum = c.constant(0);
  Value z = emitShift(c, x, [&](Value passed, Value isPassed) {
    Value term = c.div(c.constant(1), passed);
    sum = c.add(sum, c.select(isPassed, term, c.constant(0)));
  });
  Value inverse = c.div(c.constant(1), z);
  Value square = c.mul(inverse, inverse);
  Value series = c.mul(c.polynomial(square, kDigamma), square);
  Value half = c.mul(c.constant(0.5), inverse);
  return c.sub(c.sub(c.sub(c.log(z), half), series), sum);
}

static Value emitDigammaOf(ScalarCode &c, Value x) {
  Value isLow = c.compare(Predicate::OLT, x, 0.5);
  Value value =
      emitPositiveDigamma(c, c.select(isLow, c.sub(c.constant(1), x), x));
  Value angle = c.mul(c.constant(kPi), c.fraction(x));
  Value reflected = c.sub(value, c.div(c.constant(kPi), c.tan(angle)));
  Value known = c.select(isLow, reflected, value);
  return c.select(c.isPole(x), c.constant(kNaN), known);
}

static Value emitDigamma(OpBuilder &b, Location loc, Operation *,
                         ValueRange elements) {
  return emitInWider(
      b, loc, b.getF64Type(), elements,
      [](ScalarCode &c, ArrayRef<Value> v) { return emitDigammaOf(c, v[0]); });
}

/// The sum of 1 / (q + k)^s over all k >= 0, for q > -kShifted: 2 kShifted
/// terms one by one and the rest by Euler and Maclaurin.
static Value emitZeta(ScalarCode &c, Value s, Value q) {
  Value sum = c.constant(0), power = c.neg(s), a = q;
  for (int k = 0; k < 2 * kShifted; ++k) {
    sum = c.add(sum, c.pow(a, power));
    a = c.add(a, c.constant(1));
  }
  Value last = c.pow(a, power);
  Value integral = c.div(c.mul(last, a), c.sub(s, c.constant(1)));
  sum = c.add(c.add(sum, integral), c.mul(c.constant(0.5), last));
  // s (s+1) ... (s + 2k - 2) / a^(s + 2k - 1), from term to term.
  Value factor = c.div(c.mul(s, last), a);
  for (auto [k, coefficient] : llvm::enumerate(kZeta)) {
    sum = c.add(sum, c.mul(c.constant(coefficient), factor));
    Value first = c.add(s, c.constant(2 * k + 1));
    Value second = c.add(s, c.constant(2 * k + 2));
    factor = c.div(c.div(c.mul(c.mul(factor, first), second), a), a);
  }
  return sum;
}

/// (-1)^(n+1) n! zeta(n + 1, x) for an integer n >= 1.
static Value emitPolygammaOf(ScalarCode &c, Value n, Value x) {
  Value order = c.add(n, c.constant(1));
  Value factorial = c.exp(emitPositiveLgamma(c, order));
  Value magnitude = c.mul(factorial, emitZeta(c, order, x));
  Value half = c.mul(n, c.constant(0.5));
  Value isEven = c.compare(Predicate::OEQ, half, c.floor(half));
  Value value = c.select(isEven, c.neg(magnitude), magnitude);
  Value isFar = c.compare(Predicate::OLT, x, -kShifted);
  value = c.select(isFar, c.constant(kNaN), value);
  value = c.select(c.isPole(x), c.constant(kInfinity), value);
  Value isInfinite = c.compare(Predicate::OEQ, x, kInfinity);
  return c.select(isInfinite, c.constant(0), value);
}

static Value emitPolygamma(OpBuilder &b, Location loc, Operation *,
                           ValueRange elements) {
  return emitInWider(
      b, loc, b.getF64Type(), elements, [](ScalarCode &c, ArrayRef<Value> v) {
        Value n = v[0], x = v[1];
        Value isOrder = c.both(c.compare(Predicate::OGE, n, 1),
                               c.compare(Predicate::OEQ, n, c.floor(n)));
        Value value =
            c.select(isOrder, emitPolygammaOf(c, n, x), c.constant(kNaN));
        return c.select(c.compare(Predicate::OEQ, n, 0), emitDigammaOf(c, x),
                        value);
      });
}

//===----------------------------------------------------------------------===//
// Evaluation
//===----------------------------------------------------------------------===//

static bool isPole(double x) { return x <= 0 && x == std::floor(x); }

/// std::lgamma sets a global variable, its reentrant form does not.
static double lgammaFloat(double x) {
  int sign;
  return ::lgamma_r(x, &sign);
}

/// The terms of the recurrence summed up to 40, then three terms of the series.
static double digammaFloat(double x) {
  if (isPole(x) || std::isnan(x) || x == -kInfinity)
    return kNaN;
  if (x < 0)
    return digammaFloat(1 - x) - kPi / std::tan(kPi * (x - std::round(x)));
  double sum = 0;
  for (; x < 40; ++x)
    sum -= 1 / x;
  double square = 1 / (x * x);
  return sum + std::log(x) - 0.5 / x -
         square * (1.0 / 12 - square * (1.0 / 120 - square / 252));
}

/// As a sum of 400 terms with the integral of the rest, and two corrections.
static double polygammaFloat(double n, double x) {
  if (n == 0)
    return digammaFloat(x);
  if (n < 1 || n != std::floor(n) || std::isnan(x))
    return kNaN;
  if (isPole(x) || x < -kShifted)
    return isPole(x) ? kInfinity : kNaN;
  if (x == kInfinity)
    return 0;
  double s = n + 1, sum = 0;
  for (int k = 0; k < 400; ++k, ++x)
    sum += std::pow(x, -s);
  double last = std::pow(x, -s);
  sum += last * x / n + 0.5 * last + s * last / x / 12 -
         s * (s + 1) * (s + 2) * last / (x * x * x) / 720;
  double value = std::exp(lgammaFloat(s)) * sum;
  return std::fmod(n, 2) == 0 ? -value : value;
}

//===----------------------------------------------------------------------===//
// Registration
//===----------------------------------------------------------------------===//

static const PointwiseAnswers lgammaAnswers = {
    60, 3, nullptr, deriveLgamma, emitLgamma, evaluateUnary<lgammaFloat>};
static const PointwiseAnswers digammaAnswers = {
    60, 2, nullptr, deriveDigamma, emitDigamma, evaluateUnary<digammaFloat>};
static const PointwiseAnswers polygammaAnswers = {
    150,           30,
    nullptr,       derivePolygamma,
    emitPolygamma, evaluateBinary<polygammaFloat>};

void chlo::registerGammaModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, ChloDialect *) {
    attachPointwise<LgammaOp, lgammaAnswers>(context);
    attachPointwise<DigammaOp, digammaAnswers>(context);
    attachPointwise<PolygammaOp, polygammaAnswers>(context);
  });
}
