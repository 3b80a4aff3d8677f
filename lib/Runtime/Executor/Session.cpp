//===- Session.cpp - Runs a plan ------------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/Runtime/Executor.
//
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Executor/Session.h"
#include "Audit.h"
#include "Binding/Binder.h"
#include "Binding/Objects.h"
#include "EntryRun.h"
#include "States/BoxReads.h"
#include "States/States.h"
#include "Trace.h"
#include "llmc/Runtime/Base/Names.h"
#include "llmc/Runtime/Comm/Backend.h"
#include "llmc/Runtime/Plan/Format/PlanFile.h"
#include "llmc/Runtime/Plan/Verify/PlanVerify.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace llmc::rt {

using namespace exec;

namespace {

class PlanSession final : public Session {
public:
  PlanSession(plan::Plan plan, const SessionOptions &options)
      : source(std::move(plan)), options(options),
        states(source, devices, peers), reads(source, devices, states) {}
  /// The world goes first: steps that still run use the rest.
  ~PlanSession() override {
    reads.stop();
    world.reset();
  }

  Status load();

  const plan::Plan &plan() const override { return source; }
  int process() const override { return peers.own(); }
  uint64_t seed() const override { return options.seed.value_or(source.seed); }
  Status useFiles(const SourceFiles &given) override;
  Status setInput(const std::string &entry, const std::string &input,
                  int64_t microbatch, const HostTensor &value) override;
  Status setExternal(const std::string &name, double value) override;
  void leaveOut(int64_t steps) override { left = steps; }
  int64_t leftOut() const override { return left; }
  Status submit(const std::string &entry, int64_t step) override;
  Status wait() override;
  Status run(const std::string &entry, int64_t step) override;
  Status checkEvaluation(const std::string &entry) override;
  Result<std::pair<std::vector<NamedValue>, int64_t>>
  evaluate(const std::string &entry, int64_t steps) override;
  std::optional<double> epochs(const std::string &entry,
                               int64_t step) const override;
  uint64_t bytesRead() const override { return files.bytesRead(); }
  const std::vector<NamedValue> &metrics() const override { return values; }
  Result<HostTensor> fetch(const std::string &name,
                           int64_t microbatch) override;
  std::optional<HostTensor> fetchMetric(const std::string &name);
  Result<HostTensor> readState(const std::string &name) override;
  Status writeState(const std::string &name, const HostTensor &value) override;
  Result<bool> copiesAgree(const std::string &name) override;
  Result<std::vector<TensorBox>> ownedBoxes() override { return reads.boxes(); }
  Status readBoxes(const States::Sink &sink) override;
  Status guardStates() override;
  Result<std::shared_ptr<BoxReading>> readBoxesAside(BoxSink sink) override;
  Status restore(const StoredTensors &stored) override;
  void say(double word) override { words.said = word; }
  const std::vector<double> &heard() const override { return words.heard; }
  std::vector<DeviceMemory> memory() const override { return allMemory; }
  Result<MemoryAudit> auditMemory() override;
  Result<CommunicatorCounts> communication() const override;
  Result<std::vector<plan::Traffic>> traffic(int64_t stage) const override;
  const std::vector<int64_t> &inFlight() const override;
  OrderDigest order() const override { return world->order(); }
  std::string note() const override { return world->note(); }
  std::string printTrace() override {
    return exec::printTrace(source, world->local(), world->takeTrace());
  }
  double dataSeconds() const override { return onData; }
  std::optional<double> exposedSeconds() const override {
    bool isMeasured = source.mesh.numDevices() > 1 && world->exposedSeconds();
    return isMeasured ? std::optional(words.exposed) : std::nullopt;
  }

private:
  Status verify(const plan::Manifest &manifest) const;
  Status reserveDevices();
  Status bindDevices(const plan::Manifest &manifest);
  /// A step that was submitted and not waited for.
  struct Flight {
    EntryRun *run = nullptr;
    int set = 0; ///< Of the entry's host memory.
    bool hasEnded = false;
    double exposed = 0; ///< Seconds, of this process.
  };

  Status await(Flight &flight);

  Status enqueue(EntryRun &entry);
  Status walk(EntryRun &entry);
  Status settle();
  Status beforeWrites();
  Status countFirst(EntryRun &entry, int64_t step, const StepContext &context);
  EntryRun *findEntry(const std::string &name) const;
  int64_t leftOutOf(const EntryRun &run) const {
    return run.entry().kind == plan::EntryKind::train ? left : 0;
  }
  Result<const plan::State *> findState(const std::string &name) const;

