//===- SampleLoop.cpp - A loop whose samples end by themselves ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See SampleLoop.h.
//
// Tests: test/Import/StableHLO/sample-loops.mlir, test/EndToEnd/loops.test
//===----------------------------------------------------------------------===//

#include "SampleLoop.h"
#include "BoundedLoop.h"
#include "LoopNumbers.h"
#include "llmc/Dialect/Graph/IR/GraphInterfaces.h"
#include "llmc/Dialect/StableHLO/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::stablehlo;

//===----------------------------------------------------------------------===//
// What the text says
//===----------------------------------------------------------------------===//

/// The condition is whether any of several flags holds.
bool SampleLoop::matchFlags() {
  Value condition = loop.getCond().front().getTerminator()->getOperand(0);
  auto any = condition.getDefiningOp<ReduceOp>();
  if (!any || any.getInputs().size() != 1 ||
      cast<RankedTensorType>(condition.getType()).getRank() != 0 ||
      reduceKindOf(any.getBody()) != ReductionKind::bitOr ||
      !isNeutral(any.getInitValues().front(), ReductionKind::bitOr))
    return false;
  flags = any.getInputs().front();
  return true;
}

/// The value of which `value` has the dims, each as it is, and others; `dims`
/// becomes the dims of `value` that they are.
static Value lookThroughBroadcasts(Value value, SmallVector<int64_t> &dims) {
  auto shapeOf = [](Value value) {
    return cast<RankedTensorType>(value.getType()).getShape();
  };
  dims = llvm::to_vector(
      llvm::seq<int64_t>(0, static_cast<int64_t>(shapeOf(value).size())));
  while (auto broadcast = value.getDefiningOp<BroadcastInDimOp>()) {
    SmallVector<int64_t> of;
    for (auto [from, to] :
         llvm::enumerate(broadcast.getBroadcastDimensions())) {
      if (shapeOf(broadcast.getOperand())[from] != shapeOf(value)[to])
        return value;
      of.push_back(dims[to]);
    }
    dims = std::move(of);
    value = broadcast.getOperand();
  }
  return value;
}

/// It stays as it is in all trips, or in those in which its sample does not go
/// on.
bool SampleLoop::matchCarried(unsigned number) {
  Block &body = loop.getBody().front();
  Value own = body.getArgument(number);
  Value next = body.getTerminator()->getOperand(number);
  Carried &value = carried[number];
  value.isSame = next == own;
  if (value.isSame)
    return true;
  auto choice = next.getDefiningOp<SelectOp>();
  if (!choice || choice.getOnFalse() != own)
    return false;
  Value pred = lookThroughBroadcasts(choice.getPred(), value.dims);
  if (pred.getType() != flags.getType() || (mask && mask != pred) ||
      !pred.getDefiningOp())
    return false;
  mask = pred;
  value.next = choice.getOnTrue();
  return true;
}

/// Whether the body computes of what it has what the condition has computed of
/// the same.
bool SampleLoop::areAlike(Value ofCondition, Value ofBody) {
  if (ofCondition == ofBody || alike.lookup(ofCondition) == ofBody)
    return true;
  auto result = dyn_cast<OpResult>(ofCondition);
  auto other = dyn_cast<OpResult>(ofBody);
  if (!result || !other || result.getResultNumber() != other.getResultNumber())
    return false;
  bool isEqual = OperationEquivalence::isEquivalentTo(
      result.getOwner(), other.getOwner(),
      [&](Value a, Value b) { return success(areAlike(a, b)); },
      [&](Value a, Value b) { alike[a] = b; },
      OperationEquivalence::IgnoreLocations);
  if (isEqual)
    alike[ofCondition] = ofBody;
  return isEqual;
}

//===----------------------------------------------------------------------===//
// What ends a sample
//===----------------------------------------------------------------------===//

/// Whether a value of a trip is the same in all trips.
bool SampleLoop::isSame(Value value) const {
  if (!loop->isProperAncestor(value.getParentBlock()->getParentOp()) &&
      value.getParentBlock()->getParentOp() != loop)
    return true;
  if (auto argument = dyn_cast<BlockArgument>(value))
    return argument.getOwner()->getParentOp() == loop &&
           carried[argument.getArgNumber()].isSame;
  llvm::SetVector<Value> read(value.getDefiningOp()->operand_begin(),
                              value.getDefiningOp()->operand_end());
  getUsedValuesDefinedAbove(value.getDefiningOp()->getRegions(), read);
  return llvm::all_of(read, [&](Value operand) { return isSame(operand); });
}

