//===- TimelineOrder.cpp - A timeline as an entry of a plan ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The prologue copies hyper values and clears sums; data is copied by the
// first program of a microbatch that reads it, metrics after the program that
// makes them. The update becomes the epilogue.
//
// Test: test/Transforms/Ordering/order.mlir
//===----------------------------------------------------------------------===//

#include "TimelineOrder.h"
#include "FetchedParts.h"
#include "FetchedSums.h"
#include "llmc/Analysis/Program/FetchNames.h"
#include "llmc/Dialect/Dist/IR/LayoutOnMesh.h"
#include "llmc/Runtime/Base/SeededFault.h"

using namespace mlir;
using llmc::dist::PortAttr;
using llmc::dist::PortKind;

namespace llmc::ordering {

namespace {

class TimelineOrder {
public:
  TimelineOrder(OpBuilder &builder, PlanNames &names,
                SymbolTableCollection &tables, const TimelineRequest &request)
      : builder(builder), names(names), tables(tables), request(request),
        timeline(request.timeline),
        module(timeline->getParentOfType<ModuleOp>()) {}

  LogicalResult run();

private:
  LogicalResult readPrograms();
  void readTable();
  FailureOr<SmallVector<PortAttr>> findFills(int64_t stage);
  bool isFirstReader(int32_t program, const SlotBuffer &slot) const;
  LogicalResult addCopies(int32_t program, ProgramRequest &copies);
  LogicalResult emitPrograms();
  LogicalResult emitPrologue(int64_t stage);
  FlatSymbolRefAttr emitTable();
  Attribute getStages(const SlotBuffer &slot) const;
  FailureOr<plan::InputAttr> describeInput(PortAttr slot,
                                           const SlotBuffer &uses);
  FailureOr<SmallVector<FetchedPart>> listFetched(PortAttr slot,
                                                  const SlotBuffer &uses);
  LogicalResult emitEntry(FlatSymbolRefAttr table);
  LogicalResult describeSlots(SmallVectorImpl<Attribute> &inputs,
                              SmallVectorImpl<Attribute> &hypers,
                              SmallVectorImpl<Attribute> &metrics,
                              SmallVectorImpl<Attribute> &fetched);
  plan::EntryKind getKind() const;
  LogicalResult findFetches();
  bool isFetched(PortAttr slot) const { return fetches.contains(slot); }
  PortAttr findPort(PortAttr slot, const SlotBuffer &uses) const;

