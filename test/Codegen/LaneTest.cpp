//===- LaneTest.cpp - Kernels of a GPU, thread by thread ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels that are written for target "cuda" give the bits of those that are
// written for the processor, in whatever order their threads run
// (LaneRunner.h).
//
//===----------------------------------------------------------------------===//

#include "ClosedPrograms.h"
#include "LanePrograms.h"
#include <cstdio>
#include <gtest/gtest.h>

using namespace llmc;
using namespace llmc::test;

namespace {

/// A program of each recipe in turn, of each type.
TEST(Lanes, RandomPrograms) {
  uint64_t base = readSetting("LLMC_TEST_SEED", 1);
  uint64_t cases = readSetting("LLMC_TEST_CASES", 40);
  const std::vector<std::vector<int64_t>> shapes[] = {
      {{4, 6}, {2, 4, 6}, {6}},
      {{3, 40}, {2, 3, 40}, {40}},
      {{5, 132}, {2, 5, 132}, {132}}};
  uint64_t skipped = 0;
  for (uint64_t number = 0; number < cases; ++number) {
    ProgramOptions options;
    options.numRecipes = 3;
    options.element = number % 3 == 0 ? "f64" : "f32";
    options.shapes = shapes[number / 3 % 3];
    options.seed = base * 100000 + number;
    options.firstRecipe = int(number % getNumRecipes(options));
    std::string text = closeRegions(makeProgram(options));
    skipped += !runBoth(text, options.seed,
                        "LLMC_TEST_SEED=" + std::to_string(base) + ", case " +
                            std::to_string(number) + "\n" + text);
    if (HasFailure())
      return;
  }
  EXPECT_LE(skipped * 20, cases);
  if (readSetting("LLMC_TEST_SHOW", 0))
    std::printf("%d programs on lanes, %d skipped\n", int(cases - skipped),
                int(skipped));
}

/// Two reductions of a row, the second of what needs the first; exp, which is
/// kept in a scratch row; rows and columns as further results.
const char *const softmax = R"(
  func.func @f(%x: tensor<RxCxT>) -> (tensor<RxCxT>, tensor<RxT>) {
    %i = stablehlo.constant dense<-1.0e+4> : tensor<T>
    %z = stablehlo.constant dense<0.0> : tensor<T>
    %1 = stablehlo.reduce(%x init: %i) applies stablehlo.maximum across dimensions = [1] : (tensor<RxCxT>, tensor<T>) -> tensor<RxT>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0] : (tensor<RxT>) -> tensor<RxCxT>
    %3 = stablehlo.subtract %x, %2 : tensor<RxCxT>
    %4 = stablehlo.exponential %3 : tensor<RxCxT>
    %5 = stablehlo.reduce(%4 init: %z) applies stablehlo.add across dimensions = [1] : (tensor<RxCxT>, tensor<T>) -> tensor<RxT>
    %6 = stablehlo.broadcast_in_dim %5, dims = [0] : (tensor<RxT>) -> tensor<RxCxT>
    %7 = stablehlo.divide %4, %6 : tensor<RxCxT>
    return %7, %5 : tensor<RxCxT>, tensor<RxT>
  })";

// Lengths beside and at multiples of a warp's and a block's accesses, short
// rows and such that four warps share; accumulators of one and of four numbers
// a thread.
TEST(Lanes, Rows) {
  for (int64_t columns :
       {1, 5, 32, 33, 96, 511, 512, 514, 1000, 1536, 2047, 2050, 5000})
    expectSame(softmax, 3, columns, "f32");
  for (const char *type : {"f64", "bf16", "f16"})
    for (int64_t columns : {7, 130, 512, 2500})
      expectSame(softmax, 3, columns, type);
}

// Four warps of a block have a row each where rows are many, and keep values in
// memory of their own.
TEST(Lanes, RowsOfABlock) {
  for (int64_t columns : {7, 96})
    expectSame(softmax, 512, columns, "f32");
  expectSame(softmax, 516, 130, "bf16");
  expectSame(softmax, 513, 33, "f32");
}

