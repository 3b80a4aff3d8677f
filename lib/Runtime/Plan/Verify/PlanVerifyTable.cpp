//===- PlanVerifyTable.cpp - The schedule table ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One forward and, in training, one backward (or one backward-input and one
// backward-weight) of each chunk and microbatch; a chunk lives on one stage;
// forward runs after the forward of the chunk before it, backward after its
// forward and after the backward of the chunk after it; weights after inputs.
// Backwards of a chunk follow the order of microbatches, for bit-equal sums.
//
//   slot     0   1   2   3         in flight on stage 0: 2
//   stage 0  F0  F1  .   B0  ...   so `act` frames of chunk 0 need 2 slots
//   stage 1  .   F0  B0  F1  ...
//
// Test: test/Runtime/Plan/Verify/PlanVerifyTableTest.cpp
//===----------------------------------------------------------------------===//

#include "PlanChecks.h"

#include "llmc/Runtime/Base/InFlight.h"
#include "llmc/Runtime/Base/Log.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>

namespace llmc::rt::plan {

namespace {
class TableCheck {
public:
  TableCheck(const Plan &plan, const Entry &entry)
      : plan_(plan), entry_(entry), numStages_(plan.mesh.numStages()) {}

  Status run();

private:
  using Key = std::pair<Phase, int32_t>;

  Status readCells();
  Status checkComplete() const;
  Status checkDependencies() const;
  Status checkReorder() const;
  Status checkInFlight() const;
  /// The frames that the entry's programs and what they call use.
  std::set<int32_t> findFrames() const;
  /// The row of (phase, chunk, microbatch), or -1.
  int64_t rowOf(Phase phase, int32_t chunk, int64_t microbatch) const;
  Status before(Phase first, int32_t firstChunk, Phase second,
                int32_t secondChunk) const;
  bool has(Phase phase, int32_t chunk) const {
    return rows_.count({phase, chunk}) != 0;
  }

