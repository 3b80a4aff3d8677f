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

/// Rows that one member sends to one place of another.
struct RowRun {
  int from = 0, to = 0;
  int64_t offset = 0, bytes = 0; ///< In the sender's input.
};

/// All of them, by outer index, sender and slice. Assumes that `checkCounts`
/// has found nothing.
std::vector<RowRun> rowRuns(const Members &members);

/// Bytes of the rows that go from members to others.
uint64_t raggedBytes(const Members &members);

} // namespace llmc::rt::cpu

#endif // LLMC_LIB_RUNTIME_BACKENDS_CPU_RAGGEDCOLLECTIVE_H
