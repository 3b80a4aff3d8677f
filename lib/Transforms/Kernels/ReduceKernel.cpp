//===- ReduceKernel.cpp - Reductions over dims of any place ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reductions of one input shape over one set of dims, with their element-wise
// producers computed inside.
//
//   last dim reduced     a row of the kernel is an element of the result;
//                        accumulators along the trailing reduced dims, the
//                        other reduced dims around them in row-major order
//   last dim kept        a row is a block of columns of the result, as many as
//                        the target likes; the reduced positions one after the
//                        other, in blocks, then the blocks' sums
//
// How a reduction is cut into accumulators and blocks says ReductionCut.h. A
// combining step that is not known to be associative takes all elements one
// after the other, in row-major order.
//
// Test: test/Transforms/Kernels/loops.mlir
//
//===----------------------------------------------------------------------===//

#include "LoopEmission.h"
#include "ReduceDims.h"
#include "llmc/Solvers/Reduction/ReductionCut.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace llmc::kernels {

namespace {

class ReduceKernel {
public:
  explicit ReduceKernel(KernelBody &kernel)
      : kernel(kernel), dims(kernel.spec.aligned.front()) {}

  LogicalResult emit(int64_t &rows) {
    return dims.alongRows ? emitAlongRows(rows) : emitAlongColumns(rows);
  }

private:
  LogicalResult emitAlongRows(int64_t &rows);
  SmallVector<SmallVector<Operation *>> groupReductions() const;
  LogicalResult emitRow(Value row, ArrayRef<Operation *> ops);
  LogicalResult emitTrees(Value row,
                          ArrayRef<std::unique_ptr<Accumulators>> reductions);
  LogicalResult emitAlongColumns(int64_t &rows);
  LogicalResult emitColumns(Value low, Value count,
                            SmallVectorImpl<Accumulators *> &results);
  LogicalResult emitLevel(int64_t level, Value first, Value last, Value low,
                          Value count);
  LogicalResult emitBlock(Value first, Value last, Value low, Value count,
                          ArrayRef<Accumulators *> sums);
  void emitResults(ArrayRef<Accumulators *> sums, Value from, Value to);
  int64_t getColumnBlock() const {
    return kernel.target.getColumnBlock(kept.size(), inner.size());
  }
  /// Columns of a row, where all rows have as many and are of one.
  std::optional<int64_t> getCount() const {
    return getColumnBlock() == 1 ? std::optional<int64_t>(1) : std::nullopt;
  }
  void place(const Walk &walk, Value position,
             SmallVectorImpl<Value> &indices) {
    walk.place(kernel.math(), position, indices);
  }
  LogicalResult forEach(int64_t size, function_ref<LogicalResult(Value)> body);
  SmallVector<Operation *> getReductions() const {
    return SmallVector<Operation *>(kernel.spec.aligned.begin(),
                                    kernel.spec.aligned.end());
  }

