//===- Options.cpp - The command line of llmc -----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Options.h"
#include "OptionValues.h"
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
namespace cl = llvm::cl;

namespace {
/// Ours among the flags that LLVM's libraries register.
cl::OptionCategory category("llmc options");

/// The flags, grouped by the subcommands that have them.
struct Flags {
  cl::SubCommand train{"train", "compile a model and train it"};
  cl::SubCommand compile{"compile", "compile a model to a plan, or to the IR "
                                    "after a phase"};
  cl::SubCommand run{"run", "run a plan"};
  cl::SubCommand interpret{"interpret", "evaluate a program without kernels"};
  cl::SubCommand inspect{"inspect", "print a plan"};
  cl::SubCommand ops{"ops", "list the ops of a model, what llmc lacks first"};
  cl::SubCommand explain{"explain",
                         "say what a plan needs and moves, where and "
                         "why"};
  cl::SubCommand diff{"diff", "find the first value in which the devices "
                              "differ from one device"};
  cl::SubCommand init{"init", "write a configuration to begin with"};

  cl::opt<std::string> input{
      cl::Positional,   cl::cat(category),  cl::desc("<model or plan>"),
      cl::Required,     cl::sub(train),     cl::sub(compile),
      cl::sub(run),     cl::sub(interpret), cl::sub(ops),
      cl::sub(explain), cl::sub(diff),      cl::sub(init)};
  cl::list<std::string> inspected{cl::Positional, cl::cat(category),
                                  cl::desc("[plan] <file>"), cl::OneOrMore,
                                  cl::sub(inspect)};
  cl::opt<std::string> config{"config",
                              cl::cat(category),
                              cl::desc("strategy (TOML)"),
                              cl::value_desc("file"),
                              cl::sub(train),
                              cl::sub(compile),
                              cl::sub(interpret),
                              cl::sub(explain),
                              cl::sub(diff)};
  cl::list<std::string> set{"set",
                            cl::cat(category),
                            cl::desc("key=value over the configuration"),
                            cl::sub(train),
                            cl::sub(compile),
                            cl::sub(interpret),
                            cl::sub(explain),
                            cl::sub(diff)};
  cl::opt<std::string> mesh{"mesh",
                            cl::cat(category),
                            cl::desc("sizes of axes: data=2,tensor=2"),
                            cl::sub(train),
                            cl::sub(compile),
                            cl::sub(interpret),
                            cl::sub(explain),
                            cl::sub(diff)};
  cl::opt<std::string> machine{"machine",
                               cl::cat(category),
                               cl::desc("links and devices (TOML, [machine])"),
                               cl::value_desc("file"),
                               cl::sub(train),
                               cl::sub(compile),
                               cl::sub(interpret),
                               cl::sub(explain),
                               cl::sub(diff)};
  cl::opt<std::string> weights{"weights",
                               cl::cat(category),
                               cl::desc("initial parameters: safetensors, or a "
                                        "checkpoint"),
                               cl::value_desc("file"),
                               cl::sub(train),
                               cl::sub(compile),
                               cl::sub(interpret),
                               cl::sub(explain),
                               cl::sub(diff)};
  cl::list<std::string> dims{"dim",
                             cl::cat(category),
                             cl::desc("size of a symbolic dimension of an "
                                      ".onnx file"),
                             cl::value_desc("name=size"),
                             cl::sub(train),
                             cl::sub(compile),
                             cl::sub(interpret),
                             cl::sub(explain),
                             cl::sub(diff),
                             cl::sub(init)};
  cl::opt<std::string> output{
      "o",
      cl::cat(category),
      cl::desc("folder of the plan, or file of a "
               "phase's IR or of a configuration (-: stdout)"),
      cl::value_desc("path"),
      cl::sub(compile),
      cl::sub(init)};
  cl::opt<std::string> compileTo{"compile-to",
                                 cl::cat(category),
                                 cl::desc("stop after this phase"),
                                 cl::value_desc("phase"),
                                 cl::init("plan"),
                                 cl::sub(compile)};
  cl::opt<std::string> target{
      "target",
      cl::cat(category),
      cl::desc("what kernels are compiled for: cpu, cuda:sm_80 or cuda:sm_90"),
      cl::value_desc("target"),
      cl::init("cpu"),
      cl::sub(compile)};
  cl::opt<std::string> device{
      "device",
      cl::cat(category),
      cl::desc("what the model is trained on: cpu, or cuda, the GPUs that this "
               "machine has"),
      cl::value_desc("device"),
      cl::init("cpu"),
      cl::sub(train)};
  cl::opt<std::string> compileFrom{"compile-from",
                                   cl::cat(category),
                                   cl::desc("the input is the IR after this "
                                            "phase"),
                                   cl::value_desc("phase"),
                                   cl::sub(compile),
                                   cl::sub(interpret)};
  cl::opt<std::string> entry{"entry",
                             cl::cat(category),
                             cl::desc("train, evaluate or forward"),
                             cl::init("train"),
                             cl::sub(train),
                             cl::sub(run),
                             cl::sub(interpret),
                             cl::sub(explain)};
  // Numbers are text here: errors are reported in one place, as one line.
  cl::opt<std::string> steps{"steps",
                             cl::cat(category),
                             cl::desc("number of steps"),
                             cl::init("-1"),
                             cl::sub(train),
                             cl::sub(run),
                             cl::sub(interpret),
                             cl::sub(diff)};
  cl::opt<std::string> threads{"threads",
                               cl::cat(category),
                               cl::desc("threads of a device (0: all)"),
                               cl::init("0"),
                               cl::sub(train),
                               cl::sub(compile),
                               cl::sub(run)};
  cl::list<std::string> data{"data",
                             cl::cat(category),
                             cl::desc("files and globs of a source, or of all"),
                             cl::value_desc("[source=]file,..."),
                             cl::sub(train),
                             cl::sub(run),
                             cl::sub(interpret),
                             cl::sub(diff)};
  cl::list<std::string> evaluateData{
      "evaluate-data",
      cl::cat(category),
      cl::desc("the same for the entry evaluate alone"),
      cl::value_desc("[source=]file,..."),
      cl::sub(train),
      cl::sub(run),
      cl::sub(interpret)};
  cl::opt<std::string> evaluateEvery{
      "evaluate-every", cl::cat(category),
      cl::desc("evaluate on held-out data after so many steps (0: never)"),
      cl::init("0"), cl::sub(run)};
  cl::opt<std::string> evaluateSteps{
      "evaluate-steps", cl::cat(category),
      cl::desc("batches of an evaluation (0: all)"), cl::init("0"),
      cl::sub(run)};
  cl::opt<std::string> dataType{
      "data-type",
      cl::cat(category),
      cl::desc("type of raw tokens: u8, u16, u32, i32, ..."),
      cl::sub(train),
      cl::sub(run),
      cl::sub(interpret),
      cl::sub(diff)};
  cl::opt<std::string> log{"log",
                           cl::cat(category),
                           cl::desc("a JSON line for each step"),
                           cl::value_desc("file"),
                           cl::sub(train),
                           cl::sub(run),
                           cl::sub(interpret)};
  cl::opt<std::string> events{"events",
                              cl::cat(category),
                              cl::desc("a JSON line for all that happens"),
                              cl::value_desc("file"),
                              cl::sub(train),
                              cl::sub(run)};
  cl::opt<std::string> tensorboard{
      "tensorboard",
      cl::cat(category),
      cl::desc("gets a file of numbers for TensorBoard"),
      cl::value_desc("folder"),
      cl::sub(train),
      cl::sub(run)};
  cl::opt<std::string> trace{
      "trace",
      cl::cat(category),
      cl::desc("when each instruction ran, for Perfetto or Chrome"),
      cl::value_desc("file"),
      cl::sub(train),
      cl::sub(run)};
  cl::list<std::string> fetch{"fetch",
                              cl::cat(category),
                              cl::desc("names of values to print"),
                              cl::CommaSeparated,
                              cl::sub(train),
                              cl::sub(run),
                              cl::sub(interpret)};
  cl::opt<bool> fetchEachStep{
      "fetch-each-step",
      cl::cat(category),
      cl::desc("fetch after each step, as step-<n>.<name>"),
      cl::sub(train),
      cl::sub(run),
      cl::sub(interpret)};
  cl::opt<bool> count{"count", cl::cat(category),
                      cl::desc("count what devices communicate and compare "
                               "with the plan"),
                      cl::sub(train), cl::sub(run)};
  cl::opt<bool> check{"check", cl::cat(category),
                      cl::desc("compare the devices of --mesh with the whole "
                               "program"),
                      cl::sub(interpret)};
  cl::opt<std::string> dump{"dump",
                            cl::cat(category),
                            cl::desc("folder of fetched .npy files"),
                            cl::value_desc("folder"),
                            cl::sub(train),
                            cl::sub(run),
                            cl::sub(interpret)};
  cl::opt<std::string> checkpoint{
      "checkpoint",
      cl::cat(category),
      cl::desc("checkpoints: one at the end, and after a signal"),
      cl::value_desc("folder"),
      cl::sub(train),
      cl::sub(run)};
  cl::opt<std::string> checkpointEvery{
      "checkpoint-every",
      cl::cat(category),
      cl::desc("one after so many steps (100), or minutes (10m)"),
      cl::value_desc("interval"),
      cl::sub(train),
      cl::sub(run)};
  cl::opt<std::string> checkpointKeep{
      "checkpoint-keep",
      cl::cat(category),
      cl::desc("how many of the newest stay (0: all)"),
      cl::init("2"),
      cl::value_desc("count"),
      cl::sub(train),
      cl::sub(run)};
  cl::opt<std::string> checkpointBest{
      "checkpoint-best",
      cl::cat(category),
      cl::desc("the one with the least value of this metric stays too"),
      cl::value_desc("metric"),
      cl::sub(train),
      cl::sub(run)};
  cl::opt<bool> checkpointBackground{"checkpoint-background", cl::cat(category),
                                     cl::desc("write while the next steps run"),
                                     cl::sub(train), cl::sub(run)};
  cl::opt<std::string> checkpointMemory{
      "checkpoint-memory",
      cl::cat(category),
      cl::desc("with --checkpoint-background: bytes that may wait in memory"),
      cl::value_desc("bytes"),
      cl::sub(train),
      cl::sub(run)};
  cl::opt<bool> resume{
      "resume", cl::cat(category),
      cl::desc("go on from the newest whole checkpoint of the folder"),
      cl::sub(train), cl::sub(run)};
  cl::opt<std::string> errorFile{
      "error-file", cl::cat(category), cl::desc("the error as JSON"),
      cl::value_desc("file"), cl::sub(cl::SubCommand::getAll())};
  cl::opt<std::string> kernelCache{
      "kernel-cache",
      cl::cat(category),
      cl::desc("keep compiled kernels here and take those of before "
               "(default: $LLMC_KERNEL_CACHE)"),
      cl::value_desc("folder"),
      cl::sub(train),
      cl::sub(compile)};
  cl::opt<bool> printConfig{"print-config", cl::cat(category),
                            cl::desc("print every key with its origin, stop"),
                            cl::sub(train), cl::sub(compile)};
  cl::opt<std::string> forms{
      "forms",
      cl::cat(category),
      cl::desc("table of which of the library's ways to compute is fastest "
               "here; what it lacks is measured and added"),
      cl::value_desc("file"),
      cl::sub(train),
      cl::sub(compile)};
  cl::opt<std::string> remarks{
      "remarks", cl::cat(category),
      cl::desc("what is gathered, replicated and padded, and where layouts "
               "are in conflict"),
      cl::value_desc("file"), cl::sub(compile)};
  cl::opt<bool> timing{"timing", cl::cat(category),
                       cl::desc("print the time of each pass, and the peak "
                                "of memory"),
                       cl::sub(compile)};
  cl::opt<bool> json{"json", cl::cat(category), cl::desc("print as JSON"),
                     cl::sub(inspect), cl::sub(ops)};
  cl::opt<bool> trustKernels{"trust-kernels", cl::cat(category),
                             cl::desc("load kernels that others may write"),
                             cl::sub(run)};

