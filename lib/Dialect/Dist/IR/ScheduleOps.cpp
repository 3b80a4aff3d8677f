//===- ScheduleOps.cpp - Segments, transfers, timelines -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Verifiers of how a step is cut and when its parts run. Tested by
// test/Dialect/Dist/invalid-schedule.mlir and invalid-timeline.mlir.
//
//===----------------------------------------------------------------------===//

#include "llmc/Dialect/Dist/IR/LayoutOnMesh.h"
#include "llmc/Dialect/Dist/IR/Signature.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace llmc::dist;

//===----------------------------------------------------------------------===//
// Segment
//===----------------------------------------------------------------------===//

void SegmentOp::build(OpBuilder &builder, OperationState &state,
                      TypeRange results, int64_t chunk, Phase phase,
                      LoopAttr loop) {
  build(builder, state, results, builder.getI64IntegerAttr(chunk),
        DenseI64ArrayAttr(), PhaseAttr::get(builder.getContext(), phase), loop);
  state.regions.front()->emplaceBlock();
}

void SegmentOp::build(OpBuilder &builder, OperationState &state,
                      TypeRange results, ArrayRef<int64_t> at) {
  build(builder, state, results, IntegerAttr(),
        builder.getDenseI64ArrayAttr(at),
        PhaseAttr::get(builder.getContext(), Phase::Update), LoopAttr());
  state.regions.front()->emplaceBlock();
}

YieldOp SegmentOp::getYield() {
  return cast<YieldOp>(getBody().front().getTerminator());
}

LogicalResult SegmentOp::verify() {
  bool update = getPhase() == Phase::Update;
  if (getChunk().has_value() == update || getAt().has_value() != update)
    return emitOpError() << "expected `at` in phase update and `chunk` in the "
                            "others, got phase '"
                         << stringifyPhase(getPhase()) << "'";
  if (update && getLoop())
    return emitOpError() << "expected no loop in phase update, got "
                         << *getLoop();
  if (getChunk() && *getChunk() < 0)
    return emitOpError() << "expected a chunk of at least 0, got "
                         << *getChunk();
  if (getAt()) {
    if (getAt()->empty())
      return emitOpError() << "expected at least one coordinate, got 0";
    for (auto [i, coordinate] : llvm::enumerate(*getAt()))
      if (coordinate < 0 || (i > 0 && coordinate <= (*getAt())[i - 1]))
        return emitOpError() << "expected ascending coordinates from 0 on, got "
                             << coordinate;
  }
  if ((*this)->getParentOfType<SegmentOp>())
    return emitOpError() << "cannot stand in another segment";
  return success();
}

LogicalResult SegmentOp::verifyRegions() {
  Block &block = getBody().front();
  auto yield = dyn_cast<YieldOp>(block.back());
  if (!yield)
    return emitOpError() << "expected to end in 'dist.yield'";
  if (block.getNumArguments() != 0)
    return emitOpError() << "expected a region without arguments, got "
                         << block.getNumArguments();
  if (yield.getOperandTypes() != getResultTypes())
    return emitOpError() << "expected yielded types " << getResultTypes()
                         << ", got " << yield.getOperandTypes();
  return success();
}

//===----------------------------------------------------------------------===//
// Transfer
//===----------------------------------------------------------------------===//

LogicalResult TransferOp::verify() {
  if (getAxis().empty())
    return emitOpError() << "expected the name of an axis, got \"\"";
  if (getFrom() == getTo())
    return emitOpError() << "expected two coordinates, got " << getFrom()
                         << " twice";
  auto from = cast<RankedTensorType>(getInput().getType());
  auto to = cast<RankedTensorType>(getResult().getType());
  LayoutAttr layout = dist::getLayout(from);
  if (!layout) {
    if (from != to)
      return emitOpError() << "expected a result of " << from << ", got " << to;
    return success();
  }
  if (layout.getPin(getAxis()) != ArrayRef<int64_t>(getFrom()))
    return emitOpError() << "expected an input pinned at coordinate "
                         << getFrom() << " of axis \"" << getAxis()
                         << "\" alone, got " << layout;
  SmallVector<PinAttr> pins;
  for (PinAttr pin : layout.getAt())
    pins.push_back(pin.getAxis() == getAxisAttr()
                       ? PinAttr::get(getContext(), getAxisAttr(), getTo())
                       : pin);
  RankedTensorType wanted = withLayout(from, layout.withPins(pins));
  if (wanted != to)
    return emitOpError() << "expected a result of " << wanted << ", got " << to;
  return success();
}

