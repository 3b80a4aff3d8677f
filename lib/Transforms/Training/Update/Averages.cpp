//===- Averages.cpp - Averages of parameters over the steps ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Averages.h"
#include "llmc/Dialect/Dist/IR/UpdateMarks.h"
#include "llmc/Dialect/StableHLO/IR/Builders.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::training;
namespace hlo = llmc::stablehlo;

std::optional<Averages> Averages::make(OpBuilder &builder,
                                       dist::TrainingOp recipe,
                                       SymbolTable &symbols) {
  auto share = recipe->getAttrOfType<FloatAttr>(dist::kAverage);
  if (!share)
    return std::nullopt;
  Averages averages;
  averages.kept = share.getValueAsDouble();
  averages.begun = dist::StateOp::create(
      builder, recipe.getLoc(), (recipe.getSymName() + ".averaged").str(),
      RankedTensorType::get({}, builder.getI32Type()), dist::Role::Carried,
      dist::DrawAttr::get(builder.getContext(), dist::DrawKind::Zeros,
                          ArrayRef<double>()));
  symbols.insert(averages.begun, builder.getInsertionPoint());
  return averages;
}

dist::PortAttr Averages::getPort() const {
  dist::StateOp state = begun;
  return dist::PortAttr::get(state.getContext(), dist::PortKind::Carried,
                             FlatSymbolRefAttr::get(state.getSymNameAttr()));
}

RankedTensorType Averages::getType(RankedTensorType parameter) {
  if (parameter.getElementTypeBitWidth() >= 32)
    return parameter;
  return RankedTensorType::get(parameter.getShape(),
                               Float32Type::get(parameter.getContext()));
}

Value Averages::buildNext(OpBuilder &builder, Location loc, Value begun,
                          Value average, Value before, Value after,
                          Value finite) const {
  Type element = getElementTypeOrSelf(average.getType());
  Value isFirst =
      hlo::compare(builder, loc, hlo::ComparisonDirection::EQ, begun,
                   hlo::constantLike(builder, loc, begun, 0));
  Value old =
      hlo::select(builder, loc, isFirst,
                  hlo::convertTo(builder, loc, before, element), average);
  auto share = [&](double number, Value x) {
    return hlo::mul(builder, loc, hlo::constantLike(builder, loc, x, number),
                    x);
  };
  Value next =
      hlo::add(builder, loc, share(kept, old),
               share(1 - kept, hlo::convertTo(builder, loc, after, element)));
  return finite ? hlo::select(builder, loc, finite, next, old) : next;
}

Value Averages::buildBegun(OpBuilder &builder, Location loc) const {
  return hlo::scalar(builder, loc, builder.getI32Type(), 1);
}
