//===- Movement.cpp - Slices, splits, joins, padding ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../GraphImporter.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::onnx;
namespace hlo = llmc::stablehlo;

/// Elements [begin, end) along one dimension.
static Value sliceAlong(NodeImport &node, Value x, int64_t dim, int64_t begin,
                        int64_t end) {
  SmallVector<int64_t> starts(rankOf(x), 0), limits(shapeOf(x));
  starts[dim] = begin;
  limits[dim] = end;
  return hlo::slice(node.b, node.loc, x, starts, limits);
}

static rt::Status importConcat(NodeImport &node) {
  SmallVector<Value> values = node.allInputs();
  LLMC_TRY_ASSIGN(
      int64_t axis,
      node.axis(node.getInt("axis", node.version < 4 ? 1 : 0), node.rank(0)));
  for (Value value : values) {
    bool fits =
        rankOf(value) == node.rank(0) && elementOf(value) == node.element(0);
    for (int64_t i = 0; fits && i < node.rank(0); ++i)
      fits = i == axis || shapeOf(value)[i] == node.shape(0)[i];
    if (!fits)
      return node.refuse("expected operands of equal sizes but along axis " +
                         std::to_string(axis) + ", got " +
                         show(Type(node.type(0))) + " and " +
                         show(value.getType()));
  }
  return node.finish({hlo::concatenate(node.b, node.loc, values, axis)});
}

namespace {
/// Along one dimension.
struct Piece {
  int64_t begin = 0, end = 0, step = 1;
};
} // namespace

/// Bounds count from the back where they are negative, and are then clamped.
static Piece clampPiece(int64_t size, int64_t begin, int64_t end,
                        int64_t step) {
  auto clamp = [&](int64_t at, int64_t low, int64_t high) {
    return std::clamp(at < 0 && at >= -size ? at + size : at, low, high);
  };
  if (step > 0)
    return {clamp(begin, 0, size), clamp(end, 0, size), step};
  return {clamp(begin, -1, size - 1),
          end < -size ? -1 : clamp(end, -1, size - 1), step};
}

static Value takePieces(NodeImport &node, Value x, ArrayRef<Piece> pieces) {
  SmallVector<int64_t> starts, limits, strides, reversed;
  for (auto [i, piece] : llvm::enumerate(pieces)) {
    Piece forward = piece;
    if (piece.step < 0) {
      // From the last element that is taken upwards, then turned round.
      int64_t count = piece.begin > piece.end
                          ? (piece.begin - piece.end - 1) / -piece.step + 1
                          : 0;
      forward.begin = count ? piece.begin + (count - 1) * piece.step : 0;
      forward.end = count ? piece.begin + 1 : 0;
      forward.step = -piece.step;
      if (count > 1)
        reversed.push_back(static_cast<int64_t>(i));
    }
    starts.push_back(forward.begin);
    limits.push_back(std::max(forward.begin, forward.end));
    strides.push_back(forward.step);
  }
  Value taken = hlo::slice(node.b, node.loc, x, starts, limits, strides);
  return reversed.empty() ? taken
                          : hlo::reverse(node.b, node.loc, taken, reversed);
}

static rt::Status importSlice(NodeImport &node) {
  int64_t rank = node.rank(0);
  LLMC_TRY_ASSIGN(auto starts, node.getIntsOrInput("starts", 1));
  LLMC_TRY_ASSIGN(auto ends, node.getIntsOrInput("ends", 2));
  LLMC_TRY_ASSIGN(auto given, node.getIntsOrInput("axes", 3));
  if (!starts || !ends || starts->size() != ends->size())
    return node.refuse("expected as many starts as ends, got others");
  SmallVector<int64_t> steps(starts->size(), 1);
  if (node.has(4)) {
    LLMC_TRY_ASSIGN(steps, node.integers(4, "steps"));
  }
  SmallVector<int64_t> axes = range(0, starts->size());
  LLMC_TRY_ASSIGN(axes, node.axes(given ? *given : axes, rank));
  if (axes.size() != starts->size() || steps.size() != starts->size() ||
      llvm::is_contained(steps, 0))
    return node.refuse("expected an axis and a step other than 0 for each "
                       "start, got axes " +
                       show(axes) + " and steps " + show(steps));
  SmallVector<Piece> pieces;
  for (int64_t size : node.shape(0))
    pieces.push_back({0, size, 1});
  for (auto [i, axis] : llvm::enumerate(axes)) {
    constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
    int64_t step = std::max(steps[i], -kMost);
    pieces[axis] =
        clampPiece(node.shape(0)[axis], (*starts)[i], (*ends)[i], step);
  }
  return node.finish({takePieces(node, node.input(0), pieces)});
}

