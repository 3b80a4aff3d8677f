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

#include "llmc/Runtime/Comm/Backend.h"

#include <memory>

namespace llmc::rt {

/// The world of the target "cpu"; `threads` of 0 is one worker.
std::unique_ptr<World> makeCpuWorld(const WorldOptions &options);

} // namespace llmc::rt

#endif // LLMC_RUNTIME_BACKENDS_CPU_CPUWORLD_H
