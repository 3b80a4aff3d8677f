//===- TextShardings.cpp - Random shardings as texts write them -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See TextShardings.h.
//
//===----------------------------------------------------------------------===//

#include "TextShardings.h"
#include <numeric>

using namespace llmc::test::text;

std::string llmc::test::text::join(const Shape &list, const char *separator) {
  std::string text;
  for (int64_t number : list)
    text += (text.empty() ? "" : separator) + std::to_string(number);
  return text;
}

std::string llmc::test::text::typeOf(const Shape &shape,
                                     const std::string &element) {
  std::string text = "tensor<";
  for (int64_t size : shape)
    text += std::to_string(size) + "x";
  return text + element + ">";
}

//===----------------------------------------------------------------------===//
// The mesh
//===----------------------------------------------------------------------===//

TextMesh::TextMesh(const Shape &sizes, Draw &draw) : sizes(sizes) {
  for (int64_t size : sizes) {
    Shape list = {1};
    bool isCut = draw.oneIn(2);
    for (int64_t end = 2; end < size; ++end)
      if (isCut && size % end == 0 && end % list.back() == 0 && draw.below(3))
        list.push_back(end);
    list.push_back(size);
    ends.push_back(list);
  }
}

int64_t TextMesh::getNumDevices() const {
  return std::accumulate(sizes.begin(), sizes.end(), int64_t(1),
                         std::multiplies<>());
}

std::string TextMesh::show() const {
  std::string text;
  for (size_t axis = 0; axis < sizes.size(); ++axis)
    text += (axis ? ", \"" : "\"") + getName(axis) +
            "\"=" + std::to_string(sizes[axis]);
  return "[" + text + "]";
}

std::vector<AxisRef> TextMesh::getAtoms() const {
  std::vector<AxisRef> atoms;
  for (size_t axis = 0; axis < sizes.size(); ++axis)
    for (size_t i = 0; i + 1 < ends[axis].size(); ++i)
      atoms.push_back({axis, ends[axis][i], ends[axis][i + 1] / ends[axis][i]});
  return atoms;
}

std::vector<AxisRef> TextMesh::getAtoms(const AxisRef &ref) const {
  std::vector<AxisRef> atoms;
  for (const AxisRef &atom : getAtoms())
    if (atom.axis == ref.axis && atom.before >= ref.before &&
        atom.before < ref.before * ref.size)
      atoms.push_back(atom);
  return atoms;
}

/// By how much a device's number grows along the part.
int64_t TextMesh::getStride(const AxisRef &atom) const {
  int64_t stride = sizes[atom.axis] / (atom.before * atom.size);
  for (size_t axis = atom.axis + 1; axis < sizes.size(); ++axis)
    stride *= sizes[axis];
  return stride;
}

std::vector<Shape> TextMesh::getGroups(const std::vector<size_t> &axes) const {
  std::vector<Shape> groups;
  for (int64_t device = 0; device < getNumDevices(); ++device) {
    bool isFirst = true;
    for (size_t axis : axes)
      isFirst &= device / getStride(getWhole(axis)) % sizes[axis] == 0;
    if (!isFirst)
      continue;
    Shape group = {device};
    for (size_t axis : axes) {
      Shape longer;
      for (int64_t number : group)
        for (int64_t i = 0; i < sizes[axis]; ++i)
          longer.push_back(number + i * getStride(getWhole(axis)));
      group = longer;
    }
    groups.push_back(group);
  }
  return groups;
}

//===----------------------------------------------------------------------===//
// Shardings
//===----------------------------------------------------------------------===//

std::string llmc::test::text::getOpenDims(const TextSharding &sharding) {
  Shape dims;
  for (size_t dim = 0; dim < sharding.isOpen.size(); ++dim)
    if (sharding.isOpen[dim])
      dims.push_back(static_cast<int64_t>(dim));
  return dims.empty() ? "" : "unspecified_dims=[" + join(dims, ",") + "]";
}

/// Parts of one axis side by side are one part.
static void append(std::vector<AxisRef> &list, const AxisRef &ref) {
  if (!list.empty() && list.back().axis == ref.axis &&
      list.back().before * list.back().size == ref.before)
    list.back().size *= ref.size;
  else
    list.push_back(ref);
}

TextSharding TextMesh::draw(const Shape &shape, Draw &draw,
                            const AxisSet &without) const {
  TextSharding sharding;
  sharding.dims.resize(shape.size());
  Shape parts(shape.size(), 1);
  std::vector<AxisRef> atoms = getAtoms(), unused;
  draw.shuffle(atoms);
  for (const AxisRef &atom : atoms) {
    if (without.count(atom.axis))
      continue;
    unused.push_back(atom);
    if (shape.empty() || draw.oneIn(3))
      continue;
    size_t dim = draw.below(static_cast<int64_t>(shape.size()));
    int64_t next = parts[dim] * atom.size, size = shape[dim];
    bool isUneven = size % next != 0;
    if ((size + next - 1) / next * next >= 2 * size ||
        (isUneven && draw.oneIn(2)))
      continue;
    parts[dim] = next;
    append(sharding.dims[dim], atom);
    unused.pop_back();
  }
  auto before = [](const AxisRef &a, const AxisRef &b) {
    return std::pair(a.axis, a.before) < std::pair(b.axis, b.before);
  };
  std::sort(unused.begin(), unused.end(), before);
  for (const AxisRef &atom : unused)
    if (draw.oneIn(6))
      append(sharding.replicated, atom);
  for (const auto &dim : sharding.dims) {
    sharding.isOpen.push_back(draw.oneIn(3));
    bool mayHave = !dim.empty() || sharding.isOpen.back();
    sharding.priorities.push_back(
        mayHave && draw.oneIn(6) ? static_cast<int>(draw.below(3)) : -1);
  }
  return sharding;
}

