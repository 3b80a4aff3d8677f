//===- KernelFormsTest.cpp - Kernels of every form, against evaluation ----===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each text is run with its T as f64, where kernels agree to 1e-12, and as f32,
// where they agree to rounding.
//
//===----------------------------------------------------------------------===//

#include "KernelRunner.h"
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

using namespace llmc::test;

namespace {

struct Case {
  const char *name;
  const char *text;
  /// Kernels that the function becomes; -1: not checked.
  int launches;
};

class KernelForms : public testing::TestWithParam<Case> {};

TEST_P(KernelForms, AgreeWithEvaluation) {
  for (auto [type, bound] :
       {std::pair<const char *, double>{"f64", 1e-12}, {"f32", 1e-5}}) {
    KernelRunner runner(withType(GetParam().text, type));
    ASSERT_TRUE(runner.isReady()) << type << ": " << runner.takeMessages();
    for (int slices : {1, 3}) {
      ASSERT_TRUE(runner.run(slices)) << type;
      EXPECT_LE(runner.getError(), bound) << type << ", slices " << slices;
    }
    if (GetParam().launches >= 0)
      EXPECT_EQ(runner.getNumLaunches(), 2 * GetParam().launches);
  }
}

const Case cases[] = {
    {"Pointwise", R"(
  func.func @f(%x: tensor<5x7xT>, %y: tensor<5x7xT>) -> tensor<5x7xT> {
    %0 = stablehlo.multiply %x, %y : tensor<5x7xT>
    %1 = stablehlo.add %0, %x : tensor<5x7xT>
    %2 = stablehlo.tanh %1 : tensor<5x7xT>
    return %2 : tensor<5x7xT>
  })",
     1},
    {"Functions", R"(
  func.func @f(%x: tensor<67xT> {test.low = 0.1, test.high = 3.0}) -> (tensor<67xT>, tensor<67xT>, tensor<67xT>, tensor<67xT>, tensor<67xT>, tensor<67xT>) {
    %0 = stablehlo.exponential %x : tensor<67xT>
    %1 = stablehlo.log %x : tensor<67xT>
    %2 = stablehlo.rsqrt %x : tensor<67xT>
    %3 = stablehlo.logistic %x : tensor<67xT>
    %4 = stablehlo.sine %x : tensor<67xT>
    %5 = stablehlo.power %x, %x : tensor<67xT>
    return %0, %1, %2, %3, %4, %5 : tensor<67xT>, tensor<67xT>, tensor<67xT>, tensor<67xT>, tensor<67xT>, tensor<67xT>
  })",
     -1},
    {"BroadcastTransposeSlice", R"(
  func.func @f(%x: tensor<6x40xT>, %b: tensor<40xT>) -> (tensor<40x6xT>, tensor<6x17xT>) {
    %0 = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<40xT>) -> tensor<6x40xT>
    %1 = stablehlo.add %x, %0 : tensor<6x40xT>
    %2 = stablehlo.transpose %1, dims = [1, 0] : (tensor<6x40xT>) -> tensor<40x6xT>
    %3 = stablehlo.slice %1 [0:6, 3:20] : (tensor<6x40xT>) -> tensor<6x17xT>
    return %2, %3 : tensor<40x6xT>, tensor<6x17xT>
  })",
     -1},
    // The last one's right dims change places: a kernel moves it.
    {"WrittenProducts", R"(
  func.func @f(%x: tensor<2x3x5x4xT>, %y: tensor<2x4x3x5xT>, %v: tensor<4x4xT>, %w: tensor<4x4xT>) -> (tensor<3x2x5x5xT>, tensor<3x2x5x5xT>, tensor<4x4xT>, tensor<4x3x2x5xT>) {
    %0 = stablehlo.dot_general %x, %y, batching_dims = [0, 1] x [0, 2], contracting_dims = [3] x [1] : (tensor<2x3x5x4xT>, tensor<2x4x3x5xT>) -> tensor<2x3x5x5xT>
    %1 = stablehlo.transpose %0, dims = [1, 0, 3, 2] : (tensor<2x3x5x5xT>) -> tensor<3x2x5x5xT>
    %2 = stablehlo.dot_general %y, %x, batching_dims = [0, 2] x [0, 1], contracting_dims = [1] x [3] : (tensor<2x4x3x5xT>, tensor<2x3x5x4xT>) -> tensor<2x3x5x5xT>
    %3 = stablehlo.transpose %2, dims = [1, 0, 2, 3] : (tensor<2x3x5x5xT>) -> tensor<3x2x5x5xT>
    %4 = stablehlo.dot_general %v, %w, contracting_dims = [0] x [0] : (tensor<4x4xT>, tensor<4x4xT>) -> tensor<4x4xT>
    %5 = stablehlo.transpose %4, dims = [1, 0] : (tensor<4x4xT>) -> tensor<4x4xT>
    %6 = stablehlo.dot_general %w, %x, contracting_dims = [1] x [3] : (tensor<4x4xT>, tensor<2x3x5x4xT>) -> tensor<4x2x3x5xT>
    %7 = stablehlo.transpose %6, dims = [0, 2, 1, 3] : (tensor<4x2x3x5xT>) -> tensor<4x3x2x5xT>
    return %1, %3, %5, %7 : tensor<3x2x5x5xT>, tensor<3x2x5x5xT>, tensor<4x4xT>, tensor<4x3x2x5xT>
  })",
     1},
    {"PadConcatenateSelect", R"(
  func.func @f(%x: tensor<3x20xT>, %y: tensor<3x5xT>) -> tensor<3x30xT> {
    %c = stablehlo.constant dense<0.5> : tensor<T>
    %0 = stablehlo.concatenate %x, %y, dim = 1 : (tensor<3x20xT>, tensor<3x5xT>) -> tensor<3x25xT>
    %1 = stablehlo.pad %0, %c, low = [0, 2], high = [0, 3], interior = [0, 0] : (tensor<3x25xT>, tensor<T>) -> tensor<3x30xT>
    %2 = stablehlo.negate %1 : tensor<3x30xT>
    %3 = stablehlo.compare GT, %1, %2, FLOAT : (tensor<3x30xT>, tensor<3x30xT>) -> tensor<3x30xi1>
    %4 = stablehlo.select %3, %1, %2 : tensor<3x30xi1>, tensor<3x30xT>
    return %4 : tensor<3x30xT>
  })",
     -1},
    {"CausalMask", R"(
  func.func @f(%x: tensor<2x33x33xT>) -> (tensor<2x33x33xT>, tensor<33x33xi1>) {
    %i = stablehlo.iota dim = 0 : tensor<33x33xi32>
    %j = stablehlo.iota dim = 1 : tensor<33x33xi32>
    %m = stablehlo.compare GE, %i, %j, SIGNED : (tensor<33x33xi32>, tensor<33x33xi32>) -> tensor<33x33xi1>
    %b = stablehlo.broadcast_in_dim %m, dims = [1, 2] : (tensor<33x33xi1>) -> tensor<2x33x33xi1>
    %n = stablehlo.constant dense<0xFFF0000000000000> : tensor<2x33x33xf64>
    %nt = stablehlo.convert %n : (tensor<2x33x33xf64>) -> tensor<2x33x33xT>
    %0 = stablehlo.select %b, %x, %nt : tensor<2x33x33xi1>, tensor<2x33x33xT>
    return %0, %m : tensor<2x33x33xT>, tensor<33x33xi1>
  })",
     -1},
    {"RowReductions", R"(
  func.func @f(%x: tensor<4x50xT>) -> (tensor<4xT>, tensor<4xT>) {
    %z = stablehlo.constant dense<0.0> : tensor<T>
    %n = stablehlo.constant dense<-9.0e9> : tensor<T>
    %0 = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [1] : (tensor<4x50xT>, tensor<T>) -> tensor<4xT>
    %1 = stablehlo.reduce(%x init: %n) applies stablehlo.maximum across dimensions = [1] : (tensor<4x50xT>, tensor<T>) -> tensor<4xT>
    return %0, %1 : tensor<4xT>, tensor<4xT>
  })",
     -1},
    {"ColumnReductions", R"(
  func.func @f(%x: tensor<3x50x150xT>, %y: tensor<3x50x150xT>) -> (tensor<150xT>, tensor<150xT>) {
    %z = stablehlo.constant dense<0.0> : tensor<T>
    %p = stablehlo.multiply %x, %y : tensor<3x50x150xT>
    %0 = stablehlo.reduce(%p init: %z) applies stablehlo.add across dimensions = [0, 1] : (tensor<3x50x150xT>, tensor<T>) -> tensor<150xT>
    %1 = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [0, 1] : (tensor<3x50x150xT>, tensor<T>) -> tensor<150xT>
    return %0, %1 : tensor<150xT>, tensor<150xT>
  })",
     1},
    {"MixedReductions", R"(
  func.func @f(%x: tensor<3x40x5x20xT>) -> (tensor<40xT>, tensor<3x5x20xT>, tensor<T>, tensor<40x20xT>) {
    %z = stablehlo.constant dense<0.0> : tensor<T>
    %0 = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [0, 2, 3] : (tensor<3x40x5x20xT>, tensor<T>) -> tensor<40xT>
    %1 = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [1] : (tensor<3x40x5x20xT>, tensor<T>) -> tensor<3x5x20xT>
    %2 = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [0, 1, 2, 3] : (tensor<3x40x5x20xT>, tensor<T>) -> tensor<T>
    %3 = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [0, 2] : (tensor<3x40x5x20xT>, tensor<T>) -> tensor<40x20xT>
    return %0, %1, %2, %3 : tensor<40xT>, tensor<3x5x20xT>, tensor<T>, tensor<40x20xT>
  })",
     -1},
    {"Softmax", R"(
  func.func @f(%x: tensor<2x20x45xT>) -> tensor<2x20x45xT> {
    %z = stablehlo.constant dense<0.0> : tensor<T>
    %n = stablehlo.constant dense<-9.0e9> : tensor<T>
    %0 = stablehlo.reduce(%x init: %n) applies stablehlo.maximum across dimensions = [2] : (tensor<2x20x45xT>, tensor<T>) -> tensor<2x20xT>
    %1 = stablehlo.broadcast_in_dim %0, dims = [0, 1] : (tensor<2x20xT>) -> tensor<2x20x45xT>
    %2 = stablehlo.subtract %x, %1 : tensor<2x20x45xT>
    %3 = stablehlo.exponential %2 : tensor<2x20x45xT>
    %4 = stablehlo.reduce(%3 init: %z) applies stablehlo.add across dimensions = [2] : (tensor<2x20x45xT>, tensor<T>) -> tensor<2x20xT>
    %5 = stablehlo.broadcast_in_dim %4, dims = [0, 1] : (tensor<2x20xT>) -> tensor<2x20x45xT>
    %6 = stablehlo.divide %3, %5 : tensor<2x20x45xT>
    return %6 : tensor<2x20x45xT>
  })",
     1},
    {"Contraction", R"(
  func.func @f(%x: tensor<6x5xT>, %w: tensor<4x6xT>, %b: tensor<4xT>) -> tensor<5x4xT> {
    %t = stablehlo.transpose %x, dims = [1, 0] : (tensor<6x5xT>) -> tensor<5x6xT>
    %0 = stablehlo.dot_general %t, %w, contracting_dims = [1] x [1] : (tensor<5x6xT>, tensor<4x6xT>) -> tensor<5x4xT>
    %1 = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<4xT>) -> tensor<5x4xT>
    %2 = stablehlo.add %0, %1 : tensor<5x4xT>
    return %2 : tensor<5x4xT>
  })",
     0},
    {"Activation", R"(
  func.func @f(%x: tensor<5x6xT>, %w: tensor<6x4xT>, %b: tensor<4xT>) -> tensor<5x4xT> {
    %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<5x6xT>, tensor<6x4xT>) -> tensor<5x4xT>
    %1 = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<4xT>) -> tensor<5x4xT>
    %2 = stablehlo.add %0, %1 : tensor<5x4xT>
    %3 = stablehlo.tanh %2 : tensor<5x4xT>
    return %3 : tensor<5x4xT>
  })",
     1},
    {"Reshape", R"(
  func.func @f(%x: tensor<4x24xT>, %y: tensor<4x6x4xT>) -> (tensor<4x6x4xT>, tensor<96xT>) {
    %0 = stablehlo.add %x, %x : tensor<4x24xT>
    %1 = stablehlo.reshape %0 : (tensor<4x24xT>) -> tensor<4x6x4xT>
    %2 = stablehlo.multiply %1, %y : tensor<4x6x4xT>
    %3 = stablehlo.reshape %y : (tensor<4x6x4xT>) -> tensor<96xT>
    return %2, %3 : tensor<4x6x4xT>, tensor<96xT>
  })",
     -1},
    {"Embedding", R"(
  func.func @f(%t: tensor<11x20xT>, %i: tensor<3x4x1xi32> {test.high = 11.0}) -> tensor<3x4x20xT> {
    %0 = "stablehlo.gather"(%t, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, indices_are_sorted = false, slice_sizes = array<i64: 1, 20>}> : (tensor<11x20xT>, tensor<3x4x1xi32>) -> tensor<3x4x20xT>
    return %0 : tensor<3x4x20xT>
  })",
     1},
    {"EmbeddingGradient", R"(
  func.func @f(%i: tensor<3x4x1xi32> {test.high = 12.0}, %g: tensor<3x4x20xT>) -> tensor<11x20xT> {
    %z = stablehlo.constant dense<0.0> : tensor<11x20xT>
    %0 = "stablehlo.scatter"(%z, %i, %g) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 2>, indices_are_sorted = false, unique_indices = false}> ({
    ^bb0(%a: tensor<T>, %b: tensor<T>):
      %s = stablehlo.add %a, %b : tensor<T>
      stablehlo.return %s : tensor<T>
    }) : (tensor<11x20xT>, tensor<3x4x1xi32>, tensor<3x4x20xT>) -> tensor<11x20xT>
    return %0 : tensor<11x20xT>
  })",
     2},
    {"UpdateOfLivingOperand", R"(
  func.func @f(%x: tensor<4x20xT>, %u: tensor<2x20xT>, %i: tensor<i32> {test.high = 3.0}) -> (tensor<4x20xT>, tensor<4x20xT>) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0 = stablehlo.dynamic_update_slice %x, %u, %i, %c : (tensor<4x20xT>, tensor<2x20xT>, tensor<i32>, tensor<i32>) -> tensor<4x20xT>
    %1 = stablehlo.add %0, %x : tensor<4x20xT>
    return %0, %1 : tensor<4x20xT>, tensor<4x20xT>
  })",
     -1},
    {"OrderedUpdateOfLivingOperand", R"(
  func.func @f(%x: tensor<2x5x5xT>, %b: tensor<2x5x3xT>) -> (tensor<2x5x5xT>, tensor<2x5x5xT>, tensor<2x5x3xT>, tensor<2x5x5xT>, tensor<2x5xi32>, tensor<2x5xi32>) {
    %d = stablehlo.constant dense<9.0e+1> : tensor<2x5x5xT>
    %i = stablehlo.iota dim = 1 : tensor<2x5x5xi32>
    %j = stablehlo.iota dim = 2 : tensor<2x5x5xi32>
    %on = stablehlo.compare EQ, %i, %j : (tensor<2x5x5xi32>, tensor<2x5x5xi32>) -> tensor<2x5x5xi1>
    %a = stablehlo.select %on, %d, %x : tensor<2x5x5xi1>, tensor<2x5x5xT>
    %l = stablehlo.cholesky %a : tensor<2x5x5xT>
    %s = stablehlo.add %l, %a : tensor<2x5x5xT>
    %y = "stablehlo.triangular_solve"(%a, %a) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<2x5x5xT>, tensor<2x5x5xT>) -> tensor<2x5x5xT>
    %z = "stablehlo.triangular_solve"(%a, %b) <{left_side = true, lower = false, transpose_a = #stablehlo<transpose TRANSPOSE>, unit_diagonal = false}> : (tensor<2x5x5xT>, tensor<2x5x3xT>) -> tensor<2x5x3xT>
    %q = stablehlo.add %z, %b : tensor<2x5x3xT>
    %p:3 = stablehlo.lu %x : (tensor<2x5x5xT>) -> (tensor<2x5x5xT>, tensor<2x5xi32>, tensor<2x5xi32>)
    return %s, %y, %q, %p#0, %p#1, %p#2 : tensor<2x5x5xT>, tensor<2x5x5xT>, tensor<2x5x3xT>, tensor<2x5x5xT>, tensor<2x5xi32>, tensor<2x5xi32>
  })",
     -1},
    {"Scalars", R"(
  func.func @f(%x: tensor<T>, %y: tensor<T>, %v: tensor<40xT>) -> (tensor<T>, tensor<40xT>) {
    %0 = stablehlo.power %x, %y : tensor<T>
    %1 = stablehlo.add %0, %x : tensor<T>
    %2 = stablehlo.broadcast_in_dim %1, dims = [] : (tensor<T>) -> tensor<40xT>
    %3 = stablehlo.multiply %2, %v : tensor<40xT>
    return %1, %3 : tensor<T>, tensor<40xT>
  })",
     -1},
};

INSTANTIATE_TEST_SUITE_P(Forms, KernelForms, testing::ValuesIn(cases),
                         [](const testing::TestParamInfo<Case> &info) {
                           return info.param.name;
                         });

// To units in the last place over both tails, as far as f32 reaches without
// denormals.
TEST(KernelFunctions, ErfcKeepsItsDigits) {
  KernelRunner runner(R"(
    func.func @f(%x: tensor<20000xf32> {test.low = -4.0, test.high = 9.1}) -> tensor<20000xf32> {
      %0 = chlo.erfc %x : tensor<20000xf32> -> tensor<20000xf32>
      return %0 : tensor<20000xf32>
    })");
  ASSERT_TRUE(runner.run()) << runner.takeMessages();
  double worst = 0;
  for (int64_t i = 0; i < 20000; ++i) {
    double exact = std::erfc(runner.getArguments()[0].getFloat(i));
    double error = std::fabs(runner.getResults()[0].getFloat(i) - exact);
    worst = std::max(worst, error / (exact * 0x1p-23));
  }
  EXPECT_LE(worst, 8);
}

} // namespace
