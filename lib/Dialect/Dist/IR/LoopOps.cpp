//===- LoopOps.cpp - What goes into a loop and comes out of it ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/Dialect/Dist/loops.mlir and invalid-loops.mlir.
//
//===----------------------------------------------------------------------===//

#include "llmc/Dialect/Dist/IR/LoopRuns.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace llmc::dist;

/// The shape of what has a row of `shape` for each trip.
static SmallVector<int64_t> getStacked(ArrayRef<int64_t> shape, int64_t trips) {
  SmallVector<int64_t> stacked = {trips};
  llvm::append_range(stacked, shape);
  return stacked;
}

/// Shape and element type are as wanted, whatever the layouts.
static LogicalResult verifyTensor(Operation *op, RankedTensorType type,
                                  ArrayRef<int64_t> shape, Type element,
                                  StringRef what) {
  if (type.getShape() == shape && type.getElementType() == element)
    return success();
  return op->emitOpError() << "expected " << what << " of "
                           << RankedTensorType::get(shape, element) << ", got "
                           << type;
}

//===----------------------------------------------------------------------===//
// Enter
//===----------------------------------------------------------------------===//

void EnterOp::build(OpBuilder &builder, OperationState &state, Value input,
                    EnterKind kind, LoopAttr loop, int64_t number) {
  auto type = cast<RankedTensorType>(input.getType());
  if (kind == EnterKind::Row)
    type = RankedTensorType::get(type.getShape().drop_front(),
                                 type.getElementType());
  build(builder, state, type, input,
        EnterKindAttr::get(builder.getContext(), kind), loop,
        number < 0 ? IntegerAttr() : builder.getI64IntegerAttr(number));
}

NextOp EnterOp::getNext() {
  for (Operation *user : getResult().getUsers())
    if (auto next = dyn_cast<NextOp>(user);
        next && next.getCarried() == getResult())
      return next;
  return {};
}

/// No trip has a number, and the condition is a flag.
LogicalResult EnterOp::verifyConditional() {
  if (!getLoop().getConditional())
    return success();
  if (isRow())
    return emitOpError() << "expected no rows in a conditional loop";
  if (!findCondition(*(*this)->getBlock(), getLoop()))
    return emitOpError() << "expected a carried value with number "
                         << LoopAttr::kCondition << ", the loop's condition";
  auto type = cast<RankedTensorType>(getResult().getType());
  if (isCondition() &&
      (type.getRank() != 0 || !type.getElementType().isInteger(1)))
    return emitOpError() << "expected a condition of tensor<i1>, got " << type;
  return success();
}

LogicalResult EnterOp::verify() {
  auto from = cast<RankedTensorType>(getInput().getType());
  auto to = cast<RankedTensorType>(getResult().getType());
  if (getNumber().has_value() != isCarry() || (isCarry() && *getNumber() < 0))
    return emitOpError() << "expected a number, at least 0, exactly of a "
                            "carried value";
  if (failed(verifyConditional()))
    return failure();
  if (isRow() &&
      (from.getRank() == 0 || from.getDimSize(0) != getLoop().getTrips()))
    return emitOpError() << "expected an input with " << getLoop().getTrips()
                         << " rows, one for each trip, got " << from;
  ArrayRef<int64_t> shape = from.getShape();
  if (failed(verifyTensor(*this, to, isRow() ? shape.drop_front() : shape,
                          from.getElementType(), "a result")))
    return failure();
  auto closing = llvm::count_if(getResult().getUses(), [](OpOperand &use) {
    return isa<NextOp>(use.getOwner()) && use.getOperandNumber() == 0;
  });
  // Of a loop with several segments, one has the 'dist.next'.
  bool isOpen = closing == 0 && isa<SegmentOp>((*this)->getParentOp());
  if (isCarry() ? closing != 1 && !isOpen : closing != 0)
    return emitOpError() << "expected one 'dist.next' of a carried value, and "
                            "none of others, got "
                         << closing;
  return success();
}

//===----------------------------------------------------------------------===//
// Next and leave
//===----------------------------------------------------------------------===//

LogicalResult NextOp::verify() {
  EnterOp enter = getEnter();
  if (!enter || !enter.isCarry())
    return emitOpError() << "expected to follow a 'dist.enter carry'";
  for (Operation *user : getResult().getUsers())
    if (auto leave = dyn_cast<LeaveOp>(user);
        !isa<YieldOp>(user) && (!leave || !leave.isLast()))
      return emitOpError() << "expected to be read by 'dist.leave last' alone, "
                              "got '"
                           << user->getName() << "'";
  return success();
}

void LeaveOp::build(OpBuilder &builder, OperationState &state, Value input,
                    LeaveKind kind, LoopAttr loop) {
  auto type = cast<RankedTensorType>(input.getType());
  if (kind == LeaveKind::Stack)
    type = RankedTensorType::get(getStacked(type.getShape(), loop.getTrips()),
                                 type.getElementType());
  build(builder, state, type, input,
        LeaveKindAttr::get(builder.getContext(), kind), loop);
}

LogicalResult LeaveOp::verify() {
  if (getLoop().getConditional() && !isLast())
    return emitOpError() << "expected only last values of a conditional loop";
  auto from = cast<RankedTensorType>(getInput().getType());
  auto to = cast<RankedTensorType>(getResult().getType());
  SmallVector<int64_t> shape(from.getShape());
  if (isStack())
    shape = getStacked(from.getShape(), getLoop().getTrips());
  return verifyTensor(*this, to, shape, from.getElementType(), "a result");
}
