//===- TableOps.cpp - Frames, buffers, programs, entries ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Verifiers of everything but instructions. Tested by
// test/Dialect/Plan/invalid.mlir and invalid-entries.mlir.
//
//===----------------------------------------------------------------------===//

#include "BufferCheck.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace llmc::plan;

/// Of frames, slots and buffers, in bytes; as in the runtime.
static constexpr int64_t kAlignment = 64;

static LogicalResult verifyStages(Operation *op,
                                  std::optional<ArrayRef<int64_t>> stages) {
  if (!stages)
    return success();
  for (auto [i, stage] : llvm::enumerate(*stages))
    if (stage < 0 || (i > 0 && stage <= (*stages)[i - 1]))
      return op->emitOpError()
             << "expected ascending stages from 0 on, got " << stage;
  return success();
}

static LogicalResult verifyPlace(Operation *op, StringRef what,
                                 int64_t offset) {
  if (offset >= 0 && offset % kAlignment == 0)
    return success();
  return op->emitOpError() << "expected " << what << " as a multiple of "
                           << kAlignment << " bytes, got " << offset;
}

/// At least this much of a count.
static LogicalResult verifyLeast(Operation *op, StringRef what, int64_t least,
                                 int64_t value) {
  if (value >= least)
    return success();
  return op->emitOpError() << "expected " << what << " of at least " << least
                           << ", got " << value;
}

//===----------------------------------------------------------------------===//
// Device, frame, buffer
//===----------------------------------------------------------------------===//

LogicalResult DeviceOp::verify() {
  if (failed(verifyLeast(*this, "threads", 1, getThreads())))
    return failure();
  if (std::optional<ArrayRef<int64_t>> arenas = getArenas())
    for (int64_t bytes : *arenas)
      if (failed(verifyLeast(*this, "arenas", 0, bytes)))
        return failure();
  return success();
}

LogicalResult FrameOp::verify() {
  if (failed(verifyLeast(*this, "slots", 1, getSlots())) ||
      failed(verifyLeast(*this, "events", 1, getEvents())) ||
      failed(verifyStages(*this, getStages())))
    return failure();
  if (getSlots() > 1 && !getSlot())
    return emitOpError() << "expected a slot expression for " << getSlots()
                         << " slots";
  if (getChunk() && getKind() != FrameKind::Act)
    return emitOpError() << "expected a chunk on act frames alone, got it on '"
                         << stringifyFrameKind(getKind()) << "'";
  if (getOffset().has_value() != getSize().has_value())
    return emitOpError() << "expected offset and size together";
  if (!isPlaced())
    return success();
  if (failed(verifyPlace(*this, "an offset", *getOffset())))
    return failure();
  return verifyPlace(*this, "a size", *getSize());
}

LogicalResult BufferOp::verify() {
  if (failed(verifyLeast(*this, "bytes", 0, getBytes())))
    return failure();
  return getOffset() ? verifyPlace(*this, "an offset", *getOffset())
                     : success();
}

LogicalResult BufferOp::verifySymbolUses(SymbolTableCollection &tables) {
  auto frame = tables.lookupNearestSymbolFrom<FrameOp>(*this, getFrameAttr());
  if (!frame)
    return emitOpError() << "expected frame " << getFrameAttr()
                         << " in the module, got none";
  if (!frame.isPlaced())
    return success();
  int64_t size = *frame.getSize(), bytes = getBytes();
  if (!getOffset() || bytes > size - *getOffset()) {
    InFlightDiagnostic diag =
        emitOpError() << "expected an offset inside frame " << getFrameAttr()
                      << " of " << size << " bytes for " << bytes << " bytes";
    diag.attachNote(frame.getLoc()) << "frame is placed here";
    return diag;
  }
  return success();
}

LogicalResult llmc::plan::verifyOperand(Operation *op, OperandAttr operand,
                                        SymbolTableCollection &tables) {
  auto buffer =
      tables.lookupNearestSymbolFrom<BufferOp>(op, operand.getBuffer());
  if (!buffer)
    return op->emitOpError() << "expected buffer " << operand.getBuffer()
                             << " in the module, got none";
  int64_t bytes = buffer.getBytes();
  std::optional<int64_t> span = operand.getSpan();
  if (span && *span <= bytes - operand.getOffset())
    return success();
  InFlightDiagnostic diag = op->emitOpError()
                            << "expected an operand inside buffer "
                            << operand.getBuffer() << " of " << bytes
                            << " bytes, got " << operand;
  diag.attachNote(buffer.getLoc()) << "buffer is defined here";
  return diag;
}

//===----------------------------------------------------------------------===//
// State parts, slots, objects, programs
//===----------------------------------------------------------------------===//

LogicalResult PartOp::verify() {
  size_t rank = getShape().size();
  if (getOrigin().size() != rank ||
      getPlace().getShape().size() != static_cast<int64_t>(rank))
    return emitOpError() << "expected origin, shape and place of one rank, got "
                         << getOrigin().size() << ", " << rank << " and "
                         << getPlace().getShape().size();
  for (ArrayRef<int64_t> numbers : {getOrigin(), getShape()})
    for (int64_t number : numbers)
      if (failed(verifyLeast(*this, "origin and shape", 0, number)))
        return failure();
  return verifyStages(*this, getStages());
}

