//===- Widen.cpp - Compute in f64 what the text computes in f32 -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   constant dense<9.99999974E-6> : tensor<f32>
//   -> constant dense<9.9999997473787516E-6> : tensor<f64>
//
// Types, constants and attributes of the whole module change together, states
// and hyper values included; f16 and bf16 likewise. A state that is read from a
// file keeps the file's element type as the source's `dtype`. An op on the bits
// of its floats keeps its types, between conversions:
//
//   bitcast_convert %bits : (tensor<4xui32>) -> tensor<4xf32>
//   -> the same, then convert : (tensor<4xf32>) -> tensor<4xf64>
//
// Test: test/Transforms/Training/widen.mlir
//===----------------------------------------------------------------------===//

#include "../TrainingMarks.h"
#include "llmc/Dialect/StableHLO/IR/Builders.h"
#include "llmc/Transforms/Training/Passes.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/TypeUtilities.h"

namespace llmc {
#define GEN_PASS_DEF_WIDENPASS
#include "llmc/Transforms/Training/Passes.h.inc"
} // namespace llmc

using namespace mlir;
using namespace llmc;

static bool isNarrow(Type type) {
  return isa<Float32Type, BFloat16Type, Float16Type>(type);
}

static APFloat widen(const APFloat &value) {
  APFloat result = value;
  bool losesInfo = false;
  result.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                 &losesInfo);
  return result;
}

static Attribute widenElements(DenseFPElementsAttr elements) {
  Type wide = Float64Type::get(elements.getContext());
  return elements.mapValues(
      wide, [](const APFloat &value) { return widen(value).bitcastToAPInt(); });
}

/// Files keep their element type; the state's own changes.
static void keepFileTypes(ModuleOp module) {
  for (auto state : module.getOps<dist::StateOp>()) {
    auto file = dyn_cast_or_null<dist::FileAttr>(state.getSourceAttr());
    Type element = state.getTensorType().getElementType();
    if (file && !file.getDtype() && isNarrow(element))
      state.setSourceAttr(dist::FileAttr::get(module.getContext(),
                                              file.getPath(), file.getOffset(),
                                              file.getBytes(), element));
  }
}

namespace {

/// The types of an op that keeps them.
struct FixedTypes {
  Operation *op;
  SmallVector<Type> operands, results;
};

} // namespace

static SmallVector<FixedTypes> findFixedTypes(ModuleOp module) {
  SmallVector<FixedTypes> found;
  module.walk([&](Operation *op) {
    if (op->hasTrait<FixedElement>())
      found.push_back({op, llvm::to_vector(op->getOperandTypes()),
                       llvm::to_vector(op->getResultTypes())});
  });
  return found;
}

/// Takes the types of the text back, between conversions.
static void restoreTypes(const FixedTypes &fixed) {
  OpBuilder builder(fixed.op);
  Location loc = fixed.op->getLoc();
  for (auto [operand, type] :
       llvm::zip_equal(fixed.op->getOpOperands(), fixed.operands))
    operand.set(stablehlo::convertTo(builder, loc, operand.get(),
                                     getElementTypeOrSelf(type)));
  builder.setInsertionPointAfter(fixed.op);
  for (auto [result, type] :
       llvm::zip_equal(fixed.op->getResults(), fixed.results)) {
    Type wide = result.getType();
    if (wide == type)
      continue;
    result.setType(type);
    Value converted =
        stablehlo::convertTo(builder, loc, result, getElementTypeOrSelf(wide));
    result.replaceAllUsesExcept(converted, converted.getDefiningOp());
  }
}

namespace {

struct WidenPass : llmc::impl::WidenPassBase<WidenPass> {
  using WidenPassBase::WidenPassBase;

  void runOnOperation() override {
    ModuleOp module = getOperation();
    if (!isWanted())
      return markAllAnalysesPreserved();
    keepFileTypes(module);
    SmallVector<FixedTypes> fixed = findFixedTypes(module);
    AttrTypeReplacer replacer;
    replacer.addReplacement([](FloatType type) -> std::optional<Type> {
      if (!isNarrow(type))
        return std::nullopt;
      return Float64Type::get(type.getContext());
    });
    replacer.addReplacement(
        [](FloatAttr attr) -> std::optional<std::pair<Attribute, WalkResult>> {
          if (!isNarrow(attr.getType()))
            return std::nullopt;
          Type wide = Float64Type::get(attr.getContext());
          return std::make_pair(FloatAttr::get(wide, widen(attr.getValue())),
                                WalkResult::skip());
        });
    replacer.addReplacement(
        [](DenseElementsAttr elements)
            -> std::optional<std::pair<Attribute, WalkResult>> {
          auto floats = dyn_cast<DenseFPElementsAttr>(elements);
          if (!floats || !isNarrow(floats.getElementType()))
            return std::nullopt;
          return std::make_pair(widenElements(floats), WalkResult::skip());
        });
    replacer.addReplacement(
        [](dist::FileAttr file)
            -> std::optional<std::pair<Attribute, WalkResult>> {
          return std::make_pair(Attribute(file), WalkResult::skip());
        });
    replacer.recursivelyReplaceElementsIn(module, /*replaceAttrs=*/true,
                                          /*replaceLocs=*/false,
                                          /*replaceTypes=*/true);
    llvm::for_each(fixed, restoreTypes);
  }

private:
  bool isWanted() {
    return force || llvm::any_of(getOperation().getOps<dist::TrainingOp>(),
                                 [](dist::TrainingOp recipe) {
                                   std::optional<Type> precision =
                                       recipe.getPrecision();
                                   return precision && precision->isF64();
                                 });
  }
};

} // namespace
