//===- KernelTypesTest.cpp - Kernels of every element type ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Integers agree exactly, narrow floats to their own rounding.
//
//===----------------------------------------------------------------------===//

#include "KernelRunner.h"
#include <gtest/gtest.h>

using namespace llmc::test;

namespace {

double errorOf(const std::string &text) {
  KernelRunner runner(text);
  EXPECT_TRUE(runner.isReady()) << runner.takeMessages();
  EXPECT_TRUE(runner.run(2));
  return runner.getError();
}

TEST(KernelTypes, IntegersOfEverySize) {
  for (const char *type :
       {"i8", "i16", "i32", "i64", "ui8", "ui16", "ui32", "ui64"}) {
    EXPECT_EQ(errorOf(withType(R"(
  func.func @f(%x: tensor<6x37xT>, %y: tensor<6x37xT> {test.low = 1.0, test.high = 5.0}) -> (tensor<6x37xT>, tensor<6xT>, tensor<37xT>, tensor<6x37xi1>) {
    %z = stablehlo.constant dense<0> : tensor<T>
    %0 = stablehlo.multiply %x, %y : tensor<6x37xT>
    %1 = stablehlo.subtract %0, %y : tensor<6x37xT>
    %2 = stablehlo.divide %1, %y : tensor<6x37xT>
    %3 = stablehlo.maximum %2, %x : tensor<6x37xT>
    %4 = stablehlo.reduce(%3 init: %z) applies stablehlo.add across dimensions = [1] : (tensor<6x37xT>, tensor<T>) -> tensor<6xT>
    %5 = stablehlo.reduce(%3 init: %z) applies stablehlo.maximum across dimensions = [0] : (tensor<6x37xT>, tensor<T>) -> tensor<37xT>
    %6 = stablehlo.compare LT, %1, %x : (tensor<6x37xT>, tensor<6x37xT>) -> tensor<6x37xi1>
    return %3, %4, %5, %6 : tensor<6x37xT>, tensor<6xT>, tensor<37xT>, tensor<6x37xi1>
  })",
                               type)),
              0)
        << type;
  }
}

/// Positions that wrap around within a vector are no neighbours: they change
/// their sign there, and so does what is read at them.
TEST(KernelTypes, PositionsThatWrapAround) {
  EXPECT_EQ(errorOf(R"(
  func.func @f(%x: tensor<4x64xi32>) -> tensor<4x64xi32> {
    %z = stablehlo.constant dense<0> : tensor<i32>
    %n = stablehlo.constant dense<0> : tensor<4x64xi4>
    %i = stablehlo.iota dim = 1 : tensor<4x64xi4>
    %0 = stablehlo.compare LT, %i, %n, SIGNED : (tensor<4x64xi4>, tensor<4x64xi4>) -> tensor<4x64xi1>
    %1 = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [1] : (tensor<4x64xi32>, tensor<i32>) -> tensor<4xi32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0] : (tensor<4xi32>) -> tensor<4x64xi32>
    %3 = stablehlo.select %0, %2, %x : tensor<4x64xi1>, tensor<4x64xi32>
    return %3 : tensor<4x64xi32>
  })"),
            0);
  EXPECT_EQ(errorOf(R"(
  func.func @f(%x: tensor<320xi32>) -> tensor<320xi32> {
    %c = stablehlo.constant dense<5> : tensor<320x1xi8>
    %i = stablehlo.iota dim = 0 : tensor<320x1xi8>
    %0 = stablehlo.add %i, %c : tensor<320x1xi8>
    %1 = "stablehlo.gather"(%x, %0) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>}> : (tensor<320xi32>, tensor<320x1xi8>) -> tensor<320xi32>
    return %1 : tensor<320xi32>
  })"),
            0);
}

TEST(KernelTypes, PositionsAreIndicesAgain) {
  EXPECT_EQ(errorOf(R"(
  func.func @f(%x: tensor<300xi32>) -> tensor<298xi32> {
    %i = stablehlo.iota dim = 0 : tensor<298x1xi8>
    %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1>}> : (tensor<300xi32>, tensor<298x1xi8>) -> tensor<298xi32>
    return %0 : tensor<298xi32>
  })"),
            0);
}

