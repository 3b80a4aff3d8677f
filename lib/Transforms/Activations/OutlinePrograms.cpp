//===- OutlinePrograms.cpp - One function for each segment ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The arguments of a program are what its segment captures, its results what
// others use, each with the port of its slot or transfer. Gradients, loss and
// count become sums over microbatches here: %acc' = add(%acc, convert %g), in
// microbatch order. A join is gone: each stage adds what lives there. A program
// of a loop takes and returns rows of what has one for each trip, and returns
// what it carries where it took it.
//
// Test: test/Transforms/Activations/outline-programs.mlir
//===----------------------------------------------------------------------===//

#include "ProgramBuilder.h"
#include "Routes.h"
#include "llmc/Analysis/Program/Program.h"
#include "llmc/Dialect/Dist/IR/LoopRuns.h"
#include "llmc/Transforms/Activations/Passes.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/RegionUtils.h"
#include <map>

using namespace mlir;
using namespace llmc;
using dist::Phase;
using dist::PortAttr;
using dist::PortKind;
using dist::SegmentOp;

namespace llmc {
#define GEN_PASS_DEF_OUTLINEPROGRAMSPASS
#include "llmc/Transforms/Activations/Passes.h.inc"
} // namespace llmc

namespace {
struct OutlineProgramsPass
    : llmc::impl::OutlineProgramsPassBase<OutlineProgramsPass> {
  void runOnOperation() override;
};

using ActSlots = llvm::DenseMap<const Act *, PortAttr>;

/// How a segment reads a value: by which rows of the loops around it, and as
/// which values of its own.
using Reads = std::map<SmallVector<int64_t>, SmallVector<Value>>;

/// Turns one segment of a microbatch or entry into a function.
class Outliner {
public:
  Outliner(TimelineContext &context, func::FuncOp source, SegmentOp segment,
           StageMap &stages, const Routes &routes, const ActSlots &acts);

  FailureOr<dist::ProgramAttr> run();

private:
  bool handsOn(OpOperand &returned);
  LogicalResult capture(Value value);
  LogicalResult captureRow(Value value, ArrayRef<int64_t> rows,
                           ArrayRef<Value> readers);
  void findReads(Value value, ArrayRef<int64_t> rows, Reads &reads);
  LogicalResult captureUsed(Value value);
  void cloneOps();
  bool isInSegment(Value value) {
    Operation *def = value.getDefiningOp();
    return def && segment->isProperAncestor(def) && !isa<dist::EnterOp>(def);
  }
  int64_t getDepth() {
    return segment.getLoop() ? segment.getLoop()->getDepth() : 0;
  }
  /// The port of what is kept, where this segment makes it.
  PortAttr portOf(const Act &act) {
    return acts.lookup(&act).withTrips(act.rows);
  }
  SmallVector<int64_t> getRowsOf(const Act &act);
  LogicalResult addArguments();
  LogicalResult addResults();

  func::FuncOp source;
  SegmentOp segment;
  StageMap &stages;
  const Routes &routes;
  const ActSlots &acts;
  ProgramBuilder program;
  IRMapping mapping;
};
} // namespace

/// The parts of a chunk and phase are numbered after the first one.
static std::string getName(TimelineContext &context, SegmentOp segment) {
  int64_t number = 0;
  for (Operation *op = segment->getPrevNode(); op; op = op->getPrevNode())
    if (auto other = dyn_cast<SegmentOp>(op))
      number += other.getChunk() == segment.getChunk() &&
                other.getPhase() == segment.getPhase();
  StringRef suffix = "B";
  if (segment.getPhase() == Phase::Prepare)
    suffix = "P";
  if (segment.getPhase() == Phase::Forward)
    suffix = "F";
  if (segment.getPhase() == Phase::BackwardWeight)
    suffix = "W";
  return context.name + ".c" + std::to_string(getChunk(segment)) + "." +
         suffix.str() + (number ? "." + std::to_string(number) : "");
}

Outliner::Outliner(TimelineContext &context, func::FuncOp source,
                   SegmentOp segment, StageMap &stages, const Routes &routes,
                   const ActSlots &acts)
    : source(source), segment(segment), stages(stages), routes(routes),
      acts(acts),
      program(context, source, segment.getLoc(), getName(context, segment)) {}

