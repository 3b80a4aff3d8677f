//===- LayoutOps.cpp - Constraint, reshard, keep, join, fence -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Verifiers, folders and rewrites of the ops that change where a value lives.
// Tested by test/Dialect/Dist/invalid-layout-ops.mlir, invalid-join.mlir and
// canonicalize.mlir.
//
//===----------------------------------------------------------------------===//

#include "llmc/Dialect/Dist/IR/LayoutOnMesh.h"
#include "llmc/Dialect/Dist/IR/SpreadMarks.h"
#include "mlir/IR/PatternMatch.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::dist;

/// Same shape and element type, whatever the layouts.
static LogicalResult verifySameTensor(Operation *op, Type from, Type to) {
  auto a = cast<RankedTensorType>(from), b = cast<RankedTensorType>(to);
  if (a.getShape() == b.getShape() && a.getElementType() == b.getElementType())
    return success();
  return op->emitOpError() << "expected a result of " << withLayout(a, {})
                           << ", got " << withLayout(b, {});
}

//===----------------------------------------------------------------------===//
// Constraint
//===----------------------------------------------------------------------===//

LogicalResult ConstraintOp::verifySymbolUses(SymbolTableCollection &tables) {
  auto type = cast<RankedTensorType>(getInput().getType());
  if (type.getEncoding())
    return emitOpError() << "expected a tensor without encoding, got " << type;
  if (getLayout().getRank() != type.getRank())
    return emitOpError() << "expected a layout of " << type.getRank()
                         << " dims, got " << getLayout().getRank();
  FailureOr<MeshOp> mesh = findMesh(*this, getLayout().getMesh(), tables);
  if (failed(mesh))
    return failure();
  return verifyAxesOnMesh(getLayout(), mesh->getAxes(),
                          [&] { return emitOpError(); });
}

OpFoldResult ConstraintOp::fold(FoldAdaptor) {
  // The same constraint twice says nothing new.
  auto inner = getInput().getDefiningOp<ConstraintOp>();
  bool isSame = inner && inner.getLayout() == getLayout() &&
                !hasSpreadMarks(*this) && (getHint() || !inner.getHint());
  return isSame ? getInput() : OpFoldResult();
}

//===----------------------------------------------------------------------===//
// Reshard
//===----------------------------------------------------------------------===//

LogicalResult ReshardOp::verify() {
  if (!dist::getLayout(getInput().getType()) ||
      !dist::getLayout(getResult().getType()))
    return emitOpError() << "expected types with layouts, got "
                         << getInput().getType() << " and "
                         << getResult().getType();
  return verifySameTensor(*this, getInput().getType(), getResult().getType());
}

LogicalResult ReshardOp::verifySymbolUses(SymbolTableCollection &tables) {
  if (failed(verifyEncodingOnMesh(*this, getInput().getType(), tables)))
    return failure();
  return verifyEncodingOnMesh(*this, getResult().getType(), tables);
}

OpFoldResult ReshardOp::fold(FoldAdaptor) {
  return getInput().getType() == getResult().getType() ? getInput()
                                                       : OpFoldResult();
}

namespace {
/// reshard(reshard(x)) -> reshard(x), when nothing else reads what is between:
/// the planner finds the cheapest way for the whole change.
struct FoldReshardOfReshard : public OpRewritePattern<ReshardOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ReshardOp op,
                                PatternRewriter &rewriter) const override {
    auto inner = op.getInput().getDefiningOp<ReshardOp>();
    if (!inner || !inner->hasOneUse())
      return rewriter.notifyMatchFailure(op, "no reshard used here alone");
    rewriter.replaceOpWithNewOp<ReshardOp>(op, op.getResult().getType(),
                                           inner.getInput());
    return success();
  }
};
} // namespace

void ReshardOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                            MLIRContext *context) {
  patterns.add<FoldReshardOfReshard>(context);
}

//===----------------------------------------------------------------------===//
// Keep
//===----------------------------------------------------------------------===//

/// The dim, which has axes, without this one, which is its minor-most; null
/// when it is not.
static DimAttr dropLast(DimAttr dim, AxisAttr axis) {
  if (dim.getAxes().back() != axis)
    return {};
  return DimAttr::get(dim.getContext(), dim.getAxes().drop_back(),
                      dim.getIsOpen(), dim.getPriority(), dim.getSizes(),
                      dim.getExtents());
}