/// Sizes of the parts along a dimension of `size`.
static rt::Result<SmallVector<int64_t>> readParts(NodeImport &node,
                                                  int64_t size) {
  LLMC_TRY_ASSIGN(std::optional<SmallVector<int64_t>> given,
                  node.getIntsOrInput("split", 1));
  SmallVector<int64_t> parts;
  if (given) {
    int64_t sum = 0;
    for (int64_t part : *given)
      if (part < 0 || __builtin_add_overflow(sum, part, &sum))
        sum = -1;
    if (sum != size || given->size() != node.numOutputs())
      return node.refuse("expected " + std::to_string(node.numOutputs()) +
                         " parts that add up to " + std::to_string(size) +
                         ", got " + show(*given));
    return *given;
  }
  // The last part is smaller where they do not come out even.
  auto count = static_cast<int64_t>(node.numOutputs());
  if (node.getInt("num_outputs", count) != count || count == 0)
    return node.refuse("expected as many results as parts, got " +
                       std::to_string(count));
  int64_t each = llvm::divideCeil(size, count);
  if (node.version < 18 && size % count != 0)
    return node.refuse("expected " + std::to_string(count) +
                       " equal parts, got a dimension of size " +
                       std::to_string(size));
  for (int64_t i = 0; i < count; ++i)
    parts.push_back(std::max<int64_t>(0, std::min(each, size - i * each)));
  return parts;
}

static rt::Status importSplit(NodeImport &node) {
  LLMC_TRY_ASSIGN(int64_t axis,
                  node.axis(node.getInt("axis", 0), node.rank(0)));
  LLMC_TRY_ASSIGN(SmallVector<int64_t> parts,
                  readParts(node, node.shape(0)[axis]));
  SmallVector<Value> results;
  int64_t begin = 0;
  for (int64_t part : parts) {
    results.push_back(
        sliceAlong(node, node.input(0), axis, begin, begin + part));
    begin += part;
  }
  return node.finish(results);
}

//===----------------------------------------------------------------------===//
// Padding
//===----------------------------------------------------------------------===//

/// One edge repeated, or elements inside it, along one dimension.
static rt::Result<Value> padByElements(NodeImport &node, Value x, int64_t dim,
                                       int64_t low, int64_t high,
                                       StringRef mode) {
  int64_t size = shapeOf(x)[dim];
  int64_t most = mode == "reflect" ? size - 1 : size;
  if (mode == "edge" ? size == 0 && low + high > 0 : low > most || high > most)
    return node.unsupported("expected padding of at most " +
                            std::to_string(most) + " elements in mode '" +
                            mode.str() + "', got " +
                            std::to_string(std::max(low, high)));
  auto edge = [&](int64_t begin, int64_t count, bool isLow) {
    if (mode == "edge") {
      SmallVector<int64_t> wide(shapeOf(x));
      wide[dim] = count;
      Value one = sliceAlong(node, x, dim, begin, begin + 1);
      return node.broadcast(one, wide);
    }
    Value part = sliceAlong(node, x, dim, begin, begin + count);
    return mode == "wrap" ? part : hlo::reverse(node.b, node.loc, part, {dim});
  };
  SmallVector<Value> parts;
  if (low > 0)
    parts.push_back(mode == "edge"      ? edge(0, low, true)
                    : mode == "reflect" ? edge(1, low, true)
                                        : edge(size - low, low, true));
  parts.push_back(x);
  if (high > 0)
    parts.push_back(mode == "edge"      ? edge(size - 1, high, false)
                    : mode == "reflect" ? edge(size - 1 - high, high, false)
                                        : edge(0, high, false));
  return parts.size() == 1 ? x : hlo::concatenate(node.b, node.loc, parts, dim);
}

