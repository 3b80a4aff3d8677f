//===- ColumnStages.cpp - Reductions along long columns, in launches ------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A block of positions of a column is one thread's, beside its neighbour's
// column; all blocks of all columns run side by side. Where the blocks are few,
// they are warps of one block of threads, which leave their values in shared
// memory and add them up there:
//
//   blocks   row = block x columns + column
//   tile     thread = block x 32 + column of 32 neighbours
//
// Test: test/Transforms/Kernels/gpu-stages.mlir,
// test/Codegen/LaneStagesTest.cpp
//
//===----------------------------------------------------------------------===//

#include "LoopEmission.h"
#include "ReduceDims.h"
#include "WriterFaults.h"
#include "llmc/Solvers/Reduction/ReductionCut.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace llmc::kernels {

namespace {

class ColumnStage {
public:
  explicit ColumnStage(KernelBody &kernel)
      : kernel(kernel), builder(kernel.builder), math(kernel.math()),
        dims(kernel.spec.aligned.front()), length(kernel.stage.length),
        columns(dims.kept.size() * dims.inner.size()),
        blocks(llvm::divideCeil(length, columnCut)) {}

  LogicalResult emitBlocks(int64_t &rows);
  LogicalResult emitTile(int64_t &rows);

private:
  void makeSums() {
    for (Operation *op : kernel.spec.aligned)
      sums.push_back(std::make_unique<Accumulators>(kernel, op, 1));
  }
  LogicalResult emitBlock(Value block, Value column);
  LogicalResult emitPosition(Value position, Value column);
  LogicalResult emitSumsOfTile(Value lane, Value column,
                               ArrayRef<Value> shared);
  LogicalResult emitMerges(ArrayRef<Value> memory, Value at);
  void storeResults(Value at);
  scf::IfOp openIf(Value condition) {
    auto guarded = scf::IfOp::create(builder, kernel.loc, condition,
                                     /*withElseRegion=*/false);
    builder.setInsertionPointToStart(guarded.thenBlock());
    return guarded;
  }
  Value isBelow(Value value, int64_t bound) {
    return arith::CmpIOp::create(builder, kernel.loc, arith::CmpIPredicate::ult,
                                 value, math.constant(bound));
  }

