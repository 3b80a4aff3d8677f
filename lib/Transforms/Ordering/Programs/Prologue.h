//===- Prologue.h - What a stage does before a step -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Hyper values are copied, and sums that are read before they are written start
// from zero.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_TRANSFORMS_ORDERING_PROLOGUE_H
#define LLMC_LIB_TRANSFORMS_ORDERING_PROLOGUE_H

#include "../Timelines.h"
#include "PlanStreams.h"

namespace llmc::ordering {

/// The prologue of a stage, or null where there is nothing to do.
FailureOr<plan::ProgramOp> emitPrologue(OpBuilder &builder, PlanNames &names,
                                        const PlanStreams &streams,
                                        const Timeline &timeline,
                                        const TimelinePlaces &places,
                                        int64_t stage);

} // namespace llmc::ordering

#endif // LLMC_LIB_TRANSFORMS_ORDERING_PROLOGUE_H
