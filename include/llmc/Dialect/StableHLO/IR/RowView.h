//===- RowView.h - A tensor seen through shape ops --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Softmax and its relatives combine a tensor with values that are constant
// along the classes: its maximum, the logarithm of its sum. In the text those
// pass through broadcasts, reshapes and transposes in any order. A view
// names the value under such ops, and for each dimension of the full tensor
// the dimension of that value, or -1 where the value repeats.
//
//   %s : tensor<8x128>                              view of %b:
//   %r = broadcast_in_dim %s, [0, 1] -> 8x128x1       value = %s
//   %b = broadcast_in_dim %r, [0, 1, 2] -> 8x128x256  dims = [0, 1, -1]
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_DIALECT_STABLEHLO_IR_ROWVIEW_H
#define LLMC_DIALECT_STABLEHLO_IR_ROWVIEW_H

#include "llmc/Dialect/StableHLO/IR/Builders.h"
#include "llmc/Support/LLVM.h"
#include <optional>

namespace llmc::stablehlo {

inline ArrayRef<int64_t> getShape(Value value) {
  return cast<RankedTensorType>(value.getType()).getShape();
}

struct RowView {
  Value value;
  SmallVector<int64_t> dims;
  /// Shape of the full tensor.
  SmallVector<int64_t> shape;

  /// `full` itself.
  static RowView of(Value full);
  /// Looks through shape ops as far as possible.
  RowView &peel();
  /// Replaces the value by `operand` of the same shape.
  RowView through(Value operand) const;
  /// The value repeats along `dim` of the full tensor.
  bool isConstantAlong(int64_t dim) const { return dims[dim] < 0; }
};

/// A reduction of a tensor of full shape, seen through a view.
struct RowReduction {
  Value input;
  SmallVector<int64_t> dims;
};

/// The reduction of kind `kind`, starting from its neutral element, whose
/// result the view shows in its place: each dimension that is not reduced
/// stands where it was, and the view repeats along the others.
std::optional<RowReduction> matchReduction(const RowView &view,
                                           ReductionKind kind);

/// The op only places elements: a broadcast, reshape or transpose.
bool placesElements(Operation *op);

/// Every element of `value` is the number.
bool isSplatOf(Value value, double number);

/// The value at each position is the position along `dim`, which may be fixed
/// as JAX fixes negative indices: x < 0 ? x + n : x.
bool countsAlong(Value value, int64_t dim);

} // namespace llmc::stablehlo

#endif // LLMC_DIALECT_STABLEHLO_IR_ROWVIEW_H
