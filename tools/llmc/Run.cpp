//===- Run.cpp - Training and running plans -------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The driver links the executor, so a plan runs in this process, the same way
// as in llmc-run.
//
//===----------------------------------------------------------------------===//

#include "Run.h"
#include "Driver/Compile.h"
#include "Driver/DataSources.h"
#include "Driver/Strict.h"
#include "Explain/Explain.h"
#include "Summary.h"
#include "TemporaryFolder.h"
#include "llmc/Runtime/Base/File.h"
#include "llmc/Runtime/Base/Hash.h"
#include "llmc/Runtime/Base/StopSignals.h"
#include "llmc/Runtime/Config/Sources.h"
#include "llmc/Runtime/Executor/RunLoop.h"
#include "llmc/Runtime/Executor/Samples.h"
#include "llmc/Runtime/Plan/Format/PlanFile.h"
#include "llmc/Runtime/Plan/Print/PlanPrint.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include <chrono>

using namespace llmc;
using namespace llmc::driver;
using rt::ErrorKind;

static rt::Status run(rt::Session &session, const Options &options,
                      rt::Checkpointing *checkpoints,
                      const std::string &planHash, int64_t steps,
                      const rt::TrainingConfig &training) {
  rt::RunOptions runOptions;
  runOptions.evaluation.every = training.evaluateEvery;
  runOptions.evaluation.steps = training.evaluateSteps;
  runOptions.entry = options.entry;
  runOptions.steps = steps;
  runOptions.checkpoints = checkpoints;
  runOptions.stop = &rt::StopSignals::asked();
  runOptions.logFile = options.log;
  runOptions.eventFile = options.events;
  runOptions.boardFolder = options.tensorboard;
  runOptions.planHash = planHash;
  runOptions.traceFile = options.trace;
  runOptions.fetch = options.fetch;
  runOptions.fetchEachStep = options.fetchEachStep;
  runOptions.dumpFolder = options.dump;
  runOptions.count = options.count;
  runOptions.stopOnNan = !training.skipNotFinite;
  runOptions.spike = options.spike;
  runOptions.rollBack = options.rollBack;
  rt::StopSignals::Run running;
  return rt::runSteps(session, runOptions);
}

/// For what a run writes down; "" where it writes nothing.
static rt::Result<std::string> hashPlan(const Options &options,
                                        const std::string &plan) {
  if (options.checkpoints.folder.empty() && options.events.empty())
    return std::string();
  LLMC_TRY_ASSIGN(std::string bytes, rt::readFile(rt::plan::planFileOf(plan)));
  return rt::hexDigits(rt::hash64(bytes));
}

/// Takes the folder of checkpoints; null where the run has none.
static rt::Result<std::unique_ptr<rt::Checkpointing>>
openCheckpoints(const Options &options, const std::string &planHash,
                rt::SessionOptions &sessionOptions) {
  if (options.checkpoints.folder.empty())
    return std::unique_ptr<rt::Checkpointing>();
  rt::CheckpointOptions checkpoints = options.checkpoints;
  checkpoints.planHash = planHash;
  LLMC_TRY_ASSIGN(auto opened, rt::Checkpointing::open(checkpoints, nullptr));
  sessionOptions.seed = opened->seed();
  sessionOptions.restored = opened->isResumed();
  return opened;
}

static void printSummary(const rt::Session &session, const Options &options,
                         const rt::Config &config, double compileSeconds,
                         const std::string &description) {
  const rt::plan::Plan &plan = session.plan();
  std::printf("plan: %zu kernels%s, %zu programs, compiled in %.2f s\n",
              plan.kernels.size(),
              options.kernelEffort == codegen::KernelEffort::quick ? " (quick)"
                                                                   : "",
              plan.programs.size(), compileSeconds);
  std::printf("device: %s x %lld, %d threads each\n", plan.target.c_str(),
              static_cast<long long>(session.memory().size()), plan.threads);
  std::fputs(describePlan(plan, options.entry, config.pipeline.schedule,
                          config.training.loss)
                 .c_str(),
             stdout);
  std::fputs(description.empty() ? describeArguments(plan).c_str()
                                 : description.c_str(),
             stdout);
}

namespace {
/// What `llmc train` prints of a plan beside what the run prints.
struct PlanTexts {
  std::string *description, *time, *explanation;
};
} // namespace

