//===- Schedule.cpp - The table of each step and entry --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Problem and solver stand in Solvers/Schedules/Schedule.h; this pass reads the
// IR, asks, checks and writes.
//
// Test: test/Transforms/Scheduling/schedule.mlir
//===----------------------------------------------------------------------===//

#include "llmc/Solvers/Schedules/Schedule.h"
#include "llmc/Analysis/Program/Program.h"
#include "llmc/Analysis/Program/ScheduleProblem.h"
#include "llmc/Analysis/Program/Stages.h"
#include "llmc/Support/Refusal.h"
#include "llmc/Transforms/Scheduling/Passes.h"

using namespace mlir;
using namespace llmc;
using dist::Phase;

namespace llmc {
#define GEN_PASS_DEF_SCHEDULEPASS
#include "llmc/Transforms/Scheduling/Passes.h.inc"
} // namespace llmc

namespace {
struct SchedulePass : llmc::impl::SchedulePassBase<SchedulePass> {
  void runOnOperation() override;
};
} // namespace

/// The table of `step`, by generator or as given.
static FailureOr<Schedule> solve(dist::StepOp step,
                                 const ScheduleProblem &problem) {
  dist::ScheduleAttr attribute = step.getSchedule();
  if (dist::TableAttr table = attribute.getTable())
    return readSchedule(table);
  Schedule schedule;
  std::string reason =
      makeSchedule(attribute.getName().getValue(), problem, schedule);
  if (reason.empty())
    return schedule;
  return emitRefusal(step) << reason;
}

/// Moves the ops of `from` into `block`: each to the end of the group after
/// the last original op of `block` on which it depends. Groups are known by
/// numbers, since a block renumbers its ops after each move.
static void interleave(Block &block, Block &from) {
  llvm::DenseMap<Operation *, int64_t> groupOf;
  SmallVector<Operation *> endOf;
  for (Operation &op : block) {
    groupOf[&op] = static_cast<int64_t>(endOf.size());
    endOf.push_back(&op);
  }
  Operation *front = nullptr;
  for (Operation &op : llvm::make_early_inc_range(from.without_terminator())) {
    int64_t group = -1;
    op.walk([&](Operation *nested) {
      for (Value operand : nested->getOperands()) {
        Operation *def = operand.getDefiningOp();
        Operation *place = def ? block.findAncestorOpInBlock(*def) : nullptr;
        if (auto found = groupOf.find(place); found != groupOf.end())
          group = std::max(group, found->second);
      }
    });
    Operation *&end = group < 0 ? front : endOf[group];
    if (end)
      op.moveAfter(end);
    else
      op.moveBefore(&block, block.begin());
    end = &op;
    groupOf[&op] = group;
  }
}

/// Moves the ops of `weight` into `input`, each after the last value that it
/// needs, and leaves one segment of phase backward.
static void merge(dist::SegmentOp input, dist::SegmentOp weight) {
  Block &block = input.getBody().front();
  auto yield = cast<dist::YieldOp>(block.getTerminator());
  for (auto [inner, result] :
       llvm::zip(yield.getOperands(), input.getResults()))
    result.replaceUsesWithIf(inner, [&](OpOperand &use) {
      return weight->isProperAncestor(use.getOwner());
    });
  auto weightYield = weight.getYield();
  interleave(block, weight.getBody().front());
  // One segment with the results of both that are still used outside.
  SmallVector<Value> values, replaced;
  for (auto [segment, end] :
       {std::pair(input, yield), std::pair(weight, weightYield)})
    for (auto [inner, result] :
         llvm::zip(end.getOperands(), segment.getResults()))
      if (!result.use_empty()) {
        values.push_back(inner);
        replaced.push_back(result);
      }
  OpBuilder builder(weight);
  auto merged = dist::SegmentOp::create(
      builder, input.getLoc(), ValueRange(values).getTypes(),
      static_cast<int64_t>(*input.getChunk()), Phase::Backward);
  yield.erase();
  Block *body = merged.getBody().empty() ? &merged.getBody().emplaceBlock()
                                         : &merged.getBody().front();
  body->clear();
  body->getOperations().splice(body->end(), block.getOperations());
  builder.setInsertionPointToEnd(body);
  dist::YieldOp::create(builder, input.getLoc(), values);
  for (auto [from, to] : llvm::zip(replaced, merged.getResults()))
    from.replaceAllUsesWith(to);
  weight.erase();
  input.erase();
}

/// Pairs the backward segments of each chunk; one that stands alone is renamed.
static void mergeBackward(func::FuncOp function) {
  llvm::MapVector<int64_t, dist::SegmentOp> inputs, weights;
  for (auto segment : function.getOps<dist::SegmentOp>()) {
    if (segment.getPhase() == Phase::BackwardInput)
      inputs.insert({*segment.getChunk(), segment});
    if (segment.getPhase() == Phase::BackwardWeight)
      weights.insert({*segment.getChunk(), segment});
  }
  for (auto &[chunk, weight] : weights) {
    auto input = inputs.find(chunk);
    if (input == inputs.end())
      weight.setPhase(Phase::Backward);
    else
      merge(input->second, weight);
  }
  // Where a chunk has loops, all of its backward is in segments of inputs.
  for (auto segment : function.getOps<dist::SegmentOp>())
    if (segment.getPhase() == Phase::BackwardInput)
      segment.setPhase(Phase::Backward);
  // A merged segment stands where its weight part stood.
  placeCrossings(function.getBody().front());
}

