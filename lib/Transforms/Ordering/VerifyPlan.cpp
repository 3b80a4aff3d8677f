//===- VerifyPlan.cpp - Check what holds after phase 8 --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Test: test/Transforms/Ordering/verify-plan.mlir
//===----------------------------------------------------------------------===//

#include "llmc/Dialect/Dist/IR/Dist.h"
#include "llmc/Dialect/Plan/IR/Plan.h"
#include "llmc/Transforms/Ordering/Passes.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

using namespace mlir;

namespace llmc {

#define GEN_PASS_DEF_VERIFYPLANPASS
#include "llmc/Transforms/Ordering/Passes.h.inc"

static LogicalResult verifyPlaced(Operation *op) {
  if (auto frame = dyn_cast<plan::FrameOp>(op); frame && !frame.isPlaced())
    return frame.emitOpError() << "expected a place after phase 8, got none";
  if (auto buffer = dyn_cast<plan::BufferOp>(op); buffer && !buffer.getOffset())
    return buffer.emitOpError() << "expected an offset after phase 8, got none";
  if (auto device = dyn_cast<plan::DeviceOp>(op); device && !device.getArenas())
    return device.emitOpError() << "expected arenas after phase 8, got none";
  if (isa<dist::TimelineOp, func::FuncOp, plan::SlotOp>(op))
    return op->emitOpError() << "expected to be replaced by programs before "
                                "phase 8";
  return success();
}

namespace {

class VerifyPlanPass : public impl::VerifyPlanPassBase<VerifyPlanPass> {
public:
  void runOnOperation() override {
    markAllAnalysesPreserved();
    ModuleOp module = getOperation();
    SymbolTableCollection tables;
    bool failed = false;
    for (Operation &op : *module.getBody())
      failed |= mlir::failed(verifyPlaced(&op));
    for (auto program : module.getOps<plan::ProgramOp>())
      for (auto kernel : program.getBody().getOps<plan::KernelOp>())
        if (!tables.lookupSymbolIn(module, kernel.getKernel())) {
          kernel.emitOpError()
              << "expected kernel " << kernel.getKernel() << ", got none";
          failed = true;
        }
    if (failed)
      signalPassFailure();
  }
};

} // namespace

} // namespace llmc
