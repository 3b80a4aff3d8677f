//===- LayoutSteps.cpp - Steps of a reshard as ops ------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Slices, views and values that some stages forget stay `dist.reshard`: they
// move nothing. A value is lifted by `dist.keep`, along the pipeline axis by
// `dist.join`, so that every member of a collective has an operand:
//
//   full @[0] -> full @[0, 1]:  dist.join over "pipe", dist.broadcast from [0]
//
// Tests: test/Transforms/Sharding/expand-reshards.mlir and materialize.mlir
//===----------------------------------------------------------------------===//

#include "LayoutSteps.h"
#include "llmc/Dialect/Dist/IR/LayoutOnMesh.h"
#include "llmc/Runtime/Base/SeededFault.h"
#include "llmc/Solvers/Schedules/Schedule.h"

using namespace mlir;
using namespace llmc;
using dist::LayoutAttr;
using Kind = ReshardMove::Kind;

static RankedTensorType typeWith(Value value, LayoutAttr layout) {
  return dist::withLayout(cast<RankedTensorType>(value.getType()), layout);
}

static ArrayAttr namesOf(OpBuilder &builder, ArrayRef<dist::AxisAttr> axes) {
  return builder.getStrArrayAttr(llvm::map_to_vector(
      axes, [](dist::AxisAttr axis) { return axis.getName().getValue(); }));
}

/// The layout pinned at these coordinates of one axis.
static LayoutAttr pinnedAt(LayoutAttr layout, StringRef axis,
                           ArrayRef<int64_t> coordinates) {
  SmallVector<dist::PinAttr> pins;
  for (dist::PinAttr pin : layout.getAt())
    if (pin.getAxis().getValue() != axis)
      pins.push_back(pin);
  MLIRContext *context = layout.getContext();
  pins.push_back(
      dist::PinAttr::get(context, StringAttr::get(context, axis), coordinates));
  return layout.withPins(pins);
}

/// Names are shared by the programs of all stages that take part.
FlatSymbolRefAttr StepBuilder::nameFor(OpBuilder &builder, ArrayAttr axes) {
  for (auto axis : axes.getAsRange<StringAttr>())
    if (mesh.getPipeline() && axis.getValue() == *mesh.getPipeline())
      return FlatSymbolRefAttr::get(builder.getContext(),
                                    "c" + std::to_string(numCollectives++));
  return {};
}

//===----------------------------------------------------------------------===//
// Lifts
//===----------------------------------------------------------------------===//

/// To more coordinates of the axis, with zeros there.
static Value buildJoin(OpBuilder &builder, Location loc, Value input,
                       LayoutAttr layout, StringRef axis) {
  return dist::JoinOp::create(builder, loc, typeWith(input, layout), input,
                              builder.getStringAttr(axis));
}

FailureOr<Value> StepBuilder::buildLift(OpBuilder &builder, Location loc,
                                        Value input, const ReshardStep &step) {
  dist::AxisAttr axis = step.axes.front();
  StringRef name = axis.getName();
  LayoutAttr from = dist::getLayout(input.getType());
  std::optional<ReductionKind> kind = step.layout.getPartialKind(name);
  if (!kind || isIdempotent(*kind))
    return mlir::emitError(loc)
           << "expected a value that is made partial to be a sum or a product "
              "over \""
           << name << "\", got " << step.layout;
  ArrayRef<int64_t> pin = from.getPin(name);
  if (!from.getPartialKind(name) && pin.size() != 1) {
    LayoutAttr kept = step.layout;
    if (!pin.empty())
      kept = pinnedAt(kept, name, pin);
    bool isEmbedded = step.from >= 0;
    auto coordinate =
        isEmbedded ? IntegerAttr()
                   : builder.getI64IntegerAttr(pin.empty() ? 0 : pin.front());
    input = dist::KeepOp::create(builder, loc, typeWith(input, kept), input,
                                 builder.getStringAttr(name), coordinate);
  }
  if (dist::getLayout(input.getType()) == step.layout)
    return input;
  return buildJoin(builder, loc, input, step.layout, name);
}

//===----------------------------------------------------------------------===//
// Moves
//===----------------------------------------------------------------------===//

/// Axes whose place changes, in the order of the dims before and after.
Value StepBuilder::buildPermute(OpBuilder &builder, Location loc, Value input,
                                const ReshardStep &step) {
  auto orderIn = [&](LayoutAttr layout) {
    SmallVector<dist::AxisAttr> axes;
    for (dist::DimAttr dim : layout.getDims())
      for (dist::AxisAttr axis : dim.getAxes())
        if (llvm::is_contained(step.axes, axis))
          axes.push_back(axis);
    return namesOf(builder, axes);
  };
  ArrayAttr over = orderIn(dist::getLayout(input.getType()));
  RankedTensorType type = typeWith(input, step.layout);
  return dist::PermuteOp::create(
             builder, loc, TypeRange(type), nameFor(builder, over), input,
             isSeeded(Fault::permuteGoesBackwards) ? over
                                                   : orderIn(step.layout),
             DenseI64ArrayAttr(),
             isSeeded(Fault::permuteGoesBackwards) ? orderIn(step.layout)
                                                   : over,
             FlatSymbolRefAttr())
      .getResults()
      .front();
}

