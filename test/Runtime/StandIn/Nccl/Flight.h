//===- Flight.h - Operations of a group that are under way ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The calls of one group on one communicator are one operation of its streams:
// they all begin when the streams come there, and end when all have ended. What
// this rank gives is left in the mailbox; a collective goes on when all ranks
// have left theirs, a receive when its peer has, a send when the peer has taken
// it. So a send without its receive waits, as NCCL allows it to.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TEST_RUNTIME_STANDIN_NCCL_FLIGHT_H
#define LLMC_TEST_RUNTIME_STANDIN_NCCL_FLIGHT_H

#include "Nccl/Communicator.h"
#include "Nccl/Order.h"

namespace llmc::standin {

enum class CallKind : uint32_t {
  AllReduce,
  Reduce,
  Broadcast,
  AllGather,
  ReduceScatter,
  Send,
  Receive,
};

/// What all ranks of a collective, or both ends of a pair, must agree on.
struct Terms {
  CallKind kind;
  ncclDataType_t type;
  ncclRedOp_t op;
  int32_t root;
  uint64_t count;
};
std::string describe(const Terms &terms);

struct CollectiveCall {
  Terms terms;
  int peer = 0;               // of a send or a receive
  const char *from = nullptr; // in the view
  char *to = nullptr;
};

/// One run of the calls.
struct Flight {
  struct Leg {
    CollectiveCall call;
    std::string mine; // the message that this rank leaves
    uint64_t number;  // among the collectives, or those with this peer
    bool done = false;
  };
  std::vector<Leg> legs;
  Turn turn;
  OpRef op;
};
using FlightRef = std::shared_ptr<Flight>;

/// The work of some calls of a group; each time it is submitted, they get new
/// numbers.
WorkRef makeFlightWork(const CommunicatorRef &comm,
                       std::vector<CollectiveCall> calls,
                       std::vector<AllocationRef> uses, uint64_t group);

} // namespace llmc::standin

#endif // LLMC_TEST_RUNTIME_STANDIN_NCCL_FLIGHT_H
