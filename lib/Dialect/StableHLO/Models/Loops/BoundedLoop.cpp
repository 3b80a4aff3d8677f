//===- BoundedLoop.cpp - A loop that the run may end early ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See BoundedLoop.h.
//
// Tests: test/Import/StableHLO/bound-loops.mlir, test/EndToEnd/loops.test
//===----------------------------------------------------------------------===//

#include "BoundedLoop.h"
#include "LoopNumbers.h"
#include "SampleLoop.h"
#include "llmc/Dialect/Graph/IR/Expansion.h"
#include "llmc/Dialect/StableHLO/IR/Builders.h"
#include "llmc/Support/GraphTensor.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::stablehlo;

//===----------------------------------------------------------------------===//
// The condition
//===----------------------------------------------------------------------===//

/// Reads `x != 0`.
static bool isNotZero(CompareOp op) {
  Attribute element = getSplatElement(op.getRhs());
  auto integer = dyn_cast_or_null<IntegerAttr>(element);
  return op.getComparisonDirection() == ComparisonDirection::NE && integer &&
         integer.getValue().isZero();
}

/// The flag of which `value` is another form: of another shape, or 0 and 1 of
/// another type and back. `value` itself where it is none.
static Value stripFlag(Value value) {
  Value flag = value;
  while (Operation *op = value.getDefiningOp()) {
    auto compare = dyn_cast<CompareOp>(op);
    if (compare ? !isNotZero(compare) : !isa<ReshapeOp, ConvertOp>(op))
      break;
    value = op->getOperand(0);
    if (isBoolTensor(value.getType()))
      flag = value;
  }
  return flag;
}

namespace {
/// A condition as a conjunction.
struct BoundedCondition {
  explicit BoundedCondition(WhileOp loop);

  /// The part that counts the fewest trips; null where none counts.
  Value bound;
  /// The parts that the run decides.
  SmallVector<Value> rest;
};
} // namespace

WhileOp stablehlo::makeEmptyLoop(OpBuilder &builder, WhileOp loop,
                                 ValueRange start) {
  Location loc = loop.getLoc();
  OperationState state(loc, WhileOp::getOperationName(), start,
                       start.getTypes(), loop->getAttrs());
  SmallVector<Location> locs(start.size(), loc);
  for (int i = 0; i < 2; ++i)
    state.addRegion()->emplaceBlock().addArguments(start.getTypes(), locs);
  return cast<WhileOp>(builder.create(state));
}

SmallVector<Value> stablehlo::splitConjunction(Value flag) {
  SmallVector<Value> parts, work = {flag};
  while (!work.empty()) {
    Value value = stripFlag(work.pop_back_val());
    auto both = value.getDefiningOp<AndOp>();
    if (both)
      work.append({both.getRhs(), both.getLhs()});
    else
      parts.push_back(value);
  }
  return parts;
}

BoundedCondition::BoundedCondition(WhileOp loop) {
  Operation *end = loop.getCond().front().getTerminator();
  Value whole = end->getOperand(0);
  SmallVector<Value> parts = splitConjunction(whole);
  if (parts.size() == 1)
    return;
  std::optional<int64_t> fewest;
  for (Value part : parts) {
    // The loop as if there were no other part.
    end->setOperand(0, part);
    std::optional<int64_t> trips = LoopNumbers(loop).getTrips();
    if (!trips)
      rest.push_back(part);
    else if (!fewest || *trips < *fewest)
      std::tie(fewest, bound) = std::pair(trips, part);
  }
  end->setOperand(0, whole);
}

//===----------------------------------------------------------------------===//
// The counted loop
//===----------------------------------------------------------------------===//

namespace {
/// What becomes of one value that goes around.
enum class LoopRole { Counter, Invariant, Written, Chosen };

/// Builds what `boundLoop` does.
class Bounder {
public:
  Bounder(WhileOp loop, BoundedCondition condition, OpBuilder &builder);

