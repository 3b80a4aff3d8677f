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
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_TRANSFORMS_KERNELS_LOOPWIDENING_H
#define LLMC_LIB_TRANSFORMS_KERNELS_LOOPWIDENING_H

#include "llmc/Support/LLVM.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"

namespace llmc::kernels {

/// Widens straight-line scalar code over `width` iterations.
class LoopWidening {
public:
  LoopWidening(OpBuilder &builder, int64_t width)
      : builder(builder), width(width) {}

  /// The loop variable: lane l has the value `base` + l.
  void mapLinear(Value scalar, Value base) {
    lanes[scalar] = {Kind::Linear, base, 1, Value()};
  }
  void mapVector(Value scalar, Value vector) {
    lanes[scalar] = {Kind::Varying, Value(), 0, vector};
  }
  /// Loads of `buffer` (one element for each lane) give `vector`; a store
  /// replaces it.
  void mapLaneBuffer(Value buffer, Value vector) {
    laneBuffers[buffer] = vector;
  }
  Value getLaneBuffer(Value buffer) const { return laneBuffers.lookup(buffer); }
  /// All vectors lie in memory at a multiple of their size, as far as the size
  /// of a kernel's argument says: a row of what loops go along begins at a
  /// multiple of that.
  void setAligned() { isAligned = true; }

  /// Writes the wide form of `block` (without terminator) at the insertion
  /// point. Fails, leaving partial code behind, at an operation that has none.
  LogicalResult widen(Block &block);

  /// The lanes of a scalar of the widened block, as a vector.
  Value getVector(Value scalar);

private:
  enum class Kind { Uniform, Linear, Varying };
  struct Lanes {
    Kind kind = Kind::Uniform;
    /// Uniform: the value. Linear: the value of lane 0.
    Value base;
    int64_t step = 0;
    Value vector;
  };

  Lanes get(Value scalar) const;
  LogicalResult widenOp(Operation &op);
  LogicalResult widenLoad(Operation &op);
  LogicalResult widenStore(Operation &op);
  LogicalResult widenIf(Operation &op);
  bool widenIndexMath(Operation &op);
  void cloneUniform(Operation &op);
  llvm::MaybeAlign getAlignment(Value memory) const;

  OpBuilder &builder;
  int64_t width;
  bool isAligned = false;
  llvm::DenseMap<Value, Lanes> lanes;
  llvm::MapVector<Value, Value> laneBuffers;
};

} // namespace llmc::kernels

#endif // LLMC_LIB_TRANSFORMS_KERNELS_LOOPWIDENING_H
