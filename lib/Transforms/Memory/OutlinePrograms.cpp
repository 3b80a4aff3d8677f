//===- OutlinePrograms.cpp - One function for each segment ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The arguments of a program are what its segment captures, its results what
// others use, each marked with its slot. Gradients, loss and count become sums
// over microbatches here: %acc' = add(%acc, convert %g), in microbatch order.
//
// Test: test/Transforms/Memory/outline-programs.mlir
//===----------------------------------------------------------------------===//

#include "llmc/Analysis/Program.h"
#include "llmc/Dialect/StableHLO/IR/Builders.h"
#include "llmc/Transforms/Memory/Passes.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace llmc;
using dist::DistDialect;
using dist::Phase;
using dist::SlotAttr;
using dist::SlotKind;

namespace llmc {
#define GEN_PASS_DEF_OUTLINEPROGRAMSPASS
#include "llmc/Transforms/Memory/Passes.h.inc"
} // namespace llmc

namespace {
struct OutlineProgramsPass
    : llmc::impl::OutlineProgramsPassBase<OutlineProgramsPass> {
  void runOnOperation() override;
};

/// Names and modes that all programs of a timeline share.
struct TimelineContext {
  ModuleOp module;
  std::string name;
  int64_t microbatches = 1;
  int64_t numStages = 1;
  /// The slots of values that cross between segments.
  llvm::MapVector<Value, SlotAttr> acts;
};

/// Turns one segment into a function.
class Outliner {
public:
  Outliner(TimelineContext &context, func::FuncOp source,
           dist::SegmentOp segment)
      : context(context), source(source), segment(segment),
        builder(context.module.getContext()) {}

  FailureOr<dist::ProgramAttr> run();

private:
  std::string getName();
  FailureOr<SlotAttr> slotOf(Value captured);
  FailureOr<SlotAttr> slotOfArgument(BlockArgument argument);
  FailureOr<SlotAttr> slotOfReturn(unsigned index);
  DictionaryAttr marksOf(Value captured, SlotAttr slot);
  SmallVector<std::reference_wrapper<OpOperand>> getPassedThrough();
  LogicalResult addArguments(IRMapping &mapping);
  LogicalResult addResults(IRMapping &mapping);
  Value addArgument(Type type, DictionaryAttr marks, Location loc);
  Value accumulate(Value value, SlotAttr slot);

  TimelineContext &context;
  func::FuncOp source;
  dist::SegmentOp segment;
  OpBuilder builder;
  func::FuncOp program;
  SmallVector<DictionaryAttr> argumentMarks;
  SmallVector<Value> results;
  SmallVector<SlotAttr> resultSlots;
};
} // namespace

static SlotAttr makeSlot(MLIRContext *context, SlotKind kind, const Twine &name,
                         int64_t chunk = -1) {
  return SlotAttr::get(context, kind, StringRef(name.str()), chunk);
}

/// The type in which sums over microbatches are kept: f32 at least.
static RankedTensorType getSumType(Type type) {
  auto tensor = cast<RankedTensorType>(type);
  auto element = dyn_cast<FloatType>(tensor.getElementType());
  if (!element || element.getWidth() >= 32)
    return tensor;
  return RankedTensorType::get(tensor.getShape(),
                               Float32Type::get(type.getContext()));
}

std::string Outliner::getName() {
  if (segment.getPhase() == Phase::Update)
    return context.name + ".u" + std::to_string(segment.getAt()->front());
  StringRef suffix = "B";
  if (segment.getPhase() == Phase::Forward)
    suffix = "F";
  if (segment.getPhase() == Phase::BackwardWeight)
    suffix = "W";
  return context.name + ".c" + std::to_string(*segment.getChunk()) + "." +
         suffix.str();
}

