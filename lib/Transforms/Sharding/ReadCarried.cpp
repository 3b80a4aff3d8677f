//===- ReadCarried.cpp - Carried states are read in one chunk -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Chunks run a microbatch at different times. Once the chunk that makes the
// next value of a state has run, the old one is gone, and a stage that had a
// copy of its own would have to make the next value too.
//
// Test: test/Transforms/Sharding/read-carried.mlir
//===----------------------------------------------------------------------===//

#include "llmc/Analysis/Program/Program.h"
#include "llmc/Dialect/Dist/IR/Signature.h"
#include "llmc/Dialect/StableHLO/IR/StableHLO.h"
#include "llmc/Support/Refusal.h"
#include "llmc/Transforms/Sharding/Passes.h"

using namespace mlir;
using namespace llmc;
using dist::DistDialect;
using dist::Phase;
using dist::PortKind;

namespace llmc {
#define GEN_PASS_DEF_READCARRIEDPASS
#include "llmc/Transforms/Sharding/Passes.h.inc"
} // namespace llmc

namespace {
struct ReadCarriedPass : llmc::impl::ReadCarriedPassBase<ReadCarriedPass> {
  void runOnOperation() override;
};

/// The reads of one microbatch function.
class CarriedReader {
public:
  CarriedReader(func::FuncOp function, ArrayRef<int64_t> chunks)
      : function(function), chunks(chunks) {}

  /// False where nothing was to be done.
  FailureOr<bool> run();

private:
  FailureOr<bool> readFor(BlockArgument state, Operation *maker);
  BlockArgument findArgument(FlatSymbolRefAttr state);

  func::FuncOp function;
  ArrayRef<int64_t> chunks;
};
} // namespace

BlockArgument CarriedReader::findArgument(FlatSymbolRefAttr state) {
  for (BlockArgument argument : function.getArguments())
    if (dist::getState(
            dist::getArgumentPort(function, argument.getArgNumber())) == state)
      return argument;
  return {};
}

/// Hands the state on from the chunk of `maker` to the uses in other chunks.
FailureOr<bool> CarriedReader::readFor(BlockArgument state, Operation *maker) {
  std::optional<int64_t> home = getChunk(maker, chunks);
  SmallVector<OpOperand *> uses;
  for (OpOperand &use : state.getUses()) {
    Operation *user = function.front().findAncestorOpInBlock(*use.getOwner());
    std::optional<int64_t> chunk = getChunk(user, chunks);
    if (!home || !chunk || *chunk == *home)
      continue;
    if (*chunk < *home && getPhase(user) == Phase::Forward)
      return emitRefusal(user, rt::ErrorKind::unsupported)
             << "expected a carried state to be read in the chunk of the "
                "pipeline that makes its next value, or after it, got a read "
                "in chunk "
             << *chunk << " of a state whose next value is made in chunk "
             << *home;
    uses.push_back(&use);
  }
  if (uses.empty())
    return false;
  OpBuilder builder = OpBuilder::atBlockBegin(&function.front());
  auto here = stablehlo::OptimizationBarrierOp::create(
      builder, state.getLoc(), TypeRange(state.getType()), ValueRange(state));
  here->setAttr(DistDialect::kBlock, maker->getAttr(DistDialect::kBlock));
  here->setAttr(DistDialect::kPhase,
                dist::PhaseAttr::get(builder.getContext(), Phase::Forward));
  for (OpOperand *use : uses)
    use->set(here->getResult(0));
  return true;
}

FailureOr<bool> CarriedReader::run() {
  bool isChanged = false;
  for (OpOperand &returned :
       function.front().getTerminator()->getOpOperands()) {
    dist::PortAttr port =
        dist::getResultPort(function, returned.getOperandNumber());
    Operation *maker = returned.get().getDefiningOp();
    BlockArgument state = dist::isPort(port, PortKind::Carried)
                              ? findArgument(dist::getState(port))
                              : BlockArgument();
    if (!maker || !state)
      continue;
    FailureOr<bool> isRead = readFor(state, maker);
    if (failed(isRead))
      return failure();
    isChanged |= *isRead;
  }
  return isChanged;
}

void ReadCarriedPass::runOnOperation() {
  bool isChanged = false;
  for (ProgramFunction &program : getProgramFunctions(getOperation())) {
    std::optional<ArrayRef<int64_t>> chunks = program.getChunks();
    if (program.kind != FunctionKind::Microbatch || !chunks)
      continue;
    FailureOr<bool> isRead = CarriedReader(program.function, *chunks).run();
    if (failed(isRead))
      return signalPassFailure();
    isChanged |= *isRead;
  }
  if (!isChanged)
    markAllAnalysesPreserved();
}
