//===- CollectiveOps.cpp - Typings of the collectives ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Each collective is verified in two typings. With layouts: the result's layout
// is a function of the input's, computed here and compared. Without: the
// result's local shape is. Tested by
// test/Dialect/Dist/invalid-collectives.mlir and invalid-permute.mlir.
//
//===----------------------------------------------------------------------===//

#include "llmc/Dialect/Dist/IR/LayoutOnMesh.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::dist;

//===----------------------------------------------------------------------===//
// What all have in common
//===----------------------------------------------------------------------===//

static LogicalResult verifyDistinctAxes(Operation *op, ArrayAttr axes) {
  if (axes.empty())
    return op->emitOpError() << "expected at least one axis, got 0";
  for (auto [i, axis] : llvm::enumerate(axes))
    if (llvm::is_contained(axes.getValue().take_front(i), axis))
      return op->emitOpError()
             << "expected each axis once, got " << axis << " twice";
  return success();
}

/// Verifies what needs no mesh.
static LogicalResult verifyCollective(CollectiveInterface op) {
  Operation *operation = op;
  OperandRange inputs = op.getInputs();
  if (inputs.empty() || inputs.size() != operation->getNumResults())
    return operation->emitOpError()
           << "expected as many results as buffers and at least one, got "
           << operation->getNumResults() << " and " << inputs.size();
  if (failed(verifyDistinctAxes(operation, op.getAxes())))
    return failure();
  LayoutAttr first = getLayout(inputs.front().getType());
  for (auto [input, result] :
       llvm::zip_equal(inputs, operation->getResults())) {
    auto from = cast<RankedTensorType>(input.getType());
    auto to = cast<RankedTensorType>(result.getType());
    for (RankedTensorType type : {from, to}) {
      LayoutAttr layout = getLayout(type);
      if (!layout != !first || (layout && layout.getMesh() != first.getMesh()))
        return operation->emitOpError()
               << "expected layouts of one mesh on all types or on none, got "
               << type;
    }
    if (from.getElementType() != to.getElementType() ||
        from.getRank() != to.getRank())
      return operation->emitOpError()
             << "expected rank and element type of " << from << ", got " << to;
  }
  return success();
}

/// Verifies axes and buffers against the mesh.
static LogicalResult verifyOnMesh(CollectiveInterface op,
                                  SymbolTableCollection &tables) {
  Operation *operation = op;
  FlatSymbolRefAttr name = op.getMeshAttr();
  if (LayoutAttr layout = getLayout(op.getInputs().front().getType())) {
    if (name && name != layout.getMesh())
      return operation->emitOpError() << "expected mesh " << layout.getMesh()
                                      << " of the layouts, got " << name;
    name = layout.getMesh();
  }
  FailureOr<MeshOp> mesh = findMesh(operation, name, tables);
  if (failed(mesh))
    return failure();
  for (Attribute axis : op.getAxes())
    if (!mesh->getAxes().contains(cast<StringAttr>(axis)))
      return operation->emitOpError()
             << "expected an axis of the mesh, got " << axis;
  for (auto [input, result] :
       llvm::zip_equal(op.getInputs(), operation->getResults())) {
    if (failed(verifyEncodingOnMesh(operation, input.getType(), tables)) ||
        failed(verifyEncodingOnMesh(operation, result.getType(), tables)) ||
        failed(op.verifyBuffer(cast<RankedTensorType>(input.getType()),
                               cast<RankedTensorType>(result.getType()),
                               mesh->getAxes())))
      return failure();
  }
  return success();
}

#define LLMC_VERIFY_COLLECTIVE(Op)                                             \
  LogicalResult Op::verify() { return verifyCollective(*this); }               \
  LogicalResult Op::verifySymbolUses(SymbolTableCollection &tables) {          \
    return verifyOnMesh(*this, tables);                                        \
  }
LLMC_VERIFY_COLLECTIVE(AllReduceOp)
LLMC_VERIFY_COLLECTIVE(ReduceScatterOp)
LLMC_VERIFY_COLLECTIVE(AllGatherOp)
LLMC_VERIFY_COLLECTIVE(AllToAllOp)
LLMC_VERIFY_COLLECTIVE(BroadcastOp)
LLMC_VERIFY_COLLECTIVE(ReduceOp)
LLMC_VERIFY_COLLECTIVE(RaggedAllToAllOp)
#undef LLMC_VERIFY_COLLECTIVE