/// Whether each part of a value of a trip along `dim` is computed of what is
/// carried of its sample alone, that of dim `flagDim` of the flags.
bool SampleLoop::isOfSample(Value value, int64_t dim, unsigned flagDim) {
  if (isSame(value))
    return true;
  if (auto argument = dyn_cast<BlockArgument>(value))
    return carried[argument.getArgNumber()].dims[flagDim] == dim;
  auto [known, isNew] = ofSample.try_emplace({value, dim}, false);
  if (!isNew)
    return known->second;
  bool is = isResultOfSample(cast<OpResult>(value), dim, flagDim);
  ofSample[{value, dim}] = is;
  return is;
}

bool SampleLoop::isResultOfSample(OpResult result, int64_t dim,
                                  unsigned flagDim) {
  Operation *op = result.getOwner();
  auto model = dyn_cast<graph::ShardingRuleOpInterface>(op);
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(op->getRegions(), captured);
  if (!model || !llvm::all_of(captured, [&](Value v) { return isSame(v); }))
    return false;
  graph::ShardingRule rule = model.getShardingRule();
  ArrayRef<int> factors = rule.results[result.getResultNumber()][dim];
  if (factors.size() != 1 ||
      rule.factors[factors[0]].kind != graph::FactorKind::Pass)
    return false;
  for (auto [number, operand] : llvm::enumerate(op->getOperands())) {
    bool isFound = false;
    for (auto [d, own] : llvm::enumerate(rule.operands[number])) {
      if (!llvm::is_contained(own, factors[0]))
        continue;
      isFound = true;
      if (own.size() != 1 ||
          !isOfSample(operand, static_cast<int64_t>(d), flagDim))
        return false;
    }
    if (!isFound && !isSame(operand))
      return false;
  }
  return true;
}

/// Whether samples that differ along a dim of the flags know nothing of each
/// other: neither where they end nor what they become.
bool SampleLoop::keepsApart(int64_t flagDim) {
  ofSample.clear();
  return isOfSample(flags, flagDim, flagDim) &&
         llvm::all_of(carried, [&](const Carried &value) {
           return value.isSame ||
                  isOfSample(value.next, value.dims[flagDim], flagDim);
         });
}

//===----------------------------------------------------------------------===//
// The bound
//===----------------------------------------------------------------------===//

/// Numbers beyond this are no counters, as in LoopNumbers.cpp.
static constexpr int64_t kGreatestNumber = int64_t(1) << 51;

/// The integer that all elements of the value are in all trips.
std::optional<int64_t> SampleLoop::getNumber(Value value) const {
  if (auto argument = dyn_cast<BlockArgument>(value);
      argument && argument.getOwner()->getParentOp() == loop &&
      carried[argument.getArgNumber()].isSame)
    value = loop->getOperand(argument.getArgNumber());
  auto element = dyn_cast_or_null<IntegerAttr>(getSplatElement(value));
  if (!element || element.getValue().getBitWidth() > 64)
    return std::nullopt;
  int64_t number = element.getType().isUnsignedInteger()
                       ? static_cast<int64_t>(element.getValue().getZExtValue())
                       : element.getValue().getSExtValue();
  return number < -kGreatestNumber || number > kGreatestNumber
             ? std::nullopt
             : std::optional(number);
}

/// Trips of a sample in which a part of the condition holds: it compares a
/// counter with a number.
std::optional<int64_t> SampleLoop::countTrips(Value part) {
  auto compare = part.getDefiningOp<CompareOp>();
  if (!compare)
    return std::nullopt;
  Value lhs = compare.getLhs(), rhs = compare.getRhs();
  ComparisonDirection direction = compare.getComparisonDirection();
  if (!isa<BlockArgument>(lhs)) {
    std::swap(lhs, rhs);
    direction = turn(direction);
  }
  auto argument = dyn_cast<BlockArgument>(lhs);
  if (!argument || argument.getOwner() != &loop.getCond().front() ||
      carried[argument.getArgNumber()].isSame)
    return std::nullopt;
  unsigned number = argument.getArgNumber();
  Value own = loop.getBody().front().getArgument(number);
  Operation *op = carried[number].next.getDefiningOp();
  if (!isa_and_present<AddOp, SubtractOp>(op))
    return std::nullopt;
  bool isDown = isa<SubtractOp>(op);
  bool isSecond = !isDown && op->getOperand(1) == own;
  std::optional<int64_t> first = getNumber(loop->getOperand(number)),
                         step = getNumber(op->getOperand(isSecond ? 0 : 1)),
                         end = getNumber(rhs);
  if (op->getOperand(isSecond ? 1 : 0) != own || !first || !step || !end)
    return std::nullopt;
  Sequence counter{*first, isDown ? -*step : *step};
  std::optional<int64_t> found =
      stablehlo::countTrips(counter, *end, direction);
  Type element = getElementTypeOrSelf(own.getType());
  return found && fitsCounter(element, counter, *found) ? found : std::nullopt;
}