  plan::Plan source;
  SessionOptions options;
  const Backend *backend = nullptr;
  std::unique_ptr<World> world;
  Peers peers;
  std::vector<LocalDevice> devices;
  std::vector<DeviceMemory> allMemory;
  Groups groups;
  std::vector<std::vector<Origin>> origins;
  States states;
  BoxReads reads;
  std::vector<Walker> walkers;
  DataSets files; ///< Outlives the entries, which read ahead.
  std::vector<std::unique_ptr<EntryRun>> entries;
  std::map<std::string, double> externals;
  int64_t left = 0;
  std::array<Flight, mostSteps> flights; ///< The oldest first.
  size_t numFlights = 0;
  double onData = 0; ///< Seconds.
  Flight last;
  std::vector<NamedValue> values, counted;
  Words words;
  bool hasRun = false;       ///< A step.
  std::vector<int64_t> none; ///< Microbatches in flight, by stage.
};

Status unknownName(std::string_view what, const std::string &name) {
  return makeError(ErrorKind::usage,
                   fmt::format("the plan has no {} '{}'", what, name));
}

Status PlanSession::load() {
  LLMC_TRY(plan::checkStructure(source));
  LLMC_TRY_ASSIGN(backend, findBackend(source.target));
  WorldOptions wanted{source.mesh.numDevices(),    options.threads,
                      std::max(1, source.threads), options.shuffleSeed,
                      options.transport,           options.trace};
  LLMC_TRY_ASSIGN(world, backend->makeWorld(wanted));
  peers.use(*world);
  plan::Manifest manifest;
  for (int number : world->local()) {
    LLMC_TRY_ASSIGN(manifest,
                    loadObjects(source, options.folder, options.trustKernels,
                                backend->features(), world->device(number)));
  }
  LLMC_TRY(verify(manifest));
  LLMC_TRY(reserveDevices());
  LLMC_TRY(bindDevices(manifest));
  LLMC_TRY(states.initialise({options.folder, options.trustKernels, seed()},
                             !options.restored));
  LLMC_TRY(reads.find());
  files = DataSets(source.sources.size());
  size_t mostMetrics = 0;
  for (const plan::Entry &entry : source.entries) {
    LLMC_TRY_ASSIGN(auto run, EntryRun::make(source, entry, devices, peers));
    entries.push_back(std::move(run));
    mostMetrics = std::max(mostMetrics, entry.metrics.size());
  }
  values.reserve(mostMetrics);
  counted.reserve(mostMetrics);
  none.resize(static_cast<size_t>(source.mesh.numStages()));
  return Status::success();
}

Status PlanSession::verify(const plan::Manifest &manifest) const {
  if (options.bypassLoader) {
    return Status::success();
  }
  plan::Environment environment;
  environment.manifest = &manifest;
  environment.features = backend->features();
  environment.kernelTarget = backend->kernelTarget();
  return plan::verifyPlan(source, environment);
}

Status PlanSession::reserveDevices() {
  for (int number : world->local()) {
    LocalDevice local;
    local.device = &world->device(number);
    local.number = number;
    local.coordinates = source.mesh.coordinatesOf(number);
    local.stage = source.mesh.stageOf(number);
    auto bytes = static_cast<uint64_t>(source.arenas[local.stage]);
    LLMC_TRY_ASSIGN(local.arena,
                    local.device->reserve(bytes, MemoryKind::device));
    LLMC_TRY_ASSIGN(local.staging,
                    Staging::make(*world, *local.device, options.deadline));
    devices.push_back(std::move(local));
  }
  for (LocalDevice &device : devices) {
    if (options.poison) {
      LLMC_TRY(device.staging->fill(device.arena.base, *options.poison,
                                    device.arena.bytes));
    }
  }
  LLMC_TRY_ASSIGN(allMemory, gatherMemory(source, devices, peers));
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
    walkers.emplace_back(source, *world, device, shared.numMicrobatches);
  }
  return Status::success();
}

EntryRun *PlanSession::findEntry(const std::string &name) const {
  for (const auto &entry : entries) {
    if (entry->entry().name == name) {
      return entry.get();
    }
  }
  return nullptr;
}

