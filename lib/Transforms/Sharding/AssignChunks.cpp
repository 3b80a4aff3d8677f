//===- AssignChunks.cpp - Blocks become chunks of the pipeline ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Cost of a block = flops and bytes of its forward ops, by the ops' own cost
// answer. Blocks are numbered from 0 without gaps by phase 1.
//
// Test: test/Transforms/Sharding/assign-chunks.mlir
//===----------------------------------------------------------------------===//

#include "llmc/Analysis/Program/Program.h"
#include "llmc/Analysis/Program/ScheduleProblem.h"
#include "llmc/Analysis/Program/Stages.h"
#include "llmc/Dialect/Dist/IR/LoopRuns.h"
#include "llmc/Dialect/Graph/IR/GraphInterfaces.h"
#include "llmc/Solvers/Blocks/ChunkAssignment.h"
#include "llmc/Support/Refusal.h"
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

namespace {
struct BlockCost {
  /// Flops plus bytes of the block's forward ops.
  int64_t work = 0;
  bool isEmpty = true;
};
} // namespace

static SmallVector<BlockCost> getBlockCosts(func::FuncOp function) {
  SmallVector<BlockCost> costs(1);
  dist::LoopRuns loops(function.getBody().front());
  for (Operation &op : function.getBody().front()) {
    std::optional<int64_t> block = getBlock(&op);
    if (!block ||
        getPhase(&op).value_or(dist::Phase::Forward) != dist::Phase::Forward)
      continue;
    if (static_cast<int64_t>(costs.size()) <= *block)
      costs.resize(*block + 1);
    // A constant is cloned to wherever it is used.
    costs[*block].isEmpty &= isMadeAnywhere(&op);
    if (auto model = dyn_cast<graph::CostOpInterface>(op)) {
      graph::OpCost cost = model.getCost();
      int run = loops.getRunOf(&op);
      int64_t times = run < 0 ? 1 : loops.getRuns()[run].loop.getWeight();
      costs[*block].work += times * (cost.flops + cost.transcendentals +
                                     cost.bytesRead + cost.bytesWritten);
    }
  }
  return costs;
}

/// The chunk of each block. A block without ops goes with the one before it,
/// so that no chunk is empty.
static SmallVector<int64_t> assign(ArrayRef<BlockCost> blocks,
                                   int64_t numChunks) {
  std::vector<int64_t> costs;
  for (const BlockCost &block : blocks)
    if (!block.isEmpty || numChunks == 1)
      costs.push_back(block.work);
  std::vector<int64_t> some = assignChunks(costs, numChunks);
  if (some.empty())
    return {};
  SmallVector<int64_t> chunks;
  size_t next = 0;
  for (const BlockCost &block : blocks) {
    bool isNext = !block.isEmpty || numChunks == 1;
    chunks.push_back(some[isNext ? next : next ? next - 1 : 0]);
    next += isNext;
  }
  return chunks;
}

void AssignChunksPass::runOnOperation() {
  FailureOr<dist::MeshOp> mesh = getMesh(getOperation());
  if (failed(mesh))
    return signalPassFailure();
  SmallVector<ProgramFunction> steps, entries;
  for (ProgramFunction &program : getProgramFunctions(getOperation()))
    if (program.kind != FunctionKind::Update)
      (isa<dist::StepOp>(program.owner) ? steps : entries).push_back(program);
  // An entry over the same blocks shares the step's parameters, and so takes
  // its chunks.
  llvm::SmallDenseMap<size_t, SmallVector<int64_t>> chunksOfStep;
  for (ProgramFunction &program :
       llvm::concat<ProgramFunction>(steps, entries)) {
    SmallVector<BlockCost> costs = getBlockCosts(program.function);
    auto step = dyn_cast<dist::StepOp>(program.owner);
    int64_t numChunks = getPipelineSize(*mesh);
    if (step)
      numChunks = getNumChunks(step.getSchedule(), numChunks);
    SmallVector<int64_t> chunks;
    if (!step)
      chunks = chunksOfStep.lookup(costs.size());
    if (chunks.empty())
      chunks = assign(costs, numChunks);
    if (chunks.empty()) {
      int64_t numBlocks =
          llvm::count_if(costs, [](auto &cost) { return !cost.isEmpty; });
      emitRefusal(program.owner)
          << "expected at least " << numChunks
          << " blocks, one for each chunk of the pipeline, got " << numBlocks;
      return signalPassFailure();
    }
    auto attribute = DenseI64ArrayAttr::get(&getContext(), chunks);
    if (step) {
      step.setChunksAttr(attribute);
      chunksOfStep[costs.size()] = chunks;
    } else {
      cast<dist::EntryOp>(program.owner).setChunksAttr(attribute);
    }
  }
}
