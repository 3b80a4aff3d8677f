//===- EntryOrder.h - A timeline's table and entry --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The table runs the programs, without rows in which all stages are idle; the
// updates become the epilogue.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_TRANSFORMS_ORDERING_ENTRYORDER_H
#define LLMC_LIB_TRANSFORMS_ORDERING_ENTRYORDER_H

#include "../PlanNames.h"
#include "../Timelines.h"

namespace llmc::ordering {

/// What has been made of a timeline.
struct TimelinePrograms {
  /// Of each of its programs.
  SmallVector<plan::ProgramOp> programs;
  /// What tables run in their place: the program itself, or what calls all of
  /// its group.
  SmallVector<plan::ProgramOp> cells;
  /// Of each stage, or null.
  SmallVector<plan::ProgramOp> prologues;
};

LogicalResult emitEntry(OpBuilder &builder, PlanNames &names,
                        mlir::SymbolTableCollection &tables,
                        const Timeline &timeline, const TimelinePlaces &places,
                        const TimelinePrograms &made);

} // namespace llmc::ordering

#endif // LLMC_LIB_TRANSFORMS_ORDERING_ENTRYORDER_H
