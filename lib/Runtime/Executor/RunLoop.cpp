//===- RunLoop.cpp - The loop of steps ------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/Runtime/Executor/RunLoopTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Executor/RunLoop.h"

#include "CountReport.h"
#include "Fetches.h"
#include "RunLog.h"
#include "RunReport.h"
#include "StepLine.h"
#include "llmc/Runtime/Base/File.h"
#include "llmc/Runtime/Executor/Checkpointing.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace llmc::rt {

using namespace exec;

namespace {
using Clock = std::chrono::steady_clock;

double secondsSince(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

class Loop {
public:
  Loop(Session &session, const RunOptions &options)
      : session(session), options(options), fetches(session, options) {
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
  Status writeCheckpoint();
  Status endCheckpoints();
  Status print(const Result<std::string> &line) const;
  void submitAhead();
  Status finishStep();
  void printLine(const StepFacts &facts) const;
  Status writeTrace();

  Session &session;
  const RunOptions &options;
  const plan::Entry *entry = nullptr;
  StepSize size;
  Fetches fetches;
  RunLog log;
  OwnedFile silent;
  std::FILE *out = nullptr;
  int64_t first = 0, steps = 0;   ///< Of this run.
  int64_t submitted = 0, ran = 0; ///< Steps.
  bool stopping = false, timeIsUp = false;
  Status refusal;                  ///< Of the step that was to be submitted.
  Clock::time_point begin, before; ///< Of the run, of the step.
};
} // namespace

void Loop::printLine(const StepFacts &facts) const {
  std::string line = printStepLine(session, size, facts);
  // One write for each line, so that lines of processes do not mix.
  std::fwrite(line.data(), 1, line.size(), out);
  std::fflush(out);
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
  LLMC_TRY(fetches.find(*entry));
  LLMC_TRY(checkPlaces(options));
  size = stepSize(session.plan(), *entry);
  first = options.firstStep;
  steps = options.steps;
  if (Checkpointing *checkpoints = options.checkpoints) {
    LLMC_TRY(checkpoints->begin(session, options.entry));
    first += checkpoints->firstStep();
    steps = std::max<int64_t>(0, steps - checkpoints->firstStep());
    LLMC_TRY(print(checkpoints->describeResumed()));
  }
  if (options.logFile.empty() || !speaks()) {
    return Status::success();
  }
  return log.open(options.logFile,
                  options.checkpoints && options.checkpoints->isResumed());
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

/// Whether a checkpoint stands between the steps that were submitted and the
/// next one, which would write over the states.
bool Loop::isHeld() const {
  const Checkpointing *checkpoints = options.checkpoints;
  int64_t edge = first + submitted;
  return checkpoints &&
         (checkpoints->isDueAt(edge) || (timeIsUp && !checkpoints->has(edge)));
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
  facts.eta = secondsSince(begin) / static_cast<double>(ran) *
              static_cast<double>(steps - ran);
  printLine(facts);
  LLMC_TRY(log.write(session, options.entry, size, facts));
  if (options.fetchEachStep) {
    LLMC_TRY(fetches.write(fmt::format("step-{}.", facts.step), out));
  }
  std::optional<double> loss = session.metric("loss");
  if (options.stopOnNan && loss && !std::isfinite(*loss)) {
    return makeError(ErrorKind::numeric,
                     fmt::format("expected a finite loss, got {} at step {}",
                                 *loss, facts.step));
  }
  return ran == submitted && isHeld() ? writeCheckpoint() : Status::success();
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
  printPrediction(session.plan(), options.entry, out);
  begin = before = Clock::now();
  while (ran < steps && !(isStopped() && ran > 0 && ran == submitted)) {
    LLMC_TRY(finishStep());
  }
  LLMC_TRY(endCheckpoints());
  if (!options.fetchEachStep) {
    LLMC_TRY(fetches.write("", out));
  }
  printResult(session, out);
  LLMC_TRY(writeTrace());
  return options.count ? reportCounts(session, *entry, ran, out)
                       : Status::success();
}

Status runSteps(Session &session, const RunOptions &options) {
  return Loop(session, options).run();
}

} // namespace llmc::rt
