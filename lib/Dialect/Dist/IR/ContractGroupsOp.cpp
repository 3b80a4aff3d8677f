//===- ContractGroupsOp.cpp - The verifier of products of groups ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tests: test/Dialect/Dist/{schedule,invalid-grouped-dot}.mlir
//
//===----------------------------------------------------------------------===//

#include "llmc/Dialect/Dist/IR/Dist.h"
#include "llmc/Support/GroupedDims.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::dist;

LogicalResult ContractGroupsOp::verify() {
  RankedTensorType first, result = getResult().getType();
  if (getFirst())
    first = getFirst().getType();
  if (getLhs().getType().getElementType() !=
      getRhs().getType().getElementType())
    return emitOpError() << "expected sides of one element type, got "
                         << getLhs().getType() << " and " << getRhs().getType();
  if (getAccumulator() && getAccumulator().getType() != result)
    return emitOpError() << "expected an accumulator of " << result << ", got "
                         << getAccumulator().getType();
  return verifyGroupedDot(*this, getGroupedDims(*this),
                          {getLhs().getType(), getRhs().getType(),
                           getSizes().getType(), first, result});
}
