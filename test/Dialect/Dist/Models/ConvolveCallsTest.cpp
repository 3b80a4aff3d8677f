//===- ConvolveCallsTest.cpp - What convolutions ask of a library ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GraphContext.h"
#include "llmc/Dialect/Dist/IR/Dist.h"
#include "llmc/Dialect/Graph/IR/LibraryCall.h"
#include <gtest/gtest.h>

using namespace llmc;
using namespace llmc::test;
using Kind = rt::ContractionIndexKind;
using Window = rt::ConvolutionWindow;

namespace {
/// A module whose only convolution is asked.
struct Convolution {
  GraphContext context;
  mlir::OwningOpRef<ModuleOp> module;
  dist::ConvolveOp op;
  graph::LibraryCallOpInterface call;

  explicit Convolution(StringRef text) : module(context.parse(text)) {
    if (!module)
      return;
    module->walk([&](dist::ConvolveOp found) { op = found; });
    call = llvm::cast<graph::LibraryCallOpInterface>(op.getOperation());
  }

  /// Its shape; one without indices where it has none.
  rt::ConvolutionShape shape() {
    FailureOr<rt::LibraryDescriptor> found = call.getDescriptor();
    rt::ConvolutionShape none;
    return succeeded(found) ? std::get<rt::ConvolutionShape>(*found) : none;
  }
};

constexpr const char *kStrided = R"(
  func.func @f(%x: tensor<2x9x8x6xf32>, %w: tensor<3x1x3x4xf32>, %a: tensor<2x5x8x4xf32>, %b: tensor<4xf32>, %c: tensor<2x5x8x4xf64>) {
    %y = dist.convolve %x, %w dims [0, 3, 1, 2] x [2, 3, 0, 1] -> [0, 3, 1, 2]
        windows [#dist.window<stride = 2, low = 1>, #dist.window<>] feature_groups(2)
        : (tensor<2x9x8x6xf32>, tensor<3x1x3x4xf32>) -> tensor<2x5x8x4xf32>
    return
  })";

TEST(ConvolveCalls, IndicesAndWindowsHaveStridesOfTheirOperands) {
  Convolution strided(kStrided);
  ASSERT_TRUE(strided.op) << strided.context.takeMessages();
  rt::ConvolutionShape shape = strided.shape();
  std::vector<rt::ContractionIndex> indices = {{Kind::batch, 2, 3, 2, 2},
                                               {Kind::m, 2, 432, 0, 160},
                                               {Kind::n, 2, 0, 1, 1},
                                               {Kind::k, 3, 1, 4, 0}};
  std::vector<Window> windows = {{9, 3, 5, 48, 12, 32, 1, 1, 2, 1},
                                 {8, 1, 8, 6, 12, 4, 1, 1, 1, 0}};
  EXPECT_TRUE(shape.indices == indices);
  EXPECT_TRUE(shape.windows == windows);
  EXPECT_EQ(shape.accumulate, rt::DType::f32);
  EXPECT_EQ(shape.beta, 0);
  EXPECT_FALSE(shape.hasBias);
  EXPECT_TRUE(strided.call.getTiedPairs().empty());
  EXPECT_EQ(strided.call.getBuffers().size(), 3u);
}

TEST(ConvolveCalls, GroupsOfTheBatchAreItsMajorPart) {
  Convolution cotangent(R"(
    func.func @f(%x: tensor<9x4x6xf64>, %y: tensor<6x7x8xf64>) {
      %w = dist.convolve %x, %y dims [1, 2, 0] x [0, 2, 1] -> [2, 0, 1]
          windows [#dist.window<low = -1, lhs_dilation = 3, rhs_dilation = 2, reversed = true>] batch_groups(2)
          : (tensor<9x4x6xf64>, tensor<6x7x8xf64>) -> tensor<8x3x2xf64>
      return
    })");
  ASSERT_TRUE(cotangent.op) << cotangent.context.takeMessages();
  rt::ConvolutionShape shape = cotangent.shape();
  std::vector<rt::ContractionIndex> indices = {{Kind::batch, 2, 12, 4, 24},
                                               {Kind::m, 2, 6, 0, 1},
                                               {Kind::n, 4, 0, 1, 6},
                                               {Kind::k, 6, 1, 56, 0}};
  std::vector<Window> windows = {{9, 7, 3, 24, 8, 2, 3, 2, 1, -1, true}};
  EXPECT_TRUE(shape.indices == indices);
  EXPECT_TRUE(shape.windows == windows);
  EXPECT_EQ(shape.accumulate, rt::DType::f64);
}

TEST(ConvolveCalls, ElementsAreThoseThatTheRuntimeStores) {
  Convolution odd(R"(
    func.func @f(%x: tensor<4x6xi7>, %w: tensor<6x8xi7>) {
      %y = dist.convolve %x, %w dims [0, 1] x [0, 1] -> [0, 1] windows []
          : (tensor<4x6xi7>, tensor<6x8xi7>) -> tensor<4x8xi32>
      return
    })");
  ASSERT_TRUE(odd.op) << odd.context.takeMessages();
  EXPECT_TRUE(failed(odd.call.getDescriptor()));
  EXPECT_NE(odd.context.takeMessages().find(
                "expected elements that the runtime stores, got "
                "'tensor<4x6xi7>' and 'tensor<4x8xi32>'"),
            std::string::npos);
}

TEST(ConvolveCalls, SidesAreReadInTheOrderInWhichTheyLie) {
  Convolution strided(kStrided);
  ASSERT_TRUE(strided.op) << strided.context.takeMessages();
  EXPECT_TRUE(strided.call.readPermuted(0, {0, 2, 3, 1}));
  EXPECT_EQ(strided.op.getLhsDims(), llvm::ArrayRef<int64_t>({0, 1, 2, 3}));
  EXPECT_EQ(strided.op.getRhsDims(), llvm::ArrayRef<int64_t>({2, 3, 0, 1}));
  EXPECT_TRUE(strided.call.readPermuted(1, {2, 3, 1, 0}));
  EXPECT_EQ(strided.op.getRhsDims(), llvm::ArrayRef<int64_t>({1, 0, 2, 3}));
  EXPECT_FALSE(strided.call.readPermuted(2, {0, 1, 2, 3}));
}

TEST(ConvolveCalls, AnAccumulatorIsTakenOnceAndOfTheResultsType) {
  Convolution strided(kStrided);
  ASSERT_TRUE(strided.op) << strided.context.takeMessages();
  mlir::func::FuncOp function = getFunction(*strided.module);
  EXPECT_FALSE(strided.call.addTo(function.getArgument(4)));
  EXPECT_TRUE(strided.call.addTo(function.getArgument(2)));
  EXPECT_EQ(strided.op.getAccumulator(), function.getArgument(2));
  EXPECT_EQ(strided.shape().beta, 1);
  ASSERT_EQ(strided.call.getTiedPairs().size(), 1u);
  EXPECT_EQ(strided.call.getTiedPairs()[0],
            (std::pair<int64_t, int64_t>(0, 2)));
  EXPECT_FALSE(strided.call.addTo(function.getArgument(2)));
  EXPECT_FALSE(strided.call.addBias(function.getArgument(3), {3}));
}

TEST(ConvolveCalls, ABiasIsOfTheFeatures) {
  Convolution strided(kStrided);
  ASSERT_TRUE(strided.op) << strided.context.takeMessages();
  mlir::func::FuncOp function = getFunction(*strided.module);
  EXPECT_FALSE(strided.call.addBias(function.getArgument(3), {2}));
  EXPECT_FALSE(strided.call.addBias(function.getArgument(3), {}));
  EXPECT_FALSE(strided.call.addBias(function.getArgument(4), {3}));
  EXPECT_TRUE(strided.call.addBias(function.getArgument(3), {3}));
  EXPECT_EQ(strided.op.getBias(), function.getArgument(3));
  rt::ConvolutionShape shape = strided.shape();
  EXPECT_TRUE(shape.hasBias);
  EXPECT_EQ(shape.bias, rt::DType::f32);
  EXPECT_EQ(shape.indices[0].strideBias, 2);
  EXPECT_EQ(shape.indices[2].strideBias, 1);
  EXPECT_EQ(strided.call.getBuffers().size(), 4u);
  EXPECT_FALSE(strided.call.addBias(function.getArgument(3), {3}));
  EXPECT_FALSE(strided.call.addTo(function.getArgument(2)));
}

// Libraries have no bias beside a cotangent.
TEST(ConvolveCalls, ADilatedInputHasNoBias) {
  Convolution dilated(R"(
    func.func @f(%x: tensor<2x4x3xf32>, %w: tensor<3x3x4xf32>, %b: tensor<4xf32>) {
      %y = dist.convolve %x, %w dims [0, 2, 1] x [1, 2, 0] -> [0, 2, 1] windows [#dist.window<low = 1, lhs_dilation = 2>]
          : (tensor<2x4x3xf32>, tensor<3x3x4xf32>) -> tensor<2x7x4xf32>
      return
    })");
  ASSERT_TRUE(dilated.op) << dilated.context.takeMessages();
  EXPECT_FALSE(
      dilated.call.addBias(getFunction(*dilated.module).getArgument(2), {2}));
}

// Sums of bf16 are kept in f32: the bias would be added before they are
// rounded.
TEST(ConvolveCalls, NoBiasOfRoundedSums) {
  Convolution narrow(R"(
    func.func @f(%x: tensor<4x6xbf16>, %w: tensor<6x8xbf16>, %b: tensor<8xbf16>) {
      %y = dist.convolve %x, %w dims [0, 1] x [0, 1] -> [0, 1] windows []
          : (tensor<4x6xbf16>, tensor<6x8xbf16>) -> tensor<4x8xbf16>
      return
    })");
  ASSERT_TRUE(narrow.op) << narrow.context.takeMessages();
  EXPECT_FALSE(
      narrow.call.addBias(getFunction(*narrow.module).getArgument(2), {1}));
}
} // namespace
