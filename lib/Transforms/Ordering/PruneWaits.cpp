//===- PruneWaits.cpp - Waits that the places make superfluous ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Waits are found before buffers have places, so some of them keep accesses
// apart that never touch the same bytes. With places at hand each wait is tried
// again: without any one of those that stay, some conflict is unordered.
//
// Signals and waits are instructions of their own here, so that an edge leads
// from the one to the other.
//
// Test: test/Transforms/Ordering/prune-waits.mlir
//===----------------------------------------------------------------------===//

#include "EntryProblem.h"
#include "llmc/Runtime/Base/SeededFault.h"
#include "llmc/Transforms/Ordering/Passes.h"
#include <map>
#include <set>

using namespace mlir;

namespace llmc {

#define GEN_PASS_DEF_PRUNEWAITSPASS
#include "llmc/Transforms/Ordering/Passes.h.inc"

using ordering::EntryProblem;

static LogicalResult readPlaces(EntryProblem &entry, ModuleOp module) {
  for (auto buffer : module.getOps<plan::BufferOp>()) {
    plan::FrameOp frame =
        entry.frames[entry.frameNumbers.lookup(buffer.getFrameAttr())];
    if (!frame.isPlaced())
      return frame.emitOpError()
             << "expected a place before waits are pruned, got none";
    entry.problem.places.push_back(
        {static_cast<int64_t>(*frame.getOffset() + *buffer.getOffset()),
         static_cast<int64_t>(buffer.getBytes()),
         static_cast<int64_t>(*frame.getSize())});
  }
  return success();
}

namespace {

/// The signals and waits of an entry's programs, with (program, instruction)
/// of each.
struct Events {
  using Place = std::pair<int32_t, int32_t>;
  std::vector<std::pair<plan::WaitOp, Place>> waits;
  std::vector<std::pair<plan::SignalOp, Place>> signals;
};

} // namespace

static Events readEvents(const EntryProblem &entry) {
  Events events;
  for (auto [program, ops] : llvm::enumerate(entry.instructions))
    for (auto [i, op] : llvm::enumerate(ops)) {
      Events::Place place(program, i);
      if (auto wait = dyn_cast<plan::WaitOp>(op))
        events.waits.push_back({wait, place});
      if (auto signal = dyn_cast<plan::SignalOp>(op))
        events.signals.push_back({signal, place});
    }
  return events;
}

/// An event is signalled at one place of each stage; edges that lead from one
/// stage to another are in no walk. A wait for an event that nothing signals
/// orders nothing.
static StreamOrder getOrder(const EntryProblem &entry, const Events &events) {
  StreamOrder order;
  order.numEvents.assign(entry.frames.size(), 1);
  using Event = std::pair<const void *, int64_t>;
  auto eventOf = [](auto op) -> Event {
    return {op.getFrameAttr().getAsOpaquePointer(), op.getEvent()};
  };
  std::map<Event, std::vector<Events::Place>> places;
  for (const auto &[signal, from] : events.signals)
    places[eventOf(signal)].push_back(from);
  for (const auto &each : events.waits) {
    plan::WaitOp wait = each.first;
    Events::Place to = each.second;
    for (Events::Place from : places[eventOf(wait)])
      order.edges.push_back({from.first, from.second, to.first, to.second,
                             entry.frameNumbers.lookup(wait.getFrameAttr()),
                             static_cast<int32_t>(wait.getEvent())});
  }
  return order;
}

/// Erases waits and signals at which no edge ends or begins.
static void eraseOthers(Events &events, const StreamOrder &kept) {
  std::set<Events::Place> starts, ends;
  for (const StreamOrder::Edge &edge : kept.edges) {
    starts.insert({edge.fromProgram, edge.fromInstruction});
    ends.insert({edge.toProgram, edge.toInstruction});
  }
  for (auto &[wait, place] : events.waits)
    if (!ends.count(place) || isSeeded(Fault::allWaitsAreDropped))
      wait.erase();
  for (auto &[signal, place] : events.signals)
    if (!starts.count(place))
      signal.erase();
}

static LogicalResult pruneEntry(plan::EntryOp op, const SymbolTable &symbols) {
  // 1 read
  EntryProblem entry = ordering::readEntry(op, symbols);
  if (failed(readPlaces(entry, op->getParentOfType<ModuleOp>())))
    return failure();
  Events events = readEvents(entry);
  StreamOrder order = getOrder(entry, events);
  // 2 check
  const StreamOrderProblem &problem = entry.problem;
  if (std::string error = problem.verify(order); !error.empty())
    return op.emitOpError() << "has accesses that nothing orders: " << error;
  // 3 solve and write
  eraseOthers(events, pruneWaits(problem, order));
  return success();
}

/// True when a program stands in several entries: it would have to satisfy all
/// of them at once.
static bool sharePrograms(ArrayRef<plan::EntryOp> entries,
                          const SymbolTable &symbols) {
  llvm::DenseMap<Operation *, Operation *> entryOf;
  for (plan::EntryOp entry : entries)
    for (const auto &walk : ordering::readWalks(entry, symbols))
      for (const ordering::PlanCall &call : walk)
        if (entryOf.insert({call.program, entry}).first->second != entry)
          return true;
  return false;
}

namespace {

class PruneWaitsPass : public impl::PruneWaitsPassBase<PruneWaitsPass> {
public:
  void runOnOperation() override {
    ModuleOp module = getOperation();
    SymbolTable symbols(module);
    auto entries = llvm::to_vector(module.getOps<plan::EntryOp>());
    if (sharePrograms(entries, symbols))
      return;
    for (plan::EntryOp entry : entries)
      if (failed(pruneEntry(entry, symbols)))
        return signalPassFailure();
  }
};

} // namespace

} // namespace llmc
