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

#include "Meetings.h"

namespace llmc::ordering {

/// A copy from or to the host around a program's own instructions.
struct HostCopy {
  plan::HostEnd end;
  StringRef name;
  plan::OperandAttr place;
};

struct ProgramRequest {
  const TimelineProgram &program;
  const TimelineFrames &frames;
  PlanStreams &streams;
  const Meetings &meetings;
  /// Inputs before, metrics, outputs and fetches after.
  SmallVector<HostCopy> before, after;
  /// Not all stages run it.
  bool isPartial = false;
};

/// Appends the program and its own memory at the builder's place.
LogicalResult emitProgram(OpBuilder &builder, PlanNames &names,
                          mlir::SymbolTableCollection &tables,
                          const ProgramRequest &request, StringRef name);

void emitHostCopy(OpBuilder &builder, Location loc, const PlanStreams &streams,
                  const HostCopy &copy);

} // namespace llmc::ordering

#endif // LLMC_LIB_TRANSFORMS_ORDERING_PROGRAMORDER_H
