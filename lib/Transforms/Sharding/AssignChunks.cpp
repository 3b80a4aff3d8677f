//===- AssignChunks.cpp - Blocks become chunks of the pipeline ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Cost of a block = flops and bytes of its forward ops, by the ops' own cost
// answer. Blocks are numbered from 0 without gaps by phase 1.
//
// Test: test/Transforms/Sharding/assign-chunks.mlir
//===----------------------------------------------------------------------===//

#include "llmc/Analysis/ChunkAssignment.h"
#include "llmc/Analysis/Program.h"
#include "llmc/Dialect/Graph/IR/GraphInterfaces.h"
#include "llmc/Transforms/Sharding/Passes.h"

using namespace mlir;
using namespace llmc;

namespace llmc {
#define GEN_PASS_DEF_ASSIGNCHUNKSPASS
#include "llmc/Transforms/Sharding/Passes.h.inc"
} // namespace llmc

namespace {
struct AssignChunksPass : llmc::impl::AssignChunksPassBase<AssignChunksPass> {
  void runOnOperation() override;
};
} // namespace

/// Flops plus bytes of each block's forward ops.
static SmallVector<int64_t> getBlockCosts(func::FuncOp function) {
  SmallVector<int64_t> costs(1, 0);
  function.walk([&](Operation *op) {
    std::optional<int64_t> block = getBlock(op);
    if (!block ||
        getPhase(op).value_or(dist::Phase::Forward) != dist::Phase::Forward)
      return;
    if (static_cast<int64_t>(costs.size()) <= *block)
      costs.resize(*block + 1, 0);
    if (auto model = dyn_cast<graph::CostOpInterface>(op)) {
      graph::OpCost cost = model.getCost();
      costs[*block] += cost.flops + cost.transcendentals + cost.bytesRead +
                       cost.bytesWritten;
    }
  });
  return costs;
}

void AssignChunksPass::runOnOperation() {
  FailureOr<dist::MeshOp> mesh = getMesh(getOperation());
  if (failed(mesh))
    return signalPassFailure();
  int64_t numChunks = getPipelineSize(*mesh);
  for (ProgramFunction &program : getProgramFunctions(getOperation())) {
    if (program.kind == FunctionKind::Update)
      continue;
    SmallVector<int64_t> costs = getBlockCosts(program.function);
    SmallVector<int64_t> chunks = assignChunks(costs, numChunks);
    if (chunks.empty()) {
      program.owner->emitOpError()
          << "expected at least " << numChunks
          << " blocks, one for each pipeline stage, got " << costs.size();
      return signalPassFailure();
    }
    auto attribute = DenseI64ArrayAttr::get(&getContext(), chunks);
    if (auto step = dyn_cast<dist::StepOp>(program.owner))
      step.setChunksAttr(attribute);
    else
      cast<dist::EntryOp>(program.owner).setChunksAttr(attribute);
  }
}
