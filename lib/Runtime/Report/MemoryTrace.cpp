//===- MemoryTrace.cpp - What is live when --------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A buffer's value lives from the first instruction that touches it to the
// last: in a call for `tmp` and `scratch`, of a microbatch for what crosses
// calls (`act`, `bnd`, `input`), in the step for its sums. States and hyper
// values live always. Places are shared, so what is live is never more than
// what is reserved.
//
// Test: test/Runtime/Report/ReportTest.cpp
//===----------------------------------------------------------------------===//

#include "ReportData.h"

#include <algorithm>
#include <map>
#include <tuple>

namespace llmc::rt::report {

namespace {
struct Life {
  double begin = 0, end = 0;
};
/// A buffer and the call, the microbatch or the step (-1) whose value it has.
using Value = std::pair<int32_t, int64_t>;

class StageLives {
public:
  StageLives(const ReportData &data, int32_t stage)
      : data(data), stage(stage) {}

  StageMemory run();

private:
  void visit(const plan::PlannedSpan &span);
  void touch(int32_t buffer, const plan::PlannedSpan &span);
  std::vector<MemoryPoint> sum() const;

  const ReportData &data;
  int32_t stage;
  std::map<Value, Life> lives;
  /// Calls are told apart by where their instructions begin anew.
  std::map<std::pair<int32_t, int32_t>, std::pair<int64_t, int32_t>> calls;
  int64_t numCalls = 0;
};
} // namespace

static bool livesAlways(plan::FrameKind kind) {
  return kind == plan::FrameKind::state || kind == plan::FrameKind::hyper;
}

void StageLives::touch(int32_t buffer, const plan::PlannedSpan &span) {
  plan::FrameKind kind = data.plan.frames[data.plan.buffers[buffer].frame].kind;
  if (livesAlways(kind)) {
    return;
  }
  int64_t number = span.microbatch;
  if (kind == plan::FrameKind::step) {
    number = -1;
  } else if (kind == plan::FrameKind::tmp || kind == plan::FrameKind::scratch) {
    number = calls[{span.program, span.microbatch}].first;
  }
  auto [life, isNew] =
      lives.try_emplace({buffer, number}, Life{span.begin, span.end});
  life->second.begin = std::min(life->second.begin, span.begin);
  life->second.end = std::max(life->second.end, span.end);
}

void StageLives::visit(const plan::PlannedSpan &span) {
  // Instructions of a call come in order; one that is not after the one before
  // it is of the next trip.
  auto &[call, last] =
      calls.try_emplace({span.program, span.microbatch}, -1, -1).first->second;
  if (call < 0 || span.instruction <= last) {
    call = numCalls++;
  }
  last = span.instruction;
  for (const plan::OperandUse &use :
       plan::usesOf(instructionOf(data.plan, span).action)) {
    touch(use.operand->buffer, span);
  }
}

std::vector<MemoryPoint> StageLives::sum() const {
  using Changes = std::array<int64_t, plan::numFrameKinds>;
  std::map<double, Changes> changes;
  changes.try_emplace(0, Changes{});
  changes.try_emplace(data.planned.seconds, Changes{});
  for (const auto &[value, life] : lives) {
    const plan::Buffer &buffer = data.plan.buffers[value.first];
    auto kind = static_cast<size_t>(data.plan.frames[buffer.frame].kind);
    changes.try_emplace(life.begin, Changes{}).first->second[kind] +=
        buffer.bytes;
    changes.try_emplace(life.end, Changes{}).first->second[kind] -=
        buffer.bytes;
  }
  MemoryPoint now;
  plan::MemoryReport reserved = plan::memoryOf(data.plan, stage);
  for (int kind = 0; kind < plan::numFrameKinds; ++kind) {
    now.bytes[kind] = livesAlways(static_cast<plan::FrameKind>(kind))
                          ? reserved.bytes[kind]
                          : 0;
  }
  std::vector<MemoryPoint> points;
  for (const auto &[seconds, change] : changes) {
    now.seconds = seconds;
    for (size_t kind = 0; kind < change.size(); ++kind) {
      now.bytes[kind] += change[kind];
    }
    points.push_back(now);
  }
  return points;
}

StageMemory StageLives::run() {
  for (const plan::PlannedSpan &span : data.planned.spans) {
    if (span.stage == stage) {
      visit(span);
    }
  }
  StageMemory memory{plan::memoryOf(data.plan, stage), sum(), 0};
  for (const MemoryPoint &point : memory.points) {
    int64_t all = 0;
    for (int64_t bytes : point.bytes) {
      all += bytes;
    }
    memory.peak = std::max(memory.peak, all);
  }
  return memory;
}

std::vector<StageMemory> traceMemory(const ReportData &data) {
  std::vector<StageMemory> stages;
  for (int64_t stage = 0; stage < data.plan.mesh.numStages(); ++stage) {
    stages.push_back(StageLives(data, static_cast<int32_t>(stage)).run());
  }
  return stages;
}

} // namespace llmc::rt::report
