//===- Options.cpp - The command line of llmc -----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Options.h"
#include "Help.h"
#include "OptionValues.h"
#include "RunFlags.h"
#include "llmc/Codegen/KernelObject.h"
#include "llmc/Runtime/Base/Version.h"
#include "llmc/Runtime/Plan/Format/Plan.h"
#include "llmc/Transforms/Phases/Phases.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Config/llvm-config.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/raw_ostream.h"
#include <filesystem>

using namespace llmc;
using namespace llmc::driver;
using rt::ErrorKind;

namespace {
struct Flags : RunFlags {
  std::optional<Command> findCommand();
  rt::Status fillCheckpoints(rt::CheckpointOptions &options);
  rt::Status fill(Options &options);
};
} // namespace

static rt::Status usage(std::string message) {
  return rt::makeError(ErrorKind::usage, std::move(message));
}

template <typename T>
static rt::Status parseNumber(StringRef flag, StringRef text, T &number) {
  if (!text.getAsInteger(10, number))
    return rt::Status::success();
  return usage(flag.str() + ": expected a whole number, got '" + text.str() +
               "'");
}

static rt::Status checkPhase(StringRef flag, StringRef name) {
  if (findPhase(name))
    return rt::Status::success();
  std::vector<std::string> names;
  for (const PhaseInfo &phase : getPhases())
    names.push_back(phase.name.str());
  std::string near =
      rt::nearest(std::string_view(name.data(), name.size()), names);
  return usage(flag.str() + ": expected a phase out of " +
               llvm::join(names, ", ") + ", got '" + name.str() + "'" +
               (near.empty() ? "" : "; did you mean '" + near + "'?"));
}

/// "gather,pad".
static rt::Status parseStrict(StringRef text, std::vector<std::string> &words) {
  SmallVector<StringRef> parts;
  text.split(parts, ',', -1, false);
  const std::vector<std::string> known = {"replicate", "gather", "pad",
                                          "conflict"};
  for (StringRef part : parts) {
    if (!llvm::is_contained(known, part)) {
      std::string near = rt::nearest(part.str(), known);
      return usage("--strict: expected words out of " +
                   llvm::join(known, ", ") + ", got '" + part.str() + "'" +
                   (near.empty() ? "" : "; did you mean '" + near + "'?"));
    }
    words.push_back(part.str());
  }
  return rt::Status::success();
}

static rt::Status parseTolerance(StringRef text, double &tolerance) {
  if (text.getAsDouble(tolerance) || !(tolerance > 0) || tolerance > 1)
    return usage("--tolerance: expected a number above 0 and at most 1, got '" +
                 text.str() + "'");
  return rt::Status::success();
}

std::optional<Command> Flags::findCommand() {
  std::pair<cl::SubCommand &, Command> commands[] = {
      {train, Command::train},     {compile, Command::compile},
      {run, Command::run},         {interpret, Command::interpret},
      {inspect, Command::inspect}, {ops, Command::ops},
      {explain, Command::explain}, {diff, Command::diff},
      {init, Command::init}};
  for (auto &[given, command] : commands)
    if (given)
      return command;
  return std::nullopt;
}

rt::Status Flags::fillCheckpoints(rt::CheckpointOptions &options) {
  options.folder = checkpoint;
  options.every = checkpointEvery;
  options.best = checkpointBest;
  options.background = checkpointBackground;
  options.resume = resume;
  LLMC_TRY(parseNumber("--checkpoint-keep", checkpointKeep, options.keep));
  if (!checkpointMemory.empty())
    LLMC_TRY(
        parseNumber("--checkpoint-memory", checkpointMemory, options.memory));
  return rt::checkOptions(options);
}

