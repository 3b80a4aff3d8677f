//===- EntryProblem.h - An entry as a problem of streams --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What an entry runs, read from its prologue, table and epilogue, and on plain
// numbers for Solvers/Streams/StreamOrder.h: streams, buffers and frames of the
// module in the order in which they stand, programs in that of their first
// call.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_TRANSFORMS_ORDERING_ENTRYPROBLEM_H
#define LLMC_LIB_TRANSFORMS_ORDERING_ENTRYPROBLEM_H

#include "llmc/Dialect/Plan/IR/Plan.h"
#include "llmc/Solvers/Streams/StreamOrder.h"
#include "llmc/Support/LLVM.h"
#include "llvm/ADT/DenseMap.h"

namespace llmc::ordering {

/// A run of a program; the microbatch is 0 in prologue and epilogue.
struct PlanCall {
  plan::ProgramOp program;
  int64_t microbatch = 0;
};

/// More trips of a loop order nothing that these do not: what two trips that
/// follow each other ask for holds for all.
inline constexpr int64_t kMostTrips = 3;

/// What a device of each stage runs in the entry, in order; idle cells are left
/// out, and so are trips of a loop beyond `mostTrips`. With loops that the run
/// ends: of each stage a walk with one trip and one with several.
std::vector<std::vector<PlanCall>> readWalks(plan::EntryOp entry,
                                             const mlir::SymbolTable &symbols,
                                             int64_t mostTrips = kMostTrips);

struct EntryProblem {
  /// Signals and waits are instructions without accesses.
  StreamOrderProblem problem;
  SmallVector<plan::FrameOp> frames;
  SmallVector<plan::StreamOp> streams;
  llvm::DenseMap<Attribute, int32_t> frameNumbers;
  /// Of each program of the problem, with the op of each of its instructions.
  SmallVector<plan::ProgramOp> programs;
  std::vector<std::vector<Operation *>> instructions;
};

EntryProblem readEntry(plan::EntryOp entry, const mlir::SymbolTable &symbols);

} // namespace llmc::ordering

#endif // LLMC_LIB_TRANSFORMS_ORDERING_ENTRYPROBLEM_H
