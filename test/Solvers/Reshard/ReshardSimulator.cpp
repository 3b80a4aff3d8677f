//===- ReshardSimulator.cpp - Moves performed on small tensors ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ReshardSimulator.h"

#include <algorithm>
#include <limits>

namespace llmc {

using Kind = ReshardMove::Kind;

static int64_t valueOf(int64_t element) { return 7 * element + 3; }

ReshardSimulator::ReshardSimulator(const rt::Mesh &mesh,
                                   std::vector<int64_t> shape,
                                   const ReshardLayout &layout)
    : mesh(mesh), shape(std::move(shape)), now(layout), kind(layout.kind) {
  for (const rt::MeshAxis &axis : mesh.axes)
    numDevices *= axis.size;
  locals.resize(numDevices);
  for (int64_t device = 0; device < numDevices; ++device) {
    if (!lives(device, now.stages))
      continue;
    auto terms = group(device, now.partial);
    Local &local = locals[device] = indices(device, now);
    for (int64_t &value : local.data)
      value = term(value, memberOf(device, terms), terms.size());
  }
}

/// Terms that no single device could guess the result from.
int64_t ReshardSimulator::term(int64_t element, int64_t member,
                               int64_t count) const {
  int64_t noise = (element * 31 + member * 17) % 23, value = valueOf(element);
  bool chosen = member == element % count;
  switch (kind) {
  case ReductionKind::sum: {
    if (member != count - 1)
      return noise;
    for (int64_t other = 0; other < count - 1; ++other)
      value -= (element * 31 + other * 17) % 23;
    return value;
  }
  case ReductionKind::product:
    return chosen ? value : 1;
  case ReductionKind::max:
    return chosen ? value : value - noise;
  case ReductionKind::min:
    return chosen ? value : value + noise;
  case ReductionKind::bitAnd:
    return chosen ? value : value | noise;
  case ReductionKind::bitOr:
    return chosen ? value : value & noise;
  }
  return 0;
}

int64_t ReshardSimulator::neutral() const {
  switch (kind) {
  case ReductionKind::product:
    return 1;
  case ReductionKind::max:
    return std::numeric_limits<int64_t>::min();
  case ReductionKind::min:
    return std::numeric_limits<int64_t>::max();
  case ReductionKind::bitAnd:
    return -1;
  default:
    return 0;
  }
}

int64_t ReshardSimulator::combine(int64_t a, int64_t b) const {
  switch (kind) {
  case ReductionKind::sum:
    return a + b;
  case ReductionKind::product:
    return a * b;
  case ReductionKind::max:
    return std::max(a, b);
  case ReductionKind::min:
    return std::min(a, b);
  case ReductionKind::bitAnd:
    return a & b;
  case ReductionKind::bitOr:
    return a | b;
  }
  return 0;
}

ReshardSimulator::Local ReshardSimulator::part(const Local &whole, size_t dim,
                                               int64_t count, int64_t i) {
  Local result;
  result.shape = whole.shape;
  int64_t length = result.shape[dim] /= count, outer = 1, inner = 1;
  for (size_t d = 0; d < whole.shape.size(); ++d)
    (d < dim ? outer : inner) *= d == dim ? 1 : whole.shape[d];
  for (int64_t o = 0; o < outer; ++o) {
    auto begin = whole.data.begin() + (o * count + i) * length * inner;
    result.data.insert(result.data.end(), begin, begin + length * inner);
  }
  return result;
}

ReshardSimulator::Local
ReshardSimulator::joined(const std::vector<Local> &parts, size_t dim) {
  Local result;
  result.shape = parts[0].shape;
  int64_t outer = 1;
  for (size_t d = 0; d < dim; ++d)
    outer *= result.shape[d];
  result.shape[dim] *= parts.size();
  for (int64_t o = 0; o < outer; ++o)
    for (const Local &one : parts) {
      int64_t run = one.data.size() / outer;
      auto begin = one.data.begin() + o * run;
      result.data.insert(result.data.end(), begin, begin + run);
    }
  return result;
}

int64_t ReshardSimulator::coordinate(int64_t device, int32_t axis) const {
  for (size_t other = mesh.axes.size() - 1; int32_t(other) > axis; --other)
    device /= mesh.axes[other].size;
  return device % mesh.axes[axis].size;
}

int64_t ReshardSimulator::moved(int64_t device, int32_t axis,
                                int64_t to) const {
  int64_t stride = 1;
  for (size_t other = axis + 1; other < mesh.axes.size(); ++other)
    stride *= mesh.axes[other].size;
  return device + (to - coordinate(device, axis)) * stride;
}

bool ReshardSimulator::lives(int64_t device, uint64_t stages) const {
  return mesh.pipelineAxis < 0 ||
         (stages >> coordinate(device, mesh.pipelineAxis) & 1);
}

std::vector<int64_t> ReshardSimulator::group(int64_t device,
                                             const Axes &axes) const {
  std::vector<int64_t> members = {device};
  for (int32_t axis : axes) {
    std::vector<int64_t> next;
    for (int64_t member : members)
      for (int64_t c = 0; c < mesh.axes[axis].size; ++c)
        if (lives(moved(member, axis, c), now.stages))
          next.push_back(moved(member, axis, c));
    members = next;
  }
  return members;
}

size_t ReshardSimulator::memberOf(int64_t device,
                                  const std::vector<int64_t> &group) const {
  return std::find(group.begin(), group.end(), device) - group.begin();
}

int64_t ReshardSimulator::position(int64_t device, const Axes &list) const {
  int64_t result = 0;
  for (int32_t axis : list)
    result = result * mesh.axes[axis].size + coordinate(device, axis);
  return result;
}

/// Numbers of the elements that a device should hold.
ReshardSimulator::Local
ReshardSimulator::indices(int64_t device, const ReshardLayout &layout) const {
  Local local;
  local.shape = shape;
  int64_t count = 1;
  for (int64_t extent : shape)
    count *= extent;
  for (int64_t i = 0; i < count; ++i)
    local.data.push_back(i);
  for (size_t dim = 0; dim < shape.size(); ++dim) {
    int64_t parts = 1;
    for (int32_t axis : layout.dims[dim])
      parts *= mesh.axes[axis].size;
    if (parts > 1)
      local = part(local, dim, parts, position(device, layout.dims[dim]));
  }
  return local;
}

ReshardSimulator::Local
ReshardSimulator::total(const std::vector<int64_t> &group) const {
  Local result = locals[group[0]];
  for (size_t m = 1; m < group.size(); ++m)
    for (size_t i = 0; i < result.data.size(); ++i)
      result.data[i] = combine(result.data[i], locals[group[m]].data[i]);
  return result;
}

void ReshardSimulator::lift(const ReshardMove &move, int64_t device,
                            Local &local) const {
  int32_t axis = move.axes[0];
  if (move.from >= 0) {
    std::vector<Local> parts(mesh.axes[axis].size, locals[device]);
    for (size_t i = 0; i < parts.size(); ++i)
      if (int64_t(i) != coordinate(device, axis))
        parts[i].data.assign(parts[i].data.size(), neutral());
    local = joined(parts, move.from);
    return;
  }
  auto holders = group(device, {axis});
  bool hadTerms = std::count(now.partial.begin(), now.partial.end(), axis);
  bool keeps = hadTerms ? lives(device, now.stages) : device == holders[0];
  local = locals[holders[0]];
  if (keeps)
    local = locals[device];
  else
    local.data.assign(local.data.size(), neutral());
}

ReshardSimulator::Local ReshardSimulator::exchange(const ReshardMove &move,
                                                   int64_t device) const {
  auto members = group(device, move.axes);
  size_t mine = memberOf(device, members);
  std::vector<Local> parts;
  Local local;
  switch (move.kind) {
  case Kind::Slice:
    return part(locals[device], move.to, members.size(), mine);
  case Kind::Lift:
    lift(move, device, local);
    return local;
  case Kind::Drop:
    return locals[device];
  case Kind::ReduceScatter:
    return part(total(members), move.to, members.size(), mine);
  case Kind::AllReduce:
  case Kind::Reduce:
    return total(members);
  case Kind::AllToAll:
    for (int64_t member : members)
      parts.push_back(part(locals[member], move.to, members.size(), mine));
    return joined(parts, move.from);
  case Kind::Permute: {
    int64_t source = device;
    for (size_t dim = 0; dim < shape.size(); ++dim) {
      int64_t at = position(device, move.result.dims[dim]);
      const Axes &list = now.dims[dim];
      for (size_t i = list.size(); i-- > 0;) {
        source = moved(source, list[i], at % mesh.axes[list[i]].size);
        at /= mesh.axes[list[i]].size;
      }
    }
    return locals[source];
  }
  case Kind::Send:
  case Kind::Broadcast:
    return lives(device, now.stages) ? locals[device] : locals[members[0]];
  case Kind::AllGather:
    for (int64_t member : members)
      parts.push_back(locals[member]);
    return joined(parts, move.from);
  }
  return local;
}

std::string ReshardSimulator::perform(const ReshardMove &move) {
  if (move.kind == Kind::Lift)
    kind = move.result.kind;
  std::vector<Local> next(numDevices);
  for (int64_t device = 0; device < numDevices; ++device)
    if (lives(device, move.result.stages))
      next[device] = exchange(move, device);
  locals = std::move(next);
  now = move.result;
  std::vector<int64_t> expected;
  for (int64_t device = 0; device < numDevices; ++device) {
    expected.clear();
    for (size_t dim = 0; dim < shape.size(); ++dim) {
      expected.push_back(shape[dim]);
      for (int32_t axis : now.dims[dim])
        expected.back() /= mesh.axes[axis].size;
    }
    if (lives(device, now.stages) && locals[device].shape != expected)
      return std::string("unexpected shape after ") + nameOf(move.kind);
  }
  return "";
}

std::string ReshardSimulator::holds(const ReshardLayout &layout) const {
  if (layout != now)
    return "the last move leaves another layout";
  for (int64_t device = 0; device < numDevices; ++device) {
    if (!lives(device, layout.stages)) {
      if (!locals[device].data.empty())
        return "device " + std::to_string(device) + " should hold nothing";
      continue;
    }
    Local sum = total(group(device, layout.partial));
    Local wanted = indices(device, layout);
    if (sum.shape != wanted.shape)
      return "shape on device " + std::to_string(device);
    for (size_t i = 0; i < sum.data.size(); ++i)
      if (sum.data[i] != valueOf(wanted.data[i]))
        return "element " + std::to_string(wanted.data[i]) + " on device " +
               std::to_string(device);
  }
  return "";
}

} // namespace llmc
