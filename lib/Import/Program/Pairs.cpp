//===- Pairs.cpp - Which result belongs to which argument -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A step returns new values of its states, value_and_grad gradients of its
// parameters. A result belongs to the argument of its type whose name has the
// longest end of the result's path:
//
//   opt_state[0].mu['w']   0.mu.w       result[1][0].mu['w']   1.0.mu.w
//   params['w']            w            result[0]['w']         0.w
//
// Leaves of tuples have numbers alone, which name nothing: all arguments
// without a name of their own are meant. Where several are, a new state is
// known by its old one, from which it is computed place by place, by the
// donation of the argument, or by the order of both. What stays open the
// configuration has to say ([training.results]).
//
// Test: test/Import/StableHLO/train-steps.mlir
//===----------------------------------------------------------------------===//

#include "Parts.h"
#include "llmc/Analysis/Program/ElementPaths.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::import;
using rt::ErrorKind;

namespace {
class PairFinder {
public:
  PairFinder(const Graph &graph, const rt::Config &config,
             ArrayRef<bool> isInput, bool hasNewStates)
      : graph(graph), main(graph.main), config(config), isInput(isInput),
        hasNewStates(hasNewStates), pairs{{}, {}},
        candidates(graph.results.size()), sources(graph.results.size()) {
    pairs.arguments.resize(graph.results.size());
  }

  rt::Status run();
  Pairs take() { return std::move(pairs); }

private:
  rt::Status readConfiguration();
  rt::Status readEntry(const std::string &path, const std::string &argument);
  void collectCandidates();
  SmallVector<unsigned> findByName(unsigned r);
  SmallVector<unsigned> findUnnamed(unsigned r);
  bool settleUnique();
  bool settleByDonation();
  bool settleByOrder();
  void settle(unsigned r, unsigned argument);
  bool isNewValue(unsigned r, unsigned argument);
  rt::Status refuse(unsigned r);
  /// Also the part of a complex argument that the result is of its own.
  bool hasType(unsigned r, unsigned argument) {
    return main.getArgument(argument).getType() == main.getResultTypes()[r] &&
           graph.arguments[argument].part == graph.results[r].part;
  }

  const Graph &graph;
  func::FuncOp main;
  const rt::Config &config;
  ArrayRef<bool> isInput;
  bool hasNewStates;
  Pairs pairs;
  /// The arguments that an open result may belong to.
  SmallVector<SmallVector<unsigned>> candidates;
  /// Values from which a result is computed place by place, once asked for.
  SmallVector<llvm::MapVector<Value, unsigned>> sources;
};
} // namespace

//===----------------------------------------------------------------------===//
// The configuration
//===----------------------------------------------------------------------===//

/// What of `path` lies below `prefix`: "w" of "0.w" and "0"; nothing where it
/// is another tree.
static std::optional<std::string> takeBelow(StringRef path, StringRef prefix) {
  if (path == prefix)
    return std::string();
  if (path.consume_front(prefix) && path.consume_front("."))
    return path.str();
  return std::nullopt;
}

rt::Status PairFinder::readEntry(const std::string &path,
                                 const std::string &argument) {
  std::string key = "training.results." + path;
  auto refuseEntry = [&](const std::string &message) {
    return rt::makeError(ErrorKind::usage, config.originOf(key) +
                                               ": expected '" + key + "' " +
                                               message);
  };
  std::vector<std::string> paths, names;
  for (const ValueName &name : graph.arguments)
    names.push_back(name.fullName());
  bool isFound = false;
  for (auto [r, result] : llvm::enumerate(graph.results)) {
    paths.push_back(result.path);
    std::optional<std::string> below = takeBelow(result.path, path);
    if (!below)
      continue;
    isFound = true;
    if (argument == "loss" && below->empty()) {
      pairs.loss = static_cast<unsigned>(r);
      continue;
    }
    std::string name =
        argument + (below->empty() ? "" : "." + *below) + result.part;
    auto at = llvm::find(names, name);
    auto number = static_cast<unsigned>(at - names.begin());
    if (at == names.end() || isInput[number] ||
        !hasType(static_cast<unsigned>(r), number)) {
      std::string near = rt::nearest(name, names);
      return refuseEntry("to lead to an argument of the type of '" +
                         result.shown + "', got '" + name + "'" +
                         (near.empty() || near == name
                              ? ""
                              : "; did you mean '" + near + "'?"));
    }
    pairs.arguments[r] = number;
  }
  if (isFound)
    return rt::Status::success();
  return refuseEntry("to name a result, got none of that path")
      .withHint("there are " + rt::listGlobbed(paths, 6));
}

/// The entry of the longest path counts.
rt::Status PairFinder::readConfiguration() {
  std::vector<std::pair<std::string, std::string>> entries(
      config.training.results.begin(), config.training.results.end());
  llvm::sort(entries, [](const auto &a, const auto &b) {
    return a.first.size() != b.first.size() ? a.first.size() < b.first.size()
                                            : a.first < b.first;
  });
  for (const auto &[path, argument] : entries)
    LLMC_TRY(readEntry(path, argument));
  return rt::Status::success();
}

//===----------------------------------------------------------------------===//
// Names
//===----------------------------------------------------------------------===//

/// Has no step but numbers: the leaf of a tuple, or what is returned itself.
static bool isUnnamed(StringRef path) {
  SmallVector<StringRef> steps;
  path.split(steps, '.', -1, false);
  return llvm::all_of(
      steps, [](StringRef step) { return llvm::all_of(step, llvm::isDigit); });
}