FailureOr<SlotAttr> Outliner::slotOfArgument(BlockArgument argument) {
  MLIRContext *ctx = builder.getContext();
  unsigned i = argument.getArgNumber();
  if (auto state =
          source.getArgAttrOfType<FlatSymbolRefAttr>(i, DistDialect::kReads))
    return makeSlot(ctx, SlotKind::State, state.getValue() + ".local");
  if (auto hyper =
          source.getArgAttrOfType<FlatSymbolRefAttr>(i, DistDialect::kHyper))
    return makeSlot(ctx, SlotKind::Hyper, hyper.getValue());
  if (auto input = source.getArgAttrOfType<StringAttr>(i, DistDialect::kInput))
    return makeSlot(ctx, SlotKind::Input, input.getValue());
  if (auto state = source.getArgAttrOfType<FlatSymbolRefAttr>(
          i, DistDialect::kGradientOf))
    return makeSlot(ctx, SlotKind::Step, "grad." + state.getValue());
  auto role = source.getArgAttrOfType<StringAttr>(i, DistDialect::kRole);
  if (role && (role == "loss_sum" || role == "count"))
    return makeSlot(ctx, SlotKind::Step, role.getValue());
  return source.emitOpError()
         << "expected argument " << i
         << " to be an input, a state, a hyper value or a sum, got role '"
         << (role ? role.getValue() : "") << "', which is not supported yet";
}

FailureOr<SlotAttr> Outliner::slotOf(Value captured) {
  auto act = context.acts.find(captured);
  bool isAct =
      act != context.acts.end() && segment.getPhase() != Phase::Forward;
  if (auto argument = dyn_cast<BlockArgument>(captured); argument && !isAct)
    return slotOfArgument(argument);
  if (act == context.acts.end())
    return segment.emitOpError() << "captures a value that no segment made";
  int64_t from = act->second.getChunk() % context.numStages;
  int64_t to = static_cast<int64_t>(*segment.getChunk()) % context.numStages;
  if (from != to)
    return segment.emitOpError()
           << "on stage " << to << " captures a value of stage " << from
           << ", and transfers are not supported yet";
  return act->second;
}

/// The slot, and for an input where its data lie.
DictionaryAttr Outliner::marksOf(Value captured, SlotAttr slot) {
  SmallVector<NamedAttribute> marks = {
      builder.getNamedAttr(DistDialect::kSlot, slot)};
  if (auto argument = dyn_cast<BlockArgument>(captured))
    if (Attribute offset = source.getArgAttr(argument.getArgNumber(),
                                             DistDialect::kDataOffset))
      marks.push_back(builder.getNamedAttr(DistDialect::kDataOffset, offset));
  return builder.getDictionaryAttr(marks);
}

/// Arguments that the source returns as they are (the learning rate as a
/// metric); the first segment passes them on. A state that is returned
/// unchanged needs nothing.
SmallVector<std::reference_wrapper<OpOperand>> Outliner::getPassedThrough() {
  SmallVector<std::reference_wrapper<OpOperand>> passed;
  if (segment != *source.getOps<dist::SegmentOp>().begin())
    return passed;
  for (OpOperand &use :
       source.getBody().front().getTerminator()->getOpOperands()) {
    auto argument = dyn_cast<BlockArgument>(use.get());
    if (!argument)
      continue;
    Attribute reads =
        source.getArgAttr(argument.getArgNumber(), DistDialect::kReads);
    Attribute writes =
        source.getResultAttr(use.getOperandNumber(), DistDialect::kWrites);
    if (!reads || reads != writes)
      passed.push_back(use);
  }
  return passed;
}

/// A further argument of the program. Its type and marks are set for all
/// arguments at the end, since each change copies all of them.
Value Outliner::addArgument(Type type, DictionaryAttr marks, Location loc) {
  argumentMarks.push_back(marks);
  return program.getBody().front().addArgument(type, loc);
}

LogicalResult Outliner::addArguments(IRMapping &mapping) {
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(segment.getBody(), captured);
  // Arguments that the backward keeps pass through the forward.
  if (segment.getPhase() == Phase::Forward)
    for (auto &[value, slot] : context.acts)
      if (isa<BlockArgument>(value) &&
          slot.getChunk() == static_cast<int64_t>(*segment.getChunk()))
        captured.insert(value);
  for (OpOperand &use : getPassedThrough())
    captured.insert(use.get());
  for (Value value : captured) {
    FailureOr<SlotAttr> slot = slotOf(value);
    if (failed(slot))
      return failure();
    bool isSum = slot->getKind() == SlotKind::Step && context.microbatches > 1;
    Type type = isSum ? getSumType(value.getType()) : value.getType();
    Value argument = addArgument(type, marksOf(value, *slot), value.getLoc());
    if (type != value.getType())
      argument = stablehlo::convertTo(
          builder, value.getLoc(), argument,
          cast<RankedTensorType>(value.getType()).getElementType());
    mapping.map(value, argument);
  }
  return success();
}

