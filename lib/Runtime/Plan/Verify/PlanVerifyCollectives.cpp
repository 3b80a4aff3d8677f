//===- PlanVerifyCollectives.cpp - Collectives by themselves --------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shapes fit the group, reductions fit the type, an output lies exactly on its
// input or away from it, peers are members. That members agree is found by the
// walk. Only a permutation looks at each member, since it must be one.
//
// Test: test/Runtime/Plan/Verify/PlanVerifyCollectivesTest.cpp
//===----------------------------------------------------------------------===//

#include "PlanChecks.h"

#include "llmc/Runtime/Base/CheckedMath.h"
#include "llmc/Runtime/Base/Log.h"

#include <algorithm>
#include <fmt/format.h>

namespace llmc::rt::plan {

namespace {
class CollectiveCheck {
public:
  CollectiveCheck(const Scene &scene, const Collective &collective)
      : scene_(scene), plan_(scene.plan), collective_(collective),
        traits_(traitsOf(collective.kind)) {}

  Status run();

private:
  Status checkGroup();
  Status checkShapes(const Operand &input, const Operand &output) const;
  Status checkRows() const;
  Status checkPlaces(size_t number) const;
  Status checkGatherPlace(const Operand &input, const Operand &output) const;
  Status checkPeer() const;
  Status checkPermutation() const;
  /// Of sums, and of products with what does not vary. Assumes that `bound` is
  /// present.
  bool isLinear(ExprId id) const;
  /// Calls `visit` with coordinates and a microbatch: the first ones, and one
  /// of them changed. Enough for offsets that are linear in all.
  template <typename Visit> Status forSamples(Visit visit) const;
  int64_t memberAt(const std::vector<int64_t> &coordinates) const;

