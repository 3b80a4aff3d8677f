//===- RowKernel.cpp - Row-aligned ops as one loop over rows --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The level of a value is the number of row reductions that it waits for; each
// level has one inner loop over the columns (one for each inner shape).
//
//   layer norm:  level 0  sum of x
//                level 1  mean; sum of (x - mean)^2
//                level 2  1/sigma; (x - mean) * 1/sigma * gamma + beta
//
// Row values are scalars between the inner loops. A value with transcendental
// functions that a later level reads again is kept in a scratch row, any other
// is computed again from what it was computed from. Code without reductions is
// one flat loop over elements where its addresses are linear in it.
//
// Test: test/Transforms/Kernels/loops.mlir
//
//===----------------------------------------------------------------------===//

#include "LoopEmission.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace llmc::kernels {

namespace {

class RowKernel {
public:
  RowKernel(KernelBody &kernel, ArrayRef<int64_t> rowShape)
      : kernel(kernel), rowShape(rowShape) {}

  LogicalResult emit();

private:
  /// What one inner loop computes.
  struct InnerLoop {
    SmallVector<int64_t> shape;
    SmallVector<Value> stored;
    SmallVector<Operation *> reductions;
    /// Of its reductions; 1 where all are ordered, or there are none.
    int64_t numAccumulators = 1;
  };

  bool isReduction(Operation *op) const {
    return cast<graph::KernelOpInterface>(op).getKernelForm() ==
               graph::KernelForm::Reduction &&
           !isElementwise(op);
  }
  /// Whether what a later loop reads again is kept.
  static bool isExpensive(Operation *op) {
    auto cost = dyn_cast<graph::CostOpInterface>(op);
    return cost && cost.getCost().transcendentals > 0;
  }
  /// One element for each row. Only asked of values of aligned ops.
  bool isRowValue(Value value) const {
    return cast<RankedTensorType>(value.getType()).getNumElements() ==
           getNumElements(rowShape);
  }
  ArrayRef<int64_t> getInnerShape(Value value) const {
    return cast<RankedTensorType>(value.getType())
        .getShape()
        .drop_front(rowShape.size());
  }
  bool isOutput(Value value) const { return kernel.outputs.count(value); }

  RowPlan plan() const;
  void computeLevels();
  LogicalResult emitRowScalars(int level);
  SmallVector<InnerLoop> collectLoops(int level);
  LogicalResult emitInnerLoop(const InnerLoop &loop);
  LogicalResult finishReduction(Accumulators &accumulators);
  LogicalResult setRowScalar(Value value, Value scalar);

