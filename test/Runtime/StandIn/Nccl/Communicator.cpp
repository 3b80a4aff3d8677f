//===- Communicator.cpp - Ranks that know each other ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Nccl/Communicator.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fstream>
#include <iterator>
#include <map>
#include <unistd.h>

using namespace llmc::standin;

static thread_local std::string refusal;

ncclResult_t llmc::standin::refuse(ncclResult_t result,
                                   const std::string &why) {
  explain("nccl: %d: %s", static_cast<int>(result), why.c_str());
  refusal = why;
  return result;
}
const std::string &llmc::standin::lastRefusal() { return refusal; }

/// The ranks of a clique that are in this process, and their devices.
static std::map<std::string, std::map<int, int>> &residents() {
  static auto *table = new std::map<std::string, std::map<int, int>>;
  return *table;
}

static void becomeReady(Communicator &comm) {
  comm.sent.assign(comm.ranks, 0);
  comm.received.assign(comm.ranks, 0);
  comm.ready = true;
}

namespace {
/// What a rank says of itself when it joins.
struct Card {
  int process, ranks, device;
};
} // namespace

/// Two ranks of a communicator want two devices.
static void refuseSharedDevice(Communicator &comm, int rank, int device) {
  if (rank != comm.rank && device == Memory::get().physical(comm.device))
    comm.error =
        refuse(ncclInvalidUsage, format("ranks %d and %d are both on device %d",
                                        comm.rank, rank, device));
}

/// Reads who has joined; true where these are all.
static bool readCards(Communicator &comm, Mailbox &mailbox) {
  for (int rank = 0; rank < comm.ranks; ++rank) {
    Message message;
    if (comm.processes[rank])
      continue;
    if (!mailbox.read(comm.clique + ".join." + std::to_string(rank), message))
      return false;
    Card card;
    std::memcpy(&card, message.data(), sizeof card);
    if (card.ranks != comm.ranks)
      violation("rank %d joins a communicator of %d ranks, rank %d one of %d",
                comm.rank, comm.ranks, rank, card.ranks);
    refuseSharedDevice(comm, rank, card.device);
    comm.processes[rank] = card.process;
  }
  return true;
}

void llmc::standin::join(const CommunicatorRef &comm) {
  int physical = Memory::get().physical(comm->device);
  if (!residents()[comm->clique].emplace(comm->rank, physical).second)
    violation("rank %d joins a communicator twice", comm->rank);
  comm->processes.assign(comm->ranks, 0);
  auto since = std::chrono::steady_clock::now();
  // Of the first dot on, the clique is one that a split made.
  std::string folder = comm->clique.substr(0, comm->clique.find('.'));
  Scheduler::get().poll([comm, since, folder, physical] {
    if (comm->aborted)
      return true;
    const std::map<int, int> &here = residents()[comm->clique];
    if (here.size() == static_cast<size_t>(comm->ranks)) {
      comm->processes.assign(comm->ranks, getpid());
      comm->mailbox = Mailbox::ofProcess();
      for (const auto &[rank, device] : here)
        refuseSharedDevice(*comm, rank, device);
      becomeReady(*comm);
      return true;
    }
    using namespace std::chrono_literals;
    if (std::chrono::steady_clock::now() - since < 20ms)
      return false; // perhaps they all are of this process
    if (!comm->mailbox) {
      comm->mailbox = Mailbox::ofMachine(folder);
      Card card = {getpid(), comm->ranks, physical};
      Message message(sizeof card);
      std::memcpy(message.data(), &card, sizeof card);
      comm->mailbox->leave(comm->clique + ".join." + std::to_string(comm->rank),
                           message);
    }
    if (!readCards(*comm, *comm->mailbox))
      return false;
    becomeReady(*comm);
    return true;
  });
}

namespace {
/// What a rank says when it splits.
struct Choice {
  int color, key, rank;
};
} // namespace

/// Those of the same color, in the order of their keys.
static std::vector<Choice> companions(std::vector<Choice> all, int color) {
  all.erase(std::remove_if(all.begin(), all.end(),
                           [color](const Choice &choice) {
                             return choice.color != color;
                           }),
            all.end());
  std::stable_sort(
      all.begin(), all.end(),
      [](const Choice &a, const Choice &b) { return a.key < b.key; });
  return all;
}

void llmc::standin::split(const CommunicatorRef &parent,
                          const CommunicatorRef &made, int color, int key) {
  uint64_t number = parent->splits++;
  Choice own = {color, key, parent->rank};
  Message message(sizeof own);
  std::memcpy(message.data(), &own, sizeof own);
  parent->mailbox->leave(parent->name("split", number, parent->rank), message);
  Scheduler::get().poll([parent, made, number, color] {
    if (parent->aborted || made->aborted)
      return true;
    std::vector<Choice> all(parent->ranks);
    for (int rank = 0; rank < parent->ranks; ++rank) {
      Message message;
      if (!parent->mailbox->read(parent->name("split", number, rank), message))
        return false;
      std::memcpy(&all[rank], message.data(), sizeof(Choice));
    }
    // The messages stay: others may not have read them.
    if (color < 0) {
      made->ranks = 0;
      made->ready = true;
      return true;
    }
    std::vector<Choice> members = companions(all, color);
    made->clique = parent->clique + "." + std::to_string(number) + "." +
                   std::to_string(color);
    made->ranks = members.size();
    bool local = true;
    for (int i = 0; i < made->ranks; ++i) {
      int process = parent->processes[members[i].rank];
      made->processes.push_back(process);
      local &= process == getpid();
      if (members[i].rank == parent->rank)
        made->rank = i;
    }
    made->mailbox = local ? Mailbox::ofProcess() : parent->mailbox;
    becomeReady(*made);
    return true;
  });
}

/// Whether a process is over, be it that its parent has not seen it yet.
static bool isGone(int process) {
  if (kill(process, 0) && errno == ESRCH)
    return true;
  std::ifstream file(format("/proc/%d/stat", process));
  std::string text(std::istreambuf_iterator<char>(file), {});
  size_t state = text.rfind(") ");
  return state != text.npos && text[state + 2] == 'Z';
}

void llmc::standin::lookForLostRanks(Communicator &comm) {
  static unsigned calls = 0;
  if (++calls % 64)
    return; // a call of the system for each rank
  for (int rank = 0; rank < comm.ranks && !comm.error; ++rank) {
    int process = comm.ready ? comm.processes[rank] : 0;
    if (!process || process == getpid())
      continue;
    if (isGone(process))
      comm.error =
          refuse(ncclRemoteError,
                 "the process of rank " + std::to_string(rank) + " is gone");
  }
}

/// Who leaves last takes all messages with him.
static void leaveMailbox(Communicator &comm) {
  comm.mailbox->leave(comm.name("leave", 0, comm.rank), {});
  for (int rank = 0; rank < comm.ranks; ++rank)
    if (!comm.mailbox->holds(comm.name("leave", 0, rank)) &&
        !(comm.ready && isGone(comm.processes[rank])))
      return;
  for (const char *kind : {"join", "split", "all", "pair", "leave"})
    comm.mailbox->removeAll(comm.clique + "." + kind + ".");
}

void llmc::standin::leaveClique(Communicator &comm) {
  residents()[comm.clique].erase(comm.rank);
  if (comm.mailbox)
    leaveMailbox(comm);
  comm.mailbox.reset(); // its folder goes with the last one
  comm.last.reset();
}
