//===- PlanTargetTest.cpp - Tests of Target/Plan --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PlanTargetFixture.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::test;

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
  std::string staged = planText;
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

TEST_F(PlanTarget, ConvolutionsGoToAttributesAndBack) {
  rt::ConvolutionShape shape;
  shape.a = rt::DType::bf16;
  shape.b = rt::DType::f16;
  shape.c = rt::DType::f64;
  shape.bias = rt::DType::i32;
  shape.indices = {{rt::ContractionIndexKind::batch, 2, 3, 4, 5, 6},
                   {rt::ContractionIndexKind::k, 7, 8, 9}};
  shape.windows = {{1, 2, 3, 4, 5, 6, 7, 8, 9, -10, true},
                   {11, 12, 13, 14, 15, 16, 17, 18, 19, 20, false}};
  shape.beta = 1;
  shape.hasBias = true;
  for (int type = 0; type < rt::numDTypes; ++type) {
    shape.accumulate = static_cast<rt::DType>(type);
    rt::LibraryDescriptor descriptor = shape;
    EXPECT_TRUE(plan::getDescriptorAttr(&context, descriptor)
                    .getDescriptor({shape.a, shape.b, shape.bias, shape.c}) ==
                descriptor)
        << type;
  }
}

TEST_F(PlanTarget, AttentionsGoToAttributesAndBack) {
  rt::AttentionShape shape;
  shape.dtype = rt::DType::bf16;
  using Kind = rt::AttentionIndexKind;
  shape.indices = {{Kind::batch, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11},
                   {Kind::row, 3, 1, 0, 0, 2, 3, 4, 5},
                   {Kind::column, 4, 0, 1, 2, 3, 0, 0, 0, 4, 5},
                   {Kind::depth, 5, 1, 2, 0, 0, 0, 0, 3, 4},
                   {Kind::value, 6, 0, 0, 1, 0, 2, 0, 0, 0, 3}};
  shape.scale = 0.125;
  shape.isGradient = shape.hasBias = true;
  shape.bias = rt::DType::f16;
  for (bool isCausal : {false, true}) {
    shape.isCausal = shape.hasOffset = isCausal;
    shape.shift = isCausal ? -7 : 0;
    shape.accumulate = isCausal ? rt::DType::f64 : rt::DType::f32;
    shape.indices[1].strideBits = isCausal ? 9 : 0;
    if (isCausal)
      shape.dropout = {rt::RandomBits::jax64, true, 99, 1.25};
    rt::LibraryDescriptor descriptor = shape;
    EXPECT_TRUE(plan::getDescriptorAttr(&context, descriptor)
                    .getDescriptor({shape.dtype, shape.dtype, shape.dtype,
                                    shape.bias}) == descriptor);
  }
}

TEST_F(PlanTarget, ArgsortsGoToAttributesAndBack) {
  rt::LibraryDescriptor descriptor = rt::ArgsortShape{
      {{rt::DType::bf16, true}, {rt::DType::u8, false}}, 2, 9, 3, 4};
  EXPECT_TRUE(plan::getDescriptorAttr(&context, descriptor)
                  .getDescriptor({rt::DType::bf16, rt::DType::u8}) ==
              descriptor);
}

TEST_F(PlanTarget, GroupedContractionsGoToAttributesAndBack) {
  using Kind = rt::ContractionIndexKind;
  rt::GroupedContractionShape shape;
  shape.product.a = shape.product.b = rt::DType::bf16;
  shape.product.indices = {{Kind::m, 4, 2, 0, 3}, {Kind::k, 2, 1, 5, 0}};
  shape.product.beta = 1;
  shape.rows = 1;
  shape.sizes = rt::DType::i64;
  shape.numSizes = 7;
  shape.groups = 6;
  shape.stride = 9;
  for (int flags = 0; flags < 4; ++flags) {
    shape.hasOwnSizes = flags % 2 != 0;
    shape.hasFirst = flags / 2 != 0;
    std::vector<rt::DType> types = {rt::DType::bf16, rt::DType::bf16,
                                    rt::DType::i64};
    if (shape.hasFirst)
      types.push_back(rt::DType::i64);
    types.push_back(rt::DType::f32);
    rt::LibraryDescriptor descriptor = shape;
    EXPECT_TRUE(
        plan::getDescriptorAttr(&context, descriptor).getDescriptor(types) ==
        descriptor);
  }
}