/// A column is a row of its kernel.
const char *const columns = R"(
  func.func @f(%x: tensor<RxCxT>) -> tensor<CxT> {
    %z = stablehlo.constant dense<0.0> : tensor<T>
    %1 = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [0] : (tensor<RxCxT>, tensor<T>) -> tensor<CxT>
    return %1 : tensor<CxT>
  })";

/// Elements of two shapes.
const char *const elements = R"(
  func.func @f(%x: tensor<RxCxT>, %y: tensor<CxT>) -> (tensor<RxCxT>, tensor<CxRxT>) {
    %1 = stablehlo.tanh %x : tensor<RxCxT>
    %2 = stablehlo.broadcast_in_dim %y, dims = [1] : (tensor<CxT>) -> tensor<RxCxT>
    %3 = stablehlo.multiply %1, %2 : tensor<RxCxT>
    %4 = stablehlo.transpose %x, dims = [1, 0] : (tensor<RxCxT>) -> tensor<CxRxT>
    %5 = stablehlo.log %4 : tensor<CxRxT>
    return %3, %5 : tensor<RxCxT>, tensor<CxRxT>
  })";

// Reductions along columns, of more than one level; and of the dims around the
// last one.
TEST(Lanes, Columns) {
  for (int64_t rows : {1, 64, 65, 100, 4097})
    expectSame(columns, rows, 37, "f32");
  for (int64_t columnCount : {1, 32, 130})
    expectSame(columns, 130, columnCount, "bf16");
  expectSame(R"(
  func.func @f(%x: tensor<3xRx2xCxT>) -> tensor<RxT> {
    %z = stablehlo.constant dense<0.0> : tensor<T>
    %1 = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [0, 2, 3] : (tensor<3xRx2xCxT>, tensor<T>) -> tensor<RxT>
    return %1 : tensor<RxT>
  })",
             5, 600, "f32");
}

// Elements, whole accesses and the rest of them; a transpose.
TEST(Lanes, Elements) {
  for (const char *type : {"f32", "bf16", "f64"})
    for (int64_t columns : {3, 32, 66, 400})
      expectSame(elements, 7, columns, type);
}

/// Scaled, clamped and rounded; widened again; transposed; the greatest element
/// of a tensor and the scale of it.
const char *const quantized = R"(
  func.func @f(%x: tensor<RxCxf32> {test.low = -900.0, test.high = 900.0}, %v: tensor<16xf32> {test.values = dense<[1.0625, 1.1875, -0.3, 0.00048828125, 1.0e9, -1.0e9, 3.0e-6, 57344.0, 0.0, -0.0, 0x7F800000, 0xFF800000, 0x7FF00000, 1.52587890625e-5, 464.0, 1.0e-40]> : tensor<16xf32>}, %s: tensor<f32> {test.values = dense<0.5> : tensor<f32>}) -> (tensor<16xT>, tensor<16xf32>, tensor<RxCxT>, tensor<CxRxT>, tensor<RxCxbf16>, tensor<Rxf32>, tensor<f32>) {
    %z = stablehlo.constant dense<0.0> : tensor<f32>
    %0 = nn.quantize %v, %s : (tensor<16xf32>, tensor<f32>) -> tensor<16xT>
    %1 = stablehlo.convert %0 : (tensor<16xT>) -> tensor<16xf32>
    %2 = nn.quantize %x, %s : (tensor<RxCxf32>, tensor<f32>) -> tensor<RxCxT>
    %3 = stablehlo.transpose %2, dims = [1, 0] : (tensor<RxCxT>) -> tensor<CxRxT>
    %4 = stablehlo.convert %2 : (tensor<RxCxT>) -> tensor<RxCxbf16>
    %5 = stablehlo.convert %2 : (tensor<RxCxT>) -> tensor<RxCxf32>
    %6 = stablehlo.reduce(%5 init: %z) applies stablehlo.add across dimensions = [1] : (tensor<RxCxf32>, tensor<f32>) -> tensor<Rxf32>
    %7 = stablehlo.abs %x : tensor<RxCxf32>
    %8 = stablehlo.reduce(%7 init: %z) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<RxCxf32>, tensor<f32>) -> tensor<f32>
    return %0, %1, %2, %3, %4, %6, %8 : tensor<16xT>, tensor<16xf32>, tensor<RxCxT>, tensor<CxRxT>, tensor<RxCxbf16>, tensor<Rxf32>, tensor<f32>
  })";

