//===- ActionStructureTest.cpp - Each bound of the instructions -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rows of (message, edit) on one instruction that is sound before: see
// PlanStructureEndsTest.
//===----------------------------------------------------------------------===//

#include "SamplePlan.h"

#include "llmc/Runtime/Plan/Format/PlanFile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

using namespace llmc;
using namespace llmc::rt;
using namespace llmc::rt::plan;
using testing::HasSubstr;

namespace {
template <typename T> struct Row {
  const char *error;
  void (*edit)(T &action);
};
} // namespace

template <typename T> static T no(int number) { return static_cast<T>(number); }

/// Appends `action`, edited, to the last program but one of the sample. The
/// expressions 0 and 1 are sound, the last one uses a parameter.
template <typename T>
static void expectRows(const T &action, const std::vector<Row<T>> &rows) {
  for (size_t i = 0; i < rows.size(); ++i) {
    Plan plan = makeSamplePlan();
    plan.expressions.push_back({ExprOp::parameter, -1, -1, 0});
    T edited = action;
    rows[i].edit(edited);
    plan.programs.back().instructions.push_back({0, -1, edited});
    Status status = checkStructure(plan);
    EXPECT_EQ(status.ok(), !*rows[i].error) << i << " " << status.message();
    EXPECT_THAT(status.message(), HasSubstr(rows[i].error)) << i;
    Status read = parsePlan(serializeUnchecked(plan)).status();
    EXPECT_EQ(read.kind(), status.kind()) << i << " " << rows[i].error;
  }
}

static ExprId withParameter() {
  return static_cast<ExprId>(makeSamplePlan().expressions.size());
}
static Operand operand() {
  Plan plan = makeSamplePlan();
  return firstOf<Fill>(plan, "begin").to;
}

TEST(ActionStructure, Operands) {
  expectRows<Fill>(
      {operand(), 0},
      {{"", [](Fill &) {}},
       {"the target of a fill to be an index below 10, got -1",
        [](Fill &fill) { fill.to.buffer = -1; }},
       {"the target of a fill to be an index below 10, got 10",
        [](Fill &fill) { fill.to.buffer = 10; }},
       {"a dtype to be between 0 and 19, got 20",
        [](Fill &fill) { fill.to.dtype = no<DType>(20); }},
       {"the rank of an operand to be between 0 and 16, got 17",
        [](Fill &fill) { fill.to.shape.assign(17, 1); }},
       {"", [](Fill &fill) { fill.to.shape.assign(16, 1); }},
       {"negative or overflowing", [](Fill &fill) { fill.to.offset = -1; }},
       {"negative or overflowing",
        [](Fill &fill) { fill.to.strides = {4, -1}; }},
       {"negative or overflowing",
        [](Fill &fill) { fill.to.strides = {INT64_MAX / 8, 1}; }},
       {"", [](Fill &fill) { fill.to.strides = {INT64_MAX / 16, 1}; }},
       {"the offset of an operand to be an index",
        [](Fill &fill) { fill.to.expr = -2; }},
       {"to use parameters below 0",
        [](Fill &fill) { fill.to.expr = withParameter(); }}});
}

TEST(ActionStructure, Kernels) {
  using L = KernelLaunch;
  L sound;
  sound.operands = {operand()};
  sound.access = {Access::readWrite};
  sound.scalars = {0};
  sound.scratch = operand();
  expectRows<L>(
      sound,
      {{"", [](L &) {}},
       {"a kernel to be an index below 4, got 4", [](L &l) { l.kernel = 4; }},
       {"a kernel to be an index below 4, got -1", [](L &l) { l.kernel = -1; }},
       {"an access to be between 0 and 2, got 3",
        [](L &l) { l.access[0] = no<Access>(3); }},
       {"expected 1 accesses, got 2",
        [](L &l) { l.access.push_back(Access::read); }},
       {"a scalar of a kernel to be", [](L &l) { l.scalars[0] = noExpr; }},
       {"a scalar of a kernel to use parameters below 0",
        [](L &l) { l.scalars[0] = withParameter(); }},
       {"the scratch of a kernel to be an index",
        [](L &l) { l.scratch.buffer = -2; }},
       {"", [](L &l) { l.scratch = {}, l.operations = 1e15; }},
       {"kernel of at least 0, got -1", [](L &l) { l.operations = -1; }},
       {"finite operations of a kernel", [](L &l) { l.operations = NAN; }}});
}

