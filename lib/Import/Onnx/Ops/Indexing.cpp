//===- Indexing.cpp - Gathers and scatters --------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Indices count from the back where they are negative.
//
//===----------------------------------------------------------------------===//

#include "../GraphImporter.h"
#include "llmc/Dialect/StableHLO/IR/Sorting.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::onnx;
namespace hlo = llmc::stablehlo;

/// Indices along a dimension of `size`, none of them negative.
static rt::Result<Value> countFromFront(NodeImport &node, Value index,
                                        int64_t size) {
  if (!isa<IntegerType>(elementOf(index)) || elementOf(index).isInteger(1))
    return node.refuse("expected integers as indices, got " +
                       show(index.getType()));
  if (elementOf(index).isUnsignedInteger())
    return index;
  Value isNegative =
      hlo::compare(node.b, node.loc, hlo::ComparisonDirection::LT, index,
                   node.like(index, 0));
  Value moved =
      hlo::add(node.b, node.loc, index, node.like(index, double(size)));
  return hlo::select(node.b, node.loc, isNegative, moved, index);
}

/// The same value, through which no derivative flows.
static Value detach(NodeImport &node, Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  Type bits = node.b.getIntegerType(type.getElementTypeBitWidth());
  Value asBits =
      hlo::BitcastConvertOp::create(node.b, node.loc, type.clone(bits), value);
  return hlo::BitcastConvertOp::create(node.b, node.loc, type, asBits);
}

/// The rows that were taken by `index`, of which one stands for padding and
/// learns nothing (see TorchNames.cpp). Assumes that the axis is the first.
static Value keepPadding(NodeImport &node, Value rows, Value index,
                         int64_t padding) {
  Value isPadding =
      hlo::compare(node.b, node.loc, hlo::ComparisonDirection::EQ, index,
                   node.like(index, static_cast<double>(padding)));
  auto type = cast<RankedTensorType>(rows.getType());
  auto maskType = RankedTensorType::get(type.getShape(), node.b.getI1Type());
  Value mask = hlo::BroadcastInDimOp::create(
      node.b, node.loc, maskType, isPadding,
      node.b.getDenseI64ArrayAttr(range(0, rankOf(index))));
  return hlo::select(node.b, node.loc, mask, detach(node, rows), rows);
}

static rt::Status importGather(NodeImport &node) {
  LLMC_TRY_ASSIGN(int64_t axis,
                  node.axis(node.getInt("axis", 0), node.rank(0)));
  LLMC_TRY_ASSIGN(Value index,
                  countFromFront(node, node.input(1), node.shape(0)[axis]));
  int64_t rank = node.rank(0), inner = node.rank(1);
  SmallVector<int64_t> sizes(node.shape(0)), offsets, shape;
  sizes[axis] = 1;
  for (int64_t i = 0; i < rank + inner - 1; ++i) {
    bool isOfIndex = i >= axis && i < axis + inner;
    if (!isOfIndex)
      offsets.push_back(i);
    shape.push_back(isOfIndex  ? node.shape(1)[i - axis]
                    : i < axis ? node.shape(0)[i]
                               : node.shape(0)[i - inner + 1]);
  }
  if (node.shape(0)[axis] == 0 && node.type(1).getNumElements() != 0)
    return node.refuse("expected a dimension with elements, got " +
                       show(Type(node.type(0))));
  auto type = RankedTensorType::get(shape, node.element(0));
  if (type.getNumElements() == 0)
    return node.finish({node.splat(shape, node.element(0), 0)});
  auto dims = hlo::GatherDimensionNumbersAttr::get(
      node.b.getContext(), offsets, {axis}, {}, {}, {axis}, inner);
  Value rows =
      hlo::gather(node.b, node.loc, type, node.input(0), index, dims, sizes);
  int64_t padding = node.getInt("padding_index", -1);
  if (padding >= 0 && axis == 0 && isa<FloatType>(node.element(0)))
    rows = keepPadding(node, rows, index, padding);
  return node.finish({rows});
}

/// Whether the indices have the rank of the data, and are no larger but along
/// `axis`.
static rt::Status checkElementwise(NodeImport &node, int64_t axis) {
  bool fits = node.rank(0) == node.rank(1);
  for (int64_t i = 0; fits && i < node.rank(0); ++i)
    fits = i == axis || node.shape(1)[i] <= node.shape(0)[i];
  if (fits)
    return rt::Status::success();
  return node.refuse("expected indices no larger than " +
                     show(Type(node.type(0))) + " but along axis " +
                     std::to_string(axis) + ", got " +
                     show(Type(node.type(1))));
}

