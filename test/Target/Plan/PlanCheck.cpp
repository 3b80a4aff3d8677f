//===- PlanCheck.cpp - What must hold of every compiled plan --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// llmc-plan-check <plan>: loads it as a runtime does and prints
//
//   waits: 11, superfluous: 0
//   frame train.c0.F.tmp: 1 slot of 4096 bytes, 4096 live at most
//   worst: 1.000
//
// A wait is superfluous when the plan without it is accepted. Live bytes of a
// frame go along the compute stream's order, over all its slots, 64-byte
// alignment counted as live; copies of the host count where they are enqueued.
// This shares no code with the compiler's own lifetimes.
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Plan/Format/PlanFile.h"
#include "llmc/Runtime/Plan/Verify/PlanWaits.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <tuple>

using namespace llmc::rt;
using namespace llmc::rt::plan;

namespace {
struct Span {
  int64_t first = -1;
  int64_t last = -1;
};
/// Frame, buffer, microbatch (-1 where the frame does not follow it).
using Key = std::tuple<int32_t, int32_t, int64_t>;
} // namespace

static bool followsMicrobatch(FrameKind kind) {
  return kind == FrameKind::act || kind == FrameKind::bnd ||
         kind == FrameKind::input;
}

/// When each value of the entry is there, on stage 0.
static std::map<Key, Span> findSpans(const Plan &plan, const Entry &entry) {
  std::map<Key, Span> spans;
  int64_t time = 0, call = 0;
  auto run = [&](int32_t number, int64_t microbatch) {
    if (number < 0)
      return;
    ++call;
    for (const Instruction &instruction : plan.programs[number].instructions) {
      for (const OperandUse &use : usesOf(instruction.action)) {
        int32_t buffer = use.operand->buffer;
        int32_t frame = plan.buffers[buffer].frame;
        FrameKind kind = plan.frames[frame].kind;
        // A call's own values are other ones in each call.
        int64_t tag = kind == FrameKind::tmp    ? call
                      : followsMicrobatch(kind) ? microbatch
                                                : -1;
        Span &span = spans[{frame, buffer, tag}];
        span.first = span.first < 0 ? time : span.first;
        span.last = time;
      }
      if (plan.streams[instruction.stream].kind == StreamKind::compute)
        ++time;
    }
  };
  int64_t numStages = plan.mesh.numStages();
  run(entry.prologue[0], -1);
  for (size_t at = 0; at < entry.table.size(); at += numStages)
    run(entry.table[at].program, entry.table[at].microbatch);
  run(entry.epilogue[0], -1);
  return spans;
}

/// The most that lives at once in each frame.
static std::map<int32_t, int64_t> findMostLive(const Plan &plan,
                                               const Entry &entry) {
  std::map<int32_t, std::map<int64_t, int64_t>> changes;
  for (const auto &[key, span] : findSpans(plan, entry)) {
    if (plan.frames[std::get<0>(key)].kind == FrameKind::state)
      continue;
    int64_t bytes = (plan.buffers[std::get<1>(key)].bytes + 63) / 64 * 64;
    changes[std::get<0>(key)][span.first] += bytes;
    changes[std::get<0>(key)][span.last + 1] -= bytes;
  }
  std::map<int32_t, int64_t> most;
  // States live whether an entry uses them or not.
  for (const Buffer &buffer : plan.buffers)
    if (plan.frames[buffer.frame].kind == FrameKind::state)
      most[buffer.frame] += (buffer.bytes + 63) / 64 * 64;
  for (const auto &[frame, change] : changes) {
    int64_t live = 0;
    for (auto [time, delta] : change) {
      live += delta;
      most[frame] = std::max(most[frame], live);
    }
  }
  return most;
}

static int check(const char *path) {
  Result<Plan> plan = readPlan(path);
  if (!plan.ok()) {
    std::fprintf(stderr, "%s\n", plan.message().c_str());
    return 1;
  }
  Status status = verifyPlan(*plan);
  if (!status.ok()) {
    std::fprintf(stderr, "%s\n", status.message().c_str());
    return 1;
  }
  std::vector<WaitPlace> superfluous = redundantWaits(*plan);
  std::printf("waits: %zu, superfluous: %zu\n", waitsOf(*plan).size(),
              superfluous.size());
  std::map<int32_t, int64_t> most;
  for (const Entry &entry : plan->entries)
    for (auto [frame, bytes] : findMostLive(*plan, entry))
      most[frame] = std::max(most[frame], bytes);
  double worst = 1;
  for (auto [number, bytes] : most) {
    const Frame &frame = plan->frames[number];
    bool isBoundary =
        frame.kind == FrameKind::bnd || frame.kind == FrameKind::input;
    std::printf("%s %s: %d slots of %lld bytes, %lld live at most\n",
                isBoundary ? "boundary" : "frame", frame.name.c_str(),
                frame.slots, static_cast<long long>(frame.size),
                static_cast<long long>(bytes));
    if (!isBoundary && bytes > 0)
      worst = std::max(worst, double(frame.size * frame.slots) / bytes);
  }
  std::printf("worst: %.3f\n", worst);
  return superfluous.empty() && worst <= 1.05 ? 0 : 1;
}

int main(int argc, char **argv) {
  if (argc != 2) {
    std::fprintf(stderr, "usage: llmc-plan-check <plan>\n");
    return 2;
  }
  return check(argv[1]);
}