static Library soundContraction() {
  ContractionShape shape;
  shape.indices = {{ContractionIndexKind::m, 1, 1, 0, 1}};
  Library sound;
  sound.descriptor = shape;
  sound.operands = {operand(), operand(), operand()};
  sound.access = {Access::read, Access::read, Access::write};
  sound.workspace = operand();
  return sound;
}

TEST(ActionStructure, Libraries) {
  using L = Library;
  expectRows<L>(
      soundContraction(),
      {{"", [](L &) {}},
       {"an operand of a library call", [](L &l) { l.operands[0] = {}; }},
       {"an operand of a library call", [](L &l) { l.operands[2] = {}; }},
       {"", [](L &l) { l.workspace = {}; }},
       {"the workspace of a library call to be an index",
        [](L &l) { l.workspace.buffer = -2; }},
       {"expected 3 accesses, got 2", [](L &l) { l.access.pop_back(); }},
       {"expected 3 accesses, got 4",
        [](L &l) { l.access.push_back(Access::read); }},
       {"an access to be between 0 and 2, got 3",
        [](L &l) { l.access[1] = no<Access>(3); }},
       // Whether they suit the descriptor says the verifier.
       {"", [](L &l) { l.access[1] = Access::readWrite; }},
       {"", [](L &l) { l.operands.clear(), l.access.clear(); }},
       {"the workspace of a library call to be between 0 and "
        "1152921504606846976, got -1",
        [](L &l) { l.workspaceBytes = -1; }},
       {"the workspace of a library call to be between 0",
        [](L &l) { l.workspaceBytes = (int64_t(1) << 60) + 1; }},
       {"", [](L &l) { l.workspaceBytes = int64_t(1) << 60; }},
       {"a library call to be between 0 and 255", [](L &l) { l.form = 256; }},
       {"", [](L &l) { l.form = 255; }}});
}

/// As `expectRows`, with edits of the descriptor.
template <typename Shape>
static void expectShapeRows(const Library &sound,
                            const std::vector<Row<Shape>> &rows) {
  for (size_t i = 0; i < rows.size(); ++i) {
    Plan plan = makeSamplePlan();
    Library edited = sound;
    rows[i].edit(std::get<Shape>(edited.descriptor));
    plan.programs.back().instructions.push_back({0, -1, edited});
    Status status = checkStructure(plan);
    EXPECT_EQ(status.ok(), !*rows[i].error) << i << " " << status.message();
    EXPECT_THAT(status.message(), HasSubstr(rows[i].error)) << i;
    Status read = parsePlan(serializeUnchecked(plan)).status();
    EXPECT_EQ(read.kind(), status.kind()) << i << " " << rows[i].error;
  }
}

