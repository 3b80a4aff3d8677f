//===- Compile.cpp - From a model to a plan -------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Import, then the passes of the phases; `--compile-to` and `--compile-from`
// stop and resume at any of them.
//
//===----------------------------------------------------------------------===//

#include "Compile.h"
#include "Memory.h"
#include "Remarks.h"
#include "Strict.h"
#include "Timing.h"
#include "llmc/Analysis/Program/FetchNames.h"
#include "llmc/Codegen/KernelObject.h"
#include "llmc/Dialect/Dist/IR/ProgramTarget.h"
#include "llmc/Dialect/Dist/IR/Signature.h"
#include "llmc/Import/Onnx/Import.h"
#include "llmc/Import/StableHLO/Import.h"
#include "llmc/Import/Text/ReadModule.h"
#include "llmc/Runtime/Base/File.h"
#include "llmc/Runtime/Base/Hash.h"
#include "llmc/Runtime/Base/Names.h"
#include "llmc/Runtime/Checkpoint/Export.h"
#include "llmc/Runtime/Comm/Backend.h"
#include "llmc/Runtime/Config/Sources.h"
#include "llmc/Runtime/Forms/Forms.h"
#include "llmc/Runtime/Plan/Format/PlanFile.h"
#include "llmc/Runtime/Plan/Verify/PlanTimes.h"
#include "llmc/Target/Plan/Plan.h"
#include "llmc/Transforms/Phases/Phases.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Pass/PassManager.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"
#include <filesystem>
#include <thread>

using namespace mlir;
using namespace llmc;
using namespace llmc::driver;
using rt::ErrorKind;

std::unique_ptr<MLIRContext> driver::makeContext() {
  DialectRegistry registry;
  registerAllDialects(registry);
  auto context =
      std::make_unique<MLIRContext>(registry, MLIRContext::Threading::DISABLED);
  context->loadAllAvailableDialects();
  return context;
}

rt::Result<rt::DType> driver::parseDataType(const std::string &name) {
  if (std::optional<rt::DType> dtype = rt::parseDType(name))
    return *dtype;
  return rt::makeError(ErrorKind::usage,
                       "--data-type: expected u8, u16, u32, i32 or i64, got '" +
                           name + "'");
}

/// The files of a flag over those of the configuration.
static rt::Status addFiles(const std::vector<std::string> &flags,
                           rt::FileList rt::DataConfig::*file,
                           rt::Config &config) {
  std::vector<std::string> names;
  for (auto &[name, source] : config.sources)
    names.push_back(name);
  for (const std::string &text : flags) {
    LLMC_TRY_ASSIGN(auto named, rt::splitSource(text, names));
    if (named.first.empty())
      (config.data.*file).patterns = rt::splitPatterns(named.second);
    for (auto &[known, source] : config.sources)
      if (named.first.empty() || named.first == known)
        (source.*file).patterns = rt::splitPatterns(named.second);
  }
  return rt::Status::success();
}

/// `--data`, `--evaluate-data` and `--data-type` over the sources of the
/// configuration.
static rt::Status addData(const Options &options, rt::Config &config) {
  for (const std::string &text : options.data)
    rt::addNamedArray(text, config);
  LLMC_TRY(addFiles(options.data, &rt::DataConfig::file, config));
  LLMC_TRY(
      addFiles(options.evaluateData, &rt::DataConfig::evaluateFile, config));
  if (options.dataType.empty())
    return rt::Status::success();
  LLMC_TRY(parseDataType(options.dataType).status());
  config.data.dtype = options.dataType;
  for (auto &[name, source] : config.sources)
    source.dtype = options.dataType;
  return rt::Status::success();
}

rt::Result<rt::Config> driver::readConfig(const Options &options) {
  LLMC_TRY_ASSIGN(rt::Config config,
                  rt::loadConfig(options.config, options.overrides));
  if (!options.machine.empty())
    LLMC_TRY(rt::loadMachine(options.machine, config, options.overrides));
  if (options.steps >= 0)
    config.training.steps = options.steps;
  LLMC_TRY(addData(options, config));
  return config;
}

rt::Status driver::blame(const rt::Status &status, const FirstError &error,
                         StringRef where, const Options &options) {
  if (error.isRefusal() || !options.compileFrom.empty())
    return status;
  return rt::makeError(ErrorKind::internal,
                       status.message() + " in " + where.str());
}

