//===- RemoteGroup.h - Collectives between processes ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A group some of whose members other processes drive. The contract is that of
// a group in one process: terms are combined in rank order in the accumulate
// type, so the bits are the same. An all-reduce therefore exchanges parts all
// to all, adds up the part of each member in rank order, and gathers the
// results, which costs no more bytes than a ring:
//
//   4 members      0 1 2 3        every member has a part of the elements
//   terms       -> part r of all members' inputs goes to member r
//   results     <- part r goes from member r to all
//
// Everything else moves the part of an input that a member needs, whole or for
// that member alone, into the buffers of `staging`; then the arithmetic of
// Collective.cpp runs on them as if all members were here.
//
// Staging is as large as what other processes send for one collective. It is
// reserved when a collective runs for the first time.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_RUNTIME_BACKENDS_CPU_REMOTEGROUP_H
#define LLMC_LIB_RUNTIME_BACKENDS_CPU_REMOTEGROUP_H

#include "Group.h"
#include "Lane.h"
#include "llmc/Runtime/Comm/Transport.h"

#include <map>
#include <memory>
#include <set>

namespace llmc::rt::cpu {

/// Which process drives a device: blocks of equal size, in order.
struct Owners {
  Transport *transport = nullptr; ///< Null: this process drives all.
  int devicesOfProcess = 1;

  int ownerOf(int device) const { return device / devicesOfProcess; }
  bool isLocal(int device) const {
    return !transport || ownerOf(device) == transport->process();
  }
};

class RemoteGroup {
public:
  RemoteGroup(Pool &pool, Group &group, const Owners &owners);
  ~RemoteGroup();

  /// All local members stand at a collective, or the local side of a transfer
  /// from rank `sender` does. The pool's mutex is held.
  void startCollective() { collectives->start(); }
  void startTransfer(int sender) { transfers[sender]->start(); }

  /// What the local member `to` needs of the input of `from`, which another
  /// process has sent.
  ByteRows inputFor(const Collective &c, size_t buffer, int from, int to) const;
  /// Where what `from` has sent of a buffer begins; of the number of buffers:
  /// its counts.
  const char *arrivedInput(size_t buffer, int from) const {
    return arrived[buffer * group.members.size() + from];
  }

private:
  Status runCollective();
  Status runTransfer(int sender);
  Status compare(const Collective &c);
  Status shareInputs(const Collective &c);
  void sendInput(const Collective &c, size_t buffer, int from);
  void receiveInput(const Collective &c, size_t buffer, int from);
  Status shareCounts(const Collective &c);
  Status shareRows(const Collective &c);
  Status combineParts(const Collective &c, size_t buffer,
                      std::vector<char *> &results);
  Status spreadParts(const Collective &c, size_t buffer,
                     std::vector<char *> &results);

  void send(int process, const ByteRows &rows);
  void receive(int process, char *data, int64_t bytes);
  Status exchange();
  char *take(int64_t bytes);
  /// A pointer of the entry at which a local member stands.
  char *word(int rank, size_t index) const;
  bool isLocal(int rank) const { return owners.isLocal(group.members[rank]); }
  int ownerOf(int rank) const { return owners.ownerOf(group.members[rank]); }
  const std::vector<int> &ranksOf(int process) const {
    return ranks.at(process);
  }

  Pool &pool;
  Group &group;
  Owners owners;
  uint32_t lane;                         ///< The first of three.
  std::vector<int> processes;            ///< The others, ascending.
  std::map<int, std::vector<int>> ranks; ///< By process.
  std::set<const Collective *> compared;
  /// What other processes have sent, by buffer and sender: the whole input, or
  /// the part of each local member, in rank order.
  std::vector<char *> arrived;
  std::vector<std::vector<char>> staging;
  size_t numTaken = 0;
  std::vector<PeerMessage> sends, receives; ///< Listed, and not exchanged yet.
  std::unique_ptr<Lane> collectives;
  std::unique_ptr<Lane> transfers[2]; ///< By the rank that sends.
};

} // namespace llmc::rt::cpu

#endif // LLMC_LIB_RUNTIME_BACKENDS_CPU_REMOTEGROUP_H