TEST(ActionStructure, Contractions) {
  using C = ContractionShape;
  using Kind = ContractionIndexKind;
  const char *stride = "a size or stride of a contraction";
  const char *dtype = "a dtype to be between 0 and 19, got 20";
  expectShapeRows<C>(
      soundContraction(),
      {{"", [](C &) {}},
       {"the indices of a contraction to be between 0 and 32, got 33",
        [](C &c) { c.indices.resize(33, c.indices[0]); }},
       {"", [](C &c) { c.indices.resize(32, c.indices[0]); }},
       {"", [](C &c) { c.indices.clear(); }},
       {"the kind of a contraction's index to be between 0 and 3, got 4",
        [](C &c) { c.indices[0].kind = no<Kind>(4); }},
       {"", [](C &c) { c.indices[0].kind = Kind::k; }},
       {stride, [](C &c) { c.indices[0].size = -1; }},
       {stride, [](C &c) { c.indices[0].strideA = -1; }},
       {stride, [](C &c) { c.indices[0].strideB = -1; }},
       {stride, [](C &c) { c.indices[0].strideC = -1; }},
       {stride, [](C &c) { c.indices[0].strideBias = -1; }},
       {"", [](C &c) { c.indices[0] = {Kind::m, 0, 0, 0, 0}; }},
       {dtype, [](C &c) { c.a = no<DType>(20); }},
       {dtype, [](C &c) { c.b = no<DType>(20); }},
       {dtype, [](C &c) { c.c = no<DType>(20); }},
       {dtype, [](C &c) { c.bias = no<DType>(20); }},
       {dtype, [](C &c) { c.accumulate = no<DType>(20); }},
       {"an activation to be between 0 and 5, got 6",
        [](C &c) { c.activation = no<Activation>(6); }},
       {"", [](C &c) { c.activation = Activation::logistic; }},
       {"a finite alpha", [](C &c) { c.alpha = INFINITY; }},
       {"a finite alpha", [](C &c) { c.alpha = NAN; }},
       {"beta of 0 or 1", [](C &c) { c.beta = 2; }},
       {"beta of 0 or 1", [](C &c) { c.beta = -1; }},
       {"", [](C &c) { c.beta = 1; }},
       {"", [](C &c) { c.beta = 0; }}});
}

TEST(ActionStructure, Convolutions) {
  using C = ConvolutionShape;
  C shape;
  shape.indices = {{ContractionIndexKind::m, 1, 1, 0, 1}};
  shape.windows.resize(1);
  Library sound = soundContraction();
  sound.descriptor = shape;
  const char *stride = "a size or stride of a convolution's window";
  const char *step = "a dilation or step of a convolution's window";
  const char *low = "the low edge of a convolution's window";
  const char *far = "window to reach less than 2^62 positions";
  const char *dtype = "a dtype to be between 0 and 19, got 20";
  static constexpr int64_t most = int64_t(1) << 62;
  expectShapeRows<C>(
      sound,
      {{"", [](C &) {}},
       {"", [](C &c) { c.windows.clear(); }},
       {"", [](C &c) { c.windows.resize(32, c.windows[0]); }},
       {"the windows of a convolution to be between 0 and 32, got 33",
        [](C &c) { c.windows.resize(33, c.windows[0]); }},
       {"the indices of a contraction to be between 0 and 32, got 33",
        [](C &c) { c.indices.resize(33, c.indices[0]); }},
       {stride, [](C &c) { c.windows[0].sizeA = -1; }},
       {stride, [](C &c) { c.windows[0].sizeB = -1; }},
       {stride, [](C &c) { c.windows[0].sizeC = -1; }},
       {stride, [](C &c) { c.windows[0].strideA = -1; }},
       {stride, [](C &c) { c.windows[0].strideB = -1; }},
       {stride, [](C &c) { c.windows[0].strideC = -1; }},
       {"", [](C &c) { c.windows[0] = {0, 0, 0, 0, 0, 0}; }},
       {step, [](C &c) { c.windows[0].dilationA = 0; }},
       {step, [](C &c) { c.windows[0].dilationB = 0; }},
       {step, [](C &c) { c.windows[0].stepC = 0; }},
       {low, [](C &c) { c.windows[0].low = -most - 1; }},
       {low, [](C &c) { c.windows[0].low = most + 1; }},
       {"", [](C &c) { c.windows[0].low = -most; }},
       {"", [](C &c) { c.windows[0].low = most; }},
       {"", [](C &c) { c.windows[0].dilationA = most; }},
       {far, [](C &c) { c.windows[0].dilationA = most + 1; }},
       {far, [](C &c) { c.windows[0].dilationA = c.windows[0].sizeA = most; }},
       {"", [](C &c) { c.windows[0].stepC = most - 1; }},
       {far, [](C &c) { c.windows[0].stepC = most; }},
       {far, [](C &c) { c.windows[0].dilationB = c.windows[0].sizeB = most; }},
       {"", [](C &c) { c.windows[0].isReversed = true; }},
       {dtype, [](C &c) { c.a = no<DType>(20); }},
       {dtype, [](C &c) { c.b = no<DType>(20); }},
       {dtype, [](C &c) { c.c = no<DType>(20); }},
       {dtype, [](C &c) { c.bias = no<DType>(20); }},
       {dtype, [](C &c) { c.accumulate = no<DType>(20); }},
       {"beta of 0 or 1", [](C &c) { c.beta = 0.5; }},
       {"", [](C &c) { c.beta = 1; }}});
}