  void build(SmallVectorImpl<Value> &results);

private:
  LoopRole classify(unsigned number, const LoopNumbers &numbers);
  DynamicUpdateSliceOp getWriter(unsigned number);
  WhileOp makeLoop();
  void buildCondition(Block &block);
  Value buildFlag(Block &block);
  void buildBody(Block &block);
  Value choose(unsigned number, Value flag, Value own, IRMapping &mapping);
  Value write(DynamicUpdateSliceOp op, Value flag, Value own,
              IRMapping &mapping);

  WhileOp loop;
  BoundedCondition condition;
  OpBuilder &b;
  Location loc;
  unsigned numValues;
  SmallVector<LoopRole> parts;
  /// The counters whose last numbers are carried beside them.
  SmallVector<unsigned> counters;
};
} // namespace

Bounder::Bounder(WhileOp loop, BoundedCondition found, OpBuilder &builder)
    : loop(loop), condition(std::move(found)), b(builder), loc(loop.getLoc()),
      numValues(loop->getNumOperands()) {
  Operation *end = loop.getCond().front().getTerminator();
  Value whole = end->getOperand(0);
  end->setOperand(0, condition.bound);
  LoopNumbers numbers(loop);
  end->setOperand(0, whole);
  for (unsigned i = 0; i < numValues; ++i) {
    parts.push_back(classify(i, numbers));
    if (parts[i] == LoopRole::Counter && !loop->getResult(i).use_empty())
      counters.push_back(i);
  }
}

/// What puts rows into the value, and makes all of the next one.
DynamicUpdateSliceOp Bounder::getWriter(unsigned number) {
  Block &body = loop.getBody().front();
  auto op = body.getTerminator()
                ->getOperand(number)
                .getDefiningOp<DynamicUpdateSliceOp>();
  bool isAll = op && op->getBlock() == &body &&
               op.getOperand() == body.getArgument(number) &&
               op.getResult().hasOneUse();
  return isAll ? op : DynamicUpdateSliceOp();
}

LoopRole Bounder::classify(unsigned number, const LoopNumbers &numbers) {
  Block &body = loop.getBody().front();
  if (body.getTerminator()->getOperand(number) == body.getArgument(number))
    return LoopRole::Invariant;
  if (numbers.getCounter(number))
    return LoopRole::Counter;
  return getWriter(number) ? LoopRole::Written : LoopRole::Chosen;
}

/// The loop, with empty blocks.
WhileOp Bounder::makeLoop() {
  SmallVector<Value> start(loop->getOperands());
  start.push_back(scalar(b, loc, b.getI1Type(), 1));
  for (unsigned number : counters)
    start.push_back(loop->getOperand(number));
  return makeEmptyLoop(b, loop, start);
}

/// Only the part that counts; what it does not read is never read.
void Bounder::buildCondition(Block &block) {
  b.setInsertionPointToStart(&block);
  IRMapping mapping;
  Block &from = loop.getCond().front();
  mapping.map(from.getArguments(), block.getArguments().take_front(numValues));
  for (Operation &op : from.without_terminator())
    b.clone(op, mapping);
  Value bound = mapping.lookupOrDefault(condition.bound);
  ReturnOp::create(b, loc, stablehlo::reshape(b, loc, bound, {}));
}

/// Whether the trip is one of the text: the one before was, and the rest of the
/// condition holds.
Value Bounder::buildFlag(Block &block) {
  IRMapping mapping;
  Block &from = loop.getCond().front();
  mapping.map(from.getArguments(), block.getArguments().take_front(numValues));
  for (Operation &op : from.without_terminator())
    b.clone(op, mapping);
  Value flag = block.getArgument(numValues);
  for (Value part : condition.rest) {
    Value holds = mapping.lookupOrDefault(part);
    flag = logicalAnd(b, loc, flag, stablehlo::reshape(b, loc, holds, {}));
  }
  return flag;
}

