//===- PlanTraffic.cpp - What a device communicates in a step -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Plan/Print/PlanTraffic.h"

#include <algorithm>
#include <map>
#include <optional>
#include <tuple>

namespace llmc::rt::plan {

namespace {

class Counter {
public:
  Counter(const Plan &plan, bool byPlace) : plan_(plan), byPlace_(byPlace) {}

  void visit(int32_t program, int64_t times = 1);
  std::vector<Traffic> take() const;
  double operations() const { return operations_; }

private:
  void add(std::string_view kind, const std::vector<int32_t> &axes,
           const std::vector<Operand> &in, const std::vector<Operand> &out);
  void visit(const Action &action, int64_t times);

  const Plan &plan_;
  bool byPlace_;
  /// Of the instruction that is visited; -1 where places do not count.
  int32_t location_ = -1;
  /// How often what is visited runs.
  int64_t times_ = 1;
  /// Whiles around it.
  int open_ = 0;
  double operations_ = 0;
  std::map<std::tuple<std::string, std::string, bool, int32_t, int32_t>,
           Traffic>
      rows_;
};

} // namespace

/// "t" of "t:(1)2", the name of a part of an axis.
static std::string_view wholeName(const MeshAxis &axis) {
  return std::string_view(axis.name).substr(0, axis.name.rfind(":("));
}

/// How many axes from `first` on are all parts of one axis of the user's.
static size_t countParts(const Mesh &mesh, const std::vector<int32_t> &axes,
                         size_t first) {
  std::string_view name = wholeName(mesh.axes[axes[first]]);
  size_t found = 0;
  for (size_t axis = 0; axis < mesh.axes.size(); ++axis) {
    if (wholeName(mesh.axes[axis]) != name) {
      continue;
    }
    size_t at = first + found++;
    if (at >= axes.size() || axes[at] != static_cast<int32_t>(axis)) {
      return 0;
    }
  }
  return found;
}

std::string axisNames(const Mesh &mesh, const std::vector<int32_t> &axes) {
  std::string names;
  for (size_t i = 0; i < axes.size();) {
    size_t parts = countParts(mesh, axes, i);
    const MeshAxis &axis = mesh.axes[axes[i]];
    names += names.empty() ? "" : " ";
    names += parts > 0 ? wholeName(axis) : std::string_view(axis.name);
    i += std::max<size_t>(parts, 1);
  }
  return names;
}

static uint64_t bytesOf(const std::vector<Operand> &operands) {
  uint64_t bytes = 0;
  for (const Operand &each : operands) {
    bytes += uint64_t(elementsOf(each)) * sizeOf(each.dtype);
  }
  return bytes;
}

void Counter::add(std::string_view kind, const std::vector<int32_t> &axes,
                  const std::vector<Operand> &in,
                  const std::vector<Operand> &out) {
  std::string names = axisNames(plan_.mesh, axes);
  std::optional<CollectiveKind> known = collectiveNamed(kind);
  bool isScalar = !known || !traitsOf(*known).takesCounts;
  for (const Operand &each : in.empty() ? out : in) {
    isScalar &= elementsOf(each) == 1;
  }
  const std::vector<Operand> &moved = in.empty() ? out : in;
  int32_t buffer =
      byPlace_ && location_ < 0 && !moved.empty() ? moved.front().buffer : -1;
  Traffic &row = rows_[{std::string(kind), names, isScalar, location_, buffer}];
  row.buffer = buffer;
  row.location = location_;
  row.axisNumbers = axes;
  row.kind = kind;
  row.axes = names;
  row.isScalar = isScalar;
  row.count += times_;
  row.bytesIn += times_ * bytesOf(in);
  row.bytesOut += times_ * bytesOf(out);
  row.isOpen |= open_ > 0;
}

void Counter::visit(const Action &action, int64_t times) {
  times_ = times;
  std::vector<int32_t> pipeline = {plan_.mesh.pipelineAxis};
  operations_ += static_cast<double>(times) * operationsOf(action);
  if (const auto *collective = std::get_if<Collective>(&action)) {
    add(nameOf(collective->kind), collective->axes, collective->inputs,
        collective->outputs);
  } else if (const auto *send = std::get_if<Send>(&action)) {
    add("send", pipeline, send->message.operands, {});
  } else if (const auto *receive = std::get_if<Receive>(&action)) {
    add("receive", pipeline, {}, receive->message.operands);
  } else if (const auto *exchange = std::get_if<Exchange>(&action)) {
    for (const Message &message : exchange->sends) {
      add("send", pipeline, message.operands, {});
    }
    for (const Message &message : exchange->receives) {
      add("receive", pipeline, {}, message.operands);
    }
  } else if (const auto *call = std::get_if<Call>(&action)) {
    visit(call->program, times);
  } else if (const auto *loop = std::get_if<Loop>(&action)) {
    visit(loop->program, times * loop->trips);
  } else if (const auto *loop = std::get_if<While>(&action)) {
    ++open_;
    visit(loop->program, times);
    --open_;
  }
}

void Counter::visit(int32_t program, int64_t times) {
  if (program < 0) {
    return;
  }
  for (const Instruction &each : plan_.programs[program].instructions) {
    location_ = byPlace_ ? each.location : -1;
    visit(each.action, times);
  }
}

std::vector<Traffic> Counter::take() const {
  std::vector<Traffic> rows;
  for (const auto &[key, row] : rows_) {
    rows.push_back(row);
  }
  return rows;
}

/// All that the stage runs in the entry.
static Counter countAll(const Plan &plan, const Entry &entry, int64_t stage,
                        bool byPlace) {
  Counter counter(plan, byPlace);
  counter.visit(entry.prologue[stage]);
  counter.visit(entry.epilogue[stage]);
  auto numStages = static_cast<size_t>(plan.mesh.numStages());
  for (size_t at = stage; at < entry.table.size(); at += numStages) {
    counter.visit(entry.table[at].program);
  }
  return counter;
}

std::vector<Traffic> trafficOf(const Plan &plan, const Entry &entry,
                               int64_t stage) {
  return countAll(plan, entry, stage, false).take();
}

std::vector<Traffic> trafficByPlace(const Plan &plan, const Entry &entry,
                                    int64_t stage) {
  return countAll(plan, entry, stage, true).take();
}

double workOf(const Plan &plan, const Entry &entry, int64_t stage) {
  return countAll(plan, entry, stage, false).operations();
}

} // namespace llmc::rt::plan
