//===- Derivations.cpp - Which results are derivatives --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// JAX names the transformations that made an op in its location:
//
//   "jit(f)/jvp()/tanh"              forward
//   "jit(f)/transpose(jvp())/mul"    backward
//   "jit(f)/mul"                     of the user: an optimizer
//
// A result that a backward op makes is a gradient; one that is computed from
// such values by other ops is what an update makes of them. Read once calls are
// inlined, and before loops and other ops are expanded.
//
// Test: test/Import/StableHLO/train-steps.mlir
//===----------------------------------------------------------------------===//

#include "Parts.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::import;

static bool isBackward(Operation *op) {
  bool isFound = false;
  op->getLoc()->walk([&](Location part) {
    auto named = dyn_cast<NameLoc>(part);
    if (!named)
      return WalkResult::advance();
    isFound = named.getName().getValue().contains("transpose(");
    return WalkResult::interrupt();
  });
  return isFound;
}

SmallVector<Derivation> import::readDerivations(func::FuncOp main) {
  llvm::DenseSet<Operation *> derived;
  for (Operation &op : main.getBody().front().without_terminator()) {
    WalkResult found = op.walk([&](Operation *inner) {
      bool isDerived = isBackward(inner) ||
                       llvm::any_of(inner->getOperands(), [&](Value operand) {
                         return derived.contains(operand.getDefiningOp());
                       });
      return isDerived ? WalkResult::interrupt() : WalkResult::advance();
    });
    if (found.wasInterrupted())
      derived.insert(&op);
  }
  SmallVector<Derivation> derivations;
  for (Value value : main.getBody().front().getTerminator()->getOperands()) {
    Operation *op = value.getDefiningOp();
    derivations.push_back(!op || !derived.contains(op) ? Derivation::None
                          : isBackward(op)             ? Derivation::Gradient
                                                       : Derivation::Update);
  }
  return derivations;
}
