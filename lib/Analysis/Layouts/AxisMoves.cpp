//===- AxisMoves.cpp - What is moved in place of sums ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An op carries a partial operand also where its other operands are split by
// the axis, if these are moved; and one that would add up terms may have its
// operands moved instead (docs/layout-algebra.md, section 6).
//
// Test: test/Transforms/Sharding/place-reductions-moves.mlir
//===----------------------------------------------------------------------===//

#include "AxisPlacer.h"
#include "llmc/Dialect/Dist/IR/LoopRuns.h"
#include "llvm/ADT/MapVector.h"

using namespace mlir;
using namespace llmc;
using dist::AxisAttr;
using dist::LayoutAttr;

//===----------------------------------------------------------------------===//
// What is moved
//===----------------------------------------------------------------------===//

Remaking::Program AxisPlacer::describe() {
  auto layoutOf = [&](Value value) -> LayoutAttr {
    auto result = dyn_cast<OpResult>(value);
    const OpLayouts *runs = runsOf.lookup(value.getDefiningOp());
    return result && runs && !runs->results.empty()
               ? runs->results[result.getResultNumber()]
               : table.layoutOf(value);
  };
  return {layoutOf,
          [](Operation *op) {
            return isa<dist::DistDialect>(op->getDialect()) &&
                           op->getNumOperands() > 0
                       ? std::nullopt
                       : std::optional(llvm::map_to_vector(op->getOperands(),
                                                           skipConstraints));
          },
          [&](Value value) -> ArrayRef<Attribute> {
            auto found = wanted.find(value);
            return found == wanted.end() ? ArrayRef<Attribute>()
                                         : found->second.getArrayRef();
          }};
}

SmallVector<int> AxisPlacer::findSplitOperands(const ProgramOp &item) const {
  SmallVector<int> operands;
  for (auto [i, operand] : llvm::enumerate(item.op->getOperands()))
    if (LayoutAttr layout = table.layoutOf(operand);
        layout && findSplit(layout, axis))
      operands.push_back(static_cast<int>(i));
  return operands;
}

/// What must be moved for the op to have these operands unsplit by the axis;
/// none where it may not be. What arguments are split by was given.
std::optional<MovedValues> AxisPlacer::findMoves(const ProgramOp &item,
                                                 ArrayRef<int> operands) {
  MovedValues found;
  if (isPipeline() || !isLight(item.op))
    return std::nullopt;
  for (int i : operands) {
    Value operand = item.op->getOperand(i);
    LayoutAttr layout = table.layoutOf(operand);
    if (!findSplit(layout, axis)->second)
      return std::nullopt;
    LayoutAttr want = withoutSplit(layout, axis);
    operand = skipConstraints(operand);
    if (wanted[operand].contains(want))
      continue;
    std::optional<Remaking::Way> way = remaking.find(operand, want);
    if (!way)
      return std::nullopt;
    for (const Remaking::Move &move : way->moves) {
      if (isa<BlockArgument>(move.value))
        return std::nullopt;
      std::pair<Value, Attribute> key(move.value, move.to);
      auto [number, isNew] = moves.try_emplace(key, problem.moves.size());
      if (isNew)
        problem.moves.push_back(move.cost * table.timesOf(move.value));
      found.insert(key);
    }
  }
  return found;
}

/// A source may have its operands gathered instead, of which more follow its
/// result than the sum.
void AxisPlacer::addWhole(const ProgramOp &item, PlacementProblem::Op &op) {
  std::optional<int> home = findHome(item);
  if (!home || item.rule->factors[*home].kind != graph::FactorKind::Reduced)
    return;
  std::optional<MovedValues> found = findMoves(item, findSplitOperands(item));
  if (!found)
    return;
  // What costs the same is added up.
  op.whole = 1;
  for (auto key : *found)
    op.whole += problem.moves[moves.lookup(key)];
  wholeMoves[static_cast<int32_t>(problem.ops.size())] = *found;
}

/// A group in which the op is linear, once all that stands outside is unsplit.
void AxisPlacer::addLinear(const ProgramOp &item, ArrayRef<int> group,
                           PlacementProblem::Op &op) {
  SmallVector<int> outside = findSplitOperands(item);
  llvm::erase_if(outside, [&](int i) { return llvm::is_contained(group, i); });
  std::optional<int> home = findHome(item);
  bool isReduced =
      home && item.rule->factors[*home].kind == graph::FactorKind::Reduced;
  if (!outside.empty() && isReduced)
    return;
  std::vector<int32_t> needed;
  if (!outside.empty()) {
    std::optional<MovedValues> found = findMoves(item, outside);
    if (!found)
      return;
    for (auto key : *found)
      needed.push_back(moves.lookup(key));
  }
  addGroup(item, group, op, std::move(needed));
}