// Floats of eight bits, in accesses of one byte and of several.
TEST(Lanes, FloatsOfEightBits) {
  for (const char *type : {"f8E4M3FN", "f8E5M2"})
    for (int64_t columnCount : {5, 16, 66, 512})
      expectSame(quantized, 7, columnCount, type);
}

// An element takes its updates one after the other, of which some go nowhere.
TEST(Lanes, Updates) {
  expectSame(R"(
  func.func @f(%u: tensor<RxCxT>, %x: tensor<3xCxT>) -> tensor<3xCxT> {
    %i = stablehlo.iota dim = 0 : tensor<Rx1xi32>
    %n = stablehlo.constant dense<5> : tensor<Rx1xi32>
    %at = stablehlo.remainder %i, %n : tensor<Rx1xi32>
    %0 = "stablehlo.scatter"(%x, %at, %u) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%a: tensor<T>, %b: tensor<T>):
      %s = stablehlo.add %a, %b : tensor<T>
      stablehlo.return %s : tensor<T>
    }) : (tensor<3xCxT>, tensor<Rx1xi32>, tensor<RxCxT>) -> tensor<3xCxT>
    return %0 : tensor<3xCxT>
  })",
             100, 20, "f32");
}

// One of each kind that the writer makes: what writer-faults.test is caught by,
// with Lanes.FewStages.
TEST(Lanes, FewRows) { expectSame(softmax, 512, 40, "f32"); }

TEST(Lanes, Few) {
  for (int64_t columnCount : {96, 200, 514, 1024, 2048, 2050})
    expectSame(softmax, 2, columnCount, "f32");
  expectSame(softmax, 2, 130, "f64");
  expectSame(softmax, 2, 1023, "f32");
  expectSame(columns, 130, 37, "f32");
  expectSame(elements, 7, 66, "f32");
  expectSame(R"(
  func.func @f(%x: tensor<RxCxT>) -> tensor<RxCxT> {
    %1 = stablehlo.tanh %x : tensor<RxCxT>
    return %1 : tensor<RxCxT>
  })",
             7, 5, "f32");
  // A row is kept by one position a thread, and read again by four.
  expectSame(R"(
  func.func @f(%x: tensor<CxRxT>) -> tensor<RxCxT> {
    %z = stablehlo.constant dense<0.0> : tensor<T>
    %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<CxRxT>) -> tensor<RxCxT>
    %1 = stablehlo.exponential %0 : tensor<RxCxT>
    %2 = stablehlo.reduce(%1 init: %z) applies stablehlo.add across dimensions = [1] : (tensor<RxCxT>, tensor<T>) -> tensor<RxT>
    %3 = stablehlo.broadcast_in_dim %2, dims = [0] : (tensor<RxT>) -> tensor<RxCxT>
    %4 = stablehlo.divide %1, %3 : tensor<RxCxT>
    %5 = stablehlo.multiply %4, %4 : tensor<RxCxT>
    %6 = stablehlo.reduce(%5 init: %z) applies stablehlo.add across dimensions = [1] : (tensor<RxCxT>, tensor<T>) -> tensor<RxT>
    %7 = stablehlo.broadcast_in_dim %6, dims = [0] : (tensor<RxT>) -> tensor<RxCxT>
    %8 = stablehlo.subtract %4, %7 : tensor<RxCxT>
    return %8 : tensor<RxCxT>
  })",
             2, 1024, "f32");
  // The second kernel works in the buffer that the product leaves.
  expectSame(R"(
  func.func @f(%x: tensor<RxCxT>, %w: tensor<CxCxT>) -> tensor<RxCxT> {
    %z = stablehlo.constant dense<0.0> : tensor<T>
    %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<RxCxT>, tensor<CxCxT>) -> tensor<RxCxT>
    %1 = stablehlo.reduce(%0 init: %z) applies stablehlo.add across dimensions = [1] : (tensor<RxCxT>, tensor<T>) -> tensor<RxT>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0] : (tensor<RxT>) -> tensor<RxCxT>
    %3 = stablehlo.subtract %0, %2 : tensor<RxCxT>
    return %3 : tensor<RxCxT>
  })",
             2, 96, "f32");
}

} // namespace
