//===- Session.cpp - Runs a plan ------------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/Runtime/Executor.
//
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Executor/Session.h"
#include "llmc/Runtime/Base/Names.h"

#include "Binder.h"
#include "EntryRun.h"
#include "Objects.h"
#include "States.h"
#include "llmc/Runtime/Plan/Format/PlanFile.h"
#include "llmc/Runtime/Plan/Verify/PlanVerify.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <thread>
#include <unistd.h>

namespace llmc::rt {

using namespace exec;

namespace {

class PlanSession final : public Session {
public:
  PlanSession(plan::Plan plan, const SessionOptions &options)
      : source(std::move(plan)), options(options), states(source, devices) {}

  Status load();

  const plan::Plan &plan() const override { return source; }
  uint64_t seed() const override { return options.seed.value_or(source.seed); }
  Status useData(const std::string &name, const std::string &path,
                 std::optional<DType> dtype) override;
  Status setInput(const std::string &entry, const std::string &input,
                  int64_t microbatch, const HostTensor &value) override;
  Status setExternal(const std::string &name, double value) override;
  Status run(const std::string &entry, int64_t step) override;
  const std::vector<NamedValue> &metrics() const override { return values; }
  Result<HostTensor> fetch(const std::string &name,
                           int64_t microbatch) override;
  std::optional<HostTensor> fetchMetric(const std::string &name);
  Result<HostTensor> readState(const std::string &name) override;
  Status writeState(const std::string &name, const HostTensor &value) override;
  Result<bool> copiesAgree(const std::string &name) override;
  std::vector<DeviceMemory> memory() const override;
  MemoryAudit auditMemory() const override;
  CommunicatorCounts communication() const override;
  std::vector<plan::Traffic> traffic(int64_t stage) const override;
  const std::vector<int64_t> &inFlight() const override { return most; }
  OrderDigest order() const override { return world->digest(); }
  double dataSeconds() const override { return data; }

private:
  Status verify(const plan::Manifest &manifest) const;
  Status checkMachine() const;
  Status reserveDevices();
  Status bindDevices(const plan::Manifest &manifest);
  Status enqueue(EntryRun &entry, int64_t step);
  Status countFirst(EntryRun &entry, int64_t step, const StepContext &context);
  EntryRun *findEntry(const std::string &name);
  Result<const plan::State *> findState(const std::string &name) const;

