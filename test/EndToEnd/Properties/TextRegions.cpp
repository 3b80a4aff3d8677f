//===- TextRegions.cpp - Random manual regions, and what they are ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See TextRegions.h. The writer keeps which axes split each dimension of the
// value that a device has, major to minor; a step changes these or the value.
//
//===----------------------------------------------------------------------===//

#include "TextRegions.h"

using namespace llmc::test::text;

namespace {
using Axes = std::vector<size_t>;

class RegionWriter {
public:
  RegionWriter(const TextMesh &mesh, const std::string &name,
               const Shape &shape, bool isExact, Draw &draw)
      : mesh(mesh), name(name), isExact(isExact), draw(draw), shape(shape),
        along(shape.size()) {}

  RegionTexts write();

private:
  void writeRegion(int depth);
  bool enter();
  void step();
  void changeElements();
  void sum();
  void gather(size_t dim);
  void exchange(size_t from, size_t to);
  void shift(size_t dim);
  void cut(size_t dim, size_t axis);
  std::string reduce(const std::string &op, size_t dim,
                     const std::string &value, const Shape &of, bool isWhole);
  std::string collective(const std::string &op, const std::string &fields,
                         const Axes &axes, const std::string &reducer,
                         const Shape &to);
  std::string coordinate(size_t axis);
  void writeBody(int depth, const Shape &from, const std::string &argument,
                 const std::string &function);

  Shape getLocal() const {
    Shape local = shape;
    for (size_t dim = 0; dim < local.size(); ++dim)
      for (size_t axis : along[dim])
        local[dim] /= mesh.getSize(axis);
    return local;
  }
  TextSharding getSharding();
  AxisSet getManual() const {
    AxisSet all = outer;
    all.insert(own.begin(), own.end());
    return all;
  }
  /// A line of the region in both texts, and one of the whole.
  std::string local(const std::string &text) {
    std::string value = "%v" + std::to_string(next++);
    sdy += "    " + value + " = " + text + "\n";
    hlo += "    " + value + " = " + text + "\n";
    return value;
  }
  std::string global(const std::string &text) {
    std::string value = "%v" + std::to_string(next++);
    wholeBody += "    " + value + " = " + text + "\n";
    return value;
  }
  std::string annotated(const std::string &target, const std::string &operand,
                        const std::string &sharding, const Shape &from,
                        const Shape &to, const TextSharding &open);
  /// Both programs compute `text`, in which $ is the value and T its type.
  void both(const std::string &text);

  const TextMesh &mesh;
  std::string name;
  bool isExact;
  Draw &draw;
  /// Of the whole, and the axes of each dimension on a device.
  Shape shape;
  std::vector<Axes> along;
  /// Axes of the region, and of those around it.
  AxisSet own, outer;
  std::string device = "%x", whole = "%x";
  std::string sdy, hlo, wholeBody, hloBodies;
  int next = 0, numRegions = 0;
};
} // namespace

static std::string scalar(const char *value) {
  return std::string("stablehlo.constant dense<") + value + "> : tensor<f64>";
}

static std::string substitute(std::string text, const std::string &value,
                              const std::string &type) {
  for (size_t at; (at = text.find('$')) != std::string::npos;)
    text.replace(at, 1, value);
  for (size_t at; (at = text.find('@')) != std::string::npos;)
    text.replace(at, 1, type);
  return text;
}

void RegionWriter::both(const std::string &text) {
  device = local(substitute(text, device, typeOf(getLocal())));
  whole = global(substitute(text, whole, typeOf(shape)));
}

/// The region's axes, and others behind them.
TextSharding RegionWriter::getSharding() {
  TextSharding sharding = mesh.draw(getLocal(), draw, getManual());
  if (draw.below(3))
    for (auto &dim : sharding.dims)
      dim.clear();
  for (size_t d = 0; d < shape.size(); ++d) {
    std::vector<AxisRef> dim;
    for (size_t axis : along[d])
      if (own.count(axis))
        dim.push_back(mesh.getWhole(axis));
    dim.insert(dim.end(), sharding.dims[d].begin(), sharding.dims[d].end());
    sharding.dims[d] = dim;
  }
  sharding.replicated.clear();
  sharding.priorities.assign(shape.size(), -1);
  return sharding;
}

//===----------------------------------------------------------------------===//
// Steps
//===----------------------------------------------------------------------===//

void RegionWriter::changeElements() {
  const char *exact[] = {"negate", "abs", "sign"};
  const char *smooth[] = {"tanh", "sine", "cosine", "logistic"};
  both(std::string("stablehlo.") +
       (isExact ? draw.pick(exact) : draw.pick(smooth)) + " $ : @");
}

