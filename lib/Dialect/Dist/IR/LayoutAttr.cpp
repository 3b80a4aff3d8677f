//===- LayoutAttr.cpp - Meshes and layouts as attributes ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Verification and accessors of `#dist.mesh_axes` and `#dist.layout` with its
// pieces. Equal layouts must be equal attributes, because they decide whether
// types match: sets are sorted when a layout is built, and a dim that is not
// padded has no extents. Tested by test/Dialect/Dist/layout.mlir
// and invalid-layout.mlir.
//
//===----------------------------------------------------------------------===//

#include "LayoutSets.h"
#include "llmc/Dialect/Dist/IR/Dist.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::dist;

namespace {
using EmitError = llvm::function_ref<InFlightDiagnostic()>;
} // namespace

//===----------------------------------------------------------------------===//
// Mesh axes
//===----------------------------------------------------------------------===//

LogicalResult MeshAxesAttr::verify(EmitError emitError,
                                   ArrayRef<StringAttr> names,
                                   ArrayRef<int64_t> sizes) {
  if (names.size() != sizes.size())
    return emitError() << "expected a size for each of " << names.size()
                       << " axes, got " << sizes.size();
  int64_t numDevices = 1;
  for (auto [i, name] : llvm::enumerate(names)) {
    if (name.empty())
      return emitError() << "expected a name for axis " << i << ", got \"\"";
    if (llvm::is_contained(names.take_front(i), name))
      return emitError() << "expected distinct axes, got " << name << " twice";
    if (sizes[i] < 1)
      return emitError() << "expected axis " << name
                         << " of size at least 1, got " << sizes[i];
    if (llvm::MulOverflow(numDevices, sizes[i], numDevices) ||
        numDevices > INT32_MAX)
      return emitError() << "expected at most " << INT32_MAX
                         << " devices, got more at axis " << name;
  }
  return success();
}

int64_t MeshAxesAttr::getNumDevices() const {
  int64_t count = 1;
  for (int64_t size : getSizes())
    count *= size;
  return count;
}

std::optional<size_t> MeshAxesAttr::find(StringRef name) const {
  for (auto [i, axis] : llvm::enumerate(getNames()))
    if (axis.getValue() == name)
      return i;
  return std::nullopt;
}

int64_t MeshAxesAttr::getSize(StringRef name) const {
  std::optional<size_t> position = find(name);
  return position ? getSizes()[*position] : 1;
}

//===----------------------------------------------------------------------===//
// Axes, dims, partial sets, pins
//===----------------------------------------------------------------------===//

LogicalResult AxisAttr::verify(EmitError emitError, StringAttr name,
                               int64_t preSize, int64_t subSize) {
  if (name.empty())
    return emitError() << "expected the name of an axis, got \"\"";
  if (subSize == 0 && preSize == 1)
    return success();
  if (preSize < 1 || subSize < 2)
    return emitError() << "expected a sub-axis of " << name
                       << " with pre-size at least 1 and size at least 2, got ("
                       << preSize << ")" << subSize;
  return success();
}

int64_t AxisAttr::getSize(MeshAxesAttr mesh) const {
  return isSubAxis() ? getSubSize() : mesh.getSize(getName());
}

bool AxisAttr::overlaps(AxisAttr other) const {
  if (getName() != other.getName())
    return false;
  if (!isSubAxis() || !other.isSubAxis())
    return true;
  // Digits of a sub-axis lie between its pre-size and pre-size * size.
  return getPreSize() < other.getPreSize() * other.getSubSize() &&
         other.getPreSize() < getPreSize() * getSubSize();
}

/// Verifies one factor; `size` is 0 where only the tensor knows it.
static LogicalResult verifyFactor(EmitError emitError, int64_t size,
                                  int64_t extent) {
  if (extent < 1)
    return emitError() << "expected an extent of at least 1, got " << extent;
  if (size != 0 && (extent < size || extent / 2 >= size))
    return emitError() << "expected an extent between " << size << " and "
                       << 2 * size - 1 << ", got " << extent;
  return success();
}

LogicalResult DimAttr::verify(EmitError emitError, ArrayRef<AxisAttr> axes,
                              bool isOpen, int64_t priority,
                              ArrayRef<int64_t> sizes,
                              ArrayRef<int64_t> extents) {
  for (auto [i, axis] : llvm::enumerate(axes))
    for (AxisAttr earlier : axes.take_front(i))
      if (axis.overlaps(earlier))
        return emitError() << "expected distinct axes, got " << axis.getName()
                           << " twice";
  if (priority < -1)
    return emitError() << "expected a priority of at least 0, got " << priority;
  if (extents.empty() && sizes.empty())
    return success();
  if (sizes.empty() && extents.size() == 1)
    return verifyFactor(emitError, 0, extents.front());
  if (sizes.size() != extents.size() || sizes.size() < 2)
    return emitError() << "expected at least two factors, got "
                       << extents.size();
  int64_t product = 1;
  for (auto [size, extent] : llvm::zip_equal(sizes, extents)) {
    if (size < 1)
      return emitError() << "expected a factor of at least 1, got " << size;
    if (failed(verifyFactor(emitError, size, extent)))
      return failure();
    if (llvm::MulOverflow(product, extent, product))
      return emitError() << "expected extents with a product below 2^63";
  }
  if (sizes == extents)
    return emitError() << "expected a padded factor, got extents equal to "
                          "sizes: leave them away";
  return success();
}

