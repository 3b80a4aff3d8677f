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
// Where the column of an update is the column that it goes to, columns have
// nothing to do with each other, and a target may take each for a row of the
// kernel: the updates of a column still come in order.
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

  LogicalResult emit(int64_t &rows);

private:
  bool keepsColumns(ArrayRef<int64_t> shape);
  LogicalResult emitColumn(ArrayRef<int64_t> shape);
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

/// Whether `value`, of code in one block, depends on one of `on`.
static bool dependsOn(Value value, const llvm::DenseSet<Value> &on) {
  SmallVector<Value> pending = {value};
  llvm::DenseSet<Value> seen;
  while (!pending.empty()) {
    Value next = pending.pop_back_val();
    if (on.contains(next))
      return true;
    Operation *maker =
        seen.insert(next).second ? next.getDefiningOp() : nullptr;
    if (maker && maker->getNumRegions())
      return true;
    if (maker)
      llvm::append_range(pending, maker->getOperands());
  }
  return false;
}

/// Asks for the target of made-up indices: the last one is that of the update,
/// and no other depends on it.
bool UpdateKernel::keepsColumns(ArrayRef<int64_t> shape) {
  Block block;
  OpBuilder builder(op->getContext());
  builder.setInsertionPointToStart(&block);
  SmallVector<Value> indices;
  for (size_t dim = 0; dim < shape.size(); ++dim)
    indices.push_back(block.addArgument(builder.getIndexType(), kernel.loc));
  llvm::DenseSet<Value> ofColumn = {indices.back()};
  auto source = [&](unsigned operand, ValueRange at) -> Value {
    Value element = block.addArgument(
        getScalarType(op->getOperand(operand).getType()), kernel.loc);
    for (Value index : at)
      if (dependsOn(index, ofColumn))
        ofColumn.insert(element);
    return element;
  };
  graph::UpdateTarget target =
      op.emitUpdateTarget(builder, kernel.loc, indices, source);
  if (target.indices.empty() || target.indices.back() != indices.back())
    return false;
  return llvm::none_of(ArrayRef<Value>(target.indices).drop_back(),
                       [&](Value index) { return dependsOn(index, ofColumn); });
}

/// All updates of the kernel's row, which is a column of them.
LogicalResult UpdateKernel::emitColumn(ArrayRef<int64_t> shape) {
  IndexMath math = kernel.math();
  RowPlan plan{shape.back()};
  plan.isSerial = true;
  Value column = kernel.openRows(plan);
  ArrayRef<int64_t> outer = shape.drop_back();
  LoopRequest request{math.constant(0), math.constant(getNumElements(outer)),
                      getNumElements(outer)};
  return kernel.emitLoop(request, [&](Value at) {
    LoopSpace space;
    space.rowShape.assign(outer.begin(), outer.end());
    space.row = at;
    space.rowIndices = math.delinearize(at, outer);
    space.innerShape.assign(1, shape.back());
    space.inner = column;
    space.innerIndices.assign(1, column);
    kernel.elements.enter(space);
    return emitOne(space.getIndices());
  });
}

LogicalResult UpdateKernel::emit(int64_t &rows) {
  IndexMath math = kernel.math();
  SmallVector<int64_t> shape = op.getUpdateShape();
  if (!shape.empty() && kernel.target.prefersUpdateColumns() &&
      keepsColumns(shape)) {
    rows = shape.back();
    return emitColumn(shape);
  }
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

LogicalResult emitUpdate(KernelBody &kernel, int64_t &rows) {
  return UpdateKernel(kernel).emit(rows);
}

} // namespace llmc::kernels
