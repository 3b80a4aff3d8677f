//===- DeviceScalars.cpp - Integers that are known on each device ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See DeviceScalars.h. Test: test/Import/StableHLO/manual-numbers.mlir
//===----------------------------------------------------------------------===//

#include "DeviceScalars.h"
#include "llmc/Dialect/Graph/IR/ConstantFolding.h"
#include "llmc/Dialect/StableHLO/IR/Builders.h"
#include <optional>

using namespace mlir;
using namespace llmc;
using namespace llmc::import;
using graph::DeviceAxes;
using graph::DeviceValue;

DeviceScalars::DeviceScalars(ArrayRef<int64_t> sizes) : sizes(sizes) {
  for (int64_t size : sizes)
    numDevices *= size;
}

SmallVector<int64_t> DeviceScalars::getCoordinates(int64_t device) const {
  SmallVector<int64_t> at(sizes.size());
  for (size_t axis = sizes.size(); axis-- > 0;) {
    at[axis] = device % sizes[axis];
    device /= sizes[axis];
  }
  return at;
}

//===----------------------------------------------------------------------===//
// Computing
//===----------------------------------------------------------------------===//

/// What is the same on all devices is a constant.
void DeviceScalars::bind(Value scalar, Elements elements) {
  bool isSame = llvm::all_of(elements, [&](const HostTensor &element) {
    return element.getInt(0) == elements.front().getInt(0);
  });
  if (!isSame) {
    known[scalar] = std::move(elements);
    return;
  }
  OpBuilder builder(scalar.getDefiningOp());
  scalar.replaceAllUsesWith(stablehlo::ConstantOp::create(
      builder, scalar.getLoc(),
      cast<ElementsAttr>(elements.front().toAttribute())));
}

void DeviceScalars::set(Value scalar, ArrayRef<int64_t> elements) {
  bind(scalar, llvm::map_to_vector(elements, [&](int64_t element) {
         HostTensor tensor(cast<RankedTensorType>(scalar.getType()));
         tensor.setInt(0, element);
         return tensor;
       }));
}

static bool isIntegerScalar(Type type) {
  return isScalarTensor(type) && isBoolOrIntTensor(type) &&
         getElementBytes(cast<RankedTensorType>(type).getElementType()) != 0;
}

bool DeviceScalars::compute(Operation *op) {
  if (llvm::none_of(op->getOperands(),
                    [&](Value value) { return isKnown(value); }) ||
      !llvm::all_of(op->getOperandTypes(), isIntegerScalar) ||
      !llvm::all_of(op->getResultTypes(), isIntegerScalar))
    return false;
  SmallVector<std::optional<HostTensor>> constants;
  for (Value operand : op->getOperands()) {
    constants.push_back(graph::getConstant(operand));
    if (!constants.back() && !isKnown(operand))
      return false;
  }
  SmallVector<Elements> all(op->getNumResults());
  for (int64_t device = 0; device < numDevices; ++device) {
    SmallVector<HostTensor> operands, results;
    for (auto [operand, constant] : llvm::zip(op->getOperands(), constants))
      operands.push_back(constant ? *constant
                                  : known.find(operand)->second[device]);
    if (!graph::computePure(op, operands, results))
      return false;
    for (auto [elements, result] : llvm::zip_equal(all, results))
      elements.push_back(result);
  }
  for (auto [result, elements] : llvm::zip_equal(op->getResults(), all))
    bind(result, std::move(elements));
  return true;
}

//===----------------------------------------------------------------------===//
// Building
//===----------------------------------------------------------------------===//

namespace {
/// base + the sum of slope * place, along some axes.
struct Affine {
  int64_t base;
  SmallVector<int64_t> slopes;
};
} // namespace

/// The known elements along axes, as a sum of multiples of places; nothing if
/// they are none, or if the type might not hold the multiples.
static std::optional<Affine> findAffine(const HostTensor &table) {
  auto integer = dyn_cast<IntegerType>(table.getElementType());
  if (!integer || integer.getWidth() < 32)
    return std::nullopt;
  Affine affine{table.getInt(0), {}};
  SmallVector<int64_t> strides = table.getStrides();
  for (int64_t stride : strides) {
    int64_t slope = table.getInt(stride) - affine.base;
    if (slope < 0 && table.isUnsigned())
      return std::nullopt;
    affine.slopes.push_back(slope);
  }
  SmallVector<int64_t> at(table.getRank(), 0);
  for (int64_t i = 0; i < table.getNumElements();
       ++i, nextIndex(at, table.getShape())) {
    int64_t element = affine.base;
    for (auto [place, slope] : llvm::zip(at, affine.slopes))
      element += place * slope;
    if (element != table.getInt(i))
      return std::nullopt;
  }
  return affine;
}

static Value buildAffine(OpBuilder &b, Location loc, RankedTensorType type,
                         const Affine &affine) {
  Value sum;
  auto add = [&](Value term) {
    sum = sum ? stablehlo::add(b, loc, sum, term) : term;
  };
  for (auto [d, slope] : llvm::enumerate(affine.slopes)) {
    Value term = stablehlo::iota(b, loc, type, d);
    if (slope != 1)
      term = stablehlo::mul(b, loc, term,
                            stablehlo::constantSplat(b, loc, type, slope));
    add(term);
  }
  if (affine.base != 0)
    add(stablehlo::constantSplat(b, loc, type, affine.base));
  return sum;
}

bool DeviceScalars::depends(const Elements &elements, unsigned axis) const {
  int64_t stride = 1;
  for (int64_t size : ArrayRef(sizes).drop_front(axis + 1))
    stride *= size;
  for (int64_t device = 0; device < numDevices; ++device) {
    int64_t first = device - getCoordinates(device)[axis] * stride;
    if (elements[device].getInt(0) != elements[first].getInt(0))
      return true;
  }
  return false;
}

DeviceAxes DeviceScalars::getAxes(Value scalar) const {
  const Elements &elements = known.find(scalar)->second;
  DeviceAxes axes;
  for (unsigned axis = 0; axis < sizes.size(); ++axis)
    if (depends(elements, axis))
      axes.push_back(axis);
  return axes;
}

/// Places split like their axis. A table is whole, and each device takes its
/// element.
DeviceValue DeviceScalars::build(OpBuilder &builder, Value scalar) const {
  const Elements &elements = known.find(scalar)->second;
  DeviceValue made{{}, getAxes(scalar)};
  SmallVector<int64_t> shape;
  for (unsigned axis : made.axes)
    shape.push_back(sizes[axis]);
  HostTensor table(elements.front().getElementType(), shape);
  SmallVector<int64_t> strides = table.getStrides();
  for (int64_t device = 0; device < numDevices; ++device) {
    SmallVector<int64_t> at = getCoordinates(device);
    int64_t place = 0;
    for (auto [axis, stride] : llvm::zip(made.axes, strides))
      place += at[axis] * stride;
    table.setInt(place, elements[device].getInt(0));
  }
  if (std::optional<Affine> affine = findAffine(table))
    made.value =
        buildAffine(builder, scalar.getLoc(), table.getType(), *affine);
  else
    made.value = stablehlo::ConstantOp::create(
        builder, scalar.getLoc(), cast<ElementsAttr>(table.toAttribute()));
  return made;
}
