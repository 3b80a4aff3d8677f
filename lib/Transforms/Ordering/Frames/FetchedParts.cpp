//===- FetchedParts.cpp - Tensors that the host gets from a slot ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Test: test/Transforms/Ordering/order-fetch-parts.mlir
//===----------------------------------------------------------------------===//

#include "FetchedParts.h"
#include "StateFrames.h"
#include "llmc/Analysis/Program/FetchNames.h"
#include "llmc/Dialect/Dist/IR/LayoutOnMesh.h"
#include "llmc/Runtime/Base/Names.h"

using namespace mlir;

namespace llmc::ordering {

FailureOr<RankedTensorType> getWholeType(Operation *user,
                                         SymbolTableCollection &tables,
                                         RankedTensorType local,
                                         dist::PortAttr port) {
  dist::LayoutAttr layout = dist::getLayout(port);
  if (!layout)
    return local;
  if (DenseI64ArrayAttr whole = port.getShape())
    return RankedTensorType::get(whole.asArrayRef(), local.getElementType());
  FailureOr<dist::MeshOp> mesh = dist::findMesh(user, layout.getMesh(), tables);
  if (failed(mesh))
    return failure();
  SmallVector<int64_t> shape(local.getShape());
  for (auto [size, dim] : llvm::zip(shape, layout.getDims())) {
    if (dim.isPadded())
      return user->emitOpError()
             << "expected the sizes of what " << layout << " pads";
    size *= dim.getNumParts(mesh->getAxes());
  }
  return RankedTensorType::get(shape, local.getElementType());
}

/// `type` in `layout` as the box of `part`, or as a tensor of its own.
static plan::FetchAttr makeFetch(SymbolTableCollection &tables,
                                 const FetchedSlot &slot, StringAttr name,
                                 RankedTensorType type, Attribute layout,
                                 dist::StateOp part) {
  Builder builder(slot.slot.getContext());
  StringAttr of;
  DenseI64ArrayAttr origin, whole;
  if (part) {
    auto state = tables.lookupNearestSymbolFrom<dist::StateOp>(
        part, part.getPartOfAttr());
    of = builder.getStringAttr(getGradientName(*part.getPartOf()));
    origin = builder.getDenseI64ArrayAttr(*part.getBoxOffsets());
    whole = builder.getDenseI64ArrayAttr(state.getTensorType().getShape());
  }
  return plan::FetchAttr::get(builder.getContext(), name, type, layout,
                              slot.stages, slot.eachMicrobatch, of, origin,
                              whole);
}

/// One of several parts in one buffer.
static FailureOr<FetchedPart> fetchBox(Operation *user,
                                       SymbolTableCollection &tables,
                                       const FetchedSlot &slot,
                                       dist::BoxAttr box) {
  auto part =
      tables.lookupNearestSymbolFrom<dist::StateOp>(user, box.getState());
  if (!part || !part.isPart())
    return user->emitOpError()
           << "expected a part of a state in a box of '"
           << getSlotName(slot.slot) << "', got " << box.getState();
  FailureOr<dist::MeshOp> mesh =
      dist::findMesh(user, box.getLayout().getMesh(), tables);
  if (failed(mesh))
    return failure();
  ArrayRef<int64_t> shape = part.getTensorType().getShape();
  FailureOr<plan::OperandAttr> place =
      getBoxOperand(user->getLoc(), slot.placed.place.getBuffer(),
                    slot.placed.uses.type, box, shape, *mesh);
  if (failed(place))
    return failure();
  auto type =
      RankedTensorType::get(shape, slot.placed.uses.type.getElementType());
  auto name =
      StringAttr::get(user->getContext(), getGradientName(part.getSymName()));
  return FetchedPart{makeFetch(tables, slot, name, type, box.getLayout(), part),
                     *place};
}

FailureOr<SmallVector<FetchedPart>>
listFetchedParts(Operation *user, SymbolTableCollection &tables,
                 const FetchedSlot &slot) {
  SmallVector<FetchedPart> parts;
  if (ArrayAttr boxes = slot.port ? slot.port.getBoxes() : ArrayAttr()) {
    for (auto box : boxes.getAsRange<dist::BoxAttr>()) {
      FailureOr<FetchedPart> part = fetchBox(user, tables, slot, box);
      if (failed(part))
        return failure();
      parts.push_back(*part);
    }
    return parts;
  }
  FailureOr<RankedTensorType> type =
      getWholeType(user, tables, slot.placed.uses.type, slot.port);
  if (failed(type))
    return failure();
  dist::StateOp part =
      getSummedPart(tables, user->getParentOfType<ModuleOp>(), slot.slot);
  StringAttr name = slot.slot.getName();
  if (slot.slot.isSum())
    name = StringAttr::get(user->getContext(),
                           rt::unescapeName(getSlotName(slot.slot)));
  parts.push_back(
      {makeFetch(tables, slot, name, *type, dist::getLayout(slot.port), part),
       slot.placed.place});
  return parts;
}

} // namespace llmc::ordering
