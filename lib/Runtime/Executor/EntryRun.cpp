//===- EntryRun.cpp - The host's side of an entry -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/Runtime/Executor.
//
//===----------------------------------------------------------------------===//

#include "EntryRun.h"

#include "Binding/Binder.h"
#include "llmc/Runtime/Base/HyperRule.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace llmc::rt::exec {

/// Bytes of a scalar on the host: hyper values and metrics.
constexpr uint64_t cellBytes = 8;

static uint64_t alignHost(uint64_t bytes) { return (bytes + 63) / 64 * 64; }

Result<std::unique_ptr<EntryRun>>
EntryRun::make(const plan::Plan &plan, const plan::Entry &entry,
               std::vector<LocalDevice> &devices, const Peers &peers) {
  std::unique_ptr<EntryRun> run(new EntryRun(plan, entry, devices, peers));
  LLMC_TRY(run->makeStagings());
  LLMC_TRY(run->reserve());
  LLMC_TRY(run->findMetricOwners());
  return std::move(run);
}

Status EntryRun::makeStagings() {
  std::vector<SampleInput> sampled;
  for (const plan::Input &input : source.inputs) {
    Staging staging;
    staging.input = &input;
    std::vector<int64_t> shape = input.layout.globalShape();
    staging.whole = HostTensor::zeros(input.dtype, shape);
    staging.step.reset(static_cast<std::byte *>(
        std::calloc(static_cast<size_t>(source.numMicrobatches),
                    std::max<size_t>(1, staging.whole.bytes.size()))));
    if (!staging.step) {
      return makeError(ErrorKind::outOfMemory,
                       fmt::format("expected memory for {} microbatches of "
                                   "input '{}', got none",
                                   source.numMicrobatches, input.name));
    }
    sampled.push_back({input.name, input.source, input.dataOffset, input.dtype,
                       shape, input.limit});
    staging.given.resize(source.numMicrobatches);
    std::vector<int64_t> origin(shape.size());
    for (const LocalDevice &device : devices) {
      std::vector<ElementRun> runs;
      if (plan::hasStage(input.stages, device.stage)) {
        Placement placement{input.layout, origin, shape, {}};
        LLMC_TRY(
            visitRuns(placement, plan.mesh, device.coordinates,
                      [&](const ElementRun &run) { runs.push_back(run); }));
      }
      staging.runs.push_back(std::move(runs));
    }
    staging.rows = rowsOf(staging);
    stagings.push_back(std::move(staging));
  }
  std::vector<DataKind> kinds;
  for (const plan::DataSource &each : plan.sources) {
    kinds.push_back(each.rule.kind);
  }
  samples =
      Samples(std::move(sampled), std::move(kinds), source.numMicrobatches,
              source.kind == plan::EntryKind::evaluate);
  return Status::success();
}

Status EntryRun::reserve() {
  for (size_t i = 0; i < devices.size(); ++i) {
    LLMC_TRY(reserveDevice(i));
  }
  return Status::success();
}

namespace {
/// Lays areas out one after the other; their bases are offsets.
struct AreaLayout {
  uint64_t bytes = 0;

  void add(std::vector<HostEnds::Area> &areas, int64_t size, int64_t count) {
    uint64_t stride = alignHost(static_cast<uint64_t>(size));
    areas.push_back({reinterpret_cast<std::byte *>(bytes), stride});
    bytes += stride * static_cast<uint64_t>(count);
  }
};
} // namespace

