//===- GpuWriter.h - Code of one thread of a launch -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How the rows of a kernel fall to threads:
//
//   flat      a row is one element; a thread takes the neighbours of one access
//   threads   a row is one thread's: short rows, columns of a reduction along
//             columns (neighbouring threads read neighbouring columns), and
//             whatever is done one after the other
//   block     a row is a block's, or a warp's of a block of few rows. Position
//   j
//             of a loop falls to thread (j / width) mod threads, where a width
//             of neighbours is one access; an accumulator is one thread's, in
//             registers
//
// All rows of a block come to the same barriers. Threads of a block agree by
// barriers: what one stores and another reads, or reads and another overwrites,
// is in different loops of a row.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_TRANSFORMS_KERNELS_GPUWRITER_H
#define LLMC_LIB_TRANSFORMS_KERNELS_GPUWRITER_H

#include "BodyCopies.h"
#include "ElementEvaluator.h"

namespace llmc::kernels {

class GpuWriter final : public KernelWriter, public StageWriter {
public:
  static constexpr int64_t warp = 32;

  GpuWriter(OpBuilder &builder, mlir::func::FuncOp function);

  Value openRows(const RowPlan &plan, Value begin, Value end) override;
  LogicalResult emitFlat(int64_t rows, Value begin, Value end,
                         LoopBody body) override;
  Value makeLocal(Type elementType, int64_t size) override;
  Value makeRow(Type elementType, int64_t size) override;
  void fill(Value local, int64_t size,
            function_ref<void(Value)> store) override;
  LogicalResult emitLoop(Location loc, const LoopRequest &request,
                         LoopBody body) override;
  FailureOr<SmallVector<Value>> emitTree(Location loc, ArrayRef<Value> buffers,
                                         int64_t size, Block &step,
                                         ValueRange combined) override;
  void publish() override;
  void emitOnce(function_ref<void()> body) override;
  StageWriter *getStageWriter() override { return this; }
  std::pair<Value, Value> openBlock(int64_t threads, int64_t rows) override;
  /// Null where there is no room.
  Value makeShared(Type elementType, int64_t size) override;
  void addBarrier() override;
  CallShape getShape() const override { return shape; }

private:
  enum class Mode { Flat, Threads, Block };

  LogicalResult emitSerialLoop(Location loc, const LoopRequest &request,
                               LoopBody body);
  LogicalResult emitSharedLoop(const LoopRequest &request, BodyCopies &body);
  LogicalResult emitPart(const LoopRequest &request, BodyCopies &body,
                         int64_t width, int64_t low, int64_t high);
  LogicalResult emitReducingLoop(const LoopRequest &request, BodyCopies &body);
  LogicalResult emitRun(const LoopRequest &request, BodyCopies &body,
                        int64_t width, Value base, std::optional<Value> end,
                        llvm::MutableArrayRef<Value> lanes);
  SmallVector<Value> loadLanes(ArrayRef<Value> buffers, int64_t width);
  void storeLanes(ArrayRef<Value> buffers, int64_t width,
                  ArrayRef<Value> lanes);

  OpBuilder &builder;
  mlir::func::FuncOp function;
  Location loc;
  IndexMath math;
  Mode mode = Mode::Threads;
  CallShape shape;
  /// Of a row that is a block's or a warp's: its threads.
  int64_t rowThreads = 1;
  /// Of the block, and the number of its thread; of a row that is a warp's that
  /// of the thread in it.
  Value thread, block;
  /// Number of the row in its block; null where it is the only one.
  Value rowOfBlock;
  /// Neighbours in the lanes of an accumulator's buffer.
  llvm::DenseMap<Value, int64_t> laneWidths;
  /// Whether loops of the row have read, and stored since the last barrier.
  bool hasRead = false, hasStored = false;
};

/// The tree of a reduction over the threads of a block.
class GpuTree {
public:
  GpuTree(OpBuilder &builder, Location loc, Block &step, ValueRange combined,
          Value thread)
      : builder(builder), loc(loc), step(step), combined(combined),
        thread(thread) {}

  /// One value for each buffer.
  using Values = SmallVector<Value>;

  /// Combines `lanes`, of which a thread of a warp has number l + t × width for
  /// l below width, and the next ones a warp's worth further on. All threads
  /// get the result.
  Values combineWarp(SmallVector<Values> lanes, int64_t width);
  /// Combines `size` numbers in the memory of one thread, which it overwrites.
  Values combineMemory(ArrayRef<Value> buffers, int64_t size);
  /// What lies in memory of buffer `number` as the step takes it.
  Value toScalar(Value memory, unsigned number);

private:
  Value toMemory(Value scalar, Type memory);
  Values combine(const Values &left, const Values &right);
  Values shuffle(const Values &values, Value source);
  Value shuffle(Value scalar, Value source);

  OpBuilder &builder;
  Location loc;
  Block &step;
  ValueRange combined;
  Value thread;
};

} // namespace llmc::kernels

#endif // LLMC_LIB_TRANSFORMS_KERNELS_GPUWRITER_H
