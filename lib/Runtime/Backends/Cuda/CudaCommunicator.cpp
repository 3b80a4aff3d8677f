//===- CudaCommunicator.cpp - A member of a group of GPUs -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Communicators of NCCL are made non-blocking: a call that waits for others
// returns, and `settleComms` asks until it has been carried out, so that a peer
// that does not come is an error with a name.
// Tested by test/Runtime/Comm/ConformanceTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "CudaCommunicator.h"

#include "CudaDevice.h"

#include <fmt/format.h>

#include <cstring>
#include <thread>

namespace llmc::rt::cuda {

/// For what waits for other processes outside of steps, which have deadlines.
constexpr std::chrono::minutes patienceOfComms(10);

Status settleComms(const Nccl &nccl, const std::vector<NcclComm> &comms,
                   Fault &fault, std::string_view what) {
  auto end = std::chrono::steady_clock::now() + patienceOfComms;
  for (NcclComm comm : comms) {
    while (comm) {
      NcclResult result = NcclResult::success;
      {
        auto use = fault.useComms();
        if (!use) {
          return fault.get();
        }
        LLMC_TRY(nccl.check(nccl.ncclCommGetAsyncError(comm, &result), what));
      }
      LLMC_TRY(nccl.check(result, what));
      if (result == NcclResult::success) {
        break;
      }
      LLMC_TRY(fault.askJob());
      if (std::chrono::steady_clock::now() > end) {
        return makeError(ErrorKind::timeout,
                         fmt::format("waited {} minutes for other members: {}",
                                     patienceOfComms.count(), what));
      }
      std::this_thread::sleep_for(std::chrono::microseconds(20));
    }
  }
  return Status::success();
}

//===----------------------------------------------------------------------===//
// On the host's thread
//===----------------------------------------------------------------------===//

void CudaCommunicator::collective(Stream &stream, const Collective &collective,
                                  const void *const *ins, void *const *outs,
                                  const Origin &origin) {
  auto &own = static_cast<CudaStream &>(stream);
  auto count = static_cast<uint32_t>(collective.buffers.size());
  Result<std::shared_ptr<const CollectivePlan>> plan = planOf(collective);
  if (!plan.ok()) {
    fault.fail(plan.status());
    return;
  }
  bool takesCounts = traitsOf(collective.kind).takesCounts;
  uint32_t numIns = count + takesCounts;
  Command *command = device.push(own, numIns + count, origin);
  if (!command) {
    return;
  }
  if (takesCounts) {
    device.askHost();
  }
  bool countsWhenIssued = takesCounts || device.isInRepeat();
  command->work = CollectiveCommand{this, &collective, *plan,
                                    group.numMet(myRank), countsWhenIssued};
  uint64_t *words = device.wordsOf(*command);
  std::memcpy(words, ins, numIns * sizeof(uint64_t));
  std::memcpy(words + numIns, outs, count * sizeof(uint64_t));
  fault.fail(group.meet(collective, myRank, own, origin));
  if (!countsWhenIssued) {
    this->count(ofUnit, collective, payloadBytes(collective, size()));
  }
}

void CudaCommunicator::count(CommunicatorCounts &counts,
                             const Collective &collective,
                             uint64_t bytes) const {
  auto kind = static_cast<size_t>(collective.kind);
  ++counts.collectives[kind];
  counts.bytes[kind] += bytes;
  if (isScalar(collective, size())) {
    ++counts.scalars[kind];
    counts.scalarBytes[kind] += bytes;
  }
}

void CudaCommunicator::countIssued(uint64_t unit, const Collective &collective,
                                   uint64_t bytes) {
  std::lock_guard<std::mutex> lock(counting);
  count(issued[unit], collective, bytes);
}

CommunicatorCounts CudaCommunicator::takeIssued(uint64_t unit) {
  std::lock_guard<std::mutex> lock(counting);
  auto found = issued.extract(unit);
  return found ? found.mapped() : CommunicatorCounts();
}

void CudaCommunicator::abort(const Status &reason) {
  fault.fail(reason);
  endAll();
}

CommunicatorCounts CudaCommunicator::takeCounts() {
  return std::exchange(ofUnit, {});
}

void CudaCommunicator::addCounts(const CommunicatorCounts &counts) {
  for (size_t kind = 0; kind < numCollectiveKinds; ++kind) {
    total.collectives[kind] += counts.collectives[kind];
    total.bytes[kind] += counts.bytes[kind];
    total.scalars[kind] += counts.scalars[kind];
    total.scalarBytes[kind] += counts.scalarBytes[kind];
  }
  total.transfers += counts.transfers;
  total.transferBytes += counts.transferBytes;
}

void CudaCommunicator::countTransfer(uint64_t bytes) {
  ++ofUnit.transfers;
  ofUnit.transferBytes += bytes;
}

/// Made when the collective is met first, or has become another one.
Result<std::shared_ptr<const CollectivePlan>>
CudaCommunicator::planOf(const Collective &collective) {
  Planned &planned = plans[&collective];
  if (!planned.plan || !(planned.collective == collective)) {
    LLMC_TRY_ASSIGN(CollectivePlan made,
                    planCollective(collective, myRank, size()));
    planned.collective = collective;
    planned.plan = std::make_shared<const CollectivePlan>(std::move(made));
  }
  return planned.plan;
}

//===----------------------------------------------------------------------===//
// On the device's thread
//===----------------------------------------------------------------------===//

std::string CudaCommunicator::peersOf(const Collective &collective) const {
  std::string text = "devices ";
  bool isFirst = true;
  for (int member : group.members) {
    if (member != group.members[myRank]) {
      text += fmt::format("{}{}", isFirst ? "" : ", ", member);
      isFirst = false;
    }
  }
  return fmt::format("{} in {}", text, nameOf(collective.kind));
}

NcclResult CudaCommunicator::callOne(const CollectiveCall &call,
                                     const void *from, void *to,
                                     CUstream stream) const {
  using Function = CollectiveCall::Function;
  NcclComm comm = comms[0];
  switch (call.function) {
  case Function::allReduce:
    return nccl->ncclAllReduce(from, to, call.count, call.type, call.reduction,
                               comm, stream);
  case Function::reduce:
    return nccl->ncclReduce(from, to, call.count, call.type, call.reduction,
                            call.peer, comm, stream);
  case Function::broadcast:
    return nccl->ncclBroadcast(from, to, call.count, call.type, call.peer, comm,
                               stream);
  case Function::allGather:
    return nccl->ncclAllGather(from, to, call.count, call.type, comm, stream);
  case Function::reduceScatter:
    return nccl->ncclReduceScatter(from, to, call.count, call.type,
                                   call.reduction, comm, stream);
  case Function::send:
    return nccl->ncclSend(from, call.count, call.type, call.peer, comm, stream);
  case Function::receive:
    return nccl->ncclRecv(to, call.count, call.type, call.peer, comm, stream);
  }
  return NcclResult::invalidUsage;
}

Status CudaCommunicator::call(const CollectivePlan &plan, const uint64_t *ins,
                              const uint64_t *outs, CUdeviceptr staging,
                              CUstream stream) {
  auto address = [&](size_t buffer, const CollectivePlace &place) {
    uint64_t base = place.memory == CollectivePlace::Memory::in ? ins[buffer]
                    : place.memory == CollectivePlace::Memory::out
                        ? outs[buffer]
                        : staging;
    return reinterpret_cast<void *>(base + place.offset);
  };
  auto use = fault.useComms();
  if (!use) {
    return fault.get();
  }
  LLMC_TRY(nccl->check(nccl->ncclGroupStart(), "ncclGroupStart"));
  Status status;
  for (const CollectiveCall &call : plan.calls) {
    if (status.ok()) {
      status = nccl->check(callOne(call, address(call.buffer, call.from),
                                   address(call.buffer, call.to), stream),
                           "expected NCCL to take a collective");
    }
  }
  Status end = nccl->check(nccl->ncclGroupEnd(), "ncclGroupEnd");
  use.unlock();
  LLMC_TRY(status);
  LLMC_TRY(end);
  return settleComms(*nccl, {comms[0]}, fault,
                     "expected NCCL to begin a "
                     "collective");
}

/// Parts of a group of one member have nowhere to go: transfers join two.
Status CudaCommunicator::exchange(const std::vector<ExchangePart> &parts,
                                  const std::vector<CUstream> &streams) {
  const Nccl &nccl = *parts.front().communicator->nccl;
  std::vector<NcclComm> used;
  Fault &fault = parts.front().communicator->fault;
  auto use = fault.useComms();
  if (!use) {
    return fault.get();
  }
  LLMC_TRY(nccl.check(nccl.ncclGroupStart(), "ncclGroupStart"));
  Status status;
  for (size_t i = 0; i < parts.size(); ++i) {
    const ExchangePart &part = parts[i];
    const CudaCommunicator &own = *part.communicator;
    int other = 1 - own.rank();
    NcclComm comm = own.commOf(part);
    used.push_back(comm);
    if (!status.ok() || part.bytes == 0) {
      continue;
    }
    status = nccl.check(
        part.isSend ? nccl.ncclSend(part.buffer, part.bytes, NcclType::i8,
                                    other, comm, streams[i])
                    : nccl.ncclRecv(part.buffer, part.bytes, NcclType::i8,
                                    other, comm, streams[i]),
        "expected NCCL to take a transfer");
  }
  Status end = nccl.check(nccl.ncclGroupEnd(), "ncclGroupEnd");
  use.unlock();
  LLMC_TRY(status);
  LLMC_TRY(end);
  return settleComms(nccl, used, fault, "expected NCCL to begin a transfer");
}

} // namespace llmc::rt::cuda
