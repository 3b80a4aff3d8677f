//===- PlanVerifyCollectivesTest.cpp - Members meet -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "RefusedPlan.h"
#include "SamplePlan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace llmc;
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
    plan.entries = {makeEntryOf(p)};
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

// Rows of [6, 4] and [2, 4] in slices to 2 or 3 members.
TEST_F(PlanVerifyCollectives, CountedRows) {
  Collective rowsOf = make(CollectiveKind::raggedAllToAll, {0}, b.view(whole),
                           rows(other, 0, 2));
  auto counts = [&](std::vector<int64_t> shape, DType type = DType::i64) {
    int32_t made = b.addBuffer(frame, "counts", type, shape);
    rowsOf.counts = b.view(made);
    int32_t p = b.addProgram("q", Phase::other);
    b.emit(p, stream, Fill{b.view(whole), 0});
    b.emit(p, stream, Fill{b.view(made), 0});
    b.emit(p, stream, rowsOf);
    b.place();
    Plan plan = b.plan();
    plan.entries = {makeEntryOf(p)};
    return verifyPlan(plan).message();
  };
  EXPECT_EQ(counts({4, 2}), "");
  EXPECT_EQ(counts({4, 6}), "");
  constexpr const char *wrong = "expected counts of ragged_all_to_all";
  EXPECT_THAT(counts({4, 3}), HasSubstr("a multiple of 2 members"));
  EXPECT_THAT(counts({3, 2}), HasSubstr(wrong));
  EXPECT_THAT(counts({4, 0}), HasSubstr(wrong));
  EXPECT_THAT(counts({8}), HasSubstr(wrong));
  EXPECT_THAT(counts({4, 2}, DType::i32), HasSubstr(wrong));
  rowsOf.axes = {1};
  EXPECT_EQ(counts({4, 3}), "");
  EXPECT_THAT(counts({4, 2}), HasSubstr("a multiple of 3 members"));
  // Behind a batch of 6 the rows are those of dim 1.
  rowsOf.outputs = {b.view(other, 0, {6, 2})};
  EXPECT_THAT(counts({4, 3}), HasSubstr("differ in dim 0 only"));
  rowsOf.dim = 1;
  EXPECT_EQ(counts({6, 4, 3}), "");
  EXPECT_THAT(counts({5, 4, 3}), HasSubstr(wrong));
  rowsOf.outputs = {b.view(whole)};
  EXPECT_THAT(counts({6, 4, 3}), HasSubstr("overlaps an output"));
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
  all.reduction = ReductionKind::bitAnd;
  EXPECT_THAT(verify(all), HasSubstr("expected integers for reduction 'and'"));
  all.reduction = ReductionKind::sum;
  all.stages = {0};
  EXPECT_THAT(verify(all), HasSubstr("expected no stages"));
  all.stages = {};
  all.inputs.push_back(b.view(other));
  all.outputs.push_back(b.view(whole));
  EXPECT_THAT(verify(all), HasSubstr("two outputs of a collective overlap"));
}

