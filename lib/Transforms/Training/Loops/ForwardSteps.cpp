//===- ForwardSteps.cpp - What of a text is the forward -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Test: test/Transforms/Training/find-blocks.mlir
//===----------------------------------------------------------------------===//

#include "ForwardSteps.h"
#include "../TrainingMarks.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace llmc;

std::vector<dist::LoopStep>
training::collectForward(func::FuncOp function, const dist::LoopRuns &loops) {
  std::vector<dist::LoopStep> steps = loops.getSteps();
  if (!training::hasDerivative(function))
    return steps;
  Operation *terminator = function.front().getTerminator();
  llvm::DenseSet<Operation *> isNeeded;
  auto need = [&](Value value) { isNeeded.insert(value.getDefiningOp()); };
  need(terminator->getOperand(training::findLoss(function)));
  bool isStep = dist::Signature(function)
                    .findResult(dist::PortKind::Parameter)
                    .has_value();
  for (unsigned i = 0; !isStep && i < function.getNumResults(); ++i)
    if (dist::isPort(dist::getResultPort(function, i), dist::PortKind::Carried))
      need(terminator->getOperand(i));
  std::vector<dist::LoopStep> forward;
  for (dist::LoopStep step : llvm::reverse(steps)) {
    ArrayRef<Operation *> ops = loops.getOps(step);
    if (llvm::none_of(ops,
                      [&](Operation *op) { return isNeeded.contains(op); }))
      continue;
    for (Operation *op : ops)
      llvm::for_each(op->getOperands(), need);
    forward.push_back(step);
  }
  std::reverse(forward.begin(), forward.end());
  return forward;
}
