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
  return name == "f32" ? Type(Float32Type::get(context)) : Type();
}

rt::Status import::addPrecisions(ModuleOp module, const rt::Config &config) {
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