TEST(KernelTypes, Booleans) {
  EXPECT_EQ(errorOf(R"(
  func.func @f(%x: tensor<6x37xf32>) -> (tensor<6xi1>, tensor<37xi1>, tensor<6x37xf32>) {
    %t = stablehlo.constant dense<true> : tensor<i1>
    %f = stablehlo.constant dense<false> : tensor<i1>
    %c = stablehlo.constant dense<0.9> : tensor<6x37xf32>
    %0 = stablehlo.compare LT, %x, %c, FLOAT : (tensor<6x37xf32>, tensor<6x37xf32>) -> tensor<6x37xi1>
    %1 = stablehlo.reduce(%0 init: %t) applies stablehlo.and across dimensions = [1] : (tensor<6x37xi1>, tensor<i1>) -> tensor<6xi1>
    %2 = stablehlo.reduce(%0 init: %f) applies stablehlo.or across dimensions = [0] : (tensor<6x37xi1>, tensor<i1>) -> tensor<37xi1>
    %3 = stablehlo.convert %0 : (tensor<6x37xi1>) -> tensor<6x37xf32>
    return %1, %2, %3 : tensor<6xi1>, tensor<37xi1>, tensor<6x37xf32>
  })"),
            0);
}

TEST(KernelTypes, NarrowFloats) {
  for (auto [type, bound] :
       {std::pair<const char *, double>{"f16", 4e-3}, {"bf16", 3e-2}}) {
    EXPECT_LE(errorOf(withType(R"(
  func.func @f(%x: tensor<6x37xT>, %y: tensor<6x37xT>) -> (tensor<6x37xT>, tensor<6x37xf32>, tensor<6x37xT>) {
    %0 = stablehlo.multiply %x, %y : tensor<6x37xT>
    %1 = stablehlo.add %0, %y : tensor<6x37xT>
    %2 = stablehlo.convert %1 : (tensor<6x37xT>) -> tensor<6x37xf32>
    %3 = stablehlo.exponential %1 : tensor<6x37xT>
    return %1, %2, %3 : tensor<6x37xT>, tensor<6x37xf32>, tensor<6x37xT>
  })",
                               type)),
              bound)
        << type;
  }
}

// Every kind of number: ties, subnormal ones, what saturates, what overflows.
TEST(KernelTypes, QuantizedFloats) {
  for (const char *type : {"f8E4M3FN", "f8E5M2"})
    EXPECT_EQ(errorOf(withType(R"(
  func.func @f(%x: tensor<8xf32> {test.values = dense<[1.0625, 1.1875, -0.3, 0.00048828125, 1.0e9, -1.0e9, 3.0e-6, 57344.0]> : tensor<8xf32>}, %y: tensor<6x37xf32>, %s: tensor<f32> {test.values = dense<4.0> : tensor<f32>}) -> (tensor<8xf32>, tensor<6x37xf32>) {
    %0 = nn.quantize %x, %s : (tensor<8xf32>, tensor<f32>) -> tensor<8xT>
    %1 = nn.quantize %y, %s : (tensor<6x37xf32>, tensor<f32>) -> tensor<6x37xT>
    %2 = stablehlo.convert %0 : (tensor<8xT>) -> tensor<8xf32>
    %3 = stablehlo.convert %1 : (tensor<6x37xT>) -> tensor<6x37xf32>
    return %2, %3 : tensor<8xf32>, tensor<6x37xf32>
  })",
                               type)),
              0)
        << type;
}

// Values beside ties of bf16 and f16, which f32 rounds to the ties.
TEST(KernelTypes, NarrowFloatsAreRoundedOnce) {
  for (const char *type : {"bf16", "f16"})
    EXPECT_EQ(errorOf(withType(R"(
  func.func @f(%x: tensor<8xf64> {test.values = dense<[1.00390625000090949, 1.01171874999909051, -1.00390625000090949, 1.00048828125090949, -1.00146484374909051, 1.5, 1.0e-300, 0.1]> : tensor<8xf64>}, %y: tensor<6x37xf64>) -> (tensor<8xT>, tensor<6x37xT>) {
    %0 = stablehlo.convert %x : (tensor<8xf64>) -> tensor<8xT>
    %1 = stablehlo.convert %y : (tensor<6x37xf64>) -> tensor<6x37xT>
    return %0, %1 : tensor<8xT>, tensor<6x37xT>
  })",
                               type)),
              0)
        << type;
}