/// One host arena for each device with both sets: inputs of all microbatches,
/// hyper values, metrics, fetched values.
Status EntryRun::reserveDevice(size_t device) {
  LocalDevice &local = devices[device];
  HostEnds ends;
  AreaLayout layout;
  for (const plan::Input &input : source.inputs) {
    bool stored = plan::hasStage(input.stages, local.stage);
    int64_t elements = stored ? input.layout.localElements(plan.mesh) : 0;
    layout.add(ends.inputs, elements * sizeOf(input.dtype),
               source.numMicrobatches);
  }
  for (size_t i = 0; i < source.hypers.size(); ++i) {
    layout.add(ends.hypers, cellBytes, 1);
    ends.hypers.back().stride = 0;
  }
  for (size_t i = 0; i < source.metrics.size(); ++i) {
    layout.add(ends.metrics, cellBytes, 1);
    ends.metrics.back().stride = 0;
  }
  for (const plan::Fetch &fetch : source.fetches) {
    bool stored = plan::hasStage(fetch.stages, local.stage);
    int64_t elements = stored ? fetch.layout.localElements(plan.mesh) : 0;
    layout.add(ends.fetches, elements * sizeOf(fetch.dtype),
               fetch.eachMicrobatch ? source.numMicrobatches : 1);
    ends.fetches.back().stride *= fetch.eachMicrobatch;
  }
  LLMC_TRY_ASSIGN(Arena arena,
                  local.device->reserve(2 * layout.bytes, MemoryKind::host));
  for (int set : {0, 1}) {
    std::byte *base = arena.base + static_cast<uint64_t>(set) * layout.bytes;
    HostEnds &own = sets[set].emplace_back(ends);
    for (auto *areas : {&own.inputs, &own.hypers, &own.metrics, &own.fetches}) {
      for (HostEnds::Area &area : *areas) {
        area.base = base + reinterpret_cast<uint64_t>(area.base);
      }
    }
  }
  return Status::success();
}

/// The first device whose programs return a metric reports it.
Status EntryRun::findMetricOwners() {
  metricOwners.assign(source.metrics.size(), -1);
  for (size_t i = devices.size(); i-- > 0;) {
    for (int32_t program :
         plan::entryPrograms(plan, source, devices[i].stage)) {
      for (const BoundInstruction &instruction :
           devices[i].programs[program]->instructions) {
        auto *copy = std::get_if<BoundCopy>(&instruction.action);
        if (copy && copy->host == plan::HostEnd::metric) {
          metricOwners[copy->index] = static_cast<int>(i);
        }
      }
    }
  }
  LLMC_TRY_ASSIGN(auto all, peers.gather(metricOwners));
  metricProcesses.assign(source.metrics.size(), -1);
  for (size_t process = all.size(); process-- > 0;) {
    for (size_t i = 0; i < all[process].size(); ++i) {
      if (all[process][i] >= 0) {
        metricProcesses[i] = static_cast<int>(process);
      }
    }
  }
  return Status::success();
}

void EntryRun::fillHypers(int64_t step, const StepContext &context) {
  for (size_t i = 0; i < source.hypers.size(); ++i) {
    const plan::Hyper &hyper = source.hypers[i];
    double value = 0;
    if (hyper.rule.kind == HyperKind::external) {
      auto found = context.externals->find(hyper.name);
      value =
          found == context.externals->end() ? hyper.rule.base : found->second;
    } else {
      value = evaluate(hyper.rule, step, context.seed);
    }
    for (const HostEnds &ends : sets[current]) {
      storeElement(hyper.dtype, ends.hypers[i].base, 0, value);
    }
  }
}

std::vector<int64_t> EntryRun::rowsOf(const Staging &staging) {
  const std::vector<int64_t> &shape = staging.whole.shape;
  const int64_t batch = shape.empty() ? 1 : shape[0];
  const int64_t elements = batch ? staging.whole.elements() / batch : 0;
  std::vector<bool> used(batch);
  for (const auto &runs : staging.runs) {
    for (const ElementRun &run : runs) {
      if (run.length > 0) {
        std::fill(used.begin() + run.global / elements,
                  used.begin() + (run.global + run.length - 1) / elements + 1,
                  true);
      }
    }
  }
  std::vector<int64_t> rows;
  for (int64_t row = 0; row < batch; ++row) {
    if (used[row]) {
      rows.push_back(row);
    }
  }
  return rows;
}

Status EntryRun::fillWhole(size_t i, int64_t step, int64_t microbatch,
                           const StepContext &context,
                           const std::vector<int64_t> *rows) {
  Staging &staging = stagings[i];
  if (const auto &given = staging.given[microbatch]) {
    std::memcpy(staging.whole.bytes.data(), given->bytes.data(),
                given->bytes.size());
    return Status::success();
  }
  void *out = staging.whole.bytes.data();
  LLMC_TRY(bind(*context.files));
  step += context.leftOut;
  return rows ? samples.readRows(i, context.seed, step, microbatch, *rows, out)
              : samples.read(i, context.seed, step, microbatch, out);
}

