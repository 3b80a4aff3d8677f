//===- KeptLoop.cpp - One trip stands for all -----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See CountedLoop.h. Rows that are read in another order than that of the trips
// are put in that order before the loop, and such that are written are put in
// their places after it.
//
// Test: test/Import/StableHLO/keep-loops.mlir
//===----------------------------------------------------------------------===//

#include "../Movement.h"
#include "CountedLoop.h"
#include "llmc/Dialect/Dist/IR/Dist.h"
#include "llmc/Dialect/StableHLO/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/RegionUtils.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::stablehlo;

static RankedTensorType getTensor(Value value) {
  return cast<RankedTensorType>(value.getType());
}

//===----------------------------------------------------------------------===//
// Stacks
//===----------------------------------------------------------------------===//

/// Moves a dimension; the others stay in their order.
static Value moveDim(OpBuilder &b, Location loc, Value value, int64_t from,
                     int64_t to) {
  SmallVector<int64_t> order;
  for (int64_t d = 0; d < getTensor(value).getRank(); ++d)
    if (d != from)
      order.push_back(d);
  order.insert(order.begin() + to, from);
  return stablehlo::transpose(b, loc, value, order);
}

namespace {
/// Where the rows of all trips lie in a value.
struct RowBox {
  RowBox(const TripRows &rows, int64_t trips)
      : dim(rows.dim), isReversed(rows.positions.step < 0),
        step(std::abs(rows.positions.step)),
        low(std::min(rows.positions.first, rows.positions.at(trips - 1))),
        high(low + step * (trips - 1) + 1) {}

  /// The rows in the order of the trips, along the first dimension.
  Value take(OpBuilder &b, Location loc, Value from) const;
  /// `from` with such rows in their places.
  Value put(OpBuilder &b, Location loc, Value rows, Value from) const;

private:
  Value cut(OpBuilder &b, Location loc, Value from, int64_t begin, int64_t end,
            int64_t stride = 1) const;
  Value putApart(OpBuilder &b, Location loc, Value rows, Value from) const;

  int64_t dim;
  bool isReversed;
  int64_t step, low, high;
};
} // namespace

Value RowBox::cut(OpBuilder &b, Location loc, Value from, int64_t begin,
                  int64_t end, int64_t stride) const {
  RankedTensorType type = getTensor(from);
  if (begin == 0 && end == type.getDimSize(dim) && stride == 1)
    return from;
  SmallVector<int64_t> starts(type.getRank(), 0), limits(type.getShape()),
      strides(type.getRank(), 1);
  starts[dim] = begin;
  limits[dim] = end;
  strides[dim] = stride;
  return stablehlo::slice(b, loc, from, starts, limits, strides);
}

Value RowBox::take(OpBuilder &b, Location loc, Value from) const {
  Value rows = cut(b, loc, from, low, high, step);
  if (isReversed)
    rows = stablehlo::reverse(b, loc, rows, {dim});
  return moveDim(b, loc, rows, dim, 0);
}

/// The rows have others between them: they are spread, and chosen.
Value RowBox::putApart(OpBuilder &b, Location loc, Value rows,
                       Value from) const {
  RankedTensorType type = getTensor(from);
  SmallVector<int64_t> before(type.getRank(), 0), after(type.getRank(), 0),
      between(type.getRank(), 0);
  before[dim] = low;
  after[dim] = type.getDimSize(dim) - high;
  between[dim] = step - 1;
  auto spread = [&](Value value) {
    Value zero =
        stablehlo::scalar(b, loc, getTensor(value).getElementType(), 0);
    return stablehlo::pad(b, loc, value, zero, before, after, between);
  };
  RankedTensorType flags = getTensor(rows).clone(b.getI1Type());
  Value isRow = spread(stablehlo::constantSplat(b, loc, flags, 1));
  return stablehlo::select(b, loc, isRow, spread(rows), from);
}

