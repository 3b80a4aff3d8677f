//===- ElementTest.cpp - Scalar code of the element-wise ops --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ElementHarness.h"

using namespace llmc::test;

namespace {
// Zeros of both signs, infinities, NaN, ties and large numbers against each
// other.
std::string specials(const std::string &element) {
  std::string nan = element == "f64"   ? "0x7FF8000000000000"
                    : element == "f32" ? "0x7FC00000"
                                       : "0x7FC0";
  std::string inf = element == "f64"   ? "0x7FF0000000000000"
                    : element == "f32" ? "0x7F800000"
                                       : "0x7F80";
  std::string minusInf = element == "f64"   ? "0xFFF0000000000000"
                         : element == "f32" ? "0xFF800000"
                                            : "0xFF80";
  return "[0.0, -0.0, 1.0, -1.0, 2.5, -2.5, 1.0e10, -3.0e9, 300.0, " + nan +
         ", " + inf + ", " + minusInf + ", 0.3]";
}

std::string onSpecials(const std::string &element, const std::string &body) {
  std::string type = "tensor<13x" + element + ">";
  std::string text = "func.func @f() {\n%c = stablehlo.constant dense<" +
                     specials(element) + "> : " + type + "\n";
  // All pairs: x runs along dim 0, y along dim 1.
  text += "%x = stablehlo.broadcast_in_dim %c, dims = [0] : (" + type +
          ") -> T\n%y = stablehlo.broadcast_in_dim %c, dims = [1] : (" + type +
          ") -> T\n" + body + "return\n}";
  std::string pair = "tensor<13x13x" + element + ">";
  for (size_t at; (at = text.find("T\n")) != std::string::npos;)
    text.replace(at, 2, pair + "\n");
  for (size_t at; (at = text.find("(T")) != std::string::npos;)
    text.replace(at, 2, "(" + pair);
  for (size_t at; (at = text.find(" T,")) != std::string::npos;)
    text.replace(at, 3, " " + pair + ",");
  for (size_t at; (at = text.find(", T)")) != std::string::npos;)
    text.replace(at, 4, ", " + pair + ")");
  return text;
}

class FloatElements : public testing::TestWithParam<const char *> {};

TEST_P(FloatElements, BinaryOpsAgree) {
  for (const char *op : {"add", "subtract", "multiply", "divide", "maximum",
                         "minimum", "remainder", "atan2"})
    EXPECT_TRUE(checkElements(onSpecials(
        GetParam(), std::string("%z = stablehlo.") + op + " %x, %y : T\n")))
        << op;
}

TEST_P(FloatElements, UnaryOpsAgree) {
  for (const char *op :
       {"abs", "ceil", "floor", "negate", "sign", "cbrt", "exponential", "log",
        "logistic", "rsqrt", "sqrt", "tanh", "tan", "round_nearest_even",
        "round_nearest_afz"})
    EXPECT_TRUE(checkElements(onSpecials(
        GetParam(), std::string("%z = stablehlo.") + op + " %x : T\n")))
        << op;
}

// Formats that keep all, that lose digits, that lose range, and both.
TEST_P(FloatElements, ReducedPrecisionAgrees) {
  for (const char *format :
       {"e11m52", "e8m23", "e8m7", "e8m0", "e5m10", "e5m2", "e4m3", "e1m1"})
    EXPECT_TRUE(checkElements(onSpecials(
        GetParam(), std::string("%z = stablehlo.reduce_precision %x, format "
                                "= ") +
                        format + " : T\n")))
        << format;
}

TEST_P(FloatElements, BitsAgree) {
  std::string element = GetParam();
  std::string same = "ui" + element.substr(element.find_first_of("12345678"));
  for (const std::string &to : {same, std::string("ui8"), std::string("i16")}) {
    unsigned ratio = std::stoi(same.substr(2)) /
                     std::stoi(to.substr(to.find_first_of("12345678")));
    std::string shape =
        "tensor<13x13x" + (ratio > 1 ? std::to_string(ratio) + "x" : "") + to;
    // There and back, through the parts.
    EXPECT_TRUE(checkElements(onSpecials(
        element, "%z = stablehlo.bitcast_convert %x : (T) -> " + shape +
                     ">\n%w = stablehlo.bitcast_convert %z : (" + shape +
                     ">) -> T\n")))
        << to;
  }
}

TEST_P(FloatElements, ComparisonsAgree) {
  for (const char *direction : {"EQ", "NE", "GE", "GT", "LE", "LT"})
    for (const char *order : {"FLOAT", "TOTALORDER"})
      EXPECT_TRUE(checkElements(
          onSpecials(GetParam(), std::string("%z = stablehlo.compare ") +
                                     direction + ", %x, %y, " + order +
                                     " : (T, T) -> tensor<13x13xi1>\n")))
          << direction << " " << order;
}

TEST_P(FloatElements, ConversionsAgree) {
  for (const char *to : {"f64", "f32", "bf16", "f16", "i8", "i32", "i64", "ui8",
                         "ui32", "ui64", "i1"})
    EXPECT_TRUE(checkElements(
        onSpecials(GetParam(), std::string("%z = stablehlo.convert %x : (T) -> "
                                           "tensor<13x13x") +
                                   to + ">\n")))
        << to;
}

INSTANTIATE_TEST_SUITE_P(All, FloatElements,
                         testing::Values("f64", "f32", "bf16"));

std::string onIntegers(const std::string &element, const std::string &values,
                       const std::string &body) {
  std::string text = "func.func @f() {\n%c = stablehlo.constant dense<" +
                     values + "> : tensor<6x" + element +
                     ">\n%x = stablehlo.broadcast_in_dim %c, dims = [0] : "
                     "(tensor<6x" +
                     element +
                     ">) -> T\n%y = stablehlo.broadcast_in_dim %c, "
                     "dims = [1] : (tensor<6x" +
                     element + ">) -> T\n" + body + "return\n}";
  for (size_t at; (at = text.find("T\n")) != std::string::npos;)
    text.replace(at, 2, "tensor<6x6x" + element + ">\n");
  for (size_t at; (at = text.find("(T, T)")) != std::string::npos;)
    text.replace(at, 6,
                 "(tensor<6x6x" + element + ">, tensor<6x6x" + element + ">)");
  for (size_t at; (at = text.find("(T)")) != std::string::npos;)
    text.replace(at, 3, "(tensor<6x6x" + element + ">)");
  return text;
}

struct Integers {
  const char *element, *values, *order;
};

class IntegerElements : public testing::TestWithParam<Integers> {};

TEST_P(IntegerElements, Agree) {
  auto [element, values, order] = GetParam();
  for (const char *op :
       {"add", "subtract", "multiply", "divide", "remainder", "power",
        "maximum", "minimum", "and", "or", "xor", "shift_left",
        "shift_right_logical", "shift_right_arithmetic"})
    EXPECT_TRUE(checkElements(
        onIntegers(element, values,
                   std::string("%z = stablehlo.") + op + " %x, %y : T\n")))
        << op;
  for (const char *direction : {"EQ", "NE", "GE", "GT", "LE", "LT"})
    EXPECT_TRUE(checkElements(
        onIntegers(element, values,
                   std::string("%z = stablehlo.compare ") + direction +
                       ", %x, %y, " + order + " : (T, T) -> tensor<6x6xi1>\n")))
        << direction;
  for (const char *to :
       {"f64", "f32", "bf16", "i8", "i64", "ui8", "ui64", "i1"})
    EXPECT_TRUE(checkElements(onIntegers(
        element, values,
        std::string("%z = stablehlo.convert %x : (T) -> tensor<6x6x") + to +
            ">\n")))
        << to;
  for (const char *op : {"not", "popcnt", "count_leading_zeros"})
    EXPECT_TRUE(checkElements(onIntegers(
        element, values, std::string("%z = stablehlo.") + op + " %x : T\n")))
        << op;
}

INSTANTIATE_TEST_SUITE_P(
    All, IntegerElements,
    testing::Values(
        Integers{"i32", "[0, 1, -1, -2147483648, 7, -3]", "SIGNED"},
        Integers{"i8", "[0, 1, -1, -128, 127, 5]", "SIGNED"},
        Integers{"i64", "[0, 1, -1, -9223372036854775808, 7, 3]", "SIGNED"},
        Integers{"ui8", "[0, 1, 255, 128, 7, 3]", "UNSIGNED"},
        Integers{"ui32", "[0, 1, 4294967295, 2147483648, 7, 3]", "UNSIGNED"},
        Integers{"ui64", "[0, 1, 18446744073709551615, 9, 7, 3]", "UNSIGNED"}));

TEST(SourceElements, Agree) {
  int numChecked = 0;
  EXPECT_TRUE(checkElements(R"(
    func.func @f(%p: tensor<2x3xi1>, %x: tensor<2x3xf32>, %y: tensor<2x3xf32>, %s: tensor<i1>,
                 %b: tensor<f32>) {
      %0 = stablehlo.constant dense<[[1, 2, 3], [4, 5, 6]]> : tensor<2x3xi32>
      %1 = stablehlo.constant dense<7.5> : tensor<2x3xf32>
      %2 = stablehlo.iota dim = 1 : tensor<2x3xi32>
      %3 = stablehlo.iota dim = 0 : tensor<2x3xbf16>
      %4 = stablehlo.select %p, %x, %y : tensor<2x3xi1>, tensor<2x3xf32>
      %5 = stablehlo.select %s, %x, %y : tensor<i1>, tensor<2x3xf32>
      %6 = stablehlo.clamp %b, %x, %y : (tensor<f32>, tensor<2x3xf32>, tensor<2x3xf32>) -> tensor<2x3xf32>
      %7 = stablehlo.is_finite %x : (tensor<2x3xf32>) -> tensor<2x3xi1>
      %8 = chlo.square %x : tensor<2x3xf32> -> tensor<2x3xf32>
      %9 = chlo.erf %x : tensor<2x3xf32> -> tensor<2x3xf32>
      %10 = chlo.erfc %x : tensor<2x3xf32> -> tensor<2x3xf32>
      %11 = stablehlo.abs %0 : tensor<2x3xi32>
      %12 = stablehlo.sign %0 : tensor<2x3xi32>
      %13 = stablehlo.negate %0 : tensor<2x3xi32>
      %low = stablehlo.constant dense<-0.5> : tensor<f32>
      %high = stablehlo.constant dense<0.5> : tensor<f32>
      %14 = stablehlo.clamp %high, %x, %low : (tensor<f32>, tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
      %four = stablehlo.constant dense<4> : tensor<i32>
      %two = stablehlo.constant dense<2> : tensor<i32>
      %15 = stablehlo.clamp %four, %0, %two : (tensor<i32>, tensor<2x3xi32>, tensor<i32>) -> tensor<2x3xi32>
      return
    })",
                            &numChecked));
  // The first constant is a table.
  EXPECT_EQ(numChecked, 19);
}

TEST(TruthElements, Agree) {
  int numChecked = 0;
  EXPECT_TRUE(checkElements(R"(
    func.func @f() {
      %x = stablehlo.constant dense<[false, false, true, true]> : tensor<4xi1>
      %y = stablehlo.constant dense<[false, true, false, true]> : tensor<4xi1>
      %0 = stablehlo.add %x, %y : tensor<4xi1>
      %1 = stablehlo.multiply %x, %y : tensor<4xi1>
      %2 = stablehlo.maximum %x, %y : tensor<4xi1>
      %3 = stablehlo.minimum %x, %y : tensor<4xi1>
      %4 = stablehlo.and %x, %y : tensor<4xi1>
      %5 = stablehlo.or %x, %y : tensor<4xi1>
      %6 = stablehlo.xor %x, %y : tensor<4xi1>
      %7 = stablehlo.not %x : tensor<4xi1>
      %8 = stablehlo.compare LT, %x, %y : (tensor<4xi1>, tensor<4xi1>) -> tensor<4xi1>
      return
    })",
                            &numChecked));
  EXPECT_EQ(numChecked, 9);
}

TEST(ClampElements, OfUnsignedAgree) {
  EXPECT_TRUE(checkElements(R"(
    func.func @f() {
      %x = stablehlo.constant dense<[0, 99, 150, 200, 201, 255]> : tensor<6xui8>
      %a = stablehlo.constant dense<100> : tensor<ui8>
      %b = stablehlo.constant dense<200> : tensor<ui8>
      %0 = stablehlo.clamp %a, %x, %b : (tensor<ui8>, tensor<6xui8>, tensor<ui8>) -> tensor<6xui8>
      return
    })"));
}
} // namespace
