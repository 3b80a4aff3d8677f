//===- Instruction.h - What a program may do --------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The instructions of a plan. Each belongs to a stream; a stream runs its list
// in order, and only `Signal` and `Wait` order streams.
//
// Events. Each slot of a frame has its own events; number 0 is `free`, which is
// set before the first step. As with a driver's streams, `Wait` waits for the
// latest `Signal` of that event that the device enqueued before it, in the
// order of the walk (prologue, rows of the table, epilogue, each program from
// its first instruction to its last). At the end of an entry all streams of a
// device join, and `free` is set in every slot again.
//
// Only streams, signals and waits order the accesses of a device; messages and
// collectives do not order it against itself by way of other devices. So waits
// are reduced by looking at one device.
//===----------------------------------------------------------------------===//

#ifndef LLMC_RUNTIME_PLAN_FORMAT_INSTRUCTION_H
#define LLMC_RUNTIME_PLAN_FORMAT_INSTRUCTION_H

#include "llmc/Runtime/Base/CollectiveKind.h"
#include "llmc/Runtime/Base/DType.h"
#include "llmc/Runtime/Base/Library.h"
#include "llmc/Runtime/Base/ReductionKind.h"
#include "llmc/Runtime/Plan/Format/Expression.h"

#include <cstdint>
#include <string_view>
#include <variant>
#include <vector>

namespace llmc::rt::plan {

/// A view of a buffer. Its first element lies at
///   arena + frame.offset + slot * frame.size + buffer.offset + offset + expr.
struct Operand {
  /// -1: absent (optional operands only).
  int32_t buffer = -1;
  DType dtype = DType::f32;
  /// Added to `offset`, in bytes.
  ExprId expr = noExpr;
  /// In bytes from the start of the buffer.
  int64_t offset = 0;
  std::vector<int64_t> shape;
  /// In elements, none negative; empty means contiguous, row-major.
  std::vector<int64_t> strides;

  bool present() const { return buffer >= 0; }
};

enum class Access : uint8_t { read = 0, write = 1, readWrite = 2 };

/// Runs a kernel of the kernel object. Row-sliced kernels may run on several
/// threads, each with a row range and scratch of its own.
struct KernelLaunch {
  /// Index into Plan::kernels.
  int32_t kernel = 0;
  std::vector<Operand> operands;
  /// One for each operand; equal to the manifest's.
  std::vector<Access> access;
  std::vector<ExprId> scalars;
  /// At least the manifest's scratch times the device's threads; may be absent
  /// when that is zero.
  Operand scratch;
  /// Floating-point operations of the call of a library that the kernel stands
  /// in place of, or its part of them where one call is several launches
  /// (Runtime/Base/LibraryCost.h); 0 of all other kernels. For predictions.
  double operations = 0;
};

/// Calls an op of the library of the plan's target.
struct Library {
  LibraryDescriptor descriptor;
  /// In the descriptor's order, which says what happens to each.
  std::vector<Operand> operands;
  std::vector<Access> access;
  /// Recorded when compiled; a library that asks for more is refused (15).
  int64_t workspaceBytes = 0;
  /// At least `workspaceBytes`; absent when that is 0.
  Operand workspace;
  /// Number of the library's form (`Backend::libraryForms`), as measured.
  int32_t form = 0;
};

/// Among the devices that differ in `axes` only; the first axis is the major
/// one. With the pipeline axis among them, `stages` are the coordinates that
/// take part (in increasing order; member indices count these only).
struct Collective {
  /// Index into Plan::symbols: members match by it, in order.
  int32_t symbol = 0;
  CollectiveKind kind = CollectiveKind::allReduce;
  std::vector<int32_t> axes;
  std::vector<int32_t> stages;
  ReductionKind reduction = ReductionKind::sum;
  int32_t dim = 0;
  int32_t concatDim = 0;
  ExprId peer = noExpr;
  /// Several buffers travel together; input i belongs to output i. An output
  /// may lie exactly on its input (all-reduce) or hold it in its own place
  /// (all-gather), else they are apart.
  std::vector<Operand> inputs;
  std::vector<Operand> outputs;
  /// Of a kind that takes them: [outer..., 4, members x slices] integers of 64
  /// bits, where outer are the input's dims before `dim` (CollectiveKind.h).
  Operand counts;
};

/// A message along the pipeline axis; the other coordinates are equal.
struct Message {
  /// Index into Plan::transfers: ends match by (transfer, microbatch, bytes).
  int32_t transfer = 0;
  /// The stage of the other end.
  ExprId peer = noExpr;
  std::vector<Operand> operands;
};
struct Send {
  Message message;
};
struct Receive {
  Message message;
};
/// All of these at once.
struct Exchange {
  std::vector<Message> sends;
  std::vector<Message> receives;
};

/// Where a copy's other end lies. Indices are those of the running entry.
enum class HostEnd : uint8_t {
  none = 0,   ///< device to device, same element count; strides may differ
  input = 1,  ///< from the device's part of input `index`, this microbatch
  hyper = 2,  ///< from hyper value `index` of this step
  metric = 3, ///< to metric `index` of this step
  fetch = 4,  ///< to fetched value `index` (of this microbatch)
};
struct Copy {
  /// Absent when the target is on the host.
  Operand to;
  /// Absent when the source is on the host.
  Operand from;
  HostEnd host = HostEnd::none;
  int32_t index = 0;
};

/// Every element becomes `pattern`'s low bytes.
struct Fill {
  Operand to;
  uint64_t pattern = 0;
};

struct EventRef {
  int32_t frame = 0;
  int32_t event = 0;
};
struct Signal {
  EventRef event;
};
struct Wait {
  EventRef event;
};

/// Runs a program of a smaller index, in place, with its own bindings.
struct Call {
  int32_t program = 0;
  /// `noExpr`: the caller's.
  ExprId microbatch = noExpr;
  std::vector<ExprId> arguments;
};

/// Runs a program of a smaller index once for each of its trips, in place. The
/// program's first parameter is the trip, counted from 0; the arguments, which
/// are the same in each trip, follow.
struct Loop {
  int64_t trips = 0;
  int32_t program = 0;
  std::vector<ExprId> arguments;
};

/// Runs a program of a smaller index, in place, as long as a flag holds: a
/// boolean that is read before each trip. Program and flag depend on no trip.
struct While {
  Operand flag;
  int32_t program = 0;
};

/// Reserved: the loader refuses it (5).
struct Branch {
  Operand flag;
  int32_t program = 0;
};

/// The order of the alternatives is stored in plan files: append only.
using Action =
    std::variant<KernelLaunch, Library, Collective, Send, Receive, Exchange,
                 Copy, Fill, Signal, Wait, Call, Loop, Branch, While>;

struct Instruction {
  /// Index into Plan::streams (`Call`: ignored).
  int32_t stream = 0;
  /// Index into Plan::locations, or -1.
  int32_t location = -1;
  Action action;
};

/// "kernel", "library", "collective", ...
std::string_view nameOf(const Action &action);
std::string_view nameOf(Access access);
std::string_view nameOf(HostEnd end);

} // namespace llmc::rt::plan

#endif // LLMC_RUNTIME_PLAN_FORMAT_INSTRUCTION_H