LogicalResult PartOp::verifySymbolUses(SymbolTableCollection &tables) {
  return verifyOperand(*this, getPlace(), tables);
}

LogicalResult SlotOp::verify() {
  if (getFetched() && !getPort())
    return emitOpError() << "expected a port of what is fetched, got none";
  return success();
}

LogicalResult SlotOp::verifySymbolUses(SymbolTableCollection &tables) {
  if (!tables.lookupNearestSymbolFrom(*this, getTimelineAttr()))
    return emitOpError() << "expected timeline " << getTimelineAttr()
                         << " in the module, got none";
  return verifyOperand(*this, getPlace(), tables);
}

LogicalResult ObjectOp::verify() {
  StringRef file = getFile();
  if (file.empty() || file.contains('/') || file == "." || file == "..")
    return emitOpError() << "expected a plain file name, got \"" << file
                         << "\"";
  return success();
}

LogicalResult ProgramOp::verify() {
  bool hasChunk = getPhase() != Phase::Other && getPhase() != Phase::Update;
  if (getChunk().has_value() != hasChunk)
    return emitOpError() << "expected a chunk exactly for forward and backward "
                            "phases, got phase '"
                         << stringifyPhase(getPhase()) << "'";
  if (getChunk() && failed(verifyLeast(*this, "a chunk", 0, *getChunk())))
    return failure();
  if (failed(verifyLeast(*this, "parameters", 0, getParameters())))
    return failure();
  for (Operation &op : getBody().front())
    if (!isa<InstructionInterface>(op))
      return op.emitOpError() << "cannot stand in a program: expected an "
                                 "instruction";
  return success();
}

//===----------------------------------------------------------------------===//
// Tables and entries
//===----------------------------------------------------------------------===//

static LogicalResult verifyProgram(Operation *op, FlatSymbolRefAttr symbol,
                                   SymbolTableCollection &tables) {
  if (tables.lookupNearestSymbolFrom<ProgramOp>(op, symbol))
    return success();
  return op->emitOpError() << "expected program " << symbol
                           << " in the module, got none";
}

LogicalResult TableOp::verify() {
  for (const Cell &cell : getRows().getCells())
    if (cell.program >= static_cast<int64_t>(getPrograms().size()))
      return emitOpError() << "expected cells below " << getPrograms().size()
                           << " programs, got " << cell.program;
  return success();
}

LogicalResult TableOp::verifySymbolUses(SymbolTableCollection &tables) {
  for (auto program : getPrograms().getAsRange<FlatSymbolRefAttr>())
    if (failed(verifyProgram(*this, program, tables)))
      return failure();
  return success();
}

/// Each name once.
template <typename T>
static LogicalResult verifyNames(Operation *op, StringRef what,
                                 ArrayAttr list) {
  llvm::DenseSet<Attribute> seen;
  for (auto item : list.getAsRange<T>())
    if (!seen.insert(item.getName()).second)
      return op->emitOpError() << "expected each " << what << " once, got "
                               << item.getName() << " twice";
  return success();
}

LogicalResult EntryOp::verify() {
  if (failed(verifyLeast(*this, "microbatches", 1, getMicrobatches())) ||
      failed(verifyLeast(*this, "chunks", 1, getChunks())))
    return failure();
  for (ArrayAttr programs : {getPrologue(), getEpilogue()})
    for (Attribute program : programs)
      if (!isa<FlatSymbolRefAttr, UnitAttr>(program))
        return emitOpError()
               << "expected a program or unit for each stage, got " << program;
  if (failed(verifyNames<InputAttr>(*this, "input", getInputs())) ||
      failed(verifyNames<MetricAttr>(*this, "metric", getMetrics())))
    return failure();
  return verifyNames<FetchAttr>(*this, "fetched value", getFetches());
}

LogicalResult EntryOp::verifySymbolUses(SymbolTableCollection &tables) {
  auto table = tables.lookupNearestSymbolFrom<TableOp>(*this, getTableAttr());
  if (!table)
    return emitOpError() << "expected table " << getTableAttr()
                         << " in the module, got none";
  if (FlatSymbolRefAttr counted = getCountsAttr()) {
    auto entry = tables.lookupNearestSymbolFrom<EntryOp>(*this, counted);
    if (!entry || entry == *this)
      return emitOpError() << "expected another entry " << counted
                           << " in the module to count for, got none";
  }
  size_t stages = table.getRows().getNumStages();
  for (ArrayAttr programs : {getPrologue(), getEpilogue()}) {
    if (programs.size() != stages)
      return emitOpError() << "expected a program or unit for each of "
                           << stages << " stages, got " << programs.size();
    for (Attribute program : programs)
      if (auto symbol = dyn_cast<FlatSymbolRefAttr>(program);
          symbol && failed(verifyProgram(*this, symbol, tables)))
        return failure();
  }
  for (const Cell &cell : table.getRows().getCells())
    if (cell.program >= 0 && cell.microbatch >= getMicrobatches())
      return emitOpError() << "expected microbatches below "
                           << getMicrobatches() << ", got " << cell.microbatch;
  return success();
}
