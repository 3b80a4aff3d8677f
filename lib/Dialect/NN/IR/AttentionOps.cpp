//===- AttentionOps.cpp - Builders and verifiers of attention -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Types are compared without their encodings, as in NNOps.cpp. Tested by
// test/Dialect/NN/invalid-attention.mlir.
//
//===----------------------------------------------------------------------===//

#include "llmc/Dialect/NN/IR/NN.h"

using namespace mlir;
using namespace llmc::nn;

/// The type of logsumexp and delta.
static Type getRowsElement(Type element) {
  return element.isF64() ? element : Float32Type::get(element.getContext());
}

template <typename Op> static SmallVector<int64_t> getScoreShapeOf(Op op) {
  SmallVector<int64_t> shape(op.getQuery().getType().getShape());
  ArrayRef<int64_t> key = op.getKey().getType().getShape();
  shape.back() = key[key.size() - 2];
  return shape;
}

SmallVector<int64_t> AttentionOp::getScoreShape() {
  return getScoreShapeOf(*this);
}

SmallVector<int64_t> AttentionGradOp::getScoreShape() {
  return getScoreShapeOf(*this);
}

/// The query's dims with those of the value's rows in place of the depth.
template <typename Op> static SmallVector<int64_t> getResultShape(Op op) {
  SmallVector<int64_t> shape(op.getQuery().getType().getShape());
  shape.back() = op.getValue().getType().getShape().back();
  return shape;
}

//===----------------------------------------------------------------------===//
// Verifiers
//===----------------------------------------------------------------------===//

static LogicalResult verifyTensor(Operation *op, StringRef name, Value value,
                                  ArrayRef<int64_t> shape, Type element) {
  auto type = cast<RankedTensorType>(value.getType());
  if (type.getShape() == shape && type.getElementType() == element)
    return success();
  return op->emitOpError() << "expected " << name << " of shape [" << shape
                           << "] and element type " << element << ", got "
                           << type;
}

/// Ranks, batches and element types of query, key and value.
template <typename Op> static LogicalResult verifyOperands(Op op) {
  RankedTensorType query = op.getQuery().getType(), key = op.getKey().getType(),
                   value = op.getValue().getType();
  if (key.getRank() < 2 || query.getRank() < key.getRank() ||
      value.getRank() != key.getRank())
    return op.emitOpError() << "expected a key of rank 2 at least, a value of "
                               "its rank and a query of no less, got ranks "
                            << key.getRank() << ", " << value.getRank()
                            << " and " << query.getRank();
  SmallVector<int64_t> keys(query.getShape().take_front(op.getNumBatches()));
  keys.append({key.getDimSize(key.getRank() - 2), query.getShape().back()});
  SmallVector<int64_t> values(keys);
  values.back() = value.getShape().back();
  if (failed(
          verifyTensor(op, "a key", op.getKey(), keys, query.getElementType())))
    return failure();
  return verifyTensor(op, "a value", op.getValue(), values,
                      query.getElementType());
}

template <typename Op> static LogicalResult verifyDropout(Op op) {
  bool hasState = static_cast<bool>(op.getState());
  if (hasState != op.getDropout().has_value() ||
      hasState != op.getBitStrides().has_value())
    return op.emitOpError(
        "expected state, strides and dropout together or none of them");
  if (!hasState)
    return success();
  RankedTensorType state = op.getState().getType();
  if (state.getShape() != ArrayRef<int64_t>(2))
    return op.emitOpError()
           << "expected a state of type 'tensor<2xui64>', got " << state;
  ArrayRef<int64_t> strides = *op.getBitStrides();
  if (strides.size() == op.getScoreShape().size() &&
      llvm::all_of(strides, [](int64_t stride) { return stride >= 0; }))
    return success();
  return op.emitOpError() << "expected a stride of bits of at least 0 for each "
                             "dim of the scores, ["
                          << op.getScoreShape() << "], got [" << strides << "]";
}

