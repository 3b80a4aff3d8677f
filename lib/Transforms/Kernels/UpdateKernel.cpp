//===- UpdateKernel.cpp - Some elements combined in place -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An Update walks its updates in row-major order, one after the other, and
// changes the elements that they go to; the result is operand 0's buffer. The
// innermost dim runs in vectors where its updates go to neighbouring elements.
//
//   for u in updates: t = target(u); if in bounds: y[t] = combine(y[t], u)
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

class UpdateKernel {
public:
  explicit UpdateKernel(KernelBody &kernel)
      : kernel(kernel),
        op(cast<graph::KernelOpInterface>(kernel.spec.aligned.front())),
        memory(kernel.outputs.lookup(op->getResult(0))) {}

  LogicalResult emit();

private:
  Value getSource(unsigned operand, ValueRange at);
  LogicalResult emitOne(ValueRange indices);
  LogicalResult emitWrite(const graph::UpdateTarget &target,
                          ValueRange indices);

  KernelBody &kernel;
  graph::KernelOpInterface op;
  Value memory;
  bool sourceFailed = false;
};

/// An element of an operand. Zero where it has no code, which keeps the op's
/// own code well formed; the kernel is dropped.
Value UpdateKernel::getSource(unsigned operand, ValueRange at) {
  if (Value element = kernel.elements.getOperand(op, operand, at))
    return element;
  sourceFailed = true;
  Type type = getScalarType(op->getOperand(operand).getType());
  return arith::ConstantOp::create(kernel.builder, kernel.loc,
                                   kernel.builder.getZeroAttr(type));
}

LogicalResult UpdateKernel::emitWrite(const graph::UpdateTarget &target,
                                      ValueRange indices) {
  auto source = [&](unsigned operand, ValueRange at) {
    return getSource(operand, at);
  };
  auto type = cast<RankedTensorType>(op->getResult(0).getType());
  bool inPlace = false;
  Value position =
      kernel.elements.linearize(type.getShape(), target.indices, inPlace);
  Value old = kernel.elements.load(memory, type, position);
  Value fresh =
      op.emitUpdateElement(kernel.builder, kernel.loc, old, indices, source);
  if (!fresh || sourceFailed)
    return sourceFailed ? failure()
                        : op.emitError("expected the update step of '")
                              << op->getName() << "', got none";
  kernel.elements.store(memory, type, fresh, position);
  return success();
}

LogicalResult UpdateKernel::emitOne(ValueRange indices) {
  auto source = [&](unsigned operand, ValueRange at) {
    return getSource(operand, at);
  };
  graph::UpdateTarget target =
      op.emitUpdateTarget(kernel.builder, kernel.loc, indices, source);
  if (sourceFailed)
    return failure();
  if (!target.inBounds)
    return emitWrite(target, indices);
  auto guarded = scf::IfOp::create(kernel.builder, kernel.loc, target.inBounds,
                                   /*withElseRegion=*/false);
  OpBuilder::InsertionGuard guard(kernel.builder);
  kernel.builder.setInsertionPoint(guarded.thenBlock()->getTerminator());
  return emitWrite(target, indices);
}

LogicalResult UpdateKernel::emit() {
  IndexMath math = kernel.math();
  SmallVector<int64_t> shape = op.getUpdateShape();
  RowPlan plan;
  plan.columns = shape.empty() ? 1 : shape.back();
  plan.isSerial = true;
  kernel.openRows(plan);
  if (shape.empty()) {
    kernel.elements.enter({});
    return emitOne({});
  }
  ArrayRef<int64_t> outer = ArrayRef<int64_t>(shape).drop_back();
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
    return emitOne(space.getIndices());
  };
  return kernel.emitLoop(
      {math.constant(0), math.constant(shape.back()), shape.back()}, body);
}

} // namespace

LogicalResult emitUpdate(KernelBody &kernel) {
  return UpdateKernel(kernel).emit();
}

} // namespace llmc::kernels
