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

#include "../TrainingMarks.h"
#include "ForwardSteps.h"
#include "llmc/Analysis/Program/Program.h"
#include "llmc/Dialect/Dist/IR/LoopRuns.h"
#include "llmc/Dialect/Graph/IR/GraphInterfaces.h"
#include "llmc/Solvers/Blocks/BlockFinder.h"
#include "llmc/Support/HostTensor.h"
#include "llmc/Transforms/Training/Passes.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallVectorExtras.h"
#include <map>

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
  // A first layer may take an argument where the others take results.
  for (Value operand : op->getOperands()) {
    auto result = dyn_cast<OpResult>(operand);
    hash = llvm::hash_combine(hash, result ? result.getResultNumber() : 0u);
  }
  return hash;
}

namespace {
/// Ops of one block: one, or a loop with what leaves it.
struct BlockUnit {
  SmallVector<Operation *, 1> ops;
  bool isLoop = false;
};
} // namespace

static std::vector<BlockUnit> collectUnits(const dist::LoopRuns &loops,
                                           ArrayRef<dist::LoopStep> steps) {
  std::vector<BlockUnit> units;
  llvm::SmallDenseMap<int, size_t> unitOf;
  for (const dist::LoopStep &step : steps) {
    auto leave = dyn_cast_or_null<dist::LeaveOp>(step.op);
    if (auto left = unitOf.find(leave ? loops.getLeft(leave) : -1);
        left != unitOf.end()) {
      units[left->second].ops.push_back(leave);
      continue;
    }
    if (step.run >= 0)
      unitOf[step.run] = units.size();
    units.push_back({llvm::to_vector<1>(loops.getOps(step)), step.run >= 0});
  }
  return units;
}

static int64_t countCost(Operation *op, const dist::LoopRuns &loops) {
  auto model = dyn_cast<graph::CostOpInterface>(op);
  if (!model)
    return 0;
  graph::OpCost cost = model.getCost();
  int64_t trips = 1;
  for (int run = loops.getRunOf(op); run >= 0; run = loops.getRuns()[run].in)
    if (!loops.getRuns()[run].loop.getConditional())
      trips *= loops.getRuns()[run].loop.getTrips();
  return trips * (cost.flops + cost.transcendentals + cost.bytesRead +
                  cost.bytesWritten);
}

static BlockGraph::Node makeSource(func::FuncOp function,
                                   BlockArgument argument) {
  BlockGraph::Node node;
  node.signature = hash_value(argument.getType());
  unsigned index = argument.getArgNumber();
  node.source =
      training::isParameter(function, index) ? BlockGraph::Source::Parameter
      : training::isInput(function, index)   ? BlockGraph::Source::Input
                                             : BlockGraph::Source::Other;
  return node;
}

