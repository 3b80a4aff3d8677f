//===- Schedule.h - Tables of (device, slot) -> cell ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A schedule is a table; generators make it, `checkSchedule` accepts it or says
// why not, wherever it came from. Gradient accumulation is the schedule with
// one stage.
//
//   1f1b, 2 stages, 2 microbatches        slot 0    1    2    3    4    5
//     stage 0                                  F0.0 F0.1 .    B0.0 .    B0.1
//     stage 1                                  .    F1.0 B1.0 F1.1 B1.1 .
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_SOLVERS_SCHEDULES_SCHEDULE_H
#define LLMC_SOLVERS_SCHEDULES_SCHEDULE_H

#include "llmc/Solvers/Schedules/ScheduleCell.h"
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace llmc {

/// The stage on which a chunk lives. A stage may hold several.
inline int64_t getStageOfChunk(int64_t chunk, int64_t numStages) {
  return chunk % numStages;
}

struct ScheduleProblem {
  int64_t numStages = 1;
  /// The stage of each chunk.
  std::vector<int64_t> stageOf;
  int64_t numMicrobatches = 1;
};

/// A row of cells for each stage, all of one length; each is idle or runs one
/// cell in a slot of time.
using Schedule = std::vector<std::vector<ScheduleCell>>;

/// Names of the generators.
const std::vector<std::string_view> &getScheduleNames();

/// GPipe (Huang et al., 1811.06965): all forwards, then all backwards.
Schedule scheduleGPipe(const ScheduleProblem &problem);

/// 1F1B (PipeDream-Flush, 2006.09503; DAPPLE, 2007.01045): stage i runs
/// min(p - i - 1, m) forwards ahead, then forward and backward in turn.
/// Assumes chunk c on stage c.
Schedule schedule1F1B(const ScheduleProblem &problem);

/// Interleaved 1F1B (Narayanan et al., 2104.04473, section 2.2): v chunks on
/// each stage, whose forwards and backwards are run for p microbatches at a
/// time; stage i runs min(2 (p - i - 1) + (v - 1) p, v m) forwards ahead. The
/// pipeline fills and drains in 1/v of the time of 1F1B. Assumes v p chunks,
/// chunk c on stage c mod p, and m divisible by p.
///
///   2 stages, 2 chunks on each, 2 microbatches
///     F0.0 F0.1 F2.0 F2.1 .    B2.0 .    B2.1 B0.0 B0.1 U
///     .    F1.0 F1.1 F3.0 B3.0 F3.1 B3.1 B1.0 B1.1 .    U
Schedule scheduleInterleaved(const ScheduleProblem &problem);

/// Forwards of all chunks, one after the other: an entry without backward.
Schedule scheduleForward(const ScheduleProblem &problem);

/// Makes the table of the generator `name`. Returns what it would expect
/// instead of this problem or this name, or an empty string.
std::string makeSchedule(std::string_view name, const ScheduleProblem &problem,
                         Schedule &schedule);

/// Empty when the table is legal: each chunk and microbatch has one F, one B,
/// and one W if there is any W; each runs on its stage, after what it depends
/// on; B and W of a chunk go by microbatch; with backward, each stage ends with
/// one update, else there is neither B nor W nor update. Otherwise the reason.
std::string checkSchedule(const ScheduleProblem &problem,
                          const Schedule &schedule, bool hasBackward);

/// The greatest number of microbatches whose forward has begun and whose
/// backward has not ended, for each chunk.
std::vector<int64_t> getInFlight(const ScheduleProblem &problem,
                                 const Schedule &schedule);

} // namespace llmc

#endif // LLMC_SOLVERS_SCHEDULES_SCHEDULE_H
