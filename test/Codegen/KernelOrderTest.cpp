//===- KernelOrderTest.cpp - In which order kernels add up ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums of kernels against the order that ReductionCut.h states, bit by bit.
//
//===----------------------------------------------------------------------===//

#include "KernelRunner.h"
#include "llmc/Solvers/Reduction/ReductionCut.h"
#include <algorithm>
#include <gtest/gtest.h>

using namespace llmc;
using namespace llmc::test;

namespace {

std::string typeOf(std::vector<int64_t> shape, const std::string &element) {
  std::string text = "tensor<";
  for (int64_t size : shape)
    text += std::to_string(size) + "x";
  return text + element + ">";
}

/// The sum over dims of a tensor.
std::string sumOf(std::vector<int64_t> shape, const std::string &dims,
                  std::vector<int64_t> kept, const std::string &element) {
  std::string from = typeOf(shape, element), to = typeOf(kept, element),
              scalar = typeOf({}, element);
  return "func.func @f(%x: " + from + ") -> " + to +
         " {\n%z = stablehlo.constant dense<0.0> : " + scalar +
         "\n%0 = stablehlo.reduce(%x init: %z) applies stablehlo.add across "
         "dimensions = [" +
         dims + "] : (" + from + ", " + scalar + ") -> " + to +
         "\nreturn %0 : " + to + "\n}";
}

/// An addition that is rounded to the elements' type.
struct RoundedSum {
  mutable HostTensor place;

  double operator()(double a, double b) const {
    place.setFloat(0, a + b);
    return place.getFloat(0);
  }
};

RoundedSum makeSum(const HostTensor &like) {
  return {
      HostTensor(RankedTensorType::get({1}, like.getType().getElementType()))};
}

// Below, at and above what makes a row long, with whole and partial rounds of
// accumulators, and single elements left over.
TEST(KernelOrder, Rows) {
  for (const char *element : {"f32", "bf16", "f64", "f16"}) {
    for (int64_t length : {1, 31, 32, 33, 255, 256, 257, 300, 511, 512, 513,
                           582, 1000, 1024, 1100, 4097, 9001}) {
      KernelRunner runner(sumOf({3, length}, "1", {3}, element));
      ASSERT_TRUE(runner.run())
          << element << " " << length << " " << runner.takeMessages();
      const HostTensor &x = runner.getArguments()[0];
      for (int64_t row = 0; row < 3; ++row)
        EXPECT_EQ(runner.getResults()[0].getFloat(row),
                  reduceRow(
                      length, x.getElementBytes(), 0.0,
                      [&](int64_t j) { return x.getFloat(row * length + j); },
                      makeSum(x)))
            << element << " " << length;
    }
  }
}

void expectColumns(int64_t length, int64_t columns) {
  KernelRunner runner(sumOf({length, columns}, "0", {columns}, "f32"));
  ASSERT_TRUE(runner.run(2)) << runner.takeMessages();
  const HostTensor &x = runner.getArguments()[0];
  for (int64_t column = 0; column < columns; ++column)
    EXPECT_EQ(runner.getResults()[0].getFloat(column),
              reduceColumn(
                  length, 0.0,
                  [&](int64_t j) { return x.getFloat(j * columns + column); },
                  makeSum(x)))
        << length << " " << columns;
}

// Columns of every number of levels; the last block is whole, has one
// position, or is cut.
TEST(KernelOrder, Columns) {
  for (int64_t length : {1, 63, 64, 65, 100, 4095, 4096, 4097, 9001})
    expectColumns(length, 131);
  // Rows of 32, of 64 and of 128 columns.
  for (int64_t columns : {31, 64, 100, 250, 400})
    expectColumns(4097, columns);
}

// Reductions in one kernel whose elements differ in size have accumulators of
// their own, and each the order that it has alone.
TEST(KernelOrder, RowsOfTwoTypes) {
  KernelRunner runner(R"(
  func.func @f(%x: tensor<5x384xf32>) -> tensor<5x384xf64> {
    %a = stablehlo.constant dense<0.0> : tensor<f32>
    %b = stablehlo.constant dense<0.0> : tensor<f64>
    %0 = stablehlo.reduce(%x init: %a) applies stablehlo.add across dimensions = [1] : (tensor<5x384xf32>, tensor<f32>) -> tensor<5xf32>
    %1 = stablehlo.convert %x : (tensor<5x384xf32>) -> tensor<5x384xf64>
    %2 = stablehlo.reduce(%1 init: %b) applies stablehlo.add across dimensions = [1] : (tensor<5x384xf64>, tensor<f64>) -> tensor<5xf64>
    %3 = stablehlo.convert %0 : (tensor<5xf32>) -> tensor<5xf64>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0] : (tensor<5xf64>) -> tensor<5x384xf64>
    %5 = stablehlo.broadcast_in_dim %2, dims = [0] : (tensor<5xf64>) -> tensor<5x384xf64>
    %6 = stablehlo.maximum %1, %4 : tensor<5x384xf64>
    %7 = stablehlo.maximum %6, %5 : tensor<5x384xf64>
    return %7 : tensor<5x384xf64>
  })");
  ASSERT_TRUE(runner.run()) << runner.takeMessages();
  EXPECT_EQ(runner.getNumLaunches(), 1);
  const HostTensor &x = runner.getArguments()[0];
  const HostTensor &y = runner.getResults()[0];
  for (int64_t row = 0; row < 5; ++row) {
    auto element = [&](int64_t j) { return x.getFloat(row * 384 + j); };
    double sum = reduceRow(384, 4, 0.0, element, makeSum(x));
    double wide = reduceRow(384, 8, 0.0, element, makeSum(y));
    EXPECT_NE(sum, wide);
    for (int64_t j = 0; j < 384; ++j)
      EXPECT_EQ(y.getFloat(row * 384 + j), std::max({element(j), sum, wide}));
  }
}

// An element takes its updates in the order of their positions.
TEST(KernelOrder, ScatterAdds) {
  KernelRunner runner(R"(
  func.func @f(%u: tensor<1000x20xf32>) -> tensor<3x20xf32> {
    %zero = stablehlo.constant dense<0.0> : tensor<3x20xf32>
    %at = stablehlo.constant dense<1> : tensor<1000x1xi32>
    %0 = "stablehlo.scatter"(%zero, %at, %u) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %s = stablehlo.add %a, %b : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }) : (tensor<3x20xf32>, tensor<1000x1xi32>, tensor<1000x20xf32>) -> tensor<3x20xf32>
    return %0 : tensor<3x20xf32>
  })");
  ASSERT_TRUE(runner.run()) << runner.takeMessages();
  const HostTensor &u = runner.getArguments()[0];
  RoundedSum add = makeSum(u);
  for (int64_t column = 0; column < 20; ++column) {
    double sum = 0;
    for (int64_t row = 0; row < 1000; ++row)
      sum = add(sum, u.getFloat(row * 20 + column));
    EXPECT_EQ(runner.getResults()[0].getFloat(20 + column), sum);
  }
}

} // namespace
