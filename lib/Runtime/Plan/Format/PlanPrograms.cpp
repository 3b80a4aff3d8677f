//===- PlanPrograms.cpp - Which programs a stage runs ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Test: test/Runtime/Plan/Format/PlanRoutesTest.cpp
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Plan/Format/PlanPrograms.h"

#include <algorithm>
#include <set>

namespace llmc::rt::plan {

/// Marks the programs that an entry runs on a stage.
static void markEntry(const Plan &plan, const Entry &entry, int64_t stage,
                      std::vector<bool> &runs) {
  auto mark = [&](int32_t program) {
    if (program >= 0) {
      runs[program] = true;
    }
  };
  auto stages = static_cast<size_t>(plan.mesh.numStages());
  mark(entry.prologue.empty() ? -1 : entry.prologue[stage]);
  mark(entry.epilogue.empty() ? -1 : entry.epilogue[stage]);
  for (size_t at = stage; at < entry.table.size(); at += stages) {
    mark(entry.table[at].program);
  }
}

/// The marked programs and all that they call.
static std::vector<int32_t> closeOverCalls(const Plan &plan,
                                           std::vector<bool> runs) {
  std::vector<int32_t> found;
  for (size_t i = runs.size(); i-- > 0;) {
    if (!runs[i]) {
      continue;
    }
    found.push_back(static_cast<int32_t>(i));
    for (const Instruction &instruction : plan.programs[i].instructions) {
      int32_t callee = calleeOf(instruction.action);
      if (callee >= 0) {
        runs[callee] = true; // Of a smaller index.
      }
    }
  }
  std::reverse(found.begin(), found.end());
  return found;
}

std::vector<int32_t> entryPrograms(const Plan &plan, const Entry &entry,
                                   int64_t stage) {
  std::vector<bool> runs(plan.programs.size());
  markEntry(plan, entry, stage, runs);
  return closeOverCalls(plan, std::move(runs));
}

std::vector<int32_t> reachablePrograms(const Plan &plan, int64_t stage) {
  std::vector<bool> runs(plan.programs.size());
  for (const Entry &entry : plan.entries) {
    markEntry(plan, entry, stage, runs);
  }
  return closeOverCalls(plan, std::move(runs));
}

std::vector<int32_t> programsUnder(const Plan &plan, int32_t program) {
  std::vector<bool> runs(plan.programs.size());
  runs[program] = true;
  return closeOverCalls(plan, std::move(runs));
}

std::vector<int32_t> statesWrittenBy(const Plan &plan, const Action &action) {
  std::vector<int32_t> buffers;
  for (const OperandUse &use : usesOf(action)) {
    int32_t frame = plan.buffers[use.operand->buffer].frame;
    if (use.access != Access::read &&
        plan.frames[frame].kind == FrameKind::state) {
      buffers.push_back(use.operand->buffer);
    }
  }
  return buffers;
}

std::vector<int32_t> streamsOf(const Plan &plan, const While &loop,
                               int32_t stream) {
  std::set<int32_t> streams = {stream};
  for (int32_t program : programsUnder(plan, loop.program)) {
    for (const Instruction &each : plan.programs[program].instructions) {
      if (calleeOf(each.action) < 0) {
        streams.insert(each.stream);
      }
    }
  }
  return {streams.begin(), streams.end()};
}

} // namespace llmc::rt::plan
