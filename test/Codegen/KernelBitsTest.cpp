//===- KernelBitsTest.cpp - The bits do not depend on the kernel ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The same ops give the same bits whatever they are fused with and however
// rows are sliced: what recomputation relies on.
//
//===----------------------------------------------------------------------===//

#include "KernelRunner.h"
#include <cstring>
#include <gtest/gtest.h>

using namespace llmc;
using namespace llmc::test;

namespace {

bool sameBits(const HostTensor &a, const HostTensor &b) {
  return a.getNumBytes() == b.getNumBytes() &&
         std::memcmp(a.bytes(), b.bytes(), a.getNumBytes()) == 0;
}

/// `KEEP` marks where the unfused text returns a value, so that a kernel ends.
const char *const layerNorm = R"(
  func.func @f(%x: tensor<37x83xf32>, %g: tensor<83xf32>) -> (TYPES) {
    %z = stablehlo.constant dense<0.0> : tensor<f32>
    %n = stablehlo.constant dense<83.0> : tensor<37x1xf32>
    %1 = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [1] : (tensor<37x83xf32>, tensor<f32>) -> tensor<37xf32>
    %2 = stablehlo.broadcast_in_dim %1, dims = [0] : (tensor<37xf32>) -> tensor<37x1xf32>
    %3 = stablehlo.divide %2, %n : tensor<37x1xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [0, 1] : (tensor<37x1xf32>) -> tensor<37x83xf32>
    %5 = stablehlo.subtract %x, %4 : tensor<37x83xf32>
    %6 = stablehlo.multiply %5, %5 : tensor<37x83xf32>
    %7 = stablehlo.reduce(%6 init: %z) applies stablehlo.add across dimensions = [1] : (tensor<37x83xf32>, tensor<f32>) -> tensor<37xf32>
    %8 = stablehlo.rsqrt %7 : tensor<37xf32>
    %9 = stablehlo.broadcast_in_dim %8, dims = [0] : (tensor<37xf32>) -> tensor<37x83xf32>
    %10 = stablehlo.multiply %5, %9 : tensor<37x83xf32>
    %11 = stablehlo.broadcast_in_dim %g, dims = [1] : (tensor<83xf32>) -> tensor<37x83xf32>
    %12 = stablehlo.multiply %10, %11 : tensor<37x83xf32>
    %13 = stablehlo.exponential %12 : tensor<37x83xf32>
    return VALUES : TYPES
  })";

std::string fill(std::string text, const std::string &values,
                 const std::string &types) {
  auto replace = [&](const std::string &from, const std::string &to) {
    for (size_t at; (at = text.find(from)) != std::string::npos;)
      text.replace(at, from.size(), to);
  };
  replace("VALUES", values);
  replace("TYPES", types);
  return text;
}

TEST(KernelBits, DoNotDependOnSlices) {
  KernelRunner runner(fill(layerNorm, "%13", "tensor<37x83xf32>"));
  ASSERT_TRUE(runner.isReady()) << runner.takeMessages();
  ASSERT_TRUE(runner.run(1));
  HostTensor whole = runner.getResults()[0];
  for (int slices : {2, 5, 37}) {
    ASSERT_TRUE(runner.run(slices));
    EXPECT_TRUE(sameBits(whole, runner.getResults()[0])) << slices;
  }
}

TEST(KernelBits, DoNotDependOnFusion) {
  KernelRunner fused(fill(layerNorm, "%13", "tensor<37x83xf32>"));
  KernelRunner kept(fill(layerNorm, "%13, %7, %5, %10, %1",
                         "tensor<37x83xf32>, tensor<37xf32>, "
                         "tensor<37x83xf32>, tensor<37x83xf32>, "
                         "tensor<37xf32>"));
  ASSERT_TRUE(fused.run() && kept.run());
  EXPECT_TRUE(sameBits(fused.getResults()[0], kept.getResults()[0]));
  // A reduction alone, and over the columns that another kernel made.
  KernelRunner alone(R"(
  func.func @f(%x: tensor<37x83xf32>) -> tensor<37xf32> {
    %z = stablehlo.constant dense<0.0> : tensor<f32>
    %1 = stablehlo.reduce(%x init: %z) applies stablehlo.add across dimensions = [1] : (tensor<37x83xf32>, tensor<f32>) -> tensor<37xf32>
    return %1 : tensor<37xf32>
  })");
  ASSERT_TRUE(alone.run());
  EXPECT_TRUE(sameBits(alone.getResults()[0], kept.getResults()[4]));
}

// Each op of bf16 rounds, also inside of a kernel.
TEST(KernelBits, DoNotDependOnFusionInNarrowTypes) {
  const char *const chain = R"(
  func.func @f(%x: tensor<64xT>, %y: tensor<64xT>) -> (TYPES) {
    %0 = stablehlo.multiply %x, %y : tensor<64xT>
    %1 = stablehlo.multiply %0, %y : tensor<64xT>
    %2 = stablehlo.add %1, %x : tensor<64xT>
    return VALUES : TYPES
  })";
  for (const char *type : {"bf16", "f16"}) {
    KernelRunner fused(withType(fill(chain, "%2", "tensor<64xT>"), type));
    ASSERT_TRUE(fused.run()) << fused.takeMessages();
    HostTensor rounded(fused.getResults()[0].getType());
    for (int64_t i = 0; i < 64; ++i) {
      double x = fused.getArguments()[0].getFloat(i);
      double y = fused.getArguments()[1].getFloat(i);
      auto round = [&](double value) {
        rounded.setFloat(i, value);
        return rounded.getFloat(i);
      };
      round(round(round(x * y) * y) + x);
    }
    EXPECT_TRUE(sameBits(fused.getResults()[0], rounded)) << type;
  }
}

} // namespace
