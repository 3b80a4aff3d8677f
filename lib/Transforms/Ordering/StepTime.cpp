//===- StepTime.cpp - How long a step takes by the machine ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One device of each stage is walked. A collective within a stage is alike for
// all its members, so it is an entry of its own; one between stages, and a
// message, is a meeting. Its number counts those of its name, in which both
// ends have one order.
//
// Test: test/EndToEnd/step-time.test
//===----------------------------------------------------------------------===//

#include "llmc/Transforms/Ordering/StepTime.h"
#include "EntryProblem.h"
#include "InstructionTimes.h"
#include "llmc/Solvers/Streams/StreamTimes.h"
#include <limits>
#include <map>

using namespace mlir;

namespace llmc {

using ordering::InstructionTimes;
using ordering::PlanCall;

namespace {

class TimesBuilder {
public:
  TimesBuilder(ModuleOp module, const InstructionTimes &times);

  void addDevice(ArrayRef<PlanCall> walk);

  StreamTimesProblem problem;

private:
  using Entry = StreamTimesProblem::Entry;
  void add(Operation *op, int64_t microbatch);
  void meet(Entry &entry, StringRef name);
  int32_t &latest(Attribute frame, int64_t microbatch, int64_t event);

  const InstructionTimes &times;
  llvm::DenseMap<Attribute, int32_t> streams;
  llvm::DenseMap<Attribute, int64_t> slots;
  /// Meetings by name, and how many of each name the device has had.
  std::map<std::string, std::vector<int32_t>> meetings;
  std::map<std::string, size_t> had;
  /// By frame, slot and event the entry that has signalled last.
  std::map<std::tuple<const void *, int64_t, int64_t>, int32_t> signals;
};

} // namespace

TimesBuilder::TimesBuilder(ModuleOp module, const InstructionTimes &times)
    : times(times) {
  problem.numStreams = 0;
  for (auto stream : module.getOps<plan::StreamOp>())
    streams[FlatSymbolRefAttr::get(stream.getSymNameAttr())] =
        problem.numStreams++;
  for (auto frame : module.getOps<plan::FrameOp>())
    slots[FlatSymbolRefAttr::get(frame.getSymNameAttr())] = frame.getSlots();
}

int32_t &TimesBuilder::latest(Attribute frame, int64_t microbatch,
                              int64_t event) {
  return signals
      .try_emplace(
          {frame.getAsOpaquePointer(), microbatch % slots.lookup(frame), event},
          -1)
      .first->second;
}

void TimesBuilder::meet(Entry &entry, StringRef name) {
  std::vector<int32_t> &list = meetings[name.str()];
  size_t number = had[name.str()]++;
  if (number == list.size()) {
    list.push_back(static_cast<int32_t>(problem.meetings.size()));
    problem.meetings.push_back(0);
  }
  entry.meeting = list[number];
  ++problem.meetings[entry.meeting];
}

void TimesBuilder::add(Operation *op, int64_t microbatch) {
  auto instruction = dyn_cast<plan::InstructionInterface>(op);
  if (!instruction)
    return;
  Entry entry;
  entry.stream = streams.lookup(instruction.getStreamAttr());
  entry.seconds = times.getCompute(instruction);
  if (auto wait = dyn_cast<plan::WaitOp>(op))
    entry.after = latest(wait.getFrameAttr(), microbatch, wait.getEvent());
  if (auto signal = dyn_cast<plan::SignalOp>(op))
    latest(signal.getFrameAttr(), microbatch, signal.getEvent()) =
        static_cast<int32_t>(problem.devices.back().size());
  if (std::optional<double> seconds = times.getCommunication(instruction)) {
    entry.moves = true;
    entry.seconds = *seconds;
  }
  if (auto collective = dyn_cast<plan::CollectiveOp>(op);
      collective && !times.staysInStage(collective))
    meet(entry, collective.getSymbol());
  if (auto send = dyn_cast<plan::SendOp>(op))
    meet(entry, send.getMessage().getTransfer().getValue());
  if (auto receive = dyn_cast<plan::ReceiveOp>(op))
    meet(entry, receive.getMessage().getTransfer().getValue());
  problem.devices.back().push_back(entry);
}

void TimesBuilder::addDevice(ArrayRef<PlanCall> walk) {
  problem.devices.emplace_back();
  signals.clear();
  had.clear();
  for (const PlanCall &call : walk) {
    plan::ProgramOp program = call.program;
    for (Operation &op : program.getBody().front())
      add(&op, call.microbatch);
  }
}

static double getCommunication(const StreamTimesProblem &problem) {
  double most = 0;
  for (const auto &entries : problem.devices) {
    double seconds = 0;
    for (const auto &entry : entries)
      seconds += entry.moves ? entry.seconds : 0;
    most = std::max(most, seconds);
  }
  return most;
}

std::optional<StepTime> findStepTime(ModuleOp module, StringRef name) {
  // 1 read
  SymbolTable symbols(module);
  auto entry = symbols.lookup<plan::EntryOp>(name);
  auto meshes = module.getOps<dist::MeshOp>();
  if (!entry || meshes.empty())
    return std::nullopt;
  dist::MeshOp mesh = *meshes.begin();
  auto machine = mesh.getMachine();
  if (!machine || !machine->getLinks() || !machine->getFlops())
    return std::nullopt;
  FailureOr<InstructionTimes> times = InstructionTimes::read(mesh);
  if (failed(times))
    return std::nullopt;
  TimesBuilder builder(module, *times);
  // Of a loop that the run ends, the walks with one trip come first.
  auto walks =
      ordering::readWalks(entry, symbols, std::numeric_limits<int64_t>::max());
  walks.resize(entry.getPrologue().size());
  for (const std::vector<PlanCall> &walk : walks)
    builder.addDevice(walk);
  // 2 solve
  const StreamTimesProblem &problem = builder.problem;
  if (!problem.check().empty())
    return std::nullopt;
  StreamTimes all = findTimes(problem), free = findTimes(problem, true);
  StepTime step{all.seconds, all.seconds - free.seconds,
                getCommunication(problem)};
  if (!all.error.empty() || step.communication == 0)
    return std::nullopt;
  return step;
}

} // namespace llmc