  OpBuilder &builder;
  PlanNames &names;
  SymbolTableCollection &tables;
  const TimelineRequest &request;
  dist::TimelineOp timeline;
  ModuleOp module;
  SmallVector<TimelineProgram> programs;
  /// Of each stage: table cells, and the update's program or -1.
  SmallVector<std::vector<StageCall>> walks;
  SmallVector<int32_t> updates;
  TimelineFrames frames;
  Meetings meetings;
  /// Sums that are copied to the host, with the slots in which programs sum.
  llvm::DenseMap<Attribute, PortAttr> fetches;
  SmallVector<plan::ProgramOp> emitted, prologues;
};

} // namespace

LogicalResult TimelineOrder::readPrograms() {
  for (auto attr : timeline.getPrograms().getAsRange<dist::ProgramAttr>()) {
    auto function = tables.lookupNearestSymbolFrom<func::FuncOp>(
        timeline, attr.getFunction());
    if (!function)
      return timeline.emitOpError()
             << "expected program " << attr.getFunction();
    programs.push_back({attr, function});
  }
  return success();
}

/// The program of a cell, or -1.
static int32_t findProgram(ArrayRef<TimelineProgram> programs,
                           const dist::Cell &cell, int64_t stage) {
  using Kind = dist::Cell::Kind;
  using dist::Phase;
  for (auto [i, program] : llvm::enumerate(programs)) {
    Phase phase = program.attr.getPhase();
    bool fits =
        (cell.kind == Kind::Forward && phase == Phase::Forward) ||
        (cell.kind == Kind::Backward &&
         (phase == Phase::Backward || phase == Phase::BackwardInput)) ||
        (cell.kind == Kind::BackwardWeight && phase == Phase::BackwardWeight) ||
        (cell.kind == Kind::Update && phase == Phase::Update);
    bool sameChunk =
        cell.kind == Kind::Update || program.attr.getChunk() == cell.chunk;
    if (fits && sameChunk &&
        llvm::is_contained(program.attr.getAt().asArrayRef(), stage))
      return i;
  }
  return -1;
}

void TimelineOrder::readTable() {
  dist::TableAttr table = timeline.getTable();
  for (int64_t stage = 0; stage < table.getNumRows(); ++stage) {
    walks.emplace_back();
    updates.push_back(-1);
    for (const dist::Cell &cell : table.getRow(stage)) {
      int32_t program = findProgram(programs, cell, stage);
      if (cell.kind == dist::Cell::Kind::Update)
        updates.back() = program;
      else if (program >= 0)
        walks.back().push_back({program, cell.microbatch});
    }
  }
}

/// Sums that a program of the table reads before any writes them.
FailureOr<SmallVector<PortAttr>> TimelineOrder::findFills(int64_t stage) {
  SmallVector<PortAttr> fills;
  for (auto &[slot, uses] : frames.slots) {
    if (!slot.isSum())
      continue;
    bool isWritten = false, isRead = false;
    for (const StageCall &call : walks[stage]) {
      if (isWritten)
        break;
      isRead |= llvm::is_contained(uses.takenBy, call.program);
      isWritten |= llvm::is_contained(uses.returnedBy, call.program);
    }
    if (isRead && isWritten && !isSeeded(Fault::accumulatorsAreNotCleared))
      fills.push_back(slot);
    bool isUsed = isRead || llvm::is_contained(uses.takenBy, updates[stage]);
    if (isUsed && !isWritten)
      return timeline.emitOpError()
             << "expected a program that writes slot " << slot << ", got none";
  }
  return fills;
}

/// True where `program` is the first of a microbatch to read the slot.
bool TimelineOrder::isFirstReader(int32_t program,
                                  const SlotBuffer &slot) const {
  if (!llvm::is_contained(slot.takenBy, program))
    return false;
  for (const std::vector<StageCall> &walk : walks)
    for (const StageCall &call : walk) {
      if (call.program == program)
        return true;
      if (llvm::is_contained(slot.takenBy, call.program))
        break;
    }
  return llvm::is_contained(updates, program);
}

/// Sums are fetched after the update that reduces them.
LogicalResult TimelineOrder::findFetches() {
  for (TimelineProgram &program : programs)
    if (program.attr.getPhase() == dist::Phase::Update &&
        failed(addFetchedSums(program.function, tables, request.fetch)))
      return failure();
  llvm::SmallDenseSet<Attribute> made;
  for (TimelineProgram &program : programs)
    for (unsigned i = 0; i < program.function.getNumResults(); ++i)
      if (PortAttr port = dist::getResultPort(program.function, i))
        made.insert(port.getSlot());
  for (Attribute attr : made) {
    auto slot = cast<PortAttr>(attr);
    if (!slot.isSum() || slot.getIsReduced() ||
        !request.fetch.contains(getFetchName(tables, module, slot)))
      continue;
    PortAttr reduced = slot.asReduced();
    fetches[made.contains(reduced) ? reduced : slot] = slot;
  }
  return success();
}

/// What the host gets of an output or of a sum that is fetched.
FailureOr<SmallVector<FetchedPart>>
TimelineOrder::listFetched(PortAttr slot, const SlotBuffer &uses) {
  bool isOutput = slot.getKind() == PortKind::Output;
  return listFetchedParts(timeline, tables,
                          {isOutput ? slot : fetches.lookup(slot), uses,
                           findPort(slot, uses),
                           cast_or_null<DenseI64ArrayAttr>(getStages(uses)),
                           isOutput && timeline.getMicrobatches() > 1});
}

/// The port of the slot's first argument or result, one with a layout first.
PortAttr TimelineOrder::findPort(PortAttr slot, const SlotBuffer &uses) const {
  PortAttr found;
  for (bool isTaken : {true, false})
    for (int32_t program : isTaken ? uses.takenBy : uses.returnedBy) {
      dist::Signature signature(programs[program].function);
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

/// The copies from and to the host around the program.
LogicalResult TimelineOrder::addCopies(int32_t program,
                                       ProgramRequest &copies) {
  bool isUpdate = llvm::is_contained(updates, program);
  for (const auto &[slot, uses] : frames.slots) {
    bool isMade = llvm::is_contained(uses.returnedBy, program);
    plan::OperandAttr whole = getOperand(uses.buffer, uses.type);
    if (slot.getKind() == PortKind::Input && isFirstReader(program, uses))
      copies.before.push_back({plan::HostEnd::Input, slot.getName(), whole});
    if (slot.getKind() == PortKind::Metric && isMade) {
      if (!isUpdate && timeline.getMicrobatches() > 1)
        return programs[program].function->emitOpError()
               << "expected metric '" << slot.getName().getValue()
               << "' to be made once in a step, "
               << "got it for each of " << timeline.getMicrobatches()
               << " microbatches";
      copies.after.push_back({plan::HostEnd::Metric, slot.getName(), whole});
    }
    bool isOutput = slot.getKind() == PortKind::Output && isMade;
    bool isSum = isFetched(slot) && isUpdate &&
                 (isMade || llvm::is_contained(uses.takenBy, program));
    if (!isOutput && !isSum)
      continue;
    FailureOr<SmallVector<FetchedPart>> parts = listFetched(slot, uses);
    if (failed(parts))
      return failure();
    for (const FetchedPart &part : *parts)
      copies.after.push_back(
          {plan::HostEnd::Fetch, part.fetch.getName().getValue(), part.place});
  }
  return success();
}

LogicalResult TimelineOrder::emitPrograms() {
  for (auto [i, program] : llvm::enumerate(programs)) {
    ProgramRequest copies{program, frames, request.streams, meetings, {}, {}};
    copies.isPartial =
        program.attr.getAt().size() < static_cast<int64_t>(walks.size());
    if (failed(addCopies(i, copies)))
      return failure();
    std::string name = names.take(program.function.getSymName());
    if (failed(emitProgram(builder, names, tables, copies, name)))
      return failure();
    emitted.push_back(
        cast<plan::ProgramOp>(*std::prev(builder.getInsertionPoint())));
  }
  return success();
}

/// Hyper values and cleared sums, if there are any.
LogicalResult TimelineOrder::emitPrologue(int64_t stage) {
  FailureOr<SmallVector<PortAttr>> fills = findFills(stage);
  if (failed(fills))
    return failure();
  prologues.emplace_back();
  SmallVector<const SlotBuffer *> hypers;
  SmallVector<StringRef> hyperNames;
  auto runsHere = [&](int32_t program) {
    return llvm::is_contained(programs[program].attr.getAt().asArrayRef(),
                              stage);
  };
  for (const auto &[slot, uses] : frames.slots)
    if (slot.getKind() == PortKind::Hyper &&
        llvm::any_of(uses.takenBy, runsHere)) {
      hypers.push_back(&uses);
      hyperNames.push_back(slot.getSymbol().getValue());
    }
  if (fills->empty() && hypers.empty())
    return success();
  std::string name = (timeline.getSymName() + ".prologue").str();
  if (walks.size() > 1)
    name += ".s" + std::to_string(stage);
  auto program = plan::ProgramOp::create(
      builder, timeline.getLoc(), builder.getStringAttr(names.take(name)),
      plan::PhaseAttr::get(builder.getContext(), plan::Phase::Other),
      IntegerAttr(), builder.getI64IntegerAttr(0));
  OpBuilder::InsertionGuard guard(builder);
  builder.createBlock(&program.getBody());
  for (auto [hyper, slot] : llvm::zip(hyperNames, hypers))
    emitHostCopy(
        builder, timeline.getLoc(), request.streams,
        {plan::HostEnd::Hyper, hyper, getOperand(slot->buffer, slot->type)});
  for (PortAttr slot : *fills) {
    const SlotBuffer &sum = frames.slots.find(slot)->second;
    plan::FillOp::create(
        builder, timeline.getLoc(), request.streams.getCompute(),
        getOperand(sum.buffer, sum.type), builder.getI64IntegerAttr(0));
  }
  prologues.back() = program;
  return success();
}

FlatSymbolRefAttr TimelineOrder::emitTable() {
  auto numStages = static_cast<int64_t>(walks.size());
  dist::TableAttr table = timeline.getTable();
  SmallVector<plan::Cell> cells;
  SmallVector<Attribute> used;
  llvm::SmallDenseMap<int32_t, int32_t> position;
  for (int64_t slot = 0; slot < table.getNumSlots(); ++slot) {
    SmallVector<plan::Cell> row(numStages);
    bool isIdle = true;
    for (int64_t stage = 0; stage < numStages; ++stage) {
      const dist::Cell &cell = table.getRow(stage)[slot];
      int32_t program = findProgram(programs, cell, stage);
      if (program < 0 || cell.kind == dist::Cell::Kind::Update)
        continue;
      auto [known, isNew] = position.insert({program, int32_t(used.size())});
      if (isNew)
        used.push_back(
            FlatSymbolRefAttr::get(emitted[program].getSymNameAttr()));
      row[stage] = {known->second, cell.microbatch};
      isIdle = false;
    }
    if (!isIdle)
      cells.append(row);
  }
  auto op = plan::TableOp::create(
      builder, timeline.getLoc(),
      builder.getStringAttr(
          names.take((timeline.getSymName() + ".table").str())),
      builder.getArrayAttr(used),
      plan::TableAttr::get(builder.getContext(), numStages, cells));
  return FlatSymbolRefAttr::get(op.getSymNameAttr());
}

plan::EntryKind TimelineOrder::getKind() const {
  for (const TimelineProgram &program : programs)
    if (program.attr.getPhase() != dist::Phase::Forward)
      return plan::EntryKind::Train;
  for (const auto &[slot, uses] : frames.slots)
    if (slot.getKind() == PortKind::Metric)
      return plan::EntryKind::Evaluate;
  return plan::EntryKind::Forward;
}

Attribute TimelineOrder::getStages(const SlotBuffer &slot) const {
  SmallVector<int64_t> stages;
  for (const auto *users : {&slot.takenBy, &slot.returnedBy})
    for (int32_t program : *users)
      llvm::append_range(stages, programs[program].attr.getAt().asArrayRef());
  llvm::sort(stages);
  stages.erase(llvm::unique(stages), stages.end());
  if (stages.size() == walks.size())
    return {};
  return builder.getDenseI64ArrayAttr(stages);
}

FailureOr<plan::InputAttr>
TimelineOrder::describeInput(PortAttr slot, const SlotBuffer &uses) {
  PortAttr port = findPort(slot, uses);
  FailureOr<RankedTensorType> type =
      getWholeType(timeline, tables, uses.type, port);
  if (failed(type))
    return failure();
  return plan::InputAttr::get(builder.getContext(), slot.getName(), *type,
                              dist::getLayout(port),
                              cast_or_null<DenseI64ArrayAttr>(getStages(uses)),
                              port ? port.getData() : dist::DataAttr());
}

LogicalResult TimelineOrder::describeSlots(
    SmallVectorImpl<Attribute> &inputs, SmallVectorImpl<Attribute> &hypers,
    SmallVectorImpl<Attribute> &metrics, SmallVectorImpl<Attribute> &fetched) {
  MLIRContext *context = builder.getContext();
  for (auto &[slot, uses] : frames.slots) {
    PortKind kind = slot.getKind();
    if (kind == PortKind::Input) {
      FailureOr<plan::InputAttr> input = describeInput(slot, uses);
      if (failed(input))
        return failure();
      inputs.push_back(*input);
    }
    if (kind == PortKind::Hyper)
      hypers.push_back(slot.getSymbol());
    if (kind == PortKind::Metric)
      metrics.push_back(plan::MetricAttr::get(context, slot.getName(),
                                              uses.type.getElementType()));
    if (kind != PortKind::Output && !isFetched(slot))
      continue;
    FailureOr<SmallVector<FetchedPart>> parts = listFetched(slot, uses);
    if (failed(parts))
      return failure();
    for (const FetchedPart &part : *parts)
      fetched.push_back(part.fetch);
  }
  return success();
}

LogicalResult TimelineOrder::emitEntry(FlatSymbolRefAttr table) {
  SmallVector<Attribute> inputs, hypers, metrics, fetched, before, after;
  if (failed(describeSlots(inputs, hypers, metrics, fetched)))
    return failure();
  auto nameOf = [&](plan::ProgramOp program) -> Attribute {
    if (program)
      return FlatSymbolRefAttr::get(program.getSymNameAttr());
    return builder.getUnitAttr();
  };
  for (auto [stage, update] : llvm::enumerate(updates)) {
    before.push_back(nameOf(prologues[stage]));
    after.push_back(nameOf(update < 0 ? plan::ProgramOp() : emitted[update]));
  }
  int64_t chunks = 1;
  for (const TimelineProgram &program : programs)
    chunks = std::max(chunks, program.attr.getChunk() + 1);
  plan::EntryOp::create(
      builder, timeline.getLoc(),
      builder.getStringAttr(names.take(timeline.getSymName())),
      plan::EntryKindAttr::get(builder.getContext(), getKind()),
      builder.getI64IntegerAttr(timeline.getMicrobatches()),
      builder.getI64IntegerAttr(chunks), UnitAttr(),
      builder.getArrayAttr(before), table, builder.getArrayAttr(after),
      builder.getArrayAttr(inputs), builder.getArrayAttr(hypers),
      builder.getArrayAttr(metrics), builder.getArrayAttr(fetched));
  return success();
}

LogicalResult TimelineOrder::run() {
  if (failed(readPrograms()))
    return failure();
  readTable();
  FailureOr<Meetings> found =
      findMeetings(timeline, programs, walks, request.streams);
  if (failed(found) || failed(findFetches()))
    return failure();
  meetings = std::move(*found);
  FrameRequest wanted{timeline.getSymName(),
                      static_cast<int64_t>(timeline.getMicrobatches()),
                      static_cast<int64_t>(walks.size()),
                      request.threads,
                      programs,
                      walks,
                      request.states};
  FailureOr<TimelineFrames> made = makeFrames(builder, names, wanted);
  if (failed(made))
    return failure();
  frames = std::move(*made);
  for (size_t stage = 0; stage < walks.size(); ++stage)
    if (failed(emitPrologue(stage)))
      return failure();
  if (failed(emitPrograms()))
    return failure();
  return emitEntry(emitTable());
}

LogicalResult orderTimeline(OpBuilder &builder, PlanNames &names,
                            SymbolTableCollection &tables,
                            const TimelineRequest &request) {
  return TimelineOrder(builder, names, tables, request).run();
}

} // namespace llmc::ordering
