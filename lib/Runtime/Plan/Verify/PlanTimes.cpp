//===- PlanTimes.cpp - How long a step takes by the machine ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One device of each stage is walked. A collective within a stage is alike for
// all its members, so it is an entry of its own; one between stages, and a
// message, is a meeting. Its number counts those of its name, in which both
// ends have one order.
//
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Plan/Verify/PlanTimes.h"

#include "EntryWalk.h"
#include "llmc/Runtime/Base/LibraryCost.h"
#include "llmc/Runtime/Plan/Verify/StreamTimes.h"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>

namespace llmc::rt::plan {

/// Of a core and of virtual devices, where nothing is known of the machine.
constexpr double usualFlops = 1e11, usualMemoryBandwidth = 2e10;
static const MachineLink usualLink = {"", 1e-5, 1e10};

/// That a collective over these axes waits for.
static const MachineLink &linkOf(const Plan &plan,
                                 const std::vector<int32_t> &axes) {
  const Machine &machine = plan.machine;
  const MachineLink *slowest = nullptr;
  for (int32_t axis : axes) {
    if (axis >= 0 && static_cast<size_t>(axis) < machine.axisLinks.size()) {
      const MachineLink &link = machine.links[machine.axisLinks[axis]];
      slowest =
          !slowest || link.bandwidth < slowest->bandwidth ? &link : slowest;
    }
  }
  return slowest ? *slowest : usualLink;
}

static double bytesOf(const std::vector<Operand> &operands) {
  double bytes = 0;
  for (const Operand &each : operands) {
    bytes += static_cast<double>(spanOf(each).value_or(0));
  }
  return bytes;
}

double bytesOf(const Action &action) {
  double bytes = 0;
  for (const OperandUse &use : usesOf(action)) {
    if (!use.isScratch) {
      bytes += static_cast<double>(spanOf(*use.operand).value_or(0)) *
               (use.access == Access::readWrite ? 2 : 1);
    }
  }
  return bytes;
}

bool isCommunication(const Action &action) {
  return std::holds_alternative<Collective>(action) ||
         std::holds_alternative<Send>(action) ||
         std::holds_alternative<Receive>(action) ||
         std::holds_alternative<Exchange>(action);
}

/// A ring has a message to each other member, an all-reduce two.
static double secondsOf(const Plan &plan, const Collective &collective) {
  int64_t members = 1;
  for (int32_t axis : collective.axes) {
    members *= plan.mesh.axes[axis].size;
  }
  const MachineLink &link = linkOf(plan, collective.axes);
  int64_t rounds = collective.kind == CollectiveKind::allReduce ? 2 : 1;
  int64_t received =
      bytesReceived(collective.kind,
                    static_cast<int64_t>(bytesOf(collective.inputs)), members);
  return static_cast<double>((members - 1) * rounds) * link.latency +
         static_cast<double>(received) / link.bandwidth;
}

/// Operations a second of what the action does.
static double flopsFor(const Machine &machine, const Action &action) {
  const auto *library = std::get_if<Library>(&action);
  std::string_view type = library ? rateNameOf(library->descriptor) : "";
  for (const MachineRate &rate : machine.rates) {
    if (rate.type == type) {
      return rate.flops;
    }
  }
  return machine.flops > 0 ? machine.flops : usualFlops;
}

double secondsOf(const Plan &plan, const Action &action) {
  if (const auto *collective = std::get_if<Collective>(&action)) {
    return secondsOf(plan, *collective);
  }
  if (isCommunication(action)) {
    const MachineLink &link = linkOf(plan, {plan.mesh.pipelineAxis});
    return link.latency + bytesOf(action) / link.bandwidth;
  }
  const Machine &machine = plan.machine;
  double flops = flopsFor(machine, action);
  double bandwidth = machine.memoryBandwidth > 0 ? machine.memoryBandwidth
                                                 : usualMemoryBandwidth;
  return std::max(operationsOf(action) / flops, bytesOf(action) / bandwidth);
}

bool isMachineKnown(const Plan &plan) {
  return plan.machine.flops > 0 &&
         (plan.mesh.numDevices() == 1 || !plan.machine.links.empty());
}

namespace {
/// The problem of a walk: an entry for each of its items.
class TimesBuilder {
public:
  TimesBuilder(const EntryWalk &walk) : walk(walk) {
    problem.numStreams =
        std::max(1, static_cast<int32_t>(walk.plan().streams.size()));
  }
  StreamTimesProblem build();

private:
  StreamTimesProblem::Entry entryOf(size_t stage, const Item &item);
  std::string meetingOf(size_t stage, const Item &item) const;

