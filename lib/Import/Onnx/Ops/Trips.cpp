//===- Trips.cpp - Loops of a known number of trips -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The body of a loop is built first, since the types of the stacks that the
// loop makes follow from it; then it moves into a loop that has them.
//
//===----------------------------------------------------------------------===//

#include "Trips.h"
#include "../TripProbe.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::onnx;
namespace hlo = llmc::stablehlo;

/// Of a stack: more fit into no memory.
static constexpr int64_t kMostElements = int64_t(1) << 50;

namespace {
class TripLoop {
public:
  TripLoop(NodeImport &node, const TripOperands &operands)
      : node(node), b(node.b), loc(node.loc), operands(operands) {}

  rt::Result<SmallVector<Value>> build(TripBody body);

private:
  SmallVector<Value> startOf(Value x, Value number) const;
  Value readRow(Value stack, Value number) const;
  Value writeRow(Value stack, Value row, Value number) const;
  rt::Result<SmallVector<Value>> buildBody(Block &block, TripBody body);
  rt::Result<SmallVector<int64_t>> stackShape(Value row) const;
  void buildCondition(Block &block) const;
  Operation *makeLoop(ArrayRef<Value> start) const;

  NodeImport &node;
  OpBuilder &b;
  Location loc;
  const TripOperands &operands;
};
} // namespace

SmallVector<Value> TripLoop::startOf(Value x, Value number) const {
  SmallVector<Value> starts(rankOf(x), node.integersAsTensor({0}, {}));
  starts.front() = number;
  return starts;
}

Value TripLoop::readRow(Value stack, Value number) const {
  SmallVector<int64_t> sizes(shapeOf(stack));
  sizes.front() = 1;
  Value row =
      hlo::DynamicSliceOp::create(b, loc, stack, startOf(stack, number), sizes);
  return hlo::reshape(b, loc, row, shapeOf(stack).drop_front());
}

Value TripLoop::writeRow(Value stack, Value row, Value number) const {
  SmallVector<int64_t> shape(shapeOf(row));
  shape.insert(shape.begin(), 1);
  return hlo::DynamicUpdateSliceOp::create(
      b, loc, stack, hlo::reshape(b, loc, row, shape), startOf(stack, number));
}

/// [trips, ...], if its elements can be counted.
rt::Result<SmallVector<int64_t>> TripLoop::stackShape(Value row) const {
  int64_t elements = 0,
          most = std::max<int64_t>(
              cast<RankedTensorType>(row.getType()).getNumElements(), 1);
  if (llvm::MulOverflow(operands.trips, most, elements) ||
      elements > kMostElements)
    return node.unsupported("expected a loop to collect at most " +
                            std::to_string(kMostElements) + " elements, got " +
                            show(row.getType()) + " of " +
                            std::to_string(operands.trips) + " trips");
  SmallVector<int64_t> shape(shapeOf(row));
  shape.insert(shape.begin(), operands.trips);
  return shape;
}

/// Block arguments: the trip's number, what is carried, the stacks that are
/// made. Returns the stacks before the first trip.
rt::Result<SmallVector<Value>> TripLoop::buildBody(Block &block,
                                                   TripBody body) {
  SmallVector<Value> before;
  OpBuilder::InsertionGuard guard(b);
  auto scalar = RankedTensorType::get({}, b.getI64Type());
  Value number = block.addArgument(scalar, loc);
  SmallVector<Value> carried, rows;
  for (Value value : operands.carried)
    carried.push_back(block.addArgument(value.getType(), loc));
  b.setInsertionPointToStart(&block);
  for (Value stack : operands.stacks)
    rows.push_back(readRow(stack, number));
  node.importer.tripNumbers.push_back(number);
  rt::Result<SmallVector<Value>> made = body(number, carried, rows);
  node.importer.tripNumbers.pop_back();
  LLMC_TRY_ASSIGN(SmallVector<Value> results, std::move(made));
  SmallVector<Value> next = {
      hlo::add(b, loc, number, node.integersAsTensor({1}, {}))};
  for (auto [i, value] : llvm::enumerate(results)) {
    if (i >= carried.size()) {
      LLMC_TRY_ASSIGN(SmallVector<int64_t> shape, stackShape(value));
      Value stack = block.addArgument(
          RankedTensorType::get(shape, elementOf(value)), loc);
      before.push_back(stack);
      value = writeRow(stack, value, number);
    } else if (value.getType() != carried[i].getType()) {
      return node.unsupported("expected carried values of one type in all "
                              "trips, got " +
                              show(carried[i].getType()) + " and " +
                              show(value.getType()));
    }
    next.push_back(value);
  }
  hlo::ReturnOp::create(b, loc, next);
  return before;
}

void TripLoop::buildCondition(Block &block) const {
  OpBuilder::InsertionGuard guard(b);
  b.setInsertionPointToStart(&block);
  Value end = node.integersAsTensor({operands.trips}, {});
  hlo::ReturnOp::create(b, loc,
                        hlo::compare(b, loc, hlo::ComparisonDirection::LT,
                                     block.getArgument(0), end));
}

