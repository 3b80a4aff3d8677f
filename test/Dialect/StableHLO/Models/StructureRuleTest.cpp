//===- StructureRuleTest.cpp - Rules of the structured ops ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rules of contractions, reductions, boxes and indexing held against their
// evaluation.
//
//===----------------------------------------------------------------------===//

#include "RuleHarness.h"

using namespace llmc::test;

namespace {
TEST(StructureRules, HoldForContractions) {
  RuleChecks checks;
  EXPECT_TRUE(checkRules(R"(
    func.func @f(%x: tensor<2x4x6xf64>, %y: tensor<6x8x4xf64>, %v: tensor<4xf64>) {
      %0 = stablehlo.dot_general %x, %y, batching_dims = [1] x [2],
          contracting_dims = [2] x [0] : (tensor<2x4x6xf64>, tensor<6x8x4xf64>) -> tensor<4x2x8xf64>
      %1 = stablehlo.dot_general %x, %y, contracting_dims = [2, 1] x [0, 2]
          : (tensor<2x4x6xf64>, tensor<6x8x4xf64>) -> tensor<2x8xf64>
      %2 = stablehlo.dot_general %v, %v, contracting_dims = [0] x [0]
          : (tensor<4xf64>, tensor<4xf64>) -> tensor<f64>
      return
    })",
                         &checks));
  EXPECT_EQ(checks.numHalved, 5);
  EXPECT_EQ(checks.numReduced, 4);
  EXPECT_EQ(checks.numCarried, 6);
}

TEST(StructureRules, HoldForReductions) {
  RuleChecks checks;
  EXPECT_TRUE(checkRules(R"(
    func.func @f(%x: tensor<2x4x6xf64>, %p: tensor<4x2xi1>) {
      %zero = stablehlo.constant dense<0.0> : tensor<f64>
      %one = stablehlo.constant dense<1.0> : tensor<f64>
      %low = stablehlo.constant dense<0xFFF0000000000000> : tensor<f64>
      %high = stablehlo.constant dense<0x7FF0000000000000> : tensor<f64>
      %false = stablehlo.constant dense<false> : tensor<i1>
      %true = stablehlo.constant dense<true> : tensor<i1>
      %0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0, 2]
          : (tensor<2x4x6xf64>, tensor<f64>) -> tensor<4xf64>
      %1 = stablehlo.reduce(%x init: %one) applies stablehlo.multiply across dimensions = [1]
          : (tensor<2x4x6xf64>, tensor<f64>) -> tensor<2x6xf64>
      %2 = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [1]
          : (tensor<2x4x6xf64>, tensor<f64>) -> tensor<2x6xf64>
      %3 = stablehlo.reduce(%x init: %high) applies stablehlo.minimum across dimensions = [1]
          : (tensor<2x4x6xf64>, tensor<f64>) -> tensor<2x6xf64>
      %4 = stablehlo.reduce(%p init: %false) applies stablehlo.or across dimensions = [0]
          : (tensor<4x2xi1>, tensor<i1>) -> tensor<2xi1>
      %5 = stablehlo.reduce(%p init: %true) applies stablehlo.and across dimensions = [0]
          : (tensor<4x2xi1>, tensor<i1>) -> tensor<2xi1>
      return
    })",
                         &checks));
  EXPECT_GE(checks.numReduced, 7);
  EXPECT_GE(checks.numCarried, 6);
}

TEST(StructureRules, HoldForBoxes) {
  RuleChecks checks;
  EXPECT_TRUE(checkRules(R"(
    func.func @f(%x: tensor<4x6xf64>, %y: tensor<4x2xf64>, %v: tensor<f64>, %i: tensor<i32>) {
      %zero = stablehlo.constant dense<0.0> : tensor<f64>
      %0 = stablehlo.slice %x [0:4, 1:5] : (tensor<4x6xf64>) -> tensor<4x4xf64>
      %1 = stablehlo.pad %x, %v, low = [0, 1], high = [0, 1], interior = [0, 0]
          : (tensor<4x6xf64>, tensor<f64>) -> tensor<4x8xf64>
      %2 = stablehlo.pad %x, %zero, low = [0, 1], high = [0, -1], interior = [0, 1]
          : (tensor<4x6xf64>, tensor<f64>) -> tensor<4x11xf64>
      %3 = stablehlo.concatenate %x, %y, dim = 1
          : (tensor<4x6xf64>, tensor<4x2xf64>) -> tensor<4x8xf64>
      %4 = stablehlo.dynamic_slice %x, %i, %i, sizes = [4, 2]
          : (tensor<4x6xf64>, tensor<i32>, tensor<i32>) -> tensor<4x2xf64>
      %5 = stablehlo.dynamic_update_slice %x, %y, %i, %i
          : (tensor<4x6xf64>, tensor<4x2xf64>, tensor<i32>, tensor<i32>) -> tensor<4x6xf64>
      return
    })",
                         &checks));
  EXPECT_GE(checks.numCarried, 6);
}

TEST(StructureRules, HoldForIndexing) {
  RuleChecks checks;
  EXPECT_TRUE(checkRules(R"(
    func.func @f(%x: tensor<8x4xf64>, %i: tensor<6xi32>, %u: tensor<6x4xf64>) {
      %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1],
          collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>,
          slice_sizes = array<i64: 1, 4>}> : (tensor<8x4xf64>, tensor<6xi32>) -> tensor<6x4xf64>
      %1 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<
          update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0],
          index_vector_dim = 1>}> ({
        ^bb0(%a: tensor<f64>, %b: tensor<f64>):
          %s = stablehlo.add %a, %b : tensor<f64>
          stablehlo.return %s : tensor<f64>
      }) : (tensor<8x4xf64>, tensor<6xi32>, tensor<6x4xf64>) -> tensor<8x4xf64>
      %2 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<
          update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0],
          index_vector_dim = 1>}> ({
        ^bb0(%a: tensor<f64>, %b: tensor<f64>):
          stablehlo.return %b : tensor<f64>
      }) : (tensor<8x4xf64>, tensor<6xi32>, tensor<6x4xf64>) -> tensor<8x4xf64>
      return
    })",
                         &checks));
  EXPECT_GE(checks.numCarried, 3);
}
} // namespace
