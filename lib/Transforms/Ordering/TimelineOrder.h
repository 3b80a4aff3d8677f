//===- TimelineOrder.h - A timeline as an entry of a plan -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Frames, programs, prologue, table and entry of one timeline.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_TRANSFORMS_ORDERING_TIMELINEORDER_H
#define LLMC_LIB_TRANSFORMS_ORDERING_TIMELINEORDER_H

#include "ProgramOrder.h"
#include "llvm/ADT/StringSet.h"

namespace llmc::ordering {

struct TimelineRequest {
  dist::TimelineOp timeline;
  PlanStreams &streams;
  const std::map<std::string, mlir::FlatSymbolRefAttr> &states;
  int64_t threads;
  /// Slots of kind step that are copied to the host.
  const llvm::StringSet<> &fetch;
};

/// Writes the plan of a timeline at the builder's place.
LogicalResult orderTimeline(OpBuilder &builder, PlanNames &names,
                            mlir::SymbolTableCollection &tables,
                            const TimelineRequest &request);

} // namespace llmc::ordering

#endif // LLMC_LIB_TRANSFORMS_ORDERING_TIMELINEORDER_H
