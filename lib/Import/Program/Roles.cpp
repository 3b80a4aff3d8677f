//===- Roles.cpp - What each argument of a model is -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An argument is what the user says it is, or what can be nothing else:
//
//   input      a source of data names it
//   carried    a result of the same path and type replaces it
//   parameter  a float that `training.parameters`, a pattern of [[init]] other
//              than "*", or --weights names; or, where the first of these is
//              absent, a leaf of the only root argument that is left
//
// Where the module has its derivative itself StepRoles.cpp says what the rest
// is.
//
// Whatever else is left is refused: trained in silence, a forgotten input would
// be a wrong result. Inputs and states have namespaces of their own. Two states
// with equal paths are told apart by their root arguments: params.w, stats.w.
//
// Tests: test/Import/StableHLO/roles.mlir
//===----------------------------------------------------------------------===//

#include "Parts.h"
#include "llmc/Dialect/Dist/IR/RuntimeRules.h"
#include "llmc/Runtime/Config/Sources.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::import;
using rt::ErrorKind;

namespace {
class RoleFinder {
public:
  RoleFinder(const Graph &graph, const Options &options,
             const WeightFile *weights)
      : graph(graph), main(graph.main), options(options), weights(weights),
        isKnown(graph.arguments.size()) {
    for (const ValueName &name : graph.arguments)
      arguments.emplace_back(Argument{name, name.shortName()});
    roles.isUnused.resize(graph.results.size());
  }

  rt::Status run();
  Roles take() { return std::move(roles); }

private:
  void findGiven();
  rt::Status checkGivenInputs();
  rt::Status findInputs();
  rt::Status bindInput(const rt::DataSource &source, const std::string &input,
                       int64_t offset);
  rt::Result<SmallVector<unsigned>> findInput(const std::string &input,
                                              const std::string &key) const;
  rt::Status bindArgument(const rt::DataSource &source,
                          const std::string &input, int64_t offset, unsigned i);
  rt::Result<bool> findOthers();
  rt::Status findCarried();
  rt::Status checkPatterns() const;
  rt::Status findParameters();
  rt::Status nameStates();
  bool isNamed(const ValueName &name) const;
  bool isExplicit(const ValueName &name) const;
  rt::Status refuseInteger(unsigned i);
  rt::Status refuseAmbiguous(ArrayRef<unsigned> open);
  std::string describe(unsigned i) {
    return describePlace(main.getArgument(i).getLoc()) + "argument " +
           std::to_string(i);
  }

  const Graph &graph;
  func::FuncOp main;
  const Options &options;
  const WeightFile *weights;
  Roles roles;
  SmallVector<Argument> &arguments = roles.arguments;
  std::vector<rt::DataSource> sources;
  /// Of the first input that no argument is; an integer argument that is
  /// nothing says more.
  rt::Status missing;
  /// Those that are decided.
  SmallVector<bool> isKnown;
};
} // namespace

