//===- World.h - The devices that one process drives ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A world is a numbered set of devices, of which this process drives some: N
// virtual devices of one process, or one device of each of N processes.
// Equivalent to MPI_COMM_WORLD. It makes communicators, and it is the only
// place that waits.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_RUNTIME_COMM_WORLD_H
#define LLMC_RUNTIME_COMM_WORLD_H

#include "llmc/Runtime/Comm/Communicator.h"

#include <chrono>
#include <vector>

namespace llmc::rt {

class World {
public:
  virtual ~World() = default;

  /// Devices of all processes.
  virtual int size() const = 0;
  /// World numbers of the devices that this process drives, ascending.
  virtual const std::vector<int> &local() const = 0;
  virtual Device &device(int number) = 0;

  /// The communicator of a group, given as world numbers in rank order: one
  /// handle for each local member, in that order. Every process calls this
  /// with the same groups in the same order. Two calls make two groups, also
  /// over the same devices. `tags` is the number of kinds of transfers.
  virtual Result<std::vector<Communicator *>>
  communicator(const std::vector<int> &members, int tags = 1) = 0;

  /// Waits until all that was enqueued has run. An error names what was waited
  /// for: after it the world is dead, and every later drain returns the same.
  /// After a timeout some work may still run: end the process, and do not
  /// destroy the world.
  virtual Status drain(std::chrono::milliseconds deadline) = 0;
};

} // namespace llmc::rt

#endif // LLMC_RUNTIME_COMM_WORLD_H
