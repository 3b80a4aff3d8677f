//===- IndexingTest.cpp - Answers of gather and dynamic slices ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AnswerHarness.h"
#include "DerivativeHarness.h"

using namespace llmc::test;

namespace {
/// Types, values of the indices, dimension numbers, slice sizes.
struct IndexingCase {
  const char *name, *operand, *indices, *values, *dims, *sizes, *result;
};

std::string makeGather(const IndexingCase &c) {
  return std::string("func.func @f(%x: tensor<") + c.operand +
         ">, %i: tensor<" + c.indices + "> {test.values = dense<" + c.values +
         "> : tensor<" + c.indices + ">}) -> tensor<" + c.result +
         "> {\n  %y = \"stablehlo.gather\"(%x, %i) <{dimension_numbers = "
         "#stablehlo.gather<" +
         c.dims + ">, slice_sizes = array<i64: " + c.sizes + ">}> : (tensor<" +
         c.operand + ">, tensor<" + c.indices + ">) -> tensor<" + c.result +
         ">\n  return %y : tensor<" + c.result + ">\n}";
}

class GatherAnswers : public testing::TestWithParam<IndexingCase> {};

TEST_P(GatherAnswers, AreLinearAndAgree) {
  EXPECT_TRUE(checkLinear(makeGather(GetParam())));
  EXPECT_TRUE(checkKernels(makeGather(GetParam())));
}

INSTANTIATE_TEST_SUITE_P(
    All, GatherAnswers,
    testing::Values(
        // Duplicates; out of bounds on both sides.
        IndexingCase{
            "embedding", "5x3xf64", "2x4xi32", "[[0, 4, 4, 7], [-2, 1, 0, 4]]",
            "offset_dims = [2], collapsed_slice_dims = [0], start_index_map = "
            "[0], index_vector_dim = 2",
            "1, 3", "2x4x3xf64"},
        IndexingCase{
            "unsigned", "5x3xf64", "3xui8", "[0, 255, 4]",
            "offset_dims = [1], collapsed_slice_dims = [0], start_index_map = "
            "[0], index_vector_dim = 1",
            "1, 3", "3x3xf64"},
        IndexingCase{
            "unsigned_wide", "5x3xf64", "3xui64",
            "[0, 18446744073709551615, 4]",
            "offset_dims = [1], collapsed_slice_dims = [0], start_index_map = "
            "[0], index_vector_dim = 1",
            "1, 3", "3x3xf64"},
        IndexingCase{"narrow_indices", "300xf64", "3xi8", "[0, -128, 127]",
                     "collapsed_slice_dims = [0], start_index_map = [0], "
                     "index_vector_dim = 1",
                     "1", "3xf64"},
        IndexingCase{"label_pick", "2x5xf64", "2x2xi32", "[[0, 4], [1, 9]]",
                     "collapsed_slice_dims = [0, 1], start_index_map = [0, 1], "
                     "index_vector_dim = 1",
                     "1, 1", "2xf64"},
        IndexingCase{
            "boxes", "5x6xf64", "2x2xi64", "[[4, 1], [-1, 5]]",
            "offset_dims = [0, 2], start_index_map = [0, 1], index_vector_dim "
            "= 1",
            "2, 3", "2x2x3xf64"},
        IndexingCase{
            "map_swapped_vector_first", "5x6xf64", "2x3xi64",
            "[[4, 1, 3], [-1, 5, 0]]",
            "offset_dims = [1, 2], start_index_map = [1, 0], index_vector_dim "
            "= 0",
            "2, 3", "3x2x3xf64"},
        IndexingCase{"scalar_index", "2x3x4xf64", "i32", "2",
                     "offset_dims = [0, 1], collapsed_slice_dims = [2], "
                     "start_index_map = [2]",
                     "2, 3, 1", "2x3xf64"},
        IndexingCase{
            "batching", "3x5x2xf64", "3x2xi32", "[[0, 4], [4, 4], [9, -1]]",
            "offset_dims = [2], collapsed_slice_dims = [1], "
            "operand_batching_dims = [0], start_indices_batching_dims = [0], "
            "start_index_map = [1], index_vector_dim = 2",
            "1, 1, 2", "3x2x2xf64"},
        IndexingCase{"collapsed_without_index", "1x4xf64", "2xi32", "[1, 3]",
                     "collapsed_slice_dims = [0, 1], start_index_map = [1], "
                     "index_vector_dim = 1",
                     "1, 1", "2xf64"},
        IndexingCase{
            "no_positions", "5x3xf64", "0xi32", "[]",
            "offset_dims = [1], collapsed_slice_dims = [0], start_index_map = "
            "[0], index_vector_dim = 1",
            "1, 3", "0x3xf64"}),
    [](const auto &info) { return std::string(info.param.name); });

TEST(GatherRule, IndexedRowsAreSummed) {
  EXPECT_EQ(
      printRule(makeGather({"", "5x3xf32", "2x4xi32", "0",
                            "offset_dims = [2], collapsed_slice_dims = [0], "
                            "start_index_map = [0], index_vector_dim = 2",
                            "1, 3", "2x4x3xf32"})),
      "([d, c],[a, b])->([a, b, c]) {a=2, b=4, c=3, d=5 reduced sum}");
}

TEST(GatherRule, BatchingPassesAndPartialWindowsAreWhole) {
  EXPECT_EQ(printRule(makeGather(
                {"", "3x5x2xf32", "3x2xi32", "0",
                 "offset_dims = [2], collapsed_slice_dims = [1], "
                 "operand_batching_dims = [0], start_indices_batching_dims = "
                 "[0], start_index_map = [1], index_vector_dim = 2",
                 "1, 1, 1", "3x2x1xf32"})),
            "([a, e, c],[a, b])->([a, b, d]) {a=3, b=2, c=2 whole, d=1 whole, "
            "e=5 reduced sum}");
}

TEST(GatherDerivative, SumsNarrowFloatsInF32) {
  std::string text =
      printVjp(makeGather({"", "5x3xbf16", "4xi32", "0",
                           "offset_dims = [1], collapsed_slice_dims = [0], "
                           "start_index_map = [0], index_vector_dim = 1",
                           "1, 3", "4x3xbf16"}),
               "scatter");
  EXPECT_NE(text.find("tensor<5x3xf32>, tensor<4xi32>, tensor<4x3xf32>"),
            std::string::npos)
      << text;
}

const char *dynamicSlice = R"(
  func.func @f(%x: tensor<4x5x3xf64>) -> tensor<2x5x1xf64> {
    %a = stablehlo.constant dense<7> : tensor<i32>
    %b = stablehlo.constant dense<3> : tensor<i32>
    %c = stablehlo.constant dense<-1> : tensor<i32>
    %y = stablehlo.dynamic_slice %x, %a, %b, %c, sizes = [2, 5, 1]
        : (tensor<4x5x3xf64>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<2x5x1xf64>
    return %y : tensor<2x5x1xf64>
  })";

TEST(DynamicSliceAnswers, AreLinearAndAgree) {
  EXPECT_TRUE(checkLinear(dynamicSlice));
  EXPECT_TRUE(checkKernels(dynamicSlice));
  EXPECT_EQ(printRule(dynamicSlice),
            "([a, c, d],[],[],[])->([b, c, e]) {a=4 whole, b=2 whole, c=5, d=3 "
            "whole, e=1 whole}");
}

const char *dynamicUpdate = R"(
  func.func @f(%x: tensor<4x3xf64>, %u: tensor<2x3xf64>) -> tensor<4x3xf64> {
    %a = stablehlo.constant dense<200> : tensor<ui8>
    %b = stablehlo.constant dense<1> : tensor<ui8>
    %y = stablehlo.dynamic_update_slice %x, %u, %a, %b
        : (tensor<4x3xf64>, tensor<2x3xf64>, tensor<ui8>, tensor<ui8>) -> tensor<4x3xf64>
    return %y : tensor<4x3xf64>
  })";

