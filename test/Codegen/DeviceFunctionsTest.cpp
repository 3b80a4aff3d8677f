//===- DeviceFunctionsTest.cpp - Functions that a device lacks ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions of f32 on lanes against those of the C library: the same bits, but
// for signs of not-a-numbers, for ordinary numbers and at the ends.
//
//===----------------------------------------------------------------------===//

#include "KernelRunner.h"
#include <cmath>
#include <gtest/gtest.h>

using namespace llmc;
using namespace llmc::test;

namespace {

constexpr float ends[] = {0.0f,      -0.0f,   1.0f,     -1.0f,     0.5f,
                          2.0f,      -2.0f,   3.0f,     -3.0f,     1e-30f,
                          -1e-30f,   1e-42f,  88.7f,    -103.9f,   127.99f,
                          -149.5f,   3.4e38f, -3.4e38f, 1e10f,     0.99999994f,
                          8388609.f, 27.0f,   INFINITY, -INFINITY, NAN};
constexpr int64_t count = 4096;

/// `op` of numbers of all magnitudes, and of each end (with each other).
void expectLibrary(const std::string &op, int operands,
                   double (*expected)(double, double)) {
  std::string type = "tensor<" + std::to_string(count) + "xf32>";
  std::string text = "func.func @f(%x: " + type + ", %y: " + type + ") -> " +
                     type + " {\n%0 = " + op + " %x" +
                     (operands == 2 ? ", %y" : "") + " : " + type +
                     (op.rfind("chlo", 0) == 0 ? " -> " + type : "") +
                     "\nreturn %0 : " + type + "\n}";
  KernelRunner runner(text, 1, RunOn::Lanes);
  ASSERT_TRUE(runner.isReady()) << runner.takeMessages() << text;
  constexpr int64_t numEnds = std::size(ends);
  for (int64_t i = 0; i < count; ++i) {
    double x = std::ldexp(runner.getArguments()[0].getFloat(i), i % 60 - 30);
    double y = runner.getArguments()[1].getFloat(i) * (i % 7);
    if (i < numEnds * numEnds) {
      x = ends[i / numEnds];
      y = ends[i % numEnds];
    }
    runner.setArgument(0, i, x);
    runner.setArgument(1, i, y);
  }
  ASSERT_TRUE(runner.run()) << runner.getLaneError();
  int64_t wrong = 0;
  for (int64_t i = 0; i < count; ++i) {
    auto x = float(runner.getArguments()[0].getFloat(i));
    auto y = float(runner.getArguments()[1].getFloat(i));
    auto right = float(expected(x, y));
    auto got = float(runner.getResults()[0].getFloat(i));
    bool same = std::isnan(right)
                    ? std::isnan(got)
                    : got == right && std::signbit(got) == std::signbit(right);
    if (!same && ++wrong < 5)
      ADD_FAILURE() << op << " of " << x << " and " << y << ": expected "
                    << right << ", got " << got;
  }
  EXPECT_EQ(wrong, 0) << op;
}

#define ONE(function)                                                          \
  [](double x, double) -> double { return std::function(x); }

TEST(DeviceFunctions, OfOneNumber) {
  expectLibrary("stablehlo.exponential_minus_one", 1, ONE(expm1));
  expectLibrary("stablehlo.log_plus_one", 1, ONE(log1p));
  expectLibrary("stablehlo.cbrt", 1, ONE(cbrt));
  expectLibrary("chlo.sinh", 1, ONE(sinh));
  expectLibrary("chlo.cosh", 1, ONE(cosh));
  expectLibrary("chlo.asinh", 1, ONE(asinh));
  expectLibrary("chlo.acosh", 1, ONE(acosh));
}

TEST(DeviceFunctions, Powers) {
  expectLibrary("stablehlo.power", 2,
                [](double x, double y) { return std::pow(x, y); });
}

} // namespace