  KernelBody &kernel;
  SmallVector<int64_t> rowShape;
  LoopSpace rowSpace;
  /// Level at which an op runs; its results wait for one more if it reduces.
  llvm::DenseMap<Operation *, int> opLevel;
  llvm::DenseMap<Value, int> lastUse;
  llvm::DenseMap<Value, Value> scratch;
  int maxLevel = 0;
};

void RowKernel::computeLevels() {
  llvm::DenseMap<Value, int> level;
  for (Operation *op : kernel.spec.ops) {
    int at = 0;
    for (Value operand : op->getOperands())
      at = std::max(at, level.lookup(operand));
    opLevel[op] = at;
    maxLevel = std::max(maxLevel, at);
    for (Value result : op->getResults())
      level[result] = at + (isReduction(op) ? 1 : 0);
  }
  for (Operation *op : llvm::reverse(kernel.spec.ops)) {
    // The last level at which this op's code runs: its own when the value is
    // stored, else whenever it is asked for.
    int last = opLevel[op];
    bool stored =
        isReduction(op) || llvm::any_of(op->getResults(), [&](Value result) {
          return isOutput(result) || scratch.count(result) ||
                 (kernel.spec.aligned.contains(op) && isRowValue(result));
        });
    for (Value result : op->getResults())
      last = stored ? last : std::max(last, lastUse.lookup(result));
    bool expensive = isExpensive(op);
    for (Value result : op->getResults()) {
      if (stored || !expensive || last <= opLevel[op] ||
          !kernel.spec.aligned.contains(op))
        continue;
      Value row = kernel.writer->makeRow(getMemoryType(result.getType()),
                                         getNumElements(getInnerShape(result)));
      if (!row)
        continue;
      scratch[result] = row;
      last = opLevel[op];
    }
    for (Value operand : op->getOperands())
      lastUse[operand] = std::max(lastUse.lookup(operand), last);
  }
}

LogicalResult RowKernel::setRowScalar(Value value, Value scalar) {
  if (!scalar)
    return failure();
  kernel.elements.addRowScalar(value, scalar);
  if (!isOutput(value))
    return success();
  SmallVector<Value> indices(rowSpace.rowIndices);
  indices.resize(cast<RankedTensorType>(value.getType()).getRank(),
                 kernel.math().constant(0));
  kernel.elements.enter(rowSpace);
  kernel.writer->emitOnce([&] { kernel.storeOutput(value, scalar, indices); });
  return success();
}

LogicalResult RowKernel::emitRowScalars(int level) {
  for (Operation *op : kernel.spec.ops) {
    if (opLevel[op] != level || isReduction(op) ||
        !kernel.spec.aligned.contains(op))
      continue;
    for (Value result : op->getResults()) {
      if (!isRowValue(result))
        continue;
      SmallVector<Value> indices(rowSpace.rowIndices);
      indices.resize(cast<RankedTensorType>(result.getType()).getRank(),
                     kernel.math().constant(0));
      kernel.elements.enter(rowSpace);
      if (failed(setRowScalar(result, kernel.elements.get(result, indices))))
        return failure();
    }
  }
  return success();
}

SmallVector<RowKernel::InnerLoop> RowKernel::collectLoops(int level) {
  SmallVector<InnerLoop> loops;
  auto find = [&](ArrayRef<int64_t> shape, int64_t count) -> InnerLoop & {
    for (InnerLoop &loop : loops) {
      if (ArrayRef<int64_t>(loop.shape) != shape ||
          (count > 1 && loop.numAccumulators > 1 &&
           loop.numAccumulators != count))
        continue;
      loop.numAccumulators = std::max(loop.numAccumulators, count);
      return loop;
    }
    loops.push_back({SmallVector<int64_t>(shape), {}, {}, count});
    return loops.back();
  };
  for (Operation *op : kernel.spec.ops) {
    if (opLevel[op] != level || !kernel.spec.aligned.contains(op))
      continue;
    if (isReduction(op)) {
      ArrayRef<int64_t> shape = getInnerShape(op->getOperand(0));
      find(shape, getNumAccumulators(op, getNumElements(shape)))
          .reductions.push_back(op);
      continue;
    }
    for (Value result : op->getResults())
      if (!isRowValue(result) && (isOutput(result) || scratch.count(result)))
        find(getInnerShape(result), 1).stored.push_back(result);
  }
  return loops;
}

LogicalResult RowKernel::finishReduction(Accumulators &accumulators) {
  FailureOr<SmallVector<Value>> scalars = accumulators.emitTree();
  if (failed(scalars))
    return failure();
  for (auto [result, scalar] :
       llvm::zip(accumulators.getOp()->getResults(), *scalars))
    if (failed(setRowScalar(result, scalar)))
      return failure();
  return success();
}

LogicalResult RowKernel::emitInnerLoop(const InnerLoop &loop) {
  int64_t count = getNumElements(loop.shape);
  IndexMath math = kernel.math();
  std::vector<std::unique_ptr<Accumulators>> reductions;
  SmallVector<Value> accumulators;
  for (Operation *op : loop.reductions) {
    reductions.push_back(std::make_unique<Accumulators>(
        kernel, op, getNumAccumulators(op, count)));
    kernel.elements.enter(rowSpace);
    if (failed(reductions.back()->emitInit()))
      return failure();
    if (reductions.back()->getSize() > 1)
      llvm::append_range(accumulators, reductions.back()->getBuffers());
  }
  auto body = [&](Value position) -> LogicalResult {
    LoopSpace space = rowSpace;
    space.innerShape = loop.shape;
    space.inner = position;
    space.innerIndices = math.delinearize(position, loop.shape);
    kernel.elements.enter(space);
    SmallVector<Value> indices = space.getIndices();
    for (auto &reduction : reductions)
      if (failed(reduction->emitStep(math.rem(position, reduction->getSize()),
                                     indices)))
        return failure();
    // All reads come first: an output may lie on what another one reads.
    SmallVector<Value> scalars;
    for (Value value : loop.stored)
      scalars.push_back(kernel.elements.get(value, indices));
    if (llvm::is_contained(scalars, Value()))
      return failure();
    for (auto [value, scalar] : llvm::zip(loop.stored, scalars)) {
      if (Value row = scratch.lookup(value))
        kernel.elements.store(row, value.getType(), scalar, position);
      else
        kernel.storeOutput(value, scalar, indices);
    }
    return success();
  };
  LoopRequest request{math.constant(0), math.constant(count), count,
                      accumulators, loop.numAccumulators};
  if (failed(kernel.emitLoop(request, body)))
    return failure();
  for (Value value : loop.stored) {
    if (Value row = scratch.lookup(value))
      kernel.elements.addScratchRow(value, row);
    else
      kernel.elements.addBuffer(value, kernel.outputs.lookup(value));
  }
  for (auto &reduction : reductions)
    if (failed(finishReduction(*reduction)))
      return failure();
  return success();
}

RowPlan RowKernel::plan() const {
  RowPlan plan{getNumElements(rowShape)};
  for (Operation *op : kernel.spec.aligned) {
    for (Value result : op->getResults()) {
      int64_t columns = getNumElements(getInnerShape(result));
      if (isRowValue(result))
        continue;
      plan.columns = std::max(plan.columns, columns);
      unsigned bits = getMemoryType(result.getType()).getIntOrFloatBitWidth();
      if (isExpensive(op))
        plan.keptBytes +=
            llvm::alignTo(columns * llvm::divideCeil(bits, 8), 64);
    }
    if (!isReduction(op))
      continue;
    int64_t length = getNumElements(getInnerShape(op->getOperand(0)));
    int64_t count = getNumAccumulators(op, length);
    plan.columns = std::max(plan.columns, length);
    plan.isSerial |= count == 1;
    plan.accumulators =
        plan.accumulators ? std::min(plan.accumulators, count) : count;
  }
  return plan;
}

LogicalResult RowKernel::emit() {
  Value row = kernel.openRows(plan());
  computeLevels();
  rowSpace.rowShape = rowShape;
  rowSpace.row = row;
  rowSpace.rowIndices = kernel.math().delinearize(row, rowShape);
  for (int level = 0; level <= maxLevel; ++level) {
    kernel.writer->publish();
    if (failed(emitRowScalars(level)))
      return failure();
    for (const InnerLoop &loop : collectLoops(level))
      if (failed(emitInnerLoop(loop)))
        return failure();
  }
  return success();
}

/// True when some effect depends on `value`.
bool isLive(Value value) {
  return llvm::any_of(value.getUsers(), [](Operation *user) {
    if (!isMemoryEffectFree(user) || user->hasTrait<OpTrait::IsTerminator>())
      return true;
    return llvm::any_of(user->getResults(), isLive);
  });
}

/// One loop over the elements [begin, end) of `shape`. `linear` is cleared
/// when an address or value needs the indices rather than the position.
LogicalResult emitFlat(KernelBody &kernel, ArrayRef<int64_t> shape,
                       bool &linear) {
  auto body = [&](Value position) -> LogicalResult {
    LoopSpace space;
    space.innerShape.assign(shape.begin(), shape.end());
    space.inner = position;
    space.innerIndices = kernel.math().delinearize(position, shape);
    kernel.elements.enter(space);
    SmallVector<Value> scalars;
    for (Value output : kernel.spec.outputs)
      scalars.push_back(kernel.elements.get(output, space.innerIndices));
    if (llvm::is_contained(scalars, Value()))
      return failure();
    for (auto [output, scalar] : llvm::zip(kernel.spec.outputs, scalars))
      kernel.storeOutput(output, scalar, space.innerIndices);
    for (Value index : space.innerIndices)
      linear &= index == position || index.getDefiningOp<arith::ConstantOp>() ||
                !isLive(index);
    return success();
  };
  return kernel.writer->emitFlat(getNumElements(shape), kernel.begin,
                                 kernel.end, body);
}

} // namespace

LogicalResult emitRows(KernelBody &kernel, ArrayRef<int64_t> rowShape,
                       int64_t &rows) {
  RowKernel body(kernel, rowShape);
  rows = getNumElements(rowShape);
  return body.emit();
}

LogicalResult emitElements(KernelBody &kernel, int64_t &rows, bool &linear) {
  auto type = cast<RankedTensorType>(kernel.spec.outputs[0].getType());
  rows = type.getNumElements();
  return emitFlat(kernel, type.getShape(), linear);
}

} // namespace llmc::kernels
