//===- PlanVerifyCollectivesTest.cpp - Members meet -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "SamplePlan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace llmc::rt;
using namespace llmc::rt::plan;
using testing::HasSubstr;

namespace {
/// A plan of one stage whose only program fills a buffer and runs a collective.
struct PlanVerifyCollectives : testing::Test {
  PlanBuilder b{Mesh{{{"x", 2}, {"y", 3}}, -1}};
  int32_t stream = b.addStream("C", StreamKind::compute);
  int32_t frame = b.addFrame("step", FrameKind::step);
  int32_t whole = b.addBuffer(frame, "whole", DType::f32, {6, 4});
  int32_t other = b.addBuffer(frame, "other", DType::f32, {6, 4});
  int32_t symbol = b.addSymbol("s");

  Collective make(CollectiveKind kind, std::vector<int32_t> axes, Operand in,
                  Operand out) {
    Collective collective;
    collective.kind = kind;
    collective.axes = std::move(axes);
    collective.inputs = {std::move(in)};
    collective.outputs = {std::move(out)};
    return collective;
  }
  std::string verify(Collective collective) {
    int32_t p = b.addProgram("p", Phase::other);
    b.emit(p, stream, Fill{b.view(whole), 0});
    b.emit(p, stream, std::move(collective));
    b.place();
    Plan plan = b.plan();
    Entry entry;
    entry.name = "e";
    entry.kind = EntryKind::forward;
    entry.numChunks = 0;
    entry.prologue = {p};
    entry.epilogue = {-1};
    plan.entries = {entry};
    return verifyPlan(plan).message();
  }
  Operand rows(int32_t buffer, int64_t first, int64_t count,
               ExprId expr = noExpr) {
    return b.view(buffer, first * 16, {count, 4}, {}, expr);
  }
};
} // namespace

TEST_F(PlanVerifyCollectives, AllReduceInPlaceOrApart) {
  using K = CollectiveKind;
  EXPECT_EQ(verify(make(K::allReduce, {0, 1}, b.view(whole), b.view(whole))),
            "");
  EXPECT_EQ(verify(make(K::allReduce, {0}, b.view(whole), b.view(other))), "");
  EXPECT_THAT(
      verify(make(K::allReduce, {0}, rows(whole, 0, 3), rows(whole, 1, 3))),
      HasSubstr("overlaps an output that is not its own"));
  EXPECT_THAT(verify(make(K::allReduce, {0}, rows(whole, 0, 3), b.view(other))),
              HasSubstr("do not fit 2 members"));
}

TEST_F(PlanVerifyCollectives, GatherAndScatter) {
  using K = CollectiveKind;
  EXPECT_EQ(
      verify(make(K::allGather, {0, 1}, rows(whole, 0, 1), b.view(other))), "");
  EXPECT_EQ(verify(make(K::allGather, {1}, rows(whole, 0, 2), b.view(other))),
            "");
  EXPECT_THAT(verify(make(K::allGather, {0}, rows(whole, 0, 2), b.view(other))),
              HasSubstr("do not fit 2 members"));
  EXPECT_EQ(
      verify(make(K::reduceScatter, {1}, b.view(whole), rows(other, 0, 2))),
      "");
  Collective columns =
      make(K::reduceScatter, {0}, b.view(whole), b.view(other, 0, {6, 2}));
  columns.dim = 1;
  EXPECT_EQ(verify(columns), "");
}

// An all-gather in place needs its input where the result puts it.
TEST_F(PlanVerifyCollectives, GatherInPlace) {
  using K = CollectiveKind;
  ExprId place = b.times(32, b.coordinate(1));
  EXPECT_EQ(
      verify(make(K::allGather, {1}, rows(whole, 0, 2, place), b.view(whole))),
      "");
  EXPECT_THAT(verify(make(K::allGather, {1}, rows(whole, 0, 2), b.view(whole))),
              HasSubstr("not in its place"));
  ExprId reversed = b.binary(ExprOp::sub, b.constant(64), place);
  EXPECT_THAT(verify(make(K::allGather, {1}, rows(whole, 0, 2, reversed),
                          b.view(whole))),
              HasSubstr("not in its place"));
}

TEST_F(PlanVerifyCollectives, AllToAll) {
  Collective exchange = make(CollectiveKind::allToAll, {0}, b.view(whole),
                             b.view(other, 0, {12, 2}));
  exchange.dim = 1;
  exchange.concatDim = 0;
  EXPECT_EQ(verify(exchange), "");
  exchange.axes = {1};
  EXPECT_THAT(verify(exchange), HasSubstr("do not fit 3 members"));
}

TEST_F(PlanVerifyCollectives, Permutations) {
  Collective shift =
      make(CollectiveKind::permute, {1}, b.view(whole), b.view(other));
  ExprId next = b.binary(ExprOp::add, b.coordinate(1), b.constant(1));
  shift.peer = b.binary(ExprOp::mod, next, b.constant(3));
  EXPECT_EQ(verify(shift), "");
  shift.peer = b.binary(ExprOp::min, next, b.constant(2));
  EXPECT_THAT(verify(shift), HasSubstr("are no permutation of 3 members"));
  shift.peer = next;
  EXPECT_THAT(verify(shift), HasSubstr("to be a member below 3"));
  Collective cast =
      make(CollectiveKind::broadcast, {1}, b.view(whole), b.view(whole));
  cast.peer = b.coordinate(1);
  EXPECT_THAT(verify(cast), HasSubstr("expected one peer for all members"));
}

TEST_F(PlanVerifyCollectives, Refusals) {
  using K = CollectiveKind;
  Collective all = make(K::allReduce, {0}, b.view(whole), b.view(whole));
  all.reduction = Reduction::logicalAnd;
  EXPECT_THAT(verify(all), HasSubstr("expected integers for reduction 'and'"));
  all.reduction = Reduction::sum;
  all.counts = b.view(whole);
  EXPECT_THAT(verify(all), HasSubstr("run-time counts"));
  all.counts = {};
  all.stages = {0};
  EXPECT_THAT(verify(all), HasSubstr("expected no stages"));
  all.stages = {};
  all.inputs.push_back(b.view(other));
  all.outputs.push_back(b.view(whole));
  EXPECT_THAT(verify(all), HasSubstr("two outputs of a collective overlap"));
}
