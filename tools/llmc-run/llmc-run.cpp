//===- llmc-run.cpp - Runs plans, without the compiler --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   llmc-run plan.llmc --data corpus.bin --steps 50 --log run.jsonl
//
// Exit codes: the kind of the error (0 ok, 2 usage, 3 malformed, ...); 143
// after SIGTERM, after the step that was running and its checkpoint.
//
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Base/ComplexNames.h"
#include "llmc/Runtime/Base/File.h"
#include "llmc/Runtime/Base/Hash.h"
#include "llmc/Runtime/Base/Help.h"
#include "llmc/Runtime/Base/StopSignals.h"
#include "llmc/Runtime/Base/Version.h"
#include "llmc/Runtime/Executor/Checkpointing.h"
#include "llmc/Runtime/Executor/RunLoop.h"
#include "llmc/Runtime/Job/Job.h"
#include "llmc/Runtime/Plan/Format/PlanFile.h"
#include "llmc/Runtime/Plan/Print/PlanPrint.h"

#include <CLI/CLI.hpp>
#include <fmt/format.h>

using namespace llmc::rt;

namespace {

struct Arguments {
  std::string planFile, errorFile, dataType, messages = "gloo";
  std::vector<std::string> data, evaluateData, inputs;
  std::vector<std::string> externals;
  SessionOptions session;
  RunOptions run;
  CheckpointOptions checkpoints;
  int64_t deadlineSeconds = 1800;
  double silenceSeconds = 20, joiningSeconds = 300;
  bool inspect = false, json = false, keepGoing = false, oneByOne = false;
};

void declareCheckpoints(CLI::App &app, CheckpointOptions &c) {
  app.add_option("--checkpoint", c.folder,
                 "Folder of checkpoints: one at the end, and after a signal "
                 "(default: none)");
  app.add_option(
      "--checkpoint-every", c.every,
      "One after so many steps (100), or minutes (10m) (default: at the "
      "end alone)");
  app.add_option("--checkpoint-keep", c.keep,
                 "How many of the newest stay (0: all)")
      ->capture_default_str();
  app.add_option("--checkpoint-best", c.best,
                 "The one with the least value of this metric stays too "
                 "(default: none)");
  app.add_flag("--checkpoint-background", c.background,
               "Write while the next steps run");
  app.add_option("--checkpoint-memory", c.memory,
                 "With --checkpoint-background: bytes that may wait in memory")
      ->capture_default_str();
  app.add_flag("--resume", c.resume,
               "Go on from the newest whole checkpoint of the folder");
}

void declare(CLI::App &app, Arguments &a) {
  app.add_option("plan", a.planFile, "The plan file, or its folder")
      ->required();
  app.add_option("--entry", a.run.entry,
                 "train, evaluate, forward, or what else the plan has")
      ->capture_default_str();
  app.add_option("--steps", a.run.steps, "Number of steps")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
  app.add_option("--first-step", a.run.firstStep,
                 "Number of the first step, from which data and rates follow")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
  app.add_option("--data", a.data,
                 "[source=]file,...: files and globs of a source of data, or "
                 "of all; repeatable (default: those of the plan)")
      ->allow_extra_args(false);
  app.add_option(
         "--evaluate-data", a.evaluateData,
         "The same for entries that evaluate alone (default: as --data)")
      ->allow_extra_args(false);
  app.add_option("--evaluate-every", a.run.evaluation.every,
                 "Evaluate on held-out data after so many steps (0: never)")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
  app.add_option("--evaluate-steps", a.run.evaluation.steps,
                 "Batches of an evaluation (0: all)")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
  app.add_option("--data-type", a.dataType,
                 "Element type of raw tokens (default: the plan's)")
      ->check(CLI::IsMember({"u8", "u16", "u32", "i32", "i64"}));
  app.add_option(
      "--input", a.inputs,
      "name=file.npy: a whole input, for every microbatch; repeatable "
      "(default: none)");
  app.add_option("--set", a.externals,
                 "name=value of an external hyper value; repeatable (default: "
                 "none)");
  app.add_option("--seed", a.session.seed,
                 "Of initial values, samples and random ops (default: the "
                 "plan's)");
  app.add_option("--threads", a.session.threads,
                 "Workers (0: as the devices ask, within the processor's)")
      ->capture_default_str()
      ->check(CLI::NonNegativeNumber);
  app.add_option(
      "--shuffle", a.session.shuffleSeed,
      "Run ready work in a random legal order of this seed (default: in "
      "the plan's)");
  app.add_option(
         "--fetch", a.run.fetch,
         "Values to print or dump: names and globs, with commas (default: "
         "none)")
      ->delimiter(',');
  app.add_flag("--fetch-each-step", a.run.fetchEachStep,
               "Fetch after each step, as step-<n>.<name>");
  app.add_option(
      "--dump", a.run.dumpFolder,
      "Folder for fetched .npy files (default: none, they are printed)");
  app.add_option("--log", a.run.logFile,
                 "JSON lines, one for each step (default: none)");
  app.add_option("--events", a.run.eventFile,
                 "JSON lines, one for all that happens (default: none)");
  app.add_option("--tensorboard", a.run.boardFolder,
                 "Folder that gets a file of numbers for TensorBoard (default: "
                 "none)");
  app.add_option("--trace", a.run.traceFile,
                 "When each instruction ran, in microseconds, for Perfetto or "
                 "Chrome (default: none)");
  declareCheckpoints(app, a.checkpoints);
  app.add_option("--deadline", a.deadlineSeconds, "Seconds for one step")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  app.add_option("--messages", a.messages,
                 "The library of messages between processes, where a launcher "
                 "started several, or none")
      ->check(CLI::IsMember({"gloo", "mpi", "none"}))
      ->capture_default_str();
  app.add_option("--joining", a.joiningSeconds,
                 "Seconds for all processes to come")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  app.add_option("--silence", a.silenceSeconds,
                 "Seconds for which another process may say nothing")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  app.add_option("--error-file", a.errorFile,
                 "Gets the error as JSON (default: none)");
  app.add_flag("--trust-kernels", a.session.trustKernels,
               "Load kernel objects that others own or may write");
  app.add_flag("--count", a.run.count,
               "Count what devices communicate and compare with the plan");
  app.add_flag("--one-by-one", a.oneByOne,
               "Wait for each step before the next is submitted");
  app.add_option("--spike", a.run.spike,
                 "End where a loss is above so many times the median of the "
                 "last 32 (0: never)")
      ->capture_default_str();
  app.add_option("--roll-back", a.run.rollBack,
                 "Where a loss is not finite or a spike, go back to the newest "
                 "checkpoint and leave out the samples since, so many times")
      ->check(CLI::NonNegativeNumber)
      ->capture_default_str();
  app.add_flag("--keep-going", a.keepGoing, "Go on after a loss of NaN");
  app.add_flag("--inspect", a.inspect, "Print the plan and stop");
  app.add_flag("--json", a.json, "With --inspect: as JSON");
}

/// "name=value" in two; error 2 otherwise.
Result<std::pair<std::string, std::string>> splitPair(const std::string &text,
                                                      const char *flag) {
  size_t equals = text.find('=');
  if (equals == std::string::npos || equals == 0) {
    return makeError(
        ErrorKind::usage,
        fmt::format("expected name=value after {}, got '{}'", flag, text));
  }
  return std::make_pair(text.substr(0, equals), text.substr(equals + 1));
}

Status giveInputs(Session &session, const Arguments &a) {
  int64_t microbatches = 1;
  for (const plan::Entry &entry : session.plan().entries) {
    if (entry.name == a.run.entry) {
      microbatches = entry.numMicrobatches;
    }
  }
  for (const std::string &text : a.inputs) {
    LLMC_TRY_ASSIGN(auto pair, splitPair(text, "--input"));
    LLMC_TRY_ASSIGN(HostTensor value, readNpy(pair.second));
    std::vector<std::pair<std::string, HostTensor>> inputs;
    for (int part = 0; part < 2 && value.isComplex; ++part) {
      inputs.emplace_back(partNameOf(pair.first, part), takePart(value, part));
    }
    if (!value.isComplex) {
      inputs.emplace_back(pair.first, std::move(value));
    }
    for (int64_t m = 0; m < microbatches; ++m) {
      for (const auto &[name, input] : inputs) {
        LLMC_TRY(session.setInput(a.run.entry, name, m, input));
      }
    }
  }
  return Status::success();
}

Status giveExternals(Session &session, const Arguments &a) {
  for (const std::string &text : a.externals) {
    LLMC_TRY_ASSIGN(auto pair, splitPair(text, "--set"));
    char *end = nullptr;
    double value = std::strtod(pair.second.c_str(), &end);
    if (pair.second.empty() || *end != '\0') {
      return makeError(ErrorKind::usage,
                       fmt::format("expected a number after --set {}=, got "
                                   "'{}'",
                                   pair.first, pair.second));
    }
    LLMC_TRY(session.setExternal(pair.first, value));
  }
  return Status::success();
}

Status inspect(const Arguments &a) {
  LLMC_TRY_ASSIGN(plan::Plan plan, plan::readPlan(a.planFile));
  std::string text =
      a.json ? plan::printPlanAsJson(plan) : plan::printPlan(plan);
  std::fwrite(text.data(), 1, text.size(), stdout);
  return Status::success();
}

std::chrono::milliseconds milliseconds(double seconds) {
  return std::chrono::milliseconds(static_cast<int64_t>(1000 * seconds));
}

/// Meets the other processes that a launcher started; null where it is alone.
Result<std::unique_ptr<Job>> joinJob(Arguments &a) {
  std::unique_ptr<Job> none;
  LLMC_TRY_ASSIGN(auto place, findJob(processEnvironment()));
  if (!place || a.messages == "none") {
    return none;
  }
  JobOptions options;
  options.joining = milliseconds(a.joiningSeconds);
  options.silence = milliseconds(a.silenceSeconds);
  options.stuck = [&a](const Status &lost) {
    std::_Exit(reportError("llmc-run", lost, a.errorFile));
  };
  return Job::join(*place, options);
}

Result<std::string> hashPlan(const std::string &planOrFolder) {
  LLMC_TRY_ASSIGN(std::string bytes, readFile(plan::planFileOf(planOrFolder)));
  return hexDigits(hash64(bytes));
}

/// What must be equal before anything else, then the way to the others.
Status meet(Job &job, Arguments &a) {
  LLMC_TRY(job.compare("version", fmt::format("{}, plan format {}", version,
                                              plan::formatVersion)));
  LLMC_TRY_ASSIGN(std::string hash, hashPlan(a.planFile));
  LLMC_TRY(job.compare("plan", hash));
  LLMC_TRY_ASSIGN(a.session.transport, job.connect(a.messages));
  return Status::success();
}

Status runSession(Arguments &a);

Status execute(Arguments &a) {
  if (a.inspect) {
    return inspect(a);
  }
  LLMC_TRY_ASSIGN(std::unique_ptr<Job> job, joinJob(a));
  if (!job) {
    return runSession(a);
  }
  Status status = meet(*job, a);
  return job->leave(status.ok() ? runSession(a) : status);
}

/// Null where the run has none. What is resumed draws the data.
Result<std::unique_ptr<Checkpointing>> openCheckpoints(Arguments &a) {
  CheckpointOptions &options = a.checkpoints;
  LLMC_TRY(checkOptions(options));
  if (options.folder.empty()) {
    return std::unique_ptr<Checkpointing>();
  }
  options.planHash = a.run.planHash;
  // A launcher that starts the job again wants what there is.
  const char *restart = std::getenv("LLMC_RESTART");
  options.mayBegin = restart && std::string(restart) != "0";
  options.resume |= options.mayBegin;
  options.seed = a.session.seed;
  if (options.resume && a.run.firstStep > 0) {
    return makeError(ErrorKind::usage, "--first-step: expected none with "
                                       "--resume, which has its own");
  }
  LLMC_TRY_ASSIGN(auto opened,
                  Checkpointing::open(options, a.session.transport));
  a.session.seed = opened->seed();
  a.session.restored = opened->isResumed();
  a.run.checkpoints = opened.get();
  return opened;
}

Status runSession(Arguments &a) {
  a.session.deadline = std::chrono::seconds(a.deadlineSeconds);
  a.run.stopOnNan = !a.keepGoing;
  a.run.ahead = !a.oneByOne;
  a.session.trace = !a.run.traceFile.empty();
  a.run.stop = &StopSignals::asked();
  if (!a.checkpoints.folder.empty() || !a.run.eventFile.empty()) {
    LLMC_TRY_ASSIGN(a.run.planHash, hashPlan(a.planFile));
  }
  LLMC_TRY_ASSIGN(auto checkpoints, openCheckpoints(a));
  LLMC_TRY_ASSIGN(auto session, openPlanFile(a.planFile, a.session));
  for (const std::string &text : a.data) {
    LLMC_TRY(useDataFlag(*session, text, parseDType(a.dataType)));
  }
  for (const std::string &text : a.evaluateData) {
    LLMC_TRY(useDataFlag(*session, text, parseDType(a.dataType), true));
  }
  LLMC_TRY(giveInputs(*session, a));
  LLMC_TRY(giveExternals(*session, a));
  StopSignals::Run running;
  Status status = runSteps(*session, a.run);
  if (status.kind() == ErrorKind::timeout) {
    // A kernel may still run in this memory; the process ends at once.
    session.release();
  }
  return status;
}

std::string describeEnd() {
  return printHelpTail(
      {{"llmc-run plan --data corpus.bin --steps 50 --log run.jsonl",
        "llmc-launch -n 4 -- llmc-run plan --data corpus.bin --steps 50 "
        "--checkpoint out --resume"},
       {ErrorKind::usage, ErrorKind::malformed, ErrorKind::peerLost,
        ErrorKind::timeout, ErrorKind::outOfMemory, ErrorKind::numeric,
        ErrorKind::noCheckpoint, ErrorKind::mismatch, ErrorKind::internal},
       "after a signal n: at once, or after the step and its checkpoint",
       "docs/plan-format.md, docs/data.md, docs/checkpoints.md, "
       "docs/seeing.md",
       true});
}

} // namespace

int main(int argc, char **argv) {
  StopSignals::take();
  CLI::App app("Runs an execution plan on this machine.", "llmc-run");
  app.set_version_flag("--version", fmt::format("llmc-run {}, plan format {}",
                                                version, plan::formatVersion));
  Arguments arguments;
  declare(app, arguments);
  app.footer(describeEnd());
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError &error) {
    if (error.get_exit_code() == 0) {
      return app.exit(error);
    }
    return reportError("llmc-run", makeError(ErrorKind::usage, error.what()),
                       arguments.errorFile);
  }
  Status status = execute(arguments);
  if (!status.ok()) {
    int code = reportError("llmc-run", status, arguments.errorFile);
    if (status.kind() == ErrorKind::timeout) {
      std::_Exit(code);
    }
    return code;
  }
  return StopSignals::asked() ? 128 + StopSignals::signal() : 0;
}
