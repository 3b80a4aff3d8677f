//===- LocalizeTest.cpp - Local programs against global ones --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each op in random layouts on several meshes: what all devices compute of its
// local form, put together, is what the op computes. Sizes are uneven, inputs
// hold poison in their padding, states zero; element-wise ops in front turn
// these zeros into something else. A result that is written to a state must
// hold zero in its padding.
//
//===----------------------------------------------------------------------===//

#include "LocalProgram.h"
#include <gtest/gtest.h>

using namespace llmc::test;

namespace {
const char *const kMeshes[] = {
    R"(dist.mesh @mesh = <"x"=2>)",
    R"(dist.mesh @mesh = <"x"=3>)",
    R"(dist.mesh @mesh = <"x"=4>)",
    R"(dist.mesh @mesh = <"x"=2, "y"=2>)",
    R"(dist.mesh @mesh = <"x"=2, "y"=3>)",
};

struct NamedText {
  const char *name;
  const char *text;
};

class LocalizedOp : public testing::TestWithParam<NamedText> {};

TEST_P(LocalizedOp, ComputesTheWhole) {
  int numRuns = 0;
  for (const char *mesh : kMeshes)
    for (uint64_t seed = 0; seed < 30; ++seed) {
      LocalProgram program(mesh, GetParam().text, seed);
      bool ran = false;
      std::string error = program.check(ran);
      ASSERT_EQ(error, "") << "seed " << seed;
      numRuns += ran;
    }
  EXPECT_GE(numRuns, 30);
}

const NamedText kOps[] = {
    {"Add",
     R"(func.func @f(%x: tensor<5x6xf64>, %y: tensor<5x6xf64>) -> tensor<5x6xf64> {
      %0 = stablehlo.add %x, %y : tensor<5x6xf64>
      return %0 : tensor<5x6xf64>
    })"},
    {"Divide",
     R"(func.func @f(%x: tensor<5x6xf64>, %y: tensor<5x6xf64>) -> tensor<5x6xf64> {
      %0 = stablehlo.multiply %x, %y : tensor<5x6xf64>
      return %0 : tensor<5x6xf64>
    })"},
    {"Select",
     R"(func.func @f(%p: tensor<5x6xi1>, %x: tensor<5x6xf64>, %y: tensor<5x6xf64>) -> tensor<5x6xf64> {
      %0 = stablehlo.select %p, %x, %y : tensor<5x6xi1>, tensor<5x6xf64>
      return %0 : tensor<5x6xf64>
    })"},
    {"Clamp",
     R"(func.func @f(%a: tensor<f64>, %x: tensor<5x6xf64>, %b: tensor<f64>) -> tensor<5x6xf64> {
      %0 = stablehlo.clamp %a, %x, %b : (tensor<f64>, tensor<5x6xf64>, tensor<f64>) -> tensor<5x6xf64>
      return %0 : tensor<5x6xf64>
    })"},
    {"Convert", R"(func.func @f(%x: tensor<5x6xf32>) -> tensor<5x6xf64> {
      %0 = stablehlo.convert %x : (tensor<5x6xf32>) -> tensor<5x6xf64>
      return %0 : tensor<5x6xf64>
    })"},
    {"Dot",
     R"(func.func @f(%x: tensor<5x7xf64>, %y: tensor<7x6xf64>) -> tensor<5x6xf64> {
      %0 = stablehlo.dot_general %x, %y, contracting_dims = [1] x [0] : (tensor<5x7xf64>, tensor<7x6xf64>) -> tensor<5x6xf64>
      return %0 : tensor<5x6xf64>
    })"},
    {"BatchDot",
     R"(func.func @f(%x: tensor<3x5x7x2xf64>, %y: tensor<2x6x7x3xf64>) -> tensor<3x5x6xf64> {
      %0 = stablehlo.dot_general %x, %y, batching_dims = [0] x [3], contracting_dims = [2, 3] x [2, 0] : (tensor<3x5x7x2xf64>, tensor<2x6x7x3xf64>) -> tensor<3x5x6xf64>
      return %0 : tensor<3x5x6xf64>
    })"},
    {"SelfDot", R"(func.func @f(%x: tensor<6x6xf64>) -> tensor<6x6xf64> {
      %0 = stablehlo.dot_general %x, %x, contracting_dims = [1] x [1] : (tensor<6x6xf64>, tensor<6x6xf64>) -> tensor<6x6xf64>
      return %0 : tensor<6x6xf64>
    })"},
    {"ReduceAdd", R"(func.func @f(%x: tensor<5x6x7xf64>) -> tensor<6xf64> {
      %c = stablehlo.constant dense<0.0> : tensor<f64>
      %0 = stablehlo.reduce(%x init: %c) applies stablehlo.add across dimensions = [0, 2] : (tensor<5x6x7xf64>, tensor<f64>) -> tensor<6xf64>
      return %0 : tensor<6xf64>
    })"},
    {"ReduceMax", R"(func.func @f(%x: tensor<5x6x7xf32>) -> tensor<5xf32> {
      %c = stablehlo.constant dense<0xFF800000> : tensor<f32>
      %0 = stablehlo.reduce(%x init: %c) applies stablehlo.maximum across dimensions = [1, 2] : (tensor<5x6x7xf32>, tensor<f32>) -> tensor<5xf32>
      return %0 : tensor<5xf32>
    })"},
    {"ReduceMin", R"(func.func @f(%x: tensor<5x6xi32>) -> tensor<5xi32> {
      %c = stablehlo.constant dense<2147483647> : tensor<i32>
      %0 = stablehlo.reduce(%x init: %c) applies stablehlo.minimum across dimensions = [1] : (tensor<5x6xi32>, tensor<i32>) -> tensor<5xi32>
      return %0 : tensor<5xi32>
    })"},
    {"ReduceMul", R"(func.func @f(%x: tensor<3x6xf64>) -> tensor<6xf64> {
      %c = stablehlo.constant dense<1.0> : tensor<f64>
      %0 = stablehlo.reduce(%x init: %c) applies stablehlo.multiply across dimensions = [0] : (tensor<3x6xf64>, tensor<f64>) -> tensor<6xf64>
      return %0 : tensor<6xf64>
    })"},
    {"ReduceOr", R"(func.func @f(%x: tensor<5x6xi1>) -> tensor<6xi1> {
      %c = stablehlo.constant dense<false> : tensor<i1>
      %0 = stablehlo.reduce(%x init: %c) applies stablehlo.or across dimensions = [0] : (tensor<5x6xi1>, tensor<i1>) -> tensor<6xi1>
      return %0 : tensor<6xi1>
    })"},
    {"Broadcast",
     R"(func.func @f(%x: tensor<6x1x5xf64>) -> tensor<5x3x6x7xf64> {
      %0 = stablehlo.broadcast_in_dim %x, dims = [2, 1, 0] : (tensor<6x1x5xf64>) -> tensor<5x3x6x7xf64>
      return %0 : tensor<5x3x6x7xf64>
    })"},
    {"Merge", R"(func.func @f(%x: tensor<5x6x4xf64>) -> tensor<5x24xf64> {
      %0 = stablehlo.reshape %x : (tensor<5x6x4xf64>) -> tensor<5x24xf64>
      return %0 : tensor<5x24xf64>
    })"},
    {"Split", R"(func.func @f(%x: tensor<30x4xf64>) -> tensor<5x6x2x2xf64> {
      %0 = stablehlo.reshape %x : (tensor<30x4xf64>) -> tensor<5x6x2x2xf64>
      return %0 : tensor<5x6x2x2xf64>
    })"},
    {"Transpose", R"(func.func @f(%x: tensor<5x6x7xf64>) -> tensor<7x5x6xf64> {
      %0 = stablehlo.transpose %x, dims = [2, 0, 1] : (tensor<5x6x7xf64>) -> tensor<7x5x6xf64>
      return %0 : tensor<7x5x6xf64>
    })"},
    {"Rotate", R"(func.func @f(%x: tensor<6x4xf64>) -> tensor<6x4xf64> {
      %0 = dist.route %x dim 0 from [5, 0, 1, 2, 3, 4] split : tensor<6x4xf64>
      return %0 : tensor<6x4xf64>
    })"},
    {"Shift", R"(func.func @f(%x: tensor<3x5xi32>) -> tensor<3x5xi32> {
      %0 = dist.route %x dim 1 from [1, 2, 3, 4, -1] split : tensor<3x5xi32>
      return %0 : tensor<3x5xi32>
    })"},
    {"RouteSome", R"(func.func @f(%x: tensor<8x3xf64>) -> tensor<8x3xf64> {
      %0 = dist.route %x dim 0 from [7, -1, 2, 0, -1, 3, 6, 1] split : tensor<8x3xf64>
      return %0 : tensor<8x3xf64>
    })"},
    {"RouteWhole", R"(func.func @f(%x: tensor<7x4xf64>) -> tensor<7x4xf64> {
      %0 = dist.route %x dim 0 from [2, -1, 0, 6, 1, -1, 4] : tensor<7x4xf64>
      return %0 : tensor<7x4xf64>
    })"},
    {"Reverse", R"(func.func @f(%x: tensor<5x6xf64>) -> tensor<5x6xf64> {
      %0 = stablehlo.reverse %x, dims = [1] : tensor<5x6xf64>
      return %0 : tensor<5x6xf64>
    })"},
    {"Slice", R"(func.func @f(%x: tensor<5x6x7xf64>) -> tensor<5x2x7xf64> {
      %0 = stablehlo.slice %x [0:5, 1:5:2, 0:7] : (tensor<5x6x7xf64>) -> tensor<5x2x7xf64>
      return %0 : tensor<5x2x7xf64>
    })"},
    {"Pad",
     R"(func.func @f(%x: tensor<5x6xf64>, %v: tensor<f64>) -> tensor<5x9xf64> {
      %0 = stablehlo.pad %x, %v, low = [0, 1], high = [0, 2], interior = [0, 0] : (tensor<5x6xf64>, tensor<f64>) -> tensor<5x9xf64>
      return %0 : tensor<5x9xf64>
    })"},
    {"PadWithZeros", R"(func.func @f(%x: tensor<5x6xf64>) -> tensor<5x9xf64> {
      %v = stablehlo.constant dense<0.0> : tensor<f64>
      %0 = stablehlo.pad %x, %v, low = [0, 1], high = [0, 2], interior = [0, 0] : (tensor<5x6xf64>, tensor<f64>) -> tensor<5x9xf64>
      return %0 : tensor<5x9xf64>
    })"},
    {"Concatenate",
     R"(func.func @f(%x: tensor<5x6xf64>, %y: tensor<5x2xf64>) -> tensor<5x8xf64> {
      %0 = stablehlo.concatenate %x, %y, dim = 1 : (tensor<5x6xf64>, tensor<5x2xf64>) -> tensor<5x8xf64>
      return %0 : tensor<5x8xf64>
    })"},
    {"DynamicSlice",
     R"(func.func @f(%x: tensor<5x6x7xf64>, %i: tensor<i32>, %j: tensor<i32>, %k: tensor<i32>) -> tensor<5x2x7xf64> {
      %0 = stablehlo.dynamic_slice %x, %i, %j, %k, sizes = [5, 2, 7] : (tensor<5x6x7xf64>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<5x2x7xf64>
      return %0 : tensor<5x2x7xf64>
    })"},
    {"DynamicUpdateSlice",
     R"(func.func @f(%x: tensor<5x6xf64>, %u: tensor<5x2xf64>, %i: tensor<i32>, %j: tensor<i32>) -> tensor<5x6xf64> {
      %0 = stablehlo.dynamic_update_slice %x, %u, %i, %j : (tensor<5x6xf64>, tensor<5x2xf64>, tensor<i32>, tensor<i32>) -> tensor<5x6xf64>
      return %0 : tensor<5x6xf64>
    })"},
    {"IotaOfIntegers", R"(func.func @f() -> tensor<5x6xi32> {
      %0 = stablehlo.iota dim = 1 : tensor<5x6xi32>
      return %0 : tensor<5x6xi32>
    })"},
    {"IotaOfFloats", R"(func.func @f() -> tensor<12x5xf32> {
      %0 = stablehlo.iota dim = 0 : tensor<12x5xf32>
      return %0 : tensor<12x5xf32>
    })"},
    {"Splat", R"(func.func @f() -> tensor<5x6xf32> {
      %0 = stablehlo.constant dense<3.0> : tensor<5x6xf32>
      return %0 : tensor<5x6xf32>
    })"},
    {"Embedding",
     R"(func.func @f(%x: tensor<10x6xf64>, %i: tensor<5x3xi32>) -> tensor<5x3x6xf64> {
      %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, slice_sizes = array<i64: 1, 6>}> : (tensor<10x6xf64>, tensor<5x3xi32>) -> tensor<5x3x6xf64>
      return %0 : tensor<5x3x6xf64>
    })"},
    {"EmbeddingOfBytes",
     R"(func.func @f(%x: tensor<10x6xf64>, %i: tensor<5x1xui8>) -> tensor<5x6xf64> {
      %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 1>, slice_sizes = array<i64: 1, 6>}> : (tensor<10x6xf64>, tensor<5x1xui8>) -> tensor<5x6xf64>
      return %0 : tensor<5x6xf64>
    })"},
    {"GatherOfPairs",
     R"(func.func @f(%x: tensor<10x6x3xf64>, %i: tensor<2x5xi32>) -> tensor<3x5xf64> {
      %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<offset_dims = [0], collapsed_slice_dims = [0, 1], start_index_map = [1, 0], index_vector_dim = 0>, slice_sizes = array<i64: 1, 1, 3>}> : (tensor<10x6x3xf64>, tensor<2x5xi32>) -> tensor<3x5xf64>
      return %0 : tensor<3x5xf64>
    })"},
    {"GatherOfBatches",
     R"(func.func @f(%x: tensor<5x10xf64>, %i: tensor<5x1xi64>) -> tensor<5xf64> {
      %0 = "stablehlo.gather"(%x, %i) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<5x10xf64>, tensor<5x1xi64>) -> tensor<5xf64>
      return %0 : tensor<5xf64>
    })"},
    {"ScatterAdd",
     R"(func.func @f(%x: tensor<10x6xf64>, %i: tensor<7xi32>, %u: tensor<7x6xf64>) -> tensor<10x6xf64> {
      %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>}> ({
      ^bb0(%a: tensor<f64>, %b: tensor<f64>):
        %1 = stablehlo.add %a, %b : tensor<f64>
        stablehlo.return %1 : tensor<f64>
      }) : (tensor<10x6xf64>, tensor<7xi32>, tensor<7x6xf64>) -> tensor<10x6xf64>
      return %0 : tensor<10x6xf64>
    })"},
    {"ScatterMax",
     R"(func.func @f(%x: tensor<10x6xf64>, %i: tensor<7x2xi32>, %u: tensor<7xf64>) -> tensor<10x6xf64> {
      %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0, 1], scatter_dims_to_operand_dims = [1, 0], index_vector_dim = 1>}> ({
      ^bb0(%a: tensor<f64>, %b: tensor<f64>):
        %1 = stablehlo.maximum %a, %b : tensor<f64>
        stablehlo.return %1 : tensor<f64>
      }) : (tensor<10x6xf64>, tensor<7x2xi32>, tensor<7xf64>) -> tensor<10x6xf64>
      return %0 : tensor<10x6xf64>
    })"},
    {"ScatterOfBatches",
     R"(func.func @f(%x: tensor<5x10xf64>, %i: tensor<5x1xi32>, %u: tensor<5xf64>) -> tensor<5x10xf64> {
      %0 = "stablehlo.scatter"(%x, %i, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [1], input_batching_dims = [0], scatter_indices_batching_dims = [0], scatter_dims_to_operand_dims = [1], index_vector_dim = 1>}> ({
      ^bb0(%a: tensor<f64>, %b: tensor<f64>):
        stablehlo.return %b : tensor<f64>
      }) : (tensor<5x10xf64>, tensor<5x1xi32>, tensor<5xf64>) -> tensor<5x10xf64>
      return %0 : tensor<5x10xf64>
    })"},
    {"CrossEntropy",
     R"(func.func @f(%x: tensor<5x3x7xf32>, %t: tensor<5x3xi32>) -> (tensor<5x3xf32>, tensor<5x3xf32>) {
      %0, %1 = nn.softmax_cross_entropy %x, %t : (tensor<5x3x7xf32>, tensor<5x3xi32>) -> (tensor<5x3xf32>, tensor<5x3xf32>)
      return %0, %1 : tensor<5x3xf32>, tensor<5x3xf32>
    })"},
    {"CrossEntropyGrad",
     R"(func.func @f(%x: tensor<5x7xf32>, %t: tensor<5xi32>, %l: tensor<5xf32>, %g: tensor<5xf32>) -> tensor<5x7xf32> {
      %0 = nn.softmax_cross_entropy_grad %x, %t, %l, %g : (tensor<5x7xf32>, tensor<5xi32>, tensor<5xf32>, tensor<5xf32>) -> tensor<5x7xf32>
      return %0 : tensor<5x7xf32>
    })"},
};

INSTANTIATE_TEST_SUITE_P(All, LocalizedOp, testing::ValuesIn(kOps),
                         [](const auto &info) {
                           return std::string(info.param.name);
                         });
} // namespace
