//===- ReduceDims.h - The dims of a reduction by their place ----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_TRANSFORMS_KERNELS_REDUCEDIMS_H
#define LLMC_LIB_TRANSFORMS_KERNELS_REDUCEDIMS_H

#include "ElementEvaluator.h"

namespace llmc::kernels {

/// A list of dims of the input, walked as one.
struct Walk {
  SmallVector<int64_t> dims, shape;

  void add(int64_t dim, int64_t size) {
    dims.push_back(dim);
    shape.push_back(size);
  }
  int64_t size() const { return getNumElements(shape); }
  /// The indices of `position`, each at its dim of `indices`.
  void place(IndexMath math, Value position,
             SmallVectorImpl<Value> &indices) const {
    SmallVector<Value> at = math.delinearize(position, shape);
    for (auto [dim, index] : llvm::zip(dims, at))
      indices[dim] = index;
  }
};

struct ReduceDims {
  explicit ReduceDims(Operation *reduction);

  int64_t rank;
  /// Whether the last dim that is not of size 1 is reduced.
  bool alongRows;
  /// Rows: kept dims; outer reduced dims; trailing reduced dims. Columns: kept
  /// dims before the last reduced one; reduced dims; trailing kept dims.
  Walk kept, outer, inner;
};

} // namespace llmc::kernels

#endif // LLMC_LIB_TRANSFORMS_KERNELS_REDUCEDIMS_H
