//===- PlanTargetTest.cpp - Tests of Target/Plan --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmc/Target/Plan/Plan.h"

#include "llmc/Dialect/Dist/IR/Dist.h"
#include "llmc/Dialect/Plan/IR/Plan.h"
#include "llmc/Runtime/Plan/Format/PlanFile.h"
#include "llmc/Runtime/Plan/Verify/PlanVerify.h"
#include "llmc/Runtime/Plan/Verify/PlanWaits.h"
#include "mlir/Parser/Parser.h"

#include <gtest/gtest.h>

using namespace llmc;
namespace rtp = llmc::rt::plan;

/// x [8, 4] from the host, y = x w, z = square y, which the caller gets.
static const char *const text = R"mlir(
#w = #dist.layout<@mesh, [{}, {}]>
dist.mesh @mesh = <"data"=1>
dist.state @w : tensor<4x6xf32> {role = parameter, source = #dist.draw<normal, 0.02>}
dist.hyper @lr : tensor<f32> = <constant, base = 0.1>
plan.device threads(2) seed(7) arenas([1024])
plan.stream @C compute
plan.stream @K copy
plan.frame @state state offset(0) size(128)
plan.buffer @state.w in @state bytes(96) offset(0)
plan.part of @w origin([0, 0]) shape([4, 6]) layout(#w) place(<@state.w, [4, 6], f32>)
plan.frame @in input slots(2) slot(<mod(microbatch, 2)>) events(2) offset(128) size(128)
plan.buffer @in.x in @in bytes(128) offset(0)
plan.frame @tmp tmp events(1) offset(384) size(192)
plan.buffer @tmp.y in @tmp bytes(192) offset(0)
plan.frame @out act slots(2) slot(<mod(microbatch, 2)>) events(2) offset(640) size(192)
plan.buffer @out.z in @out bytes(192) offset(0)
plan.program @f.c0.F forward chunk(0) {
  plan.copy on @K to(<@in.x, [8, 4], f32>) host input name("x")
  plan.signal on @K @in event(1)
  plan.wait on @C @in event(1)
  plan.library on @C #plan.contraction<[<m, 8, a = 4, c = 6>, <n, 6, b = 1, c = 1>, <k, 4, a = 1, b = 6>], accumulate = f32>
    operands([#plan.use<read, <@in.x, [8, 4], f32>>, #plan.use<read, <@state.w, [4, 6], f32>>, #plan.use<write, <@tmp.y, [8, 6], f32>>])
  plan.kernel on @C @kernels::@square operands([#plan.use<read, <@tmp.y, [48], f32>>, #plan.use<write, <@out.z, [48], f32>>]) scalars([])
  plan.signal on @C @out event(1)
  plan.wait on @K @out event(1)
  plan.copy on @K from(<@out.z, [8, 6], f32>) host fetch name("z")
}
plan.table @f.table programs([@f.c0.F]) rows(<["0.0", "0.1"]>)
plan.entry @f forward microbatches(2) chunks(1) prologue([unit]) table(@f.table) epilogue([unit])
  inputs([#plan.input<"x", tensor<8x4xf32>, data = #dist.data<"corpus", offset = 3>>]) hypers([@lr]) metrics([])
  fetches([#plan.fetch<"z", tensor<8x6xf32>, each_microbatch = true>])
)mlir";

namespace {

class PlanTarget : public testing::Test {
protected:
  PlanTarget() {
    context.loadDialect<dist::DistDialect, plan::PlanDialect>();
    module = mlir::parseSourceString<ModuleOp>(text, &context);
    rtp::KernelInfo square;
    square.name = "square";
    square.arguments = {{rt::DType::f32, rtp::Access::read, 192},
                        {rt::DType::f32, rtp::Access::write, 192}};
    manifest.kernels = {square};
    options.name = "test";
    options.objectFile = "kernels.so";
    options.objectHash = 42;
  }

  MLIRContext context;
  mlir::OwningOpRef<ModuleOp> module;
  rtp::Manifest manifest;
  target::PlanOptions options;
};

} // namespace

TEST_F(PlanTarget, BuildsWhatLoadersAccept) {
  ASSERT_TRUE(module);
  rt::Result<rtp::Plan> plan = target::buildPlan(*module, manifest, options);
  ASSERT_TRUE(plan.ok()) << plan.message();
  rtp::Environment environment;
  environment.manifest = &manifest;
  rt::Status status = rtp::verifyPlan(*plan, environment);
  EXPECT_TRUE(status.ok()) << status.message();
  EXPECT_TRUE(rtp::redundantWaits(*plan).empty());
  EXPECT_EQ(plan->threads, 2);
  EXPECT_EQ(plan->seed, 7u);
  EXPECT_EQ(plan->objects[0].hash, 42u);
  ASSERT_EQ(plan->states.size(), 1u);
  EXPECT_EQ(plan->states[0].parts.size(), 1u);
  const rtp::Entry &entry = plan->entries[0];
  EXPECT_EQ(entry.inputs[0].dataOffset, 3);
  EXPECT_EQ(entry.inputs[0].source, 0);
  ASSERT_EQ(plan->sources.size(), 1u);
  EXPECT_EQ(plan->sources[0].name, "corpus");
  EXPECT_TRUE(entry.fetches[0].eachMicrobatch);
  EXPECT_EQ(entry.hypers[0].rule.base, 0.1);
  EXPECT_EQ(entry.table.size(), 2u);
}

TEST_F(PlanTarget, StagesOfInputsAndFetches) {
  std::string staged = text;
  auto insert = [&](const std::string &after, const std::string &words) {
    staged.insert(staged.find(after) + after.size(), words);
  };
  insert("tensor<8x4xf32>, ", "stages = [0], ");
  insert("tensor<8x6xf32>, ", "stages = [0], ");
  module = mlir::parseSourceString<ModuleOp>(staged, &context);
  ASSERT_TRUE(module);
  rt::Result<rtp::Plan> plan = target::buildPlan(*module, manifest, options);
  ASSERT_TRUE(plan.ok()) << plan.message();
  std::vector<int32_t> first = {0};
  EXPECT_EQ(plan->entries[0].inputs[0].stages, first);
  EXPECT_EQ(plan->entries[0].fetches[0].stages, first);
}

TEST_F(PlanTarget, TheSameModuleGivesTheSameBytes) {
  rt::Result<rtp::Plan> a = target::buildPlan(*module, manifest, options);
  rt::Result<rtp::Plan> b = target::buildPlan(*module, manifest, options);
  ASSERT_TRUE(a.ok() && b.ok());
  EXPECT_EQ(*rtp::serializePlan(*a), *rtp::serializePlan(*b));
}

TEST_F(PlanTarget, RefusesKernelsThatTheManifestLacks) {
  manifest.kernels.clear();
  rt::Result<rtp::Plan> plan = target::buildPlan(*module, manifest, options);
  ASSERT_FALSE(plan.ok());
  EXPECT_NE(plan.message().find("expected kernel 'square' in the manifest"),
            std::string::npos)
      << plan.message();
}

TEST_F(PlanTarget, RefusesTwoRulesForOneSource) {
  std::string two = text, input = "offset = 3>>";
  two.insert(two.find(input) + input.size(),
             ", #plan.input<\"y\", tensor<8x4xf32>, "
             "data = #dist.data<\"corpus\", shuffle = false>>");
  module = mlir::parseSourceString<ModuleOp>(two, &context);
  ASSERT_TRUE(module);
  rt::Result<rtp::Plan> plan = target::buildPlan(*module, manifest, options);
  ASSERT_FALSE(plan.ok());
  EXPECT_NE(plan.message().find("expected one rule for source 'corpus', got "
                                "another one for input y"),
            std::string::npos)
      << plan.message();
}

TEST_F(PlanTarget, RecordsTheWorkspaceOfLibraries) {
  auto ask = [](const rt::LibraryDescriptor &descriptor,
                int32_t threads) -> rt::Result<uint64_t> {
    EXPECT_EQ(threads, 2);
    EXPECT_EQ(std::get<rt::ContractionShape>(descriptor).indices.size(), 3u);
    return uint64_t(128);
  };
  ASSERT_TRUE(succeeded(target::reserveWorkspaces(*module, ask)));
  bool found = false;
  module->walk([&](plan::LibraryOp op) {
    found = true;
    EXPECT_EQ(int64_t(op.getWorkspaceBytes()), 128);
    ASSERT_TRUE(op.getWorkspace());
    auto buffer = module->lookupSymbol<plan::BufferOp>(
        op.getWorkspace()->getBuffer().getValue());
    ASSERT_TRUE(buffer);
    EXPECT_EQ(int64_t(buffer.getBytes()), 128);
  });
  EXPECT_TRUE(found);
}

// The text has each field; types come from the operands.
TEST_F(PlanTarget, DescriptorsGoToAttributesAndBack) {
  rt::ContractionShape shape;
  shape.a = rt::DType::bf16;
  shape.b = rt::DType::f16;
  shape.c = rt::DType::f64;
  shape.bias = rt::DType::i32;
  shape.indices = {{rt::ContractionIndexKind::batch, 2, 3, 4, 5, 6},
                   {rt::ContractionIndexKind::k, 7, 8, 9}};
  shape.alpha = 0.5;
  shape.beta = 1;
  shape.hasBias = true;
  shape.activation = rt::Activation::gelu;
  for (int type = 0; type < rt::numDTypes; ++type) {
    shape.accumulate = static_cast<rt::DType>(type);
    rt::LibraryDescriptor descriptor = shape;
    EXPECT_TRUE(plan::getDescriptorAttr(&context, descriptor)
                    .getDescriptor({shape.a, shape.b, shape.bias, shape.c}) ==
                descriptor)
        << type;
  }
}