Exchange AllReduceOp::getExchange() { return {}; }
Exchange ReduceScatterOp::getExchange() {
  return {static_cast<int64_t>(getDim()), 0, {}, {}};
}
Exchange AllGatherOp::getExchange() {
  return {static_cast<int64_t>(getDim()), 0, {}, {}};
}
Exchange AllToAllOp::getExchange() {
  return {static_cast<int64_t>(getSplitDim()),
          static_cast<int64_t>(getConcatDim()),
          {},
          {}};
}
Exchange PermuteOp::getExchange() {
  return {0, 0, {}, getToAttr(), getFrom().value_or(ArrayRef<int64_t>())};
}
Exchange BroadcastOp::getExchange() { return {0, 0, getFrom(), {}}; }
Exchange ReduceOp::getExchange() { return {0, 0, getTo(), {}}; }
Exchange RaggedAllToAllOp::getExchange() {
  return {static_cast<int64_t>(getDim()), 0, {}, {}, {}, getCounts()};
}

static SmallVector<AxisAttr> getAxisAttrs(ArrayAttr axes) {
  return llvm::map_to_vector(
      axes.getAsRange<StringAttr>(), [](StringAttr axis) {
        return AxisAttr::get(axis.getContext(), axis.getValue());
      });
}

static int64_t getNumMembers(ArrayAttr axes, MeshAxesAttr mesh) {
  int64_t members = 1;
  for (auto axis : axes.getAsRange<StringAttr>())
    members *= mesh.getSize(axis);
  return members;
}

/// Compares a result's type with the one that the op makes.
static LogicalResult expectType(Operation *op, RankedTensorType wanted,
                                RankedTensorType got) {
  if (wanted == got)
    return success();
  return op->emitOpError() << "expected a result of " << wanted << ", got "
                           << got;
}

/// Verifies that the input is partial over all axes with the kind.
static LogicalResult verifyPartial(Operation *op, LayoutAttr layout,
                                   ArrayAttr axes, ReductionKind kind) {
  for (auto axis : axes.getAsRange<StringAttr>())
    if (layout.getPartialKind(axis) != kind)
      return op->emitOpError()
             << "expected an input that is partial (" << StringRef(nameOf(kind))
             << ") over axis " << axis << ", got " << layout;
  return success();
}

static LogicalResult verifyDim(Operation *op, int64_t dim,
                               RankedTensorType type) {
  if (dim >= 0 && dim < type.getRank())
    return success();
  return op->emitOpError() << "expected a dim below " << type.getRank()
                           << ", got " << dim;
}

static DimAttr withAxes(DimAttr dim, ArrayRef<AxisAttr> axes) {
  return DimAttr::get(dim.getContext(), axes, dim.getIsOpen(),
                      dim.getPriority(), dim.getSizes(), dim.getExtents());
}

/// The layout with the axes appended to the dim.
static LayoutAttr appendAxes(LayoutAttr layout, int64_t dim,
                             ArrayRef<AxisAttr> axes) {
  SmallVector<AxisAttr> all(layout.getDims()[dim].getAxes());
  llvm::append_range(all, axes);
  return layout.withDim(dim, withAxes(layout.getDims()[dim], all));
}

/// The layout without the axes, which must be the last of the dim.
static FailureOr<LayoutAttr> dropAxes(Operation *op, LayoutAttr layout,
                                      int64_t dim, ArrayRef<AxisAttr> axes) {
  ArrayRef<AxisAttr> all = layout.getDims()[dim].getAxes();
  if (all.size() < axes.size() || all.take_back(axes.size()) != axes)
    return op->emitOpError() << "expected the axes as the last of dim " << dim
                             << ", got " << layout;
  return layout.withDim(
      dim, withAxes(layout.getDims()[dim], all.drop_back(axes.size())));
}

/// The local type with the dim's size multiplied or divided.
static FailureOr<RankedTensorType> scaleDim(Operation *op,
                                            RankedTensorType type, int64_t dim,
                                            int64_t times, int64_t over) {
  if (type.isDynamicDim(dim))
    return op->emitOpError()
           << "expected dim " << dim << " of static size, got " << type;
  SmallVector<int64_t> shape(type.getShape());
  if (shape[dim] % over != 0)
    return op->emitOpError()
           << "expected dim " << dim << " of size " << shape[dim]
           << " to be divisible by " << over << " members";
  if (llvm::MulOverflow(shape[dim] / over, times, shape[dim]))
    return op->emitOpError()
           << "expected dim " << dim << " of size " << type.getDimSize(dim)
           << " times " << times << " members below 2^63";
  return RankedTensorType::get(shape, type.getElementType());
}

