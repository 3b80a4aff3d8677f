//===- PlanVerifyFrames.cpp - Frames, buffers, places ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Frames lie within the arena of each stage that has them. Those of states are
// apart from all others, since their contents outlive every entry; others may
// share bytes, and the walk proves that no value is lost.
//
// Test: test/Runtime/Plan/Verify/PlanVerifyFramesTest.cpp
//===----------------------------------------------------------------------===//

#include "PlanChecks.h"

#include "llmc/Runtime/Base/CheckedMath.h"
#include "llmc/Runtime/Base/Log.h"

#include <algorithm>
#include <fmt/format.h>

namespace llmc::rt::plan {

static Status checkPlaces(const Plan &plan, int64_t stage) {
  std::vector<const Frame *> frames;
  for (const Frame &frame : plan.frames) {
    if (!hasStage(frame.stages, stage)) {
      continue;
    }
    Checked end = Checked(frame.size) * frame.slots + frame.offset;
    if (!end.within(0, plan.arenas[stage])) {
      return mismatch(fmt::format(
          "expected frame '{}' to end within the arena of {} bytes of stage "
          "{}, got offset {}, {} slots of {} bytes",
          escape(frame.name), plan.arenas[stage], stage, frame.offset,
          frame.slots, frame.size));
    }
    if (frame.size > 0) {
      frames.push_back(&frame);
    }
  }
  std::stable_sort(
      frames.begin(), frames.end(),
      [](const Frame *a, const Frame *b) { return a->offset < b->offset; });
  // Those that end farthest so far, of all frames and of those of states.
  const Frame *last = nullptr, *lastState = nullptr;
  auto endOf = [](const Frame *f) { return f->offset + f->size * f->slots; };
  for (const Frame *frame : frames) {
    bool isState = frame->kind == FrameKind::state;
    const Frame *before = isState ? last : lastState;
    if (before && endOf(before) > frame->offset) {
      return mismatch(fmt::format("frames '{}' and '{}' overlap on stage {}",
                                  escape(before->name), escape(frame->name),
                                  stage));
    }
    if (!last || endOf(frame) > endOf(last)) {
      last = frame;
    }
    if (isState) {
      lastState = frame; // Apart from the states before it.
    }
  }
  return Status::success();
}

/// Slots follow the stage and the microbatch: were they to differ between the
/// devices of a stage, one of them could not stand for all.
static Status checkSlot(const Plan &plan, const Frame &frame) {
  std::vector<ExprId> pending;
  if (frame.slot != noExpr) {
    pending.push_back(frame.slot);
  }
  while (!pending.empty()) {
    const ExprNode &node = plan.expressions[pending.back()];
    pending.pop_back();
    if (node.op == ExprOp::coordinate && node.value != plan.mesh.pipelineAxis) {
      return mismatch(fmt::format(
          "the slot of frame '{}' depends on axis \"{}\", which is not the "
          "pipeline's",
          escape(frame.name), escape(plan.mesh.axes[node.value].name)));
    }
    if (node.op >= ExprOp::add) {
      pending.push_back(node.lhs);
      pending.push_back(node.rhs);
    }
  }
  return Status::success();
}

Status checkFrames(const Plan &plan) {
  for (const Frame &frame : plan.frames) {
    LLMC_TRY(checkSlot(plan, frame));
    if (frame.offset % alignment != 0 ||
        (frame.slots > 1 && frame.size % alignment != 0)) {
      return mismatch(fmt::format("expected frame '{}' to be aligned to {} "
                                  "bytes, got offset {} and size {}",
                                  escape(frame.name), alignment, frame.offset,
                                  frame.size));
    }
    if (frame.kind == FrameKind::state && frame.slots != 1) {
      return mismatch(fmt::format("expected one slot of state frame '{}', got "
                                  "{}",
                                  escape(frame.name), frame.slots));
    }
  }
  for (int64_t stage = 0; stage < plan.mesh.numStages(); ++stage) {
    LLMC_TRY(checkPlaces(plan, stage));
  }
  for (const Buffer &buffer : plan.buffers) {
    const Frame &frame = plan.frames[buffer.frame];
    if (!(Checked(buffer.offset) + buffer.bytes).within(0, frame.size)) {
      return mismatch(
          fmt::format("expected buffer '{}' to lie within frame "
                      "'{}' of {} bytes, got offset {} and {} bytes",
                      escape(buffer.name), escape(frame.name), frame.size,
                      buffer.offset, buffer.bytes));
    }
  }
  return Status::success();
}

std::optional<Interval> placeOf(const Scene &scene, const Operand &operand,
                                int64_t span) {
  const Plan &plan = scene.plan;
  const Buffer &buffer = plan.buffers[operand.buffer];
  Interval offset{0, 0};
  if (operand.expr != noExpr) {
    auto bounds = bound(plan.expressions, operand.expr, scene.scope);
    if (!bounds) {
      return std::nullopt;
    }
    offset = *bounds;
  }
  Checked low = Checked(operand.offset) + offset.low;
  Checked high = Checked(operand.offset) + offset.high + span;
  if (!low.within(0, buffer.bytes) || !high.within(0, buffer.bytes)) {
    return std::nullopt;
  }
  return Interval{buffer.offset + low.value(), buffer.offset + high.value()};
}

/// All bytes of all slots, when the frames differ.
static Interval whole(const Frame &frame) {
  return {frame.offset, frame.offset + frame.size * frame.slots};
}

bool mayOverlap(const Scene &scene, const Operand &a, const Operand &b) {
  int32_t frameA = scene.plan.buffers[a.buffer].frame;
  int32_t frameB = scene.plan.buffers[b.buffer].frame;
  Interval x = whole(scene.plan.frames[frameA]);
  Interval y = whole(scene.plan.frames[frameB]);
  if (frameA == frameB) {
    x = *placeOf(scene, a, *spanOf(a));
    y = *placeOf(scene, b, *spanOf(b));
    // Distances are exact where both move by the same expression.
    if (a.expr == b.expr) {
      int64_t startA = scene.plan.buffers[a.buffer].offset + a.offset;
      int64_t startB = scene.plan.buffers[b.buffer].offset + b.offset;
      x = {startA, startA + *spanOf(a)};
      y = {startB, startB + *spanOf(b)};
    }
  }
  return x.low < y.high && y.low < x.high;
}

bool sameStart(const Scene &scene, const Operand &a, const Operand &b) {
  const Buffer &bufferA = scene.plan.buffers[a.buffer];
  const Buffer &bufferB = scene.plan.buffers[b.buffer];
  return bufferA.frame == bufferB.frame && a.expr == b.expr &&
         bufferA.offset + a.offset == bufferB.offset + b.offset;
}

} // namespace llmc::rt::plan
