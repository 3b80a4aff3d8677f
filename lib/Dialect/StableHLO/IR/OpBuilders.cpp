//===- OpBuilders.cpp - Builders that compute result types ----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Computed result types carry no encoding. Arguments come from the compiler; if
// they are wrong, the verifier says so.
//
//===----------------------------------------------------------------------===//

#include "Verification.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::stablehlo;

void CompareOp::build(OpBuilder &builder, OperationState &state, Value lhs,
                      Value rhs, ComparisonDirection direction) {
  RankedTensorType operand = withoutEncoding(lhs.getType());
  build(builder, state, operand.clone(builder.getI1Type()), lhs, rhs, direction,
        ComparisonTypeAttr());
  auto op = state.getOrAddProperties<Properties>();
  Type element = operand.getElementType();
  ComparisonType type = isa<FloatType>(element) ? ComparisonType::FLOAT
                        : element.isInteger(1) || element.isUnsignedInteger()
                            ? ComparisonType::UNSIGNED
                            : ComparisonType::SIGNED;
  op.compare_type = ComparisonTypeAttr::get(builder.getContext(), type);
  state.getOrAddProperties<Properties>() = op;
}

void TransposeOp::build(OpBuilder &builder, OperationState &state,
                        Value operand, ArrayRef<int64_t> permutation) {
  RankedTensorType type = withoutEncoding(operand.getType());
  SmallVector<int64_t> shape;
  for (int64_t dim : permutation)
    shape.push_back(type.getDimSize(dim));
  build(builder, state, type.clone(shape), operand, permutation);
}

void SliceOp::build(OpBuilder &builder, OperationState &state, Value operand,
                    ArrayRef<int64_t> starts, ArrayRef<int64_t> limits,
                    ArrayRef<int64_t> strides) {
  SmallVector<int64_t> shape;
  for (auto [start, limit, stride] : llvm::zip(starts, limits, strides))
    shape.push_back(sliceSize(start, limit, stride));
  build(builder, state, withoutEncoding(operand.getType()).clone(shape),
        operand, starts, limits, strides);
}

void PadOp::build(OpBuilder &builder, OperationState &state, Value operand,
                  Value value, ArrayRef<int64_t> low, ArrayRef<int64_t> high,
                  ArrayRef<int64_t> interior) {
  RankedTensorType type = withoutEncoding(operand.getType());
  SmallVector<int64_t> shape;
  for (auto [size, l, h, i] : llvm::zip(type.getShape(), low, high, interior))
    shape.push_back(paddedSize(size, l, h, i).value_or(0));
  build(builder, state, type.clone(shape), operand, value, low, high, interior);
}

void ConcatenateOp::build(OpBuilder &builder, OperationState &state,
                          ValueRange inputs, int64_t dimension) {
  RankedTensorType type = withoutEncoding(inputs.front().getType());
  SmallVector<int64_t> shape(type.getShape());
  for (Value input : inputs.drop_front())
    shape[dimension] +=
        cast<RankedTensorType>(input.getType()).getDimSize(dimension);
  build(builder, state, type.clone(shape), inputs, dimension);
}

void LuOp::build(OpBuilder &builder, OperationState &state, Value a) {
  RankedTensorType type = withoutEncoding(a.getType());
  auto numbers =
      RankedTensorType::get(type.getShape().drop_back(), builder.getI32Type());
  build(builder, state, type, numbers, numbers, a);
}
