//===- LoopWidening.h - Scalar loop bodies as vector code -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Makes the vector form of a scalar loop by widening each operation of its
// body to a number of neighbouring iterations. The compiler's own vectorizer is
// not asked: which lane an element falls into, and so the bits of a reduction,
// must not depend on its heuristics.
//
//   for j: %a = load %x[%r + j]; %b = addf %a, %s; store %b, %y[%r + j]
//   ->
//   for j step 16: %a = vector.load %x[%r + j] : vector<16xf32>; …
//
// Indices keep this form through quotients, remainders and comparisons by
// multiples of the width, as reshapes, pads and concatenations write them. The
// accesses of a GPU's threads are decided by it as well (BodyCopies.h).
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_TRANSFORMS_KERNELS_LOOPWIDENING_H
#define LLMC_LIB_TRANSFORMS_KERNELS_LOOPWIDENING_H

#include "llmc/Support/LLVM.h"
#include "mlir/IR/ValueRange.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"

namespace llmc::kernels {

/// Widens straight-line scalar code over `width` iterations.
class LoopWidening {
public:
  LoopWidening(OpBuilder &builder, int64_t width)
      : builder(builder), width(width) {}

  /// The loop variable: lane l has the value `base` + l, and `base` is a
  /// multiple of `divisor`, a power of two.
  void mapLinear(Value scalar, Value base, int64_t divisor = 1) {
    lanes[scalar] = {{base, 1, divisor}, Value(), {}, Value()};
  }
  void mapVector(Value scalar, Value vector) {
    lanes[scalar] = {{}, Value(), {}, vector};
  }
  int64_t getWidth() const { return width; }
  /// Widening fails where lanes neither take one element nor neighbours of
  /// `bytes` at most that begin at a multiple of their number. All vectors lie
  /// in memory at a multiple of their size then, as far as the size of a
  /// kernel's argument says: a row of what loops go along begins at a multiple
  /// of that.
  void setAligned(int64_t bytes) { alignedBytes = bytes; }
  /// Whether an access of what was widened is to neighbours.
  bool hasWideAccess() const { return isWide; }

  /// Writes the wide form of `block` (without terminator) at the insertion
  /// point. Fails, leaving partial code behind, at an operation that has none.
  LogicalResult widen(Block &block);
  /// The same where `buffers` hold one element for each lane: loads of one give
  /// its vector, and a store replaces that.
  LogicalResult widen(Block &block, ValueRange buffers,
                      llvm::MutableArrayRef<Value> vectors);

  /// The lanes of a scalar of the widened block, as a vector.
  Value getVector(Value scalar);

private:
  /// Lane l has the value `base` + l × `step`; `base` is a multiple of
  /// `divisor`, a power of two.
  struct Affine {
    Value base;
    int64_t step = 0;
    int64_t divisor = 1;
  };
  /// What the lanes of a scalar are: `vector`, or else `affine`, and where a
  /// `condition` is given, which is the same for all of them, `otherwise`
  /// unless it holds.
  struct Lanes {
    Affine affine;
    Value condition;
    Affine otherwise;
    Value vector;

    bool isUniform() const { return !vector && !condition && !affine.step; }
    bool isAffine() const { return !vector && !condition; }
  };

  Lanes get(Value scalar);
  int64_t findDivisor(Value scalar);
  Value makeVector(const Affine &affine);
  LogicalResult widenOp(Operation &op);
  LogicalResult widenLoad(Operation &op);
  LogicalResult widenStore(Operation &op);
  LogicalResult widenIf(Operation &op);
  bool widenIndexMath(Operation &op);
  bool widenChoice(Operation &op);
  bool isAccess(Value memory, const Affine &index) const;
  Value loadAt(Operation &load, const Affine &index);
  Value loadChoice(Operation &load, const Lanes &index);
  std::optional<int64_t> getStep(Operation &op,
                                 ArrayRef<Affine> operands) const;
  std::optional<Affine> apply(Operation &op, ArrayRef<Affine> operands);
  bool isRun(const Affine &affine, const Affine &limit) const;
  void cloneUniform(Operation &op);
  llvm::MaybeAlign getAlignment(Value memory) const;

  OpBuilder &builder;
  int64_t width;
  /// 0 where accesses are as they come.
  int64_t alignedBytes = 0;
  bool isWide = false;
  llvm::DenseMap<Value, Lanes> lanes;
  llvm::MapVector<Value, Value> laneBuffers;
};

} // namespace llmc::kernels

#endif // LLMC_LIB_TRANSFORMS_KERNELS_LOOPWIDENING_H