/// What is written is read again.
static void expectKept(const LibraryDescriptor &descriptor) {
  Plan plan = makeSamplePlan();
  Library library = soundContraction();
  library.descriptor = descriptor;
  library.workspaceBytes = 77;
  plan.programs.back().instructions.push_back({0, -1, library});
  Result<Plan> read = parsePlan(serializeUnchecked(plan));
  ASSERT_TRUE(read.ok()) << read.message();
  auto &found =
      std::get<Library>(read->programs.back().instructions.back().action);
  EXPECT_TRUE(found.descriptor == descriptor);
  EXPECT_EQ(found.access, library.access);
  EXPECT_EQ(found.workspaceBytes, 77);
  EXPECT_EQ(found.operands.size(), 3u);
}

TEST(ActionStructure, ConvolutionsKeepTheirFields) {
  ConvolutionShape shape;
  shape.a = DType::bf16;
  shape.b = DType::f16;
  shape.c = DType::f64;
  shape.bias = DType::i32;
  shape.accumulate = DType::i64;
  shape.indices = {{ContractionIndexKind::batch, 1, 2, 3, 4, 5},
                   {ContractionIndexKind::k, 6, 7, 8, 9, 10}};
  shape.windows = {{1, 2, 3, 4, 5, 6, 7, 8, 9, -10, true},
                   {11, 12, 13, 14, 15, 16, 17, 18, 19, 20, false}};
  shape.beta = 1;
  shape.hasBias = true;
  expectKept(shape);
  shape.windows.clear();
  expectKept(shape);
}

// Each field of a descriptor.
TEST(ActionStructure, DescriptorsKeepTheirFields) {
  ContractionShape shape;
  shape.a = DType::bf16;
  shape.b = DType::f16;
  shape.c = DType::f64;
  shape.bias = DType::i32;
  shape.accumulate = DType::i64;
  shape.indices = {{ContractionIndexKind::batch, 1, 2, 3, 4, 5},
                   {ContractionIndexKind::k, 6, 7, 8, 9, 10}};
  shape.alpha = 0.5;
  shape.beta = 1;
  shape.hasBias = true;
  shape.activation = Activation::geluTanh;
  expectKept(shape);
}

