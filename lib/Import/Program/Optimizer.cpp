//===- Optimizer.cpp - The optimizer functions of the configuration -------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An optimizer is a file of StableHLO functions for one parameter each, shipped
// as text (lib/Import/Program/Optimizers) or given by a path. A parameter gets
// the first that fits it; its settings become constants here.
//
// Tests: test/Import/StableHLO/optimizer.mlir
//===----------------------------------------------------------------------===//

#include "Optimizer.h"
#include "Parts.h"
#include "llmc/Dialect/Dist/IR/Signature.h"
#include "llmc/Dialect/Dist/IR/UpdateMarks.h"
#include "llmc/Dialect/StableHLO/IR/Builders.h"
#include "llmc/Import/Text/ReadModule.h"
#include "llmc/Runtime/Base/File.h"
#include "mlir/IR/SymbolTable.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::import;
using dist::PortKind;
using rt::ErrorKind;

static rt::Status refuse(func::FuncOp func, const std::string &message) {
  return rt::makeError(ErrorKind::diagnosed,
                       describePlace(func.getLoc()) + message);
}

/// Name and text of the shipped functions.
static const std::pair<StringRef, StringRef> shipped[] = {
#include "Optimizers.inc"
};

static rt::Result<OwningOpRef<ModuleOp>>
readFunctions(MLIRContext &context, const rt::OptimizerConfig &config) {
  if (!config.path.empty())
    return readModule(context, config.path);
  for (auto [name, text] : shipped)
    if (name == config.name)
      return parseText(context, text, "optimizer " + config.name);
  return rt::makeError(ErrorKind::usage, "expected a shipped optimizer, got '" +
                                             config.name + "'");
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

/// The argument of the function that is the parameter, or null.
static RankedTensorType getParameter(func::FuncOp func) {
  std::optional<unsigned> index =
      dist::Signature(func).findArgument(PortKind::Parameter);
  return index ? dyn_cast<RankedTensorType>(func.getArgumentTypes()[*index])
               : RankedTensorType();
}

/// Sizes that stand for others are all different.
static rt::Status checkSizes(func::FuncOp func) {
  auto sizes = func->getAttrOfType<StringAttr>(dist::kSizes);
  RankedTensorType type = getParameter(func);
  if (!sizes || !type)
    return rt::Status::success();
  llvm::SmallDenseSet<int64_t> seen(type.getShape().begin(),
                                    type.getShape().end());
  if (static_cast<int64_t>(seen.size()) != type.getRank())
    return refuse(func, "expected sizes of a parameter that are all different "
                        "beside '" +
                            dist::kSizes.str() + "', got " + show(type));
  if (sizes != dist::kAnySizes && type.getRank() < 2)
    return refuse(func, "expected a parameter of at least two dims beside " +
                            dist::kSizes.str() + " = \"" +
                            sizes.getValue().str() + "\", got " + show(type));
  return rt::Status::success();
}

/// Whether a parameter of `type` may be updated by the function.
static bool fits(func::FuncOp func, RankedTensorType type) {
  RankedTensorType own = getParameter(func);
  // What has no parameter is refused where it is applied.
  if (!own || own.getShape() == ArrayRef<int64_t>({1}))
    return true;
  auto sizes = func->getAttrOfType<StringAttr>(dist::kSizes);
  if (!sizes)
    return own.getShape() == type.getShape();
  if (own.getRank() != type.getRank())
    return false;
  if (sizes == dist::kAnySizes)
    return true;
  ArrayRef<int64_t> last = type.getShape().take_back(2);
  return (last[0] <= last[1]) == (sizes == dist::kWideSizes);
}

rt::Result<OptimizerFile>
OptimizerFile::read(MLIRContext &context, const rt::OptimizerConfig &config) {
  OptimizerFile file;
  file.config = config;
  LLMC_TRY_ASSIGN(file.source, readFunctions(context, config));
  auto functions = file.source->getOps<func::FuncOp>();
  if (functions.empty())
    return rt::makeError(ErrorKind::diagnosed,
                         config.path + ": expected a function, the optimizer");
  for (func::FuncOp func : functions) {
    LLMC_TRY(checkBody(func));
    LLMC_TRY(checkSizes(func));
  }
  LLMC_TRY(file.checkSettings());
  return file;
}

/// Each constant of the configuration is a setting of some function.
rt::Status OptimizerFile::checkSettings() {
  std::vector<std::string> known;
  for (func::FuncOp func : source->getOps<func::FuncOp>())
    for (unsigned i = 0; i < func.getNumArguments(); ++i)
      if (dist::PortAttr port = dist::getArgumentPort(func, i);
          dist::isPort(port, PortKind::Setting))
        known.push_back(port.getName().str());
  for (const auto &[name, value] : config.constants)
    if (!llvm::is_contained(known, name)) {
      std::string near = rt::nearest(name, known);
      return rt::makeError(
          ErrorKind::usage,
          "optimizer '" + config.name + "' has no constant '" + name + "'" +
              (near.empty() ? "" : ", did you mean '" + near + "'?"));
    }
  return rt::Status::success();
}

/// The number of a setting, from the configuration or by default.
static rt::Result<double> findSetting(dist::PortAttr port,
                                      const rt::OptimizerConfig &config) {
  std::string name = port.getName().str();
  if (auto given = config.constants.find(name); given != config.constants.end())
    return given->second;
  if (FloatAttr fallback = port.getDefaultValue())
    return fallback.getValueAsDouble();
  return rt::makeError(ErrorKind::usage,
                       "expected a value for 'optimizer.constants." + name +
                           "', got none");
}

/// Replaces settings by numbers, and the learning rate by a share of it.
static rt::Status bindSettings(func::FuncOp func,
                               const rt::OptimizerConfig &config) {
  OpBuilder builder(func.getBody());
  BitVector bound(func.getNumArguments());
  for (unsigned i = 0; i < func.getNumArguments(); ++i) {
    dist::PortAttr port = dist::getArgumentPort(func, i);
    BlockArgument argument = func.getArgument(i);
    FlatSymbolRefAttr hyper = dist::getHyper(port);
    if (hyper && hyper.getValue() == "lr" && config.rateShare != 1) {
      Value share = stablehlo::constantLike(builder, argument.getLoc(),
                                            argument, config.rateShare);
      Value rate = stablehlo::mul(builder, argument.getLoc(), argument, share);
      argument.replaceAllUsesExcept(rate, rate.getDefiningOp());
    }
    if (!dist::isPort(port, PortKind::Setting))
      continue;
    auto type = dyn_cast<RankedTensorType>(argument.getType());
    if (!type || type.getRank() != 0 || !isa<FloatType>(type.getElementType()))
      return refuse(func, "expected constant '" + port.getName().str() +
                              "' to be a float scalar");
    LLMC_TRY_ASSIGN(double value, findSetting(port, config));
    argument.replaceAllUsesWith(
        stablehlo::constantSplat(builder, argument.getLoc(), type, value));
    bound.set(i);
  }
  if (failed(func.eraseArguments(bound)))
    return rt::makeError(ErrorKind::internal, "cannot bind constants");
  return rt::Status::success();
}

rt::Result<FlatSymbolRefAttr> OptimizerFile::addFor(dist::StateOp parameter,
                                                    const rt::Config &all) {
  for (auto [i, func] : llvm::enumerate(source->getOps<func::FuncOp>())) {
    if (!fits(func, parameter.getTensorType()))
      continue;
    FlatSymbolRefAttr &symbol = added[i];
    if (symbol)
      return symbol;
    auto module = parameter->getParentOfType<ModuleOp>();
    func::FuncOp own = func.clone();
    OwningOpRef<func::FuncOp> holder(own);
    LLMC_TRY(bindSettings(own, config));
    LLMC_TRY(addHypers(module, own, all));
    own.setPrivate();
    // The name of the user's own function gives way.
    holder.release();
    symbol = FlatSymbolRefAttr::get(
        SymbolTable(module).insert(own, module.getBody()->end()));
    return symbol;
  }
  return refuse(*source->getOps<func::FuncOp>().begin(),
                "expected a function that fits parameter '" +
                    rt::unescapeName(parameter.getSymName().str()) + "' of " +
                    show(parameter.getTensorType()) + ", got none")
      .withHint("a function on tensor<1xf32> fits every parameter; [[group]] "
                "gives some another optimizer");
}
