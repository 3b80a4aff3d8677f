//===- PlanProbe.cpp - What a plan file must stand ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   llmc-plan-probe <folder of the plan> <corpus>
//       waits|mutate|shuffle|memory|opaque [count]
//
// waits    without any single wait the loader refuses the plan
// mutate   `count` broken copies with good checksums: refused, or run inside
//          their buffers
// shuffle  `count` legal orders give the same bits; without a wait, and with
//          the loader bypassed, some order does not
// memory   two poison patterns: bytes beside buffers stay, results do not
//          depend on them; a step allocates nothing
// opaque   on devices whose memory the host cannot see: the same bits
//
// Prints its figures; the exit code is 1 when one of them fails. Used by
// test/EndToEnd/plans.test on compiled plans.
//
//===----------------------------------------------------------------------===//

#include "PlanProbe.h"
#include "AllocationCount.h"
#include "PlanMutator.h"

#include "llmc/Runtime/Plan/Format/PlanFile.h"
#include "llmc/Runtime/Plan/Verify/PlanWaits.h"

#include <fmt/format.h>

#include <cstdlib>
#include <cstring>

namespace llmc::rt::test {

Result<std::unique_ptr<Session>> Probe::open(plan::Plan plan,
                                             SessionOptions options) const {
  options.folder = folder;
  options.trustKernels = true;
  if (options.threads == 0) {
    options.threads = 1;
  }
  LLMC_TRY_ASSIGN(auto session, Session::open(std::move(plan), options));
  LLMC_TRY(session->useData("", corpus, DType::u8));
  return session;
}

Result<std::string> Probe::runAll(Session &session, int steps) const {
  std::string bytes;
  auto addMetrics = [&] {
    for (const NamedValue &metric : session.metrics()) {
      bytes.append(reinterpret_cast<const char *>(&metric.value),
                   sizeof(metric.value));
    }
  };
  for (int step = 0; step < steps; ++step) {
    for (const plan::Entry &entry : session.plan().entries) {
      LLMC_TRY(session.run(entry.name, step));
      addMetrics();
    }
  }
  for (const plan::State &state : session.plan().states) {
    LLMC_TRY_ASSIGN(HostTensor value, session.readState(state.name));
    bytes.append(reinterpret_cast<const char *>(value.bytes.data()),
                 value.bytes.size());
  }
  return bytes;
}

bool fail(const std::string &message) {
  fmt::print("FAILED: {}\n", message);
  return false;
}

static bool probeWaits(const Probe &probe) {
  Status whole = plan::verifyPlan(probe.plan);
  if (!whole.ok()) {
    return fail("the whole plan: " + whole.message());
  }
  auto waits = plan::waitsOf(probe.plan);
  size_t refused = 0;
  for (plan::WaitPlace place : waits) {
    Status status = plan::verifyPlan(plan::withoutWait(probe.plan, place));
    if (status.kind() == ErrorKind::mismatch) {
      ++refused;
      continue;
    }
    fail(fmt::format("without the wait at {} of {}: {}", place.instruction,
                     probe.plan.programs[place.program].name,
                     status.ok() ? "accepted" : status.message()));
  }
  fmt::print("loader: {} of {} plans with one wait removed refused\n", refused,
             waits.size());
  return refused == waits.size();
}

namespace {
/// What became of mutations that the loader accepted.
struct Fates {
  std::map<int, int64_t> opened, ran;
  int64_t tooLarge = 0;
  uint64_t touched = 0;
};
} // namespace

static void tryMutation(const Probe &probe, const plan::Plan &plan,
                        Fates &fates) {
  if (plan::isTooLargeToRun(plan)) {
    ++fates.tooLarge;
    return;
  }
  SessionOptions options;
  options.poison = 0xa5;
  options.deadline = std::chrono::seconds(10);
  auto session = probe.open(plan, options);
  ++fates.opened[exitCode(session.ok() ? ErrorKind::ok : session.kind())];
  if (!session.ok()) {
    return;
  }
  for (const plan::Entry &entry : plan.entries) {
    Status status = (*session)->run(entry.name, 0);
    ++fates.ran[exitCode(status.kind())];
  }
  // A world that is dead after an error gives no memory.
  if (auto audit = (*session)->auditMemory(); audit.ok()) {
    fates.touched += audit->touchedOutside;
  }
}

static bool probeMutations(const Probe &probe, int64_t count) {
  Fates fates;
  plan::Environment environment;
  environment.maxSteps = int64_t(1) << 20;
  auto run = [&](const plan::Plan &plan) { tryMutation(probe, plan, fates); };
  auto counts = plan::mutatePlan(probe.plan, count, 20240611, environment, run);
  fmt::print("loader: {}\n", counts.describe());
  bool good = true;
  for (auto [code, number] : counts.byCode) {
    if (code != 0 && code != 3 && code != 4 && code != 5 && code != 15) {
      good = fail(fmt::format("{} refused with code {}", number, code));
    }
  }
  fmt::print("not opened: {} with large arenas\n", fates.tooLarge);
  for (auto [code, number] : fates.opened) {
    fmt::print("opened: {} with code {}\n", number, code);
  }
  for (auto [code, number] : fates.ran) {
    fmt::print("ran an entry: {} with code {}\n", number, code);
    if (code == exitCode(ErrorKind::internal) ||
        code == exitCode(ErrorKind::timeout)) {
      good = fail("a run ended with a code that it must not have");
    }
  }
  if (fates.touched) {
    good = fail(fmt::format("{} bytes beside buffers touched", fates.touched));
  }
  return good && fates.ran[0] > 0;
}

/// Runs with a pattern in memory; checks it after the run.
static Result<std::string> runPoisoned(const Probe &probe, uint8_t pattern,
                                       bool &good) {
  SessionOptions options;
  options.poison = pattern;
  LLMC_TRY_ASSIGN(auto session, probe.open(probe.plan, options));
  LLMC_TRY_ASSIGN(std::string result, probe.runAll(*session, 2));
  LLMC_TRY_ASSIGN(MemoryAudit audit, session->auditMemory());
  fmt::print("poison {:#x}: {} bytes in buffers, {} beside them, {} of these "
             "touched\n",
             pattern, audit.insideBuffers, audit.outsideBuffers,
             audit.touchedOutside);
  if (audit.touchedOutside) {
    good = fail("bytes beside buffers were written");
  }
  for (const DeviceMemory &memory : session->memory()) {
    if (memory.predicted != memory.reserved) {
      good = fail(fmt::format("expected {} bytes reserved, got {}",
                              memory.predicted, memory.reserved));
    }
  }
  return result;
}

static Status countAllocations(const Probe &probe, int threads, bool &good) {
  SessionOptions options;
  options.threads = threads;
  LLMC_TRY_ASSIGN(auto session, probe.open(probe.plan, options));
  constexpr int warmUp = 8, steps = 10;
  for (const plan::Entry &entry : probe.plan.entries) {
    const std::string name = entry.name;
    // The library makes each worker's stream when it is first used.
    for (int step = 0; step < warmUp; ++step) {
      LLMC_TRY(session->run(name, step));
    }
    Status status;
    startCounting();
    for (int step = warmUp; status.ok() && step < warmUp + steps; ++step) {
      status = session->run(name, step);
    }
    Calls calls = stopCounting();
    LLMC_TRY(status);
    fmt::print("{}: heap allocations in {} steps with {} workers: {} from our "
               "code and kernels, {} from libraries\n",
               name, steps, threads, calls.ours, calls.library);
    if (calls.ours) {
      good = fail("a step allocated");
    }
  }
  return Status::success();
}

static bool probeMemory(const Probe &probe) {
  bool good = true;
  auto first = runPoisoned(probe, 0xa5, good);
  auto second = runPoisoned(probe, 0xff, good); // A NaN.
  for (const auto *result : {&first, &second}) {
    if (!result->ok()) {
      return fail(result->message());
    }
  }
  if (*first != *second) {
    good = fail("results depend on what memory held before");
  }
  if (!canCountAllocations()) {
    return good;
  }
  for (int threads : {1, 3}) {
    Status status = countAllocations(probe, threads, good);
    if (!status.ok()) {
      return fail(status.message());
    }
  }
  return good;
}

} // namespace llmc::rt::test

int main(int argc, char **argv) {
  using namespace llmc::rt::test;
  if (argc < 4) {
    fmt::print(stderr,
               "usage: {} <folder> <corpus> waits|mutate|shuffle|memory|opaque"
               " [count]\n",
               argv[0]);
    return 2;
  }
  Probe probe;
  probe.folder = argv[1];
  probe.corpus = argv[2];
  std::string command = argv[3];
  auto plan = llmc::rt::plan::readPlan(probe.folder + "/plan.llmc");
  if (!plan.ok()) {
    fmt::print("FAILED: {}\n", plan.message());
    return 1;
  }
  probe.plan = *std::move(plan);
  int64_t count = argc > 4 ? std::atoll(argv[4]) : 0;
  bool good = command == "waits"     ? probeWaits(probe)
              : command == "mutate"  ? probeMutations(probe, count)
              : command == "shuffle" ? probeShuffle(probe, count)
              : command == "memory"  ? probeMemory(probe)
              : command == "opaque"  ? probeOpaque(probe)
                                     : fail("unknown command " + command);
  return good ? 0 : 1;
}
