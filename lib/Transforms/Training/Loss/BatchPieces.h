//===- BatchPieces.h - Where the batch lies in a tensor ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A batch of 8 samples, poured by reshapes and transposes:
//
//   [8, 4]      dimension 0, every element
//   [32]        dimension 0, every 4th element
//   [2, 4, 4]   dimension 0 for 2 and dimension 1 for 4 samples
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TRANSFORMS_TRAINING_BATCHPIECES_H
#define LLMC_TRANSFORMS_TRAINING_BATCHPIECES_H

#include "llmc/Dialect/Graph/IR/ShardingRule.h"
#include "llmc/Support/LLVM.h"

namespace llmc::training {

/// A part of a dimension (or of a factor of a rule: `place` is its number) over
/// which the batch runs: every `inner` elements, for `extent` samples.
struct BatchPiece {
  int64_t place, inner, extent;
  bool operator==(const BatchPiece &other) const {
    return place == other.place && inner == other.inner &&
           extent == other.extent;
  }
};

/// From dimensions of a tensor to factors of the rule, major to minor; false
/// where the batch ends within a factor.
bool toFactors(ArrayRef<BatchPiece> pieces, const graph::TensorFactors &tensor,
               ArrayRef<graph::Factor> factors,
               SmallVectorImpl<BatchPiece> &result);
/// And back; false where the tensor lacks a factor.
bool toDims(ArrayRef<BatchPiece> pieces, const graph::TensorFactors &tensor,
            ArrayRef<graph::Factor> factors,
            SmallVectorImpl<BatchPiece> &result);

} // namespace llmc::training

#endif // LLMC_TRANSFORMS_TRAINING_BATCHPIECES_H
