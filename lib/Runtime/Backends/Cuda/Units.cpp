//===- Units.cpp - A unit reaches the device ------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a device's thread does with a unit: it issues the tape, captures it as
// graphs, or launches those of an earlier one; and where its streams stand.
// Tested by test/Runtime/Backends/Cuda/CudaDeviceTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "Issue.h"

#include <fmt/format.h>

namespace llmc::rt::cuda {

/// A capture that fails is ended too, so that the chain is a stream again.
Result<CUgraphExec> CudaDevice::capturePiece(Issue &work, const Piece &given) {
  LLMC_TRY(driver.check(
      driver.cuStreamBeginCapture(chain, CU_STREAM_CAPTURE_MODE_THREAD_LOCAL),
      "cuStreamBeginCapture"));
  Status status = work.run(given);
  CUgraph graph = nullptr;
  Status end = driver.check(driver.cuStreamEndCapture(chain, &graph),
                            "expected a step that can be captured");
  LLMC_TRY(status);
  LLMC_TRY(end);
  CUgraphExec exec = nullptr;
  status = driver.check(driver.cuGraphInstantiate(&exec, graph, 0),
                        "cuGraphInstantiate");
  driver.cuGraphDestroy(graph);
  LLMC_TRY(status);
  return exec;
}

Status CudaDevice::capture(const Unit &given) {
  Issue work(*this, given);
  LLMC_TRY(work.prepare());
  for (const Piece &each : tapeOf(given).pieces()) {
    LLMC_TRY_ASSIGN(CUgraphExec graph, capturePiece(work, each));
    LLMC_TRY(keep(given.key, {graph, each.gate, each.value}));
  }
  meetingsOfKey[given.key] = work.foreseen();
  return Status::success();
}

Status CudaDevice::keep(uint64_t key, const CapturedPiece &made) {
  std::lock_guard<std::mutex> lock(launching);
  if (hasDropped) {
    driver.cuGraphExecDestroy(made.graph);
    return fault.get();
  }
  graphs[key].push_back(made);
  return Status::success();
}

Status CudaDevice::launch(const CapturedPiece &given) {
  std::lock_guard<std::mutex> lock(launching);
  return hasDropped ? fault.get()
                    : driver.check(driver.cuGraphLaunch(given.graph, chain),
                                   "cuGraphLaunch");
}

Status CudaDevice::replay(const Unit &given) {
  begin(given, meetingsOfKey[given.key]);
  auto found = graphs.find(given.key); // None has no work.
  for (size_t i = 0; found != graphs.end() && i < found->second.size(); ++i) {
    const CapturedPiece &each = found->second[i];
    if (each.gate) {
      each.gate->pass(each.value);
    }
    LLMC_TRY(launch(each));
  }
  return Status::success();
}

/// A graph that runs goes on, and is given back when it ends.
void CudaDevice::dropGraphs() {
  std::lock_guard<std::mutex> lock(launching);
  if (std::exchange(hasDropped, true)) {
    return;
  }
  for (const auto &[key, pieces] : graphs) {
    for (const CapturedPiece &each : pieces) {
      driver.cuGraphExecDestroy(each.graph);
    }
  }
}

Status CudaDevice::issueTape(const Unit &given) {
  Issue work(*this, given);
  LLMC_TRY(work.prepare());
  begin(given, work.foreseen());
  LLMC_TRY(timeline.beginUnit(given.number, chain));
  for (const Piece &each : tapeOf(given).pieces()) {
    if (each.gate) {
      each.gate->pass(each.value);
    }
    if (fault.dead()) {
      return fault.get();
    }
    LLMC_TRY(work.run(each));
  }
  return Status::success();
}

void CudaDevice::begin(const Unit &given, std::shared_ptr<const Meetings> met) {
  std::lock_guard<std::mutex> lock(mutex);
  meetings[given.number % numEnds] = std::move(met);
  begun = given.number + 1;
}

Status CudaDevice::issue(const Unit &given) {
  LLMC_TRY(makeCurrent());
  if (given.mode == UnitMode::eager) {
    LLMC_TRY(issueTape(given));
  } else {
    if (given.mode == UnitMode::capture && given.hasTape) {
      LLMC_TRY(capture(given));
    }
    LLMC_TRY(replay(given));
  }
  return driver.check(driver.cuEventRecord(ends[given.number % numEnds], chain),
                      "cuEventRecord");
}

/// A stream has a mark of 0 before its first meeting and after its last one.
/// Assumes the lock.
std::vector<CudaDevice::Waiting>
CudaDevice::findWaiting(uint64_t wanted) const {
  std::vector<Waiting> found;
  const auto &met = meetings[wanted % numEnds];
  for (size_t i = 0; met && i < met->size(); ++i) {
    uint32_t mark = reinterpret_cast<volatile uint32_t *>(marks)[i];
    if (mark >= 1 && mark <= (*met)[i].size()) {
      found.emplace_back(streams[i].get(), &(*met)[i][mark - 1]);
    }
  }
  return found;
}

std::string CudaDevice::describe(uint64_t wanted) {
  std::lock_guard<std::mutex> lock(mutex);
  if (begun <= wanted) {
    return fmt::format("; device {} has not been given the step yet", number);
  }
  std::string text;
  for (auto [stream, meeting] : findWaiting(wanted)) {
    text +=
        fmt::format("; device {} stream '{}' at {} waits for {}", number,
                    stream->name, placeOf(*meeting->origin), meeting->peers);
  }
  if (loop) {
    text += fmt::format("; device {} is in trip {} of the loop at {}", number,
                        trip, placeOf(*loop));
  }
  return text.empty() ? fmt::format("; device {} runs kernels", number) : text;
}

std::string CudaDevice::whereWaits(uint64_t wanted) {
  std::lock_guard<std::mutex> lock(mutex);
  std::vector<Waiting> found;
  if (begun > wanted) {
    found = findWaiting(wanted);
  }
  return found.empty() ? ""
                       : fmt::format("device {} waited at {}", number,
                                     placeOf(*found.front().second->origin));
}

void CudaDevice::enterTrip(const Origin *given, uint64_t count) {
  std::lock_guard<std::mutex> lock(mutex);
  loop = given;
  trip = count;
}

} // namespace llmc::rt::cuda
