//===- Shapes.cpp - Reshapes, and numbers about shapes --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "../GraphImporter.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::onnx;
namespace hlo = llmc::stablehlo;

/// Whether the sizes are of a tensor that can be, with `count` elements.
static bool hasCount(ArrayRef<int64_t> shape, int64_t count) {
  int64_t product = 1;
  for (int64_t size : shape)
    if (size < 0 || __builtin_mul_overflow(product, size, &product))
      return false;
  return product == count;
}

/// 0 copies a size, -1 is what is left.
static rt::Result<SmallVector<int64_t>> resolveShape(NodeImport &node,
                                                     ArrayRef<int64_t> wanted) {
  SmallVector<int64_t> shape(wanted);
  bool allowsZero = node.getInt("allowzero", 0);
  int64_t count = node.type(0).getNumElements(), others = 1;
  std::optional<size_t> open;
  for (auto [i, size] : llvm::enumerate(shape)) {
    if (size == 0 && !allowsZero && i < node.shape(0).size())
      size = node.shape(0)[i];
    if (size == -1 && !open)
      open = i;
    else if (size < 0 || __builtin_mul_overflow(others, size, &others))
      return node.refuse("expected sizes of at least 0 and one -1, got " +
                         show(wanted));
  }
  if (open && others != 0)
    shape[*open] = count / others;
  if ((open && others == 0) || !hasCount(shape, count))
    return node.refuse("expected a shape of " + std::to_string(count) +
                       " elements, got " + show(wanted) + " for " +
                       show(Type(node.type(0))));
  return shape;
}

static rt::Status importReshape(NodeImport &node) {
  LLMC_TRY_ASSIGN(std::optional<SmallVector<int64_t>> wanted,
                  node.getIntsOrInput("shape", 1));
  if (!wanted)
    return node.refuse("expected a shape, got none");
  LLMC_TRY_ASSIGN(SmallVector<int64_t> shape, resolveShape(node, *wanted));
  return node.finish({hlo::reshape(node.b, node.loc, node.input(0), shape)});
}

static rt::Status importFlatten(NodeImport &node) {
  int64_t axis = node.getInt("axis", 1), rank = node.rank(0);
  if (axis < -rank || axis > rank)
    return node.refuse("expected an axis of at most " + std::to_string(rank) +
                       ", got " + std::to_string(axis));
  axis = axis < 0 ? axis + rank : axis;
  int64_t outer = 1, inner = 1;
  for (auto [i, size] : llvm::enumerate(node.shape(0)))
    (static_cast<int64_t>(i) < axis ? outer : inner) *= size;
  return node.finish(
      {hlo::reshape(node.b, node.loc, node.input(0), {outer, inner})});
}

static rt::Status importSqueeze(NodeImport &node) {
  LLMC_TRY_ASSIGN(std::optional<SmallVector<int64_t>> given,
                  node.getIntsOrInput("axes", 1));
  SmallVector<int64_t> axes, shape;
  if (given) {
    LLMC_TRY_ASSIGN(axes, node.axes(*given, node.rank(0)));
  }
  for (auto [i, size] : llvm::enumerate(node.shape(0))) {
    bool isNamed = llvm::is_contained(axes, static_cast<int64_t>(i));
    if (isNamed && size != 1)
      return node.refuse("expected dimension " + std::to_string(i) +
                         " to have size 1, got " + std::to_string(size));
    if (!isNamed && (given || size != 1))
      shape.push_back(size);
  }
  return node.finish({hlo::reshape(node.b, node.loc, node.input(0), shape)});
}

static rt::Status importUnsqueeze(NodeImport &node) {
  LLMC_TRY_ASSIGN(std::optional<SmallVector<int64_t>> given,
                  node.getIntsOrInput("axes", 1));
  if (!given)
    return node.refuse("expected axes, got none");
  int64_t rank = node.rank(0) + static_cast<int64_t>(given->size());
  LLMC_TRY_ASSIGN(SmallVector<int64_t> axes, node.axes(*given, rank));
  SmallVector<int64_t> shape;
  size_t next = 0;
  for (int64_t i = 0; i < rank; ++i)
    shape.push_back(llvm::is_contained(axes, i) ? 1 : node.shape(0)[next++]);
  return node.finish({hlo::reshape(node.b, node.loc, node.input(0), shape)});
}

