//===- LoopbackTransport.h - Processes that are threads ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Messages between "processes" of one process, for tests of what stands above a
// transport.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TEST_RUNTIME_COMM_LOOPBACKTRANSPORT_H
#define LLMC_TEST_RUNTIME_COMM_LOOPBACKTRANSPORT_H

#include "llmc/Runtime/Comm/Transport.h"

#include <memory>
#include <vector>

namespace llmc::rt::test {

/// The ends of `processes` processes.
std::vector<std::shared_ptr<Transport>> makeLoopback(int processes);

} // namespace llmc::rt::test

#endif // LLMC_TEST_RUNTIME_COMM_LOOPBACKTRANSPORT_H
