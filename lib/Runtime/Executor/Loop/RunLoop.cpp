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
#include "LossWatch.h"
#include "Progress.h"
#include "RunLog.h"
#include "RunReport.h"
#include "StepLine.h"
#include "llmc/Runtime/Base/File.h"
#include "llmc/Runtime/Base/Log.h"
#include "llmc/Runtime/Executor/Checkpointing.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

namespace llmc::rt {

using namespace exec;

namespace {
using Clock = std::chrono::steady_clock;

double secondsSince(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

struct CloseFile {
  void operator()(std::FILE *file) const { std::fclose(file); }
};
using OwnedFile = std::unique_ptr<std::FILE, CloseFile>;

class Loop {
public:
  Loop(Session &session, const RunOptions &options)
      : session(session), options(options), evaluation(options.evaluation),
        watch(options.stopOnNan, options.spike),
        // One process speaks for all.
        silent(speaks() ? nullptr : std::fopen("/dev/null", "w")),
        out(silent ? silent.get() : options.out), progress(out),
        fetches(session, options),
        log(session, options, [this](const std::string &text) { warn(text); }) {
  }

  Status run();

private:
  Status checkRequest() const;
  Status prepare();
  Status runAll();
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
  Status printCheckpoint(const Result<std::string> &line);
  void print(const std::string &text);
  void warn(const std::string &text);
  void submitAhead();
  Status awaitStep();
  Status finishStep();
  Status judgeLoss(int64_t step);
  Status goBack(int64_t step, const Status &why);
  void beginStep();
  StepFacts countStep();
  Status writeFetches(const std::string &prefix);
  void writeTrace();

  Session &session;
  const RunOptions &options;
  Evaluation evaluation;
  LossWatch watch;
  OwnedFile silent;
  std::FILE *out;
  Progress progress;
  Fetches fetches;
  RunLog log;
  const plan::Entry *entry = nullptr;
  StepWork work;
  StepTimes times;
  int64_t first = 0, steps = 0;   ///< Of this run.
  int64_t submitted = 0, ran = 0; ///< Steps.
  bool stopping = false, timeIsUp = false;
  int64_t wentBack = 0, wentTo = -1; ///< How often, and to which step last.
  Status refusal;                    ///< Of the step that was to be submitted.
  Clock::time_point begin, before;   ///< Of the run, of the step.
  double dataBefore = 0; ///< What the session had spent on data before it.
};
} // namespace

/// One write for each line, so that lines of processes do not mix.
void Loop::print(const std::string &text) {
  if (!text.empty()) {
    progress.clear();
    std::fwrite(text.data(), 1, text.size(), out);
    std::fflush(out);
  }
}

void Loop::warn(const std::string &text) {
  progress.clear();
  rt::log(LogLevel::warning, text);
}

Status Loop::checkRequest() const {
  if (options.count && options.evaluation.every > 0) {
    return makeError(ErrorKind::usage,
                     "--count: expected no evaluation between "
                     "the steps that are counted");
  }
  if (options.count && options.rollBack > 0) {
    return makeError(ErrorKind::usage, "--count: expected no --roll-back, "
                                       "which runs steps again");
  }
  if (options.rollBack > 0 && !options.checkpoints) {
    return makeError(ErrorKind::usage,
                     "--roll-back: expected --checkpoint <folder> too");
  }
  if (options.spike != 0 && !(options.spike > 1)) {
    return makeError(ErrorKind::usage,
                     fmt::format("--spike: expected a factor above 1, got {}",
                                 options.spike));
  }
  return Status::success();
}

Status Loop::prepare() {
  LLMC_TRY(checkRequest());
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
  work = StepWork::of(session.plan(), *entry);
  first = options.firstStep;
  steps = options.steps;
  bool goesOn = false;
  if (Checkpointing *checkpoints = options.checkpoints) {
    LLMC_TRY(checkpoints->begin(session, options.entry));
    first += checkpoints->firstStep();
    steps = std::max<int64_t>(0, steps - checkpoints->firstStep());
    print(checkpoints->describeResumed());
    goesOn = checkpoints->isResumed();
  }
  LLMC_TRY(evaluation.begin(session, first));
  if (speaks()) {
    LLMC_TRY(log.open(goesOn));
  }
  log.begin(*entry, work, first, steps);
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
             ? printCheckpoint(options.checkpoints->finish())
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
  LLMC_TRY_ASSIGN(Evaluated evaluated, evaluation.run(session, first + ran));
  print(evaluated.line);
  log.evaluate(evaluated);
  beginStep();
  return Status::success();
}

Status Loop::writeCheckpoint() {
  timeIsUp = false;
  log.beginCheckpoint(first + ran);
  LLMC_TRY(printCheckpoint(options.checkpoints->write(session, first + ran)));
  // What it took is no part of the next step.
  beginStep();
  return Status::success();
}

/// The last one of the run.
Status Loop::endCheckpoints() {
  if (!options.checkpoints) {
    return Status::success();
  }
  if (ran > 0 && !options.checkpoints->has(first + ran)) {
    LLMC_TRY(writeCheckpoint());
  }
  return printCheckpoint(options.checkpoints->finish());
}

/// What is said of one that is there.
Status Loop::printCheckpoint(const Result<std::string> &line) {
  LLMC_TRY(line.status());
  print(*line);
  if (!line->empty()) {
    log.endCheckpoint(options.checkpoints->lastWritten());
  }
  return Status::success();
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

/// What was done until now is no part of the next step.
void Loop::beginStep() {
  before = Clock::now();
  dataBefore = session.dataSeconds();
}

StepFacts Loop::countStep() {
  StepFacts facts;
  facts.step = first + ran++;
  facts.ran = ran;
  facts.steps = steps;
  facts.time = {std::max(secondsSince(before), 1e-9), session.exposedSeconds()};
  facts.dataSeconds = session.dataSeconds() - dataBefore;
  beginStep();
  times.add(facts.time);
  facts.late = times.ofLate();
  facts.epochs = session.epochs(options.entry, facts.step + 1);
  facts.eta = secondsSince(begin) / static_cast<double>(ran) *
              static_cast<double>(steps - ran);
  return facts;
}

/// Waits for the oldest step, and hears what all say with it.
Status Loop::awaitStep() {
  say();
  LLMC_TRY(session.wait());
  return hear();
}

/// Goes on from a checkpoint with the samples after those of `step`. Where the
/// first step after the last return is wrong again, the states may be: an
/// earlier checkpoint is taken.
Status Loop::goBack(int64_t step, const Status &why) {
  for (; ran < submitted; ++ran) {
    LLMC_TRY(awaitStep());
  }
  LLMC_TRY(printCheckpoint(options.checkpoints->finish()));
  int64_t most = step == wentTo ? step - 1 : step;
  LLMC_TRY_ASSIGN(wentTo, options.checkpoints->rollBack(session, most));
  int64_t leftOut = step + 1 - wentTo;
  session.leaveOut(session.leftOut() + leftOut);
  steps += first - wentTo;
  first = wentTo;
  ran = submitted = 0;
  std::string text = fmt::format(
      "{}; back to the checkpoint of {} steps, the samples of {} "
      "steps are left out ({} of {} returns)",
      describe(why.error()), wentTo, leftOut, ++wentBack, options.rollBack);
  if (speaks()) {
    warn(text);
  }
  log.rollBack(step, wentTo, leftOut, why);
  begin = Clock::now();
  beginStep();
  return Status::success();
}

/// Of the step that was waited for last.
Status Loop::judgeLoss(int64_t step) {
  std::optional<double> loss = session.metric("loss");
  Status judged = loss ? watch.judge(*loss, step) : Status::success();
  return judged.ok() || wentBack >= options.rollBack ? judged
                                                     : goBack(step, judged);
}

/// Waits for the oldest step and says what it gave. A step that could not be
/// submitted is an error after those before it.
Status Loop::finishStep() {
  submitAhead();
  if (submitted == ran) {
    return refusal;
  }
  LLMC_TRY(awaitStep());
  StepFacts facts = countStep();
  if (progress.isShown()) {
    progress.draw(session, work, facts);
  } else {
    print(printStepLine(session, work, facts));
  }
  log.step(work, facts);
  if (options.fetchEachStep) {
    LLMC_TRY(writeFetches(fmt::format("step-{}.", facts.step)));
  }
  LLMC_TRY(judgeLoss(facts.step));
  if (ran == submitted && evaluation.holds(first + ran)) {
    LLMC_TRY(evaluate());
  }
  return ran == submitted && isHeld() ? writeCheckpoint() : Status::success();
}

Status Loop::writeFetches(const std::string &prefix) {
  progress.clear();
  return fetches.write(prefix, out);
}

/// The steps are done: a full disk is no reason to end as if they were not.
void Loop::writeTrace() {
  if (options.traceFile.empty()) {
    return;
  }
  int process = session.process();
  Status written = writeFileAtomically(
      options.traceFile + (process > 0 ? fmt::format(".{}", process) : ""),
      session.printTrace());
  if (!written.ok()) {
    log.warning(describe(written.error()) + "; there is no trace of this run");
  }
}

Status Loop::runAll() {
  // What gave the devices their first values is no part of a step.
  if (!options.traceFile.empty()) {
    session.printTrace();
  }
  printPrediction(session.plan(), options.entry, out);
  begin = Clock::now();
  beginStep();
  while (ran < steps && !(isStopped() && ran > 0 && ran == submitted)) {
    LLMC_TRY(finishStep());
  }
  LLMC_TRY(endCheckpoints());
  progress.finish();
  if (!options.fetchEachStep) {
    LLMC_TRY(writeFetches(""));
  }
  printResult(session, *entry, times, out);
  writeTrace();
  return options.count ? reportCounts(session, *entry, ran, out)
                       : Status::success();
}

Status Loop::run() {
  LLMC_TRY(prepare());
  Status status = runAll();
  progress.finish();
  log.end(ran, secondsSince(begin), stopping || isTold(), status);
  return status;
}

Status runSteps(Session &session, const RunOptions &options) {
  return Loop(session, options).run();
}

} // namespace llmc::rt
