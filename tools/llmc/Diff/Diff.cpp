//===- Diff.cpp - Where devices differ from one device --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Diff.h"
#include "../Driver/Compile.h"
#include "../Driver/DataSources.h"
#include "../Driver/Places.h"
#include "../Interpret/InterpretData.h"
#include "../TemporaryFolder.h"
#include "DiffSearch.h"
#include "DiffValues.h"
#include "llmc/Analysis/Program/FetchNames.h"
#include "llmc/Runtime/Base/Log.h"
#include "llmc/Runtime/Config/Sources.h"
#include "llmc/Transforms/Phases/Phases.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

using namespace mlir;
using namespace llmc;
using namespace llmc::driver;
using rt::ErrorKind;

namespace {
/// A plan in a folder of its own, and what it is called.
struct PlanRun {
  std::string name;
  /// Why gradients cannot be fetched; empty where they can.
  std::string noGradients;
  TemporaryFolder folder;
  std::unique_ptr<rt::Session> session;

  rt::Status open(const Options &options, const rt::Config &config);
};

/// The whole program by plain loops, and the plans beside it.
class Diff {
public:
  Diff(const Options &options, const rt::Config &config)
      : options(options), config(config), context(makeContext()) {}

  rt::Status prepare();
  rt::Status run();

private:
  rt::Status runWhole(StepInterpreter &interpreter, int64_t step,
                      StepInterpreter::StepResult &result);
  rt::Status start(StepInterpreter &interpreter);
  rt::Status compareStep(int64_t step, const StepValues &want);
  rt::Status comparePlan(PlanRun &plan, int64_t step, const StepValues &all);
  rt::Status findNotFinite(int64_t step);
  rt::Status locate(int64_t step, const std::string &what);
  std::optional<Finding> findDifference(int64_t step, std::string &note);
  std::string placeOf(const StepValue &value);
  StepInterpreter::InputSource getSource();

  const Options &options;
  const rt::Config &config;
  std::unique_ptr<MLIRContext> context;
  OwningOpRef<ModuleOp> module;
  FunctionData data;
  std::vector<std::unique_ptr<PlanRun>> plans;
};
} // namespace

rt::Status PlanRun::open(const Options &options, const rt::Config &config) {
  LLMC_TRY(folder.make());
  Options own = options;
  own.fetch = {getGradientName("*")};
  std::unique_ptr<MLIRContext> context = makeContext();
  rt::Result<std::string> path =
      compileToPlan(*context, own, config, folder.getPath());
  // A gradient that no collective reduces as a whole is never in one place.
  if (path.kind() == ErrorKind::unsupported) {
    noGradients = path.message();
    own.fetch.clear();
    context = makeContext();
    path = compileToPlan(*context, own, config, folder.getPath());
  }
  LLMC_TRY(path.status());
  rt::SessionOptions sessionOptions;
  sessionOptions.trustKernels = true;
  LLMC_TRY_ASSIGN(session, rt::openPlanFile(*path, sessionOptions));
  LLMC_TRY_ASSIGN(std::vector<rt::DataSource> sources, rt::findSources(config));
  return useSources(*session, sources);
}

rt::Status Diff::prepare() {
  size_t training = *findPhase("training");
  LLMC_TRY_ASSIGN(module, compileToPhase(*context, options, config, training));
  auto step = module->lookupSymbol<dist::StepOp>("train");
  if (!step)
    return rt::makeError(ErrorKind::usage,
                         options.input +
                             ": expected a model that trains, got one without "
                             "a loss or without parameters");
  numberOps(*module);
  LLMC_TRY(data.open(module->lookupSymbol<func::FuncOp>(step.getMicrobatch()),
                     config, step.getMicrobatches(), /*evaluates=*/false));
  Options one = options;
  one.mesh.clear();
  std::string mesh;
  for (auto &[axis, size] : options.mesh)
    mesh += (mesh.empty() ? "" : ",") + axis + "=" + std::to_string(size);
  for (auto [name, own] : {std::pair(std::string("one device"),
                                     static_cast<const Options *>(&one)),
                           std::pair(mesh, &options)}) {
    if (name.empty())
      continue;
    plans.push_back(std::make_unique<PlanRun>());
    plans.back()->name = name;
    LLMC_TRY(plans.back()->open(*own, config));
    if (std::string &why = plans.back()->noGradients; !why.empty())
      llvm::outs() << name << ": gradients are not compared: " << why << "\n";
  }
  return rt::Status::success();
}