//===----------------------------------------------------------------------===//
// Reductions
//===----------------------------------------------------------------------===//

LogicalResult AllReduceOp::verifyBuffer(RankedTensorType from,
                                        RankedTensorType to, MeshAxesAttr) {
  LayoutAttr layout = getLayout(from);
  if (!layout)
    return expectType(*this, from, to);
  if (failed(verifyPartial(*this, layout, getAxes(), getKind())))
    return failure();
  return expectType(
      *this,
      withLayout(from, layout.withoutPartialOver(getAxisAttrs(getAxes()))), to);
}

LogicalResult ReduceScatterOp::verifyBuffer(RankedTensorType from,
                                            RankedTensorType to,
                                            MeshAxesAttr mesh) {
  if (failed(verifyDim(*this, getDim(), from)))
    return failure();
  LayoutAttr layout = getLayout(from);
  if (!layout) {
    FailureOr<RankedTensorType> wanted =
        scaleDim(*this, from, getDim(), 1, getNumMembers(getAxes(), mesh));
    return failed(wanted) ? failure() : expectType(*this, *wanted, to);
  }
  if (failed(verifyPartial(*this, layout, getAxes(), getKind())))
    return failure();
  SmallVector<AxisAttr> axes = getAxisAttrs(getAxes());
  LayoutAttr wanted =
      appendAxes(layout.withoutPartialOver(axes), getDim(), axes);
  return expectType(*this, withLayout(from, wanted), to);
}

/// One coordinate for each axis, inside it.
static LogicalResult verifyMember(Operation *op, ArrayAttr axes,
                                  ArrayRef<int64_t> coordinates,
                                  MeshAxesAttr mesh) {
  if (coordinates.size() != axes.size())
    return op->emitOpError()
           << "expected a coordinate for each of " << axes.size()
           << " axes, got " << coordinates.size();
  for (auto [axis, coordinate] :
       llvm::zip_equal(axes.getAsRange<StringAttr>(), coordinates))
    if (coordinate < 0 || coordinate >= mesh.getSize(axis))
      return op->emitOpError()
             << "expected a coordinate of axis " << axis << " below "
             << mesh.getSize(axis) << ", got " << coordinate;
  return success();
}

/// The layout pinned at these coordinates alone.
static LayoutAttr pinAt(LayoutAttr layout, ArrayAttr axes,
                        ArrayRef<int64_t> coordinates) {
  SmallVector<PinAttr> pins;
  for (PinAttr pin : layout.getAt())
    if (!llvm::is_contained(axes.getValue(), Attribute(pin.getAxis())))
      pins.push_back(pin);
  for (auto [axis, coordinate] :
       llvm::zip_equal(axes.getAsRange<StringAttr>(), coordinates))
    pins.push_back(PinAttr::get(axis.getContext(), axis, coordinate));
  return layout.withPins(pins);
}

LogicalResult ReduceOp::verifyBuffer(RankedTensorType from, RankedTensorType to,
                                     MeshAxesAttr mesh) {
  if (failed(verifyMember(*this, getAxes(), getTo(), mesh)))
    return failure();
  LayoutAttr layout = getLayout(from);
  if (!layout)
    return expectType(*this, from, to);
  if (failed(verifyPartial(*this, layout, getAxes(), getKind())))
    return failure();
  LayoutAttr wanted = pinAt(layout.withoutPartialOver(getAxisAttrs(getAxes())),
                            getAxes(), getTo());
  return expectType(*this, withLayout(from, wanted), to);
}

//===----------------------------------------------------------------------===//
// Moves
//===----------------------------------------------------------------------===//

LogicalResult AllGatherOp::verifyBuffer(RankedTensorType from,
                                        RankedTensorType to,
                                        MeshAxesAttr mesh) {
  if (failed(verifyDim(*this, getDim(), from)))
    return failure();
  LayoutAttr layout = getLayout(from);
  if (!layout) {
    FailureOr<RankedTensorType> wanted =
        scaleDim(*this, from, getDim(), getNumMembers(getAxes(), mesh), 1);
    return failed(wanted) ? failure() : expectType(*this, *wanted, to);
  }
  FailureOr<LayoutAttr> wanted =
      dropAxes(*this, layout, getDim(), getAxisAttrs(getAxes()));
  return failed(wanted) ? failure()
                        : expectType(*this, withLayout(from, *wanted), to);
}

