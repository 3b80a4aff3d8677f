//===- LocalBuilder.cpp - Ops on what a device holds ----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See LocalBuilder.h. The mask of a padded dim:
//
//   %p = iota + coordinate * local        positions, 9 rows over 3 devices
//   %m = %p < 8                           which are elements
//   select(broadcast %m, %x, neutral)
//
// Test: test/Transforms/Partition/localize-padding.mlir
//===----------------------------------------------------------------------===//

#include "LocalBuilder.h"
#include "llmc/Dialect/Dist/IR/LayoutOnMesh.h"
#include "llmc/Dialect/StableHLO/IR/Builders.h"
#include "llmc/Dialect/StableHLO/IR/LocalIndex.h"
#include "llmc/Runtime/Base/SeededFault.h"

using namespace mlir;
using namespace llmc;
using dist::DistDialect;
using graph::LocalDim;

static uintptr_t keyOf(const void *pointer) {
  return reinterpret_cast<uintptr_t>(pointer);
}
template <typename T> static uintptr_t keyOf(T value) {
  return reinterpret_cast<uintptr_t>(value.getAsOpaquePointer());
}

LocalBuilder::LocalBuilder(dist::MeshOp mesh, Block *block)
    : builder(mesh.getContext(), this), axes(mesh.getAxes()), block(block),
      loc(mesh.getLoc()) {
  builder.setInsertionPointToEnd(block);
}

void LocalBuilder::setMarks(Location newLoc, Attribute blockMark,
                            Attribute phase, Attribute at) {
  loc = newLoc;
  marks[0] = blockMark;
  marks[1] = phase;
  marks[2] = at;
}

void LocalBuilder::notifyOperationInserted(Operation *op,
                                           OpBuilder::InsertPoint) {
  if (op->getBlock() != block)
    return;
  StringLiteral names[] = {DistDialect::kBlock, DistDialect::kPhase,
                           DistDialect::kAt};
  for (auto [name, mark] : llvm::zip(names, marks))
    if (mark && !op->hasAttr(name))
      op->setAttr(name, mark);
}

Value &LocalBuilder::share(Key key) {
  for (Attribute mark : marks)
    key.push_back(keyOf(mark));
  return shared[std::move(key)];
}

//===----------------------------------------------------------------------===//
// Shapes
//===----------------------------------------------------------------------===//

RankedTensorType LocalBuilder::getLocalType(Type global) const {
  auto type = cast<RankedTensorType>(global);
  dist::LayoutAttr layout = dist::getLayout(type);
  SmallVector<int64_t> shape(type.getShape());
  if (layout)
    shape = layout.getLocalShape(type.getShape(), axes);
  return RankedTensorType::get(shape, type.getElementType());
}

LocalDim LocalBuilder::getDim(Type global, int64_t dim) const {
  LocalDim result;
  result.size = cast<RankedTensorType>(global).getDimSize(dim);
  result.extent = result.local = result.size;
  dist::LayoutAttr layout = dist::getLayout(global);
  dist::DimAttr split = layout ? layout.getDims()[dim] : dist::DimAttr();
  if (split) {
    result.extent = split.getExtent(result.size);
    result.local = result.extent / split.getNumParts(axes);
  }
  if (split && !split.getSizes().empty())
    for (auto [size, extent] : llvm::zip(split.getSizes(), split.getExtents()))
      result.factors.push_back({size, extent});
  else
    result.factors.push_back({result.size, result.extent});
  return result;
}

//===----------------------------------------------------------------------===//
// Offsets
//===----------------------------------------------------------------------===//

Value LocalBuilder::buildPartOffset(ArrayRef<dist::AxisAttr> parts,
                                    int64_t local, Type element) {
  Key key = {0, static_cast<uintptr_t>(local), keyOf(element)};
  SmallVector<Attribute> names;
  for (dist::AxisAttr axis : parts) {
    key.push_back(keyOf(axis));
    names.push_back(axis.getName());
  }
  if (isSeeded(Fault::coordinatesAreReadBackwards))
    std::reverse(names.begin(), names.end());
  Value &offset = share(std::move(key));
  if (offset)
    return offset;
  Value coordinate = dist::CoordinateOp::create(
      builder, loc, RankedTensorType::get({}, element),
      builder.getArrayAttr(names), FlatSymbolRefAttr());
  offset = coordinate;
  if (local != 1 && !isSeeded(Fault::partOffsetIsItsCoordinate))
    offset = stablehlo::mul(
        builder, loc, coordinate,
        stablehlo::constantLike(builder, loc, coordinate, local));
  return offset;
}

Value LocalBuilder::buildOffset(Type global, int64_t dim, Type element) {
  dist::DimAttr split = dist::getLayout(global).getDims()[dim];
  return buildPartOffset(split.getAxes(), getDim(global, dim).local, element);
}

//===----------------------------------------------------------------------===//
// Masks
//===----------------------------------------------------------------------===//

Value LocalBuilder::buildIsElement(Type global, int64_t d) {
  dist::DimAttr split = dist::getLayout(global).getDims()[d];
  LocalDim dim = getDim(global, d);
  Value &mask = share({1, keyOf(split), static_cast<uintptr_t>(dim.size)});
  if (mask)
    return mask;
  Type element = stablehlo::getPositionType(builder.getContext(), dim);
  Value offset = dim.isSplit() ? buildOffset(global, d, element) : Value();
  Value positions =
      stablehlo::buildPositions(builder, loc, dim, offset, element);
  mask = stablehlo::buildIsElement(builder, loc, dim, positions);
  return mask;
}

Value LocalBuilder::buildSplat(RankedTensorType type, TypedAttr element) {
  return stablehlo::ConstantOp::create(
      builder, loc, DenseElementsAttr::get(type, Attribute(element)));
}

Value LocalBuilder::buildMasked(Value value, Type global,
                                ArrayRef<int64_t> dims, TypedAttr element) {
  if (dims.empty())
    return value;
  Key key = {2, keyOf(value), keyOf(global), keyOf(element)};
  llvm::append_range(key, dims);
  Value &masked = share(std::move(key));
  if (masked)
    return masked;
  auto type = cast<RankedTensorType>(value.getType());
  Value mask;
  for (int64_t d : dims) {
    Value line = buildIsElement(global, d);
    Value spread = stablehlo::broadcastInDim(
        builder, loc, line, type.clone(builder.getI1Type()), {d});
    mask = mask ? stablehlo::logicalAnd(builder, loc, mask, spread) : spread;
  }
  masked =
      stablehlo::select(builder, loc, mask, value, buildSplat(type, element));
  return masked;
}