rt::Status driver::runPasses(ModuleOp module, size_t from, size_t to,
                             const PlanOptions &planOptions,
                             const Options &options) {
  for (size_t phase = from; phase < to; ++phase) {
    FirstError error(*module.getContext());
    PassManager manager(module.getContext());
    manager.enableVerifier(false);
    if (options.timing)
      manager.addInstrumentation(makePassTimes(getPhases()[phase + 1].name));
    buildPhases(manager, phase, phase + 1, planOptions);
    // A pass that reports an error has failed, whatever it returns.
    if (failed(manager.run(module)) || !error.message().empty() ||
        failed(verify(module)))
      return blame(error.status(ErrorKind::diagnosed, "compilation failed"),
                   error, "phase " + getPhases()[phase + 1].name.str(),
                   options);
  }
  return rt::Status::success();
}

/// The names of step slots that `--fetch` asks for, globs included: `grad.*`. A
/// state of the user's that has the name of a slot goes before it.
static std::vector<std::string> getFetchedSlots(ModuleOp module,
                                                const Options &options) {
  std::vector<std::string> names;
  if (options.fetch.empty())
    return names;
  llvm::StringSet<> known;
  SymbolTableCollection tables;
  SymbolTable &symbols = tables.getSymbolTable(module);
  for (auto function : module.getOps<func::FuncOp>())
    for (unsigned i = 0; i < function.getNumResults(); ++i) {
      dist::PortAttr port = dist::getResultPort(function, i);
      if (!dist::isSum(port))
        continue;
      std::string name = getFetchName(tables, module, port);
      if (symbols.lookup<dist::StateOp>(rt::escapeName(name)))
        continue;
      for (const std::string &pattern : options.fetch)
        if (rt::matchesGlob(pattern, name) && known.insert(name).second)
          names.push_back(name);
    }
  return names;
}

/// What knows the target's library; null where the program calls none. A build
/// may lack the backend of its kernels.
static rt::Result<const rt::Backend *> findLibraryBackend(ModuleOp module) {
  bool isCalled =
      module.walk([](plan::LibraryOp) { return WalkResult::interrupt(); })
          .wasInterrupted();
  if (!isCalled)
    return nullptr;
  return rt::findBackend(dist::getTargetName(module).str());
}

/// Gives each call of the target's library the workspace that it asks for.
static rt::Status reserveScratch(ModuleOp module, const Options &options) {
  Stopwatch watch(options.timing);
  LLMC_TRY_ASSIGN(const rt::Backend *backend, findLibraryBackend(module));
  if (!backend)
    return rt::Status::success();
  rt::FormTable forms;
  if (!options.forms.empty()) {
    LLMC_TRY_ASSIGN(forms, rt::FormTable::read(options.forms));
  }
  FirstError error(*module.getContext());
  auto ask = [&](const rt::LibraryDescriptor &descriptor,
                 int32_t threads) -> rt::Result<target::LibraryUse> {
    rt::LibraryShape shape{std::string(rt::nameOf(descriptor)), descriptor,
                           threads, 0};
    if (!options.forms.empty()) {
      LLMC_TRY_ASSIGN(shape.form, forms.find(*backend, descriptor, threads));
    }
    LLMC_TRY_ASSIGN(uint64_t bytes, backend->libraryWorkspace(shape));
    return target::LibraryUse{shape.form, bytes};
  };
  if (failed(target::reserveWorkspaces(module, ask)))
    return blame(error.status(ErrorKind::diagnosed, "cannot reserve scratch"),
                 error, "phase plan", options);
  if (forms.numMeasured()) {
    LLMC_TRY(forms.write(options.forms));
    llvm::errs() << "forms: measured " << forms.numMeasured()
                 << " calls of the library, kept in '" << options.forms
                 << "'\n";
  }
  watch.lap("ordered scratch");
  return rt::Status::success();
}