LogicalResult AllToAllOp::verifyBuffer(RankedTensorType from,
                                       RankedTensorType to, MeshAxesAttr mesh) {
  if (failed(verifyDim(*this, getSplitDim(), from)) ||
      failed(verifyDim(*this, getConcatDim(), from)))
    return failure();
  if (getSplitDim() == getConcatDim())
    return emitOpError() << "expected two dims, got " << getSplitDim()
                         << " twice";
  LayoutAttr layout = getLayout(from);
  SmallVector<AxisAttr> axes = getAxisAttrs(getAxes());
  if (layout) {
    FailureOr<LayoutAttr> rest = dropAxes(*this, layout, getConcatDim(), axes);
    if (failed(rest))
      return failure();
    LayoutAttr wanted = appendAxes(*rest, getSplitDim(), axes);
    return expectType(*this, withLayout(from, wanted), to);
  }
  int64_t members = getNumMembers(getAxes(), mesh);
  FailureOr<RankedTensorType> split =
      scaleDim(*this, from, getSplitDim(), 1, members);
  if (failed(split))
    return failure();
  FailureOr<RankedTensorType> wanted =
      scaleDim(*this, *split, getConcatDim(), members, 1);
  return failed(wanted) ? failure() : expectType(*this, *wanted, to);
}

LogicalResult BroadcastOp::verifyBuffer(RankedTensorType from,
                                        RankedTensorType to,
                                        MeshAxesAttr mesh) {
  if (failed(verifyMember(*this, getAxes(), getFrom(), mesh)))
    return failure();
  LayoutAttr layout = getLayout(from);
  if (!layout)
    return expectType(*this, from, to);
  // The result is pinned where it is read; elsewhere along the axes only the
  // sender's value counts.
  SmallVector<AxisAttr> axes = getAxisAttrs(getAxes());
  SmallVector<PinAttr> pins;
  for (PinAttr pin : layout.getAt())
    if (!llvm::is_contained(getAxes().getValue(), Attribute(pin.getAxis())))
      pins.push_back(pin);
  for (auto [axis, coordinate] : llvm::zip_equal(axes, getFrom())) {
    StringRef name = axis.getName();
    ArrayRef<int64_t> pin = layout.getPin(name);
    bool summand = layout.getPartialKind(name) == ReductionKind::sum;
    if (!summand && pin != ArrayRef<int64_t>(coordinate))
      return emitOpError() << "expected an input pinned at coordinate "
                           << coordinate << " of axis \"" << name
                           << "\" or partial (sum) over it, got " << layout;
    if (ArrayRef<int64_t> at = getLayout(to).getPin(name); !at.empty())
      pins.push_back(PinAttr::get(getContext(), axis.getName(), at));
  }
  LayoutAttr wanted = layout.withoutPartialOver(axes).withPins(pins);
  return expectType(*this, withLayout(from, wanted), to);
}

//===----------------------------------------------------------------------===//
// Permute
//===----------------------------------------------------------------------===//

/// `from` names each member once.
static LogicalResult verifySources(PermuteOp op) {
  ArrayRef<int64_t> from = *op.getFrom();
  if (getLayout(op.getInputs().front().getType()))
    return op.emitOpError() << "expected no layouts with `from`";
  SmallVector<bool> seen(from.size(), false);
  for (int64_t source : from) {
    if (source < 0 || source >= static_cast<int64_t>(from.size()) ||
        seen[source])
      return op.emitOpError()
             << "expected `from` as a permutation of " << from.size()
             << " members, got [" << from << "]";
    seen[source] = true;
  }
  return success();
}

LogicalResult PermuteOp::verify() {
  if (failed(verifyCollective(*this)))
    return failure();
  if (getTo().has_value() == getFrom().has_value())
    return emitOpError() << "expected one of `to` and `from`, got "
                         << (getTo() ? "both" : "none");
  if (getFrom())
    return verifySources(*this);
  ArrayAttr to = *getTo();
  if (failed(verifyDistinctAxes(*this, to)))
    return failure();
  bool permuted = to.size() == getAxes().size() && to != getAxes();
  for (Attribute axis : to)
    permuted &= llvm::is_contained(getAxes(), axis);
  if (!permuted)
    return emitOpError() << "expected `to` as another order of " << getAxes()
                         << ", got " << to;
  return success();
}

LogicalResult PermuteOp::verifySymbolUses(SymbolTableCollection &tables) {
  return verifyOnMesh(*this, tables);
}

