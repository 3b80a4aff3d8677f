//===- FindBlocks.cpp - Mark prologue, repeated blocks and epilogue -------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   gather, ln, dot, ..., add, ln, dot, ..., add, dot, loss
//   dist.block = 0,  1 ... 1,  2 ... 2,  3, 3
//
// Reads a forward function into plain data (arguments, then ops in program
// order), solves (Solvers/Blocks/BlockFinder.h) and writes the marks. Two ops
// have one signature when name, attributes, regions and result types agree; of
// a constant only the type counts, and of what is taken from a parameter only
// which op takes which type: layers read different rows of a stack.
//
// Test: test/Transforms/Training/find-blocks.mlir
//===----------------------------------------------------------------------===//

#include "ForwardSteps.h"
#include "TrainingMarks.h"
#include "llmc/Analysis/Program/Program.h"
#include "llmc/Dialect/Dist/IR/LoopRuns.h"
#include "llmc/Dialect/Graph/IR/GraphInterfaces.h"
#include "llmc/Solvers/Blocks/BlockFinder.h"
#include "llmc/Support/HostTensor.h"
#include "llmc/Transforms/Training/Passes.h"
#include "llvm/ADT/DenseMap.h"

namespace llmc {
#define GEN_PASS_DEF_FINDBLOCKSPASS
#include "llmc/Transforms/Training/Passes.h.inc"
} // namespace llmc

using namespace mlir;
using namespace llmc;

static int64_t getBytes(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor && tensor.hasStaticShape()
             ? tensor.getNumElements() *
                   getElementBytes(tensor.getElementType())
             : 0;
}

/// Name, attributes, result types and regions. Values inside of regions are
/// numbered in order, so that equal regions hash alike.
static llvm::hash_code hashOp(Operation *op,
                              llvm::DenseMap<Value, unsigned> &numbers) {
  llvm::hash_code hash = OperationEquivalence::computeHash(
      op, OperationEquivalence::ignoreHashValue,
      OperationEquivalence::ignoreHashValue,
      OperationEquivalence::IgnoreLocations |
          OperationEquivalence::IgnoreDiscardableAttrs);
  auto number = [&](Value value) {
    return numbers.try_emplace(value, numbers.size()).first->second;
  };
  for (Region &region : op->getRegions())
    for (Block &block : region) {
      for (BlockArgument argument : block.getArguments())
        hash = llvm::hash_combine(hash, number(argument), argument.getType());
      for (Operation &nested : block) {
        hash = llvm::hash_combine(hash, hashOp(&nested, numbers));
        for (Value operand : nested.getOperands())
          hash = llvm::hash_combine(hash, number(operand));
        for (Value result : nested.getResults())
          hash = llvm::hash_combine(hash, number(result));
      }
    }
  return hash;
}

/// A slice, a transpose ... of a parameter.
static bool isTakenFromParameter(func::FuncOp function, Operation *op) {
  if (op->getNumOperands() != 1 || op->getNumResults() != 1 ||
      op->getNumRegions() != 0)
    return false;
  auto argument = dyn_cast<BlockArgument>(op->getOperand(0));
  return argument && training::isParameter(function, argument.getArgNumber());
}

static uint64_t getSignature(func::FuncOp function, Operation *op) {
  if (op->hasTrait<OpTrait::ConstantLike>())
    return llvm::hash_combine(StringRef("constant"), op->getResultTypes()[0]);
  if (isTakenFromParameter(function, op))
    return llvm::hash_combine(op->getName(), op->getResultTypes()[0]);
  llvm::DenseMap<Value, unsigned> numbers;
  llvm::hash_code hash = hashOp(op, numbers);
  for (Value operand : op->getOperands())
    if (auto result = dyn_cast<OpResult>(operand))
      hash = llvm::hash_combine(hash, result.getResultNumber());
  return hash;
}

