//===- LayoutOnMesh.cpp - Layouts seen with their mesh --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Example: on <"tensor"=4> the dim {"tensor"}:[6:8, 64] is cut in 4 parts of
// 128: the factor 8 takes the axis. {"tensor"}:[6, 64:65] is refused, because
// the axis divides neither the extent 6 nor, once 6 is begun, what is left.
// Tested by test/Dialect/Dist/invalid-layout-ops.mlir.
//
//===----------------------------------------------------------------------===//

#include "llmc/Dialect/Dist/IR/LayoutOnMesh.h"

using namespace mlir;
using namespace llmc::dist;

LayoutAttr llmc::dist::getLayout(Type type) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  return tensor ? dyn_cast_or_null<LayoutAttr>(tensor.getEncoding())
                : LayoutAttr();
}

RankedTensorType llmc::dist::withLayout(RankedTensorType type,
                                        LayoutAttr layout) {
  return RankedTensorType::get(type.getShape(), type.getElementType(), layout);
}

FailureOr<MeshOp> llmc::dist::findMesh(Operation *from, FlatSymbolRefAttr name,
                                       SymbolTableCollection &tables) {
  if (name) {
    if (auto mesh = tables.lookupNearestSymbolFrom<MeshOp>(from, name))
      return mesh;
    return from->emitOpError()
           << "expected mesh " << name << " in the module, got none";
  }
  auto module = from->getParentOfType<ModuleOp>();
  if (!module)
    return from->emitOpError() << "expected to stand in a module";
  // The first one; others follow it at once (MeshOp::verify), so that this does
  // not visit all states and programs for each op.
  MeshOp only;
  if (auto meshes = module.getOps<MeshOp>(); !meshes.empty())
    only = *meshes.begin();
  if (only && isa_and_nonnull<MeshOp>(only->getNextNode()))
    return from->emitOpError()
           << "requires `on @mesh`, since the module has several meshes";
  if (!only)
    return from->emitOpError() << "expected a mesh in the module, got none";
  return only;
}

/// Verifies that the axis exists and that a sub-axis divides it.
static LogicalResult verifyAxis(AxisAttr axis, MeshAxesAttr mesh,
                                EmitError emitError) {
  if (!mesh.contains(axis.getName()))
    return emitError() << "expected an axis of the mesh, got "
                       << axis.getName();
  int64_t size = mesh.getSize(axis.getName());
  if (axis.isSubAxis() && (size / axis.getPreSize() % axis.getSubSize() != 0 ||
                           size % axis.getPreSize() != 0))
    return emitError() << "expected a sub-axis that divides axis "
                       << axis.getName() << " of size " << size << ", got ("
                       << axis.getPreSize() << ")" << axis.getSubSize();
  return success();
}

LogicalResult llmc::dist::verifyAxesOnMesh(LayoutAttr layout, MeshAxesAttr mesh,
                                           EmitError emitError) {
  SmallVector<AxisAttr> axes(layout.getReplicated());
  for (DimAttr dim : layout.getDims())
    llvm::append_range(axes, dim.getAxes());
  for (PartialAttr partial : layout.getPartial())
    llvm::append_range(axes, partial.getAxes());
  for (AxisAttr axis : axes)
    if (failed(verifyAxis(axis, mesh, emitError)))
      return failure();
  for (PinAttr pin : layout.getAt()) {
    if (!mesh.contains(pin.getAxis()))
      return emitError() << "expected an axis of the mesh, got "
                         << pin.getAxis();
    int64_t size = mesh.getSize(pin.getAxis());
    if (pin.getCoordinates().back() >= size)
      return emitError() << "expected coordinates of axis " << pin.getAxis()
                         << " below " << size << ", got "
                         << pin.getCoordinates().back();
  }
  return success();
}

/// Pours the axes into the extents, major to minor: an axis must divide what
/// is left of the extent that it meets.
static LogicalResult verifyDivides(DimAttr dim, int64_t index, int64_t size,
                                   MeshAxesAttr mesh, EmitError emitError) {
  SmallVector<int64_t> extents(dim.getExtents());
  if (extents.empty())
    extents.push_back(size);
  size_t i = 0;
  for (AxisAttr axis : dim.getAxes()) {
    int64_t parts = axis.getSize(mesh);
    while (extents[i] == 1 && i + 1 < extents.size())
      ++i;
    if (extents[i] % parts != 0)
      return emitError() << "expected dim " << index << " of size " << size
                         << " to be divisible by axis " << axis.getName()
                         << " of size " << parts
                         << ", which meets an extent of " << extents[i];
    extents[i] /= parts;
  }
  return success();
}

LogicalResult llmc::dist::verifyLayoutOnMesh(LayoutAttr layout,
                                             ArrayRef<int64_t> shape,
                                             MeshAxesAttr mesh,
                                             EmitError emitError) {
  if (static_cast<int64_t>(shape.size()) != layout.getRank())
    return emitError() << "expected a layout of " << shape.size()
                       << " dims, got " << layout.getRank();
  if (failed(verifyAxesOnMesh(layout, mesh, emitError)))
    return failure();
  for (auto [i, size, dim] : llvm::enumerate(shape, layout.getDims()))
    if (failed(verifyDivides(dim, i, size, mesh, emitError)))
      return failure();
  return success();
}

LogicalResult llmc::dist::verifyEncodingOnMesh(Operation *op, Type type,
                                               SymbolTableCollection &tables) {
  LayoutAttr layout = getLayout(type);
  if (!layout)
    return success();
  FailureOr<MeshOp> mesh = findMesh(op, layout.getMesh(), tables);
  if (failed(mesh))
    return failure();
  return verifyLayoutOnMesh(
      layout, cast<RankedTensorType>(type).getShape(), mesh->getAxes(), [&] {
        auto diag = op->emitOpError();
        diag.attachNote(mesh->getLoc()) << "mesh is defined here";
        return diag;
      });
}