//===----------------------------------------------------------------------===//
// The whole program
//===----------------------------------------------------------------------===//

StepInterpreter::InputSource Diff::getSource() {
  return [this](StringRef input, int64_t step, int64_t microbatch,
                RankedTensorType type) {
    return data.read(input, step, microbatch, type);
  };
}

rt::Status Diff::start(StepInterpreter &interpreter) {
  FirstError error(*context);
  if (failed(interpreter.initializeStates(uint64_t(config.training.seed))))
    return blame(error.status(ErrorKind::diagnosed, "cannot draw the states"),
                 error, "the interpreter", options);
  return rt::Status::success();
}

rt::Status Diff::runWhole(StepInterpreter &interpreter, int64_t step,
                          StepInterpreter::StepResult &result) {
  FirstError error(*context);
  if (failed(interpreter.runStep("train", step, getSource(), result)))
    return blame(error.status(ErrorKind::diagnosed, "interpretation failed"),
                 error, "the interpreter", options);
  return rt::Status::success();
}

/// The op that makes a gradient of the microbatch, or the state's own place.
std::string Diff::placeOf(const StepValue &value) {
  Places places(options.input);
  auto state = value.state.empty()
                   ? dist::StateOp()
                   : module->lookupSymbol<dist::StateOp>(value.state);
  return places.resolve(state ? describeLocation(state.getLoc()) : "");
}

//===----------------------------------------------------------------------===//
// Comparing
//===----------------------------------------------------------------------===//

rt::Status Diff::comparePlan(PlanRun &plan, int64_t step,
                             const StepValues &all) {
  LLMC_TRY(plan.session->run("train", step));
  StepValues want = all;
  if (!plan.noGradients.empty())
    llvm::erase_if(want,
                   [](const StepValue &value) { return value.isGradient; });
  LLMC_TRY_ASSIGN(StepValues got, readValues(*plan.session, want));
  std::vector<double> distances = getDistances(want, got);
  size_t farthest = 0;
  std::optional<size_t> first;
  for (size_t i = 0; i < distances.size(); ++i) {
    if (distances[i] > distances[farthest])
      farthest = i;
    if (!first && distances[i] > options.tolerance)
      first = i;
  }
  llvm::outs() << "step " << step << ", " << plan.name << ": ";
  if (!first) {
    llvm::outs() << want.size() << " values agree with plain loops; farthest: "
                 << rt::escape(want[farthest].name) << ", "
                 << llvm::format("%.2e", distances[farthest]) << "\n";
    return rt::Status::success();
  }
  llvm::outs() << llvm::count_if(
                      distances,
                      [&](double x) { return x > options.tolerance; })
               << " of " << want.size() << " values differ\n";
  return locate(
      step, llvm::formatv("{0}: '{1}' of step {2} on {3} is {4:e2} of its "
                          "largest element from that of plain loops",
                          placeOf(want[*first]), rt::escape(want[*first].name),
                          step, plan.name, distances[*first])
                .str());
}

rt::Status Diff::compareStep(int64_t step, const StepValues &want) {
  for (const StepValue &value : want)
    if (!isFinite(value)) {
      llvm::outs() << "step " << step << ", plain loops: '"
                   << rt::escape(value.name) << "' is not finite\n";
      return findNotFinite(step);
    }
  for (auto &plan : plans)
    LLMC_TRY(comparePlan(*plan, step, want));
  return rt::Status::success();
}

