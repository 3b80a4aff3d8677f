//===- OrderAccess.cpp - What each item touches, and when -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Resolves the operands of an item to bytes of its device's arena, and hands
// them to the history of that arena.
//
// Test: test/Runtime/Plan/Verify/PlanVerifyOrderTest.cpp
//===----------------------------------------------------------------------===//

#include "OrderCheck.h"

#include "llmc/Runtime/Base/Log.h"

#include <algorithm>
#include <fmt/format.h>

namespace llmc::rt::plan {

/// For each expression: it sees a coordinate of an axis that is not the
/// pipeline's.
static std::vector<bool> seesOtherAxes(const Plan &plan) {
  std::vector<bool> sees(plan.expressions.size());
  for (size_t i = 0; i < plan.expressions.size(); ++i) {
    const ExprNode &node = plan.expressions[i];
    if (node.op == ExprOp::coordinate) {
      sees[i] = node.value != plan.mesh.pipelineAxis &&
                plan.mesh.axes[node.value].size > 1;
    } else if (node.op >= ExprOp::add) {
      sees[i] = sees[node.lhs] || sees[node.rhs];
    }
  }
  return sees;
}

void OrderCheck::prepareUses() {
  std::vector<bool> moves = seesOtherAxes(plan_);
  uses_.resize(plan_.programs.size());
  for (size_t p = 0; p < plan_.programs.size(); ++p) {
    for (const Instruction &instruction : plan_.programs[p].instructions) {
      std::vector<Use> uses;
      for (const OperandUse &use : usesOf(instruction.action)) {
        const Operand &operand = *use.operand;
        uses.push_back({use.access, use.isScratch, isContiguous(operand),
                        operand.expr != noExpr && moves[operand.expr],
                        operand.buffer, operand.offset, *spanOf(operand),
                        operand.expr});
      }
      // An instruction reads before it writes: a result may take the place of
      // an operand.
      std::stable_sort(uses.begin(), uses.end(),
                       [](const Use &a, const Use &b) {
                         auto rank = [](Access access) {
                           return access == Access::read        ? 0
                                  : access == Access::readWrite ? 1
                                                                : 2;
                         };
                         return rank(a.access) < rank(b.access);
                       });
      uses_[p].push_back(std::move(uses));
    }
  }
}

void OrderCheck::prepareScopes() {
  for (int32_t stage = 0; stage < numStages_; ++stage) {
    IntervalScope scope;
    for (const MeshAxis &axis : plan_.mesh.axes) {
      scope.coordinates.push_back({0, axis.size - 1});
    }
    if (plan_.mesh.pipelineAxis >= 0) {
      scope.coordinates[plan_.mesh.pipelineAxis] = {stage, stage};
    }
    scopes_.push_back(std::move(scope));
  }
}

void OrderCheck::prepareHistories() {
  histories_.resize(numStages_);
  for (int32_t stage = 0; stage < numStages_; ++stage) {
    for (const State &state : plan_.states) {
      for (const StatePart &part : state.parts) {
        if (!hasStage(part.stages, stage)) {
          continue;
        }
        // Padding is zero, so the whole buffer has contents.
        const Buffer &buffer = plan_.buffers[part.place.buffer];
        int64_t first = plan_.frames[buffer.frame].offset + buffer.offset;
        histories_[stage].define({first, first + buffer.bytes},
                                 part.place.buffer);
      }
    }
  }
}

Status OrderCheck::checkStates() {
  // All streams of a device join at the end.
  Clock all(numStreams_, INT32_MAX);
  for (int32_t stage = 0; stage < numStages_; ++stage) {
    for (const State &state : plan_.states) {
      for (const StatePart &part : state.parts) {
        if (!hasStage(part.stages, stage)) {
          continue;
        }
        const Buffer &buffer = plan_.buffers[part.place.buffer];
        int64_t first = plan_.frames[buffer.frame].offset + buffer.offset +
                        part.place.offset;
        ByteAccess access;
        access.buffer = part.place.buffer;
        access.exact = {first, first + *spanOf(part.place)};
        access.hull = access.exact;
        auto outcome = histories_[stage].apply(access, {0, 0, -1}, all);
        if (outcome.fault != AccessHistory::Fault::none) {
          return mismatch(fmt::format(
              "state '{}' does not hold its value on stage {} when the entry "
              "ends: its bytes were given to another buffer",
              escape(state.name), stage));
        }
      }
    }
  }
  return Status::success();
}

ByteAccess OrderCheck::resolve(Head head, const Item &item, const Use &use) {
  const StageWalk &stage = walk_.stages[head.stage];
  const Invocation &invocation = stage.invocations[item.invocation];
  const Buffer &buffer = plan_.buffers[use.buffer];
  const Frame &frame = plan_.frames[buffer.frame];
  int64_t base = frame.offset +
                 walk_.slotOf(stage, invocation, buffer.frame) * frame.size +
                 buffer.offset + use.offset;
  int64_t moved = walk_.evaluateAt(stage, invocation, use.expr);
  ByteAccess access;
  access.access = use.access;
  access.buffer = use.buffer;
  access.tag = invocation.tag;
  access.exact = {base + moved, base + moved + use.span};
  access.hull = access.exact;
  access.dense = use.dense && !use.moves;
  access.isScratch = use.isScratch;
  access.oncePerMicrobatch = frame.kind == FrameKind::act ||
                             frame.kind == FrameKind::bnd ||
                             frame.kind == FrameKind::input;
  if (use.moves) {
    IntervalScope &scope = scopes_[head.stage];
    scope.microbatch = {invocation.microbatch, invocation.microbatch};
    scope.parameters.clear();
    for (int64_t value : invocation.parameters) {
      scope.parameters.push_back({value, value});
    }
    // The bounds were checked before the walk.
    Interval range = bound(plan_.expressions, use.expr, scope)
                         .value_or(Interval{moved, moved});
    access.hull = {base + range.low, base + range.high + use.span};
  }
  return access;
}

Status OrderCheck::refuse(const AccessHistory::Outcome &outcome, Head head,
                          const Item &item, const ByteAccess &access) {
  using Fault = AccessHistory::Fault;
  auto nameOfBuffer = [&](int32_t number) {
    if (number < 0) {
      return fmt::format("bytes [{}, {}) of the arena of stage {}",
                         outcome.bytes.low, outcome.bytes.high, head.stage);
    }
    const Buffer &each = plan_.buffers[number];
    std::string name =
        each.name.empty() ? fmt::format("#{}", number) : escape(each.name);
    return fmt::format("'{}.{}'", escape(plan_.frames[each.frame].name), name);
  };
  std::string who =
      fmt::format("{} on stream '{}'", walk_.describe(head.stage, item),
                  escape(plan_.streams[head.stream].name));
  std::string what = nameOfBuffer(access.buffer);
  std::string other = "what came before the entry";
  if (outcome.other.item >= 0) {
    const Item &party = walk_.stages[head.stage].items[outcome.other.item];
    other = walk_.describe(head.stage, party);
  }
  switch (outcome.fault) {
  case Fault::undefined:
    return mismatch(
        fmt::format("{} reads {}, which nothing has written", who, what));
  case Fault::lost:
    return mismatch(fmt::format("{} reads {}, whose bytes hold {} since {}",
                                who, what, nameOfBuffer(outcome.otherBuffer),
                                other));
  case Fault::stale:
    return mismatch(fmt::format("{} reads {}, which holds another microbatch, "
                                "written by {}",
                                who, what, other));
  case Fault::rewritten:
    return mismatch(
        fmt::format("{} writes {} again, after {}", who, what, other));
  case Fault::race:
    return mismatch(
        fmt::format("{} of {} is not ordered after {}, which uses {}", who,
                    what, other, nameOfBuffer(outcome.otherBuffer)));
  case Fault::none:
    break;
  }
  return Status::success();
}

Status OrderCheck::access(Head head, const Item &item) {
  const Lane &at = lane(head);
  const StageWalk &stage = walk_.stages[head.stage];
  int32_t program = stage.invocations[item.invocation].program;
  Moment now{head.stream, at.clock[head.stream],
             stage.queues[head.stream][at.next]};
  for (const Use &use : uses_[program][item.number]) {
    ByteAccess bytes = resolve(head, item, use);
    auto outcome = histories_[head.stage].apply(bytes, now, at.clock);
    if (outcome.fault != AccessHistory::Fault::none) {
      return refuse(outcome, head, item, bytes);
    }
  }
  return Status::success();
}

} // namespace llmc::rt::plan
