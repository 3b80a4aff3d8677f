//===- SlotFrames.h - Frames and buffers of a timeline's slots --*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each slot of the programs becomes a buffer of a frame: sums and metrics in
// `step`, what a step prepares in `kept`, activations in `act` with a slot for
// each microbatch in flight, data in `input` with one more, so that it is
// copied while the last one is used. Slots that the same stages use share a
// frame.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_TRANSFORMS_ORDERING_SLOTFRAMES_H
#define LLMC_LIB_TRANSFORMS_ORDERING_SLOTFRAMES_H

#include "../Timelines.h"
#include "PlanFrames.h"
#include <map>

namespace llmc::ordering {

struct SlotFramesRequest {
  const Timeline &timeline;
  const TimelineSlots &slots;
  /// Buffers of states, by the name of the `dist.buffer`.
  const std::map<std::string, mlir::FlatSymbolRefAttr> &states;
  int64_t threads;
};

/// Makes the frames and buffers of all slots at the builder's place, and of the
/// kernels' scratch.
TimelinePlaces makeSlotFrames(OpBuilder &builder, PlanNames &names,
                              const SlotFramesRequest &request);

} // namespace llmc::ordering

#endif // LLMC_LIB_TRANSFORMS_ORDERING_SLOTFRAMES_H