Value RowBox::put(OpBuilder &b, Location loc, Value rows, Value from) const {
  rows = moveDim(b, loc, rows, 0, dim);
  if (isReversed)
    rows = stablehlo::reverse(b, loc, rows, {dim});
  if (step != 1)
    return putApart(b, loc, rows, from);
  int64_t end = getTensor(from).getDimSize(dim);
  SmallVector<Value> pieces;
  if (low > 0)
    pieces.push_back(cut(b, loc, from, 0, low));
  pieces.push_back(rows);
  if (high < end)
    pieces.push_back(cut(b, loc, from, high, end));
  return pieces.size() == 1 ? rows
                            : stablehlo::concatenate(b, loc, pieces, dim);
}

//===----------------------------------------------------------------------===//
// Keeping it
//===----------------------------------------------------------------------===//

namespace {
/// Builds what `keepLoop` does.
class Keeper {
public:
  Keeper(CountedLoop &counted, OpBuilder &builder)
      : counted(counted), loop(counted.loop), builder(builder),
        loc(loop->getLoc()),
        attr(dist::LoopAttr::get(builder.getContext(), makeLoopName(loop),
                                 *counted.getTrips(), findTrips(loop))) {}

  void enter();
  void copyBody();
  void leave(SmallVectorImpl<Value> &results);

private:
  Value enter(Value value, dist::EnterKind kind, int64_t number = -1) {
    return dist::EnterOp::create(builder, loc, value, kind, attr, number);
  }
  Value leave(Value value, dist::LeaveKind kind) {
    return dist::LeaveOp::create(builder, loc, value, kind, attr);
  }
  Value makeCounter(unsigned number);
  void enterCaptured();
  Value getStack(Value value);
  bool copyRead(DynamicSliceOp slice);
  Value leaveRows(unsigned number);
  Value leaveLast(unsigned number);
  Value leaveCounter(unsigned number);

  CountedLoop &counted;
  WhileOp loop;
  OpBuilder &builder;
  Location loc;
  dist::LoopAttr attr;
  IRMapping mapping;
  /// What has entered by rows.
  SmallVector<std::tuple<Value, TripRows, Value>> rows;
  llvm::DenseSet<Operation *> writers;
};
} // namespace

StringAttr stablehlo::makeLoopName(WhileOp loop) {
  llvm::DenseSet<Attribute> taken;
  for (auto other : loop->getBlock()->getOps<dist::EnterOp>())
    taken.insert(other.getLoop().getName());
  for (int64_t number = 0;; ++number) {
    auto name =
        StringAttr::get(loop->getContext(), "loop" + std::to_string(number));
    if (!taken.contains(name))
      return name;
  }
}

/// A counter, as a row of its numbers.
Value Keeper::makeCounter(unsigned number) {
  RankedTensorType scalar = getTensor(loop->getOperand(number));
  auto type =
      RankedTensorType::get({*counted.getTrips()}, scalar.getElementType());
  Sequence counter = counted.getCounter(number);
  Value numbers = stablehlo::iota(builder, loc, type, 0);
  if (counter.step != 1)
    numbers = stablehlo::mul(
        builder, loc, numbers,
        stablehlo::constantLike(builder, loc, numbers, counter.step));
  if (counter.first != 0)
    numbers = stablehlo::add(
        builder, loc, numbers,
        stablehlo::constantLike(builder, loc, numbers, counter.first));
  return enter(numbers, dist::EnterKind::Row);
}

/// What the body reads from around the loop enters it too: its cotangents of
/// all trips are added up.
void Keeper::enterCaptured() {
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(loop.getBody(), captured);
  for (Value value : captured) {
    Operation *def = value.getDefiningOp();
    if (!def || !def->hasTrait<OpTrait::ConstantLike>())
      mapping.map(value, enter(value, dist::EnterKind::Same));
  }
}

void Keeper::enter() {
  using dist::EnterKind;
  enterCaptured();
  for (unsigned i = 0; i < loop->getNumOperands(); ++i) {
    Value from = loop->getOperand(i), own = counted.getBody().getArgument(i);
    switch (counted.getPart(i)) {
    case LoopPart::Counter:
      mapping.map(own, makeCounter(i));
      break;
    case LoopPart::Invariant:
      mapping.map(own, enter(from, EnterKind::Same));
      break;
    case LoopPart::Carried:
      mapping.map(own, enter(from, EnterKind::Carry, static_cast<int64_t>(i)));
      break;
    case LoopPart::Written:
      writers.insert(counted.getWriter(i));
      break;
    }
  }
}

