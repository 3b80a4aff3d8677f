//===- SeededFault.h - Mistakes made on demand ------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A build with LLMC_SEEDED_FAULTS has the mistakes of SeededFaults.def in it,
// none of which is made unless the environment names it:
// `LLMC_FAULT=allReduceIgnoresKind`. They show that the tests can fail:
// docs/faults.md says which test catches which. In other builds nothing of them
// is left.
//
//   kind = isSeeded(Fault::allReduceIgnoresKind) ? Kind::sum : asked;
//
// Test: scripts/nightly.sh faults
//===----------------------------------------------------------------------===//

#ifndef LLMC_RUNTIME_BASE_SEEDEDFAULT_H
#define LLMC_RUNTIME_BASE_SEEDEDFAULT_H

// Made by CMake: 0 or 1.
#include "llmc/Runtime/Base/FaultSwitch.h"

namespace llmc {

enum class Fault {
#define LLMC_SEEDED_FAULT(name, group, breaks) name,
#include "llmc/Runtime/Base/SeededFaults.def"
};

#if LLMC_SEEDED_FAULTS
/// Whether the environment asks for this mistake. A name that is not in the
/// table ends the command before it begins, with exit code 2.
bool isSeeded(Fault fault);
#else
constexpr bool isSeeded(Fault) { return false; }
#endif

} // namespace llmc

#endif // LLMC_RUNTIME_BASE_SEEDEDFAULT_H
