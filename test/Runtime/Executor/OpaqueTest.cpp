//===- OpaqueTest.cpp - The host never follows a device's address ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The hand-made plan on the target "opaque" of test/Runtime/Backends, whose
// device memory is without any right for the host: everything that the session
// gives and takes is that of the target "cpu". The plans of the compiler are
// run so by test/EndToEnd/plans.test.
//
//===----------------------------------------------------------------------===//

#include "Walkthrough.h"
#include "WalkthroughPlan.h"

#include "llmc/Runtime/Plan/Format/PlanBuilder.h"

namespace llmc::rt::test {
namespace {

plan::Plan onTarget(plan::Plan plan, const char *target) {
  plan.target = target;
  return plan;
}

/// Ten steps: metrics, inputs and states, between them weights from outside.
std::string runAll(const plan::Plan &plan, std::optional<uint64_t> seed,
                   MemoryAudit &audit) {
  SessionOptions options;
  options.poison = 0xff;
  options.shuffleSeed = seed;
  auto session = openWalkthrough(plan, options);
  std::string bits;
  if (!session) {
    return bits;
  }
  for (int step = 0; step < 10; ++step) {
    Status status = session->run("train", step);
    EXPECT_TRUE(status.ok()) << status.message();
    for (const NamedValue &metric : session->metrics()) {
      append(bits, &metric.value, sizeof(metric.value));
    }
    if (step == 4) {
      HostTensor weights = *session->readState("W1");
      for (int64_t i = 0; i < weights.elements(); ++i) {
        storeElement(weights.dtype, weights.bytes.data(), i,
                     0.5 * weights.at(i));
      }
      EXPECT_TRUE(session->writeState("W1", weights).ok());
      EXPECT_EQ(session->readState("W1")->bytes, weights.bytes);
    }
  }
  for (const plan::State &state : session->plan().states) {
    HostTensor value = *session->readState(state.name);
    append(bits, value.bytes.data(), value.bytes.size());
    EXPECT_TRUE(*session->copiesAgree(state.name)) << state.name;
  }
  HostTensor tokens = *session->fetch("tokens", 1);
  append(bits, tokens.bytes.data(), tokens.bytes.size());
  audit = *session->auditMemory();
  return bits;
}

TEST(OpaqueTest, TheWalkthroughHasTheBitsOfTheCpu) {
  for (int m : {2, 4}) {
    for (int threads : {1, 2}) {
      plan::Plan plan = makeWalkthroughPlan(m, walkthroughObject, threads);
      MemoryAudit seen, hidden;
      std::string expected = runAll(plan, {}, seen);
      ASSERT_FALSE(expected.empty());
      for (std::optional<uint64_t> seed :
           {std::optional<uint64_t>(), std::optional<uint64_t>(3)}) {
        EXPECT_EQ(runAll(onTarget(plan, "opaque"), seed, hidden), expected);
        EXPECT_EQ(hidden.insideBuffers, seen.insideBuffers);
        EXPECT_EQ(hidden.outsideBuffers, seen.outsideBuffers);
        EXPECT_EQ(hidden.touchedOutside, 0u);
      }
    }
  }
}

// A state of several buffers of staging, in a run of it that no buffer ends.
TEST(OpaqueTest, LargeStatesTravelInPieces) {
  constexpr int64_t rows = 7, columns = 500003;
  plan::PlanBuilder b({{{"data", 2}}, -1});
  int32_t stream = b.addStream("C", plan::StreamKind::compute);
  int32_t frame = b.addFrame("state", plan::FrameKind::state);
  int32_t w = b.addBuffer(frame, "w", DType::f64, {4, columns});
  int32_t tmp = b.addFrame("tmp", plan::FrameKind::tmp);
  int32_t x = b.addBuffer(tmp, "x", DType::f32, {1});
  int32_t f = b.addProgram("forward.c0", plan::Phase::forward, 0);
  b.emit(f, stream, plan::Fill{b.view(x), 0});
  plan::Entry entry;
  entry.name = "forward";
  entry.kind = plan::EntryKind::forward;
  entry.prologue = entry.epilogue = {-1};
  entry.table = {{f, 0}};
  b.plan().entries = {entry};
  plan::State state;
  state.name = "w";
  state.shape = {rows, columns};
  state.dtype = DType::f64;
  state.source.draw = {DrawKind::uniform, -1, 1};
  state.parts = {{{0, 0},
                  Layout::split(state.shape, {{0}, {}}, b.plan().mesh),
                  {},
                  b.view(w)}};
  b.plan().states = {state};
  b.place();
  plan::Plan plan = b.take();
  auto session = *Session::open(onTarget(plan, "opaque"), {});
  HostTensor drawn = *session->readState("w");
  RandomStream random(plan.seed, "w");
  HostTensor expected = HostTensor::zeros(DType::f64, state.shape);
  drawSpan(state.source.draw, random, 0, rows * columns, DType::f64,
           expected.bytes.data());
  EXPECT_EQ(drawn.bytes, expected.bytes);
  for (int64_t i = 0; i < expected.elements(); ++i) {
    storeElement(DType::f64, expected.bytes.data(), i, double(i));
  }
  ASSERT_TRUE(session->writeState("w", expected).ok());
  EXPECT_EQ(session->readState("w")->bytes, expected.bytes);
  EXPECT_TRUE(*session->copiesAgree("w"));
}

// A plan for a target that the build lacks is refused before anything else.
TEST(OpaqueTest, UnknownTargetsAreRefused) {
  plan::Plan plan = makeWalkthroughPlan(2, walkthroughObject);
  Status status = Session::open(onTarget(plan, "elsewhere"), {}).status();
  EXPECT_EQ(status.kind(), ErrorKind::mismatch);
  std::string targets =
      findBackend("cuda").ok() ? "cpu, cuda, opaque" : "cpu, opaque";
  EXPECT_EQ(status.message(), "expected a plan for a target of this build (" +
                                  targets + "), got 'elsewhere'");
  EXPECT_EQ(Session::open(onTarget(plan, ""), {}).kind(), ErrorKind::malformed);
}

} // namespace
} // namespace llmc::rt::test
