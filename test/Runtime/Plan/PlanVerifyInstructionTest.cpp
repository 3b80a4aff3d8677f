//===- PlanVerifyInstructionTest.cpp - Operands fit -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "RefusedPlan.h"

using namespace llmc::rt;
using namespace llmc::rt::plan;
using testing::HasSubstr;

static Environment makeEnvironment() {
  static const Manifest manifest = makeSampleManifest();
  Environment environment;
  environment.manifest = &manifest;
  environment.features = {"avx2"};
  environment.maxThreads = 2;
  return environment;
}

#define EXPECT_REFUSED(text, ...)                                              \
  EXPECT_MISMATCH(                                                             \
      text, verifyBroken([](Plan & plan) __VA_ARGS__, makeEnvironment()))

static KernelLaunch &embed(Plan &plan) {
  return firstOf<KernelLaunch>(plan, "c0.F");
}
static Contraction &product(Plan &plan) {
  return firstOf<Contraction>(plan, "c0.B");
}

TEST(PlanVerifyInstruction, OperandLeavesItsBuffer) {
  EXPECT_REFUSED("expected an operand of 64 bytes at offset 4 to lie within "
                 "buffer 'x' of 64 bytes",
                 { embed(plan).operands[2].offset = 4; });
  EXPECT_REFUSED("+ expression to lie within buffer 'w'",
                 { embed(plan).operands[1].expr = 2; });
  EXPECT_REFUSED("to lie within buffer 'x'",
                 { embed(plan).operands[2].shape = {1 << 20}; });
  EXPECT_REFUSED("to be aligned to 4 bytes", {
    embed(plan).operands[0].offset = 2;
    embed(plan).operands[0].shape = {3};
  });
}

TEST(PlanVerifyInstruction, ScratchIsApart) {
  EXPECT_REFUSED("expected scratch in a scratch frame, got 'h'",
                 { embed(plan).scratch = embed(plan).operands[3]; });
  EXPECT_REFUSED("expected no value in a scratch frame, got 'library'", {
    embed(plan).operands[3].buffer = findBuffer(plan, "library");
  });
}

TEST(PlanVerifyInstruction, Contractions) {
  EXPECT_REFUSED("a contraction of f32 and i32 into f32, accumulated in f32",
                 { product(plan).b.dtype = DType::i32; });
  EXPECT_REFUSED("expected the dims of a contraction to reach at most 64 bytes "
                 "of operand a",
                 { product(plan).dims[0].strideA = 4; });
  EXPECT_REFUSED("to reach at most 64 bytes of operand b",
                 { product(plan).dims[2].strideB = INT64_MAX; });
  EXPECT_REFUSED("to make 16 elements, got 8",
                 { product(plan).dims[0].size = 2; });
  EXPECT_REFUSED("expected stride 0 of operand b along a dim that it lacks",
                 { product(plan).dims[0].strideB = 1; });
  EXPECT_REFUSED("the result of a contraction overlaps an operand",
                 { product(plan).c = product(plan).b; });
  EXPECT_REFUSED("expected 300 bytes of scratch for a contraction, got 256",
                 { firstOf<Contraction>(plan, "c1.B").packedBytes = 100; });
}

TEST(PlanVerifyInstruction, Transfers) {
  EXPECT_REFUSED("expected the peer of transfer 't0' to be one other stage "
                 "below 2, got 0 to 0",
                 {
                   firstOf<Send>(plan, "c0.F").message.peer =
                       firstOf<Receive>(plan, "c1.F").message.peer;
                 });
  EXPECT_REFUSED("expected the operands of a transfer to be contiguous", {
    firstOf<Send>(plan, "c0.F").message.operands[0].strides = {1, 4};
  });
}

