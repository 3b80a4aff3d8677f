//===- BitArithmetic.h - Unsigned arithmetic and random bits ----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For ops whose meaning has random bits: what a program draws by arithmetic on
// counters, as ops. The functions are those of llmc/Runtime/Base/RandomBits.h.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_DIALECT_STABLEHLO_IR_BITARITHMETIC_H
#define LLMC_DIALECT_STABLEHLO_IR_BITARITHMETIC_H

#include "llmc/Dialect/StableHLO/IR/StableHLO.h"
#include "llmc/Runtime/Base/RandomBits.h"
#include "llmc/Support/LLVM.h"
#include "llvm/ADT/DenseMap.h"

namespace llmc::stablehlo {

/// Unsigned arithmetic on tensors of ui32 and ui64. A scalar goes with any
/// shape, and each constant is made once.
class BitArithmetic {
public:
  using Words = SmallVector<Value, 4>;

  BitArithmetic(OpBuilder &b, Location loc) : b(b), loc(loc) {}

  Value constant(Type type, uint64_t value);
  /// Indices along `dim`.
  Value indices(ArrayRef<int64_t> shape, int64_t dim);
  Value convert(Value x, unsigned width);
  /// The low and the high half of ui64, and back.
  Words split(Value x);
  Value join(Value low, Value high);
  Value rotateLeft(Value x, unsigned distance);
  Value isLess(Value x, Value y);
  Value choose(Value condition, Value onTrue, Value onFalse);
  /// Of 2^k values number `index` mod 2^k, for each element.
  Value pick(Words values, Value index);

  /// Threefry-2x32: words x under a key of two words.
  void applyThreefry(Words &x, const Words &key);
  /// Of a key of ui64 and a counter for each element; ui32 or ui64.
  Value drawBits(rt::RandomBits bits, Value key, Value counter);

  template <typename Op> Value apply(Value x, Value y) {
    std::tie(x, y) = matchShapes(x, y);
    return Op::create(b, loc, x, y);
  }
  template <typename Op> Value apply(Value x, uint64_t y) {
    return Op::create(b, loc, x, constant(x.getType(), y));
  }

  OpBuilder &b;
  Location loc;

private:
  std::pair<Value, Value> matchShapes(Value x, Value y);

  llvm::DenseMap<std::pair<Type, uint64_t>, Value> constants;
};

} // namespace llmc::stablehlo

#endif // LLMC_DIALECT_STABLEHLO_IR_BITARITHMETIC_H