// Raw bytes have the state's type; others are found by the tensor's name.
TEST_F(PlanTarget, FilesOfStates) {
  struct Case {
    std::string type;
    std::optional<rt::DType> dtype;
  };
  for (const Case &each : {Case{"", std::nullopt}, Case{", f32", std::nullopt},
                           Case{", bf16", rt::DType::bf16}}) {
    edited = planText;
    replace("#dist.draw<normal, 0.02>",
            "#dist.file<\"w.bin\", 16, " +
                std::string(each.type == ", bf16" ? "48" : "96") + each.type +
                ">");
    rt::Result<rtp::Plan> plan = build();
    ASSERT_TRUE(plan.ok()) << plan.message();
    const rtp::Source &source = plan->states[0].source;
    EXPECT_EQ(source.kind, rtp::SourceKind::file);
    EXPECT_EQ(source.file, 0);
    EXPECT_EQ(source.offset, 16);
    EXPECT_EQ(source.tensor, "");
    EXPECT_EQ(source.dtype, each.dtype);
    EXPECT_EQ(plan->files, std::vector<std::string>{"w.bin"});
  }
}

TEST_F(PlanTarget, ObjectsOfKernels) {
  options.objectFile = "";
  EXPECT_EQ(refuse(), "plan.kernel: expected an object for kernel 'square'");
  // Those of the module come before that of the options.
  options.objectFile = "kernels.so";
  replace("plan.stream @C", "plan.object @o file(\"other.so\") hash(7) "
                            "features([\"avx2\", \"fma\"])\nplan.stream @C");
  rt::Result<rtp::Plan> plan = build();
  ASSERT_TRUE(plan.ok()) << plan.message();
  ASSERT_EQ(plan->objects.size(), 1u);
  EXPECT_EQ(plan->objects[0].file, "other.so");
  EXPECT_EQ(plan->objects[0].hash, 7u);
  EXPECT_EQ(plan->objects[0].features,
            (std::vector<std::string>{"avx2", "fma"}));
}

TEST_F(PlanTarget, PlansWithoutKernelsNeedNoObject) {
  options.objectFile = "";
  size_t kernel = edited.find("  plan.kernel");
  edited.erase(kernel, edited.find('\n', kernel) - kernel);
  rt::Result<rtp::Plan> plan = build();
  ASSERT_TRUE(plan.ok()) << plan.message();
  EXPECT_TRUE(plan->objects.empty());
  EXPECT_TRUE(plan->kernels.empty());
}

// Each end counts the names of its own list.
TEST_F(PlanTarget, HyperValuesAndMetrics) {
  replace("plan.device", "dist.hyper @a : tensor<f32> = <constant, base = 1.0>"
                         "\nplan.device");
  replace("plan.table", R"mlir(plan.program @p other {
  plan.copy on @K to(<@tmp.y, [], f32>) host hyper name("lr")
  plan.copy on @K from(<@tmp.y, [], f32>) host metric name("loss")
}
plan.table)mlir");
  replace("prologue([unit])", "prologue([@p])");
  replace("hypers([@lr]) metrics([])",
          "hypers([@a, @lr]) metrics([#plan.metric<\"n\", f32>, "
          "#plan.metric<\"m\", f32>, #plan.metric<\"loss\", f32>])");
  rt::Result<rtp::Plan> plan = build();
  ASSERT_TRUE(plan.ok()) << plan.message();
  const auto &copies = plan->programs[1].instructions;
  ASSERT_EQ(copies.size(), 2u);
  EXPECT_EQ(std::get<rtp::Copy>(copies[0].action).host, rtp::HostEnd::hyper);
  EXPECT_EQ(std::get<rtp::Copy>(copies[0].action).index, 1);
  EXPECT_EQ(std::get<rtp::Copy>(copies[1].action).host, rtp::HostEnd::metric);
  EXPECT_EQ(std::get<rtp::Copy>(copies[1].action).index, 2);
  EXPECT_EQ(plan->entries[0].prologue, std::vector<int32_t>{1});
  EXPECT_EQ(plan->entries[0].epilogue, std::vector<int32_t>{-1});
}

