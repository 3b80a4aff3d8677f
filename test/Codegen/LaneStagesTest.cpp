//===- LaneStagesTest.cpp - Kernels of a GPU in several launches ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reductions along long columns, and updates, which a GPU computes in stages
// (lib/Transforms/Kernels/KernelStages.h), have the bits of one walk on the
// processor.
//
//===----------------------------------------------------------------------===//

#include "LanePrograms.h"
#include <gtest/gtest.h>
#include <random>

using namespace llmc;
using namespace llmc::test;

namespace {

/// Two reductions of what is computed on the way, and one of two operands.
const char *const sums = R"(
  func.func @f(%x: tensor<RxCxT>, %y: tensor<RxCxT>) -> (tensor<CxT>, tensor<CxT>) {
    %z = stablehlo.constant dense<0.0> : tensor<T>
    %0 = stablehlo.multiply %x, %y : tensor<RxCxT>
    %1 = stablehlo.reduce(%0 init: %z) applies stablehlo.add across dimensions = [0] : (tensor<RxCxT>, tensor<T>) -> tensor<CxT>
    %2 = stablehlo.reduce(%y init: %z) applies stablehlo.add across dimensions = [0] : (tensor<RxCxT>, tensor<T>) -> tensor<CxT>
    return %1, %2 : tensor<CxT>, tensor<CxT>
  })";

// The greatest element of each column and its row.
const char *const greatest = R"(
  func.func @f(%x: tensor<RxCxT>) -> (tensor<CxT>, tensor<Cxi32>) {
    %i = stablehlo.iota dim = 0 : tensor<RxCxi32>
    %low = stablehlo.constant dense<-1.0e+4> : tensor<T>
    %none = stablehlo.constant dense<-1> : tensor<i32>
    %0:2 = stablehlo.reduce(%x init: %low), (%i init: %none) across dimensions = [0] : (tensor<RxCxT>, tensor<RxCxi32>, tensor<T>, tensor<i32>) -> (tensor<CxT>, tensor<Cxi32>)
      reducer(%a: tensor<T>, %b: tensor<T>) (%ai: tensor<i32>, %bi: tensor<i32>)  {
      %1 = stablehlo.compare GE, %a, %b : (tensor<T>, tensor<T>) -> tensor<i1>
      %2 = stablehlo.select %1, %a, %b : tensor<i1>, tensor<T>
      %3 = stablehlo.select %1, %ai, %bi : tensor<i1>, tensor<i32>
      stablehlo.return %2, %3 : tensor<T>, tensor<i32>
    }
    return %0#0, %0#1 : tensor<CxT>, tensor<Cxi32>
  })";

// A tile of two warps and of sixteen; blocks to a tile, to one more block, and
// twice; columns beside a multiple of a tile's.
TEST(LaneStages, Columns) {
  for (int64_t rows : {65, 128, 1000, 1025, 4097})
    expectSame(sums, rows, 37, "f32");
  expectSame(sums, 66000, 2, "f32");
  for (const char *type : {"bf16", "f64", "f16"})
    for (int64_t columns : {1, 33})
      expectSame(sums, 1100, columns, type);
  expectSame(greatest, 200, 5, "f32");
  expectSame(greatest, 2000, 5, "f32");
}

// Reduced dims around the kept one, which is the row of a column's number.
TEST(LaneStages, ColumnsAround) {
  for (int64_t rows : {3, 40})
    expectSame(R"(
  func.func @f(%x: tensor<30xRx7xCxT>) -> tensor<RxCxT> {
    %z = stablehlo.constant dense<0.0> : tensor<T>
    %1 = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [0, 2] : (tensor<30xRx7xCxT>, tensor<T>) -> tensor<RxCxT>
    return %1 : tensor<RxCxT>
  })",
               rows, 6, "f32");
}

