//===- Interpret.cpp - Programs without kernels ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Evaluates the training step after phase 1 by plain loops, on the same
// initial states and samples as a run, and prints the same values. With
// `--mesh` the local programs after phase 4 run on all devices in lockstep
// instead, and with `--check` both run and are compared.
//
// Tests: test/Tools/llmc/interpret.test,
// test/EndToEnd/{interpreter,lockstep}.test
//===----------------------------------------------------------------------===//

#include "../Driver/Compile.h"
#include "../Run.h"
#include "InterpretData.h"
#include "InterpretMesh.h"
#include "llmc/Analysis/Program/FetchNames.h"
#include "llmc/Dialect/Dist/IR/RuntimeRules.h"
#include "llmc/Dialect/Dist/IR/Signature.h"
#include "llmc/Interpreter/StepInterpreter.h"
#include "llmc/Runtime/Base/ComplexNames.h"
#include "llmc/Runtime/Base/Log.h"
#include "llmc/Runtime/Base/Names.h"
#include "llmc/Runtime/Executor/HostTensor.h"
#include "llmc/Support/Refusal.h"
#include "llmc/Transforms/Phases/Phases.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <cmath>

using namespace mlir;
using namespace llmc;
using namespace llmc::driver;
using rt::ErrorKind;

/// The whole value of a state; empty for an unknown name.
using StateSource = llvm::function_ref<HostTensor(StringRef)>;

static rt::HostTensor toRuntime(const HostTensor &tensor) {
  rt::HostTensor result = rt::HostTensor::zeros(
      *dist::getRuntimeDType(tensor.getElementType()),
      std::vector<int64_t>(tensor.getShape().begin(), tensor.getShape().end()));
  std::copy_n(reinterpret_cast<const std::byte *>(tensor.bytes()),
              tensor.getNumBytes(), result.bytes.data());
  return result;
}

/// Prints `name`, or writes it as `<dump>/<name>.npy`. `shown` is its type.
static rt::Status give(StringRef name, const rt::HostTensor &value,
                       const std::string &shown, const Options &options) {
  if (options.dump.empty()) {
    llvm::outs() << rt::escape(std::string(name)) << ": " << shown << " = "
                 << rt::printElements(value) << "\n";
    return rt::Status::success();
  }
  if (std::error_code code = llvm::sys::fs::create_directories(options.dump))
    return rt::makeError(ErrorKind::usage,
                         options.dump + ": " + code.message());
  std::string file = name.str();
  llvm::replace(file, '/', '_');
  return rt::writeNpy(value, options.dump + "/" + file + ".npy");
}

/// `options.fetch` with the gradients and metrics that its globs match.
static std::vector<std::string>
nameFetches(const StepInterpreter::StepResult &result, const Options &options) {
  std::vector<std::string> names;
  for (const std::string &pattern : options.fetch) {
    if (pattern.find_first_of("*?") == std::string::npos) {
      names.push_back(pattern);
      continue;
    }
    for (auto &[name, value] : result.gradients)
      if (std::string full = getGradientName(name);
          full != pattern && rt::matchesGlob(pattern, full))
        names.push_back(full);
    for (auto &[name, value] : result.metrics)
      if (std::string full = name.str();
          full != pattern && rt::matchesGlob(pattern, full))
        names.push_back(full);
  }
  return names;
}

static std::string showType(const HostTensor &tensor) {
  std::string text;
  llvm::raw_string_ostream(text) << tensor.getType();
  return text;
}

/// As in a run: the user's states first, the kind where names are equal. Empty
/// for an unknown name.
static HostTensor findValue(StateSource getState,
                            const StepInterpreter::StepResult &result,
                            MLIRContext &context, StringRef name) {
  auto symbol = [&](StringRef text) {
    return StringAttr::get(&context,
                           rt::escapeName({text.data(), text.size()}));
  };
  HostTensor value = getState(symbol(name));
  if (std::optional<StringRef> of = parseGradientName(name); of && !value)
    value = result.gradients.lookup(symbol(*of));
  if (!value)
    value = result.metrics.lookup(StringAttr::get(&context, name));
  if (!value && name.consume_front("metric.")) {
    value = result.metrics.lookup(symbol(name));
    if (!value)
      value = result.metrics.lookup(StringAttr::get(&context, name));
  }
  return value;
}

