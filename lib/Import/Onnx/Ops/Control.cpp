//===- Control.cpp - Branches and loops -----------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A branch by a condition that is known is taken; of one that the run decides
// both are computed, and their results chosen. Loops of a known number of trips
// are unrolled; one that the run ends becomes a `stablehlo.while`.
//
//===----------------------------------------------------------------------===//

#include "../GraphImporter.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::onnx;
namespace hlo = llmc::stablehlo;

static rt::Result<const Graph *> readGraph(NodeImport &node, StringRef name) {
  const NodeAttribute *found = node.attribute(name);
  if (found && found->graph)
    return static_cast<const Graph *>(found->graph.get());
  return node.refuse("expected a graph '" + name.str() + "', got none",
                     rt::ErrorKind::malformed);
}

/// The condition, where it is known.
static std::optional<bool> readCondition(NodeImport &node, Value condition) {
  std::optional<HostTensor> known = node.importer.getKnown(condition);
  if (!known || known->getNumElements() != 1)
    return std::nullopt;
  return known->getInt(0) != 0;
}

static rt::Status importIf(NodeImport &node) {
  LLMC_TRY_ASSIGN(const Graph *first, readGraph(node, "then_branch"));
  LLMC_TRY_ASSIGN(const Graph *second, readGraph(node, "else_branch"));
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

/// Values of all trips, along a new dimension.
static Value stackValues(NodeImport &node, ArrayRef<Value> values,
                         int64_t axis) {
  SmallVector<Value> parts;
  for (Value value : values) {
    SmallVector<int64_t> shape(shapeOf(value));
    shape.insert(shape.begin() + axis, 1);
    parts.push_back(hlo::reshape(node.b, node.loc, value, shape));
  }
  return parts.size() == 1 ? parts.front()
                           : hlo::concatenate(node.b, node.loc, parts, axis);
}

namespace {
/// What the trips of a loop leave behind.
struct Trips {
  SmallVector<Value> carried;
  /// One list for each value that is collected.
  SmallVector<SmallVector<Value>> collected;
};
} // namespace

static rt::Status finishTrips(NodeImport &node, const Trips &trips,
                              ArrayRef<int64_t> axes = {}) {
  SmallVector<Value> results(trips.carried);
  for (auto [i, values] : llvm::enumerate(trips.collected)) {
    if (values.empty())
      return node.unsupported("expected at least one trip of a loop that "
                              "collects values, got none");
    for (Value value : values)
      if (value.getType() != values.front().getType())
        return node.unsupported("expected collected values of one type, got " +
                                show(values.front().getType()) + " and " +
                                show(value.getType()));
    int64_t axis = i < axes.size() ? axes[i] : 0;
    int64_t rank = rankOf(values.front()) + 1;
    LLMC_TRY_ASSIGN(axis, node.axis(axis, rank));
    results.push_back(stackValues(node, values, axis));
  }
  return node.finish(results);
}

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
                                                 LoopState &loop, Value number,
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

static rt::Status importLoop(NodeImport &node) {
  LLMC_TRY_ASSIGN(const Graph *body, readGraph(node, "body"));
  LLMC_TRY_ASSIGN(Trips trips, startTrips(node, *body));
  LoopState loop{*body, node.has(0) ? node.input(0) : Value(),
                 node.has(1) ? node.input(1) : Value(), std::move(trips)};
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

/// Element `at` along a dimension, which goes away.
static Value takeElement(NodeImport &node, Value x, int64_t axis, int64_t at) {
  SmallVector<int64_t> starts(rankOf(x), 0), limits(shapeOf(x)), shape;
  starts[axis] = at;
  limits[axis] = at + 1;
  for (int64_t i = 0; i < rankOf(x); ++i)
    if (i != axis)
      shape.push_back(shapeOf(x)[i]);
  return hlo::reshape(node.b, node.loc,
                      hlo::slice(node.b, node.loc, x, starts, limits), shape);
}

namespace {
/// The attributes of Scan, with a default for each scanned value.
struct ScanRules {
  SmallVector<int64_t> inputAxes, outputAxes, inputDirections, outputDirections;
};
} // namespace

static ScanRules readScanRules(NodeImport &node, size_t inputs,
                               size_t outputs) {
  auto read = [&](StringRef name, size_t count) {
    SmallVector<int64_t> values =
        node.getInts(name).value_or(SmallVector<int64_t>());
    values.resize(count, 0);
    return values;
  };
  StringRef oldName = "directions";
  return {read("scan_input_axes", inputs), read("scan_output_axes", outputs),
          read(node.version < 9 ? oldName : "scan_input_directions", inputs),
          read("scan_output_directions", outputs)};
}

/// One scan of tensors without a batch.
static rt::Result<Trips> runScan(NodeImport &node, const Graph &body,
                                 ArrayRef<Value> initial,
                                 ArrayRef<Value> scanned,
                                 const ScanRules &rules) {
  Trips trips;
  trips.carried.assign(initial.begin(), initial.end());
  trips.collected.resize(body.outputs.size() - initial.size());
  std::optional<int64_t> length;
  SmallVector<int64_t> axes;
  for (auto [value, given] : llvm::zip_equal(scanned, rules.inputAxes)) {
    LLMC_TRY_ASSIGN(int64_t axis, node.axis(given, rankOf(value)));
    axes.push_back(axis);
    int64_t size = shapeOf(value)[axis];
    if (length && *length != size)
      return node.refuse("expected scanned values of one length, got " +
                         std::to_string(*length) + " and " +
                         std::to_string(size));
    length = size;
  }
  for (int64_t trip = 0; trip < length.value_or(0); ++trip) {
    SmallVector<Value> inputs(trips.carried);
    for (auto [i, value] : llvm::enumerate(scanned)) {
      int64_t at = rules.inputDirections[i] ? *length - 1 - trip : trip;
      inputs.push_back(takeElement(node, value, axes[i], at));
    }
    LLMC_TRY_ASSIGN(SmallVector<Value> results,
                    node.importer.importBody(node, body, inputs));
    trips.carried.assign(results.begin(), results.begin() + initial.size());
    for (size_t i = 0; i < trips.collected.size(); ++i)
      trips.collected[i].push_back(results[initial.size() + i]);
  }
  for (size_t i = 0; i < trips.collected.size(); ++i)
    if (rules.outputDirections[i])
      std::reverse(trips.collected[i].begin(), trips.collected[i].end());
  return trips;
}

/// Version 8: all values have a batch, and the scanned dimension comes next.
static rt::Status importBatchedScan(NodeImport &node, const Graph &body,
                                    size_t scans) {
  if (node.has(0))
    return node.unsupported("expected sequences of one length, got lengths");
  SmallVector<Value> values;
  for (unsigned i = 1; i < node.numInputs(); ++i)
    values.push_back(node.input(i));
  size_t states = values.size() - scans;
  for (Value value : values)
    if (rankOf(value) == 0 || shapeOf(value)[0] != shapeOf(values[0])[0])
      return node.refuse("expected one batch of all values, got " +
                         show(value.getType()));
  ScanRules rules = readScanRules(node, scans, body.outputs.size() - states);
  SmallVector<SmallVector<Value>> samples(body.outputs.size());
  for (int64_t sample = 0; sample < shapeOf(values[0])[0]; ++sample) {
    SmallVector<Value> own;
    for (Value value : values)
      own.push_back(takeElement(node, value, 0, sample));
    LLMC_TRY_ASSIGN(Trips trips,
                    runScan(node, body, ArrayRef<Value>(own).take_front(states),
                            ArrayRef<Value>(own).drop_front(states), rules));
    for (size_t i = 0; i < states; ++i)
      samples[i].push_back(trips.carried[i]);
    for (auto [i, list] : llvm::enumerate(trips.collected)) {
      if (list.empty())
        return node.unsupported("expected at least one trip, got none");
      samples[states + i].push_back(stackValues(node, list, 0));
    }
  }
  SmallVector<Value> results;
  for (ArrayRef<Value> list : samples) {
    if (list.empty())
      return node.unsupported("expected a batch of at least 1, got 0");
    results.push_back(stackValues(node, list, 0));
  }
  return node.finish(results);
}

static rt::Status importScan(NodeImport &node) {
  LLMC_TRY_ASSIGN(const Graph *body, readGraph(node, "body"));
  int64_t scans = node.getInt("num_scan_inputs", 0);
  int64_t values =
      static_cast<int64_t>(node.numInputs()) - (node.version < 9 ? 1 : 0);
  int64_t outputs = static_cast<int64_t>(body->outputs.size());
  for (unsigned i = node.version < 9 ? 1 : 0; i < node.numInputs(); ++i)
    if (!node.has(i) || node.binding(i).isList)
      return node.refuse("expected tensors as operands, got others");
  if (scans < 1 || scans > values || outputs < values - scans)
    return node.refuse("expected at least one scanned value and a body with a "
                       "result for each state, got " +
                       std::to_string(scans) + " and " +
                       std::to_string(outputs));
  if (node.version < 9)
    return importBatchedScan(node, *body, scans);
  SmallVector<Value> all = node.allInputs();
  ArrayRef<Value> states = ArrayRef<Value>(all).take_front(values - scans);
  ScanRules rules = readScanRules(node, scans, outputs - states.size());
  LLMC_TRY_ASSIGN(Trips trips,
                  runScan(node, *body, states,
                          ArrayRef<Value>(all).drop_front(states.size()),
                          rules));
  return finishTrips(node, trips, rules.outputAxes);
}

void onnx::addControlOps(OpTable &table) {
  table["If"] = {importIf, 1, 1, kNewestKnown};
  table["Loop"] = {importLoop, 0, kAny, kNewestKnown};
  table["Scan"] = {importScan, 0, kAny, kNewestKnown};
}
