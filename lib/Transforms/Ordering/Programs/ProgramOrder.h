//===- ProgramOrder.h - A program's instructions ----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One function over slots becomes one `plan.program`, without signals and
// waits (StreamWaits.h adds them).
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_TRANSFORMS_ORDERING_PROGRAMORDER_H
#define LLMC_LIB_TRANSFORMS_ORDERING_PROGRAMORDER_H

#include "HostCopies.h"
#include "Meetings.h"

namespace llmc::ordering {

struct ProgramRequest {
  const TimelineProgram &program;
  const TimelinePlaces &places;
  PlanStreams &streams;
  const Meetings &meetings;
  const HostCopies &copies;
  /// Not all stages run it.
  bool isPartial = false;
  /// Another program calls it, beside the others of its chunk and phase.
  bool isPart = false;
};

/// Appends the program, under its function's name, and its own memory at the
/// builder's place.
plan::Phase getPlanPhase(dist::Phase phase);

FailureOr<plan::ProgramOp> emitProgram(OpBuilder &builder, PlanNames &names,
                                       mlir::SymbolTableCollection &tables,
                                       const ProgramRequest &request);

} // namespace llmc::ordering

#endif // LLMC_LIB_TRANSFORMS_ORDERING_PROGRAMORDER_H
