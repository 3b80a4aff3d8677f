//===- PlanVerify.cpp - Refuse a plan before it runs ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The order of the checks, and the walk over all programs that some stage of
// some entry runs: bounds come first, so that the expansion may evaluate
// expressions without care.
//
// Test: test/Runtime/Plan/Verify/PlanVerifyTest.cpp
//===----------------------------------------------------------------------===//

#include "PlanChecks.h"

#include "llmc/Runtime/Base/Log.h"
#include "llmc/Runtime/Plan/Format/PlanFile.h"

#include <fmt/format.h>
#include <set>

namespace llmc::rt::plan {

Status mismatch(std::string message) {
  return makeError(ErrorKind::mismatch, std::move(message));
}

namespace {
/// Visits each program with the bounds of what it may see.
class Bounds {
public:
  Bounds(const Plan &plan, const Entry &entry, const Environment &environment)
      : plan_(plan), entry_(entry), environment_(environment) {}

  Status run();

private:
  Status checkSlots(const Scene &scene, const Instruction &instruction);
  Status check(const Instruction &instruction, const Scene &scene);
  Status visit(int32_t program, Scene scene);
  Status visitCall(const Call &call, const Scene &scene);
  Status visitLoop(const Loop &loop, const Scene &scene);
  Status visitWhile(const While &loop, const Scene &scene);
  Status addArguments(const std::vector<ExprId> &arguments, const Scene &scene,
                      Scene &inner) const;
  Scene sceneOf(int64_t stage, Interval microbatch) const;