std::string import::show(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

bool import::matchesAny(const std::vector<std::string> &patterns,
                        const std::string &name) {
  return llvm::any_of(patterns, [&](const std::string &pattern) {
    return rt::matchesGlob(pattern, name);
  });
}

//===----------------------------------------------------------------------===//
// Inputs
//===----------------------------------------------------------------------===//

/// The argument of that name with its root, else the only one without; of a
/// complex one both parts.
rt::Result<SmallVector<unsigned>>
RoleFinder::findInput(const std::string &input, const std::string &key) const {
  SmallVector<unsigned> exact, found;
  std::vector<std::string> names;
  for (auto [i, argument] : llvm::enumerate(arguments)) {
    const ValueName &name = argument.origin;
    if (name.fullName() == input || name.wholeName() == input)
      exact.push_back(i);
    if (name.shortName() == input || name.wholeShortName() == input)
      found.push_back(i);
    names.push_back(name.shortName());
  }
  auto areOne = [&](ArrayRef<unsigned> of) {
    return !of.empty() && llvm::all_of(of, [&](unsigned i) {
      const ValueName &name = arguments[i].origin;
      return i == of.front() ||
             (!name.part.empty() &&
              name.wholeName() == arguments[of.front()].origin.wholeName());
    });
  };
  if (!exact.empty())
    return areOne(exact) ? exact : SmallVector<unsigned>{exact.front()};
  if (areOne(found))
    return found;
  std::string message = "expected an argument for '" + key + "', got ";
  if (found.empty()) {
    std::string near = rt::nearest(input, names);
    message += "none of that name" +
               (near.empty() ? "" : "; did you mean '" + near + "'?");
  } else {
    for (auto [n, i] : llvm::enumerate(found))
      message += (n ? " and '" : "'") + arguments[i].origin.fullName() + "'";
  }
  return rt::makeError(ErrorKind::usage, message);
}

rt::Status RoleFinder::bindInput(const rt::DataSource &source,
                                 const std::string &input, int64_t offset) {
  std::string table = source.name == "data" ? "data" : "data." + source.name;
  rt::Result<SmallVector<unsigned>> found =
      findInput(input, table + ".inputs." + input);
  if (!found) {
    missing = missing.ok() ? found.status() : missing;
    return rt::Status::success();
  }
  for (unsigned i : *found)
    LLMC_TRY(bindArgument(source, input, offset, i));
  return rt::Status::success();
}

rt::Status RoleFinder::bindArgument(const rt::DataSource &source,
                                    const std::string &input, int64_t offset,
                                    unsigned i) {
  std::string table = source.name == "data" ? "data" : "data." + source.name;
  const ValueName &name = arguments[i].origin;
  bool isPart = name.fullName() == input || name.shortName() == input;
  auto type = cast<RankedTensorType>(main.getArgument(i).getType());
  if (type.getRank() == 0)
    return rt::makeError(ErrorKind::diagnosed,
                         describe(i) + " ('" + input +
                             "') expected to have a batch dimension, got " +
                             show(type));
  if (isKnown[i] || matchesAny(options.config.training.parameters,
                               arguments[i].origin.fullName()))
    return rt::makeError(ErrorKind::usage,
                         "expected '" + input + "' of [" + table +
                             ".inputs] to be " +
                             (isKnown[i] ? "there once"
                                         : "no parameter, got it in "
                                           "'training.parameters' too"));
  arguments[i].kind = Argument::Kind::Input;
  arguments[i].name = isPart ? input : input + name.part;
  arguments[i].data =
      dist::getDataAttr(main.getContext(), source.name, source.rule, offset);
  if (!source.inRange)
    arguments[i].data = arguments[i].data.withLimit(INT64_MAX);
  isKnown[i] = true;
  return rt::Status::success();
}

rt::Status RoleFinder::findInputs() {
  LLMC_TRY_ASSIGN(sources, rt::findSources(options.config));
  for (const rt::DataSource &source : sources)
    for (auto &[input, offset] : source.inputs)
      LLMC_TRY(bindInput(source, input, offset));
  return rt::Status::success();
}

//===----------------------------------------------------------------------===//
// What the file says
//===----------------------------------------------------------------------===//

/// States whose kind the file gives; which of its weights are trained, the
/// configuration may decide.
void RoleFinder::findGiven() {
  const rt::TrainingConfig &training = options.config.training;
  for (auto [i, given] : llvm::enumerate(graph.given)) {
    if (!given || given->kind == GivenState::Kind::Input)
      continue;
    Argument &argument = arguments[i];
    bool isFloat = isa<FloatType>(
        cast<RankedTensorType>(main.getArgument(i).getType()).getElementType());
    bool isParameter = given->kind == GivenState::Kind::Parameter;
    if (!training.parameters.empty())
      isParameter = isFloat && isNamed(argument.origin);
    isParameter &= !matchesAny(training.frozen, argument.origin.fullName());
    argument.kind = given->kind == GivenState::Kind::Carried
                        ? Argument::Kind::Carried
                    : isParameter ? Argument::Kind::Parameter
                                  : Argument::Kind::Constant;
    argument.result = given->result;
    argument.source = given->source;
    isKnown[i] = true;
  }
}

/// What the file calls an input is nothing else.
rt::Status RoleFinder::checkGivenInputs() {
  for (auto [i, given] : llvm::enumerate(graph.given))
    if (given && given->kind == GivenState::Kind::Input && !isKnown[i])
      return missing.ok()
                 ? rt::makeError(ErrorKind::usage,
                                 "expected a source of data for input '" +
                                     arguments[i].origin.fullName() +
                                     "', got none")
                       .withHint("name it in [data.inputs]")
                 : missing;
  return rt::Status::success();
}

//===----------------------------------------------------------------------===//
// Carried states
//===----------------------------------------------------------------------===//

rt::Status RoleFinder::findCarried() {
  llvm::StringMap<SmallVector<unsigned, 1>> byPath;
  for (auto [i, argument] : llvm::enumerate(arguments))
    if (!argument.origin.path.empty())
      byPath[argument.origin.shortName()].push_back(i);
  for (unsigned r = 1; r < main.getNumResults(); ++r) {
    const ResultName &result = graph.results[r];
    SmallVector<unsigned> found;
    for (unsigned i : byPath.lookup(result.replaces))
      if (!isKnown[i] &&
          main.getArgument(i).getType() == main.getResultTypes()[r])
        found.push_back(i);
    if (found.size() > 1)
      llvm::erase_if(found,
                     [&](unsigned i) { return isNamed(arguments[i].origin); });
    if (found.size() > 1)
      return rt::makeError(ErrorKind::diagnosed,
                           describePlace(main.getLoc()) +
                               "expected one argument that result '" +
                               result.shown + "' replaces, got '" +
                               arguments[found[0]].origin.fullName() +
                               "' and '" +
                               arguments[found[1]].origin.fullName() + "'")
          .withHint("name the parameters in training.parameters");
    if (found.empty())
      continue;
    arguments[found[0]].kind = Argument::Kind::Carried;
    arguments[found[0]].result = r;
    isKnown[found[0]] = true;
  }
  return rt::Status::success();
}

//===----------------------------------------------------------------------===//
// Parameters
//===----------------------------------------------------------------------===//

bool RoleFinder::isNamed(const ValueName &name) const {
  return matchesAny(options.config.training.parameters, name.fullName());
}

bool RoleFinder::isExplicit(const ValueName &name) const {
  if (isNamed(name) || (weights && (weights->find(name.shortName()) ||
                                    weights->find(name.fullName()))))
    return true;
  return llvm::any_of(options.config.init, [&](const rt::InitConfig &init) {
    return init.match != "*" && rt::matchesGlob(init.match, name.shortName());
  });
}

rt::Status RoleFinder::checkPatterns() const {
  std::vector<std::string> names;
  for (const Argument &argument : arguments)
    names.push_back(argument.origin.fullName());
  const rt::TrainingConfig &training = options.config.training;
  for (auto [key, patterns] :
       {std::pair("training.parameters", &training.parameters),
        std::pair("training.frozen", &training.frozen)})
    for (const std::string &pattern : *patterns)
      if (llvm::none_of(names, [&](const std::string &name) {
            return rt::matchesGlob(pattern, name);
          }))
        return rt::makeError(ErrorKind::usage,
                             options.config.originOf(key) + ": expected '" +
                                 key + "' to match arguments, got \"" +
                                 pattern + "\", which matches none")
            .withHint("there are " + rt::listGlobbed(names, 4));
  return rt::Status::success();
}

rt::Status RoleFinder::refuseInteger(unsigned i) {
  std::string name = arguments[i].origin.shortName();
  std::vector<std::string> inputs;
  for (const rt::DataSource &source : sources)
    for (auto &[input, offset] : source.inputs)
      inputs.push_back(input);
  std::string near = rt::nearest(name, inputs);
  rt::Status status = rt::makeError(
      ErrorKind::diagnosed,
      describe(i) + " ('" + name +
          "') expected to be an input of [data.inputs] or a float "
          "parameter, "
          "got " +
          show(main.getArgument(i).getType()) +
          (near.empty() ? "" : "; did you mean input '" + near + "'?"));
  return near.empty()
             ? status.withHint("integers that are weights are named in "
                               "training.frozen")
             : status;
}

rt::Status RoleFinder::refuseAmbiguous(ArrayRef<unsigned> open) {
  std::vector<std::string> names;
  for (unsigned i : open)
    names.push_back(arguments[i].origin.fullName());
  return rt::makeError(
             ErrorKind::diagnosed,
             describePlace(main.getArgument(open.front()).getLoc()) +
                 "expected to know whether float arguments are inputs or "
                 "parameters, got neither for " +
                 rt::listGlobbed(names, 6))
      .withHint("name inputs in [data.inputs], parameters in "
                "training.parameters, for example [\"" +
                arguments[open.front()].origin.root + "*\"]");
}

rt::Status RoleFinder::findParameters() {
  SmallVector<unsigned> open;
  llvm::StringSet<> roots, fed;
  for (auto [i, argument] : llvm::enumerate(arguments)) {
    if (isKnown[i]) {
      if (argument.kind == Argument::Kind::Input)
        fed.insert(argument.origin.root);
      continue;
    }
    auto type = cast<RankedTensorType>(main.getArgument(i).getType());
    bool isFrozen =
        matchesAny(options.config.training.frozen, argument.origin.fullName());
    if (!isFrozen && !isa<FloatType>(type.getElementType()))
      return refuseInteger(i);
    argument.kind =
        isFrozen ? Argument::Kind::Constant : Argument::Kind::Parameter;
    roots.insert(argument.origin.root);
    if (!isExplicit(argument.origin))
      open.push_back(i);
  }
  LLMC_TRY(missing);
  if (open.empty())
    return rt::Status::success();
  bool isOnlyRoot = options.config.training.parameters.empty() &&
                    roots.size() == 1 && !fed.contains(roots.begin()->getKey());
  return isOnlyRoot ? rt::Status::success() : refuseAmbiguous(open);
}

rt::Status RoleFinder::nameStates() {
  llvm::StringMap<unsigned> count, seen;
  for (const Argument &argument : arguments)
    if (argument.isState())
      ++count[argument.name];
  for (auto [i, argument] : llvm::enumerate(arguments)) {
    if (!argument.isState())
      continue;
    if (count.lookup(argument.name) > 1)
      argument.name = argument.origin.fullName();
    if (!seen.try_emplace(argument.name, i).second)
      return rt::makeError(ErrorKind::diagnosed,
                           describe(i) +
                               " expected to have a name of its own, got '" +
                               argument.name + "' again");
  }
  return rt::Status::success();
}

/// Roles of a module that has a derivative of its own, or is said to.
rt::Result<bool> RoleFinder::findOthers() {
  const std::string &module = options.config.training.module;
  bool isDerived = llvm::any_of(graph.results, [](const ResultName &result) {
    return result.derivation != Derivation::None;
  });
  if (module == "loss" || (module == "auto" && !isDerived))
    return false;
  rt::Result<bool> found = findStepRoles(graph, options, weights, roles);
  // An input that is not there may be what is left over.
  return !found && !missing.ok() ? rt::Result<bool>(missing) : found;
}

rt::Status RoleFinder::run() {
  LLMC_TRY(checkPatterns());
  findGiven();
  LLMC_TRY(findInputs());
  LLMC_TRY_ASSIGN(bool isStep, findOthers());
  if (isStep) {
    LLMC_TRY(missing);
    return nameStates();
  }
  LLMC_TRY(checkGivenInputs());
  if (main.getNumResults() && isScalar(main.getResultTypes().front(), true))
    roles.loss = 0;
  LLMC_TRY(findCarried());
  LLMC_TRY(findParameters());
  return nameStates();
}

rt::Result<Roles> import::findRoles(const Graph &graph, const Options &options,
                                    const WeightFile *weights) {
  RoleFinder finder(graph, options, weights);
  LLMC_TRY(finder.run());
  return finder.take();
}
