//===- Init.cpp - A configuration to begin with ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Init.h"
#include "../Driver/Compile.h"
#include "../Driver/Remarks.h"
#include "../Ops.h"
#include "InitArguments.h"
#include "InitGroups.h"
#include "llmc/Runtime/Base/File.h"
#include "llmc/Runtime/Base/Log.h"
#include "llmc/Runtime/Base/Names.h"
#include "llmc/Runtime/Executor/RunLoop.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/raw_ostream.h"
#include <set>

using namespace mlir;
using namespace llmc;
using namespace llmc::driver;
using rt::ErrorKind;
using Kind = GuessedArgument::Kind;

namespace {
/// What a graph has again and again.
struct Repetition {
  /// "3", or "2 and 4" where there are several kinds of blocks, one after the
  /// other; "" where nothing repeats.
  std::string blocks;
  int64_t loops = 0;
};

class Starter {
public:
  Starter(const Options &options, std::vector<GuessedArgument> arguments,
          bool isStep)
      : options(options), arguments(std::move(arguments)), isStep(isStep) {
    for (const GuessedArgument &each : this->arguments)
      if (each.kind == Kind::Parameter && !each.isImaginary())
        groups.add(each.wholeName(), each.type.getShape());
  }

  /// With the numbers of repeated blocks as `Repetition` has them.
  std::string write(const std::string &blocks) const;
  std::string summarize(int64_t kinds, const Repetition &repetition) const;

private:
  std::vector<GuessedArgument> getInputs() const;
  bool areTokens(ArrayRef<GuessedArgument> inputs) const;
  std::string writeMesh(const std::string &blocks) const;
  std::string writeData() const;
  std::string writeInit() const;
  std::string writeLayouts() const;
  std::string writeParameters() const;

  const Options &options;
  std::vector<GuessedArgument> arguments;
  /// The optimizer is that of the file.
  bool isStep;
  StateGroups groups;
};
} // namespace

