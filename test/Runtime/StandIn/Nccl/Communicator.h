//===- Communicator.h - Ranks that know each other ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TEST_RUNTIME_STANDIN_NCCL_COMMUNICATOR_H
#define LLMC_TEST_RUNTIME_STANDIN_NCCL_COMMUNICATOR_H

#include "Core/Objects.h"
#include "Nccl/Interface.h"
#include "Nccl/Mailbox.h"

namespace llmc::standin {

struct Flight;

struct Communicator : Object {
  static constexpr Kind kKind = Kind::Communicator;

  std::string clique; // the same for all its ranks, and for them alone
  int rank = 0, ranks = 1, device = 0;
  bool blocking = true;
  bool ready = false; // all ranks have joined
  bool aborted = false, finalized = false;
  ncclResult_t error = ncclSuccess; // that a watchdog sees
  unsigned busy = 0;          // how often it will say that it is in progress
  std::vector<int> processes; // of each rank
  std::shared_ptr<Mailbox> mailbox;

  OpRef last;               // its operations come one after the other
  uint64_t collectives = 0; // submitted so far
  uint64_t splits = 0;
  std::vector<uint64_t> sent, received; // for each peer
  std::vector<std::shared_ptr<Flight>> flights;
  uint64_t completed = 0; // collectives
  uint64_t removed = 0;   // of which the own messages are removed

  std::string name(const std::string &what, uint64_t number, int from) const {
    return clique + "." + what + "." + std::to_string(number) + "." +
           std::to_string(from);
  }
};
using CommunicatorRef = std::shared_ptr<Communicator>;

/// Lets the ranks of `clique` find each other, while the caller goes on; the
/// communicator is ready then.
void join(const CommunicatorRef &comm);

/// As join, of a clique that all ranks of `parent` make, each for its color.
/// `made` has no rank yet; one without a color becomes ready with no ranks.
void split(const CommunicatorRef &parent, const CommunicatorRef &made,
           int color, int key);

/// Sees whether the process of a rank is gone.
void lookForLostRanks(Communicator &comm);

/// Takes leave: what it left for others and nobody will read goes.
void leaveClique(Communicator &comm);

/// Says why `result` is returned; ncclGetLastError tells it, too.
ncclResult_t refuse(ncclResult_t result, const std::string &why);
const std::string &lastRefusal();

} // namespace llmc::standin

#endif // LLMC_TEST_RUNTIME_STANDIN_NCCL_COMMUNICATOR_H
