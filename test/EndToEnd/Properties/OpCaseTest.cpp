//===- OpCaseTest.cpp - Every op in random layouts ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// LLMC_TEST_SEED chooses other cases, LLMC_TEST_CASES how many for each recipe;
// a failure prints its seed and the program.
//
//===----------------------------------------------------------------------===//

#include "OpCase.h"
#include "ClosedPrograms.h"
#include "EvaluatedOps.h"
#include "RandomPrograms.h"
#include <cstdlib>
#include <gtest/gtest.h>

using namespace llmc;
using namespace llmc::test;

namespace {
const char *const kMeshes[] = {R"("a"=2)", R"("a"=3)", R"("a"=4)",
                               R"("a"=2, "b"=2)", R"("a"=2, "b"=3)"};

constexpr const char *kCrossEntropy = R"(
  func.func @f(%x: tensor<4x6xf64>, %t: tensor<4xi32>) -> tensor<4x6xf64> {
    %l, %s = nn.softmax_cross_entropy %x, %t : (tensor<4x6xf64>, tensor<4xi32>) -> (tensor<4xf64>, tensor<4xf64>)
    %d = nn.softmax_cross_entropy_grad %x, %t, %s, %l : (tensor<4x6xf64>, tensor<4xi32>, tensor<4xf64>, tensor<4xf64>) -> tensor<4x6xf64>
    return %d : tensor<4x6xf64>
  })";

constexpr const char *kLogSumExp = R"(
  func.func @f(%x: tensor<4x6x4xf64>) -> tensor<4x6x4xf64> {
    %y = nn.log_sum_exp %x {dims = array<i64: 1>} : (tensor<4x6x4xf64>) -> tensor<4x4xf64>
    %z = nn.log_sum_exp %x {dims = array<i64: 1>, safe} : (tensor<4x6x4xf64>) -> tensor<4x4xf64>
    %d = nn.log_sum_exp_grad %x, %y, %z {dims = array<i64: 1>} : (tensor<4x6x4xf64>, tensor<4x4xf64>, tensor<4x4xf64>) -> tensor<4x6x4xf64>
    return %d : tensor<4x6x4xf64>
  })";

constexpr const char *kBatchNorm = R"(
  func.func @f(%x: tensor<4x6x4xf64>, %s: tensor<6xf64>, %g: tensor<4x6x4xf64>) -> tensor<4x6x4xf64> {
    %y, %m, %v = nn.batch_norm %x, %s, %s {dim = 1 : i64, epsilon = 0.1 : f64}
        : (tensor<4x6x4xf64>, tensor<6xf64>, tensor<6xf64>) -> (tensor<4x6x4xf64>, tensor<6xf64>, tensor<6xf64>)
    %z, %n, %w = nn.batch_norm %y, %s, %m {dim = 1 : i64, epsilon = 0.1 : f64, squares}
        : (tensor<4x6x4xf64>, tensor<6xf64>, tensor<6xf64>) -> (tensor<4x6x4xf64>, tensor<6xf64>, tensor<6xf64>)
    %d:3 = nn.batch_norm_grad %x, %s, %m, %w, %z {dim = 1 : i64, epsilon = 0.1 : f64}
        : (tensor<4x6x4xf64>, tensor<6xf64>, tensor<6xf64>, tensor<6xf64>, tensor<4x6x4xf64>) -> (tensor<4x6x4xf64>, tensor<6xf64>, tensor<6xf64>)
    return %d#0 : tensor<4x6x4xf64>
  })";

constexpr const char *kRotary = R"(
  func.func @f(%x: tensor<4x6x4xf64>, %c: tensor<1x6x2xf64>, %t: tensor<4x6x4xf64>) -> tensor<4x6x4xf64> {
    %y = nn.rotary %x, %c, %c : (tensor<4x6x4xf64>, tensor<1x6x2xf64>, tensor<1x6x2xf64>) -> tensor<4x6x4xf64>
    %z = nn.rotary %y, %t, %x : (tensor<4x6x4xf64>, tensor<4x6x4xf64>, tensor<4x6x4xf64>) -> tensor<4x6x4xf64>
    return %z : tensor<4x6x4xf64>
  })";

constexpr const char *kArgsort = R"(
  func.func @f(%x: tensor<4x6x4xf64>) -> tensor<4x6x4xi32> {
    %s = stablehlo.sign %x : tensor<4x6x4xf64>
    %p = nn.argsort %s, %x dim 1 descending [true, false] : (tensor<4x6x4xf64>, tensor<4x6x4xf64>) -> tensor<4x3x4xi32>
    %q = nn.argsort %x dim 0 descending [false] : (tensor<4x6x4xf64>) -> tensor<4x6x4xi32>
    return %q : tensor<4x6x4xi32>
  })";

