//===- KernelTarget.h - What kernels are written for ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The forms of kernels (RowKernel.cpp, ReduceKernel.cpp, UpdateKernel.cpp) say
// what is computed in which order of additions; how it runs is asked of the
// target: which rows a call takes, how the positions of a loop fall to lanes,
// where accumulators lie. So a second target is a second file beside
// CpuTarget.cpp, and no form changes.
//
//   form                               target (cpu)
//   openRows(begin, end)               a loop over the rows
//   emitLoop(positions, body)          vectors, then what is left over
//   makeLocal(f32, 32)                 an array of the function
//   emitTree(accumulators, combine)    halves of a vector
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_TRANSFORMS_KERNELS_KERNELTARGET_H
#define LLMC_LIB_TRANSFORMS_KERNELS_KERNELTARGET_H

#include "llmc/Support/LLVM.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <optional>

namespace llmc::kernels {

/// A loop over the positions [low, high).
struct LoopRequest {
  Value low, high;
  /// high - low where it is known.
  std::optional<int64_t> count;
  /// Memory of reductions that the body adds to: `numAccumulators` elements
  /// each, of which position j uses number j mod `numAccumulators` and no
  /// other. A loop with accumulators begins at position 0, has a count, and
  /// keeps the order of positions within each accumulator.
  ArrayRef<Value> accumulators = {};
  int64_t numAccumulators = 1;
};

/// Writes one iteration at a position, as scalar code, at the builder's
/// insertion point. It is asked once; the target widens what it gets.
using LoopBody = function_ref<LogicalResult(Value)>;

class KernelTarget {
public:
  virtual ~KernelTarget();

  /// As plans and `dist.kernel` name it: lower case, part of a symbol.
  virtual StringRef getName() const = 0;

  /// Whether element-wise code with indices is better written row by row, for
  /// rows of `columns` elements, than as one loop over all elements.
  virtual bool prefersRows(int64_t columns) const = 0;
  /// Columns of a reduction along columns that make a row of its kernel, of
  /// which there are `columns` for each of `rows`.
  virtual int64_t getColumnBlock(int64_t rows, int64_t columns) const = 0;

  /// Enters the code of one of the rows [begin, end) that a call computes;
  /// leaves the builder inside.
  virtual Value openRows(OpBuilder &builder, Location loc, Value begin,
                         Value end) const = 0;
  /// memref<size x elementType> that lives as long as the call.
  virtual Value makeLocal(OpBuilder &builder, mlir::func::FuncOp function,
                          Type elementType, int64_t size) const = 0;
  /// Leaves the builder behind the loop. On failure of the body an error has
  /// been emitted.
  virtual LogicalResult emitLoop(OpBuilder &builder, Location loc,
                                 const LoopRequest &request,
                                 LoopBody body) const = 0;
  /// Combines number l with number l + n/2, then n/4, … 1 of each of `buffers`,
  /// which have `size` (a power of two) elements. `step` combines the values of
  /// its first half of arguments, one for each buffer, with those of its second
  /// half; `combined` are its results, values of the block. Fails without a
  /// message where a step has no form on the target.
  virtual FailureOr<SmallVector<Value>>
  emitTree(OpBuilder &builder, Location loc, ArrayRef<Value> buffers,
           int64_t size, Block &step, ValueRange combined) const = 0;
};

/// The target of that name; null when there is none.
const KernelTarget *findKernelTarget(StringRef name);
/// Their names, sorted.
SmallVector<StringRef> getKernelTargetNames();

} // namespace llmc::kernels

#endif // LLMC_LIB_TRANSFORMS_KERNELS_KERNELTARGET_H
