//===- RaggedDot.cpp - The expansion of ragged_dot ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each row with the matrices of all groups, of which its own is kept: one
// product as large as all groups, whose group dimension may be split.
//
//   ragged_dot %x [m, k], %w [g, k, n], %sizes [g]   ->
//     %all = dot_general %x, %w                      [m, g, n]
//     reduce add (select %isOwn, %all, 0) over g     [m, n]
//
// A ragged dimension that is contracted is masked on both sides instead: on the
// left for each group, on the right where it is behind all groups.
//
// Tests: test/Import/StableHLO/expand-ragged-dot.mlir,
// test/EndToEnd/{expansions,loops}.test
//===----------------------------------------------------------------------===//

#include "llmc/Dialect/Chlo/IR/Chlo.h"
#include "llmc/Dialect/Chlo/Models/Models.h"
#include "llmc/Dialect/Graph/IR/GraphInterfaces.h"
#include "llmc/Dialect/StableHLO/IR/Builders.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::chlo;
using namespace llmc::stablehlo;

namespace {
class RaggedProduct {
public:
  RaggedProduct(RaggedDotOp op, OpBuilder &b)
      : b(b), loc(op.getLoc()), op(op), dims(op.getRaggedDotDimensionNumbers()),
        groups(op.getGroupSizes().getType().getDimSize(0)),
        ragged(dims.getLhsRaggedDimensions().front()) {}

  Value run() {
    switch (op.getRaggedKind()) {
    case RaggedKind::Free:
      return keepOwn();
    case RaggedKind::Contracted:
      return contractGroups();
    case RaggedKind::Batching:
      return multiply(op.getLhs(), op.getRhs(), 0);
    }
    return {};
  }

private:
  Value keepOwn();
  Value contractGroups();
  Value multiply(Value lhs, Value rhs, int64_t moved);
  Value findEnds();
  Value compareRows(ComparisonDirection direction, Value bounds);
  Value isInGroup();
  Value maskAlong(Value mask, Value x, ArrayRef<int64_t> along);
  int64_t countRows() { return op.getLhs().getType().getDimSize(ragged); }

