//===- Interpret.cpp - Programs without kernels ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Evaluates the training step behind phase 1 by plain loops, on the same
// initial states and samples as a run, and prints the same values.
//
//===----------------------------------------------------------------------===//

#include "Compile.h"
#include "Run.h"
#include "llmc/Dialect/Dist/IR/RuntimeRules.h"
#include "llmc/Interpreter/StepInterpreter.h"
#include "llmc/Runtime/Executor/Corpus.h"
#include "llmc/Runtime/Executor/HostTensor.h"
#include "llmc/Support/FirstError.h"
#include "llmc/Transforms/Pipelines/Phases.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::driver;
using rt::ErrorKind;

namespace {
/// Windows of the corpus for the inputs of one function.
struct Samples {
  std::optional<rt::Corpus> corpus;
  uint64_t seed = 0;
  int64_t microbatches = 1;
  int64_t window = 0;
  llvm::StringMap<int64_t> offsets;

  rt::Status open(func::FuncOp function, const rt::Config &config);
  FailureOr<HostTensor> read(StringRef input, int64_t step, int64_t microbatch,
                             RankedTensorType type) const;
};
} // namespace

static int64_t getRowElements(RankedTensorType type) {
  return type.getRank() ? type.getNumElements() / type.getDimSize(0) : 1;
}

rt::Status Samples::open(func::FuncOp function, const rt::Config &config) {
  seed = static_cast<uint64_t>(config.training.seed);
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    auto name =
        function.getArgAttrOfType<StringAttr>(i, dist::DistDialect::kInput);
    auto offset = function.getArgAttrOfType<IntegerAttr>(
        i, dist::DistDialect::kDataOffset);
    if (!name || !offset)
      continue;
    offsets[name.getValue()] = offset.getInt();
    auto type = cast<RankedTensorType>(function.getArgument(i).getType());
    window = std::max(window, offset.getInt() + getRowElements(type));
  }
  if (config.data.file.empty())
    return rt::Status::success();
  std::optional<rt::DType> dtype = rt::parseDType(config.data.dtype);
  if (!dtype)
    return rt::makeError(ErrorKind::usage, "expected a type of tokens, got '" +
                                               config.data.dtype + "'");
  LLMC_TRY_ASSIGN(corpus, rt::Corpus::open(config.data.file, *dtype));
  return corpus->checkWindow(window);
}

FailureOr<HostTensor> Samples::read(StringRef input, int64_t step,
                                    int64_t microbatch,
                                    RankedTensorType type) const {
  auto offset = offsets.find(input);
  std::optional<rt::DType> dtype = dist::getRuntimeDType(type.getElementType());
  if (!corpus || offset == offsets.end() || !dtype)
    return mlir::emitError(UnknownLoc::get(type.getContext()))
           << "expected data for input '" << input << "'";
  HostTensor tensor(type);
  int64_t batch = type.getRank() ? type.getDimSize(0) : 1;
  int64_t row = getRowElements(type);
  for (int64_t i = 0; i < batch; ++i) {
    int64_t sample = (step * microbatches + microbatch) * batch + i;
    corpus->readSample(
        seed, static_cast<uint64_t>(sample), window, offset->second, row,
        *dtype, tensor.mutableBytes() + i * row * tensor.getElementBytes());
  }
  return tensor;
}

static rt::HostTensor toRuntime(const HostTensor &tensor) {
  rt::HostTensor result = rt::HostTensor::zeros(
      *dist::getRuntimeDType(tensor.getElementType()),
      std::vector<int64_t>(tensor.getShape().begin(), tensor.getShape().end()));
  std::memcpy(result.bytes.data(), tensor.bytes(), tensor.getNumBytes());
  return result;
}

/// Prints `name`, or writes it as `<dump>/<name>.npy`.
static rt::Status give(StringRef name, const HostTensor &tensor,
                       const Options &options) {
  rt::HostTensor value = toRuntime(tensor);
  if (options.dump.empty()) {
    llvm::outs() << name << ": " << tensor.getType() << " = "
                 << rt::printElements(value) << "\n";
    return rt::Status::success();
  }
  if (std::error_code code = llvm::sys::fs::create_directories(options.dump))
    return rt::makeError(ErrorKind::usage,
                         options.dump + ": " + code.message());
  return rt::writeNpy(value, options.dump + "/" + name.str() + ".npy");
}

/// `options.fetch` with the gradients and metrics that its globs match.
static std::vector<std::string>
nameFetches(const StepInterpreter::StepResult &result, const Options &options) {
  std::vector<std::string> names;
  for (const std::string &pattern : options.fetch) {
    if (pattern.find_first_of("*?") == std::string::npos)
      names.push_back(pattern);
    for (auto &[name, value] : result.gradients)
      if (std::string full = "grad." + name.str();
          full != pattern && rt::matchesGlob(pattern, full))
        names.push_back(full);
    for (auto &[name, value] : result.metrics)
      if (std::string full = name.str();
          full != pattern && rt::matchesGlob(pattern, full))
        names.push_back(full);
  }
  return names;
}

