//===- RaggedCollective.h - Collectives of counted rows -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_RUNTIME_BACKENDS_CPU_RAGGEDCOLLECTIVE_H
#define LLMC_LIB_RUNTIME_BACKENDS_CPU_RAGGEDCOLLECTIVE_H

#include "Members.h"

namespace llmc::rt::cpu {

/// Fills elements `range` of every member's output: rows that come in, and zero
/// where none do. Assumes that `checkCounts` has found nothing.
void moveRows(const Members &members, Range range);

/// Bytes of the rows that go from members to others.
uint64_t raggedBytes(const Members &members);

} // namespace llmc::rt::cpu

#endif // LLMC_LIB_RUNTIME_BACKENDS_CPU_RAGGEDCOLLECTIVE_H