  plan::Plan source;
  SessionOptions options;
  std::unique_ptr<CpuWorld> world;
  std::vector<LocalDevice> devices;
  Groups groups;
  std::vector<std::vector<Origin>> origins;
  States states;
  std::vector<Walker> walkers;
  std::vector<std::unique_ptr<EntryRun>> entries;
  DataFiles files; ///< By source of the plan.
  std::map<std::string, double> externals;
  EntryRun *last = nullptr;
  std::vector<NamedValue> values;
  std::vector<int64_t> most; ///< Microbatches in flight, by stage.
  double data = 0;
};

Status unknownName(std::string_view what, const std::string &name) {
  return makeError(ErrorKind::usage,
                   fmt::format("the plan has no {} '{}'", what, name));
}

/// That one process plays.
constexpr int64_t mostDevices = 1024;

/// The most microbatches of any entry.
int64_t mostMicrobatches(const plan::Plan &plan) {
  int64_t most = 1;
  for (const plan::Entry &entry : plan.entries) {
    most = std::max<int64_t>(most, entry.numMicrobatches);
  }
  return most;
}

Status PlanSession::load() {
  LLMC_TRY(plan::checkStructure(source));
  if (source.mesh.numDevices() > mostDevices) {
    return makeError(ErrorKind::mismatch,
                     fmt::format("expected a plan for at most {} virtual "
                                 "devices, got {}",
                                 mostDevices, source.mesh.numDevices()));
  }
  CpuOptions cpu;
  cpu.devices = static_cast<int>(source.mesh.numDevices());
  cpu.threadsPerDevice = std::max(1, source.threads);
  cpu.threads = options.threads;
  if (cpu.threads <= 0) {
    int64_t wanted = int64_t(cpu.devices) * cpu.threadsPerDevice;
    int64_t there = std::max(1u, std::thread::hardware_concurrency());
    cpu.threads = static_cast<int>(std::min(wanted, there));
  }
  cpu.shuffleSeed = options.shuffleSeed;
  world = makeCpuWorld(cpu);
  plan::Manifest manifest;
  for (int number : world->local()) {
    LLMC_TRY_ASSIGN(manifest,
                    loadObjects(source, options.folder, options.trustKernels,
                                world->device(number)));
  }
  LLMC_TRY(verify(manifest));
  LLMC_TRY(reserveDevices());
  LLMC_TRY(bindDevices(manifest));
  LLMC_TRY(states.initialise(options.folder, options.trustKernels, seed()));
  files.resize(source.sources.size());
  size_t mostMetrics = 0;
  for (const plan::Entry &entry : source.entries) {
    LLMC_TRY_ASSIGN(auto run, EntryRun::make(source, entry, devices));
    entries.push_back(std::move(run));
    mostMetrics = std::max(mostMetrics, entry.metrics.size());
  }
  values.reserve(mostMetrics);
  most.resize(static_cast<size_t>(source.mesh.numStages()));
  return Status::success();
}

Status PlanSession::verify(const plan::Manifest &manifest) const {
  if (options.bypassLoader) {
    return Status::success();
  }
  plan::Environment environment;
  environment.manifest = &manifest;
  environment.features = processorFeatures();
  return plan::verifyPlan(source, environment);
}

/// Memory that the kernel would hand out and then kill for is refused instead.
Status PlanSession::checkMachine() const {
  uint64_t wanted = 0;
  for (int number : world->local()) {
    wanted += static_cast<uint64_t>(source.arenas[source.mesh.stageOf(number)]);
  }
  uint64_t there = static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) *
                   static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  if (wanted > there) {
    return makeError(ErrorKind::outOfMemory,
                     fmt::format("expected at most {} bytes for {} devices on "
                                 "this machine, got {}",
                                 there, world->local().size(), wanted));
  }
  return Status::success();
}

Status PlanSession::reserveDevices() {
  LLMC_TRY(checkMachine());
  for (int number : world->local()) {
    LocalDevice local;
    local.device = &world->device(number);
    local.number = number;
    local.coordinates = source.mesh.coordinatesOf(number);
    local.stage = source.mesh.stageOf(number);
    auto bytes = static_cast<uint64_t>(source.arenas[local.stage]);
    LLMC_TRY_ASSIGN(local.arena,
                    local.device->reserve(bytes, MemoryKind::device));
    if (options.poison) {
      std::memset(local.arena.base, *options.poison, bytes);
    }
    devices.push_back(std::move(local));
  }
  return Status::success();
}

Status PlanSession::bindDevices(const plan::Manifest &manifest) {
  LLMC_TRY(groups.make(source, *world));
  Shared shared{source, manifest, groups, makeOrigins(source),
                mostMicrobatches(source)};
  // Queues point at origins: they stay with the session. Moving a vector keeps
  // its elements where they are.
  for (LocalDevice &device : devices) {
    LLMC_TRY(Binder(shared, device).bind());
  }
  origins = std::move(shared.origins);
  for (LocalDevice &device : devices) {
    walkers.emplace_back(source, device, shared.numMicrobatches);
  }
  return Status::success();
}

EntryRun *PlanSession::findEntry(const std::string &name) {
  for (auto &entry : entries) {
    if (entry->entry().name == name) {
      return entry.get();
    }
  }
  return nullptr;
}

Status PlanSession::useData(const std::string &name, const std::string &path,
                            std::optional<DType> dtype) {
  bool isKnown = name.empty();
  for (size_t i = 0; i < source.sources.size(); ++i) {
    if (!name.empty() && source.sources[i].name != name) {
      continue;
    }
    DataRule rule = source.sources[i].rule;
    rule.dtype = dtype.value_or(rule.dtype);
    LLMC_TRY_ASSIGN(files[i], DataFile::open(rule, path));
    isKnown = true;
  }
  return isKnown ? Status::success() : unknownName("source of data", name);
}

Status PlanSession::setInput(const std::string &entry, const std::string &input,
                             int64_t microbatch, const HostTensor &value) {
  EntryRun *run = findEntry(entry);
  return run ? run->setInput(input, microbatch, value)
             : unknownName("entry", entry);
}

Status PlanSession::setExternal(const std::string &name, double value) {
  for (const plan::Entry &entry : source.entries) {
    for (const plan::Hyper &hyper : entry.hypers) {
      if (hyper.name == name && hyper.rule.kind == HyperKind::external) {
        externals[name] = value;
        return Status::success();
      }
    }
  }
  return unknownName("external value", name);
}

Status PlanSession::enqueue(EntryRun &run, int64_t step) {
  const plan::Entry &entry = run.entry();
  auto call = [&](size_t device, int32_t program, int64_t microbatch) {
    return program < 0 ? Status::success()
                       : walkers[device].call(program, microbatch,
                                              run.ends(device, step));
  };
  auto edge = [&](const std::vector<int32_t> &programs) {
    for (size_t d = 0; d < devices.size() && !programs.empty(); ++d) {
      LLMC_TRY(call(d, programs[devices[d].stage], 0));
    }
    return Status::success();
  };
  LLMC_TRY(edge(entry.prologue));
  auto stages = static_cast<size_t>(source.mesh.numStages());
  InFlight &inFlight = run.inFlight();
  inFlight.start();
  for (size_t row = 0; row + stages <= entry.table.size(); row += stages) {
    inFlight.visit(row);
    for (size_t d = 0; d < devices.size(); ++d) {
      const plan::Cell &cell = entry.table[row + devices[d].stage];
      LLMC_TRY(call(d, cell.program, cell.microbatch));
    }
  }
  most = inFlight.most();
  return edge(entry.epilogue);
}

/// Runs the entry that counts the data of the step, microbatch by microbatch,
/// where there is one: its metrics become external values.
Status PlanSession::countFirst(EntryRun &run, int64_t step,
                               const StepContext &context) {
  const plan::Entry *counting = plan::findCounting(source, run.entry());
  EntryRun *counts = counting ? findEntry(counting->name) : nullptr;
  if (!counts) {
    return Status::success();
  }
  for (const plan::Metric &metric : counting->metrics) {
    externals[metric.name] = 0;
  }
  for (int64_t m = 0; m < run.entry().numMicrobatches; ++m) {
    LLMC_TRY(counts->prepareAs(run, m, step, context));
    LLMC_TRY(enqueue(*counts, step));
    LLMC_TRY(world->drain(options.deadline));
    values.resize(counting->metrics.size());
    counts->readMetrics(values);
    for (size_t i = 0; i < values.size(); ++i) {
      externals[counting->metrics[i].name] += values[i].value;
    }
  }
  return Status::success();
}

Status PlanSession::run(const std::string &name, int64_t step) {
  EntryRun *entry = findEntry(name);
  if (!entry) {
    return unknownName("entry", name);
  }
  last = entry;
  StepContext context{seed(), &files, &externals};
  LLMC_TRY(countFirst(*entry, step, context));
  auto begin = std::chrono::steady_clock::now();
  LLMC_TRY(entry->prepare(step, context));
  data = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin)
             .count();
  LLMC_TRY(enqueue(*entry, step));
  LLMC_TRY(world->drain(options.deadline));
  values.resize(entry->entry().metrics.size());
  entry->readMetrics(values);
  return Status::success();
}

