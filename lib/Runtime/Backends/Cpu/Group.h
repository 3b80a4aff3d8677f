//===- Group.h - Where virtual devices meet -------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A group is the meeting place of the members of one communicator. A stream
// whose head is a collective stands at it; when all members stand, the
// collective is a task like any other. A group of two has a channel for each
// direction, at which one send and one receive meet.
//
// Sequence numbers are given out at enqueue, so a member that uses one group
// from several streams still meets the others in its order of issue.
//
// Guarded by the pool's mutex while the pool runs.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_RUNTIME_BACKENDS_CPU_GROUP_H
#define LLMC_LIB_RUNTIME_BACKENDS_CPU_GROUP_H

#include "Entry.h"

#include <memory>

namespace llmc::rt::cpu {

/// A collective keeps the pointers of all members on the stack.
constexpr size_t mostMembers = 1024;

/// What a channel holds of one side while its stream stands at the entry.
struct ChannelSide {
  CpuStream *stream = nullptr;
  void *buffer = nullptr;
  uint64_t bytes = 0;
};

class RemoteGroup;

/// `rows` rows of `length` bytes, one every `step`.
struct ByteRows {
  char *data = nullptr;
  int64_t rows = 1, length = 0, step = 0;

  bool isDense() const { return rows == 1 || step == length; }
};

struct Channel {
  Group *group = nullptr;
  int sender = 0;       ///< Rank.
  int from = 0, to = 0; ///< World numbers.
  uint64_t sendsIssued = 0, receivesIssued = 0;
  uint64_t current = 0; ///< Sequence of the transfer that is next.
  ChannelSide send, receive;
  TimePoint began;
};

class Group {
  Channel channels[2];

public:
  Group(std::vector<int> members, uint32_t number);
  ~Group();
  Group(const Group &) = delete;

  int size() const { return static_cast<int>(members.size()); }
  /// Of a group of two, by the rank that sends.
  Channel &channel(int sender) { return channels[sender]; }

  std::vector<int> members; ///< World numbers in rank order.
  std::vector<int> local;   ///< Ranks that this process drives, ascending.
  uint32_t number;          ///< Among all groups of the world.

  std::vector<uint64_t> issued; ///< Collectives enqueued, by rank.
  /// Collectives that trips of a repeat ran again, by rank: later ones are so
  /// many further on than they were enqueued.
  std::vector<uint64_t> again;
  uint64_t current = 0; ///< Sequence of the collective that is next.
  std::vector<CpuStream *> standing; ///< By rank.
  int numStanding = 0;
  int tickets = 0, nextTicket = 0, doneTickets = 0;
  TimePoint began;
  CommunicatorCounts counts;
  /// Where other processes drive some; null otherwise. Goes first: its lanes
  /// use all of the above.
  std::unique_ptr<RemoteGroup> remote;
};

/// Compares what the local members bring; an error shows both signatures.
Status checkMembers(const Group &group);

/// The entry at which a local member stands.
const CollectiveEntry &entryOf(const Group &group, int rank);

/// What member `to` of n needs of `in`: its part, where inputs are split.
ByteRows inputFor(const Collective &collective, size_t buffer, const char *in,
                  int n, int to);

/// Where the collective takes counts, what they say fits: each slice lies in
/// the rows of both sides, is what the other side expects, and overlaps no
/// other in a result. An error names the device.
Status checkCounts(const Group &group);

/// Runs ticket `ticket` of the collective at which all members stand; of a
/// group with members in other processes what its local members get.
void runCollective(const Group &group, int ticket);

/// Combines elements [begin, end) of the inputs, in order, into all outputs.
void reduceElements(const Collective &collective, const char *const *ins,
                    int numIns, char *const *outs, int numOuts, int64_t begin,
                    int64_t end);

/// Into how many tickets the collective is cut for `threads` workers: by
/// elements, so the bits do not depend on it.
int collectiveTickets(const Collective &collective, int threads);

/// Elements that a collective moves for each buffer, and payload bytes of one
/// member (what it passes in).
uint64_t payloadBytes(const Collective &collective, int members);

/// The same of what all stand at; where the run says how much, the bytes that
/// go from members to others, all together.
uint64_t movedBytes(const Group &group);

/// Every buffer that a member passes in has one element.
bool isScalar(const Collective &collective, int members);

class CpuCommunicator final : public Communicator {
public:
  CpuCommunicator(class Pool &pool, Group &group, int rank)
      : pool(pool), group(group), myRank(rank) {}

  int rank() const override { return myRank; }
  int size() const override { return group.size(); }
  void collective(Stream &, const Collective &, const void *const *ins,
                  void *const *outs, const Origin &) override;
  void abort(const Status &reason) override;
  CommunicatorCounts counts() const override;
  Group &members() const { return group; }

private:
  class Pool &pool;
  Group &group;
  int myRank;
};

} // namespace llmc::rt::cpu

#endif // LLMC_LIB_RUNTIME_BACKENDS_CPU_GROUP_H
