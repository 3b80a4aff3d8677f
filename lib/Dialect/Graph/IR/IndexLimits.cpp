//===- IndexLimits.cpp - Integers that name places ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See IndexLimits.h.
//===----------------------------------------------------------------------===//

#include "llmc/Dialect/Graph/IR/IndexLimits.h"
#include "llmc/Dialect/Graph/IR/Precision.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::graph;

#include "llmc/Dialect/Graph/IR/IndexLimits.cpp.inc"

Value graph::getIndexRoot(Value value, int64_t limit) {
  while (Operation *op = value.getDefiningOp()) {
    Value source;
    if (auto move = dyn_cast<PrecisionOpInterface>(op); move && move.isMove())
      source = op->getOperand(0);
    else if (auto index = dyn_cast<IndexOpInterface>(op))
      source = index.getIndexSource(limit);
    if (!source)
      break;
    value = source;
  }
  return value;
}
