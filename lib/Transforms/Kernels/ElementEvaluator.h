//===- ElementEvaluator.h - Elements of graph values in a loop --*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Writes the scalar code of one element of a graph value: a load when the value
// is in memory, else the scalar code of its op, which asks for elements of its
// operands in turn. Memory is flat: a tensor is a memref of one dimension, i1
// takes a byte. A constant of several elements is a table in the kernel object.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_TRANSFORMS_KERNELS_ELEMENTEVALUATOR_H
#define LLMC_LIB_TRANSFORMS_KERNELS_ELEMENTEVALUATOR_H

#include "llmc/Dialect/Graph/IR/GraphInterfaces.h"
#include "llmc/Support/LLVM.h"
#include "mlir/IR/SymbolTable.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/MapVector.h"
#include <map>

namespace llmc::kernels {

/// The scalar type that code computes `type`'s elements with: signless.
Type getScalarType(Type type);
/// The element type of `type` in memory: that of the scalar, i8 for i1.
Type getMemoryType(Type type);
/// memref<n x T> for a tensor.
mlir::MemRefType getFlatMemRef(RankedTensorType type);

int64_t getNumElements(ArrayRef<int64_t> shape);

/// Index arithmetic that folds constants.
struct IndexMath {
  OpBuilder &builder;
  Location loc;

  Value constant(int64_t value) const;
  Value add(Value a, Value b) const;
  Value mul(Value a, int64_t factor) const;
  Value div(Value a, int64_t divisor) const;
  Value rem(Value a, int64_t divisor) const;
  /// The indices of row-major position `flat` in `shape`. Dimensions of size 1
  /// get a constant 0, a single other one gets `flat` itself.
  SmallVector<Value> delinearize(Value flat, ArrayRef<int64_t> shape) const;
};

/// The place in the loop nest that is being written: a row, and within it a
/// position in the row's inner shape. Either may be absent (empty shape, null).
struct LoopSpace {
  SmallVector<int64_t> rowShape;
  SmallVector<Value> rowIndices;
  Value row;
  SmallVector<int64_t> innerShape;
  SmallVector<Value> innerIndices;
  Value inner;

  SmallVector<Value> getIndices() const;
};

/// How a kernel touches a buffer: what tying an input to an output depends on.
struct BufferUse {
  /// Every access was to the element of the current row and inner position.
  bool onlyInPlace = true;
  /// Number of the last loop that read it, and of the last read of all.
  int lastLoop = -1, lastRead = -1;
};

class ElementEvaluator {
public:
  /// Constants become data of the module of `symbols`.
  ElementEvaluator(OpBuilder &builder, mlir::SymbolTable &symbols, Location loc)
      : builder(builder), symbols(symbols), loc(loc) {}

  void addBuffer(Value value, Value memref) { buffers[value] = memref; }
  /// `value` has one element, at hand everywhere.
  void addScalar(Value value, Value scalar) { scalars[value] = scalar; }
  /// `value` of the current row, kept in `memref` by inner position.
  void addScratchRow(Value value, Value memref) { scratchRows[value] = memref; }
  void addRowScalar(Value value, Value scalar) { rowScalars[value] = scalar; }

  /// Enters a loop: elements seen before are not at hand in it.
  void enter(LoopSpace newSpace);

  /// The element of `value` at `indices`. On failure an error has been emitted
  /// and null is returned.
  Value get(Value value, ValueRange indices);
  /// The element of operand `operand` of an op.
  Value getOperand(Operation *op, unsigned operand, ValueRange indices);

  /// The row-major position of `indices` in `shape`. `inPlace` is set when it
  /// is the current position of the loop nest.
  Value linearize(ArrayRef<int64_t> shape, ValueRange indices, bool &inPlace);
  Value load(Value memref, Type type, Value position);
  /// `type` says whether integers narrower than a byte have a sign.
  void store(Value memref, Type type, Value scalar, Value position);

  const llvm::MapVector<Value, BufferUse> &getUses() const { return uses; }
  int getLoopNumber() const { return loopNumber; }
  /// The number of reads of buffers so far.
  int getNumReads() const { return numReads; }

private:
  Value compute(Value value, ValueRange indices);
  Value loadFromRow(Value scratch, RankedTensorType type, ValueRange indices);
  Value getFromOp(Value value, ValueRange indices);
  Value getThroughAlias(Value value, ValueRange indices);
  Value getThroughReduction(graph::KernelOpInterface op, unsigned number,
                            ValueRange indices, graph::ElementSource source);
  Value getTable(Value value);
  Value *findMemo(const std::pair<void *, SmallVector<void *>> &key);

  OpBuilder &builder;
  mlir::SymbolTable &symbols;
  Location loc;
  LoopSpace space;
  int loopNumber = 0, numReads = 0;
  llvm::DenseMap<Value, Value> buffers, scalars, scratchRows, rowScalars;
  /// The memory of constants, by value.
  llvm::DenseMap<Value, Value> tables;
  llvm::MapVector<Value, BufferUse> uses;
  std::map<std::pair<void *, SmallVector<void *>>, std::pair<Value, Block *>>
      memo;
};

} // namespace llmc::kernels

#endif // LLMC_LIB_TRANSFORMS_KERNELS_ELEMENTEVALUATOR_H
