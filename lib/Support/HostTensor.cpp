//===- HostTensor.cpp - A dense tensor in host memory ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See HostTensor.h. Conversions to and from 16-bit floats go through APFloat,
// so that rounding is to nearest even everywhere.
//
//===----------------------------------------------------------------------===//

#include "llmc/Support/HostTensor.h"
#include "llmc/Support/HostElements.h"
#include "llmc/Support/StoredElements.h"
#include "mlir/IR/BuiltinTypes.h"
#include "llvm/ADT/APFloat.h"
#include <cstring>

using namespace mlir;
using namespace llmc;

int64_t llmc::getElementBytes(Type type) {
  if (type.isIndex())
    return 8;
  std::optional<rt::DType> stored = getRuntimeDType(type);
  return stored ? rt::sizeOf(*stored) : 0;
}

bool llmc::nextIndex(SmallVectorImpl<int64_t> &index, ArrayRef<int64_t> shape) {
  for (int64_t d = static_cast<int64_t>(shape.size()) - 1; d >= 0; --d) {
    if (++index[d] < shape[d])
      return true;
    index[d] = 0;
  }
  return false;
}

HostTensor::HostTensor(Type type, ArrayRef<int64_t> dims)
    : elementType(type), shape(dims), numElements(1),
      elementBytes(llmc::getElementBytes(type)) {
  for (int64_t dim : dims)
    numElements *= dim;
  storage = std::make_shared<std::vector<char>>(getNumBytes());
}

HostTensor::HostTensor(RankedTensorType type)
    : HostTensor(type.getElementType(), type.getShape()) {}

RankedTensorType HostTensor::getType() const {
  return RankedTensorType::get(shape, elementType);
}

HostTensor HostTensor::viewAs(RankedTensorType type) const {
  HostTensor result = *this;
  result.elementType = type.getElementType();
  result.shape.assign(type.getShape().begin(), type.getShape().end());
  result.numElements = type.getNumElements();
  result.elementBytes = llmc::getElementBytes(result.elementType);
  return result;
}

char *HostTensor::mutableBytes() {
  if (storage.use_count() > 1)
    storage = std::make_shared<std::vector<char>>(*storage);
  return storage->data();
}

SmallVector<int64_t> HostTensor::getStrides() const {
  SmallVector<int64_t> strides(shape.size(), 1);
  for (int64_t d = static_cast<int64_t>(shape.size()) - 2; d >= 0; --d)
    strides[d] = strides[d + 1] * shape[d + 1];
  return strides;
}

/// The value of the `bits` of a float of 8 or 16 bits.
static double narrowToDouble(FloatType type, uint16_t bits) {
  APFloat value(type.getFloatSemantics(), APInt(type.getWidth(), bits));
  bool losesInfo = false;
  value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                &losesInfo);
  return value.convertToDouble();
}

static uint16_t doubleToNarrow(FloatType type, double value) {
  APFloat rounded(value);
  bool losesInfo = false;
  rounded.convert(type.getFloatSemantics(), APFloat::rmNearestTiesToEven,
                  &losesInfo);
  return static_cast<uint16_t>(rounded.bitcastToAPInt().getZExtValue());
}

template <typename T> static T readAs(const char *bytes, int64_t i) {
  T value;
  std::memcpy(&value, bytes + i * sizeof(T), sizeof(T));
  return value;
}

template <typename T> static void writeAs(char *bytes, int64_t i, T value) {
  std::memcpy(bytes + i * sizeof(T), &value, sizeof(T));
}

int64_t HostTensor::getInt(int64_t i) const {
  if (isFloat())
    return static_cast<int64_t>(getFloat(i));
  bool isSigned = !isUnsigned();
  switch (elementBytes) {
  case 1:
    return isSigned ? readAs<int8_t>(bytes(), i) : readAs<uint8_t>(bytes(), i);
  case 2:
    return isSigned ? readAs<int16_t>(bytes(), i)
                    : readAs<uint16_t>(bytes(), i);
  case 4:
    return isSigned ? readAs<int32_t>(bytes(), i)
                    : static_cast<int64_t>(readAs<uint32_t>(bytes(), i));
  default:
    return readAs<int64_t>(bytes(), i);
  }
}