TEST(DynamicUpdateSliceAnswers, AreLinearAndAgree) {
  EXPECT_TRUE(checkLinear(dynamicUpdate));
  EXPECT_TRUE(checkKernels(dynamicUpdate));
  EXPECT_EQ(computeGradients(dynamicUpdate)[0],
            std::vector<double>({1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0}));
}

TEST(GatherRule, TruthsAreJoined) {
  EXPECT_EQ(printRule(makeGather({"", "5xi1", "4xi32", "0",
                                  "collapsed_slice_dims = [0], "
                                  "start_index_map = [0], index_vector_dim = 1",
                                  "1", "4xi1"})),
            "([b],[a])->([a]) {a=4, b=5 reduced or}");
}

// Without an index there is nothing to split by.
TEST(GatherRule, DimensionsWithoutIndexAreWhole) {
  EXPECT_EQ(printRule(makeGather(
                {"", "7x4xf32", "2xi32", "0",
                 "collapsed_slice_dims = [0, 1], start_index_map = [1], "
                 "index_vector_dim = 1",
                 "1, 1", "2xf32"})),
            "([b, c],[a])->([a]) {a=2, b=7 whole, c=4 reduced sum}");
}

/// Derivative of a gather of sorted indices.
std::string deriveSorted(const IndexingCase &c) {
  std::string text = makeGather(c);
  text.insert(text.find("slice_sizes"), "indices_are_sorted = true, ");
  return printVjp(text, "scatter");
}

// Limiting each entry keeps the order of numbers, not that of pairs.
TEST(GatherDerivative, KeepsTheOrderOfSingleIndices) {
  EXPECT_NE(deriveSorted({"", "5xf64", "3xi32", "[0, 2, 9]",
                          "collapsed_slice_dims = [0], start_index_map = [0], "
                          "index_vector_dim = 1",
                          "1", "3xf64"})
                .find("indices_are_sorted = true"),
            std::string::npos);
  EXPECT_NE(deriveSorted({"", "2x5xf64", "2x2xi32", "[[0, 4], [1, 9]]",
                          "collapsed_slice_dims = [0, 1], start_index_map = "
                          "[0, 1], index_vector_dim = 1",
                          "1, 1", "2xf64"})
                .find("indices_are_sorted = false"),
            std::string::npos);
}

// A start that no signed number holds is past the end.
TEST(DynamicSliceAnswers, LimitWideStarts) {
  const char *text = R"(
    func.func @f(%x: tensor<5xf64> {test.values = dense<[0.0, 1.0, 2.0, 3.0, 4.0]> : tensor<5xf64>}) -> tensor<2xf64> {
      %a = stablehlo.constant dense<18446744073709551615> : tensor<ui64>
      %y = stablehlo.dynamic_slice %x, %a, sizes = [2] : (tensor<5xf64>, tensor<ui64>) -> tensor<2xf64>
      return %y : tensor<2xf64>
    })";
  EXPECT_EQ(evaluate(text), std::vector<double>({3, 4}));
  EXPECT_TRUE(checkKernels(text));
}

TEST(DynamicUpdateSliceAnswers, DeriveWhatIsNeeded) {
  EXPECT_TRUE(checkDerivative(fix(dynamicUpdate, "%x")));
  EXPECT_TRUE(checkDerivative(fix(dynamicUpdate, "%u")));
}
} // namespace
