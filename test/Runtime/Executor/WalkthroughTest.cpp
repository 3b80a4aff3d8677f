//===- WalkthroughTest.cpp - The walkthrough's plan runs on 8 devices -----===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The hand-made plan of docs/walkthrough.md on 8 virtual devices: equal to one
// device, the same bits in every legal order, inside its arena, and refused
// without any one of its waits.
//
//===----------------------------------------------------------------------===//

#include "Walkthrough.h"
#include "WalkthroughPlan.h"
#include "WalkthroughReference.h"

#include "llmc/Runtime/Plan/Format/PlanFile.h"
#include "llmc/Runtime/Plan/Verify/PlanVerify.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <set>

namespace llmc::rt::test {
namespace {

const std::string &object = walkthroughObject;
constexpr int numSteps = 20;

const char *const stateNames[] = {"E",    "E.m", "E.v",  "W1",  "W1.m",
                                  "W1.v", "W2",  "W2.m", "W2.v"};

/// All states' bytes, in order, then the losses' bits.
std::string snapshot(Session &session, const std::vector<double> &losses) {
  std::string bytes;
  for (const char *name : stateNames) {
    HostTensor value = *session.readState(name);
    bytes.append(reinterpret_cast<const char *>(value.bytes.data()),
                 value.bytes.size());
  }
  bytes.append(reinterpret_cast<const char *>(losses.data()),
               losses.size() * sizeof(double));
  return bytes;
}

/// Runs `steps` and returns the snapshot; "" after an error.
std::string runAll(Session &session, int steps, Status *error = nullptr) {
  std::vector<double> losses;
  for (int step = 0; step < steps; ++step) {
    Status status = session.run("train", step);
    if (!status.ok()) {
      if (error) {
        *error = status;
      } else {
        ADD_FAILURE() << status.message();
      }
      return "";
    }
    losses.push_back(*session.metric("loss"));
  }
  return snapshot(session, losses);
}

template <typename T>
std::vector<T> values(Session &session, const std::string &name) {
  HostTensor tensor = *session.readState(name);
  std::vector<T> list;
  for (int64_t i = 0; i < tensor.elements(); ++i) {
    list.push_back(static_cast<T>(tensor.at(i)));
  }
  return list;
}

template <typename T>
double distance(Session &session, const char *name, const std::vector<T> &b) {
  std::vector<double> a = values<double>(session, name);
  double error = 0, norm = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    error += (a[i] - b[i]) * (a[i] - b[i]);
    norm += static_cast<double>(b[i]) * b[i];
  }
  return std::sqrt(error / norm);
}

/// Twenty steps beside the reference; prints and bounds the distances.
template <typename T>
void compareWithOneDevice(int m, const char *type, int threads = 1) {
  auto session = openWalkthrough(makeWalkthroughPlan(m, object, threads));
  ASSERT_TRUE(session);
  Reference<T> one;
  one.E.w = values<T>(*session, "E");
  one.W1.w = values<T>(*session, "W1");
  one.W2.w = values<T>(*session, "W2");
  double worstLoss = 0, worstNorm = 0, first = 0;
  for (int step = 0; step < numSteps; ++step) {
    Status status = session->run("train", step);
    ASSERT_TRUE(status.ok()) << status.message();
    std::vector<std::pair<int, int>> samples;
    for (int mb = 0; mb < m; ++mb) {
      HostTensor tok = *session->fetch("tokens", mb);
      HostTensor tgt = *session->fetch("targets", mb);
      for (int i = 0; i < batch; ++i) {
        samples.emplace_back(tok.at(i), tgt.at(i));
      }
    }
    one.step(samples, static_cast<T>(*session->metric("lr")), step + 1);
    first = step ? first : *session->metric("loss");
    worstLoss = std::max(
        worstLoss, std::abs(*session->metric("loss") - one.loss) / one.loss);
    worstNorm =
        std::max(worstNorm,
                 std::abs(*session->metric("grad_norm") - one.norm) / one.norm);
  }
  double weights = std::max({distance(*session, "E", one.E.w),
                             distance(*session, "W1", one.W1.w),
                             distance(*session, "W2", one.W2.w)});
  double moments = std::max({distance(*session, "E.m", one.E.m),
                             distance(*session, "W1.v", one.W1.v),
                             distance(*session, "W2.m", one.W2.m)});
  fmt::print("8 devices against 1 in {}, {} microbatches, {} steps: loss {:.4f}"
             " -> {:.4f}; relative distance of losses {:.2e}, norms {:.2e}, "
             "weights {:.2e}, moments {:.2e}\n",
             type, m, numSteps, first, *session->metric("loss"), worstLoss,
             worstNorm, weights, moments);
  EXPECT_LT(*session->metric("loss"), first);
  EXPECT_LE(worstLoss, 1e-5);
  EXPECT_LE(worstNorm, 1e-5);
  EXPECT_LE(weights, 1e-5);
  EXPECT_LE(moments, 1e-4);
}

TEST(WalkthroughTest, EqualsOneDeviceInSingle) {
  compareWithOneDevice<float>(2, "f32");
  compareWithOneDevice<float>(4, "f32");
}

// Kernels and contractions in slices of rows; 4 rows in 3 slices are uneven.
TEST(WalkthroughTest, EqualsOneDeviceWithSeveralThreads) {
  compareWithOneDevice<double>(2, "f64 by 2 threads", 2);
  compareWithOneDevice<double>(2, "f64 by 3 threads", 3);
}

TEST(WalkthroughTest, EqualsOneDeviceInDouble) {
  compareWithOneDevice<double>(2, "f64");
  compareWithOneDevice<double>(4, "f64");
}

// E lives on both stages, and every replica over data holds the same bits.
TEST(WalkthroughTest, CopiesStayEqual) {
  auto session = openWalkthrough(makeWalkthroughPlan(2, object));
  ASSERT_TRUE(session);
  runAll(*session, 5);
  for (const char *name : stateNames) {
    EXPECT_TRUE(*session->copiesAgree(name)) << name;
  }
}

// The collectives of one step, as the walkthrough's table counts them.
TEST(WalkthroughTest, Communication) {
  auto session = openWalkthrough(makeWalkthroughPlan(2, object));
  ASSERT_TRUE(session);
  runAll(*session, 1);
  CommunicatorCounts counts = *session->communication();
  auto at = [](CollectiveKind kind) { return static_cast<size_t>(kind); };
  // tensor: 2 x 2 on 2 groups of stage 0, 2 x 2 on 2 of stage 1; gW2 on 2
  // groups; gE and ls on 2 groups each; n2 once.
  EXPECT_EQ(counts.collectives[at(CollectiveKind::allReduce)],
            8u + 8u + 2u + 4u + 1u);
  // Stage 0 and 1 over tensor, 2 microbatches, 2 groups; W1 on 2 groups.
  EXPECT_EQ(counts.collectives[at(CollectiveKind::reduceScatter)],
            4u + 4u + 2u);
  EXPECT_EQ(counts.collectives[at(CollectiveKind::allGather)], 4u + 4u + 2u);
  // Both ways, 2 microbatches, 4 pairs of devices, 32 bytes.
  EXPECT_EQ(counts.transfers, 16u);
  EXPECT_EQ(counts.transferBytes, 16u * 32u);
  EXPECT_EQ(session->inFlight(), (std::vector<int64_t>{2, 1}));
}

// What the communicators of each stage count is what the plan says.
TEST(WalkthroughTest, TrafficIsThatOfThePlan) {
  auto session = openWalkthrough(makeWalkthroughPlan(4, object));
  ASSERT_TRUE(session);
  runAll(*session, 1);
  const plan::Plan &plan = session->plan();
  for (int64_t stage : {0, 1}) {
    std::vector<plan::Traffic> planned;
    for (auto &row : plan::trafficOf(plan, plan.entries[0], stage)) {
      if (row.kind != "send" && row.kind != "receive") {
        planned.push_back(row);
      }
    }
    std::vector<plan::Traffic> counted = *session->traffic(stage);
    ASSERT_EQ(counted.size(), planned.size());
    for (size_t i = 0; i < counted.size(); ++i) {
      EXPECT_EQ(counted[i].kind, planned[i].kind);
      EXPECT_EQ(counted[i].axes, planned[i].axes);
      EXPECT_EQ(counted[i].isScalar, planned[i].isScalar);
      EXPECT_EQ(counted[i].count, planned[i].count);
      EXPECT_EQ(counted[i].bytesIn, planned[i].bytesIn);
    }
  }
}

// 100 legal orders and several pool sizes give the same bits.
TEST(WalkthroughTest, EveryOrderGivesTheSameBits) {
  constexpr int steps = 3;
  for (int m : {2, 4}) {
    plan::Plan plan = makeWalkthroughPlan(m, object);
    auto plain = openWalkthrough(plan);
    ASSERT_TRUE(plain);
    std::string expected = runAll(*plain, steps);
    std::set<uint64_t> orders;
    for (uint64_t seed = 0; seed < 100; ++seed) {
      SessionOptions options;
      options.threads = 1;
      options.shuffleSeed = seed;
      auto session = openWalkthrough(plan, options);
      ASSERT_TRUE(session);
      ASSERT_EQ(runAll(*session, steps), expected) << "seed " << seed;
      orders.insert(session->order().hash);
    }
    for (int threads : {1, 2, 5}) {
      SessionOptions options;
      options.threads = threads;
      auto session = openWalkthrough(plan, options);
      ASSERT_TRUE(session);
      ASSERT_EQ(runAll(*session, steps), expected) << threads << " workers";
    }
    fmt::print("shuffle, {} microbatches: 100 seeds, {} distinct orders, the "
               "same bits\n",
               m, orders.size());
    EXPECT_GE(orders.size(), 99u);
  }
}

/// Every wait of the plan as (program, instruction).
std::vector<std::pair<size_t, size_t>> allWaits(const plan::Plan &plan) {
  std::vector<std::pair<size_t, size_t>> waits;
  for (size_t p = 0; p < plan.programs.size(); ++p) {
    const auto &list = plan.programs[p].instructions;
    for (size_t i = 0; i < list.size(); ++i) {
      if (std::holds_alternative<plan::Wait>(list[i].action)) {
        waits.emplace_back(p, i);
      }
    }
  }
  return waits;
}

plan::Plan without(plan::Plan plan, std::pair<size_t, size_t> place) {
  auto &list = plan.programs[place.first].instructions;
  list.erase(list.begin() + static_cast<std::ptrdiff_t>(place.second));
  return plan;
}

// The loader refuses the plan without any one wait, before memory is taken.
TEST(WalkthroughTest, EachWaitIsNeeded) {
  for (int m : {2, 4}) {
    plan::Plan plan = makeWalkthroughPlan(m, object);
    Status whole = plan::verifyPlan(plan);
    ASSERT_TRUE(whole.ok()) << whole.message();
    size_t refused = 0;
    auto waits = allWaits(plan);
    for (auto place : waits) {
      Status status = plan::verifyPlan(without(plan, place));
      refused += status.kind() == ErrorKind::mismatch;
      EXPECT_EQ(status.kind(), ErrorKind::mismatch)
          << plan.programs[place.first].name << " instruction " << place.second;
    }
    fmt::print("loader, {} microbatches: {} of {} plans with one wait removed "
               "refused\n",
               m, refused, waits.size());
  }
}

// With the loader bypassed, the order shows what the missing wait allows.
TEST(WalkthroughTest, WithoutAWaitSomeOrderDiffers) {
  constexpr int steps = 2;
  plan::Plan plan = makeWalkthroughPlan(4, object);
  auto session = openWalkthrough(plan);
  ASSERT_TRUE(session);
  std::string expected = runAll(*session, steps);
  size_t shown = 0;
  auto waits = allWaits(plan);
  for (auto place : waits) {
    bool differs = false;
    for (uint64_t seed = 0; seed < 60 && !differs; ++seed) {
      SessionOptions options;
      options.threads = 1;
      options.shuffleSeed = seed;
      options.bypassLoader = true;
      auto broken = openWalkthrough(without(plan, place), options);
      ASSERT_TRUE(broken);
      Status error;
      differs = runAll(*broken, steps, &error) != expected;
    }
    shown += differs;
  }
  fmt::print("shuffle without the loader: {} of {} missing waits change the "
             "result in some of 60 orders\n",
             shown, waits.size());
  EXPECT_GE(shown, 1u);
}

// Every byte outside buffers keeps its pattern, and no result depends on what
// memory held before.
TEST(WalkthroughTest, StaysInsideItsBuffers) {
  plan::Plan plan = makeWalkthroughPlan(2, object);
  std::string results[2];
  const uint8_t patterns[] = {0xa5, 0xff}; // The second is a NaN.
  for (int i : {0, 1}) {
    SessionOptions options;
    options.poison = patterns[i];
    auto session = openWalkthrough(plan, options);
    ASSERT_TRUE(session);
    results[i] = runAll(*session, 3);
    MemoryAudit audit = *session->auditMemory();
    fmt::print("poison {:#x}: {} bytes in buffers, {} beside them, {} of these "
               "touched\n",
               patterns[i], audit.insideBuffers, audit.outsideBuffers,
               audit.touchedOutside);
    EXPECT_EQ(audit.touchedOutside, 0u);
    EXPECT_GT(audit.outsideBuffers, 0u);
    for (const DeviceMemory &memory : session->memory()) {
      EXPECT_EQ(memory.predicted, memory.reserved);
    }
  }
  EXPECT_EQ(results[0], results[1]);
}

// Written to a file and read back, the plan runs to the same bits.
TEST(WalkthroughTest, RunsFromAFile) {
  plan::Plan plan = makeWalkthroughPlan(2, object);
  auto session = openWalkthrough(plan);
  ASSERT_TRUE(session);
  std::string expected = runAll(*session, 3);
  Result<std::string> bytes = plan::serializePlan(plan);
  ASSERT_TRUE(bytes.ok()) << bytes.message();
  Result<plan::Plan> read = plan::parsePlan(*bytes);
  ASSERT_TRUE(read.ok()) << read.message();
  auto again = openWalkthrough(*std::move(read));
  ASSERT_TRUE(again);
  EXPECT_EQ(runAll(*again, 3), expected);
}

} // namespace
} // namespace llmc::rt::test