/// The rows, or those that are there: no other row is read or written.
Value Bounder::write(DynamicUpdateSliceOp op, Value flag, Value own,
                     IRMapping &mapping) {
  SmallVector<Value> starts;
  for (Value start : op.getStartIndices())
    starts.push_back(mapping.lookupOrDefault(start));
  Value rows = mapping.lookupOrDefault(op.getUpdate());
  Value old = DynamicSliceOp::create(
      b, loc, own, starts, cast<RankedTensorType>(rows.getType()).getShape());
  rows = stablehlo::select(b, loc, flag, rows, old);
  return DynamicUpdateSliceOp::create(b, loc, own, rows, starts);
}

/// What goes into the next trip.
Value Bounder::choose(unsigned number, Value flag, Value own,
                      IRMapping &mapping) {
  Block &from = loop.getBody().front();
  Value next = from.getTerminator()->getOperand(number);
  switch (parts[number]) {
  case LoopRole::Counter:
    return mapping.lookupOrDefault(next);
  case LoopRole::Invariant:
    return own;
  case LoopRole::Written:
    return write(getWriter(number), flag, own, mapping);
  case LoopRole::Chosen:
    return stablehlo::select(b, loc, flag, mapping.lookupOrDefault(next), own);
  }
  llvm_unreachable("a part is one of the four");
}

void Bounder::buildBody(Block &block) {
  b.setInsertionPointToStart(&block);
  Block &from = loop.getBody().front();
  Value flag = buildFlag(block);
  IRMapping mapping;
  llvm::DenseSet<Operation *> writers;
  for (unsigned i = 0; i < numValues; ++i) {
    Value own = block.getArgument(i);
    if (parts[i] == LoopRole::Written)
      writers.insert(getWriter(i));
    if (parts[i] == LoopRole::Chosen)
      own = stablehlo::select(b, loc, flag, own, loop->getOperand(i));
    mapping.map(from.getArgument(i), own);
  }
  for (Operation &op : from.without_terminator())
    if (!writers.contains(&op))
      b.clone(op, mapping);
  SmallVector<Value> next;
  for (unsigned i = 0; i < numValues; ++i)
    next.push_back(choose(i, flag, block.getArgument(i), mapping));
  next.push_back(flag);
  for (auto [i, number] : llvm::enumerate(counters)) {
    Value end = block.getArgument(numValues + 1 + i);
    next.push_back(stablehlo::select(b, loc, flag, next[number], end));
  }
  ReturnOp::create(b, loc, next);
}

void Bounder::build(SmallVectorImpl<Value> &results) {
  WhileOp counted = makeLoop();
  OpBuilder::InsertionGuard guard(b);
  buildCondition(counted.getCond().front());
  buildBody(counted.getBody().front());
  results.append(counted->result_begin(), counted->result_begin() + numValues);
  for (auto [i, number] : llvm::enumerate(counters))
    results[number] = counted->getResult(numValues + 1 + i);
}

bool stablehlo::hasBound(WhileOp loop) {
  BoundedCondition condition(loop);
  return (condition.bound && !condition.rest.empty()) ||
         SampleLoop(loop).getTrips();
}

void stablehlo::boundLoop(WhileOp loop, OpBuilder &builder,
                          SmallVectorImpl<Value> &results) {
  SampleLoop samples(loop);
  if (samples.getTrips())
    samples.build(builder, results);
  else
    Bounder(loop, BoundedCondition(loop), builder).build(results);
}

void stablehlo::boundLoopsIn(WhileOp loop) {
  SmallVector<WhileOp> inner;
  loop.getBody().walk([&](WhileOp op) { inner.push_back(op); });
  for (WhileOp op : inner) {
    if (!hasBound(op))
      continue;
    OpBuilder builder(op);
    SmallVector<Value> results;
    boundLoop(op, builder, results);
    op->replaceAllUsesWith(results);
    op->erase();
  }
}
