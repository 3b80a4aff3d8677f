//===- States.cpp - Arguments become inputs and states --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What each argument is says Roles.cpp; parameters and all other states become
// states, under a symbol that cannot meet one of ours (Names.h). One result is
// the loss, results that replace nothing are outputs.
//
// Tests: test/Import/StableHLO/states.mlir
//===----------------------------------------------------------------------===//

#include "Parts.h"
#include "llmc/Dialect/Dist/IR/RuntimeRules.h"
#include "llmc/Dialect/Dist/IR/Signature.h"
#include "llmc/Dialect/StableHLO/IR/Builders.h"
#include "llmc/Runtime/Base/ComplexNames.h"
#include "llmc/Runtime/Base/Safetensors.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::import;
using dist::PortAttr;
using dist::PortKind;
using rt::ErrorKind;

namespace {
/// The work on one function.
class StateMaker {
public:
  StateMaker(const Graph &graph, const Options &options)
      : graph(graph), main(graph.main), options(options),
        builder(main.getContext()), signature(main) {
    builder.setInsertionPoint(main);
  }

  rt::Result<Roles> run();

private:
  void addInput(unsigned i);
  rt::Status addState(unsigned i);
  void negateResult(unsigned i);
  rt::Status addResults();
  rt::Status addExtraResult(unsigned i);
  rt::Status checkTrainable();
  /// With a loss and a parameter; other graphs have the entry 'forward' alone.
  bool canTrain() const {
    return roles.loss &&
           llvm::any_of(roles.arguments, [](const Argument &each) {
             return each.kind == Argument::Kind::Parameter;
           });
  }
  rt::Result<Attribute> sourceOf(StringRef name, dist::Role role,
                                 RankedTensorType type);
  Attribute weightOf(StringRef name, RankedTensorType type);
  bool isMentioned(const std::string &name) const;

  const Graph &graph;
  func::FuncOp main;
  const Options &options;
  OpBuilder builder;
  dist::Signature signature;
  Roles roles;
  std::optional<WeightFile> weights;
  llvm::StringSet<> metrics;
};
} // namespace

void StateMaker::addInput(unsigned i) {
  signature.arguments[i] = PortAttr::get(builder.getContext(), PortKind::Input,
                                         StringRef(roles.arguments[i].name))
                               .withData(roles.arguments[i].data);
}

/// Absent where the file has it in another shape or type, or not at all: the
/// file says so when all states were asked for.
Attribute StateMaker::weightOf(StringRef name, RankedTensorType type) {
  std::string inFile = weights->nameOf(name.str());
  const rt::SafetensorsEntry *entry = weights->find(name.str());
  weights->take(name.str());
  if (!entry) {
    weights->refuse("expected a tensor '" + inFile +
                    "', got none of that name" +
                    (inFile == name ? "" : " for '" + name.str() + "'"));
    return {};
  }
  // Both parts have one region, of twice their bytes.
  bool isHalf = weights->isOfBoth(name.str());
  ArrayRef<int64_t> shape(entry->shape);
  shape = shape.drop_back(isHalf);
  if (shape != type.getShape() || (entry->isComplex && !isHalf)) {
    weights->refuse(
        "expected '" + inFile + "' to have the shape of " + show(type) +
        ", got [" +
        llvm::join(
            llvm::map_range(shape, [](int64_t d) { return std::to_string(d); }),
            ", ") +
        "]" + (entry->isComplex && !isHalf ? " of pairs (C64)" : ""));
    return {};
  }
  std::optional<rt::DType> own = dist::getRuntimeDType(type.getElementType());
  auto begin = static_cast<int64_t>(weights->offset(*entry));
  auto size = static_cast<int64_t>(entry->end - entry->begin);
  // Safetensors have no integers of four bits; they come in bytes.
  bool isInBytes = (own == rt::DType::i4 && entry->dtype == rt::DType::i8) ||
                   (own == rt::DType::u4 && entry->dtype == rt::DType::u8);
  if (isInBytes) {
    auto integer = cast<IntegerType>(type.getElementType());
    Type bytes =
        IntegerType::get(builder.getContext(), 8, integer.getSignedness());
    return dist::FileAttr::get(builder.getContext(), options.weights, begin,
                               size, bytes);
  }
  if (own != entry->dtype) {
    weights->refuse("expected '" + inFile + "' of " +
                    show(type.getElementType()) + ", got " +
                    std::string(rt::nameOf(entry->dtype)));
    return {};
  }
  return dist::FileAttr::get(builder.getContext(), options.weights, begin,
                             size);
}

