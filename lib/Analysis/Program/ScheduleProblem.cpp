//===- ScheduleProblem.cpp - Schedules read from the IR -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmc/Analysis/Program/ScheduleProblem.h"
#include "llmc/Analysis/Program/Program.h"

using namespace mlir;
using namespace llmc;

int64_t llmc::getNumChunks(dist::ScheduleAttr schedule, int64_t numStages) {
  int64_t numChunks = numStages;
  if (dist::TableAttr table = schedule.getTable())
    for (const dist::Cell &cell : table.getCells())
      numChunks = std::max<int64_t>(numChunks, cell.chunk + 1);
  if (DictionaryAttr options = schedule.getOptions())
    if (auto chunks = options.getAs<IntegerAttr>("chunks"))
      numChunks *= chunks.getInt();
  return numChunks;
}

ScheduleProblem llmc::getScheduleProblem(dist::MeshOp mesh,
                                         ArrayRef<int64_t> chunks,
                                         int64_t numMicrobatches) {
  ScheduleProblem problem;
  problem.numStages = getPipelineSize(mesh);
  problem.numMicrobatches = numMicrobatches;
  int64_t numChunks = chunks.empty() ? 1 : chunks.back() + 1;
  for (int64_t chunk = 0; chunk < numChunks; ++chunk)
    problem.stageOf.push_back(getStageOfChunk(chunk, problem.numStages));
  return problem;
}

Schedule llmc::readSchedule(dist::TableAttr table) {
  Schedule schedule;
  for (int64_t row = 0; row < table.getNumRows(); ++row)
    schedule.emplace_back(table.getRow(row).begin(), table.getRow(row).end());
  return schedule;
}

dist::TableAttr llmc::makeTable(MLIRContext *context,
                                const Schedule &schedule) {
  SmallVector<dist::Cell> cells;
  for (const auto &row : schedule)
    llvm::append_range(cells, row);
  return dist::TableAttr::get(
      context, static_cast<int64_t>(schedule.front().size()), cells);
}
