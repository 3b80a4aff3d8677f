//===- Gather.cpp - Answers of gather -------------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// result[p, w] = operand[start(p) + w], starts limited so that windows fit.
//
// Rule: batching, positions and whole window dimensions pass. An indexed
// dimension that the result lacks is reduced by sum: a device that holds some
// of its rows contributes those and zero for all others, as for an embedding
// split by vocabulary.
//
// Derivative: gather limits its starts, scatter drops what lies outside, so the
// starts are limited first; then g is added to zeros there. Sums of f16 and
// bf16 are accumulated in f32.
//
// Test: test/Dialect/StableHLO/Models/IndexingTest.cpp
//===----------------------------------------------------------------------===//

#include "../Movement.h"
#include "LocalAddress.h"
#include "llmc/Dialect/Graph/IR/Pointwise.h"
#include "llmc/Dialect/StableHLO/IR/Builders.h"
#include "llmc/Dialect/StableHLO/Models/Models.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::graph;
using namespace llmc::stablehlo;

namespace {
/// The greatest starts, one for each entry of the index vector, as a tensor
/// that broadcasts along positions; limited to what the index type can hold.
Value buildLastStarts(OpBuilder &b, Location loc, const Addressing &a) {
  auto element = cast<IntegerType>(a.indices.getElementType());
  unsigned width = element.getWidth();
  bool isUnsigned = element.isUnsigned();
  uint64_t greatest =
      (isUnsigned ? APInt::getMaxValue(width) : APInt::getSignedMaxValue(width))
          .getZExtValue();
  SmallVector<APInt> lasts;
  for (int64_t d : a.map)
    lasts.push_back(APInt(
        width, std::min(static_cast<uint64_t>(a.getLastStart(d)), greatest)));
  bool isVector = a.vectorDim < a.indices.getRank();
  SmallVector<int64_t> shape, dims;
  if (isVector) {
    shape.push_back(lasts.size());
    dims.push_back(a.vectorDim);
  }
  Value vector = ConstantOp::create(
      b, loc,
      DenseElementsAttr::get(RankedTensorType::get(shape, element), lasts));
  return broadcastInDim(b, loc, vector, a.indices, dims);
}

struct GatherAnswers : AnswerDefaults<GatherOp> {
  static ShardingRule rule(GatherOp op) {
    ShardingRule rule = ShardingRule::forOp(op);
    Addressing a = Addressing::of(op);
    TensorFactors &operand = rule.operands[0], &indices = rule.operands[1];
    TensorFactors &result = rule.results[0];
    for (auto [p, i] : llvm::zip(a.positions, a.positionsOfIndices))
      result[p] = indices[i] = {rule.addFactor(a.other.getDimSize(p))};
    for (auto [o, i] : llvm::zip(a.operandBatch, a.indicesBatch))
      operand[o] = indices[i];
    for (auto [w, d] : llvm::zip(a.window, a.windowOfOperand)) {
      int64_t size = a.operand.getDimSize(d), kept = a.other.getDimSize(w);
      if (size == kept) {
        operand[d] = result[w] = {rule.addFactor(size)};
        continue;
      }
      operand[d] = {rule.addFactor(size, FactorKind::Whole)};
      result[w] = {rule.addFactor(kept, FactorKind::Whole)};
    }
    ReductionKind kind = a.operand.getElementType().isInteger(1)
                             ? ReductionKind::bitOr
                             : ReductionKind::sum;
    for (int64_t d : a.dropped) {
      bool isIndexed =
          a.operand.getDimSize(d) > 1 && llvm::is_contained(a.map, d);
      operand[d] = {rule.addFactor(
          a.operand.getDimSize(d),
          isIndexed ? FactorKind::Reduced : FactorKind::Whole, kind)};
      rule.factors.back().isAddressed = isIndexed;
    }
    if (a.vectorDim < a.indices.getRank())
      indices[a.vectorDim] = {
          rule.addFactor(a.indices.getDimSize(a.vectorDim), FactorKind::Whole)};
    carryAnyPartial(rule, {0});
    return rule;
  }

