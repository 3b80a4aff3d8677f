//===- IndexLimits.cpp - Integers that name places ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See IndexLimits.h.
//===----------------------------------------------------------------------===//

#include "llmc/Dialect/Graph/IR/IndexLimits.h"
#include "llmc/Dialect/Graph/IR/Precision.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::graph;

#include "llmc/Dialect/Graph/IR/IndexLimits.cpp.inc"

static SmallVector<Value> getSources(Value value, int64_t limit) {
  Operation *op = value.getDefiningOp();
  if (!op)
    return {};
  if (auto move = dyn_cast<PrecisionOpInterface>(op); move && move.isMove())
    return {op->getOperand(0)};
  auto index = dyn_cast<IndexOpInterface>(op);
  return index ? index.getIndexSources(limit) : SmallVector<Value>();
}

Value graph::getIndexRoot(Value value, int64_t limit) {
  for (;;) {
    SmallVector<Value> sources = getSources(value, limit);
    if (sources.size() != 1)
      return value;
    value = sources.front();
  }
}

SmallVector<Value> graph::getIndexRoots(Value value, int64_t limit) {
  SmallVector<Value> roots;
  // What a loop carries may come back to itself.
  llvm::SetVector<Value> seen;
  seen.insert(value);
  for (size_t i = 0; i < seen.size(); ++i) {
    SmallVector<Value> sources = getSources(seen[i], limit);
    if (sources.empty())
      roots.push_back(seen[i]);
    seen.insert_range(sources);
  }
  return roots;
}