void HostTensor::setInt(int64_t i, int64_t value) {
  if (isFloat())
    return setFloat(i, static_cast<double>(value));
  char *data = mutableBytes();
  if (elementType.isInteger(1))
    return writeAs<uint8_t>(data, i, value != 0);
  switch (elementBytes) {
  case 1:
    return writeAs<int8_t>(data, i,
                           static_cast<int8_t>(wrapInt(value, elementType)));
  case 2:
    return writeAs<int16_t>(data, i, static_cast<int16_t>(value));
  case 4:
    return writeAs<int32_t>(data, i, static_cast<int32_t>(value));
  default:
    return writeAs<int64_t>(data, i, value);
  }
}

double HostTensor::getFloat(int64_t i) const {
  auto type = dyn_cast<FloatType>(elementType);
  if (!type)
    return elementType.isUnsignedInteger(64)
               ? static_cast<double>(readAs<uint64_t>(bytes(), i))
               : static_cast<double>(getInt(i));
  if (type.isF64())
    return readAs<double>(bytes(), i);
  if (type.isF32())
    return readAs<float>(bytes(), i);
  return narrowToDouble(type, elementBytes == 1 ? readAs<uint8_t>(bytes(), i)
                                                : readAs<uint16_t>(bytes(), i));
}

void HostTensor::setFloat(int64_t i, double value) {
  auto type = dyn_cast<FloatType>(elementType);
  if (!type)
    return setInt(i, static_cast<int64_t>(value));
  char *data = mutableBytes();
  if (type.isF64())
    return writeAs<double>(data, i, value);
  if (type.isF32())
    return writeAs<float>(data, i, static_cast<float>(value));
  uint16_t bits = doubleToNarrow(type, value);
  if (elementBytes == 1)
    return writeAs<uint8_t>(data, i, static_cast<uint8_t>(bits));
  writeAs<uint16_t>(data, i, bits);
}

FailureOr<HostTensor> HostTensor::fromAttribute(Attribute attribute) {
  auto dense = dyn_cast<DenseElementsAttr>(attribute);
  if (!dense || !llmc::getElementBytes(dense.getElementType()))
    return failure();
  HostTensor tensor(dense.getElementType(), dense.getType().getShape());
  if (tensor.isFloat()) {
    int64_t i = 0;
    for (APFloat value : dense.getValues<APFloat>()) {
      bool losesInfo = false;
      value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                    &losesInfo);
      tensor.setFloat(i++, value.convertToDouble());
    }
    return tensor;
  }
  int64_t i = 0;
  for (const APInt &value : dense.getValues<APInt>())
    tensor.setInt(i++, tensor.isUnsigned()
                           ? static_cast<int64_t>(value.getZExtValue())
                           : value.getSExtValue());
  return tensor;
}

Attribute HostTensor::toAttribute() const {
  RankedTensorType type = getType();
  if (elementType.isInteger(1)) {
    SmallVector<bool> values(numElements);
    for (int64_t i = 0; i < numElements; ++i)
      values[i] = getInt(i) != 0;
    return DenseElementsAttr::get(type, values);
  }
  unsigned width =
      elementType.isIndex() ? 64 : elementType.getIntOrFloatBitWidth();
  if (isFloat() || width >= 8)
    return DenseElementsAttr::getFromRawBuffer(
        type, ArrayRef<char>(bytes(), getNumBytes()));
  SmallVector<APInt> values;
  for (int64_t i = 0; i < numElements; ++i)
    values.push_back(APInt(width, static_cast<uint64_t>(getInt(i)),
                           /*isSigned=*/false, /*implicitTrunc=*/true));
  return DenseElementsAttr::get(type, values);
}
