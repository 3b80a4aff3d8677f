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

std::string signature(const Collective &collective) {
  std::string text = fmt::format("{} '{}' {}", nameOf(collective.kind),
                                 collective.symbol, nameOf(collective.type));
  for (const CollectiveBuffer &buffer : collective.buffers) {
    text += fmt::format(" [{}, {}; {}]", buffer.outer, buffer.count,
                        buffer.outerOut);
  }
  const CollectiveTraits &traits = traitsOf(collective.kind);
  if (traits.reduces) {
    text += fmt::format(" {} in {}", nameOf(collective.reduction),
                        nameOf(collective.accumulate));
  }
  if (traits.takesCounts) {
    text += fmt::format(" {} to {} rows of {} in {} slices", collective.rows.in,
                        collective.rows.out, collective.rows.elements,
                        collective.rows.slices);
  }
  if (traits.peer == CollectivePeer::root) {
    text +=
        fmt::format(" {} {}", traits.reduces ? "to" : "from", collective.root);
  }
  if (traits.peer == CollectivePeer::source) {
    text += fmt::format(" from [{}]", fmt::join(collective.sources, ", "));
  }
  return text;
}

static bool same(const Collective &a, const Collective &b) {
  auto sameBuffer = [](const CollectiveBuffer &x, const CollectiveBuffer &y) {
    return x.outer == y.outer && x.count == y.count && x.outerOut == y.outerOut;
  };
  return a.kind == b.kind && a.reduction == b.reduction && a.type == b.type &&
         a.accumulate == b.accumulate && a.root == b.root &&
         a.sources == b.sources && a.symbol == b.symbol &&
         a.rows.elements == b.rows.elements && a.rows.in == b.rows.in &&
         a.rows.out == b.rows.out && a.rows.slices == b.rows.slices &&
         std::equal(a.buffers.begin(), a.buffers.end(), b.buffers.begin(),
                    b.buffers.end(), sameBuffer);
}

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
    if (&other == &first || same(first, other)) {
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
