//===- PruneWaits.cpp - Waits that the places make superfluous ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Signals and waits are instructions of their own here, so that an edge leads
// from the one to the other.
//
// Test: test/Transforms/Ordering/prune-waits.mlir
//===----------------------------------------------------------------------===//

#include "PruneWaits.h"
#include "PlanNumbers.h"
#include "llmc/Runtime/Base/SeededFault.h"
#include "llvm/ADT/MapVector.h"
#include <map>
#include <set>

using namespace mlir;

namespace llmc::ordering {

namespace {

class EntryPruning {
public:
  EntryPruning(ModuleOp module, SymbolTable &symbols, plan::EntryOp entry)
      : module(module), symbols(symbols), entry(entry),
        numbers(module, problem) {}

  LogicalResult run();

private:
  void readPlaces();
  void readWalks();
  int32_t readProgram(plan::ProgramOp program);
  void addEdges();
  void erase(const StreamOrder &kept);

  ModuleOp module;
  SymbolTable &symbols;
  plan::EntryOp entry;
  StreamOrderProblem problem;
  StreamOrder order;
  PlanNumbers numbers;
  llvm::MapVector<Operation *, int32_t> programs;
  /// (program, instruction) of each.
  std::vector<std::pair<plan::WaitOp, std::pair<int32_t, int32_t>>> waits;
  std::vector<std::pair<plan::SignalOp, std::pair<int32_t, int32_t>>> signals;
};

} // namespace

void EntryPruning::readPlaces() {
  for (auto buffer : module.getOps<plan::BufferOp>()) {
    plan::FrameOp frame =
        numbers.frames[numbers.frameNumbers.lookup(buffer.getFrameAttr())];
    problem.places.push_back(
        {static_cast<int64_t>(*frame.getOffset() + *buffer.getOffset()),
         static_cast<int64_t>(buffer.getBytes()),
         static_cast<int64_t>(*frame.getSize())});
  }
}

int32_t EntryPruning::readProgram(plan::ProgramOp program) {
  auto [known, isNew] =
      programs.insert({program, static_cast<int32_t>(programs.size())});
  int32_t number = known->second;
  if (!isNew)
    return number;
  StreamOrderProblem::Program list;
  for (auto op : program.getBody().getOps<plan::InstructionInterface>()) {
    std::pair<int32_t, int32_t> place(number, list.size());
    list.push_back(numbers.read(op));
    if (auto wait = dyn_cast<plan::WaitOp>(*op))
      waits.push_back({wait, place});
    if (auto signal = dyn_cast<plan::SignalOp>(*op))
      signals.push_back({signal, place});
  }
  problem.programs.push_back(std::move(list));
  return number;
}

void EntryPruning::readWalks() {
  auto table = symbols.lookup<plan::TableOp>(entry.getTable());
  plan::TableAttr rows = table.getRows();
  for (size_t stage = 0; stage < entry.getPrologue().size(); ++stage) {
    problem.walks.emplace_back();
    auto call = [&](Attribute name, int64_t microbatch) {
      if (auto symbol = dyn_cast<FlatSymbolRefAttr>(name))
        problem.walks.back().push_back(
            {readProgram(symbols.lookup<plan::ProgramOp>(symbol.getAttr())),
             microbatch});
    };
    call(entry.getPrologue()[stage], 0);
    for (int64_t row = 0; row < rows.getNumRows(); ++row)
      if (const plan::Cell &cell = rows.getRow(row)[stage]; cell.program >= 0)
        call(table.getPrograms()[cell.program], cell.microbatch);
    call(entry.getEpilogue()[stage], 0);
  }
}

/// An event is signalled at one place of each stage; edges that lead from one
/// stage to another are in no walk. A wait for an event that nothing signals
/// orders nothing.
void EntryPruning::addEdges() {
  order.numEvents.assign(problem.slots.size(), 1);
  std::map<std::pair<const void *, int64_t>,
           std::vector<std::pair<int32_t, int32_t>>>
      places;
  for (auto &[signal, from] : signals)
    places[{signal.getFrameAttr().getAsOpaquePointer(), signal.getEvent()}]
        .push_back(from);
  for (auto &[wait, to] : waits)
    for (auto from :
         places[{wait.getFrameAttr().getAsOpaquePointer(), wait.getEvent()}])
      order.edges.push_back({from.first, from.second, to.first, to.second,
                             numbers.frameNumbers.lookup(wait.getFrameAttr()),
                             static_cast<int32_t>(wait.getEvent())});
}

/// Erases waits and signals, instructions of their own, at which no edge ends
/// or begins.
void EntryPruning::erase(const StreamOrder &kept) {
  std::set<std::pair<int32_t, int32_t>> starts, ends;
  for (const StreamOrder::Edge &edge : kept.edges) {
    starts.insert({edge.fromProgram, edge.fromInstruction});
    ends.insert({edge.toProgram, edge.toInstruction});
  }
  for (auto &[wait, place] : waits)
    if (!ends.count(place) || isSeeded(Fault::allWaitsAreDropped))
      wait.erase();
  for (auto &[signal, place] : signals)
    if (!starts.count(place))
      signal.erase();
}

LogicalResult EntryPruning::run() {
  readPlaces();
  readWalks();
  addEdges();
  if (std::string error = problem.check(); !error.empty())
    return entry.emitOpError() << "cannot check its waits: " << error;
  if (std::string error = problem.verify(order); !error.empty())
    return entry.emitOpError() << "has accesses that nothing orders: " << error;
  erase(llmc::pruneWaits(problem, order));
  return success();
}

LogicalResult pruneWaits(ModuleOp module) {
  // A program of several entries would have to satisfy all of them at once.
  llvm::DenseMap<Attribute, int> users;
  SymbolTable symbols(module);
  auto entries = llvm::to_vector(module.getOps<plan::EntryOp>());
  for (plan::EntryOp entry : entries) {
    auto table = symbols.lookup<plan::TableOp>(entry.getTable());
    std::set<const void *> own;
    for (ArrayAttr list :
         {table.getPrograms(), entry.getPrologue(), entry.getEpilogue()})
      for (Attribute program : list)
        if (isa<FlatSymbolRefAttr>(program) &&
            own.insert(program.getAsOpaquePointer()).second)
          ++users[program];
  }
  for (const auto &[program, count] : users)
    if (count > 1)
      return success();
  for (plan::EntryOp entry : entries)
    if (failed(EntryPruning(module, symbols, entry).run()))
      return failure();
  return success();
}

} // namespace llmc::ordering
