//===- PlanVerifyMembersTest.cpp - Members by their coordinates -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "RefusedPlan.h"

using namespace llmc;
using namespace llmc::rt;
using namespace llmc::rt::plan;
using testing::HasSubstr;

/// Members of stages 0 and 2 of three gather their rows in place, which is
/// made of the stage.
static std::string verifyStages(int64_t factor, int64_t divisor,
                                std::vector<int32_t> stages = {0, 2}) {
  PlanBuilder b{Mesh{{{"pipe", 3}}, 0}};
  int32_t stream = b.addStream("C", StreamKind::compute);
  int32_t frame = b.addFrame("step", FrameKind::step);
  int32_t x = b.addBuffer(frame, "x", DType::f32, {12});
  b.addSymbol("s");
  ExprId place = b.binary(ExprOp::floorDiv, b.times(factor, b.coordinate(0)),
                          b.constant(divisor));
  Collective gather;
  gather.kind = CollectiveKind::allGather;
  gather.axes = {0};
  bool isAll = stages.empty();
  gather.stages = std::move(stages);
  gather.inputs = {b.view(x, 0, {4}, {}, place)};
  gather.outputs = {b.view(x, 0, {isAll ? 12 : 8})};
  int32_t p = b.addProgram("p", Phase::other);
  b.emit(p, stream, Fill{b.view(x), 0});
  b.emit(p, stream, gather);
  b.place();
  Plan plan = b.take();
  Entry entry;
  entry.kind = EntryKind::forward;
  entry.numChunks = 0;
  entry.prologue = {p, isAll ? p : -1, p};
  entry.epilogue = {-1, -1, -1};
  plan.entries = {entry};
  return verifyPlan(plan).message();
}

TEST(PlanVerifyStages, CountAmongThoseOfACollective) {
  EXPECT_EQ(verifyStages(16, 2), "");
  EXPECT_THAT(verifyStages(8, 2), HasSubstr("not in its place"));
  EXPECT_EQ(verifyStages(16, 1), "");
  EXPECT_THAT(verifyStages(0, 1), HasSubstr("not in its place"));
  // All of them.
  EXPECT_EQ(verifyStages(16, 1, {}), "");
  EXPECT_THAT(verifyStages(16, 2, {}), HasSubstr("not in its place"));
}

// A permutation over two axes of one size: member 2 is (1, 0).
TEST(PlanVerifyPermutations, OverTwoAxes) {
  PlanBuilder b{Mesh{{{"x", 2}, {"y", 2}}, -1}};
  int32_t stream = b.addStream("C", StreamKind::compute);
  int32_t frame = b.addFrame("step", FrameKind::step);
  int32_t from = b.addBuffer(frame, "from", DType::f32, {1});
  int32_t to = b.addBuffer(frame, "to", DType::f32, {1});
  b.addSymbol("s");
  Collective shift;
  shift.kind = CollectiveKind::permute;
  shift.axes = {0, 1};
  shift.inputs = {b.view(from)};
  shift.outputs = {b.view(to)};
  shift.peer =
      b.binary(ExprOp::add, b.times(2, b.coordinate(1)), b.coordinate(0));
  int32_t p = b.addProgram("p", Phase::other);
  b.emit(p, stream, Fill{b.view(from), 0});
  b.emit(p, stream, shift);
  b.place();
  Plan plan = b.take();
  plan.entries = {makeEntryOf(p)};
  EXPECT_EQ(verifyPlan(plan).message(), "");
}

TEST(PlanVerifyPermutations, NotOverStages) {
  Plan plan = makeSamplePlan();
  Collective &loss = firstOf<Collective>(plan, "u");
  loss.kind = CollectiveKind::permute;
  loss.peer = 0;
  plan.expressions[0] = {ExprOp::constant, -1, -1, 0};
  loss.outputs[0].buffer = findBuffer(plan, "lr");
  Status status = verifyPlan(plan);
  EXPECT_EQ(status.kind(), ErrorKind::unsupported);
  EXPECT_THAT(status.message(),
              testing::EndsWith("a permutation over the pipeline axis: use "
                                "transfers"));
}