/// Nodes for the arguments, then for `units`, which contain what they depend
/// on. Of a loop that counts which leaves it.
static BlockGraph buildGraph(func::FuncOp function, const dist::LoopRuns &loops,
                             ArrayRef<BlockUnit> units) {
  BlockGraph graph;
  llvm::DenseMap<Value, int32_t> nodes;
  for (BlockArgument argument : function.getArguments()) {
    nodes[argument] = graph.nodes.size();
    graph.nodes.push_back(makeSource(function, argument));
  }
  for (const BlockUnit &unit : units) {
    BlockGraph::Node node;
    for (Operation *op : unit.ops) {
      node.signature = unit.isLoop
                           ? llvm::hash_combine(node.signature, op->getName())
                           : llvm::hash_code(getSignature(function, op));
      for (Value operand : op->getOperands())
        if (auto known = nodes.find(operand); known != nodes.end())
          node.operands.push_back(known->second);
      node.cost += countCost(op, loops);
    }
    for (Operation *op : unit.ops)
      for (Value result : op->getResults()) {
        nodes[result] = graph.nodes.size();
        node.bytes += !unit.isLoop || isa<dist::LeaveOp>(op)
                          ? getBytes(result.getType())
                          : 0;
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

/// "3", or "2 and 4" where there are several kinds.
static std::string showRepeated(const BlockSolution &solution) {
  std::string text;
  for (const RepeatedBlocks &each : solution.repeated)
    text += (text.empty() ? "" : " and ") + std::to_string(each.count);
  return text.empty() ? "0" : text;
}

/// Numbers from 0 on for what stands in `keys`, in their order.
template <typename Key>
static SmallVector<int64_t> rankKeys(ArrayRef<Key> keys) {
  std::map<Key, int64_t> ranks;
  for (const Key &key : keys)
    ranks[key] = 0;
  for (auto [number, entry] : llvm::enumerate(ranks))
    entry.second = number;
  return llvm::map_to_vector(keys, [&](const Key &key) { return ranks[key]; });
}

/// Each loop is a block, and so is what stands between two of them. Of a graph
/// that has been cut, `cut` is the block of each unit, which these divide.
static SmallVector<int64_t> numberByLoops(ArrayRef<BlockUnit> units,
                                          ArrayRef<int32_t> cut = {}) {
  SmallVector<std::pair<int32_t, int64_t>> keys;
  int64_t stretch = 0;
  for (auto [number, unit] : llvm::enumerate(units)) {
    stretch += unit.isLoop;
    keys.push_back({cut.empty() ? 0 : cut[number], stretch});
    stretch += unit.isLoop;
  }
  return rankKeys(ArrayRef(keys));
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
  LogicalResult markBlocks(func::FuncOp function);
  LogicalResult markLoops(func::FuncOp function, const BlockGraph &graph,
                          std::vector<BlockUnit> units);

  /// Each chunk of a pipeline gets a block at least.
  int32_t countChunks() {
    return static_cast<int32_t>(training::countChunks(getOperation()));
  }
};
} // namespace

static void setMarks(const BlockUnit &unit, int64_t block) {
  for (Operation *op : unit.ops)
    training::setBlockMark(op, block);
}

static LogicalResult checkSolution(func::FuncOp function,
                                   const BlockGraph &graph,
                                   const BlockSolution &solution) {
  std::string fault = graph.check();
  if (fault.empty())
    fault = solution.verify(graph);
  if (!fault.empty())
    return function.emitOpError() << "has no valid blocks: " << fault;
  return success();
}

/// Where there are fewer loops, and stretches between them, than chunks, the
/// stretches are cut too; constants go where they are used.
LogicalResult FindBlocksPass::markLoops(func::FuncOp function,
                                        const BlockGraph &graph,
                                        std::vector<BlockUnit> units) {
  SmallVector<int64_t> blocks = numberByLoops(units);
  if (*llvm::max_element(blocks) + 1 < countChunks()) {
    BlockSolution cut = cutBlocks(graph, countChunks());
    if (failed(checkSolution(function, graph, cut)))
      return failure();
    std::vector<BlockUnit> computed;
    SmallVector<int32_t> blocksOfCut;
    size_t node = function.getNumArguments();
    for (BlockUnit &unit : units) {
      int32_t block = cut.block[node++];
      if (unit.ops.front()->hasTrait<OpTrait::ConstantLike>())
        continue;
      computed.push_back(std::move(unit));
      blocksOfCut.push_back(block);
    }
    units = std::move(computed);
    blocks = numberByLoops(units, blocksOfCut);
  }
  for (auto [unit, block] : llvm::zip_equal(units, blocks))
    setMarks(unit, block);
  training::markNewBlocks(function, *llvm::max_element(blocks));
  remark::analysis(function.getLoc(), training::remarkOf("blocks"))
      << std::to_string(llvm::count_if(
             units, [](const BlockUnit &unit) { return unit.isLoop; }))
      << " loops are blocks of @" << function.getName();
  return success();
}

LogicalResult FindBlocksPass::markBlocks(func::FuncOp function) {
  dist::LoopRuns loops(function.front());
  std::vector<BlockUnit> units =
      collectUnits(loops, training::collectForward(function, loops));
  BlockGraph graph = buildGraph(function, loops, units);
  // Loops of the derivative alone stand where what they read is made.
  if (llvm::any_of(units, [](const BlockUnit &unit) { return unit.isLoop; }))
    return markLoops(function, graph, std::move(units));
  BlockSolution solution = findBlocks(graph);
  if (countBlocks(solution) < countChunks())
    if (BlockSolution cut = cutBlocks(graph, countChunks()); cut.numCut)
      solution = std::move(cut);
  if (failed(checkSolution(function, graph, solution)))
    return failure();
  size_t node = function.getNumArguments();
  for (const BlockUnit &unit : units)
    setMarks(unit, solution.block[node++]);
  training::markNewBlocks(function, solution.getLastBlock());
  if (solution.numCut)
    remark::analysis(function.getLoc(), training::remarkOf("blocks"))
        << "cut @" << function.getName() << " into "
        << std::to_string(solution.numCut) << " blocks, one for each chunk";
  else
    remark::analysis(function.getLoc(), training::remarkOf("blocks"))
        << "found " << showRepeated(solution) << " repeated blocks in @"
        << function.getName();
  return success();
}
