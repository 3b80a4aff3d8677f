//===- NormOps.cpp - Builders and verifiers of the norms ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Types are compared without their encodings: layouts are the business of the
// rule. Tested by test/Dialect/NN/invalid-norms.mlir.
//
//===----------------------------------------------------------------------===//

#include "llmc/Dialect/NN/IR/NN.h"

using namespace mlir;
using namespace llmc::nn;

/// One number for each row, in the type in which rows are computed.
static RankedTensorType getRowType(RankedTensorType type, int64_t dims) {
  Type element = type.getElementType();
  if (element.getIntOrFloatBitWidth() < 32)
    element = Float32Type::get(type.getContext());
  return RankedTensorType::get(type.getShape().drop_back(dims), element);
}

static LogicalResult verifyType(Operation *op, StringRef name, Value value,
                                RankedTensorType wanted) {
  auto type = cast<RankedTensorType>(value.getType());
  if (type.getShape() == wanted.getShape() &&
      type.getElementType() == wanted.getElementType())
    return success();
  return op->emitOpError() << "expected " << name << " of shape ["
                           << wanted.getShape() << "] and element type "
                           << wanted.getElementType() << ", got " << type;
}

/// Verifies the rank of `full` and the type of the numbers of its rows.
static LogicalResult verifyRows(Operation *op, Value full, Value rstd,
                                int64_t dims) {
  auto type = cast<RankedTensorType>(full.getType());
  if (type.getRank() < dims)
    return op->emitOpError() << "expected rank at least " << dims
                             << ", the number of dims, got " << type.getRank();
  return verifyType(op, "rstd", rstd, getRowType(type, dims));
}

template <typename Op>
static void buildNorm(OpBuilder &builder, OperationState &state, Value operand,
                      int64_t dims, double epsilon) {
  auto type = cast<RankedTensorType>(operand.getType());
  auto result = RankedTensorType::get(type.getShape(), type.getElementType());
  Op::build(builder, state, result, getRowType(type, dims), operand,
            builder.getI64IntegerAttr(dims), builder.getF64FloatAttr(epsilon));
}

template <typename Op> static LogicalResult verifyNorm(Op op) {
  if (failed(verifyRows(op, op.getOperand(), op.getRstd(), op.getDims())))
    return failure();
  return verifyType(op, "a result", op.getResult(), op.getOperand().getType());
}

template <typename Op>
static void buildGradient(OpBuilder &builder, OperationState &state,
                          Value normalized, Value rstd, Value cotangent,
                          int64_t dims) {
  auto type = cast<RankedTensorType>(normalized.getType());
  auto result = RankedTensorType::get(type.getShape(), type.getElementType());
  Op::build(builder, state, result, normalized, rstd, cotangent,
            builder.getI64IntegerAttr(dims));
}

template <typename Op> static LogicalResult verifyGradient(Op op) {
  RankedTensorType type = op.getNormalized().getType();
  if (failed(verifyRows(op, op.getNormalized(), op.getRstd(), op.getDims())) ||
      failed(verifyType(op, "a cotangent", op.getCotangent(), type)))
    return failure();
  return verifyType(op, "a result", op.getResult(), type);
}

//===----------------------------------------------------------------------===//
// Layer norm
//===----------------------------------------------------------------------===//

void LayerNormOp::build(OpBuilder &builder, OperationState &state,
                        Value operand, int64_t dims, double epsilon) {
  buildNorm<LayerNormOp>(builder, state, operand, dims, epsilon);
}

LogicalResult LayerNormOp::verify() { return verifyNorm(*this); }

void LayerNormGradOp::build(OpBuilder &builder, OperationState &state,
                            Value normalized, Value rstd, Value cotangent,
                            int64_t dims) {
  buildGradient<LayerNormGradOp>(builder, state, normalized, rstd, cotangent,
                                 dims);
}

LogicalResult LayerNormGradOp::verify() { return verifyGradient(*this); }

//===----------------------------------------------------------------------===//
// RMS norm
//===----------------------------------------------------------------------===//

void RmsNormOp::build(OpBuilder &builder, OperationState &state, Value operand,
                      int64_t dims, double epsilon) {
  buildNorm<RmsNormOp>(builder, state, operand, dims, epsilon);
}

LogicalResult RmsNormOp::verify() { return verifyNorm(*this); }

void RmsNormGradOp::build(OpBuilder &builder, OperationState &state,
                          Value normalized, Value rstd, Value cotangent,
                          int64_t dims) {
  buildGradient<RmsNormGradOp>(builder, state, normalized, rstd, cotangent,
                               dims);
}

LogicalResult RmsNormGradOp::verify() { return verifyGradient(*this); }

//===----------------------------------------------------------------------===//
// Batch norm
//===----------------------------------------------------------------------===//

/// One number for each feature.
static RankedTensorType getFeatureType(RankedTensorType type, int64_t dim) {
  return RankedTensorType::get(type.getDimSize(dim),
                               getRowType(type, 0).getElementType());
}

/// Verifies `dim` and that each of the values has a number for each feature.
template <typename Op>
static LogicalResult
verifyFeatures(Op op, ArrayRef<std::pair<StringRef, Value>> values) {
  RankedTensorType type = op.getOperand().getType();
  int64_t dim = op.getDim();
  if (type.getRank() < 2 || dim >= type.getRank())
    return op.emitOpError() << "expected rank at least 2 and dim less than it, "
                               "got rank "
                            << type.getRank() << " and dim " << dim;
  for (auto [name, value] : values)
    if (failed(verifyType(op, name, value, getFeatureType(type, dim))))
      return failure();
  return success();
}

void BatchNormOp::build(OpBuilder &builder, OperationState &state,
                        Value operand, Value scale, Value offset, int64_t dim,
                        double epsilon, bool squares) {
  auto type = cast<RankedTensorType>(operand.getType());
  RankedTensorType features = getFeatureType(type, dim);
  build(builder, state,
        RankedTensorType::get(type.getShape(), type.getElementType()), features,
        features, operand, scale, offset, builder.getI64IntegerAttr(dim),
        builder.getF64FloatAttr(epsilon),
        squares ? builder.getUnitAttr() : UnitAttr());
}

LogicalResult BatchNormOp::verify() {
  if (failed(verifyFeatures(*this, {{"a scale", getScale()},
                                    {"an offset", getOffset()},
                                    {"a mean", getMean()},
                                    {"a variance", getVariance()}})))
    return failure();
  return verifyType(*this, "a result", getResult(), getOperand().getType());
}

void BatchNormGradOp::build(OpBuilder &builder, OperationState &state,
                            BatchNormOp forward, Value cotangent) {
  build(builder, state, forward.getOperand().getType(),
        forward.getScale().getType(), forward.getOffset().getType(),
        forward.getOperand(), forward.getScale(), forward.getMean(),
        forward.getVariance(), cotangent, forward.getDimAttr(),
        forward.getEpsilonAttr());
}

LogicalResult BatchNormGradOp::verify() {
  RankedTensorType type = getOperand().getType();
  if (failed(verifyFeatures(*this,
                            {{"a scale", getScale()},
                             {"a mean", getMean()},
                             {"a variance", getVariance()},
                             {"a cotangent of the scale", getDscale()},
                             {"a cotangent of the offset", getDoffset()}})) ||
      failed(verifyType(*this, "a cotangent", getCotangent(), type)))
    return failure();
  return verifyType(*this, "a cotangent of the operand", getDoperand(), type);
}
