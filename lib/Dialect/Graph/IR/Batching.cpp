//===- Batching.cpp - What all devices compute of an op -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See Batching.h. Test: test/EndToEnd/manual.test
//===----------------------------------------------------------------------===//

#include "llmc/Dialect/Graph/IR/Batching.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Sequence.h"
#include <algorithm>

using namespace mlir;
using namespace llmc;
using namespace llmc::graph;

#include "llmc/Dialect/Graph/IR/Batching.cpp.inc"

DeviceAxes graph::uniteAxes(ArrayRef<unsigned> a, ArrayRef<unsigned> b) {
  DeviceAxes axes;
  std::set_union(a.begin(), a.end(), b.begin(), b.end(),
                 std::back_inserter(axes));
  return axes;
}

DeviceAxes graph::subtractAxes(ArrayRef<unsigned> a, ArrayRef<unsigned> b) {
  DeviceAxes axes;
  llvm::copy_if(a, std::back_inserter(axes),
                [&](unsigned axis) { return !llvm::is_contained(b, axis); });
  return axes;
}

SmallVector<int64_t> graph::getPlaces(ArrayRef<unsigned> axes,
                                      ArrayRef<unsigned> among) {
  return llvm::map_to_vector(axes, [&](unsigned axis) -> int64_t {
    return llvm::find(among, axis) - among.begin();
  });
}

SmallVector<int64_t> graph::behindLeading(ArrayRef<int64_t> dims,
                                          int64_t count) {
  return llvm::map_to_vector(dims, [&](int64_t dim) { return dim + count; });
}

SmallVector<int64_t> graph::withLeading(ArrayRef<int64_t> dims, int64_t count) {
  auto all = llvm::to_vector(llvm::seq<int64_t>(0, count));
  llvm::append_range(all, behindLeading(dims, count));
  return all;
}

DeviceAxes BatchForm::getAxes() {
  DeviceAxes axes;
  for (Value operand : op->getOperands())
    axes = uniteAxes(axes, getValue(operand).axes);
  return axes;
}

SmallVector<int64_t> BatchForm::getSizes(ArrayRef<unsigned> axes) const {
  return llvm::map_to_vector(axes, [&](unsigned axis) { return mesh[axis]; });
}

RankedTensorType BatchForm::getType(Type ofDevice,
                                    ArrayRef<unsigned> axes) const {
  auto type = cast<RankedTensorType>(ofDevice);
  SmallVector<int64_t> shape = getSizes(axes);
  llvm::append_range(shape, type.getShape());
  return RankedTensorType::get(shape, type.getElementType());
}

Operation *BatchForm::cloneOp(ValueRange operands, ArrayRef<unsigned> axes) {
  Operation *clone = builder.clone(*op);
  clone->setOperands(operands);
  for (OpResult result : clone->getResults()) {
    result.setType(getType(result.getType(), axes));
    results.push_back({result, DeviceAxes(axes)});
  }
  return clone;
}

Operation *BatchForm::cloneAlong(ArrayRef<unsigned> axes) {
  return cloneOp(llvm::map_to_vector(
                     op->getOperands(),
                     [&](Value operand) { return getAlong(operand, axes); }),
                 axes);
}