std::string TextMesh::show(const AxisRef &ref, char quote) const {
  std::string text = quote + getName(ref.axis) + quote;
  if (ref.size == sizes[ref.axis])
    return text;
  return text + ":(" + std::to_string(ref.before) + ")" +
         std::to_string(ref.size);
}

std::string TextMesh::show(const std::vector<AxisRef> &refs, char quote) const {
  std::string text;
  for (const AxisRef &ref : refs)
    text += (text.empty() ? "" : ", ") + show(ref, quote);
  return text;
}

std::string TextMesh::showDims(const TextSharding &sharding, char quote) const {
  std::string text;
  for (size_t dim = 0; dim < sharding.dims.size(); ++dim) {
    std::string axes = show(sharding.dims[dim], quote);
    if (sharding.isOpen[dim])
      axes += axes.empty() ? "?" : ", ?";
    text += (dim ? ", {" : "{") + axes + "}";
    if (quote == '"' && sharding.priorities[dim] >= 0)
      text += "p" + std::to_string(sharding.priorities[dim]);
  }
  return "[" + text + "]";
}

std::string TextMesh::showSdy(const TextSharding &sharding) const {
  std::string text = "<@mesh, " + showDims(sharding, '"');
  if (!sharding.replicated.empty())
    text += ", replicated={" + show(sharding.replicated, '"') + "}";
  return text + ">";
}

//===----------------------------------------------------------------------===//
// Strings
//===----------------------------------------------------------------------===//

std::string TextMesh::showNamed(const TextSharding &sharding,
                                const AxisSet &manual) const {
  std::string text = "{mesh[";
  for (size_t axis = 0; axis < sizes.size(); ++axis)
    text += (axis ? ",'" : "'") + getName(axis) +
            "'=" + std::to_string(sizes[axis]);
  text += "], " + showDims(sharding, '\'');
  if (!sharding.replicated.empty())
    text += ", replicated={" + show(sharding.replicated, '\'') + "}";
  std::vector<AxisRef> own;
  for (size_t axis : manual)
    own.push_back(getWhole(axis));
  if (!own.empty())
    text += ", manual={" + show(own, '\'') + "}";
  return text + "}";
}

/// The devices by tiles, major to minor, the last `copies` of which have one
/// tile: as numbers, or as a shape and an order of its dimensions.
std::string TextMesh::showDevices(const std::vector<AxisRef> &order,
                                  int64_t copies, Draw &draw) const {
  std::vector<AxisRef> atoms = getAtoms();
  if (draw.oneIn(2)) {
    Shape shape, places;
    for (const AxisRef &atom : atoms)
      shape.push_back(atom.size);
    for (const AxisRef &ref : order)
      for (size_t i = 0; i < atoms.size(); ++i)
        if (atoms[i].axis == ref.axis && atoms[i].before == ref.before)
          places.push_back(static_cast<int64_t>(i));
    if (std::is_sorted(places.begin(), places.end()))
      return "<=[" + std::to_string(getNumDevices()) + "]";
    return "<=[" + join(shape, ",") + "]T(" + join(places, ",") + ")";
  }
  Shape numbers = {0};
  for (const AxisRef &atom : order) {
    Shape longer;
    for (int64_t number : numbers)
      for (int64_t i = 0; i < atom.size; ++i)
        longer.push_back(number + i * getStride(atom));
    numbers = longer;
  }
  for (size_t i = 0; i < numbers.size(); i += copies) {
    Shape group(numbers.begin() + i, numbers.begin() + i + copies);
    draw.shuffle(group);
    std::copy(group.begin(), group.end(), numbers.begin() + i);
  }
  return join(numbers, ",");
}

std::string TextMesh::showHlo(const TextSharding &sharding, Draw &draw,
                              const AxisSet &manual) const {
  if (draw.oneIn(4))
    return showNamed(sharding, manual);
  if (!manual.empty() && manual.size() == sizes.size())
    return "{manual}";
  Shape tiles;
  std::vector<AxisRef> order, rest = getAtoms();
  auto take = [&](const AxisRef &ref) {
    for (const AxisRef &atom : getAtoms(ref)) {
      order.push_back(atom);
      rest.erase(std::find_if(rest.begin(), rest.end(), [&](auto &other) {
        return other.axis == atom.axis && other.before == atom.before;
      }));
    }
    tiles.back() *= ref.size;
  };
  for (const auto &dim : sharding.dims) {
    tiles.push_back(1);
    for (const AxisRef &ref : dim)
      take(ref);
  }
  int64_t used = 1, copies = 1;
  if (!manual.empty())
    tiles.push_back(1);
  for (size_t axis : manual)
    take(getWhole(axis));
  for (int64_t tile : tiles)
    used *= tile;
  copies = getNumDevices() / used;
  order.insert(order.end(), rest.begin(), rest.end());
  if (used == 1)
    return "{replicated}";
  std::string groups = manual.empty() ? "" : "manual";
  if (copies > 1) {
    tiles.push_back(copies);
    groups += groups.empty() ? "replicated" : ", replicated";
  }
  std::string text =
      "{devices=[" + join(tiles, ",") + "]" + showDevices(order, copies, draw);
  if (groups == "replicated" && draw.oneIn(2))
    return text + " last_tile_dim_replicate}";
  return text + (groups.empty() ? "}" : " last_tile_dims={" + groups + "}}");
}
