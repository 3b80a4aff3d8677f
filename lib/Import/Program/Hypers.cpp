//===- Hypers.cpp - Numbers of a step and their rules ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A hyper value is a scalar that a rule gives for each step: the learning rate
// by [optimizer] and [schedule], the number of the step, the seed.
//
// Tests: test/Import/StableHLO/optimizer.mlir
//===----------------------------------------------------------------------===//

#include "Parts.h"
#include "llmc/Dialect/Dist/IR/Signature.h"

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

bool import::addHyper(OpBuilder &builder, ModuleOp module, StringRef name,
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