/// To a plan in `folder`, with what `--strict` and `--explain` ask for.
static rt::Result<std::string> compileAndExplain(mlir::MLIRContext &context,
                                                 const Options &options,
                                                 const rt::Config &config,
                                                 const std::string &folder,
                                                 PlanTexts texts) {
  Remarks remarks(context, options.explain          ? RemarkKinds::All
                           : options.strict.empty() ? RemarkKinds::None
                                                    : RemarkKinds::Costs);
  auto inspect = [&](ModuleOp module) -> rt::Status {
    LLMC_TRY(checkStrict(remarks, options));
    if (options.explain) {
      LLMC_TRY_ASSIGN(*texts.explanation,
                      explain(module, remarks, options, config));
    }
    return rt::Status::success();
  };
  return compileToPlan(context, options, config, folder, texts.description,
                       texts.time, inspect);
}

rt::Status driver::runTrain(Options options) {
  LLMC_TRY_ASSIGN(rt::Config config, readConfig(options));
  if (options.printConfig) {
    llvm::outs() << rt::printConfig(config);
    return rt::Status::success();
  }
  LLMC_TRY_ASSIGN(std::vector<rt::DataSource> sources, rt::findSources(config));
  LLMC_TRY(openSources(sources));
  auto start = std::chrono::steady_clock::now();
  TemporaryFolder folder;
  LLMC_TRY(folder.make());
  LLMC_TRY(exportWeights(options, folder.getPath()));
  std::unique_ptr<mlir::MLIRContext> context = makeContext();
  std::string description, time, explanation;
  LLMC_TRY_ASSIGN(std::string path,
                  compileAndExplain(*context, options, config, folder.getPath(),
                                    {&description, &time, &explanation}));
  context.reset();
  std::chrono::duration<double> seconds =
      std::chrono::steady_clock::now() - start;
  rt::SessionOptions sessionOptions;
  // Several devices share the processor's threads.
  bool isAlone = llvm::all_of(
      options.mesh, [](const auto &axis) { return axis.second == 1; });
  sessionOptions.threads = isAlone ? options.threads : 0;
  sessionOptions.trustKernels = true;
  sessionOptions.trace = !options.trace.empty();
  LLMC_TRY_ASSIGN(std::string planHash, hashPlan(options, path));
  LLMC_TRY_ASSIGN(auto checkpoints,
                  openCheckpoints(options, planHash, sessionOptions));
  LLMC_TRY_ASSIGN(auto session, rt::openPlanFile(path, sessionOptions));
  folder.remove();
  LLMC_TRY(useSources(*session, sources));
  printSummary(*session, options, config, seconds.count(), description);
  std::fputs((time + explanation).c_str(), stdout);
  return run(*session, options, checkpoints.get(), planHash,
             config.training.steps, config.training);
}

rt::Status driver::runPlan(const Options &options) {
  rt::SessionOptions sessionOptions;
  sessionOptions.threads = options.threads;
  sessionOptions.trustKernels = options.trustKernels;
  sessionOptions.trace = !options.trace.empty();
  LLMC_TRY_ASSIGN(std::string planHash, hashPlan(options, options.input));
  LLMC_TRY_ASSIGN(auto checkpoints,
                  openCheckpoints(options, planHash, sessionOptions));
  LLMC_TRY_ASSIGN(auto session,
                  rt::openPlanFile(options.input, sessionOptions));
  std::optional<rt::DType> dtype;
  if (!options.dataType.empty()) {
    LLMC_TRY_ASSIGN(dtype, parseDataType(options.dataType));
  }
  for (const std::string &text : options.data)
    LLMC_TRY(rt::useDataFlag(*session, text, dtype));
  for (const std::string &text : options.evaluateData)
    LLMC_TRY(rt::useDataFlag(*session, text, dtype, /*isEvaluation=*/true));
  rt::TrainingConfig training;
  training.evaluateEvery = options.evaluateEvery;
  training.evaluateSteps = options.evaluateSteps;
  return run(*session, options, checkpoints.get(), planHash,
             options.steps < 0 ? 1 : options.steps, training);
}

rt::Status driver::runInspect(const Options &options) {
  LLMC_TRY_ASSIGN(rt::plan::Plan plan, rt::plan::readPlan(options.input));
  llvm::outs() << (options.json ? rt::plan::printPlanAsJson(plan)
                                : rt::plan::printPlan(plan));
  return rt::Status::success();
}