  const Plan &plan_;
  const Entry &entry_;
  const Environment &environment_;
  int64_t visits_ = 0;
};
} // namespace

Scene Bounds::sceneOf(int64_t stage, Interval microbatch) const {
  Scene scene{plan_, entry_, environment_, stage, {}};
  for (const MeshAxis &axis : plan_.mesh.axes) {
    scene.scope.coordinates.push_back({0, axis.size - 1});
  }
  if (plan_.mesh.pipelineAxis >= 0) {
    scene.scope.coordinates[plan_.mesh.pipelineAxis] = {stage, stage};
  }
  scene.scope.microbatch = microbatch;
  return scene;
}

/// The slot of every frame that the instruction touches exists.
Status Bounds::checkSlots(const Scene &scene, const Instruction &instruction) {
  std::set<int32_t> frames;
  for (const OperandUse &use : usesOf(instruction.action)) {
    frames.insert(plan_.buffers[use.operand->buffer].frame);
  }
  if (const auto *signal = std::get_if<Signal>(&instruction.action)) {
    frames.insert(signal->event.frame);
  }
  if (const auto *wait = std::get_if<Wait>(&instruction.action)) {
    frames.insert(wait->event.frame);
  }
  for (int32_t number : frames) {
    const Frame &frame = plan_.frames[number];
    if (!hasStage(frame.stages, scene.stage)) {
      return mismatch(fmt::format("frame '{}' is not on stage {}",
                                  escape(frame.name), scene.stage));
    }
    if (frame.slot == noExpr) {
      continue;
    }
    auto slot = bound(plan_.expressions, frame.slot, scene.scope);
    if (!slot || slot->low < 0 || slot->high >= frame.slots) {
      return mismatch(
          fmt::format("expected the slot of frame '{}' to be below {}, got {}",
                      escape(frame.name), frame.slots,
                      slot ? fmt::format("{} to {}", slot->low, slot->high)
                           : std::string("an overflow")));
    }
  }
  return Status::success();
}

Status Bounds::addArguments(const std::vector<ExprId> &arguments,
                            const Scene &scene, Scene &inner) const {
  for (ExprId argument : arguments) {
    auto value = bound(plan_.expressions, argument, scene.scope);
    if (!value) {
      return mismatch("an argument of a call overflows");
    }
    inner.scope.parameters.push_back(*value);
  }
  return Status::success();
}

/// All trips at once: the trip is an interval.
Status Bounds::visitLoop(const Loop &loop, const Scene &scene) {
  if (loop.trips == 0) {
    return Status::success();
  }
  Scene inner = scene;
  inner.scope.parameters = {{0, loop.trips - 1}};
  LLMC_TRY(addArguments(loop.arguments, scene, inner));
  return visit(loop.program, std::move(inner));
}

Status Bounds::visitWhile(const While &loop, const Scene &scene) {
  Scene inner = scene;
  inner.scope.parameters.clear();
  return visit(loop.program, std::move(inner));
}

Status Bounds::visitCall(const Call &call, const Scene &scene) {
  Scene inner = scene;
  inner.scope.parameters.clear();
  LLMC_TRY(addArguments(call.arguments, scene, inner));
  if (call.microbatch != noExpr) {
    auto value = bound(plan_.expressions, call.microbatch, scene.scope);
    if (!value || value->low < 0 || value->high >= entry_.numMicrobatches) {
      return mismatch("the microbatch of a call is out of range");
    }
    inner.scope.microbatch = *value;
  }
  return visit(call.program, std::move(inner));
}

/// The instruction itself, where it is no call.
Status Bounds::check(const Instruction &instruction, const Scene &scene) {
  LLMC_TRY(checkSlots(scene, instruction));
  return checkInstruction(scene, instruction);
}

Status Bounds::visit(int32_t number, Scene scene) {
  const Program &program = plan_.programs[number];
  visits_ += 1 + static_cast<int64_t>(program.instructions.size());
  if (visits_ > environment_.maxSteps) {
    return makeError(ErrorKind::infeasible,
                     fmt::format("entry '{}' has more than {} instructions",
                                 escape(entry_.name), environment_.maxSteps));
  }
  for (size_t i = 0; i < program.instructions.size(); ++i) {
    const Instruction &instruction = program.instructions[i];
    if (const auto *call = std::get_if<Call>(&instruction.action)) {
      LLMC_TRY(visitCall(*call, scene));
      continue;
    }
    if (const auto *loop = std::get_if<Loop>(&instruction.action)) {
      LLMC_TRY(visitLoop(*loop, scene));
      continue;
    }
    Status status = check(instruction, scene);
    if (!status.ok()) {
      return status.inContext(fmt::format(
          "'{}' (instruction {} of program '{}', stage {})",
          nameOf(instruction.action), i, escape(program.name), scene.stage));
    }
    if (const auto *loop = std::get_if<While>(&instruction.action)) {
      LLMC_TRY(visitWhile(*loop, scene));
    }
  }
  return Status::success();
}

Status Bounds::run() {
  int64_t numStages = plan_.mesh.numStages();
  for (int64_t stage = 0; stage < numStages; ++stage) {
    for (int32_t program : {entry_.prologue[stage], entry_.epilogue[stage]}) {
      if (program >= 0) {
        LLMC_TRY(visit(program, sceneOf(stage, {0, 0})));
      }
    }
    std::set<int32_t> programs;
    for (size_t at = stage; at < entry_.table.size(); at += numStages) {
      if (entry_.table[at].program >= 0) {
        programs.insert(entry_.table[at].program);
      }
    }
    for (int32_t program : programs) {
      LLMC_TRY(visit(program, sceneOf(stage, {0, entry_.numMicrobatches - 1})));
    }
  }
  return Status::success();
}

/// An expression that sees a coordinate other than the stage may behave
/// differently on the last device than on the first.
static bool dependsOnOtherAxes(const Plan &plan) {
  for (const ExprNode &node : plan.expressions) {
    if (node.op == ExprOp::coordinate && node.value != plan.mesh.pipelineAxis &&
        plan.mesh.axes[node.value].size > 1) {
      return true;
    }
  }
  return false;
}

static bool hasWhile(const Plan &plan) {
  for (const Program &program : plan.programs) {
    for (const Instruction &each : program.instructions) {
      if (std::holds_alternative<While>(each.action)) {
        return true;
      }
    }
  }
  return false;
}

static Status checkOrderOf(const Plan &plan, const Entry &entry,
                           const EntryWalk::Choice &choice, int64_t maxSteps) {
  EntryWalk walk(plan, entry, choice, maxSteps);
  LLMC_TRY(walk.run());
  return checkOrder(walk);
}

static Status verifyEntry(const Plan &plan, const Entry &entry,
                          const Environment &environment) {
  LLMC_TRY(checkTable(plan, entry));
  LLMC_TRY(Bounds(plan, entry, environment).run());
  // One trip of a while orders what none does; what two that follow each other
  // order holds for all.
  bool ends = dependsOnOtherAxes(plan), trips = hasWhile(plan);
  for (bool atEnd : {false, true}) {
    for (int whileTrips : {1, 3}) {
      if ((atEnd && !ends) || (whileTrips > 1 && !trips)) {
        continue;
      }
      LLMC_TRY(
          checkOrderOf(plan, entry, {atEnd, whileTrips}, environment.maxSteps));
    }
  }
  return Status::success();
}

Status verifyPlan(const Plan &plan, const Environment &environment) {
  LLMC_TRY(checkStructure(plan));
  LLMC_TRY(checkFrames(plan));
  LLMC_TRY(checkBoxes(plan));
  LLMC_TRY(checkWhiles(plan));
  LLMC_TRY(checkEnvironment(plan, environment));
  for (const Entry &entry : plan.entries) {
    Status status = verifyEntry(plan, entry, environment);
    if (!status.ok()) {
      return status.inContext(fmt::format("entry '{}'", escape(entry.name)));
    }
  }
  return Status::success();
}

} // namespace llmc::rt::plan
