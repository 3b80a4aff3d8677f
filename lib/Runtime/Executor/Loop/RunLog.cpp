//===- RunLog.cpp - What a run writes down --------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RunLog.h"

#include "llmc/Runtime/Base/Json.h"
#include "llmc/Runtime/Base/Names.h"
#include "llmc/Runtime/Base/Version.h"

#include <fmt/format.h>

#include <chrono>
#include <cmath>

namespace llmc::rt::exec {

static std::string jsonNumber(double value) {
  return std::isfinite(value) ? fmt::format("{:.17g}", value) : "null";
}

static std::string jsonNumber(const std::optional<double> &value) {
  return value ? jsonNumber(*value) : "null";
}

/// Microseconds since 1970.
static int64_t timeNow() {
  return std::chrono::duration_cast<std::chrono::microseconds>(
             std::chrono::system_clock::now().time_since_epoch())
      .count();
}

Status RunLog::open(bool goesOn) {
  if (!options.logFile.empty()) {
    LLMC_TRY_ASSIGN(AppendFile file, AppendFile::open(options.logFile, goesOn));
    log.emplace(std::move(file));
  }
  if (!options.eventFile.empty()) {
    LLMC_TRY_ASSIGN(AppendFile file,
                    AppendFile::open(options.eventFile, goesOn));
    events.emplace(std::move(file));
  }
  if (!options.boardFolder.empty()) {
    LLMC_TRY_ASSIGN(auto file,
                    tensorboard::EventFile::create(options.boardFolder));
    board.emplace(std::move(file));
  }
  return Status::success();
}

template <typename File>
void RunLog::check(std::optional<File> &file, Status status) {
  if (!status.ok()) {
    // Closed first: what is said of it goes to the others.
    file.reset();
    warning(describe(status.error()) + "; the run goes on without this file");
  }
}

void RunLog::warning(const std::string &text) {
  warn(text);
  event("warning", fmt::format("\"text\": {}", quoteAsJson(text)));
}

void RunLog::event(const std::string &kind, const std::string &fields) {
  if (events) {
    check(events,
          events->append(fmt::format(
              "{{\"event\": \"{}\", \"time_us\": {}, \"rank\": {}, {}}}\n",
              kind, timeNow(), session.process(), fields)));
  }
}

/// Of a step, or an evaluation.
void RunLog::logLine(const std::string &fields) {
  if (log) {
    check(log,
          log->append(fmt::format("{{{}, \"time_us\": {}, \"rank\": {}}}\n",
                                  fields, timeNow(), session.process())));
  }
}

static std::string printMesh(const Mesh &mesh) {
  std::string text;
  for (const MeshAxis &axis : mesh.axes) {
    text += fmt::format("{}{}: {}", text.empty() ? "" : ", ",
                        quoteAsJson(axis.name), axis.size);
  }
  return "{" + text + "}";
}

void RunLog::begin(const plan::Entry &entry, const StepWork &work,
                   int64_t firstStep, int64_t steps) {
  const plan::Plan &plan = session.plan();
  std::vector<int64_t> bytes = plan.arenas;
  event("run",
        fmt::format(
            "\"llmc\": \"{}\", \"plan_format\": {}, \"plan\": {}, \"mesh\": "
            "{}, \"devices\": {}, \"microbatches\": {}, \"seed\": {}, "
            "\"entry\": {}, \"first_step\": {}, \"steps\": {}, \"{}\": {}, "
            "\"model_flops\": {}, \"machine_flops\": {}, \"predicted_bytes\": "
            "[{}]",
            version, plan::formatVersion, quoteAsJson(options.planHash),
            printMesh(plan.mesh), plan.mesh.numDevices(), entry.numMicrobatches,
            session.seed(), quoteAsJson(options.entry), firstStep, steps,
            work.size.isTokens ? "tokens" : "samples", work.size.count,
            jsonNumber(entry.modelFlops), jsonNumber(plan.machine.flops),
            fmt::join(bytes, ", ")));
}

/// The model's own metrics may have any name; ours stand beside them.
static std::string printMetrics(const std::vector<NamedValue> &metrics) {
  std::string line, users;
  for (const NamedValue &metric : metrics) {
    bool ours = isOurs(metric.name);
    (ours ? line : users) += fmt::format(
        "{}{}: {}", ours || !users.empty() ? ", " : "",
        quoteAsJson(unescapeName(metric.name)), jsonNumber(metric.value));
  }
  return users.empty() ? line
                       : line + fmt::format(", \"metrics\": {{{}}}", users);
}

/// A name that a user's metric shares with none of ours.
static std::string boardName(std::string_view name) {
  return (isOurs(name) ? "" : "metrics/") + unescapeName(name);
}

void RunLog::step(const StepWork &work, const StepFacts &facts) {
  std::string line = fmt::format("\"entry\": {}, \"step\": {}",
                                 quoteAsJson(options.entry), facts.step) +
                     printMetrics(session.metrics());
  double rate = work.rate(facts.time);
  line += fmt::format(
      ", \"seconds\": {}, \"data_seconds\": {}, \"{}\": {}, \"mfu\": {}, "
      "\"exposed_seconds\": {}",
      jsonNumber(facts.time.seconds), jsonNumber(facts.dataSeconds),
      work.size.isTokens ? "tps" : "sps", jsonNumber(rate),
      jsonNumber(work.utilisation(facts.time)), jsonNumber(facts.time.exposed));
  if (facts.epochs) {
    line += fmt::format(", \"epoch\": {}", jsonNumber(*facts.epochs));
  }
  logLine(line);
  event("step", line);
  if (!board) {
    return;
  }
  tensorboard::Scalars scalars;
  for (const NamedValue &metric : session.metrics()) {
    scalars.emplace_back(boardName(metric.name), metric.value);
  }
  scalars.emplace_back("step_seconds", facts.time.seconds);
  if (work.size.count > 0) {
    scalars.emplace_back(work.size.isTokens ? "tps" : "sps", rate);
  }
  if (auto mfu = work.utilisation(facts.time)) {
    scalars.emplace_back("mfu", *mfu);
  }
  if (auto share = exposedShare(facts.time)) {
    scalars.emplace_back("comm", *share);
  }
  check(board, board->add(facts.step, scalars));
}

void RunLog::evaluate(const Evaluated &evaluated) {
  std::string line =
      fmt::format("\"entry\": {}, \"step\": {}", quoteAsJson(evaluated.entry),
                  evaluated.step) +
      printMetrics(evaluated.metrics) +
      fmt::format(", \"batches\": {}, \"seconds\": {}", evaluated.batches,
                  jsonNumber(evaluated.seconds));
  logLine(line);
  event("evaluate", line);
  if (!board) {
    return;
  }
  tensorboard::Scalars scalars;
  for (const NamedValue &metric : evaluated.metrics) {
    scalars.emplace_back(evaluated.entry + "/" + boardName(metric.name),
                         metric.value);
  }
  check(board, board->add(evaluated.step, scalars));
}

void RunLog::beginCheckpoint(int64_t step) {
  event("checkpoint_begin", fmt::format("\"step\": {}", step));
}

void RunLog::endCheckpoint(const WrittenCheckpoint &written) {
  event("checkpoint_end",
        fmt::format("\"step\": {}, \"path\": {}, \"bytes\": {}, \"seconds\": "
                    "{}, \"stall_seconds\": {}, \"waited_seconds\": {}",
                    written.step, quoteAsJson(written.path), written.bytes,
                    jsonNumber(written.seconds), jsonNumber(written.stall),
                    jsonNumber(written.waited)));
}

void RunLog::rollBack(int64_t from, int64_t to, int64_t leftOut,
                      const Status &why) {
  event("roll_back",
        fmt::format("\"step\": {}, \"to_step\": {}, \"left_out\": {}, "
                    "\"reason\": {}",
                    from, to, leftOut, quoteAsJson(describe(why.error()))));
}

void RunLog::end(int64_t ran, double seconds, bool isStopped,
                 const Status &status) {
  const char *reason = !status.ok() ? "error" : isStopped ? "stopped" : "done";
  event("end",
        fmt::format("\"steps\": {}, \"seconds\": {}, \"reason\": "
                    "\"{}\", \"error\": {}",
                    ran, jsonNumber(seconds), reason,
                    status.ok() ? "null" : describeAsJson(status.error())));
}

} // namespace llmc::rt::exec
