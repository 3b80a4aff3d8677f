//===- Library.cpp - The communicators of libnccl -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Nccl/Group.h"

#include <algorithm>
#include <cstring>
#include <random>
#include <thread>
#include <unistd.h>

using namespace llmc::standin;

static constexpr unsigned kConfigMagic = 0xcafebeef;

ncclResult_t ncclGetVersion(int *version) {
  if (!version)
    return ncclInvalidArgument;
  *version = 23007;
  return ncclSuccess;
}

ncclResult_t ncclGetUniqueId(ncclUniqueId *id) {
  if (!id)
    return ncclInvalidArgument;
  std::random_device device;
  std::memset(id, 0, sizeof *id);
  std::string text = format("nccl-%d-%08x%08x", getpid(), device(), device());
  std::memcpy(id->internal, text.c_str(), text.size());
  return ncclSuccess;
}

const char *ncclGetErrorString(ncclResult_t result) {
  static const char *const texts[] = {"no error",
                                      "a call of CUDA failed",
                                      "a call of the system failed",
                                      "internal error",
                                      "invalid argument",
                                      "invalid usage",
                                      "remote error",
                                      "in progress"};
  return result >= 0 && result <= ncclInProgress ? texts[result]
                                                 : "unknown result";
}

const char *ncclGetLastError(ncclComm_t) { return lastRefusal().c_str(); }

/// Reads what the stand-in knows of a configuration.
static ncclResult_t readConfig(const ncclConfig_t *config, bool &blocking) {
  if (!config)
    return ncclSuccess;
  if (config->size < sizeof(ncclConfig_t) || config->magic != kConfigMagic)
    return refuse(ncclInvalidArgument, "the configuration is not initialized");
  if (config->blocking != INT_MIN && config->blocking != 0 &&
      config->blocking != 1)
    return refuse(ncclInvalidArgument, "'blocking' is neither 0 nor 1");
  if (config->blocking != INT_MIN)
    blocking = config->blocking == 1;
  return ncclSuccess;
}

/// A new communicator joins, in the group or right now.
static ncclResult_t begin(Lock &lock, ncclComm_t *handle,
                          const CommunicatorRef &comm) {
  *handle = static_cast<ncclComm_t>(Handles::get().add(comm));
  Group &group = Group::ofThread();
  if (!group.depth)
    return awaitReady(lock, comm);
  group.made.push_back(comm);
  return comm->blocking ? ncclSuccess : ncclInProgress;
}

static ncclResult_t init(Lock &lock, ncclComm_t *handle, int ranks,
                         const ncclUniqueId &id, int rank, int device,
                         const ncclConfig_t *config) {
  auto comm = std::make_shared<Communicator>();
  if (!handle || ranks < 1 || rank < 0 || rank >= ranks)
    return refuse(ncclInvalidArgument, "rank or ranks");
  if (ncclResult_t result = readConfig(config, comm->blocking))
    return result;
  if (std::strncmp(id.internal, "nccl-", 5) || id.internal[127])
    return refuse(ncclInvalidArgument, "the id is not of ncclGetUniqueId");
  comm->clique = id.internal;
  comm->rank = rank;
  comm->ranks = ranks;
  comm->device = device;
  join(comm);
  return begin(lock, handle, comm);
}

ncclResult_t ncclCommInitRankConfig(ncclComm_t *handle, int ranks,
                                    ncclUniqueId id, int rank,
                                    ncclConfig_t *config) {
  Lock lock(Scheduler::get().mutex);
  if (contextStack().empty())
    return refuse(ncclUnhandledCudaError, "no context is current");
  return init(lock, handle, ranks, id, rank, contextStack().back()->device,
              config);
}

ncclResult_t ncclCommInitRank(ncclComm_t *handle, int ranks, ncclUniqueId id,
                              int rank) {
  return ncclCommInitRankConfig(handle, ranks, id, rank, nullptr);
}

ncclResult_t ncclCommInitAll(ncclComm_t *handles, int count,
                             const int *devices) {
  ncclUniqueId id;
  if (!handles || count < 1)
    return refuse(ncclInvalidArgument, "no communicators");
  if (count > Memory::get().numDevices())
    return refuse(ncclInvalidArgument, "more communicators than devices");
  ncclGetUniqueId(&id);
  ncclGroupStart();
  {
    Lock lock(Scheduler::get().mutex);
    for (int rank = 0; rank < count; ++rank) {
      int device = devices ? devices[rank] : rank;
      if (device < 0 || device >= Memory::get().numDevices())
        Group::ofThread().error = refuse(ncclInvalidArgument, "no device");
      else
        init(lock, handles + rank, count, id, rank, device, nullptr);
    }
  }
  return ncclGroupEnd();
}