  cl::opt<bool> explained{"explain", cl::cat(category),
                          cl::desc("before the first step what llmc explain "
                                   "prints"),
                          cl::sub(train)};
  cl::opt<std::string> strict{
      "strict",
      cl::cat(category),
      cl::desc("what is an error: replicate, gather, pad, conflict"),
      cl::value_desc("list"),
      cl::sub(train),
      cl::sub(compile),
      cl::sub(explain)};
  cl::opt<std::string> value{
      "value", cl::cat(category),
      cl::desc("the layouts of these values, and where they come from"),
      cl::value_desc("glob"), cl::sub(explain)};
  cl::opt<bool> all{"all", cl::cat(category), cl::desc("print every line"),
                    cl::sub(explain)};

  cl::opt<std::string> tolerance{
      "tolerance", cl::cat(category),
      cl::desc("difference, relative to the largest element, that counts"),
      cl::init("1e-4"), cl::sub(diff)};

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
  const char *cache = std::getenv("LLMC_KERNEL_CACHE");
  options.kernelCache = kernelCache.getNumOccurrences() || !cache
                            ? kernelCache.getValue()
                            : std::string(cache);
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
  cl::HideUnrelatedOptions(category);
  for (cl::SubCommand *command :
       {&flags.train, &flags.compile, &flags.run, &flags.interpret,
        &flags.inspect, &flags.ops, &flags.explain, &flags.diff, &flags.init})
    cl::HideUnrelatedOptions(category, *command);
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
