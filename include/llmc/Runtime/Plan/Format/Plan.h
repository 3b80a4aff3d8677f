//===- Plan.h - What every device runs, and where ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A plan is data: entries over persistent states, as programs whose every
// buffer has its place. The compiler fills these structs, the writer stores
// them, the loader checks them, the executor walks them:
//
//   entry:  prologue[stage]; for each row of the table, for each stage with a
//           cell: program(cell), microbatch(cell); epilogue[stage]
//
// One plan serves all devices: what depends on the device is an expression over
// its mesh coordinates, and the stage (pipeline coordinate) selects programs.
// Nothing grows with the other axes, and only table cells (8 bytes each) grow
// with the number of microbatches.
//
// Test: test/Runtime/Plan/
//===----------------------------------------------------------------------===//

#ifndef LLMC_RUNTIME_PLAN_FORMAT_PLAN_H
#define LLMC_RUNTIME_PLAN_FORMAT_PLAN_H

#include "llmc/Runtime/Base/Random.h"
#include "llmc/Runtime/Layout/Layout.h"
#include "llmc/Runtime/Plan/Format/Entry.h"
#include "llmc/Runtime/Plan/Format/Instruction.h"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace llmc::rt::plan {

inline constexpr uint32_t formatVersion = 13;
/// Of arenas, frames, slots and buffers, in bytes.
inline constexpr int64_t alignment = 64;

enum class StreamKind : uint8_t {
  compute = 0,
  copy = 1,
  collective = 2,
  send = 3,
  receive = 4,
};
struct Stream {
  std::string name;
  StreamKind kind = StreamKind::compute;
  /// Ready heads of greater priority run first.
  int32_t priority = 0;
};

/// What a frame holds; memory is reported by it.
enum class FrameKind : uint8_t {
  state = 0,   ///< lives across steps
  hyper = 1,   ///< scalars of the step
  step = 2,    ///< accumulators, sums and metrics of one step
  act = 3,     ///< from the forward to the backward of a chunk
  bnd = 4,     ///< across a transfer
  input = 5,   ///< data of a microbatch
  tmp = 6,     ///< within one call
  scratch = 7, ///< of libraries and kernels: contents never survive
};
inline constexpr int numFrameKinds = 8;

/// A place for buffers, bound to one of its slots by each call.
struct Frame {
  std::string name;
  FrameKind kind = FrameKind::tmp;
  /// The stages that have it, in increasing order; empty: all.
  std::vector<int32_t> stages;
  /// Of slot 0 in the arena; slots follow each other `size` bytes apart.
  int64_t offset = 0;
  int64_t size = 0;
  int32_t slots = 1;
  /// Over coordinates and the microbatch; `noExpr`: slot 0.
  ExprId slot = noExpr;
  /// Events of each slot; number 0 is `free`.
  int32_t events = 1;
  /// Of `act` frames: the chunk whose in-flight microbatches it holds, or -1.
  int32_t chunk = -1;
};

struct Buffer {
  int32_t frame = 0;
  int64_t offset = 0;
  int64_t bytes = 0;
  /// Debug information, "" without.
  std::string name;
  /// Index into Plan::locations, or -1.
  int32_t location = -1;
};

enum class Phase : uint8_t {
  other = 0, ///< prologue, or called by another program
  forward = 1,
  backward = 2, ///< backwardInput and backwardWeight together
  backwardInput = 3,
  backwardWeight = 4,
  update = 5,
};

struct Program {
  std::string name;
  Phase phase = Phase::other;
  int32_t chunk = -1;
  /// Bound by `Call`; 0 for what entries run.
  int32_t numParameters = 0;
  std::vector<Instruction> instructions;
};

enum class StateRole : uint8_t {
  parameter = 0,
  optimizer = 1,
  carried = 2,
  constant = 3,
};
enum class SourceKind : uint8_t { draw = 0, file = 1 };

/// Where the initial value comes from.
struct Source {
  SourceKind kind = SourceKind::draw;
  Draw draw;
  /// Of `file`: index into Plan::files, the tensor's name in it (safetensors),
  /// or "" and the byte offset of raw row-major data, of `dtype` where that is
  /// not the state's.
  int32_t file = -1;
  std::string tensor;
  int64_t offset = 0;
  std::optional<DType> dtype = std::nullopt;
};

