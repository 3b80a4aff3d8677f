//===- OpenLoops.cpp - Loops that have no derivative ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See OpenLoops.h.
//
// Test: test/Transforms/Training/open-loops.mlir
//===----------------------------------------------------------------------===//

#include "OpenLoops.h"
#include "../TrainingMarks.h"
#include "llmc/Dialect/Dist/IR/LoopRuns.h"
#include "llmc/Support/Refusal.h"

using namespace mlir;
using namespace llmc;

namespace {
/// Looks for the shortest way along active values.
class PathFinder {
public:
  explicit PathFinder(const llvm::DenseSet<Value> &active) : active(active) {}

  using Neighbours = llvm::function_ref<SmallVector<Value>(Value)>;
  /// The values from `start` on to the first at which `isEnd` holds; empty
  /// where there is no way.
  SmallVector<Value> find(Value start, Neighbours next,
                          llvm::function_ref<bool(Value)> isEnd) const;

private:
  const llvm::DenseSet<Value> &active;
};
} // namespace

SmallVector<Value>
PathFinder::find(Value start, Neighbours next,
                 llvm::function_ref<bool(Value)> isEnd) const {
  llvm::DenseMap<Value, Value> from = {{start, Value()}};
  SmallVector<Value> queue = {start};
  for (size_t i = 0; i < queue.size(); ++i) {
    if (isEnd(queue[i])) {
      SmallVector<Value> path;
      for (Value at = queue[i]; at; at = from.lookup(at))
        path.push_back(at);
      std::reverse(path.begin(), path.end());
      return path;
    }
    for (Value value : next(queue[i]))
      if (active.contains(value) && from.insert({value, queue[i]}).second)
        queue.push_back(value);
  }
  return {};
}

static SmallVector<Value> getOperands(Value value) {
  Operation *op = value.getDefiningOp();
  return op ? SmallVector<Value>(op->getOperands()) : SmallVector<Value>();
}

static SmallVector<Value> getUserResults(Value value) {
  SmallVector<Value> results;
  for (Operation *user : value.getUsers())
    llvm::append_range(results, user->getResults());
  return results;
}

/// "stablehlo.add -> stablehlo.dot_general -> ", the ends apart.
static std::string describeOps(ArrayRef<Value> path) {
  constexpr size_t most = 8;
  std::string text;
  for (auto [i, value] : llvm::enumerate(path)) {
    Operation *op = value.getDefiningOp();
    bool isShown = i < most / 2 || i + most / 2 >= path.size();
    if (op && isShown && op->getDialect()->getNamespace() != "dist")
      text += op->getName().getStringRef().str() + " -> ";
    else if (i == most / 2 && path.size() > most)
      text += "... -> ";
  }
  return text;
}

static std::string describePath(func::FuncOp function, const PathFinder &finder,
                                Value left, Value loss) {
  SmallVector<Value> back =
      finder.find(left, getOperands, llvm::IsaPred<BlockArgument>);
  SmallVector<Value> onward =
      finder.find(left, getUserResults, [&](Value v) { return v == loss; });
  std::string text;
  if (!back.empty()) {
    auto parameter = cast<BlockArgument>(back.back());
    if (FlatSymbolRefAttr state =
            training::getRead(function, parameter.getArgNumber()))
      text = "'" + state.getValue().str() + "' -> ";
    std::reverse(back.begin(), back.end());
    text += describeOps(ArrayRef(back).drop_front());
  }
  return text + "the loop -> " + describeOps(onward) + "the loss";
}

LogicalResult training::refuseOpenLoops(func::FuncOp function,
                                        const llvm::DenseSet<Value> &active,
                                        Value loss) {
  dist::LoopRuns loops(function.front());
  for (const dist::LoopRun &run : loops.getRuns()) {
    auto isActive = [&](dist::LeaveOp leave) {
      return active.contains(leave.getResult());
    };
    const auto *found = llvm::find_if(run.leaves, isActive);
    if (!run.loop.getConditional() || found == run.leaves.end())
      continue;
    dist::LeaveOp leave = *found;
    return emitRefusal(leave, rt::ErrorKind::unsupported)
           << "expected a loop with a bound ('i < N & ...'), or none, between "
              "parameters and loss, got one that its condition alone ends: "
           << describePath(function, PathFinder(active), leave.getResult(),
                           loss);
  }
  return success();
}
