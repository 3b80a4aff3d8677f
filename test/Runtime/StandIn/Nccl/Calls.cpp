//===- Calls.cpp - The collectives of libnccl -----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Nccl/Group.h"
#include "Nccl/Reduction.h"

using namespace llmc::standin;

namespace {
/// A call as it is given: device addresses, and elements on each side.
struct Given {
  const char *name;
  Terms terms;
  int peer;
  const void *from;
  uint64_t fromCount; // 0: nothing is read
  void *to;
  uint64_t toCount; // 0: nothing is written
};
} // namespace

ncclResult_t ncclGroupStart() {
  ++Group::ofThread().depth;
  return ncclSuccess;
}

ncclResult_t ncclGroupEnd() {
  Lock lock(Scheduler::get().mutex);
  Group &group = Group::ofThread();
  if (!group.depth)
    return refuse(ncclInvalidUsage, "ncclGroupEnd without ncclGroupStart");
  return --group.depth ? ncclSuccess : endGroup(lock, group);
}

/// The view of a range of device memory. Ends the process where it is none.
static char *reach(const Given &given, const Communicator &comm,
                   const void *pointer, uint64_t count,
                   std::vector<AllocationRef> &uses) {
  if (!count)
    return nullptr;
  auto address = reinterpret_cast<uint64_t>(pointer);
  uint64_t bytes = count * bytesOfType(given.terms.type);
  AllocationRef found = Memory::get().find(address, bytes);
  if (!found)
    violation("%s: %llu bytes at 0x%llx are not part of one allocation of a "
              "device",
              given.name, static_cast<unsigned long long>(bytes),
              static_cast<unsigned long long>(address));
  if (found->device != comm.device)
    violation("%s: memory of device %d is given to a rank on device %d",
              given.name, found->device, comm.device);
  if (address % bytesOfType(given.terms.type))
    violation("%s: 0x%llx is not aligned to its elements", given.name,
              static_cast<unsigned long long>(address));
  uses.push_back(found);
  return Memory::get().translate(address);
}

/// The only place where a buffer may lie on the other is the one that means "in
/// place": the own part of the greater one.
static void refuseOverlap(const Given &given, const Communicator &comm) {
  if (!given.fromCount || !given.toCount)
    return;
  uint64_t bytes = bytesOfType(given.terms.type);
  auto from = reinterpret_cast<uint64_t>(given.from);
  auto to = reinterpret_cast<uint64_t>(given.to);
  bool overlaps =
      from < to + given.toCount * bytes && to < from + given.fromCount * bytes;
  uint64_t own = comm.rank * given.terms.count * bytes;
  bool inPlace = given.fromCount == given.toCount  ? from == to
                 : given.fromCount < given.toCount ? from == to + own
                                                   : to == from + own;
  if (overlaps && !inPlace)
    violation("%s: the buffers overlap, and are not in place", given.name);
}

static ncclResult_t check(const Given &given, const Communicator &comm) {
  const Terms &terms = given.terms;
  if (!bytesOfType(terms.type))
    return refuse(ncclInvalidArgument, "no type");
  if (terms.op < ncclSum || terms.op > ncclAvg)
    return refuse(ncclInvalidArgument, "an op that the stand-in does not know");
  if (terms.root < 0 || terms.root >= comm.ranks)
    return refuse(ncclInvalidArgument, "the root is no rank");
  if (given.peer < 0 || given.peer >= comm.ranks)
    return refuse(ncclInvalidArgument, "the peer is no rank");
  return ncclSuccess;
}

/// Adds the call to the group of this thread.
static ncclResult_t add(Group &group, const Given &given, ncclComm_t handle,
                        CUstream to) {
  auto comm = Handles::get().find<Communicator>(handle);
  if (!comm)
    return refuse(ncclInvalidArgument, "no communicator");
  if (!comm->ready || comm->busy)
    return refuse(ncclInvalidArgument, "the communicator is in progress: ask "
                                       "ncclCommGetAsyncError until it is not");
  if (comm->error)
    return refuse(comm->error, "an error has happened to the communicator");
  if (comm->aborted || comm->finalized)
    return refuse(ncclInvalidUsage, "the communicator is finalized");
  if (ncclResult_t result = check(given, *comm))
    return result;
  Context &context = primaryContext(comm->device);
  std::shared_ptr<Stream> stream =
      context.retained ? findStream(to, context) : nullptr;
  if (!stream || stream->context != &context)
    return refuse(ncclInvalidArgument,
                  "the stream is not of the communicator's device");
  bool pair = given.terms.kind == CallKind::Send ||
              given.terms.kind == CallKind::Receive;
  if (!given.terms.count && !pair)
    return ncclSuccess; // nothing is to be done, on any rank
  Group::Entry entry{comm, stream, {given.terms, given.peer}, {}};
  refuseOverlap(given, *comm);
  entry.call.from =
      reach(given, *comm, given.from, given.fromCount, entry.uses);
  entry.call.to = reach(given, *comm, given.to, given.toCount, entry.uses);
  group.entries.push_back(std::move(entry));
  return ncclSuccess;
}

