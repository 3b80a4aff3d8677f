//===- PlanVerifyBoxes.cpp - Parts of states ------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The parts of a state, or of a fetched tensor, tile it: equal boxes are
// copies, others are apart, and together they have as many elements as the
// tensor. Within a part the layout covers each element by construction (its
// check).
//
// Test: test/Runtime/Plan/Verify/PlanVerifyBoxesTest.cpp
//===----------------------------------------------------------------------===//

#include "PlanChecks.h"

#include "llmc/Runtime/Base/CheckedMath.h"
#include "llmc/Runtime/Base/Log.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <set>

namespace llmc::rt::plan {

using Corner = std::vector<int64_t>;

/// First element and the one after the last, in each dim.
using Corners = std::pair<Corner, Corner>;

/// Error when the box leaves a tensor of `shape`.
static Result<Corners> boxOf(const Corner &origin, const Layout &layout,
                             const Corner &shape) {
  Corner end = layout.globalShape();
  for (size_t d = 0; d < end.size(); ++d) {
    Checked after = Checked(origin[d]) + end[d];
    if (!after.within(0, shape[d]) || origin[d] < 0) {
      return mismatch(
          fmt::format("a part leaves dim {} of size {}", d, shape[d]));
    }
    end[d] = after.value();
  }
  return Corners(origin, end);
}

/// Equal boxes are copies; others must be apart and cover `shape`.
static Status checkTiling(const Corner &shape, std::vector<Corners> boxes) {
  std::sort(boxes.begin(), boxes.end());
  boxes.erase(std::unique(boxes.begin(), boxes.end()), boxes.end());
  // Apart and within the tensor, so no sum overflows.
  int64_t covered = 0;
  for (size_t i = 0; i < boxes.size(); ++i) {
    int64_t elements = 1;
    for (size_t d = 0; d < shape.size(); ++d) {
      elements *= boxes[i].second[d] - boxes[i].first[d];
    }
    covered += elements;
    for (size_t j = 0; j < i; ++j) {
      bool overlap = true;
      for (size_t d = 0; d < shape.size(); ++d) {
        overlap &= boxes[i].first[d] < boxes[j].second[d] &&
                   boxes[j].first[d] < boxes[i].second[d];
      }
      if (overlap) {
        return mismatch("two parts that are not equal overlap");
      }
    }
  }
  int64_t total = checkedProduct(shape).value();
  if (covered != total) {
    return mismatch(fmt::format("expected the parts to cover {} elements, got "
                                "{}",
                                total, covered));
  }
  return Status::success();
}

static Status checkPlace(const Plan &plan, const State &state,
                         const StatePart &part) {
  const Buffer &buffer = plan.buffers[part.place.buffer];
  const Frame &frame = plan.frames[buffer.frame];
  if (frame.kind != FrameKind::state) {
    return mismatch(fmt::format("expected a part to lie in a state frame, got "
                                "'{}' ({})",
                                escape(frame.name), nameOf(frame.kind)));
  }
  Checked end = Checked(part.place.offset) + *spanOf(part.place);
  if (!end.within(0, buffer.bytes)) {
    return mismatch(fmt::format("a part leaves its buffer '{}' of {} bytes",
                                escape(buffer.name), buffer.bytes));
  }
  for (int64_t stage = 0; stage < plan.mesh.numStages(); ++stage) {
    if (hasStage(part.stages, stage) && !hasStage(frame.stages, stage)) {
      return mismatch(fmt::format("a part is stored by stage {}, which has no "
                                  "frame '{}'",
                                  stage, escape(frame.name)));
    }
  }
  return Status::success();
}

static Status checkState(const Plan &plan, const State &state) {
  std::vector<Corners> boxes;
  for (const StatePart &part : state.parts) {
    LLMC_TRY(checkPlace(plan, state, part));
    LLMC_TRY_ASSIGN(Corners box, boxOf(part.origin, part.layout, state.shape));
    boxes.push_back(std::move(box));
  }
  return checkTiling(state.shape, std::move(boxes));
}

/// The boxes of one fetched tensor; no other is named like it.
static Status checkFetched(const Entry &entry, const std::string &name) {
  const Fetch *first = nullptr;
  std::vector<Corners> boxes;
  for (const Fetch &fetch : entry.fetches) {
    if (fetch.tensorName() != name) {
      continue;
    }
    first = first ? first : &fetch;
    if (fetch.of.empty() || fetch.dtype != first->dtype ||
        fetch.shape != first->shape ||
        fetch.eachMicrobatch != first->eachMicrobatch) {
      return mismatch("its parts are not of one tensor");
    }
    LLMC_TRY_ASSIGN(Corners box,
                    boxOf(fetch.origin, fetch.layout, fetch.shape));
    boxes.push_back(std::move(box));
  }
  return checkTiling(first->shape, std::move(boxes));
}

namespace {
/// What some stage stores at some bytes of a state frame.
struct Stored {
  int64_t first;
  int64_t last;
  const State *state;
};
} // namespace

/// No two states share bytes (parts of one may interleave in one buffer).
static Status checkApart(const Plan &plan, int64_t stage) {
  std::vector<Stored> stored;
  for (const State &state : plan.states) {
    for (const StatePart &part : state.parts) {
      const Buffer &buffer = plan.buffers[part.place.buffer];
      int64_t span = *spanOf(part.place);
      if (hasStage(part.stages, stage) && span > 0) {
        int64_t first = plan.frames[buffer.frame].offset + buffer.offset +
                        part.place.offset;
        stored.push_back({first, first + span, &state});
      }
    }
  }
  std::stable_sort(
      stored.begin(), stored.end(),
      [](const Stored &a, const Stored &b) { return a.first < b.first; });
  for (size_t i = 1; i < stored.size(); ++i) {
    if (stored[i - 1].last > stored[i].first &&
        stored[i - 1].state != stored[i].state) {
      return mismatch(fmt::format("states '{}' and '{}' overlap on stage {}",
                                  escape(stored[i - 1].state->name),
                                  escape(stored[i].state->name), stage));
    }
    // The farthest end decides, not the last start. What overlaps is of one
    // state.
    stored[i].last = std::max(stored[i].last, stored[i - 1].last);
  }
  return Status::success();
}

Status checkBoxes(const Plan &plan) {
  for (const State &state : plan.states) {
    LLMC_TRY(checkState(plan, state)
                 .inContext(fmt::format("state '{}'", escape(state.name))));
  }
  for (const Entry &entry : plan.entries) {
    std::set<std::string> names;
    for (const Fetch &fetch : entry.fetches) {
      if (!fetch.of.empty() && names.insert(fetch.of).second) {
        LLMC_TRY(checkFetched(entry, fetch.of)
                     .inContext(
                         fmt::format("fetched value '{}'", escape(fetch.of))));
      }
    }
  }
  for (int64_t stage = 0; stage < plan.mesh.numStages(); ++stage) {
    LLMC_TRY(checkApart(plan, stage));
  }
  return Status::success();
}

} // namespace llmc::rt::plan