/// The same steps again, each op of the last one seen.
rt::Status Diff::findNotFinite(int64_t step) {
  StepInterpreter interpreter(*module);
  FiniteSearch search;
  LLMC_TRY(start(interpreter));
  for (int64_t i = 0; i <= step; ++i) {
    StepInterpreter::StepResult result;
    if (i == step)
      interpreter.setObserver([&](Operation *op, ArrayRef<HostTensor> results) {
        search.see(op, results);
      });
    LLMC_TRY(runWhole(interpreter, i, result));
  }
  std::string where = "step " + std::to_string(step) + ": ";
  if (!search.found)
    return rt::makeError(ErrorKind::numeric,
                         where + "expected finite values, got a state or an "
                                 "input that is not from the start");
  search.found->place = Places(options.input).resolve(search.found->place);
  return rt::makeError(ErrorKind::numeric, search.found->describe() +
                                               " (the first in step " +
                                               std::to_string(step) + ")");
}

/// The first op whose value differs in lockstep; a note says why none is known.
std::optional<Finding> Diff::findDifference(int64_t step, std::string &note) {
  rt::Result<DeviceProgram> program = DeviceProgram::make(*module, options);
  if (!program) {
    note = program.message();
    return std::nullopt;
  }
  MeshRun mesh(program->takeModule(), *module, uint64_t(config.training.seed));
  DifferenceSearch search(*program, mesh.getMesh(), options.tolerance);
  StepInterpreter interpreter(*module);
  if (!start(interpreter) || failed(mesh.start(interpreter.getStates())))
    return std::nullopt;
  FirstError error(*context);
  StepInterpreter::InputSource source = getSource();
  for (int64_t i = 0; i <= step; ++i) {
    StepInterpreter::StepResult want, got;
    if (i == step) {
      interpreter.setObserver([&](Operation *op, ArrayRef<HostTensor> results) {
        search.keep(op, results);
      });
      mesh.setObserver([&](Operation *op, ArrayRef<DeviceTensors> results) {
        search.compare(op, results);
      });
    }
    if (failed(interpreter.runStep("train", i, source, want)) ||
        failed(mesh.runStep("train", i, source, got)))
      break;
  }
  note = error.message().empty()
             ? "in lockstep by plain loops the devices agree in " +
                   std::to_string(search.numCompared) +
                   " values, so kernels, library or runtime differ"
             : error.message();
  return search.found;
}

rt::Status Diff::locate(int64_t step, const std::string &what) {
  bool hasDevices = false;
  for (auto mesh : module->getOps<dist::MeshOp>())
    hasDevices |= mesh.getAxes().getNumDevices() > 1;
  std::string note = "kernels, library or runtime differ from plain loops";
  std::optional<Finding> found;
  if (hasDevices)
    found = findDifference(step, note);
  if (!found)
    return rt::makeError(ErrorKind::numeric, what).withHint(note);
  found->place = Places(options.input).resolve(found->place);
  return rt::makeError(ErrorKind::numeric, found->describe())
      .withHint("the first of the program; " + what);
}

rt::Status Diff::run() {
  StepInterpreter interpreter(*module);
  LLMC_TRY(start(interpreter));
  int64_t steps = options.steps < 0 ? 2 : options.steps;
  for (int64_t step = 0; step < steps; ++step) {
    StepInterpreter::StepResult result;
    LLMC_TRY(runWhole(interpreter, step, result));
    LLMC_TRY(compareStep(step, readValues(*module, interpreter, result)));
  }
  return rt::Status::success();
}

rt::Status driver::runDiff(Options options) {
  LLMC_TRY_ASSIGN(rt::Config config, readConfig(options));
  TemporaryFolder folder;
  LLMC_TRY(folder.make());
  LLMC_TRY(exportWeights(options, folder.getPath()));
  Diff diff(options, config);
  LLMC_TRY(diff.prepare());
  return diff.run();
}
