//===- Environment.cpp - What the environment says of a compilation -------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Options.h.
//
// Test: test/EndToEnd/summary.test, test/Tools/llmc/kernel-cache.test
//
//===----------------------------------------------------------------------===//

#include "Options.h"
#include <cstdlib>

using namespace llmc;

rt::Status driver::readEnvironment(Options &options) {
  if (const char *folder = std::getenv("LLMC_KERNEL_CACHE"))
    options.kernelCache = folder;
  if (const char *effort = std::getenv("LLMC_KERNEL_EFFORT")) {
    LLMC_TRY_ASSIGN(options.kernelEffort, codegen::parseKernelEffort(effort));
  }
  return rt::Status::success();
}
