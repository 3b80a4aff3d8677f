//===- StepRoles.cpp - Roles where the module has its derivative ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two kinds of module have their derivative themselves:
//
//   gradients  (params, batch) -> (loss, gradients of params)
//   step       (params, opt_state, batch) -> (params', opt_state', loss)
//
// Which it is, results tell that belong to an argument: gradients are made by
// backward ops; new states are computed from them, and a step is told by
// donated arguments, since a gradient may be scaled as well. In a step
//
//   parameter  a float that is replaced and that the loss depends on, or what
//              `training.parameters` names
//   optimizer  of a parameter: a float of its shape whose name ends with the
//              parameter's
//   carried    what else is replaced: counters, keys, statistics
//   constant   what is not, or with itself, below the root of one that is
//   hyper      a scalar of a name that we know: lr, t, step, seed
//
// Test: test/Import/StableHLO/train-steps.mlir
//===----------------------------------------------------------------------===//

#include "Parts.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::import;
using rt::ErrorKind;

namespace {
class StepRoleFinder {
public:
  StepRoleFinder(const Graph &graph, const Options &options,
                 const WeightFile *weights, Roles &roles)
      : graph(graph), main(graph.main), options(options), weights(weights),
        roles(roles), isDecided(graph.arguments.size()) {}

  /// False for a loss.
  rt::Result<bool> run();

private:
  rt::Result<ModuleKind> decideKind();
  rt::Status findLoss();
  void takeGradients();
  void takeStates();
  bool isAmong(const llvm::DenseSet<Value> &values, unsigned i);
  std::optional<unsigned>
  findParameterOf(unsigned i, ArrayRef<unsigned> parameters, size_t common);
  void findMoments();
  rt::Status placeOthers();
  bool isConfigured(const Argument &argument) const;
  bool isGivenState(unsigned i) const;
  bool isFloat(unsigned i) {
    return isa<FloatType>(typeOf(i).getElementType());
  }
  RankedTensorType typeOf(unsigned i) {
    return cast<RankedTensorType>(main.getArgument(i).getType());
  }
  Value getResult(unsigned r) {
    return main.getBody().front().getTerminator()->getOperand(r);
  }
  const rt::TrainingConfig &training() const { return options.config.training; }

  const Graph &graph;
  func::FuncOp main;
  const Options &options;
  const WeightFile *weights;
  Roles &roles;
  Pairs pairs;
  /// Arguments that have a role.
  SmallVector<bool> isDecided;
};
} // namespace

/// The arguments that `value` is computed from.
static llvm::DenseSet<Value> findArguments(Value value) {
  llvm::SetVector<Value> work;
  work.insert(value);
  llvm::DenseSet<Value> arguments;
  for (size_t i = 0; i < work.size(); ++i) {
    Operation *op = work[i].getDefiningOp();
    if (!op)
      arguments.insert(work[i]);
    else
      op->walk([&](Operation *inner) {
        work.insert(inner->operand_begin(), inner->operand_end());
      });
  }
  return arguments;
}

//===----------------------------------------------------------------------===//
// The module
//===----------------------------------------------------------------------===//

rt::Result<ModuleKind> StepRoleFinder::decideKind() {
  if (training().module != "auto")
    return training().module == "step" ? ModuleKind::Step
                                       : ModuleKind::Gradients;
  std::optional<unsigned> gradient, update;
  for (auto [r, argument] : llvm::enumerate(pairs.arguments)) {
    if (!argument || !isFloat(*argument))
      continue;
    Derivation derivation = graph.results[r].derivation;
    if (derivation == Derivation::Gradient && !gradient)
      gradient = static_cast<unsigned>(r);
    if (derivation == Derivation::Update && !update)
      update = static_cast<unsigned>(r);
  }
  if (!gradient && !update)
    return ModuleKind::Loss;
  bool isDonated = llvm::any_of(
      graph.donations, [](const Donation &each) { return each.isGiven; });
  if (gradient && !update && !isDonated)
    return ModuleKind::Gradients;
  if (update && !gradient && isDonated)
    return ModuleKind::Step;
  unsigned shown = gradient.value_or(update.value_or(0));
  return rt::makeError(
             ErrorKind::diagnosed,
             describePlace(main.getLoc()) + "expected to know whether result " +
                 std::to_string(shown) + " ('" + graph.results[shown].shown +
                 "') is a gradient or a new state of '" +
                 graph.arguments[*pairs.arguments[shown]].fullName() +
                 "', got " +
                 (gradient ? "a gradient" : "what is computed from gradients") +
                 (gradient && update ? " beside what is computed from gradients"
                                     : "") +
                 (isDonated ? " with donated arguments"
                            : " without donated arguments"))
      .withHint(
          "set training.module = \"gradients\" or \"step\", or donate the "
          "states of a step (donate_argnums)");
}

