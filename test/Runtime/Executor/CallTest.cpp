//===- CallTest.cpp - Programs that others call, with arguments -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A program writes where its arguments say; two calls with other arguments, one
// of which computes with the caller's microbatch.
//
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Executor/Session.h"
#include "llmc/Runtime/Plan/Format/PlanBuilder.h"

#include <gtest/gtest.h>

namespace llmc::rt::exec {
namespace {

using namespace plan;

constexpr int64_t count = 4, microbatches = 2;

/// 'y' [4] of each microbatch m: 7 at 1 and 9 at 2 m, 7 at 2 - 2 m and 9 at 3.
Plan makeCalls() {
  PlanBuilder b({{{"data", 1}}, -1});
  int32_t stream = b.addStream("C", StreamKind::compute);
  int32_t frame = b.addFrame("y", FrameKind::act, microbatches, b.microbatch());
  int32_t y = b.addBuffer(frame, "y", DType::i32, {count});
  auto parameter = [&](int64_t number) {
    b.plan().expressions.push_back({ExprOp::parameter, -1, -1, number});
    return b.times(4, static_cast<ExprId>(b.plan().expressions.size()) - 1);
  };
  int32_t write = b.addProgram("write", Phase::other);
  b.plan().programs[write].numParameters = 2;
  b.emit(write, stream, Fill{b.view(y, 0, {}, {}, parameter(0)), 7});
  b.emit(write, stream, Fill{b.view(y, 0, {}, {}, parameter(1)), 9});
  int32_t f = b.addProgram("f", Phase::forward, 0);
  ExprId twice = b.times(2, b.microbatch());
  ExprId rest = b.binary(ExprOp::sub, b.constant(2), twice);
  b.emit(f, stream, Call{write, noExpr, {b.constant(1), twice}});
  b.emit(f, stream, Call{write, noExpr, {rest, b.constant(3)}});
  b.emit(f, stream, Copy{{}, b.view(y), HostEnd::fetch, 0});
  b.place();
  Entry entry;
  entry.name = "forward";
  entry.kind = EntryKind::forward;
  entry.numMicrobatches = microbatches;
  entry.prologue = entry.epilogue = {-1};
  entry.table = {{f, 0}, {f, 1}};
  Fetch fetch;
  fetch.name = "y";
  fetch.dtype = DType::i32;
  fetch.layout = Layout::split({count}, {{}}, b.plan().mesh);
  fetch.eachMicrobatch = true;
  entry.fetches = {fetch};
  b.plan().entries = {entry};
  return b.take();
}

TEST(CallTest, EachArgumentArrives) {
  auto session = Session::open(makeCalls(), {});
  ASSERT_TRUE(session.ok()) << session.message();
  ASSERT_TRUE((*session)->run("forward", 0).ok());
  for (int64_t m : {0, 1}) {
    HostTensor y = *(*session)->fetch("y", m);
    std::vector<int64_t> expected = {9, 7, 7, 9};
    if (m == 1) {
      expected = {7, 7, 9, 9};
    }
    for (int64_t i = 0; i < count; ++i) {
      EXPECT_EQ(loadInteger(DType::i32, y.bytes.data(), i), expected[i]) << i;
    }
  }
}

} // namespace
} // namespace llmc::rt::exec
