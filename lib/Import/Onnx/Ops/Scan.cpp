//===- Scan.cpp - Loops over the rows of tensors --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Scanned dimensions are put first, and turned where a scan goes backward.
//
//===----------------------------------------------------------------------===//

#include "../GraphImporter.h"
#include "Trips.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::onnx;
namespace hlo = llmc::stablehlo;

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

/// The scanned values as stacks [trips, ...].
static rt::Result<TripOperands>
readStacks(NodeImport &node, ArrayRef<Value> scanned, const ScanRules &rules) {
  TripOperands operands;
  for (auto [i, value] : llvm::enumerate(scanned)) {
    LLMC_TRY_ASSIGN(int64_t axis, node.axis(rules.inputAxes[i], rankOf(value)));
    Value stack = moveDimension(node, value, axis, 0);
    if (rules.inputDirections[i])
      stack = hlo::reverse(node.b, node.loc, stack, {0});
    operands.stacks.push_back(stack);
    int64_t length = shapeOf(stack)[0];
    if (i == 0)
      operands.trips = length;
    if (length != operands.trips)
      return node.refuse("expected scanned values of one length, got " +
                         std::to_string(operands.trips) + " and " +
                         std::to_string(length));
  }
  return operands;
}

/// One scan of tensors without a batch: the last states, then what is
/// collected.
static rt::Result<SmallVector<Value>>
runScan(NodeImport &node, const Graph &graph, ArrayRef<Value> initial,
        ArrayRef<Value> scanned, const ScanRules &rules) {
  LLMC_TRY_ASSIGN(TripOperands operands, readStacks(node, scanned, rules));
  operands.carried.assign(initial.begin(), initial.end());
  bool collects = graph.outputs.size() > initial.size();
  if (collects && operands.trips == 0)
    return node.unsupported("expected at least one trip of a loop that "
                            "collects values, got none");
  auto body = [&](Value, ArrayRef<Value> carried, ArrayRef<Value> rows) {
    SmallVector<Value> inputs(carried);
    llvm::append_range(inputs, rows);
    return node.importer.importBody(node, graph, inputs);
  };
  LLMC_TRY_ASSIGN(SmallVector<Value> results,
                  importTrips(node, operands, body));
  for (size_t i = initial.size(); i < results.size(); ++i) {
    size_t output = i - initial.size();
    if (rules.outputDirections[output])
      results[i] = hlo::reverse(node.b, node.loc, results[i], {0});
    LLMC_TRY_ASSIGN(int64_t axis,
                    node.axis(rules.outputAxes[output], rankOf(results[i])));
    results[i] = moveDimension(node, results[i], 0, axis);
  }
  return results;
}

/// Element `at` of the batch.
static Value takeSample(NodeImport &node, Value x, int64_t at) {
  SmallVector<int64_t> starts(rankOf(x), 0), limits(shapeOf(x));
  starts[0] = at, limits[0] = at + 1;
  return hlo::reshape(node.b, node.loc,
                      hlo::slice(node.b, node.loc, x, starts, limits),
                      shapeOf(x).drop_front());
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
  if (shapeOf(values[0])[0] == 0)
    return node.unsupported("expected a batch of at least 1, got 0");
  ScanRules rules = readScanRules(node, scans, body.outputs.size() - states);
  SmallVector<SmallVector<Value>> samples(body.outputs.size());
  for (int64_t sample = 0; sample < shapeOf(values[0])[0]; ++sample) {
    SmallVector<Value> own;
    for (Value value : values)
      own.push_back(takeSample(node, value, sample));
    LLMC_TRY_ASSIGN(SmallVector<Value> results,
                    runScan(node, body, ArrayRef<Value>(own).take_front(states),
                            ArrayRef<Value>(own).drop_front(states), rules));
    for (auto [list, result] : llvm::zip_equal(samples, results))
      list.push_back(result);
  }
  SmallVector<Value> results;
  for (ArrayRef<Value> list : samples) {
    LLMC_TRY_ASSIGN(Value stack, stackRows(node, list));
    results.push_back(stack);
  }
  return node.finish(results);
}

static rt::Status importScan(NodeImport &node) {
  LLMC_TRY_ASSIGN(const Graph *body, node.graph("body"));
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
  LLMC_TRY_ASSIGN(SmallVector<Value> results,
                  runScan(node, *body, states,
                          ArrayRef<Value>(all).drop_front(states.size()),
                          rules));
  return node.finish(results);
}

void onnx::addScanOps(OpTable &table) {
  table["Scan"] = {importScan, 0, kAny, kNewestKnown};
}
