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
  double mean = values.size() > 1 ? values[1] : 0;
  switch (draw.getKind()) {
  case DrawKind::Zeros:
    return {rt::DrawKind::zeros, 0, 0};
  case DrawKind::Ones:
    return {rt::DrawKind::ones, 0, 0};
  case DrawKind::Constant:
    return {rt::DrawKind::constant, values[0], 0};
  case DrawKind::Normal:
    return {rt::DrawKind::normal, mean, values[0]};
  case DrawKind::TruncatedNormal:
    return {rt::DrawKind::truncatedNormal, mean, values[0]};
  case DrawKind::Uniform:
    return {rt::DrawKind::uniform, values[0], values[1]};
  }
  return {};
}

static rt::HyperKind getRuntimeKind(dist::RuleKind kind) {
  switch (kind) {
  case dist::RuleKind::Step:
    return rt::HyperKind::step;
  case dist::RuleKind::Seed:
    return rt::HyperKind::seed;
  case dist::RuleKind::External:
    return rt::HyperKind::external;
  case dist::RuleKind::Constant:
    return rt::HyperKind::constant;
  case dist::RuleKind::WarmupConstant:
    return rt::HyperKind::warmupConstant;
  case dist::RuleKind::WarmupLinear:
    return rt::HyperKind::warmupLinear;
  case dist::RuleKind::WarmupCosine:
    return rt::HyperKind::warmupCosine;
  }
  return rt::HyperKind::constant;
}

rt::HyperRule dist::getRuntimeRule(RuleAttr rule) {
  rt::HyperRule result;
  result.kind = getRuntimeKind(rule.getKind());
  result.base = rule.getBase();
  result.last = rule.getLast();
  result.warmup = rule.getWarmup();
  result.total = rule.getTotal();
  return result;
}

rt::DataRule dist::getRuntimeRule(DataAttr data) {
  rt::DataRule rule;
  rule.kind = static_cast<rt::DataKind>(data.getKind());
  if (Type dtype = data.getDtype())
    rule.dtype = *getRuntimeDType(dtype);
  if (StringAttr tensor = data.getTensor())
    rule.tensor = tensor.str();
  rule.shuffle = data.getShuffle();
  rule.once = data.getOnce();
  if (FloatAttr heldOut = data.getHeldOut())
    rule.heldOut = heldOut.getValueAsDouble();
  if (DenseI64ArrayAttr weights = data.getWeights())
    rule.weights.assign(weights.asArrayRef().begin(),
                        weights.asArrayRef().end());
  rule.finite = !data.getAnyFloat();
  return rule;
}

dist::DataAttr dist::getDataAttr(MLIRContext *context, StringRef source,
                                 const rt::DataRule &rule, int64_t offset) {
  // The type of the rule's default stays unsaid.
  Type dtype;
  if (rule.dtype != rt::DataRule().dtype)
    dtype = IntegerType::get(context, 8 * rt::sizeOf(rule.dtype),
                             rt::isSignedInteger(rule.dtype)
                                 ? IntegerType::Signless
                                 : IntegerType::Unsigned);
  StringAttr tensor;
  if (!rule.tensor.empty())
    tensor = StringAttr::get(context, rule.tensor);
  FloatAttr heldOut;
  if (rule.heldOut > 0)
    heldOut = FloatAttr::get(Float64Type::get(context), rule.heldOut);
  DenseI64ArrayAttr weights;
  if (!rule.weights.empty())
    weights = DenseI64ArrayAttr::get(context, rule.weights);
  return DataAttr::get(context, source, static_cast<DataKind>(rule.kind), dtype,
                       tensor, rule.shuffle, rule.once, heldOut, weights,
                       !rule.finite, offset, /*limit=*/0);
}