  static bool needsNeutralPadding(GatherOp, unsigned) { return false; }

  /// A device contributes its own rows and zeros for all others.
  static LogicalResult localize(GatherOp op, LocalForm &form) {
    OpBuilder &b = form.builder;
    Addressing a = Addressing::of(op);
    LocalAddresses addresses = buildLocalAddresses(
        form, op.getOperand(), op.getStartIndices(), a, /*clamp=*/true);
    auto clone = cast<GatherOp>(form.cloneOp());
    RankedTensorType type = clone.getType();
    clone.getStartIndicesMutable().assign(addresses.indices);
    SmallVector<int64_t> sizes(op.getSliceSizes());
    for (auto [w, d] : llvm::zip(a.window, a.windowOfOperand))
      sizes[d] = type.getDimSize(w);
    clone.setSliceSizes(sizes);
    if (addresses.indices != form.getLocal(op.getStartIndices()))
      clone.setIndicesAreSorted(false);
    if (!addresses.isHere)
      return success();
    Value here = broadcastInDim(b, form.loc, addresses.isHere,
                                type.clone(b.getI1Type()), a.positions);
    Value rows = clone.getResult();
    form.results.back() =
        select(b, form.loc, here, rows, constantLike(b, form.loc, rows, 0));
    return success();
  }

  /// Reads the indices and only the windows of the operand.
  static OpCost cost(GatherOp op) {
    OpCost cost = getTrafficCost(op);
    RankedTensorType indices = typeOf(op.getStartIndices());
    cost.bytesRead =
        cost.bytesWritten + indices.getNumElements() *
                                llmc::getElementBytes(indices.getElementType());
    return cost;
  }

  static LogicalResult derive(GatherOp op, DerivativeCall &call) {
    OpBuilder &b = call.builder;
    Location loc = call.loc;
    Addressing a = Addressing::of(op);
    if (!call.needed[0] || a.other.getNumElements() == 0)
      return success();
    Value indices = op.getStartIndices();
    Type indexType = a.indices.getElementType();
    indices = ClampOp::create(b, loc, scalar(b, loc, indexType, 0), indices,
                              buildLastStarts(b, loc, a));
    auto dims = ScatterDimensionNumbersAttr::get(
        op.getContext(), a.window, a.dropped, a.operandBatch, a.indicesBatch,
        a.map, a.vectorDim);
    Type element = a.operand.getElementType();
    Type wide = isNarrowFloat(element) ? b.getF32Type() : element;
    Value g = convertTo(b, loc, call.cotangents[0], wide);
    Value zeros = constantSplat(b, loc, a.operand.clone(wide), 0);
    // Limiting several entries can change the order of the vectors.
    bool isSorted = op.getIndicesAreSorted() && a.map.size() <= 1;
    Value sum =
        scatter(b, loc, ReductionKind::sum, zeros, indices, g, dims, isSorted);
    call.gradients[0] = convertTo(b, loc, sum, element);
    return success();
  }

  static Value emitElement(GatherOp op, ElementCall &call) {
    return call.source(0, Addressing::of(op).emitAddress(
                              call, op.getStartIndices(), 1, /*clamp=*/true));
  }

  static LogicalResult evaluate(GatherOp op, EvaluationCall &call) {
    Addressing a = Addressing::of(op);
    return evaluateMap(
        call.operands[0], op.getType(),
        [&](ArrayRef<int64_t> index, SmallVectorImpl<int64_t> &from) {
          a.resolve(call.operands[1], index, /*clamp=*/true, from);
        },
        call.results);
  }
};
} // namespace

void stablehlo::registerGatherModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, StableHLODialect *) {
    attachAnswers<GatherOp, GatherAnswers>(context);
  });
}