std::string RegionWriter::collective(const std::string &op,
                                     const std::string &fields,
                                     const Axes &axes,
                                     const std::string &reducer,
                                     const Shape &to) {
  std::vector<Shape> groups = mesh.getGroups(axes);
  std::string list;
  for (const Shape &group : groups)
    list += (list.empty() ? "[" : ", [") + join(group) + "]";
  bool hasFlag = op != "all_to_all";
  std::string text = "\"stablehlo." + op + "\"(" + device + ") <{" + fields +
                     (fields.empty() ? "" : ", ") +
                     "channel_handle = #stablehlo.channel_handle<handle = 1, "
                     "type = 1>, replica_groups = dense<[" +
                     list + "]> : tensor<" + std::to_string(groups.size()) +
                     "x" + std::to_string(groups.front().size()) + "xi64>" +
                     (hasFlag ? ", use_global_device_ids" : "") + "}>";
  if (!reducer.empty())
    text += " ({\n    ^bb0(%p: tensor<f64>, %q: tensor<f64>):\n"
            "      %r = stablehlo." +
            reducer +
            " %p, %q : tensor<f64>\n"
            "      stablehlo.return %r : tensor<f64>\n    })";
  return text + " : (" + typeOf(getLocal()) + ") -> " + typeOf(to);
}

std::string RegionWriter::reduce(const std::string &op, size_t dim,
                                 const std::string &value, const Shape &of,
                                 bool isWhole) {
  auto add = [&](const std::string &text) {
    return isWhole ? global(text) : local(text);
  };
  Shape to = of;
  to.erase(to.begin() + dim);
  std::string start = add(scalar(op == "add" ? "0.0" : "-9.0e9"));
  return add("stablehlo.reduce(" + value + " init: " + start +
             ") applies stablehlo." + op + " across dimensions = [" +
             std::to_string(dim) + "] : (" + typeOf(of) + ", tensor<f64>) -> " +
             typeOf(to));
}

/// A sum or maximum over a dimension, by each device and then by all; the sum
/// may be left in parts.
void RegionWriter::sum() {
  if (shape.size() < 2)
    return;
  size_t dim = draw.below(static_cast<int64_t>(shape.size()));
  std::string op = draw.oneIn(3) ? "maximum" : "add";
  whole = reduce(op, dim, whole, shape, true);
  device = reduce(op, dim, device, getLocal(), false);
  Axes axes = along[dim];
  shape.erase(shape.begin() + dim);
  along.erase(along.begin() + dim);
  if (axes.empty())
    return;
  Shape part = getLocal();
  size_t to = draw.below(static_cast<int64_t>(shape.size()));
  bool isOwn = std::all_of(axes.begin(), axes.end(),
                           [&](size_t axis) { return own.count(axis) > 0; });
  int64_t parts = 1;
  for (size_t axis : axes)
    parts *= mesh.getSize(axis);
  if (isOwn && part[to] % parts == 0 && draw.oneIn(2)) {
    part[to] /= parts;
    device =
        local(collective("reduce_scatter",
                         "scatter_dimension = " + std::to_string(to) + " : i64",
                         axes, op, part));
    along[to].insert(along[to].end(), axes.begin(), axes.end());
    return;
  }
  device = local(collective("all_reduce", "", axes, op, part));
}

/// Undoes the minor axis of a dimension.
void RegionWriter::gather(size_t dim) {
  size_t axis = along[dim].back();
  Shape to = getLocal();
  to[dim] *= mesh.getSize(axis);
  device = local(collective(
      "all_gather", "all_gather_dim = " + std::to_string(dim) + " : i64",
      {axis}, "", to));
  along[dim].pop_back();
}

/// Moves the minor axis of a dimension to another one.
void RegionWriter::exchange(size_t from, size_t to) {
  size_t axis = along[from].back();
  int64_t size = mesh.getSize(axis);
  Shape parts = getLocal();
  if (from == to || parts[to] % size)
    return;
  parts[to] /= size;
  parts[from] *= size;
  device = local(collective(
      "all_to_all",
      "concat_dimension = " + std::to_string(from) +
          " : i64, split_count = " + std::to_string(size) +
          " : i64, split_dimension = " + std::to_string(to) + " : i64",
      {axis}, "", parts));
  along[from].pop_back();
  along[to].push_back(axis);
}

static std::string sliceOf(const std::string &value, const Shape &shape,
                           size_t dim, int64_t from, int64_t to) {
  Shape part = shape;
  part[dim] = to - from;
  std::string ranges;
  for (size_t d = 0; d < shape.size(); ++d)
    ranges += (d ? ", " : "") + std::to_string(d == dim ? from : 0) + ":" +
              std::to_string(d == dim ? to : shape[d]);
  return "stablehlo.slice " + value + " [" + ranges + "] : (" + typeOf(shape) +
         ") -> " + typeOf(part);
}