static bool isBackward(Phase phase) {
  return phase == Phase::Backward || phase == Phase::BackwardInput;
}

/// Every cell of a table runs a program: a chunk without ops of a phase (an
/// embedding has no backward-input, a constant head no backward) gets an empty
/// segment, in front of what comes after it.
static void addEmptySegments(func::FuncOp function, dist::TableAttr table,
                             int64_t numChunks) {
  Block &body = function.getBody().front();
  auto has = [&](dist::Cell::Kind kind) {
    return llvm::any_of(table.getCells(),
                        [&](auto &cell) { return cell.kind == kind; });
  };
  auto find = [&](int64_t chunk, llvm::function_ref<bool(Phase)> matches) {
    return llvm::any_of(body.getOps<dist::SegmentOp>(), [&](auto segment) {
      return segment.getChunk() == chunk && matches(segment.getPhase());
    });
  };
  bool hasWeight = has(dist::Cell::Kind::BackwardWeight);
  // Where segments of (direction, chunk) end, in the order of phase 4.
  auto place = [&](bool forward, int64_t chunk) {
    Operation *next = body.getTerminator();
    for (auto segment : body.getOps<dist::SegmentOp>()) {
      if (segment.getPhase() == Phase::Prepare)
        continue;
      bool isForward = segment.getPhase() == Phase::Forward;
      auto other = static_cast<int64_t>(*segment.getChunk());
      bool isLater = isForward == forward
                         ? (forward ? other > chunk : other < chunk)
                         : forward;
      if (isLater || (!forward && other == chunk &&
                      segment.getPhase() == Phase::BackwardWeight)) {
        next = segment;
        break;
      }
    }
    return next;
  };
  auto add = [&](int64_t chunk, Phase phase, Operation *next) {
    OpBuilder builder(next);
    auto segment = dist::SegmentOp::create(builder, function.getLoc(),
                                           TypeRange(), chunk, phase);
    builder.setInsertionPointToEnd(&segment.getBody().front());
    dist::YieldOp::create(builder, function.getLoc());
  };
  for (int64_t chunk = 0; chunk < numChunks; ++chunk) {
    if (!find(chunk, [](Phase p) { return p == Phase::Forward; }))
      add(chunk, Phase::Forward, place(true, chunk));
    if (has(dist::Cell::Kind::Backward) && !find(chunk, isBackward))
      add(chunk, hasWeight ? Phase::BackwardInput : Phase::Backward,
          place(false, chunk));
    if (hasWeight &&
        !find(chunk, [](Phase p) { return p == Phase::BackwardWeight; }))
      add(chunk, Phase::BackwardWeight, place(false, chunk - 1));
  }
}

static LogicalResult scheduleStep(dist::StepOp step, func::FuncOp microbatch,
                                  dist::MeshOp mesh) {
  ScheduleProblem problem =
      getScheduleProblem(mesh, step.getChunks().value_or(ArrayRef<int64_t>()),
                         step.getMicrobatches());
  FailureOr<Schedule> schedule = solve(step, problem);
  if (failed(schedule))
    return failure();
  if (std::string reason = checkSchedule(problem, *schedule, true);
      !reason.empty())
    return emitRefusal(step) << "expected a legal schedule: " << reason;
  step.setTableAttr(makeTable(step.getContext(), *schedule));
  bool hasWeight = llvm::any_of(step.getTableAttr().getCells(), [](auto &cell) {
    return cell.kind == dist::Cell::Kind::BackwardWeight;
  });
  if (!hasWeight)
    mergeBackward(microbatch);
  addEmptySegments(microbatch, step.getTableAttr(), problem.stageOf.size());
  return success();
}

void SchedulePass::runOnOperation() {
  FailureOr<dist::MeshOp> mesh = getMesh(getOperation());
  if (failed(mesh))
    return signalPassFailure();
  for (ProgramFunction &program : getProgramFunctions(getOperation())) {
    if (auto entry = dyn_cast<dist::EntryOp>(program.owner)) {
      ScheduleProblem problem = getScheduleProblem(
          *mesh, entry.getChunks().value_or(ArrayRef<int64_t>()), 1);
      entry.setTableAttr(makeTable(&getContext(), scheduleForward(problem)));
      addEmptySegments(program.function, entry.getTableAttr(),
                       problem.stageOf.size());
    } else if (program.kind == FunctionKind::Microbatch) {
      if (failed(scheduleStep(cast<dist::StepOp>(program.owner),
                              program.function, *mesh)))
        return signalPassFailure();
    }
  }
}