FailureOr<SlotAttr> Outliner::slotOfReturn(unsigned i) {
  MLIRContext *ctx = builder.getContext();
  if (auto state = source.getResultAttrOfType<FlatSymbolRefAttr>(
          i, DistDialect::kGradientOf))
    return makeSlot(ctx, SlotKind::Step, "grad." + state.getValue());
  if (auto state = source.getResultAttrOfType<FlatSymbolRefAttr>(
          i, DistDialect::kWrites))
    return makeSlot(ctx, SlotKind::State, state.getValue() + ".local");
  if (auto metric =
          source.getResultAttrOfType<StringAttr>(i, DistDialect::kMetric))
    return makeSlot(ctx, SlotKind::Metric, metric.getValue());
  auto role = source.getResultAttrOfType<StringAttr>(i, DistDialect::kRole);
  if (role && (role == "loss_sum" || role == "count"))
    return makeSlot(ctx, SlotKind::Step, role.getValue());
  if (auto name = source.getResultAttrOfType<StringAttr>(i, DistDialect::kName))
    return makeSlot(ctx, SlotKind::Output, name.getValue());
  if (role && role == "loss")
    return makeSlot(ctx, SlotKind::Output, "loss");
  return source.emitOpError()
         << "expected a mark of result " << i << " that says where it goes";
}

/// The sum of `value` and what earlier microbatches left in `slot`.
Value Outliner::accumulate(Value value, SlotAttr slot) {
  RankedTensorType type = getSumType(value.getType());
  Value sum = addArgument(
      type,
      builder.getDictionaryAttr(builder.getNamedAttr(DistDialect::kSlot, slot)),
      value.getLoc());
  Location loc = value.getLoc();
  if (type != value.getType())
    value = stablehlo::convertTo(builder, loc, value, type.getElementType());
  return stablehlo::add(builder, loc, sum, value);
}

LogicalResult Outliner::addResults(IRMapping &mapping) {
  dist::YieldOp yield = segment.getYield();
  Operation *end = source.getBody().front().getTerminator();
  for (auto [result, inner] :
       llvm::zip(segment.getResults(), yield.getOperands())) {
    auto act = context.acts.find(result);
    if (act != context.acts.end()) {
      results.push_back(mapping.lookupOrDefault(inner));
      resultSlots.push_back(act->second);
    }
    for (OpOperand &use : result.getUses()) {
      if (use.getOwner() != end)
        continue;
      FailureOr<SlotAttr> slot = slotOfReturn(use.getOperandNumber());
      if (failed(slot))
        return failure();
      Value value = mapping.lookupOrDefault(inner);
      if (slot->getKind() == SlotKind::Step && context.microbatches > 1)
        value = accumulate(value, *slot);
      results.push_back(value);
      resultSlots.push_back(*slot);
    }
  }
  for (OpOperand &use : getPassedThrough()) {
    FailureOr<SlotAttr> slot = slotOfReturn(use.getOperandNumber());
    if (failed(slot))
      return failure();
    results.push_back(mapping.lookup(use.get()));
    resultSlots.push_back(*slot);
  }
  // Arguments whose value of this microbatch the backward needs.
  if (segment.getPhase() == Phase::Forward)
    for (auto &[value, slot] : context.acts)
      if (isa<BlockArgument>(value) &&
          slot.getChunk() == static_cast<int64_t>(*segment.getChunk())) {
        results.push_back(mapping.lookup(value));
        resultSlots.push_back(slot);
      }
  return success();
}

FailureOr<dist::ProgramAttr> Outliner::run() {
  builder.setInsertionPointToEnd(context.module.getBody());
  program = func::FuncOp::create(builder, segment.getLoc(), getName(),
                                 builder.getFunctionType({}, {}));
  program.setPrivate();
  builder.setInsertionPointToStart(program.addEntryBlock());
  IRMapping mapping;
  if (failed(addArguments(mapping)))
    return failure();
  for (Operation &op : segment.getBody().front().without_terminator())
    builder.clone(op, mapping);
  if (failed(addResults(mapping)))
    return failure();
  func::ReturnOp::create(builder, segment.getLoc(), results);
  program.setType(
      builder.getFunctionType(program.getBody().front().getArgumentTypes(),
                              ValueRange(results).getTypes()));
  program.setAllArgAttrs(argumentMarks);
  SmallVector<Attribute> slots(resultSlots.begin(), resultSlots.end());
  setResultMarks(program, DistDialect::kSlot, slots);
  SmallVector<int64_t> at;
  if (segment.getAt())
    at.assign(segment.getAt()->begin(), segment.getAt()->end());
  else
    at = {static_cast<int64_t>(*segment.getChunk()) % context.numStages};
  return dist::ProgramAttr::get(
      builder.getContext(), FlatSymbolRefAttr::get(program.getNameAttr()),
      segment.getChunk() ? static_cast<int64_t>(*segment.getChunk()) : -1,
      segment.getPhase(), builder.getDenseI64ArrayAttr(at));
}