// Two stages; programs that no entry runs are written all the same.
TEST_F(PlanTarget, CollectivesMessagesAndCalls) {
  replace("<\"data\"=1>", "<\"data\"=2, \"pipe\"=2> pipeline \"pipe\"");
  replace("plan.table", R"mlir(plan.program @sub other parameters(1) {
  plan.fill on @C <@tmp.y, [2], f32, offset = 8, strides = [3], expr = <mul(4, parameter(0))>> pattern(9)
}
plan.program @talk other {
  plan.collective on @C @c broadcast axes(["pipe", "data"]) stages([0, 1]) dim(1) concat_dim(2) peer(<1>) inputs([#plan.operand<@tmp.y, [4], f32>]) outputs([#plan.operand<@out.z, [4], f32>])
  plan.exchange on @C sends([#plan.message<@t1, peer = <1>, operands = [<@tmp.y, [1], f32>]>, #plan.message<@t0, peer = <0>, operands = [<@tmp.y, [2], f32>]>]) receives([#plan.message<@t0, peer = <1>, operands = [<@out.z, [3], f32>]>])
  plan.call on @C @sub microbatch(<microbatch>) arguments([#plan.expr<coordinate("pipe")>])
  plan.collective on @C @c ragged_all_to_all axes(["data"]) inputs([#plan.operand<@tmp.y, [4], f32>]) outputs([#plan.operand<@out.z, [4], f32>]) counts(<@in.x, [4, 2], i64>)
}
plan.table)mlir");
  replace("prologue([unit]) table(@f.table) epilogue([unit])",
          "prologue([unit, unit]) table(@f.table) epilogue([unit, unit])");
  replace("[\"0.0\", \"0.1\"]", "[\"0.0 .\", \"0.1 0.0\"]");
  rt::Result<rtp::Plan> plan = build();
  ASSERT_TRUE(plan.ok()) << plan.message();
  EXPECT_EQ(plan->mesh.pipelineAxis, 1);
  using Sizes = std::vector<int64_t>;
  const auto &sub = plan->programs[1], &talk = plan->programs[2];
  EXPECT_EQ(sub.numParameters, 1);
  auto fill = std::get<rtp::Fill>(sub.instructions[0].action);
  EXPECT_EQ(fill.pattern, 9u);
  EXPECT_EQ(fill.to.buffer, 2);
  EXPECT_EQ(fill.to.offset, 8);
  EXPECT_EQ(fill.to.strides, Sizes{3});
  ASSERT_GE(fill.to.expr, 0);
  EXPECT_EQ(plan->expressions[fill.to.expr].op, rtp::ExprOp::mul);
  auto collective = std::get<rtp::Collective>(talk.instructions[0].action);
  EXPECT_EQ(plan->symbols[collective.symbol], "c");
  EXPECT_EQ(collective.axes, (std::vector<int32_t>{1, 0}));
  EXPECT_EQ(collective.stages, (std::vector<int32_t>{0, 1}));
  EXPECT_EQ(collective.dim, 1);
  EXPECT_EQ(collective.concatDim, 2);
  EXPECT_EQ(plan->expressions[collective.peer].value, 1);
  EXPECT_EQ(collective.inputs[0].buffer, 2);
  EXPECT_EQ(collective.outputs[0].buffer, 3);
  EXPECT_FALSE(collective.counts.present());
  auto ragged = std::get<rtp::Collective>(talk.instructions[3].action);
  EXPECT_EQ(ragged.kind, CollectiveKind::raggedAllToAll);
  EXPECT_EQ(ragged.counts.buffer, 1);
  EXPECT_EQ(ragged.counts.dtype, rt::DType::i64);
  auto exchange = std::get<rtp::Exchange>(talk.instructions[1].action);
  ASSERT_EQ(exchange.sends.size(), 2u);
  ASSERT_EQ(exchange.receives.size(), 1u);
  EXPECT_EQ(plan->transfers[exchange.sends[0].transfer], "t1");
  EXPECT_EQ(plan->transfers[exchange.sends[1].transfer], "t0");
  EXPECT_EQ(exchange.receives[0].transfer, exchange.sends[1].transfer);
  EXPECT_EQ(exchange.sends[1].operands[0].shape, Sizes{2});
  EXPECT_EQ(exchange.receives[0].operands[0].shape, Sizes{3});
  EXPECT_EQ(plan->expressions[exchange.sends[1].peer].value, 0);
  auto call = std::get<rtp::Call>(talk.instructions[2].action);
  EXPECT_EQ(call.program, 1);
  EXPECT_EQ(plan->expressions[call.microbatch].op, rtp::ExprOp::microbatch);
  ASSERT_EQ(call.arguments.size(), 1u);
  EXPECT_EQ(plan->expressions[call.arguments[0]].op, rtp::ExprOp::coordinate);
  EXPECT_EQ(plan->expressions[call.arguments[0]].value, 1);
  // Row by row, a cell for each stage.
  ASSERT_EQ(plan->entries[0].table.size(), 4u);
  EXPECT_EQ(plan->entries[0].table[1].program, -1);
  EXPECT_EQ(plan->entries[0].table[2].microbatch, 1);
}

TEST_F(PlanTarget, Loops) {
  replace("plan.table", R"mlir(plan.program @trip other parameters(1) {
  plan.fill on @C <@tmp.y, [2], f32, expr = <mul(8, parameter(0))>> pattern(9)
}
plan.program @caller other {
  plan.loop on @C 3 times @trip
}
plan.table)mlir");
  rt::Result<rtp::Plan> plan = build();
  ASSERT_TRUE(plan.ok()) << plan.message();
  ASSERT_EQ(plan->programs.size(), 3u);
  EXPECT_EQ(plan->programs[1].numParameters, 1);
  auto loop = std::get<rtp::Loop>(plan->programs[2].instructions[0].action);
  EXPECT_EQ(loop.trips, 3);
  EXPECT_EQ(loop.program, 1);
  EXPECT_TRUE(loop.arguments.empty());
}

TEST_F(PlanTarget, LoopsInEachOther) {
  replace("plan.table", R"mlir(plan.program @trip other parameters(2) {
  plan.fill on @C <@tmp.y, [1], f32, expr = <add(mul(4, parameter(0)), mul(8, parameter(1)))>> pattern(9)
}
plan.program @around other parameters(1) {
  plan.loop on @C 2 times @trip arguments([#plan.expr<parameter(0)>])
}
plan.table)mlir");
  rt::Result<rtp::Plan> plan = build();
  ASSERT_TRUE(plan.ok()) << plan.message();
  EXPECT_EQ(plan->programs[1].numParameters, 2);
  auto loop = std::get<rtp::Loop>(plan->programs[2].instructions[0].action);
  ASSERT_EQ(loop.arguments.size(), 1u);
  const rtp::ExprNode &argument = plan->expressions[loop.arguments[0]];
  EXPECT_EQ(argument.op, rtp::ExprOp::parameter);
  EXPECT_EQ(argument.value, 0);
}

TEST_F(PlanTarget, FramesBuffersAndStreams) {
  replace("<\"data\"=1>", "<\"data\"=1, \"pipe\"=2> pipeline \"pipe\"");
  replace("plan.stream @K copy", "plan.stream @K copy priority(3)");
  replace("events(2) offset(640)",
          "events(5) chunk(0) stages([1]) offset(640)");
  replace("place(<@state.w", "stages([0]) place(<@state.w");
  replace("prologue([unit]) table(@f.table) epilogue([unit])",
          "prologue([unit, unit]) table(@f.table) epilogue([unit, unit])");
  replace("[\"0.0\", \"0.1\"]", "[\"0.0 .\", \"0.1 0.0\"]");
  rt::Result<rtp::Plan> plan = build();
  ASSERT_TRUE(plan.ok()) << plan.message();
  using Stages = std::vector<int32_t>;
  ASSERT_EQ(plan->streams.size(), 2u);
  EXPECT_EQ(plan->streams[0].priority, 0);
  EXPECT_EQ(plan->streams[1].name, "K");
  EXPECT_EQ(plan->streams[1].kind, rtp::StreamKind::copy);
  EXPECT_EQ(plan->streams[1].priority, 3);
  ASSERT_EQ(plan->frames.size(), 4u);
  const rtp::Frame &in = plan->frames[1], &out = plan->frames[3];
  EXPECT_EQ(in.kind, rtp::FrameKind::input);
  EXPECT_EQ(in.chunk, -1);
  EXPECT_EQ(in.stages, Stages{});
  EXPECT_EQ(out.name, "out");
  EXPECT_EQ(out.kind, rtp::FrameKind::act);
  EXPECT_EQ(out.stages, Stages{1});
  EXPECT_EQ(out.offset, 640);
  EXPECT_EQ(out.size, 192);
  EXPECT_EQ(out.slots, 2);
  EXPECT_EQ(out.events, 5);
  EXPECT_EQ(out.chunk, 0);
  // Equal expressions are written once.
  EXPECT_EQ(out.slot, in.slot);
  EXPECT_EQ(plan->expressions.size(), 3u);
  EXPECT_EQ(plan->expressions[out.slot].op, rtp::ExprOp::mod);
  EXPECT_EQ(plan->frames[0].slot, rtp::noExpr);
  EXPECT_EQ(plan->buffers[3].frame, 3);
  EXPECT_EQ(plan->buffers[0].bytes, 96);
  EXPECT_EQ(plan->buffers[0].name, "state.w");
  EXPECT_EQ(plan->states[0].parts[0].stages, Stages{0});
  EXPECT_EQ(plan->programs[0].phase, rtp::Phase::forward);
  EXPECT_EQ(plan->programs[0].chunk, 0);
}

TEST_F(PlanTarget, LayoutsOfParts) {
  replace("<@mesh, [{}, {}]>", "<@mesh, [{\"data\"}:[2, 2:3], {}:8]>");
  rt::Result<rtp::Plan> plan = build();
  ASSERT_TRUE(plan.ok()) << plan.message();
  const auto &dims = plan->states[0].parts[0].layout.dims;
  ASSERT_EQ(dims.size(), 2u);
  EXPECT_EQ(dims[0].axes, std::vector<int32_t>{0});
  ASSERT_EQ(dims[0].factors.size(), 2u);
  EXPECT_EQ(dims[0].factors[0].size, 2);
  EXPECT_EQ(dims[0].factors[0].extent, 2);
  EXPECT_EQ(dims[0].factors[1].size, 2);
  EXPECT_EQ(dims[0].factors[1].extent, 3);
  EXPECT_TRUE(dims[1].axes.empty());
  ASSERT_EQ(dims[1].factors.size(), 1u);
  EXPECT_EQ(dims[1].factors[0].size, 6);
  EXPECT_EQ(dims[1].factors[0].extent, 8);
  // Without padding both are the size, and so are they without a layout.
  edited = planText;
  plan = build();
  ASSERT_TRUE(plan.ok()) << plan.message();
  for (const rt::Layout &layout :
       {plan->states[0].parts[0].layout, plan->entries[0].fetches[0].layout}) {
    ASSERT_EQ(layout.dims.size(), 2u);
    EXPECT_EQ(layout.dims[1].factors[0].size, 6);
    EXPECT_EQ(layout.dims[1].factors[0].extent, 6);
  }
}

TEST_F(PlanTarget, EntriesThatCountAndFetchBoxes) {
  edited +=
      R"mlir(plan.entry @n evaluate counts(@f) microbatches(2) chunks(3) reorder
  prologue([unit]) table(@f.table) epilogue([unit])
  inputs([#plan.input<"x", tensor<8x4xf32>, data = #dist.data<"corpus">>]) hypers([]) metrics([])
  fetches([#plan.fetch<"z", tensor<8x6xf32>, part_of = "whole", origin = [8, 0], whole = [16, 6]>])
)mlir";
  rt::Result<rtp::Plan> plan = build();
  ASSERT_TRUE(plan.ok()) << plan.message();
  const rtp::Entry &first = plan->entries[0], &counting = plan->entries[1];
  EXPECT_EQ(first.counts, "");
  EXPECT_EQ(first.kind, rtp::EntryKind::forward);
  EXPECT_FALSE(first.reorder);
  EXPECT_EQ(counting.name, "n");
  EXPECT_EQ(counting.counts, "f");
  EXPECT_EQ(counting.kind, rtp::EntryKind::evaluate);
  EXPECT_EQ(counting.numMicrobatches, 2);
  EXPECT_EQ(counting.numChunks, 3);
  EXPECT_TRUE(counting.reorder);
  // Both read one source.
  EXPECT_EQ(plan->sources.size(), 1u);
  EXPECT_EQ(counting.inputs[0].source, 0);
  EXPECT_EQ(counting.inputs[0].dataOffset, 0);
  using Sizes = std::vector<int64_t>;
  EXPECT_EQ(first.fetches[0].of, "");
  EXPECT_EQ(counting.fetches[0].of, "whole");
  EXPECT_EQ(counting.fetches[0].origin, (Sizes{8, 0}));
  EXPECT_EQ(counting.fetches[0].shape, (Sizes{16, 6}));
  EXPECT_FALSE(counting.fetches[0].eachMicrobatch);
}
