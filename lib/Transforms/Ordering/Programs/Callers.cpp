//===- Callers.cpp - Programs that call the parts of a chunk --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Callers.h.
//
// Tests: test/Transforms/Ordering/order-loops.mlir, order-whiles.mlir
//===----------------------------------------------------------------------===//

#include "Callers.h"
#include "../Frames/PlanFrames.h"
#include "ProgramOrder.h"
#include "llmc/Dialect/Dist/IR/LoopRuns.h"

using namespace mlir;

namespace llmc::ordering {

static int32_t getFirstPart(const Timeline &timeline, int32_t program) {
  int32_t last = getLastPart(timeline, program);
  while (program > 0 && getLastPart(timeline, program - 1) == last)
    --program;
  return program;
}

bool isCalled(const Timeline &timeline, int32_t program) {
  dist::ProgramAttr attr = timeline.programs[program].attr;
  return attr.getLoop() || attr.getPhase() == dist::Phase::Prepare ||
         getFirstPart(timeline, program) != getLastPart(timeline, program);
}

namespace {

class CallerEmitter {
public:
  CallerEmitter(OpBuilder &builder, PlanNames &names,
                const PlanStreams &streams, const Timeline &timeline,
                const TimelinePlaces &places,
                ArrayRef<plan::ProgramOp> programs)
      : builder(builder), names(names), stream(streams.getCompute()),
        timeline(timeline), places(places), programs(programs) {}

  /// Calls the programs from `first` to `last`.
  FailureOr<plan::ProgramOp> emitGroup(int32_t first, int32_t last);
  /// Calls the prologue, if there is one, and what the stage prepares.
  plan::ProgramOp emitBegin(plan::ProgramOp prologue, int64_t stage,
                            ArrayRef<int32_t> prepared);

private:
  plan::ProgramOp makeProgram(StringRef name, plan::Phase phase,
                              IntegerAttr chunk, int64_t parameters,
                              Location loc);
  void emitCall(OpBuilder &at, plan::ProgramOp callee,
                ArrayRef<Attribute> arguments);
  plan::ProgramOp emitTurned(plan::ProgramOp callee, dist::LoopAttr loop);
  SmallVector<Attribute> getTrips(int64_t depth);
  LogicalResult emitParts(int32_t first, int32_t last, int64_t depth,
                          OpBuilder &at);
  FailureOr<plan::ProgramOp> emitTrip(int32_t first, int32_t last,
                                      int64_t depth);
  LogicalResult emitLoop(int32_t first, int32_t last, int64_t depth,
                         OpBuilder &at);
  /// What a conditional loop needs beside the program of its trips.
  struct Condition {
    plan::OperandAttr flag;
    plan::ProgramOp ask, turn;
  };
  FailureOr<Condition> emitCondition(int32_t program);
  plan::OperandAttr makeFlag(const TimelineProgram &part, StringRef name,
                             RankedTensorType type);
  FlatSymbolRefAttr nameOf(plan::ProgramOp program) {
    return FlatSymbolRefAttr::get(program.getSymNameAttr());
  }