/// Names the slots of what crosses from forward to backward: segment results
/// that other segments use, and carried states, which the forward replaces.
static void nameActs(TimelineContext &context, func::FuncOp function) {
  int64_t number = 0;
  auto add = [&](Value value, int64_t chunk) {
    if (!context.acts.contains(value))
      context.acts[value] =
          makeSlot(function.getContext(), SlotKind::Act,
                   "c" + Twine(chunk) + ".a" + Twine(number++), chunk);
  };
  for (auto segment : function.getOps<dist::SegmentOp>()) {
    if (segment.getPhase() == Phase::Update)
      continue;
    for (Value result : segment.getResults())
      if (llvm::any_of(result.getUsers(), [](Operation *user) {
            return isa<dist::SegmentOp>(user->getParentOp()) ||
                   user->getParentOfType<dist::SegmentOp>();
          }))
        add(result, *segment.getChunk());
    if (segment.getPhase() == Phase::Forward)
      continue;
    llvm::SetVector<Value> captured;
    getUsedValuesDefinedAbove(segment.getBody(), captured);
    for (Value value : captured)
      if (auto argument = dyn_cast<BlockArgument>(value)) {
        auto role = function.getArgAttrOfType<StringAttr>(
            argument.getArgNumber(), DistDialect::kRole);
        if (role && (role == "carried" || role == "input"))
          add(value, *segment.getChunk());
      }
  }
}

/// Outlines the segments of `function` and adds their programs.
static LogicalResult outline(TimelineContext &context, func::FuncOp function,
                             SmallVectorImpl<Attribute> &programs) {
  nameActs(context, function);
  for (auto segment : function.getOps<dist::SegmentOp>()) {
    FailureOr<dist::ProgramAttr> program =
        Outliner(context, function, segment).run();
    if (failed(program))
      return failure();
    programs.push_back(*program);
  }
  return success();
}

static void addTimeline(TimelineContext &context, Operation *owner,
                        ArrayRef<Attribute> programs, dist::TableAttr table) {
  OpBuilder builder(owner);
  dist::TimelineOp::create(
      builder, owner->getLoc(), builder.getStringAttr(context.name),
      builder.getI64IntegerAttr(context.microbatches),
      builder.getArrayAttr(programs), builder.getArrayAttr({}), table);
  owner->erase();
}

void OutlineProgramsPass::runOnOperation() {
  ModuleOp module = getOperation();
  FailureOr<dist::MeshOp> mesh = getMesh(module);
  if (failed(mesh))
    return signalPassFailure();
  int64_t numStages = getPipelineSize(*mesh);
  llvm::SetVector<Operation *> sources;
  for (Operation &op : llvm::make_early_inc_range(*module.getBody())) {
    SmallVector<Attribute> programs;
    if (auto step = dyn_cast<dist::StepOp>(op)) {
      TimelineContext context{module,
                              step.getSymName().str(),
                              static_cast<int64_t>(step.getMicrobatches()),
                              numStages,
                              {}};
      for (StringRef name : {step.getMicrobatch(), step.getUpdate()}) {
        auto function = module.lookupSymbol<func::FuncOp>(name);
        sources.insert(function);
        if (failed(outline(context, function, programs)))
          return signalPassFailure();
      }
      addTimeline(context, &op, programs, step.getTableAttr());
    } else if (auto entry = dyn_cast<dist::EntryOp>(op)) {
      TimelineContext context{
          module, entry.getSymName().str(), 1, numStages, {}};
      auto function = module.lookupSymbol<func::FuncOp>(entry.getFunction());
      sources.insert(function);
      if (failed(outline(context, function, programs)))
        return signalPassFailure();
      addTimeline(context, &op, programs, entry.getTableAttr());
    }
  }
  for (Operation *function : sources)
    function->erase();
}
