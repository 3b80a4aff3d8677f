//===- SeededFault.h - Mistakes made on demand ------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A build with LLMC_SEEDED_FAULTS has forty mistakes in it, none of which is
// made unless the environment says `LLMC_FAULT=<n>`. They show that the tests
// can fail: test/EndToEnd/faults.md lists them, docs/faults.md says which
// test catches which. In other builds nothing of them is left.
//
//   shared = isFaultSeeded(28) ? first : earliest;
//
// Test: scripts/nightly.sh faults
//===----------------------------------------------------------------------===//

#ifndef LLMC_RUNTIME_BASE_SEEDEDFAULT_H
#define LLMC_RUNTIME_BASE_SEEDEDFAULT_H

// Made by CMake: 0 or 1.
#include "llmc/Runtime/Base/FaultSwitch.h"

#if LLMC_SEEDED_FAULTS
#include <cstdlib>
#endif

namespace llmc {

#if LLMC_SEEDED_FAULTS
inline bool isFaultSeeded(int number) {
  static const int seeded = [] {
    const char *text = std::getenv("LLMC_FAULT");
    return text ? std::atoi(text) : 0;
  }();
  return seeded == number;
}
#else
constexpr bool isFaultSeeded(int) { return false; }
#endif

} // namespace llmc

#endif // LLMC_RUNTIME_BASE_SEEDEDFAULT_H
