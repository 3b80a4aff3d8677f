//===- Control.cpp - Branches and loops -----------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A branch by a condition that is known is taken; of one that the run decides
// both are computed, and their results chosen. A loop whose trips are alike
// becomes a `stablehlo.while`, and so does one that the run ends; others, in
// which a node asks for the number of the trip, are imported trip by trip.
//
//===----------------------------------------------------------------------===//

#include "../GraphImporter.h"
#include "Trips.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::onnx;
namespace hlo = llmc::stablehlo;

/// The condition, where it is known.
static std::optional<bool> readCondition(NodeImport &node, Value condition) {
  std::optional<HostTensor> known = node.importer.getKnown(condition);
  if (!known || known->getNumElements() != 1)
    return std::nullopt;
  return known->getInt(0) != 0;
}

static rt::Status importIf(NodeImport &node) {
  LLMC_TRY_ASSIGN(const Graph *first, node.graph("then_branch"));
  LLMC_TRY_ASSIGN(const Graph *second, node.graph("else_branch"));
  if (node.type(0).getNumElements() != 1)
    return node.refuse("expected one condition, got " +
                       show(Type(node.type(0))));
  if (std::optional<bool> is = readCondition(node, node.input(0))) {
    LLMC_TRY_ASSIGN(SmallVector<Value> results,
                    node.importer.importBody(node, *is ? *first : *second, {}));
    return node.finish(results);
  }
  LLMC_TRY_ASSIGN(SmallVector<Value> one,
                  node.importer.importBody(node, *first, {}));
  LLMC_TRY_ASSIGN(SmallVector<Value> other,
                  node.importer.importBody(node, *second, {}));
  Value condition = hlo::reshape(node.b, node.loc, node.input(0), {});
  if (one.size() != other.size())
    return node.refuse("expected branches of equally many results, got " +
                       std::to_string(one.size()) + " and " +
                       std::to_string(other.size()));
  SmallVector<Value> results;
  for (auto [x, y] : llvm::zip_equal(one, other)) {
    if (x.getType() != y.getType())
      return node.unsupported(
          "expected results of one type where the run chooses the branch, "
          "got " +
          show(x.getType()) + " and " + show(y.getType()));
    results.push_back(hlo::select(node.b, node.loc, condition, x, y));
  }
  return node.finish(results);
}

namespace {
/// What the trips of a loop leave behind.
struct Trips {
  SmallVector<Value> carried;
  /// One list for each value that is collected.
  SmallVector<SmallVector<Value>> collected;
};
} // namespace

/// Before the first trip.
static rt::Result<Trips> startTrips(NodeImport &node, const Graph &body) {
  Trips trips;
  for (unsigned i = 2; i < node.numInputs(); ++i) {
    if (!node.has(i) || node.binding(i).isList)
      return node.unsupported("expected tensors as carried values, got others");
    trips.carried.push_back(node.input(i));
  }
  size_t results = trips.carried.size() + 1;
  if (body.outputs.size() < results)
    return node.refuse("expected a body of at least " +
                       std::to_string(results) + " results, got " +
                       std::to_string(body.outputs.size()));
  trips.collected.resize(body.outputs.size() - results);
  return trips;
}

namespace {
/// A loop while its trips are imported one by one.
struct LoopState {
  const Graph &body;
  /// The most trips; null where nothing says.
  Value most;
  /// Null where the loop has none: what the body says is not asked then.
  Value condition;
  Trips trips;
};
} // namespace

/// Whether there is another trip; nothing where the run decides.
static rt::Result<std::optional<bool>>
hasTrip(NodeImport &node, const LoopState &loop, int64_t trip) {
  std::optional<HostTensor> most, goesOn;
  if (loop.most)
    most = node.importer.getKnown(loop.most);
  if (loop.condition)
    goesOn = node.importer.getKnown(loop.condition);
  for (Value value : {loop.most, loop.condition})
    if (value && cast<RankedTensorType>(value.getType()).getNumElements() != 1)
      return node.refuse(
          "expected one number of trips and one condition, got " +
          show(value.getType()));
  if ((most && trip >= most->getInt(0)) || (goesOn && goesOn->getInt(0) == 0))
    return std::optional<bool>(false);
  bool isKnown = (most || !loop.most) && (goesOn || !loop.condition);
  return isKnown ? std::optional<bool>(true) : std::nullopt;
}

