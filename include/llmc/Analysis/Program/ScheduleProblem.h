//===- ScheduleProblem.h - Schedules read from the IR -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_ANALYSIS_PROGRAM_SCHEDULEPROBLEM_H
#define LLMC_ANALYSIS_PROGRAM_SCHEDULEPROBLEM_H

#include "llmc/Dialect/Dist/IR/Dist.h"
#include "llmc/Solvers/Schedules/Schedule.h"
#include "llmc/Support/LLVM.h"

namespace llmc {

/// Into how many chunks the model is cut: those of a given table, or as many on
/// each stage as the schedule's option `chunks` says, 1 without it.
int64_t getNumChunks(dist::ScheduleAttr schedule, int64_t numStages);

/// `chunks` gives the chunk of each block.
ScheduleProblem getScheduleProblem(dist::MeshOp mesh, ArrayRef<int64_t> chunks,
                                   int64_t numMicrobatches);

Schedule readSchedule(dist::TableAttr table);
dist::TableAttr makeTable(MLIRContext *context, const Schedule &schedule);

} // namespace llmc

#endif // LLMC_ANALYSIS_PROGRAM_SCHEDULEPROBLEM_H
