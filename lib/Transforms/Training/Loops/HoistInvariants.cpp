//===- HoistInvariants.cpp - What is equal in all trips is computed once --===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   %w1 = enter same %w                 %1 = transpose %w
//   %1 = transpose %w1           ->     %2 = enter same %1
//   ... dot_general %x, %1 ...          ... dot_general %x, %2 ...
//
// The derivative of a loop keeps what it reads of each trip, and of a value
// that enters as it is nothing. An op whose results have more elements than its
// operands stays, as a broadcast, which costs nothing inside of a kernel.
//
// A text that has its derivative is left as it is: its loops are paired by what
// they have in common (PairLoops.cpp).
//
// Test: test/Transforms/Training/hoist-invariants.mlir
//===----------------------------------------------------------------------===//

#include "../TrainingMarks.h"
#include "llmc/Dialect/Dist/IR/LoopRuns.h"
#include "llmc/Transforms/Training/Passes.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

namespace llmc {
#define GEN_PASS_DEF_HOISTINVARIANTSPASS
#include "llmc/Transforms/Training/Passes.h.inc"
} // namespace llmc

using namespace mlir;
using namespace llmc;

static int64_t countElements(ValueRange values) {
  int64_t count = 0;
  for (Value value : values)
    if (auto type = dyn_cast<RankedTensorType>(value.getType()))
      count += type.getNumElements();
  return count;
}

/// What enters the trips of `loop` as it is.
static dist::EnterOp getSame(Value value, dist::LoopAttr loop) {
  auto enter = value.getDefiningOp<dist::EnterOp>();
  return enter && enter.getKind() == dist::EnterKind::Same &&
                 enter.getLoop() == loop
             ? enter
             : dist::EnterOp();
}

/// Whether an op of the innermost loop `number` is equal in all of its trips.
static bool isInvariant(Operation *op, const dist::LoopRuns &loops,
                        int number) {
  dist::LoopAttr loop = loops.getRuns()[number].loop;
  return !isa<dist::EnterOp, dist::NextOp, dist::LeaveOp>(op) &&
         isMemoryEffectFree(op) && op->getNumResults() > 0 &&
         llvm::all_of(op->getOperands(), [&](Value value) {
           return getSame(value, loop) || loops.getRunOf(value) != number;
         });
}

/// The op on what enters, whose results enter in its place.
static void hoist(Operation *op, dist::LoopAttr loop) {
  for (OpOperand &operand : op->getOpOperands())
    if (dist::EnterOp enter = getSame(operand.get(), loop))
      operand.set(enter.getInput());
  OpBuilder builder(op->getContext());
  builder.setInsertionPointAfter(op);
  for (Value result : op->getResults()) {
    auto enter = dist::EnterOp::create(builder, op->getLoc(), result,
                                       dist::EnterKind::Same, loop);
    result.replaceAllUsesExcept(enter, enter);
  }
}

/// Out of one loop, the innermost, for each op; whether any moved.
static bool hoistOnce(func::FuncOp function) {
  dist::LoopRuns loops(function.front());
  bool moved = false;
  for (auto [i, run] : llvm::enumerate(loops.getRuns()))
    for (Operation *op : run.ops) {
      int number = static_cast<int>(i);
      if (loops.getRunOf(op) != number || !isInvariant(op, loops, number) ||
          countElements(op->getResults()) > countElements(op->getOperands()))
        continue;
      hoist(op, run.loop);
      moved = true;
    }
  return moved;
}

namespace {
struct HoistInvariantsPass
    : llmc::impl::HoistInvariantsPassBase<HoistInvariantsPass> {
  void runOnOperation() override {
    for (func::FuncOp function : training::getGraphFunctions(getOperation()))
      if (!function.isExternal() && !training::hasDerivative(function))
        while (hoistOnce(function)) {
        }
  }
};
} // namespace