SmallVector<unsigned> PairFinder::findByName(unsigned r) {
  StringRef end = graph.results[r].path;
  SmallVector<unsigned> found;
  while (!end.empty() && found.empty()) {
    for (auto [i, name] : llvm::enumerate(graph.arguments))
      if (!isInput[i] && hasType(r, static_cast<unsigned>(i)) &&
          (end == name.path || end == name.wholeName()))
        found.push_back(static_cast<unsigned>(i));
    end = end.split('.').second;
  }
  return found;
}

/// Scalars without names may be anything: they need more than a type.
SmallVector<unsigned> PairFinder::findUnnamed(unsigned r) {
  SmallVector<unsigned> found;
  bool isScalar = import::isScalar(main.getResultTypes()[r], false);
  for (unsigned i = 0; i < graph.arguments.size(); ++i) {
    if (isInput[i] || !hasType(r, i) || !isUnnamed(graph.arguments[i].path))
      continue;
    if (!isScalar || (graph.donations[i].result == r && isNewValue(r, i)))
      found.push_back(i);
  }
  return found;
}

void PairFinder::collectCandidates() {
  for (unsigned r = 0; r < graph.results.size(); ++r) {
    if (pairs.arguments[r] || pairs.loss == r)
      continue;
    candidates[r] =
        isUnnamed(graph.results[r].path) ? findUnnamed(r) : findByName(r);
    llvm::erase_if(candidates[r], [&](unsigned i) {
      return llvm::is_contained(pairs.arguments, std::optional(i));
    });
  }
}

//===----------------------------------------------------------------------===//
// Choices
//===----------------------------------------------------------------------===//

bool PairFinder::isNewValue(unsigned r, unsigned argument) {
  if (sources[r].empty())
    sources[r] = findElementSources(
        main.getBody().front().getTerminator()->getOperand(r));
  return sources[r].contains(main.getArgument(argument));
}

void PairFinder::settle(unsigned r, unsigned argument) {
  pairs.arguments[r] = argument;
  candidates[r].clear();
  for (SmallVector<unsigned> &others : candidates)
    llvm::erase(others, argument);
}

/// Results that can belong to one argument alone. Of several for one argument
/// that one is meant that is its new value; the others belong to none.
bool PairFinder::settleUnique() {
  llvm::MapVector<unsigned, SmallVector<unsigned>> claims;
  for (auto [r, options] : llvm::enumerate(candidates))
    if (options.size() == 1)
      claims[options[0]].push_back(static_cast<unsigned>(r));
  bool isChanged = false;
  for (auto &[argument, results] : claims) {
    unsigned number = argument;
    if (results.size() > 1 && hasNewStates)
      llvm::erase_if(results,
                     [&](unsigned r) { return !isNewValue(r, number); });
    if (results.size() != 1)
      continue;
    settle(results[0], number);
    isChanged = true;
  }
  return isChanged;
}

bool PairFinder::settleByDonation() {
  bool isChanged = false;
  for (auto [i, donation] : llvm::enumerate(graph.donations)) {
    if (!donation.result)
      continue;
    auto argument = static_cast<unsigned>(i);
    unsigned r = *donation.result;
    if (!llvm::is_contained(candidates[r], argument) ||
        !isNewValue(r, argument))
      continue;
    settle(r, argument);
    isChanged = true;
  }
  return isChanged;
}

/// As many results as arguments, in one order, and each a new value.
bool PairFinder::settleByOrder() {
  for (unsigned r = 0; r < candidates.size(); ++r) {
    SmallVector<unsigned> arguments = candidates[r], results;
    for (unsigned other = 0; other < candidates.size(); ++other)
      if (!arguments.empty() && candidates[other] == arguments)
        results.push_back(other);
    bool isOrdered = !results.empty() && results.size() == arguments.size();
    for (size_t n = 0; n < results.size() && isOrdered; ++n)
      isOrdered = isNewValue(results[n], arguments[n]);
    if (!isOrdered)
      continue;
    for (auto [result, argument] : llvm::zip_equal(results, arguments))
      settle(result, argument);
    return true;
  }
  return false;
}

rt::Status PairFinder::refuse(unsigned r) {
  std::vector<std::string> names;
  for (unsigned i : candidates[r])
    names.push_back("'" + graph.arguments[i].fullName() + "'");
  const ResultName &result = graph.results[r];
  return rt::makeError(
             ErrorKind::diagnosed,
             describePlace(main.getLoc()) +
                 "expected to know to which argument result " +
                 std::to_string(r) + " ('" + result.shown +
                 "') belongs, got several of its name and type or several "
                 "results of " +
                 llvm::join(names, " and "))
      .withHint("say it in [training.results]: \"" + result.path + "\" = \"" +
                graph.arguments[candidates[r][0]].fullName() + "\"");
}

rt::Status PairFinder::run() {
  LLMC_TRY(readConfiguration());
  collectCandidates();
  // Gradients have names alone: no old value tells them apart.
  while (settleUnique() ||
         (hasNewStates && (settleByDonation() || settleByOrder())))
    ;
  for (unsigned r = 0; r < candidates.size(); ++r)
    if (!candidates[r].empty())
      return refuse(r);
  return rt::Status::success();
}

rt::Result<Pairs> import::pairResults(const Graph &graph,
                                      const rt::Config &config,
                                      ArrayRef<bool> isInput,
                                      bool hasNewStates) {
  PairFinder finder(graph, config, isInput, hasNewStates);
  LLMC_TRY(finder.run());
  return finder.take();
}