rt::Status Flags::fill(Options &options) {
  std::optional<Command> command = findCommand();
  if (!command)
    return usage("expected a command: train, compile, run, interpret, inspect, "
                 "ops, explain, diff or init; see llmc --help");
  options.command = *command;
  options.input = input;
  if (inspect) {
    // `llmc inspect plan FILE` and `llmc inspect FILE`.
    if (inspected.size() > 2 ||
        (inspected.size() == 2 && inspected[0] != "plan"))
      return usage("expected 'llmc inspect plan <file>'");
    options.input = inspected[inspected.size() - 1];
  }
  options.known = known;
  if (ops) {
    options.input = listed;
    if (known != options.input.empty())
      return usage("expected 'llmc ops <model>' or 'llmc ops --known'");
  }
  options.config = config;
  for (StringRef text : set) {
    auto [key, value] = text.split('=');
    if (key.empty() || !text.contains('='))
      return usage("--set: expected key=value, got '" + text.str() + "'");
    options.overrides.push_back({key.str(), value.str()});
  }
  LLMC_TRY(parseMesh(mesh, options.mesh));
  options.machine = machine;
  LLMC_TRY(checkPhase("--compile-to", compileTo));
  if (!compileFrom.empty())
    LLMC_TRY(checkPhase("--compile-from", compileFrom));
  // The plan may lie elsewhere than where the user stands.
  if (!weights.empty())
    options.weights = std::filesystem::absolute(weights.getValue()).string();
  for (StringRef text : dims)
    LLMC_TRY(parseDim(text, options.dims));
  options.output = output;
  options.compileTo = compileTo;
  options.compileFrom = compileFrom;
  if (auto known = codegen::CodeTarget::parse(target); !known.ok())
    return usage("--target: " + known.message());
  options.target = target;
  if (device.getNumOccurrences()) {
    LLMC_TRY_ASSIGN(options.target, findCodeTarget(device));
  }
  if (!compileFrom.empty() && target.getNumOccurrences())
    return usage("--target: expected none with --compile-from, whose text says "
                 "it, got '" +
                 target + "'");
  options.entry = entry;
  LLMC_TRY(parseNumber("--steps", steps, options.steps));
  if (options.steps < 0 && steps.getNumOccurrences())
    return usage("--steps: expected at least 0, got " + steps);
  options.spike = spike;
  options.rollBack = rollBack;
  LLMC_TRY(parseNumber("--threads", threads, options.threads));
  if (options.threads < 0)
    return usage("--threads: expected at least 0, got " + threads);
  if (options.threads > 1 && options.target != "cpu")
    return usage("--threads: expected none for a device of target '" + target +
                 "', whose launches take all rows, got " + threads);
  LLMC_TRY(fillCheckpoints(options.checkpoints));
  options.data.assign(data.begin(), data.end());
  options.evaluateData.assign(evaluateData.begin(), evaluateData.end());
  for (auto [flag, text, number] :
       {std::tuple("--evaluate-every", &evaluateEvery, &options.evaluateEvery),
        std::tuple("--evaluate-steps", &evaluateSteps,
                   &options.evaluateSteps)}) {
    LLMC_TRY(parseNumber(flag, *text, *number));
    if (*number < 0)
      return usage(std::string(flag) + ": expected at least 0, got " +
                   text->getValue());
  }
  options.dataType = dataType;
  options.log = log;
  options.fetch.assign(fetch.begin(), fetch.end());
  options.events = events;
  options.tensorboard = tensorboard;
  options.trace = trace;
  options.fetchEachStep = fetchEachStep;
  options.count = count;
  options.check = check;
  options.dump = dump;
  LLMC_TRY(readEnvironment(options));
  if (kernelCache.getNumOccurrences())
    options.kernelCache = kernelCache;
  if (kernelEffort.getNumOccurrences()) {
    LLMC_TRY_ASSIGN(options.kernelEffort,
                    codegen::parseKernelEffort(kernelEffort));
  }
  options.printConfig = printConfig;
  options.remarks = remarks;
  options.explain = explained;
  options.value = value;
  options.all = all;
  LLMC_TRY(parseStrict(strict, options.strict));
  LLMC_TRY(parseTolerance(tolerance, options.tolerance));
  options.forms = forms;
  options.timing = timing;
  options.json = json;
  options.trustKernels = trustKernels;
  return rt::Status::success();
}

/// The arguments as a shell takes them.
static std::string quoteCommand(ArrayRef<char *> arguments) {
  std::string line = "llmc";
  for (StringRef argument : arguments.drop_front()) {
    bool isPlain = !argument.empty() && llvm::all_of(argument, [](char c) {
      return llvm::isAlnum(c) || StringRef("-_=./,:+@%").contains(c);
    });
    std::string text = argument.str();
    for (size_t at = 0; (at = text.find('\'', at)) != std::string::npos;
         at += 4)
      text.replace(at, 1, "'\\''");
    line += isPlain ? " " + text : " '" + text + "'";
  }
  return line;
}

rt::Status driver::parseCommandLine(int argc, char **argv, Options &options) {
  options.commandLine = quoteCommand(ArrayRef<char *>(argv, argc));
  Flags flags;
  cl::HideUnrelatedOptions(flags.category);
  for (cl::SubCommand *command :
       {&flags.train, &flags.compile, &flags.run, &flags.interpret,
        &flags.inspect, &flags.ops, &flags.explain, &flags.diff, &flags.init})
    cl::HideUnrelatedOptions(flags.category, *command);
  std::string help = "\n" + describeCommand(argc > 1 ? argv[1] : "");
  cl::extrahelp more(help);
  std::string text;
  llvm::raw_string_ostream errors(text);
  cl::SetVersionPrinter([](llvm::raw_ostream &os) {
    os << "llmc " << rt::version << ", plan format " << rt::plan::formatVersion
       << ", LLVM " << LLVM_VERSION_STRING << "\n";
  });
  if (!cl::ParseCommandLineOptions(argc, argv,
                                   "llmc: from a model graph to a plan that "
                                   "runs in parallel\n",
                                   &errors)) {
    StringRef line = StringRef(text).split('\n').first;
    line.consume_front("llmc: ");
    return usage(line.str());
  }
  options.errorFile = flags.errorFile;
  return flags.fill(options);
}
