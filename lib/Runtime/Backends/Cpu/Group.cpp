//===- Group.cpp - The members' side of a group ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Enqueues collectives and exchanges, and compares what members bring.
// Tested by test/Runtime/Comm.
//
//===----------------------------------------------------------------------===//

#include "Group.h"

#include "Pool.h"
#include "RemoteGroup.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace llmc::rt::cpu {

Group::Group(std::vector<int> given, uint32_t number)
    : members(std::move(given)), number(number), issued(members.size()),
      again(members.size()), standing(members.size()) {
  if (size() == 2) {
    for (int sender : {0, 1}) {
      channels[sender].group = this;
      channels[sender].sender = sender;
      channels[sender].from = members[static_cast<size_t>(sender)];
      channels[sender].to = members[static_cast<size_t>(1 - sender)];
    }
  }
}

Group::~Group() = default;

const CollectiveEntry &entryOf(const Group &group, int rank) {
  return std::get<CollectiveEntry>(group.standing[rank]->front().work);
}

Status checkMembers(const Group &group) {
  const int one = group.local.front();
  const Collective &first = *entryOf(group, one).collective;
  for (int rank : group.local) {
    if (group.standing[rank]->skips != group.standing[one]->skips) {
      return makeError(
          ErrorKind::mismatch,
          fmt::format("expected devices {} and {} to repeat '{}' equally "
                      "often, got a flag that holds on one of them alone",
                      group.members[one], group.members[rank],
                      group.standing[one]->front().origin->name));
    }
    const Collective &other = *entryOf(group, rank).collective;
    if (&other == &first || first == other) {
      continue;
    }
    return makeError(
        ErrorKind::mismatch,
        fmt::format("expected {} on device {} as on device {}, got {}",
                    signature(first), group.members[rank], group.members[one],
                    signature(other)));
  }
  return Status::success();
}

void CpuCommunicator::collective(Stream &stream, const Collective &collective,
                                 const void *const *ins, void *const *outs,
                                 const Origin &origin) {
  auto &cpu = static_cast<CpuStream &>(stream);
  auto count = static_cast<uint32_t>(collective.buffers.size());
  uint32_t numIns = count + traitsOf(collective.kind).takesCounts;
  Entry *entry = pool.push(cpu, numIns + count, origin);
  if (!entry) {
    return;
  }
  entry->work =
      CollectiveEntry{&group, &collective, group.issued[myRank]++, myRank};
  uint64_t *words = entry->words;
  std::memcpy(words, ins, numIns * sizeof(uint64_t));
  std::memcpy(words + numIns, outs, count * sizeof(uint64_t));
}

void CpuCommunicator::abort(const Status &reason) { pool.fail(reason); }

CommunicatorCounts CpuCommunicator::counts() const {
  return pool.countsOf(group);
}

} // namespace llmc::rt::cpu
