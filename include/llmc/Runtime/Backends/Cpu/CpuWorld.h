//===- CpuWorld.h - N virtual devices in this process ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Virtual devices share the process and a fixed pool of workers, so any plan
// runs on any machine without a launcher. Reductions are in rank order, hence
// the same bits with any number of workers and in any order of execution.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_RUNTIME_BACKENDS_CPU_CPUWORLD_H
#define LLMC_RUNTIME_BACKENDS_CPU_CPUWORLD_H

#include "llmc/Runtime/Comm/World.h"

#include <cstdint>
#include <memory>
#include <optional>

namespace llmc::rt {

struct CpuOptions {
  int devices = 1;
  int threads = 1; ///< Workers of the pool.
  /// Threads that each device's kernels are sliced for; part of a plan, since
  /// it decides the bits of column reductions. Not more than tickets: the pool
  /// may have fewer workers.
  int threadsPerDevice = 1;
  /// Takes any ready task in an order drawn from this seed.
  std::optional<uint64_t> shuffleSeed;
};

/// Names the order in which tasks were taken: equal orders have equal hashes.
struct OrderDigest {
  uint64_t hash = 0xcbf29ce484222325u;
  uint64_t tasks = 0;
};

class CpuWorld : public World {
public:
  virtual OrderDigest digest() const = 0;
};

std::unique_ptr<CpuWorld> makeCpuWorld(const CpuOptions &options);

} // namespace llmc::rt

#endif // LLMC_RUNTIME_BACKENDS_CPU_CPUWORLD_H