Result<const plan::State *>
PlanSession::findState(const std::string &name) const {
  const plan::State *state = states.find(name);
  if (!state) {
    return unknownName("state", name);
  }
  return state;
}

/// What is left of `name` after `kind` and a dot.
static std::optional<std::string> nameIn(std::string_view kind,
                                         const std::string &name) {
  if (name.rfind(std::string(kind) + ".", 0) != 0) {
    return std::nullopt;
  }
  return name.substr(kind.size() + 1);
}

std::optional<HostTensor> PlanSession::fetchMetric(const std::string &name) {
  std::optional<double> value = metric(name);
  if (!value) {
    return std::nullopt;
  }
  HostTensor scalar = HostTensor::zeros(DType::f64, {});
  storeElement(DType::f64, scalar.bytes.data(), 0, *value);
  return scalar;
}

Result<HostTensor> PlanSession::fetch(const std::string &name,
                                      int64_t microbatch) {
  if (const plan::State *state = states.find(name)) {
    return states.read(*state);
  }
  // A name that several kinds have is one of the first; the kind tells. A
  // result of the user's with a name of ours has that name escaped.
  for (const char *kind : {"", "input", "output", "metric"}) {
    std::optional<std::string> inner = *kind ? nameIn(kind, name) : name;
    if (!inner) {
      continue;
    }
    std::vector<std::string> spellings = {*inner, escapeName(*inner)};
    if (*kind) {
      std::swap(spellings[0], spellings[1]);
    }
    bool isMetric = std::string_view(kind) == "metric";
    for (const std::string &each : spellings) {
      if (auto found = last && !isMetric ? last->fetch(each, microbatch)
                                         : std::nullopt) {
        return *std::move(found);
      }
      if (auto scalar = isMetric || !*kind ? fetchMetric(each) : std::nullopt) {
        return *std::move(scalar);
      }
    }
  }
  return unknownName("value", name);
}