LogicalResult TransferOp::verifySymbolUses(SymbolTableCollection &tables) {
  LayoutAttr layout = dist::getLayout(getInput().getType());
  FailureOr<MeshOp> mesh =
      findMesh(*this, layout ? layout.getMesh() : getMeshAttr(), tables);
  if (failed(mesh) ||
      failed(verifyEncodingOnMesh(*this, getInput().getType(), tables)))
    return failure();
  if (!mesh->getAxes().contains(getAxis()))
    return emitOpError() << "expected an axis of the mesh, got \"" << getAxis()
                         << "\"";
  int64_t size = mesh->getAxes().getSize(getAxis());
  for (int64_t coordinate : {getFrom(), getTo()})
    if (coordinate < 0 || coordinate >= size)
      return emitOpError() << "expected coordinates of axis \"" << getAxis()
                           << "\" below " << size << ", got " << coordinate;
  return success();
}

//===----------------------------------------------------------------------===//
// Timeline
//===----------------------------------------------------------------------===//

/// Whether a program of this phase may stand for a cell that is not idle.
static bool runsIn(Cell::Kind kind, Phase phase) {
  switch (phase) {
  case Phase::Forward:
    return kind == Cell::Kind::Forward;
  case Phase::Backward:
  case Phase::BackwardInput:
    return kind == Cell::Kind::Backward;
  case Phase::BackwardWeight:
    return kind == Cell::Kind::BackwardWeight;
  case Phase::Update:
    return kind == Cell::Kind::Update;
  case Phase::Prepare:
    break;
  }
  return false;
}

LogicalResult TimelineOp::verify() {
  if (getMicrobatches() < 1)
    return emitOpError() << "expected at least 1 microbatch, got "
                         << getMicrobatches();
  auto programs = llvm::to_vector(getPrograms().getAsRange<ProgramAttr>());
  for (auto [i, program] : llvm::enumerate(programs))
    for (ProgramAttr other : ArrayRef(programs).take_front(i)) {
      if (program.getFunction() == other.getFunction())
        return emitOpError()
               << "expected program " << program.getFunction() << " once";
      bool sameCell = program.getPhase() == other.getPhase() &&
                      program.getChunk() == other.getChunk();
      bool shared = llvm::any_of(program.getAt().asArrayRef(), [&](int64_t at) {
        return llvm::is_contained(other.getAt().asArrayRef(), at);
      });
      bool isUpdate = program.getPhase() == Phase::Update;
      bool isNext = i > 0 && programs[i - 1].getPhase() == program.getPhase() &&
                    programs[i - 1].getChunk() == program.getChunk();
      if (sameCell && shared && (isUpdate || !isNext))
        return emitOpError()
               << "expected one program for each chunk, phase and coordinate, "
                  "or its parts side by side, got "
               << other.getFunction() << " and " << program.getFunction();
    }
  for (int64_t row = 0; row < getTable().getNumRows(); ++row)
    for (const Cell &cell : getTable().getRow(row)) {
      if (cell.kind == Cell::Kind::Idle)
        continue;
      if (cell.hasMicrobatch() && cell.microbatch >= getMicrobatches())
        return emitOpError()
               << "expected microbatches below " << getMicrobatches()
               << ", got cell '" << cell.str() << "'";
      bool found = llvm::any_of(programs, [&](ProgramAttr program) {
        bool chunk = !cell.hasMicrobatch() || program.getChunk() == cell.chunk;
        return chunk && runsIn(cell.kind, program.getPhase()) &&
               llvm::is_contained(program.getAt().asArrayRef(), row);
      });
      if (!found)
        return emitOpError() << "expected a program for cell '" << cell.str()
                             << "' at coordinate " << row << ", got none";
    }
  return success();
}

/// What a program of a timeline takes and returns.
static constexpr PortKind kOfProgram[] = {
    PortKind::Buffer,     PortKind::Input,    PortKind::Hyper,
    PortKind::Microbatch, PortKind::LossSum,  PortKind::Count,
    PortKind::MetricSum,  PortKind::Gradient, PortKind::Act,
    PortKind::Recv,       PortKind::Carry,    PortKind::Kept};
static constexpr PortKind kFromProgram[] = {
    PortKind::Buffer,    PortKind::LossSum,  PortKind::Count,
    PortKind::MetricSum, PortKind::Gradient, PortKind::Metric,
    PortKind::Output,    PortKind::Act,      PortKind::Send,
    PortKind::Carry,     PortKind::Kept};

/// Verifies the ports of a program.
static LogicalResult verifyProgram(TimelineOp op, func::FuncOp function) {
  Signature signature(function);
  auto verify = [&](ArrayRef<PortAttr> ports, ArrayRef<PortKind> kinds,
                    StringRef where) -> LogicalResult {
    for (auto [i, port] : llvm::enumerate(ports)) {
      if (isAnyPort(port, kinds))
        continue;
      InFlightDiagnostic diag = op.emitOpError()
                                << "expected " << where << " " << i << " of @"
                                << function.getName() << " to be";
      llvm::StringRef comma = " ";
      for (PortKind kind : kinds) {
        diag << comma << stringifyPortKind(kind);
        comma = ", ";
      }
      port ? diag << ", got " << port : diag << ", got no port";
      diag.attachNote(function.getLoc()) << "program is defined here";
      return diag;
    }
    return success();
  };
  if (failed(verify(signature.arguments, kOfProgram, "argument")))
    return failure();
  return verify(signature.results, kFromProgram, "result");
}

