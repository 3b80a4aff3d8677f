//===- ProbeOpaque.cpp - A plan file on memory that nobody can see --------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The executor must not follow an address of device memory: see
// test/Runtime/Backends/Opaque. Metrics, fetched values and states of all
// entries are those of the plan's own target; poison and audit work as well.
//
//===----------------------------------------------------------------------===//

#include "PlanProbe.h"

#include <fmt/format.h>

namespace llmc::rt::test {

static constexpr int steps = 3;

namespace {
struct Outcome {
  std::string bits;
  size_t fetched = 0;
  MemoryAudit audit;
};
} // namespace

/// Of the entry that ran last.
static Status addFetches(Session &session, const plan::Entry &entry,
                         Outcome &outcome) {
  for (const plan::Fetch &fetch : entry.fetches) {
    int64_t count = fetch.eachMicrobatch ? entry.numMicrobatches : 1;
    for (int64_t m = 0; m < count; ++m) {
      LLMC_TRY_ASSIGN(HostTensor value, session.fetch(fetch.tensorName(), m));
      outcome.bits.append(reinterpret_cast<const char *>(value.bytes.data()),
                          value.bytes.size());
      ++outcome.fetched;
    }
  }
  return Status::success();
}

/// Reads every state, writes it back and reads it again.
static Status rewriteStates(Session &session) {
  for (const plan::State &state : session.plan().states) {
    LLMC_TRY_ASSIGN(HostTensor value, session.readState(state.name));
    LLMC_TRY(session.writeState(state.name, value));
    LLMC_TRY_ASSIGN(HostTensor again, session.readState(state.name));
    LLMC_TRY_ASSIGN(bool agree, session.copiesAgree(state.name));
    if (again.bytes != value.bytes || !agree) {
      return makeError(
          ErrorKind::numeric,
          fmt::format("state '{}' came back as another", state.name));
    }
  }
  return Status::success();
}

static Result<Outcome> runOn(const Probe &probe, const std::string &target) {
  plan::Plan plan = probe.plan;
  plan.target = target;
  SessionOptions options;
  options.poison = 0xff; // A NaN.
  LLMC_TRY_ASSIGN(auto session, probe.open(plan, options));
  LLMC_TRY(rewriteStates(*session));
  Outcome outcome;
  LLMC_TRY_ASSIGN(outcome.bits, probe.runAll(*session, steps));
  LLMC_TRY(addFetches(*session, session->plan().entries.back(), outcome));
  LLMC_TRY_ASSIGN(outcome.audit, session->auditMemory());
  return outcome;
}

bool probeOpaque(const Probe &probe) {
  Result<Outcome> expected = runOn(probe, probe.plan.target);
  Result<Outcome> hidden = runOn(probe, "opaque");
  for (const auto *outcome : {&expected, &hidden}) {
    if (!outcome->ok()) {
      return fail(outcome->message());
    }
  }
  if (expected->bits != hidden->bits) {
    return fail("memory that the host cannot see gives other bits");
  }
  if (expected->audit.outsideBuffers != hidden->audit.outsideBuffers ||
      hidden->audit.touchedOutside) {
    return fail("another audit of memory that the host cannot see");
  }
  fmt::print("opaque: {} bytes of metrics, states and {} fetched values, the "
             "same bits as on {}\n",
             expected->bits.size(), expected->fetched, probe.plan.target);
  return true;
}

} // namespace llmc::rt::test
