//===- GroupedDims.h - Dims of products of groups ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What `nn.grouped_dot` and the call of a library that it becomes,
// `dist.contract_groups`, share.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_SUPPORT_GROUPEDDIMS_H
#define LLMC_SUPPORT_GROUPEDDIMS_H

#include "llmc/Support/LLVM.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/OpDefinition.h"

namespace llmc {

/// What the dims of both sides are; those in no list are free.
struct GroupedDims {
  SmallVector<int64_t> lhsBatch, rhsBatch, lhsContracting, rhsContracting;
  /// The dim of the left side that counts rows.
  int64_t rows = 0;
  /// The dim of the right side that counts groups; none where rows are
  /// contracted, of which the result has a matrix for each group.
  std::optional<int64_t> groups;

  bool contractsRows() const {
    return llvm::is_contained(lhsContracting, rows);
  }
  SmallVector<int64_t> getLhsFree(int64_t rank) const;
  SmallVector<int64_t> getRhsFree(int64_t rank) const;
};

/// `GroupedDims` of an op that has them as attributes of these names.
template <typename Op> GroupedDims getGroupedDims(Op op) {
  return {SmallVector<int64_t>(op.getLhsBatch()),
          SmallVector<int64_t>(op.getRhsBatch()),
          SmallVector<int64_t>(op.getLhsContracting()),
          SmallVector<int64_t>(op.getRhsContracting()),
          static_cast<int64_t>(op.getRows()),
          op.getGroups()};
}

/// The tensors of an op; `first` may be null.
struct GroupedTypes {
  RankedTensorType lhs, rhs, sizes, first, result;
};

/// Types are compared without their encodings: layouts are the business of the
/// rule.
LogicalResult verifyGroupedDot(Operation *op, const GroupedDims &dims,
                               const GroupedTypes &types);

} // namespace llmc

#endif // LLMC_SUPPORT_GROUPEDDIMS_H
