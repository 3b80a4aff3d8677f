//===- AttentionTarget.cpp - Who computes attention on a target -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Test: test/Transforms/Training/raise-attention-target.mlir
//===----------------------------------------------------------------------===//

#include "AttentionTarget.h"
#include "llmc/Dialect/Dist/IR/Dist.h"
#include "llmc/Dialect/Dist/IR/PrecisionMarks.h"
#include "llmc/Dialect/Dist/IR/ProgramTarget.h"
#include "llmc/Runtime/Base/TargetLibraries.h"
#include "llmc/Support/StoredElements.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::training;

std::optional<AttentionTarget> AttentionTarget::find(ModuleOp module) {
  StringRef name = dist::getTargetName(module);
  if (!rt::isComputed(name, "attention"))
    return std::nullopt;
  AttentionTarget target;
  target.libraries = dist::getTargetLibraries(module);
  target.byKernels = !rt::hasLibrary(name, "attention");
  for (auto recipe : module.getOps<dist::TrainingOp>()) {
    auto asked = recipe->getAttrOfType<StringAttr>(dist::kAttention);
    if (asked && asked == "products")
      return std::nullopt;
    target.isAskedFor |= static_cast<bool>(asked);
    // Of 8 bits are contractions alone.
    if (std::optional<Type> precision = recipe.getPrecision();
        precision && precision->getIntOrFloatBitWidth() < 32)
      target.narrow = precision->isF16() ? rt::DType::f16 : rt::DType::bf16;
  }
  return target;
}

/// A call of these sizes on tensors without gaps.
static rt::AttentionShape describe(const AttentionSizes &sizes, rt::DType type,
                                   bool isGradient) {
  using Kind = rt::AttentionIndexKind;
  rt::AttentionShape shape;
  shape.dtype = type;
  shape.scale = sizes.scale;
  shape.isGradient = isGradient;
  shape.isCausal = sizes.causal.has_value();
  shape.shift = sizes.causal.value_or(0);
  shape.hasBias = sizes.hasBias;
  shape.dropout = sizes.dropout;
  auto add = [&](Kind kind, int64_t size) {
    shape.indices.emplace_back().kind = kind;
    shape.indices.back().size = size;
  };
  for (int64_t size : sizes.batches)
    add(Kind::batch, size);
  for (int64_t size : sizes.groups)
    add(Kind::batch, size);
  add(Kind::row, sizes.rows);
  add(Kind::column, sizes.columns);
  add(Kind::depth, sizes.depth);
  add(Kind::value, sizes.values);
  for (const rt::AttentionStride &each : rt::attentionStrides) {
    bool isKeys = each.along[static_cast<size_t>(Kind::column)],
         isOfGradient = each.name[0] == 'd';
    if (each.name == "bias" || each.name == "bits" ||
        (isOfGradient && !isGradient))
      continue;
    int64_t stride = 1;
    for (size_t i = shape.indices.size(); i-- > 0;) {
      rt::AttentionIndex &index = shape.indices[i];
      bool isGroup = i >= sizes.batches.size() &&
                     i < sizes.batches.size() + sizes.groups.size();
      if (!each.along[static_cast<size_t>(index.kind)] || (isGroup && isKeys))
        continue;
      index.*each.stride = stride;
      stride *= index.size;
    }
  }
  return shape;
}

static bool hasEmptyTensor(Operation *op) {
  auto isEmpty = [](Type type) {
    auto tensor = dyn_cast<RankedTensorType>(type);
    return tensor && tensor.getNumElements() == 0;
  };
  return llvm::any_of(op->getOperandTypes(), isEmpty) ||
         llvm::any_of(op->getResultTypes(), isEmpty);
}

std::string AttentionTarget::whyProducts(Operation *op,
                                         const AttentionSizes &sizes) const {
  if (!byKernels)
    return "";
  if (hasEmptyTensor(op))
    return "there are no elements, and kernels of attention need some";
  std::optional<rt::DType> type = narrow;
  for (Type operand : op->getOperandTypes())
    if (Type element = getElementTypeOrSelf(operand);
        isa<FloatType>(element) && element.getIntOrFloatBitWidth() < 32)
      type = getRuntimeDType(element);
  if (!type || isAskedFor)
    return "";
  std::string lacks;
  if (rt::hasLibrary(libraries, "attention")) {
    rt::Status status = rt::Status::success();
    for (bool isGradient : {false, true})
      if (status.ok())
        status =
            rt::checkLibrary(libraries, describe(sizes, *type, isGradient));
    if (status.ok())
      return "";
    lacks = "a library of '" + libraries + "' lacks it (" + status.message() +
            "), and ";
  }
  if (std::max(sizes.depth, sizes.values) <= rt::attentionTensorDepth)
    return "";
  return lacks + "beyond 128 elements of depth, kernels of attention multiply "
                 "narrow floats at the rate of f32, a library's products do "
                 "not (training.attention = \"whole\" keeps no scores)";
}
