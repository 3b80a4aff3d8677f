//===- States.cpp - Arguments become inputs and states --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What each argument is says Roles.cpp; carried states and parameters become
// states, under a symbol that cannot meet one of ours (Names.h). The first
// result is the loss, results that replace nothing are outputs.
//
// Tests: test/Import/StableHLO/states.mlir
//===----------------------------------------------------------------------===//

#include "Parts.h"
#include "llmc/Dialect/Dist/IR/RuntimeRules.h"
#include "llmc/Dialect/Dist/IR/Signature.h"
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

  rt::Status run();

private:
  void addInput(unsigned i);
  rt::Status addState(unsigned i);
  rt::Status addResults();
  rt::Status addExtraResult(unsigned i);
  rt::Status checkTrainable();
  /// With a loss and a parameter; other graphs have the entry 'forward' alone.
  bool canTrain() { return import::canTrain(main); }
  rt::Result<Attribute> sourceOf(StringRef name, RankedTensorType type,
                                 bool isParameter);
  rt::Result<Attribute> weightOf(StringRef name, RankedTensorType type);

  const Graph &graph;
  func::FuncOp main;
  const Options &options;
  OpBuilder builder;
  dist::Signature signature;
  SmallVector<Argument> arguments;
  std::optional<rt::Safetensors> weights;
  llvm::StringSet<> metrics;
};
} // namespace

void StateMaker::addInput(unsigned i) {
  signature.arguments[i] = PortAttr::get(builder.getContext(), PortKind::Input,
                                         StringRef(arguments[i].name))
                               .withData(arguments[i].data);
}

rt::Result<Attribute> StateMaker::weightOf(StringRef name,
                                           RankedTensorType type) {
  const rt::SafetensorsEntry *entry = weights->find(name.str());
  if (!entry)
    return rt::makeError(ErrorKind::malformed,
                         options.weights + ": expected a tensor '" +
                             name.str() + "', got none of that name");
  ArrayRef<int64_t> shape(entry->shape);
  std::string dtype(rt::nameOf(entry->dtype));
  if (shape != type.getShape())
    return rt::makeError(
        ErrorKind::malformed,
        options.weights + ": expected '" + name.str() +
            "' to have the shape of " + show(type) + ", got [" +
            llvm::join(llvm::map_range(
                           shape, [](int64_t d) { return std::to_string(d); }),
                       ", ") +
            "]");
  if (dist::getRuntimeDType(type.getElementType()) != entry->dtype)
    return rt::makeError(ErrorKind::malformed,
                         options.weights + ": expected '" + name.str() +
                             "' of " + show(type.getElementType()) + ", got " +
                             dtype);
  auto begin = static_cast<int64_t>(weights->offset(*entry));
  return Attribute(
      dist::FileAttr::get(builder.getContext(), options.weights, begin,
                          static_cast<int64_t>(entry->end - entry->begin)));
}

rt::Result<Attribute>
StateMaker::sourceOf(StringRef name, RankedTensorType type, bool isParameter) {
  auto draw = [&](dist::DrawKind kind, ArrayRef<double> values) {
    return Attribute(dist::DrawAttr::get(builder.getContext(), kind, values));
  };
  if (!isParameter)
    return draw(dist::DrawKind::Zeros, {});
  if (weights)
    return weightOf(name, type);
  for (const rt::InitConfig &init : options.config.init) {
    if (!rt::matchesGlob(init.match,
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
  return rt::makeError(ErrorKind::usage,
                       "expected an [[init]] pattern for parameter '" +
                           name.str() + "', got none that matches")
      .withHint(
          "add [[init]] match = \"*\" draw = \"normal\", or give --weights");
}

rt::Status StateMaker::addState(unsigned i) {
  const std::string &name = arguments[i].name;
  auto type = cast<RankedTensorType>(main.getArgument(i).getType());
  bool isParameter = arguments[i].kind == Argument::Kind::Parameter;
  LLMC_TRY_ASSIGN(Attribute source, sourceOf(name, type, isParameter));
  auto role = isParameter ? dist::Role::Parameter : dist::Role::Carried;
  std::string symbolName = rt::escapeName(name);
  dist::StateOp::create(builder, main.getArgument(i).getLoc(), symbolName, type,
                        role, source);
  auto port =
      PortAttr::get(builder.getContext(), dist::getPortKind(role),
                    FlatSymbolRefAttr::get(builder.getContext(), symbolName));
  signature.arguments[i] = port;
  if (std::optional<unsigned> result = arguments[i].result)
    signature.results[*result] = port;
  return rt::Status::success();
}

static bool isScalar(Type type, bool mustBeFloat) {
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
  bool isDropped = llvm::any_of(options.config.training.drop,
                                [&](const std::string &pattern) {
                                  return rt::matchesGlob(pattern, name);
                                });
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
  bool hasLoss = isScalar(main.getResultTypes().front(), true);
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
    if (i == 0 && isScalar(main.getResultTypes().front(), true))
      signature.results[i] =
          PortAttr::get(builder.getContext(), PortKind::Loss);
    else
      LLMC_TRY(addExtraResult(i));
  }
  signature.write(main);
  return rt::Status::success();
}

rt::Status StateMaker::run() {
  if (!options.weights.empty()) {
    LLMC_TRY_ASSIGN(weights, rt::Safetensors::open(options.weights));
  }
  LLMC_TRY_ASSIGN(arguments,
                  findRoles(graph, options, weights ? &*weights : nullptr));
  for (auto [i, argument] : llvm::enumerate(arguments)) {
    if (argument.kind == Argument::Kind::Input)
      addInput(i);
    else
      LLMC_TRY(addState(i));
  }
  // What results may be depends on what the arguments are.
  signature.write(main);
  return addResults();
}

bool import::canTrain(func::FuncOp main) {
  auto isParameter = [&](unsigned i) {
    return dist::isPort(dist::getArgumentPort(main, i), PortKind::Parameter);
  };
  return main.getNumResults() &&
         isScalar(main.getResultTypes().front(), true) &&
         llvm::any_of(llvm::seq(main.getNumArguments()), isParameter);
}

rt::Status import::makeStates(const Graph &graph, const Options &options) {
  func::FuncOp main = graph.main;
  // What the text says of its own tools ends here.
  (void)main.removeArgAttrsAttr();
  (void)main.removeResAttrsAttr();
  return StateMaker(graph, options).run();
}