static std::string showType(RankedTensorType type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

std::vector<GuessedArgument> Starter::getInputs() const {
  std::vector<GuessedArgument> inputs;
  llvm::copy_if(arguments, std::back_inserter(inputs),
                [](const auto &each) { return each.kind == Kind::Input; });
  return inputs;
}

//===----------------------------------------------------------------------===//
// Parts of the file
//===----------------------------------------------------------------------===//

std::string Starter::writeMesh(const std::string &blocks) const {
  std::string text = "[mesh]                  # sizes come from --mesh "
                     "data=2,tensor=2; an axis "
                     "that is not named there has size 1\n";
  // The steps of a file that has its own optimizer are not cut.
  if (isStep)
    return text + "axes = [\"data\", \"tensor\"]\n\n";
  text +=
      "axes = [\"pipe\", \"data\", \"tensor\"]\npipeline = \"pipe\"       # "
      "along it devices hold different ";
  return text + (blocks.empty()
                     ? "pieces of the graph, of about equal work\n\n"
                     : "ones of the " + blocks +
                           " repeated blocks, which should be a multiple\n\n");
}

/// Integers of one shape, rows of a sequence: windows of a file of tokens.
bool Starter::areTokens(ArrayRef<GuessedArgument> inputs) const {
  return !inputs.empty() && inputs.size() <= 2 &&
         llvm::all_of(inputs, [&](const GuessedArgument &each) {
           return each.isInteger() && each.type.getRank() == 2 &&
                  each.type.getShape() == inputs.front().type.getShape() &&
                  each.type.getElementTypeBitWidth() >= 8;
         });
}

std::string Starter::writeData() const {
  std::vector<GuessedArgument> inputs = getInputs();
  if (areTokens(inputs)) {
    std::string text =
        "[data]                  # windows of a file of tokens; name it here, "
        "or "
        "by --data\nfile = \"\"\ndtype = \"u8\"            # u16 and u32 as "
        "well; each token must be below the size of the vocabulary\n[data."
        "inputs]           # how many tokens an input lies after the first of "
        "its window\n";
    for (auto [offset, input] : llvm::enumerate(inputs))
      text += quote(input.name) + " = " + std::to_string(offset) + "  # " +
              showType(input.type) + "\n";
    text += "# Or rows of arrays:";
    for (const GuessedArgument &input : inputs)
      text += " --data " + input.name + "=<file>.npy";
    return text + "\n\n";
  }
  std::string text;
  for (const GuessedArgument &input : inputs)
    if (!input.isImaginary())
      text += "[data." + quote(input.wholeName()) + "]  # " +
              (input.part.empty() ? "" : "complex, both parts ") +
              showType(input.type) +
              ", the first dimension counts samples\nkind = "
              "\"array\"\nfile = \"\"               # an .npy or "
              ".safetensors file; or --data " +
              input.wholeName() + "=<file>\n\n";
  return text;
}

std::string Starter::writeInit() const {
  bool hasValues = llvm::any_of(
      arguments, [](const GuessedArgument &each) { return each.hasValue; });
  if (hasValues)
    return "# Initial values are those of the file.\n\n";
  return groups.writeDraws();
}

std::string Starter::writeLayouts() const {
  std::string text = "[[layout]]              # samples over data\ninput = "
                     "\"*\"\ndims = [[\"data\"]]\n";
  std::string pairs = groups.writePairs();
  text += pairs.empty()
              ? "# A dimension of a matrix over tensor: [[layout]] match = "
                "\"<glob>\" rest = [[], [\"tensor\"]]\n"
              : pairs;
  return text +
         "# Optimizer states over data (ZeRO-1): [[layout]] match = \"*\" "
         "optimizer = [[\"data\"]]\n# What each costs says llmc explain.\n\n";
}

/// Where no tree says which arguments are parameters.
std::string Starter::writeParameters() const {
  std::string list;
  llvm::StringSet<> roots;
  for (const GuessedArgument &each : arguments)
    if (each.kind == Kind::Parameter && !each.hasValue &&
        roots.insert(each.root).second)
      list += (list.empty() ? "" : ", ") +
              quote(each.root + each.part == each.fullName ? each.root
                                                           : each.root + ".*");
  return roots.size() < 2
             ? ""
             : "parameters = [" + list + "]  # a guess: these are trained\n";
}

std::string Starter::write(const std::string &blocks) const {
  std::string text = "# " + options.input +
                     ": a configuration to begin with, written by llmc "
                     "init.\n# All keys: docs/configuration.md.\n\n";
  text += writeMesh(blocks) + writeData() + writeInit() + writeLayouts();
  if (!isStep)
    text += "[optimizer]             # adamw; also lion, adafactor, muon, sgd, "
            "momentum (docs/recipes.md)\nlr = 3e-4\n\n";
  text += "[training]\nsteps = 100\nmicrobatches = 1        # of a step; the "
          "model's batch is that of " +
          std::string(isStep ? "all of them\n" : "each of them\n") +
          writeParameters();
  return text +
         "\n# [machine]             # with memory, flops and links, plans "
         "that do not fit are refused, and times are known\n# memory = "
         "8e10\n";
}

std::string Starter::summarize(int64_t kinds,
                               const Repetition &repetition) const {
  std::vector<std::string> parameters, inputs;
  int64_t elements = 0;
  for (const GuessedArgument &each : arguments) {
    if (each.kind == Kind::Parameter) {
      parameters.push_back(each.name);
      elements += each.type.getNumElements();
    }
    if (each.kind == Kind::Input)
      inputs.push_back(each.name + " " + showType(each.type));
  }
  constexpr size_t shown = 8;
  return options.input + ": " + std::to_string(kinds) +
         " kinds of ops, none is missing\nparameters: " +
         rt::printCount(uint64_t(elements)) + " in " +
         std::to_string(parameters.size()) +
         " tensors: " + rt::listGlobbed(parameters, shown) +
         "\ninputs: " + llvm::join(inputs, ", ") + "\nrepeated blocks: " +
         (repetition.blocks.empty() ? "none" : repetition.blocks) +
         (repetition.loops ? "; loops: " + std::to_string(repetition.loops)
                           : "") +
         "\n";
}

//===----------------------------------------------------------------------===//
// The command
//===----------------------------------------------------------------------===//

/// The arguments, from an import that may well fail after it has read them.
/// Their types live as long as the context.
static rt::Result<std::vector<GuessedArgument>>
readArguments(MLIRContext &context, const Options &options, bool &isStep) {
  std::vector<GuessedArgument> arguments;
  Options asked = options;
  bool isSeen = false;
  asked.seeGraph = [&](const import::Graph &graph) {
    arguments = guessArguments(graph);
    isStep = isWholeStep(graph);
    isSeen = true;
  };
  LLMC_TRY_ASSIGN(rt::Config defaults, rt::parseConfig("", "", {}));
  rt::Result<OwningOpRef<ModuleOp>> module =
      compileToPhase(context, asked, defaults, 0);
  if (!isSeen)
    return module.status();
  return arguments;
}

/// "2 and 4" of "found 2 and 4 repeated blocks in @loss" (FindBlocks.cpp).
static std::string findBlocks(const Remarks &remarks) {
  for (const Remark &remark : remarks.list()) {
    StringRef text = remark.text;
    if (remark.name != "blocks" || !text.consume_front("found "))
      continue;
    StringRef numbers = text.split(" repeated blocks").first;
    return numbers == "0" ? "" : numbers.str();
  }
  return "";
}

/// Blocks that repeat and loops, as phase 1 finds them with this configuration.
/// Errors: those of the import: the configuration is not enough.
static rt::Result<Repetition> findRepetition(const Options &options,
                                             const std::string &text) {
  LLMC_TRY_ASSIGN(rt::Config config, rt::parseConfig(text, options.output, {}));
  std::unique_ptr<MLIRContext> context = makeContext();
  Remarks remarks(*context, RemarkKinds::Training);
  LLMC_TRY_ASSIGN(
      OwningOpRef<ModuleOp> module,
      compileToPhase(*context, options, config, *findPhase("training")));
  std::set<int64_t> loops;
  module->walk([&](Operation *op) {
    auto block = op->getAttrOfType<IntegerAttr>(dist::DistDialect::kBlock);
    if (block && isa<dist::EnterOp>(op))
      loops.insert(block.getInt());
  });
  // Where there are loops, each is a block.
  return Repetition{findBlocks(remarks), static_cast<int64_t>(loops.size())};
}

rt::Status driver::runInit(const Options &options) {
  if (options.output.empty())
    return rt::makeError(ErrorKind::usage,
                         "expected -o <file> for the configuration");
  if (options.output != "-" && llvm::sys::fs::exists(options.output))
    return rt::makeError(ErrorKind::usage,
                         options.output + ": expected a new file, got one that "
                                          "is there already");
  LLMC_TRY_ASSIGN(OpsSummary ops, summarizeOps(options.input));
  if (!ops.missing.empty())
    return rt::makeError(ErrorKind::unsupported,
                         options.input + ": expected ops that llmc has, got " +
                             llvm::join(ops.missing, ", "))
        .withHint("llmc ops lists all of them");
  std::unique_ptr<MLIRContext> context = makeContext();
  bool isStep = false;
  LLMC_TRY_ASSIGN(std::vector<GuessedArgument> arguments,
                  readArguments(*context, options, isStep));
  Starter starter(options, std::move(arguments), isStep);
  rt::Result<Repetition> found = findRepetition(options, starter.write(""));
  Repetition repetition = found ? *found : Repetition();
  std::string text = starter.write(repetition.blocks);
  if (options.output == "-")
    llvm::outs() << text;
  else
    LLMC_TRY(rt::writeFileAtomically(options.output, text));
  (options.output == "-" ? llvm::errs() : llvm::outs())
      << starter.summarize(ops.kinds, repetition);
  return found ? rt::Status::success()
               : found.status().withHint("written to " + options.output +
                                         ", which needs more than llmc can "
                                         "guess");
}