SampleLoop::SampleLoop(WhileOp loop)
    : loop(loop), carried(loop->getNumOperands()) {
  if (!matchFlags())
    return;
  Block &cond = loop.getCond().front(), &body = loop.getBody().front();
  for (unsigned i = 0; i < carried.size(); ++i) {
    if (!matchCarried(i))
      return;
    alike[cond.getArgument(i)] = body.getArgument(i);
  }
  if (!mask || !areAlike(flags, mask))
    return;
  int64_t rank = cast<RankedTensorType>(flags.getType()).getRank();
  for (int64_t dim = 0; dim < rank; ++dim)
    if (!keepsApart(dim))
      return;
  for (Value part : splitConjunction(flags))
    if (std::optional<int64_t> found = countTrips(part))
      trips = std::min(*found, trips.value_or(*found));
}

//===----------------------------------------------------------------------===//
// The counted loop
//===----------------------------------------------------------------------===//

/// The loop, whose condition counts, with an empty body.
WhileOp SampleLoop::makeLoop(OpBuilder &b) {
  Location loc = loop.getLoc();
  SmallVector<Value> start(loop->getOperands());
  start.push_back(scalar(b, loc, b.getI32Type(), 0));
  WhileOp counted = makeEmptyLoop(b, loop, start);
  OpBuilder::InsertionGuard guard(b);
  Block &cond = counted.getCond().front();
  b.setInsertionPointToStart(&cond);
  Value end =
      scalar(b, loc, b.getI32Type(), static_cast<double>(trips.value()));
  Value goesOn = stablehlo::compare(b, loc, ComparisonDirection::LT,
                                    cond.getArguments().back(), end);
  ReturnOp::create(b, loc, goesOn);
  return counted;
}

/// What a carried value is where its sample goes on, and where it does not.
Value SampleLoop::select(OpBuilder &b, unsigned number, Value on, Value onTrue,
                         Value onFalse) {
  auto type = cast<RankedTensorType>(onTrue.getType()).clone(b.getI1Type());
  ArrayRef<int64_t> dims = carried[number].dims;
  if (on.getType() != type || !llvm::is_sorted(dims))
    on = broadcastInDim(b, loop.getLoc(), on, type, dims);
  return stablehlo::select(b, loop.getLoc(), on, onTrue, onFalse);
}

void SampleLoop::buildBody(OpBuilder &b, Block &block) {
  Location loc = loop.getLoc();
  b.setInsertionPointToStart(&block);
  unsigned numValues = carried.size();
  IRMapping mapping;
  Block &cond = loop.getCond().front(), &from = loop.getBody().front();
  mapping.map(cond.getArguments(), block.getArguments().take_front(numValues));
  for (Operation &op : cond.without_terminator())
    b.clone(op, mapping);
  Value on = mapping.lookupOrDefault(flags);
  auto choose = [&](unsigned i, Value onTrue, Value onFalse) {
    return select(b, i, on, onTrue, onFalse);
  };
  for (unsigned i = 0; i < numValues; ++i) {
    Value own = block.getArgument(i);
    mapping.map(from.getArgument(i),
                carried[i].isSame ? own : choose(i, own, loop->getOperand(i)));
  }
  mapping.map(mask, on);
  for (Operation &op : from.without_terminator())
    if (&op != mask.getDefiningOp())
      b.clone(op, mapping);
  SmallVector<Value> next;
  for (unsigned i = 0; i < numValues; ++i) {
    Value own = block.getArgument(i);
    next.push_back(
        carried[i].isSame
            ? own
            : choose(i, mapping.lookupOrDefault(carried[i].next), own));
  }
  Value number = block.getArguments().back();
  next.push_back(
      stablehlo::add(b, loc, number, constantLike(b, loc, number, 1)));
  ReturnOp::create(b, loc, next);
  for (Operation &op : llvm::make_early_inc_range(llvm::reverse(block)))
    if (isOpTriviallyDead(&op))
      op.erase();
}

void SampleLoop::build(OpBuilder &builder, SmallVectorImpl<Value> &results) {
  WhileOp counted = makeLoop(builder);
  OpBuilder::InsertionGuard guard(builder);
  buildBody(builder, counted.getBody().front());
  results.append(counted->result_begin(),
                 counted->result_begin() + carried.size());
}
