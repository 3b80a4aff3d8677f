//===- Scratch.h - Scratch of contractions on CPU -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A plan reserves the scratch of each contraction, so whoever makes a plan asks
// the library here, on the machine that the plan is for.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_RUNTIME_BACKENDS_CPU_SCRATCH_H
#define LLMC_RUNTIME_BACKENDS_CPU_SCRATCH_H

#include "llmc/Runtime/Base/Status.h"
#include "llmc/Runtime/Device/Contraction.h"

namespace llmc::rt {

/// Bytes of scratch that a contraction needs with `shape.threads`: what
/// `Device::prepare` compares `shape.scratchBytes` with.
Result<uint64_t> cpuContractionScratch(const ContractionShape &shape);

} // namespace llmc::rt

#endif // LLMC_RUNTIME_BACKENDS_CPU_SCRATCH_H
