//===- SummedContractions.cpp - Sums over batching dims -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   dot %x, %w, batching [0] x [0], contracting [2] x [1] : 4x2x8, 4x8x6
//   reduce add over the batching dim                      : 4x2x6 -> 2x6
//     ->
//   dot %x, %w, contracting [0, 2] x [0, 1]               : 2x6
//
// The terms of a sum over devices, each with its part of a contraction
// (DeviceBatch.cpp), need no memory then: on one device the whole is one
// product, and on many the axis splits a contracted dim.
//
// Test: test/Import/StableHLO/summed-contractions.mlir
//===----------------------------------------------------------------------===//

#include "../Movement.h"
#include "llmc/Dialect/Graph/IR/GraphInterfaces.h"
#include "llmc/Dialect/StableHLO/IR/Builders.h"
#include "llmc/Dialect/StableHLO/Models/Models.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::graph;
using namespace llmc::stablehlo;

namespace {
/// The contraction that only the reduction reads, and where its dims stand in
/// the reduction's operand.
struct SummedDot {
  DotGeneralOp dot;
  /// Dim i of the operand is dim order[i] of the dot's result.
  SmallVector<int64_t> order;
};

std::optional<SummedDot> findDot(Value value) {
  SummedDot found;
  if (!value.hasOneUse())
    return std::nullopt;
  if (auto transpose = value.getDefiningOp<TransposeOp>()) {
    found.order.assign(transpose.getPermutation().begin(),
                       transpose.getPermutation().end());
    value = transpose.getOperand();
  } else {
    for (int64_t d = 0; d < typeOf(value).getRank(); ++d)
      found.order.push_back(d);
  }
  found.dot = value.getDefiningOp<DotGeneralOp>();
  if (!found.dot || !value.hasOneUse() ||
      !found.dot->getDiscardableAttrs().empty())
    return std::nullopt;
  return found;
}

/// The dot with batching dims `summed`, by their place in the lists,
/// contracted.
DotGeneralOp contractMore(OpBuilder &b, DotGeneralOp dot,
                          ArrayRef<int64_t> summed) {
  DotDimensionNumbersAttr dims = dot.getDotDimensionNumbers();
  SmallVector<int64_t> batch[2], contract[2], shape;
  ArrayRef<int64_t> batches[] = {dims.getLhsBatchingDimensions(),
                                 dims.getRhsBatchingDimensions()};
  ArrayRef<int64_t> contracts[] = {dims.getLhsContractingDimensions(),
                                   dims.getRhsContractingDimensions()};
  for (int side = 0; side < 2; ++side) {
    for (auto [place, dim] : llvm::enumerate(batches[side]))
      (llvm::is_contained(summed, place) ? contract : batch)[side].push_back(
          dim);
    llvm::append_range(contract[side], contracts[side]);
  }
  for (int64_t d = 0; d < dot.getType().getRank(); ++d)
    if (!llvm::is_contained(summed, d))
      shape.push_back(dot.getType().getDimSize(d));
  auto more = cast<DotGeneralOp>(b.clone(*dot));
  more.setDotDimensionNumbersAttr(
      dotDims(b.getContext(), batch[0], batch[1], contract[0], contract[1]));
  more.getResult().setType(dot.getType().clone(shape));
  return more;
}

struct SummedContraction
    : SimplificationOpInterface::ExternalModel<SummedContraction, ReduceOp> {
  bool simplify(Operation *op, OpBuilder &builder,
                SmallVectorImpl<Value> &results) const {
    auto reduce = cast<ReduceOp>(op);
    if (reduce.getInputs().size() != 1 ||
        reduceKindOf(reduce.getBody()) != ReductionKind::sum ||
        !isNeutral(reduce.getInitValues().front(), ReductionKind::sum))
      return false;
    std::optional<SummedDot> found = findDot(reduce.getInputs().front());
    if (!found || reduce.getDimensions().empty())
      return false;
    int64_t batch =
        found->dot.getDotDimensionNumbers().getLhsBatchingDimensions().size();
    SmallVector<int64_t> summed, kept;
    for (auto [d, dim] : llvm::enumerate(found->order))
      (llvm::is_contained(reduce.getDimensions(), d) ? summed : kept)
          .push_back(dim);
    if (llvm::any_of(summed, [&](int64_t dim) { return dim >= batch; }))
      return false;
    // Numbers of the dims that are left.
    SmallVector<int64_t> order = llvm::map_to_vector(kept, [&](int64_t dim) {
      return dim - llvm::count_if(summed, [&](int64_t s) { return s < dim; });
    });
    Value more = contractMore(builder, found->dot, summed);
    results.push_back(transpose(builder, op->getLoc(), more, order));
    return true;
  }
};
} // namespace

void stablehlo::registerSummedContractions(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, StableHLODialect *) {
    ReduceOp::attachInterface<SummedContraction>(*context);
  });
}