/// R updates of C columns, at rows that `%at` says, of an operand of 7 rows;
/// some are not there.
std::string scatter(const std::string &step) {
  return R"(
  func.func @f(%u: tensor<RxCxT>, %x: tensor<7xCxT>) -> tensor<7xCxT> {
    %i = stablehlo.iota dim = 0 : tensor<Rx1xi32>
    %k = stablehlo.constant dense<37> : tensor<Rx1xi32>
    %n = stablehlo.constant dense<9> : tensor<Rx1xi32>
    %j = stablehlo.multiply %i, %i : tensor<Rx1xi32>
    %l = stablehlo.add %j, %k : tensor<Rx1xi32>
    %at = stablehlo.remainder %l, %n : tensor<Rx1xi32>
    %0 = "stablehlo.scatter"(%x, %at, %u) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%a: tensor<T>, %b: tensor<T>):
      )" +
         step +
         R"(
      stablehlo.return %s : tensor<T>
    }) : (tensor<7xCxT>, tensor<Rx1xi32>, tensor<RxCxT>) -> tensor<7xCxT>
    return %0 : tensor<7xCxT>
  })";
}

// One run, whole or not; two runs; more than are merged at a time.
TEST(LaneStages, Updates) {
  std::string add = scatter("%s = stablehlo.add %a, %b : tensor<T>");
  for (int64_t updates : {1, 2, 256, 257, 4200})
    expectSame(add, updates, 5, "f32");
  for (const char *type : {"bf16", "f64", "i32", "i8"})
    expectSame(add, 300, 34, type);
  expectSame(scatter("%s = stablehlo.subtract %b, %a : tensor<T>"), 300, 3,
             "f32");
  // The last one stays.
  expectSame(scatter("%s = stablehlo.maximum %b, %b : tensor<T>"), 300, 3,
             "f32");
}

/// Windows that overlap, of which some would end beyond the operand's columns.
const char *const windows = R"(
  func.func @f(%u: tensor<Rx4x3xT>, %x: tensor<9xCxT>) -> tensor<9xCxT> {
    %i = stablehlo.iota dim = 0 : tensor<Rx2xi32>
    %n = stablehlo.constant dense<7> : tensor<Rx2xi32>
    %at = stablehlo.remainder %i, %n : tensor<Rx2xi32>
    %0 = "stablehlo.scatter"(%x, %at, %u) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [1, 2], scatter_dims_to_operand_dims = [0, 1], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%a: tensor<T>, %b: tensor<T>):
      %s = stablehlo.add %a, %b : tensor<T>
      stablehlo.return %s : tensor<T>
    }) : (tensor<9xCxT>, tensor<Rx2xi32>, tensor<Rx4x3xT>) -> tensor<9xCxT>
    return %0 : tensor<9xCxT>
  })";

// Single elements, which have no columns; and windows that overlap.
TEST(LaneStages, UpdatesOfElements) {
  expectSame(R"(
  func.func @f(%u: tensor<RxT>, %x: tensor<CxT>) -> tensor<CxT> {
    %i = stablehlo.iota dim = 0 : tensor<Rx1xi32>
    %n = stablehlo.constant dense<11> : tensor<Rx1xi32>
    %at = stablehlo.remainder %i, %n : tensor<Rx1xi32>
    %0 = "stablehlo.scatter"(%x, %at, %u) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 1>, unique_indices = false}> ({
    ^bb0(%a: tensor<T>, %b: tensor<T>):
      %s = stablehlo.add %a, %b : tensor<T>
      stablehlo.return %s : tensor<T>
    }) : (tensor<CxT>, tensor<Rx1xi32>, tensor<RxT>) -> tensor<CxT>
    return %0 : tensor<CxT>
  })",
             600, 9, "f32");
  expectSame(windows, 60, 8, "f32");
}

// Updates that go to elements of their own are not sorted.
TEST(LaneStages, Slices) {
  expectSame(R"(
  func.func @f(%x: tensor<9xCxT>, %u: tensor<Rx3xT>) -> tensor<9xCxT> {
    %a = stablehlo.constant dense<4> : tensor<i32>
    %b = stablehlo.constant dense<100> : tensor<i32>
    %0 = stablehlo.dynamic_update_slice %x, %u, %a, %b : (tensor<9xCxT>, tensor<Rx3xT>, tensor<i32>, tensor<i32>) -> tensor<9xCxT>
    return %0 : tensor<9xCxT>
  })",
             4, 30, "f32");
}

