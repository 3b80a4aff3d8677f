//===- HostWaits.cpp - What the host is asked while a unit runs -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A graph cannot ask the host. So a unit with a loop that the run ends, or with
// rows that it counts, is issued anew each time, and its device's thread waits
// in it for the flag of each trip, and for the counts. Streams that have no
// part in it run on meanwhile.
//
//   C       | F | flag to host |       | trip | flag to host |       | after
//   thread                 waits, holds              waits, does not: goes on
//   T       | messages that were issued before ............................
//
// Where the flag does not hold, the body's records and waits are issued once
// more, so that what a trip orders is ordered without one too.
//
// NCCL takes numbers of the host, and what a member receives is said by others.
// So members gather the counts of all; each checks them all, and so finds what
// the others find, before a row moves.
//
// Tested by test/Runtime/Device/RepeatTest.cpp and
// test/Runtime/Comm/RaggedConformanceTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "CudaCommunicator.h"
#include "Issue.h"

#include <fmt/format.h>

#include <chrono>
#include <set>
#include <thread>

namespace llmc::rt::cuda {

/// Trips are short; what takes longer is waited for without a processor.
constexpr std::chrono::microseconds shortWait(200);
constexpr std::chrono::microseconds betweenQueries(20);

Status Issue::await(CUevent event) {
  using Clock = std::chrono::steady_clock;
  auto begin = Clock::now();
  while (!device.fault.dead()) {
    CUresult result = driver.cuEventQuery(event);
    if (result != CUDA_ERROR_NOT_READY) {
      return check(result, "expected what ran before to succeed");
    }
    if (Clock::now() - begin > shortWait) {
      std::this_thread::sleep_for(betweenQueries);
    }
  }
  return device.fault.get();
}

/// When all streams of the repeat have come here.
Result<bool> Issue::readFlag(const RepeatCommand &work) {
  CudaRepeat &repeat = *work.repeat;
  CUstream first = repeat.streams.front()->handle;
  for (size_t i = 1; i < repeat.streams.size(); ++i) {
    LLMC_TRY(check(
        driver.cuEventRecord(repeat.reached[i], repeat.streams[i]->handle),
        "cuEventRecord"));
    LLMC_TRY(check(driver.cuStreamWaitEvent(first, repeat.reached[i], 0),
                   "cuStreamWaitEvent"));
  }
  LLMC_TRY(check(
      driver.cuMemcpyAsync(reinterpret_cast<CUdeviceptr>(repeat.flag),
                           reinterpret_cast<CUdeviceptr>(work.flag), 1, first),
      "cuMemcpyAsync"));
  LLMC_TRY(
      check(driver.cuEventRecord(repeat.reached[0], first), "cuEventRecord"));
  LLMC_TRY(await(repeat.reached[0]));
  return *const_cast<const volatile uint8_t *>(repeat.flag) != 0;
}

Status Issue::addTrip(size_t begin, size_t end, bool runs) {
  for (size_t i = begin; i < end; ++i) {
    const Command &command = tape.commands[i];
    if (runs || std::holds_alternative<RecordCommand>(command.work) ||
        std::holds_alternative<WaitCommand>(command.work)) {
      LLMC_TRY(addOne(command));
    }
  }
  return Status::success();
}

/// Of each group that meets in the body, by its first collective.
Status Issue::checkTrip(size_t begin, size_t end, uint64_t trips, bool runs) {
  std::set<const Group *> seen;
  for (size_t i = begin; i < end; ++i) {
    const Command &command = tape.commands[i];
    const auto *work = std::get_if<CollectiveCommand>(&command.work);
    if (work && seen.insert(&work->communicator->members()).second) {
      LLMC_TRY(work->communicator->members().repeat(
          {number, work->sequence}, work->communicator->rank(), {trips, !runs},
          *command.origin));
    }
  }
  return Status::success();
}

Status Issue::add(const Command &command, const RepeatCommand &work) {
  size_t begin = numberOf(command) + 1;
  for (uint64_t trips = 0;; ++trips) {
    LLMC_TRY_ASSIGN(bool holds, readFlag(work));
    device.enterTrip(holds ? command.origin : nullptr, trips + 1);
    LLMC_TRY(checkTrip(begin, work.end, trips + holds, holds));
    LLMC_TRY(addTrip(begin, work.end, holds));
    if (!holds) {
      return Status::success();
    }
  }
}

//===----------------------------------------------------------------------===//
// Rows that the run counts
//===----------------------------------------------------------------------===//

/// Pinned memory that has become too small stays, as staging does.
Status Issue::takeCounts(const Command &command,
                         const CollectiveCommand &work) {
  CudaStream &stream = *command.stream;
  auto members = static_cast<uint64_t>(work.communicator->size());
  uint64_t bytes = work.plan->countBytes * members;
  if (bytes > 0 && !stream.counted) {
    LLMC_TRY_ASSIGN(stream.counted, device.makeEvent(CU_EVENT_DISABLE_TIMING));
  }
  if (bytes <= stream.countBytes) {
    return Status::success();
  }
  void *memory = nullptr;
  LLMC_TRY(driver.check(
      driver.cuMemHostAlloc(&memory, bytes, CU_MEMHOSTALLOC_PORTABLE),
      fmt::format("expected {} bytes of pinned memory for the counts of {}",
                  bytes, placeOf(*command.origin))));
  device.countMemory.push_back(memory);
  stream.counts = static_cast<int64_t *>(memory);
  stream.countBytes = bytes;
  return Status::success();
}

/// Those of a member alone lie where it has them.
Status Issue::copyToCounts(const Command &command, const CollectivePlan &plan) {
  const auto &work = std::get<CollectiveCommand>(command.work);
  CudaStream &stream = *command.stream;
  auto members = static_cast<uint64_t>(work.communicator->size());
  const uint64_t *ins = tape.wordsOf(command);
  CUdeviceptr from = plan.meetsOthers() ? stream.staging
                                        : ins[work.collective->buffers.size()];
  LLMC_TRY(check(
      driver.cuMemcpyAsync(reinterpret_cast<CUdeviceptr>(stream.counts), from,
                           plan.countBytes * members, stream.handle),
      "cuMemcpyAsync"));
  LLMC_TRY(check(driver.cuEventRecord(stream.counted, stream.handle),
                 "cuEventRecord"));
  return await(stream.counted);
}

Status Issue::addCounted(const Command &command,
                         const CollectiveCommand &work) {
  const Collective &collective = *work.collective;
  CudaCommunicator &communicator = *work.communicator;
  if (work.plan->countBytes > 0) {
    LLMC_TRY(copyToCounts(command, *work.plan));
  }
  const int64_t *counts = command.stream->counts;
  RowLists lists = [&](int rank) {
    return counts + static_cast<uint64_t>(rank) * numRowCounts(collective);
  };
  Status wrong = checkRowCounts(collective, command.origin->name,
                                communicator.members().members, lists);
  // As it is: it names the entry.
  device.fault.fail(wrong);
  LLMC_TRY(wrong);
  int size = communicator.size();
  for (const CollectivePlan &each :
       planRows(collective, communicator.rank(), size, lists)) {
    LLMC_TRY(addPlan(command, work, each));
  }
  uint64_t bytes = rowsBetween(collective, size, lists) *
                   collective.rows.elements *
                   static_cast<uint64_t>(sizeOf(collective.type));
  communicator.countIssued(number, collective, bytes);
  return Status::success();
}

} // namespace llmc::rt::cuda
