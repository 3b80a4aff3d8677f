//===- InitArguments.cpp - What arguments of a model may be ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "InitArguments.h"
#include <map>
#include <set>

using namespace mlir;
using namespace llmc;
using namespace llmc::driver;
using Kind = GuessedArgument::Kind;

/// A root argument with leaves below it.
namespace {
struct Tree {
  int64_t elements = 0;
  bool hasIntegers = false;
};
} // namespace

/// The first dim of the argument, or 0.
static int64_t getBatch(const GuessedArgument &argument) {
  return argument.type.getRank() > 0 ? argument.type.getDimSize(0) : 0;
}

/// Without trees: what has as many rows as the last argument is of the batch.
static void guessByBatch(std::vector<GuessedArgument> &arguments) {
  int64_t batch = arguments.empty() ? 0 : getBatch(arguments.back());
  for (GuessedArgument &each : arguments)
    if (each.kind == Kind::Other && each.type.getRank() > 0)
      each.kind = each.isInteger() || getBatch(each) == batch ? Kind::Input
                                                              : Kind::Parameter;
}

/// The parameters of a whole step come before its optimizer's states, which may
/// be more; else they are the largest tree.
static void guessByTrees(std::vector<GuessedArgument> &arguments,
                         const std::map<std::string, Tree> &trees,
                         bool isStep) {
  std::string largest;
  for (const GuessedArgument &each : arguments) {
    auto tree = trees.find(each.root);
    if (tree == trees.end() || tree->second.hasIntegers)
      continue;
    if (largest.empty() ||
        (!isStep && tree->second.elements > trees.at(largest).elements))
      largest = each.root;
  }
  for (GuessedArgument &each : arguments) {
    if (each.kind != Kind::Other)
      continue;
    auto tree = trees.find(each.root);
    if (tree == trees.end())
      each.kind = each.type.getRank() > 0 ? Kind::Input : Kind::Other;
    else if (tree->first == largest)
      each.kind = Kind::Parameter;
    else if (tree->second.hasIntegers && each.type.getRank() > 0)
      each.kind = Kind::Input;
  }
}

/// States that would share a name keep their roots, as the import has it.
static void nameByRoots(std::vector<GuessedArgument> &arguments) {
  std::map<std::string, int> counts;
  for (const GuessedArgument &each : arguments)
    counts[each.name] += each.kind != Kind::Input;
  for (GuessedArgument &each : arguments)
    if (each.kind != Kind::Input && counts[each.name] > 1)
      each.name = each.fullName;
}

bool driver::isWholeStep(const import::Graph &graph) {
  return llvm::any_of(graph.results, [](const import::ResultName &result) {
    return result.derivation == import::Derivation::Update;
  });
}

std::vector<GuessedArgument>
driver::guessArguments(const import::Graph &graph) {
  std::set<std::string> replaced;
  for (const import::ResultName &result : graph.results)
    replaced.insert(result.replaces);
  std::vector<GuessedArgument> arguments;
  std::map<std::string, Tree> trees;
  bool isGiven = !graph.given.empty();
  for (size_t i = 0; i < graph.arguments.size(); ++i) {
    const import::ValueName &name = graph.arguments[i];
    func::FuncOp main = graph.main;
    GuessedArgument argument{
        Kind::Other,
        name.shortName(),
        name.fullName(),
        name.root,
        name.part,
        cast<RankedTensorType>(main.getArgument(i).getType()),
        false};
    if (isGiven && graph.given[i]) {
      bool isInput = graph.given[i]->kind == import::GivenState::Kind::Input;
      argument.kind = isInput ? Kind::Input : Kind::Parameter;
      argument.hasValue = !isInput;
    } else if (!name.path.empty() && !replaced.count(name.fullName())) {
      Tree &tree = trees[name.root];
      tree.elements += argument.type.getNumElements();
      tree.hasIntegers |= argument.isInteger();
    }
    arguments.push_back(argument);
  }
  if (isGiven || !trees.empty())
    guessByTrees(arguments, trees, isWholeStep(graph));
  else
    guessByBatch(arguments);
  nameByRoots(arguments);
  return arguments;
}
