//===- VerifyTraining.cpp - What holds after phase 1 ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The contract with phase 2: steps and entries over pure functions, each op of
// a step marked with its place, each parameter differentiated and updated.
// That arguments and results fit states is verified by `dist.step` itself.
//
// Test: test/Transforms/Training/verify-training.mlir
//===----------------------------------------------------------------------===//

#include "TrainingMarks.h"
#include "llmc/Transforms/Training/Passes.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/DenseSet.h"

namespace llmc {
#define GEN_PASS_DEF_VERIFYTRAININGPASS
#include "llmc/Transforms/Training/Passes.h.inc"
} // namespace llmc

using namespace mlir;
using namespace llmc;
using llmc::dist::DistDialect;

static LogicalResult verifyMicrobatchOp(Operation &op) {
  auto phase = op.getAttrOfType<dist::PhaseAttr>(DistDialect::kPhase);
  std::optional<int64_t> block = training::getBlockMark(&op);
  if (!phase || !block)
    return op.emitOpError()
           << "expected '"
           << (phase ? DistDialect::kBlock : DistDialect::kPhase)
           << "' on every op of a microbatch after phase "
              "training, got none";
  for (StringRef mark : {DistDialect::kStopGradient, DistDialect::kJaxFunction})
    if (op.hasAttr(mark))
      return op.emitOpError()
             << "expected no '" << mark << "' after phase training";
  // A value goes to its own or later blocks in the forward graph, and from the
  // forward graph to the backward one.
  for (Value operand : op.getOperands()) {
    Operation *producer = operand.getDefiningOp();
    if (!producer)
      continue;
    auto from = producer->getAttrOfType<dist::PhaseAttr>(DistDialect::kPhase);
    bool isForward = phase.getValue() == dist::Phase::Forward;
    if (!isForward)
      continue;
    if (from.getValue() != dist::Phase::Forward)
      return op.emitOpError()
             << "expected operands of phase forward, got phase "
             << dist::stringifyPhase(from.getValue());
    if (training::getBlockMark(producer).value_or(0) > *block)
      return op.emitOpError()
             << "expected operands of block " << *block << " or before, got "
             << training::getBlockMark(producer).value_or(0);
  }
  return success();
}

static LogicalResult verifyUpdateOp(Operation &op) {
  auto phase = op.getAttrOfType<dist::PhaseAttr>(DistDialect::kPhase);
  if (phase && phase.getValue() == dist::Phase::Update)
    return success();
  return op.emitOpError() << "expected phase update on every op of an update";
}

/// What `read` finds in the ports of the results.
static llvm::DenseSet<Attribute>
collectResults(func::FuncOp function,
               llvm::function_ref<FlatSymbolRefAttr(dist::PortAttr)> read) {
  llvm::DenseSet<Attribute> symbols;
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    if (Attribute symbol = read(dist::getResultPort(function, i)))
      symbols.insert(symbol);
  return symbols;
}

static LogicalResult verifyStep(dist::StepOp step, SymbolTable &symbols) {
  auto microbatch = symbols.lookup<func::FuncOp>(step.getMicrobatch());
  auto update = symbols.lookup<func::FuncOp>(step.getUpdate());
  for (func::FuncOp function : {microbatch, update})
    if (function.isExternal())
      return step.emitOpError() << "expected @" << function.getName()
                                << " to have a body, got a declaration";
  for (Operation &op : microbatch.front().without_terminator())
    if (failed(verifyMicrobatchOp(op)))
      return failure();
  for (Operation &op : update.front().without_terminator())
    if (failed(verifyUpdateOp(op)))
      return failure();
  llvm::DenseSet<Attribute> gradients =
      collectResults(microbatch, dist::getGradientOf);
  for (unsigned i = 0; i < microbatch.getNumArguments(); ++i)
    if (training::isParameter(microbatch, i) &&
        !gradients.contains(training::getRead(microbatch, i)))
      return step.emitOpError()
             << "expected a gradient of " << training::getRead(microbatch, i)
             << " from @" << microbatch.getName() << ", got none";
  llvm::DenseSet<Attribute> written = collectResults(update, dist::getState);
  for (unsigned i = 0; i < update.getNumArguments(); ++i)
    if (FlatSymbolRefAttr state = training::getRead(update, i);
        state && !written.contains(state) &&
        !dist::isPort(dist::getArgumentPort(update, i),
                      dist::PortKind::Constant))
      return step.emitOpError()
             << "expected @" << update.getName() << " to write " << state;
  return success();
}

/// Later phases take an op's operands for all that it reads.
static LogicalResult verifyClosed(Operation *op) {
  for (Region &region : op->getRegions()) {
    llvm::SetVector<Value> captured;
    getUsedValuesDefinedAbove(region, captured);
    if (!captured.empty())
      return op->emitOpError() << "expected regions that use no value from "
                                  "outside after phase training";
  }
  return success();
}

namespace {

struct VerifyTrainingPass
    : llmc::impl::VerifyTrainingPassBase<VerifyTrainingPass> {
  void runOnOperation() override {
    markAllAnalysesPreserved();
    ModuleOp module = getOperation();
    SymbolTable symbols(module);
    for (auto recipe : module.getOps<dist::TrainingOp>()) {
      recipe.emitOpError() << "expected no recipe after phase training";
      return signalPassFailure();
    }
    WalkResult calls = module.walk([](func::CallOp call) {
      call.emitOpError() << "expected no calls after phase training";
      return WalkResult::interrupt();
    });
    if (calls.wasInterrupted())
      return signalPassFailure();
    WalkResult regions = module.walk([](Operation *op) {
      return failed(verifyClosed(op)) ? WalkResult::interrupt()
                                      : WalkResult::advance();
    });
    if (regions.wasInterrupted())
      return signalPassFailure();
    for (auto step : module.getOps<dist::StepOp>())
      if (failed(verifyStep(step, symbols)))
        return signalPassFailure();
  }
};

} // namespace
