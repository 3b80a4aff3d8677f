//===- Indexing.h - Addresses at run-time positions -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Gather and scatter read one picture in two vocabularies. The indices tensor
// without its index vector dimension gives the positions; each addresses a
// window of the operand. The *other* tensor (gather's result, scatter's
// updates) has the position dimensions in order, with the kept dimensions of
// the window put in at `window`:
//
//   operand[start(p) + w] <-> other[p, w],  start(p)[map[k]] = indices[p, k]
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_DIALECT_STABLEHLO_MODELS_INDEXING_H
#define LLMC_LIB_DIALECT_STABLEHLO_MODELS_INDEXING_H

#include "llmc/Dialect/Graph/IR/Answers.h"
#include "llmc/Dialect/StableHLO/IR/StableHLO.h"

namespace llmc::stablehlo {

/// The element of an integer tensor, not negative when its type is unsigned:
/// values of ui64 beyond the range of int64 become its largest value.
int64_t readIndex(const HostTensor &tensor, int64_t i);

/// The integer scalar `operand` at `at` as an index value, read by its
/// signedness.
Value emitIndex(graph::ElementCall &call, Value operand, unsigned number,
                ValueRange at);
/// `index` limited to [0, last].
Value emitClamped(graph::ElementCall &call, Value index, int64_t last);

struct Addressing {
  RankedTensorType operand, indices, other;
  /// Of `other`: window dimensions, and of the operand: their partners.
  SmallVector<int64_t> window, windowOfOperand;
  /// Of the operand: window dimensions of size 1 that `other` lacks.
  SmallVector<int64_t> dropped;
  /// Of operand and indices: pairs of batching dimensions.
  SmallVector<int64_t> operandBatch, indicesBatch;
  /// Entry k of the index vector -> dimension of the operand.
  SmallVector<int64_t> map;
  /// Of `other` and of the indices: pairs of position dimensions.
  SmallVector<int64_t> positions, positionsOfIndices;
  /// Of the indices; their rank when the vector is a single implicit entry.
  int64_t vectorDim;

  static Addressing of(GatherOp op);
  static Addressing of(ScatterOp op);

  /// Size of the window along dimension `d` of the operand.
  int64_t getWindowSize(int64_t d) const;
  /// The greatest start along `d` for which the window fits.
  int64_t getLastStart(int64_t d) const {
    return operand.getDimSize(d) - getWindowSize(d);
  }

  /// Fills `from` with the address of other[index]; starts are limited so that
  /// windows fit when `clamp` is set.
  void resolve(const HostTensor &indexValues, ArrayRef<int64_t> index,
               bool clamp, SmallVectorImpl<int64_t> &from) const;
  /// The same as scalar code, for the indices in operand `number` of an op.
  SmallVector<Value> emitAddress(graph::ElementCall &call, Value indexTensor,
                                 unsigned number, bool clamp) const;

private:
  void complete();
};

} // namespace llmc::stablehlo

#endif // LLMC_LIB_DIALECT_STABLEHLO_MODELS_INDEXING_H