TEST(PlanVerifyInstruction, HostEnds) {
  EXPECT_REFUSED("the entry has no input number 1",
                 { firstOf<Copy>(plan, "c0.F").index = 1; });
  EXPECT_REFUSED("the entry has no hyper value number 3",
                 { firstOf<Copy>(plan, "begin").index = 3; });
  EXPECT_REFUSED("the entry has no metric number 1",
                 { firstOf<Copy>(plan, "u").index = 1; });
  EXPECT_REFUSED("expected 4 elements of i32 for input 'tokens', got 3 of i32",
                 { firstOf<Copy>(plan, "c0.F").to.shape = {3}; });
  EXPECT_REFUSED("expected 1 elements of f64 for metric 'loss'",
                 { plan.entries[0].metrics[0].dtype = DType::f64; });
  EXPECT_REFUSED("input 'tokens' is not read by stage 0",
                 { plan.entries[0].inputs[0].stages = {1}; });
}

TEST(PlanVerifyKernels, AgainstTheManifest) {
  EXPECT_REFUSED("kernel 'k_none' is not in the kernel objects",
                 { plan.kernels[0].name = "k_none"; });
  EXPECT_REFUSED("needs processor feature 'amx'",
                 { plan.objects[0].features = {"amx"}; });
  EXPECT_REFUSED("the plan uses 3 threads for each device, this runtime has 2",
                 { plan.threads = 3; });
  EXPECT_REFUSED("kernel 'k_embed' has 4 arguments, got 3", {
    embed(plan).operands.pop_back();
    embed(plan).access.pop_back();
  });
  EXPECT_REFUSED("expected argument 0 of kernel 'k_embed' to be read i32, got "
                 "read u32",
                 { embed(plan).operands[0].dtype = DType::u32; });
  EXPECT_REFUSED("to be write f32, got read f32",
                 { embed(plan).access[2] = Access::read; });
  EXPECT_REFUSED(
      "kernel 'k_embed' touches 64 bytes of argument 3, which has 32",
      { embed(plan).operands[3].shape = {2, 4}; });
  EXPECT_REFUSED("kernel 'k_embed' has 1 scalars, got 0",
                 { embed(plan).scalars.clear(); });
  EXPECT_REFUSED("expected scalar 0 of kernel 'k_embed' to be between 0 and 5, "
                 "got 0 to 15",
                 {
                   plan.mesh.axes[1].size = 4;
                   plan.entries[0].inputs[0].layout =
                       Layout::split({16}, {{1}}, plan.mesh);
                 });
  EXPECT_REFUSED("operand 2 is written and overlaps operand 3",
                 { embed(plan).operands[3] = embed(plan).operands[2]; });
}

// A tie of the manifest lets a result take the place of an operand.
TEST(PlanVerifyKernels, Ties) {
  Plan plan = makeSamplePlan();
  KernelLaunch &launch = firstOf<KernelLaunch>(plan, "c1.B");
  launch.operands[1] = launch.operands[0];
  Contraction &next = firstOf<Contraction>(plan, "c1.B");
  next.b = launch.operands[0];
  Manifest manifest = makeSampleManifest();
  Environment environment;
  environment.manifest = &manifest;
  environment.features = {"avx2"};
  EXPECT_THAT(verifyPlan(plan, environment).message(), HasSubstr("not tied"));
  manifest.kernels[2].ties = {{0, 1}};
  // Now only the order is wrong: x was read through its own buffer before.
  EXPECT_THAT(verifyPlan(plan, environment).message(), HasSubstr("again"));
}

TEST(PlanVerifyKernels, Scratch) {
  Plan plan = makeSamplePlan();
  Manifest manifest = makeSampleManifest();
  manifest.kernels[2].scratchBytes = 100;
  Environment environment;
  environment.manifest = &manifest;
  environment.features = {"avx2"};
  EXPECT_THAT(
      verifyPlan(plan, environment).message(),
      HasSubstr(
          "kernel 'k_grad' needs 128 bytes of scratch on 1 threads, got 0"));
  KernelLaunch &launch = firstOf<KernelLaunch>(plan, "c1.B");
  launch.scratch = firstOf<Contraction>(plan, "c1.B").scratch;
  Contraction *second = nullptr;
  for (Instruction &i : plan.programs[findProgram(plan, "c1.B")].instructions) {
    if (auto *contraction = std::get_if<Contraction>(&i.action)) {
      second = contraction;
    }
  }
  launch.scratch = second->scratch;
  EXPECT_EQ(verifyPlan(plan, environment).message(), "");
}
