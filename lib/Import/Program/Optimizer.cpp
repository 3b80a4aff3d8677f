//===- Optimizer.cpp - The optimizer function of the configuration --------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An optimizer is a StableHLO function for one parameter, shipped as text
// (lib/Import/Program/Optimizers) or given by a path. Its settings become
// constants here; the hyper values that it names get their rules.
//
// Tests: test/Import/StableHLO/optimizer.mlir
//===----------------------------------------------------------------------===//

#include "Parts.h"
#include "llmc/Dialect/Dist/IR/Signature.h"
#include "llmc/Dialect/StableHLO/IR/StableHLO.h"
#include "llmc/Import/Text/ReadModule.h"
#include "llmc/Runtime/Base/File.h"
#include "mlir/IR/SymbolTable.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::import;
using rt::ErrorKind;

static rt::Status refuse(func::FuncOp func, const std::string &message) {
  return rt::makeError(ErrorKind::diagnosed,
                       describePlace(func.getLoc()) + message);
}

/// As #dist.hyper has them.
static bool isNumberScalar(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.getRank() == 0 && !tensor.getEncoding() &&
         (isa<FloatType>(tensor.getElementType()) ||
          tensor.getElementType().isSignlessInteger());
}

/// Name and text of the shipped functions.
static const std::pair<StringRef, StringRef> shipped[] = {
#include "Optimizers.inc"
};

static rt::Result<OwningOpRef<ModuleOp>>
readOptimizer(MLIRContext &context, const rt::OptimizerConfig &config) {
  if (!config.path.empty())
    return readModule(context, config.path);
  for (auto [name, text] : shipped)
    if (name == config.name)
      return parseText(context, text, "optimizer " + config.name);
  return rt::makeError(ErrorKind::usage, "expected a shipped optimizer, got '" +
                                             config.name + "'");
}

/// Replaces constant arguments by the configuration's numbers or defaults.
static rt::Status bindConstants(func::FuncOp func,
                                const rt::OptimizerConfig &config) {
  OpBuilder builder(func.getBody());
  std::vector<std::string> known;
  BitVector bound(func.getNumArguments());
  for (unsigned i = 0; i < func.getNumArguments(); ++i) {
    dist::PortAttr port = dist::getArgumentPort(func, i);
    if (!dist::isPort(port, dist::PortKind::Setting))
      continue;
    StringAttr name = port.getName();
    known.push_back(name.str());
    auto type = dyn_cast<RankedTensorType>(func.getArgument(i).getType());
    auto given = config.constants.find(name.str());
    FloatAttr fallback = port.getDefaultValue();
    if (!type || type.getRank() != 0 || !isa<FloatType>(type.getElementType()))
      return refuse(func, "expected constant '" + name.str() +
                              "' to be a float scalar");
    if (given == config.constants.end() && !fallback)
      return rt::makeError(ErrorKind::usage,
                           "expected a value for 'optimizer.constants." +
                               name.str() + "', got none");
    double value = given == config.constants.end() ? fallback.getValueAsDouble()
                                                   : given->second;
    Value constant = stablehlo::ConstantOp::create(
        builder, func.getArgument(i).getLoc(),
        cast<ElementsAttr>(DenseElementsAttr::get(
            type, builder.getFloatAttr(type.getElementType(), value))));
    func.getArgument(i).replaceAllUsesWith(constant);
    bound.set(i);
  }
  for (const auto &[name, value] : config.constants)
    if (!llvm::is_contained(known, name)) {
      std::string near = rt::nearest(name, known);
      return rt::makeError(
          ErrorKind::usage,
          "optimizer '" + config.name + "' has no constant '" + name + "'" +
              (near.empty() ? "" : ", did you mean '" + near + "'?"));
    }
  if (failed(func.eraseArguments(bound)))
    return rt::makeError(ErrorKind::internal, "cannot bind constants");
  return rt::Status::success();
}

/// The rule of the learning rate, from [optimizer] and [schedule].
static dist::RuleAttr learningRate(MLIRContext *context,
                                   const rt::Config &config) {
  dist::RuleKind kind = llvm::StringSwitch<dist::RuleKind>(config.schedule.name)
                            .Case("linear", dist::RuleKind::WarmupLinear)
                            .Case("cosine", dist::RuleKind::WarmupCosine)
                            .Default(dist::RuleKind::WarmupConstant);
  int64_t total = config.schedule.decaySteps ? config.schedule.decaySteps
                                             : config.training.steps;
  return dist::RuleAttr::get(context, kind, config.optimizer.lr,
                             config.schedule.minLr, config.schedule.warmupSteps,
                             total);
}