TEST_F(PlanVerifyCollectives, ShapesOfEachKind) {
  using K = CollectiveKind;
  auto fits = [&](K kind, std::vector<int32_t> axes, Operand in, Operand out,
                  int32_t dim = 0, int32_t concatDim = 0) {
    Collective collective =
        make(kind, std::move(axes), std::move(in), std::move(out));
    collective.dim = dim;
    collective.concatDim = concatDim;
    collective.peer = kind >= K::broadcast ? b.constant(0) : noExpr;
    std::string message = verify(collective);
    EXPECT_TRUE(message.empty() ||
                message.find("do not fit") != std::string::npos)
        << message;
    return message.empty();
  };
  auto in = [&](std::vector<int64_t> shape) { return b.view(whole, 0, shape); };
  auto out = [&](std::vector<int64_t> shape) {
    return b.view(other, 0, shape);
  };
  EXPECT_TRUE(fits(K::allGather, {0}, in({3, 4}), out({3, 8}), 1));
  EXPECT_FALSE(fits(K::allGather, {0}, in({3, 4}), out({6, 4}), 1));
  EXPECT_FALSE(fits(K::allGather, {0}, in({3, 4}), out({24})));
  EXPECT_FALSE(fits(K::allGather, {0}, in({3, 4}), out({3, 4})));
  EXPECT_TRUE(fits(K::reduceScatter, {1}, in({6, 4}), out({2, 4})));
  EXPECT_FALSE(fits(K::reduceScatter, {1}, in({6, 4}), out({3, 4})));
  EXPECT_FALSE(fits(K::reduceScatter, {1}, in({6, 4}), out({2, 3})));
  EXPECT_TRUE(fits(K::allToAll, {0}, in({2, 6}), out({4, 3}), 1, 0));
  EXPECT_TRUE(fits(K::allToAll, {0}, in({2, 6}), out({2, 6}), 0, 0));
  EXPECT_FALSE(fits(K::allToAll, {0}, in({2, 5}), out({4, 2}), 1, 0));
  EXPECT_FALSE(fits(K::allToAll, {0}, in({2, 6}), out({4, 3}), 0, 1));
  for (K kind : {K::allReduce, K::broadcast, K::reduce}) {
    EXPECT_TRUE(fits(kind, {0}, in({2, 3}), out({2, 3})));
    EXPECT_FALSE(fits(kind, {0}, in({2, 3}), out({3, 2})));
    EXPECT_FALSE(fits(kind, {0}, in({2, 3}), out({6})));
  }
  Operand wrong = out({2, 3});
  wrong.dtype = DType::i32;
  EXPECT_FALSE(fits(K::allReduce, {0}, in({2, 3}), wrong));
}

// Reductions bit by bit are of whole numbers; kinds that do not reduce have
// none.
TEST_F(PlanVerifyCollectives, BitwiseReductions) {
  using K = CollectiveKind;
  auto isRefused = [&](K kind, ReductionKind reduction, DType dtype) {
    Operand in = b.view(whole, 0, {2}), out = b.view(other, 0, {2});
    in.dtype = out.dtype = dtype;
    Collective collective = make(kind, {0}, in, out);
    if (kind == K::reduceScatter) {
      collective.outputs[0].shape = {1};
    }
    collective.reduction = reduction;
    collective.peer = b.constant(0);
    return verify(collective).find("expected integers") != std::string::npos;
  };
  for (ReductionKind reduction :
       {ReductionKind::bitAnd, ReductionKind::bitOr}) {
    for (K kind : {K::allReduce, K::reduceScatter, K::reduce}) {
      EXPECT_TRUE(isRefused(kind, reduction, DType::f32));
      EXPECT_FALSE(isRefused(kind, reduction, DType::i32));
      EXPECT_FALSE(isRefused(kind, ReductionKind::min, DType::f32));
      EXPECT_FALSE(isRefused(kind, ReductionKind::product, DType::f32));
    }
    EXPECT_FALSE(isRefused(K::broadcast, reduction, DType::f32));
  }
}

