//===- DeviceArrangement.cpp - Axes among the dims of a value -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See DeviceArrangement.h. Test: test/Import/StableHLO/manual-collectives.mlir
//===----------------------------------------------------------------------===//

#include "llmc/Dialect/StableHLO/Models/DeviceArrangement.h"
#include "../Movement.h"
#include "llmc/Dialect/StableHLO/IR/Builders.h"
#include "llvm/ADT/Sequence.h"
#include <tuple>

using namespace mlir;
using namespace llmc;
using namespace llmc::graph;
using namespace llmc::stablehlo;

DeviceValue stablehlo::arrange(BatchForm &form, Value value,
                               ArrayRef<int64_t> shape,
                               ArrayRef<DeviceDim> dims) {
  auto order = llvm::to_vector(llvm::seq<int64_t>(0, dims.size()));
  auto keyOf = [&](int64_t place) {
    const DeviceDim &dim = dims[place];
    return std::tuple(!dim.isAxis, dim.number, dim.part);
  };
  llvm::sort(order, [&](int64_t a, int64_t b) { return keyOf(a) < keyOf(b); });
  DeviceAxes axes;
  for (int64_t place : order)
    if (dims[place].isAxis)
      axes.push_back(dims[place].number);
  SmallVector<int64_t> all = form.getSizes(axes);
  llvm::append_range(all, shape);
  value = transpose(form.builder, form.loc, value, order);
  return {reshape(form.builder, form.loc, value, all), axes};
}

/// The shape of what one device has.
static SmallVector<int64_t> getShape(const DeviceValue &value) {
  return SmallVector<int64_t>(
      typeOf(value.value).getShape().drop_front(value.axes.size()));
}

DeviceValue stablehlo::cutDims(BatchForm &form, const DeviceValue &value,
                               ArrayRef<SmallVector<unsigned, 2>> cuts) {
  SmallVector<DeviceDim> dims;
  SmallVector<int64_t> cut = form.getSizes(value.axes), shape = getShape(value);
  for (unsigned axis : value.axes)
    dims.push_back(DeviceDim::ofAxis(axis));
  for (auto [d, size] : llvm::enumerate(shape)) {
    for (unsigned axis : cuts[d]) {
      dims.push_back(DeviceDim::ofAxis(axis));
      cut.push_back(form.mesh[axis]);
      size /= form.mesh[axis];
    }
    dims.push_back(DeviceDim::ofDim(d));
    cut.push_back(size);
  }
  return arrange(form, reshape(form.builder, form.loc, value.value, cut), shape,
                 dims);
}

DeviceValue stablehlo::joinDims(BatchForm &form, const DeviceValue &value,
                                ArrayRef<SmallVector<unsigned, 2>> joins) {
  SmallVector<int64_t> shape = getShape(value);
  auto describe = [&](unsigned axis) {
    for (auto [d, axes] : llvm::enumerate(joins))
      if (const unsigned *at = llvm::find(axes, axis); at != axes.end()) {
        shape[d] *= form.mesh[axis];
        return DeviceDim::ofPart(d, at - axes.begin());
      }
    return DeviceDim::ofAxis(axis);
  };
  auto dims = llvm::map_to_vector(value.axes, describe);
  for (int64_t d = 0; d < static_cast<int64_t>(shape.size()); ++d)
    dims.push_back(DeviceDim::ofDim(d));
  return arrange(form, value.value, shape, dims);
}
