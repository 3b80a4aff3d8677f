//===- ReportData.cpp - The figures of a report ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ReportData.h"

#include "llmc/Runtime/Base/File.h"
#include "llmc/Runtime/Base/Hash.h"
#include "llmc/Runtime/Base/Log.h"
#include "llmc/Runtime/Plan/Format/PlanFile.h"
#include "llmc/Runtime/Plan/Print/PlanPrint.h"
#include "llmc/Runtime/Plan/Print/PlanTraffic.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

namespace llmc::rt::report {

namespace {
using Way = std::tuple<std::string, std::string, bool>;
/// Seconds of a step, predicted and measured.
struct Seconds {
  double predicted = 0, measured = 0;
};
} // namespace

/// In which row of `plan::trafficOf` an instruction counts.
static Way wayOf(const plan::Plan &plan, const plan::Action &action) {
  auto isOne = [](const std::vector<plan::Operand> &operands) {
    return std::all_of(
        operands.begin(), operands.end(),
        [](const plan::Operand &each) { return elementsOf(each) == 1; });
  };
  if (const auto *collective = std::get_if<plan::Collective>(&action)) {
    bool isScalar = !traitsOf(collective->kind).takesCounts &&
                    isOne(collective->inputs.empty() ? collective->outputs
                                                     : collective->inputs);
    return {std::string(nameOf(collective->kind)),
            plan::axisNames(plan.mesh, collective->axes), isScalar};
  }
  std::string pipeline = plan::axisNames(plan.mesh, {plan.mesh.pipelineAxis});
  if (const auto *send = std::get_if<plan::Send>(&action)) {
    return {"send", pipeline, isOne(send->message.operands)};
  }
  if (const auto *receive = std::get_if<plan::Receive>(&action)) {
    return {"receive", pipeline, isOne(receive->message.operands)};
  }
  // Both directions of an exchange take its time.
  return {"send", pipeline, false};
}

std::vector<CommunicationRow> listCommunication(const ReportData &data) {
  std::vector<CommunicationRow> rows;
  for (int64_t stage = 0; stage < data.plan.mesh.numStages(); ++stage) {
    std::map<Way, Seconds> times;
    for (size_t i = 0; i < data.planned.spans.size(); ++i) {
      const plan::PlannedSpan &span = data.planned.spans[i];
      const plan::Action &action = instructionOf(data.plan, span).action;
      if (span.stage == stage && plan::isCommunication(action)) {
        Seconds &seconds = times[wayOf(data.plan, action)];
        seconds.predicted += plan::secondsOf(data.plan, action);
        seconds.measured += data.measured ? data.measured->seconds[i] : 0;
      }
    }
    for (const plan::Traffic &row :
         plan::trafficOf(data.plan, *data.entry, stage)) {
      const Seconds &seconds = times[{row.kind, row.axes, row.isScalar}];
      CommunicationRow made{static_cast<int32_t>(stage),
                            row.kind,
                            row.axes,
                            row.isScalar,
                            row.count,
                            std::max(row.bytesIn, row.bytesOut),
                            seconds.predicted,
                            std::nullopt};
      if (data.measured) {
        made.measured = seconds.measured;
      }
      rows.push_back(std::move(made));
    }
  }
  return rows;
}

std::vector<KernelRow> listKernels(const ReportData &data) {
  std::map<std::pair<std::string, std::string>, KernelRow> rows;
  for (size_t i = 0; i < data.planned.spans.size(); ++i) {
    const plan::PlannedSpan &span = data.planned.spans[i];
    const plan::Instruction &instruction = instructionOf(data.plan, span);
    if (plan::isCommunication(instruction.action)) {
      continue;
    }
    std::string name = nameOfAction(data.plan, instruction.action);
    std::string source = instruction.location >= 0
                             ? data.plan.locations[instruction.location]
                             : "";
    KernelRow &row = rows[{name, source}];
    row.name = name;
    row.source = source;
    ++row.count;
    row.operations += plan::operationsOf(instruction.action);
    row.bytes += plan::bytesOf(instruction.action);
    row.predicted += plan::secondsOf(data.plan, instruction.action);
    if (data.measured) {
      row.measured = row.measured.value_or(0) + data.measured->seconds[i];
    }
  }
  std::vector<KernelRow> list;
  for (auto &[key, row] : rows) {
    list.push_back(std::move(row));
  }
  std::stable_sort(list.begin(), list.end(),
                   [](const KernelRow &a, const KernelRow &b) {
                     return a.measured.value_or(a.predicted) >
                            b.measured.value_or(b.predicted);
                   });
  return list;
}

double idleShare(const ReportData &data,
                 const std::vector<plan::PlannedSpan> &spans, double length,
                 int32_t stage) {
  double busy = 0;
  for (const plan::PlannedSpan &span : spans) {
    bool computes = data.plan.streams[static_cast<size_t>(span.stream)].kind ==
                    plan::StreamKind::compute;
    busy += span.stage == stage && computes ? span.end - span.begin : 0;
  }
  return length > 0 ? std::max(0.0, 1 - busy / length) : 0;
}

static Status findEntry(ReportData &data, const std::string &name) {
  std::string known;
  for (const plan::Entry &entry : data.plan.entries) {
    known += (known.empty() ? "" : ", ") + escape(entry.name);
    if (entry.name == name) {
      data.entry = &entry;
    }
  }
  return data.entry ? Status::success()
                    : makeError(ErrorKind::usage,
                                fmt::format("--entry: expected one of {}, got "
                                            "'{}'",
                                            known, escape(name)));
}

static Status takeRun(ReportData &data, const std::string &path) {
  if (path.empty()) {
    return Status::success();
  }
  LLMC_TRY_ASSIGN(RunRecord run, readRun(path));
  if (!run.planHash.empty() && run.planHash != data.planHash) {
    return makeError(ErrorKind::mismatch,
                     fmt::format("expected a run of plan {}, got one of {}",
                                 data.planHash, escape(run.planHash)))
        .at(path);
  }
  data.run = std::move(run);
  return Status::success();
}

static Status takeTrace(ReportData &data, const std::string &path) {
  if (path.empty()) {
    return Status::success();
  }
  LLMC_TRY_ASSIGN(std::vector<TraceEvent> events, readTrace(path));
  Result<MeasuredStep> matched = matchTrace(data, events);
  LLMC_TRY(matched.status().at(path));
  data.measured = *std::move(matched);
  return Status::success();
}

Result<ReportData> gatherData(const ReportFiles &files) {
  ReportData data;
  std::string path = plan::planFileOf(files.plan);
  LLMC_TRY_ASSIGN(std::string bytes, readFile(path));
  data.planHash = hexDigits(hash64(bytes));
  Result<plan::Plan> parsed = plan::parsePlan(bytes);
  LLMC_TRY(parsed.status().at(path));
  data.plan = *std::move(parsed);
  LLMC_TRY(findEntry(data, files.entry));
  Result<plan::PlannedStep> planned = plan::planStep(data.plan, *data.entry);
  LLMC_TRY(planned.status().at(path));
  data.planned = *std::move(planned);
  LLMC_TRY(takeRun(data, files.run));
  LLMC_TRY(takeTrace(data, files.trace));
  data.memory = traceMemory(data);
  data.communication = listCommunication(data);
  data.kernels = listKernels(data);
  return data;
}

} // namespace llmc::rt::report