/// A loop whose condition is empty, and its body too.
Operation *TripLoop::makeLoop(ArrayRef<Value> start) const {
  OperationState state(loc, hlo::WhileOp::getOperationName(), start,
                       ValueRange(start).getTypes(), {});
  SmallVector<Location> locs(start.size(), loc);
  state.addRegion()->emplaceBlock().addArguments(ValueRange(start).getTypes(),
                                                 locs);
  state.addRegion();
  return b.create(state);
}

rt::Result<SmallVector<Value>> TripLoop::build(TripBody body) {
  SmallVector<Value> start = {node.integersAsTensor({0}, {})};
  start.append(operands.carried);
  Operation *first = makeLoop(start);
  LLMC_TRY_ASSIGN(SmallVector<Value> stacks,
                  buildBody(first->getRegion(1).emplaceBlock(), body));
  for (Value stack : stacks)
    start.push_back(node.splat(shapeOf(stack), elementOf(stack), 0));
  Operation *loop = makeLoop(start);
  loop->getRegion(1).takeBody(first->getRegion(1));
  first->erase();
  buildCondition(loop->getRegion(0).front());
  return SmallVector<Value>(loop->getResults().drop_front());
}

rt::Result<SmallVector<Value>> onnx::importRolled(NodeImport &node,
                                                  const TripOperands &operands,
                                                  TripBody body) {
  return TripLoop(node, operands).build(body);
}

//===----------------------------------------------------------------------===//
// Trips one by one
//===----------------------------------------------------------------------===//

static SmallVector<Value> takeRows(NodeImport &node, ArrayRef<Value> stacks,
                                   int64_t trip) {
  SmallVector<Value> rows;
  for (Value stack : stacks) {
    SmallVector<int64_t> starts(rankOf(stack), 0), limits(shapeOf(stack));
    starts[0] = trip, limits[0] = trip + 1;
    rows.push_back(hlo::reshape(
        node.b, node.loc, hlo::slice(node.b, node.loc, stack, starts, limits),
        shapeOf(stack).drop_front()));
  }
  return rows;
}

rt::Result<bool> onnx::areTripsAlike(NodeImport &node,
                                     const TripOperands &operands,
                                     TripBody body) {
  Value number = node.integersAsTensor({0}, {});
  SmallVector<Value> rows = takeRows(node, operands.stacks, 0);
  SmallVector<Value> inputs(operands.carried);
  llvm::append_range(inputs, rows);
  inputs.push_back(number);
  TripProbe probe(node.importer, inputs);
  LLMC_TRY_ASSIGN(SmallVector<Value> results,
                  body(number, operands.carried, rows));
  bool isAlike = probe.areTripsAlike() && !probe.areKnown(results);
  for (auto [from, to] : llvm::zip(operands.carried, results))
    isAlike &= from.getType() == to.getType();
  probe.undo();
  return isAlike;
}

rt::Result<Value> onnx::stackRows(NodeImport &node, ArrayRef<Value> rows) {
  if (rows.empty())
    return node.unsupported("expected at least one trip of a loop that "
                            "collects values, got none");
  SmallVector<Value> parts;
  for (Value row : rows) {
    if (row.getType() != rows.front().getType())
      return node.unsupported("expected collected values of one type, got " +
                              show(rows.front().getType()) + " and " +
                              show(row.getType()));
    SmallVector<int64_t> shape(shapeOf(row));
    shape.insert(shape.begin(), 1);
    parts.push_back(hlo::reshape(node.b, node.loc, row, shape));
  }
  return hlo::concatenate(node.b, node.loc, parts, 0);
}

rt::Result<SmallVector<Value>> onnx::importTrips(NodeImport &node,
                                                 const TripOperands &operands,
                                                 TripBody body) {
  if (operands.trips >= kFewestTrips) {
    LLMC_TRY_ASSIGN(bool isAlike, areTripsAlike(node, operands, body));
    if (isAlike)
      return importRolled(node, operands, body);
  }
  size_t numCarried = operands.carried.size();
  SmallVector<Value> carried(operands.carried);
  SmallVector<SmallVector<Value>> collected;
  for (int64_t trip = 0; trip < operands.trips; ++trip) {
    LLMC_TRY_ASSIGN(SmallVector<Value> results,
                    body(node.integersAsTensor({trip}, {}), carried,
                         takeRows(node, operands.stacks, trip)));
    carried.assign(results.begin(), results.begin() + numCarried);
    collected.resize(results.size() - numCarried);
    for (auto [i, list] : llvm::enumerate(collected))
      list.push_back(results[numCarried + i]);
  }
  for (ArrayRef<Value> rows : collected) {
    LLMC_TRY_ASSIGN(Value stack, stackRows(node, rows));
    carried.push_back(stack);
  }
  return carried;
}

Value onnx::moveDimension(NodeImport &node, Value x, int64_t from, int64_t to) {
  if (from == to)
    return x;
  SmallVector<int64_t> order = range(0, rankOf(x));
  order.erase(order.begin() + from);
  order.insert(order.begin() + to, from);
  return hlo::transpose(node.b, node.loc, x, order);
}
