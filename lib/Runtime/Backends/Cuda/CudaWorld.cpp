//===- CudaWorld.cpp - The GPUs that this process drives ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Steps of one process run one after the other on each of its devices. Devices
// of different processes, and of one, are ordered by what they exchange alone.
// Tested by test/Runtime/Device/ConformanceTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "CudaWorld.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <numeric>
#include <thread>

namespace llmc::rt::cuda {

CudaWorld::CudaWorld(const Driver &driver, const WorldOptions &options,
                     bool capturesSteps)
    : driver(driver), fault(options.transport),
      numDevices(static_cast<int>(options.devices)),
      captures(capturesSteps && !options.trace), traces(options.trace),
      messages(options.transport) {
  int processes = messages ? messages->size() : 1;
  int process = messages ? messages->process() : 0;
  numbers.resize(static_cast<size_t>(numDevices / processes));
  std::iota(numbers.begin(), numbers.end(), numDevices / processes * process);
}

/// Communicators go before the contexts that they are in, and after the graphs
/// that have them. Under what still runs they are aborted: its device's thread
/// may be in the middle of it, and other members need not come.
CudaWorld::~CudaWorld() {
  if (unit > settled) {
    fault.fail(makeError(ErrorKind::internal,
                         "expected all steps to end before their world"));
  }
  if (fault.dead()) {
    abortComms();
    return;
  }
  dropGraphs();
  for (auto it = comms.rbegin(); it != comms.rend(); ++it) {
    (void)nccl->ncclCommDestroy(*it);
  }
}

void CudaWorld::dropGraphs() {
  for (auto &device : devices) {
    device->dropGraphs();
  }
}

Status CudaWorld::open(int firstOrdinal) {
  for (size_t i = 0; i < numbers.size(); ++i) {
    devices.push_back(std::make_unique<CudaDevice>(
        driver, objects, fault, numbers[i], firstOrdinal + static_cast<int>(i),
        traces));
    LLMC_TRY(devices.back()->open());
  }
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

bool CudaWorld::hasWork() const {
  return std::any_of(devices.begin(), devices.end(),
                     [](const auto &device) { return device->hasWork(); });
}

bool CudaWorld::asksHost() const {
  return std::any_of(devices.begin(), devices.end(),
                     [](const auto &device) { return device->asks(); });
}

void CudaWorld::post(UnitMode given, uint64_t ofKey) {
  if (given == UnitMode::capture && asksHost()) {
    given = UnitMode::eager;
    hasIssuedAnew = true;
  }
  if (given != UnitMode::replay) {
    std::vector<CommunicatorCounts> ofUnit;
    for (auto &communicator : communicators) {
      ofUnit.push_back(communicator->takeCounts());
    }
    counts[unit % numEnds] =
        std::make_shared<const std::vector<CommunicatorCounts>>(ofUnit);
    for (auto &group : groups) {
      fault.fail(group->settle());
    }
  } else {
    counts[unit % numEnds] = countsOfKey[ofKey];
  }
  if (given == UnitMode::capture) {
    countsOfKey[ofKey] = counts[unit % numEnds];
    captured.insert(ofKey);
  }
  for (auto &device : devices) {
    device->post({unit, given, ofKey, false});
  }
  ++unit;
}

bool CudaWorld::beginStep(uint64_t given) {
  if (hasWork()) {
    post(UnitMode::eager, 0);
  }
  key = given;
  bool isCaptured = captured.count(key) != 0;
  mode = isCaptured ? UnitMode::replay
         : captures ? UnitMode::capture
                    : UnitMode::eager;
  return !isCaptured;
}

Status CudaWorld::submit() {
  if (steps.size() == mostSteps) {
    return makeError(ErrorKind::mismatch,
                     fmt::format("expected at most {} steps that are not "
                                 "waited for",
                                 mostSteps));
  }
  steps.push_back(unit);
  post(std::exchange(mode, UnitMode::eager), key);
  return fault.get();
}

/// The job and the library tell here what happened to other members.
Status CudaWorld::checkComms(uint64_t wanted) {
  Status lost = fault.askJob();
  for (auto &device : devices) {
    if (lost.kind() == ErrorKind::peerLost && lost.error().hint.empty()) {
      lost = lost.withHint(device->whereWaits(wanted));
    }
  }
  LLMC_TRY(lost);
  for (NcclComm comm : comms) {
    NcclResult result = NcclResult::success;
    LLMC_TRY(nccl->check(nccl->ncclCommGetAsyncError(comm, &result),
                         "ncclCommGetAsyncError"));
    LLMC_TRY(nccl->check(result, "a communicator of NCCL failed"));
  }
  return Status::success();
}

Result<bool> CudaWorld::poll(uint64_t wanted) {
  for (auto &device : devices) {
    LLMC_TRY_ASSIGN(bool hasEnded, device->hasEnded(wanted));
    if (!hasEnded) {
      return false;
    }
  }
  return true;
}

Status CudaWorld::overdue(uint64_t wanted, std::chrono::milliseconds deadline) {
  std::string text;
  for (auto &device : devices) {
    Result<bool> hasEnded = device->hasEnded(wanted);
    if (!hasEnded.ok() || !*hasEnded) {
      text += device->describe(wanted);
    }
  }
  return makeError(ErrorKind::timeout,
                   fmt::format("waited {} ms for {} devices{}",
                               deadline.count(), devices.size(), text));
}

Status CudaWorld::await(uint64_t wanted, std::chrono::milliseconds deadline) {
  using Clock = std::chrono::steady_clock;
  auto begin = Clock::now();
  auto lastCheck = begin;
  while (true) {
    if (fault.dead()) {
      return fault.get();
    }
    LLMC_TRY_ASSIGN(bool hasEnded, poll(wanted));
    if (hasEnded) {
      // One may have failed since, and was not issued to its end.
      return fault.dead() ? fault.get() : settle(wanted);
    }
    auto now = Clock::now();
    if (now - begin > deadline) {
      return overdue(wanted, deadline);
    }
    if (now - lastCheck > std::chrono::milliseconds(5)) {
      LLMC_TRY(checkComms(wanted));
      lastCheck = now;
    }
    // Steps are long; what is short is waited for without sleep.
    if (now - begin > std::chrono::microseconds(50)) {
      std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
  }
}

Status CudaWorld::settle(uint64_t wanted) {
  for (; settled <= wanted; ++settled) {
    const Counts &ofUnit = counts[settled % numEnds];
    for (size_t i = 0; ofUnit && i < ofUnit->size(); ++i) {
      communicators[i]->addCounts((*ofUnit)[i]);
    }
    for (auto &communicator : communicators) {
      communicator->addCounts(communicator->takeIssued(settled));
    }
    for (auto &device : devices) {
      LLMC_TRY(device->makeCurrent());
      LLMC_TRY(device->times().settle(settled));
    }
  }
  return Status::success();
}

Status CudaWorld::wait(std::chrono::milliseconds deadline) {
  if (!steps.empty()) {
    Status status = await(steps.front(), deadline);
    if (!status.ok()) {
      fault.fail(status);
      abortComms();
      return fault.get();
    }
    steps.pop_front();
    return Status::success();
  }
  return fault.get();
}

Status CudaWorld::drain(std::chrono::milliseconds deadline) {
  while (!steps.empty()) {
    LLMC_TRY(wait(deadline));
  }
  if (!fault.dead() && hasWork()) {
    post(UnitMode::eager, 0);
  }
  if (unit > settled && !fault.dead()) {
    fault.fail(await(unit - 1, deadline));
  }
  if (fault.dead()) {
    abortComms();
  }
  return fault.get();
}

std::optional<double> CudaWorld::exposedSeconds() const {
  if (!traces) {
    return std::nullopt;
  }
  double seconds = 0;
  for (const auto &device : devices) {
    seconds += device->times().stallSeconds();
  }
  return seconds / static_cast<double>(devices.size());
}

std::string CudaWorld::note() const {
  return hasIssuedAnew ? "steps are issued anew, not replayed as graphs: the "
                         "host reads how loops and exchanges of rows go on"
                       : "";
}

std::vector<TraceSpan> CudaWorld::takeTrace() {
  std::vector<TraceSpan> spans;
  for (auto &device : devices) {
    std::vector<TraceSpan> some = device->times().take();
    spans.insert(spans.end(), some.begin(), some.end());
  }
  return spans;
}

//===----------------------------------------------------------------------===//
// Groups
//===----------------------------------------------------------------------===//

Status CudaWorld::checkGroup(const std::vector<int> &members,
                             std::vector<bool> &taken) const {
  if (members.empty()) {
    return makeError(ErrorKind::mismatch,
                     "expected a group of at least 1 device, got 0");
  }
  for (int member : members) {
    if (member < 0 || member >= size() || taken[static_cast<size_t>(member)]) {
      return makeError(
          ErrorKind::mismatch,
          fmt::format("expected a device in [0, {}) in a group, which is in "
                      "no other place, got {}",
                      size(), member));
    }
    taken[static_cast<size_t>(member)] = true;
  }
  return Status::success();
}

/// One process makes the number by which all find each other.
Result<NcclId> CudaWorld::shareId() {
  NcclId id = {};
  if (numbers.front() == 0) {
    LLMC_TRY(nccl->check(nccl->ncclGetUniqueId(&id), "ncclGetUniqueId"));
  }
  if (messages) {
    std::string bytes(id.bytes, sizeof(id.bytes));
    LLMC_TRY_ASSIGN(auto all, gatherBytes(*messages, bytes));
    std::memcpy(id.bytes, all.front().data(), sizeof(id.bytes));
  }
  return id;
}

Status CudaWorld::makeRoot() {
  LLMC_TRY_ASSIGN(nccl, Nccl::get());
  LLMC_TRY_ASSIGN(NcclId id, shareId());
  NcclConfig config;
  config.blocking = 0;
  std::vector<NcclComm> made(devices.size());
  LLMC_TRY(nccl->check(nccl->ncclGroupStart(), "ncclGroupStart"));
  Status status;
  for (size_t i = 0; i < devices.size() && status.ok(); ++i) {
    status = devices[i]->makeCurrent();
    if (status.ok()) {
      status =
          nccl->check(nccl->ncclCommInitRankConfig(&made[i], numDevices, id,
                                                   numbers[i], &config),
                      fmt::format("expected NCCL on device {}", numbers[i]));
    }
  }
  Status end = nccl->check(nccl->ncclGroupEnd(), "expected NCCL to begin");
  LLMC_TRY(status);
  LLMC_TRY(end);
  LLMC_TRY(settleComms(*nccl, made, fault, "expected NCCL to begin"));
  roots = made;
  comms.insert(comms.end(), made.begin(), made.end());
  return Status::success();
}

Result<std::vector<NcclComm>>
CudaWorld::splitRoot(const std::vector<int> &colors,
                     const std::vector<int> &keys) {
  NcclConfig config;
  config.blocking = 0;
  config.sharesResources = 1;
  std::vector<NcclComm> made(devices.size());
  LLMC_TRY(nccl->check(nccl->ncclGroupStart(), "ncclGroupStart"));
  Status status;
  for (size_t i = 0; i < devices.size() && status.ok(); ++i) {
    status = devices[i]->makeCurrent();
    if (status.ok()) {
      status = nccl->check(
          nccl->ncclCommSplit(roots[i], colors[i], keys[i], &made[i], &config),
          fmt::format("expected a group of NCCL on device {}", numbers[i]));
    }
  }
  Status end = nccl->check(nccl->ncclGroupEnd(), "expected NCCL to split");
  LLMC_TRY(status);
  LLMC_TRY(end);
  LLMC_TRY(settleComms(*nccl, roots, fault, "expected NCCL to split"));
  LLMC_TRY(settleComms(*nccl, made, fault, "expected NCCL to split"));
  for (NcclComm comm : made) {
    if (comm) {
      comms.push_back(comm);
    }
  }
  return made;
}

std::vector<Communicator *>
CudaWorld::makeHandles(const std::vector<std::vector<int>> &given,
                       std::vector<CudaCommunicator *> &made) {
  std::vector<Communicator *> handles(numbers.size());
  made.assign(numbers.size(), nullptr);
  for (const std::vector<int> &members : given) {
    std::vector<int> local;
    for (size_t rank = 0; rank < members.size(); ++rank) {
      if (isLocal(members[rank])) {
        local.push_back(static_cast<int>(rank));
      }
    }
    if (local.empty()) {
      continue;
    }
    groups.push_back(std::make_unique<Group>(members, local));
    for (int rank : local) {
      int number = members[static_cast<size_t>(rank)];
      communicators.push_back(std::make_unique<CudaCommunicator>(
          own(number), fault, *groups.back(), rank));
      communicators.back()->endAll = [this] { abortComms(); };
      auto at = static_cast<size_t>(number - numbers.front());
      made[at] = communicators.back().get();
      handles[at] = made[at];
    }
  }
  return handles;
}

Result<std::vector<Communicator *>>
CudaWorld::split(const std::vector<std::vector<int>> &given) {
  std::vector<bool> taken(static_cast<size_t>(numDevices));
  bool hasPairs = false, hasMany = false;
  std::vector<int> colors(devices.size(), ncclNoColor), keys(devices.size());
  std::vector<int> pairColors = colors;
  for (size_t color = 0; color < given.size(); ++color) {
    LLMC_TRY(checkGroup(given[color], taken));
    size_t count = given[color].size();
    hasMany |= count > 1;
    hasPairs |= count == 2;
    for (size_t rank = 0; rank < count; ++rank) {
      int member = given[color][rank];
      if (count > 1 && isLocal(member)) {
        auto at = static_cast<size_t>(member - numbers.front());
        colors[at] = static_cast<int>(color);
        pairColors[at] = count == 2 ? colors[at] : ncclNoColor;
        keys[at] = static_cast<int>(rank);
      }
    }
  }
  std::vector<NcclComm> first(devices.size()), second(devices.size());
  if (hasMany && roots.empty()) {
    LLMC_TRY(makeRoot());
  }
  if (hasMany) {
    LLMC_TRY_ASSIGN(first, splitRoot(colors, keys));
  }
  if (hasPairs) {
    LLMC_TRY_ASSIGN(second, splitRoot(pairColors, keys));
  }
  std::vector<CudaCommunicator *> made;
  std::vector<Communicator *> handles = makeHandles(given, made);
  for (size_t i = 0; i < made.size(); ++i) {
    if (made[i]) {
      made[i]->nccl = nccl;
      made[i]->comms = {first[i], second[i]};
    }
  }
  return handles;
}

void CudaWorld::exchange(Stream &stream, const TransferPart *parts,
                         uint32_t numParts, const Origin &origin) {
  for (uint32_t i = 0; i < numParts; ++i) {
    if (parts[i].communicator->size() != 2) {
      fault.fail(makeError(
          ErrorKind::mismatch,
          fmt::format("expected transfers in groups of 2 in '{}', got one of "
                      "{}",
                      origin.name, parts[i].communicator->size())));
      return;
    }
  }
  if (numParts == 0) {
    return;
  }
  auto &first = static_cast<CudaCommunicator &>(*parts[0].communicator);
  auto &ownStream = static_cast<CudaStream &>(stream);
  Command *command =
      first.owner().push(ownStream, wordsOfPart * numParts, origin);
  if (!command) {
    return;
  }
  command->work = ExchangeCommand{numParts};
  uint64_t *words = first.owner().wordsOf(*command);
  for (uint32_t i = 0; i < numParts; ++i) {
    auto &own = static_cast<CudaCommunicator &>(*parts[i].communicator);
    uint64_t *at = words + i * wordsOfPart;
    at[0] = reinterpret_cast<uint64_t>(&own);
    at[1] = reinterpret_cast<uint64_t>(parts[i].buffer);
    at[2] = parts[i].bytes;
    at[3] = parts[i].send;
    own.members().transfer(parts[i].send, own.rank(), parts[i].bytes, ownStream,
                           origin);
    own.countTransfer(parts[i].bytes);
  }
}

/// An abort frees a communicator, so each is aborted once. It waits for graphs
/// that have it: those that run end by it, if they are dropped before.
void CudaWorld::abortComms() {
  std::lock_guard<std::mutex> lock(aborting);
  if (std::exchange(areAborted, true)) {
    return;
  }
  dropGraphs();
  auto end = fault.endComms();
  for (auto it = comms.rbegin(); it != comms.rend(); ++it) {
    (void)nccl->ncclCommAbort(*it);
  }
}

} // namespace llmc::rt::cuda
