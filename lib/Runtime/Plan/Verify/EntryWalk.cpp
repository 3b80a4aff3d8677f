//===- EntryWalk.cpp - What one device of each stage enqueues -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Test: test/Runtime/Plan/Verify/PlanVerifyOrderTest.cpp
//===----------------------------------------------------------------------===//

#include "EntryWalk.h"

#include "llmc/Runtime/Base/Log.h"

#include <fmt/format.h>

namespace llmc::rt::plan {

EntryWalk::EntryWalk(const Plan &plan, const Entry &entry, Choice choice,
                     int64_t maxSteps)
    : plan_(plan), entry_(entry), choice_(choice), maxSteps_(maxSteps) {
  stages.resize(plan.mesh.numStages());
  for (size_t s = 0; s < stages.size(); ++s) {
    for (const MeshAxis &axis : plan.mesh.axes) {
      stages[s].coordinates.push_back(choice.atEnd ? axis.size - 1 : 0);
    }
    if (plan.mesh.pipelineAxis >= 0) {
      stages[s].coordinates[plan.mesh.pipelineAxis] = static_cast<int64_t>(s);
    }
    stages[s].queues.resize(plan.streams.size());
  }
}

int64_t EntryWalk::evaluateAt(const StageWalk &stage,
                              const Invocation &invocation, ExprId id) const {
  if (id == noExpr) {
    return 0;
  }
  ExprScope scope;
  scope.coordinates = stage.coordinates.data();
  scope.microbatch = invocation.microbatch;
  scope.parameters = invocation.parameters.data();
  scope.numParameters = static_cast<int64_t>(invocation.parameters.size());
  return evaluate(plan_.expressions, id, scope).value_or(0);
}

int32_t EntryWalk::slotOf(const StageWalk &stage, const Invocation &invocation,
                          int32_t frame) const {
  return static_cast<int32_t>(
      evaluateAt(stage, invocation, plan_.frames[frame].slot));
}

std::string EntryWalk::describe(int64_t stage, const Item &item) const {
  const Invocation &invocation = stages[stage].invocations[item.invocation];
  std::string text =
      fmt::format("'{}' (instruction {} of program '{}', stage {}",
                  nameOf(item.instruction->action), item.number,
                  escape(plan_.programs[invocation.program].name), stage);
  if (invocation.tag >= 0) {
    text += fmt::format(", microbatch {}", invocation.tag);
  }
  text += ")";
  if (item.instruction->location >= 0) {
    text += " at " + escape(plan_.locations[item.instruction->location]);
  }
  return text;
}

Status EntryWalk::enqueueCall(StageWalk &stage, const Invocation &caller,
                              const Call &nested) {
  Invocation callee{nested.program, caller.microbatch, caller.tag, {}};
  if (nested.microbatch != noExpr) {
    callee.microbatch = evaluateAt(stage, caller, nested.microbatch);
    callee.tag = callee.microbatch;
  }
  for (ExprId argument : nested.arguments) {
    callee.parameters.push_back(evaluateAt(stage, caller, argument));
  }
  return call(stage, std::move(callee));
}

Status EntryWalk::enqueueLoop(StageWalk &stage, const Invocation &caller,
                              const Loop &loop) {
  Invocation callee{loop.program, caller.microbatch, caller.tag, {0}};
  for (ExprId argument : loop.arguments) {
    callee.parameters.push_back(evaluateAt(stage, caller, argument));
  }
  for (int64_t trip = 0; trip < loop.trips; ++trip) {
    callee.parameters[0] = trip;
    LLMC_TRY(call(stage, callee));
  }
  return Status::success();
}

void EntryWalk::push(StageWalk &stage, const Item &item) {
  stage.queues[item.instruction->stream].push_back(
      static_cast<int32_t>(stage.items.size()));
  stage.items.push_back(item);
}

/// `item` reads the flag: before each trip, and when it does not hold.
Status EntryWalk::enqueueWhile(StageWalk &stage, const Invocation &caller,
                               const While &loop, const Item &item) {
  for (int trip = 0; trip < choice_.whileTrips; ++trip) {
    push(stage, item);
    LLMC_TRY(call(stage, {loop.program, caller.microbatch, caller.tag, {}}));
  }
  push(stage, item);
  return Status::success();
}

Status EntryWalk::enqueue(StageWalk &stage, int32_t number,
                          int32_t instruction) {
  // Copied: a nested call grows the table of invocations.
  const Invocation invocation = stage.invocations[number];
  const Instruction &next =
      plan_.programs[invocation.program].instructions[instruction];
  if (++steps_ > maxSteps_) {
    return makeError(ErrorKind::infeasible,
                     fmt::format("entry '{}' has more than {} instructions",
                                 escape(entry_.name), maxSteps_));
  }
  if (const auto *nested = std::get_if<Call>(&next.action)) {
    return enqueueCall(stage, invocation, *nested);
  }
  if (const auto *loop = std::get_if<Loop>(&next.action)) {
    return enqueueLoop(stage, invocation, *loop);
  }
  Item item{&next, instruction, number};
  if (const auto *loop = std::get_if<While>(&next.action)) {
    return enqueueWhile(stage, invocation, *loop, item);
  }
  auto index = static_cast<int32_t>(stage.items.size());
  auto key = [&](EventRef event) {
    return EventKey(event.frame, slotOf(stage, invocation, event.frame),
                    event.event);
  };
  if (const auto *signal = std::get_if<Signal>(&next.action)) {
    signals_[key(signal->event)] = index;
  } else if (const auto *wait = std::get_if<Wait>(&next.action)) {
    auto found = signals_.find(key(wait->event));
    if (found != signals_.end()) {
      item.signal = found->second;
      ++stage.items[item.signal].waits;
    } else if (wait->event.event != 0) {
      return makeError(
          ErrorKind::mismatch,
          fmt::format("{} waits for event {} of frame '{}', which nothing "
                      "signals before it",
                      describe(&stage - stages.data(), item), wait->event.event,
                      escape(plan_.frames[wait->event.frame].name)));
    }
  }
  push(stage, item);
  return Status::success();
}

Status EntryWalk::call(StageWalk &stage, Invocation invocation) {
  auto number = static_cast<int32_t>(stage.invocations.size());
  size_t count = plan_.programs[invocation.program].instructions.size();
  stage.invocations.push_back(std::move(invocation));
  // Empty programs that call each other cost time too.
  if (++steps_ > maxSteps_) {
    return makeError(ErrorKind::infeasible,
                     fmt::format("entry '{}' has more than {} calls",
                                 escape(entry_.name), maxSteps_));
  }
  for (size_t i = 0; i < count; ++i) {
    LLMC_TRY(enqueue(stage, number, static_cast<int32_t>(i)));
  }
  return Status::success();
}

Status EntryWalk::run() {
  size_t numStages = stages.size();
  for (size_t s = 0; s < numStages; ++s) {
    StageWalk &stage = stages[s];
    signals_.clear();
    if (entry_.prologue[s] >= 0) {
      LLMC_TRY(call(stage, {entry_.prologue[s], 0, -1, {}}));
    }
    for (size_t at = s; at < entry_.table.size(); at += numStages) {
      const Cell &cell = entry_.table[at];
      if (cell.program >= 0) {
        LLMC_TRY(
            call(stage, {cell.program, cell.microbatch, cell.microbatch, {}}));
      }
    }
    if (entry_.epilogue[s] >= 0) {
      LLMC_TRY(call(stage, {entry_.epilogue[s], 0, -1, {}}));
    }
  }
  return Status::success();
}

} // namespace llmc::rt::plan
