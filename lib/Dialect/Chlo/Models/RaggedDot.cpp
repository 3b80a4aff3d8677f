//===- RaggedDot.cpp - The expansion of ragged_dot ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A ragged dimension that is free or contracted counts the rows of groups:
//
//   ragged_dot %x [m, k], %w [g, k, n], %sizes [g]   ->
//     nn.grouped_dot %x, %w, %sizes rows 0 groups 0      [m, n]
//
// Groups of a batch change nothing: it is a product.
//
// Tests: test/Import/StableHLO/expand-ragged-dot.mlir,
// test/EndToEnd/{expansions,loops,grouped-dot}.test
//===----------------------------------------------------------------------===//

#include "llmc/Dialect/Chlo/IR/Chlo.h"
#include "llmc/Dialect/Chlo/Models/Models.h"
#include "llmc/Dialect/Graph/IR/GraphInterfaces.h"
#include "llmc/Dialect/NN/IR/NN.h"
#include "llmc/Dialect/StableHLO/IR/Builders.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::chlo;
using namespace llmc::stablehlo;

/// The product of both sides, whatever the groups are.
static Value multiply(RaggedDotOp op, OpBuilder &b) {
  RaggedDotDimensionNumbersAttr dims = op.getRaggedDotDimensionNumbers();
  Value product =
      dotGeneral(b, op.getLoc(), op.getLhs(), op.getRhs(),
                 dotDims(b.getContext(), dims.getLhsBatchingDimensions(),
                         dims.getRhsBatchingDimensions(),
                         dims.getLhsContractingDimensions(),
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

/// Sizes are numbers with a sign, of 32 or 64 bits.
static Value convertSizes(Value sizes, OpBuilder &b) {
  Type element = cast<RankedTensorType>(sizes.getType()).getElementType();
  if (element.isSignlessInteger(32) || element.isSignlessInteger(64))
    return sizes;
  return convertTo(b, sizes.getLoc(), sizes, b.getI64Type());
}

static Value multiplyGroups(RaggedDotOp op, OpBuilder &b) {
  RaggedDotDimensionNumbersAttr of = op.getRaggedDotDimensionNumbers();
  GroupedDims dims;
  dims.lhsBatch = llvm::to_vector(of.getLhsBatchingDimensions());
  dims.rhsBatch = llvm::to_vector(of.getRhsBatchingDimensions());
  dims.lhsContracting = llvm::to_vector(of.getLhsContractingDimensions());
  dims.rhsContracting = llvm::to_vector(of.getRhsContractingDimensions());
  dims.rows = of.getLhsRaggedDimensions().front();
  if (!of.getRhsGroupDimensions().empty())
    dims.groups = of.getRhsGroupDimensions().front();
  Value product = nn::GroupedDotOp::create(
      b, op.getLoc(), op.getLhs(), op.getRhs(),
      convertSizes(op.getGroupSizes(), b), Value(), dims,
      op.getGroupSizes().getType().getShape().back(),
      op.getType().getElementType());
  if (dims.groups)
    return product;
  // Groups come before the batch.
  auto order = llvm::to_vector(llvm::seq<int64_t>(0, op.getType().getRank()));
  auto batch = static_cast<int64_t>(dims.lhsBatch.size());
  std::rotate(order.begin(), order.begin() + batch, order.begin() + batch + 1);
  return transpose(b, op.getLoc(), product, order);
}

namespace {
struct RaggedDotExpansion
    : graph::ExpansionOpInterface::ExternalModel<RaggedDotExpansion,
                                                 RaggedDotOp> {
  LogicalResult expand(Operation *op, OpBuilder &b,
                       SmallVectorImpl<Value> &results) const {
    auto dot = cast<RaggedDotOp>(op);
    results.push_back(dot.getRaggedKind() == RaggedKind::Batching
                          ? multiply(dot, b)
                          : multiplyGroups(dot, b));
    return success();
  }
};
} // namespace

void chlo::registerRaggedDotModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, ChloDialect *) {
    context->loadDialect<nn::NNDialect>();
    RaggedDotOp::attachInterface<RaggedDotExpansion>(*context);
  });
}
