//===- MatchTrace.cpp - Which instruction each event of a trace is --------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A stream runs its instructions in the plan's order, so the events of a lane
// are the spans of the plan, step after step. Their names say whether they are.
//
// Test: test/Runtime/Report/ReportTest.cpp
//===----------------------------------------------------------------------===//

#include "ReportData.h"

#include "llmc/Runtime/Base/Log.h"
#include "llmc/Runtime/Plan/Print/PlanPrint.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <map>
#include <set>

namespace llmc::rt::report {

namespace {
/// One stream of a stage: what the plan runs there, and what ran.
struct Lane {
  std::vector<size_t> spans; ///< Numbers in the planned step.
  std::vector<const TraceEvent *> events;
};
using LaneKey = std::pair<int64_t, std::string>; ///< Device, stream.

class Matcher {
public:
  Matcher(const ReportData &data, const std::vector<TraceEvent> &events);

  Result<MeasuredStep> run();

private:
  void take(const std::vector<TraceEvent> &events);
  Status countSteps();
  Status checkNames(const LaneKey &key, const Lane &lane) const;
  void take(const Lane &lane);

  const ReportData &data;
  std::map<LaneKey, Lane> lanes;
  MeasuredStep result;
};
} // namespace

/// The first device of each stage.
static std::vector<int64_t> firstDevices(const Mesh &mesh) {
  std::vector<int64_t> devices(static_cast<size_t>(mesh.numStages()), -1);
  for (int64_t device = mesh.numDevices(); device-- > 0;) {
    devices[static_cast<size_t>(mesh.stageOf(device))] = device;
  }
  return devices;
}

Matcher::Matcher(const ReportData &data, const std::vector<TraceEvent> &events)
    : data(data) {
  std::vector<int64_t> devices = firstDevices(data.plan.mesh);
  for (size_t i = 0; i < data.planned.spans.size(); ++i) {
    const plan::PlannedSpan &span = data.planned.spans[i];
    lanes[{devices[static_cast<size_t>(span.stage)],
           data.plan.streams[static_cast<size_t>(span.stream)].name}]
        .spans.push_back(i);
  }
  take(events);
  for (auto &[key, lane] : lanes) {
    std::stable_sort(lane.events.begin(), lane.events.end(),
                     [](const TraceEvent *a, const TraceEvent *b) {
                       return a->begin < b->begin;
                     });
  }
}

/// As traces name it.
static std::string nameOf(const plan::Plan &plan, int32_t program,
                          const plan::Action &action) {
  return plan.programs[program].name + ": " + nameOfAction(plan, action);
}

/// Other devices of a stage are left out, and the host's own copies; so is what
/// other entries of the plan run, as counts of the data or an evaluation.
void Matcher::take(const std::vector<TraceEvent> &events) {
  std::set<std::string> own, others;
  for (const plan::PlannedSpan &span : data.planned.spans) {
    own.insert(
        nameOf(data.plan, span.program, instructionOf(data.plan, span).action));
  }
  for (size_t i = 0; i < data.plan.programs.size(); ++i) {
    for (const plan::Instruction &each : data.plan.programs[i].instructions) {
      others.insert(nameOf(data.plan, static_cast<int32_t>(i), each.action));
    }
  }
  for (const TraceEvent &event : events) {
    auto lane = lanes.find({event.device, event.stream});
    if (lane != lanes.end() &&
        (own.count(event.name) || !others.count(event.name))) {
      lane->second.events.push_back(&event);
    }
  }
}

static Status otherPlan(std::string what) {
  return makeError(ErrorKind::mismatch, std::move(what))
      .withHint("the trace is of another plan, or of several entries");
}

/// As many in all lanes.
Status Matcher::countSteps() {
  for (const auto &[key, lane] : lanes) {
    size_t each = lane.spans.size(), all = lane.events.size();
    auto steps = static_cast<int64_t>(all / each);
    result.steps = result.steps ? result.steps : steps;
    if (all == 0 || all % each || steps != result.steps) {
      return otherPlan(fmt::format(
          "expected {} events for each step on stream '{}' of device {}, got "
          "{}",
          each, escape(key.second), key.first, all));
    }
  }
  return Status::success();
}

Status Matcher::checkNames(const LaneKey &key, const Lane &lane) const {
  const plan::Plan &plan = data.plan;
  for (size_t i = 0; i < lane.events.size(); ++i) {
    const plan::PlannedSpan &span =
        data.planned.spans[lane.spans[i % lane.spans.size()]];
    std::string name =
        nameOf(plan, span.program, instructionOf(plan, span).action);
    if (lane.events[i]->name != name) {
      return otherPlan(fmt::format(
          "expected event {} of stream '{}' of device {} to be '{}', got '{}'",
          i, escape(key.second), key.first, escape(name),
          escape(lane.events[i]->name)));
    }
  }
  return Status::success();
}

void Matcher::take(const Lane &lane) {
  size_t each = lane.spans.size();
  for (size_t i = 0; i < lane.events.size(); ++i) {
    const TraceEvent &event = *lane.events[i];
    size_t span = lane.spans[i % each];
    result.seconds[span] +=
        (event.end - event.begin) / static_cast<double>(result.steps);
    // The last step's times stay.
    result.last[span].begin = event.begin;
    result.last[span].end = event.end;
  }
}

Result<MeasuredStep> Matcher::run() {
  LLMC_TRY(countSteps());
  result.last = data.planned.spans;
  result.seconds.assign(result.last.size(), 0);
  for (const auto &[key, lane] : lanes) {
    LLMC_TRY(checkNames(key, lane));
    take(lane);
  }
  double first = std::numeric_limits<double>::max();
  for (const plan::PlannedSpan &span : result.last) {
    first = std::min(first, span.begin);
  }
  for (plan::PlannedSpan &span : result.last) {
    span.begin -= first;
    span.end -= first;
    result.length = std::max(result.length, span.end);
  }
  return std::move(result);
}

Result<MeasuredStep> matchTrace(const ReportData &data,
                                const std::vector<TraceEvent> &events) {
  for (const plan::PlannedSpan &span : data.planned.spans) {
    if (std::holds_alternative<plan::While>(
            instructionOf(data.plan, span).action)) {
      return makeError(ErrorKind::unsupported,
                       "expected a trace of loops with known trips, got a loop "
                       "that the run ends")
          .withHint("leave --trace out");
    }
  }
  return Matcher(data, events).run();
}

} // namespace llmc::rt::report