/// An argument that is a result as it is belongs to the first segment on a
/// stage where it lives.
bool Outliner::handsOn(OpOperand &returned) {
  if (!isPassedThrough(source, returned))
    return false;
  Stages at = stages.getStages(returned.get());
  for (auto first : source.getOps<SegmentOp>())
    if (!first.getLoop() && first.getPhase() != Phase::Prepare &&
        llvm::is_contained(at, stages.getStage(getChunk(first))))
      return first == segment;
  return false;
}

/// The rows that this segment reads of what another one keeps.
SmallVector<int64_t> Outliner::getRowsOf(const Act &act) {
  SmallVector<int64_t> rows(act.rows);
  // A stack is whole for all who read it.
  if (!rows.empty() && act.value.getDefiningOp<dist::LeaveOp>())
    rows.pop_back();
  rows.resize(getDepth(), 0);
  return rows;
}

/// An argument of the program for a value of the source.
LogicalResult Outliner::capture(Value value) {
  if (mapping.contains(value))
    return success();
  if (const Act *act = routes.findAct(value, segment)) {
    int64_t from = stages.getStage(getChunk(act->from));
    int64_t to = stages.getStage(getChunk(segment));
    if (from != to)
      return segment.emitOpError()
             << "on stage " << to << " captures a value of stage " << from
             << "; expected a transfer between them";
    mapping.map(value,
                program.addArgument(value.getType(),
                                    acts.lookup(act).withTrips(getRowsOf(*act)),
                                    value.getLoc()));
    return success();
  }
  if (auto argument = dyn_cast<BlockArgument>(value)) {
    FailureOr<Value> slot = program.addSlotOf(argument);
    if (succeeded(slot))
      mapping.map(value, *slot);
    return slot;
  }
  auto transfer = value.getDefiningOp<dist::TransferOp>();
  if (!transfer)
    return segment.emitOpError() << "captures a value that no segment made";
  auto port = PortAttr::get(transfer.getContext(), PortKind::Recv,
                            transfer.getSymbolAttr());
  mapping.map(value,
              program.addArgument(value.getType(), port, value.getLoc()));
  return success();
}

/// An argument for the row of a value that is read as `readers`.
LogicalResult Outliner::captureRow(Value value, ArrayRef<int64_t> rows,
                                   ArrayRef<Value> readers) {
  FailureOr<Value> row = failure();
  if (const Act *act = routes.findAct(value, segment)) {
    SmallVector<int64_t> all = getRowsOf(*act);
    for (auto [own, more] : llvm::zip_equal(all, rows))
      own = more ? more : own;
    row = program.addArgument(readers.front().getType(),
                              acts.lookup(act).withTrips(all), value.getLoc());
  } else if (auto argument = dyn_cast<BlockArgument>(value)) {
    row = program.addRowOf(argument, rows);
  } else {
    return segment.emitOpError() << "captures rows of a value that no segment "
                                    "made";
  }
  if (failed(row))
    return failure();
  for (Value reader : readers)
    mapping.map(reader, *row);
  return success();
}

/// Adds how the segment reads `value`, which are `rows` of another one: what
/// enters as it is, or by rows, is read where that lies.
void Outliner::findReads(Value value, ArrayRef<int64_t> rows, Reads &reads) {
  bool isRead = false;
  for (Operation *user : value.getUsers()) {
    if (!segment->isProperAncestor(user))
      continue;
    auto enter = dyn_cast<dist::EnterOp>(user);
    if (!enter || enter.isCarry()) {
      isRead = true;
      continue;
    }
    SmallVector<int64_t> inner(rows);
    if (enter.isRow())
      inner[enter.getLoop().getDepth() - 1] = enter.getLoop().getTrips();
    findReads(enter.getResult(), inner, reads);
  }
  if (isRead)
    reads[SmallVector<int64_t>(rows)].push_back(value);
}

/// The value, and its rows, as far as they are read: an argument for each.
LogicalResult Outliner::captureUsed(Value value) {
  Reads reads;
  findReads(value, SmallVector<int64_t>(getDepth(), 0), reads);
  if (reads.empty())
    return capture(value);
  for (const auto &[rows, readers] : reads) {
    bool isRow = llvm::any_of(rows, [](int64_t count) { return count != 0; });
    if (failed(isRow ? captureRow(value, rows, readers) : capture(value)))
      return failure();
    for (Value reader : readers)
      if (!isRow)
        mapping.map(reader, mapping.lookup(value));
  }
  return success();
}