static rt::Status importTranspose(NodeImport &node) {
  int64_t rank = node.rank(0);
  std::optional<SmallVector<int64_t>> given = node.getInts("perm");
  SmallVector<int64_t> order = range(0, rank);
  std::reverse(order.begin(), order.end());
  if (given) {
    LLMC_TRY_ASSIGN(order, node.axes(*given, rank));
  }
  if (static_cast<int64_t>(order.size()) != rank)
    return node.refuse("expected an order of " + std::to_string(rank) +
                       " dimensions, got " + show(order));
  return node.finish({hlo::transpose(node.b, node.loc, node.input(0), order)});
}

static rt::Status importShape(NodeImport &node) {
  int64_t rank = node.rank(0);
  auto clamp = [&](int64_t at) {
    return std::clamp<int64_t>(at < 0 ? at + rank : at, 0, rank);
  };
  int64_t begin = clamp(node.getInt("start", 0));
  int64_t end = std::max(begin, clamp(node.getInt("end", rank)));
  ArrayRef<int64_t> sizes = node.shape(0).slice(begin, end - begin);
  return node.finish(
      {node.integersAsTensor(sizes, {static_cast<int64_t>(sizes.size())})});
}

static rt::Status importSize(NodeImport &node) {
  return node.finish(
      {node.integersAsTensor({node.type(0).getNumElements()}, {})});
}

static rt::Status importExpand(NodeImport &node) {
  LLMC_TRY_ASSIGN(SmallVector<int64_t> wanted, node.integers(1, "shape"));
  SmallVector<int64_t> shape(node.shape(0));
  if (wanted.size() > shape.size())
    shape.insert(shape.begin(), wanted.size() - shape.size(), 1);
  for (size_t i = 0; i < wanted.size(); ++i) {
    int64_t &size = shape[shape.size() - wanted.size() + i];
    if (wanted[i] < 0 || (wanted[i] != size && wanted[i] != 1 && size != 1))
      return node.refuse("expected a shape to which " +
                         show(Type(node.type(0))) + " can be repeated, got " +
                         show(wanted));
    size = size == 1 ? wanted[i] : size;
  }
  return node.finish({node.broadcast(node.input(0), shape)});
}

static rt::Status importTile(NodeImport &node) {
  int64_t rank = node.rank(0);
  SmallVector<int64_t> repeats(rank, 1);
  if (node.version < 6) {
    LLMC_TRY_ASSIGN(int64_t tiles, node.integer(1, "tiles"));
    LLMC_TRY_ASSIGN(int64_t given, node.integer(2, "axis"));
    LLMC_TRY_ASSIGN(int64_t axis, node.axis(given, rank));
    repeats[axis] = tiles;
  } else {
    LLMC_TRY_ASSIGN(repeats, node.integers(1, "repeats"));
  }
  bool isLegal = static_cast<int64_t>(repeats.size()) == rank &&
                 llvm::all_of(repeats, [](int64_t n) { return n >= 0; });
  if (!isLegal)
    return node.refuse("expected " + std::to_string(rank) +
                       " repeats of at least 0, got " + show(repeats));
  // Each dimension gets one of repeats before it.
  SmallVector<int64_t> wide, places, shape;
  for (auto [size, times] : llvm::zip_equal(node.shape(0), repeats)) {
    wide.append({times, size});
    places.push_back(static_cast<int64_t>(wide.size()) - 1);
    int64_t product = 0;
    if (__builtin_mul_overflow(size, times, &product))
      return node.refuse("expected sizes of 64 bits, got repeats " +
                         show(repeats));
    shape.push_back(product);
  }
  Value repeated =
      hlo::broadcastInDim(node.b, node.loc, node.input(0),
                          RankedTensorType::get(wide, node.element(0)), places);
  return node.finish({hlo::reshape(node.b, node.loc, repeated, shape)});
}