  const EntryWalk &walk;
  StreamTimesProblem problem;
  /// Meetings by name, and how many of each name the stage has had.
  std::map<std::string, std::vector<int32_t>> meetings;
  std::map<std::string, size_t> had;
};
} // namespace

/// What all who meet call it; "" where nobody else is there.
std::string TimesBuilder::meetingOf(size_t stage, const Item &item) const {
  const Plan &plan = walk.plan();
  const Action &action = item.instruction->action;
  if (const auto *collective = std::get_if<Collective>(&action)) {
    bool crosses = std::count(collective->axes.begin(), collective->axes.end(),
                              plan.mesh.pipelineAxis) > 0;
    return crosses ? "collective " + std::to_string(collective->symbol) : "";
  }
  const auto *send = std::get_if<Send>(&action);
  const auto *receive = std::get_if<Receive>(&action);
  if (!send && !receive) {
    return "";
  }
  const Message &message = send ? send->message : receive->message;
  const StageWalk &own = walk.stages[stage];
  int64_t peer =
      walk.evaluateAt(own, own.invocations[item.invocation], message.peer);
  auto from = static_cast<int64_t>(stage);
  return "message " + std::to_string(message.transfer) + " " +
         std::to_string(send ? from : peer) + " " +
         std::to_string(send ? peer : from);
}

StreamTimesProblem::Entry TimesBuilder::entryOf(size_t stage,
                                                const Item &item) {
  StreamTimesProblem::Entry entry;
  const Action &action = item.instruction->action;
  entry.stream = item.instruction->stream;
  entry.after = item.signal;
  entry.moves = isCommunication(action);
  entry.seconds = secondsOf(walk.plan(), action);
  std::string name = meetingOf(stage, item);
  if (!name.empty()) {
    std::vector<int32_t> &list = meetings[name];
    size_t number = had[name]++;
    if (number == list.size()) {
      list.push_back(static_cast<int32_t>(problem.meetings.size()));
      problem.meetings.push_back(0);
    }
    entry.meeting = list[number];
    ++problem.meetings[entry.meeting];
  }
  return entry;
}

StreamTimesProblem TimesBuilder::build() {
  for (size_t stage = 0; stage < walk.stages.size(); ++stage) {
    problem.devices.emplace_back();
    had.clear();
    for (const Item &item : walk.stages[stage].items) {
      problem.devices.back().push_back(entryOf(stage, item));
    }
  }
  return std::move(problem);
}

/// What the entry runs itself.
static std::set<int32_t> rootsOf(const Entry &entry) {
  std::set<int32_t> roots(entry.prologue.begin(), entry.prologue.end());
  roots.insert(entry.epilogue.begin(), entry.epilogue.end());
  for (const Cell &cell : entry.table) {
    roots.insert(cell.program);
  }
  return roots;
}

/// What each item does, but signals and waits, which take no time.
static void listSpans(const EntryWalk &walk, const StreamTimesProblem &problem,
                      const StreamTimes &times, PlannedStep &step) {
  std::set<int32_t> roots = rootsOf(walk.entry());
  for (size_t stage = 0; stage < walk.stages.size(); ++stage) {
    const StageWalk &own = walk.stages[stage];
    double communication = 0;
    int32_t root = 0;
    for (size_t i = 0; i < own.items.size(); ++i) {
      const Item &item = own.items[i];
      const Invocation &invocation = own.invocations[item.invocation];
      const Action &action = item.instruction->action;
      const StreamTimesProblem::Entry &entry = problem.devices[stage][i];
      communication += entry.moves ? entry.seconds : 0;
      root = roots.count(invocation.program) ? invocation.program : root;
      if (std::holds_alternative<Signal>(action) ||
          std::holds_alternative<Wait>(action)) {
        continue;
      }
      step.spans.push_back({static_cast<int32_t>(stage), entry.stream,
                            invocation.program, item.number,
                            static_cast<int32_t>(invocation.tag), root,
                            times.begins[stage][i], times.ends[stage][i]});
    }
    step.communication = std::max(step.communication, communication);
  }
}

Result<PlannedStep> planStep(const Plan &plan, const Entry &entry,
                             int64_t maxSteps) {
  EntryWalk walk(plan, entry, EntryWalk::Choice(), maxSteps);
  LLMC_TRY(walk.run());
  StreamTimesProblem problem = TimesBuilder(walk).build();
  std::string fault = problem.check();
  StreamTimes times, free;
  if (fault.empty()) {
    times = findTimes(problem);
    free = findTimes(problem, /*isFree=*/true);
    fault = times.error;
  }
  if (!fault.empty()) {
    return makeError(ErrorKind::mismatch,
                     "expected streams that come to their ends, got " + fault);
  }
  PlannedStep step;
  step.seconds = times.seconds;
  step.exposed = times.seconds - free.seconds;
  listSpans(walk, problem, times, step);
  return step;
}

} // namespace llmc::rt::plan