/// What is not required starts from zeros where neither a file nor a pattern of
/// its own says otherwise.
rt::Result<Attribute> StateMaker::sourceOf(StringRef name, dist::Role role,
                                           RankedTensorType type) {
  bool isRequired =
      role == dist::Role::Parameter || role == dist::Role::Constant;
  auto draw = [&](dist::DrawKind kind, ArrayRef<double> values) {
    return Attribute(dist::DrawAttr::get(builder.getContext(), kind, values));
  };
  if (weights && (isRequired || weights->find(name.str()))) {
    Attribute found = weightOf(name, type);
    return found ? found : draw(dist::DrawKind::Zeros, {});
  }
  for (const rt::InitConfig &init : options.config.init) {
    bool isForAll = init.match == "*";
    if ((isForAll && !isRequired) ||
        !rt::matchesGlob(init.match,
                         std::string_view(name.data(), name.size())))
      continue;
    if (init.draw == "zeros")
      return draw(dist::DrawKind::Zeros, {});
    if (init.draw == "ones")
      return draw(dist::DrawKind::Ones, {});
    if (init.draw == "constant")
      return draw(dist::DrawKind::Constant, {init.value});
    if (init.draw == "uniform")
      return draw(dist::DrawKind::Uniform, {init.low, init.high});
    return draw(init.draw == "normal" ? dist::DrawKind::Normal
                                      : dist::DrawKind::TruncatedNormal,
                {init.std, init.mean});
  }
  if (!isRequired)
    return draw(dist::DrawKind::Zeros, {});
  return rt::makeError(ErrorKind::usage, "expected an [[init]] pattern for " +
                                             dist::stringifyRole(role).str() +
                                             " '" + name.str() +
                                             "', got none that matches")
      .withHint(
          "add [[init]] match = \"*\" draw = \"normal\", or give --weights");
}

/// Weights or a pattern of its own say how the state begins.
bool StateMaker::isMentioned(const std::string &name) const {
  return (weights && weights->find(name)) ||
         llvm::any_of(options.config.init, [&](const rt::InitConfig &init) {
           return init.match != "*" && rt::matchesGlob(init.match, name);
         });
}

static dist::Role roleOf(Argument::Kind kind) {
  switch (kind) {
  case Argument::Kind::Parameter:
    return dist::Role::Parameter;
  case Argument::Kind::Optimizer:
    return dist::Role::Optimizer;
  case Argument::Kind::Carried:
    return dist::Role::Carried;
  default:
    return dist::Role::Constant;
  }
}

/// JAX's gradient of a complex parameter is the conjugate of the direction in
/// which the loss grows; ours has the derivatives by both parts.
void StateMaker::negateResult(unsigned i) {
  OpBuilder::InsertionGuard guard(builder);
  OpOperand &result = main.getBody().front().getTerminator()->getOpOperand(i);
  builder.setInsertionPoint(result.getOwner());
  result.set(stablehlo::neg(builder, result.get().getLoc(), result.get()));
}

rt::Status StateMaker::addState(unsigned i) {
  const Argument &argument = roles.arguments[i];
  auto type = cast<RankedTensorType>(main.getArgument(i).getType());
  auto role = roleOf(argument.kind);
  // The file's values count where neither weights nor a pattern are for it.
  bool hasOther = !argument.source || isMentioned(argument.name);
  Attribute source = argument.source;
  if (hasOther) {
    LLMC_TRY_ASSIGN(source, sourceOf(argument.name, role, type));
  }
  std::string symbolName = rt::escapeName(argument.name), of;
  if (argument.parameter)
    of = rt::escapeName(roles.arguments[*argument.parameter].name);
  dist::StateOp::create(builder, main.getArgument(i).getLoc(), symbolName, type,
                        role, source, of);
  auto symbol = FlatSymbolRefAttr::get(builder.getContext(), symbolName);
  PortKind kind = dist::getPortKind(role);
  signature.arguments[i] = PortAttr::get(builder.getContext(), kind, symbol);
  if (!argument.result)
    return rt::Status::success();
  if (roles.kind == ModuleKind::Gradients && role == dist::Role::Parameter) {
    kind = PortKind::Gradient;
    if (argument.origin.part == rt::kPartEnds[1])
      negateResult(*argument.result);
  }
  signature.results[*argument.result] =
      PortAttr::get(builder.getContext(), kind, symbol);
  return rt::Status::success();
}

