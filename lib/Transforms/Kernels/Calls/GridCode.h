//===- GridCode.h - Code of one thread of a launch --------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the kernels of calls (CallForm.h) are written with: arithmetic of
// indices in 32 bits where all of them fit, loops that carry values, memory
// that a block shares.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_TRANSFORMS_KERNELS_CALLS_GRIDCODE_H
#define LLMC_LIB_TRANSFORMS_KERNELS_CALLS_GRIDCODE_H

#include "llmc/Support/LLVM.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace llmc::kernels {

using Values = SmallVector<Value>;

/// Writes at the end of the body of `function`, whose arguments are the memory
/// of a call, its first and last row, and scratch. A *word* is a number without
/// sign, of 64 bits where `isWide`, else of 32; sums wrap.
class GridCode {
public:
  GridCode(OpBuilder &builder, mlir::func::FuncOp function, bool isWide);

  OpBuilder &getBuilder() { return builder; }
  Location getLoc() const { return loc; }
  Value getMemory(unsigned argument) { return function.getArgument(argument); }
  /// The thread's number in its block.
  Value getThread() const { return thread; }
  /// The row of a block that has one.
  Value getBlockRow();
  /// The row of a thread that has one, in blocks of `threads`: `body` is for
  /// threads whose row there is.
  void forRow(int64_t threads, function_ref<void(Value)> body);

  Type getWordType() const { return word; }
  Value constant(int64_t value);
  /// An element of `type` with that value.
  Value constant(Type type, double value);
  Value add(Value a, Value b);
  Value sub(Value a, Value b);
  Value mul(Value a, int64_t factor);
  Value mul(Value a, Value b);
  Value div(Value a, int64_t divisor);
  Value rem(Value a, int64_t divisor);
  Value compare(mlir::arith::CmpIPredicate predicate, Value a, Value b);
  Value isLess(Value a, Value b) {
    return compare(mlir::arith::CmpIPredicate::ult, a, b);
  }
  Value isEqual(Value a, Value b) {
    return compare(mlir::arith::CmpIPredicate::eq, a, b);
  }
  Value both(Value a, Value b);
  Value either(Value a, Value b);
  Value select(Value condition, Value a, Value b);
  Value min(Value a, Value b) { return select(isLess(a, b), a, b); }
  /// An integer as one of `type`, cut or with zeros in front.
  Value toWidth(Value integer, Type type);

  Value load(Value memory, Value at);
  /// The float there, or 0 where `condition` is false and nothing is read.
  Value loadIf(Value condition, Value memory, Value at);
  /// `count` neighbours; `at` is a multiple of it.
  Values loadRun(Value memory, Value at, int64_t count);
  void store(Value value, Value memory, Value at);
  /// To neighbours; `at` is a multiple of how many there are.
  void storeRun(ArrayRef<Value> values, Value memory, Value at);

  /// What a loop from `low` below `high` makes of `carried`; `body` is given
  /// the position and what is carried, and returns what is carried on.
  Values loop(Value low, Value high, int64_t step, ValueRange carried,
              function_ref<Values(Value, ValueRange)> body);
  /// The same, which no later compiler unrolls, nor moves a load out of: where
  /// registers are few.
  Values loopThatStays(Value low, Value high, int64_t step, ValueRange carried,
                       function_ref<Values(Value, ValueRange)> body);
  void ifTrue(Value condition, function_ref<void()> body);

  // Tiles of narrow floats, for the tensor cores (GridTiles.cpp). A *pair* is
  // two of them in 32 bits, the first one low.

  /// The bits of `count` neighbours, a vector of i16, or 0 where `condition`
  /// (perhaps none) is false; `at` is a multiple of `count`.
  Value loadBits(Value condition, Value memory, Value at, int64_t count);
  /// Pairs of neighbours.
  Values pairUp(Value bits);
  /// Pairs of what lies at one place of `low` and of `high`.
  Values pairUp(Value low, Value high);
  /// Two sums of f32, rounded to `type`.
  Value roundPair(Type type, Value low, Value high);
  /// sums + a * b: 16 by 8 sums of 16 terms, by the threads of a warp
  /// (LaneTiles.h). `a` has 4 pairs of floats of `type`, `b` 2, and there are 4
  /// sums. All threads come here.
  Values multiplyTiles(Type type, ArrayRef<Value> a, ArrayRef<Value> b,
                       ArrayRef<Value> sums);

  /// Memory of `size` elements that the threads of a block share. Bytes that
  /// all of it takes are `getSharedBytes`.
  Value makeShared(Type elementType, int64_t size);
  int64_t getSharedBytes() const { return sharedBytes; }
  /// What threads of the block have stored is there for all of them.
  void barrier();
  /// What the thread of the warp has whose number differs by the bit
  /// `distance`; a float of 32 or 64 bits. All threads come here.
  Value shuffle(Value value, int64_t distance);

private:
  Value toIndex(Value at);

  OpBuilder &builder;
  mlir::func::FuncOp function;
  Location loc;
  Type word;
  Value begin, end, thread, block;
  int64_t sharedBytes = 0;
};

} // namespace llmc::kernels

#endif // LLMC_LIB_TRANSFORMS_KERNELS_CALLS_GRIDCODE_H