int64_t DimAttr::getExtent(int64_t size) const {
  if (!isPadded())
    return size;
  int64_t product = 1;
  for (int64_t extent : getExtents())
    product *= extent;
  return product;
}

int64_t DimAttr::getNumParts(MeshAxesAttr mesh) const {
  int64_t parts = 1;
  for (AxisAttr axis : getAxes())
    parts *= axis.getSize(mesh);
  return parts;
}

LogicalResult PartialAttr::verify(EmitError emitError, ReductionKind kind,
                                  ArrayRef<AxisAttr> axes) {
  if (axes.empty())
    return emitError() << "expected an axis over which the value is partial";
  return success();
}

LogicalResult PinAttr::verify(EmitError emitError, StringAttr axis,
                              ArrayRef<int64_t> coordinates) {
  if (axis.empty())
    return emitError() << "expected the name of an axis, got \"\"";
  if (coordinates.empty())
    return emitError() << "expected a coordinate of axis " << axis;
  for (auto [i, coordinate] : llvm::enumerate(coordinates))
    if (coordinate < 0 || (i > 0 && coordinate <= coordinates[i - 1]))
      return emitError() << "expected ascending coordinates of axis " << axis
                         << " from 0 on, got " << coordinate;
  return success();
}

//===----------------------------------------------------------------------===//
// Layouts
//===----------------------------------------------------------------------===//

static bool axisBefore(AxisAttr a, AxisAttr b) {
  return std::make_tuple(a.getName().getValue(), a.getPreSize(),
                         a.getSubSize()) <
         std::make_tuple(b.getName().getValue(), b.getPreSize(),
                         b.getSubSize());
}

LayoutSets llmc::dist::sortLayoutSets(MLIRContext *context,
                                      ArrayRef<PartialAttr> partial,
                                      ArrayRef<AxisAttr> replicated,
                                      ArrayRef<PinAttr> at) {
  LayoutSets sets;
  for (const ReductionTraits &traits : reductionTraits) {
    SmallVector<AxisAttr> axes;
    for (PartialAttr part : partial)
      if (part.getKind() == traits.kind)
        llvm::append_range(axes, part.getAxes());
    llvm::sort(axes, axisBefore);
    if (!axes.empty())
      sets.partial.push_back(PartialAttr::get(context, traits.kind, axes));
  }
  sets.replicated.assign(replicated.begin(), replicated.end());
  llvm::sort(sets.replicated, axisBefore);
  sets.at.assign(at.begin(), at.end());
  llvm::sort(sets.at, [](PinAttr a, PinAttr b) {
    return a.getAxis().getValue() < b.getAxis().getValue();
  });
  return sets;
}

/// Verifies that pinned axes are listed once and neither split nor replicate,
/// and that a partial one has several coordinates.
static LogicalResult verifyPins(EmitError emitError, ArrayRef<AxisAttr> used,
                                ArrayRef<PartialAttr> partial,
                                ArrayRef<PinAttr> at) {
  for (auto [i, pin] : llvm::enumerate(at)) {
    StringAttr name = pin.getAxis();
    if (i > 0 && at[i - 1].getAxis() == name)
      return emitError() << "expected pinned axis " << name << " once";
    for (AxisAttr axis : used)
      if (axis.getName() == name)
        return emitError() << "axis " << name
                           << " is pinned and cannot split or replicate";
    for (PartialAttr part : partial)
      for (AxisAttr axis : part.getAxes())
        if (axis.getName() == name && pin.getCoordinates().size() < 2)
          return emitError()
                 << "expected at least two coordinates of pinned axis " << name
                 << ", over which the layout is partial, got 1";
  }
  return success();
}

LogicalResult LayoutAttr::verify(EmitError emitError, FlatSymbolRefAttr mesh,
                                 ArrayRef<DimAttr> dims,
                                 ArrayRef<PartialAttr> partial,
                                 ArrayRef<AxisAttr> replicated,
                                 ArrayRef<PinAttr> at) {
  SmallVector<AxisAttr> used;
  for (DimAttr dim : dims)
    llvm::append_range(used, dim.getAxes());
  llvm::append_range(used, replicated);
  SmallVector<AxisAttr> all = used;
  for (PartialAttr part : partial)
    llvm::append_range(all, part.getAxes());
  for (auto [i, axis] : llvm::enumerate(all))
    for (AxisAttr earlier : ArrayRef(all).take_front(i))
      if (axis.overlaps(earlier))
        return emitError() << "expected each axis once among dims, partial and "
                              "replicated, got "
                           << axis.getName() << " twice";
  return verifyPins(emitError, used, partial, at);
}