Status EntryRun::bind(const DataSets &files) {
  if (samples.version() == files.version) {
    return Status::success();
  }
  stopReading();
  return samples.bind(files);
}

Status EntryRun::readStep(int64_t step) {
  for (size_t i = 0; i < stagings.size(); ++i) {
    Staging &staging = stagings[i];
    const size_t bytes = staging.whole.bytes.size();
    for (int64_t m = 0; m < source.numMicrobatches; ++m) {
      if (!staging.given[m]) {
        LLMC_TRY(samples.readRows(i, seed, step, m, staging.rows,
                                  staging.step.get() +
                                      static_cast<size_t>(m) * bytes));
      }
    }
  }
  return Status::success();
}

void EntryRun::stage(size_t i, const std::byte *whole, int64_t microbatch) {
  const Staging &staging = stagings[i];
  int64_t bytes = sizeOf(staging.input->dtype);
  for (size_t d = 0; d < devices.size(); ++d) {
    const HostEnds::Area &area = sets[current][d].inputs[i];
    for (const ElementRun &run : staging.runs[d]) {
      std::memcpy(area.base + area.stride * microbatch + run.local * bytes,
                  whole + run.global * bytes,
                  static_cast<size_t>(run.length * bytes));
    }
  }
}

Status EntryRun::prepare(int64_t step, const StepContext &context) {
  current ^= 1;
  steps[current] = step;
  contexts[current] = context;
  fillHypers(step, context);
  LLMC_TRY(bind(*context.files));
  int64_t position = step + context.leftOut;
  std::optional<Status> read = ahead.take(position);
  if (!read || seed != context.seed) {
    seed = context.seed;
    read = readStep(position);
  }
  LLMC_TRY(*read);
  for (size_t i = 0; i < stagings.size(); ++i) {
    const Staging &staging = stagings[i];
    const std::byte *data = staging.step.get();
    for (int64_t m = 0; m < source.numMicrobatches; ++m) {
      stage(i, staging.given[m] ? staging.given[m]->bytes.data() : data, m);
      data += staging.whole.bytes.size();
    }
  }
  // Steps are the user's: the one after the last is none.
  if (position < INT64_MAX) {
    ahead.begin(position + 1);
  }
  return Status::success();
}

Status EntryRun::prepareAs(EntryRun &other, int64_t microbatch, int64_t step,
                           const StepContext &context) {
  current ^= 1;
  fillHypers(step, context);
  for (size_t i = 0; i < stagings.size(); ++i) {
    for (size_t j = 0; j < other.stagings.size(); ++j) {
      if (other.stagings[j].input->name == stagings[i].input->name) {
        LLMC_TRY(
            other.fillWhole(j, step, microbatch, context, &stagings[i].rows));
        stage(i, other.stagings[j].whole.bytes.data(), 0);
      }
    }
  }
  return Status::success();
}

Status EntryRun::setInput(const std::string &name, int64_t microbatch,
                          const HostTensor &value) {
  for (Staging &staging : stagings) {
    if (staging.input->name != name) {
      continue;
    }
    if (value.dtype != staging.whole.dtype ||
        value.shape != staging.whole.shape || microbatch < 0 ||
        microbatch >= source.numMicrobatches) {
      return makeError(
          ErrorKind::usage,
          fmt::format("expected {}[{}] for input '{}' of a microbatch below "
                      "{}, got {}[{}] for {}",
                      nameOf(staging.whole.dtype),
                      fmt::join(staging.whole.shape, ", "), name,
                      source.numMicrobatches, nameOf(value.dtype),
                      fmt::join(value.shape, ", "), microbatch));
    }
    stopReading();
    staging.given[microbatch] = value;
    return Status::success();
  }
  return makeError(ErrorKind::usage, fmt::format("entry '{}' has no input '{}'",
                                                 source.name, name));
}