/// What the configuration says; a float scalar that replaces nothing, of name
/// "loss"; or the first of these.
rt::Status StepRoleFinder::findLoss() {
  roles.loss = pairs.loss;
  std::optional<unsigned> first;
  for (unsigned r = 0; r < main.getNumResults() && !roles.loss; ++r) {
    if (pairs.arguments[r] || !isScalar(main.getResultTypes()[r], true))
      continue;
    StringRef path = graph.results[r].path;
    if (path == "loss" || path.ends_with(".loss"))
      roles.loss = r;
    else if (!first)
      first = r;
  }
  if (!roles.loss)
    roles.loss = first;
  if (roles.loss && isScalar(main.getResultTypes()[*roles.loss], true))
    return rt::Status::success();
  return rt::makeError(ErrorKind::diagnosed,
                       describePlace(main.getLoc()) +
                           "expected a result that is the loss, a float "
                           "scalar, got " +
                           (roles.loss
                                ? show(main.getResultTypes()[*roles.loss])
                                : "none"))
      .withHint("return the loss of a step beside its new states");
}

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

/// Parameters are what has a gradient. Another result of the name of an
/// argument replaces it in each microbatch, as in a module that is a loss.
void StepRoleFinder::takeGradients() {
  for (auto [r, i] : llvm::enumerate(pairs.arguments)) {
    auto result = static_cast<unsigned>(r);
    bool isGradient = graph.results[r].derivation != Derivation::None ||
                      findArguments(getResult(result)).empty();
    if (!i) {
      // That of an argument which is not used, and so not there.
      roles.isUnused[r] |= isGradient && roles.loss != result &&
                           findArguments(getResult(result)).empty();
      continue;
    }
    Argument &argument = roles.arguments[*i];
    argument.kind = Argument::Kind::Carried;
    if (isGradient && isFloat(*i))
      argument.kind =
          training().parameters.empty() ||
                  matchesAny(training().parameters, argument.origin.fullName())
              ? Argument::Kind::Parameter
              : Argument::Kind::Constant;
    isDecided[*i] = true;
    if (argument.kind == Argument::Kind::Constant)
      roles.isUnused[r] = true;
    else
      argument.result = result;
  }
}

/// Whether the argument, or the other part of a complex one, is in `values`.
bool StepRoleFinder::isAmong(const llvm::DenseSet<Value> &values, unsigned i) {
  const ValueName &name = graph.arguments[i];
  for (auto [other, each] : llvm::enumerate(graph.arguments)) {
    bool isSame = other == i ||
                  (!name.part.empty() && each.wholeName() == name.wholeName());
    if (isSame && values.contains(main.getArgument(other)))
      return true;
  }
  return false;
}

void StepRoleFinder::takeStates() {
  llvm::DenseSet<Value> ofLoss = findArguments(getResult(*roles.loss));
  for (auto [r, i] : llvm::enumerate(pairs.arguments)) {
    if (!i)
      continue;
    Argument &argument = roles.arguments[*i];
    isDecided[*i] = true;
    if (getResult(static_cast<unsigned>(r)) == main.getArgument(*i)) {
      argument.kind = Argument::Kind::Constant;
      roles.isUnused[r] = true;
      continue;
    }
    bool isParameter =
        training().parameters.empty()
            ? isFloat(*i) && isAmong(ofLoss, *i)
            : matchesAny(training().parameters, argument.origin.fullName());
    argument.kind =
        isParameter ? Argument::Kind::Parameter : Argument::Kind::Carried;
    argument.result = static_cast<unsigned>(r);
  }
}

//===----------------------------------------------------------------------===//
// Optimizer states
//===----------------------------------------------------------------------===//

/// How many characters the names have in common in front, up to a point, and
/// at most up to the last step of each.
static size_t countCommon(ArrayRef<std::string> names) {
  StringRef first = names.front();
  size_t most = first.rfind('.') == StringRef::npos ? 0 : first.rfind('.') + 1;
  for (StringRef name : names) {
    size_t same = 0;
    size_t last = name.rfind('.') == StringRef::npos ? 0 : name.rfind('.') + 1;
    while (same < std::min(most, last) && name[same] == first[same])
      ++same;
    size_t point = name.take_front(same).rfind('.');
    most = point == StringRef::npos ? 0 : point + 1;
  }
  return most;
}

/// The parameter of the state `i`: what the file says, or a parameter of its
/// shape with whose name its own ends, below what all parameters (`common`
/// characters) have in common; of several, the one of the longest name.
std::optional<unsigned>
StepRoleFinder::findParameterOf(unsigned i, ArrayRef<unsigned> parameters,
                                size_t common) {
  auto hasShape = [&](unsigned parameter) {
    return typeOf(parameter).getShape() == typeOf(i).getShape();
  };
  if (isGivenState(i) && graph.given[i]->parameter) {
    unsigned given = *graph.given[i]->parameter;
    if (llvm::is_contained(parameters, given) && hasShape(given))
      return given;
  }
  std::string full = roles.arguments[i].origin.fullName();
  std::optional<unsigned> found;
  size_t longest = 0;
  for (unsigned parameter : parameters) {
    std::string name = roles.arguments[parameter].origin.fullName();
    StringRef below = StringRef(name).drop_front(common);
    bool isEnd = StringRef(full).ends_with("." + below.str());
    if (isEnd && below.size() > longest && hasShape(parameter)) {
      longest = below.size();
      found = parameter;
    }
  }
  return found;
}

