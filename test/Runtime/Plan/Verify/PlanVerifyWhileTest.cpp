//===- PlanVerifyWhileTest.cpp - What the body of a while may hold --------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#include "RefusedPlan.h"

#include "llmc/Runtime/Plan/Format/PlanBuilder.h"

#include <functional>

using namespace llmc::rt;
using namespace llmc::rt::plan;

namespace {
/// A plan whose program runs 'body' as long as a flag holds.
struct WhilePlan {
  PlanBuilder b{{{{"data", 2}}, -1}};
  int32_t stream = b.addStream("C", StreamKind::compute);
  int32_t frame = b.addFrame("tmp", FrameKind::tmp);
  int32_t flag = b.addBuffer(frame, "flag", DType::i1, {});
  int32_t x = b.addBuffer(frame, "x", DType::i32, {});
  int32_t body = b.addProgram("body", Phase::other);
  int32_t f = b.addProgram("f", Phase::forward, 0);

  Status verify(const std::function<void(WhilePlan &)> &add,
                bool writes = true) {
    b.emit(f, stream, Fill{b.view(flag), 1});
    b.emit(f, stream, Fill{b.view(x), 1});
    add(*this);
    if (writes) {
      b.emit(body, stream, Fill{b.view(flag), 0});
    }
    b.emit(f, stream, While{b.view(flag), body});
    b.place();
    Entry entry;
    entry.name = "forward";
    entry.kind = EntryKind::forward;
    entry.prologue = entry.epilogue = {-1};
    entry.table = {{f, 0}};
    Fetch fetch;
    fetch.name = "x";
    fetch.dtype = DType::i32;
    fetch.layout = Layout::whole({});
    entry.fetches = {fetch};
    b.plan().entries = {entry};
    return verifyPlan(b.take());
  }
};
} // namespace

TEST(PlanVerifyWhile, ABodyThatEnds) {
  EXPECT_EQ(WhilePlan().verify([](WhilePlan &) {}).message(), "");
  EXPECT_MISMATCH("expected the body of a while to write its flag",
                  WhilePlan().verify([](WhilePlan &) {}, false));
}

TEST(PlanVerifyWhile, NothingThatIsEnqueuedOnce) {
  const char *expected =
      "expected no message, no copy from or to the host and no other while in "
      "the body of a while, got";
  EXPECT_MISMATCH(expected, WhilePlan().verify([](WhilePlan &w) {
    w.b.emit(w.body, w.stream, Copy{{}, w.b.view(w.x), HostEnd::fetch, 0});
  }));
  EXPECT_MISMATCH(expected, WhilePlan().verify([](WhilePlan &w) {
    // The inner one stands before the outer one.
    std::swap(w.b.plan().programs[0], w.b.plan().programs[1]);
    std::swap(w.body, w.f);
    int32_t outer = w.b.addProgram("outer", Phase::other);
    w.b.emit(w.f, w.stream, Fill{w.b.view(w.flag), 0});
    w.b.emit(outer, w.stream, While{w.b.view(w.flag), w.f});
    w.b.emit(outer, w.stream, Fill{w.b.view(w.flag), 0});
    w.f = w.b.addProgram("g", Phase::forward, 0);
    w.b.emit(w.f, w.stream, Fill{w.b.view(w.flag), 1});
    w.b.emit(w.f, w.stream, Fill{w.b.view(w.x), 1});
    w.body = outer;
  }));
}

// Its trips count on.
TEST(PlanVerifyWhile, OneStreamForACommunicator) {
  auto sum = [](WhilePlan &w, int32_t program, int32_t stream) {
    Collective collective;
    collective.symbol = w.b.addSymbol("sum" + std::to_string(program));
    collective.kind = llmc::CollectiveKind::allReduce;
    collective.reduction = llmc::ReductionKind::sum;
    collective.axes = {0};
    collective.inputs = collective.outputs = {w.b.view(w.x)};
    w.b.emit(program, stream, collective);
  };
  EXPECT_EQ(WhilePlan()
                .verify([&](WhilePlan &w) { sum(w, w.body, w.stream); })
                .message(),
            "");
  EXPECT_MISMATCH(
      "expected the communicator of collective 'sum0' in a while to be used on "
      "one stream",
      WhilePlan().verify([&](WhilePlan &w) {
        sum(w, w.body, w.stream);
        sum(w, w.f, w.b.addStream("T", StreamKind::collective));
      }));
}
