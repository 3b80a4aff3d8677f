//===- Transport.h - Messages between processes ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a library that knows of other processes has to give: messages of known
// size, in lanes. All else (who reduces what, in which order) is written once,
// above it, so that every library gives the same bits.
//
//   this interface      Gloo                          MPI
//   exchange            UnboundBuffer::send, recv     MPI_Isend, MPI_Irecv,
//                                                     MPI_Waitall
//   lane                slot                          tag
//
// Messages of one lane from one process to another meet in the order of issue;
// lanes know nothing of each other, and each is used by one thread at a time.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_RUNTIME_COMM_TRANSPORT_H
#define LLMC_RUNTIME_COMM_TRANSPORT_H

#include "llmc/Runtime/Base/Status.h"

#include <cstdint>
#include <string>
#include <vector>

namespace llmc::rt {

/// Bytes that lie in a row, to or from a process; both ends give their number.
struct PeerMessage {
  int process = 0;
  void *data = nullptr;
  uint64_t bytes = 0;
};

class Transport {
public:
  virtual ~Transport() = default;

  /// The number of this process, and of how many it is one.
  virtual int process() const = 0;
  virtual int size() const = 0;

  /// Sends and receives, and returns when all of it is done; an exchange of
  /// nothing tells at once whether there was an abort. Errors: 10 (the
  /// other end is gone), 15 (its message has another size), or what `abort`
  /// was given.
  virtual Status exchange(uint32_t lane, const std::vector<PeerMessage> &sends,
                          const std::vector<PeerMessage> &receives) = 0;
  /// Ends every present and later exchange of this process with `reason`.
  /// Returns at once; may be called from any thread, and more than once.
  virtual void abort(const Status &reason) = 0;
};

/// The lane of what hosts tell each other (`gatherBytes`).
constexpr uint32_t hostLane = 0;

/// What each process gives, by process. All call it in the same order.
Result<std::vector<std::string>> gatherBytes(Transport &transport,
                                             const std::string &bytes);

} // namespace llmc::rt

#endif // LLMC_RUNTIME_COMM_TRANSPORT_H