LogicalResult KeepOp::verify() {
  if (getAxis().empty())
    return emitOpError() << "expected the name of an axis, got \"\"";
  if (getCoordinate() && *getCoordinate() < 0)
    return emitOpError() << "expected a coordinate of at least 0, got "
                         << *getCoordinate();
  LayoutAttr from = dist::getLayout(getInput().getType());
  LayoutAttr to = dist::getLayout(getResult().getType());
  if (!from || !to) {
    if (!getCoordinate() || getInput().getType() != getResult().getType())
      return emitOpError() << "expected a coordinate and equal types where "
                              "types have no layouts";
    return success();
  }
  if (failed(
          verifySameTensor(*this, getInput().getType(), getResult().getType())))
    return failure();
  auto axis = AxisAttr::get(getContext(), getAxis());
  if (from.getPartialKind(getAxis()))
    return emitOpError() << "expected an input that is not partial over axis \""
                         << getAxis() << "\", got " << from;
  std::optional<int64_t> dim = from.getDimSplitBy(getAxis());
  if (dim.has_value() == getCoordinate().has_value())
    return emitOpError() << "expected a coordinate exactly where axis \""
                         << getAxis() << "\" splits no dim of the input, got "
                         << from;
  LayoutAttr wanted = from;
  if (dim) {
    DimAttr rest = dropLast(from.getDims()[*dim], axis);
    if (!rest)
      return emitOpError() << "expected axis \"" << getAxis()
                           << "\" as the last of dim " << *dim << ", got "
                           << from;
    wanted = from.withDim(*dim, rest);
  }
  ReductionKind kind =
      to.getPartialKind(getAxis()).value_or(ReductionKind::sum);
  if (isIdempotent(kind))
    return emitOpError() << "expected a result that is a sum or a product over "
                            "axis \""
                         << getAxis() << "\", got " << to;
  wanted = wanted.withPartialOver(axis, kind);
  if (wanted != to)
    return emitOpError() << "expected a result of layout " << wanted << ", got "
                         << to;
  return success();
}

LogicalResult KeepOp::verifySymbolUses(SymbolTableCollection &tables) {
  LayoutAttr layout = dist::getLayout(getInput().getType());
  FailureOr<MeshOp> mesh =
      findMesh(*this, layout ? layout.getMesh() : FlatSymbolRefAttr(), tables);
  if (failed(mesh) ||
      failed(verifyEncodingOnMesh(*this, getInput().getType(), tables)))
    return failure();
  if (!mesh->getAxes().contains(getAxis()))
    return emitOpError() << "expected an axis of the mesh, got \"" << getAxis()
                         << "\"";
  int64_t size = mesh->getAxes().getSize(getAxis());
  if (getCoordinate() && *getCoordinate() >= size)
    return emitOpError() << "expected a coordinate of axis \"" << getAxis()
                         << "\" below " << size << ", got " << *getCoordinate();
  return success();
}

//===----------------------------------------------------------------------===//
// Join
//===----------------------------------------------------------------------===//

/// The layout without its pin on the axis and without being partial over it.
static LayoutAttr withoutAxis(LayoutAttr layout, AxisAttr axis) {
  SmallVector<PinAttr> pins;
  for (PinAttr pin : layout.getAt())
    if (pin.getAxis() != axis.getName())
      pins.push_back(pin);
  return layout.withoutPartialOver(axis).withPins(pins);
}

/// Verifies one operand and adds its coordinates to `at`.
static LogicalResult verifyJoined(JoinOp op, unsigned index, AxisAttr axis,
                                  LayoutAttr common,
                                  SmallVectorImpl<int64_t> &at) {
  LayoutAttr layout = getLayout(op.getInputs()[index].getType());
  ArrayRef<int64_t> pin = layout.getPin(axis.getName());
  if (pin.empty())
    return op.emitOpError()
           << "expected operand " << index << " pinned on axis "
           << axis.getName() << ", got " << layout;
  bool partial = layout.getPartialKind(axis.getName()) == ReductionKind::sum;
  if (partial != (pin.size() > 1))
    return op.emitOpError()
           << "expected operand " << index << " to be partial (sum) over axis "
           << axis.getName() << " exactly at several coordinates, got "
           << layout;
  if (withoutAxis(layout, axis) != common)
    return op.emitOpError()
           << "expected operands that differ in axis " << axis.getName()
           << " alone, got " << common << " and " << withoutAxis(layout, axis);
  for (int64_t coordinate : pin)
    if (llvm::is_contained(at, coordinate))
      return op.emitOpError()
             << "expected disjoint coordinates of axis " << axis.getName()
             << ", got " << coordinate << " twice";
  llvm::append_range(at, pin);
  return success();
}