/// The block of a depth-to-space move, of which the channels must be made.
static rt::Result<int64_t> readBlock(NodeImport &node) {
  int64_t block = node.getInt("blocksize", 0);
  if (node.rank(0) != 4 || block < 1)
    return node.refuse("expected a tensor of 4 dimensions and a block of at "
                       "least 1, got " +
                       show(Type(node.type(0))) + " and " +
                       std::to_string(block));
  return block;
}

static rt::Status importDepthToSpace(NodeImport &node) {
  LLMC_TRY_ASSIGN(int64_t k, readBlock(node));
  ArrayRef<int64_t> s = node.shape(0);
  if (s[1] % (k * k) != 0)
    return node.refuse("expected channels in multiples of " +
                       std::to_string(k * k) + ", got " + std::to_string(s[1]));
  int64_t c = s[1] / (k * k);
  bool isColumns = node.getText("mode", "DCR") == "CRD";
  SmallVector<int64_t> wide =
      isColumns ? SmallVector<int64_t>{s[0], c, k, k, s[2], s[3]}
                : SmallVector<int64_t>{s[0], k, k, c, s[2], s[3]};
  SmallVector<int64_t> order = isColumns
                                   ? SmallVector<int64_t>{0, 1, 4, 2, 5, 3}
                                   : SmallVector<int64_t>{0, 3, 4, 1, 5, 2};
  Value parts = hlo::reshape(node.b, node.loc, node.input(0), wide);
  Value moved = hlo::transpose(node.b, node.loc, parts, order);
  return node.finish(
      {hlo::reshape(node.b, node.loc, moved, {s[0], c, s[2] * k, s[3] * k})});
}

static rt::Status importSpaceToDepth(NodeImport &node) {
  LLMC_TRY_ASSIGN(int64_t k, readBlock(node));
  ArrayRef<int64_t> s = node.shape(0);
  if (s[2] % k != 0 || s[3] % k != 0)
    return node.refuse("expected sizes in multiples of " + std::to_string(k) +
                       ", got " + show(s));
  Value parts = hlo::reshape(node.b, node.loc, node.input(0),
                             {s[0], s[1], s[2] / k, k, s[3] / k, k});
  bool isColumns = node.getText("mode", "DCR") == "CRD";
  SmallVector<int64_t> order = isColumns
                                   ? SmallVector<int64_t>{0, 1, 3, 5, 2, 4}
                                   : SmallVector<int64_t>{0, 3, 5, 1, 2, 4};
  Value moved = hlo::transpose(node.b, node.loc, parts, order);
  return node.finish({hlo::reshape(node.b, node.loc, moved,
                                   {s[0], s[1] * k * k, s[2] / k, s[3] / k})});
}

void onnx::addShapeOps(OpTable &table) {
  table["Reshape"] = {importReshape, 1, 2, kNewestKnown};
  table["Flatten"] = {importFlatten, 1, 1, kNewestKnown};
  table["Squeeze"] = {importSqueeze, 1, 2, kNewestKnown};
  table["Unsqueeze"] = {importUnsqueeze, 1, 2, kNewestKnown};
  table["Transpose"] = {importTranspose, 1, 1, kNewestKnown};
  table["Shape"] = {importShape, 1, 1, kNewestKnown};
  table["Size"] = {importSize, 1, 1, kNewestKnown};
  table["Expand"] = {importExpand, 2, 2, kNewestKnown};
  table["Tile"] = {importTile, 2, 3, kNewestKnown};
  table["DepthToSpace"] = {importDepthToSpace, 1, 1, kNewestKnown};
  table["SpaceToDepth"] = {importSpaceToDepth, 1, 1, kNewestKnown};
}