/// Each device's part goes to the next one.
void RegionWriter::shift(size_t dim) {
  std::string pairs;
  int64_t count = 0;
  for (const Shape &group : mesh.getGroups(along[dim]))
    for (size_t i = 0; i < group.size(); ++i, ++count)
      pairs += (count ? ", [" : "[") + std::to_string(group[i]) + ", " +
               std::to_string(group[(i + 1) % group.size()]) + "]";
  std::string type = typeOf(getLocal());
  device = local("\"stablehlo.collective_permute\"(" + device +
                 ") <{channel_handle = #stablehlo.channel_handle<handle = "
                 "1, type = 1>, source_target_pairs = dense<[" +
                 pairs + "]> : tensor<" + std::to_string(count) +
                 "x2xi64>}> : (" + type + ") -> " + type);
  int64_t size = shape[dim], part = getLocal()[dim];
  Shape first = shape, last = shape;
  first[dim] = part;
  last[dim] = size - part;
  std::string a = global(sliceOf(whole, shape, dim, size - part, size));
  std::string b = global(sliceOf(whole, shape, dim, 0, size - part));
  whole = global("stablehlo.concatenate " + a + ", " + b +
                 ", dim = " + std::to_string(dim) + " : (" + typeOf(first) +
                 ", " + typeOf(last) + ") -> " + typeOf(shape));
}

/// The device's place on an axis, as JAX prints `axis_index`.
std::string RegionWriter::coordinate(size_t axis) {
  int64_t stride = 1;
  for (size_t other = axis + 1; other < mesh.getNumAxes(); ++other)
    stride *= mesh.getSize(other);
  auto number = [&](int64_t value) {
    return local("stablehlo.constant dense<" + std::to_string(value) +
                 "> : tensor<ui32>");
  };
  std::string id = local("stablehlo.partition_id : tensor<ui32>");
  std::string by = number(stride);
  id = local("stablehlo.divide " + id + ", " + by + " : tensor<ui32>");
  std::string size = number(mesh.getSize(axis));
  id = local("stablehlo.remainder " + id + ", " + size + " : tensor<ui32>");
  return local("stablehlo.convert " + id + " : (tensor<ui32>) -> tensor<i32>");
}

/// Each device keeps its part of a dimension, by its number.
void RegionWriter::cut(size_t dim, size_t axis) {
  Shape before = getLocal(), part = before;
  if (before[dim] % mesh.getSize(axis))
    return;
  part[dim] /= mesh.getSize(axis);
  std::string place = coordinate(axis);
  std::string size = local("stablehlo.constant dense<" +
                           std::to_string(part[dim]) + "> : tensor<i32>");
  std::string start =
      local("stablehlo.multiply " + place + ", " + size + " : tensor<i32>");
  std::string zero = local("stablehlo.constant dense<0> : tensor<i32>");
  std::string starts, types;
  for (size_t d = 0; d < shape.size(); ++d) {
    starts += ", " + (d == dim ? start : zero);
    types += ", tensor<i32>";
  }
  device = local("stablehlo.dynamic_slice " + device + starts + ", sizes = [" +
                 join(part) + "] : (" + typeOf(before) + types + ") -> " +
                 typeOf(part));
  along[dim].push_back(axis);
}

void RegionWriter::step() {
  size_t dim = draw.below(static_cast<int64_t>(shape.size()));
  bool isSplit = !along[dim].empty() && own.count(along[dim].back());
  switch (draw.below(6)) {
  case 0:
    return sum();
  case 1:
    if (isSplit)
      gather(dim);
    return;
  case 2:
    if (isSplit)
      exchange(dim, draw.below(static_cast<int64_t>(shape.size())));
    return;
  case 3:
    if (along[dim].size() == 1)
      shift(dim);
    return;
  case 4:
    for (size_t axis : own) {
      bool isFree = true;
      for (const Axes &axes : along)
        isFree &= std::find(axes.begin(), axes.end(), axis) == axes.end();
      if (isFree)
        return cut(dim, axis);
    }
    return;
  default:
    return changeElements();
  }
}

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

/// Chooses axes that are not manual yet, and which of them split dimensions.
bool RegionWriter::enter() {
  own.clear();
  for (size_t axis = 0; axis < mesh.getNumAxes(); ++axis)
    if (!outer.count(axis) && draw.below(3))
      own.insert(axis);
  Axes order(own.begin(), own.end());
  draw.shuffle(order);
  bool isSplit = false;
  for (size_t axis : order) {
    size_t dim = draw.below(static_cast<int64_t>(shape.size()));
    if (draw.below(4) && getLocal()[dim] % mesh.getSize(axis) == 0) {
      along[dim].push_back(axis);
      isSplit = true;
    }
  }
  return isSplit;
}

static std::string quoted(const AxisSet &axes) {
  std::string text;
  for (size_t axis : axes)
    text += (text.empty() ? "\"" : ", \"") + TextMesh::getName(axis) + "\"";
  return text;
}

