//===- BoundInputs.cpp - Which integers an input may have -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// From each operand that names places back to the argument whose integers it
// has:
//
//   gather %table [256, 64], %w   ->   %w = broadcast %s   ->   %s = select ...
//     ->   %arg1, an input: limit = 256
//
// also where the gather stands in the trips of a loop, as in one over pieces of
// the batch or of the labels.
//
// Test: test/Transforms/Training/bound-inputs-loops.mlir, bound-inputs.mlir
//===----------------------------------------------------------------------===//

#include "llmc/Dialect/Dist/IR/Signature.h"
#include "llmc/Dialect/Graph/IR/IndexLimits.h"
#include "llmc/Transforms/Training/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/MapVector.h"

namespace llmc {
#define GEN_PASS_DEF_BOUNDINPUTSPASS
#include "llmc/Transforms/Training/Passes.h.inc"
} // namespace llmc

using namespace mlir;
using namespace llmc;
using graph::IndexOpInterface;

/// The least number of places that each value of `function` names.
static llvm::MapVector<Value, int64_t> findLimits(func::FuncOp function) {
  llvm::MapVector<Value, int64_t> limits;
  function.walk([&](IndexOpInterface op) {
    for (OpOperand &operand : op->getOpOperands()) {
      int64_t limit = op.getIndexLimit(operand.getOperandNumber());
      if (limit <= 0)
        continue;
      for (Value root : graph::getIndexRoots(operand.get(), limit)) {
        int64_t &least = limits.try_emplace(root, limit).first->second;
        least = std::min(least, limit);
      }
    }
  });
  return limits;
}

static void boundInputs(func::FuncOp function) {
  dist::Signature signature(function);
  bool isChanged = false;
  for (auto [value, limit] : findLimits(function)) {
    auto argument = dyn_cast<BlockArgument>(value);
    if (!argument || argument.getOwner() != &function.front())
      continue;
    dist::PortAttr &port = signature.arguments[argument.getArgNumber()];
    if (!dist::isPort(port, dist::PortKind::Input) || !port.getData() ||
        port.getData().getLimit() > 0)
      continue;
    port = port.withData(port.getData().withLimit(limit));
    isChanged = true;
  }
  if (isChanged)
    signature.write(function);
}

namespace {
struct BoundInputsPass : llmc::impl::BoundInputsPassBase<BoundInputsPass> {
  void runOnOperation() override {
    for (auto function : getOperation().getOps<func::FuncOp>())
      if (!function.isExternal())
        boundInputs(function);
  }
};
} // namespace
