//===- ProbeShuffle.cpp - A plan file in many orders ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Every legal order gives the same bits; with one wait less, and nobody to
// refuse the plan, some order gives others. See PlanProbe.cpp.
//
//===----------------------------------------------------------------------===//

#include "PlanProbe.h"

#include "llmc/Runtime/Plan/Verify/PlanWaits.h"

#include <fmt/format.h>

#include <set>

namespace llmc::rt::test {

static constexpr int shuffledSteps = 2;

/// A wait whose absence shows takes few orders to find; most show in the first.
static constexpr uint64_t ordersWithoutWait = 20;

/// Whether some order of the plan without that wait gives other bits.
static bool differsWithout(const Probe &probe, plan::WaitPlace place,
                           const std::string &expected) {
  plan::Plan broken = plan::withoutWait(probe.plan, place);
  for (uint64_t seed = 0; seed < ordersWithoutWait; ++seed) {
    SessionOptions options;
    options.shuffleSeed = seed;
    options.bypassLoader = true;
    auto session = probe.open(broken, options);
    if (!session.ok()) {
      return false;
    }
    auto bits = probe.runAll(**session, shuffledSteps);
    if (!bits.ok() || *bits != expected) {
      return true;
    }
  }
  return false;
}

/// The bits in the usual order; nothing after a failure.
static std::optional<std::string>
runOnce(const Probe &probe, SessionOptions options, uint64_t *order = nullptr) {
  auto session = probe.open(probe.plan, options);
  if (!session.ok()) {
    fail(session.message());
    return std::nullopt;
  }
  auto bits = probe.runAll(**session, shuffledSteps);
  if (!bits.ok()) {
    fail(bits.message());
    return std::nullopt;
  }
  if (order) {
    *order = (*session)->order().hash;
  }
  return *std::move(bits);
}

bool probeShuffle(const Probe &probe, int64_t count) {
  auto expected = runOnce(probe, {});
  if (!expected) {
    return false;
  }
  std::set<uint64_t> orders;
  for (int64_t seed = 0; seed < count; ++seed) {
    SessionOptions options;
    options.shuffleSeed = static_cast<uint64_t>(seed);
    uint64_t order = 0;
    auto bits = runOnce(probe, options, &order);
    if (!bits || *bits != *expected) {
      return fail(fmt::format("order of seed {} gives other bits", seed));
    }
    orders.insert(order);
  }
  for (int threads : {2, 5}) {
    SessionOptions options;
    options.threads = threads;
    auto bits = runOnce(probe, options);
    if (!bits || *bits != *expected) {
      return fail(fmt::format("{} workers give other bits", threads));
    }
  }
  fmt::print("shuffle: {} seeds, {} distinct orders, the same bits\n", count,
             orders.size());
  auto waits = plan::waitsOf(probe.plan);
  size_t shown = 0;
  for (plan::WaitPlace place : waits) {
    shown += differsWithout(probe, place, *expected);
  }
  fmt::print("shuffle without the loader: {} of {} missing waits change the "
             "result in some of {} orders\n",
             shown, waits.size(), ordersWithoutWait);
  return waits.empty() || shown > 0;
}

} // namespace llmc::rt::test
