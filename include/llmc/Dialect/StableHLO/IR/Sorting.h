//===- Sorting.h - Orders along a dimension ---------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A sort is the positions of its elements in order, and reads at these: so it
// is the same under every layout, and its derivative is that of a gather, as in
// JAX. An order by keys has an op of its own, `nn.argsort`. Any other order is
// ops that have all five answers: an element's rank is the number of elements
// that come before it, which is a reduction over all pairs, fused with the
// comparison; ranks, turned round, are the positions. That takes n*n
// comparisons and n places.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_DIALECT_STABLEHLO_IR_SORTING_H
#define LLMC_DIALECT_STABLEHLO_IR_SORTING_H

#include "llmc/Dialect/StableHLO/IR/Builders.h"

namespace llmc::stablehlo {

/// Comparisons beyond which a sort is refused: some seconds of one core.
constexpr int64_t kMostComparisons = int64_t(1) << 33;

/// Emits a refusal at `op` where sorting `type` along `dim` takes more.
LogicalResult verifyComparisons(Operation *op, RankedTensorType type,
                                int64_t dim);

/// i1, whether elements `x` come before elements `y`: one value for each key.
using IsBefore =
    llvm::function_ref<FailureOr<Value>(ArrayRef<Value> x, ArrayRef<Value> y)>;

/// Positions (i32) along `dim` of the first `count` elements in order, equal
/// ones as they stand. All keys have one shape; the order is strict.
FailureOr<Value> buildOrder(OpBuilder &b, Location loc, ArrayRef<Value> keys,
                            int64_t dim, int64_t count, IsBefore isBefore);

/// A key of which the total order is that of the numbers `x`: zeros are equal,
/// NaN of both signs is the greatest. Integers are their own key.
Value buildNumberKey(OpBuilder &b, Location loc, Value x);

/// What is ordered as `x` is in total order: floats of eight bits in f32, where
/// no number's bits are those of a negative zero.
Value buildOrderKey(OpBuilder &b, Location loc, Value x);

/// The elements of `x` at `positions` along `dim`; other dims are those of `x`.
Value gatherAlong(OpBuilder &b, Location loc, Value x, Value positions,
                  int64_t dim);

} // namespace llmc::stablehlo

#endif // LLMC_DIALECT_STABLEHLO_IR_SORTING_H