constexpr const char *kGroupedDot = R"(
  func.func @f(%x: tensor<12x6xf64>, %w: tensor<4x6x4xf64>, %g: tensor<12x4xf64>, %b: tensor<2x12x6xf64>, %v: tensor<2x4x6x4xf64>)
      -> (tensor<12x4xf64>, tensor<4x6x4xf64>, tensor<2x12x4xf64>, tensor<12x4xf64>) {
    %s = stablehlo.constant dense<[3, 0, 5, 2]> : tensor<4xi32>
    %o = stablehlo.constant dense<[[3, 0, 5, 4], [1, 1, 0, 7]]> : tensor<2x4xi64>
    %t = stablehlo.constant dense<[2, 1, 3, 0, 5, 1]> : tensor<6xi32>
    %f = stablehlo.constant dense<1> : tensor<i32>
    %y = nn.grouped_dot %x, %w, %s batch [] x [] contracting [1] x [1] rows 0 groups 0
        : (tensor<12x6xf64>, tensor<4x6x4xf64>, tensor<4xi32>) -> tensor<12x4xf64>
    %d = nn.grouped_dot %x, %g, %s batch [] x [] contracting [0] x [0] rows 0
        : (tensor<12x6xf64>, tensor<12x4xf64>, tensor<4xi32>) -> tensor<4x6x4xf64>
    %z = nn.grouped_dot %b, %v, %o batch [0] x [0] contracting [2] x [2] rows 1 groups 1
        : (tensor<2x12x6xf64>, tensor<2x4x6x4xf64>, tensor<2x4xi64>) -> tensor<2x12x4xf64>
    %p = nn.grouped_dot %x, %w, %t first %f batch [] x [] contracting [1] x [1] rows 0 groups 0
        : (tensor<12x6xf64>, tensor<4x6x4xf64>, tensor<6xi32>, tensor<i32>) -> tensor<12x4xf64>
    return %y, %d, %z, %p : tensor<12x4xf64>, tensor<4x6x4xf64>, tensor<2x12x4xf64>, tensor<12x4xf64>
  })";

constexpr const char *kAttention = R"(
  func.func @f(%q: tensor<4x2x6x4xf64>, %k: tensor<4x12x4xf64>, %v: tensor<4x12x2xf64>, %b: tensor<4x1x1x12xf64>, %g: tensor<4x2x6x2xf64>)
      -> (tensor<4x2x6x4xf64>, tensor<4x12x4xf64>, tensor<4x12x2xf64>) {
    %o, %l = nn.attention %q, %k, %v bias %b scale 0.5 causal 3
        : (tensor<4x2x6x4xf64>, tensor<4x12x4xf64>, tensor<4x12x2xf64>, tensor<4x1x1x12xf64>) -> (tensor<4x2x6x2xf64>, tensor<4x2x6xf64>)
    %p, %m = nn.attention %q, %k, %v scale 0.5 safe
        : (tensor<4x2x6x4xf64>, tensor<4x12x4xf64>, tensor<4x12x2xf64>) -> (tensor<4x2x6x2xf64>, tensor<4x2x6xf64>)
    %dq, %dk, %dv = nn.attention_grad %q, %k, %v, %l, %m, %g bias %b scale 0.5 causal 3
        : (tensor<4x2x6x4xf64>, tensor<4x12x4xf64>, tensor<4x12x2xf64>, tensor<4x2x6xf64>, tensor<4x2x6xf64>, tensor<4x2x6x2xf64>, tensor<4x1x1x12xf64>)
          -> (tensor<4x2x6x4xf64>, tensor<4x12x4xf64>, tensor<4x12x2xf64>)
    return %dq, %dk, %dv : tensor<4x2x6x4xf64>, tensor<4x12x4xf64>, tensor<4x12x2xf64>
  })";

