//===- Group.h - Calls between ncclGroupStart and ncclGroupEnd ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TEST_RUNTIME_STANDIN_NCCL_GROUP_H
#define LLMC_TEST_RUNTIME_STANDIN_NCCL_GROUP_H

#include "Nccl/Flight.h"

namespace llmc::standin {

/// The calls of this thread that are not submitted yet.
struct Group {
  struct Entry {
    CommunicatorRef comm;
    std::shared_ptr<Stream> stream;
    CollectiveCall call;
    std::vector<AllocationRef> uses;
  };
  int depth = 0;
  ncclResult_t error = ncclSuccess; // of a call inside
  std::vector<Entry> entries;
  std::vector<CommunicatorRef> made; // to be waited for

  static Group &ofThread();
};

/// Submits what the group has, and waits for communicators that it makes.
ncclResult_t endGroup(Lock &lock, Group &group);

/// Waits until a communicator is ready, or says that it is in progress.
ncclResult_t awaitReady(Lock &lock, const CommunicatorRef &comm);

} // namespace llmc::standin

#endif // LLMC_TEST_RUNTIME_STANDIN_NCCL_GROUP_H