bool import::isScalar(Type type, bool mustBeFloat) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.getRank() == 0 &&
         (isa<FloatType>(tensor.getElementType()) ||
          (!mustBeFloat && isa<IntegerType>(tensor.getElementType())));
}

/// What beside the loss replaces no state: a scalar is a metric, a tensor is
/// of use to the entry 'forward' alone, which must be meant.
rt::Status StateMaker::addExtraResult(unsigned i) {
  const std::string &name = graph.results[i].metric;
  bool isScalarResult = isScalar(main.getResultTypes()[i], false);
  bool isDropped = roles.isUnused[i] ||
                   (graph.results[i].isForForward && !isScalarResult) ||
                   matchesAny(options.config.training.drop, name);
  // The loss is an output of 'forward' under that name.
  std::string output = isScalarResult ? name : graph.results[i].output;
  if (StringRef(output).rtrim('$') == "loss")
    output = rt::escapeName(output);
  signature.results[i] =
      PortAttr::get(builder.getContext(), PortKind::Output, StringRef(output));
  if (isDropped || !canTrain())
    return rt::Status::success();
  if (!isScalarResult)
    return rt::makeError(
               ErrorKind::diagnosed,
               describePlace(main.getLoc()) + "expected result " +
                   std::to_string(i) + " ('" + name +
                   "') to be a scalar, which is a metric, or to replace a "
                   "carried state, got " +
                   show(main.getResultTypes()[i]))
        .withHint("leave it out of training by training.drop = [\"" + name +
                  "\"]; the entry 'forward' still returns it");
  std::string symbol = rt::escapeName(name);
  if (!metrics.insert(symbol).second)
    return rt::makeError(ErrorKind::diagnosed,
                         describePlace(main.getLoc()) +
                             "expected metrics with names of their own, got "
                             "'" +
                             name + "' twice");
  signature.results[i] =
      signature.results[i].withMetric(builder.getStringAttr(symbol));
  return rt::Status::success();
}

rt::Status StateMaker::checkTrainable() {
  if (!options.mustTrain || canTrain())
    return rt::Status::success();
  bool hasLoss = roles.loss.has_value();
  return rt::makeError(
             ErrorKind::diagnosed,
             describePlace(main.getLoc()) +
                 (hasLoss ? "expected at least one parameter to train, got none"
                          : "expected the first result to be the loss, a float "
                            "scalar, got " +
                                show(main.getResultTypes().front())))
      .withHint("a graph without loss or parameters runs by --entry forward");
}

rt::Status StateMaker::addResults() {
  if (main.getNumResults() == 0)
    return rt::makeError(ErrorKind::diagnosed,
                         describePlace(main.getLoc()) +
                             "expected the first result to be the loss, a "
                             "float scalar, got no result");
  LLMC_TRY(checkTrainable());
  for (unsigned i = 0; i < main.getNumResults(); ++i) {
    if (signature.results[i])
      continue;
    if (roles.loss == i)
      signature.results[i] =
          PortAttr::get(builder.getContext(), PortKind::Loss);
    else
      LLMC_TRY(addExtraResult(i));
  }
  signature.write(main);
  return rt::Status::success();
}

rt::Result<Roles> StateMaker::run() {
  if (!options.weights.empty()) {
    LLMC_TRY_ASSIGN(weights, WeightFile::open(options.weights, options.config));
  }
  LLMC_TRY_ASSIGN(roles,
                  findRoles(graph, options, weights ? &*weights : nullptr));
  for (auto [i, argument] : llvm::enumerate(roles.arguments)) {
    auto number = static_cast<unsigned>(i);
    if (argument.kind == Argument::Kind::Input)
      addInput(number);
    else if (argument.kind == Argument::Kind::Hyper)
      signature.arguments[i] = PortAttr::get(
          builder.getContext(), PortKind::Hyper,
          FlatSymbolRefAttr::get(builder.getContext(), argument.name));
    else
      LLMC_TRY(addState(number));
  }
  if (weights)
    LLMC_TRY(weights->finish());
  LLMC_TRY(addResults());
  return std::move(roles);
}

bool import::canTrain(func::FuncOp main) {
  dist::Signature signature(main);
  return signature.findResult(PortKind::Loss) &&
         signature.findArgument(PortKind::Parameter);
}

rt::Result<Roles> import::makeStates(const Graph &graph,
                                     const Options &options) {
  func::FuncOp main = graph.main;
  // What the text says of its own tools ends here.
  (void)main.removeArgAttrsAttr();
  (void)main.removeResAttrsAttr();
  return StateMaker(graph, options).run();
}
