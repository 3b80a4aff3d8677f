//===- Precision.cpp - Which floats contractions multiply -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `training.precision` is a field of the recipe; the first of the [[precision]]
// tables that matches a parameter is a mark of its state. In what floats its
// gradient is sent is a field of its row.
//
// Tests: test/Import/StableHLO/precision.mlir and
// test/Transforms/Sharding/sent-gradients.mlir
//===----------------------------------------------------------------------===//

#include "Parts.h"
#include "llmc/Dialect/Dist/IR/PrecisionMarks.h"
#include "llmc/Runtime/Config/Config.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::import;

Type import::getFloatType(MLIRContext *context, StringRef name) {
  if (name == "f64")
    return Float64Type::get(context);
  if (name == "bf16")
    return BFloat16Type::get(context);
  if (name == "f16")
    return Float16Type::get(context);
  if (name == "fp8")
    return Float8E4M3FNType::get(context);
  return name == "f32" ? Type(Float32Type::get(context)) : Type();
}

/// Says how scales are found where anything is of eight bits.
static rt::Status markScaling(ModuleOp module, const rt::Config &config) {
  auto isSmall = [](const auto &table) { return table.type == "fp8"; };
  const rt::TrainingConfig &training = config.training;
  if (training.precision == "fp8" || llvm::any_of(config.precision, isSmall)) {
    int64_t history =
        training.fp8Scaling == "delayed" ? training.fp8History : 0;
    for (auto recipe : module.getOps<dist::TrainingOp>())
      recipe->setAttr(dist::kScaling,
                      DenseI64ArrayAttr::get(module.getContext(),
                                             {history, training.fp8Margin}));
    return rt::Status::success();
  }
  for (const char *key :
       {"training.fp8_scaling", "training.fp8_history", "training.fp8_margin"})
    if (config.originOf(key) != "default")
      return rt::makeError(rt::ErrorKind::usage,
                           config.originOf(key) + ": expected '" + key +
                               "' beside a precision of fp8, got none");
  return rt::Status::success();
}

rt::Status import::addPrecisions(ModuleOp module, const rt::Config &config) {
  LLMC_TRY(markScaling(module, config));
  std::vector<bool> isUsed(config.precision.size());
  for (auto state : module.getOps<dist::StateOp>()) {
    if (state.getRole() != dist::Role::Parameter)
      continue;
    std::string name = rt::unescapeName(state.getSymName().str());
    bool isFirst = true;
    for (auto [i, table] : llvm::enumerate(config.precision)) {
      if (!rt::matchesGlob(table.match, name))
        continue;
      isUsed[i] = true;
      if (isFirst)
        state->setAttr(
            dist::DistDialect::kPrecision,
            TypeAttr::get(getFloatType(module.getContext(), table.type)));
      isFirst = false;
    }
  }
  for (auto [i, table] : llvm::enumerate(config.precision))
    if (!isUsed[i])
      return rt::makeError(rt::ErrorKind::usage,
                           "expected 'precision[" + std::to_string(i) +
                               "].match' to match a parameter, got \"" +
                               table.match + "\", which matches none");
  return rt::Status::success();
}

/// The type of the first table that matches and has one, or null.
static Type findSent(MLIRContext *context, StringRef name,
                     const rt::Config &config) {
  for (const rt::LayoutConfig &table : config.layout)
    if (!table.gradientType.empty() && rt::matchesGlob(table.match, name))
      return getFloatType(context, table.gradientType);
  return {};
}

void import::addSentTypes(ModuleOp module, const rt::Config &config) {
  for (auto state : module.getOps<dist::StateOp>()) {
    Type sent = findSent(module.getContext(),
                         rt::unescapeName(state.getSymName().str()), config);
    if (!sent || state.getRole() != dist::Role::Parameter)
      continue;
    dist::RowAttr row = state.getRowAttr();
    if (!row)
      row = dist::RowAttr::get(module.getContext(), dist::LayoutAttr());
    state.setRowAttr(dist::RowAttr::get(
        module.getContext(), row.getRest(), row.getUse(), row.getGradient(),
        row.getOptimizer(), row.getStored(), row.getComputed(), sent,
        row.getAccumulate(), row.getMemory()));
  }
}