/// A state, a metric, or `grad.<parameter>` (sum over microbatches).
static rt::Status fetch(StepInterpreter &interpreter,
                        const StepInterpreter::StepResult &result,
                        MLIRContext &context, const Options &options,
                        const std::string &prefix) {
  for (const std::string &text : nameFetches(result, options)) {
    StringRef name = text;
    HostTensor value;
    if (StringRef parameter = name; parameter.consume_front("grad.")) {
      auto found = result.gradients.find(StringAttr::get(&context, parameter));
      if (found != result.gradients.end())
        value = found->second;
    } else if (auto metric =
                   result.metrics.find(StringAttr::get(&context, name));
               metric != result.metrics.end()) {
      value = metric->second;
    } else {
      value = interpreter.getState(name);
    }
    if (!value)
      return rt::makeError(ErrorKind::usage,
                           "--fetch: expected a metric, a state or "
                           "grad.<parameter>, got '" +
                               name.str() + "'");
    LLMC_TRY(give(prefix + text, value, options));
  }
  return rt::Status::success();
}

/// One step line, and one line of the log.
static void printStep(int64_t step, const StepInterpreter::StepResult &result,
                      llvm::raw_ostream *log) {
  llvm::json::Object line{{"step", step}};
  llvm::outs() << "step: " << step;
  for (auto &[name, value] : result.metrics) {
    llvm::outs() << "  " << name.getValue() << ": "
                 << llvm::format("%.6g", value.getFloat(0));
    line[name.getValue()] = value.getFloat(0);
  }
  llvm::outs() << "\n";
  if (log)
    *log << llvm::json::Value(std::move(line)) << "\n";
}

static rt::Status interpretEntry(StepInterpreter &interpreter,
                                 const Samples &samples, ModuleOp module,
                                 const Options &options) {
  auto entry = module.lookupSymbol<dist::EntryOp>(options.entry);
  SmallVector<HostTensor> results;
  FirstError error(*module.getContext());
  if (failed(interpreter.runEntry(
          options.entry, 0,
          [&](StringRef input, int64_t step, int64_t microbatch,
              RankedTensorType type) {
            return samples.read(input, step, microbatch, type);
          },
          results)))
    return error.status(ErrorKind::diagnosed, "interpretation failed");
  auto function = module.lookupSymbol<func::FuncOp>(entry.getFunction());
  for (auto [i, value] : llvm::enumerate(results)) {
    std::string name = "result" + std::to_string(i);
    for (StringRef mark : {dist::DistDialect::kMetric, dist::DistDialect::kName,
                           dist::DistDialect::kRole})
      if (auto text = function.getResultAttrOfType<StringAttr>(i, mark)) {
        name = text.str();
        break;
      }
    LLMC_TRY(give(name, value, options));
  }
  return rt::Status::success();
}

rt::Status driver::runInterpret(const Options &options) {
  LLMC_TRY_ASSIGN(rt::Config config, readConfig(options));
  std::unique_ptr<MLIRContext> context = makeContext();
  LLMC_TRY_ASSIGN(
      OwningOpRef<ModuleOp> module,
      compileToPhase(*context, options, config, *findPhase("training")));
  StepInterpreter interpreter(*module);
  FirstError error(*context);
  if (failed(interpreter.initializeStates(
          static_cast<uint64_t>(config.training.seed))))
    return error.status(ErrorKind::diagnosed, "cannot draw the states");
  auto step = module->lookupSymbol<dist::StepOp>(options.entry);
  auto entry = module->lookupSymbol<dist::EntryOp>(options.entry);
  if (!step && !entry)
    return rt::makeError(ErrorKind::usage,
                         "--entry: expected train, evaluate or forward, got '" +
                             options.entry + "'");
  Samples samples;
  samples.microbatches = step ? step.getMicrobatches() : 1;
  LLMC_TRY(samples.open(module->lookupSymbol<func::FuncOp>(
                            step ? step.getMicrobatch() : entry.getFunction()),
                        config));
  if (entry)
    return interpretEntry(interpreter, samples, *module, options);
  std::error_code code;
  std::unique_ptr<llvm::raw_fd_ostream> log;
  if (!options.log.empty())
    log = std::make_unique<llvm::raw_fd_ostream>(options.log, code);
  if (code)
    return rt::makeError(ErrorKind::usage, options.log + ": " + code.message());
  StepInterpreter::StepResult result;
  for (int64_t i = 0; i < config.training.steps; ++i) {
    result = {};
    if (failed(interpreter.runStep(
            options.entry, i,
            [&](StringRef input, int64_t step, int64_t microbatch,
                RankedTensorType type) {
              return samples.read(input, step, microbatch, type);
            },
            result)))
      return error.status(ErrorKind::diagnosed, "interpretation failed");
    printStep(i, result, log.get());
    if (options.fetchEachStep)
      LLMC_TRY(fetch(interpreter, result, *context, options,
                     "step-" + std::to_string(i) + "."));
  }
  return options.fetchEachStep
             ? rt::Status::success()
             : fetch(interpreter, result, *context, options, "");
}