TEST(KernelTypes, Conversions) {
  EXPECT_EQ(errorOf(R"(
  func.func @f(%x: tensor<50xf32> {test.low = -100.0, test.high = 100.0}) -> (tensor<50xi32>, tensor<50xf64>, tensor<50xi8>, tensor<50xf32>) {
    %0 = stablehlo.convert %x : (tensor<50xf32>) -> tensor<50xi32>
    %1 = stablehlo.convert %x : (tensor<50xf32>) -> tensor<50xf64>
    %2 = stablehlo.convert %0 : (tensor<50xi32>) -> tensor<50xi8>
    %3 = stablehlo.convert %2 : (tensor<50xi8>) -> tensor<50xf32>
    return %0, %1, %2, %3 : tensor<50xi32>, tensor<50xf64>, tensor<50xi8>, tensor<50xf32>
  })"),
            0);
}

// Of a widened bf16 LLVM would make functions of bf16, and call for them.
TEST(KernelTypes, RoundingOfWidenedHalves) {
  for (const char *op : {"ceil", "floor", "abs", "negate"})
    EXPECT_EQ(errorOf(std::string(R"(
  func.func @f(%x: tensor<3xf64> {test.low = -9.0, test.high = 9.0}) -> tensor<3xf64> {
    %0 = stablehlo.convert %x : (tensor<3xf64>) -> tensor<3xbf16>
    %1 = stablehlo.convert %0 : (tensor<3xbf16>) -> tensor<3xf64>
    %2 = stablehlo.)") +
                      op + R"( %1 : tensor<3xf64>
    return %2 : tensor<3xf64>
  })"),
              0)
        << op;
}

// What is padded, chosen by one number, repeated and read at places is moved as
// bits, out of loops and into them; what is computed with is a number.
TEST(KernelTypes, NarrowFloatsAreMoved) {
  for (const char *type : {"bf16", "f16"})
    EXPECT_EQ(errorOf(withType(R"(
  func.func @f(%x: tensor<6x37xT>, %one: tensor<T>, %p: tensor<i1>, %at: tensor<5xi32> {test.low = 0.0, test.high = 5.0}) -> (tensor<8x40xT>, tensor<6x37xT>, tensor<5x37xT>, tensor<6x37xi1>, tensor<6x37xT>) {
    %0 = stablehlo.pad %x, %one, low = [1, 2], high = [1, 1], interior = [0, 0] : (tensor<6x37xT>, tensor<T>) -> tensor<8x40xT>
    %1 = stablehlo.broadcast_in_dim %one, dims = [] : (tensor<T>) -> tensor<6x37xT>
    %2 = stablehlo.select %p, %x, %1 : tensor<i1>, tensor<6x37xT>
    %3 = "stablehlo.gather"(%2, %at) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 37>}> : (tensor<6x37xT>, tensor<5xi32>) -> tensor<5x37xT>
    %4 = stablehlo.compare GT, %2, %1, FLOAT : (tensor<6x37xT>, tensor<6x37xT>) -> tensor<6x37xi1>
    %5 = stablehlo.negate %2 : tensor<6x37xT>
    %6 = stablehlo.select %4, %5, %2 : tensor<6x37xi1>, tensor<6x37xT>
    return %0, %2, %3, %4, %6 : tensor<8x40xT>, tensor<6x37xT>, tensor<5x37xT>, tensor<6x37xi1>, tensor<6x37xT>
  })",
                               type)),
              0)
        << type;
}

// The number that is left of a sum is chosen between bits, not by a call.
TEST(KernelTypes, NarrowFloatsAreReducedToANumber) {
  for (const char *type : {"bf16", "f16"})
    for (const char *op : {"add", "maximum"})
      EXPECT_EQ(
          errorOf(withType(
              std::string(R"(
  func.func @f(%x: tensor<4xT> {test.values = dense<[1.0, 2.0, -3.0, 5.0]> : tensor<4xT>}, %c: tensor<i1>) -> (tensor<T>, tensor<T>) {
    %z = stablehlo.constant dense<0.0> : tensor<T>
    %0 = stablehlo.reduce(%x init: %z) applies stablehlo.)") +
                  op +
                  R"( across dimensions = [0] : (tensor<4xT>, tensor<T>) -> tensor<T>
    %1 = stablehlo.select %c, %0, %z : tensor<i1>, tensor<T>
    return %0, %1 : tensor<T>, tensor<T>
  })",
              type)),
          0)
          << op << " of " << type;
}

} // namespace
