//===- AttendOps.cpp - Verifiers of attentions by a library ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tests: test/Dialect/Dist/ops.mlir, invalid-attend.mlir
//
//===----------------------------------------------------------------------===//

#include "llmc/Dialect/Dist/IR/Dist.h"

using namespace mlir;
using namespace llmc::dist;

/// The list names each dim of the tensor once.
static LogicalResult verifyList(Operation *op, StringRef name,
                                RankedTensorType type, ArrayRef<int64_t> dims) {
  SmallVector<int64_t> sorted(dims);
  llvm::sort(sorted);
  bool isSound = static_cast<int64_t>(dims.size()) == type.getRank();
  for (auto [i, dim] : llvm::enumerate(sorted))
    isSound = isSound && dim == static_cast<int64_t>(i);
  if (isSound)
    return success();
  return op->emitOpError() << "expected each dim of the " << name << " " << type
                           << " once, got [" << dims << "]";
}

template <typename Op> static LogicalResult verifyLists(Op op) {
  if (failed(verifyList(op, "query", op.getQuery().getType(),
                        op.getQueryDims())) ||
      failed(verifyList(op, "key", op.getKey().getType(), op.getKeyDims())) ||
      failed(
          verifyList(op, "value", op.getValue().getType(), op.getValueDims())))
    return failure();
  int64_t query = op.getQuery().getType().getRank(),
          key = op.getKey().getType().getRank(),
          value = op.getValue().getType().getRank();
  if (key < 2 || query < key || value != key)
    return op.emitOpError() << "expected a key of rank 2 at least, a value of "
                               "its rank and a query of no less, got ranks "
                            << key << ", " << value << " and " << query;
  if (op.getOffset() && !op.getCausal())
    return op.emitOpError("expected no offset of what is not causal");
  bool hasState = static_cast<bool>(op.getState());
  if (hasState != op.getDropout().has_value() ||
      hasState != op.getBitStrides().has_value() ||
      (hasState && static_cast<int64_t>(op.getBitStrides()->size()) != query))
    return op.emitOpError() << "expected state, dropout and " << query
                            << " strides together or none of them";
  if (!op.getBias() || op.getBias().getType().getRank() == query)
    return success();
  return op.emitOpError() << "expected a bias of rank " << query << ", got "
                          << op.getBias().getType();
}

/// One value for each row, and the rank of the query.
template <typename Op>
static LogicalResult verifyRanks(Op op, RankedTensorType rows,
                                 RankedTensorType result) {
  int64_t query = op.getQuery().getType().getRank();
  if (rows.getRank() == query - 1 && result.getRank() == query)
    return success();
  return op.emitOpError() << "expected rows of rank " << query - 1
                          << " and a result of rank " << query << ", got "
                          << rows << " and " << result;
}

LogicalResult AttendOp::verify() {
  if (failed(verifyLists(*this)))
    return failure();
  return verifyRanks(*this, getLogsumexp().getType(), getResult().getType());
}

LogicalResult AttendGradOp::verify() {
  if (failed(verifyLists(*this)) ||
      failed(verifyList(*this, "cotangent", getCotangent().getType(),
                        getCotangentDims())))
    return failure();
  if (getDelta().getType() != getLogsumexp().getType())
    return emitOpError() << "expected a delta of " << getLogsumexp().getType()
                         << ", got " << getDelta().getType();
  return verifyRanks(*this, getLogsumexp().getType(), getCotangent().getType());
}