/// The rule of a hyper value; null for a name that we do not know.
static dist::RuleAttr findRule(StringRef name, MLIRContext *context,
                               const rt::Config &config) {
  if (name == "lr")
    return learningRate(context, config);
  if (name == "t")
    return dist::RuleAttr::get(context, dist::RuleKind::Step, 1.0);
  if (name == "step")
    return dist::RuleAttr::get(context, dist::RuleKind::Step);
  if (name == "seed")
    return dist::RuleAttr::get(context, dist::RuleKind::Seed);
  return {};
}

bool import::isHyperName(StringRef name) {
  return llvm::is_contained({"lr", "t", "step", "seed"}, name);
}

/// Unless the module has it; false for a name that we do not know.
static bool addHyper(OpBuilder &builder, ModuleOp module, StringRef name,
                     RankedTensorType type, const rt::Config &config) {
  if (module.lookupSymbol(name))
    return true;
  dist::RuleAttr rule = findRule(name, module.getContext(), config);
  if (rule)
    dist::HyperOp::create(builder, module.getLoc(), builder.getStringAttr(name),
                          TypeAttr::get(type), rule);
  return static_cast<bool>(rule);
}

rt::Status import::addHypers(ModuleOp module, func::FuncOp func,
                             const rt::Config &config) {
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  while (isa<dist::HyperOp>(*builder.getInsertionPoint()))
    builder.setInsertionPoint(builder.getBlock(),
                              std::next(builder.getInsertionPoint()));
  for (unsigned i = 0; i < func.getNumArguments(); ++i) {
    FlatSymbolRefAttr name = dist::getHyper(dist::getArgumentPort(func, i));
    if (!name)
      continue;
    Type type = func.getArgument(i).getType();
    if (!isNumberScalar(type))
      return refuse(func, "expected hyper value '" + name.getValue().str() +
                              "' to be a scalar of a float or signless "
                              "integer, got " +
                              show(type));
    auto known = module.lookupSymbol<dist::HyperOp>(name);
    if (known && known.getType() != type)
      return refuse(func, "expected hyper value '" + name.getValue().str() +
                              "' to be " + show(known.getType()) +
                              " as elsewhere, got " + show(type));
    if (!addHyper(builder, module, name.getValue(),
                  cast<RankedTensorType>(type), config))
      return refuse(func, "expected one of the hyper values lr, t, step and "
                          "seed, got '" +
                              name.getValue().str() + "'");
  }
  return rt::Status::success();
}

/// Calls within it are not inlined.
static rt::Status checkBody(func::FuncOp func) {
  if (size_t blocks = func.getBody().getBlocks().size(); blocks != 1)
    return refuse(func, "expected an optimizer with one block, got " +
                            std::to_string(blocks));
  func::CallOp call;
  func.walk([&](func::CallOp each) { call = each; });
  return call ? refuse(func, "expected an optimizer without calls, got one of "
                             "'" +
                                 call.getCallee().str() + "'")
              : rt::Status::success();
}

rt::Result<std::string> import::addOptimizer(ModuleOp module,
                                             const rt::Config &config) {
  LLMC_TRY_ASSIGN(OwningOpRef<ModuleOp> source,
                  readOptimizer(*module.getContext(), config.optimizer));
  auto functions = source->getOps<func::FuncOp>();
  if (!llvm::hasSingleElement(functions))
    return rt::makeError(ErrorKind::diagnosed,
                         config.optimizer.path +
                             ": expected one function, the optimizer");
  func::FuncOp func = *functions.begin();
  LLMC_TRY(checkBody(func));
  LLMC_TRY(bindConstants(func, config.optimizer));
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  // A step reports its rate, whether the optimizer takes it or not.
  addHyper(builder, module, "lr",
           RankedTensorType::get({}, builder.getF32Type()), config);
  if (config.training.rounding == "stochastic")
    for (StringRef name : {"seed", "step"})
      addHyper(builder, module, name,
               RankedTensorType::get({}, builder.getI32Type()), config);
  LLMC_TRY(addHypers(module, func, config));
  func->remove();
  func.setPrivate();
  // The name of the user's own function gives way.
  return SymbolTable(module).insert(func, module.getBody()->end()).str();
}