  const Scene &scene_;
  const Plan &plan_;
  const Collective &collective_;
  const CollectiveTraits &traits_;
  int64_t members_ = 1;
};
} // namespace

Status CollectiveCheck::checkGroup() {
  int32_t pipe = plan_.mesh.pipelineAxis;
  bool overStages = false;
  for (int32_t axis : collective_.axes) {
    bool isPipe = axis == pipe;
    overStages |= isPipe;
    members_ *= isPipe && !collective_.stages.empty()
                    ? static_cast<int64_t>(collective_.stages.size())
                    : plan_.mesh.axes[axis].size;
  }
  if (!overStages && !collective_.stages.empty()) {
    return mismatch("expected no stages of a collective that is not over the "
                    "pipeline axis");
  }
  if (!hasStage(collective_.stages, scene_.stage)) {
    return mismatch(fmt::format("stage {} is no member of collective '{}'",
                                scene_.stage,
                                escape(plan_.symbols[collective_.symbol])));
  }
  return Status::success();
}

/// `from` with dim `dim` multiplied by `members`.
static bool isTimes(const std::vector<int64_t> &from, size_t dim,
                    int64_t members, const std::vector<int64_t> &to) {
  if (from.size() != to.size()) {
    return false;
  }
  for (size_t d = 0; d < from.size(); ++d) {
    Checked expected = Checked(from[d]) * (d == dim ? members : 1);
    if (!expected.within(to[d], to[d])) {
      return false;
    }
  }
  return true;
}

Status CollectiveCheck::checkShapes(const Operand &input,
                                    const Operand &output) const {
  size_t dim = static_cast<size_t>(collective_.dim);
  if (traits_.takesCounts) {
    return checkRows();
  }
  // The part of one member, seen from both sides.
  std::vector<int64_t> part = input.shape;
  bool fits = input.dtype == output.dtype;
  if (traits_.splitsInput) {
    fits &= part[dim] % members_ == 0;
    part[dim] /= members_;
  }
  if (traits_.joinsOutput) {
    size_t joined =
        traits_.splitsInput ? static_cast<size_t>(collective_.concatDim) : dim;
    fits &= isTimes(part, joined, members_, output.shape);
  } else {
    fits &= part == output.shape;
  }
  if (!fits) {
    return mismatch(fmt::format(
        "the input ({} of {} elements) and output ({} of {} elements) of {} "
        "do not fit {} members",
        nameOf(input.dtype), elementsOf(input), nameOf(output.dtype),
        elementsOf(output), nameOf(collective_.kind), members_));
  }
  if (traits_.reduces && isBitwise(collective_.reduction) &&
      isFloat(input.dtype)) {
    return mismatch(fmt::format("expected integers for reduction '{}', got {}",
                                nameOf(collective_.reduction),
                                nameOf(input.dtype)));
  }
  return Status::success();
}

/// Of a collective with counts: input and output differ in their rows.
Status CollectiveCheck::checkRows() const {
  const Operand &input = collective_.inputs.front();
  const Operand &output = collective_.outputs.front();
  const Operand &counts = collective_.counts;
  constexpr int64_t numLists = 4;
  auto dim = static_cast<std::ptrdiff_t>(collective_.dim);
  std::vector<int64_t> wanted = input.shape;
  if (output.shape.size() == wanted.size()) {
    wanted[collective_.dim] = output.shape[collective_.dim];
  }
  if (collective_.inputs.size() != 1 || input.dtype != output.dtype ||
      wanted != output.shape) {
    return mismatch(fmt::format("expected one input and an output of {} that "
                                "differ in dim {} only",
                                traits_.name, dim));
  }
  wanted.assign(input.shape.begin(), input.shape.begin() + dim);
  wanted.push_back(numLists);
  int64_t slices = counts.shape.empty() ? 0 : counts.shape.back();
  wanted.push_back(slices);
  bool fits = counts.dtype == DType::i64 && counts.shape == wanted &&
              isContiguous(counts) && slices > 0 && slices % members_ == 0;
  if (!fits || mayOverlap(scene_, output, counts)) {
    return mismatch(fmt::format(
        "expected counts of {} apart from its output, [{}] of i64 with a "
        "multiple of {} members, got {} of {} elements",
        traits_.name, fmt::join(wanted, ", "), members_, nameOf(counts.dtype),
        elementsOf(counts)));
  }
  return Status::success();
}

bool CollectiveCheck::isLinear(ExprId id) const {
  auto varies = [&](ExprId part) {
    return !bound(plan_.expressions, part, scene_.scope)->isPoint();
  };
  if (id == noExpr || !varies(id)) {
    return true;
  }
  const ExprNode &node = plan_.expressions[id];
  switch (node.op) {
  case ExprOp::coordinate:
  case ExprOp::microbatch:
    return true;
  case ExprOp::add:
  case ExprOp::sub:
    return isLinear(node.lhs) && isLinear(node.rhs);
  case ExprOp::mul:
    return varies(node.lhs) ? isLinear(node.lhs) && !varies(node.rhs)
                            : isLinear(node.rhs);
  default:
    return false;
  }
}

template <typename Visit>
Status CollectiveCheck::forSamples(Visit visit) const {
  const Interval &microbatches = scene_.scope.microbatch;
  std::vector<int64_t> first;
  for (const Interval &range : scene_.scope.coordinates) {
    first.push_back(range.low);
  }
  LLMC_TRY(visit(first, microbatches.low));
  LLMC_TRY(visit(first, microbatches.high));
  for (size_t axis = 0; axis < first.size(); ++axis) {
    if (!scene_.scope.coordinates[axis].isPoint()) {
      std::vector<int64_t> step = first;
      ++step[axis];
      LLMC_TRY(visit(step, microbatches.low));
    }
  }
  return Status::success();
}

int64_t
CollectiveCheck::memberAt(const std::vector<int64_t> &coordinates) const {
  int64_t index = 0;
  for (int32_t axis : collective_.axes) {
    int64_t size = plan_.mesh.axes[axis].size, at = coordinates[axis];
    if (axis == plan_.mesh.pipelineAxis && !collective_.stages.empty()) {
      const auto &stages = collective_.stages;
      size = static_cast<int64_t>(stages.size());
      at = std::find(stages.begin(), stages.end(), at) - stages.begin();
    }
    index = index * size + at;
  }
  return index;
}

/// An input inside its output lies where the result puts it.
Status CollectiveCheck::checkGatherPlace(const Operand &input,
                                         const Operand &output) const {
  if (!isLinear(input.expr) || !isLinear(output.expr)) {
    return mismatch("expected the places of an all_gather inside its output to "
                    "be linear in the coordinates and the microbatch");
  }
  return forSamples([&](const std::vector<int64_t> &coordinates,
                        int64_t microbatch) -> Status {
    ExprScope scope;
    scope.coordinates = coordinates.data();
    scope.microbatch = microbatch;
    // Both lie within their buffers on every device.
    auto offsetOf = [&](const Operand &operand) {
      int64_t moved = operand.expr == noExpr
                          ? 0
                          : *evaluate(plan_.expressions, operand.expr, scope);
      return plan_.buffers[operand.buffer].offset + operand.offset + moved;
    };
    if (offsetOf(output) + memberAt(coordinates) * *spanOf(input) !=
        offsetOf(input)) {
      return mismatch("the input of an all_gather lies inside its output, but "
                      "not in its place");
    }
    return Status::success();
  });
}

Status CollectiveCheck::checkPlaces(size_t number) const {
  const Operand &output = collective_.outputs[number];
  for (size_t i = 0; i < collective_.inputs.size(); ++i) {
    if (i != number && mayOverlap(scene_, output, collective_.outputs[i])) {
      return mismatch("two outputs of a collective overlap");
    }
    const Operand &input = collective_.inputs[i];
    if (!mayOverlap(scene_, output, input)) {
      continue;
    }
    bool sameBuffer =
        plan_.buffers[input.buffer].frame == plan_.buffers[output.buffer].frame;
    bool gathers = traits_.joinsOutput && !traits_.splitsInput &&
                   collective_.dim == 0 && isContiguous(input) &&
                   isContiguous(output) && sameBuffer && i == number;
    if (gathers && scene_.scope.parameters.empty()) {
      LLMC_TRY(checkGatherPlace(input, output));
      continue;
    }
    if (i != number || !traits_.worksInPlace() ||
        !sameStart(scene_, input, output)) {
      return mismatch(fmt::format("an input of {} overlaps an output that is "
                                  "not its own",
                                  nameOf(collective_.kind)));
    }
  }
  return Status::success();
}

Status CollectiveCheck::checkPermutation() const {
  constexpr int64_t maxMembers = 65536;
  if (members_ > maxMembers) {
    return makeError(ErrorKind::unsupported,
                     fmt::format("a permutation of {} members", members_));
  }
  // Each names its source, a member; no two may name the same.
  std::vector<bool> used(members_);
  std::vector<int64_t> coordinates;
  for (const Interval &range : scene_.scope.coordinates) {
    coordinates.push_back(range.low);
  }
  for (int64_t member = 0; member < members_; ++member) {
    int64_t rest = member;
    for (size_t i = collective_.axes.size(); i-- > 0;) {
      int32_t axis = collective_.axes[i];
      coordinates[axis] = rest % plan_.mesh.axes[axis].size;
      rest /= plan_.mesh.axes[axis].size;
    }
    ExprScope scope;
    scope.coordinates = coordinates.data();
    scope.microbatch = scene_.scope.microbatch.low;
    auto source = evaluate(plan_.expressions, collective_.peer, scope);
    if (!source || used[*source]) {
      return mismatch(fmt::format("the peers of '{}' are no permutation of {} "
                                  "members",
                                  escape(plan_.symbols[collective_.symbol]),
                                  members_));
    }
    used[*source] = true;
  }
  return Status::success();
}

Status CollectiveCheck::checkPeer() const {
  if (traits_.peer == CollectivePeer::none) {
    return Status::success();
  }
  auto peer = bound(plan_.expressions, collective_.peer, scene_.scope);
  if (!peer || peer->low < 0 || peer->high >= members_) {
    return mismatch(fmt::format("expected the peer of {} to be a member below "
                                "{}",
                                nameOf(collective_.kind), members_));
  }
  if (traits_.peer != CollectivePeer::source) {
    return peer->isPoint() ? Status::success()
                           : mismatch("expected one peer for all members");
  }
  bool overStages =
      std::find(collective_.axes.begin(), collective_.axes.end(),
                plan_.mesh.pipelineAxis) != collective_.axes.end();
  if (overStages) {
    return makeError(ErrorKind::unsupported,
                     "a permutation over the pipeline axis: use transfers");
  }
  return checkPermutation();
}

Status CollectiveCheck::run() {
  LLMC_TRY(checkGroup());
  for (size_t i = 0; i < collective_.inputs.size(); ++i) {
    LLMC_TRY(checkShapes(collective_.inputs[i], collective_.outputs[i]));
    LLMC_TRY(checkPlaces(i));
  }
  return checkPeer();
}

Status checkCollective(const Scene &scene, const Collective &collective) {
  return CollectiveCheck(scene, collective).run();
}

} // namespace llmc::rt::plan