Value StepBuilder::buildCollective(OpBuilder &builder, Location loc,
                                   Value input, const ReshardStep &step) {
  SmallVector<dist::AxisAttr> list(step.axes);
  if (isSeeded(Fault::allGatherReversesAxes) && *step.kind == Kind::AllGather)
    std::reverse(list.begin(), list.end());
  ArrayAttr axes = namesOf(builder, list);
  FlatSymbolRefAttr name = nameFor(builder, axes), none;
  RankedTensorType type = typeWith(input, step.layout);
  TypeRange types(type);
  auto kind = dist::getLayout(input.getType())
                  .getPartialKind(step.axes.front().getName());
  auto kindOf = [&] {
    return isSeeded(Fault::allReduceIgnoresKind)
               ? ReductionKind::sum
               : kind.value_or(ReductionKind::sum);
  };
  switch (*step.kind) {
  case Kind::AllReduce:
    return dist::AllReduceOp::create(builder, loc, types, name, input, kindOf(),
                                     axes, none)
        .getResults()
        .front();
  case Kind::ReduceScatter:
    return dist::ReduceScatterOp::create(
               builder, loc, types, name, input, kindOf(),
               isSeeded(Fault::reduceScatterCutsFirstDim) ? 0 : step.to, axes,
               none)
        .getResults()
        .front();
  case Kind::AllGather:
    return dist::AllGatherOp::create(builder, loc, types, name, input,
                                     step.from, axes, none)
        .getResults()
        .front();
  case Kind::AllToAll:
    return dist::AllToAllOp::create(builder, loc, types, name, input, step.to,
                                    step.from, axes, none)
        .getResults()
        .front();
  default:
    assert(*step.kind == Kind::Reduce && "expected a collective");
    return dist::ReduceOp::create(
               builder, loc, types, name, input, kindOf(),
               step.layout.getPin(step.axes.front().getName()), axes, none)
        .getResults()
        .front();
  }
}

/// The nearest stage in front of the receiver that has the value, or the first.
Value StepBuilder::buildSend(OpBuilder &builder, Location loc, Value input,
                             const ReshardStep &step) {
  StringRef axis = step.axes.front().getName();
  LayoutAttr from = dist::getLayout(input.getType());
  int64_t to = step.layout.getPin(axis).front();
  if (isSeeded(Fault::transferGoesOneStageTooFar))
    to = (to + 1) % mesh.getAxes().getSize(axis);
  SmallVector<int64_t> have(from.getPin(axis));
  int64_t sender = have.front();
  for (int64_t stage : have)
    if (stage < to)
      sender = stage;
  if (have.size() > 1)
    input = dist::ReshardOp::create(
        builder, loc, typeWith(input, pinnedAt(from, axis, sender)), input);
  auto name = FlatSymbolRefAttr::get(builder.getContext(),
                                     "t" + std::to_string(numTransfers++));
  return dist::TransferOp::create(
      builder, loc, typeWith(input, step.layout), name, input,
      builder.getStringAttr(axis), builder.getI64IntegerAttr(sender),
      builder.getI64IntegerAttr(to), FlatSymbolRefAttr());
}

/// To several stages, or to one inside of an update, whose programs run side by
/// side: every member takes part.
Value StepBuilder::buildBroadcast(OpBuilder &builder, Location loc, Value input,
                                  const ReshardStep &step) {
  StringRef axis = step.axes.front().getName();
  LayoutAttr from = dist::getLayout(input.getType());
  int64_t sender = from.getPin(axis).front();
  SmallVector<int64_t> members(from.getPin(axis));
  for (int64_t stage : step.layout.getPin(axis))
    if (!llvm::is_contained(members, stage))
      members.push_back(stage);
  llvm::sort(members);
  LayoutAttr all = pinnedAt(step.layout, axis, members);
  if (from.getPin(axis).size() > 1)
    input = dist::ReshardOp::create(
        builder, loc, typeWith(input, pinnedAt(from, axis, sender)), input);
  LayoutAttr terms = all.withPartialOver(step.axes.front(), ReductionKind::sum);
  input = buildJoin(builder, loc, input, terms, axis);
  ArrayAttr axes = namesOf(builder, step.axes);
  RankedTensorType type = typeWith(input, all);
  input = dist::BroadcastOp::create(
              builder, loc, TypeRange(type), nameFor(builder, axes), input,
              builder.getDenseI64ArrayAttr({sender}), axes, FlatSymbolRefAttr())
              .getResults()
              .front();
  if (all == step.layout)
    return input;
  return dist::ReshardOp::create(builder, loc, typeWith(input, step.layout),
                                 input);
}

