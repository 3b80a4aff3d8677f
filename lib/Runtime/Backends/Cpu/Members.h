//===- Members.h - The buffers of one collective --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All members stand at the collective; their queues have its pointers: the
// inputs, the counts if it takes them, the outputs.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_RUNTIME_BACKENDS_CPU_MEMBERS_H
#define LLMC_LIB_RUNTIME_BACKENDS_CPU_MEMBERS_H

#include "Group.h"

namespace llmc::rt::cpu {

/// The buffers of one collective, by rank and index.
struct Members {
  const Group &group;
  const Collective &collective;
  int64_t elementBytes;

  const char *in(int rank, size_t buffer) const {
    return pointer(rank, buffer);
  }
  char *out(int rank, size_t buffer) const {
    return pointer(rank, collective.buffers.size() + takesCounts() + buffer);
  }
  const int64_t *counts(int rank) const {
    return reinterpret_cast<const int64_t *>(
        pointer(rank, collective.buffers.size()));
  }

private:
  bool takesCounts() const { return traitsOf(collective.kind).takesCounts; }
  char *pointer(int rank, size_t word) const {
    return reinterpret_cast<char *>(
        group.standing[static_cast<size_t>(rank)]->frontWords()[word]);
  }
};

/// Those of the collective at which all stand.
inline Members membersOf(const Group &group) {
  const Entry &entry = group.standing[0]->front();
  const Collective &c = *std::get<CollectiveEntry>(entry.work).collective;
  return {group, c, static_cast<int64_t>(sizeOf(c.type))};
}

} // namespace llmc::rt::cpu

#endif // LLMC_LIB_RUNTIME_BACKENDS_CPU_MEMBERS_H