/// A state, a metric, or `grad.<parameter>` (sum over microbatches); of a
/// complex one both parts together.
static rt::Status fetch(StateSource getState,
                        const StepInterpreter::StepResult &result,
                        MLIRContext &context, const Options &options,
                        const std::string &prefix) {
  auto find = [&](StringRef name) {
    return findValue(getState, result, context, name);
  };
  for (const std::string &name : nameFetches(result, options)) {
    HostTensor value = find(name), real, imag;
    if (!value) {
      real = find(rt::partNameOf(name, 0));
      imag = find(rt::partNameOf(name, 1));
    }
    if (real && imag) {
      rt::HostTensor both = rt::joinParts(toRuntime(real), toRuntime(imag));
      LLMC_TRY(give(prefix + name, both, rt::printType(both), options));
      continue;
    }
    if (!value)
      return rt::makeError(ErrorKind::usage,
                           "--fetch: expected a metric, a state or " +
                               getGradientName("<parameter>") + ", got '" +
                               name + "'");
    LLMC_TRY(give(prefix + name, toRuntime(value), showType(value), options));
  }
  return rt::Status::success();
}

/// One step line, and one line of the log.
static void printStep(int64_t step, const StepInterpreter::StepResult &result,
                      llvm::raw_ostream *log) {
  llvm::json::Object line{{"step", step}}, users;
  llvm::outs() << "step: " << step;
  for (auto &[name, value] : result.metrics) {
    std::string shown = rt::unescapeName(name.getValue());
    llvm::outs() << "  " << shown << ": "
                 << llvm::format("%.6g", value.getFloat(0));
    // JSON has no NaN and no infinity.
    double number = value.getFloat(0);
    (rt::isOurs(name.getValue()) ? line : users)[shown] =
        std::isfinite(number) ? llvm::json::Value(number)
                              : llvm::json::Value(nullptr);
  }
  if (!users.empty())
    line["metrics"] = std::move(users);
  llvm::outs() << "\n";
  if (log)
    *log << llvm::json::Value(std::move(line)) << "\n";
}

/// Prints the results of an entry by their names.
static rt::Status giveResults(func::FuncOp function,
                              ArrayRef<HostTensor> results,
                              const Options &options) {
  for (auto [i, value] : llvm::enumerate(results)) {
    dist::PortAttr port = dist::getResultPort(function, i);
    StringRef text = dist::stringifyPortKind(port.getKind());
    if (StringAttr metric = dist::getMetric(port))
      text = metric;
    else if (port.getName())
      text = port.getName();
    std::string name = rt::unescapeName(text.str());
    LLMC_TRY(give(name, toRuntime(value), showType(value), options));
  }
  return rt::Status::success();
}

namespace {
/// One program, as a whole and, with a mesh, on all devices.
class Interpretation {
public:
  Interpretation(ModuleOp module, MeshRun *mesh, const FunctionData &data,
                 const Options &options, InterpreterLimits limits)
      : module(module), mesh(mesh), interpreter(module, limits),
        options(options),
        source([&data](StringRef input, int64_t step, int64_t microbatch,
                       RankedTensorType type) {
          return data.read(input, step, microbatch, type);
        }) {}

  rt::Status start(uint64_t seed) {
    FirstError error(*module.getContext());
    if (failed(interpreter.initializeStates(seed)) ||
        (mesh && failed(mesh->start(interpreter.getStates()))))
      return blame(error.status(ErrorKind::diagnosed, "cannot draw the states"),
                   error, "the interpreter", options);
    return rt::Status::success();
  }
  rt::Status runEntry(func::FuncOp function);
  rt::Status runSteps(int64_t steps, llvm::raw_ostream *log);

private:
  LogicalResult runStep(int64_t step, StepInterpreter::StepResult &result);
  rt::Status fetchAll(const StepInterpreter::StepResult &result,
                      const std::string &prefix) {
    return fetch(
        [&](StringRef name) {
          return mesh ? mesh->getState(name) : interpreter.getState(name);
        },
        result, *module.getContext(), options, prefix);
  }

  ModuleOp module;
  /// Null: the whole program alone.
  MeshRun *mesh;
  StepInterpreter interpreter;
  const Options &options;
  StepInterpreter::InputSource source;
};
} // namespace