// In place, on every device and in every microbatch.
TEST_F(PlanVerifyCollectives, GatherPlacesAreLinear) {
  using K = CollectiveKind;
  auto gather = [&](std::vector<int32_t> axes, ExprId place, int64_t rowsOfOne,
                    int64_t rowsOfAll) {
    return verify(make(K::allGather, std::move(axes),
                       rows(whole, 0, rowsOfOne, place),
                       rows(whole, 0, rowsOfAll)));
  };
  ExprId x = b.coordinate(0), y = b.coordinate(1);
  ExprId both = b.binary(ExprOp::add, b.times(48, x), b.times(16, y));
  EXPECT_EQ(gather({0, 1}, both, 1, 6), "");
  EXPECT_THAT(gather({1, 0}, both, 1, 6), HasSubstr("not in its place"));
  ExprId swapped = b.binary(ExprOp::add, b.times(16, x), b.times(32, y));
  EXPECT_EQ(gather({1, 0}, swapped, 1, 6), "");
  EXPECT_THAT(gather({0, 1}, swapped, 1, 6), HasSubstr("not in its place"));
  // 0, 32, 64 on the devices that a line through the first two foretells.
  std::string linear = "to be linear in the coordinates";
  ExprId two = b.constant(2);
  ExprId bent = b.times(32, b.binary(ExprOp::min, y, b.constant(1)));
  EXPECT_THAT(gather({1}, bent, 2, 6), HasSubstr(linear));
  ExprId square = b.times(32, b.binary(ExprOp::mul, y, y));
  EXPECT_THAT(gather({1}, b.binary(ExprOp::floorDiv, square, two), 2, 6),
              HasSubstr(linear));
  ExprId zero = b.constant(0), end = b.constant(64);
  for (ExprId place :
       {b.binary(ExprOp::add, zero, bent), b.binary(ExprOp::add, bent, zero),
        b.binary(ExprOp::sub, bent, zero), b.binary(ExprOp::sub, end, bent)}) {
    EXPECT_THAT(gather({1}, place, 2, 6), HasSubstr(linear));
  }
  ExprId row = b.times(16, y);
  EXPECT_THAT(gather({1}, b.binary(ExprOp::mul, row, y), 1, 3),
              HasSubstr(linear));
  ExprId least = b.binary(ExprOp::min, y, b.constant(1));
  EXPECT_THAT(gather({1}, b.binary(ExprOp::mul, least, b.constant(32)), 2, 6),
              HasSubstr(linear));
  // The result moves like that, and its input is right on two devices.
  EXPECT_THAT(verify(make(K::allGather, {1}, rows(whole, 0, 1, b.times(32, y)),
                          rows(whole, 0, 3, b.times(16, least)))),
              HasSubstr(linear));
  EXPECT_THAT(gather({0}, b.times(16, x), 3, 6), HasSubstr("not in its place"));
  // The offsets of both count.
  EXPECT_EQ(
      verify(make(K::allGather, {1},
                  rows(whole, 0, 1, b.binary(ExprOp::add, row, b.constant(16))),
                  rows(whole, 1, 3))),
      "");
  // What does not vary may be made of anything; a product's other side too.
  ExprId one = b.binary(ExprOp::min, two, b.constant(1));
  EXPECT_EQ(gather({1}, b.binary(ExprOp::mul, y, b.times(32, one)), 2, 6), "");
  ExprId back = b.binary(ExprOp::sub, end, b.times(32, y));
  EXPECT_EQ(gather({1}, b.binary(ExprOp::sub, end, back), 2, 6), "");
}

TEST_F(PlanVerifyCollectives, OverlapsOfInputsAndOutputs) {
  using K = CollectiveKind;
  // The input of one lies under the output of the other.
  Collective two =
      make(K::allReduce, {0}, rows(whole, 0, 1), rows(other, 0, 1));
  two.inputs.push_back(rows(whole, 1, 1));
  two.outputs.push_back(rows(other, 1, 1));
  EXPECT_EQ(verify(two), "");
  two.outputs[1] = rows(whole, 0, 1);
  EXPECT_THAT(verify(two),
              HasSubstr("an input of all_reduce overlaps an output "
                        "that is not its own"));
  two.outputs[1] = rows(other, 0, 1);
  EXPECT_THAT(verify(two), HasSubstr("two outputs of a collective overlap"));
  // Kinds that keep the shape, and kinds that need both.
  for (K kind : {K::allReduce, K::broadcast, K::reduce}) {
    Collective same = make(kind, {0}, rows(whole, 0, 2), rows(whole, 0, 2));
    same.peer = b.constant(1);
    EXPECT_EQ(verify(same), "");
    same.outputs[0] = rows(whole, 1, 2);
    EXPECT_THAT(verify(same), HasSubstr("that is not its own"));
  }
  Collective swap = make(K::permute, {0}, rows(whole, 0, 2), rows(whole, 0, 2));
  swap.peer = b.binary(ExprOp::sub, b.constant(1), b.coordinate(0));
  EXPECT_THAT(verify(swap), HasSubstr("an input of permute overlaps"));
  Collective scatter =
      make(K::reduceScatter, {0}, rows(whole, 0, 2), rows(whole, 0, 1));
  EXPECT_THAT(verify(scatter),
              HasSubstr("an input of reduce_scatter overlaps"));
  // A gather along another dim, or of strided rows, has no place inside.
  Collective columns = make(K::allGather, {0}, b.view(whole, 0, {6, 2}),
                            b.view(whole, 0, {6, 4}));
  columns.dim = 1;
  EXPECT_THAT(verify(columns), HasSubstr("an input of all_gather overlaps"));
  Collective apart = make(K::allGather, {0}, b.view(whole, 0, {1, 4}),
                          b.view(whole, 0, {2, 4}, {8, 1}));
  EXPECT_THAT(verify(apart), HasSubstr("an input of all_gather overlaps"));
  Collective holes = make(K::allGather, {0}, b.view(whole, 0, {2, 2}, {4, 1}),
                          b.view(whole, 0, {4, 2}));
  EXPECT_THAT(verify(holes), HasSubstr("an input of all_gather overlaps"));
  // In its place, but in the other one's result.
  Collective crossed =
      make(K::allGather, {1}, rows(other, 0, 2), b.view(whole));
  crossed.inputs.push_back(rows(whole, 0, 2, b.times(32, b.coordinate(1))));
  crossed.outputs.push_back(b.view(other));
  EXPECT_THAT(verify(crossed), HasSubstr("overlaps an output that is not its"));
  Collective strided = make(K::allGather, {0}, b.view(whole, 0, {1, 4}, {8, 1}),
                            b.view(whole, 0, {2, 4}, {8, 1}));
  EXPECT_THAT(verify(strided), HasSubstr("an input of all_gather overlaps"));
}