/// What the body gives for the trip with a number.
static rt::Result<SmallVector<Value>> importTrip(NodeImport &node,
                                                 const LoopState &loop,
                                                 Value number,
                                                 ValueRange carried) {
  SmallVector<Value> inputs = {
      number,
      loop.condition ? loop.condition : node.splat({}, node.b.getI1Type(), 1)};
  llvm::append_range(inputs, carried);
  return node.importer.importBody(node, loop.body, inputs);
}

/// `i < most & condition`, or what there is of it.
static void buildCondition(NodeImport &node, Block &block, Value most) {
  OpBuilder::InsertionGuard guard(node.b);
  node.b.setInsertionPointToStart(&block);
  Value goesOn = block.getArgument(1);
  if (most) {
    Value end = hlo::reshape(node.b, node.loc, most, {});
    goesOn = hlo::logicalAnd(node.b, node.loc,
                             hlo::compare(node.b, node.loc,
                                          hlo::ComparisonDirection::LT,
                                          block.getArgument(0), end),
                             goesOn);
  }
  hlo::ReturnOp::create(node.b, node.loc, goesOn);
}

/// What draws takes its bits from where it stands, which all trips share.
static rt::Status checkBody(NodeImport &node, hlo::WhileOp loop) {
  bool draws =
      loop.getBody()
          .walk([](hlo::RngBitGeneratorOp) { return WalkResult::interrupt(); })
          .wasInterrupted();
  return draws ? node.unsupported("expected no random numbers in a loop that "
                                  "the run ends, got some")
               : rt::Status::success();
}

static rt::Status buildBody(NodeImport &node, LoopState &loop,
                            hlo::WhileOp op) {
  OpBuilder::InsertionGuard guard(node.b);
  Block &block = op.getBody().front();
  node.b.setInsertionPointToStart(&block);
  bool isAsked = static_cast<bool>(loop.condition);
  loop.condition = block.getArgument(1);
  LLMC_TRY_ASSIGN(SmallVector<Value> results,
                  importTrip(node, loop, block.getArgument(0),
                             block.getArguments().drop_front(2)));
  SmallVector<Value> next = {
      hlo::add(node.b, node.loc, block.getArgument(0),
               hlo::constantLike(node.b, node.loc, block.getArgument(0), 1)),
      isAsked ? hlo::reshape(node.b, node.loc, results.front(), {})
              : block.getArgument(1)};
  next.append(results.begin() + 1, results.end());
  for (auto [from, to] : llvm::zip_equal(block.getArguments(), next))
    if (from.getType() != to.getType())
      return node.unsupported("expected carried values of one type in a loop "
                              "that the run ends, got " +
                              show(from.getType()) + " and " +
                              show(to.getType()));
  hlo::ReturnOp::create(node.b, node.loc, next);
  return checkBody(node, op);
}

/// What is collected from trips has a size, which takes known trips.
static rt::Status refuseCollected(NodeImport &node, const LoopState &loop) {
  if (loop.most) {
    LLMC_TRY(node.constantOf(loop.most, "M").status());
  }
  return node.constantOf(loop.condition, "cond").status();
}

/// The trips from the one with number `trip` on.
static rt::Status importOpenLoop(NodeImport &node, LoopState &loop,
                                 int64_t trip) {
  if (!loop.trips.collected.empty())
    return refuseCollected(node, loop);
  Value goesOn = loop.condition
                     ? hlo::reshape(node.b, node.loc, loop.condition, {})
                     : node.splat({}, node.b.getI1Type(), 1);
  SmallVector<Value> start = {node.integersAsTensor({trip}, {}), goesOn};
  start.append(loop.trips.carried);
  OperationState state(node.loc, hlo::WhileOp::getOperationName(), start,
                       ValueRange(start).getTypes(), {});
  SmallVector<Location> locs(start.size(), node.loc);
  for (int i = 0; i < 2; ++i)
    state.addRegion()->emplaceBlock().addArguments(ValueRange(start).getTypes(),
                                                   locs);
  auto op = cast<hlo::WhileOp>(node.b.create(state));
  buildCondition(node, op.getCond().front(), loop.most);
  LLMC_TRY(buildBody(node, loop, op));
  return node.finish(SmallVector<Value>(op->getResults().drop_front(2)));
}

