//===- ProgramValues.cpp - Values of a program and their classes ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See ProgramValues.h.
//
// Test: test/Transforms/Ordering/order-values.mlir
//===----------------------------------------------------------------------===//

#include "ProgramValues.h"
#include "../PlanNames.h"

using namespace mlir;

namespace llmc::ordering {

FailureOr<ProgramValue> lookUp(const ProgramValues &values, Value value,
                               Operation *user) {
  auto found = values.known.find(value);
  if (found == values.known.end())
    return user->emitOpError()
           << "expected operands that lie in buffers, got " << value.getType();
  return found->second;
}

FailureOr<int32_t> addClass(ProgramGraph &graph, Location loc, Type type) {
  FailureOr<int64_t> bytes = getBytes(loc, type);
  if (failed(bytes))
    return failure();
  graph.classes.push_back({*bytes, {}, {}});
  graph.uses.buffers.emplace_back();
  return static_cast<int32_t>(graph.classes.size() - 1);
}

int32_t addNode(ProgramGraph &graph, ProgramGraph::Node node) {
  graph.nodes.push_back(node);
  graph.uses.ops.emplace_back();
  return static_cast<int32_t>(graph.nodes.size() - 1);
}

void addRead(ProgramGraph &graph, int32_t node, const ProgramValue &value) {
  graph.uses.addRead(node, value.number, value.version);
  std::vector<int32_t> &after = graph.uses.ops[node].after;
  after.insert(after.end(), value.fences.begin(), value.fences.end());
}

int32_t addCopy(ProgramGraph &graph, Location loc, Type type,
                const ProgramValue &from, int32_t to) {
  int32_t node = addNode(
      graph, {nullptr, loc, from.number, to, cast<RankedTensorType>(type), {}});
  graph.uses.addWrite(node, to);
  addRead(graph, node, from);
  return node;
}

} // namespace llmc::ordering