LogicalResult Outliner::addArguments() {
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(segment.getBody(), captured);
  // What the segment only hands on.
  auto add = [&](Value value) {
    bool isMadeHere = value.getDefiningOp<dist::LeaveOp>() &&
                      routes.getHome(value) == segment;
    if (value.getDefiningOp() != segment && !isMadeHere)
      captured.insert(value);
  };
  for (const Act &act : routes.getActs())
    if (act.from == segment)
      add(act.value);
  for (Route route : routes.getRoutes())
    if (route.from == segment)
      add(route.transfer.getInput());
  for (const Returned &returned : routes.getReturned(segment))
    add(returned.value);
  for (OpOperand &returned :
       source.getBody().front().getTerminator()->getOpOperands())
    if (handsOn(returned))
      add(returned.get());
  for (Value value : captured)
    if (failed(captureUsed(value)))
      return failure();
  return success();
}

/// What is handed on by rows, as a gradient that leaves a loop as a stack.
static SmallVector<int64_t> getReturnedRows(Value value) {
  auto leave = value.getDefiningOp<dist::LeaveOp>();
  if (leave && leave.isStack())
    return {leave.getLoop().getTrips()};
  return {};
}

LogicalResult Outliner::addResults() {
  auto keep = [&](const Act &act) {
    program.addResult(mapping.lookup(act.value), portOf(act));
  };
  for (auto next : segment.getBody().front().getOps<dist::NextOp>())
    program.addResult(mapping.lookup(next.getValue()),
                      acts.lookup(routes.findAct(next.getEnter().getInput())));
  for (Value result : segment.getResults()) {
    if (const Act *act = routes.findAct(result))
      keep(*act);
    for (const Returned &returned : routes.getReturned(segment))
      if (returned.value == result &&
          failed(program.addReturn(mapping.lookup(result), returned.index)))
        return failure();
  }
  for (const Returned &returned : routes.getReturned(segment))
    if (returned.value.getDefiningOp() != segment &&
        failed(program.addReturn(mapping.lookup(returned.value), returned.index,
                                 getReturnedRows(returned.value))))
      return failure();
  for (OpOperand &returned :
       source.getBody().front().getTerminator()->getOpOperands())
    if (handsOn(returned) &&
        failed(program.addReturn(mapping.lookup(returned.get()),
                                 returned.getOperandNumber())))
      return failure();
  for (const Act &act : routes.getActs())
    if (act.from == segment && act.value.getDefiningOp() != segment)
      keep(act);
  for (Route route : routes.getRoutes())
    if (route.from == segment)
      program.addResult(mapping.lookup(route.transfer.getInput()),
                        PortAttr::get(source.getContext(), PortKind::Send,
                                      route.transfer.getSymbolAttr()));
  return success();
}

/// What enters a trip is there: what is carried where it starts, a constant of
/// the segment as it is, and all else is an argument where it is read.
void Outliner::cloneOps() {
  for (Operation &op : segment.getBody().front().without_terminator()) {
    auto enter = dyn_cast<dist::EnterOp>(op);
    if (auto next = dyn_cast<dist::NextOp>(op))
      mapping.map(next.getResult(), mapping.lookup(next.getValue()));
    else if (!enter)
      program.getBuilder().clone(op, mapping);
    else if (enter.isCarry() ||
             (!enter.isRow() && isInSegment(enter.getInput())))
      mapping.map(enter.getResult(), mapping.lookup(enter.getInput()));
  }
  for (auto [result, inner] :
       llvm::zip(segment.getResults(), segment.getYield().getOperands())) {
    mapping.map(result, mapping.lookup(inner));
    for (Operation *user : result.getUsers())
      if (auto leave = dyn_cast<dist::LeaveOp>(user))
        mapping.map(leave.getResult(), mapping.lookup(inner));
  }
}

FailureOr<dist::ProgramAttr> Outliner::run() {
  if (failed(addArguments()))
    return failure();
  cloneOps();
  if (failed(addResults()))
    return failure();
  int64_t chunk = getChunk(segment);
  return program.finish(chunk, segment.getPhase(), stages.getStage(chunk),
                        segment.getLoop().value_or(dist::LoopAttr()));
}

/// The loop into whose first trip the value goes; null where it goes into none.
static dist::EnterOp findCarried(Value value) {
  for (Operation *user : value.getUsers())
    if (auto enter = dyn_cast<dist::EnterOp>(user); enter && enter.isCarry())
      return enter;
  return {};
}

