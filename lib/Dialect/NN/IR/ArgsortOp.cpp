//===- ArgsortOp.cpp - Builder and verifier of orders ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Types are compared without their encodings: layouts are the business of the
// rule. Tested by test/Dialect/NN/invalid-argsort.mlir.
//
//===----------------------------------------------------------------------===//

#include "llmc/Dialect/NN/IR/NN.h"

using namespace mlir;
using namespace llmc::nn;

void ArgsortOp::build(OpBuilder &builder, OperationState &state,
                      ValueRange keys, int64_t dim, int64_t count,
                      ArrayRef<bool> descending) {
  auto type = cast<RankedTensorType>(keys.front().getType());
  SmallVector<int64_t> shape(type.getShape());
  shape[dim] = count;
  build(builder, state, RankedTensorType::get(shape, builder.getI32Type()),
        keys, dim, descending);
}

LogicalResult ArgsortOp::verify() {
  if (getKeys().empty() || getDescending().size() != getKeys().size())
    return emitOpError() << "expected keys and a flag for each of them, got "
                         << getKeys().size() << " keys and "
                         << getDescending().size() << " flags";
  auto first = cast<RankedTensorType>(getKeys().front().getType());
  int64_t dim = getDim();
  if (dim < 0 || dim >= first.getRank() || first.getDimSize(dim) > INT32_MAX)
    return emitOpError() << "expected a dim of the keys with less than 2^31 "
                            "elements, got "
                         << dim << " of " << first;
  for (Value key : getKeys())
    if (cast<RankedTensorType>(key.getType()).getShape() != first.getShape())
      return emitOpError() << "expected keys of one shape, got " << first
                           << " and " << key.getType();
  RankedTensorType result = getResult().getType();
  SmallVector<int64_t> shape(first.getShape());
  if (result.getRank() == first.getRank() &&
      result.getDimSize(dim) <= shape[dim])
    shape[dim] = result.getDimSize(dim);
  if (result.getShape() == ArrayRef(shape) &&
      result.getElementType().isSignlessInteger(32))
    return success();
  return emitOpError() << "expected an i32 result with the dims of " << first
                       << " and at most as many elements along dim " << dim
                       << ", got " << result;
}
