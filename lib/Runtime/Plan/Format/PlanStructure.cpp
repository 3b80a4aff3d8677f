//===- PlanStructure.cpp - Indices, enumerators and sizes -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tables of a plan: every index lies in its table, every enumerator is
// known, sizes are not negative, expressions refer backwards and stay small.
// After this a walk over the plan needs no checks of its own.
//
// Test: test/Runtime/Plan/Format/PlanStructureTest.cpp
//===----------------------------------------------------------------------===//

#include "PlanStructure.h"

#include "llmc/Runtime/Base/CheckedMath.h"
#include "llmc/Runtime/Base/Log.h"
#include "llmc/Runtime/Plan/Format/PlanFile.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <set>

namespace llmc::rt::plan {

Status checkStructure(const Plan &plan) { return StructureCheck(plan).run(); }

static Status malformed(std::string message) {
  return makeError(ErrorKind::malformed, std::move(message));
}

Status StructureCheck::range(std::string_view what, int64_t value, int64_t low,
                             int64_t high) {
  if (value < low || value > high) {
    return malformed(fmt::format("expected {} to be between {} and {}, got {}",
                                 what, low, high, value));
  }
  return Status::success();
}

Status StructureCheck::index(std::string_view what, int64_t value, size_t size,
                             bool optional) {
  if (optional && value == -1) {
    return Status::success();
  }
  if (value < 0 || value >= static_cast<int64_t>(size)) {
    return malformed(fmt::format("expected {} to be an index below {}, got {}",
                                 what, size, value));
  }
  return Status::success();
}

Status StructureCheck::stages(const std::vector<int32_t> &stages) const {
  int64_t last = -1;
  for (int32_t stage : stages) {
    if (stage <= last || stage >= plan_.mesh.numStages()) {
      return malformed(
          fmt::format("expected increasing stages below {}, got {} after {}",
                      plan_.mesh.numStages(), stage, last));
    }
    last = stage;
  }
  return Status::success();
}

Status StructureCheck::expression(std::string_view what, ExprId id,
                                  int32_t parameters, bool optional) const {
  LLMC_TRY(index(what, id, plan_.expressions.size(), optional));
  if (id >= 0 && parametersOf_[id] > parameters) {
    return malformed(fmt::format("expected {} to use parameters below {}, got "
                                 "parameter {}",
                                 what, parameters, parametersOf_[id] - 1));
  }
  return Status::success();
}

Status StructureCheck::operand(std::string_view what, const Operand &operand,
                               bool optional) const {
  LLMC_TRY(index(what, operand.buffer, plan_.buffers.size(), optional));
  if (!operand.present()) {
    return Status::success();
  }
  LLMC_TRY(range("a dtype", static_cast<int>(operand.dtype), 0, numDTypes - 1));
  LLMC_TRY(range("the rank of an operand", operand.shape.size(), 0, 16));
  if (!operand.strides.empty() &&
      operand.strides.size() != operand.shape.size()) {
    return malformed(fmt::format("expected {} strides, got {}",
                                 operand.shape.size(), operand.strides.size()));
  }
  if (operand.offset < 0 || !spanOf(operand)) {
    return malformed(fmt::format(
        "{} has a negative or overflowing offset, shape or stride", what));
  }
  int32_t parameters = program_ < plan_.programs.size()
                           ? plan_.programs[program_].numParameters
                           : 0;
  return expression("the offset of an operand", operand.expr, parameters);
}

Status StructureCheck::operands(std::string_view what,
                                const std::vector<Operand> &list) const {
  for (const Operand &each : list) {
    LLMC_TRY(operand(what, each));
  }
  return Status::success();
}

Status StructureCheck::checkExpressions() {
  constexpr int64_t maxNodes = 1024;
  const ExprTable &table = plan_.expressions;
  // Nodes that an evaluation visits, shared ones counted as often as used.
  std::vector<int64_t> visits(table.size(), 1);
  parametersOf_.assign(table.size(), 0);
  for (size_t i = 0; i < table.size(); ++i) {
    const ExprNode &node = table[i];
    LLMC_TRY(range("an expression's op", static_cast<int>(node.op), 0,
                   numExprOps - 1));
    if (node.op == ExprOp::coordinate) {
      LLMC_TRY(
          index("a coordinate's axis", node.value, plan_.mesh.axes.size()));
    } else if (node.op == ExprOp::parameter) {
      LLMC_TRY(range("a parameter", node.value, 0, 63));
      parametersOf_[i] = static_cast<int32_t>(node.value) + 1;
    } else if (node.op >= ExprOp::add) {
      LLMC_TRY(index("an expression's operand", node.lhs, i));
      LLMC_TRY(index("an expression's operand", node.rhs, i));
      visits[i] += visits[node.lhs] + visits[node.rhs];
      parametersOf_[i] =
          std::max(parametersOf_[node.lhs], parametersOf_[node.rhs]);
    }
    LLMC_TRY(range("the size of an expression", visits[i], 1, maxNodes));
  }
  return Status::success();
}

Status StructureCheck::checkFrames() {
  for (const Frame &frame : plan_.frames) {
    LLMC_TRY(range("a frame's kind", static_cast<int>(frame.kind), 0,
                   numFrameKinds - 1));
    LLMC_TRY(stages(frame.stages));
    LLMC_TRY(range("a frame's offset", frame.offset, 0, INT64_MAX));
    LLMC_TRY(range("a frame's size", frame.size, 0, INT64_MAX));
    LLMC_TRY(range("a frame's slots", frame.slots, 1, 1 << 24));
    LLMC_TRY(range("a frame's events", frame.events, 1, 1 << 20));
    LLMC_TRY(range("a frame's chunk", frame.chunk, -1, 1 << 20));
    LLMC_TRY(expression("a frame's slot", frame.slot, 0));
  }
  for (const Buffer &buffer : plan_.buffers) {
    LLMC_TRY(index("a buffer's frame", buffer.frame, plan_.frames.size()));
    LLMC_TRY(range("a buffer's offset", buffer.offset, 0, INT64_MAX));
    LLMC_TRY(range("a buffer's size", buffer.bytes, 0, INT64_MAX));
    LLMC_TRY(
        index("a location", buffer.location, plan_.locations.size(), true));
  }
  return Status::success();
}

Status StructureCheck::checkKernels() {
  for (const KernelObject &object : plan_.objects) {
    if (object.file.empty() || object.file[0] == '.' ||
        object.file.find_first_of(std::string_view("/\\\0", 3)) !=
            std::string::npos) {
      return malformed(fmt::format("expected a plain file name of a kernel "
                                   "object, got '{}'",
                                   escape(object.file)));
    }
  }
  for (const Kernel &kernel : plan_.kernels) {
    LLMC_TRY(index("a kernel's object", kernel.object, plan_.objects.size()));
  }
  return Status::success();
}

Status StructureCheck::checkProgram(size_t number) {
  const Program &program = plan_.programs[number];
  program_ = number;
  LLMC_TRY(range("a program's phase", static_cast<int>(program.phase), 0,
                 static_cast<int>(Phase::update)));
  LLMC_TRY(range("a program's chunk", program.chunk, -1, 1 << 20));
  LLMC_TRY(range("a program's parameters", program.numParameters, 0, 64));
  for (size_t i = 0; i < program.instructions.size(); ++i) {
    const Instruction &instruction = program.instructions[i];
    Status status = std::visit(
        [&](const auto &action) { return check(action); }, instruction.action);
    if (status.ok()) {
      status = index("a stream", instruction.stream, plan_.streams.size(),
                     calleeOf(instruction.action) >= 0);
    }
    if (status.ok()) {
      status = index("a location", instruction.location, plan_.locations.size(),
                     true);
    }
    if (!status.ok()) {
      return status.inContext(fmt::format("instruction {} of program '{}'", i,
                                          escape(program.name)));
    }
  }
  return Status::success();
}

Status StructureCheck::programs(const std::vector<int32_t> &list) const {
  if (static_cast<int64_t>(list.size()) != plan_.mesh.numStages()) {
    return malformed(fmt::format("expected a program for each of {} stages, "
                                 "got {}",
                                 plan_.mesh.numStages(), list.size()));
  }
  for (int32_t program : list) {
    LLMC_TRY(index("a program", program, plan_.programs.size(), true));
    if (program >= 0) {
      LLMC_TRY(range("the parameters of a program that an entry runs",
                     plan_.programs[program].numParameters, 0, 0));
    }
  }
  return Status::success();
}

template <typename T>
static Status uniqueNames(std::string_view what, const std::vector<T> &table) {
  std::set<std::string_view> names;
  for (const T &each : table) {
    if (!names.insert(each.name).second) {
      return malformed(
          fmt::format("{} '{}' occurs twice", what, escape(each.name)));
    }
  }
  return Status::success();
}

Status StructureCheck::checkEntry(const Entry &entry) {
  LLMC_TRY(range("an entry's kind", static_cast<int>(entry.kind), 0, 2));
  LLMC_TRY(range("the microbatches", entry.numMicrobatches, 1, 1 << 20));
  LLMC_TRY(range("the chunks", entry.numChunks, 0, 1 << 20));
  if (!std::isfinite(entry.modelFlops) || entry.modelFlops < 0) {
    return malformed(fmt::format("expected finite flops of at least 0, got {}",
                                 entry.modelFlops));
  }
  LLMC_TRY(programs(entry.prologue));
  LLMC_TRY(programs(entry.epilogue));
  int64_t numStages = plan_.mesh.numStages();
  if (static_cast<int64_t>(entry.table.size()) % numStages != 0) {
    return malformed(fmt::format("expected rows of {} cells, got {} cells",
                                 numStages, entry.table.size()));
  }
  for (const Cell &cell : entry.table) {
    LLMC_TRY(
        index("a cell's program", cell.program, plan_.programs.size(), true));
    if (cell.program >= 0) {
      LLMC_TRY(
          index("a cell's microbatch", cell.microbatch, entry.numMicrobatches));
      LLMC_TRY(range("the parameters of a program in the table",
                     plan_.programs[cell.program].numParameters, 0, 0));
    }
  }
  LLMC_TRY(uniqueNames("input", entry.inputs));
  LLMC_TRY(uniqueNames("hyper value", entry.hypers));
  LLMC_TRY(uniqueNames("metric", entry.metrics));
  LLMC_TRY(uniqueNames("fetched value", entry.fetches));
  for (const Input &input : entry.inputs) {
    LLMC_TRY(range("an input's dtype", static_cast<int>(input.dtype), 0,
                   numDTypes - 1));
    LLMC_TRY(input.layout.check(plan_.mesh));
    LLMC_TRY(stages(input.stages));
    LLMC_TRY(index("the source of an input", input.source, plan_.sources.size(),
                   true));
    // Sums of an offset and the elements of a sample do not overflow.
    LLMC_TRY(
        range("the offset of an input", input.dataOffset, 0, INT64_MAX / 2));
    LLMC_TRY(range("the limit of an input", input.limit, 0, INT64_MAX));
  }
  for (const Hyper &hyper : entry.hypers) {
    LLMC_TRY(range("a hyper value's dtype", static_cast<int>(hyper.dtype), 0,
                   numDTypes - 1));
    LLMC_TRY(range("a hyper value's rule", static_cast<int>(hyper.rule.kind), 0,
                   static_cast<int>(HyperKind::warmupCosine)));
  }
  for (const Metric &metric : entry.metrics) {
    LLMC_TRY(range("a metric's dtype", static_cast<int>(metric.dtype), 0,
                   numDTypes - 1));
  }
  for (const Fetch &fetch : entry.fetches) {
    LLMC_TRY(range("a fetched value's dtype", static_cast<int>(fetch.dtype), 0,
                   numDTypes - 1));
    LLMC_TRY(fetch.layout.check(plan_.mesh));
    LLMC_TRY(stages(fetch.stages));
    size_t rank = fetch.of.empty() ? 0 : fetch.layout.dims.size();
    if (fetch.origin.size() != rank || fetch.shape.size() != rank) {
      return malformed(fmt::format("expected an origin and a shape of rank {} "
                                   "of fetched value '{}', got "
                                   "{} and {}",
                                   rank, escape(fetch.name),
                                   fetch.origin.size(), fetch.shape.size()));
    }
    if (!(checkedProduct(fetch.shape) * sizeOf(fetch.dtype)).valid()) {
      return malformed("the size of a fetched value overflows");
    }
  }
  return Status::success();
}

Status StructureCheck::checkState(const State &state) {
  LLMC_TRY(range("a state's dtype", static_cast<int>(state.dtype), 0,
                 numDTypes - 1));
  LLMC_TRY(range("a state's role", static_cast<int>(state.role), 0,
                 static_cast<int>(StateRole::constant)));
  LLMC_TRY(
      range("a state's source", static_cast<int>(state.source.kind), 0, 1));
  LLMC_TRY(range("a draw", static_cast<int>(state.source.draw.kind), 0,
                 static_cast<int>(DrawKind::truncatedNormal)));
  LLMC_TRY(index("a state's file", state.source.file, plan_.files.size(),
                 state.source.kind != SourceKind::file));
  LLMC_TRY(range("a file offset", state.source.offset, 0, INT64_MAX));
  LLMC_TRY(range("a file's dtype",
                 static_cast<int>(state.source.dtype.value_or(state.dtype)), 0,
                 numDTypes - 1));
  LLMC_TRY(range("the rank of a state", state.shape.size(), 0, 16));
  if (!(checkedProduct(state.shape) * sizeOf(state.dtype)).valid()) {
    return malformed("the size of a state overflows");
  }
  LLMC_TRY(range("the parts of a state", state.parts.size(), 1, 4096));
  for (const StatePart &part : state.parts) {
    LLMC_TRY(part.layout.check(plan_.mesh));
    LLMC_TRY(stages(part.stages));
    LLMC_TRY(operand("the place of a state", part.place));
    if (part.origin.size() != state.shape.size() ||
        part.layout.dims.size() != state.shape.size()) {
      return malformed(fmt::format("expected a part of rank {}, got {}",
                                   state.shape.size(), part.origin.size()));
    }
    if (part.place.shape != part.layout.localShape(plan_.mesh) ||
        part.place.dtype != state.dtype || part.place.expr != noExpr) {
      return malformed(
          "expected the place of a part to have the local shape of "
          "its layout, the state's dtype and no expression");
    }
  }
  return Status::success();
}

const Entry *findCounting(const Plan &plan, const Entry &entry) {
  for (const Entry &other : plan.entries) {
    if (!other.counts.empty() && other.counts == entry.name) {
      return &other;
    }
  }
  return nullptr;
}

/// What counts has one microbatch, inputs that the counted entry has, and its
/// external values as metrics.
Status StructureCheck::checkCounting(const Entry &counting) {
  const Entry *found = nullptr;
  for (const Entry &other : plan_.entries) {
    if (other.name == counting.counts && other.counts.empty()) {
      found = &other;
    }
  }
  if (!found) {
    return malformed(fmt::format("expected entry '{}' for which entry '{}' "
                                 "counts, got none",
                                 escape(counting.counts),
                                 escape(counting.name)));
  }
  const Entry &entry = *found;
  if (const Entry *first = findCounting(plan_, entry); first != &counting) {
    return malformed(fmt::format("expected one entry that counts for '{}', got "
                                 "'{}' and '{}'",
                                 escape(entry.name), escape(first->name),
                                 escape(counting.name)));
  }
  LLMC_TRY(range("the microbatches of an entry that counts",
                 counting.numMicrobatches, 1, 1));
  for (const Input &input : counting.inputs) {
    bool isFound = false;
    for (const Input &other : entry.inputs) {
      isFound |= other.name == input.name && other.dtype == input.dtype &&
                 other.layout.globalShape() == input.layout.globalShape();
    }
    if (!isFound) {
      return malformed(fmt::format("expected input '{}' of entry '{}' in entry "
                                   "'{}', with its shape",
                                   escape(input.name), escape(counting.name),
                                   escape(entry.name)));
    }
  }
  for (const Metric &metric : counting.metrics) {
    bool isFound = false;
    for (const Hyper &hyper : entry.hypers) {
      isFound |=
          hyper.name == metric.name && hyper.rule.kind == HyperKind::external;
    }
    if (!isFound) {
      return malformed(fmt::format("expected metric '{}' of entry '{}' among "
                                   "the external values of entry '{}'",
                                   escape(metric.name), escape(counting.name),
                                   escape(entry.name)));
    }
  }
  return Status::success();
}

/// Reports divide by these numbers.
Status StructureCheck::checkMachine() const {
  const Machine &machine = plan_.machine;
  auto isNumber = [](double value, bool mayBeZero = true) {
    return std::isfinite(value) && (mayBeZero ? value >= 0 : value > 0);
  };
  if (!isNumber(machine.flops) || !isNumber(machine.memory) ||
      !isNumber(machine.memoryBandwidth)) {
    return malformed("expected finite numbers of at least 0 of the machine");
  }
  for (const MachineLink &link : machine.links) {
    if (!isNumber(link.latency) || !isNumber(link.bandwidth, false)) {
      return malformed(fmt::format("expected a latency of at least 0 and a "
                                   "positive bandwidth of link '{}', got {} "
                                   "and {}",
                                   escape(link.name), link.latency,
                                   link.bandwidth));
    }
  }
  for (const MachineRate &rate : machine.rates) {
    if (!isNumber(rate.flops, false)) {
      return malformed(fmt::format("expected a positive rate of products of "
                                   "'{}', got {}",
                                   escape(rate.type), rate.flops));
    }
  }
  size_t axes = machine.links.empty() ? 0 : plan_.mesh.axes.size();
  LLMC_TRY(range("the number of axes with a link", machine.axisLinks.size(),
                 axes, axes));
  for (int32_t link : machine.axisLinks) {
    LLMC_TRY(index("the link of an axis", link, machine.links.size()));
  }
  return Status::success();
}

Status StructureCheck::run() {
  LLMC_TRY(plan_.mesh.check());
  LLMC_TRY(checkMachine());
  if (plan_.target.empty()) {
    return makeError(ErrorKind::malformed, "expected the name of a target");
  }
  LLMC_TRY(range("the number of stages", plan_.mesh.numStages(), 1, 1 << 16));
  LLMC_TRY(range("the number of arenas", plan_.arenas.size(),
                 plan_.mesh.numStages(), plan_.mesh.numStages()));
  for (int64_t bytes : plan_.arenas) {
    LLMC_TRY(range("the size of an arena", bytes, 0, INT64_MAX));
  }
  LLMC_TRY(range("the number of threads", plan_.threads, 1, 4096));
  for (const Stream &stream : plan_.streams) {
    LLMC_TRY(range("a stream's kind", static_cast<int>(stream.kind), 0,
                   static_cast<int>(StreamKind::receive)));
  }
  LLMC_TRY(checkExpressions());
  LLMC_TRY(checkFrames());
  LLMC_TRY(checkKernels());
  for (size_t i = 0; i < plan_.programs.size(); ++i) {
    LLMC_TRY(checkProgram(i));
  }
  program_ = plan_.programs.size();
  LLMC_TRY(uniqueNames("source", plan_.sources));
  for (const DataSource &source : plan_.sources) {
    LLMC_TRY(range("a source's kind", static_cast<int>(source.rule.kind), 0,
                   numDataKinds - 1));
    LLMC_TRY(range("a source's dtype", static_cast<int>(source.rule.dtype), 0,
                   numDTypes - 1));
    if (std::string_view fault = faultOf(source.rule); !fault.empty()) {
      return malformed("source '" + escape(source.name) +
                       "': " + std::string(fault));
    }
  }
  LLMC_TRY(uniqueNames("entry", plan_.entries));
  for (const Entry &entry : plan_.entries) {
    LLMC_TRY(checkEntry(entry).inContext("entry '" + escape(entry.name) + "'"));
  }
  for (const Entry &entry : plan_.entries) {
    if (!entry.counts.empty()) {
      LLMC_TRY(checkCounting(entry));
    }
  }
  LLMC_TRY(uniqueNames("state", plan_.states));
  for (const State &state : plan_.states) {
    LLMC_TRY(checkState(state).inContext("state '" + escape(state.name) + "'"));
  }
  return Status::success();
}

} // namespace llmc::rt::plan