LogicalResult LayoutAttr::verifyEncoding(ArrayRef<int64_t> shape,
                                         Type elementType,
                                         EmitError emitError) const {
  if (static_cast<int64_t>(shape.size()) != getRank())
    return emitError() << "expected a layout of " << shape.size()
                       << " dims for this tensor, got " << getRank();
  for (auto [i, size, dim] : llvm::enumerate(shape, getDims())) {
    if (dim.getIsOpen() || dim.hasPriority())
      return emitError() << "expected dim " << i
                         << " of an encoding to be closed and without priority";
    if (ShapedType::isDynamic(size)) {
      if (dim.isPadded() || !dim.getAxes().empty())
        return emitError() << "expected dim " << i
                           << " of dynamic size to be whole";
      continue;
    }
    if (!dim.isPadded())
      continue;
    int64_t product = 1;
    for (int64_t factor : dim.getSizes())
      product *= factor;
    if (!dim.getSizes().empty() && product != size)
      return emitError() << "expected factors of dim " << i << " with product "
                         << size << ", got " << product;
    int64_t extent = dim.getExtent(size);
    if (dim.getSizes().empty() && (extent <= size || extent / 2 >= size))
      return emitError() << "expected an extent of dim " << i << " above "
                         << size << " and below " << 2 * size << ", got "
                         << extent;
  }
  return success();
}

LayoutAttr LayoutAttr::getReplicated(FlatSymbolRefAttr mesh, int64_t rank) {
  SmallVector<DimAttr> dims(rank, DimAttr::get(mesh.getContext()));
  return get(mesh.getContext(), mesh, dims);
}

std::optional<ReductionKind> LayoutAttr::getPartialKind(StringRef axis) const {
  for (PartialAttr part : getPartial())
    for (AxisAttr candidate : part.getAxes())
      if (candidate.getName().getValue() == axis)
        return part.getKind();
  return std::nullopt;
}

ArrayRef<int64_t> LayoutAttr::getPin(StringRef axis) const {
  for (PinAttr pin : getAt())
    if (pin.getAxis().getValue() == axis)
      return pin.getCoordinates();
  return {};
}

std::optional<int64_t> LayoutAttr::getDimSplitBy(StringRef axis) const {
  for (auto [i, dim] : llvm::enumerate(getDims()))
    for (AxisAttr candidate : dim.getAxes())
      if (candidate.getName().getValue() == axis)
        return i;
  return std::nullopt;
}

SmallVector<int64_t> LayoutAttr::getPaddedShape(ArrayRef<int64_t> shape) const {
  SmallVector<int64_t> padded;
  for (auto [size, dim] : llvm::zip_equal(shape, getDims()))
    padded.push_back(dim.getExtent(size));
  return padded;
}

SmallVector<int64_t> LayoutAttr::getLocalShape(ArrayRef<int64_t> shape,
                                               MeshAxesAttr mesh) const {
  SmallVector<int64_t> local = getPaddedShape(shape);
  for (auto [size, dim] : llvm::zip_equal(local, getDims()))
    if (!ShapedType::isDynamic(size))
      size /= dim.getNumParts(mesh);
  return local;
}

LayoutAttr LayoutAttr::withDims(ArrayRef<DimAttr> dims) const {
  return get(getContext(), getMesh(), dims, getPartial(), getReplicated(),
             getAt());
}

LayoutAttr LayoutAttr::withDim(int64_t index, DimAttr dim) const {
  SmallVector<DimAttr> dims(getDims());
  dims[index] = dim;
  return withDims(dims);
}

LayoutAttr LayoutAttr::withPartial(ArrayRef<PartialAttr> partial) const {
  return get(getContext(), getMesh(), getDims(), partial, getReplicated(),
             getAt());
}

LayoutAttr LayoutAttr::withPartialOver(AxisAttr axis,
                                       ReductionKind kind) const {
  SmallVector<PartialAttr> partial(getPartial());
  partial.push_back(PartialAttr::get(getContext(), kind, axis));
  return withPartial(partial);
}

LayoutAttr LayoutAttr::withoutPartialOver(ArrayRef<AxisAttr> axes) const {
  SmallVector<PartialAttr> kept;
  for (PartialAttr part : getPartial()) {
    SmallVector<AxisAttr> rest;
    for (AxisAttr axis : part.getAxes())
      if (!llvm::is_contained(axes, axis))
        rest.push_back(axis);
    if (!rest.empty())
      kept.push_back(PartialAttr::get(getContext(), part.getKind(), rest));
  }
  return withPartial(kept);
}

LayoutAttr LayoutAttr::withPins(ArrayRef<PinAttr> at) const {
  return get(getContext(), getMesh(), getDims(), getPartial(), getReplicated(),
             at);
}