TEST(ActionStructure, Collectives) {
  using C = Collective;
  C sound;
  sound.axes = {1};
  sound.inputs = sound.outputs = {operand()};
  expectRows<C>(
      sound,
      {{"", [](C &) {}},
       {"a collective's symbol to be an index below 2, got 2",
        [](C &c) { c.symbol = 2; }},
       {"a collective's symbol", [](C &c) { c.symbol = -1; }},
       {"a collective's kind to be between 0 and 7, got 8",
        [](C &c) { c.kind = no<CollectiveKind>(8); }},
       {"a reduction to be between 0 and 5, got 6",
        [](C &c) { c.reduction = no<ReductionKind>(6); }},
       {"", [](C &c) { c.reduction = ReductionKind::product; }},
       {"a collective's axis to be an index below 2, got 2",
        [](C &c) { c.axes = {2}; }},
       {"a collective's axis to be an index below 2, got -1",
        [](C &c) { c.axes = {-1}; }},
       {"axis \"data\" occurs twice in a collective",
        [](C &c) { c.axes = {1, 0, 1}; }},
       {"", [](C &c) { c.axes = {1, 0}; }},
       {"expected increasing stages below 2, got 0 after 0",
        [](C &c) { c.stages = {0, 0}; }},
       {"an input of a collective to be", [](C &c) { c.inputs = {{}}; }},
       {"an output of a collective to be", [](C &c) { c.outputs = {{}}; }},
       {"the counts of a collective", [](C &c) { c.counts.buffer = -2; }},
       {"counts exactly for a collective that takes them, got all_reduce with "
        "counts",
        [](C &c) { c.counts = operand(); }},
       {"got ragged_all_to_all without counts",
        [](C &c) { c.kind = CollectiveKind::raggedAllToAll; }},
       {"expected one output for each input of a collective, got 0 and 0",
        [](C &c) {
          c.inputs.clear();
          c.outputs.clear();
        }},
       {"expected one output for each input of a collective, got 1 and 2",
        [](C &c) { c.inputs.push_back(operand()); }},
       // No kind but these looks at its dims.
       {"", [](C &c) { c.dim = c.concatDim = 9; }},
       {"a collective's dim to be an index below 2, got 2",
        [](C &c) {
          c.kind = CollectiveKind::allGather;
          c.dim = 2;
        }},
       {"a collective's dim to be an index below 2, got -1",
        [](C &c) {
          c.kind = CollectiveKind::reduceScatter;
          c.dim = -1;
        }},
       {"a collective's second dim to be an index below 2, got 2",
        [](C &c) {
          c.kind = CollectiveKind::allToAll;
          c.concatDim = 2;
        }},
       {"", [](C &c) {
          c.kind = CollectiveKind::allToAll;
          c.dim = c.concatDim = 1;
        }}});
}

TEST(ActionStructure, PeersOfCollectives) {
  using C = Collective;
  C sound;
  sound.inputs = sound.outputs = {operand()};
  const char *missing = "a collective's peer to be an index";
  expectRows<C>(sound,
                {{missing, [](C &c) { c.kind = CollectiveKind::broadcast; }},
                 {missing, [](C &c) { c.kind = CollectiveKind::reduce; }},
                 {missing, [](C &c) { c.kind = CollectiveKind::permute; }},
                 {"", [](C &c) { c.kind = CollectiveKind::allReduce; }},
                 {"",
                  [](C &c) {
                    c.kind = CollectiveKind::broadcast;
                    c.peer = 0;
                  }},
                 {"a collective's peer to use parameters below 0",
                  [](C &c) { c.peer = withParameter(); }}});
}

TEST(ActionStructure, Messages) {
  Message sound{0, 0, {operand()}};
  expectRows<Send>({sound},
                   {{"", [](Send &) {}},
                    {"a transfer to be an index below 2, got 2",
                     [](Send &send) { send.message.transfer = 2; }},
                    {"an operand of a transfer",
                     [](Send &send) { send.message.operands = {{}}; }},
                    {"the peer of a transfer to use parameters",
                     [](Send &send) { send.message.peer = withParameter(); }}});
  expectRows<Receive>({sound}, {{"", [](Receive &) {}},
                                {"a transfer to be an index below 2, got -1",
                                 [](Receive &r) { r.message.transfer = -1; }},
                                {"the peer of a transfer to be an index",
                                 [](Receive &r) { r.message.peer = noExpr; }}});
  expectRows<Exchange>({{sound, sound}, {sound, sound}},
                       {{"", [](Exchange &) {}},
                        {"a transfer to be an index",
                         [](Exchange &e) { e.sends[0].transfer = 2; }},
                        {"a transfer to be an index",
                         [](Exchange &e) { e.sends[1].transfer = 2; }},
                        {"a transfer to be an index",
                         [](Exchange &e) { e.receives[0].transfer = 2; }},
                        {"a transfer to be an index",
                         [](Exchange &e) { e.receives[1].transfer = 2; }}});
}