/// What ports of a program name exists.
static LogicalResult verifySymbols(TimelineOp op, func::FuncOp function,
                                   SymbolTableCollection &tables) {
  auto exists = [&](PortAttr port) -> bool {
    FlatSymbolRefAttr symbol = port.getSymbol();
    switch (port.getKind()) {
    case PortKind::Buffer:
      return symbol && tables.lookupNearestSymbolFrom<BufferOp>(op, symbol);
    case PortKind::Hyper:
      return symbol && tables.lookupNearestSymbolFrom<HyperOp>(op, symbol);
    case PortKind::Gradient:
      return symbol && tables.lookupNearestSymbolFrom<StateOp>(op, symbol);
    default:
      return true;
    }
  };
  Signature signature(function);
  for (ArrayRef<PortAttr> ports : {ArrayRef<PortAttr>(signature.arguments),
                                   ArrayRef<PortAttr>(signature.results)})
    for (PortAttr port : ports)
      if (!exists(port))
        return op.emitOpError() << "expected what " << port << " of @"
                                << function.getName() << " names in the module"
                                << ", got none";
  return success();
}

/// The type with which the program sends (result) or receives (argument) it.
static Type getTransferType(func::FuncOp function, FlatSymbolRefAttr transfer,
                            bool sends) {
  Signature signature(function);
  std::optional<unsigned> found =
      sends ? signature.findResult(PortKind::Send, transfer)
            : signature.findArgument(PortKind::Recv, transfer);
  if (!found)
    return {};
  return sends ? function.getResultTypes()[*found]
               : function.getArgumentTypes()[*found];
}

/// Each transfer is named once, sent by its first program and received by its
/// second with the same type.
static LogicalResult
verifyRoutes(TimelineOp op,
             const llvm::DenseMap<Attribute, func::FuncOp> &functions) {
  llvm::DenseSet<Attribute> seen;
  for (RouteAttr route : op.getTransfers().getAsRange<RouteAttr>()) {
    if (!seen.insert(route.getTransfer()).second)
      return op.emitOpError()
             << "expected transfer " << route.getTransfer() << " once";
    Type types[2];
    for (bool sends : {true, false}) {
      FlatSymbolRefAttr name = sends ? route.getFrom() : route.getTo();
      func::FuncOp function = functions.lookup(name);
      if (function)
        types[sends] = getTransferType(function, route.getTransfer(), sends);
      if (!types[sends])
        return op.emitOpError()
               << "expected program " << name << " to "
               << (sends ? "send " : "receive ") << route.getTransfer();
    }
    if (types[0] != types[1])
      return op.emitOpError()
             << "expected transfer " << route.getTransfer()
             << " received as it is sent, " << types[1] << ", got " << types[0];
  }
  return success();
}

LogicalResult TimelineOp::verifySymbolUses(SymbolTableCollection &tables) {
  if (FlatSymbolRefAttr counted = getCountsAttr()) {
    auto step = tables.lookupNearestSymbolFrom<TimelineOp>(*this, counted);
    if (!step || step == *this)
      return emitOpError() << "expected another timeline " << counted
                           << " in the module to count for, got none";
  }
  FailureOr<MeshOp> mesh = findMesh(*this, {}, tables);
  if (failed(mesh))
    return failure();
  int64_t rows =
      mesh->getPipeline() ? mesh->getAxes().getSize(*mesh->getPipeline()) : 1;
  if (getTable().getNumRows() != rows)
    return emitOpError() << "expected a table of " << rows
                         << " rows for the pipeline axis, got "
                         << getTable().getNumRows();
  llvm::DenseMap<Attribute, func::FuncOp> functions;
  for (ProgramAttr program : getPrograms().getAsRange<ProgramAttr>()) {
    auto function = tables.lookupNearestSymbolFrom<func::FuncOp>(
        *this, program.getFunction());
    if (!function)
      return emitOpError() << "expected function " << program.getFunction()
                           << " in the module, got none";
    if (program.getAt().asArrayRef().back() >= rows)
      return emitOpError() << "expected coordinates below " << rows << ", got "
                           << program.getAt().asArrayRef().back() << " of "
                           << program.getFunction();
    functions[program.getFunction()] = function;
    if (failed(verifyProgram(*this, function)) ||
        failed(verifySymbols(*this, function, tables)))
      return failure();
  }
  return verifyRoutes(*this, functions);
}
