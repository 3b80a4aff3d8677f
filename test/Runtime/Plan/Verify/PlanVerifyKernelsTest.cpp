//===- PlanVerifyKernelsTest.cpp - Launches against the manifest ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "RefusedPlan.h"

using namespace llmc::rt;
using namespace llmc::rt::plan;
using testing::HasSubstr;
using testing::Not;

TEST(PlanVerifyKernels, AgainstTheManifest) {
  EXPECT_REFUSED_LAUNCH("kernel 'k_none' is not in the kernel objects",
                        { plan.kernels[0].name = "k_none"; });
  EXPECT_REFUSED_LAUNCH("needs processor feature 'amx'",
                        { plan.objects[0].features = {"amx"}; });
  EXPECT_REFUSED_LAUNCH(
      "the plan uses 3 threads for each device, this runtime has 2",
      { plan.threads = 3; });
  EXPECT_REFUSED_LAUNCH("kernel 'k_embed' has 4 arguments, got 3", {
    embed(plan).operands.pop_back();
    embed(plan).access.pop_back();
  });
  EXPECT_REFUSED_LAUNCH(
      "expected argument 0 of kernel 'k_embed' to be read i32, got "
      "read u32",
      { embed(plan).operands[0].dtype = DType::u32; });
  EXPECT_REFUSED_LAUNCH("to be write f32, got read f32",
                        { embed(plan).access[2] = Access::read; });
  EXPECT_REFUSED_LAUNCH(
      "kernel 'k_embed' touches 64 bytes of argument 3, which has 32",
      { embed(plan).operands[3].shape = {2, 4}; });
  EXPECT_REFUSED_LAUNCH("kernel 'k_embed' has 1 scalars, got 0",
                        { embed(plan).scalars.clear(); });
  EXPECT_REFUSED_LAUNCH(
      "expected scalar 0 of kernel 'k_embed' to be between 0 and 5, "
      "got 0 to 15",
      {
        plan.mesh.axes[1].size = 4;
        plan.entries[0].inputs[0].layout =
            Layout::split({16}, {{1}}, plan.mesh);
      });
  EXPECT_REFUSED_LAUNCH("operand 2 is written and overlaps operand 3",
                        { embed(plan).operands[3] = embed(plan).operands[2]; });
}

// A tie of the manifest lets a result take the place of an operand.
TEST(PlanVerifyKernels, Ties) {
  Plan plan = makeSamplePlan();
  KernelLaunch &launch = firstOf<KernelLaunch>(plan, "c1.B");
  launch.operands[1] = launch.operands[0];
  firstOf<Library>(plan, "c1.B").operands[1] = launch.operands[0];
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
  Library *last = nullptr;
  for (Instruction &i : plan.programs[findProgram(plan, "c1.B")].instructions) {
    if (auto *library = std::get_if<Library>(&i.action)) {
      last = library;
    }
  }
  launch.scratch = last->workspace;
  EXPECT_EQ(verifyPlan(plan, environment).message(), "");
}

TEST(PlanVerifyKernels, Ends) {
  auto with = [](void (*edit)(Plan &plan, Manifest &manifest,
                              Environment &environment)) {
    Plan plan = makeSamplePlan();
    Manifest manifest = makeSampleManifest();
    Environment environment;
    environment.manifest = &manifest;
    environment.features = {"avx2"};
    edit(plan, manifest, environment);
    return verifyPlan(plan, environment).message();
  };
  using P = Plan;
  using M = Manifest;
  using E = Environment;
  EXPECT_EQ(with([](P &plan, M &, E &e) { plan.threads = e.maxThreads = 2; }),
            "");
  EXPECT_EQ(with([](P &plan, M &, E &) { plan.threads = 99; }), "");
  EXPECT_THAT(with([](P &, M &, E &e) { e.features.clear(); }),
              HasSubstr("kernel object 'sample.so' needs processor feature "
                        "'avx2'"));
  EXPECT_THAT(with([](P &, M &m, E &) { m.features = {"fma"}; }),
              HasSubstr("kernel object 'manifest' needs processor feature "
                        "'fma'"));
  EXPECT_THAT(with([](P &, M &m, E &) { m.kernels[0].scalars[0].high = 4; }),
              HasSubstr("to be between 0 and 4, got 0 to 5"));
  EXPECT_THAT(with([](P &, M &m, E &) { m.kernels[0].scalars[0].low = 1; }),
              HasSubstr("to be between 1 and 5, got 0 to 5"));
  EXPECT_THAT(with([](P &plan, M &, E &) {
                plan.expressions.push_back({ExprOp::floorDiv, 0, 0, 0});
                embed(plan).scalars = {ExprId(plan.expressions.size()) - 1};
              }),
              HasSubstr("to be between 0 and 5, got an overflow"));
  EXPECT_THAT(
      with([](P &, M &m, E &) { m.kernels[0].arguments[3].extentBytes = 65; }),
      HasSubstr("touches 65 bytes of argument 3, which has 64"));
}

