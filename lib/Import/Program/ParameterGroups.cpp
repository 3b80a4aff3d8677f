//===- ParameterGroups.cpp - Which optimizer updates which parameter ------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The first of the [[group]] tables that matches a parameter says what differs
// from [optimizer] for it: another function, other settings, a share of the
// learning rate.
//
// Tests: test/Import/StableHLO/groups.mlir
//===----------------------------------------------------------------------===//

#include "Optimizer.h"
#include "Parts.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::import;
using rt::ErrorKind;

/// [optimizer], with what a group says otherwise. Settings of another optimizer
/// are no settings of this one.
static rt::OptimizerConfig merge(const rt::OptimizerConfig &base,
                                 const rt::GroupConfig &group) {
  rt::OptimizerConfig merged = base;
  if (!group.name.empty() || !group.path.empty()) {
    bool isOther = group.name != base.name || group.path != base.path;
    merged.name = group.name;
    merged.path = group.path;
    if (isOther)
      merged.constants.clear();
  }
  for (const auto &[name, value] : group.constants)
    merged.constants[name] = value;
  merged.rateShare = group.rateShare;
  return merged;
}

static bool matches(const rt::GroupConfig &group, dist::StateOp parameter) {
  int64_t rank = parameter.getTensorType().getRank();
  return (group.maxRank < 0 || rank <= group.maxRank) &&
         rt::matchesGlob(group.match,
                         rt::unescapeName(parameter.getSymName().str()));
}

namespace {
/// [optimizer] and the groups, with their files, by number: 0 is [optimizer],
/// i + 1 is group i.
class Groups {
public:
  Groups(MLIRContext &context, const rt::Config &config)
      : context(context), config(config), files(config.group.size() + 1),
        isUsed(config.group.size() + 1) {}

  rt::Result<FlatSymbolRefAttr> addFor(dist::StateOp parameter) {
    size_t number = findGroup(parameter);
    std::optional<OptimizerFile> &file = files[number];
    if (!file) {
      LLMC_TRY_ASSIGN(auto read,
                      OptimizerFile::read(context, settings(number)));
      file = std::move(read);
    }
    return file->addFor(parameter, config);
  }

  rt::Status checkUse() const {
    for (auto [i, group] : llvm::enumerate(config.group))
      if (!isUsed[i + 1])
        return rt::makeError(
            ErrorKind::usage,
            config.originOf("group[" + std::to_string(i) + "]") +
                ": expected a group that matches a parameter, got match = \"" +
                group.match +
                "\", which matches none that no group before it has");
    return rt::Status::success();
  }

private:
  size_t findGroup(dist::StateOp parameter) {
    for (auto [i, group] : llvm::enumerate(config.group))
      if (matches(group, parameter)) {
        isUsed[i + 1] = true;
        return i + 1;
      }
    return 0;
  }
  rt::OptimizerConfig settings(size_t number) const {
    return number ? merge(config.optimizer, config.group[number - 1])
                  : config.optimizer;
  }

  MLIRContext &context;
  const rt::Config &config;
  std::vector<std::optional<OptimizerFile>> files;
  std::vector<bool> isUsed;
};
} // namespace

rt::Result<FlatSymbolRefAttr> import::addOptimizers(ModuleOp module,
                                                    const rt::Config &config) {
  OpBuilder builder = OpBuilder::atBlockBegin(module.getBody());
  // A step reports its rate, whether the optimizer takes it or not.
  addHyper(builder, module, "lr",
           RankedTensorType::get({}, builder.getF32Type()), config);
  if (config.training.rounding == "stochastic")
    for (StringRef name : {"seed", "step"})
      addHyper(builder, module, name,
               RankedTensorType::get({}, builder.getI32Type()), config);
  // Numbers that no parameter takes are refused as well.
  LLMC_TRY(
      OptimizerFile::read(*module.getContext(), config.optimizer).status());
  Groups groups(*module.getContext(), config);
  FlatSymbolRefAttr first;
  for (auto state : llvm::to_vector(module.getOps<dist::StateOp>())) {
    if (state.getRole() != dist::Role::Parameter)
      continue;
    LLMC_TRY_ASSIGN(FlatSymbolRefAttr symbol, groups.addFor(state));
    if (!first)
      first = symbol;
    else if (symbol != first)
      state.setOptimizerAttr(symbol);
  }
  LLMC_TRY(groups.checkUse());
  return first;
}
