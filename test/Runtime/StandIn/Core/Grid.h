//===- Grid.h - Kernels run by fibers -------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each thread of a block is a fiber with a stack of its own. One fiber runs at
// a time, chosen at random among those that can go on; blocks come in random
// order. What a GPU leaves undefined ends the process: threads that do not come
// to the same barrier, lanes that do not come to the same shuffle, accesses of
// shared memory that race or leave it.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TEST_RUNTIME_STANDIN_CORE_GRID_H
#define LLMC_TEST_RUNTIME_STANDIN_CORE_GRID_H

#include "llmc/Runtime/Plan/Format/LaneAbi.h"

#include <string>
#include <vector>

namespace llmc::standin {

struct Launch {
  std::string kernel;
  LlmcLaneFn entry = nullptr;
  uint32_t blocks = 1, threads = 1, sharedBytes = 0;
  std::vector<uint64_t> parameters; // device addresses are translated
};

/// Runs all blocks. One thread at a time may be in here.
void runGrid(const Launch &launch);

} // namespace llmc::standin

#endif // LLMC_TEST_RUNTIME_STANDIN_CORE_GRID_H
