//===- LossScale.cpp - Cotangents that narrow floats hold -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Test: test/Transforms/Training/loss-scale.mlir
//===----------------------------------------------------------------------===//

#include "LossScale.h"
#include "llmc/Dialect/StableHLO/IR/Builders.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/SetVector.h"
#include <cmath>

using namespace mlir;
using namespace llmc;
using namespace llmc::training;
namespace hlo = llmc::stablehlo;

static std::string getScaleName(dist::TrainingOp recipe) {
  return (recipe.getSymName() + ".loss_scale").str();
}

static std::string getGoodName(dist::TrainingOp recipe) {
  return (recipe.getSymName() + ".good_steps").str();
}

/// A constant count itself; of another the elements of the greatest tensor that
/// it is computed from.
static double estimateCount(func::FuncOp microbatch) {
  std::optional<unsigned> result =
      dist::Signature(microbatch).findResult(dist::PortKind::Count);
  if (!result)
    return 1;
  Value count = microbatch.front().getTerminator()->getOperand(*result);
  DenseElementsAttr elements;
  if (matchPattern(count, m_Constant(&elements)) && elements.isSplat()) {
    if (isa<FloatType>(elements.getElementType()))
      return elements.getSplatValue<APFloat>().convertToDouble();
    return static_cast<double>(elements.getSplatValue<APInt>().getSExtValue());
  }
  double most = 1;
  llvm::SetVector<Value> open;
  open.insert(count);
  for (size_t i = 0; i < open.size(); ++i) {
    auto type = cast<RankedTensorType>(open[i].getType());
    most = std::max(most, static_cast<double>(type.getNumElements()));
    if (Operation *op = open[i].getDefiningOp())
      open.insert(op->operand_begin(), op->operand_end());
  }
  return most;
}

static double getNominal(func::FuncOp microbatch) {
  double count = std::fabs(estimateCount(microbatch));
  return count > 1 ? std::exp2(std::floor(std::log2(count))) : 1;
}

static LossScale getParts(dist::TrainingOp recipe, func::FuncOp microbatch) {
  LossScale found;
  found.steps = static_cast<int64_t>(recipe.getLossScale()->back());
  found.nominal = getNominal(microbatch);
  return found;
}

LossScale LossScale::make(dist::TrainingOp recipe, func::FuncOp microbatch) {
  LossScale made = getParts(recipe, microbatch);
  OpBuilder builder(microbatch);
  auto makeState = [&](StringRef name, Type element, dist::DrawKind kind,
                       ArrayRef<double> values) {
    return dist::StateOp::create(
        builder, recipe.getLoc(), name, RankedTensorType::get({}, element),
        dist::Role::Carried,
        dist::DrawAttr::get(builder.getContext(), kind, values));
  };
  made.scale =
      makeState(getScaleName(recipe), builder.getF32Type(),
                dist::DrawKind::Constant, recipe.getLossScale()->front());
  made.good = makeState(getGoodName(recipe), builder.getI32Type(),
                        dist::DrawKind::Zeros, {});
  return made;
}

std::optional<LossScale> LossScale::find(dist::TrainingOp recipe,
                                         func::FuncOp microbatch) {
  if (!recipe.getLossScale())
    return std::nullopt;
  auto lookup = [&](const std::string &name) {
    return SymbolTable::lookupNearestSymbolFrom<dist::StateOp>(
        recipe, StringAttr::get(recipe.getContext(), name));
  };
  LossScale found = getParts(recipe, microbatch);
  found.scale = lookup(getScaleName(recipe));
  found.good = lookup(getGoodName(recipe));
  return found.scale && found.good ? std::optional(found) : std::nullopt;
}

dist::PortAttr LossScale::getPort(dist::StateOp state) const {
  return dist::PortAttr::get(state.getContext(), dist::PortKind::Carried,
                             FlatSymbolRefAttr::get(state.getSymNameAttr()));
}

Value LossScale::buildDivisor(OpBuilder &builder, Location loc,
                              Value scale) const {
  return hlo::mul(builder, loc, scale,
                  hlo::constantLike(builder, loc, scale, 1 / nominal));
}

Value LossScale::buildSeed(OpBuilder &builder, Location loc, Value scale,
                           Type element) const {
  return hlo::convertTo(builder, loc, buildDivisor(builder, loc, scale),
                        element);
}

std::pair<Value, Value> LossScale::buildNext(OpBuilder &builder, Location loc,
                                             Value scale, Value good,
                                             Value isGood) const {
  auto like = [&](Value value, double number) {
    return hlo::constantLike(builder, loc, value, number);
  };
  Value next = hlo::add(builder, loc, good, like(good, 1));
  Value isDue = hlo::compare(builder, loc, hlo::ComparisonDirection::GE, next,
                             like(good, static_cast<double>(steps)));
  Value zero = like(good, 0);
  Value kept = hlo::select(builder, loc, isDue, zero, next);
  Value doubled = hlo::mul(builder, loc, scale, like(scale, 2));
  Value halved =
      hlo::max(builder, loc, hlo::mul(builder, loc, scale, like(scale, 0.5)),
               like(scale, 1));
  Value grown = hlo::select(builder, loc, isDue, doubled, scale);
  return {hlo::select(builder, loc, isGood, grown, halved),
          hlo::select(builder, loc, isGood, kept, zero)};
}