std::string RegionWriter::annotated(const std::string &target,
                                    const std::string &operand,
                                    const std::string &sharding,
                                    const Shape &from, const Shape &to,
                                    const TextSharding &open) {
  std::string value = "%v" + std::to_string(next++);
  hlo += "    " + value + " = stablehlo.custom_call @" + target + "(" +
         operand + ") {backend_config = \"" + getOpenDims(open) +
         "\", mhlo.sharding = \"" + sharding + "\"} : (" + typeOf(from) +
         ") -> " + typeOf(to) + "\n";
  return value;
}

/// The value enters a region, in which there are steps and perhaps another one,
/// and leaves it.
void RegionWriter::writeRegion(int depth) {
  AxisSet ownBefore = own;
  outer = getManual();
  Shape from = getLocal();
  std::vector<Axes> alongBefore = along;
  bool isSplit = enter();
  std::string number = std::to_string(numRegions++);
  if (isSplit)
    writeBody(depth, from, "%a" + number, "@" + name + "_body" + number);
  else
    along = alongBefore;
  own = ownBefore;
  for (size_t axis : ownBefore)
    outer.erase(axis);
}

void RegionWriter::writeBody(int depth, const Shape &from,
                             const std::string &argument,
                             const std::string &function) {
  TextSharding in = getSharding(), none;
  std::string given = device, sdyBefore, hloBefore;
  std::swap(sdy, sdyBefore);
  std::swap(hlo, hloBefore);
  Shape entered = getLocal();
  device = argument;
  for (int64_t steps = 1 + draw.below(4); steps > 0; --steps)
    step();
  if (depth < 2 && draw.oneIn(2))
    writeRegion(depth + 1);
  changeElements();
  TextSharding out = getSharding();
  Shape left = getLocal();
  for (Axes &axes : along)
    axes.erase(std::remove_if(axes.begin(), axes.end(),
                              [&](size_t axis) { return own.count(axis) > 0; }),
               axes.end());
  Shape to = getLocal();
  std::string sdyBody, hloBody, result = device;
  std::swap(sdyBody, sdy);
  std::swap(hloBody, hlo);
  sdy = sdyBefore;
  hlo = hloBefore;
  device = "%v" + std::to_string(next++);
  sdy += "    " + device + " = sdy.manual_computation(" + given +
         ") in_shardings=[" + mesh.showSdy(in) + "] out_shardings=[" +
         mesh.showSdy(out) + "] manual_axes={" + quoted(own) + "} (" +
         argument + ": " + typeOf(entered) + ") {\n" + sdyBody +
         "    sdy.return " + result + " : " + typeOf(left) + "\n    } : (" +
         typeOf(from) + ") -> " + typeOf(to) + "\n";
  hloBodies += "  func.func private " + function + "(" + argument + ": " +
               typeOf(entered) + ") -> " + typeOf(left) + " {\n" + hloBody +
               "    return " + result + " : " + typeOf(left) + "\n  }\n";
  auto manual = [&](const Shape &of) {
    TextSharding whole;
    whole.dims.resize(of.size());
    whole.isOpen.resize(of.size(), false);
    return mesh.showHlo(whole, draw, getManual());
  };
  given = annotated("Sharding", given, mesh.showHlo(in, draw, outer), from,
                    from, in);
  given = annotated("SPMDFullToShardShape", given, manual(entered), from,
                    entered, in);
  std::string called = "%v" + std::to_string(next++);
  hlo += "    " + called + " = call " + function + "(" + given + ") : (" +
         typeOf(entered) + ") -> " + typeOf(left) + "\n";
  given = annotated("Sharding", called, manual(left), left, left, none);
  hlo += "    " + device + " = stablehlo.custom_call @SPMDShardToFullShape(" +
         given + ") {backend_config = \"" + getOpenDims(out) +
         "\", mhlo.sharding = \"" + mesh.showHlo(out, draw, outer) + "\"} : (" +
         typeOf(left) + ") -> " + typeOf(to) + "\n";
}

RegionTexts RegionWriter::write() {
  Shape given = shape;
  writeRegion(0);
  if (sdy.empty())
    return {};
  auto function = [&](const std::string &body, const std::string &result) {
    return "  func.func private @" + name + "(%x: " + typeOf(given) + ") -> " +
           typeOf(shape) + " {\n" + body + "    return " + result + " : " +
           typeOf(shape) + "\n  }\n";
  };
  return {function(wholeBody, whole), function(sdy, device),
          function(hlo, device) + hloBodies, shape};
}

RegionTexts llmc::test::text::makeRegion(const TextMesh &mesh,
                                         const std::string &name,
                                         const Shape &shape, bool isExact,
                                         Draw &draw) {
  return RegionWriter(mesh, name, shape, isExact, draw).write();
}
