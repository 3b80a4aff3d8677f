//===- TripSteps.cpp - What runs in each trip of a loop -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See TripSteps.h.
//
//===----------------------------------------------------------------------===//

#include "TripSteps.h"
#include <map>

using namespace mlir;
using namespace llmc;

static std::vector<TripStep> readStepsOf(const dist::LoopRuns &loops, int run,
                                         const StepStages &stages) {
  std::vector<TripStep> steps;
  for (const dist::LoopStep &step : loops.getSteps(run)) {
    TripStep next{step.op, stages, {}};
    if (step.run >= 0)
      next.inner.push_back({loops.getRuns()[step.run].loop,
                            readStepsOf(loops, step.run, stages)});
    steps.push_back(std::move(next));
  }
  return steps;
}

std::vector<TripStep> llmc::readSteps(const dist::LoopRuns &loops,
                                      const StepStages &stages) {
  return readStepsOf(loops, -1, stages);
}

/// The steps of a trip of the innermost loop of `path`, of which those around
/// it are the last steps so far.
static std::vector<TripStep> &findSteps(TripSteps &outermost,
                                        ArrayRef<dist::LoopAttr> path) {
  TripSteps *at = &outermost;
  for (dist::LoopAttr loop : path.drop_front()) {
    bool isLast = !at->steps.empty() && !at->steps.back().inner.empty() &&
                  at->steps.back().inner.front().loop == loop;
    if (!isLast)
      at->steps.push_back({nullptr, {}, {TripSteps{loop, {}}}});
    at = &at->steps.back().inner.front();
  }
  return at->steps;
}

std::vector<TripStep>
llmc::readSegments(Block &block,
                   llvm::function_ref<StepStages(dist::SegmentOp)> stagesOf) {
  std::vector<TripStep> steps;
  std::map<std::pair<int64_t, const void *>, size_t> known;
  llvm::DenseMap<Value, int64_t> chunkOf;
  auto find = [&](int64_t chunk,
                  dist::LoopAttr loop) -> std::vector<TripStep> & {
    std::vector<dist::LoopAttr> path = loop.getPath();
    auto [at, isNew] = known.insert(
        {{chunk, path.front().getAsOpaquePointer()}, steps.size()});
    if (isNew)
      steps.push_back({nullptr, {}, {TripSteps{path.front(), {}}}});
    return findSteps(steps[at->second].inner.front(), path);
  };
  for (Operation &op : block.without_terminator()) {
    auto segment = dyn_cast<dist::SegmentOp>(op);
    auto leave = dyn_cast<dist::LeaveOp>(op);
    if (segment && segment.getLoop()) {
      auto chunk = static_cast<int64_t>(*segment.getChunk());
      for (Value result : segment.getResults())
        chunkOf[result] = chunk;
      std::vector<TripStep> &own = find(chunk, *segment.getLoop());
      for (Operation &inner : segment.getBody().front().without_terminator())
        own.push_back({&inner, stagesOf(segment), {}});
    } else if (leave && leave.getLoop().getIn()) {
      find(chunkOf.lookup(leave.getInput()), leave.getLoop().getIn())
          .push_back({leave, {}, {}});
    } else {
      steps.push_back({&op, {}, {}});
    }
  }
  return steps;
}
