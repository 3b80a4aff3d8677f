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

/// The powers of two at or below numbers that are normal.
static Value floorToPower(OpBuilder &builder, Location loc, Value x) {
  constexpr double exponent = 0x7f800000;
  Type bits = cast<RankedTensorType>(x.getType()).clone(builder.getI32Type());
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

/// A carried state of zeros, as the function's last argument.
BlockArgument FactorScales::addState(Location loc, ArrayRef<int64_t> shape) {
  MLIRContext *context = function.getContext();
  OpBuilder states(function);
  auto type = RankedTensorType::get(shape, states.getF32Type());
  std::string name = (step.getSymName() + ".amax." +
                      llvm::Twine(static_cast<unsigned>(next.size())))
                         .str();
  dist::StateOp::create(
      states, loc, name, type, dist::Role::Carried,
      dist::DrawAttr::get(context, dist::DrawKind::Zeros, ArrayRef<double>()));
  dist::Signature signature(function);
  auto port = dist::PortAttr::get(context, dist::PortKind::Carried,
                                  FlatSymbolRefAttr::get(context, name));
  signature.arguments.push_back(port);
  (void)function.insertArgument(function.getNumArguments(), type, {}, loc);
  signature.write(function);
  next.push_back({port, Value()});
  return function.getArguments().back();
}

/// The greatest that the state remembers, for each trip of `loops`; the state
/// then remembers `amax`.
Value FactorScales::remember(OpBuilder &builder, Location loc, Value amax,
                             ArrayRef<dist::LoopAttr> loops) {
  SmallVector<int64_t> shape;
  for (dist::LoopAttr loop : loops)
    shape.push_back(loop.getTrips());
  auto dim = static_cast<int64_t>(shape.size());
  shape.push_back(scaling.history);
  Value known = addState(loc, shape);
  auto isFinite = hlo::IsFiniteOp::create(
      builder, loc, RankedTensorType::get({}, builder.getI1Type()), amax);
  Value row = hlo::select(builder, loc, isFinite, amax,
                          hlo::constantLike(builder, loc, amax, 0));
  for (dist::LoopAttr loop : llvm::reverse(loops))
    row =
        dist::LeaveOp::create(builder, loc, row, dist::LeaveKind::Stack, loop);
  SmallVector<int64_t> starts(shape.size(), 0), limits(shape);
  shape[dim] = 1;
  --limits[dim];
  row = hlo::reshape(builder, loc, row, shape);
  if (scaling.history > 1)
    row = hlo::concatenate(
        builder, loc, {row, hlo::slice(builder, loc, known, starts, limits)},
        dim);
  next.back().second = row;
  return hlo::reduceMax(builder, loc, known, {dim});
}

FactorScales::Scale FactorScales::buildCurrent(OpBuilder &builder, Location loc,
                                               Value amax, FloatType type) {
  Value scale = buildScale(builder, loc, amax, type);
  Value one = hlo::constantLike(builder, loc, scale, 1);
  return {scale, hlo::div(builder, loc, one, scale)};
}

FactorScales::Scale FactorScales::buildDelayed(OpBuilder &builder, Location loc,
                                               Value amax, FloatType type,
                                               dist::LoopAttr loop) {
  std::vector<dist::LoopAttr> loops;
  if (loop)
    loops = loop.getPath();
  Value known = remember(builder, loc, amax, loops);
  Value isKnown =
      hlo::compare(builder, loc, hlo::ComparisonDirection::GT, known,
                   hlo::constantLike(builder, loc, known, 0));
  Value one = hlo::constantLike(builder, loc, known, 1);
  Value scale = hlo::select(builder, loc, isKnown,
                            buildScale(builder, loc, known, type), one);
  Value inverse = hlo::div(builder, loc, one, scale);
  for (dist::LoopAttr each : loops)
    for (Value *row : {&scale, &inverse})
      *row =
          dist::EnterOp::create(builder, loc, *row, dist::EnterKind::Row, each);
  return {scale, inverse};
}

ScaledValue FactorScales::build(OpBuilder &builder, Location loc, Value x,
                                FloatType type, bool isMade,
                                dist::LoopAttr loop) {
  Value amax = buildGreatest(builder, loc, x);
  bool isDelayed =
      step && isMade && scaling.history > 0 && !(loop && loop.getConditional());
  auto [scale, inverse] = isDelayed
                              ? buildDelayed(builder, loc, amax, type, loop)
                              : buildCurrent(builder, loc, amax, type);
  auto shape = cast<RankedTensorType>(x.getType());
  Value value = nn::QuantizeOp::create(
      builder, loc, RankedTensorType::get(shape.getShape(), type), x, scale);
  return {value, inverse};
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