  KernelBody &kernel;
  ReduceDims dims;
  const Walk &kept = dims.kept, &outer = dims.outer, &inner = dims.inner;
  SmallVector<Value> keptIndices;
  /// Columns: one line of sums for each reduction and level (ReductionCut.h).
  std::vector<std::unique_ptr<Accumulators>> lines;
  SmallVector<SmallVector<Accumulators *>> levels;
};

LogicalResult ReduceKernel::forEach(int64_t size,
                                    function_ref<LogicalResult(Value)> body) {
  IndexMath math = kernel.math();
  if (size == 1)
    return body(math.constant(0));
  auto loop = scf::ForOp::create(kernel.builder, kernel.loc, math.constant(0),
                                 math.constant(size), math.constant(1));
  OpBuilder::InsertionGuard guard(kernel.builder);
  kernel.builder.setInsertionPointToStart(loop.getBody());
  return body(loop.getInductionVar());
}

/// Reductions that have equally many accumulators, or one, share a loop.
SmallVector<SmallVector<Operation *>> ReduceKernel::groupReductions() const {
  SmallVector<SmallVector<Operation *>> groups;
  SmallVector<int64_t> counts;
  for (Operation *op : getReductions()) {
    int64_t count = getNumAccumulators(op, inner.size());
    size_t at = 0;
    while (at < groups.size() && count > 1 && counts[at] > 1 &&
           counts[at] != count)
      ++at;
    if (at == groups.size()) {
      groups.emplace_back();
      counts.push_back(count);
    }
    groups[at].push_back(op);
    counts[at] = std::max(counts[at], count);
  }
  return groups;
}

LogicalResult ReduceKernel::emitAlongRows(int64_t &rows) {
  rows = kept.size();
  RowPlan plan{rows, inner.size()};
  for (Operation *op : getReductions()) {
    int64_t count = getNumAccumulators(op, inner.size());
    plan.isSerial |= count == 1;
    plan.accumulators =
        plan.accumulators ? std::min(plan.accumulators, count) : count;
  }
  Value row = kernel.openRows(plan);
  for (ArrayRef<Operation *> ops : groupReductions())
    if (failed(emitRow(row, ops)))
      return failure();
  return success();
}

LogicalResult ReduceKernel::emitRow(Value row, ArrayRef<Operation *> ops) {
  IndexMath math = kernel.math();
  std::vector<std::unique_ptr<Accumulators>> reductions;
  SmallVector<Value> accumulators;
  int64_t count = 1;
  kernel.elements.enter({});
  for (Operation *op : ops) {
    reductions.push_back(std::make_unique<Accumulators>(
        kernel, op, getNumAccumulators(op, inner.size())));
    Accumulators &made = *reductions.back();
    if (failed(made.emitInit()))
      return failure();
    count = std::max(count, made.getSize());
    if (made.getSize() > 1)
      llvm::append_range(accumulators, made.getBuffers());
  }
  SmallVector<Value> indices(dims.rank, math.constant(0));
  place(kept, row, indices);
  auto body = [&](Value at) -> LogicalResult {
    LoopSpace space;
    space.inner = at;
    space.innerShape = inner.shape;
    space.innerIndices = math.delinearize(at, inner.shape);
    for (auto [dim, index] : llvm::zip(inner.dims, space.innerIndices))
      indices[dim] = index;
    kernel.elements.enter(space);
    for (auto &reduction : reductions)
      if (failed(
              reduction->emitStep(math.rem(at, reduction->getSize()), indices)))
        return failure();
    return success();
  };
  LoopRequest request{math.constant(0), math.constant(inner.size()),
                      inner.size(), accumulators, count};
  LogicalResult walked = forEach(outer.size(), [&](Value position) {
    place(outer, position, indices);
    return kernel.emitLoop(request, body);
  });
  if (failed(walked))
    return failure();
  return emitTrees(row, reductions);
}

LogicalResult
ReduceKernel::emitTrees(Value row,
                        ArrayRef<std::unique_ptr<Accumulators>> reductions) {
  for (const std::unique_ptr<Accumulators> &reduction : reductions) {
    FailureOr<SmallVector<Value>> scalars = reduction->emitTree();
    if (failed(scalars))
      return failure();
    for (auto [result, scalar] :
         llvm::zip(reduction->getOp()->getResults(), *scalars))
      if (Value memory = kernel.outputs.lookup(result))
        kernel.writer->emitOnce([&, result = result, scalar = scalar] {
          kernel.elements.store(memory, result.getType(), scalar, row);
        });
  }
  return success();
}

LogicalResult ReduceKernel::emitBlock(Value first, Value last, Value low,
                                      Value count,
                                      ArrayRef<Accumulators *> sums) {
  IndexMath math = kernel.math();
  OpBuilder &builder = kernel.builder;
  auto loop =
      scf::ForOp::create(builder, kernel.loc, first, last, math.constant(1));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  SmallVector<Value> indices(keptIndices);
  place(outer, loop.getInductionVar(), indices);
  auto body = [&](Value at) -> LogicalResult {
    LoopSpace space;
    space.inner = math.add(low, at);
    space.innerShape = inner.shape;
    space.innerIndices = math.delinearize(space.inner, inner.shape);
    for (auto [dim, index] : llvm::zip(inner.dims, space.innerIndices))
      indices[dim] = index;
    kernel.elements.enter(space);
    for (Accumulators *sum : sums)
      if (failed(sum->emitStep(at, indices)))
        return failure();
    return success();
  };
  return kernel.emitLoop({math.constant(0), count, getCount()}, body);
}

/// Positions [first, last) into the lines of `level`: blocks of the level below
/// one after the other, each added to them when it is whole.
LogicalResult ReduceKernel::emitLevel(int64_t level, Value first, Value last,
                                      Value low, Value count) {
  if (level == 0)
    return emitBlock(first, last, low, count, levels[0]);
  IndexMath math = kernel.math();
  OpBuilder &builder = kernel.builder;
  int64_t positions = 1;
  for (int64_t i = 0; i < level; ++i)
    positions *= columnCut;
  Value step = math.constant(positions);
  auto loop = scf::ForOp::create(builder, kernel.loc, first, last, step);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(loop.getBody());
  Value from = loop.getInductionVar();
  Value to =
      arith::MinUIOp::create(builder, kernel.loc, math.add(from, step), last);
  for (auto [sum, part] : llvm::zip(levels[level], levels[level - 1]))
    if (sum != part && failed(part->emitInit()))
      return failure();
  if (failed(emitLevel(level - 1, from, to, low, count)))
    return failure();
  kernel.elements.enter({});
  return kernel.emitLoop(
      {math.constant(0), count, getCount()}, [&, level](Value at) {
        for (auto [sum, part] : llvm::zip(levels[level], levels[level - 1]))
          if (sum != part && failed(sum->emitMerge(at, *part)))
            return failure();
        return success();
      });
}

LogicalResult
ReduceKernel::emitColumns(Value low, Value count,
                          SmallVectorImpl<Accumulators *> &results) {
  IndexMath math = kernel.math();
  int64_t width = std::min(inner.size(), getColumnBlock());
  levels.resize(getColumnLevels(outer.size()) + 1);
  for (Operation *op : getReductions()) {
    // What is ordered has one line for all levels.
    bool hasParts = getNumAccumulators(op, outer.size()) > 1;
    for (auto [level, sums] : llvm::enumerate(levels)) {
      if (level == 0 || hasParts)
        lines.push_back(std::make_unique<Accumulators>(kernel, op, width));
      sums.push_back(lines.back().get());
    }
    results.push_back(lines.back().get());
    if (failed(results.back()->emitInit()))
      return failure();
  }
  return emitLevel(levels.size() - 1, math.constant(0),
                   math.constant(outer.size()), low, count);
}

void ReduceKernel::emitResults(ArrayRef<Accumulators *> sums, Value from,
                               Value to) {
  for (Accumulators *sum : sums)
    for (auto [number, result] : llvm::enumerate(sum->getOp()->getResults()))
      if (Value memory = kernel.outputs.lookup(result))
        kernel.elements.store(memory, result.getType(),
                              sum->emitLoad(number, from), to);
}

LogicalResult ReduceKernel::emitAlongColumns(int64_t &rows) {
  IndexMath math = kernel.math();
  OpBuilder &builder = kernel.builder;
  int64_t columnBlock = getColumnBlock();
  int64_t blocks = llvm::divideCeil(inner.size(), columnBlock);
  rows = kept.size() * blocks;
  Value row = kernel.openRows({rows, std::min(inner.size(), columnBlock)});
  Value keptAt = math.div(row, blocks);
  Value low = math.mul(math.rem(row, blocks), columnBlock);
  Value count = math.constant(inner.size());
  if (columnBlock == 1) {
    count = math.constant(1);
  } else if (blocks > 1) {
    Value rest = builder.createOrFold<arith::SubIOp>(kernel.loc, count, low);
    count = arith::MinUIOp::create(builder, kernel.loc, rest,
                                   math.constant(columnBlock));
  }
  keptIndices.assign(dims.rank, math.constant(0));
  place(kept, keptAt, keptIndices);
  kernel.elements.enter({});
  SmallVector<Accumulators *> results;
  if (failed(emitColumns(low, count, results)))
    return failure();
  Value start = math.add(math.mul(keptAt, inner.size()), low);
  return kernel.emitLoop({math.constant(0), count, getCount()}, [&](Value at) {
    emitResults(results, at, math.add(start, at));
    return success();
  });
}

} // namespace

ReduceDims::ReduceDims(Operation *reduction) {
  auto op = cast<graph::KernelOpInterface>(reduction);
  ArrayRef<int64_t> shape =
      cast<RankedTensorType>(op->getOperand(0).getType()).getShape();
  rank = shape.size();
  SmallVector<bool> reduced(rank, false);
  for (int64_t dim : op.getReduction().dims)
    reduced[dim] = true;
  int64_t last = rank - 1;
  while (last >= 0 && shape[last] == 1)
    --last;
  alongRows = last < 0 || reduced[last];
  // The trailing dims of one kind; dims of size 1 are of either.
  int64_t tail = rank;
  while (tail > 0 && (shape[tail - 1] == 1 || reduced[tail - 1] == alongRows))
    --tail;
  for (int64_t dim = 0; dim < rank; ++dim) {
    bool inTail = dim >= tail && reduced[dim] == alongRows;
    (inTail ? inner : reduced[dim] ? outer : kept).add(dim, shape[dim]);
  }
}

LogicalResult emitReduce(KernelBody &kernel, int64_t &rows) {
  return ReduceKernel(kernel).emit(rows);
}

} // namespace llmc::kernels