  OpBuilder &b;
  Location loc;
  RaggedDotOp op;
  RaggedDotDimensionNumbersAttr dims;
  int64_t groups, ragged;
};

/// How many of `others` are below `dim`: what is before a free dimension.
int64_t countBelow(int64_t dim, ArrayRef<int64_t> first,
                   ArrayRef<int64_t> second) {
  auto isBelow = [=](int64_t other) { return other < dim; };
  return llvm::count_if(first, isBelow) + llvm::count_if(second, isBelow);
}

/// The product of both sides; the dimensions of the left one are `moved` by new
/// ones before them, which are free.
Value RaggedProduct::multiply(Value lhs, Value rhs, int64_t moved) {
  auto move = [&](ArrayRef<int64_t> of) {
    return llvm::map_to_vector(of, [&](int64_t dim) { return dim + moved; });
  };
  Value product =
      dotGeneral(b, loc, lhs, rhs,
                 dotDims(b.getContext(), move(dims.getLhsBatchingDimensions()),
                         dims.getRhsBatchingDimensions(),
                         move(dims.getLhsContractingDimensions()),
                         dims.getRhsContractingDimensions()),
                 op.getType().getElementType());
  auto precisions = op.getPrecisionConfig();
  if (!precisions || precisions->empty())
    return product;
  SmallVector<Attribute> wanted;
  for (auto precision : precisions->getAsRange<chlo::PrecisionAttr>())
    wanted.push_back(stablehlo::PrecisionAttr::get(
        b.getContext(), *stablehlo::symbolizePrecision(
                            static_cast<uint32_t>(precision.getValue()))));
  product.getDefiningOp<DotGeneralOp>().setPrecisionConfigAttr(
      b.getArrayAttr(wanted));
  return product;
}

/// [groups]: the element of the ragged dimension behind each group.
Value RaggedProduct::findEnds() {
  Value sizes = op.getGroupSizes();
  auto type = cast<RankedTensorType>(sizes.getType());
  auto pairs = RankedTensorType::get({groups, groups}, type.getElementType());
  Value isBefore = compare(b, loc, ComparisonDirection::LE,
                           iota(b, loc, pairs, 1), iota(b, loc, pairs, 0));
  Value spread = broadcastInDim(b, loc, sizes, pairs, {1});
  Value counted =
      select(b, loc, isBefore, spread, constantLike(b, loc, spread, 0));
  return reduceAdd(b, loc, counted, {1});
}

/// [groups, rows]: how the number of each row compares with each bound.
Value RaggedProduct::compareRows(ComparisonDirection direction, Value bounds) {
  auto type = cast<RankedTensorType>(bounds.getType());
  auto shape = RankedTensorType::get({type.getDimSize(0), countRows()},
                                     type.getElementType());
  return compare(b, loc, direction, iota(b, loc, shape, 1),
                 broadcastInDim(b, loc, bounds, shape, {0}));
}

/// [groups, rows]
Value RaggedProduct::isInGroup() {
  Value ends = findEnds();
  Value starts = sub(b, loc, ends, op.getGroupSizes());
  return logicalAnd(b, loc, compareRows(ComparisonDirection::GE, starts),
                    compareRows(ComparisonDirection::LT, ends));
}

/// 0 where the mask, whose dimensions are `along` those of `x`, does not hold.
Value RaggedProduct::maskAlong(Value mask, Value x, ArrayRef<int64_t> along) {
  auto type = cast<RankedTensorType>(x.getType());
  Value spread = broadcastInDim(b, loc, mask, type.clone(b.getI1Type()), along);
  return select(b, loc, spread, x, constantLike(b, loc, x, 0));
}

Value RaggedProduct::keepOwn() {
  Value all = multiply(op.getLhs(), op.getRhs(), 0);
  int64_t batch = dims.getLhsBatchingDimensions().size();
  int64_t row = batch + ragged -
                countBelow(ragged, dims.getLhsBatchingDimensions(),
                           dims.getLhsContractingDimensions());
  int64_t group = dims.getRhsGroupDimensions().front();
  int64_t firstOfRhs = op.getLhs().getType().getRank() -
                       dims.getLhsContractingDimensions().size();
  int64_t column = firstOfRhs + group -
                   countBelow(group, dims.getRhsBatchingDimensions(),
                              dims.getRhsContractingDimensions());
  return reduceAdd(b, loc, maskAlong(isInGroup(), all, {column, row}),
                   {column});
}

Value RaggedProduct::contractGroups() {
  RankedTensorType lhs = op.getLhs().getType(), rhs = op.getRhs().getType();
  SmallVector<int64_t> shape(lhs.getShape());
  shape.insert(shape.begin(), groups);
  auto behind = llvm::to_vector(llvm::seq<int64_t>(1, lhs.getRank() + 1));
  Value inGroup = isInGroup();
  Value left = maskAlong(
      inGroup, broadcastInDim(b, loc, op.getLhs(), lhs.clone(shape), behind),
      {0, ragged + 1});
  ArrayRef<int64_t> contracted = dims.getLhsContractingDimensions();
  int64_t place = llvm::find(contracted, ragged) - contracted.begin();
  Value inAny = reduce(b, loc, ReductionKind::bitOr, inGroup, {0});
  Value right =
      maskAlong(inAny, op.getRhs(), dims.getRhsContractingDimensions()[place]);
  Value product = multiply(left, right, 1);
  // Groups come behind the batch.
  auto order = llvm::to_vector(llvm::seq<int64_t>(
      0, cast<RankedTensorType>(product.getType()).getRank()));
  int64_t batch = dims.getLhsBatchingDimensions().size();
  std::rotate(order.begin(), order.begin() + batch, order.begin() + batch + 1);
  return transpose(b, loc, product, order);
}

struct RaggedDotExpansion
    : graph::ExpansionOpInterface::ExternalModel<RaggedDotExpansion,
                                                 RaggedDotOp> {
  LogicalResult expand(Operation *op, OpBuilder &b,
                       SmallVectorImpl<Value> &results) const {
    results.push_back(RaggedProduct(cast<RaggedDotOp>(op), b).run());
    return success();
  }
};
} // namespace

void chlo::registerRaggedDotModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, ChloDialect *) {
    RaggedDotOp::attachInterface<RaggedDotExpansion>(*context);
  });
}
