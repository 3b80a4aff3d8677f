//===- Padding.h - What the padding of values holds -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A padded dimension has positions that are no elements. Before a reduction
// over it they must hold the neutral element, and in states they must be zero;
// a mask that changes nothing is saved by following what they hold:
//
//   dims[d]      at positions outside of dim d and inside of all others
//   everywhere   at all positions outside of any dim
//
// A held constant is followed through each op by its rule: what is linear in
// operands that hold zero holds zero, and an op that does not look at where it
// stands (isUniform) is evaluated on one slice of padding. So the zeros of
// weights make the padded heads of an attention zero, with no op known by name.
//
// Test: test/Transforms/Partition/localize-padding.mlir
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_TRANSFORMS_PARTITION_PADDING_H
#define LLMC_LIB_TRANSFORMS_PARTITION_PADDING_H

#include "llmc/Dialect/Dist/IR/Dist.h"
#include "llmc/Dialect/Graph/IR/ShardingRule.h"

namespace llmc {

struct Held {
  enum class Kind {
    Unknown,
    /// What elements hold: finite where these are.
    Copy,
    Constant
  };
  Kind kind = Kind::Unknown;
  /// Of a constant: one element.
  mlir::TypedAttr value;
  /// Whether a kernel computes these very bits; otherwise it is finite.
  bool isExact = false;

  static Held copy() { return {Kind::Copy, {}, false}; }
  static Held constant(mlir::TypedAttr value, bool isExact = true) {
    return {Kind::Constant, value, isExact};
  }
  bool isConstant() const { return kind == Kind::Constant; }
  /// Exactly this element; zeros of either sign are equal.
  bool is(mlir::TypedAttr element) const;
  /// The same, exact or not.
  bool isNear(mlir::TypedAttr element) const;
  bool isZero() const;
  bool isFinite() const;
};

struct PaddingFacts {
  SmallVector<Held> dims;
  Held everywhere;
};

class PaddingAnalysis {
public:
  /// Whether dim d of a value of a type with a layout is padded.
  static bool isPadded(Type type, int64_t dim);
  static SmallVector<int64_t> getPaddedDims(Type type);

  /// All padding holds zero.
  void setZero(Value value);
  /// `to` holds what `from` holds, dim by dim; padding that `from` does not
  /// have is zero.
  void pass(Value from, Value to);
  /// `to` holds zero where `from` does, and is unknown elsewhere.
  void passZeros(Value from, Value to);
  /// `to` also holds zero only where `from` does.
  void meet(Value from, Value to);
  /// The results of an op that has this rule.
  void visit(Operation *op, const graph::ShardingRule &rule);

  /// The constant that the value is all over, if it is one.
  Held getUniform(Value value) const;
  Held getDim(Value value, int64_t dim) const;
  Held getEverywhere(Value value) const;
  /// Dims of `among` that must be masked so that all padding in them holds
  /// `wanted`.
  SmallVector<int64_t> getUnmasked(Value value, ArrayRef<int64_t> among,
                                   mlir::TypedAttr wanted) const;

private:
  void visitUniform(Operation *op, const graph::ShardingRule &rule);

  llvm::DenseMap<Value, PaddingFacts> facts;
  llvm::DenseMap<Value, Held> uniform;
};

} // namespace llmc

#endif // LLMC_LIB_TRANSFORMS_PARTITION_PADDING_H
