//===- EvaluationTest.cpp - Values of the element-wise ops ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The points that the language leaves open or that are easy to get wrong.
//
//===----------------------------------------------------------------------===//

#include "GraphContext.h"
#include "llmc/Interpreter/Interpreter.h"
#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace llmc;
using namespace llmc::test;
using testing::ElementsAre;

namespace {
/// The elements of the first result of the first function of `text`.
std::vector<double> evaluate(const std::string &text) {
  GraphContext context;
  auto module = context.parse(text);
  SmallVector<HostTensor> results;
  Interpreter interpreter;
  if (!module ||
      failed(interpreter.interpret(getFunction(*module), {}, results))) {
    ADD_FAILURE() << context.takeMessages();
    return {};
  }
  std::vector<double> values;
  for (int64_t i = 0; i < results[0].getNumElements(); ++i)
    values.push_back(results[0].getFloat(i));
  return values;
}

/// op(lhs, rhs) on constants of `type`.
std::vector<double> binary(const std::string &op, const std::string &lhs,
                           const std::string &rhs, const std::string &type,
                           const std::string &resultType = "") {
  std::string to = resultType.empty() ? type : resultType;
  return evaluate("func.func @f() -> " + to +
                  " {\n%a = stablehlo.constant dense<" + lhs + "> : " + type +
                  "\n%b = stablehlo.constant dense<" + rhs + "> : " + type +
                  "\n%c = stablehlo." + op + " : (" + type + ", " + type +
                  ") -> " + to + "\nreturn %c : " + to + "\n}");
}

std::vector<double> convert(const std::string &values, const std::string &from,
                            const std::string &to) {
  return evaluate("func.func @f() -> " + to +
                  " {\n%a = stablehlo.constant dense<" + values +
                  "> : " + from + "\n%c = stablehlo.convert %a : (" + from +
                  ") -> " + to + "\nreturn %c : " + to + "\n}");
}

TEST(IntegerDivision, TruncatesAndNeverTraps) {
  EXPECT_THAT(binary("divide %a, %b", "[7, -7, 7, 5, -2147483648]",
                     "[2, 2, -2, 0, -1]", "tensor<5xi32>"),
              ElementsAre(3, -3, -3, -1, -2147483648.0));
  EXPECT_THAT(binary("remainder %a, %b", "[7, -7, 7, 5, -2147483648]",
                     "[2, 2, -2, 0, -1]", "tensor<5xi32>"),
              ElementsAre(1, -1, 1, 5, 0));
  EXPECT_THAT(binary("divide %a, %b", "[200, 5]", "[3, 0]", "tensor<2xui8>"),
              ElementsAre(66, 255));
}

TEST(IntegerArithmetic, Wraps) {
  EXPECT_THAT(
      binary("add %a, %b", "[100, -100]", "[100, -100]", "tensor<2xi8>"),
      ElementsAre(-56, 56));
  EXPECT_THAT(binary("multiply %a, %b", "[200, 2]", "[2, 3]", "tensor<2xui8>"),
              ElementsAre(144, 6));
  EXPECT_THAT(binary("power %a, %b", "[3, -1, -1, 1, 2]", "[4, -3, -2, -9, -1]",
                     "tensor<5xi32>"),
              ElementsAre(81, -1, 1, 1, 0));
  EXPECT_THAT(binary("maximum %a, %b", "[200, 3]", "[100, 4]", "tensor<2xui8>"),
              ElementsAre(200, 4));
}

TEST(Booleans, AreLogic) {
  std::string x = "[false, false, true, true]",
              y = "[false, true, false, true]";
  EXPECT_THAT(binary("add %a, %b", x, y, "tensor<4xi1>"),
              ElementsAre(0, 1, 1, 1));
  EXPECT_THAT(binary("multiply %a, %b", x, y, "tensor<4xi1>"),
              ElementsAre(0, 0, 0, 1));
  EXPECT_THAT(binary("maximum %a, %b", x, y, "tensor<4xi1>"),
              ElementsAre(0, 1, 1, 1));
  EXPECT_THAT(binary("xor %a, %b", x, y, "tensor<4xi1>"),
              ElementsAre(0, 1, 1, 0));
  EXPECT_THAT(
      evaluate("func.func @f() -> tensor<2xi1> {\n"
               "%a = stablehlo.constant dense<[false, true]> : tensor<2xi1>\n"
               "%b = stablehlo.not %a : tensor<2xi1>\n"
               "return %b : tensor<2xi1>\n}"),
      ElementsAre(1, 0));
}

TEST(FloatExtrema, PropagateNaN) {
  auto result = binary("maximum %a, %b", "[0x7FC00000, 1.0, -0.0]",
                       "[1.0, 0x7FC00000, 0.0]", "tensor<3xf32>");
  EXPECT_TRUE(std::isnan(result[0]) && std::isnan(result[1]));
  EXPECT_FALSE(std::signbit(result[2]));
  result = binary("minimum %a, %b", "[0x7FC00000, 0.0]", "[1.0, -0.0]",
                  "tensor<2xf32>");
  EXPECT_TRUE(std::isnan(result[0]));
  EXPECT_TRUE(std::signbit(result[1]));
}

TEST(FloatRemainder, HasTheSignOfTheDividend) {
  EXPECT_THAT(binary("remainder %a, %b", "[5.5, -5.5, 5.5]", "[2.0, 2.0, -2.0]",
                     "tensor<3xf64>"),
              ElementsAre(1.5, -1.5, 1.5));
}

TEST(Compare, IsFalseForNaNButNotEqual) {
  std::string x = "[0x7FC00000, 1.0]", y = "[0x7FC00000, 1.0]";
  auto compare = [&](const char *direction) {
    return binary(std::string("compare ") + direction + ", %a, %b", x, y,
                  "tensor<2xf32>", "tensor<2xi1>");
  };
  EXPECT_THAT(compare("EQ"), ElementsAre(0, 1));
  EXPECT_THAT(compare("NE"), ElementsAre(1, 0));
  EXPECT_THAT(compare("GE"), ElementsAre(0, 1));
  EXPECT_THAT(compare("LT"), ElementsAre(0, 0));
}

TEST(Compare, TotalOrderTellsZerosAndNaNsApart) {
  EXPECT_THAT(binary("compare LT, %a, %b, TOTALORDER",
                     "[-0.0, 0.0, 0x7F800000, 0xFFC00000]",
                     "[0.0, -0.0, 0x7FC00000, 0xFF800000]", "tensor<4xf32>",
                     "tensor<4xi1>"),
              ElementsAre(1, 0, 1, 1));
}

TEST(Compare, IsUnsignedForUnsignedTypes) {
  EXPECT_THAT(binary("compare GT, %a, %b, UNSIGNED", "[200]", "[100]",
                     "tensor<1xui8>", "tensor<1xi1>"),
              ElementsAre(1));
  EXPECT_THAT(binary("compare GT, %a, %b, SIGNED", "[-2]", "[1]",
                     "tensor<1xi8>", "tensor<1xi1>"),
              ElementsAre(0));
}

TEST(Convert, SaturatesFloats) {
  EXPECT_THAT(convert("[1.9, -1.9, 1.0e10, -1.0e10, 0x7FC00000]",
                      "tensor<5xf32>", "tensor<5xi32>"),
              ElementsAre(1, -1, 2147483647.0, -2147483648.0, 0));
  EXPECT_THAT(convert("[300.0, -5.0, 254.9]", "tensor<3xf32>", "tensor<3xui8>"),
              ElementsAre(255, 0, 254));
}

TEST(Convert, ToBooleanIsNotZero) {
  EXPECT_THAT(convert("[2, 0, 256]", "tensor<3xi32>", "tensor<3xi1>"),
              ElementsAre(1, 0, 1));
  EXPECT_THAT(
      convert("[0.5, -0.0, 0x7FC00000]", "tensor<3xf32>", "tensor<3xi1>"),
      ElementsAre(1, 0, 1));
  EXPECT_THAT(convert("[true, false]", "tensor<2xi1>", "tensor<2xi8>"),
              ElementsAre(1, 0));
}

TEST(Convert, RoundsOnceToNearestEven) {
  EXPECT_THAT(
      convert("[1.00390625, 1.01171875]", "tensor<2xf32>", "tensor<2xbf16>"),
      ElementsAre(1.0, 1.015625));
  // 2^54 + 2^30 + 1: by way of double the last bit is lost and a tie goes down.
  EXPECT_THAT(convert("[18014399583223809]", "tensor<1xi64>", "tensor<1xf32>"),
              ElementsAre(18014400656965632.0));
  EXPECT_THAT(convert("[-1, 300]", "tensor<2xi32>", "tensor<2xui8>"),
              ElementsAre(255, 44));
}

TEST(NarrowFloats, RoundAfterEachOp) {
  // 256 + 1 is a tie in bf16.
  EXPECT_THAT(binary("add %a, %b", "[256.0]", "[1.0]", "tensor<1xbf16>"),
              ElementsAre(256));
  EXPECT_THAT(binary("add %a, %b", "[2048.0]", "[1.0]", "tensor<1xf16>"),
              ElementsAre(2048));
}

TEST(Iota, CountsAlongItsDimension) {
  EXPECT_THAT(evaluate("func.func @f() -> tensor<2x3xi32> {\n"
                       "%0 = stablehlo.iota dim = 1 : tensor<2x3xi32>\n"
                       "return %0 : tensor<2x3xi32>\n}"),
              ElementsAre(0, 1, 2, 0, 1, 2));
  EXPECT_THAT(evaluate("func.func @f() -> tensor<2x2xf32> {\n"
                       "%0 = stablehlo.iota dim = 0 : tensor<2x2xf32>\n"
                       "return %0 : tensor<2x2xf32>\n}"),
              ElementsAre(0, 0, 1, 1));
}
/// clamp(%a, %x, %b) of four elements of `element`.
std::vector<double> clamp(const std::string &low, const std::string &x,
                          const std::string &high, const std::string &element) {
  std::string type = "tensor<4x" + element + ">";
  return evaluate("func.func @f() -> " + type +
                  " {\n%a = stablehlo.constant dense<" + low + "> : " + type +
                  "\n%x = stablehlo.constant dense<" + x + "> : " + type +
                  "\n%b = stablehlo.constant dense<" + high + "> : " + type +
                  "\n%c = stablehlo.clamp %a, %x, %b : " + type +
                  "\nreturn %c : " + type + "\n}");
}

// minimum(maximum(x, low), high): the upper bound has the last word.
TEST(Clamp, CrossedBoundsGiveTheUpperOne) {
  EXPECT_THAT(clamp("1.0", "[-2.0, -1.0, 0.0, 2.0]", "-1.0", "f32"),
              ElementsAre(-1, -1, -1, -1));
  EXPECT_THAT(clamp("1", "[-2, -1, 0, 2]", "-1", "i32"),
              ElementsAre(-1, -1, -1, -1));
  EXPECT_THAT(clamp("200", "[0, 100, 201, 255]", "100", "ui8"),
              ElementsAre(100, 100, 100, 100));
}

TEST(IntegerSigns, AreMinusOneToOne) {
  auto unary = [](const std::string &op, const std::string &values) {
    return evaluate("func.func @f() -> tensor<4xi32> {\n%x = "
                    "stablehlo.constant dense<" +
                    values + "> : tensor<4xi32>\n%y = stablehlo." + op +
                    " %x : tensor<4xi32>\nreturn %y : tensor<4xi32>\n}");
  };
  EXPECT_THAT(unary("sign", "[-5, 0, 7, -2147483648]"),
              ElementsAre(-1, 0, 1, -1));
  EXPECT_THAT(unary("abs", "[-5, 0, 7, -2147483648]"),
              ElementsAre(5, 0, 7, -2147483648.0));
  EXPECT_THAT(unary("negate", "[-5, 0, 7, -2147483648]"),
              ElementsAre(5, 0, -7, -2147483648.0));
}

// Elements beside the text are there, but not for the interpreter.
TEST(Constants, OfResourcesAreNotEvaluated) {
  GraphContext context;
  auto module = context.parse(R"(
    func.func @f() -> tensor<2xf32> {
      %0 = stablehlo.constant dense_resource<weights> : tensor<2xf32>
      return %0 : tensor<2xf32>
    }
    {-# dialect_resources: {builtin: {weights: "0x040000000000803F00000040"}} #-})");
  ASSERT_TRUE(module) << context.takeMessages();
  SmallVector<HostTensor> results;
  EXPECT_TRUE(
      failed(Interpreter().interpret(getFunction(*module), {}, results)));
  EXPECT_EQ(context.takeMessages(),
            "'stablehlo.constant' op expected dense elements to evaluate\n");
}
} // namespace
