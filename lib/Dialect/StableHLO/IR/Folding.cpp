//===- Folding.cpp - Folds of ops that do nothing -------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Local and cheap: an op whose result is its operand, and chains of reshapes or
// transposes. No constant is computed. Types are compared whole, so that a
// change of encoding is never folded away, and chains are joined only where no
// encoding is involved.
// Test: test/Dialect/StableHLO/canonicalize.mlir.
//
//===----------------------------------------------------------------------===//

#include "llmc/Dialect/StableHLO/IR/StableHLO.h"

#include "llvm/ADT/Sequence.h"

using namespace mlir;
using namespace llmc::stablehlo;

static bool isIdentity(ArrayRef<int64_t> dims) {
  return llvm::equal(dims, llvm::seq<int64_t>(0, dims.size()));
}

static bool hasEncoding(Value value) {
  return cast<RankedTensorType>(value.getType()).getEncoding() != nullptr;
}

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValueAttr(); }

OpFoldResult ConvertOp::fold(FoldAdaptor) {
  return getOperand().getType() == getType() ? getOperand() : OpFoldResult();
}

OpFoldResult SelectOp::fold(FoldAdaptor) {
  bool same = getOnTrue() == getOnFalse() && getOnTrue().getType() == getType();
  return same ? getOnTrue() : OpFoldResult();
}

OpFoldResult BroadcastInDimOp::fold(FoldAdaptor) {
  bool same = getOperand().getType() == getType() &&
              isIdentity(getBroadcastDimensions());
  return same ? getOperand() : OpFoldResult();
}

OpFoldResult ReshapeOp::fold(FoldAdaptor) {
  if (getOperand().getType() == getType())
    return getOperand();
  auto inner = getOperand().getDefiningOp<ReshapeOp>();
  if (!inner || hasEncoding(inner.getOperand()) || hasEncoding(inner) ||
      hasEncoding(getResult()))
    return {};
  if (inner.getOperand().getType() == getType())
    return inner.getOperand();
  getOperandMutable().assign(inner.getOperand());
  return getResult();
}

OpFoldResult TransposeOp::fold(FoldAdaptor) {
  if (getOperand().getType() == getType() && isIdentity(getPermutation()))
    return getOperand();
  auto inner = getOperand().getDefiningOp<TransposeOp>();
  if (!inner || hasEncoding(inner.getOperand()) || hasEncoding(inner) ||
      hasEncoding(getResult()))
    return {};
  SmallVector<int64_t> permutation;
  for (int64_t dim : getPermutation())
    permutation.push_back(inner.getPermutation()[dim]);
  getOperandMutable().assign(inner.getOperand());
  setPermutation(permutation);
  return getResult();
}

OpFoldResult ReverseOp::fold(FoldAdaptor) {
  bool still = llvm::all_of(
      getDimensions(), [&](int64_t d) { return getType().getDimSize(d) <= 1; });
  return still && getOperand().getType() == getType() ? getOperand()
                                                      : OpFoldResult();
}

OpFoldResult SliceOp::fold(FoldAdaptor) {
  return getOperand().getType() == getType() ? getOperand() : OpFoldResult();
}

OpFoldResult PadOp::fold(FoldAdaptor) {
  auto zero = [](ArrayRef<int64_t> list) {
    return llvm::all_of(list, [](int64_t x) { return x == 0; });
  };
  bool same = zero(getEdgePaddingLow()) && zero(getEdgePaddingHigh()) &&
              zero(getInteriorPadding()) && getOperand().getType() == getType();
  return same ? getOperand() : OpFoldResult();
}

/// Pieces without elements add nothing.
OpFoldResult ConcatenateOp::fold(FoldAdaptor) {
  Value only;
  for (Value piece : getInputs()) {
    bool isEmpty =
        cast<RankedTensorType>(piece.getType()).getDimSize(getDimension()) == 0;
    if (isEmpty && piece.getType() != getType())
      continue;
    if (only)
      return {};
    only = piece;
  }
  return only && only.getType() == getType() ? only : OpFoldResult();
}
