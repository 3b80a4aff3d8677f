//===- OutlineUpdate.cpp - The update of each stage -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The program of a stage is the segments that the stage is part of, one after
// the other. A join is the operand that lives on the stage, or zeros. So a
// collective over the pipeline axis stands in all programs, in one order.
//
//   %u = segment at(0), %v = segment at(1), %j = join %u, %v, segment at(0, 1)
//   -> u0: %u, [%j = %u]   u1: %v, [%j = %v]
//
// Test: test/Transforms/Activations/outline-programs.mlir
//===----------------------------------------------------------------------===//

#include "ProgramBuilder.h"
#include "llmc/Dialect/StableHLO/IR/Builders.h"
#include "llmc/Runtime/Base/SeededFault.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Transforms/RegionUtils.h"

using namespace mlir;
using namespace llmc;
using dist::SegmentOp;

namespace {
class UpdateOutliner {
public:
  UpdateOutliner(TimelineContext &context, func::FuncOp source,
                 StageMap &stages, int64_t stage)
      : source(source), stages(stages), stage(stage),
        program(context, source, source.getLoc(),
                context.name + ".u" + std::to_string(stage)) {}

  FailureOr<dist::ProgramAttr> run();

private:
  bool isHere(Value value) {
    return llvm::is_contained(stages.getStages(value), stage);
  }
  /// False for a join, or a sum that was one, which is zero here.
  bool isMadeHere(Value value) {
    return llvm::is_contained(stages.getMakers(value), stage);
  }
  Value makeZeros(Value like) {
    return stablehlo::constantSplat(program.getBuilder(), like.getLoc(),
                                    cast<RankedTensorType>(like.getType()), 0);
  }
  /// The value on this stage; null where it does not live here.
  FailureOr<Value> read(Value value);
  LogicalResult addSegment(SegmentOp segment);
  LogicalResult addJoin(dist::JoinOp join);
  LogicalResult addReturn(OpOperand &returned);

  func::FuncOp source;
  StageMap &stages;
  int64_t stage;
  ProgramBuilder program;
  IRMapping mapping;
};
} // namespace

FailureOr<Value> UpdateOutliner::read(Value value) {
  if (Value known = mapping.lookupOrNull(value))
    return known;
  auto argument = dyn_cast<BlockArgument>(value);
  if (!argument || !isHere(value))
    return Value();
  if (!isMadeHere(value)) {
    Value zeros = makeZeros(value);
    mapping.map(value, zeros);
    return zeros;
  }
  FailureOr<Value> slot = program.addSlotOf(argument);
  if (succeeded(slot))
    mapping.map(value, *slot);
  return slot;
}

LogicalResult UpdateOutliner::addSegment(SegmentOp segment) {
  llvm::SetVector<Value> captured;
  getUsedValuesDefinedAbove(segment.getBody(), captured);
  for (Value value : captured) {
    FailureOr<Value> here = read(value);
    if (failed(here))
      return failure();
    if (!*here)
      return segment.emitOpError()
             << "on stage " << stage << " captures a value that lives at "
             << printStages(stages.getStages(value))
             << "; expected a join or a collective between them";
  }
  for (Operation &op : segment.getBody().front().without_terminator())
    program.getBuilder().clone(op, mapping);
  for (auto [result, inner] :
       llvm::zip(segment.getResults(), segment.getYield().getOperands()))
    mapping.map(result, mapping.lookup(inner));
  return success();
}

LogicalResult UpdateOutliner::addJoin(dist::JoinOp join) {
  Value here;
  for (Value operand : join.getInputs()) {
    if (!isMadeHere(operand))
      continue;
    FailureOr<Value> value = read(operand);
    if (failed(value))
      return failure();
    if (here)
      return join.emitOpError() << "expected operands of disjoint stages, got "
                                   "two of stage "
                                << stage;
    here = *value;
  }
  bool isRead = llvm::any_of(join->getUsers(), [&](Operation *user) {
    auto segment = user->getParentOfType<SegmentOp>();
    return segment && llvm::is_contained(*segment.getAt(), stage);
  });
  if (!here && !isRead)
    return success();
  if (!here || isSeeded(Fault::joinIsZeroEverywhere))
    here = makeZeros(join.getResult());
  mapping.map(join.getResult(), here);
  return success();
}

LogicalResult UpdateOutliner::addReturn(OpOperand &returned) {
  unsigned index = returned.getOperandNumber();
  if (isa<BlockArgument>(returned.get()) && !isPassedThrough(source, returned))
    return success();
  bool isStateHere = true;
  if (FlatSymbolRefAttr state =
          dist::getState(dist::getResultPort(source, index))) {
    isStateHere =
        llvm::is_contained(stages.getStateStages(state.getAttr()), stage);
    if (isStateHere && !isHere(returned.get()))
      return source.emitOpError()
             << "expected a new value of state " << state << " on stage "
             << stage << ", got one at "
             << printStages(stages.getStages(returned.get()));
  }
  if (!isStateHere || !isHere(returned.get()))
    return success();
  FailureOr<Value> value = read(returned.get());
  if (failed(value))
    return failure();
  return program.addReturn(*value, index);
}

FailureOr<dist::ProgramAttr> UpdateOutliner::run() {
  Block &body = source.getBody().front();
  for (Operation &op : body.without_terminator()) {
    LogicalResult result = success();
    if (auto segment = dyn_cast<SegmentOp>(op)) {
      if (llvm::is_contained(*segment.getAt(), stage))
        result = addSegment(segment);
    } else if (auto join = dyn_cast<dist::JoinOp>(op)) {
      result = addJoin(join);
    } else {
      result = op.emitOpError()
               << "expected segments and joins alone in an update";
    }
    if (failed(result))
      return failure();
  }
  // In the order in which they are made; what is only handed on comes last.
  Operation *end = body.getTerminator();
  for (Operation &op : body.without_terminator())
    for (Value result : op.getResults())
      for (OpOperand &use : result.getUses())
        if (use.getOwner() == end && failed(addReturn(use)))
          return failure();
  for (OpOperand &returned : end->getOpOperands())
    if (isa<BlockArgument>(returned.get()) && failed(addReturn(returned)))
      return failure();
  return program.finish(-1, dist::Phase::Update, stage);
}

LogicalResult llmc::outlineUpdate(TimelineContext &context, func::FuncOp source,
                                  StageMap &stages,
                                  SmallVectorImpl<Attribute> &programs) {
  for (int64_t stage : stages.getAll()) {
    FailureOr<dist::ProgramAttr> program =
        UpdateOutliner(context, source, stages, stage).run();
    if (failed(program))
      return failure();
    programs.push_back(*program);
  }
  return success();
}
