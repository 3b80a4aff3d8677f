//===- Issue.cpp - A tape is handed to the driver -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A step that is captured is the same calls as one that is enqueued at once, on
// the same streams; so both compute the same bits.
// Tested by test/Runtime/Device/ConformanceTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "Issue.h"

#include "CudaCommunicator.h"

#include <fmt/format.h>

#include <algorithm>

namespace llmc::rt::cuda {

static CUdeviceptr addressOf(const void *pointer) {
  return reinterpret_cast<CUdeviceptr>(pointer);
}

std::string placeOf(const Origin &origin) {
  return origin.location.empty()
             ? fmt::format("'{}'", origin.name)
             : fmt::format("'{}' ({})", origin.name, origin.location);
}

Issue::Issue(CudaDevice &device, const Unit &unit)
    : device(device), driver(device.driver), tape(device.tapeOf(unit)),
      number(unit.number), isUsed(device.streams.size()),
      markOf(tape.commands.size()),
      meetings(std::make_shared<Meetings>(device.streams.size())) {
  for (const Command &command : tape.commands) {
    isUsed[command.stream->number] = true;
    if (const auto *work = std::get_if<RepeatCommand>(&command.work)) {
      for (const CudaStream *stream : work->repeat->streams) {
        isUsed[stream->number] = true;
      }
    }
  }
}

//===----------------------------------------------------------------------===//
// Before, and around
//===----------------------------------------------------------------------===//

Status Issue::prepare() {
  for (const Command &command : tape.commands) {
    if (const auto *work = std::get_if<CollectiveCommand>(&command.work)) {
      LLMC_TRY(takeStaging(command, *work));
      LLMC_TRY(takeCounts(command, *work));
      if (work->plan->meetsOthers()) {
        foresee(command, work->communicator->peersOf(*work->collective));
      }
    } else if (const auto *work = std::get_if<ExchangeCommand>(&command.work)) {
      LLMC_TRY(takeSides(command, *work));
      foresee(command, peersOf(command, *work));
    }
  }
  return Status::success();
}

/// Staging that has become too small stays, since graphs have its address.
Status Issue::takeStaging(const Command &command,
                          const CollectiveCommand &work) {
  CudaStream &stream = *command.stream;
  uint64_t bytes = work.plan->stagingBytes;
  if (bytes <= stream.stagingBytes) {
    return Status::success();
  }
  LLMC_TRY(driver.check(driver.cuMemAlloc(&stream.staging, bytes),
                        fmt::format("expected {} bytes of staging for {}",
                                    bytes, placeOf(*command.origin))));
  stream.stagingBytes = bytes;
  device.stagingMemory.push_back(stream.staging);
  return Status::success();
}

/// Those of the parts, each once, in order.
std::vector<NcclComm> Issue::commsOf(const Command &command,
                                     const ExchangeCommand &work) const {
  std::vector<NcclComm> comms;
  for (uint32_t i = 0; i < work.numParts; ++i) {
    ExchangePart part = tape.part(command, i);
    NcclComm comm = part.communicator->commOf(part);
    if (std::find(comms.begin(), comms.end(), comm) == comms.end()) {
      comms.push_back(comm);
    }
  }
  return comms;
}

Status Issue::takeSides(const Command &command, const ExchangeCommand &work) {
  CudaStream &stream = *command.stream;
  size_t wanted = commsOf(command, work).size() - 1;
  if (wanted > 0 && !stream.forked) {
    LLMC_TRY_ASSIGN(stream.forked, device.makeEvent(CU_EVENT_DISABLE_TIMING));
  }
  while (stream.sides.size() < wanted) {
    SideStream &side = stream.sides.emplace_back();
    LLMC_TRY_ASSIGN(side.handle, device.makeStream(stream.priority));
    LLMC_TRY_ASSIGN(side.done, device.makeEvent(CU_EVENT_DISABLE_TIMING));
  }
  return Status::success();
}

Status Issue::forkStreams() {
  LLMC_TRY(
      check(driver.cuEventRecord(device.fork, device.chain), "cuEventRecord"));
  for (auto &stream : device.streams) {
    if (isUsed[stream->number]) {
      LLMC_TRY(check(driver.cuStreamWaitEvent(stream->handle, device.fork, 0),
                     "cuStreamWaitEvent"));
    }
  }
  return Status::success();
}

Status Issue::joinStreams() {
  for (auto &stream : device.streams) {
    if (isUsed[stream->number]) {
      if (!(*meetings)[stream->number].empty()) {
        LLMC_TRY(check(
            driver.cuMemsetD32Async(device.marksOnDevice + 4 * stream->number,
                                    0, 1, stream->handle),
            "cuMemsetD32Async"));
      }
      LLMC_TRY(check(driver.cuEventRecord(stream->joined, stream->handle),
                     "cuEventRecord"));
      LLMC_TRY(check(driver.cuStreamWaitEvent(device.chain, stream->joined, 0),
                     "cuStreamWaitEvent"));
    }
  }
  return Status::success();
}

/// Whether a trace shows it.
static bool hasSpan(const Command &command) {
  const auto *wait = std::get_if<WaitCommand>(&command.work);
  return (!wait || wait->isForCommunication) &&
         !std::holds_alternative<RecordCommand>(command.work) &&
         !std::holds_alternative<GateCommand>(command.work) &&
         !std::holds_alternative<RepeatCommand>(command.work);
}

Status Issue::addOne(const Command &command) {
  bool isStall = std::holds_alternative<WaitCommand>(command.work);
  bool isTimed = device.timeline.on() && hasSpan(command);
  Status status;
  if (isTimed) {
    LLMC_TRY(device.timeline.begin(*command.stream, *command.origin, isStall));
  }
  status = std::visit([&](const auto &work) { return add(command, work); },
                      command.work);
  if (!status.ok()) {
    // Where it is in a loop, this is the place, not that of the loop.
    device.fault.fail(makeError(
        status.kind(), fmt::format("{} at {} in stream '{}' of device {}",
                                   status.message(), placeOf(*command.origin),
                                   command.stream->name, device.number)));
    return device.fault.get();
  }
  return isTimed ? device.timeline.end(*command.stream) : Status::success();
}

Status Issue::run(const Piece &piece) {
  ++device.piece;
  LLMC_TRY(forkStreams());
  for (size_t i = piece.begin; i < piece.end; ++i) {
    LLMC_TRY(addOne(tape.commands[i]));
    if (auto *repeat = std::get_if<RepeatCommand>(&tape.commands[i].work)) {
      i = repeat->end;
    }
  }
  return joinStreams();
}

//===----------------------------------------------------------------------===//
// Kernels, libraries, events
//===----------------------------------------------------------------------===//

Status Issue::add(const Command &command, const LaunchCommand &work) {
  const uint64_t *words = tape.wordsOf(command);
  uint32_t numWords = work.numBuffers + work.numScalars;
  // The driver reads the values before it returns.
  uint64_t tail[] = {
      0, static_cast<uint64_t>(work.kernel->rows),
      work.kernel->hasScratch ? reinterpret_cast<uint64_t>(work.scratch) : 0};
  std::vector<void *> parameters;
  parameters.reserve(numWords + 3);
  for (uint32_t i = 0; i < numWords; ++i) {
    parameters.push_back(const_cast<uint64_t *>(words + i));
  }
  for (uint64_t &value : tail) {
    parameters.push_back(&value);
  }
  const CudaKernel &kernel = *work.kernel;
  return check(driver.cuLaunchKernel(kernel.function, kernel.blocks, 1, 1,
                                     kernel.threads, 1, 1, kernel.sharedBytes,
                                     command.stream->handle, parameters.data(),
                                     nullptr),
               "cuLaunchKernel");
}

Status Issue::add(const Command &command, const CallCommand &work) {
  return work.op->enqueue(command.stream->handle, tape.wordsOf(command),
                          work.workspace);
}

Status Issue::add(const Command &command, const RecordCommand &work) {
  work.event->piece = device.piece;
  return check(driver.cuEventRecord(work.event->handle, command.stream->handle),
               "cuEventRecord");
}

/// A piece before this one has ended, and a capture knows its own events only.
Status Issue::add(const Command &command, const WaitCommand &work) {
  if (work.event->piece != device.piece) {
    return Status::success();
  }
  return check(
      driver.cuStreamWaitEvent(command.stream->handle, work.event->handle, 0),
      "cuStreamWaitEvent");
}

//===----------------------------------------------------------------------===//
// Copies and fills
//===----------------------------------------------------------------------===//

/// Both kinds of memory have addresses in one space.
Status Issue::copyRows(CUdeviceptr to, CUdeviceptr from, const RowCopy &part,
                       CUstream stream) {
  to += static_cast<CUdeviceptr>(part.to);
  from += static_cast<CUdeviceptr>(part.from);
  if (part.height == 1) {
    return check(driver.cuMemcpyAsync(to, from, part.width, stream),
                 "cuMemcpyAsync");
  }
  CUDA_MEMCPY2D rows = {};
  rows.srcMemoryType = rows.dstMemoryType = CU_MEMORYTYPE_UNIFIED;
  rows.srcDevice = from;
  rows.dstDevice = to;
  rows.srcPitch = part.fromPitch;
  rows.dstPitch = part.toPitch;
  rows.WidthInBytes = part.width;
  rows.Height = part.height;
  return check(driver.cuMemcpy2DAsync(&rows, stream), "cuMemcpy2DAsync");
}

Status Issue::copyBox(CUdeviceptr to, CUdeviceptr from, const CopyBox &box,
                      const Command &command) {
  LLMC_TRY_ASSIGN(CopyPlan plan,
                  CopyPlan::make(box, false, command.origin->name));
  for (uint64_t i = 0; i < plan.numCalls(); ++i) {
    LLMC_TRY(copyRows(to, from, plan.part(i), command.stream->handle));
  }
  return Status::success();
}

Status Issue::add(const Command &command, const CopyCommand &work) {
  return copyBox(addressOf(work.to), addressOf(work.from), *work.box, command);
}

Status Issue::fillRows(CUdeviceptr to, const RowFill &part, CUstream stream) {
  to += static_cast<CUdeviceptr>(part.to);
  bool isOne = part.height == 1;
  auto byte = static_cast<unsigned char>(part.value);
  auto half = static_cast<unsigned short>(part.value);
  switch (part.size) {
  case 1:
    return check(isOne ? driver.cuMemsetD8Async(to, byte, part.width, stream)
                       : driver.cuMemsetD2D8Async(to, part.pitch, byte,
                                                  part.width, part.height,
                                                  stream),
                 "cuMemsetD8Async");
  case 2:
    return check(isOne ? driver.cuMemsetD16Async(to, half, part.width, stream)
                       : driver.cuMemsetD2D16Async(to, part.pitch, half,
                                                   part.width, part.height,
                                                   stream),
                 "cuMemsetD16Async");
  default:
    return check(
        isOne ? driver.cuMemsetD32Async(to, part.value, part.width, stream)
              : driver.cuMemsetD2D32Async(to, part.pitch, part.value,
                                          part.width, part.height, stream),
        "cuMemsetD32Async");
  }
}

Status Issue::add(const Command &command, const FillCommand &work) {
  LLMC_TRY_ASSIGN(
      FillPlan plan,
      FillPlan::make(*work.box, work.pattern, work.size, command.origin->name));
  for (uint64_t i = 0; i < plan.numCalls(); ++i) {
    LLMC_TRY(
        fillRows(addressOf(work.to), plan.part(i), command.stream->handle));
  }
  return Status::success();
}

//===----------------------------------------------------------------------===//
// Collectives and exchanges
//===----------------------------------------------------------------------===//

void Issue::foresee(const Command &command, std::string peers) {
  auto &own = (*meetings)[command.stream->number];
  own.push_back({command.origin, std::move(peers)});
  markOf[numberOf(command)] = static_cast<uint32_t>(own.size());
}

Status Issue::mark(const Command &command) {
  return check(driver.cuMemsetD32Async(
                   device.marksOnDevice + 4 * command.stream->number,
                   markOf[numberOf(command)], 1, command.stream->handle),
               "cuMemsetD32Async");
}

Status Issue::copyAll(const std::vector<CollectiveCopy> &copies,
                      const Command &command, const uint64_t *ins,
                      const uint64_t *outs) {
  auto address = [&](size_t buffer, const CollectivePlace &place) {
    uint64_t base = place.memory == CollectivePlace::Memory::in ? ins[buffer]
                    : place.memory == CollectivePlace::Memory::out
                        ? outs[buffer]
                        : command.stream->staging;
    return base + place.offset;
  };
  for (const CollectiveCopy &copy : copies) {
    CUdeviceptr to = address(copy.buffer, copy.to);
    CUdeviceptr from = address(copy.buffer, copy.from);
    if (to != from) {
      LLMC_TRY(copyBox(to, from, copy.box, command));
    }
  }
  return Status::success();
}

Status Issue::addPlan(const Command &command, const CollectiveCommand &work,
                      const CollectivePlan &plan) {
  const uint64_t *ins = tape.wordsOf(command);
  const Collective &collective = *work.collective;
  const uint64_t *outs =
      ins + collective.buffers.size() + traitsOf(collective.kind).takesCounts;
  CUstream stream = command.stream->handle;
  for (const auto &[buffer, bytes] : plan.zeros) {
    LLMC_TRY(check(driver.cuMemsetD8Async(outs[buffer], 0, bytes, stream),
                   "cuMemsetD8Async"));
  }
  LLMC_TRY(copyAll(plan.before, command, ins, outs));
  if (plan.meetsOthers()) {
    LLMC_TRY(work.communicator->call(plan, ins, outs, command.stream->staging,
                                     stream));
  }
  return copyAll(plan.after, command, ins, outs);
}

Status Issue::add(const Command &command, const CollectiveCommand &work) {
  if (markOf[numberOf(command)]) {
    LLMC_TRY(mark(command));
  }
  LLMC_TRY(addPlan(command, work, *work.plan));
  if (traitsOf(work.collective->kind).takesCounts) {
    return addCounted(command, work);
  }
  if (work.countsWhenIssued) {
    work.communicator->countIssued(
        number, *work.collective,
        payloadBytes(*work.collective, work.communicator->size()));
  }
  return Status::success();
}

static std::string describePart(const ExchangePart &part) {
  return fmt::format("device {} in a {} of {} bytes",
                     part.communicator->otherMember(),
                     part.isSend ? "send" : "receive", part.bytes);
}

std::string Issue::peersOf(const Command &command,
                           const ExchangeCommand &work) const {
  std::string peers;
  for (uint32_t i = 0; i < work.numParts; ++i) {
    peers += (i ? " and " : "") + describePart(tape.part(command, i));
  }
  return peers;
}

/// All parts of one communicator are on one stream, the first ones' is the
/// entry's.
Status Issue::add(const Command &command, const ExchangeCommand &work) {
  CudaStream &stream = *command.stream;
  std::vector<NcclComm> comms = commsOf(command, work);
  std::vector<ExchangePart> parts;
  std::vector<CUstream> streams;
  for (uint32_t i = 0; i < work.numParts; ++i) {
    const ExchangePart &part = parts.emplace_back(tape.part(command, i));
    auto found =
        std::find(comms.begin(), comms.end(), part.communicator->commOf(part));
    auto number = static_cast<size_t>(found - comms.begin());
    streams.push_back(number ? stream.sides[number - 1].handle : stream.handle);
  }
  LLMC_TRY(mark(command));
  if (comms.size() > 1) {
    LLMC_TRY(check(driver.cuEventRecord(stream.forked, stream.handle),
                   "cuEventRecord"));
  }
  for (size_t i = 0; i + 1 < comms.size(); ++i) {
    LLMC_TRY(check(
        driver.cuStreamWaitEvent(stream.sides[i].handle, stream.forked, 0),
        "cuStreamWaitEvent"));
  }
  LLMC_TRY(CudaCommunicator::exchange(parts, streams));
  for (size_t i = 0; i + 1 < comms.size(); ++i) {
    const SideStream &side = stream.sides[i];
    LLMC_TRY(
        check(driver.cuEventRecord(side.done, side.handle), "cuEventRecord"));
    LLMC_TRY(check(driver.cuStreamWaitEvent(stream.handle, side.done, 0),
                   "cuStreamWaitEvent"));
  }
  return Status::success();
}

ExchangePart Tape::part(const Command &command, uint32_t i) const {
  const uint64_t *at = wordsOf(command) + i * wordsOfPart;
  return {reinterpret_cast<CudaCommunicator *>(at[0]),
          reinterpret_cast<void *>(at[1]), at[2], at[3]};
}

} // namespace llmc::rt::cuda
