//===- VerifyLayouts.cpp - What holds after phase 2 -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Test: test/Transforms/Sharding/verify-layouts.mlir
//===----------------------------------------------------------------------===//

#include "llmc/Analysis/Program.h"
#include "llmc/Transforms/Sharding/Passes.h"

using namespace mlir;
using namespace llmc;
using dist::DistDialect;

namespace llmc {
#define GEN_PASS_DEF_VERIFYLAYOUTSPASS
#include "llmc/Transforms/Sharding/Passes.h.inc"
} // namespace llmc

namespace {
struct VerifyLayoutsPass
    : llmc::impl::VerifyLayoutsPassBase<VerifyLayoutsPass> {
  void runOnOperation() override;
};
} // namespace

/// Every tensor of the function has a layout.
static LogicalResult verifyFunction(func::FuncOp function) {
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    if (isa<RankedTensorType>(function.getArgument(i).getType()) &&
        !function.getArgAttr(i, DistDialect::kLayout))
      return function.emitOpError()
             << "expected a layout of argument " << i << " after phase 2";
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    if (isa<RankedTensorType>(function.getResultTypes()[i]) &&
        !function.getResultAttr(i, DistDialect::kLayout))
      return function.emitOpError()
             << "expected a layout of result " << i << " after phase 2";
  for (Operation &op : function.getBody().front().without_terminator())
    if (llvm::any_of(op.getResultTypes(), llvm::IsaPred<RankedTensorType>) &&
        !op.hasAttr(DistDialect::kLayouts))
      return op.emitOpError() << "expected layouts after phase 2";
  return success();
}

static DenseI64ArrayAttr getChunks(Operation *owner) {
  if (auto step = dyn_cast<dist::StepOp>(owner))
    return step.getChunksAttr();
  return cast<dist::EntryOp>(owner).getChunksAttr();
}

void VerifyLayoutsPass::runOnOperation() {
  for (ProgramFunction &program : getProgramFunctions(getOperation())) {
    if (!getChunks(program.owner)) {
      program.owner->emitOpError() << "expected 'chunks' after phase 2";
      return signalPassFailure();
    }
    if (failed(verifyFunction(program.function)))
      return signalPassFailure();
  }
}