static rt::Status importGatherElements(NodeImport &node) {
  LLMC_TRY_ASSIGN(int64_t axis,
                  node.axis(node.getInt("axis", 0), node.rank(0)));
  LLMC_TRY(checkElementwise(node, axis));
  LLMC_TRY_ASSIGN(Value index,
                  countFromFront(node, node.input(1), node.shape(0)[axis]));
  SmallVector<int64_t> starts(node.rank(0), 0), limits(node.shape(1));
  limits[axis] = node.shape(0)[axis];
  Value data = hlo::slice(node.b, node.loc, node.input(0), starts, limits);
  return node.finish({hlo::gatherAlong(node.b, node.loc, data, index, axis)});
}

//===----------------------------------------------------------------------===//
// Scatters
//===----------------------------------------------------------------------===//

static rt::Result<std::optional<ReductionKind>>
readReduction(NodeImport &node) {
  StringRef name = node.getText("reduction", "none");
  using Kind = std::optional<ReductionKind>;
  if (name == "none")
    return Kind();
  if (name == "add")
    return Kind(ReductionKind::sum);
  if (name == "mul")
    return Kind(ReductionKind::product);
  if (name == "max")
    return Kind(ReductionKind::max);
  if (name == "min")
    return Kind(ReductionKind::min);
  return node.refuse("expected reduction none, add, mul, max or min, got '" +
                     name.str() + "'");
}

static Value buildScatter(NodeImport &node, Value data, Value index,
                          Value updates, hlo::ScatterDimensionNumbersAttr dims,
                          std::optional<ReductionKind> kind) {
  auto op = hlo::ScatterOp::create(node.b, node.loc, TypeRange{data.getType()},
                                   ValueRange{data}, index, ValueRange{updates},
                                   dims);
  addCombination(node.b, node.loc, op.getUpdateComputation(), kind,
                 elementOf(data));
  return op->getResult(0);
}

/// One element for each index; the other coordinates are those of the index.
static rt::Status importScatterElements(NodeImport &node) {
  LLMC_TRY_ASSIGN(int64_t axis,
                  node.axis(node.getInt("axis", 0), node.rank(0)));
  LLMC_TRY(checkElementwise(node, axis));
  LLMC_TRY_ASSIGN(std::optional<ReductionKind> kind, readReduction(node));
  LLMC_TRY_ASSIGN(Value index,
                  countFromFront(node, node.input(1), node.shape(0)[axis]));
  if (node.shape(1) != node.shape(2))
    return node.refuse("expected as many updates as indices, got " +
                       show(Type(node.type(2))) + " and " +
                       show(Type(node.type(1))));
  if (node.type(1).getNumElements() == 0)
    return node.finish({node.input(0)});
  int64_t rank = node.rank(0);
  SmallVector<int64_t> wide(node.shape(1)), places = range(0, rank);
  wide.push_back(1);
  SmallVector<Value> coordinates;
  for (int64_t dim = 0; dim < rank; ++dim) {
    Value along = dim == axis
                      ? index
                      : hlo::iota(node.b, node.loc,
                                  cast<RankedTensorType>(index.getType()), dim);
    coordinates.push_back(hlo::reshape(node.b, node.loc, along, wide));
  }
  Value all = hlo::concatenate(node.b, node.loc, coordinates, rank);
  auto dims = hlo::ScatterDimensionNumbersAttr::get(
      node.b.getContext(), {}, places, {}, {}, places, rank);
  return node.finish(
      {buildScatter(node, node.input(0), all, node.input(2), dims, kind)});
}

namespace {
/// What GatherND and ScatterND address: the last dimension of the indices has
/// coordinates of a box of the data, after common batch dimensions.
struct Boxes {
  int64_t batch = 0, depth = 0;
  Value index;
};
} // namespace

static rt::Result<Boxes> readBoxes(NodeImport &node, int64_t batch) {
  int64_t rank = node.rank(0), inner = node.rank(1);
  if (inner < 1 || batch < 0 || batch >= std::min(rank + 1, inner) ||
      node.shape(1).back() > rank - batch || node.shape(1).back() < 1 ||
      node.shape(0).take_front(batch) != node.shape(1).take_front(batch))
    return node.refuse("expected indices of at most " + std::to_string(rank) +
                       " coordinates, got " + show(Type(node.type(1))) +
                       " for " + show(Type(node.type(0))));
  int64_t depth = node.shape(1).back();
  // Each coordinate counts from the back of its own dimension.
  SmallVector<Value> parts;
  for (int64_t i = 0; i < depth; ++i) {
    SmallVector<int64_t> starts(inner, 0), limits(node.shape(1));
    starts[inner - 1] = i;
    limits[inner - 1] = i + 1;
    Value part = hlo::slice(node.b, node.loc, node.input(1), starts, limits);
    LLMC_TRY_ASSIGN(part, countFromFront(node, part, node.shape(0)[batch + i]));
    parts.push_back(part);
  }
  Value index = parts.size() == 1
                    ? parts.front()
                    : hlo::concatenate(node.b, node.loc, parts, inner - 1);
  return Boxes{batch, depth, index};
}

