//===- Summary.cpp - What a plan does, before it runs ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Read from the plan, so that it says what will happen and not what was asked
// for. Memory and communication of each stage are printed by the run itself.
//
// Test: test/EndToEnd/summary.test
//===----------------------------------------------------------------------===//

#include "Summary.h"
#include "Driver/Compile.h"

#include "llmc/Runtime/Base/InFlight.h"
#include "llmc/Runtime/Executor/RunLoop.h"
#include "llmc/Runtime/Plan/Verify/PlanVerify.h"

#include <algorithm>
#include <set>

using namespace llmc;
using namespace llmc::driver;
using rt::plan::Phase;

/// Of a mesh of several devices.
static std::string describeMesh(const rt::Mesh &mesh) {
  std::string text;
  for (const rt::MeshAxis &axis : mesh.axes)
    if (axis.size > 1)
      text += (text.empty() ? "" : " x ") + axis.name + "=" +
              std::to_string(axis.size);
  return "mesh: " + text + ", " + std::to_string(mesh.numDevices()) +
         " devices\n";
}

/// The most (chunk, microbatch) pairs of a stage between the start of their
/// forward and the end of their backward.
static int64_t getInFlight(const rt::plan::Plan &plan,
                           const rt::plan::Entry &entry, int64_t stage) {
  int64_t numStages = plan.mesh.numStages();
  rt::InFlight<std::pair<int32_t, int32_t>> spans;
  for (size_t at = stage; at < entry.table.size(); at += numStages)
    if (const rt::plan::Cell &cell = entry.table[at]; cell.program >= 0)
      spans.touch({plan.programs[cell.program].chunk, cell.microbatch},
                  static_cast<int64_t>(at));
  return spans.most();
}

static std::string describeSchedule(const rt::plan::Plan &plan,
                                    const rt::plan::Entry &entry,
                                    const std::string &schedule) {
  auto count = [](int64_t number, const char *one, const char *several) {
    return std::to_string(number) + (number == 1 ? one : several);
  };
  std::string text = "schedule: ";
  if (plan.mesh.numStages() > 1)
    text += schedule + ", ";
  text += count(entry.numChunks, " chunk, ", " chunks, ") +
          count(entry.numMicrobatches, " microbatch", " microbatches");
  text += plan.mesh.numStages() > 1 ? "; in flight on each stage: "
                                    : "; in flight: ";
  for (int64_t stage = 0; stage < plan.mesh.numStages(); ++stage)
    text +=
        (stage ? ", " : "") + std::to_string(getInFlight(plan, entry, stage));
  return text + "\n";
}

/// True when no axis splits any part of the state.
static bool isReplicated(const rt::plan::State &state) {
  for (const rt::plan::StatePart &part : state.parts)
    for (const rt::DimLayout &dim : part.layout.dims)
      if (!dim.axes.empty())
        return false;
  return true;
}

static std::string describeStates(const rt::plan::Plan &plan) {
  int64_t parameters = 0, tensors = 0, whole = 0;
  uint64_t wholeBytes = 0;
  std::string padded;
  for (const rt::plan::State &state : plan.states) {
    int64_t elements = 1;
    for (int64_t size : state.shape)
      elements *= size;
    if (state.role == rt::plan::StateRole::parameter) {
      parameters += elements;
      ++tensors;
      whole += isReplicated(state);
      wholeBytes +=
          isReplicated(state) ? elements * rt::sizeOf(state.dtype) : 0;
    }
    std::set<std::string> sizes;
    for (const rt::plan::StatePart &part : state.parts)
      for (const rt::DimLayout &dim : part.layout.dims)
        if (dim.extent() != dim.size())
          sizes.insert(std::to_string(dim.size()) + " -> " +
                       std::to_string(dim.extent()));
    for (const std::string &size : sizes)
      padded += (padded.empty() ? "" : ", ") + state.name + " " + size;
  }
  std::string text = "parameters: " + rt::printCount(parameters) + " in " +
                     std::to_string(tensors) + " tensors";
  if (plan.mesh.numDevices() > 1)
    text += "; " + std::to_string(whole) + " whole on each device (" +
            rt::printBytes(wholeBytes) + ")";
  return text + "\n" + (padded.empty() ? "" : "padded: " + padded + "\n");
}

/// What the loss of several microbatches is, where that is not plain.
static std::string describeLoss(const rt::plan::Plan &plan,
                                const rt::plan::Entry &entry,
                                const std::string &loss) {
  if (entry.kind != rt::plan::EntryKind::train || entry.numMicrobatches == 1)
    return "";
  if (loss != "exact")
    return "loss: " + loss + ", not that of one batch of all samples\n";
  const rt::plan::Entry *counting = rt::plan::findCounting(plan, entry);
  if (!counting)
    return "";
  size_t numCounts = counting->metrics.size();
  return "loss: " + std::to_string(numCounts) +
         (numCounts == 1 ? " count" : " counts") +
         " of the data, summed before each step\n";
}

std::string driver::describePlan(const rt::plan::Plan &plan,
                                 const std::string &entry,
                                 const std::string &schedule,
                                 const std::string &loss) {
  std::string text;
  if (plan.mesh.numDevices() > 1)
    text += describeMesh(plan.mesh);
  for (const rt::plan::Entry &each : plan.entries)
    if (each.name == entry &&
        (plan.mesh.numDevices() > 1 || each.numMicrobatches > 1))
      text += describeSchedule(plan, each, schedule) +
              describeLoss(plan, each, loss);
  return text + describeStates(plan);
}
