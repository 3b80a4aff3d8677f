//===- LoopEmission.h - What all kernels are built from ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The function of a kernel with its buffers, and the accumulators of a
// reduction. What differs between processors and other devices is the target's
// (KernelTarget.h).
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_TRANSFORMS_KERNELS_LOOPEMISSION_H
#define LLMC_LIB_TRANSFORMS_KERNELS_LOOPEMISSION_H

#include "ElementEvaluator.h"
#include "KernelEmitter.h"
#include "KernelStages.h"
#include "KernelTarget.h"
#include "llmc/Dialect/Graph/IR/GraphInterfaces.h"

namespace llmc::kernels {

/// A kernel that is being written.
struct KernelBody {
  KernelBody(OpBuilder &builder, const KernelTarget &target,
             mlir::SymbolTable &symbols, const KernelStage &stage,
             StringRef name);

  OpBuilder &builder;
  const KernelTarget &target;
  mlir::SymbolTable &symbols;
  Location loc;
  const KernelStage &stage;
  const KernelSpec &spec;
  mlir::func::FuncOp function;
  std::unique_ptr<KernelWriter> writer;
  ElementEvaluator elements;
  llvm::DenseMap<Value, Value> outputs;
  /// Memory of what the launch before left, and of what is left to the next.
  SmallVector<Value> taken, made;
  Value begin, end;
  /// Loop of each output's store, and the number of reads in front of it.
  llvm::DenseMap<Value, std::pair<int, int>> stores;

  IndexMath math() const { return {builder, loc}; }
  bool contains(Operation *op) const { return opSet.count(op); }

  /// Enters one of the call's rows; leaves the builder inside.
  Value openRows(const RowPlan &plan) {
    return writer->openRows(plan, begin, end);
  }
  /// Writes `body` for the positions of `request`.
  LogicalResult emitLoop(const LoopRequest &request, LoopBody body) {
    return writer->emitLoop(loc, request, body);
  }
  /// Stores to an output at the current place of the loop nest.
  void storeOutput(Value output, Value scalar, ValueRange indices);

  /// The pairs that may share a buffer, from what was written.
  SmallVector<std::pair<unsigned, unsigned>> findTieable() const;

private:
  llvm::DenseSet<Operation *> opSet;
};

/// The accumulators of a reduction along rows of `length` elements
/// (ReductionCut.h): one where the order matters.
int64_t getNumAccumulators(Operation *reduction, int64_t length);

/// The accumulators of one reduction.
class Accumulators {
public:
  /// `size` of each in memory: those of a row, or a line of columns.
  Accumulators(KernelBody &kernel, Operation *op, int64_t size);

  ArrayRef<Value> getBuffers() const { return buffers; }
  graph::KernelOpInterface getOp() const { return op; }
  int64_t getSize() const { return size; }

  /// All elements become the initial value (its element at no indices).
  LogicalResult emitInit();
  /// buffers[at] = combine(buffers[at], the inputs' elements at `indices`).
  LogicalResult emitStep(Value at, ValueRange indices);
  /// buffers[at] = combine(buffers[at], others[at]).
  LogicalResult emitMerge(Value at, const Accumulators &others) {
    return emitMerge(at, others.buffers, at);
  }
  /// buffers[at] = combine(buffers[at], memory[from]).
  LogicalResult emitMerge(Value at, ArrayRef<Value> memory, Value from);
  Value emitLoad(unsigned number, Value at) const;
  /// All combined by the fixed tree.
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
LogicalResult emitUpdate(KernelBody &kernel, int64_t &rows);
/// The stages of KernelStages.h.
LogicalResult emitColumnBlocks(KernelBody &kernel, int64_t &rows);
LogicalResult emitColumnTile(KernelBody &kernel, int64_t &rows);
LogicalResult emitSort(KernelBody &kernel, int64_t &rows);
LogicalResult emitMerge(KernelBody &kernel, int64_t &rows);
LogicalResult emitSegments(KernelBody &kernel, int64_t &rows);

} // namespace llmc::kernels

#endif // LLMC_LIB_TRANSFORMS_KERNELS_LOOPEMISSION_H