/// Whether the indices are constants that name each place of the leading
/// dimensions once, in order: then nothing moves. Files that compute masks from
/// counted positions look up each sample in its own row so.
static bool isEnumeration(NodeImport &node) {
  if (node.getInt("batch_dims", 0) != 0 || node.shape(1).empty() ||
      node.shape(1).back() > node.rank(0))
    return false;
  ArrayRef<int64_t> leading = node.shape(0).take_front(node.shape(1).back());
  int64_t places = 1, count = node.type(1).getNumElements();
  for (int64_t size : leading)
    places *= size;
  if (count == 0 || places * node.shape(1).back() != count)
    return false;
  std::optional<HostTensor> index = node.importer.compute(node.input(1));
  for (int64_t i = 0, k = 0; index && i < places; ++i) {
    int64_t rest = places, place = i;
    for (int64_t size : leading) {
      rest /= size;
      if (index->getInt(k++) != place / rest)
        return false;
      place %= rest;
    }
  }
  return index.has_value();
}

static rt::Status importGatherND(NodeImport &node) {
  if (isEnumeration(node)) {
    SmallVector<int64_t> shape(node.shape(1).drop_back());
    shape.append(node.shape(0).begin() + node.shape(1).back(),
                 node.shape(0).end());
    return node.finish({hlo::reshape(node.b, node.loc, node.input(0), shape)});
  }
  LLMC_TRY_ASSIGN(Boxes boxes, readBoxes(node, node.getInt("batch_dims", 0)));
  int64_t rank = node.rank(0), outer = node.rank(1) - 1;
  SmallVector<int64_t> shape(node.shape(1).drop_back()), sizes, offsets;
  for (int64_t dim = 0; dim < rank; ++dim) {
    bool isBox = dim >= boxes.batch + boxes.depth;
    sizes.push_back(isBox ? node.shape(0)[dim] : 1);
    if (!isBox)
      continue;
    offsets.push_back(static_cast<int64_t>(shape.size()));
    shape.push_back(node.shape(0)[dim]);
  }
  SmallVector<int64_t> batch = range(0, boxes.batch);
  SmallVector<int64_t> places = range(boxes.batch, boxes.batch + boxes.depth);
  auto type = RankedTensorType::get(shape, node.element(0));
  if (type.getNumElements() == 0)
    return node.finish({node.splat(shape, node.element(0), 0)});
  auto dims = hlo::GatherDimensionNumbersAttr::get(
      node.b.getContext(), offsets, places, batch, batch, places, outer);
  return node.finish({hlo::gather(node.b, node.loc, type, node.input(0),
                                  boxes.index, dims, sizes)});
}

static rt::Status importScatterND(NodeImport &node) {
  LLMC_TRY_ASSIGN(std::optional<ReductionKind> kind, readReduction(node));
  LLMC_TRY_ASSIGN(Boxes boxes, readBoxes(node, 0));
  int64_t outer = node.rank(1) - 1;
  SmallVector<int64_t> expected(node.shape(1).drop_back());
  expected.append(node.shape(0).begin() + boxes.depth, node.shape(0).end());
  if (ArrayRef<int64_t>(expected) != node.shape(2))
    return node.refuse("expected updates of the shape " + show(expected) +
                       ", got " + show(Type(node.type(2))));
  if (node.type(2).getNumElements() == 0)
    return node.finish({node.input(0)});
  SmallVector<int64_t> places = range(0, boxes.depth);
  auto dims = hlo::ScatterDimensionNumbersAttr::get(
      node.b.getContext(), range(outer, node.rank(2)), places, {}, {}, places,
      outer);
  return node.finish({buildScatter(node, node.input(0), boxes.index,
                                   node.input(2), dims, kind)});
}

void onnx::addIndexingOps(OpTable &table) {
  table["Gather"] = {importGather, 2, 2, kNewestKnown};
  table["GatherElements"] = {importGatherElements, 2, 2, kNewestKnown};
  table["GatherND"] = {importGatherND, 2, 2, kNewestKnown};
  table["ScatterElements"] = {importScatterElements, 3, 3, kNewestKnown};
  table["Scatter"] = {importScatterElements, 3, 3, kNewestKnown};
  table["ScatterND"] = {importScatterND, 3, 3, kNewestKnown};
}