Result<HostTensor> PlanSession::readState(const std::string &name) {
  LLMC_TRY_ASSIGN(const plan::State *state, findState(name));
  return states.read(*state);
}

Status PlanSession::writeState(const std::string &name,
                               const HostTensor &value) {
  LLMC_TRY_ASSIGN(const plan::State *state, findState(name));
  return states.write(*state, value);
}

Result<bool> PlanSession::copiesAgree(const std::string &name) {
  LLMC_TRY_ASSIGN(const plan::State *state, findState(name));
  return states.copiesAgree(*state);
}

std::vector<DeviceMemory> PlanSession::memory() const {
  std::vector<DeviceMemory> all;
  for (const LocalDevice &device : devices) {
    all.push_back({static_cast<uint64_t>(source.arenas[device.stage]),
                   device.arena.bytes});
  }
  return all;
}

MemoryAudit PlanSession::auditMemory() const {
  MemoryAudit audit;
  for (const LocalDevice &device : devices) {
    std::vector<bool> inside(device.arena.bytes);
    for (const plan::Buffer &buffer : source.buffers) {
      const plan::Frame &frame = source.frames[buffer.frame];
      if (!plan::hasStage(frame.stages, device.stage)) {
        continue;
      }
      for (int32_t slot = 0; slot < frame.slots; ++slot) {
        auto begin =
            inside.begin() + (frame.offset + slot * frame.size + buffer.offset);
        std::fill(begin, begin + buffer.bytes, true);
      }
    }
    for (uint64_t i = 0; i < device.arena.bytes; ++i) {
      audit.insideBuffers += inside[i];
      audit.outsideBuffers += !inside[i];
      audit.touchedOutside +=
          !inside[i] &&
          device.arena.base[i] != std::byte(options.poison.value_or(0));
    }
  }
  return audit;
}

std::vector<plan::Traffic> PlanSession::traffic(int64_t stage) const {
  for (const LocalDevice &device : devices) {
    if (device.stage == stage) {
      return groups.trafficOf(source.mesh, device.number);
    }
  }
  return {};
}

CommunicatorCounts PlanSession::communication() const {
  CommunicatorCounts sum;
  for (const Communicator *group : groups.firstOfEach()) {
    CommunicatorCounts counts = group->counts();
    for (unsigned kind = 0; kind < numCollectiveKinds; ++kind) {
      sum.collectives[kind] += counts.collectives[kind];
      sum.bytes[kind] += counts.bytes[kind];
    }
    sum.transfers += counts.transfers;
    sum.transferBytes += counts.transferBytes;
  }
  return sum;
}

} // namespace

std::optional<double> Session::metric(std::string_view name) const {
  for (const NamedValue &value : metrics()) {
    if (value.name == name) {
      return value.value;
    }
  }
  return std::nullopt;
}

Result<std::unique_ptr<Session>> Session::open(plan::Plan plan,
                                               const SessionOptions &options) {
  auto session = std::make_unique<PlanSession>(std::move(plan), options);
  LLMC_TRY(session->load());
  return std::unique_ptr<Session>(std::move(session));
}

Result<std::unique_ptr<Session>> openPlanFile(const std::string &planOrFolder,
                                              SessionOptions options) {
  std::string path = plan::planFileOf(planOrFolder);
  Result<plan::Plan> plan = plan::readPlan(path);
  if (!plan) {
    return plan.status().at(path);
  }
  size_t slash = path.rfind('/');
  options.folder = slash == std::string::npos ? "." : path.substr(0, slash);
  return Session::open(*std::move(plan), options);
}

} // namespace llmc::rt
