//===- HostElements.cpp - Spans of a host tensor's elements ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See HostElements.h. Runs of f64, f32 and whole-byte integers are plain loops;
// the other types go element by element through HostTensor.
//
//===----------------------------------------------------------------------===//

#include "llmc/Support/HostElements.h"
#include <cstring>

using namespace mlir;
using namespace llmc;

template <typename From, typename To>
static void readRun(const char *bytes, int64_t first, MutableArrayRef<To> out) {
  for (auto [i, value] : llvm::enumerate(out)) {
    From element;
    std::memcpy(&element, bytes + (first + i) * sizeof(From), sizeof(From));
    value = static_cast<To>(element);
  }
}

template <typename To, typename From>
static void writeRun(char *bytes, int64_t first, ArrayRef<From> values) {
  for (auto [i, value] : llvm::enumerate(values)) {
    To element = static_cast<To>(value);
    std::memcpy(bytes + (first + i) * sizeof(To), &element, sizeof(To));
  }
}

void llmc::loadFloats(const HostTensor &tensor, int64_t first,
                      MutableArrayRef<double> out) {
  if (tensor.getElementType().isF64())
    return readRun<double>(tensor.bytes(), first, out);
  if (tensor.getElementType().isF32())
    return readRun<float>(tensor.bytes(), first, out);
  for (auto [i, value] : llvm::enumerate(out))
    value = tensor.getFloat(first + i);
}

void llmc::storeFloats(HostTensor &tensor, int64_t first,
                       ArrayRef<double> values) {
  if (tensor.getElementType().isF64())
    return writeRun<double>(tensor.mutableBytes(), first, values);
  if (tensor.getElementType().isF32())
    return writeRun<float>(tensor.mutableBytes(), first, values);
  for (auto [i, value] : llvm::enumerate(values))
    tensor.setFloat(first + i, value);
}

void llmc::loadInts(const HostTensor &tensor, int64_t first,
                    MutableArrayRef<int64_t> out) {
  const char *bytes = tensor.bytes();
  bool isUnsigned = tensor.isUnsigned();
  switch (tensor.getElementBytes()) {
  case 1:
    return isUnsigned ? readRun<uint8_t>(bytes, first, out)
                      : readRun<int8_t>(bytes, first, out);
  case 2:
    return isUnsigned ? readRun<uint16_t>(bytes, first, out)
                      : readRun<int16_t>(bytes, first, out);
  case 4:
    return isUnsigned ? readRun<uint32_t>(bytes, first, out)
                      : readRun<int32_t>(bytes, first, out);
  default:
    return readRun<int64_t>(bytes, first, out);
  }
}

int64_t llmc::wrapInt(int64_t value, Type type) {
  if (type.isInteger(1))
    return value != 0;
  unsigned width = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
  if (width >= 64)
    return value;
  uint64_t bits = static_cast<uint64_t>(value) << (64 - width);
  return type.isUnsignedInteger() ? static_cast<int64_t>(bits >> (64 - width))
                                  : static_cast<int64_t>(bits) >> (64 - width);
}

void llmc::storeInts(HostTensor &tensor, int64_t first,
                     ArrayRef<int64_t> values) {
  Type type = tensor.getElementType();
  char *bytes = tensor.mutableBytes();
  unsigned width = type.isIndex() ? 64 : type.getIntOrFloatBitWidth();
  switch (width) {
  case 64:
    return writeRun<int64_t>(bytes, first, values);
  case 32:
    return writeRun<int32_t>(bytes, first, values);
  case 16:
    return writeRun<int16_t>(bytes, first, values);
  case 8:
    return writeRun<int8_t>(bytes, first, values);
  default:
    for (auto [i, value] : llvm::enumerate(values))
      tensor.setInt(first + i, wrapInt(value, type));
  }
}
