//===- Splat.cpp - Values that are one number everywhere ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Splat.h.
//
//===----------------------------------------------------------------------===//

#include "Splat.h"
#include "llmc/Dialect/StableHLO/IR/StableHLO.h"
#include "llmc/Support/HostTensor.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace llmc;

std::optional<double> stablehlo::getSplat(Value value) {
  while (Operation *op = value.getDefiningOp()) {
    if (!isa<BroadcastInDimOp, ReshapeOp, ConvertOp>(op))
      break;
    value = op->getOperand(0);
  }
  DenseElementsAttr elements;
  if (!matchPattern(value, m_Constant(&elements)) || !elements.isSplat())
    return std::nullopt;
  FailureOr<HostTensor> scalar = HostTensor::fromAttribute(elements.resizeSplat(
      RankedTensorType::get({}, elements.getElementType())));
  if (failed(scalar))
    return std::nullopt;
  return scalar->getFloat(0);
}