rt::Status Interpretation::runEntry(func::FuncOp function) {
  SmallVector<HostTensor> whole, results;
  FirstError error(*module.getContext());
  if (((!mesh || options.check) &&
       failed(interpreter.runEntry(options.entry, 0, source, whole))) ||
      (mesh &&
       failed(mesh->runEntry(options.entry, source, function, results))))
    return blame(error.status(ErrorKind::diagnosed, "interpretation failed"),
                 error, "the interpreter", options);
  if (mesh && options.check)
    for (auto [i, value] : llvm::enumerate(whole))
      LLMC_TRY(mesh->compare("result " + std::to_string(i), value, results[i]));
  if (mesh && options.check)
    mesh->report();
  return giveResults(function, mesh ? results : whole, options);
}

/// With a mesh, `result` is what the devices computed.
LogicalResult Interpretation::runStep(int64_t step,
                                      StepInterpreter::StepResult &result) {
  StepInterpreter::StepResult whole;
  if (!mesh)
    return interpreter.runStep(options.entry, step, source, result);
  if (options.check &&
      failed(interpreter.runStep(options.entry, step, source, whole)))
    return failure();
  if (failed(mesh->runStep(options.entry, step, source, result)))
    return failure();
  return options.check ? mesh->compareStep(step, interpreter, whole, result)
                       : success();
}

rt::Status Interpretation::runSteps(int64_t steps, llvm::raw_ostream *log) {
  StepInterpreter::StepResult result;
  FirstError error(*module.getContext());
  for (int64_t i = 0; i < steps; ++i) {
    result = {};
    if (failed(runStep(i, result)))
      return blame(error.status(ErrorKind::diagnosed, "interpretation failed"),
                   error, "the interpreter", options);
    printStep(i, result, log);
    if (options.fetchEachStep)
      LLMC_TRY(fetchAll(result, "step-" + std::to_string(i) + "."));
  }
  if (mesh && options.check)
    mesh->report();
  return options.fetchEachStep ? rt::Status::success() : fetchAll(result, "");
}

/// The same program on the devices of its mesh, or nothing.
static rt::Result<std::unique_ptr<MeshRun>>
makeMeshRun(MLIRContext &context, const Options &options,
            const rt::Config &config, ModuleOp whole) {
  auto meshes = whole.getOps<dist::MeshOp>();
  if (options.mesh.empty() || meshes.empty() ||
      (*meshes.begin()).getAxes().getNumDevices() == 1) {
    if (options.check)
      return rt::makeError(ErrorKind::usage,
                           "--check: expected --mesh of several devices");
    return std::unique_ptr<MeshRun>();
  }
  LLMC_TRY_ASSIGN(
      OwningOpRef<ModuleOp> local,
      compileToPhase(context, options, config, *findPhase("local")));
  return std::make_unique<MeshRun>(std::move(local), whole,
                                   static_cast<uint64_t>(config.training.seed));
}

rt::Status driver::runInterpret(const Options &options) {
  LLMC_TRY_ASSIGN(rt::Config config, readConfig(options));
  std::unique_ptr<MLIRContext> context = makeContext();
  LLMC_TRY_ASSIGN(
      OwningOpRef<ModuleOp> module,
      compileToPhase(*context, options, config, *findPhase("training")));
  LLMC_TRY_ASSIGN(std::unique_ptr<MeshRun> mesh,
                  makeMeshRun(*context, options, config, *module));
  auto step = module->lookupSymbol<dist::StepOp>(options.entry);
  auto entry = module->lookupSymbol<dist::EntryOp>(options.entry);
  if (!step && !entry)
    return rt::makeError(ErrorKind::usage,
                         "--entry: expected train, evaluate or forward, got '" +
                             options.entry + "'");
  auto function = module->lookupSymbol<func::FuncOp>(
      step ? step.getMicrobatch() : entry.getFunction());
  FunctionData data;
  LLMC_TRY(data.open(function, config, step ? step.getMicrobatches() : 1,
                     options.entry == "evaluate"));
  // The whole program runs in the memory of one device.
  InterpreterLimits limits;
  if (config.machine.memory > 0)
    limits.maxLiveBytes = static_cast<int64_t>(
        std::min(config.machine.memory, double(limits.maxLiveBytes)));
  Interpretation interpretation(*module, mesh.get(), data, options, limits);
  LLMC_TRY(interpretation.start(static_cast<uint64_t>(config.training.seed)));
  if (entry)
    return interpretation.runEntry(function);
  std::error_code code;
  std::unique_ptr<llvm::raw_fd_ostream> log;
  if (!options.log.empty())
    log = std::make_unique<llvm::raw_fd_ostream>(options.log, code);
  if (code)
    return rt::makeError(ErrorKind::usage, options.log + ": " + code.message());
  return interpretation.runSteps(config.training.steps, log.get());
}
