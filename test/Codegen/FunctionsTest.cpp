//===- FunctionsTest.cpp - Functions of kernels against the C library -----===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions of f32 have the C library's bits, but for signs of not-a-numbers;
// functions of f64 are near those of long double; both have the same bits on
// lanes. All f32 bit patterns by LLMC_TEST_STRIDE=1 (scripts/nightly.sh lanes).
//
//===----------------------------------------------------------------------===//

#include "KernelRunner.h"
#include "RandomPrograms.h"
#include "llvm/ADT/bit.h"
#include <cmath>
#include <cstdio>
#include <gtest/gtest.h>

using namespace llmc;
using namespace llmc::test;

namespace {

struct Function {
  const char *op;
  int operands;
  double (*ofDouble)(double, double);
  long double (*ofLong)(long double, long double);
  /// Largest error of f64, in units in the last place.
  double bar = 2;
};

#define ONE(op, function, ...)                                                 \
  {op, 1, [](double x, double) -> double { return std::function(x); },         \
   [](long double x, long double) -> long double { return std::function(x); }, \
   ##__VA_ARGS__}
#define TWO(op, function, ...)                                                 \
  {op, 2, [](double x, double y) -> double { return std::function(x, y); },    \
   [](long double x, long double y) -> long double {                           \
     return std::function(x, y);                                               \
   },                                                                          \
   ##__VA_ARGS__}

const Function functions[] = {
    ONE("stablehlo.sine", sin, 1),
    ONE("stablehlo.cosine", cos, 1),
    ONE("stablehlo.tan", tan, 1),
    ONE("chlo.asin", asin),
    ONE("chlo.acos", acos),
    ONE("chlo.atan", atan),
    TWO("stablehlo.atan2", atan2),
    ONE("chlo.sinh", sinh, 3),
    ONE("chlo.cosh", cosh),
    ONE("stablehlo.tanh", tanh, 3),
    ONE("chlo.asinh", asinh, 3),
    ONE("chlo.acosh", acosh, 3),
    ONE("chlo.atanh", atanh, 3),
    ONE("stablehlo.exponential", exp, 1),
    ONE("stablehlo.exponential_minus_one", expm1),
    ONE("stablehlo.log", log, 1),
    ONE("stablehlo.log_plus_one", log1p),
    ONE("stablehlo.cbrt", cbrt, 1),
    ONE("chlo.erf", erf),
    ONE("chlo.erfc", erfc, 3),
    TWO("stablehlo.power", pow, 1),
    TWO("stablehlo.remainder", fmod, 0),
};

/// f32 has polynomials of its own for these, good to some units.
bool isPolynomial(const Function &function) {
  for (StringRef name : {"exponential", "log", "tanh", "erf", "erfc"})
    if (StringRef(function.op).split('.').second == name)
      return true;
  return false;
}

constexpr double ends[] = {0.0,       -0.0,   1.0,      -1.0,      0.5,
                           2.0,       -2.0,   3.0,      -3.0,      1e-30,
                           -1e-30,    1e-42,  88.7,     -103.9,    127.99,
                           -149.5,    3.4e38, -3.4e38,  1e10,      0.99999994,
                           8388609.0, 27.0,   INFINITY, -INFINITY, NAN};
constexpr int64_t numEnds = std::size(ends);

std::string writeProgram(const Function &function, const std::string &element,
                         int64_t count) {
  std::string type = "tensor<" + std::to_string(count) + "x" + element + ">";
  std::string op = function.op;
  return "func.func @f(%x: " + type + ", %y: " + type + ") -> " + type +
         " {\n%0 = " + op + " %x" + (function.operands == 2 ? ", %y" : "") +
         " : " + type + (op.rfind("chlo", 0) == 0 ? " -> " + type : "") +
         "\nreturn %0 : " + type + "\n}";
}

/// The same bits, or no numbers both.
bool isSame(double x, double y) {
  return std::isnan(x) ? std::isnan(y)
                       : x == y && std::signbit(x) == std::signbit(y);
}

/// Each end (with each other), and numbers of all magnitudes: many near one,
/// some as far as the type goes.
void setArguments(KernelRunner &runner, int64_t count, int far) {
  for (int64_t i = 0; i < count; ++i) {
    int scale = i % 8 ? int(i % 60) - 30 : int(i * 37 % (2 * far)) - far;
    double x = std::ldexp(runner.getArguments()[0].getFloat(i),
                          i % 3 == 0 ? int(i % 7) - 3 : scale);
    double y = runner.getArguments()[1].getFloat(i) * double(i % 7);
    if (i % 11 == 0)
      y = std::ldexp(y, int(i * 53 % (2 * far)) - far);
    if (i < numEnds * numEnds) {
      x = ends[i / numEnds];
      y = ends[i % numEnds];
    }
    runner.setArgument(0, i, x);
    runner.setArgument(1, i, y);
  }
}

/// Runs the function of `count` numbers of `element` on the processor, and
/// compares each with lanes; then `compare`s arguments and results.
void runFunction(
    const Function &function, const std::string &element, int64_t count,
    int far, llvm::function_ref<void(double x, double y, double got)> compare) {
  std::string text = writeProgram(function, element, count);
  KernelRunner processor(text), lanes(text, 1, RunOn::Lanes);
  ASSERT_TRUE(processor.isReady()) << processor.takeMessages() << text;
  ASSERT_TRUE(lanes.isReady()) << lanes.takeMessages() << text;
  setArguments(processor, count, far);
  setArguments(lanes, count, far);
  ASSERT_TRUE(processor.run());
  ASSERT_TRUE(lanes.run()) << lanes.getLaneError();
  int64_t apart = 0;
  for (int64_t i = 0; i < count; ++i) {
    double got = processor.getResults()[0].getFloat(i);
    apart += !isSame(got, lanes.getResults()[0].getFloat(i));
    compare(processor.getArguments()[0].getFloat(i),
            processor.getArguments()[1].getFloat(i), got);
  }
  EXPECT_EQ(apart, 0) << element << " " << function.op << " on lanes";
}

class Functions : public testing::TestWithParam<Function> {};

TEST_P(Functions, OfSinglesAreTheLibrarys) {
  const Function &function = GetParam();
  int64_t wrong = 0;
  auto compare = [&](double x, double y, double got) {
    double right = float(function.ofDouble(x, y));
    if (!isSame(right, got) && ++wrong < 5)
      ADD_FAILURE() << function.op << " of " << x << " and " << y
                    << ": expected " << right << ", got " << got;
  };
  runFunction(function, "f32", 4096, 120, [&](double x, double y, double got) {
    if (!isPolynomial(function))
      compare(x, y, got);
  });
  EXPECT_EQ(wrong, 0);
}

/// The distance in units in the last place of f64.
double getDistance(long double right, double got) {
  if (isSame(double(right), got))
    return 0;
  if (!std::isfinite(got) || !std::isfinite(double(right)))
    return INFINITY;
  int exponent = std::max(std::ilogb(double(right)), -1022);
  return double(std::fabs(got - right) / std::ldexp(1.0L, exponent - 52));
}

TEST_P(Functions, OfDoublesAreNearThoseOfLongDoubles) {
  const Function &function = GetParam();
  double worst = 0;
  int64_t wrong = 0;
  runFunction(function, "f64", readSetting("LLMC_TEST_COUNT", 4000), 1010,
              [&](double x, double y, double got) {
                double distance = getDistance(function.ofLong(x, y), got);
                worst = std::max(worst, distance);
                if (!(distance <= function.bar) && ++wrong < 5)
                  ADD_FAILURE() << function.op << " of " << x << " and " << y
                                << ": got " << got << ", off by " << distance;
              });
  EXPECT_EQ(wrong, 0);
  if (readSetting("LLMC_TEST_SHOW", 0))
    std::printf("%s: %.2f units in the last place\n", function.op, worst);
}

// By f32: polynomials, functions of f64, and such with a loop.
TEST(NarrowFunctions, HaveTheSameBitsOnLanes) {
  for (const char *element : {"bf16", "f16"})
    for (const Function &function : functions)
      for (StringRef name : {"exponential", "sine", "remainder"})
        if (StringRef(function.op).split('.').second == name)
          runFunction(function, element, 1000, 14,
                      [](double, double, double) {});
}

INSTANTIATE_TEST_SUITE_P(
    All, Functions, testing::ValuesIn(functions),
    [](const testing::TestParamInfo<Function> &info) {
      return StringRef(info.param.op).split('.').second.str();
    });

/// Compares sin, cos and tan of `x` with the results of the runner; counts.
int64_t countWrong(const KernelRunner &runner, ArrayRef<float> x) {
  double (*const exact[])(double) = {std::sin, std::cos, std::tan};
  int64_t wrong = 0;
  for (int result = 0; result < 3; ++result) {
    auto *got =
        reinterpret_cast<const float *>(runner.getResults()[result].bytes());
    for (auto [i, argument] : llvm::enumerate(x)) {
      auto right = float(exact[result](argument));
      if (!isSame(right, got[i]) && ++wrong < 5)
        ADD_FAILURE() << "result " << result << " of " << argument
                      << ": expected " << right << ", got " << got[i];
    }
  }
  return wrong;
}

/// Of each LLMC_TEST_STRIDE-th pattern of bits from LLMC_TEST_FIRST to
/// LLMC_TEST_LAST.
TEST(Angles, OfAllSinglesAreTheLibrarys) {
  constexpr int64_t count = 1 << 15;
  uint64_t stride = readSetting("LLMC_TEST_STRIDE", 60013);
  uint64_t last = readSetting("LLMC_TEST_LAST", 0xffffffff);
  std::string type = "tensor<" + std::to_string(count) + "xf32>";
  std::string types = type + ", " + type + ", " + type;
  KernelRunner runner("func.func @f(%x: " + type + ") -> (" + types + ") {" +
                      "\n%0 = stablehlo.sine %x : " + type +
                      "\n%1 = stablehlo.cosine %x : " + type +
                      "\n%2 = stablehlo.tan %x : " + type +
                      "\nreturn %0, %1, %2 : " + types + "\n}");
  ASSERT_TRUE(runner.isReady()) << runner.takeMessages();
  int64_t wrong = 0, tried = 0;
  uint64_t pattern = readSetting("LLMC_TEST_FIRST", 0);
  while (pattern <= last) {
    auto *x = reinterpret_cast<float *>(runner.getArgumentBytes(0));
    for (int64_t i = 0; i < count; ++i, pattern += stride)
      x[i] = llvm::bit_cast<float>(uint32_t(std::min(pattern, last)));
    ASSERT_TRUE(runner.run());
    tried += count;
    wrong += countWrong(runner, ArrayRef<float>(x, count));
  }
  EXPECT_EQ(wrong, 0);
  if (readSetting("LLMC_TEST_SHOW", 0))
    std::printf("%lld patterns, %lld wrong\n", (long long)tried,
                (long long)wrong);
}

} // namespace