ncclResult_t ncclCommSplit(ncclComm_t parent, int color, int key,
                           ncclComm_t *handle, ncclConfig_t *config) {
  Lock lock(Scheduler::get().mutex);
  auto comm = Handles::get().find<Communicator>(parent);
  if (!comm || !handle)
    return refuse(ncclInvalidArgument, "no communicator, or no place");
  if (!comm->ready || comm->busy || comm->aborted || comm->finalized)
    return refuse(ncclInvalidArgument, "the communicator is not ready");
  if (color < -1)
    return refuse(ncclInvalidArgument, "the color is negative");
  auto made = std::make_shared<Communicator>();
  made->blocking = comm->blocking;
  made->device = comm->device;
  if (ncclResult_t result = readConfig(config, made->blocking))
    return result;
  split(comm, made, color, key);
  if (color >= 0)
    return begin(lock, handle, made);
  *handle = nullptr; // it takes part, and gets none
  return ncclSuccess;
}

static CommunicatorRef find(ncclComm_t handle) {
  auto comm = Handles::get().find<Communicator>(handle);
  if (!comm)
    refuse(ncclInvalidArgument, "no communicator");
  return comm;
}

ncclResult_t ncclCommFinalize(ncclComm_t handle) {
  Lock lock(Scheduler::get().mutex);
  CommunicatorRef comm = find(handle);
  if (!comm)
    return ncclInvalidArgument;
  if (comm->finalized)
    return refuse(ncclInvalidArgument, "it is finalized already");
  if (!comm->ready || comm->busy)
    return refuse(ncclInvalidArgument, "it is in progress");
  comm->finalized = true;
  if (!comm->blocking)
    return ncclInProgress;
  Scheduler::get().wait(lock, OpRef(comm->last));
  return ncclSuccess;
}

/// NCCL waits until the last graph with an operation of the communicator is
/// destroyed. Where that takes longer than another thread may need, nobody
/// will.
static void awaitGraphs(Lock &lock, const Communicator &comm) {
  using namespace std::chrono_literals;
  auto end = std::chrono::steady_clock::now() + 2s;
  while (isKeptByGraph(&comm)) {
    if (std::chrono::steady_clock::now() > end)
      violation("nccl: a communicator goes while a graph has operations of it: "
                "NCCL waits until that is destroyed");
    lock.unlock();
    std::this_thread::sleep_for(1ms);
    lock.lock();
  }
}

ncclResult_t ncclCommDestroy(ncclComm_t handle) {
  Lock lock(Scheduler::get().mutex);
  CommunicatorRef comm = find(handle);
  if (!comm)
    return ncclInvalidArgument;
  Scheduler::get().waitUntil(lock,
                             [&comm] { return comm->ready || comm->aborted; });
  if (!comm->aborted)
    Scheduler::get().wait(lock, OpRef(comm->last));
  awaitGraphs(lock, *comm);
  leaveClique(*comm);
  Handles::get().remove(*comm);
  return ncclSuccess;
}

ncclResult_t ncclCommAbort(ncclComm_t handle) {
  Lock lock(Scheduler::get().mutex);
  CommunicatorRef comm = find(handle);
  if (!comm)
    return ncclInvalidArgument;
  comm->aborted = true; // what is under way ends, without its data
  Scheduler::get().waitUntil(lock, [&comm] { return comm->flights.empty(); });
  awaitGraphs(lock, *comm);
  leaveClique(*comm);
  Handles::get().remove(*comm);
  return ncclSuccess;
}

ncclResult_t ncclCommGetAsyncError(ncclComm_t handle, ncclResult_t *error) {
  Lock lock(Scheduler::get().mutex);
  CommunicatorRef comm = find(handle);
  if (!comm || !error)
    return ncclInvalidArgument;
  Scheduler::get().nudge();
  lookForLostRanks(*comm);
  *error = comm->error;
  bool flushes = comm->finalized && comm->last && !comm->last->done;
  if (!*error && (!comm->ready || comm->busy || (flushes && !comm->blocking)))
    *error = ncclInProgress;
  comm->busy -= comm->busy != 0;
  return ncclSuccess;
}

static ncclResult_t ask(ncclComm_t handle, int *answer,
                        int Communicator::*member) {
  Lock lock(Scheduler::get().mutex);
  CommunicatorRef comm = find(handle);
  if (!comm || !answer)
    return ncclInvalidArgument;
  if (!comm->ready)
    return refuse(ncclInvalidArgument, "the communicator is in progress");
  *answer = (*comm).*member;
  return ncclSuccess;
}

ncclResult_t ncclCommCount(ncclComm_t comm, int *count) {
  return ask(comm, count, &Communicator::ranks);
}
ncclResult_t ncclCommCuDevice(ncclComm_t comm, int *device) {
  return ask(comm, device, &Communicator::device);
}
ncclResult_t ncclCommUserRank(ncclComm_t comm, int *rank) {
  return ask(comm, rank, &Communicator::rank);
}
