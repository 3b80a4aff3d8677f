//===- ScheduleCsv.h - Schedules as comma-separated text --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One line for each pipeline stage, one cell for each slot of time; an empty
// cell or `.` is idle, rows end with idle cells where others are longer. Blank
// lines, and what stands after `#`, are left out.
//
//   # two stages, two microbatches
//   F0.0, F0.1, , B0.0, , B0.1, U
//   , F1.0, B1.0, F1.1, B1.1, , U
//
// Test: test/Solvers/Schedules/ScheduleTest.cpp
//===----------------------------------------------------------------------===//

#ifndef LLMC_SOLVERS_SCHEDULES_SCHEDULECSV_H
#define LLMC_SOLVERS_SCHEDULES_SCHEDULECSV_H

#include "llmc/Solvers/Schedules/Schedule.h"

namespace llmc {

/// Reads a table; returns what is wrong, with line and column, or an empty
/// string. Whether it is legal says `checkSchedule`.
std::string readScheduleCsv(std::string_view text, Schedule &schedule);

std::string writeScheduleCsv(const Schedule &schedule);

} // namespace llmc

#endif // LLMC_SOLVERS_SCHEDULES_SCHEDULECSV_H