/// Amounts for all dimensions, low ones first.
static rt::Result<SmallVector<int64_t>> readPads(NodeImport &node) {
  int64_t rank = node.rank(0);
  LLMC_TRY_ASSIGN(
      std::optional<SmallVector<int64_t>> given,
      node.getIntsOrInput(node.version < 2 ? "paddings" : "pads", 1));
  SmallVector<int64_t> axes = range(0, rank), pads(2 * rank, 0);
  if (node.has(3)) {
    LLMC_TRY_ASSIGN(SmallVector<int64_t> named, node.integers(3, "axes"));
    LLMC_TRY_ASSIGN(axes, node.axes(named, rank));
  }
  if (!given || given->size() != 2 * axes.size())
    return node.refuse("expected two amounts of padding for each axis, got " +
                       (given ? show(*given) : std::string("none")));
  for (auto [i, axis] : llvm::enumerate(axes)) {
    pads[axis] = (*given)[i];
    pads[rank + axis] = (*given)[axes.size() + i];
  }
  return pads;
}

static rt::Status importPad(NodeImport &node) {
  LLMC_TRY_ASSIGN(SmallVector<int64_t> pads, readPads(node));
  StringRef mode = node.getText("mode", "constant");
  int64_t rank = node.rank(0);
  for (int64_t pad : pads)
    if (std::abs(pad) > (int64_t(1) << 40))
      return node.refuse("expected padding of at most 2^40 elements, got " +
                         std::to_string(pad));
  ArrayRef<int64_t> low = ArrayRef<int64_t>(pads).take_front(rank);
  ArrayRef<int64_t> high = ArrayRef<int64_t>(pads).drop_front(rank);
  Value x = node.input(0);
  if (mode == "constant") {
    Value value = hlo::scalar(node.b, node.loc, node.element(0),
                              node.getFloat("value", 0));
    if (node.has(2))
      value = hlo::reshape(node.b, node.loc, node.input(2), {});
    return node.finish({hlo::pad(node.b, node.loc, x, value, low, high)});
  }
  if (mode != "reflect" && mode != "edge" && mode != "wrap")
    return node.refuse("expected mode constant, reflect, edge or wrap, got '" +
                       mode.str() + "'");
  for (int64_t dim = 0; dim < rank; ++dim) {
    int64_t begin = std::max<int64_t>(0, -low[dim]);
    int64_t end = shapeOf(x)[dim] - std::max<int64_t>(0, -high[dim]);
    if (begin > end)
      return node.refuse("expected to crop at most a dimension, got more");
    if (low[dim] < 0 || high[dim] < 0)
      x = sliceAlong(node, x, dim, begin, end);
    LLMC_TRY_ASSIGN(x,
                    padByElements(node, x, dim, std::max<int64_t>(0, low[dim]),
                                  std::max<int64_t>(0, high[dim]), mode));
  }
  return node.finish({x});
}

/// Elements on one side of a diagonal; zeros elsewhere.
static rt::Status importTrilu(NodeImport &node) {
  int64_t rank = node.rank(0), k = 0;
  if (rank < 2)
    return node.refuse("expected matrices, got " + show(Type(node.type(0))));
  if (node.has(1)) {
    LLMC_TRY_ASSIGN(k, node.integer(1, "k"));
  }
  ArrayRef<int64_t> shape = node.shape(0);
  auto plane = RankedTensorType::get(shape.take_back(2), node.b.getI64Type());
  Value row = hlo::iota(node.b, node.loc, plane, 0);
  Value column = hlo::iota(node.b, node.loc, plane, 1);
  k = std::clamp<int64_t>(k, -shape[rank - 2] - 1, shape[rank - 1] + 1);
  Value diagonal = hlo::add(node.b, node.loc, row, node.like(row, double(k)));
  bool isUpper = node.getInt("upper", 1);
  Value keeps = hlo::compare(node.b, node.loc,
                             isUpper ? hlo::ComparisonDirection::GE
                                     : hlo::ComparisonDirection::LE,
                             column, diagonal);
  Value x = node.input(0);
  return node.finish({hlo::select(
      node.b, node.loc, node.broadcast(keeps, shape), x, node.like(x, 0))});
}

void onnx::addMovementOps(OpTable &table) {
  table["Concat"] = {importConcat, 1, kAny, kNewestKnown};
  table["Slice"] = {importSlice, 1, 5, kNewestKnown};
  table["Split"] = {importSplit, 1, 2, kNewestKnown};
  table["Pad"] = {importPad, 1, 4, kNewestKnown};
  table["Trilu"] = {importTrilu, 1, 2, kNewestKnown};
}