/// What the last phases take beside the program is kept in it, so that resuming
/// needs the text alone.
static void keepOptions(ModuleOp module, const Options &options,
                        const rt::Config &config) {
  // Virtual devices share the processor.
  int64_t devices = 1, there = std::thread::hardware_concurrency();
  for (auto mesh : module.getOps<dist::MeshOp>())
    devices = mesh.getAxes().getNumDevices();
  int64_t threads =
      options.threads ? options.threads : std::max<int64_t>(1, there / devices);
  OpBuilder builder = OpBuilder::atBlockEnd(module.getBody());
  bool isCpu = options.target == "cpu";
  // A launch takes all rows of a kernel.
  dist::ExecutionOp::create(
      builder, module.getLoc(), config.training.seed, isCpu ? threads : 1,
      isCpu ? StringAttr() : builder.getStringAttr(options.target));
}

static PlanOptions readOptions(ModuleOp module, const Options &options) {
  PlanOptions planOptions;
  for (auto execution : module.getOps<dist::ExecutionOp>()) {
    planOptions.seed = execution.getSeed();
    planOptions.threads = execution.getThreads();
  }
  planOptions.fetch = getFetchedSlots(module, options);
  return planOptions;
}

/// All phases after `from` up to `to`, with what they need from outside.
static rt::Status runPhases(ModuleOp module, const Options &options,
                            size_t from, size_t to) {
  size_t memory = *findPhase("memory"), ordered = *findPhase("ordered");
  size_t first = std::min(to, memory);
  if (from < first)
    LLMC_TRY(runPasses(module, from, first, {}, options));
  from = std::max(from, first);
  PlanOptions planOptions = readOptions(module, options);
  size_t second = std::min(to, ordered);
  if (from < second)
    LLMC_TRY(runPasses(module, from, second, planOptions, options));
  if (to <= ordered)
    return rt::Status::success();
  LLMC_TRY(reserveScratch(module, options));
  return runPasses(module, std::max(from, second), to, {}, options);
}

/// A text to resume from has something that can be run, whatever its phase.
static rt::Status checkResumed(ModuleOp module, const Options &options) {
  for (Operation &op : *module.getBody())
    if (isa<dist::TrainingOp, dist::StepOp, dist::EntryOp, dist::TimelineOp>(
            op) ||
        op.getName().getDialectNamespace() == "plan")
      return rt::Status::success();
  return rt::makeError(ErrorKind::malformed,
                       options.input +
                           ": expected a program as it is after "
                           "phase '" +
                           options.compileFrom +
                           "', got a module with nothing to run");
}

rt::Status driver::exportWeights(Options &options, const std::string &folder) {
  if (options.weights.empty() || !llvm::sys::fs::is_directory(options.weights))
    return rt::Status::success();
  if (std::error_code code = llvm::sys::fs::create_directories(folder))
    return rt::makeError(ErrorKind::malformed, folder + ": " + code.message());
  std::string file =
      std::filesystem::absolute(folder + "/weights.safetensors").string();
  LLMC_TRY(
      rt::exportCheckpoint(options.weights, file, rt::ExportedStates::model)
          .status());
  options.weights = file;
  return rt::Status::success();
}

/// Phase 0, by the frontend of the file's kind.
static rt::Result<OwningOpRef<ModuleOp>> importModel(MLIRContext &context,
                                                     const Options &options,
                                                     const rt::Config &config,
                                                     std::string *description) {
  if (!options.weights.empty() && llvm::sys::fs::is_directory(options.weights))
    return rt::makeError(ErrorKind::usage,
                         "--weights: expected a safetensors file for what is "
                         "no plan, got the folder '" +
                             options.weights + "'")
        .withHint("llmc export it first");
  bool mustTrain =
      options.command != Command::compile && options.entry == "train";
  import::Options importOptions{config,       options.mesh, options.weights,
                                options.dims, mustTrain,    options.seeGraph};
  if (onnx::isOnnxFile(options.input))
    return onnx::importOnnx(context, options.input, importOptions, description);
  if (!options.dims.empty())
    return rt::makeError(ErrorKind::usage,
                         "--dim: expected a model with symbolic dimensions, an "
                         ".onnx file, got '" +
                             options.input + "'");
  return import::importStableHLO(context, options.input, importOptions,
                                 description);
}

