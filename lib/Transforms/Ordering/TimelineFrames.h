//===- TimelineFrames.h - Frames and buffers of a timeline ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each slot of the programs becomes a buffer of a frame: sums and metrics in
// `step`, activations in `act` with a slot for each microbatch in flight, data
// in `input` with one more, so that it is copied while the last one is used.
// Slots that the same stages use share a frame.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_TRANSFORMS_ORDERING_TIMELINEFRAMES_H
#define LLMC_LIB_TRANSFORMS_ORDERING_TIMELINEFRAMES_H

#include "PlanNames.h"
#include "llmc/Dialect/Dist/IR/Signature.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"
#include <map>
#include <set>

namespace llmc::ordering {

/// A program of a timeline with its function.
struct TimelineProgram {
  dist::ProgramAttr attr;
  mlir::func::FuncOp function;
};

/// What a program runs for a microbatch, by position in the list; a stage's
/// cells in order, updates and idle cells left out.
struct StageCall {
  int32_t program;
  int64_t microbatch;
};

/// A slot with its buffer.
struct SlotBuffer {
  RankedTensorType type;
  mlir::FlatSymbolRefAttr frame;
  mlir::FlatSymbolRefAttr buffer;
  /// Programs that take or return it, by position in the list.
  SmallVector<int32_t> takenBy, returnedBy;
};

struct TimelineFrames {
  llvm::MapVector<dist::PortAttr, SlotBuffer> slots;
  /// Of each frame that this made.
  llvm::MapVector<Attribute, plan::FrameOp> frames;
  /// Kernels' and libraries' own memory; null without.
  mlir::FlatSymbolRefAttr scratch;
  int64_t scratchBytes = 0;
};

/// The greatest number of microbatches between the start of the first and the
/// end of the last of these programs, on any stage; at least 1.
int64_t getInFlight(const std::set<int32_t> &programs,
                    ArrayRef<std::vector<StageCall>> walks);

struct FrameRequest {
  StringRef name;
  int64_t microbatches;
  int64_t numStages;
  int64_t threads;
  ArrayRef<TimelineProgram> programs;
  /// One for each stage.
  ArrayRef<std::vector<StageCall>> walks;
  /// Buffers of states, by the name of the `dist.buffer`.
  const std::map<std::string, mlir::FlatSymbolRefAttr> &states;
};

/// Makes the frames and buffers of all slots at the builder's place.
FailureOr<TimelineFrames> makeFrames(OpBuilder &builder, PlanNames &names,
                                     const FrameRequest &request);

} // namespace llmc::ordering

#endif // LLMC_LIB_TRANSFORMS_ORDERING_TIMELINEFRAMES_H
