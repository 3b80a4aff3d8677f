//===- FactorScales.cpp - Scales of floats of eight bits ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See FactorScales.h.
//
// Test: test/Transforms/Training/scales.mlir
//===----------------------------------------------------------------------===//

#include "FactorScales.h"
#include "../TrainingMarks.h"
#include "llmc/Dialect/Dist/IR/PrecisionMarks.h"
#include "llmc/Dialect/Dist/IR/Signature.h"
#include "llmc/Dialect/NN/IR/NN.h"
#include "llmc/Dialect/StableHLO/IR/Builders.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/Sequence.h"
#include <cmath>

using namespace mlir;
using namespace llmc;
using namespace llmc::training;
namespace hlo = llmc::stablehlo;

Scaling Scaling::of(dist::StepOp step) {
  auto mark = step->getAttrOfType<DenseI64ArrayAttr>(dist::kScaling);
  return mark ? Scaling{mark[0], mark[1]} : Scaling();
}

/// A scalar of f32, at least 0: that of a tensor without elements too.
static Value buildGreatest(OpBuilder &builder, Location loc, Value x) {
  Value magnitude = hlo::abs(builder, loc, x);
  int64_t rank = cast<RankedTensorType>(x.getType()).getRank();
  Value greatest = hlo::reduceMax(builder, loc, magnitude,
                                  llvm::to_vector(llvm::seq<int64_t>(0, rank)));
  greatest = hlo::convertTo(builder, loc, greatest, builder.getF32Type());
  return hlo::max(builder, loc, greatest,
                  hlo::constantLike(builder, loc, greatest, 0));
}

/// The power of two at or below a number that is normal.
static Value floorToPower(OpBuilder &builder, Location loc, Value x) {
  constexpr double exponent = 0x7f800000;
  auto bits = RankedTensorType::get({}, builder.getI32Type());
  Value whole = hlo::BitcastConvertOp::create(builder, loc, bits, x);
  Value kept = hlo::logicalAnd(
      builder, loc, whole, hlo::constantLike(builder, loc, whole, exponent));
  return hlo::BitcastConvertOp::create(builder, loc, x.getType(), kept);
}

Value FactorScales::buildScale(OpBuilder &builder, Location loc, Value amax,
                               FloatType type) {
  auto like = [&](double number) {
    return hlo::constantLike(builder, loc, amax, number);
  };
  double largest =
      llvm::APFloat::getLargest(type.getFloatSemantics()).convertToDouble();
  double wanted = std::ldexp(largest, -static_cast<int>(scaling.margin));
  Value scale = hlo::div(builder, loc, like(wanted), amax);
  scale = hlo::min(builder, loc, scale, like(std::ldexp(1, 126)));
  return floorToPower(builder, loc, scale);
}

/// The greatest that the state remembers, which then remembers `amax`.
Value FactorScales::remember(OpBuilder &builder, Location loc, Value amax) {
  MLIRContext *context = builder.getContext();
  auto type = RankedTensorType::get({scaling.history}, builder.getF32Type());
  std::string name = (step.getSymName() + ".amax." +
                      llvm::Twine(static_cast<unsigned>(next.size())))
                         .str();
  OpBuilder states(function);
  dist::StateOp::create(
      states, loc, name, type, dist::Role::Carried,
      dist::DrawAttr::get(context, dist::DrawKind::Zeros, ArrayRef<double>()));
  dist::Signature signature(function);
  auto port = dist::PortAttr::get(context, dist::PortKind::Carried,
                                  FlatSymbolRefAttr::get(context, name));
  signature.arguments.push_back(port);
  (void)function.insertArgument(function.getNumArguments(), type, {}, loc);
  signature.write(function);
  Value known = function.getArguments().back();
  auto isFinite = hlo::IsFiniteOp::create(
      builder, loc, RankedTensorType::get({}, builder.getI1Type()), amax);
  Value newest = hlo::select(builder, loc, isFinite, amax,
                             hlo::constantLike(builder, loc, amax, 0));
  Value row = hlo::reshape(builder, loc, newest, {1});
  if (scaling.history > 1)
    row = hlo::concatenate(
        builder, loc,
        {row, hlo::slice(builder, loc, known, {0}, {scaling.history - 1})}, 0);
  next.push_back({port, row});
  return hlo::reduceMax(builder, loc, known, {0});
}

ScaledValue FactorScales::build(OpBuilder &builder, Location loc, Value x,
                                FloatType type, bool isMade) {
  Value amax = buildGreatest(builder, loc, x), scale;
  if (step && isMade && scaling.history > 0) {
    Value known = remember(builder, loc, amax);
    Value isKnown =
        hlo::compare(builder, loc, hlo::ComparisonDirection::GT, known,
                     hlo::constantLike(builder, loc, known, 0));
    scale = hlo::select(builder, loc, isKnown,
                        buildScale(builder, loc, known, type),
                        hlo::constantLike(builder, loc, known, 1));
  } else {
    scale = buildScale(builder, loc, amax, type);
  }
  auto shape = cast<RankedTensorType>(x.getType());
  Value value = nn::QuantizeOp::create(
      builder, loc, RankedTensorType::get(shape.getShape(), type), x, scale);
  Value one = hlo::constantLike(builder, loc, scale, 1);
  return {value, hlo::div(builder, loc, one, scale)};
}

Value FactorScales::unscale(OpBuilder &builder, Location loc, Value product,
                            ArrayRef<Value> inverses) {
  Value factor;
  for (Value inverse : inverses)
    factor = factor ? hlo::mul(builder, loc, factor, inverse) : inverse;
  auto type = cast<RankedTensorType>(product.getType());
  factor = hlo::convertTo(builder, loc, factor, type.getElementType());
  if (type.getRank() > 0)
    factor = hlo::broadcastInDim(builder, loc, factor, type, {});
  return hlo::mul(builder, loc, product, factor);
}

void FactorScales::finish() {
  if (next.empty())
    return;
  dist::Signature signature(function);
  SmallVector<Value> values(function.front().getTerminator()->getOperands());
  for (auto [port, value] : next) {
    values.push_back(value);
    signature.results.push_back(port);
  }
  setResults(function, values);
  signature.write(function);
}
