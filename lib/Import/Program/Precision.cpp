//===- Precision.cpp - Which floats contractions multiply -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `training.precision` is a field of the recipe; the first of the [[precision]]
// tables that matches a parameter is a mark of its state.
//
// Test: test/Import/StableHLO/precision.mlir
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
