//===- ProgramResults.cpp - Results of a program in their slots -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   return %r {act "a0"}   %r made by a launch: the launch writes the slot
//   return %x {act "a1"}   %x an argument:      a copy
//   return %r {buffer @w}  %r made while the old @w is still read: a copy
//
// Test: test/Transforms/Ordering/order-values.mlir
//===----------------------------------------------------------------------===//

#include "../Frames/SlotBytes.h"
#include "ProgramValues.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using llmc::dist::PortAttr;
using llmc::dist::PortKind;

namespace llmc::ordering {

namespace {
/// Where a result lies: in a slot, or in the row of the running trips of it.
struct ResultSlot {
  PortAttr slot;
  ArrayRef<int64_t> rows;
};
} // namespace

/// Whether the class, which lies in no slot yet, may take the slot's bytes: no
/// value but the last one would be seen there, and all that reads what an
/// argument held there may run before the first.
static bool mayLieIn(const ProgramValues &values, int32_t number, PortAttr slot,
                     bool &ascends) {
  const BufferGraph &uses = values.graph.uses;
  // Slots of a microbatch are written once: what is read before the last value
  // is made must lie elsewhere.
  if (dist::isOfMicrobatch(slot) && !uses.isSeenOnce(number))
    return false;
  auto old = values.argumentIn.find(slot);
  return old == values.argumentIn.end() ||
         mayRunAfter(uses, uses.buffers[number].versions.front().definedBy,
                     uses.getReaders(old->second), ascends);
}

/// Copies the value into a class of its own in the slot; returns the class.
static FailureOr<int32_t> copyIntoSlot(ProgramValues &values, ProgramValue from,
                                       Type type, const ResultSlot &result,
                                       Location loc) {
  PortAttr slot = result.slot;
  ProgramGraph &graph = values.graph;
  auto old = values.argumentIn.find(slot);
  bool hasOld = old != values.argumentIn.end();
  // What another slot holds may itself be overwritten: it is saved first.
  if (hasOld && graph.classes[from.number].slot) {
    FailureOr<int32_t> saved = addClass(graph, loc, type);
    if (failed(saved))
      return failure();
    addCopy(graph, loc, type, from, *saved);
    from = {*saved, 0, {}};
  }
  FailureOr<int32_t> to = addClass(graph, loc, type);
  if (failed(to))
    return failure();
  graph.classes[*to].slot = slot;
  graph.classes[*to].rows = result.rows;
  int32_t copy = addCopy(graph, loc, type, from, *to);
  if (hasOld)
    graph.uses.overwrites.push_back({old->second, copy});
  return *to;
}

/// The class in which the result lies in its slot.
static FailureOr<int32_t> placeResult(ProgramValues &values, Value value,
                                      const ResultSlot &result, Location loc,
                                      bool &ascends) {
  PortAttr slot = result.slot;
  FailureOr<ProgramValue> found = lookUp(values, value, values.function);
  if (failed(found))
    return failure();
  ProgramGraph &graph = values.graph;
  int32_t number = found->number;
  bool isLatest = graph.uses.isLatest(number, found->version);
  PortAttr &place = graph.classes[number].slot;
  if (place == slot) {
    if (isLatest)
      return number;
    return values.function.emitOpError()
           << "returns in slot " << slot << " what it overwrites there";
  }
  if (place || !isLatest || !mayLieIn(values, number, slot, ascends))
    return copyIntoSlot(values, *found, value.getType(), result, loc);
  place = slot;
  graph.classes[number].rows = result.rows;
  if (auto old = values.argumentIn.find(slot); old != values.argumentIn.end())
    graph.uses.overwrites.push_back(
        {old->second, graph.uses.buffers[number].versions.front().definedBy});
  return number;
}

static void addSend(ProgramGraph &graph, FlatSymbolRefAttr transfer,
                    int32_t from, Type type, Location loc) {
  int32_t node = addNode(
      graph, {nullptr, loc, from, -1, cast<RankedTensorType>(type), transfer});
  auto last =
      static_cast<int32_t>(graph.uses.buffers[from].versions.size()) - 1;
  addRead(graph, node, {from, last, {}});
}

/// The slots of all results, each there once.
static FailureOr<SmallVector<ResultSlot>>
readResultSlots(func::FuncOp function) {
  SmallVector<ResultSlot> slots;
  llvm::DenseSet<Attribute> known;
  for (unsigned i = 0; i < function.getNumResults(); ++i) {
    PortAttr port = dist::getResultPort(function, i);
    slots.push_back({port.getSlot(), port.getRows()});
    if (!known.insert(slots.back().slot).second)
      return function.emitOpError()
             << "expected one result in slot " << slots.back().slot;
  }
  return slots;
}

LogicalResult placeResults(ProgramValues &values) {
  FailureOr<SmallVector<ResultSlot>> slots = readResultSlots(values.function);
  if (failed(slots))
    return failure();
  Operation *end = values.function.front().getTerminator();
  ProgramGraph &graph = values.graph;
  // Copies of arguments first: they are readers of what others overwrite.
  for (bool isArgument : {true, false}) {
    bool ascends = graph.uses.isInOrder();
    for (auto [value, slot] : llvm::zip_equal(end->getOperands(), *slots)) {
      auto found = values.known.find(value);
      bool lies =
          found != values.known.end() &&
          graph.uses.buffers[found->second.number].versions.front().definedBy <
              0;
      if (lies != isArgument)
        continue;
      FailureOr<int32_t> place =
          placeResult(values, value, slot, end->getLoc(), ascends);
      if (failed(place))
        return failure();
      if (slot.slot.getKind() == PortKind::Send)
        addSend(graph, slot.slot.getSymbol(), *place, value.getType(),
                end->getLoc());
    }
  }
  return success();
}

} // namespace llmc::ordering