/// Nodes for the arguments, then for `ops`, which contain what they depend on.
static BlockGraph buildGraph(func::FuncOp function, ArrayRef<Operation *> ops) {
  BlockGraph graph;
  llvm::DenseMap<Value, int32_t> nodes;
  for (BlockArgument argument : function.getArguments()) {
    BlockGraph::Node node;
    node.signature = hash_value(argument.getType());
    unsigned index = argument.getArgNumber();
    node.source =
        training::isParameter(function, index) ? BlockGraph::Source::Parameter
        : training::isInput(function, index)   ? BlockGraph::Source::Input
                                               : BlockGraph::Source::Other;
    nodes[argument] = graph.nodes.size();
    graph.nodes.push_back(node);
  }
  for (Operation *op : ops) {
    BlockGraph::Node node;
    node.signature = getSignature(function, op);
    for (Value operand : op->getOperands())
      node.operands.push_back(nodes.lookup(operand));
    for (Value result : op->getResults()) {
      nodes[result] = graph.nodes.size();
      node.bytes += getBytes(result.getType());
    }
    if (auto model = dyn_cast<graph::CostOpInterface>(op)) {
      graph::OpCost cost = model.getCost();
      node.cost = cost.flops + cost.transcendentals + cost.bytesRead +
                  cost.bytesWritten;
    }
    graph.nodes.push_back(std::move(node));
  }
  return graph;
}

/// Blocks that have ops.
static int32_t countBlocks(const BlockSolution &solution) {
  std::vector<bool> isUsed(solution.getLastBlock() + 1, false);
  for (int32_t block : solution.block)
    if (block >= 0)
      isUsed[block] = true;
  return static_cast<int32_t>(llvm::count(isUsed, true));
}

/// Each loop is a block, and so is what stands between two of them.
static void markLoops(func::FuncOp function, const dist::LoopRuns &loops,
                      ArrayRef<dist::LoopStep> forward) {
  int64_t block = 0;
  bool isUsed = false;
  llvm::SmallDenseMap<int, int64_t> blockOf;
  for (const dist::LoopStep &step : forward) {
    auto leave = dyn_cast_or_null<dist::LeaveOp>(step.op);
    if (step.run < 0) {
      int left = leave ? loops.getLeft(leave) : -1;
      isUsed |= left < 0;
      training::setBlockMark(step.op, left < 0 ? block : blockOf[left]);
      continue;
    }
    block += isUsed;
    blockOf[step.run] = block;
    for (Operation *op : loops.getRuns()[step.run].ops)
      training::setBlockMark(op, block);
    ++block;
    isUsed = false;
  }
  training::markNewBlocks(function, block);
  remark::analysis(function.getLoc(), training::remarkOf("blocks"))
      << std::to_string(blockOf.size()) << " loops are blocks of @"
      << function.getName();
}

namespace {

struct FindBlocksPass : llmc::impl::FindBlocksPassBase<FindBlocksPass> {
  void runOnOperation() override {
    for (func::FuncOp function : training::getGraphFunctions(getOperation())) {
      if (function.isExternal())
        continue;
      // The order of a derivative that the text has stays as it is, but for a
      // pipeline.
      bool isCut =
          static_cast<int32_t>(training::countChunks(getOperation())) > 1;
      if (training::hasDerivative(function) && !isCut)
        training::markNewBlocks(function, 0);
      else if (failed(markBlocks(function)))
        return signalPassFailure();
    }
  }

private:
  LogicalResult markBlocks(func::FuncOp function) {
    dist::LoopRuns loops(function.front());
    std::vector<dist::LoopStep> steps =
        training::collectForward(function, loops);
    if (!loops.empty()) {
      markLoops(function, loops, steps);
      return success();
    }
    SmallVector<Operation *> forward;
    for (const dist::LoopStep &step : steps)
      forward.push_back(step.op);
    BlockGraph graph = buildGraph(function, forward);
    BlockSolution solution = findBlocks(graph);
    // Each chunk of a pipeline gets a block at least.
    int32_t numChunks =
        static_cast<int32_t>(training::countChunks(getOperation()));
    if (countBlocks(solution) < numChunks)
      if (BlockSolution cut = cutBlocks(graph, numChunks); cut.numCut)
        solution = std::move(cut);
    std::string fault = graph.check();
    if (fault.empty())
      fault = solution.verify(graph);
    if (!fault.empty())
      return function.emitOpError() << "has no valid blocks: " << fault;
    size_t node = function.getNumArguments();
    for (Operation *op : forward)
      training::setBlockMark(op, solution.block[node++]);
    training::markNewBlocks(function, solution.getLastBlock());
    if (solution.numCut)
      remark::analysis(function.getLoc(), training::remarkOf("blocks"))
          << "cut @" << function.getName() << " into "
          << std::to_string(solution.numCut) << " blocks, one for each chunk";
    else
      remark::analysis(function.getLoc(), training::remarkOf("blocks"))
          << "found " << std::to_string(solution.numRepeated)
          << " repeated blocks in @" << function.getName();
    return success();
  }
};

} // namespace
