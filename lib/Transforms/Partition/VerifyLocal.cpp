//===- VerifyLocal.cpp - What holds after phase 4 -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//
// Test: test/Transforms/Partition/verify-local.mlir
//===----------------------------------------------------------------------===//

#include "llmc/Analysis/Program.h"
#include "llmc/Analysis/Stages.h"
#include "llmc/Dialect/Dist/IR/LayoutOnMesh.h"
#include "llmc/Transforms/Partition/Passes.h"

using namespace mlir;
using namespace llmc;

namespace llmc {
#define GEN_PASS_DEF_VERIFYLOCALPASS
#include "llmc/Transforms/Partition/Passes.h.inc"
} // namespace llmc

namespace {
struct VerifyLocalPass : llmc::impl::VerifyLocalPassBase<VerifyLocalPass> {
  void runOnOperation() override;
};
} // namespace

static LogicalResult verifyPlain(Operation *op) {
  for (Value result : op->getResults())
    if (dist::getLayout(result.getType()))
      return op->emitOpError()
             << "expected no layout in a type after phase 4, got "
             << result.getType();
  return success();
}

static LogicalResult verifyProgram(const SymbolTable &symbols,
                                   func::FuncOp function) {
  for (Operation &op : function.getBody().front().without_terminator())
    if (!isa<dist::SegmentOp>(op) && !isCrossing(&op))
      return op.emitOpError() << "expected to stand in a segment after phase 4";
  WalkResult walk = function.walk([](Operation *op) {
    return failed(verifyPlain(op)) ? WalkResult::interrupt()
                                   : WalkResult::advance();
  });
  if (walk.wasInterrupted())
    return failure();
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    auto state = function.getArgAttrOfType<FlatSymbolRefAttr>(
        i, dist::DistDialect::kReads);
    if (state &&
        !symbols.lookup<dist::BufferOp>(state.getValue().str() + ".local"))
      return function.emitOpError() << "expected a buffer of state '"
                                    << state.getValue() << "' after phase 4";
  }
  return success();
}

void VerifyLocalPass::runOnOperation() {
  SymbolTable symbols(getOperation());
  for (ProgramFunction &program : getProgramFunctions(getOperation()))
    if (failed(verifyProgram(symbols, program.function)))
      return signalPassFailure();
}
