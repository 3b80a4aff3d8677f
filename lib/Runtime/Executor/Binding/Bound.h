//===- Bound.h - A plan as one device runs it -----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// When a plan is loaded, its programs are bound to each local device: mesh
// coordinates are folded, kernels, libraries, communicators and events
// become pointers. What is left for a call is a handful of integers, those that
// depend on the microbatch or on a call's arguments.
//
//   operand (buffer, offset + 5 * coordinate("tensor"))  at tensor = 1
//     ->  Ref {frame 2, offset 69}
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_RUNTIME_EXECUTOR_BOUND_H
#define LLMC_LIB_RUNTIME_EXECUTOR_BOUND_H

#include "Staging.h"
#include "llmc/Runtime/Comm/World.h"
#include "llmc/Runtime/Plan/Format/Plan.h"

#include <memory>
#include <variant>
#include <vector>

namespace llmc::rt::exec {

/// An integer: `constant`, plus an expression where it depends on the call.
struct Number {
  int64_t constant = 0;
  plan::ExprId expr = plan::noExpr;
};

/// An address: slot of the frame at the call, plus `offset` bytes.
struct Ref {
  int32_t frame = -1; ///< -1: null.
  Number offset;
};

struct BoundKernel {
  const Kernel *kernel;
  std::vector<Ref> operands;
  std::vector<Number> scalars;
  Ref scratch;
};
struct BoundLibrary {
  const LibraryOp *op;
  std::vector<Ref> operands;
  Ref workspace;
};
struct BoundCollective {
  Communicator *communicator;
  const Collective *collective;
  std::vector<Ref> ins, outs; ///< Counts are the last of the inputs.
};
struct BoundPart {
  bool send;
  Communicator *communicator;
  Ref ref;
  uint64_t bytes;
};
struct BoundExchange {
  std::vector<BoundPart> parts;
};
struct BoundCopy {
  Ref to, from;
  plan::HostEnd host;
  int32_t index;
  CopyBox box;
};
struct BoundFill {
  Ref to;
  uint64_t pattern;
  unsigned size;
  CopyBox box;
};
struct BoundEvent {
  int32_t frame, event;
  bool isWait;
};
/// Of a call, or of a trip with its number.
constexpr size_t mostArguments = 16;

struct BoundCall {
  int32_t program;
  Number microbatch;
  bool ownMicrobatch; ///< `microbatch` is given; else it is the caller's.
  std::vector<Number> arguments;
};

/// The trip is the first of the program's arguments.
struct BoundLoop {
  int32_t program;
  int64_t trips;
  std::vector<Number> arguments;
};

struct BoundWhile {
  int32_t program;
  Ref flag;
  Repeat *repeat;
};

using BoundAction = std::variant<BoundKernel, BoundLibrary, BoundCollective,
                                 BoundExchange, BoundCopy, BoundFill,
                                 BoundEvent, BoundCall, BoundLoop, BoundWhile>;

struct BoundInstruction {
  Stream *stream;
  int32_t streamIndex;
  const Origin *origin;
  BoundAction action;
  /// Of the boxes that a checkpoint reads, in their order, as many as are read
  /// before this writes; 0: it writes no state.
  uint64_t writesAfter = 0;
};

struct BoundProgram {
  std::vector<BoundInstruction> instructions;
};

/// A frame on a device: where its slots lie and their events.
struct BoundFrame {
  int64_t offset = 0, size = 0;
  std::vector<int32_t> slotOf; ///< By microbatch.
  int32_t numEvents = 0;
  std::vector<Event *> events; ///< [slot, event]
};

struct LocalDevice {
  Device *device = nullptr;
  int number = 0;
  std::vector<int64_t> coordinates;
  int64_t stage = 0;
  Arena arena;
  std::unique_ptr<Staging> staging;
  std::vector<Stream *> streams; ///< By stream of the plan.
  std::vector<BoundFrame> frames;
  std::vector<std::unique_ptr<BoundProgram>> programs; ///< Null: never runs.
  std::vector<std::unique_ptr<Collective>> collectives;
  /// Before what writes states; null where nothing reads them beside steps.
  Gate *gate = nullptr;
  std::unique_ptr<Staging> aside; ///< With the gate.
};

/// Entries and words that a program enqueues on each stream.
struct QueueUse {
  std::vector<uint32_t> entries, words;

  explicit QueueUse(size_t streams) : entries(streams), words(streams) {}
  void add(const QueueUse &other, uint32_t times = 1);
  void raise(const QueueUse &other);
};

/// The value of an expression, and whether it depends on the call.
std::optional<int64_t> fold(const plan::ExprTable &table, plan::ExprId id,
                            const std::vector<int64_t> &coordinates);

} // namespace llmc::rt::exec

#endif // LLMC_LIB_RUNTIME_EXECUTOR_BOUND_H
