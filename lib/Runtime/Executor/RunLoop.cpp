//===- RunLoop.cpp - Steps, lines and logs --------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/Runtime/Executor/RunLoopTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Executor/RunLoop.h"

#include "CountReport.h"
#include "llmc/Runtime/Base/File.h"
#include "llmc/Runtime/Base/Json.h"
#include "llmc/Runtime/Base/Names.h"
#include "llmc/Runtime/Config/Config.h"
#include "llmc/Runtime/Executor/Checkpointing.h"
#include "llmc/Runtime/Plan/Print/PlanTraffic.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <memory>
#include <sys/resource.h>
#include <unistd.h>

namespace llmc::rt {

namespace {
using Clock = std::chrono::steady_clock;

double secondsSince(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

struct CloseFile {
  void operator()(std::FILE *file) const { std::fclose(file); }
};
using OwnedFile = std::unique_ptr<std::FILE, CloseFile>;

/// What a line says of one step besides its metrics.
struct StepFacts {
  int64_t step = 0;
  double seconds = 0;
  double dataSeconds = 0;
  double rate = 0; ///< Tokens or samples in a second.
};

class Loop {
public:
  Loop(Session &session, const RunOptions &options)
      : session(session), options(options), evaluation(options.evaluation) {
    // One process speaks for all.
    if (!speaks()) {
      silent.reset(std::fopen("/dev/null", "w"));
    }
    out = silent ? silent.get() : options.out;
  }

  Status run();

private:
  Status prepare();
  bool speaks() const { return session.process() == 0; }
  bool isTold() const { return options.stop && options.stop->load(); }
  /// Before the first step nobody has heard what others were told.
  bool isStopped() const {
    return stopping || (ran > 0 && session.heard().size() == 1 && isTold());
  }
  void say();
  Status hear();
  bool isHeld() const;
  Status evaluate();
  Status writeCheckpoint();
  Status endCheckpoints();
  Status print(const Result<std::string> &line) const;
  Status openLog();
  void submitAhead();
  Status finishStep();
  void printPrediction() const;
  void printTraffic(int64_t stage) const;
  void printResult() const;
  void printLine(const StepFacts &facts, double eta) const;
  Status writeLog(const StepFacts &facts);
  Status writeLog(const std::string &line);
  Status writeTrace();
  std::vector<std::string> valueNames() const;
  Status nameFetches();
  Status checkPlaces() const;
  bool isOfEachMicrobatch(const std::string &name) const;
  Status writeFetches(const std::string &prefix);
  Status give(const std::string &label, const HostTensor &value);
  std::string memoryText() const;

  Session &session;
  const RunOptions &options;
  Evaluation evaluation;
  const plan::Entry *entry = nullptr;
  StepSize size;
  OwnedFile log, silent;
  std::FILE *out = nullptr;
  int64_t first = 0, steps = 0;   ///< Of this run.
  int64_t submitted = 0, ran = 0; ///< Steps.
  bool stopping = false, timeIsUp = false;
  Status refusal;                  ///< Of the step that was to be submitted.
  Clock::time_point begin, before; ///< Of the run, of the step.
  /// What `options.fetch` stands for.
  std::vector<std::string> fetches;
};
} // namespace

static std::string printDuration(double seconds) {
  auto whole = static_cast<int64_t>(seconds + 0.5);
  return fmt::format("{}:{:02}:{:02}", whole / 3600, whole / 60 % 60,
                     whole % 60);
}

/// Digits that the eye wants of a metric: rates by exponent, others plain.
static std::string printMetric(const NamedValue &metric) {
  if (metric.name == "lr") {
    return fmt::format("{:.1e}", metric.value);
  }
  return metric.name == "loss" ? fmt::format("{:.4f}", metric.value)
                               : fmt::format("{:.4g}", metric.value);
}

static std::string jsonNumber(double value) {
  return std::isfinite(value) ? fmt::format("{:.17g}", value) : "null";
}

/// Of the fullest device, with its share of the memory that there is.
std::string Loop::memoryText() const {
  DeviceMemory fullest;
  for (const DeviceMemory &memory : session.memory()) {
    if (memory.reserved >= fullest.reserved) {
      fullest = memory;
    }
  }
  return fmt::format("{}({:.1f}%)", printBytes(fullest.reserved),
                     100 * static_cast<double>(fullest.reserved) /
                         static_cast<double>(fullest.there));
}

void Loop::printPrediction() const {
  const plan::Plan &plan = session.plan();
  for (int64_t stage = 0; stage < plan.mesh.numStages(); ++stage) {
    plan::MemoryReport report = plan::memoryOf(plan, stage);
    std::string parts;
    int64_t rest = report.total;
    for (int kind = 0; kind < plan::numFrameKinds; ++kind) {
      rest -= report.bytes[kind];
      if (report.bytes[kind]) {
        parts +=
            fmt::format("{}{} {}", parts.empty() ? "" : ", ",
                        nameOf(static_cast<plan::FrameKind>(kind)),
                        printBytes(static_cast<uint64_t>(report.bytes[kind])));
      }
    }
    if (rest > 0) {
      parts += fmt::format(", alignment {}",
                           printBytes(static_cast<uint64_t>(rest)));
    }
    fmt::print(out, "memory of stage {}: {} on each device ({})\n", stage,
               printBytes(static_cast<uint64_t>(report.total)), parts);
    printTraffic(stage);
  }
}

/// What a device of the stage communicates in a step, without scalars.
void Loop::printTraffic(int64_t stage) const {
  const plan::Plan &plan = session.plan();
  for (const plan::Entry &entry : plan.entries) {
    if (entry.name != options.entry) {
      continue;
    }
    for (const plan::Traffic &row : plan::trafficOf(plan, entry, stage)) {
      if (!row.isScalar) {
        fmt::print(out, "  {} x {} over {}, {} a step{}\n", row.count, row.kind,
                   row.axes, printBytes(std::max(row.bytesIn, row.bytesOut)),
                   row.isOpen ? ", with one trip of loops that the run ends"
                              : "");
      }
    }
  }
}

void Loop::printResult() const {
  uint64_t predicted = 0, reserved = 0;
  for (const DeviceMemory &memory : session.memory()) {
    predicted += memory.predicted;
    reserved += memory.reserved;
  }
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  fmt::print(out,
             "memory: predicted {} B, reserved {} B on {} devices; peak of "
             "the process {}\n",
             printCount(predicted), printCount(reserved),
             session.memory().size(),
             printBytes(static_cast<uint64_t>(usage.ru_maxrss) * 1024));
}

void Loop::printLine(const StepFacts &facts, double eta) const {
  std::string line = fmt::format("step: {}", facts.step);
  // The loss comes first, as readers of such lines expect.
  for (bool isLoss : {true, false}) {
    for (const NamedValue &metric : session.metrics()) {
      if ((metric.name == "loss") == isLoss) {
        line += fmt::format("  {}: {}", unescapeName(metric.name),
                            printMetric(metric));
      }
    }
  }
  if (auto epochs = session.epochs(options.entry, facts.step + 1)) {
    line += fmt::format("  epoch: {:.4g}", *epochs);
  }
  line += fmt::format("  memory: {}", memoryText());
  if (size.count > 0) {
    line += fmt::format("  {}: {}", size.isTokens ? "tps" : "sps",
                        printCount(static_cast<uint64_t>(facts.rate)));
  }
  line +=
      fmt::format("  data: {:.1f}%  eta: {}\n",
                  100 * facts.dataSeconds / facts.seconds, printDuration(eta));
  // One write for each line, so that lines of processes do not mix.
  std::fwrite(line.data(), 1, line.size(), out);
  std::fflush(out);
}

Status Loop::writeLog(const StepFacts &facts) {
  if (!log) {
    return Status::success();
  }
  std::string line = fmt::format("{{\"entry\": {}, \"step\": {}",
                                 quoteAsJson(options.entry), facts.step);
  // The model's own metrics may have any name; ours stand beside the step.
  std::string users;
  for (const NamedValue &metric : session.metrics()) {
    bool ours = isOurs(metric.name);
    (ours ? line : users) += fmt::format(
        "{}{}: {}", ours || !users.empty() ? ", " : "",
        quoteAsJson(unescapeName(metric.name)), jsonNumber(metric.value));
  }
  if (!users.empty()) {
    line += fmt::format(", \"metrics\": {{{}}}", users);
  }
  if (auto epochs = session.epochs(options.entry, facts.step + 1)) {
    line += fmt::format(", \"epoch\": {}", jsonNumber(*epochs));
  }
  line += fmt::format(", \"seconds\": {}, \"data_seconds\": {}, \"{}\": {}}}\n",
                      jsonNumber(facts.seconds), jsonNumber(facts.dataSeconds),
                      size.isTokens ? "tps" : "sps", jsonNumber(facts.rate));
  return writeLog(line);
}

Status Loop::writeLog(const std::string &line) {
  if (log &&
      (std::fwrite(line.data(), 1, line.size(), log.get()) != line.size() ||
       std::fflush(log.get()) != 0)) {
    return makeError(ErrorKind::malformed, "cannot write the log")
        .at(options.logFile);
  }
  return Status::success();
}

Status Loop::prepare() {
  for (const plan::Entry &candidate : session.plan().entries) {
    if (candidate.name == options.entry) {
      entry = &candidate;
    }
  }
  if (!entry) {
    std::string names;
    for (const plan::Entry &candidate : session.plan().entries) {
      names += (names.empty() ? "" : ", ") + candidate.name;
    }
    return makeError(ErrorKind::usage,
                     fmt::format("the plan has no entry '{}', only {}",
                                 options.entry, names));
  }
  LLMC_TRY(nameFetches());
  LLMC_TRY(checkPlaces());
  size = stepSize(session.plan(), *entry);
  first = options.firstStep;
  steps = options.steps;
  if (Checkpointing *checkpoints = options.checkpoints) {
    LLMC_TRY(checkpoints->begin(session, options.entry));
    first += checkpoints->firstStep();
    steps = std::max<int64_t>(0, steps - checkpoints->firstStep());
    LLMC_TRY(print(checkpoints->describeResumed()));
  }
  if (options.count && options.evaluation.every > 0) {
    return makeError(ErrorKind::usage,
                     "--count: expected no evaluation between "
                     "the steps that are counted");
  }
  LLMC_TRY(evaluation.begin(session, first));
  return openLog();
}

/// What a run has logged before it was resumed stays.
Status Loop::openLog() {
  if (options.logFile.empty() || !speaks()) {
    return Status::success();
  }
  bool goesOn = options.checkpoints && options.checkpoints->isResumed();
  log.reset(std::fopen(options.logFile.c_str(), goesOn ? "a" : "w"));
  return log ? Status::success()
             : makeError(ErrorKind::usage, "cannot open the log for writing")
                   .at(options.logFile);
}

std::vector<std::string> Loop::valueNames() const {
  std::vector<std::string> known;
  for (const plan::Fetch &fetch : entry->fetches) {
    known.push_back(fetch.tensorName());
  }
  for (const plan::Metric &metric : entry->metrics) {
    known.push_back(metric.name);
  }
  for (const plan::Input &input : entry->inputs) {
    known.push_back(input.name);
  }
  for (const plan::State &state : session.plan().states) {
    known.push_back(state.name);
  }
  return known;
}

/// What nothing has is refused before the first step, all of it at once.
Status Loop::nameFetches() {
  const std::vector<std::string> known = valueNames();
  std::string unknown;
  auto add = [&](const std::string &name) {
    if (std::find(fetches.begin(), fetches.end(), name) == fetches.end()) {
      fetches.push_back(name);
    }
  };
  for (const std::string &pattern : options.fetch) {
    bool isGlob = pattern.find_first_of("*?") != std::string::npos;
    bool matched = !isGlob && isAmong(known, pattern);
    if (matched) {
      add(pattern);
    }
    for (const std::string &name : known) {
      if (isGlob && matchesGlob(pattern, name)) {
        matched = true;
        add(name);
      }
    }
    if (!matched) {
      unknown += fmt::format("{}'{}'", unknown.empty() ? "" : ", ", pattern);
    }
  }
  return unknown.empty()
             ? Status::success()
             : makeError(ErrorKind::usage,
                         fmt::format("--fetch: expected the name of a value of "
                                     "entry '{}' or a glob that matches one, "
                                     "got {}",
                                     options.entry, unknown));
}

/// Where values, logs and traces go is there, and can be written.
Status Loop::checkPlaces() const {
  std::error_code code;
  if (!options.dumpFolder.empty()) {
    std::filesystem::create_directories(options.dumpFolder, code);
  }
  if (code) {
    return makeError(ErrorKind::usage,
                     "cannot make the folder for values: " + code.message())
        .at(options.dumpFolder);
  }
  std::string folder =
      std::filesystem::path(options.traceFile).parent_path().string();
  for (const auto &[place, named] :
       {std::pair(options.dumpFolder, options.dumpFolder),
        std::pair(folder.empty() ? "." : folder, options.traceFile)}) {
    if (!named.empty() && ::access(place.c_str(), W_OK | X_OK) != 0) {
      return makeError(ErrorKind::usage,
                       fmt::format("expected a folder to write to, got one "
                                   "for which: {}",
                                   std::strerror(errno)))
          .at(named);
    }
  }
  return Status::success();
}

namespace {
/// What a process says with its metrics.
enum Word { saysStop = 1, saysTimeUp = 2, saysWritten = 4 };
} // namespace

void Loop::say() {
  int word = isTold() ? saysStop : 0;
  if (options.checkpoints) {
    word |= options.checkpoints->isTimeUp() ? saysTimeUp : 0;
    word |= options.checkpoints->isWritten() ? saysWritten : 0;
  }
  session.say(word);
}

/// What all have said with the step, so all decide alike. A checkpoint that
/// was written meanwhile gets its name.
Status Loop::hear() {
  int all = saysStop | saysTimeUp | saysWritten, any = 0;
  for (double word : session.heard()) {
    all &= static_cast<int>(word);
    any |= static_cast<int>(word);
  }
  stopping = stopping || (any & saysStop);
  if (stopping && options.stop) {
    options.stop->store(true);
  }
  timeIsUp = timeIsUp || (static_cast<int>(session.heard()[0]) & saysTimeUp);
  return options.checkpoints && (all & saysWritten)
             ? print(options.checkpoints->finish())
             : Status::success();
}

/// Whether a checkpoint or an evaluation stands between the steps that were
/// submitted and the next one, which would write over the states.
bool Loop::isHeld() const {
  const Checkpointing *checkpoints = options.checkpoints;
  int64_t edge = first + submitted;
  return evaluation.holds(edge) ||
         (checkpoints && (checkpoints->isDueAt(edge) ||
                          (timeIsUp && !checkpoints->has(edge))));
}

/// Its time is no part of a step.
Status Loop::evaluate() {
  LLMC_TRY_ASSIGN(auto lines, evaluation.run(session, first + ran));
  LLMC_TRY(print(lines.first));
  LLMC_TRY(writeLog(lines.second));
  before = Clock::now();
  return Status::success();
}

Status Loop::writeCheckpoint() {
  timeIsUp = false;
  return print(options.checkpoints->write(session, first + ran));
}

/// The last one of the run.
Status Loop::endCheckpoints() {
  if (!options.checkpoints) {
    return Status::success();
  }
  if (ran > 0 && !options.checkpoints->has(first + ran)) {
    LLMC_TRY(writeCheckpoint());
  }
  return print(options.checkpoints->finish());
}

Status Loop::print(const Result<std::string> &line) const {
  if (line.ok() && !line->empty()) {
    std::fwrite(line->data(), 1, line->size(), out);
    std::fflush(out);
  }
  return line.status();
}

/// One step more than is waited for, so that the devices do not wait for the
/// host; none when values are read after each step.
void Loop::submitAhead() {
  int64_t ahead = options.fetchEachStep || !options.ahead ? 0 : 1;
  while (submitted < steps && submitted <= ran + ahead && refusal.ok() &&
         !isHeld() && !(isStopped() && submitted > ran)) {
    refusal = session.submit(options.entry, first + submitted);
    submitted += refusal.ok();
  }
}

/// Waits for the oldest step and says what it gave. A step that could not be
/// submitted is an error after those before it.
Status Loop::finishStep() {
  submitAhead();
  if (submitted == ran) {
    return refusal;
  }
  say();
  LLMC_TRY(session.wait());
  LLMC_TRY(hear());
  StepFacts facts;
  facts.step = first + ran++;
  facts.seconds = std::max(secondsSince(before), 1e-9);
  before = Clock::now();
  facts.dataSeconds = session.dataSeconds();
  facts.rate = static_cast<double>(size.count) / facts.seconds;
  double eta = secondsSince(begin) / static_cast<double>(ran) *
               static_cast<double>(steps - ran);
  printLine(facts, eta);
  LLMC_TRY(writeLog(facts));
  if (options.fetchEachStep) {
    LLMC_TRY(writeFetches(fmt::format("step-{}.", facts.step)));
  }
  std::optional<double> loss = session.metric("loss");
  if (options.stopOnNan && loss && !std::isfinite(*loss)) {
    return makeError(ErrorKind::numeric,
                     fmt::format("expected a finite loss, got {} at step {}",
                                 *loss, facts.step));
  }
  if (ran == submitted && evaluation.holds(first + ran)) {
    LLMC_TRY(evaluate());
  }
  return ran == submitted && isHeld() ? writeCheckpoint() : Status::success();
}

Status Loop::give(const std::string &label, const HostTensor &value) {
  if (!speaks()) {
    return Status::success();
  }
  if (options.dumpFolder.empty()) {
    fmt::print(out, "{}: {}[{}] = {}\n", label, nameOf(value.dtype),
               fmt::join(value.shape, ", "), printElements(value));
    return Status::success();
  }
  std::string file = label;
  std::replace(file.begin(), file.end(), '/', '_');
  return writeNpy(value, options.dumpFolder + "/" + file + ".npy");
}

/// A value of each microbatch, where the entry takes or returns it for each. A
/// state of that name goes before it, and the kind tells them apart.
bool Loop::isOfEachMicrobatch(const std::string &name) const {
  for (const plan::State &state : session.plan().states) {
    if (state.name == name) {
      return false;
    }
  }
  for (const plan::Fetch &fetch : entry->fetches) {
    std::string tensor = unescapeName(fetch.tensorName());
    if (fetch.tensorName() == name || tensor == name ||
        "output." + tensor == name) {
      return fetch.eachMicrobatch;
    }
  }
  for (const plan::Input &input : entry->inputs) {
    if (input.name == name || "input." + input.name == name) {
      return true;
    }
  }
  return false;
}

Status Loop::writeFetches(const std::string &prefix) {
  for (const std::string &name : fetches) {
    int64_t count = isOfEachMicrobatch(name) ? entry->numMicrobatches : 1;
    for (int64_t m = 0; m < count; ++m) {
      LLMC_TRY_ASSIGN(HostTensor value, session.fetch(name, m));
      LLMC_TRY(give(prefix + (count > 1 ? fmt::format("{}.{}", name, m) : name),
                    value));
    }
  }
  return Status::success();
}

Status Loop::writeTrace() {
  if (options.traceFile.empty()) {
    return Status::success();
  }
  int process = session.process();
  return writeFileAtomically(
      options.traceFile + (process > 0 ? fmt::format(".{}", process) : ""),
      session.printTrace());
}

Status Loop::run() {
  LLMC_TRY(prepare());
  // What gave the devices their first values is no part of a step.
  if (!options.traceFile.empty()) {
    session.printTrace();
  }
  printPrediction();
  begin = before = Clock::now();
  while (ran < steps && !(isStopped() && ran > 0 && ran == submitted)) {
    LLMC_TRY(finishStep());
  }
  LLMC_TRY(endCheckpoints());
  if (!options.fetchEachStep) {
    LLMC_TRY(writeFetches(""));
  }
  printResult();
  LLMC_TRY(writeTrace());
  return options.count ? reportCounts(session, *entry, ran, out)
                       : Status::success();
}

Status runSteps(Session &session, const RunOptions &options) {
  return Loop(session, options).run();
}

} // namespace llmc::rt
