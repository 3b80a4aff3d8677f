//===- LoopEmission.h - Loops and lanes of a kernel -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the kernels of all kinds are built from: the function and its buffers,
// a loop with its vector form, and the accumulators of a reduction.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_TRANSFORMS_KERNELS_LOOPEMISSION_H
#define LLMC_LIB_TRANSFORMS_KERNELS_LOOPEMISSION_H

#include "ElementEvaluator.h"
#include "KernelEmitter.h"
#include "LoopWidening.h"
#include "llmc/Dialect/Graph/IR/GraphInterfaces.h"

namespace llmc::kernels {

/// A kernel that is being written.
struct KernelBody {
  KernelBody(OpBuilder &builder, const KernelSpec &spec, StringRef name);

  OpBuilder &builder;
  Location loc;
  const KernelSpec &spec;
  mlir::func::FuncOp function;
  ElementEvaluator elements;
  llvm::DenseMap<Value, Value> outputs;
  Value begin, end, scratch;
  int64_t scratchBytes = 0;
  /// Loop of each output's store, and the number of reads in front of it.
  llvm::DenseMap<Value, std::pair<int, int>> stores;

  IndexMath math() const { return {builder, loc}; }
  bool contains(Operation *op) const { return opSet.count(op); }

  /// memref<size x T> at the function's start.
  Value makeLocal(Type elementType, int64_t size);
  /// memref<size x T> in the call's scratch.
  Value makeScratch(Type elementType, int64_t size);
  /// for row in [begin, end); leaves the builder inside.
  Value openRowLoop();
  /// Stores to an output at the current place of the loop nest.
  void storeOutput(Value output, Value scalar, ValueRange indices);

  /// The pairs that may share a buffer, from what was written.
  SmallVector<std::pair<unsigned, unsigned>> findTieable() const;

private:
  llvm::DenseSet<Operation *> opSet;
};

/// Writes `body` for each position in [low, high), several at a time where
/// it has a vector form. `count` is high - low when it is known. A lane buffer
/// is indexed by position mod laneCount only, and stays in a register.
LogicalResult emitLoop(KernelBody &kernel, Value low, Value high,
                       std::optional<int64_t> count,
                       ArrayRef<Value> laneBuffers,
                       function_ref<LogicalResult(Value)> body);

/// The lanes of a reduction along rows: one where the order matters.
int64_t getNumLanes(Operation *reduction);

/// The accumulators of one reduction.
class Accumulators {
public:
  /// `size` of each in memory: the lanes, or a line of columns.
  Accumulators(KernelBody &kernel, Operation *op, int64_t size);

  ArrayRef<Value> getBuffers() const { return buffers; }
  graph::KernelOpInterface getOp() const { return op; }

  /// All elements become the initial value (its element at no indices).
  LogicalResult emitInit();
  /// buffers[at] = combine(buffers[at], the inputs' elements at `indices`).
  LogicalResult emitStep(Value at, ValueRange indices);
  /// buffers[at] = combine(buffers[at], others[at]).
  LogicalResult emitMerge(Value at, const Accumulators &others);
  Value emitLoad(unsigned number, Value at) const;
  /// The lanes combined by the fixed tree.
  FailureOr<SmallVector<Value>> emitTree();

private:
  LogicalResult combineInto(Value at, ValueRange elements);

  KernelBody &kernel;
  graph::KernelOpInterface op;
  unsigned inputs;
  int64_t size;
  SmallVector<Value> buffers;
};

/// One flat loop over elements. `linear` is cleared when its code needs the
/// indices of an element rather than its position.
LogicalResult emitElements(KernelBody &kernel, int64_t &rows, bool &linear);
LogicalResult emitRows(KernelBody &kernel, ArrayRef<int64_t> rowShape,
                       int64_t &rows);
LogicalResult emitReduce(KernelBody &kernel, int64_t &rows);
LogicalResult emitUpdate(KernelBody &kernel);

} // namespace llmc::kernels

#endif // LLMC_LIB_TRANSFORMS_KERNELS_LOOPEMISSION_H