rt::Result<OwningOpRef<ModuleOp>>
driver::compileToPhase(MLIRContext &context, const Options &options,
                       const rt::Config &config, size_t to,
                       std::string *description) {
  size_t from = 0;
  Stopwatch watch(options.timing);
  OwningOpRef<ModuleOp> module;
  if (options.compileFrom.empty()) {
    LLMC_TRY_ASSIGN(module, importModel(context, options, config, description));
    keepOptions(*module, options, config);
  } else {
    from = *findPhase(options.compileFrom);
    LLMC_TRY_ASSIGN(module, import::readModule(context, options.input));
    LLMC_TRY(checkResumed(*module, options));
  }
  if (from > to)
    return rt::makeError(ErrorKind::usage,
                         "--compile-from: expected a phase before '" +
                             getPhases()[to].name.str() + "', got '" +
                             options.compileFrom + "'");
  watch.lap(options.compileFrom.empty() ? "import" : "read");
  LLMC_TRY(runPhases(*module, options, from, to));
  return module;
}

ModuleOp driver::findKernels(ModuleOp module) {
  for (auto nested : module.getOps<ModuleOp>())
    if (!nested.getBody()->empty())
      return nested;
  return {};
}

namespace {
/// Passes run on one thread, kernels become machine code on all.
class AllThreads {
public:
  explicit AllThreads(MLIRContext &context) : context(context) {
    context.enableMultithreading();
  }
  ~AllThreads() { context.disableMultithreading(); }

private:
  MLIRContext &context;
};
} // namespace

/// Makes `<folder>/kernels.so` and says what is in it.
static rt::Result<rt::plan::Manifest>
writeKernels(ModuleOp module, const std::string &folder,
             target::PlanOptions &planOptions, const Options &options) {
  ModuleOp kernels = findKernels(module);
  if (!kernels)
    return rt::plan::Manifest();
  FirstError error(*module.getContext());
  planOptions.objectFile = "kernels.so";
  std::string path = folder + "/" + planOptions.objectFile;
  std::optional<codegen::KernelCache> cache;
  if (!options.kernelCache.empty()) {
    LLMC_TRY_ASSIGN(auto opened,
                    codegen::KernelCache::open(options.kernelCache));
    cache = std::move(opened);
  }
  AllThreads parallel(*module.getContext());
  LLMC_TRY_ASSIGN(codegen::CodeTarget target,
                  codegen::CodeTarget::parse(dist::getTarget(module)));
  codegen::KernelBuild build{cache ? &*cache : nullptr, options.kernelEffort};
  FailureOr<rt::plan::Manifest> manifest = codegen::getManifest(kernels);
  FailureOr<codegen::KernelObjects> objects = failure();
  if (succeeded(manifest))
    objects =
        target.isDevice()
            ? codegen::compileDeviceKernels(kernels, target, *manifest, build)
            : codegen::compileKernels(kernels, build);
  if (failed(objects) || failed(codegen::linkKernels(kernels, *objects, path)))
    return blame(
        error.status(ErrorKind::diagnosed, "cannot compile the kernels"), error,
        "the compilation of kernels", options);
  LLMC_TRY_ASSIGN(rt::MappedFile bytes, rt::MappedFile::open(path));
  planOptions.objectHash = rt::hash64(bytes.data(), bytes.size());
  return *manifest;
}

/// By the machine's numbers; empty where it does not say them, and where
/// nothing is communicated.
static rt::Result<std::string> describeTime(const std::string &path,
                                            const std::string &name) {
  LLMC_TRY_ASSIGN(rt::plan::Plan plan, rt::plan::readPlan(path));
  for (const rt::plan::Entry &entry : plan.entries) {
    if (entry.name != name || !rt::plan::isMachineKnown(plan))
      continue;
    rt::Result<rt::plan::PlannedStep> step = rt::plan::planStep(plan, entry);
    // A step of too many instructions runs, but is not worked out.
    if (!step || step->communication == 0)
      return std::string();
    constexpr double milli = 1e3;
    return llvm::formatv("time by the machine: {0:f3} ms a step, {1:f3} ms of "
                         "it exposed communication, of {2:f3} ms\n",
                         milli * step->seconds, milli * step->exposed,
                         milli * step->communication)
        .str();
  }
  return std::string();
}

