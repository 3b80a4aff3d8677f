//===- Timelines.cpp - A timeline with its programs and slots -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Timelines.h.
//
// Test: test/Transforms/Ordering/order-programs.mlir
//===----------------------------------------------------------------------===//

#include "Timelines.h"
#include "PlanNames.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using llmc::dist::PortAttr;
using llmc::dist::PortKind;

namespace llmc::ordering {

int32_t findProgram(const Timeline &timeline, const dist::Cell &cell,
                    int64_t stage) {
  using Kind = dist::Cell::Kind;
  using dist::Phase;
  for (auto [i, program] : llvm::enumerate(timeline.programs)) {
    Phase phase = program.attr.getPhase();
    bool fits =
        (cell.kind == Kind::Forward && phase == Phase::Forward) ||
        (cell.kind == Kind::Backward &&
         (phase == Phase::Backward || phase == Phase::BackwardInput)) ||
        (cell.kind == Kind::BackwardWeight && phase == Phase::BackwardWeight) ||
        (cell.kind == Kind::Update && phase == Phase::Update);
    bool sameChunk =
        cell.kind == Kind::Update || program.attr.getChunk() == cell.chunk;
    if (fits && sameChunk && llvm::is_contained(program.getStages(), stage))
      return static_cast<int32_t>(i);
  }
  return -1;
}

int32_t getLastPart(const Timeline &timeline, int32_t program) {
  dist::ProgramAttr first = timeline.programs[program].attr;
  auto end = static_cast<int32_t>(timeline.programs.size());
  auto isPart = [&](int32_t number) {
    dist::ProgramAttr other = timeline.programs[number].attr;
    return other.getPhase() == first.getPhase() &&
           other.getChunk() == first.getChunk() &&
           other.getAt() == first.getAt();
  };
  if (first.getPhase() != dist::Phase::Update)
    while (program + 1 < end && isPart(program + 1))
      ++program;
  return program;
}

Timeline readTimeline(dist::TimelineOp op, SymbolTableCollection &tables) {
  Timeline timeline{op, {}, {}, {}};
  for (auto attr : op.getPrograms().getAsRange<dist::ProgramAttr>())
    timeline.programs.push_back(
        {attr,
         tables.lookupNearestSymbolFrom<func::FuncOp>(op, attr.getFunction())});
  dist::TableAttr table = op.getTable();
  for (int64_t stage = 0; stage < table.getNumRows(); ++stage) {
    timeline.walks.emplace_back();
    timeline.updates.push_back(-1);
    for (auto [i, program] : llvm::enumerate(timeline.programs))
      if (program.attr.getPhase() == dist::Phase::Prepare &&
          llvm::is_contained(program.getStages(), stage))
        timeline.walks.back().push_back({static_cast<int32_t>(i), 0});
    for (const dist::Cell &cell : table.getRow(stage)) {
      int32_t program = findProgram(timeline, cell, stage);
      if (cell.kind == dist::Cell::Kind::Update)
        timeline.updates.back() = program;
      else if (program >= 0)
        for (int32_t last = getLastPart(timeline, program); program <= last;
             ++program)
          timeline.walks.back().push_back({program, cell.microbatch});
    }
  }
  return timeline;
}

SmallVector<Operation *> getReplaced(ModuleOp module,
                                     SymbolTableCollection &tables) {
  llvm::SetVector<Operation *> replaced;
  for (auto timeline : module.getOps<dist::TimelineOp>()) {
    replaced.insert(timeline);
    for (auto program : timeline.getPrograms().getAsRange<dist::ProgramAttr>())
      replaced.insert(tables.lookupSymbolIn(module, program.getFunction()));
  }
  return llvm::to_vector(replaced);
}

/// What the slot holds where a program has the row of its trips.
static Type getSlotType(PortAttr port, Type type) {
  auto row = cast<RankedTensorType>(type);
  SmallVector<int64_t> shape;
  for (int64_t rows : port.getRows())
    if (rows)
      shape.push_back(rows);
  llvm::append_range(shape, row.getShape());
  return RankedTensorType::get(shape, row.getElementType());
}

static LogicalResult addUse(TimelineSlots &slots, const Timeline &timeline,
                            int32_t program, PortAttr port, Type type,
                            bool isTaken) {
  PortAttr slot = port.getSlot();
  SlotUses &uses = slots[slot];
  func::FuncOp function = timeline.programs[program].function;
  if (failed(getBytes(function.getLoc(), type)))
    return failure();
  type = getSlotType(port, type);
  if (uses.type && uses.type != type)
    return function.emitOpError() << "expected slot " << slot << " as "
                                  << uses.type << ", got " << type;
  uses.type = cast<RankedTensorType>(type);
  SmallVector<int32_t> &users = isTaken ? uses.takenBy : uses.returnedBy;
  if (users.empty() || users.back() != program)
    users.push_back(program);
  return success();
}

FailureOr<TimelineSlots> readSlots(const Timeline &timeline) {
  TimelineSlots slots;
  for (auto [i, program] : llvm::enumerate(timeline.programs)) {
    func::FuncOp function = program.function;
    dist::Signature signature(function);
    for (auto [port, type] :
         llvm::zip_equal(signature.arguments, function.getArgumentTypes()))
      if (!dist::isPort(port, PortKind::Microbatch) &&
          failed(addUse(slots, timeline, i, port, type, true)))
        return failure();
    for (auto [port, type] :
         llvm::zip_equal(signature.results, function.getResultTypes()))
      if (failed(addUse(slots, timeline, i, port, type, false)))
        return failure();
  }
  return slots;
}

SmallVector<int64_t> getStages(const Timeline &timeline, const SlotUses &uses) {
  SmallVector<int64_t> stages;
  for (const auto *users : {&uses.takenBy, &uses.returnedBy})
    for (int32_t program : *users)
      llvm::append_range(stages, timeline.programs[program].getStages());
  llvm::sort(stages);
  stages.erase(llvm::unique(stages), stages.end());
  if (stages.size() == timeline.getNumStages())
    stages.clear();
  return stages;
}

PortAttr findPort(const Timeline &timeline, PortAttr slot,
                  const SlotUses &uses) {
  PortAttr found;
  for (bool isTaken : {true, false})
    for (int32_t program : isTaken ? uses.takenBy : uses.returnedBy) {
      dist::Signature signature(timeline.programs[program].function);
      for (PortAttr port : isTaken ? signature.arguments : signature.results) {
        if (!port || !port.isInSlot(slot))
          continue;
        if (port.getLayout() || port.getBoxes())
          return port;
        found = found ? found : port;
      }
    }
  return found;
}

/// Notes the place in a `plan.slot` of the timeline.
static LogicalResult addPlace(TimelinePlaces &places, plan::SlotOp op) {
  if (!op.getPort()) {
    if (places.scratch)
      return op.emitOpError() << "expected one place of scratch";
    places.scratch = op.getPlace();
    return success();
  }
  auto port = dyn_cast<PortAttr>(*op.getPort());
  auto found = port ? places.slots.find(port) : places.slots.end();
  if (found == places.slots.end())
    return op.emitOpError() << "expected a slot of " << op.getTimelineAttr()
                            << ", got " << *op.getPort();
  auto &[slot, placed] = *found;
  if (placed.place)
    return op.emitOpError() << "expected one place of slot " << slot;
  plan::OperandAttr place = op.getPlace();
  auto type = RankedTensorType::get(place.getShape(), place.getDtype());
  if (type != placed.uses.type)
    return op.emitOpError() << "expected slot " << slot << " as "
                            << placed.uses.type << ", got " << type;
  placed.place = place;
  placed.isFetched = op.getFetched();
  return success();
}

FailureOr<TimelinePlaces> readPlaces(const Timeline &timeline) {
  FailureOr<TimelineSlots> slots = readSlots(timeline);
  if (failed(slots))
    return failure();
  TimelinePlaces places;
  for (auto &[slot, uses] : *slots)
    places.slots[slot] = {std::move(uses), {}, false};
  auto module = timeline.op->getParentOfType<ModuleOp>();
  for (auto op : module.getOps<plan::SlotOp>())
    if (op.getTimeline() == timeline.op.getSymName() &&
        failed(addPlace(places, op)))
      return failure();
  for (const auto &[slot, placed] : places.slots)
    if (!placed.place)
      return timeline.op.emitOpError()
             << "expected a plan.slot for slot " << slot << ", got none";
  return places;
}

} // namespace llmc::ordering
