//===- ArgsortOp.cpp - The verifier of orders by a library ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tests: test/Dialect/Dist/{schedule,invalid-argsort}.mlir
//
//===----------------------------------------------------------------------===//

#include "llmc/Dialect/Dist/IR/Dist.h"

using namespace mlir;
using namespace llmc::dist;

LogicalResult ArgsortOp::verify() {
  if (getKeys().empty() || getDescending().size() != getKeys().size())
    return emitOpError() << "expected keys and a flag for each of them, got "
                         << getKeys().size() << " keys and "
                         << getDescending().size() << " flags";
  auto first = cast<RankedTensorType>(getKeys().front().getType());
  int64_t dim = getDim();
  if (dim < 0 || dim >= first.getRank())
    return emitOpError() << "expected a dim of the keys " << first << ", got "
                         << dim;
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
