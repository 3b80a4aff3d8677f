//===- GroupedDotSides.h - Dims of grouped_dot ------------------*- C++ -*-===//
//-*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_DIALECT_NN_MODELS_GROUPEDDOTSIDES_H
#define LLMC_LIB_DIALECT_NN_MODELS_GROUPEDDOTSIDES_H

#include "llmc/Dialect/Graph/IR/Answers.h"
#include "llmc/Dialect/NN/IR/NN.h"
#include "llvm/ADT/Sequence.h"

namespace llmc::nn {

inline RankedTensorType tensorTypeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

/// An op's dims, with those that are free.
struct GroupedSides : GroupedDims {
  SmallVector<int64_t> lhsFree, rhsFree;

  explicit GroupedSides(GroupedDotOp op)
      : GroupedDims(getGroupedDims(op)),
        lhsFree(getLhsFree(op.getLhs().getType().getRank())),
        rhsFree(getRhsFree(op.getRhs().getType().getRank())) {}

  /// The number of the result's dim that `lhsFree[i]` becomes.
  int64_t getResultDim(size_t i) const {
    return lhsBatch.size() + (contractsRows() ? 1 : 0) + i;
  }
  SmallVector<int64_t> getResultDims(size_t first, size_t count) const {
    return llvm::map_to_vector(llvm::seq(first, first + count),
                               [&](size_t i) { return getResultDim(i); });
  }
  SmallVector<int64_t> getLeftOfResult() const {
    return getResultDims(0, lhsFree.size());
  }
  SmallVector<int64_t> getRightOfResult() const {
    return getResultDims(lhsFree.size(), rhsFree.size());
  }
  SmallVector<int64_t> getBatchOfResult() const {
    return llvm::to_vector(llvm::seq<int64_t>(0, lhsBatch.size()));
  }
};

/// The tensor and dim of an op that counts matrices.
inline std::pair<Value, int64_t> getMatrices(GroupedDotOp op) {
  if (std::optional<int64_t> groups = op.getGroups())
    return {op.getRhs(), *groups};
  return {op.getResult(), static_cast<int64_t>(op.getLhsBatch().size())};
}

inline bool hasOwnSizes(GroupedDotOp op) {
  return tensorTypeOf(op.getSizes()).getRank() > 1;
}

LogicalResult evaluateGroupedDot(GroupedDotOp op, graph::EvaluationCall &call);

} // namespace llmc::nn

#endif // LLMC_LIB_DIALECT_NN_MODELS_GROUPEDDOTSIDES_H
