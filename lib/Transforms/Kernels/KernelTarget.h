//===- KernelTarget.h - What kernels are written for ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The forms of kernels (RowKernel.cpp, ReduceKernel.cpp, UpdateKernel.cpp) say
// what is computed in which order of additions; how it runs is asked of the
// target: which rows a call or a thread takes, how the positions of a loop fall
// to lanes, where accumulators lie. So a further target is a further file
// beside CpuTarget.cpp and GpuTarget.cpp, and no form changes. A kernel is
// written by a writer of its own, which keeps what it knows of the kernel.
//
//   form                               cpu                     cuda
//   openRows(plan, begin, end)         a loop over the rows    one of the grid
//   emitLoop(positions, body)          vectors, then the rest  threads of a row
//   makeLocal(f32, 32)                 an array                registers
//   emitTree(accumulators, combine)    halves of a vector      shuffles
//   emitOnce(body)                     body                    one thread
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_TRANSFORMS_KERNELS_KERNELTARGET_H
#define LLMC_LIB_TRANSFORMS_KERNELS_KERNELTARGET_H

#include "llmc/Runtime/Base/Library.h"
#include "llmc/Support/LLVM.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include <memory>
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

/// What a target is told of the rows that a kernel has.
struct RowPlan {
  int64_t rows = 1;
  /// Positions of the longest loop of a row.
  int64_t columns = 1;
  /// The least accumulators that a reduction along the row has; 0 without any.
  int64_t accumulators = 0;
  /// The most that a row asks makeRow for.
  int64_t keptBytes = 0;
  /// Iterations of a row's loops depend on those before them.
  bool isSerial = false;
};

/// How a kernel is launched and what a call of it needs.
struct CallShape {
  int64_t scratchBytes = 0;
  int64_t rowsPerBlock = 1, threads = 1, sharedBytes = 0, alignment = 1;
};

/// What the launches of several stages (KernelStages.h) ask of a writer beyond
/// rows of one thread.
class StageWriter {
public:
  virtual ~StageWriter();

  /// Instead of openRows, for blocks of `threads` that have `rows` rows each:
  /// the numbers of the block and of the thread in it. Code of a block is
  /// guarded by its form.
  virtual std::pair<Value, Value> openBlock(int64_t threads, int64_t rows) = 0;
  /// memref<size x elementType> that the threads of a block share.
  virtual Value makeShared(Type elementType, int64_t size) = 0;
  /// All threads of the block have come here before one goes on.
  virtual void addBarrier() = 0;
};

/// Writes the code of one kernel at the insertion point of its builder.
class KernelWriter {
public:
  virtual ~KernelWriter();

  /// Enters the code of one of the rows [begin, end) that a call computes;
  /// leaves the builder inside. Once in a kernel, before all that follows.
  virtual Value openRows(const RowPlan &plan, Value begin, Value end) = 0;
  /// All of a kernel whose rows, `rows` in number, have one element each.
  virtual LogicalResult emitFlat(int64_t rows, Value begin, Value end,
                                 LoopBody body) = 0;
  /// memref<size x elementType> that lives as long as the row.
  virtual Value makeLocal(Type elementType, int64_t size) = 0;
  /// The same for what a loop of a row stores for later ones, by position; null
  /// where there is no room, and the values are to be computed again.
  virtual Value makeRow(Type elementType, int64_t size) = 0;
  /// Stores one value to all of a local memory: `store` does so at a position.
  virtual void fill(Value local, int64_t size,
                    function_ref<void(Value)> store) = 0;
  /// Leaves the builder after the loop. On failure of the body an error has
  /// been emitted.
  virtual LogicalResult emitLoop(Location loc, const LoopRequest &request,
                                 LoopBody body) = 0;
  /// Combines number l with number l + n/2, then n/4, … 1 of each of `buffers`,
  /// which have `size` (a power of two) elements. `step` combines the values of
  /// its first half of arguments, one for each buffer, with those of its second
  /// half; `combined` are its results, values of the block. Fails without a
  /// message where a step has no form on the target.
  virtual FailureOr<SmallVector<Value>> emitTree(Location loc,
                                                 ArrayRef<Value> buffers,
                                                 int64_t size, Block &step,
                                                 ValueRange combined) = 0;
  /// What loops have stored is there for what is written from here on.
  virtual void publish() = 0;
  /// Writes `body`, which stores what the row has once, between its loops.
  virtual void emitOnce(function_ref<void()> body) = 0;
  /// Null where kernels have one stage.
  virtual StageWriter *getStageWriter() { return nullptr; }
  /// Of the kernel as it is written.
  virtual CallShape getShape() const = 0;
};

struct CallPlan;

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

  /// Bytes that the threads of a block may share, where long columns and
  /// updates are cut into stages; 0 where one launch walks them.
  virtual int64_t getSharedBytes() const = 0;

  /// The kernels that compute a call of a library whose buffers have `types`
  /// (CallForm.h); none where the target has no form of it.
  virtual std::optional<CallPlan>
  planCall(const rt::LibraryDescriptor &descriptor,
           ArrayRef<RankedTensorType> types) const;

  /// For `function`, whose last argument is the scratch of a call. The builder
  /// outlives the writer.
  virtual std::unique_ptr<KernelWriter>
  makeWriter(OpBuilder &builder, mlir::func::FuncOp function) const = 0;
};

/// The target of that name; null when there is none.
const KernelTarget *findKernelTarget(StringRef name);
/// Their names, sorted.
SmallVector<StringRef> getKernelTargetNames();

} // namespace llmc::kernels

#endif // LLMC_LIB_TRANSFORMS_KERNELS_KERNELTARGET_H