// Updates that read what those before them have written: of small matrices a
// thread has each, of larger ones a block, of many a warp of a block.
TEST(LaneStages, OrderedUpdates) {
  std::string text = R"(
  func.func @f(%x: tensor<$bx$nx$nx$t>, %u: tensor<$bx$nx$mx$t>, %v: tensor<$bx$mx$nx$t>) -> (tensor<$bx$nx$nx$t>, tensor<$bx$nx$mx$t>, tensor<$bx$mx$nx$t>, tensor<$bx$nx$nx$t>, tensor<$bx$nxi32>, tensor<$bx$nxi32>) {
    %i = stablehlo.iota dim = 1 : tensor<$bx$nx$nxi32>
    %j = stablehlo.iota dim = 2 : tensor<$bx$nx$nxi32>
    %on = stablehlo.compare EQ, %i, %j : (tensor<$bx$nx$nxi32>, tensor<$bx$nx$nxi32>) -> tensor<$bx$nx$nxi1>
    %d = stablehlo.constant dense<9.0e+1> : tensor<$bx$nx$nx$t>
    %a = stablehlo.select %on, %d, %x : tensor<$bx$nx$nxi1>, tensor<$bx$nx$nx$t>
    %l = stablehlo.cholesky %a, lower = true : tensor<$bx$nx$nx$t>
    %w = "stablehlo.triangular_solve"(%l, %u) <{left_side = true, lower = true, transpose_a = #stablehlo<transpose NO_TRANSPOSE>, unit_diagonal = false}> : (tensor<$bx$nx$nx$t>, tensor<$bx$nx$mx$t>) -> tensor<$bx$nx$mx$t>
    %y = "stablehlo.triangular_solve"(%x, %v) <{left_side = false, lower = false, transpose_a = #stablehlo<transpose TRANSPOSE>, unit_diagonal = true}> : (tensor<$bx$nx$nx$t>, tensor<$bx$mx$nx$t>) -> tensor<$bx$mx$nx$t>
    %p:3 = stablehlo.lu %x : (tensor<$bx$nx$nx$t>) -> (tensor<$bx$nx$nx$t>, tensor<$bx$nxi32>, tensor<$bx$nxi32>)
    return %l, %w, %y, %p#0, %p#1, %p#2 : tensor<$bx$nx$nx$t>, tensor<$bx$nx$mx$t>, tensor<$bx$mx$nx$t>, tensor<$bx$nx$nx$t>, tensor<$bx$nxi32>, tensor<$bx$nxi32>
  })";
  auto check = [&](int64_t batch, int64_t rows, const char *type) {
    std::pair<const char *, std::string> words[] = {
        {"$b", std::to_string(batch)},
        {"$n", std::to_string(rows)},
        {"$m", "7"},
        {"$t", type}};
    std::string filled = text;
    for (const auto &[word, by] : words)
      for (size_t at = 0; (at = filled.find(word)) != std::string::npos;)
        filled.replace(at, 2, by);
    EXPECT_TRUE(runBoth(filled, /*seed=*/rows, filled));
  };
  for (int64_t rows : {1, 2, 5, 33})
    check(3, rows, "f32");
  check(512, 6, "f32");
  check(2, 8, "f64");
  check(2, 8, "bf16");
}

// Drawn shapes; LLMC_TEST_CASES of them.
TEST(LaneStages, Drawn) {
  std::mt19937_64 random(readSetting("LLMC_TEST_SEED", 1));
  uint64_t cases = readSetting("LLMC_TEST_CASES", 3);
  auto draw = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  const char *const types[] = {"f32", "bf16", "f64"};
  std::string add = scatter("%s = stablehlo.add %a, %b : tensor<T>");
  for (uint64_t number = 0; number < cases && !HasFailure(); ++number) {
    expectSame(sums, draw(1, 3000), draw(1, 70), types[draw(0, 2)]);
    expectSame(add, draw(1, 1500), draw(1, 40), types[draw(0, 2)]);
  }
}

// What writer-faults.test is caught by.
TEST(Lanes, FewStages) {
  expectSame(sums, 140, 37, "f32");
  expectSame(sums, 1100, 3, "f32");
  std::string add = scatter("%s = stablehlo.add %a, %b : tensor<T>");
  expectSame(add, 300, 3, "f32");
  expectSame(windows, 20, 8, "f32");
}

} // namespace