/// The slot of what a segment keeps. What each trip of the outermost loop
/// writes anew, for its other parts, is of the trips as what they carry is.
static PortAttr makeActSlot(const Act &act, size_t number) {
  int64_t chunk = getChunk(act.from);
  dist::EnterOp carried = findCarried(act.value);
  bool isOfTrip = !act.rows.empty() && act.rows.front() == 0;
  dist::SegmentOp from = act.from;
  PortKind kind = from.getPhase() == Phase::Prepare ? PortKind::Kept
                  : carried || isOfTrip             ? PortKind::Carry
                                                    : PortKind::Act;
  std::string name =
      carried && carried.isCondition()
          ? dist::getConditionName(carried.getLoop(), chunk)
          : "c" + std::to_string(chunk) + ".a" + std::to_string(number);
  return PortAttr::get(act.value.getContext(), kind, StringRef(name), chunk);
}

LogicalResult llmc::outlineSegments(TimelineContext &context,
                                    func::FuncOp source, StageMap &stages,
                                    SmallVectorImpl<Attribute> &programs,
                                    SmallVectorImpl<Attribute> &transfers) {
  Routes routes(source, stages);
  if (failed(routes.build()))
    return failure();
  ActSlots acts;
  for (auto [number, act] : llvm::enumerate(routes.getActs()))
    acts[&act] = makeActSlot(act, number);
  llvm::DenseMap<Operation *, FlatSymbolRefAttr> names;
  for (auto segment : source.getOps<SegmentOp>()) {
    FailureOr<dist::ProgramAttr> program =
        Outliner(context, source, segment, stages, routes, acts).run();
    if (failed(program))
      return failure();
    programs.push_back(*program);
    names[segment] = program->getFunction();
  }
  for (Route route : routes.getRoutes())
    transfers.push_back(dist::RouteAttr::get(
        source.getContext(), route.transfer.getSymbolAttr(),
        names.lookup(route.from), names.lookup(route.to)));
  return success();
}

static void addTimeline(TimelineContext &context, Operation *owner,
                        ArrayRef<Attribute> programs,
                        ArrayRef<Attribute> transfers) {
  auto step = dyn_cast<dist::StepOp>(owner);
  auto entry = dyn_cast<dist::EntryOp>(owner);
  OpBuilder builder(owner);
  auto timeline = dist::TimelineOp::create(
      builder, owner->getLoc(), builder.getStringAttr(context.name),
      entry ? entry.getCountsAttr() : FlatSymbolRefAttr(),
      builder.getI64IntegerAttr(context.microbatches),
      builder.getArrayAttr(programs), builder.getArrayAttr(transfers),
      step ? step.getTableAttr() : entry.getTableAttr());
  if (Attribute flops = owner->getAttr(dist::DistDialect::kModelFlops))
    timeline->setAttr(dist::DistDialect::kModelFlops, flops);
  owner->erase();
}

void OutlineProgramsPass::runOnOperation() {
  ModuleOp module = getOperation();
  if (failed(getMesh(module)))
    return signalPassFailure();
  dist::StateBuffers buffers(module);
  llvm::SetVector<Operation *> sources;
  auto findSource = [&](StringRef name) {
    auto function = module.lookupSymbol<func::FuncOp>(name);
    sources.insert(function);
    return function;
  };
  for (Operation &op : llvm::make_early_inc_range(*module.getBody())) {
    SmallVector<Attribute> programs, transfers;
    if (!isa<dist::StepOp, dist::EntryOp>(op))
      continue;
    StageMap stages(module, &op);
    TimelineContext context{module, buffers,
                            SymbolTable::getSymbolName(&op).str(), 1};
    auto step = dyn_cast<dist::StepOp>(op);
    if (step)
      context.microbatches = static_cast<int64_t>(step.getMicrobatches());
    auto entry = dyn_cast<dist::EntryOp>(op);
    func::FuncOp function =
        findSource(step ? step.getMicrobatch() : entry.getFunction());
    if (failed(outlineSegments(context, function, stages, programs, transfers)))
      return signalPassFailure();
    if (step && failed(outlineUpdate(context, findSource(step.getUpdate()),
                                     stages, programs)))
      return signalPassFailure();
    addTimeline(context, &op, programs, transfers);
  }
  for (Operation *function : sources)
    function->erase();
}
