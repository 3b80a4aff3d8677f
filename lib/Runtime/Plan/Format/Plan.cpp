//===- Plan.cpp - What every device runs, and where -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Spans of operands, what an instruction touches, memory by kind, names.
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Plan/Format/Plan.h"

#include "llmc/Runtime/Base/CheckedMath.h"
#include "llmc/Runtime/Base/LibraryCost.h"

#include <algorithm>

namespace llmc::rt::plan {

std::optional<int64_t> spanOf(const Operand &operand) {
  Checked elements = checkedProduct(operand.shape);
  if (!elements.valid()) {
    return std::nullopt;
  }
  int64_t size = sizeOf(operand.dtype);
  if (elements.value() == 0) {
    return 0;
  }
  if (operand.strides.empty()) {
    return (elements * size).get();
  }
  Checked last = 0;
  for (size_t i = 0; i < operand.shape.size(); ++i) {
    if (operand.strides[i] < 0) {
      return std::nullopt;
    }
    last = last + Checked(operand.shape[i] - 1) * operand.strides[i];
  }
  return ((last + 1) * size).get();
}

int64_t elementsOf(const Operand &operand) {
  int64_t product = 1;
  for (int64_t size : operand.shape) {
    product *= size;
  }
  return product;
}

bool isContiguous(const Operand &operand) {
  if (operand.strides.empty()) {
    return true;
  }
  int64_t expected = 1;
  for (size_t i = operand.shape.size(); i-- > 0;) {
    if (operand.shape[i] != 1 && operand.strides[i] != expected) {
      return false;
    }
    expected *= operand.shape[i];
  }
  return true;
}

bool hasStage(const std::vector<int32_t> &stages, int64_t stage) {
  return stages.empty() ||
         std::find(stages.begin(), stages.end(), stage) != stages.end();
}

namespace {
/// Lists the operands of each kind of instruction.
struct CollectUses {
  std::vector<OperandUse> uses;

  void add(const Operand &operand, Access access, bool isScratch = false) {
    if (operand.present()) {
      uses.push_back({&operand, access, isScratch});
    }
  }
  void addAll(const std::vector<Operand> &operands, Access access) {
    for (const Operand &operand : operands) {
      add(operand, access);
    }
  }

  void addAll(const std::vector<Operand> &operands,
              const std::vector<Access> &access) {
    for (size_t i = 0; i < operands.size(); ++i) {
      add(operands[i], access[i]);
    }
  }

  void operator()(const KernelLaunch &launch) {
    addAll(launch.operands, launch.access);
    add(launch.scratch, Access::write, true);
  }
  void operator()(const Library &library) {
    addAll(library.operands, library.access);
    add(library.workspace, Access::write, true);
  }
  void operator()(const Collective &collective) {
    addAll(collective.inputs, Access::read);
    add(collective.counts, Access::read);
    addAll(collective.outputs, Access::write);
  }
  void operator()(const Send &send) {
    addAll(send.message.operands, Access::read);
  }
  void operator()(const Receive &receive) {
    addAll(receive.message.operands, Access::write);
  }
  void operator()(const Exchange &exchange) {
    for (const Message &message : exchange.sends) {
      addAll(message.operands, Access::read);
    }
    for (const Message &message : exchange.receives) {
      addAll(message.operands, Access::write);
    }
  }
  void operator()(const Copy &copy) {
    add(copy.from, Access::read);
    add(copy.to, Access::write);
  }
  void operator()(const Fill &fill) { add(fill.to, Access::write); }
  void operator()(const Signal &) {}
  void operator()(const Wait &) {}
  void operator()(const Call &) {}
  void operator()(const Loop &) {}
  void operator()(const Branch &branch) { add(branch.flag, Access::read); }
  void operator()(const While &loop) { add(loop.flag, Access::read); }
};
} // namespace

double operationsOf(const Action &action) {
  if (const auto *launch = std::get_if<KernelLaunch>(&action)) {
    return launch->operations;
  }
  const auto *library = std::get_if<Library>(&action);
  return library ? rt::operationsOf(library->descriptor) : 0;
}

int32_t calleeOf(const Action &action) {
  if (const auto *call = std::get_if<Call>(&action)) {
    return call->program;
  }
  if (const auto *loop = std::get_if<Loop>(&action)) {
    return loop->program;
  }
  const auto *loop = std::get_if<While>(&action);
  return loop ? loop->program : -1;
}

std::vector<OperandUse> usesOf(const Action &action) {
  CollectUses collect;
  std::visit(collect, action);
  return std::move(collect.uses);
}

MemoryReport memoryOf(const Plan &plan, int64_t stage) {
  MemoryReport report;
  for (const Frame &frame : plan.frames) {
    if (hasStage(frame.stages, stage)) {
      int64_t &bytes = report.bytes[static_cast<size_t>(frame.kind)];
      Checked sum = Checked(frame.size) * frame.slots + bytes;
      bytes = sum.valid() ? sum.value() : INT64_MAX;
    }
  }
  report.total = plan.arenas[stage];
  return report;
}

template <size_t n, typename Enum>
static std::string_view pick(const std::string_view (&names)[n], Enum value) {
  auto index = static_cast<size_t>(value);
  return index < n ? names[index] : "unknown";
}

std::string_view nameOf(const Action &action) {
  static constexpr std::string_view names[] = {
      "kernel",   "library", "collective", "send",   "receive",
      "exchange", "copy",    "fill",       "signal", "wait",
      "call",     "loop",    "if",         "while"};
  return names[action.index()];
}

std::string_view nameOf(Access access) {
  static constexpr std::string_view names[] = {"read", "write", "read_write"};
  return pick(names, access);
}

std::string_view nameOf(HostEnd end) {
  static constexpr std::string_view names[] = {"none", "input", "hyper",
                                               "metric", "fetch"};
  return pick(names, end);
}

std::string_view nameOf(StreamKind kind) {
  static constexpr std::string_view names[] = {"compute", "copy", "collective",
                                               "send", "receive"};
  return pick(names, kind);
}

std::string_view nameOf(FrameKind kind) {
  static constexpr std::string_view names[] = {
      "state", "hyper", "step", "act", "bnd", "input", "tmp", "scratch"};
  return pick(names, kind);
}

std::string_view nameOf(Phase phase) {
  static constexpr std::string_view names[] = {
      "other",          "forward",         "backward",
      "backward_input", "backward_weight", "update"};
  return pick(names, phase);
}

std::string_view nameOf(EntryKind kind) {
  static constexpr std::string_view names[] = {"train", "evaluate", "forward"};
  return pick(names, kind);
}

std::string_view nameOf(StateRole role) {
  static constexpr std::string_view names[] = {"parameter", "optimizer",
                                               "carried", "constant"};
  return pick(names, role);
}

} // namespace llmc::rt::plan