Status PlanSession::useFiles(const SourceFiles &given) {
  for (auto &entry : entries) {
    entry->stopReading();
  }
  bool isKnown = given.source.empty();
  for (size_t i = 0; i < source.sources.size(); ++i) {
    if (!given.source.empty() && source.sources[i].name != given.source) {
      continue;
    }
    DataRule rule = source.sources[i].rule;
    rule.dtype = given.dtype.value_or(rule.dtype);
    LLMC_TRY(
        files.open(i, std::move(rule), given.patterns, given.isEvaluation));
    isKnown = true;
  }
  return isKnown ? Status::success()
                 : unknownName("source of data", given.source);
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

/// Hands the step that `run` is prepared for to the devices. Work and addresses
/// depend on the entry and on the set of its host memory alone.
Status PlanSession::enqueue(EntryRun &run) {
  hasRun = true;
  size_t index = 0;
  while (entries[index].get() != &run) {
    ++index;
  }
  if (world->beginStep(2 * index + static_cast<size_t>(run.prepared()))) {
    LLMC_TRY(walk(run));
  }
  return world->submit();
}

Status PlanSession::walk(EntryRun &run) {
  const plan::Entry &entry = run.entry();
  auto call = [&](size_t device, int32_t program, int64_t microbatch) {
    return program < 0
               ? Status::success()
               : walkers[device].call(program, microbatch, run.ends(device));
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
  return edge(entry.epilogue);
}

Status PlanSession::await(Flight &flight) {
  if (!flight.hasEnded) {
    LLMC_TRY(world->wait(options.deadline));
    flight.hasEnded = true;
    flight.exposed = world->exposedSeconds().value_or(0);
  }
  return Status::success();
}

/// Waits for what is submitted; its metrics are read later.
Status PlanSession::settle() {
  for (size_t i = 0; i < numFlights; ++i) {
    LLMC_TRY(await(flights[i]));
  }
  return Status::success();
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
  LLMC_TRY(settle());
  for (const plan::Metric &metric : counting->metrics) {
    externals[metric.name] = 0;
  }
  for (int64_t m = 0; m < run.entry().numMicrobatches; ++m) {
    LLMC_TRY(counts->prepareAs(run, m, step, context));
    LLMC_TRY(enqueue(*counts));
    LLMC_TRY(world->wait(options.deadline));
    counted.resize(counting->metrics.size());
    LLMC_TRY(counts->readMetrics(counts->prepared(), counted));
    for (const NamedValue &count : counted) {
      externals[std::string(count.name)] += count.value;
    }
  }
  return Status::success();
}

Status PlanSession::submit(const std::string &name, int64_t step) {
  EntryRun *entry = findEntry(name);
  if (!entry) {
    return unknownName("entry", name);
  }
  if (numFlights == flights.size()) {
    return makeError(ErrorKind::usage,
                     fmt::format("expected at most {} steps that are not "
                                 "waited for",
                                 flights.size()));
  }
  StepContext context{seed(), &files, &externals, leftOutOf(*entry)};
  LLMC_TRY(countFirst(*entry, step, context));
  auto begin = std::chrono::steady_clock::now();
  LLMC_TRY(entry->prepare(step, context));
  std::chrono::duration<double> data = std::chrono::steady_clock::now() - begin;
  onData += data.count();
  LLMC_TRY(enqueue(*entry));
  flights[numFlights++] = {entry, entry->prepared(), false, 0};
  return Status::success();
}

Status PlanSession::wait() {
  if (numFlights == 0) {
    return makeError(ErrorKind::usage, "expected a step that was submitted");
  }
  LLMC_TRY(await(flights[0]));
  last = flights[0];
  std::move(flights.begin() + 1, flights.end(), flights.begin());
  --numFlights;
  values.resize(last.run->entry().metrics.size());
  words.exposed = last.exposed;
  return last.run->readMetrics(last.set, values, &words);
}

Status PlanSession::run(const std::string &entry, int64_t step) {
  while (numFlights > 0) {
    LLMC_TRY(wait());
  }
  LLMC_TRY(submit(entry, step));
  return wait();
}

Status PlanSession::checkEvaluation(const std::string &name) {
  EntryRun *entry = findEntry(name);
  if (!entry || entry->entry().kind != plan::EntryKind::evaluate) {
    return unknownName("entry that evaluates", name);
  }
  LLMC_TRY(entry->data().checkApart(files));
  return entry->bind(files);
}

/// Adds up the metrics of all steps; what the loop reads of its own step last
/// stays.
Result<std::pair<std::vector<NamedValue>, int64_t>>
PlanSession::evaluate(const std::string &name, int64_t steps) {
  LLMC_TRY(checkEvaluation(name));
  if (numFlights > 0) {
    return makeError(ErrorKind::usage, "expected no step that runs");
  }
  int64_t count = steps > 0 ? steps : findEntry(name)->data().wholeSteps();
  Flight own = last;
  std::vector<NamedValue> ownValues = values, sums;
  std::vector<double> heard = words.heard;
  for (int64_t step = 0; step < count; ++step) {
    LLMC_TRY(run(name, step));
    sums.resize(values.size());
    for (size_t i = 0; i < values.size(); ++i) {
      sums[i].name = values[i].name;
      sums[i].value += values[i].value / static_cast<double>(count);
    }
  }
  last = own;
  values = std::move(ownValues);
  words.heard = std::move(heard);
  return std::make_pair(std::move(sums), count);
}

std::optional<double> PlanSession::epochs(const std::string &name,
                                          int64_t step) const {
  const EntryRun *entry = findEntry(name);
  return entry ? entry->data().epochs(step + leftOutOf(*entry)) : std::nullopt;
}

const std::vector<int64_t> &PlanSession::inFlight() const {
  return last.run ? last.run->inFlight().most() : none;
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
  if (states.find(name)) {
    return readState(name);
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
      if (auto found = last.run && !isMetric
                           ? last.run->fetch(last.set, each, microbatch)
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
  LLMC_TRY(settle());
  return states.read(*state);
}

Status PlanSession::writeState(const std::string &name,
                               const HostTensor &value) {
  LLMC_TRY_ASSIGN(const plan::State *state, findState(name));
  LLMC_TRY(beforeWrites());
  return states.write(*state, value);
}

Status PlanSession::readBoxes(const States::Sink &sink) {
  LLMC_TRY(settle());
  return reads.readAll(sink);
}

Status PlanSession::guardStates() {
  return hasRun ? makeError(ErrorKind::usage,
                            "expected states to be guarded before a step")
                : reads.guard();
}

Result<std::shared_ptr<BoxReading>> PlanSession::readBoxesAside(BoxSink sink) {
  LLMC_TRY(settle());
  return reads.begin(std::move(sink));
}

/// No step runs, and nobody reads states beside one.
Status PlanSession::beforeWrites() {
  LLMC_TRY(settle());
  reads.wait();
  return Status::success();
}

Status PlanSession::restore(const StoredTensors &stored) {
  LLMC_TRY(beforeWrites());
  return states.restore(stored);
}

Result<bool> PlanSession::copiesAgree(const std::string &name) {
  LLMC_TRY_ASSIGN(const plan::State *state, findState(name));
  LLMC_TRY(settle());
  return states.copiesAgree(*state);
}

Result<MemoryAudit> PlanSession::auditMemory() {
  LLMC_TRY(settle());
  return exec::auditMemory(source, devices, options.poison.value_or(0));
}

/// The first process with a device of the stage has the stage's first device.
Result<std::vector<plan::Traffic>> PlanSession::traffic(int64_t stage) const {
  std::vector<CommunicatorCounts> own;
  for (size_t i = 0; i < devices.size() && own.empty(); ++i) {
    if (devices[i].stage == stage) {
      own = groups.countsOf(devices[i].number);
    }
  }
  LLMC_TRY_ASSIGN(auto all, peers.gather(own));
  for (const std::vector<CommunicatorCounts> &counts : all) {
    if (!counts.empty()) {
      return groups.trafficOf(source.mesh, counts);
    }
  }
  return std::vector<plan::Traffic>();
}

Result<CommunicatorCounts> PlanSession::communication() const {
  std::vector<CommunicatorCounts> own;
  for (const Communicator *group : groups.firstOfEach()) {
    own.push_back(group->counts());
  }
  LLMC_TRY_ASSIGN(auto all, peers.gather(own));
  return Groups::sumOf(all);
}

} // namespace

Result<std::unique_ptr<Session>> Session::open(plan::Plan plan,
                                               const SessionOptions &options) {
  auto session = std::make_unique<PlanSession>(std::move(plan), options);
  LLMC_TRY(session->load());
  return std::unique_ptr<Session>(std::move(session));
}

} // namespace llmc::rt