// The target of a kernel is the plan's; its arguments lie as its code loads
// them: alone the operand's place in its slot can break that.
TEST(PlanVerifyKernels, TargetAndAlignment) {
  auto verify = [](uint32_t alignment, int64_t offset, const char *target) {
    Plan plan = makeSamplePlan();
    Manifest manifest = makeSampleManifest();
    manifest.kernels[0].target = target;
    manifest.kernels[0].arguments[0].alignment = alignment;
    manifest.kernels[0].arguments[0].extentBytes = 8;
    Operand &operand = embed(plan).operands[0];
    operand.shape = {2};
    operand.offset = offset;
    Environment environment;
    environment.manifest = &manifest;
    environment.features = {"avx2"};
    return verifyPlan(plan, environment).message();
  };
  EXPECT_THAT(verify(0, 0, "cuda"),
              HasSubstr("expected kernel 'k_embed' for target 'cpu', got "
                        "'cuda'"));
  const char *text = "expected argument 0 of kernel 'k_embed' to be aligned "
                     "to ";
  EXPECT_THAT(verify(64, 0, "cpu"), Not(HasSubstr(text)));
  EXPECT_THAT(verify(8, 8, "cpu"), Not(HasSubstr(text)));
  EXPECT_THAT(verify(4, 4, "cpu"), Not(HasSubstr(text)));
  EXPECT_THAT(verify(8, 4, "cpu"), HasSubstr(text + std::string("8 bytes")));
  EXPECT_THAT(verify(64, 8, "cpu"), HasSubstr(text + std::string("64 bytes")));
}

// Each thread has its own scratch, rounded up to 64 bytes: what is enough for
// one thread is not for two.
TEST(PlanVerifyKernels, ScratchOfSeveralThreads) {
  auto scratch = [](int64_t bytes, int32_t threads) {
    Plan plan = makeSamplePlan();
    plan.threads = threads;
    Manifest manifest = makeSampleManifest();
    manifest.kernels[2].scratchBytes = bytes;
    Environment environment;
    environment.manifest = &manifest;
    environment.features = {"avx2"};
    for (Instruction &i :
         plan.programs[findProgram(plan, "c1.B")].instructions) {
      if (auto *library = std::get_if<Library>(&i.action)) {
        firstOf<KernelLaunch>(plan, "c1.B").scratch = library->workspace;
      }
    }
    return verifyPlan(plan, environment).message();
  };
  EXPECT_EQ(scratch(256, 1), "");
  EXPECT_THAT(scratch(257, 1), HasSubstr("needs 320 bytes of scratch on 1 "
                                         "threads, got 256"));
  EXPECT_EQ(scratch(128, 2), "");
  EXPECT_THAT(scratch(129, 2), HasSubstr("needs 384 bytes of scratch on 2 "
                                         "threads, got 256"));
  EXPECT_EQ(scratch(1, 4), "");
  EXPECT_THAT(scratch(1, 5), HasSubstr("needs 320 bytes of scratch on 5"));
  EXPECT_THAT(scratch(INT64_MAX, 2), HasSubstr("needs -1 bytes"));
}

// A written operand lies exactly on one that is only read and that the manifest
// ties to it; everything else is refused.
TEST(PlanVerifyKernels, Aliases) {
  auto verify = [](std::vector<std::pair<int32_t, int32_t>> ties,
                   void (*edit)(KernelLaunch &launch)) {
    Plan plan = makeSamplePlan();
    KernelLaunch &launch = firstOf<KernelLaunch>(plan, "u");
    Manifest manifest = makeSampleManifest();
    KernelInfo &info = manifest.kernels[3];
    info.ties = std::move(ties);
    edit(launch);
    for (size_t i = 0; i < 3; ++i) {
      info.arguments[i].access = launch.access[i];
      info.arguments[i].extentBytes = 0;
    }
    Environment environment;
    environment.manifest = &manifest;
    environment.features = {"avx2"};
    return verifyPlan(plan, environment).message();
  };
  auto onGradient = [](KernelLaunch &launch) {
    launch.operands[2] = launch.operands[0];
  };
  std::string text = "operand 2 is written and overlaps operand 0, to which it "
                     "is not tied";
  EXPECT_EQ(verify({{0, 2}}, onGradient), "");
  EXPECT_THAT(verify({}, onGradient), HasSubstr(text));
  EXPECT_THAT(verify({{2, 0}}, onGradient), HasSubstr(text));
  EXPECT_THAT(verify({{1, 2}}, onGradient), HasSubstr(text));
  EXPECT_THAT(verify({{0, 2}},
                     [](KernelLaunch &launch) {
                       launch.operands[2] = launch.operands[0];
                       launch.access[0] = Access::readWrite;
                     }),
              HasSubstr("is not tied"));
  EXPECT_THAT(verify({{0, 2}},
                     [](KernelLaunch &launch) {
                       launch.operands[2] = launch.operands[0];
                       launch.operands[2].shape = {3, 4};
                       launch.operands[2].offset = 16;
                     }),
              HasSubstr(text));
}

// The argument lies well on the first device, and must on every other.
TEST(PlanVerifyKernels, AlignmentOfWhatMoves) {
  auto verify = [](int64_t bytes) {
    Plan plan = makeSamplePlan();
    Manifest manifest = makeSampleManifest();
    manifest.kernels[0].arguments[0].alignment = 8;
    manifest.kernels[0].arguments[0].extentBytes = 8;
    auto first = static_cast<ExprId>(plan.expressions.size());
    plan.expressions.push_back({ExprOp::coordinate, -1, -1, 1});
    plan.expressions.push_back({ExprOp::constant, -1, -1, bytes});
    plan.expressions.push_back({ExprOp::mul, first, first + 1, 0});
    embed(plan).operands[0].shape = {2};
    embed(plan).operands[0].expr = first + 2;
    Environment environment;
    environment.manifest = &manifest;
    environment.features = {"avx2"};
    return verifyPlan(plan, environment).message();
  };
  EXPECT_EQ(verify(8), "");
  EXPECT_THAT(verify(4), testing::EndsWith("expected argument 0 of kernel "
                                           "'k_embed' to be aligned to 8 "
                                           "bytes"));
}
