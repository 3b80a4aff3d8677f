//===- RunRecord.cpp - What a run wrote down ------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Test: test/Runtime/Report/RunRecordTest.cpp
//===----------------------------------------------------------------------===//

#include "RunRecord.h"

#include "llmc/Runtime/Base/File.h"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <filesystem>

namespace llmc::rt::report {

using Json = nlohmann::json;

/// Never throws: what is no JSON is `discarded`.
static Json parse(std::string_view text) {
  return Json::parse(text.begin(), text.end(), nullptr, false);
}

static std::string textOf(const Json &json, const char *key) {
  auto found = json.find(key);
  return found != json.end() && found->is_string() ? found->get<std::string>()
                                                   : "";
}

static int64_t stepOf(const Json &json) {
  auto found = json.find("step");
  return found != json.end() && found->is_number_integer()
             ? found->get<int64_t>()
             : -1;
}

static StepRecord readStep(const Json &line) {
  StepRecord record;
  record.step = stepOf(line);
  for (const auto &[key, value] : line.items()) {
    if (value.is_number() && key != "step" && key != "rank" &&
        key != "time_us") {
      record.values[key] = value.get<double>();
    }
  }
  auto users = line.find("metrics");
  if (users != line.end() && users->is_object()) {
    for (const auto &[key, value] : users->items()) {
      if (value.is_number()) {
        record.values["metrics/" + key] = value.get<double>();
      }
    }
  }
  return record;
}

/// A run that went back to a checkpoint, or was resumed from one, runs steps
/// again: those count.
static void addStep(std::vector<StepRecord> &steps, StepRecord record) {
  while (!steps.empty() && steps.back().step >= record.step) {
    steps.pop_back();
  }
  steps.push_back(std::move(record));
}

/// False: a line that this reader does not know.
static bool readLine(const Json &line, RunRecord &run) {
  std::string event = textOf(line, "event");
  bool hasStep = stepOf(line) >= 0;
  if ((event.empty() || event == "step") && hasStep) {
    addStep(run.steps, readStep(line));
  } else if (event == "evaluate" && hasStep) {
    addStep(run.evaluations, readStep(line));
  } else if (event == "checkpoint_end" && hasStep) {
    run.checkpoints.push_back(stepOf(line));
  } else if (event == "warning") {
    run.warnings.push_back(textOf(line, "text"));
  } else if (event == "roll_back" && hasStep) {
    run.warnings.push_back(textOf(line, "reason") +
                           "; the run went back to a checkpoint");
  } else if (event == "run") {
    run.planHash = textOf(line, "plan");
  } else if (event == "end") {
    run.reason = textOf(line, "reason");
  } else {
    return event == "checkpoint_begin";
  }
  return true;
}

Result<RunRecord> readRun(const std::string &path) {
  LLMC_TRY_ASSIGN(MappedFile file, MappedFile::open(path));
  std::string_view text = file.text();
  RunRecord run;
  for (int64_t number = 1; !text.empty(); ++number) {
    size_t end = std::min(text.find('\n'), text.size());
    std::string_view line = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    if (line.empty()) {
      continue;
    }
    Json json = parse(line);
    if (!json.is_object() || !readLine(json, run)) {
      return makeError(ErrorKind::malformed,
                       fmt::format("expected a step or an event as JSON in "
                                   "line {}, got something else",
                                   number))
          .at(path)
          .withHint("give what --log or --events has written");
    }
  }
  return run;
}

namespace {
/// Names of lanes by process and thread.
using Lanes = std::map<std::pair<int64_t, int64_t>, std::string>;
} // namespace

static int64_t integerOf(const Json &json, const char *key) {
  auto found = json.find(key);
  return found != json.end() && found->is_number_integer()
             ? found->get<int64_t>()
             : -1;
}

static double secondsOf(const Json &json, const char *key) {
  constexpr double micro = 1e-6;
  auto found = json.find(key);
  return found != json.end() && found->is_number()
             ? micro * found->get<double>()
             : -1;
}

static Status readEvents(const Json &list, std::vector<TraceEvent> &events) {
  Lanes lanes;
  for (const Json &each : list) {
    if (each.is_object() && textOf(each, "name") == "thread_name") {
      auto args = each.find("args");
      lanes[{integerOf(each, "pid"), integerOf(each, "tid")}] =
          args != each.end() && args->is_object() ? textOf(*args, "name") : "";
    }
  }
  for (const Json &each : list) {
    if (!each.is_object() || textOf(each, "ph") != "X") {
      continue;
    }
    TraceEvent event;
    event.device = integerOf(each, "pid");
    event.stream = lanes[{event.device, integerOf(each, "tid")}];
    event.name = textOf(each, "name");
    event.begin = secondsOf(each, "ts");
    double seconds = secondsOf(each, "dur");
    event.end = event.begin + seconds;
    auto args = each.find("args");
    if (args != each.end() && args->is_object()) {
      event.source = textOf(*args, "source");
    }
    if (event.device < 0 || event.begin < 0 || seconds < 0) {
      return makeError(ErrorKind::malformed,
                       fmt::format("expected a device and times of at least 0 "
                                   "of event {}, got others",
                                   events.size()));
    }
    events.push_back(std::move(event));
  }
  return Status::success();
}

static Status readTraceFile(const std::string &path,
                            std::vector<TraceEvent> &events) {
  LLMC_TRY_ASSIGN(MappedFile file, MappedFile::open(path));
  Json json = parse(file.text());
  auto list = json.is_object() ? json.find("traceEvents") : json.end();
  if (!json.is_object() || list == json.end() || !list->is_array()) {
    return makeError(ErrorKind::malformed,
                     "expected a trace with a list 'traceEvents', got "
                     "something else")
        .at(path)
        .withHint("give what --trace has written");
  }
  return readEvents(*list, events).at(path);
}

Result<std::vector<TraceEvent>> readTrace(const std::string &path) {
  std::vector<TraceEvent> events;
  LLMC_TRY(readTraceFile(path, events));
  std::error_code code;
  for (int process = 1;; ++process) {
    std::string other = fmt::format("{}.{}", path, process);
    if (!std::filesystem::exists(other, code)) {
      return events;
    }
    LLMC_TRY(readTraceFile(other, events));
  }
}

} // namespace llmc::rt::report
