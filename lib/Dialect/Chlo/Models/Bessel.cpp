//===- Bessel.cpp - Answers of the modified Bessel function ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// bessel_i1e x = exp(-|x|) I1(x). With y its value and g the result's
// cotangent, the operand's is
//
//   g * (exp(-|x|) I0(x) - y * (sign x + 1/x))     g/2 where |x| is tiny
//
// as in JAX. The functions are polynomials on two intervals: up to 8 of exp(-x)
// I_n(x) / x^n in x/4 - 1, from there on of exp(-x) I_n(x) sqrt(x) in 16/x - 1.
// They are the Chebyshev series of these (C. W. Clenshaw, 1962, gives such ones
// in tables), cut where they have 16 digits and written in powers.
//
// Tests: test/EndToEnd/{semantics,derivatives}.test
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

/// Where the polynomials change.
static constexpr double kNear = 8;

static constexpr double kNear0[] = {
    -1.6316042856792757e-08, 5.7558980244552295e-08,  -8.591406444264668e-08,
    2.697917392412236e-07,   -1.142045323881917e-06,  3.4092773809228405e-06,
    -9.183742586936203e-06,  2.498583900595597e-05,   -6.556805964401791e-05,
    0.0001625842597608375,   -0.00038286526498299526, 0.0008562116300006979,
    -0.0018119030567637056,  0.003617168752907873,    -0.006792394790940051,
    0.011960065876823142,    -0.019682655791721182,   0.030177914344596494,
    -0.0429859492954222,     0.05677703172971468,     -0.06954119563168235,
    0.07927522592888984,     -0.08496338091541732,    0.08734341617467443,
    -0.08904344136077755,    0.09451562853996409,     -0.11300432688620536,
    0.20700192122398667};
static constexpr double kFar0[] = {
    -2.0260604287413626e-11, 9.36508689281819e-11,    1.5279202694981569e-10,
    -6.633287112547084e-10,  -5.715843864202709e-10,  2.1968921378829006e-09,
    1.5200816953924232e-09,  -4.575553424534973e-09,  -3.505966530879332e-09,
    6.560138746917057e-09,   7.552583062123384e-09,   -5.0381064879032845e-09,
    -1.340891754008974e-08,  -6.8493381882867694e-09, 7.554691881248808e-09,
    2.1566251453104354e-08,  3.932584334552952e-08,   8.872034383314144e-08,
    2.9735985885673923e-07,  1.4838476651250266e-06,  1.1143033790932038e-05,
    0.00013621607438984735,  0.0033605519836678614,   0.4021765094450081};
static constexpr double kNear1[] = {
    -1.41695079121077e-09,   5.2131237878886215e-09,  -8.984420960424589e-09,
    2.987385645901576e-08,   -1.2424759932738304e-07, 3.9094375480236725e-07,
    -1.1327072698408053e-06, 3.2758438130588964e-06,  -9.136543922789093e-06,
    2.42486684188831e-05,    -6.142360299099794e-05,  0.00014841259927108295,
    -0.0003411760289073331,  0.0007445158727006065,   -0.00153887456203039,
    0.003005761416447221,    -0.005534567847563678,   0.009583962344356725,
    -0.015571309243980052,   0.02368601693352639,     -0.03367135552108536,
    0.04467457262306667,     -0.055280039226991644,   0.06376740371333643,
    -0.06848260620582691,    0.06805759990951268,     -0.061124338029666284,
    0.04468770987560883};
static constexpr double kFar1[] = {
    1.8515118828852956e-11,  -9.752397204138195e-11,  -1.4011625179770627e-10,
    6.917089294193807e-10,   5.295625441161261e-10,   -2.297004161885201e-09,
    -1.4387250533041013e-09, 4.810597405089944e-09,   3.4262341490077958e-09,
    -6.983839624895866e-09,  -7.64239413436356e-09,   5.59337010179061e-09,
    1.4034238782067183e-08,  6.8401389977069586e-09,  -8.427766093735185e-09,
    -2.339250374801858e-08,  -4.312917729178349e-08,  -1.000109565963654e-07,
    -3.483855761044295e-07,  -1.8349102358955385e-06, -1.5038547200567216e-05,
    -0.0002192357638317243,  -0.009749577193235737,   0.38939845902587233};

//===----------------------------------------------------------------------===//
// Derivative
//===----------------------------------------------------------------------===//