TEST_F(PlanVerifyCollectives, PeersEnd) {
  using K = CollectiveKind;
  auto broadcast = [&](K kind, ExprId peer) {
    Collective cast = make(kind, {1}, b.view(whole), b.view(whole));
    cast.peer = peer;
    return verify(cast);
  };
  for (K kind : {K::broadcast, K::reduce}) {
    EXPECT_EQ(broadcast(kind, b.constant(0)), "");
    EXPECT_EQ(broadcast(kind, b.constant(2)), "");
    for (int64_t peer : {-1, 3}) {
      EXPECT_THAT(broadcast(kind, b.constant(peer)),
                  HasSubstr("to be a member below 3"));
    }
    EXPECT_THAT(broadcast(kind, b.binary(ExprOp::floorDiv, b.constant(0),
                                         b.constant(0))),
                HasSubstr("to be a member below 3"));
  }
  // Over both axes member 5 is (1, 2).
  Collective shift = make(K::permute, {0, 1}, b.view(whole), b.view(other));
  ExprId number =
      b.binary(ExprOp::add, b.times(3, b.coordinate(0)), b.coordinate(1));
  shift.peer = b.binary(ExprOp::sub, b.constant(5), number);
  EXPECT_EQ(verify(shift), "");
  shift.peer = b.binary(ExprOp::floorDiv, number, b.constant(2));
  EXPECT_THAT(verify(shift), HasSubstr("are no permutation of 6 members"));
}

// One device more than are listed is too many to walk over.
TEST(PlanVerifyPermutations, AreOfAtMost65536) {
  auto verify = [](int64_t devices) {
    PlanBuilder b{Mesh{{{"x", devices}}, -1}};
    int32_t stream = b.addStream("C", StreamKind::compute);
    int32_t frame = b.addFrame("step", FrameKind::step);
    int32_t from = b.addBuffer(frame, "from", DType::f32, {1});
    int32_t to = b.addBuffer(frame, "to", DType::f32, {1});
    b.addSymbol("s");
    Collective shift;
    shift.kind = CollectiveKind::permute;
    shift.axes = {0};
    shift.inputs = {b.view(from)};
    shift.outputs = {b.view(to)};
    shift.peer = b.coordinate(0);
    int32_t p = b.addProgram("p", Phase::other);
    b.emit(p, stream, Fill{b.view(from), 0});
    b.emit(p, stream, shift);
    b.place();
    Plan plan = b.take();
    plan.entries = {makeEntryOf(p)};
    return verifyPlan(plan);
  };
  EXPECT_EQ(verify(65536).message(), "");
  EXPECT_EQ(verify(65537).kind(), ErrorKind::unsupported);
}