FailureOr<Value> StepBuilder::build(OpBuilder &builder, Location loc,
                                    Value input, const ReshardStep &step,
                                    FunctionKind kind) {
  if (step.kind == Kind::Lift)
    return buildLift(builder, loc, input, step);
  if (step.isLocal())
    return dist::ReshardOp::create(builder, loc, typeWith(input, step.layout),
                                   input)
        .getResult();
  if (*step.kind == Kind::Permute)
    return buildPermute(builder, loc, input, step);
  if (*step.kind == Kind::Broadcast ||
      (*step.kind == Kind::Send && kind == FunctionKind::Update))
    return buildBroadcast(builder, loc, input, step);
  if (*step.kind == Kind::Send)
    return buildSend(builder, loc, input, step);
  return buildCollective(builder, loc, input, step);
}

//===----------------------------------------------------------------------===//
// Marks
//===----------------------------------------------------------------------===//

SegmentMarks::SegmentMarks(dist::MeshOp mesh, const ProgramFunction &program)
    : pipeline(mesh.getPipeline().value_or("").str()),
      numStages(getPipelineSize(mesh)), kind(program.kind) {
  llvm::append_range(chunks, program.getChunks().value_or(ArrayRef<int64_t>()));
}

bool SegmentMarks::livesAt(int64_t block, ArrayRef<int64_t> pin) const {
  return pin.empty() || block < 0 ||
         block >= static_cast<int64_t>(chunks.size()) ||
         llvm::is_contained(pin, getStageOfChunk(chunks[block], numStages));
}

int64_t SegmentMarks::getChunk(Operation *op) const {
  int64_t block = getBlock(op).value_or(0);
  return block < static_cast<int64_t>(chunks.size()) ? chunks[block] : 0;
}

bool SegmentMarks::isEarlier(Operation *op, Operation *other) const {
  if (isSeeded(Fault::sharedCopyStaysWithFirstUser))
    return false;
  // Forward runs upward through the chunks, backward downward.
  auto keyOf = [&](Operation *of) {
    dist::Phase phase = getPhase(of).value_or(dist::Phase::Forward);
    bool isForward = phase == dist::Phase::Forward;
    int64_t chunk = getChunk(of);
    return std::make_tuple(!isForward, isForward ? chunk : -chunk,
                           phase == dist::Phase::BackwardWeight);
  };
  return keyOf(op) < keyOf(other);
}

/// Whether what an op reads is there once the forward has run.
static bool readsForward(Operation *op) {
  return llvm::all_of(op->getOperands(), [](Value operand) {
    Operation *def = operand.getDefiningOp();
    while (def && !getPhase(def)) // to be marked as well
      def =
          def->getNumOperands() ? def->getOperand(0).getDefiningOp() : nullptr;
    return !def || getPhase(def) == dist::Phase::Forward;
  });
}

void SegmentMarks::set(Operation *op, Operation *like,
                       LayoutAttr layout) const {
  MLIRContext *context = op->getContext();
  dist::Phase phase =
      kind == FunctionKind::Update ? dist::Phase::Update : dist::Phase::Forward;
  std::optional<int64_t> block;
  if (like) {
    phase = getPhase(like).value_or(phase);
    block = getBlock(like);
  }
  ArrayRef<int64_t> pin = layout.getPin(pipeline);
  if (kind != FunctionKind::Update && !chunks.empty()) {
    int64_t number = block.value_or(0);
    for (int64_t b = 0;
         !livesAt(number, pin) && b < static_cast<int64_t>(chunks.size()); ++b)
      if (livesAt(b, pin))
        number = b;
    // Backward runs downward: a chunk below has run its forward alone.
    if (number < block.value_or(number) && readsForward(op))
      phase = dist::Phase::Forward;
    block = number;
  }
  op->setAttr(dist::DistDialect::kPhase, dist::PhaseAttr::get(context, phase));
  if (block)
    op->setAttr(dist::DistDialect::kBlock,
                IntegerAttr::get(IntegerType::get(context, 64), *block));
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

LogicalResult llmc::rewriteFunctions(
    ModuleOp module,
    function_ref<LogicalResult(dist::MeshOp, const ProgramFunction &,
                               LayoutReshards &, StepBuilder &)>
        rewrite) {
  FailureOr<dist::MeshOp> mesh = getMesh(module);
  if (failed(mesh))
    return failure();
  FailureOr<LayoutReshards> reshards = LayoutReshards::of(*mesh);
  if (failed(reshards))
    return failure();
  StepBuilder steps(*mesh);
  llvm::DenseSet<Operation *> seen;
  for (ProgramFunction &program : getProgramFunctions(module))
    if (seen.insert(program.function).second &&
        failed(rewrite(*mesh, program, *reshards, steps)))
      return failure();
  return success();
}