/// c[0] x^n + c[1] x^(n-1) + ... + c[n].
static Value buildPolynomial(OpBuilder &b, Location loc, Value x,
                             ArrayRef<double> coefficients) {
  Value sum = constantLike(b, loc, x, coefficients.front());
  for (double coefficient : coefficients.drop_front())
    sum =
        add(b, loc, mul(b, loc, sum, x), constantLike(b, loc, x, coefficient));
  return sum;
}

/// exp(-x) I0(x) for x >= 0.
static Value buildI0e(OpBuilder &b, Location loc, Value x) {
  auto number = [&](double value) { return constantLike(b, loc, x, value); };
  Value left = sub(b, loc, mul(b, loc, x, number(0.25)), number(1));
  Value right = sub(b, loc, div(b, loc, number(16), x), number(1));
  Value near = buildPolynomial(b, loc, left, kNear0);
  Value far =
      mul(b, loc, buildPolynomial(b, loc, right, kFar0), rsqrt(b, loc, x));
  Value isNear = compare(b, loc, ComparisonDirection::LE, x, number(kNear));
  return select(b, loc, isNear, near, far);
}

static LogicalResult deriveBesselI1e(Derivation &d) {
  Value result = d.result();
  return deriveBySlope(
      d, d.operand(0), [&](OpBuilder &b, Location loc, Value x) {
        Type element = getElement(x);
        double epsilon = element.isF64()
                             ? std::numeric_limits<double>::epsilon()
                             : std::numeric_limits<float>::epsilon();
        Value isLarge =
            compare(b, loc, ComparisonDirection::GT, stablehlo::abs(b, loc, x),
                    constantLike(b, loc, x, epsilon));
        Value safe =
            select(b, loc, isLarge, x, constantLike(b, loc, x, epsilon));
        Value inverse = div(b, loc, constantLike(b, loc, x, 1), safe);
        Value factor = add(b, loc, stablehlo::sign(b, loc, safe), inverse);
        Value drop = mul(b, loc, convertTo(b, loc, result, element), factor);
        Value even = buildI0e(b, loc, stablehlo::abs(b, loc, safe));
        return select(b, loc, isLarge, sub(b, loc, even, drop),
                      constantLike(b, loc, x, 0.5));
      });
}

//===----------------------------------------------------------------------===//
// Scalar code
//===----------------------------------------------------------------------===//

static Value emitBesselI1e(OpBuilder &b, Location loc, Operation *,
                           ValueRange elements) {
  return emitInWider(b, loc, b.getF64Type(), elements,
                     [](ScalarCode &c, ArrayRef<Value> v) {
                       Value x = c.abs(v[0]), one = c.constant(1);
                       Value left = c.sub(c.mul(x, c.constant(0.25)), one);
                       Value right = c.sub(c.div(c.constant(16), x), one);
                       Value near = c.mul(x, c.polynomial(left, kNear1));
                       Value far = c.div(c.polynomial(right, kFar1), c.sqrt(x));
                       Value isNear = c.compare(Predicate::OLE, x, kNear);
                       return c.copySign(c.select(isNear, near, far), v[0]);
                     });
}

//===----------------------------------------------------------------------===//
// Evaluation
//===----------------------------------------------------------------------===//

/// By the powers of x up to 30, and by those of 1/x from there on (Abramowitz
/// and Stegun, 9.6.10 and 9.7.1).
static double besselI1eFloat(double x) {
  double a = std::fabs(x), sum = 0;
  if (a <= 30) {
    double term = a / 2;
    for (int k = 1; k < 200; ++k) {
      sum += term;
      term *= a * a / 4 / k / (k + 1);
    }
    return std::copysign(sum * std::exp(-a), x);
  }
  if (std::isinf(a))
    return std::copysign(0.0, x);
  double term = 1;
  for (int k = 1; k < 30; ++k) {
    sum += term;
    term *= -(4 - double(2 * k - 1) * (2 * k - 1)) / (k * 8 * a);
  }
  return std::copysign(
      sum / (std::sqrt(2 * 3.14159265358979323846) * std::sqrt(a)), x);
}

//===----------------------------------------------------------------------===//
// Registration
//===----------------------------------------------------------------------===//

static const PointwiseAnswers besselI1eAnswers = {
    110,           1,
    nullptr,       deriveBesselI1e,
    emitBesselI1e, evaluateUnary<besselI1eFloat>};

void chlo::registerBesselModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, ChloDialect *) {
    attachPointwise<BesselI1eOp, besselI1eAnswers>(context);
  });
}