static int ranksOf(ncclComm_t handle) {
  Lock lock(Scheduler::get().mutex);
  auto comm = Handles::get().find<Communicator>(handle);
  return comm ? comm->ranks : 1;
}
static int rankOf(ncclComm_t handle) {
  Lock lock(Scheduler::get().mutex);
  auto comm = Handles::get().find<Communicator>(handle);
  return comm ? comm->rank : 0;
}

static ncclResult_t run(const Given &given, ncclComm_t comm, CUstream stream) {
  Lock lock(Scheduler::get().mutex);
  if (isHostFunctionThread())
    return refuse(ncclInvalidUsage, "called by a host function of a stream");
  Group &group = Group::ofThread();
  ncclResult_t result = add(group, given, comm, stream);
  if (group.depth) {
    if (result)
      group.error = result;
    return result;
  }
  return result ? result : endGroup(lock, group);
}

ncclResult_t ncclAllReduce(const void *from, void *to, size_t count,
                           ncclDataType_t type, ncclRedOp_t op, ncclComm_t comm,
                           CUstream stream) {
  return run({"ncclAllReduce",
              {CallKind::AllReduce, type, op, 0, count},
              0,
              from,
              count,
              to,
              count},
             comm, stream);
}

ncclResult_t ncclReduce(const void *from, void *to, size_t count,
                        ncclDataType_t type, ncclRedOp_t op, int root,
                        ncclComm_t comm, CUstream stream) {
  uint64_t written = rankOf(comm) == root ? count : 0;
  return run({"ncclReduce",
              {CallKind::Reduce, type, op, root, count},
              0,
              from,
              count,
              to,
              written},
             comm, stream);
}

ncclResult_t ncclBroadcast(const void *from, void *to, size_t count,
                           ncclDataType_t type, int root, ncclComm_t comm,
                           CUstream stream) {
  uint64_t read = rankOf(comm) == root ? count : 0;
  return run({"ncclBroadcast",
              {CallKind::Broadcast, type, ncclSum, root, count},
              0,
              from,
              read,
              to,
              count},
             comm, stream);
}

ncclResult_t ncclBcast(void *buffer, size_t count, ncclDataType_t type,
                       int root, ncclComm_t comm, CUstream stream) {
  return ncclBroadcast(buffer, buffer, count, type, root, comm, stream);
}

ncclResult_t ncclAllGather(const void *from, void *to, size_t count,
                           ncclDataType_t type, ncclComm_t comm,
                           CUstream stream) {
  return run({"ncclAllGather",
              {CallKind::AllGather, type, ncclSum, 0, count},
              0,
              from,
              count,
              to,
              count * ranksOf(comm)},
             comm, stream);
}

ncclResult_t ncclReduceScatter(const void *from, void *to, size_t count,
                               ncclDataType_t type, ncclRedOp_t op,
                               ncclComm_t comm, CUstream stream) {
  return run({"ncclReduceScatter",
              {CallKind::ReduceScatter, type, op, 0, count},
              0,
              from,
              count * ranksOf(comm),
              to,
              count},
             comm, stream);
}

ncclResult_t ncclSend(const void *from, size_t count, ncclDataType_t type,
                      int peer, ncclComm_t comm, CUstream stream) {
  return run({"ncclSend",
              {CallKind::Send, type, ncclSum, 0, count},
              peer,
              from,
              count,
              nullptr,
              0},
             comm, stream);
}

ncclResult_t ncclRecv(void *to, size_t count, ncclDataType_t type, int peer,
                      ncclComm_t comm, CUstream stream) {
  return run({"ncclRecv",
              {CallKind::Receive, type, ncclSum, 0, count},
              peer,
              nullptr,
              0,
              to,
              count},
             comm, stream);
}