  const Plan &plan_;
  const Entry &entry_;
  int64_t numStages_;
  /// For each phase and chunk, the row of each microbatch (-1: none).
  std::map<Key, std::vector<int64_t>> rows_;
  std::map<int32_t, int64_t> stageOf_;
};
} // namespace

Status TableCheck::readCells() {
  for (size_t at = 0; at < entry_.table.size(); ++at) {
    const Cell &cell = entry_.table[at];
    if (cell.program < 0) {
      continue;
    }
    const Program &program = plan_.programs[cell.program];
    auto row = static_cast<int64_t>(at) / numStages_;
    int64_t stage = static_cast<int64_t>(at) % numStages_;
    if (program.phase == Phase::other || program.phase == Phase::update ||
        program.chunk < 0 || program.chunk >= entry_.numChunks) {
      return mismatch(fmt::format(
          "expected the table to hold forward and backward programs of chunks "
          "below {}, got '{}' ({}, chunk {})",
          entry_.numChunks, escape(program.name), nameOf(program.phase),
          program.chunk));
    }
    auto [home, fresh] = stageOf_.insert({program.chunk, stage});
    if (!fresh && home->second != stage) {
      return mismatch(fmt::format("chunk {} runs on stages {} and {}",
                                  program.chunk, home->second, stage));
    }
    auto &rows = rows_[{program.phase, program.chunk}];
    rows.resize(entry_.numMicrobatches, -1);
    if (rows[cell.microbatch] >= 0) {
      return mismatch(fmt::format("{} of chunk {} and microbatch {} occurs in "
                                  "rows {} and {}",
                                  nameOf(program.phase), program.chunk,
                                  cell.microbatch, rows[cell.microbatch], row));
    }
    rows[cell.microbatch] = row;
  }
  return Status::success();
}

int64_t TableCheck::rowOf(Phase phase, int32_t chunk,
                          int64_t microbatch) const {
  auto found = rows_.find({phase, chunk});
  return found == rows_.end() ? -1 : found->second[microbatch];
}

Status TableCheck::checkComplete() const {
  for (const auto &[key, rows] : rows_) {
    for (size_t m = 0; m < rows.size(); ++m) {
      if (rows[m] < 0) {
        return mismatch(fmt::format("{} of chunk {} lacks microbatch {}",
                                    nameOf(key.first), key.second, m));
      }
    }
  }
  for (int32_t chunk = 0; chunk < entry_.numChunks; ++chunk) {
    if (!has(Phase::forward, chunk)) {
      return mismatch(fmt::format("chunk {} has no forward", chunk));
    }
    bool merged = has(Phase::backward, chunk);
    bool input = has(Phase::backwardInput, chunk);
    bool weight = has(Phase::backwardWeight, chunk);
    if (entry_.kind != EntryKind::train) {
      if (merged || input || weight) {
        return mismatch(fmt::format("chunk {} has a backward in an entry that "
                                    "does not train",
                                    chunk));
      }
    } else if (merged ? input || weight : !input || !weight) {
      return mismatch(fmt::format(
          "expected chunk {} to have one backward, or backward_input and "
          "backward_weight",
          chunk));
    }
  }
  return Status::success();
}

Status TableCheck::before(Phase first, int32_t firstChunk, Phase second,
                          int32_t secondChunk) const {
  if (!has(first, firstChunk) || !has(second, secondChunk)) {
    return Status::success();
  }
  for (int64_t m = 0; m < entry_.numMicrobatches; ++m) {
    int64_t a = rowOf(first, firstChunk, m), b = rowOf(second, secondChunk, m);
    if (a >= b) {
      return mismatch(fmt::format(
          "{} of chunk {} (row {}) must come before {} of chunk {} (row {}), "
          "microbatch {}",
          nameOf(first), firstChunk, a, nameOf(second), secondChunk, b, m));
    }
  }
  return Status::success();
}

Status TableCheck::checkDependencies() const {
  for (int32_t chunk = 0; chunk < entry_.numChunks; ++chunk) {
    if (chunk > 0) {
      LLMC_TRY(before(Phase::forward, chunk - 1, Phase::forward, chunk));
    }
    for (Phase phase : {Phase::backward, Phase::backwardInput}) {
      LLMC_TRY(before(Phase::forward, chunk, phase, chunk));
      for (Phase next : {Phase::backward, Phase::backwardInput}) {
        LLMC_TRY(before(next, chunk + 1, phase, chunk));
      }
    }
    LLMC_TRY(before(Phase::backwardInput, chunk, Phase::backwardWeight, chunk));
  }
  return Status::success();
}

Status TableCheck::checkReorder() const {
  for (const auto &[key, rows] : rows_) {
    if (key.first != Phase::forward && !entry_.reorder &&
        !std::is_sorted(rows.begin(), rows.end())) {
      return mismatch(fmt::format("{} of chunk {} leaves the order of "
                                  "microbatches",
                                  nameOf(key.first), key.second));
    }
  }
  return Status::success();
}

std::set<int32_t> TableCheck::findFrames() const {
  std::set<int32_t> frames, seen;
  std::vector<int32_t> open;
  for (const Cell &cell : entry_.table) {
    open.push_back(cell.program);
  }
  while (!open.empty()) {
    int32_t program = open.back();
    open.pop_back();
    if (program < 0 || !seen.insert(program).second) {
      continue;
    }
    for (const Instruction &each : plan_.programs[program].instructions) {
      for (const OperandUse &use : usesOf(each.action)) {
        frames.insert(plan_.buffers[use.operand->buffer].frame);
      }
      open.push_back(calleeOf(each.action));
    }
  }
  return frames;
}

/// Frames of other entries hold what those have in flight.
Status TableCheck::checkInFlight() const {
  for (int32_t number : findFrames()) {
    const Frame &frame = plan_.frames[number];
    if (frame.kind != FrameKind::act || !has(Phase::forward, frame.chunk)) {
      continue;
    }
    rt::InFlight<int64_t> microbatches;
    for (int64_t m = 0; m < entry_.numMicrobatches; ++m) {
      // A backward for the weights comes after that for the input.
      int64_t end = std::max(rowOf(Phase::backward, frame.chunk, m),
                             rowOf(Phase::backwardWeight, frame.chunk, m));
      if (end >= 0) {
        microbatches.touch(m, rowOf(Phase::forward, frame.chunk, m));
        microbatches.touch(m, end);
      }
    }
    int64_t most = microbatches.most();
    if (frame.slots < most) {
      return mismatch(fmt::format("expected frame '{}' to have a slot for each "
                                  "of {} microbatches in flight, got {}",
                                  escape(frame.name), most, frame.slots));
    }
  }
  return Status::success();
}

Status TableCheck::run() {
  LLMC_TRY(readCells());
  LLMC_TRY(checkComplete());
  LLMC_TRY(checkDependencies());
  LLMC_TRY(checkReorder());
  return checkInFlight();
}

Status checkTable(const Plan &plan, const Entry &entry) {
  return TableCheck(plan, entry).run();
}

} // namespace llmc::rt::plan
