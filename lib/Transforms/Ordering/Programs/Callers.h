//===- Callers.h - Programs that call the parts of a chunk ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tables name one program for each cell. Where a chunk has loops, that calls
// the straight parts, and repeats the parts that are loops:
//
//   plan.program @train.c0.B backward chunk(0) {
//     plan.call on @C @train.c0.B.part0 arguments([])
//     plan.loop on @C 12 times @train.c0.B.trip1
//     ...
//
// A loop's program has the number of its trip as parameter. Where trips run
// backwards, a program between the two turns the number around. The parts of a
// trip, where other loops are in it, are called by a program of that trip; what
// runs in the trips of several loops has the number of each as a parameter,
// that of the innermost first:
//
//   plan.program @train.c0.F.trip other parameters(1) {
//     plan.call on @C @train.c0.F.1 arguments([parameter(0)])
//     plan.loop on @C 64 times @train.c0.F.2 arguments([parameter(0)])
//     ...
//
// A conditional loop asks a flag of the compute stream, which a program of one
// copy makes of its condition, on whatever stream that was made:
//
//     plan.call on @C @train.c0.F.trip1.ask arguments([])
//     plan.while on @C <@go> do @train.c0.F.trip1.turn      calls trip1, then
//     ask
//
// What a stage prepares is called at the beginning of a step, after the copies
// and fills of its prologue:
//
//   plan.program @train.begin other {
//     plan.call on @C @train.prologue arguments([])
//     plan.call on @C @train.c0.P arguments([])
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_TRANSFORMS_ORDERING_CALLERS_H
#define LLMC_LIB_TRANSFORMS_ORDERING_CALLERS_H

#include "../PlanNames.h"
#include "../Timelines.h"
#include "PlanStreams.h"

namespace llmc::ordering {

/// Whether another program calls this one.
bool isCalled(const Timeline &timeline, int32_t program);

/// What each stage runs before the table: its prologue, or a program that calls
/// that and what the stage prepares.
SmallVector<plan::ProgramOp> emitBegins(OpBuilder &builder, PlanNames &names,
                                        const PlanStreams &streams,
                                        const Timeline &timeline,
                                        const TimelinePlaces &places,
                                        ArrayRef<plan::ProgramOp> programs,
                                        ArrayRef<plan::ProgramOp> prologues);

/// What the table runs for each program of the timeline, by the first of its
/// group. An error where a conditional loop has no slot of its condition.
FailureOr<SmallVector<plan::ProgramOp>>
emitCallers(OpBuilder &builder, PlanNames &names, const PlanStreams &streams,
            const Timeline &timeline, const TimelinePlaces &places,
            ArrayRef<plan::ProgramOp> programs);

} // namespace llmc::ordering

#endif // LLMC_LIB_TRANSFORMS_ORDERING_CALLERS_H