  OpBuilder &builder;
  PlanNames &names;
  FlatSymbolRefAttr stream;
  const Timeline &timeline;
  const TimelinePlaces &places;
  ArrayRef<plan::ProgramOp> programs;
};

} // namespace

plan::ProgramOp CallerEmitter::makeProgram(StringRef name, plan::Phase phase,
                                           IntegerAttr chunk,
                                           int64_t parameters, Location loc) {
  auto program = plan::ProgramOp::create(
      builder, loc, builder.getStringAttr(names.take(name)),
      plan::PhaseAttr::get(builder.getContext(), phase), chunk,
      builder.getI64IntegerAttr(parameters));
  program.getBody().emplaceBlock();
  return program;
}

void CallerEmitter::emitCall(OpBuilder &at, plan::ProgramOp callee,
                             ArrayRef<Attribute> arguments) {
  plan::CallOp::create(at, callee.getLoc(), stream, nameOf(callee),
                       plan::ExprAttr(), builder.getArrayAttr(arguments));
}

/// The trips of the loops around a program, which are its parameters.
SmallVector<Attribute> CallerEmitter::getTrips(int64_t depth) {
  SmallVector<Attribute> trips;
  for (int64_t i = 0; i < depth; ++i)
    trips.push_back(plan::ExprAttr::getParameter(builder.getContext(), i));
  return trips;
}

/// A program that calls `callee` with the number of the trip from the end.
plan::ProgramOp CallerEmitter::emitTurned(plan::ProgramOp callee,
                                          dist::LoopAttr loop) {
  MLIRContext *context = builder.getContext();
  plan::ProgramOp program =
      makeProgram((callee.getSymName() + ".turned").str(), plan::Phase::Other,
                  {}, loop.getDepth(), callee.getLoc());
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(&program.getBody().front());
  SmallVector<Attribute> trips = getTrips(loop.getDepth());
  trips.front() = plan::ExprAttr::getBinary(
      plan::ExprOp::Sub,
      plan::ExprAttr::getConstant(context, loop.getTrips() - 1),
      plan::ExprAttr::getParameter(context, 0));
  emitCall(builder, callee, trips);
  return program;
}

/// One flag in a frame of its own.
plan::OperandAttr CallerEmitter::makeFlag(const TimelineProgram &part,
                                          StringRef name,
                                          RankedTensorType type) {
  func::FuncOp function = part.function;
  FrameShape shape;
  shape.name = name.str();
  shape.kind = plan::FrameKind::Tmp;
  if (part.getStages().size() < timeline.getNumStages())
    shape.stages = llvm::to_vector(part.getStages());
  FlatSymbolRefAttr frame = makeFrame(builder, names, function.getLoc(), shape);
  return getOperand(makeBuffer(builder, names, function.getLoc(),
                               (frame.getValue() + ".flag").str(), frame, 1),
                    type);
}

FailureOr<CallerEmitter::Condition>
CallerEmitter::emitCondition(int32_t program) {
  const TimelineProgram &part = timeline.programs[program];
  plan::ProgramOp body = programs[program];
  int64_t chunk = part.attr.getChunk();
  std::string name = dist::getConditionName(part.attr.getLoop(), chunk);
  auto slot = places.slots.find(dist::PortAttr::get(
      builder.getContext(), dist::PortKind::Carry, StringRef(name), chunk));
  if (slot == places.slots.end())
    return timeline.op.emitOpError()
           << "expected a slot '" << name << "' of chunk " << chunk
           << ", in which its conditional loop carries the condition";
  const PlacedSlot &from = slot->second;
  Condition condition;
  condition.flag =
      makeFlag(part, (body.getSymName() + ".go").str(), from.uses.type);
  OpBuilder::InsertionGuard guard(builder);
  condition.ask = makeProgram((body.getSymName() + ".ask").str(),
                              plan::Phase::Other, {}, 0, body.getLoc());
  condition.turn = makeProgram((body.getSymName() + ".turn").str(),
                               plan::Phase::Other, {}, 0, body.getLoc());
  builder.setInsertionPointToEnd(&condition.ask.getBody().front());
  plan::CopyOp::create(
      builder, body.getLoc(), stream, condition.flag, from.place,
      plan::HostEndAttr::get(builder.getContext(), plan::HostEnd::None),
      StringAttr());
  builder.setInsertionPointToEnd(&condition.turn.getBody().front());
  emitCall(builder, body, {});
  emitCall(builder, condition.ask, {});
  return condition;
}

/// The program of one trip of the loop that the parts have around them at
/// `depth`: that of its part, or one that calls its parts.
FailureOr<plan::ProgramOp> CallerEmitter::emitTrip(int32_t first, int32_t last,
                                                   int64_t depth) {
  const TimelineProgram &part = timeline.programs[first];
  if (first == last && part.attr.getLoop().getDepth() == depth)
    return programs[first];
  func::FuncOp function = part.function;
  plan::ProgramOp trip =
      makeProgram((function.getSymName() + ".trip").str(), plan::Phase::Other,
                  {}, depth, function.getLoc());
  // What the parts need stands in front of the program that calls them.
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(trip);
  OpBuilder inner = OpBuilder::atBlockEnd(&trip.getBody().front());
  if (failed(emitParts(first, last, depth, inner)))
    return failure();
  return trip;
}

/// All trips of the loop that the parts have around them at `depth`.
LogicalResult CallerEmitter::emitLoop(int32_t first, int32_t last,
                                      int64_t depth, OpBuilder &at) {
  dist::LoopAttr loop = timeline.programs[first].attr.getLoop();
  loop = loop.getPath()[depth - 1];
  FailureOr<plan::ProgramOp> body = emitTrip(first, last, depth);
  if (failed(body))
    return failure();
  Location loc = body->getLoc();
  if (loop.getConditional()) {
    FailureOr<Condition> condition = emitCondition(first);
    if (failed(condition))
      return failure();
    emitCall(at, condition->ask, {});
    plan::WhileOp::create(at, loc, stream, condition->flag,
                          nameOf(condition->turn));
    return success();
  }
  if (loop.getReversed())
    body = emitTurned(*body, loop);
  SmallVector<Attribute> around = getTrips(depth - 1);
  plan::LoopOp::create(
      at, loc, stream, builder.getI64IntegerAttr(loop.getTrips()),
      nameOf(*body),
      around.empty() ? ArrayAttr() : builder.getArrayAttr(around));
  return success();
}

/// Calls the programs from `first` to `last`, which have `depth` loops around
/// them all.
LogicalResult CallerEmitter::emitParts(int32_t first, int32_t last,
                                       int64_t depth, OpBuilder &at) {
  auto loopOf = [&](int32_t program) {
    dist::LoopAttr loop = timeline.programs[program].attr.getLoop();
    return loop && loop.getDepth() > depth ? loop.getPath()[depth]
                                           : dist::LoopAttr();
  };
  for (int32_t i = first, next; i <= last; i = next) {
    dist::LoopAttr loop = loopOf(i);
    next = i + 1;
    if (!loop) {
      emitCall(at, programs[i], getTrips(depth));
      continue;
    }
    while (next <= last && loopOf(next) == loop)
      ++next;
    if (failed(emitLoop(i, next - 1, depth + 1, at)))
      return failure();
  }
  return success();
}

/// What a part needs beside it is made before the caller.
FailureOr<plan::ProgramOp> CallerEmitter::emitGroup(int32_t first,
                                                    int32_t last) {
  const TimelineProgram &part = timeline.programs[first];
  func::FuncOp function = part.function;
  plan::ProgramOp caller = makeProgram(
      (function.getSymName() + ".all").str(),
      getPlanPhase(part.attr.getPhase()),
      builder.getI64IntegerAttr(part.attr.getChunk()), 0, function.getLoc());
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(caller);
  OpBuilder inner = OpBuilder::atBlockEnd(&caller.getBody().front());
  if (failed(emitParts(first, last, 0, inner)))
    return failure();
  return caller;
}

plan::ProgramOp CallerEmitter::emitBegin(plan::ProgramOp prologue,
                                         int64_t stage,
                                         ArrayRef<int32_t> prepared) {
  std::string name = (timeline.op.getSymName() + ".begin").str();
  if (timeline.getNumStages() > 1)
    name += ".s" + std::to_string(stage);
  plan::ProgramOp caller =
      makeProgram(name, plan::Phase::Other, {}, 0, timeline.op.getLoc());
  OpBuilder inner = OpBuilder::atBlockEnd(&caller.getBody().front());
  if (prologue)
    emitCall(inner, prologue, {});
  for (int32_t program : prepared)
    emitCall(inner, programs[program], {});
  return caller;
}

SmallVector<plan::ProgramOp> emitBegins(OpBuilder &builder, PlanNames &names,
                                        const PlanStreams &streams,
                                        const Timeline &timeline,
                                        const TimelinePlaces &places,
                                        ArrayRef<plan::ProgramOp> programs,
                                        ArrayRef<plan::ProgramOp> prologues) {
  CallerEmitter emitter(builder, names, streams, timeline, places, programs);
  SmallVector<plan::ProgramOp> begins(prologues);
  for (auto [stage, begin] : llvm::enumerate(begins)) {
    SmallVector<int32_t> prepared;
    for (auto [i, program] : llvm::enumerate(timeline.programs))
      if (program.attr.getPhase() == dist::Phase::Prepare &&
          llvm::is_contained(program.getStages(), stage))
        prepared.push_back(static_cast<int32_t>(i));
    if (!prepared.empty())
      begin = emitter.emitBegin(begin, static_cast<int64_t>(stage), prepared);
  }
  return begins;
}

FailureOr<SmallVector<plan::ProgramOp>>
emitCallers(OpBuilder &builder, PlanNames &names, const PlanStreams &streams,
            const Timeline &timeline, const TimelinePlaces &places,
            ArrayRef<plan::ProgramOp> programs) {
  SmallVector<plan::ProgramOp> cells(programs);
  CallerEmitter emitter(builder, names, streams, timeline, places, programs);
  auto end = static_cast<int32_t>(programs.size());
  for (int32_t first = 0; first < end;) {
    int32_t last = getLastPart(timeline, first);
    bool isPrepared =
        timeline.programs[first].attr.getPhase() == dist::Phase::Prepare;
    if (isCalled(timeline, first) && !isPrepared) {
      FailureOr<plan::ProgramOp> caller = emitter.emitGroup(first, last);
      if (failed(caller))
        return failure();
      cells[first] = *caller;
    }
    first = last + 1;
  }
  return cells;
}

} // namespace llmc::ordering
