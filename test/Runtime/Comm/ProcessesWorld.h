//===- ProcessesWorld.h - The worlds of several processes as one *- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each process has a world of its own, which drives some of the devices. Here
// all lie in one process, so that one thread can enqueue on every device, as
// the conformance tests do.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TEST_RUNTIME_COMM_PROCESSESWORLD_H
#define LLMC_TEST_RUNTIME_COMM_PROCESSESWORLD_H

#include "llmc/Runtime/Comm/Backend.h"

#include <functional>
#include <memory>
#include <vector>

namespace llmc::rt::test {

/// Makes the world of one process.
using MakeProcess =
    std::function<std::unique_ptr<World>(const WorldOptions &options)>;

/// `devices` devices, as many of them in each process as divide them evenly and
/// are at most `mostOfProcess`.
std::unique_ptr<World> makeProcesses(int devices, int mostOfProcess,
                                     const MakeProcess &make);

} // namespace llmc::rt::test

#endif // LLMC_TEST_RUNTIME_COMM_PROCESSESWORLD_H
