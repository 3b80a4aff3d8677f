//===- EntryOrder.cpp - A timeline's table and entry ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See EntryOrder.h.
//
// Test: test/Transforms/Ordering/order-programs.mlir
//===----------------------------------------------------------------------===//

#include "EntryOrder.h"
#include "HostCopies.h"
#include "llmc/Dialect/Dist/IR/LayoutOnMesh.h"

using namespace mlir;
using llmc::dist::PortAttr;
using llmc::dist::PortKind;

namespace llmc::ordering {

/// Programs are numbered in the order in which rows first run them.
static FlatSymbolRefAttr emitTable(OpBuilder &builder, PlanNames &names,
                                   const Timeline &timeline,
                                   ArrayRef<plan::ProgramOp> made) {
  auto numStages = static_cast<int64_t>(timeline.getNumStages());
  dist::TableAttr table = timeline.op.getTable();
  SmallVector<plan::Cell> cells;
  SmallVector<Attribute> used;
  llvm::SmallDenseMap<int32_t, int32_t> position;
  for (int64_t slot = 0; slot < table.getNumSlots(); ++slot) {
    SmallVector<plan::Cell> row(numStages);
    bool isIdle = true;
    for (int64_t stage = 0; stage < numStages; ++stage) {
      const dist::Cell &cell = table.getRow(stage)[slot];
      int32_t program = findProgram(timeline, cell, stage);
      if (program < 0 || cell.kind == dist::Cell::Kind::Update)
        continue;
      auto [known, isNew] = position.insert({program, int32_t(used.size())});
      plan::ProgramOp op = made[program];
      if (isNew)
        used.push_back(FlatSymbolRefAttr::get(op.getSymNameAttr()));
      row[stage] = {known->second, cell.microbatch};
      isIdle = false;
    }
    if (!isIdle)
      cells.append(row);
  }
  auto op = plan::TableOp::create(
      builder, timeline.op.getLoc(),
      builder.getStringAttr(
          names.take((timeline.op.getSymName() + ".table").str())),
      builder.getArrayAttr(used),
      plan::TableAttr::get(builder.getContext(), numStages, cells));
  return FlatSymbolRefAttr::get(op.getSymNameAttr());
}

static plan::EntryKind getKind(const Timeline &timeline,
                               const TimelinePlaces &places) {
  for (const TimelineProgram &program : timeline.programs)
    if (program.attr.getPhase() != dist::Phase::Forward)
      return plan::EntryKind::Train;
  for (const auto &[slot, placed] : places.slots)
    if (slot.getKind() == PortKind::Metric)
      return plan::EntryKind::Evaluate;
  return plan::EntryKind::Forward;
}

static FailureOr<plan::InputAttr> describeInput(const Timeline &timeline,
                                                SymbolTableCollection &tables,
                                                PortAttr slot,
                                                const SlotUses &uses) {
  PortAttr port = findPort(timeline, slot, uses);
  FailureOr<RankedTensorType> type =
      getWholeType(timeline.op, tables, uses.type, port);
  if (failed(type))
    return failure();
  DenseI64ArrayAttr stages;
  if (SmallVector<int64_t> list = getStages(timeline, uses); !list.empty())
    stages = DenseI64ArrayAttr::get(slot.getContext(), list);
  return plan::InputAttr::get(slot.getContext(), slot.getName(), *type,
                              dist::getLayout(port), stages,
                              port ? port.getData() : dist::DataAttr());
}

namespace {

/// What an entry takes and returns.
struct EntryPorts {
  SmallVector<Attribute> inputs, hypers, metrics, fetched;
};

} // namespace

static FailureOr<EntryPorts> describePorts(const Timeline &timeline,
                                           const TimelinePlaces &places,
                                           SymbolTableCollection &tables) {
  EntryPorts ports;
  for (const auto &[slot, placed] : places.slots) {
    if (slot.getKind() == PortKind::Input) {
      FailureOr<plan::InputAttr> input =
          describeInput(timeline, tables, slot, placed.uses);
      if (failed(input))
        return failure();
      ports.inputs.push_back(*input);
    }
    if (slot.getKind() == PortKind::Hyper)
      ports.hypers.push_back(slot.getSymbol());
    if (slot.getKind() == PortKind::Metric)
      ports.metrics.push_back(
          plan::MetricAttr::get(slot.getContext(), slot.getName(),
                                placed.uses.type.getElementType()));
    FailureOr<SmallVector<FetchedPart>> parts =
        listFetched(timeline, places, tables, slot);
    if (failed(parts))
      return failure();
    for (const FetchedPart &part : *parts)
      ports.fetched.push_back(part.fetch);
  }
  return ports;
}

LogicalResult emitEntry(OpBuilder &builder, PlanNames &names,
                        SymbolTableCollection &tables, const Timeline &timeline,
                        const TimelinePlaces &places,
                        const TimelinePrograms &made) {
  FlatSymbolRefAttr table = emitTable(builder, names, timeline, made.cells);
  FailureOr<EntryPorts> ports = describePorts(timeline, places, tables);
  if (failed(ports))
    return failure();
  auto nameOf = [&](plan::ProgramOp program) -> Attribute {
    if (program)
      return FlatSymbolRefAttr::get(program.getSymNameAttr());
    return builder.getUnitAttr();
  };
  SmallVector<Attribute> before, after;
  for (auto [stage, update] : llvm::enumerate(timeline.updates)) {
    before.push_back(nameOf(made.prologues[stage]));
    after.push_back(
        nameOf(update < 0 ? plan::ProgramOp() : made.programs[update]));
  }
  int64_t chunks = 1;
  for (const TimelineProgram &program : timeline.programs)
    chunks = std::max(chunks, program.attr.getChunk() + 1);
  auto entry = plan::EntryOp::create(
      builder, timeline.op.getLoc(),
      builder.getStringAttr(names.take(timeline.op.getSymName())),
      plan::EntryKindAttr::get(builder.getContext(), getKind(timeline, places)),
      timeline.op.getCountsAttr(),
      builder.getI64IntegerAttr(
          static_cast<int64_t>(timeline.op.getMicrobatches())),
      builder.getI64IntegerAttr(chunks), UnitAttr(),
      builder.getArrayAttr(before), table, builder.getArrayAttr(after),
      builder.getArrayAttr(ports->inputs), builder.getArrayAttr(ports->hypers),
      builder.getArrayAttr(ports->metrics),
      builder.getArrayAttr(ports->fetched));
  if (Attribute flops = timeline.op->getAttr(dist::DistDialect::kModelFlops))
    entry->setAttr(dist::DistDialect::kModelFlops, flops);
  return success();
}

} // namespace llmc::ordering
