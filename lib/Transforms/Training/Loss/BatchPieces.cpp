//===- BatchPieces.cpp - Where the batch lies in a tensor -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See BatchPieces.h.
//
// Tests: test/Transforms/Training/sum-loss-batch.mlir, -degrees, -pieces
//===----------------------------------------------------------------------===//

#include "BatchPieces.h"

using namespace llmc;
using namespace llmc::training;
using graph::Factor;
using graph::TensorFactors;

/// Joins neighbours that are one run; `pieces` are major to minor.
static void joinPieces(SmallVectorImpl<BatchPiece> &pieces) {
  SmallVector<BatchPiece, 1> joined;
  for (const BatchPiece &piece : pieces)
    if (!joined.empty() && joined.back().place == piece.place &&
        joined.back().inner == piece.inner * piece.extent) {
      joined.back().inner = piece.inner;
      joined.back().extent *= piece.extent;
    } else {
      joined.push_back(piece);
    }
  pieces.assign(joined);
}

/// The parts of one piece in the factors of its dimension, major to minor.
static bool splitPiece(const BatchPiece &piece, ArrayRef<int> dim,
                       ArrayRef<Factor> factors,
                       SmallVectorImpl<BatchPiece> &parts) {
  SmallVector<BatchPiece, 1> found;
  int64_t stride = 1, covered = 1;
  for (int factor : llvm::reverse(dim)) {
    int64_t end = stride * factors[factor].size;
    int64_t low = std::max(stride, piece.inner);
    int64_t high = std::min(end, piece.inner * piece.extent);
    if (low < high) {
      if (low % stride || high % low || end % high)
        return false;
      found.push_back({factor, low / stride, high / low});
      covered *= high / low;
    }
    stride = end;
  }
  parts.append(found.rbegin(), found.rend());
  return covered == piece.extent;
}

bool training::toFactors(ArrayRef<BatchPiece> pieces,
                         const TensorFactors &tensor, ArrayRef<Factor> factors,
                         SmallVectorImpl<BatchPiece> &result) {
  for (const BatchPiece &piece : pieces)
    if (!splitPiece(piece, tensor[piece.place], factors, result))
      return false;
  joinPieces(result);
  return true;
}

bool training::toDims(ArrayRef<BatchPiece> pieces, const TensorFactors &tensor,
                      ArrayRef<Factor> factors,
                      SmallVectorImpl<BatchPiece> &result) {
  for (const BatchPiece &piece : pieces) {
    bool isFound = false;
    for (auto [d, dim] : llvm::enumerate(tensor)) {
      int64_t stride = 1;
      for (int factor : llvm::reverse(dim)) {
        if (factor == piece.place) {
          result.push_back(
              {static_cast<int64_t>(d), stride * piece.inner, piece.extent});
          isFound = true;
        }
        stride *= factors[factor].size;
      }
    }
    if (!isFound)
      return false;
  }
  joinPieces(result);
  return true;
}
