//===- RuntimeLayout.cpp - Layouts as the runtime has them ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmc/Dialect/Dist/IR/RuntimeLayout.h"

using namespace mlir;
using namespace llmc;

rt::Mesh dist::getRuntimeMesh(MeshOp mesh) {
  rt::Mesh result;
  MeshAxesAttr axes = mesh.getAxes();
  for (auto [name, size] : llvm::zip_equal(axes.getNames(), axes.getSizes()))
    result.axes.push_back({name.str(), size});
  if (std::optional<StringRef> pipeline = mesh.getPipeline())
    result.pipelineAxis = result.axisNamed(pipeline->str());
  return result;
}

/// One factor for each extent, or one for all of the dim.
static std::vector<rt::Factor> getFactors(dist::DimAttr dim, int64_t size) {
  ArrayRef<int64_t> extents = dim.getExtents(), sizes = dim.getSizes();
  if (extents.empty())
    return {{size, size}};
  if (sizes.empty())
    return {{size, extents.front()}};
  std::vector<rt::Factor> factors;
  for (auto [part, extent] : llvm::zip_equal(sizes, extents))
    factors.push_back({part, extent});
  return factors;
}

std::optional<rt::Layout> dist::getRuntimeLayout(LayoutAttr layout,
                                                 ArrayRef<int64_t> shape,
                                                 const rt::Mesh &mesh) {
  if (layout.getRank() != static_cast<int64_t>(shape.size()))
    return std::nullopt;
  rt::Layout result;
  for (auto [dim, size] : llvm::zip_equal(layout.getDims(), shape)) {
    rt::DimLayout &to = result.dims.emplace_back();
    to.factors = getFactors(dim, size);
    for (AxisAttr axis : dim.getAxes()) {
      to.axes.push_back(mesh.axisNamed(axis.getName().str()));
      if (to.axes.back() < 0 || axis.isSubAxis())
        return std::nullopt;
    }
    if (to.size() != size)
      return std::nullopt;
  }
  if (!result.check(mesh))
    return std::nullopt;
  return result;
}
