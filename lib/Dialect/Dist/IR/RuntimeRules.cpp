//===- RuntimeRules.cpp - Draws and rules as the runtime has them ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See RuntimeRules.h.
//
//===----------------------------------------------------------------------===//

#include "llmc/Dialect/Dist/IR/RuntimeRules.h"

using namespace mlir;
using namespace llmc;

rt::Draw dist::getRuntimeDraw(DrawAttr draw) {
  ArrayRef<double> values = draw.getValues().asArrayRef();
  switch (draw.getKind()) {
  case DrawKind::Zeros:
    return {rt::DrawKind::zeros, 0, 0};
  case DrawKind::Ones:
    return {rt::DrawKind::ones, 0, 0};
  case DrawKind::Constant:
    return {rt::DrawKind::constant, values[0], 0};
  case DrawKind::Normal:
    return {rt::DrawKind::normal, 0, values[0]};
  case DrawKind::Uniform:
    return {rt::DrawKind::uniform, values[0], values[1]};
  }
  return {};
}

std::optional<rt::HyperRule> dist::getRuntimeRule(RuleAttr rule) {
  rt::HyperRule result;
  switch (rule.getKind()) {
  case RuleKind::Step:
    result.kind = rt::HyperKind::step;
    return result;
  case RuleKind::Seed:
    result.kind = rt::HyperKind::seed;
    return result;
  case RuleKind::External:
    result.kind = rt::HyperKind::external;
    return result;
  case RuleKind::Schedule:
    break;
  }
  StringRef name = rule.getSchedule().getValue();
  std::optional<rt::HyperKind> kind =
      rt::parseHyperKind({name.data(), name.size()});
  SmallVector<double> constants;
  if (rule.getConstants())
    llvm::append_range(constants, rule.getConstants().asArrayRef());
  if (!kind || constants.size() > 4)
    return std::nullopt;
  constants.resize(4);
  result.kind = *kind;
  result.base = constants[0];
  result.warmup = static_cast<int64_t>(constants[1]);
  result.total = static_cast<int64_t>(constants[2]);
  result.last = constants[3];
  return result;
}

std::optional<rt::DType> dist::getRuntimeDType(Type element) {
  std::string name;
  llvm::raw_string_ostream(name) << element;
  // The runtime writes u8 where MLIR writes ui8.
  if (StringRef(name).starts_with("ui"))
    name.erase(1, 1);
  return rt::parseDType(name);
}