TEST(ActionStructure, Copies) {
  const char *host = "expected one end of a copy to lie on the host";
  expectRows<Copy>(
      {operand(), operand(), HostEnd::none, 0},
      {{"", [](Copy &) {}},
       {"the target of a copy", [](Copy &copy) { copy.to = {}; }},
       {"the source of a copy", [](Copy &copy) { copy.from = {}; }},
       {"the host end of a copy to be between 0 and 4, got 5",
        [](Copy &copy) { copy.host = no<HostEnd>(5); }},
       {"the host index of a copy", [](Copy &copy) { copy.index = -1; }},
       {host, [](Copy &copy) { copy.host = HostEnd::input; }},
       {host, [](Copy &copy) { copy.host = HostEnd::hyper; }},
       {host, [](Copy &copy) { copy.host = HostEnd::metric; }},
       {host, [](Copy &copy) { copy.host = HostEnd::fetch; }}});
  expectRows<Copy>({operand(), {}, HostEnd::input, 0},
                   {{"", [](Copy &) {}},
                    {"", [](Copy &copy) { copy.host = HostEnd::hyper; }},
                    {"the source of a copy",
                     [](Copy &copy) { copy.host = HostEnd::metric; }},
                    {"the target of a copy",
                     [](Copy &copy) { std::swap(copy.to, copy.from); }}});
  expectRows<Copy>({{}, operand(), HostEnd::metric, 0},
                   {{"", [](Copy &) {}},
                    {"", [](Copy &copy) { copy.host = HostEnd::fetch; }},
                    {"the target of a copy",
                     [](Copy &copy) { copy.host = HostEnd::hyper; }}});
}

TEST(ActionStructure, Events) {
  expectRows<Signal>({{0, 0}}, {{"", [](Signal &) {}},
                                {"a frame to be an index below 9, got 9",
                                 [](Signal &s) { s.event.frame = 9; }},
                                {"a frame to be an index below 9, got -1",
                                 [](Signal &s) { s.event.frame = -1; }},
                                {"an event to be an index below 1, got 1",
                                 [](Signal &s) { s.event.event = 1; }},
                                {"an event to be an index below 1, got -1",
                                 [](Signal &s) { s.event.event = -1; }}});
  expectRows<Wait>({{0, 0}}, {{"", [](Wait &) {}},
                              {"a frame to be an index below 9, got 9",
                               [](Wait &w) { w.event.frame = 9; }},
                              {"an event to be an index below 1, got 1",
                               [](Wait &w) { w.event.event = 1; }}});
}

// The instruction stands in program 5.
TEST(ActionStructure, Calls) {
  expectRows<Call>({4, noExpr, {}},
                   {{"", [](Call &) {}},
                    {"a called program to be an index below 5, got 5",
                     [](Call &call) { call.program = 5; }},
                    {"a called program to be an index below 5, got -1",
                     [](Call &call) { call.program = -1; }},
                    {"expected 0 arguments of a call, got 1",
                     [](Call &call) { call.arguments = {0}; }},
                    {"", [](Call &call) { call.microbatch = 0; }},
                    {"the microbatch of a call to use parameters below 0",
                     [](Call &call) { call.microbatch = withParameter(); }}});
  expectRows<Branch>(
      {operand(), 4},
      {{"", [](Branch &) {}},
       {"the flag of a branch", [](Branch &branch) { branch.flag = {}; }},
       {"the body of a branch to be an index below 5, got 5",
        [](Branch &branch) { branch.program = 5; }}});
}

TEST(ActionStructure, Arguments) {
  for (ExprId argument : {ExprId(0), noExpr, withParameter()}) {
    Plan plan = makeSamplePlan();
    plan.expressions.push_back({ExprOp::parameter, -1, -1, 0});
    plan.entries.clear();
    plan.programs[0].numParameters = 1;
    plan.programs[1].instructions = {{0, -1, Call{0, noExpr, {argument}}}};
    std::string message = checkStructure(plan).message();
    if (argument == 0) {
      EXPECT_EQ(message, "");
    } else {
      EXPECT_THAT(message,
                  HasSubstr(argument < 0 ? "an argument to be an index"
                                         : "an argument to use parameters"));
    }
    // A parameter of the caller may be passed on.
    plan.programs[1].numParameters = 1;
    EXPECT_EQ(checkStructure(plan).ok(), argument >= 0);
  }
}
