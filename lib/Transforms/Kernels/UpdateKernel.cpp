//===- UpdateKernel.cpp - Some elements combined in place -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An Update walks its updates in row-major order, one after the other, and
// changes the elements that they go to; the result is the operand's buffer. The
// innermost dim runs in vectors where its updates go to neighbouring elements.
//
//   for u in updates: t = target(u); if in bounds: y[t] = combine(y[t], u)
//
// Updates that read what others have written are walked in the order that the
// op gives: a row of the kernel is what is apart from all else.
//
//   for s in steps: for u in the rest of s: y[t(u)] = combine(y[t(u)], y, u)
//
// Where a target has stages (KernelStages.h), what comes here are updates that
// go to elements of their own, and each is a row of the kernel.
//
// Test: test/Transforms/Kernels/loops.mlir
//
//===----------------------------------------------------------------------===//

#include "UpdateCode.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;

namespace llmc::kernels {

//===----------------------------------------------------------------------===//
// One update
//===----------------------------------------------------------------------===//

/// An element of an operand, of the changed one as it stands. Zero where it has
/// no code, which keeps the op's own code well formed; the kernel is dropped.
Value UpdateCode::getSource(unsigned operand, ValueRange at) {
  if (op.getUpdateOrder() && operand == op.getChangedOperand()) {
    bool inPlace = false;
    return kernel.elements.load(
        kernel.outputs.lookup(op->getResult(0)), getType(),
        kernel.elements.linearize(getType().getShape(), at, inPlace));
  }
  if (Value element = kernel.elements.getOperand(op, operand, at))
    return element;
  sourceFailed = true;
  Type type = getScalarType(op->getOperand(operand).getType());
  return arith::ConstantOp::create(kernel.builder, kernel.loc,
                                   kernel.builder.getZeroAttr(type));
}

FailureOr<graph::UpdateTarget> UpdateCode::getTarget(ValueRange indices) {
  auto source = [&](unsigned operand, ValueRange at) {
    return getSource(operand, at);
  };
  graph::UpdateTarget target =
      op.emitUpdateTarget(kernel.builder, kernel.loc, indices, source);
  if (sourceFailed)
    return failure();
  return target;
}

FailureOr<Value> UpdateCode::combine(Value old, ValueRange indices) {
  auto source = [&](unsigned operand, ValueRange at) {
    return getSource(operand, at);
  };
  Value fresh =
      op.emitUpdateElement(kernel.builder, kernel.loc, old, indices, source);
  if (sourceFailed)
    return failure();
  if (!fresh)
    return op.emitError("expected the update step of '")
           << op->getName() << "', got none";
  return fresh;
}

LogicalResult UpdateCode::emitWrite(const graph::UpdateTarget &target,
                                    ValueRange indices) {
  Value memory = kernel.outputs.lookup(op->getResult(0));
  bool inPlace = false;
  Value position =
      kernel.elements.linearize(getType().getShape(), target.indices, inPlace);
  Value old = kernel.elements.load(memory, getType(), position);
  FailureOr<Value> fresh = combine(old, indices);
  if (failed(fresh))
    return failure();
  kernel.elements.store(memory, getType(), *fresh, position);
  return success();
}

LogicalResult UpdateCode::emitOne(ValueRange indices) {
  FailureOr<graph::UpdateTarget> target = getTarget(indices);
  if (failed(target))
    return failure();
  if (!target->inBounds)
    return emitWrite(*target, indices);
  auto guarded = scf::IfOp::create(kernel.builder, kernel.loc, target->inBounds,
                                   /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(kernel.builder);
  kernel.builder.setInsertionPoint(guarded.thenBlock()->getTerminator());
  return emitWrite(*target, indices);
}

//===----------------------------------------------------------------------===//
// All updates
//===----------------------------------------------------------------------===//

/// Each by itself.
static LogicalResult emitEach(KernelBody &kernel, ArrayRef<int64_t> shape,
                              int64_t &rows) {
  rows = getNumElements(shape);
  RowPlan plan{rows};
  plan.isSerial = true;
  LoopSpace space;
  space.inner = kernel.openRows(plan);
  space.innerShape.assign(shape.begin(), shape.end());
  space.innerIndices = kernel.math().delinearize(space.inner, shape);
  kernel.elements.enter(space);
  return UpdateCode(kernel).emitOne(space.innerIndices);
}

/// One after the other.
static LogicalResult emitAll(KernelBody &kernel, ArrayRef<int64_t> shape) {
  IndexMath math = kernel.math();
  UpdateCode code(kernel);
  RowPlan plan;
  plan.columns = shape.empty() ? 1 : shape.back();
  plan.isSerial = true;
  kernel.openRows(plan);
  if (shape.empty()) {
    kernel.elements.enter({});
    return code.emitOne({});
  }
  ArrayRef<int64_t> outer = shape.drop_back();
  auto loop = scf::ForOp::create(kernel.builder, kernel.loc, math.constant(0),
                                 math.constant(getNumElements(outer)),
                                 math.constant(1));
  kernel.builder.setInsertionPointToStart(loop.getBody());
  LoopSpace space;
  space.rowShape.assign(outer.begin(), outer.end());
  space.row = loop.getInductionVar();
  space.rowIndices = math.delinearize(space.row, outer);
  space.innerShape.assign(1, shape.back());
  auto body = [&](Value at) {
    space.inner = at;
    space.innerIndices.assign(1, at);
    kernel.elements.enter(space);
    return code.emitOne(space.getIndices());
  };
  return kernel.emitLoop(
      {math.constant(0), math.constant(shape.back()), shape.back()}, body);
}

/// Those that differ in their last dims alone, at `space` of the dims before:
/// where threads are many, of all these dims together.
static LogicalResult emitStep(KernelBody &kernel, LoopSpace space,
                              ArrayRef<int64_t> shape) {
  IndexMath math = kernel.math();
  UpdateCode code(kernel);
  size_t outer = kernel.writer->getStageWriter() ? 0 : shape.size() - 1;
  OpBuilder::InsertionGuard guard(kernel.builder);
  for (int64_t size : shape.take_front(outer)) {
    auto loop = scf::ForOp::create(kernel.builder, kernel.loc, math.constant(0),
                                   math.constant(size), math.constant(1));
    kernel.builder.setInsertionPointToStart(loop.getBody());
    space.rowIndices.push_back(loop.getInductionVar());
  }
  ArrayRef<int64_t> inner = shape.drop_front(outer);
  int64_t count = getNumElements(inner);
  auto body = [&](Value at) {
    space.innerIndices = math.delinearize(at, inner);
    kernel.elements.enter(space);
    return code.emitOne(space.getIndices());
  };
  return kernel.emitLoop({math.constant(0), math.constant(count), count}, body);
}

/// Step after step (UpdateOrder), of each row of what is apart.
static LogicalResult emitOrdered(KernelBody &kernel, ArrayRef<int64_t> shape,
                                 graph::UpdateOrder order, int64_t &rows) {
  IndexMath math = kernel.math();
  ArrayRef<int64_t> apart = shape.take_front(order.apart),
                    steps = shape.slice(order.apart, order.ordered),
                    rest = shape.drop_front(order.apart + order.ordered);
  rows = getNumElements(apart);
  Value row = kernel.openRows({rows, getNumElements(rest)});
  auto loop = scf::ForOp::create(kernel.builder, kernel.loc, math.constant(0),
                                 math.constant(getNumElements(steps)),
                                 math.constant(1));
  kernel.builder.setInsertionPointToStart(loop.getBody());
  LoopSpace space;
  space.rowIndices = math.delinearize(row, apart);
  llvm::append_range(space.rowIndices,
                     math.delinearize(loop.getInductionVar(), steps));
  if (failed(emitStep(kernel, space, rest)))
    return failure();
  // The next step reads what this one has stored.
  kernel.writer->publish();
  return success();
}

LogicalResult emitUpdate(KernelBody &kernel, int64_t &rows) {
  auto op = cast<graph::KernelOpInterface>(kernel.spec.aligned.front());
  SmallVector<int64_t> shape = op.getUpdateShape();
  if (std::optional<graph::UpdateOrder> order = op.getUpdateOrder())
    return emitOrdered(kernel, shape, *order, rows);
  if (kernel.writer->getStageWriter() && getNumElements(shape) > 0)
    return emitEach(kernel, shape, rows);
  return emitAll(kernel, shape);
}

} // namespace llmc::kernels
