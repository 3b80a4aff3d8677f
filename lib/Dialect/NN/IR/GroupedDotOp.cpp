//===- GroupedDotOp.cpp - Builder and verifier of products of groups ------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/Dialect/NN/invalid-grouped-dot.mlir.
//
//===----------------------------------------------------------------------===//

#include "llmc/Dialect/NN/IR/NN.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::nn;

void GroupedDotOp::build(OpBuilder &builder, OperationState &state, Value lhs,
                         Value rhs, Value sizes, Value first,
                         const GroupedDims &dims, int64_t matrices,
                         Type element) {
  auto left = cast<RankedTensorType>(lhs.getType()),
       right = cast<RankedTensorType>(rhs.getType());
  SmallVector<int64_t> shape;
  auto take = [&](RankedTensorType type, ArrayRef<int64_t> of) {
    for (int64_t dim : of)
      shape.push_back(type.getDimSize(dim));
  };
  take(left, dims.lhsBatch);
  if (dims.contractsRows())
    shape.push_back(matrices);
  take(left, dims.getLhsFree(left.getRank()));
  take(right, dims.getRhsFree(right.getRank()));
  IntegerAttr groups;
  if (dims.groups)
    groups = builder.getI64IntegerAttr(*dims.groups);
  build(builder, state, RankedTensorType::get(shape, element), lhs, rhs, sizes,
        first, builder.getDenseI64ArrayAttr(dims.lhsBatch),
        builder.getDenseI64ArrayAttr(dims.rhsBatch),
        builder.getDenseI64ArrayAttr(dims.lhsContracting),
        builder.getDenseI64ArrayAttr(dims.rhsContracting),
        builder.getI64IntegerAttr(dims.rows), groups);
}

LogicalResult GroupedDotOp::verify() {
  RankedTensorType first;
  if (getFirst())
    first = cast<RankedTensorType>(getFirst().getType());
  return verifyGroupedDot(*this, getGroupedDims(*this),
                          {getLhs().getType(), getRhs().getType(),
                           cast<RankedTensorType>(getSizes().getType()), first,
                           getType()});
}
