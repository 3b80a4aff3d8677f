//===- StreamOrder.h - Reduced waits between streams ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Programs are lists of instructions on streams; a device runs programs one
// after the other, for some microbatch each. Two accesses to a buffer's slot of
// which one writes must be ordered. A stream is in order; between streams, an
// edge makes one instruction of a program wait for one of the same or another
// program, in every run. The solution has as few edges as it can: without any
// one of them some pair is unordered.
//
//   copy     x = host   |signal 1|
//   compute              |wait 1|  y = f(x)   |free|
//   copy, next microbatch in the slot:         |wait free|  x = host
//
// An event belongs to a slot of a frame; a wait is for its latest signal. Event
// 0, `free`, is set initially: it orders runs that are a slot's reuse apart.
//
// Test: test/Solvers/Streams/StreamOrderTest.cpp
//===----------------------------------------------------------------------===//

#ifndef LLMC_SOLVERS_STREAMS_STREAMORDER_H
#define LLMC_SOLVERS_STREAMS_STREAMORDER_H

#include <cstdint>
#include <string>
#include <vector>

namespace llmc {

struct StreamOrder {
  struct Edge {
    /// The signal stands after `from`, the wait before `to`.
    int32_t fromProgram = 0, fromInstruction = 0;
    int32_t toProgram = 0, toInstruction = 0;
    int32_t frame = 0, event = 0;
  };
  std::vector<Edge> edges;
  /// Of each frame, `free` included.
  std::vector<int32_t> numEvents;
};

struct StreamOrderProblem {
  struct Access {
    int32_t buffer = 0;
    bool writes = false;
  };
  struct Instruction {
    int32_t stream = 0;
    std::vector<Access> accesses;
  };
  using Program = std::vector<Instruction>;
  struct Call {
    int32_t program = 0;
    int64_t microbatch = 0;
  };

  int32_t numStreams = 1;
  /// Slots of each frame; a call uses slot `microbatch mod slots`.
  std::vector<int64_t> slots;
  /// The frame of each buffer.
  std::vector<int32_t> frameOf;
  /// Where buffers lie, when that is known: then accesses to the same bytes are
  /// ordered, whatever buffer they name. Else buffers are apart.
  struct Place {
    int64_t begin = 0, bytes = 0;
    /// From one slot of the frame to the next.
    int64_t stride = 0;
  };
  std::vector<Place> places;
  std::vector<Program> programs;
  /// What one device of each stage runs, in order.
  std::vector<std::vector<Call>> walks;

  std::string check() const;
  /// Empty when every conflict is ordered, and every wait for an event other
  /// than `free` has a signal before it.
  std::string verify(const StreamOrder &order) const;
};

/// The reduced edges, or why there are none: a slot whose reuse depends on
/// several streams. Assumes a checked problem.
struct StreamOrderResult {
  /// A frame whose slots are free only after several streams. An instruction
  /// of one of them at the end of `program`, where the last of them stands,
  /// joins them when it counts as a write of the frame's buffers.
  struct Join {
    int32_t frame = 0, program = 0;
    /// In increasing order.
    std::vector<int32_t> streams;
  };
  StreamOrder order;
  std::string error;
  std::vector<Join> joins;
};
StreamOrderResult reduceWaits(const StreamOrderProblem &problem);

/// The edges of `order` without those that are superfluous one after the other.
/// Assumes that `order` verifies.
StreamOrder pruneWaits(const StreamOrderProblem &problem, StreamOrder order);

} // namespace llmc

#endif // LLMC_SOLVERS_STREAMS_STREAMORDER_H
