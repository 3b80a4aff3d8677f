//===- PlanPeak.cpp - What lies in memory where most does -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Plan/Print/PlanPeak.h"

#include "llmc/Runtime/Plan/Format/PlanPrograms.h"

#include <algorithm>
#include <map>
#include <set>

namespace llmc::rt::plan {

namespace {

/// First and last position of uses.
struct Span {
  size_t first = SIZE_MAX, last = 0;
  void touch(size_t at) {
    first = std::min(first, at);
    last = std::max(last, at);
  }
  bool holds(size_t at) const { return first <= at && at <= last; }
};

/// What a program touches, calls included.
struct Touched {
  /// Frames, by index.
  std::set<int32_t> frames;
  /// Buffers with the numbers of the instructions that use them.
  std::map<int32_t, Span> buffers;
  size_t numInstructions = 0;
};

class PeakFinder {
public:
  PeakFinder(const Plan &plan, int64_t stage) : plan_(plan), stage_(stage) {}

  Peak find();

private:
  const Touched &touchedBy(int32_t program);
  std::vector<int32_t> walk(const Entry &entry) const;
  void findIn(const Entry &entry);
  std::vector<LiveBuffer> liveIn(int32_t program,
                                 const std::set<int32_t> &frames);

  const Plan &plan_;
  int64_t stage_;
  std::map<int32_t, Touched> touched_;
  Peak peak_;
};

} // namespace

const Touched &PeakFinder::touchedBy(int32_t program) {
  auto [known, isNew] = touched_.try_emplace(program);
  Touched &touched = known->second;
  if (!isNew) {
    return touched;
  }
  for (int32_t each : programsUnder(plan_, program)) {
    for (const Instruction &instruction : plan_.programs[each].instructions) {
      for (const OperandUse &use : usesOf(instruction.action)) {
        touched.frames.insert(plan_.buffers[use.operand->buffer].frame);
        touched.buffers[use.operand->buffer].touch(touched.numInstructions);
      }
      ++touched.numInstructions;
    }
  }
  return touched;
}

std::vector<int32_t> PeakFinder::walk(const Entry &entry) const {
  std::vector<int32_t> programs = {entry.prologue[stage_]};
  auto numStages = static_cast<size_t>(plan_.mesh.numStages());
  for (size_t at = stage_; at < entry.table.size(); at += numStages) {
    programs.push_back(entry.table[at].program);
  }
  programs.push_back(entry.epilogue[stage_]);
  programs.erase(std::remove(programs.begin(), programs.end(), -1),
                 programs.end());
  return programs;
}

static bool isOfCall(FrameKind kind) {
  return kind == FrameKind::tmp || kind == FrameKind::scratch;
}

/// The buffers of `frames` that are in use at the instruction of the program
/// at which most bytes are.
std::vector<LiveBuffer> PeakFinder::liveIn(int32_t program,
                                           const std::set<int32_t> &frames) {
  std::vector<LiveBuffer> live;
  std::vector<int64_t> change;
  const Touched &touched = touchedBy(program);
  change.resize(touched.numInstructions + 1);
  for (const auto &[buffer, span] : touched.buffers) {
    if (isOfCall(plan_.frames[plan_.buffers[buffer].frame].kind)) {
      change[span.first] += plan_.buffers[buffer].bytes;
      change[span.last + 1] -= plan_.buffers[buffer].bytes;
    }
  }
  int64_t now = 0, most = 0;
  size_t at = 0;
  for (size_t i = 0; i < change.size(); ++i) {
    now += change[i];
    if (now > most) {
      most = now;
      at = i;
    }
  }
  for (size_t i = 0; i < plan_.buffers.size(); ++i) {
    const Buffer &buffer = plan_.buffers[i];
    const Frame &frame = plan_.frames[buffer.frame];
    auto index = static_cast<int32_t>(i);
    auto span = touched.buffers.find(index);
    bool isLive = isOfCall(frame.kind)
                      ? span != touched.buffers.end() && span->second.holds(at)
                      : frames.count(buffer.frame) > 0;
    if (isLive && buffer.bytes > 0) {
      live.push_back({index, buffer.bytes * frame.slots});
    }
  }
  return live;
}

void PeakFinder::findIn(const Entry &entry) {
  std::vector<int32_t> programs = walk(entry);
  std::map<int32_t, Span> spans;
  for (size_t at = 0; at < programs.size(); ++at) {
    for (int32_t frame : touchedBy(programs[at]).frames) {
      spans[frame].touch(at);
    }
  }
  // Calls of one program with the same frames in use are alike.
  std::set<std::pair<int32_t, std::set<int32_t>>> seen;
  for (size_t at = 0; at < programs.size(); ++at) {
    std::set<int32_t> frames;
    for (size_t i = 0; i < plan_.frames.size(); ++i) {
      auto frame = static_cast<int32_t>(i);
      auto span = spans.find(frame);
      if (plan_.frames[i].kind == FrameKind::state
              ? hasStage(plan_.frames[i].stages, stage_)
              : span != spans.end() && span->second.holds(at)) {
        frames.insert(frame);
      }
    }
    if (!seen.insert({programs[at], frames}).second) {
      continue;
    }
    std::vector<LiveBuffer> live = liveIn(programs[at], frames);
    int64_t bytes = 0;
    for (const LiveBuffer &each : live) {
      bytes += each.bytes;
    }
    if (bytes > peak_.bytes) {
      peak_ = {programs[at], bytes, std::move(live)};
    }
  }
}

Peak PeakFinder::find() {
  for (const Entry &entry : plan_.entries) {
    findIn(entry);
  }
  std::stable_sort(peak_.live.begin(), peak_.live.end(),
                   [](const LiveBuffer &one, const LiveBuffer &other) {
                     return one.bytes > other.bytes;
                   });
  return std::move(peak_);
}

Peak peakOf(const Plan &plan, int64_t stage) {
  return PeakFinder(plan, stage).find();
}

} // namespace llmc::rt::plan