  KernelBody &kernel;
  OpBuilder &builder;
  IndexMath math;
  ReduceDims dims;
  int64_t length, columns, blocks;
  std::vector<std::unique_ptr<Accumulators>> sums;
};

/// Adds to the sums what lies at one place of memory of theirs.
LogicalResult ColumnStage::emitMerges(ArrayRef<Value> memory, Value at) {
  for (auto &sum : sums) {
    size_t inputs = sum->getBuffers().size();
    if (failed(sum->emitMerge(math.constant(0), memory.take_front(inputs), at)))
      return failure();
    memory = memory.drop_front(inputs);
  }
  return success();
}

/// Adds a position to the sums: of the kernel's own elements, or of what the
/// launch before left.
LogicalResult ColumnStage::emitPosition(Value position, Value column) {
  if (!kernel.taken.empty()) {
    Value at = math.add(math.mul(position, columns), column);
    kernel.elements.enter({});
    return emitMerges(kernel.taken, at);
  }
  LoopSpace space;
  space.inner = math.rem(column, dims.inner.size());
  if (dims.kept.size() == 1)
    space.inner = column;
  space.innerShape = dims.inner.shape;
  space.innerIndices = math.delinearize(space.inner, dims.inner.shape);
  SmallVector<Value> indices(dims.rank, math.constant(0));
  dims.kept.place(math, math.div(column, dims.inner.size()), indices);
  dims.outer.place(math, position, indices);
  for (auto [dim, index] : llvm::zip(dims.inner.dims, space.innerIndices))
    indices[dim] = index;
  kernel.elements.enter(space);
  for (auto &sum : sums)
    if (failed(sum->emitStep(math.constant(0), indices)))
      return failure();
  return success();
}

/// All positions of block `block` of a column, in order.
LogicalResult ColumnStage::emitBlock(Value block, Value column) {
  kernel.elements.enter({});
  for (auto &sum : sums)
    if (failed(sum->emitInit()))
      return failure();
  Value first = math.mul(block, columnCut);
  Value last = math.add(first, math.constant(columnCut));
  if (length % columnCut && !isSeeded(WriterFault::lastBlockIsWhole))
    last = arith::MinUIOp::create(builder, kernel.loc, last,
                                  math.constant(length));
  auto loop =
      scf::ForOp::create(builder, kernel.loc, first, last, math.constant(1));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  return emitPosition(loop.getInductionVar(), column);
}

/// To the results, or to what the next launch takes.
void ColumnStage::storeResults(Value at) {
  size_t next = 0;
  for (auto &sum : sums) {
    Operation *op = sum->getOp();
    for (size_t number = 0; number < sum->getBuffers().size();
         ++number, ++next) {
      Value value = sum->emitLoad(number, math.constant(0));
      Value result = op->getResult(number);
      if (!kernel.made.empty())
        kernel.elements.store(kernel.made[next],
                              op->getOperand(number).getType(), value, at);
      else if (Value memory = kernel.outputs.lookup(result))
        kernel.elements.store(memory, result.getType(), value, at);
    }
  }
}

LogicalResult ColumnStage::emitBlocks(int64_t &rows) {
  rows = blocks * columns;
  RowPlan plan{rows};
  plan.isSerial = true;
  Value row = kernel.openRows(plan);
  makeSums();
  Value block = math.div(row, columns);
  Value column = blocks == 1 ? row : math.rem(row, columns);
  if (isSeeded(WriterFault::blocksChangePlaces))
    block = arith::SubIOp::create(builder, kernel.loc,
                                  math.constant(blocks - 1), block);
  if (failed(emitBlock(block, column)))
    return failure();
  storeResults(row);
  return success();
}

/// Threads of the first warp take the values of all warps, in order.
LogicalResult ColumnStage::emitSumsOfTile(Value lane, Value column,
                                          ArrayRef<Value> shared) {
  kernel.elements.enter({});
  for (auto &sum : sums)
    if (failed(sum->emitInit()))
      return failure();
  int64_t last = isSeeded(WriterFault::tileForgetsAWarp) ? blocks - 1 : blocks;
  for (int64_t block = 0; block < last; ++block) {
    Value at = math.add(lane, math.constant(block * tileColumns));
    if (failed(emitMerges(shared, at)))
      return failure();
  }
  storeResults(column);
  return success();
}

LogicalResult ColumnStage::emitTile(int64_t &rows) {
  rows = llvm::divideCeil(columns, tileColumns);
  StageWriter &stages = *kernel.writer->getStageWriter();
  auto [tile, thread] = stages.openBlock(blocks * tileColumns, 1);
  makeSums();
  Value warp = math.div(thread, tileColumns);
  Value lane = math.rem(thread, tileColumns);
  Value column = math.add(math.mul(tile, tileColumns), lane);
  SmallVector<Value> shared;
  for (auto &sum : sums)
    for (Value buffer : sum->getBuffers())
      shared.push_back(
          stages.makeShared(cast<MemRefType>(buffer.getType()).getElementType(),
                            blocks * tileColumns));
  Operation *end = kernel.function.front().getTerminator();
  openIf(isBelow(column, columns));
  if (failed(emitBlock(warp, column)))
    return failure();
  size_t next = 0;
  for (auto &sum : sums)
    for (size_t number = 0; number < sum->getBuffers().size(); ++number)
      kernel.elements.store(shared[next++],
                            sum->getOp()->getOperand(number).getType(),
                            sum->emitLoad(number, math.constant(0)), thread);
  builder.setInsertionPoint(end);
  if (!isSeeded(WriterFault::tileIsReadBeforeItIsStored))
    stages.addBarrier();
  Value isFirst = isBelow(thread, tileColumns);
  openIf(arith::AndIOp::create(builder, kernel.loc, isFirst,
                               isBelow(column, columns)));
  return emitSumsOfTile(lane, column, shared);
}

} // namespace

LogicalResult emitColumnBlocks(KernelBody &kernel, int64_t &rows) {
  return ColumnStage(kernel).emitBlocks(rows);
}

LogicalResult emitColumnTile(KernelBody &kernel, int64_t &rows) {
  return ColumnStage(kernel).emitTile(rows);
}

} // namespace llmc::kernels