/// What is carried by and collected from `most` trips, where they are alike and
/// the condition holds after each.
static rt::Result<std::optional<SmallVector<Value>>>
importAlike(NodeImport &node, const LoopState &loop, int64_t most) {
  bool endsEarly = false;
  auto body = [&](Value number, ArrayRef<Value> carried,
                  ArrayRef<Value>) -> rt::Result<SmallVector<Value>> {
    LLMC_TRY_ASSIGN(SmallVector<Value> results,
                    importTrip(node, loop, number, carried));
    if (loop.condition && !readCondition(node, results[0]).value_or(false))
      endsEarly = true;
    results.erase(results.begin());
    return results;
  };
  TripOperands operands{most, loop.trips.carried, {}};
  LLMC_TRY_ASSIGN(bool isAlike, areTripsAlike(node, operands, body));
  if (!isAlike || endsEarly)
    return std::optional<SmallVector<Value>>();
  LLMC_TRY_ASSIGN(SmallVector<Value> results,
                  importRolled(node, operands, body));
  return std::optional(std::move(results));
}

/// The number of trips, where nothing but it ends the loop before its first.
static int64_t countTrips(NodeImport &node, const LoopState &loop) {
  std::optional<HostTensor> most;
  if (loop.most)
    most = node.importer.getKnown(loop.most);
  bool isKnown =
      most && most->getNumElements() == 1 &&
      (!loop.condition || readCondition(node, loop.condition).value_or(false));
  return isKnown ? most->getInt(0) : 0;
}

static rt::Status finishTrips(NodeImport &node, const Trips &trips) {
  SmallVector<Value> results(trips.carried);
  for (ArrayRef<Value> rows : trips.collected) {
    LLMC_TRY_ASSIGN(Value stack, stackRows(node, rows));
    results.push_back(stack);
  }
  return node.finish(results);
}

static rt::Status importLoop(NodeImport &node) {
  LLMC_TRY_ASSIGN(const Graph *body, node.graph("body"));
  LLMC_TRY_ASSIGN(Trips trips, startTrips(node, *body));
  LoopState loop{*body, node.has(0) ? node.input(0) : Value(),
                 node.has(1) ? node.input(1) : Value(), std::move(trips)};
  if (int64_t most = countTrips(node, loop); most >= kFewestTrips) {
    LLMC_TRY_ASSIGN(auto results, importAlike(node, loop, most));
    if (results)
      return node.finish(*results);
  }
  size_t carried = loop.trips.carried.size();
  for (int64_t trip = 0;; ++trip) {
    LLMC_TRY_ASSIGN(std::optional<bool> goesOn, hasTrip(node, loop, trip));
    if (!goesOn)
      return importOpenLoop(node, loop, trip);
    if (!*goesOn)
      return finishTrips(node, loop.trips);
    LLMC_TRY_ASSIGN(SmallVector<Value> results,
                    importTrip(node, loop, node.integersAsTensor({trip}, {}),
                               loop.trips.carried));
    if (loop.condition)
      loop.condition = results.front();
    loop.trips.carried.assign(results.begin() + 1,
                              results.begin() + 1 + carried);
    for (size_t i = 0; i < loop.trips.collected.size(); ++i)
      loop.trips.collected[i].push_back(results[1 + carried + i]);
  }
}

void onnx::addControlOps(OpTable &table) {
  table["If"] = {importIf, 1, 1, kNewestKnown};
  table["Loop"] = {importLoop, 0, kAny, kNewestKnown};
}