template <typename Op> static LogicalResult verifyMasks(Op op) {
  if (Value offset = op.getOffset()) {
    auto type = cast<RankedTensorType>(offset.getType());
    if (!op.getCausal() || type.getRank() != 0 ||
        !type.getElementType().isSignlessInteger(32))
      return op.emitOpError()
             << "expected an offset of type 'tensor<i32>' of what is causal, "
                "got "
             << type;
  }
  if (failed(verifyDropout(op)))
    return failure();
  if (!op.getBias())
    return success();
  RankedTensorType bias = op.getBias().getType();
  SmallVector<int64_t> scores = op.getScoreShape();
  bool fits = bias.getRank() == static_cast<int64_t>(scores.size());
  for (auto [size, whole] : llvm::zip(bias.getShape(), scores))
    fits = fits && (size == whole || size == 1);
  if (fits)
    return success();
  return op.emitOpError() << "expected dims of the bias to be 1 or those of "
                             "the scores, ["
                          << scores << "], got " << bias;
}

LogicalResult AttentionOp::verify() {
  if (failed(verifyOperands(*this)) || failed(verifyMasks(*this)))
    return failure();
  Type element = getQuery().getType().getElementType();
  SmallVector<int64_t> shape = getResultShape(*this);
  if (failed(verifyTensor(*this, "a result", getResult(), shape, element)))
    return failure();
  return verifyTensor(*this, "logsumexp", getLogsumexp(),
                      ArrayRef(shape).drop_back(), getRowsElement(element));
}

LogicalResult AttentionGradOp::verify() {
  if (failed(verifyOperands(*this)) || failed(verifyMasks(*this)))
    return failure();
  Type element = getQuery().getType().getElementType();
  SmallVector<int64_t> shape = getResultShape(*this);
  ArrayRef<int64_t> rows = ArrayRef(shape).drop_back();
  if (failed(verifyTensor(*this, "logsumexp", getLogsumexp(), rows,
                          getRowsElement(element))) ||
      failed(verifyTensor(*this, "delta", getDelta(), rows,
                          getRowsElement(element))) ||
      failed(
          verifyTensor(*this, "a cotangent", getCotangent(), shape, element)))
    return failure();
  for (auto [what, operand, result] :
       {std::tuple(StringRef("a cotangent of the query"), Value(getQuery()),
                   Value(getDquery())),
        {"a cotangent of the key", getKey(), getDkey()},
        {"a cotangent of the value", getValue(), getDvalue()}})
    if (failed(verifyTensor(
            *this, what, result,
            cast<RankedTensorType>(operand.getType()).getShape(), element)))
      return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// Builders
//===----------------------------------------------------------------------===//

void AttentionOp::build(OpBuilder &builder, OperationState &state, Value query,
                        Value key, Value value, Value bias, double scale,
                        std::optional<int64_t> causal, bool safe) {
  auto type = cast<RankedTensorType>(query.getType());
  SmallVector<int64_t> shape(type.getShape());
  shape.back() = cast<RankedTensorType>(value.getType()).getShape().back();
  auto result = RankedTensorType::get(shape, type.getElementType());
  auto rows = RankedTensorType::get(ArrayRef(shape).drop_back(),
                                    getRowsElement(type.getElementType()));
  build(builder, state, result, rows, query, key, value, bias, Value(), Value(),
        DenseI64ArrayAttr(), DropoutAttr(), builder.getF64FloatAttr(scale),
        causal ? builder.getI64IntegerAttr(*causal) : IntegerAttr(),
        safe ? builder.getUnitAttr() : UnitAttr());
}

void AttentionGradOp::build(OpBuilder &builder, OperationState &state,
                            AttentionOp forward, Value delta, Value cotangent) {
  build(builder, state, forward.getQuery().getType(),
        forward.getKey().getType(), forward.getValue().getType(),
        forward.getQuery(), forward.getKey(), forward.getValue(),
        forward.getLogsumexp(), delta, cotangent, forward.getBias(),
        forward.getOffset(), forward.getState(), forward.getBitStridesAttr(),
        forward.getDropoutAttr(), forward.getScaleAttr(),
        forward.getCausalAttr(), forward.getSafeAttr());
}