/// The value before the loop whose rows a value of the body has; null where
/// trips change these.
Value Keeper::getStack(Value value) {
  if (auto argument = dyn_cast<BlockArgument>(value);
      argument && argument.getOwner() == &counted.getBody()) {
    unsigned number = argument.getArgNumber();
    LoopPart part = counted.getPart(number);
    bool isStack = part == LoopPart::Invariant || part == LoopPart::Written;
    return isStack ? loop->getOperand(number) : Value();
  }
  return loop.getBody().isAncestor(value.getParentRegion()) ? Value() : value;
}

/// A row that is read, which enters; false where other boxes are read.
bool Keeper::copyRead(DynamicSliceOp slice) {
  Value stack = getStack(slice.getOperand());
  std::optional<TripRows> place = stack ? counted.getRead(slice) : std::nullopt;
  if (!place)
    return false;
  auto known = llvm::find_if(rows, [&](const auto &entry) {
    return std::get<0>(entry) == stack && std::get<1>(entry) == *place;
  });
  if (known == rows.end()) {
    Value ordered =
        RowBox(*place, *counted.getTrips()).take(builder, loc, stack);
    rows.emplace_back(stack, *place, enter(ordered, dist::EnterKind::Row));
    known = std::prev(rows.end());
  }
  mapping.map(slice.getResult(),
              stablehlo::reshape(builder, slice.getLoc(), std::get<2>(*known),
                                 slice.getType().getShape()));
  return true;
}

void Keeper::copyBody() {
  for (Operation &op : counted.getBody().without_terminator()) {
    auto slice = dyn_cast<DynamicSliceOp>(op);
    if (!writers.contains(&op) && !(slice && copyRead(slice)))
      builder.clone(op, mapping);
  }
}

Value Keeper::leaveLast(unsigned number) {
  Value last = counted.getBody().getTerminator()->getOperand(number);
  Value next = dist::NextOp::create(
      builder, loc, mapping.lookup(counted.getBody().getArgument(number)),
      mapping.lookupOrDefault(last));
  return leave(next, dist::LeaveKind::Last);
}

Value Keeper::leaveRows(unsigned number) {
  DynamicUpdateSliceOp write = counted.getWriter(number);
  TripRows place = *counted.getWrite(write);
  SmallVector<int64_t> shape(getTensor(write).getShape());
  shape.erase(shape.begin() + place.dim);
  Value row = reshapeUpdate(builder, loc,
                            mapping.lookupOrDefault(write.getUpdate()), shape);
  return RowBox(place, *counted.getTrips())
      .put(builder, loc, leave(row, dist::LeaveKind::Stack),
           loop->getOperand(number));
}

Value Keeper::leaveCounter(unsigned number) {
  Value from = loop->getOperand(number);
  Sequence counter = counted.getCounter(number);
  return stablehlo::constantSplat(
      builder, loc, getTensor(from),
      static_cast<double>(counter.at(*counted.getTrips())));
}

void Keeper::leave(SmallVectorImpl<Value> &results) {
  for (unsigned i = 0; i < loop->getNumOperands(); ++i)
    switch (counted.getPart(i)) {
    case LoopPart::Counter:
      results.push_back(leaveCounter(i));
      break;
    case LoopPart::Invariant:
      results.push_back(loop->getOperand(i));
      break;
    case LoopPart::Carried:
      results.push_back(leaveLast(i));
      break;
    case LoopPart::Written:
      results.push_back(leaveRows(i));
      break;
    }
}

void stablehlo::keepLoop(WhileOp loop, OpBuilder &builder,
                         SmallVectorImpl<Value> &results) {
  CountedLoop counted(loop);
  Keeper keeper(counted, builder);
  keeper.enter();
  keeper.copyBody();
  keeper.leave(results);
}
