//===- StopGradients.cpp - Where the user's text stops a derivative -------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `jax.lax.stop_gradient` leaves nothing in a text. A composite or a custom
// call of the name that `kStopGradientName` gives does, and is an identity
// through which no derivative flows:
//
//   %y = composite "llmc.stop_gradient" %x {decomposition = @f}
//   %y = custom_call @llmc.stop_gradient(%x)
//     ->  %y = optimization_barrier %x {dist.stop_gradient = [0]}
//
// Test: test/Import/StableHLO/stop-gradient.mlir
//===----------------------------------------------------------------------===//

#include "Parts.h"
#include "llmc/Dialect/StableHLO/IR/StableHLO.h"
#include "llmc/Import/Program/StopGradient.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::import;
using rt::ErrorKind;

static bool stops(Operation *op) {
  if (auto composite = dyn_cast<stablehlo::CompositeOp>(op))
    return composite.getName() == kStopGradientName;
  auto call = dyn_cast<stablehlo::CustomCallOp>(op);
  return call && call.getCallTargetName() == kStopGradientName;
}

rt::Status import::readStopGradients(ModuleOp module) {
  SmallVector<Operation *> marked;
  module.walk([&](Operation *op) {
    if (stops(op))
      marked.push_back(op);
  });
  for (Operation *op : marked) {
    if (op->getOperandTypes() != op->getResultTypes())
      return rt::makeError(ErrorKind::diagnosed,
                           describePlace(op->getLoc()) + "expected '" +
                               kStopGradientName.str() +
                               "' to return its operands, got results of other "
                               "types");
    OpBuilder builder(op);
    op->replaceAllUsesWith(
        stopGradient(builder, op->getLoc(), op->getOperands()));
    op->erase();
  }
  return rt::Status::success();
}