void StepRoleFinder::findMoments() {
  std::vector<unsigned> parameters;
  std::vector<std::string> names;
  for (auto [i, argument] : llvm::enumerate(roles.arguments))
    if (isDecided[i] && argument.kind == Argument::Kind::Parameter) {
      parameters.push_back(static_cast<unsigned>(i));
      names.push_back(argument.origin.wholeName());
    }
  if (names.empty())
    return;
  size_t common = countCommon(names);
  for (auto [i, argument] : llvm::enumerate(roles.arguments)) {
    auto number = static_cast<unsigned>(i);
    if (argument.kind != Argument::Kind::Carried || !isFloat(number))
      continue;
    argument.parameter = findParameterOf(number, parameters, common);
    if (argument.parameter)
      argument.kind = Argument::Kind::Optimizer;
  }
}

//===----------------------------------------------------------------------===//
// What no result belongs to
//===----------------------------------------------------------------------===//

/// The model's own file has its initial values.
bool StepRoleFinder::isGivenState(unsigned i) const {
  return i < graph.given.size() && graph.given[i] &&
         graph.given[i]->kind != GivenState::Kind::Input;
}

/// A file of weights or a pattern of [[init]] says that it is a state.
bool StepRoleFinder::isConfigured(const Argument &argument) const {
  const ValueName &name = argument.origin;
  if (weights &&
      (weights->find(name.shortName()) || weights->find(name.fullName())))
    return true;
  return llvm::any_of(options.config.init, [&](const rt::InitConfig &init) {
    return init.match != "*" && rt::matchesGlob(init.match, name.shortName());
  });
}

rt::Status StepRoleFinder::placeOthers() {
  llvm::StringSet<> roots;
  for (auto [i, argument] : llvm::enumerate(roles.arguments))
    if (isDecided[i])
      roots.insert(argument.origin.root);
  for (auto [i, argument] : llvm::enumerate(roles.arguments)) {
    if (isDecided[i] || argument.kind == Argument::Kind::Input)
      continue;
    const ValueName &name = argument.origin;
    auto number = static_cast<unsigned>(i);
    if (isScalar(typeOf(number), false) && isHyperName(name.shortName())) {
      argument.kind = Argument::Kind::Hyper;
      argument.name = name.shortName();
      continue;
    }
    bool isBelowState = !name.path.empty() && roots.contains(name.root);
    if (!isBelowState && !isGivenState(number) && !isConfigured(argument))
      return rt::makeError(
                 ErrorKind::diagnosed,
                 describePlace(main.getArgument(number).getLoc()) +
                     "argument " + std::to_string(number) + " ('" +
                     name.fullName() +
                     "') expected to be an input of [data.inputs], a state "
                     "that a result replaces or a hyper value (lr, t, step or "
                     "seed), got " +
                     show(typeOf(number)) + " that is none")
          .withHint("a state that no step changes gets its value by [[init]] "
                    "match = \"" +
                    name.shortName() + "\" or from --weights");
    argument.kind = Argument::Kind::Constant;
  }
  return rt::Status::success();
}

rt::Result<bool> StepRoleFinder::run() {
  SmallVector<bool> isInput;
  for (const Argument &argument : roles.arguments)
    isInput.push_back(argument.kind == Argument::Kind::Input);
  bool isDonated = llvm::any_of(
      graph.donations, [](const Donation &each) { return each.isGiven; });
  bool hasNewStates =
      training().module == "auto" ? isDonated : training().module == "step";
  LLMC_TRY_ASSIGN(pairs,
                  pairResults(graph, options.config, isInput, hasNewStates));
  LLMC_TRY_ASSIGN(roles.kind, decideKind());
  if (roles.kind == ModuleKind::Loss)
    return false;
  roles.reason = training().module != "auto"
                     ? options.config.originOf("training.module")
                 : isDonated ? "arguments are donated, and results are "
                               "computed from gradients"
                             : "results are made by backward ops";
  LLMC_TRY(findLoss());
  pairs.arguments[*roles.loss] = std::nullopt;
  if (roles.kind == ModuleKind::Gradients)
    takeGradients();
  else
    takeStates();
  findMoments();
  LLMC_TRY(placeOthers());
  return true;
}

rt::Result<bool> import::findStepRoles(const Graph &graph,
                                       const Options &options,
                                       const WeightFile *weights,
                                       Roles &roles) {
  return StepRoleFinder(graph, options, weights, roles).run();
}
