//===- PageData.cpp - The figures of a report as JSON ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Page.h"

#include "llmc/Runtime/Base/Log.h"
#include "llmc/Runtime/Plan/Print/PlanPrint.h"

#include <nlohmann/json.hpp>

#include <cmath>

namespace llmc::rt::report {

using Ordered = nlohmann::ordered_json;

/// Long names are shortened, as in the tables.
static std::string shorten(const std::string &name) {
  constexpr size_t longest = 200;
  return escape(name, longest);
}

static Ordered numberOf(const std::optional<double> &value) {
  return value && std::isfinite(*value) ? Ordered(*value) : Ordered();
}

static Ordered describePlan(const ReportData &data) {
  const plan::Plan &plan = data.plan;
  Ordered mesh = Ordered::object();
  for (const MeshAxis &axis : plan.mesh.axes) {
    mesh[shorten(axis.name)] = axis.size;
  }
  return {{"name", shorten(plan.name)},
          {"hash", data.planHash},
          {"entry", shorten(data.entry->name)},
          {"mesh", mesh},
          {"devices", plan.mesh.numDevices()},
          {"stages", plan.mesh.numStages()},
          {"microbatches", data.entry->numMicrobatches},
          {"model_flops", data.entry->modelFlops},
          {"machine_flops", plan.machine.flops}};
}

static Ordered listMemory(const ReportData &data) {
  Ordered stages = Ordered::array();
  for (const StageMemory &memory : data.memory) {
    Ordered kinds = Ordered::object(), live = Ordered::object();
    for (int kind = 0; kind < plan::numFrameKinds; ++kind) {
      std::string name(nameOf(static_cast<plan::FrameKind>(kind)));
      kinds[name] = memory.reserved.bytes[kind];
      int64_t most = 0;
      for (const MemoryPoint &point : memory.points) {
        most = std::max(most, point.bytes[kind]);
      }
      live[name] = most;
    }
    stages.push_back({{"reserved", memory.reserved.total},
                      {"peak", memory.peak},
                      {"kinds", kinds},
                      {"most_live", live}});
  }
  return stages;
}

static Ordered listCommunicated(const ReportData &data) {
  Ordered rows = Ordered::array();
  for (const CommunicationRow &row : data.communication) {
    rows.push_back({{"stage", row.stage},
                    {"kind", row.kind},
                    {"axes", shorten(row.axes)},
                    {"scalar", row.isScalar},
                    {"count", row.count},
                    {"bytes", row.bytes},
                    {"predicted_seconds", row.predicted},
                    {"measured_seconds", numberOf(row.measured)}});
  }
  return rows;
}

static Ordered listDearest(const ReportData &data) {
  constexpr size_t most = 100;
  Ordered rows = Ordered::array();
  for (size_t i = 0; i < std::min(most, data.kernels.size()); ++i) {
    const KernelRow &row = data.kernels[i];
    rows.push_back({{"name", shorten(row.name)},
                    {"source", shorten(row.source)},
                    {"count", row.count},
                    {"operations", row.operations},
                    {"bytes", row.bytes},
                    {"predicted_seconds", row.predicted},
                    {"measured_seconds", numberOf(row.measured)}});
  }
  return rows;
}

static Ordered listIdle(const ReportData &data,
                        const std::vector<plan::PlannedSpan> &spans,
                        double length) {
  Ordered shares = Ordered::array();
  for (int64_t stage = 0; stage < data.plan.mesh.numStages(); ++stage) {
    shares.push_back(
        idleShare(data, spans, length, static_cast<int32_t>(stage)));
  }
  return shares;
}

static Ordered describeSteps(const ReportData &data) {
  Ordered steps = {{"predicted_seconds", data.planned.seconds},
                   {"predicted_exposed_seconds", data.planned.exposed},
                   {"predicted_idle",
                    listIdle(data, data.planned.spans, data.planned.seconds)},
                   {"measured_steps", nullptr},
                   {"measured_seconds", nullptr},
                   {"measured_idle", nullptr}};
  if (data.measured) {
    steps["measured_steps"] = data.measured->steps;
    steps["measured_seconds"] = data.measured->length;
    steps["measured_idle"] =
        listIdle(data, data.measured->last, data.measured->length);
  }
  return steps;
}

static Ordered listRun(const std::vector<StepRecord> &records) {
  Ordered rows = Ordered::array();
  for (const StepRecord &record : records) {
    Ordered row = {{"step", record.step}};
    for (const auto &[name, value] : record.values) {
      row[shorten(name)] = numberOf(value);
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

static Ordered listParameters(const plan::Plan &plan) {
  Ordered rows = Ordered::array();
  for (const plan::State &state : plan.states) {
    if (state.role != plan::StateRole::parameter) {
      continue;
    }
    Ordered layouts = Ordered::array();
    for (const plan::StatePart &part : state.parts) {
      layouts.push_back(shorten(part.layout.describe(plan.mesh)));
    }
    rows.push_back({{"name", shorten(state.name)},
                    {"shape", state.shape},
                    {"layouts", layouts}});
  }
  return rows;
}

std::string printData(const ReportData &data) {
  Ordered json = {{"plan", describePlan(data)},
                  {"step", describeSteps(data)},
                  {"memory", listMemory(data)},
                  {"communication", listCommunicated(data)},
                  {"kernels", listDearest(data)},
                  {"parameters", listParameters(data.plan)},
                  {"run", nullptr},
                  {"evaluations", nullptr}};
  if (data.run) {
    json["run"] = listRun(data.run->steps);
    json["evaluations"] = listRun(data.run->evaluations);
  }
  std::string text =
                  json.dump(-1, ' ', false, Ordered::error_handler_t::replace),
              safe;
  // In strings alone: JSON has none of it elsewhere.
  for (char c : text) {
    safe += c == '<' ? "\\u003c" : c == '>' ? "\\u003e" : std::string(1, c);
  }
  return safe;
}

} // namespace llmc::rt::report