/// Without layouts the segments of the operands say where these live.
static LogicalResult verifyLocalJoin(JoinOp op) {
  if (op.getInputs().empty())
    return op.emitOpError() << "expected at least one operand, got 0";
  for (Value input : op.getInputs())
    if (input.getType() != op.getResult().getType())
      return op.emitOpError()
             << "expected operands of " << op.getResult().getType() << ", got "
             << input.getType();
  return success();
}

LogicalResult JoinOp::verify() {
  if (getAxis().empty())
    return emitOpError() << "expected the name of an axis, got \"\"";
  if (!dist::getLayout(getResult().getType()) &&
      llvm::none_of(getInputs().getTypes(), dist::getLayout))
    return verifyLocalJoin(*this);
  if (getInputs().empty())
    return emitOpError() << "expected at least one operand, got 0";
  for (Value input : getInputs()) {
    if (failed(verifySameTensor(*this, input.getType(), getResult().getType())))
      return failure();
    if (!dist::getLayout(input.getType()))
      return emitOpError() << "expected types with layouts, got "
                           << input.getType();
  }
  LayoutAttr result = dist::getLayout(getResult().getType());
  if (!result)
    return emitOpError() << "expected types with layouts, got "
                         << getResult().getType();
  auto axis = AxisAttr::get(getContext(), getAxis());
  LayoutAttr common =
      withoutAxis(dist::getLayout(getInputs().front().getType()), axis);
  SmallVector<int64_t> at;
  for (unsigned i = 0; i < getInputs().size(); ++i)
    if (failed(verifyJoined(*this, i, axis, common, at)))
      return failure();
  // Where no operand lives there are zeros.
  for (int64_t coordinate : result.getPin(axis.getName()))
    if (!llvm::is_contained(at, coordinate))
      at.push_back(coordinate);
  llvm::sort(at);
  if (at.size() < 2)
    return emitOpError() << "expected a result at several coordinates of axis "
                         << axis.getName() << ", got " << result;
  SmallVector<PinAttr> pins(common.getAt());
  pins.push_back(PinAttr::get(getContext(), axis.getName(), at));
  LayoutAttr wanted =
      common.withPins(pins).withPartialOver(axis, ReductionKind::sum);
  if (wanted != result)
    return emitOpError() << "expected a result of layout " << wanted << ", got "
                         << result;
  return success();
}

LogicalResult JoinOp::verifySymbolUses(SymbolTableCollection &tables) {
  for (Value input : getInputs())
    if (failed(verifyEncodingOnMesh(*this, input.getType(), tables)))
      return failure();
  return verifyEncodingOnMesh(*this, getResult().getType(), tables);
}

//===----------------------------------------------------------------------===//
// Fence
//===----------------------------------------------------------------------===//

void FenceOp::build(OpBuilder &builder, OperationState &state,
                    ValueRange inputs, ValueRange after) {
  build(builder, state, inputs.getTypes(), inputs, after);
}

LogicalResult FenceOp::verify() {
  if (getInputs().empty())
    return emitOpError() << "expected at least one input, got 0";
  if (getInputs().getTypes() != getResultTypes())
    return emitOpError() << "expected results of the inputs' types";
  return success();
}

//===----------------------------------------------------------------------===//
// Coordinate
//===----------------------------------------------------------------------===//

LogicalResult CoordinateOp::verify() {
  if (getAxes().empty())
    return emitOpError() << "expected at least one axis, got 0";
  auto type = cast<RankedTensorType>(getResult().getType());
  if (type.getRank() != 0 || !type.getElementType().isSignlessInteger())
    return emitOpError()
           << "expected a tensor of rank 0 of a signless integer, got " << type;
  return success();
}

LogicalResult CoordinateOp::verifySymbolUses(SymbolTableCollection &tables) {
  FailureOr<MeshOp> mesh = findMesh(*this, getMeshAttr(), tables);
  if (failed(mesh))
    return failure();
  for (auto [i, axis] : llvm::enumerate(getAxes())) {
    if (llvm::is_contained(getAxes().getValue().take_front(i), axis))
      return emitOpError() << "expected each axis once, got " << axis
                           << " twice";
    if (!mesh->getAxes().contains(cast<StringAttr>(axis)))
      return emitOpError() << "expected an axis of the mesh, got " << axis;
  }
  return success();
}