// Groups over stages: all of them, or those that are listed.
TEST(PlanVerifyStages, OfCollectives) {
  auto with = [](void (*edit)(Collective &loss)) {
    Plan plan = makeSamplePlan();
    edit(firstOf<Collective>(plan, "u"));
    return verifyPlan(plan).message();
  };
  EXPECT_EQ(with([](Collective &c) { c.stages = {0, 1}; }), "");
  EXPECT_THAT(with([](Collective &c) { c.stages = {0}; }),
              HasSubstr("stage 1 is no member of collective 'loss'"));
  EXPECT_THAT(with([](Collective &c) {
                c.axes = {1};
                c.stages = {0, 1};
              }),
              HasSubstr("expected no stages of a collective that is not over "
                        "the pipeline axis"));
  // 1 of 2 stages and 2 data ranks: 2 members.
  EXPECT_THAT(with([](Collective &c) {
                c.kind = CollectiveKind::allGather;
                c.stages = {0};
                c.inputs[0].shape = c.outputs[0].shape = {1};
              }),
              HasSubstr("do not fit 2 members"));
  EXPECT_THAT(with([](Collective &c) {
                c.kind = CollectiveKind::allGather;
                c.inputs[0].shape = c.outputs[0].shape = {1};
              }),
              HasSubstr("do not fit 4 members"));
  EXPECT_THAT(with([](Collective &c) {
                c.kind = CollectiveKind::permute;
                c.peer = 0;
              }),
              HasSubstr("overlaps an output that is not its own"));
}

// What is gathered in place lies in the result's frame, though another one may
// share its bytes.
TEST_F(PlanVerifyCollectives, GathersOfAnotherFrame) {
  int32_t second = b.addFrame("second", FrameKind::step);
  int32_t shared = b.addBuffer(second, "shared", DType::f32, {6, 4});
  ExprId place = b.times(32, b.coordinate(1));
  int32_t p = b.addProgram("p", Phase::other);
  b.emit(p, stream, Fill{b.view(whole), 0});
  b.emit(p, stream,
         make(CollectiveKind::allGather, {1}, rows(whole, 0, 2, place),
              b.view(shared)));
  b.place();
  Plan plan = b.take();
  plan.entries = {makeEntryOf(p)};
  EXPECT_EQ(verifyPlan(plan).message(), "");
  plan.frames[second].offset = plan.frames[frame].offset;
  EXPECT_EQ(verifyPlan(plan).message(),
            "entry 'e': 'collective' (instruction 1 of program 'p', stage 0): "
            "an input of all_gather overlaps an output that is not its own");
}

// A kind that splits its input and joins the parts keeps no place.
TEST_F(PlanVerifyCollectives, AnAllToAllIsApart) {
  EXPECT_EQ(verify(make(CollectiveKind::allToAll, {0}, rows(whole, 0, 2),
                        rows(whole, 0, 2))),
            "entry 'e': 'collective' (instruction 1 of program 'p', stage 0): "
            "an input of all_to_all overlaps an output that is not its own");
}

/// Runs a collective in a program that is called with the argument 0.
static std::string verifyCalled(PlanBuilder &b, int32_t stream, Operand filled,
                                Collective collective) {
  int32_t p = b.addProgram("p", Phase::other);
  b.plan().programs[p].numParameters = 1;
  b.emit(p, stream, Fill{std::move(filled), 0});
  b.emit(p, stream, std::move(collective));
  int32_t q = b.addProgram("q", Phase::other);
  b.emit(q, stream, Call{p, noExpr, {b.constant(0)}});
  b.place();
  Plan plan = b.plan();
  plan.entries = {makeEntryOf(q)};
  return verifyPlan(plan).message();
}

// Places and peers that depend on a call are not looked into.
TEST_F(PlanVerifyCollectives, ProgramsWithParameters) {
  ExprId place = b.times(32, b.coordinate(1));
  std::string where =
      "entry 'e': 'collective' (instruction 1 of program 'p', stage 0): ";
  EXPECT_EQ(verifyCalled(b, stream, b.view(whole),
                         make(CollectiveKind::allGather, {1},
                              rows(whole, 0, 2, place), b.view(whole))),
            where + "an input of all_gather overlaps an output that is not its "
                    "own");
  Collective shift =
      make(CollectiveKind::permute, {1}, b.view(whole), b.view(other));
  shift.peer = b.coordinate(1);
  EXPECT_EQ(verifyCalled(b, stream, b.view(whole), shift), "");
  b.plan().expressions.push_back({ExprOp::parameter, -1, -1, 0});
  shift.peer = b.binary(ExprOp::add, shift.peer,
                        static_cast<ExprId>(b.plan().expressions.size()) - 1);
  EXPECT_EQ(verifyCalled(b, stream, b.view(whole), shift),
            where + "the peers of 's' are no permutation of 3 members");
}
