//===- Elements.cpp - Elements of tensors in a file -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Elements come as they are in memory, or in lists: of integers, where small
// floats stand as bits, or of floats.
//
//===----------------------------------------------------------------------===//

#include "GraphImporter.h"
#include "llmc/Support/StoredElements.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::onnx;
using rt::ErrorKind;

Type onnx::toElement(MLIRContext *context, ElementType type) {
  auto integer = [&](unsigned bits, bool isUnsigned = false) {
    return IntegerType::get(context, bits,
                            isUnsigned ? IntegerType::Unsigned
                                       : IntegerType::Signless);
  };
  switch (type) {
  case ElementType::f32:
    return Float32Type::get(context);
  case ElementType::f64:
    return Float64Type::get(context);
  case ElementType::f16:
    return Float16Type::get(context);
  case ElementType::bf16:
    return BFloat16Type::get(context);
  case ElementType::boolean:
    return integer(1);
  case ElementType::i8:
    return integer(8);
  case ElementType::i16:
    return integer(16);
  case ElementType::i32:
    return integer(32);
  case ElementType::i64:
    return integer(64);
  case ElementType::u8:
    return integer(8, true);
  case ElementType::u16:
    return integer(16, true);
  case ElementType::u32:
    return integer(32, true);
  case ElementType::u64:
    return integer(64, true);
  case ElementType::i4:
    return integer(4);
  case ElementType::u4:
    return integer(4, true);
  case ElementType::f8e4m3fn:
    return Float8E4M3FNType::get(context);
  case ElementType::f8e4m3fnuz:
    return Float8E4M3FNUZType::get(context);
  case ElementType::f8e5m2:
    return Float8E5M2Type::get(context);
  case ElementType::f8e5m2fnuz:
    return Float8E5M2FNUZType::get(context);
  default:
    return {};
  }
}

static rt::Status refuseTensor(const Tensor &tensor, const std::string &message,
                               ErrorKind kind = ErrorKind::malformed) {
  return rt::makeError(kind,
                       "tensor '" + std::string(tensor.name) + "': " + message);
}

/// The number of elements; an error for sizes that no memory holds.
static rt::Result<int64_t> countElementsOf(const Tensor &tensor) {
  int64_t count = 1;
  for (int64_t dim : tensor.dims) {
    if (dim < 0)
      return refuseTensor(tensor, "expected sizes of at least 0, got " +
                                      std::to_string(dim));
    if (__builtin_mul_overflow(count, dim, &count) ||
        count > (int64_t(1) << 48))
      return refuseTensor(tensor, "expected at most 2^48 elements, got the "
                                  "shape " +
                                      show(ArrayRef<int64_t>(tensor.dims)));
  }
  return count;
}

static rt::Status checkCount(const Tensor &tensor, int64_t expected,
                             int64_t got, const char *what) {
  if (expected == got)
    return rt::Status::success();
  return refuseTensor(tensor, "expected " + std::to_string(expected) + " " +
                                  what + ", got " + std::to_string(got));
}

/// Elements of four bits share a byte, the first in its low half.
static bool isPacked(ElementType type) {
  return type == ElementType::i4 || type == ElementType::u4;
}

/// Integers of a list; small floats as bits.
static void fillIntegers(const Tensor &tensor, HostTensor &result) {
  for (auto [i, value] : llvm::enumerate(tensor.integers)) {
    if (!result.isFloat()) {
      bool isBool = result.getElementType().isInteger(1);
      result.setInt(i, isBool ? value != 0 : value);
      continue;
    }
    auto bits = static_cast<uint16_t>(value);
    std::memcpy(result.mutableBytes() + i * result.getElementBytes(), &bits,
                result.getElementBytes());
  }
}

/// Halves of bytes, which stand in raw data or in a list of integers.
static void fillPacked(const Tensor &tensor, HostTensor &result) {
  for (int64_t i = 0; i < result.getNumElements(); ++i) {
    size_t place = i / 2;
    int64_t byte = tensor.raw.empty()
                       ? tensor.integers[place]
                       : static_cast<unsigned char>(tensor.raw[place]);
    int64_t bits = i % 2 ? byte >> 4 & 15 : byte & 15;
    result.setInt(i, result.isUnsigned() || bits < 8 ? bits : bits - 16);
  }
}

/// Fits the elements that are there to those of the shape, before memory is
/// taken for what the shape alone says.
static rt::Status checkLists(const Tensor &tensor, Type element,
                             int64_t count) {
  int64_t lists =
      !tensor.raw.empty() + !tensor.floats.empty() + !tensor.integers.empty();
  if (lists > 1)
    return refuseTensor(tensor, "expected elements in one list, got " +
                                    std::to_string(lists));
  bool isSmallFloat =
      isa<FloatType>(element) && element.getIntOrFloatBitWidth() < 32;
  if (!tensor.integers.empty() && isa<FloatType>(element) && !isSmallFloat)
    return refuseTensor(tensor, "expected a list of floats, got integers");
  if (!tensor.floats.empty() && (!isa<FloatType>(element) || isSmallFloat))
    return refuseTensor(tensor, "expected a list of integers, got floats");
  int64_t pairs = count / 2 + count % 2;
  if (!tensor.raw.empty() || lists == 0)
    return checkCount(
        tensor, isPacked(tensor.type) ? pairs : count * bytesOf(tensor.type),
        tensor.raw.size(), "bytes of elements");
  return checkCount(tensor, isPacked(tensor.type) ? pairs : count,
                    tensor.floats.size() + tensor.integers.size(), "elements");
}

rt::Result<HostTensor> onnx::decode(MLIRContext *context,
                                    const Tensor &tensor) {
  LLMC_TRY_ASSIGN(int64_t count, countElementsOf(tensor));
  Type element = toElement(context, tensor.type);
  if (!element)
    return refuseTensor(tensor,
                        "expected elements that are numbers in memory, got " +
                            nameOf(tensor.type),
                        ErrorKind::unsupported);
  if (tensor.isSegment || tensor.isExternal)
    return refuseTensor(tensor, "expected the elements in the file itself",
                        ErrorKind::unsupported);
  LLMC_TRY(checkLists(tensor, element, count));
  HostTensor result(element, tensor.dims);
  if (isPacked(tensor.type)) {
    fillPacked(tensor, result);
    return result;
  }
  if (!tensor.raw.empty())
    std::memcpy(result.mutableBytes(), tensor.raw.data(), tensor.raw.size());
  for (auto [i, value] : llvm::enumerate(tensor.floats))
    result.setFloat(i, value);
  fillIntegers(tensor, result);
  // A byte that is neither 0 nor 1 would be a third value.
  if (element.isInteger(1))
    for (int64_t i = 0; i < count; ++i)
      result.setInt(i, result.bytes()[i] != 0);
  return result;
}
