//===- Members.h - The buffers of one collective --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All members stand at the collective; their queues have its pointers: the
// inputs, the counts if it takes them, the outputs. Of members in other
// processes what they have sent is here, and nothing of where their outputs
// lie.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_RUNTIME_BACKENDS_CPU_MEMBERS_H
#define LLMC_LIB_RUNTIME_BACKENDS_CPU_MEMBERS_H

#include "Group.h"
#include "RemoteGroup.h"

namespace llmc::rt::cpu {

/// The buffers of one collective, by rank and index.
struct Members {
  const Group &group;
  const Collective &collective;
  int64_t elementBytes;

  const char *in(int rank, size_t buffer) const {
    return isHere(rank) ? pointer(rank, buffer)
                        : group.remote->arrivedInput(buffer, rank);
  }
  /// Null where another process has it.
  char *out(int rank, size_t buffer) const {
    return isHere(rank) ? pointer(rank, collective.buffers.size() +
                                            takesCounts() + buffer)
                        : nullptr;
  }
  const int64_t *counts(int rank) const {
    return reinterpret_cast<const int64_t *>(
        isHere(rank)
            ? pointer(rank, collective.buffers.size())
            : group.remote->arrivedInput(collective.buffers.size(), rank));
  }
  /// What the local member `to` needs of the input of `from`.
  ByteRows input(int from, int to, size_t buffer) const {
    return isHere(from) ? inputFor(collective, buffer, pointer(from, buffer),
                                   group.size(), to)
                        : group.remote->inputFor(collective, buffer, from, to);
  }

private:
  bool isHere(int rank) const { return group.standing[rank] != nullptr; }
  bool takesCounts() const { return traitsOf(collective.kind).takesCounts; }
  char *pointer(int rank, size_t word) const {
    return reinterpret_cast<char *>(
        group.standing[static_cast<size_t>(rank)]->frontWords()[word]);
  }
};

/// Those of the collective at which all stand.
inline Members membersOf(const Group &group) {
  const Collective &c = *entryOf(group, group.local.front()).collective;
  return {group, c, static_cast<int64_t>(sizeOf(c.type))};
}

} // namespace llmc::rt::cpu

#endif // LLMC_LIB_RUNTIME_BACKENDS_CPU_MEMBERS_H