/// A box of the whole tensor, stored by some stages in some layout.
struct StatePart {
  /// The part's first element in the whole tensor; the layout's sizes are the
  /// part's shape.
  std::vector<int64_t> origin;
  Layout layout;
  /// In increasing order; empty: all.
  std::vector<int32_t> stages;
  /// The device's local shape, padding included.
  Operand place;
};

struct State {
  std::string name;
  std::vector<int64_t> shape;
  DType dtype = DType::f32;
  StateRole role = StateRole::parameter;
  /// The parameter that an optimizer state belongs to, else "".
  std::string of;
  Source source;
  /// Together they tile the tensor; equal boxes are copies.
  std::vector<StatePart> parts;
};

/// A shared object (or cubin) beside the plan.
struct KernelObject {
  /// A plain file name.
  std::string file;
  /// hash64 of its bytes.
  uint64_t hash = 0;
  /// Processor features that it needs, as in /proc/cpuinfo.
  std::vector<std::string> features;
};
struct Kernel {
  /// Symbol in the object and row of its manifest.
  std::string name;
  int32_t object = 0;
};

/// A class of links: seconds for each message, bytes a second that a device
/// receives.
struct MachineLink {
  std::string name;
  double latency = 0;
  double bandwidth = 1;
};

/// Operations a second of products, by the type of their factors
/// (LibraryCost.h).
struct MachineRate {
  std::string type;
  double flops = 0;
};

/// What the configuration says of the machine: for reports, no part of what
/// runs. Of one device; 0: unknown.
struct Machine {
  double flops = 0;
  double memory = 0; ///< Bytes.
  double memoryBandwidth = 0;
  std::vector<MachineLink> links;
  /// By mesh axis an index into `links`; empty with them.
  std::vector<int32_t> axisLinks;
  /// Of types whose products take others than `flops`.
  std::vector<MachineRate> rates;
};

struct Plan {
  std::string name;
  /// The tool that made it, for the user.
  std::string producer;
  /// What runs it: the name of a backend.
  std::string target = "cpu";
  uint64_t seed = 0;
  Mesh mesh;
  Machine machine;
  std::vector<Stream> streams;
  ExprTable expressions;
  std::vector<Frame> frames;
  std::vector<Buffer> buffers;
  /// Names of collectives and transfers.
  std::vector<std::string> symbols;
  std::vector<std::string> transfers;
  std::vector<KernelObject> objects;
  std::vector<Kernel> kernels;
  std::vector<Program> programs;
  std::vector<DataSource> sources;
  std::vector<Entry> entries;
  std::vector<State> states;
  /// Files of initial values, relative to the plan's folder.
  std::vector<std::string> files;
  /// Source locations, for reports.
  std::vector<std::string> locations;
  /// Bytes of each stage's arena.
  std::vector<int64_t> arenas;
  /// That a device's kernels and libraries use.
  int32_t threads = 1;
};

/// Bytes of the operand from its first to the end of its last element. Absent
/// on overflow or a negative number.
std::optional<int64_t> spanOf(const Operand &operand);
/// Number of elements; assumes a checked operand.
int64_t elementsOf(const Operand &operand);
/// True when the elements lie side by side in row-major order.
bool isContiguous(const Operand &operand);

/// An empty list of stages means all of them.
bool hasStage(const std::vector<int32_t> &stages, int64_t stage);

/// One operand of an instruction and what happens to it. Absent operands and
/// scratch are left out (scratch: kind `write`, `isScratch`).
struct OperandUse {
  const Operand *operand;
  Access access;
  bool isScratch;
};
std::vector<OperandUse> usesOf(const Action &action);

/// Floating-point operations of a call of a library, or of the kernel that
/// stands in place of one; 0 of all else.
double operationsOf(const Action &action);

/// The program that the action runs in place, once or in each trip; -1: none.
int32_t calleeOf(const Action &action);

/// Predicted bytes of a stage's frames by kind (slots included); `total` is its
/// arena, so the rest is alignment between frames.
struct MemoryReport {
  std::array<int64_t, numFrameKinds> bytes = {};
  int64_t total = 0;
};
MemoryReport memoryOf(const Plan &plan, int64_t stage);

std::string_view nameOf(StreamKind kind);
std::string_view nameOf(FrameKind kind);
std::string_view nameOf(Phase phase);
std::string_view nameOf(EntryKind kind);
std::string_view nameOf(StateRole role);

} // namespace llmc::rt::plan

#endif // LLMC_RUNTIME_PLAN_FORMAT_PLAN_H
