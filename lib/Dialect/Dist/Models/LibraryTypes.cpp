//===- LibraryTypes.cpp - Types and strides of a call's buffers -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/Dialect/Dist/Models/LibraryCallsTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "LibraryTypes.h"
#include "llmc/Support/StoredElements.h"
#include "mlir/IR/Operation.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::dist;

static rt::DType getAccumulateType(rt::DType side, rt::DType result) {
  if (!rt::isFloat(result))
    return result;
  bool isWide = side == rt::DType::f64 || result == rt::DType::f64;
  return isWide ? rt::DType::f64 : rt::DType::f32;
}

FailureOr<SumTypes> dist::getSumTypes(Operation *op, RankedTensorType side,
                                      RankedTensorType result) {
  std::optional<rt::DType> from = getRuntimeDType(side.getElementType()),
                           to = getRuntimeDType(result.getElementType());
  if (!from || !to)
    return op->emitOpError()
           << "expected elements that the runtime stores, got " << side
           << " and " << result;
  return SumTypes{*from, *to, getAccumulateType(*from, *to)};
}

SmallVector<int64_t> dist::getStrides(RankedTensorType type) {
  SmallVector<int64_t> strides(type.getRank(), 1);
  for (size_t d = strides.size(); d-- > 1;)
    strides[d - 1] = strides[d] * type.getDimSize(d);
  return strides;
}

bool dist::canAddBias(Type side, Type result, Type bias) {
  std::optional<rt::DType> from = getRuntimeDType(side),
                           to = getRuntimeDType(result);
  return bias == result && from && to && getAccumulateType(*from, *to) == *to;
}