// Weights that are dropped, in order of their number and in another one.
constexpr const char *kDropout = R"(
  func.func @f(%q: tensor<4x2x6x4xf64>, %k: tensor<4x12x4xf64>, %v: tensor<4x12x2xf64>, %g: tensor<4x2x6x2xf64>)
      -> (tensor<4x2x6x4xf64>, tensor<4x12x4xf64>, tensor<4x12x2xf64>) {
    %s = stablehlo.constant dense<[4886718345, 4294967290]> : tensor<2xui64>
    %o, %l = nn.attention %q, %k, %v dropout %s strides [144, 72, 12, 1] <jax32 below 3000000000 factor 1.5> scale 0.5 causal 3
        : (tensor<4x2x6x4xf64>, tensor<4x12x4xf64>, tensor<4x12x2xf64>, tensor<2xui64>) -> (tensor<4x2x6x2xf64>, tensor<4x2x6xf64>)
    %p, %m = nn.attention %q, %k, %v dropout %s strides [0, 1, 2, 12] <threefry from 5000000000000000000 factor 1.5> scale 0.5 safe
        : (tensor<4x2x6x4xf64>, tensor<4x12x4xf64>, tensor<4x12x2xf64>, tensor<2xui64>) -> (tensor<4x2x6x2xf64>, tensor<4x2x6xf64>)
    %dq, %dk, %dv = nn.attention_grad %q, %k, %v, %l, %m, %g dropout %s strides [144, 72, 12, 1] <jax32 below 3000000000 factor 1.5> scale 0.5 causal 3
        : (tensor<4x2x6x4xf64>, tensor<4x12x4xf64>, tensor<4x12x2xf64>, tensor<4x2x6xf64>, tensor<4x2x6xf64>, tensor<4x2x6x2xf64>, tensor<2xui64>)
          -> (tensor<4x2x6x4xf64>, tensor<4x12x4xf64>, tensor<4x12x2xf64>)
    return %dq, %dk, %dv : tensor<4x2x6x4xf64>, tensor<4x12x4xf64>, tensor<4x12x2xf64>
  })";

/// Draws layouts for each op of a program.
class OpCases {
public:
  void run(const std::string &text, uint64_t seed) {
    auto module = context.parse(text);
    ASSERT_TRUE(module && closeRegions(*module))
        << context.takeMessages() << text;
    FailureOr<std::vector<EvaluatedOp>> ops =
        evaluateOps(getFunction(*module), seed);
    ASSERT_TRUE(succeeded(ops));
    uint64_t number = 0;
    for (const EvaluatedOp &each : *ops)
      if (!each.op->hasTrait<mlir::OpTrait::ConstantLike>())
        runOp(each.op, each.operands, seed * 100 + number++);
  }

  SplitCounts counts;
  int numCases = 0, numFailures = 0;

private:
  void runOp(Operation *op, ArrayRef<HostTensor> operands, uint64_t seed) {
    const char *mesh = kMeshes[seed % std::size(kMeshes)];
    OpCase one(op, operands, mesh, seed);
    if (!one.draw())
      return;
    ++numCases;
    std::string error = one.check(counts);
    std::string messages = context.takeMessages();
    if (error.empty() || ++numFailures > 5)
      return;
    ADD_FAILURE() << op->getName().getStringRef().str() << ", seed " << seed
                  << " on " << mesh << ": " << error << messages;
  }

  GraphContext context;
};

TEST(OpCases, LocalFormsGiveTheGlobalResults) {
  uint64_t base = readSetting("LLMC_TEST_SEED", 1);
  uint64_t repeats = readSetting("LLMC_TEST_CASES", 20);
  OpCases cases;
  ProgramOptions options;
  options.numRecipes = 2;
  for (uint64_t i = 0; i < repeats; ++i) {
    for (int recipe = 0; recipe < getNumRecipes(options); ++recipe) {
      options.firstRecipe = recipe;
      options.seed = base * 100000 + i * 100 + recipe;
      cases.run(makeProgram(options), options.seed);
    }
    for (uint64_t k = 50; k < 60; ++k)
      cases.run(kRotary, base * 100000 + i * 100 + k);
    for (uint64_t k = 110; k < 120; ++k)
      cases.run(kArgsort, base * 100000 + i * 100 + k);
    for (uint64_t k = 120; k < 130; ++k)
      cases.run(kGroupedDot, base * 100000 + i * 100 + k);
    for (uint64_t k = 60; k < 70; ++k)
      cases.run(kBatchNorm, base * 100000 + i * 100 + k);
    for (uint64_t k = 70; k < 80; ++k)
      cases.run(kLogSumExp, base * 100000 + i * 100 + k);
    for (uint64_t k = 80; k < 90; ++k)
      cases.run(kAttention, base * 100000 + i * 100 + k);
    for (uint64_t k = 100; k < 110; ++k)
      cases.run(kDropout, base * 100000 + i * 100 + k);
    for (uint64_t k = 90; k < 100; ++k)
      cases.run(kCrossEntropy, base * 100000 + i * 100 + k);
  }
  EXPECT_EQ(cases.numFailures, 0) << "of " << cases.numCases;
  EXPECT_GT(cases.numCases, 6000 * static_cast<int>(repeats) / 40);
  for (auto &[what, count] : cases.counts) {
    if (std::getenv("LLMC_TEST_SHOW"))
      llvm::outs() << what << ": " << count << "\n";
    if (repeats >= 40 && !llvm::StringRef(what).ends_with("padded"))
      EXPECT_GE(count, 5) << what;
  }
}
} // namespace