/// What becomes nothing but a sum of microbatches is left to the rows of
/// states, which say how gradients are added up: its source does not run whole.
void AxisPlacer::leaveSums(const PlacementFlow &flow) {
  std::vector<bool> leaves(values.size(), true);
  for (size_t i = problem.ops.size(); i-- > 0;) {
    PlacementProblem::Op &op = problem.ops[i];
    bool isSum = sums.contains(static_cast<int32_t>(i));
    bool isLeft = isSum || llvm::all_of(op.results, [&](int32_t result) {
                    return leaves[result];
                  });
    if (isLeft)
      op.whole = -1;
    for (size_t use = 0; use < op.uses.size(); ++use)
      if (int32_t value = op.uses[use].value; value >= 0)
        leaves[value] = leaves[value] && isLeft &&
                        (isSum || isCarried(problem, flow, i, use));
  }
}

/// Whether there are new ones: what is moved for them is there for others too.
bool AxisPlacer::takeWholes(ArrayRef<int32_t> found) {
  for (int32_t op : found) {
    wholes.insert(opsOf.lookup(op));
    for (auto key : wholeMoves.lookup(op))
      if (wanted[key.first].insert(key.second))
        paid += problem.moves[moves.lookup(key)];
  }
  return !found.empty();
}

/// The longest chain of these ops, in their order, of which each waits for the
/// one before.
static int64_t countRounds(ArrayRef<Operation *> ops) {
  llvm::DenseMap<Operation *, int64_t> rounds;
  int64_t most = 0;
  for (Operation *op = ops.front(); op != ops.back()->getNextNode();
       op = op->getNextNode()) {
    int64_t waits = llvm::is_contained(ops, op);
    int64_t before = 0;
    for (Value operand : dist::getAllOperands(op))
      before = std::max(before, rounds.lookup(operand.getDefiningOp()));
    if (waits + before > 0)
      rounds[op] = waits + before;
    most = std::max(most, waits + before);
  }
  return most;
}

/// Sums of which none waits for another travel together, in buckets
/// (Transforms/Ordering), for one latency.
bool AxisPlacer::isDear(const Sharers &sharers) const {
  if (sharers.sums <= sharers.cost)
    return false;
  int64_t saved = sharers.numSums - countRounds(sharers.ops);
  return sharers.sums - saved * latency * table.timesOf(sharers.move.first) >
         sharers.cost;
}

/// Those whose sums, each by itself, cost less than the move, but together
/// more.
SmallVector<AxisPlacer::Sharers> AxisPlacer::findSharers() {
  llvm::MapVector<std::pair<Value, Attribute>, Sharers> found;
  for (auto [i, op] : llvm::enumerate(problem.ops)) {
    const MovedValues &needed = wholeMoves[static_cast<int32_t>(i)];
    if (!op.isSource || op.whole < 0 || needed.size() != 1)
      continue;
    Sharers &sharers = found[needed.front()];
    sharers.move = needed.front();
    sharers.cost = problem.moves[moves.lookup(needed.front())];
    sharers.ops.push_back(opsOf.lookup(static_cast<int32_t>(i)));
    for (int32_t result : op.results)
      if (const auto &prices = problem.values[result].prices; !prices.empty()) {
        sharers.sums += *llvm::min_element(prices);
        ++sharers.numSums;
      }
  }
  SmallVector<Sharers> dear;
  for (auto &[move, sharers] : found)
    if (isDear(sharers))
      dear.push_back(std::move(sharers));
  return dear;
}

/// Lets sources run whole together where one move for all of them costs less
/// than their sums.
LogicalResult AxisPlacer::shareMoves(ReductionPlacement &placement) {
  bool isKept = true;
  for (const Sharers &sharers : findSharers()) {
    auto savedWanted = wanted;
    auto savedWholes = wholes;
    int64_t before = placement.cost + paid, savedPaid = paid;
    ReductionPlacement next;
    wholes.insert(sharers.ops.begin(), sharers.ops.end());
    if (wanted[sharers.move.first].insert(sharers.move.second))
      paid += sharers.cost;
    if (failed(settle(next)))
      return failure();
    isKept = next.cost + paid < before;
    if (isKept) {
      placement = std::move(next);
      continue;
    }
    wanted = std::move(savedWanted);
    wholes = std::move(savedWholes);
    paid = savedPaid;
  }
  // The problem is that of the placement.
  return isKept ? success() : settle(placement);
}