LogicalResult PermuteOp::verifyBuffer(RankedTensorType from,
                                      RankedTensorType to, MeshAxesAttr mesh) {
  LayoutAttr layout = getLayout(from);
  int64_t members = getNumMembers(getAxes(), mesh);
  if (getFrom() && static_cast<int64_t>(getFrom()->size()) != members)
    return emitOpError() << "expected a source for each of " << members
                         << " members, got " << getFrom()->size();
  if (!layout)
    return expectType(*this, from, to);
  LayoutAttr result = getLayout(to);
  for (auto [i, before, after] :
       llvm::enumerate(layout.getDims(), result.getDims())) {
    if (before.getNumParts(mesh) != after.getNumParts(mesh))
      return emitOpError() << "expected dim " << i << " in "
                           << before.getNumParts(mesh) << " parts, got "
                           << after.getNumParts(mesh);
    if (withAxes(before, {}) != withAxes(after, {}))
      return emitOpError() << "expected dim " << i
                           << " to keep its extents, got " << result;
  }
  return expectType(*this, withLayout(from, layout.withDims(result.getDims())),
                    to);
}

//===----------------------------------------------------------------------===//
// Route
//===----------------------------------------------------------------------===//

LogicalResult RouteOp::verify() {
  auto type = cast<RankedTensorType>(getInput().getType());
  if (static_cast<int64_t>(getDim()) >= type.getRank())
    return emitOpError() << "expected a dim below " << type.getRank()
                         << ", got " << getDim();
  int64_t rows = type.getDimSize(getDim());
  if (static_cast<int64_t>(getFrom().size()) != rows)
    return emitOpError() << "expected an entry for each of " << rows
                         << " rows, got " << getFrom().size();
  SmallVector<bool> seen(rows, false);
  for (int64_t row : getFrom()) {
    if (row < -1 || row >= rows || (row >= 0 && seen[row]))
      return emitOpError() << "expected rows in [-1, " << rows
                           << "), each once, got [" << getFrom() << "]";
    if (row >= 0)
      seen[row] = true;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

LogicalResult RaggedAllToAllOp::verifyBuffer(RankedTensorType from,
                                             RankedTensorType to,
                                             MeshAxesAttr mesh) {
  if (failed(verifyDim(*this, getDim(), from)))
    return failure();
  if (getLayout(from) || getInputs().size() != 1)
    return emitOpError() << "expected one buffer without a layout, got "
                         << getInputs().size() << " of " << from;
  SmallVector<int64_t> rows(from.getShape());
  rows[getDim()] = to.getDimSize(getDim());
  if (failed(expectType(*this, from.clone(rows), to)))
    return failure();
  constexpr int64_t numLists = 4;
  RankedTensorType counts = getCounts().getType();
  int64_t members = getNumMembers(getAxes(), mesh);
  SmallVector<int64_t> wanted(from.getShape().take_front(getDim()));
  wanted.push_back(numLists);
  if (counts.getRank() == static_cast<int64_t>(wanted.size()) + 1 &&
      counts.getShape().drop_back() == ArrayRef(wanted) &&
      counts.getShape().back() > 0 && counts.getShape().back() % members == 0)
    return success();
  return emitOpError() << "expected counts of [" << wanted
                       << ", n] with n a multiple of " << members
                       << " members, got " << counts;
}

LogicalResult SendRowsOp::verify() {
  auto from = cast<RankedTensorType>(getInput().getType());
  auto to = cast<RankedTensorType>(getResult().getType());
  RankedTensorType slices = getSlices().getType();
  constexpr int64_t numLists = 4;
  int64_t members = getMembersDim();
  if (members < 0 || slices.getDimSize(members + 1) != numLists ||
      slices.getDimSize(members) < 1 ||
      slices.getDimSize(members + 2) % slices.getDimSize(members) != 0)
    return emitOpError() << "expected slices of [batch, members, 4, n] with n "
                            "a multiple of the members, got "
                         << slices;
  SmallVector<int64_t> wanted(from.getShape());
  if (from.getRank() == to.getRank() && from.getRank() > members + 1)
    wanted[members + 1] = to.getDimSize(members + 1);
  if (from.getRank() < members + 2 || to.getShape() != ArrayRef(wanted) ||
      from.getElementType() != to.getElementType())
    return emitOpError() << "expected an input and a result that differ in dim "
                         << members + 1 << " only, got " << from << " and "
                         << to;
  if (from.getShape().take_front(members + 1) ==
      slices.getShape().take_front(members + 1))
    return success();
  return emitOpError() << "expected slices for the batch and the members of "
                       << from << ", got " << slices;
}
