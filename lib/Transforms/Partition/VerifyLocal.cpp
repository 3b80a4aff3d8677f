//===- VerifyLocal.cpp - What holds after phase 4 -------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//
// Test: test/Transforms/Partition/verify-local.mlir
//===----------------------------------------------------------------------===//

#include "llmc/Analysis/Program/Program.h"
#include "llmc/Analysis/Program/Stages.h"
#include "llmc/Dialect/Dist/IR/LayoutOnMesh.h"
#include "llmc/Dialect/Dist/IR/Signature.h"
#include "llmc/Transforms/Partition/Passes.h"
#include "mlir/Transforms/RegionUtils.h"

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

static LogicalResult verifyProgram(const dist::StateBuffers &buffers,
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
    FlatSymbolRefAttr state =
        dist::getState(dist::getArgumentPort(function, i));
    if (state && !buffers.lookup(state.getAttr()))
      return function.emitOpError() << "expected a buffer of state '"
                                    << state.getValue() << "' after phase 4";
  }
  return success();
}

/// What `op` reads lives at all stages of `at`.
static LogicalResult verifyRead(Operation *op, Value value,
                                ArrayRef<int64_t> at, StageMap &stages) {
  Stages lives = stages.getStages(value);
  if (llvm::all_of(
          at, [&](int64_t stage) { return llvm::is_contained(lives, stage); }))
    return success();
  return op->emitOpError() << "at stages " << printStages(at)
                           << " reads a value that lives at "
                           << printStages(lives);
}

static LogicalResult verifySegment(dist::SegmentOp segment, StageMap &stages) {
  Stages at = segment.getAt() ? Stages(*segment.getAt())
                              : Stages{stages.getStage(*segment.getChunk())};
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(segment.getBody(), captured);
  for (Value value : captured) {
    Operation *def = value.getDefiningOp();
    // A join is zero where none of its operands lives.
    if (!isa_and_nonnull<dist::JoinOp>(def) &&
        failed(verifyRead(segment, value, at, stages)))
      return failure();
  }
  for (Operation &op : segment.getBody().front())
    if (isCollectiveOver(&op, stages.getAxis()) && at != stages.getAll())
      return op.emitOpError()
             << "expected a collective over pipeline axis \""
             << stages.getAxis() << "\" at all stages, got " << printStages(at);
  return success();
}

/// Values are read where they live, and states get a new value at all stages
/// at which they live.
static LogicalResult verifyStages(const ProgramFunction &program,
                                  StageMap &stages) {
  func::FuncOp function = program.function;
  Block &body = function.getBody().front();
  for (Operation &op : body.without_terminator()) {
    if (auto segment = dyn_cast<dist::SegmentOp>(op)) {
      if (failed(verifySegment(segment, stages)))
        return failure();
    } else if (auto transfer = dyn_cast<dist::TransferOp>(op)) {
      if (program.kind == FunctionKind::Update)
        return transfer.emitOpError()
               << "expected no transfer in an update; a join and a collective "
                  "move values between its stages";
      if (failed(verifyRead(transfer, transfer.getInput(),
                            static_cast<int64_t>(transfer.getFrom()), stages)))
        return failure();
    }
  }
  for (OpOperand &returned : body.getTerminator()->getOpOperands())
    if (FlatSymbolRefAttr state = dist::getState(
            dist::getResultPort(function, returned.getOperandNumber())))
      if (failed(verifyRead(body.getTerminator(), returned.get(),
                            stages.getStateStages(state.getAttr()), stages)))
        return failure();
  return success();
}

void VerifyLocalPass::runOnOperation() {
  markAllAnalysesPreserved();
  dist::StateBuffers buffers(getOperation());
  for (ProgramFunction &program : getProgramFunctions(getOperation())) {
    if (failed(verifyProgram(buffers, program.function)))
      return signalPassFailure();
    StageMap stages(getOperation(), program.owner);
    if (stages.getNumStages() > 1 && failed(verifyStages(program, stages)))
      return signalPassFailure();
  }
}
