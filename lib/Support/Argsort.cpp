//===- Argsort.cpp - What ops for orders share ----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Argsort.h. Tests: test/Dialect/{Dist,NN}/invalid-argsort.mlir
//===----------------------------------------------------------------------===//

#include "llmc/Support/Argsort.h"
#include "mlir/IR/Diagnostics.h"

using namespace mlir;
using namespace llmc;

LogicalResult llmc::verifyArgsort(Operation *op, ValueRange keys, int64_t dim,
                                  size_t numFlags, RankedTensorType result) {
  if (keys.empty() || numFlags != keys.size())
    return op->emitOpError()
           << "expected keys and a flag for each of them, got " << keys.size()
           << " keys and " << numFlags << " flags";
  auto first = cast<RankedTensorType>(keys.front().getType());
  if (dim < 0 || dim >= first.getRank() || first.getDimSize(dim) > INT32_MAX)
    return op->emitOpError() << "expected a dim of the keys with less than "
                                "2^31 elements, got "
                             << dim << " of " << first;
  for (Value key : keys)
    if (cast<RankedTensorType>(key.getType()).getShape() != first.getShape())
      return op->emitOpError() << "expected keys of one shape, got " << first
                               << " and " << key.getType();
  SmallVector<int64_t> shape(first.getShape());
  if (result.getRank() == first.getRank() &&
      result.getDimSize(dim) <= shape[dim])
    shape[dim] = result.getDimSize(dim);
  if (result.getShape() == ArrayRef(shape) &&
      result.getElementType().isSignlessInteger(32))
    return success();
  return op->emitOpError() << "expected an i32 result with the dims of "
                           << first
                           << " and at most as many elements along dim " << dim
                           << ", got " << result;
}
