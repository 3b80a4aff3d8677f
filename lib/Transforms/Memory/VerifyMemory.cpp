//===- VerifyMemory.cpp - What holds after phase 6 ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//
// Test: test/Transforms/Memory/verify-memory.mlir
//===----------------------------------------------------------------------===//

#include "llmc/Analysis/Program.h"
#include "llmc/Transforms/Memory/Passes.h"

using namespace mlir;
using namespace llmc;

namespace llmc {
#define GEN_PASS_DEF_VERIFYMEMORYPASS
#include "llmc/Transforms/Memory/Passes.h.inc"
} // namespace llmc

namespace {
struct VerifyMemoryPass : llmc::impl::VerifyMemoryPassBase<VerifyMemoryPass> {
  void runOnOperation() override;
};
} // namespace

static dist::SlotAttr getSlot(Attribute attribute) {
  return dyn_cast_or_null<dist::SlotAttr>(attribute);
}

/// Every `act` slot that a program reads is written by another one.
static LogicalResult verifySlots(dist::TimelineOp timeline, ModuleOp module) {
  llvm::DenseSet<Attribute> written;
  SmallVector<func::FuncOp> functions;
  for (auto program : timeline.getPrograms().getAsRange<dist::ProgramAttr>())
    functions.push_back(
        module.lookupSymbol<func::FuncOp>(program.getFunction().getValue()));
  for (func::FuncOp function : functions)
    for (unsigned i = 0; i < function.getNumResults(); ++i)
      written.insert(function.getResultAttr(i, dist::DistDialect::kSlot));
  for (func::FuncOp function : functions)
    for (unsigned i = 0; i < function.getNumArguments(); ++i) {
      auto slot = getSlot(function.getArgAttr(i, dist::DistDialect::kSlot));
      if (slot && slot.getKind() == dist::SlotKind::Act &&
          !written.contains(slot))
        return function.emitOpError()
               << "expected slot " << slot << " to be written by a program of '"
               << timeline.getSymName() << "'";
    }
  return success();
}

void VerifyMemoryPass::runOnOperation() {
  WalkResult walk = getOperation().walk([&](Operation *op) {
    if (isa<dist::StepOp, dist::EntryOp, dist::SegmentOp>(op)) {
      op->emitOpError() << "must not occur after phase 6";
      return WalkResult::interrupt();
    }
    if (auto timeline = dyn_cast<dist::TimelineOp>(op))
      if (failed(verifySlots(timeline, getOperation())))
        return WalkResult::interrupt();
    return WalkResult::advance();
  });
  if (walk.wasInterrupted())
    signalPassFailure();
}
