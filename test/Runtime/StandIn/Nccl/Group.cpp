//===- Group.cpp - Calls between ncclGroupStart and ncclGroupEnd ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Nccl/Group.h"

#include <algorithm>

using namespace llmc::standin;

Group &Group::ofThread() {
  static thread_local Group group;
  return group;
}

ncclResult_t llmc::standin::awaitReady(Lock &lock,
                                       const CommunicatorRef &comm) {
  if (!comm->blocking)
    return comm->ready ? ncclSuccess : ncclInProgress;
  Scheduler::get().waitUntil(lock,
                             [&comm] { return comm->ready || comm->aborted; });
  return comm->ready ? comm->error : ncclInvalidUsage;
}

/// The calls on one communicator, as one operation of all their streams.
static ncclResult_t submit(const std::vector<Group::Entry> &entries,
                           const CommunicatorRef &comm, uint64_t group) {
  std::vector<Stream *> streams;
  std::vector<CollectiveCall> calls;
  std::vector<AllocationRef> uses;
  for (const Group::Entry &entry : entries) {
    if (entry.comm != comm)
      continue;
    calls.push_back(entry.call);
    uses.insert(uses.end(), entry.uses.begin(), entry.uses.end());
    Stream *stream = entry.stream.get();
    if (std::find(streams.begin(), streams.end(), stream) == streams.end())
      streams.push_back(stream);
    if (stream->capture != streams[0]->capture)
      return refuse(ncclInvalidUsage, "a group with streams of two captures");
    if (checkUse(*stream))
      return refuse(ncclUnhandledCudaError,
                    "a stream whose capture is invalid");
  }
  enqueueJoined(streams,
                makeFlightWork(comm, std::move(calls), std::move(uses), group));
  // A communicator that does not block may ask to be polled after any call.
  static Random random(seed() + 3);
  if (!comm->blocking)
    comm->busy = random.below(4);
  return ncclSuccess;
}

ncclResult_t llmc::standin::endGroup(Lock &lock, Group &group) {
  std::vector<Group::Entry> entries = std::move(group.entries);
  std::vector<CommunicatorRef> made = std::move(group.made);
  ncclResult_t result = group.error;
  group.entries.clear();
  group.made.clear();
  group.error = ncclSuccess;
  if (result)
    return result;
  static uint64_t numGroups = 0;
  ++numGroups;
  std::vector<CommunicatorRef> comms;
  for (const Group::Entry &entry : entries)
    if (std::find(comms.begin(), comms.end(), entry.comm) == comms.end())
      comms.push_back(entry.comm);
  for (const CommunicatorRef &comm : comms) {
    ncclResult_t submitted = submit(entries, comm, numGroups);
    if (submitted)
      return submitted;
    if (comm->busy)
      result = ncclInProgress;
  }
  for (const CommunicatorRef &comm : made)
    if (ncclResult_t waited = awaitReady(lock, comm))
      result = waited;
  return result;
}