rt::Result<std::string>
driver::compileToPlan(MLIRContext &context, const Options &options,
                      const rt::Config &config, const std::string &folder,
                      std::string *description, std::string *time,
                      const InspectPlan &inspect) {
  LLMC_TRY_ASSIGN(OwningOpRef<ModuleOp> module,
                  compileToPhase(context, options, config,
                                 getPhases().size() - 1, description));
  if (inspect)
    LLMC_TRY(inspect(*module));
  LLMC_TRY(checkMemory(*module, options, config));
  if (std::error_code code = llvm::sys::fs::create_directories(folder))
    return rt::makeError(ErrorKind::malformed, folder + ": " + code.message());
  if (!llvm::sys::fs::is_directory(folder))
    return rt::makeError(ErrorKind::malformed, folder + ": expected a folder");
  Stopwatch watch(options.timing);
  target::PlanOptions planOptions;
  planOptions.name = module->getSymName().value_or("plan").str();
  planOptions.target = dist::getTargetName(*module).str();
  LLMC_TRY_ASSIGN(rt::plan::Manifest manifest,
                  writeKernels(*module, folder, planOptions, options));
  watch.lap("kernels.so");
  std::string path = folder + "/plan.llmc";
  LLMC_TRY(target::writePlan(*module, manifest, planOptions, path));
  watch.lap("plan.llmc");
  if (time) {
    LLMC_TRY_ASSIGN(*time, describeTime(path, options.entry));
  }
  return path;
}

/// The module's text with locations, so that nothing is lost by resuming.
static rt::Status writeModule(ModuleOp module, const std::string &path) {
  std::string text;
  llvm::raw_string_ostream os(text);
  module->print(os, OpPrintingFlags().enableDebugInfo());
  os << "\n";
  if (path.empty() || path == "-") {
    llvm::outs() << text;
    return rt::Status::success();
  }
  return rt::writeFileAtomically(path, text);
}

std::string driver::describeArguments(const rt::plan::Plan &plan) {
  constexpr size_t shown = 8;
  std::vector<std::string> parameters, carried, inputs;
  for (const rt::plan::State &state : plan.states) {
    if (state.role == rt::plan::StateRole::parameter)
      parameters.push_back(state.name);
    if (state.role == rt::plan::StateRole::carried)
      carried.push_back(state.name);
  }
  for (const rt::plan::Entry &entry : plan.entries)
    for (const rt::plan::Input &input : entry.inputs)
      if (std::find(inputs.begin(), inputs.end(), input.name) == inputs.end())
        inputs.push_back(input.name);
  std::string text = "arguments: parameters " +
                     (parameters.empty() ? std::string("none")
                                         : rt::listGlobbed(parameters, shown));
  if (!carried.empty())
    text += "; carried " + rt::listGlobbed(carried, shown);
  return text + "; inputs " +
         (inputs.empty() ? "none" : rt::listGlobbed(inputs, shown)) + "\n";
}

rt::Status driver::runCompile(Options options) {
  LLMC_TRY_ASSIGN(rt::Config config, readConfig(options));
  if (options.printConfig) {
    llvm::outs() << rt::printConfig(config);
    return rt::Status::success();
  }
  std::unique_ptr<MLIRContext> context = makeContext();
  bool isQuiet = options.remarks.empty() && options.strict.empty();
  Remarks remarks(*context, isQuiet ? RemarkKinds::None : RemarkKinds::Costs);
  size_t to = *findPhase(options.compileTo);
  if (options.compileTo != "plan") {
    LLMC_TRY_ASSIGN(OwningOpRef<ModuleOp> module,
                    compileToPhase(*context, options, config, to));
    LLMC_TRY(checkStrict(remarks, options));
    if (!options.remarks.empty())
      LLMC_TRY(remarks.write(options.remarks));
    return writeModule(*module, options.output);
  }
  if (options.output.empty() || options.output == "-")
    return rt::makeError(ErrorKind::usage, "expected -o <folder> for the plan");
  LLMC_TRY(exportWeights(options, options.output));
  std::string description, time;
  LLMC_TRY_ASSIGN(std::string path,
                  compileToPlan(*context, options, config, options.output,
                                &description, &time, [&](ModuleOp) {
                                  return checkStrict(remarks, options);
                                }));
  if (!options.remarks.empty())
    LLMC_TRY(remarks.write(options.remarks));
  Stopwatch watch(options.timing);
  LLMC_TRY_ASSIGN(rt::plan::Plan plan, rt::plan::readPlan(path));
  watch.lap("read plan.llmc");
  llvm::outs() << (description.empty() ? describeArguments(plan) : description)
               << time << path << "\n";
  return rt::Status::success();
}