Status EntryRun::readMetrics(int set, std::vector<NamedValue> &values,
                             Words *words) const {
  for (size_t i = 0; i < source.metrics.size(); ++i) {
    values[i].name = source.metrics[i].name;
    if (metricOwners[i] >= 0) {
      values[i].value =
          loadElement(source.metrics[i].dtype,
                      sets[set][metricOwners[i]].metrics[i].base, 0);
    }
  }
  if (words) {
    words->heard.assign(1, words->said);
  }
  if (peers.areNone()) {
    return Status::success();
  }
  std::vector<double> own;
  for (const NamedValue &each : values) {
    own.push_back(each.value);
  }
  own.push_back(words ? words->exposed : 0);
  own.push_back(words ? words->said : 0);
  LLMC_TRY_ASSIGN(auto all, peers.gather(own));
  if (words) {
    words->heard.clear();
    words->exposed = 0;
    for (const std::vector<double> &each : all) {
      words->heard.push_back(each.back());
      words->exposed += each.end()[-2] / static_cast<double>(all.size());
    }
  }
  for (size_t i = 0; i < values.size(); ++i) {
    if (metricProcesses[i] >= 0) {
      values[i].value = all[metricProcesses[i]].at(i);
    }
  }
  return Status::success();
}

/// Writes what the devices returned of fetched value `i` into its box.
Status EntryRun::readBox(int set, size_t i, int64_t microbatch,
                         HostTensor &whole, Pieces &own) {
  const plan::Fetch &fetch = source.fetches[i];
  std::vector<int64_t> origin = fetch.origin;
  origin.resize(whole.shape.size());
  int64_t bytes = sizeOf(fetch.dtype);
  for (size_t d = 0; d < devices.size(); ++d) {
    if (!plan::hasStage(fetch.stages, devices[d].stage)) {
      continue;
    }
    const HostEnds::Area &area = sets[set][d].fetches[i];
    std::byte *base = area.base + area.stride * microbatch;
    LLMC_TRY(visitRuns({fetch.layout, origin, whole.shape, {}}, plan.mesh,
                       devices[d].coordinates, [&](const ElementRun &run) {
                         std::memcpy(whole.bytes.data() + run.global * bytes,
                                     base + run.local * bytes,
                                     static_cast<size_t>(run.length * bytes));
                         if (!peers.areNone()) {
                           own.add(run.global, base + run.local * bytes,
                                   run.length);
                         }
                       }));
  }
  return Status::success();
}

std::optional<Result<HostTensor>>
EntryRun::fetch(int set, const std::string &name, int64_t microbatch) {
  if (microbatch < 0 || microbatch >= source.numMicrobatches) {
    return Result<HostTensor>(
        makeError(ErrorKind::usage,
                  fmt::format("expected a microbatch in [0, {}), got {}",
                              source.numMicrobatches, microbatch)));
  }
  std::optional<HostTensor> whole;
  std::optional<Pieces> own;
  for (size_t i = 0; i < source.fetches.size(); ++i) {
    const plan::Fetch &fetch = source.fetches[i];
    if (fetch.tensorName() != name) {
      continue;
    }
    if (!whole) {
      own.emplace(sizeOf(fetch.dtype));
      whole = HostTensor::zeros(fetch.dtype, fetch.of.empty()
                                                 ? fetch.layout.globalShape()
                                                 : fetch.shape);
    }
    Status status = readBox(set, i, microbatch, *whole, *own);
    if (!status.ok()) {
      return Result<HostTensor>(status);
    }
  }
  if (whole) {
    Status status = peers.complete(*whole, *own);
    return status.ok() ? Result<HostTensor>(*std::move(whole))
                       : Result<HostTensor>(status);
  }
  for (size_t i = 0; i < stagings.size(); ++i) {
    if (stagings[i].input->name == name) {
      Status status =
          fillWhole(i, steps[set], microbatch, contexts[set], nullptr);
      return status.ok() ? Result<HostTensor>(stagings[i].whole)
                         : Result<HostTensor>(status);
    }
  }
  return std::nullopt;
}

int64_t mostMicrobatches(const plan::Plan &plan) {
  int64_t most = 1;
  for (const plan::Entry &entry : plan.entries) {
    most = std::max<int64_t>(most, entry.numMicrobatches);
  }
  return most;
}

} // namespace llmc::rt::exec
