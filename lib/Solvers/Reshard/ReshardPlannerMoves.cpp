//===- ReshardPlannerMoves.cpp - The edges of the layout graph ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Invariants of every layout that is visited: an axis stands once over dims and
// partial axes; the list of a dim divides its extent; all partial axes have one
// kind; a value that the pipeline axis splits lives everywhere.
//
//===----------------------------------------------------------------------===//

#include "ReshardPlannerMoves.h"

#include <algorithm>

namespace llmc {

using Kind = ReshardMove::Kind;

static bool contains(const std::vector<int32_t> &list, int32_t axis) {
  return std::find(list.begin(), list.end(), axis) != list.end();
}

static uint64_t lowestBit(uint64_t bits) { return bits & (~bits + 1); }

ReshardMoves::ReshardMoves(const rt::Mesh &mesh, const ReshardLinks &links,
                           const ReshardTensor &tensor,
                           const ReshardLayout &source,
                           const ReshardLayout &target)
    : mesh(mesh), links(links), extents(tensor.extents),
      factors(tensor.factors), elementBytes(tensor.elementBytes),
      tensorBytes(tensor.elementBytes), from(source), to(target) {
  for (int64_t size : tensor.sizes)
    tensorBytes *= size;
  common.resize(extents.size());
  for (size_t dim = 0; dim < extents.size(); ++dim) {
    auto &a = from.dims[dim], &b = to.dims[dim];
    size_t length = 0;
    while (length < a.size() && length < b.size() && a[length] == b[length])
      reserved |= uint64_t(1) << a[length++];
    common[dim].assign(a.begin(), a.begin() + length);
    a.erase(a.begin(), a.begin() + length);
    b.erase(b.begin(), b.begin() + length);
    extents[dim] /= split(common[dim]);
    if (!factors.empty())
      pour(common[dim], factors[dim]);
  }
  from.stages = normal(from.stages);
  to.stages = normal(to.stages);
  uint64_t both = from.stages | to.stages;
  for (int64_t s = 0; pipeline() >= 0 && s < mesh.axes[pipeline()].size; ++s) {
    uint64_t stage = uint64_t(1) << s;
    if ((both & stage) && (from.stages != to.stages || from.stages == stage))
      meetings.push_back(stage);
  }
}

std::string ReshardMoves::key() const {
  std::string text = std::to_string(elementBytes) + "," +
                     std::to_string(tensorBytes) + "," +
                     std::to_string(reserved);
  for (int64_t extent : extents)
    text += "," + std::to_string(extent);
  for (auto &list : factors) {
    text += '/';
    for (int64_t factor : list)
      text += std::to_string(factor) + "x";
  }
  for (const ReshardLayout *layout : {&from, &to}) {
    for (auto &list : layout->dims) {
      text += ';';
      for (int32_t axis : list)
        text += std::to_string(axis) + ".";
    }
    text += '|';
    for (int32_t axis : layout->partial)
      text += std::to_string(axis) + ".";
    text += std::to_string(int(layout->kind)) + "@" +
            std::to_string(layout->stages);
  }
  return text;
}

uint64_t ReshardMoves::normal(uint64_t stages) const {
  if (pipeline() < 0)
    return ReshardLayout::everywhere;
  int64_t count = mesh.axes[pipeline()].size;
  uint64_t all = count >= 64 ? ~uint64_t(0) : (uint64_t(1) << count) - 1;
  return (stages & all) == all ? ReshardLayout::everywhere : stages & all;
}

int64_t ReshardMoves::split(const std::vector<int32_t> &axes) const {
  int64_t count = 1;
  for (int32_t axis : axes)
    count *= mesh.axes[axis].size;
  return count;
}

int64_t ReshardMoves::groupSize(const ReshardLayout &layout,
                                const std::vector<int32_t> &axes) const {
  int64_t count = 1;
  for (int32_t axis : axes) {
    if (axis != pipeline() || layout.stages == ReshardLayout::everywhere) {
      count *= mesh.axes[axis].size;
      continue;
    }
    int64_t stages = 0;
    for (uint64_t bits = layout.stages; bits; bits &= bits - 1)
      ++stages;
    count *= stages;
  }
  return count;
}

/// Divides the factors by the axes, major to minor; false when an axis does not
/// divide what is left of the factor that it meets.
bool ReshardMoves::pour(const std::vector<int32_t> &axes,
                        std::vector<int64_t> &left) const {
  size_t at = 0;
  for (int32_t axis : axes) {
    int64_t size = mesh.axes[axis].size;
    if (size == 1)
      continue;
    while (at + 1 < left.size() && left[at] == 1)
      ++at;
    if (left.empty() || left[at] % size)
      return false;
    left[at] /= size;
  }
  return true;
}

bool ReshardMoves::divides(const std::vector<int32_t> &axes, size_t dim) const {
  if (extents[dim] % split(axes))
    return false;
  std::vector<int64_t> left =
      factors.empty() ? std::vector<int64_t>{} : factors[dim];
  return left.empty() || pour(axes, left);
}

static bool isNamed(const ReshardLayout &layout, int32_t axis) {
  for (auto &list : layout.dims)
    if (contains(list, axis))
      return true;
  return contains(layout.partial, axis);
}

bool ReshardMoves::isFree(const ReshardLayout &layout, int32_t axis) const {
  if (reserved >> axis & 1 || contains(layout.partial, axis))
    return false;
  if (axis == pipeline() &&
      (!links.slicesPipeline || layout.stages != ReshardLayout::everywhere))
    return false;
  for (auto &list : layout.dims)
    if (contains(list, axis))
      return false;
  return links.slicesIdle || isNamed(from, axis) || isNamed(to, axis);
}

bool ReshardMoves::isWanted(int32_t axis) const {
  return contains(to.partial, axis);
}

int64_t ReshardMoves::localBytes(const ReshardLayout &layout) const {
  int64_t bytes = elementBytes;
  for (size_t dim = 0; dim < extents.size(); ++dim)
    bytes *= extents[dim] / split(layout.dims[dim]);
  return bytes;
}

//===----------------------------------------------------------------------===//
// Single moves
//===----------------------------------------------------------------------===//

ReshardMove ReshardMoves::priced(Kind kind, std::vector<int32_t> axes,
                                 int64_t bytes, ReshardLayout result) const {
  ReshardMove move;
  move.kind = kind;
  move.bytes = bytes;
  if (bytes > 0) {
    int64_t slowest = 16, latency = 0;
    for (int32_t axis : axes)
      if (mesh.axes[axis].size > 1) {
        slowest = std::max(slowest, links.slowness[axis]);
        latency = std::max(latency, links.latencyBytes[axis]);
      }
    // The hundredth part of the tensor, in 1/1600 of a byte.
    move.cost = bytes * slowest * (ReshardPlanner::costUnits / 16) +
                tensorBytes * (ReshardPlanner::costUnits / 100) +
                latency * ReshardPlanner::costUnits;
  }
  if (result.partial.empty())
    result.kind = ReductionKind::sum;
  move.axes = std::move(axes);
  move.result = std::move(result);
  return move;
}

ReshardMove ReshardMoves::slice(const ReshardLayout &at, int32_t axis,
                                int32_t dim) const {
  ReshardLayout result = at;
  result.dims[dim].push_back(axis);
  ReshardMove move = priced(Kind::Slice, {axis}, 0, std::move(result));
  move.to = dim;
  return move;
}

ReshardMove ReshardMoves::lift(const ReshardLayout &at, int32_t axis,
                               int32_t dim) const {
  ReshardLayout result = at;
  if (dim >= 0)
    result.dims[dim].pop_back();
  if (!contains(result.partial, axis))
    result.partial.push_back(axis);
  std::sort(result.partial.begin(), result.partial.end());
  result.kind = to.kind;
  if (axis == pipeline() && dim < 0)
    result.stages = to.stages;
  ReshardMove move = priced(Kind::Lift, {axis}, 0, std::move(result));
  move.from = dim;
  return move;
}

ReshardMove ReshardMoves::drop(const ReshardLayout &at, uint64_t stages) const {
  ReshardLayout result = at;
  result.stages = stages;
  return priced(Kind::Drop, {pipeline()}, 0, std::move(result));
}

/// Received by a device of `count` that take part.
int64_t ReshardMoves::received(Kind kind, const ReshardLayout &at,
                               int64_t count) const {
  return bytesReceived(*collectiveOf(kind), localBytes(at), count);
}

static ReshardLayout without(ReshardLayout layout,
                             const std::vector<int32_t> &axes) {
  auto gone = [&](int32_t axis) { return contains(axes, axis); };
  layout.partial.erase(
      std::remove_if(layout.partial.begin(), layout.partial.end(), gone),
      layout.partial.end());
  return layout;
}

ReshardMove ReshardMoves::reduceScatter(const ReshardLayout &at,
                                        const std::vector<int32_t> &axes,
                                        int32_t dim) const {
  ReshardLayout result = without(at, axes);
  result.dims[dim].insert(result.dims[dim].end(), axes.begin(), axes.end());
  int64_t bytes = received(Kind::ReduceScatter, at, groupSize(at, axes));
  ReshardMove move =
      priced(Kind::ReduceScatter, axes, bytes, std::move(result));
  move.to = dim;
  return move;
}

ReshardMove ReshardMoves::allReduce(const ReshardLayout &at,
                                    const std::vector<int32_t> &axes) const {
  int64_t bytes = received(Kind::AllReduce, at, groupSize(at, axes));
  return priced(Kind::AllReduce, axes, bytes, without(at, axes));
}

ReshardMove ReshardMoves::allToAll(const ReshardLayout &at, size_t count,
                                   int32_t source, int32_t dim) const {
  ReshardLayout result = at;
  auto &list = result.dims[source];
  std::vector<int32_t> axes(list.end() - count, list.end());
  list.erase(list.end() - count, list.end());
  result.dims[dim].insert(result.dims[dim].end(), axes.begin(), axes.end());
  int64_t bytes = received(Kind::AllToAll, at, split(axes));
  ReshardMove move = priced(Kind::AllToAll, axes, bytes, std::move(result));
  move.from = source;
  move.to = dim;
  return move;
}

ReshardMove
ReshardMoves::permute(const ReshardLayout &at,
                      const std::vector<std::vector<int32_t>> &dims) const {
  // An axis with the same dim and stride before and after is not crossed: its
  // digit of the position is the same on both ends.
  std::vector<std::pair<size_t, int64_t>> before(numAxes()), after(numAxes());
  auto place = [&](const std::vector<std::vector<int32_t>> &lists,
                   std::vector<std::pair<size_t, int64_t>> &places) {
    for (size_t dim = 0; dim < lists.size(); ++dim) {
      int64_t stride = 1;
      for (size_t i = lists[dim].size(); i-- > 0;) {
        places[lists[dim][i]] = {dim + 1, stride};
        stride *= mesh.axes[lists[dim][i]].size;
      }
    }
  };
  place(at.dims, before);
  place(dims, after);
  std::vector<int32_t> axes;
  for (int32_t axis = 0; axis < numAxes(); ++axis)
    if (before[axis] != after[axis])
      axes.push_back(axis);
  ReshardLayout result = at;
  result.dims = dims;
  int64_t bytes = received(Kind::Permute, at, split(axes));
  return priced(Kind::Permute, std::move(axes), bytes, std::move(result));
}

ReshardMove ReshardMoves::transfer(const ReshardLayout &at,
                                   uint64_t stages) const {
  ReshardLayout result = at;
  result.stages = stages;
  bool one = lowestBit(stages) == stages;
  return priced(one ? Kind::Send : Kind::Broadcast, {pipeline()},
                localBytes(at), std::move(result));
}

ReshardMove ReshardMoves::reduceTo(const ReshardLayout &at,
                                   uint64_t stage) const {
  ReshardLayout result = without(at, {pipeline()});
  result.stages = normal(stage);
  int64_t bytes = received(Kind::Reduce, at, groupSize(at, {pipeline()}));
  return priced(Kind::Reduce, {pipeline()}, bytes, std::move(result));
}

ReshardMove ReshardMoves::allGather(const ReshardLayout &at, size_t count,
                                    int32_t dim) const {
  ReshardLayout result = at;
  auto &list = result.dims[dim];
  std::vector<int32_t> axes(list.end() - count, list.end());
  list.erase(list.end() - count, list.end());
  int64_t bytes = received(Kind::AllGather, at, split(axes));
  ReshardMove move = priced(Kind::AllGather, axes, bytes, std::move(result));
  move.from = dim;
  return move;
}

//===----------------------------------------------------------------------===//
// All moves from a layout
//===----------------------------------------------------------------------===//

void ReshardMoves::addLocal(const ReshardLayout &at, Moves &moves) const {
  for (int32_t axis = 0; axis < numAxes(); ++axis) {
    if (!isFree(at, axis))
      continue;
    for (size_t dim = 0; dim < at.dims.size(); ++dim) {
      std::vector<int32_t> list = at.dims[dim];
      list.push_back(axis);
      if (divides(list, dim))
        moves.push_back(slice(at, axis, int32_t(dim)));
    }
  }
}

void ReshardMoves::addLifts(const ReshardLayout &at, Moves &moves) const {
  if ((!at.partial.empty() && at.kind != to.kind) ||
      (!links.liftsAllKinds && isIdempotent(to.kind)))
    return;
  for (int32_t axis : to.partial) {
    if (axis == pipeline()) {
      if (!links.liftsAllKinds && to.kind != ReductionKind::sum)
        continue;
      // The terms lie at the target's stages; those without a term get the
      // neutral element.
      bool inside = (at.stages & ~to.stages) == 0;
      bool inDim = false;
      for (auto &list : at.dims)
        inDim |= contains(list, axis);
      bool grows = !contains(at.partial, axis) || at.stages != to.stages;
      if (inside && !inDim && grows)
        moves.push_back(lift(at, axis, -1));
    } else if (isFree(at, axis)) {
      moves.push_back(lift(at, axis, -1));
    }
  }
  for (size_t dim = 0; dim < at.dims.size(); ++dim)
    if (!at.dims[dim].empty() && isWanted(at.dims[dim].back()))
      moves.push_back(lift(at, at.dims[dim].back(), int32_t(dim)));
}

void ReshardMoves::addScatters(const ReshardLayout &at,
                               std::vector<int32_t> &axes, Moves &moves) const {
  bool pinned = at.stages != ReshardLayout::everywhere || !links.slicesPipeline;
  for (int32_t axis : at.partial) {
    if (contains(axes, axis) ||
        (axis == pipeline() && (pinned || !links.slicesPipeline)))
      continue;
    axes.push_back(axis);
    for (size_t dim = 0; dim < at.dims.size(); ++dim) {
      std::vector<int32_t> list = at.dims[dim];
      list.insert(list.end(), axes.begin(), axes.end());
      if (divides(list, dim))
        moves.push_back(reduceScatter(at, axes, int32_t(dim)));
    }
    addScatters(at, axes, moves);
    axes.pop_back();
  }
}

void ReshardMoves::addReductions(const ReshardLayout &at, Moves &moves) const {
  std::vector<int32_t> axes;
  addScatters(at, axes, moves);
  for (uint64_t set = 1; set < uint64_t(1) << at.partial.size(); ++set) {
    axes.clear();
    for (size_t i = 0; i < at.partial.size(); ++i)
      if (set >> i & 1)
        axes.push_back(at.partial[i]);
    moves.push_back(allReduce(at, axes));
  }
}

void ReshardMoves::addSuffixes(const ReshardLayout &at, Moves &moves) const {
  for (size_t dim = 0; dim < at.dims.size(); ++dim)
    for (size_t count = 1; count <= at.dims[dim].size(); ++count) {
      moves.push_back(allGather(at, count, int32_t(dim)));
      for (size_t other = 0; other < at.dims.size(); ++other) {
        std::vector<int32_t> list = at.dims[other];
        list.insert(list.end(), at.dims[dim].end() - count, at.dims[dim].end());
        if (other != dim && divides(list, other))
          moves.push_back(allToAll(at, count, int32_t(dim), int32_t(other)));
      }
    }
}

void ReshardMoves::addPermutes(const ReshardLayout &at, Moves &moves) const {
  // Every order of the axes, dealt to the dims major to minor: a dim takes axes
  // until it is split as often as before (axes of size 1 may go either way).
  std::vector<int32_t> axes;
  for (auto &list : at.dims)
    axes.insert(axes.end(), list.begin(), list.end());
  if (axes.size() < 2)
    return;
  std::sort(axes.begin(), axes.end());
  do {
    std::vector<std::vector<int32_t>> dims(at.dims.size());
    size_t next = 0;
    bool fits = true;
    for (size_t dim = 0; dim < dims.size() && fits; ++dim) {
      int64_t want = split(at.dims[dim]), have = 1;
      while (have < want && next < axes.size()) {
        dims[dim].push_back(axes[next]);
        have *= mesh.axes[axes[next++]].size;
      }
      fits = have == want && divides(dims[dim], dim);
    }
    if (fits && next == axes.size() && dims != at.dims)
      moves.push_back(permute(at, dims));
  } while (std::next_permutation(axes.begin(), axes.end()));
}

void ReshardMoves::addTransfers(const ReshardLayout &at, Moves &moves) const {
  if (pipeline() < 0 ||
      (from.stages == to.stages && from.stages == ReshardLayout::everywhere))
    return;
  if (contains(at.partial, pipeline())) {
    for (uint64_t stage : meetings)
      if (stage & at.stages)
        moves.push_back(reduceTo(at, stage));
    return;
  }
  for (auto &list : at.dims)
    if (contains(list, pipeline()))
      return;
  if (at.stages == to.stages)
    return;
  if ((to.stages & ~at.stages) == 0)
    moves.push_back(drop(at, to.stages));
  else
    moves.push_back(transfer(at, to.stages));
}

std::vector<ReshardMove>
ReshardMoves::movesFrom(const ReshardLayout &at) const {
  Moves moves;
  addLocal(at, moves);
  addLifts(at, moves);
  addReductions(at, moves);
  addSuffixes(at, moves);
  addPermutes(at, moves);
  addTransfers(at, moves);
  return moves;
}

} // namespace llmc
