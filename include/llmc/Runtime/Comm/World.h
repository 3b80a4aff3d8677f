//===- World.h - The devices that one process drives ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A world is a numbered set of devices, of which this process drives some: N
// virtual devices of one process, or one device of each of N processes.
// Equivalent to MPI_COMM_WORLD. It makes communicators, it knows where a step
// begins and ends, and it is the only place that waits. While a step runs, the
// host enqueues the next:
//
//   host     enqueue 0 | enqueue 1 | wait 0, enqueue 2 | wait 1, enqueue 3
//   devices            | step 0    | step 1            | step 2
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_RUNTIME_COMM_WORLD_H
#define LLMC_RUNTIME_COMM_WORLD_H

#include "llmc/Runtime/Comm/Communicator.h"
#include "llmc/Runtime/Comm/Trace.h"
#include "llmc/Runtime/Comm/Transport.h"

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace llmc::rt {

/// Steps that may be submitted and not waited for: one runs, one lies ready.
constexpr int mostSteps = 2;

/// Names the order in which tasks were taken: equal orders have equal hashes.
struct OrderDigest {
  uint64_t hash = 0xcbf29ce484222325u;
  uint64_t tasks = 0;
};

class World {
public:
  virtual ~World() = default;

  /// Devices of all processes.
  virtual int size() const = 0;
  /// World numbers of the devices that this process drives, ascending.
  virtual const std::vector<int> &local() const = 0;
  /// Between the processes; null where this is the only one.
  virtual Transport *transport() const { return nullptr; }
  virtual Device &device(int number) = 0;

  /// Makes the communicators of several groups at once, which have no device in
  /// common; each is given as world numbers in rank order. One handle for each
  /// local device, in the order of `local`: null where no group has it. Every
  /// process calls this with the same groups in the same order. Two calls make
  /// two sets, also over the same devices. Equivalent to MPI_Comm_split and
  /// ncclCommSplit.
  virtual Result<std::vector<Communicator *>>
  split(const std::vector<std::vector<int>> &groups) = 0;

  /// All parts are posted together, and the entry ends when all have moved; the
  /// communicators are of one device. Equivalent to ncclGroupStart; ncclSend,
  /// ncclRecv …; ncclGroupEnd.
  virtual void exchange(Stream &, const TransferPart *parts, uint32_t numParts,
                        const Origin &) = 0;

  /// Begins a step: what is enqueued until `submit`. Steps of one `key` enqueue
  /// the same work at the same addresses, so a backend may capture the first
  /// and replay it (cuStreamBeginCapture, cuGraphLaunch). False: it does, and
  /// the caller enqueues nothing.
  virtual bool beginStep(uint64_t key) = 0;
  /// Ends the step and returns at once. The step runs after those before it
  /// have ended on all devices that meet. Error (15) for more than `mostSteps`
  /// that are not waited for.
  virtual Status submit() = 0;
  /// Waits until the oldest step that was not waited for has ended. An error
  /// names what was waited for: after it the world is dead, and every later
  /// call returns the same. After a timeout some work may still run: end the
  /// process, and do not destroy the world.
  virtual Status wait(std::chrono::milliseconds deadline) = 0;
  /// Of the step that was waited for last: seconds for which a compute stream
  /// stood at a wait for what a stream of communication was to signal; the mean
  /// over this process's devices. Absent where nobody measures it.
  virtual std::optional<double> exposedSeconds() const { return std::nullopt; }
  /// Waits for all steps, and for what was enqueued outside of any.
  virtual Status drain(std::chrono::milliseconds deadline) = 0;

  /// What a user may want to know of how steps were handed on: one line, or
  /// nothing where that is as always.
  virtual std::string note() const { return {}; }

  /// Of the tasks that ended; without tasks where the hardware orders them.
  virtual OrderDigest order() const { return {}; }

  /// With `WorldOptions::trace` the entries of this process's devices that have
  /// ended since the last call, but events and waits; else nothing.
  virtual std::vector<TraceSpan> takeTrace() { return {}; }
};

} // namespace llmc::rt

#endif // LLMC_RUNTIME_COMM_WORLD_H
