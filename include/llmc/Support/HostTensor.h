//===- HostTensor.h - A dense tensor in host memory -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The value that the interpreter computes with: element type, shape and dense
// row-major bytes. Copying shares the bytes; `mutableBytes` makes them private
// first. Elements are stored as the type says: f64, f32, bf16, f16 (2 bytes),
// i1 (1 byte, 0 or 1), integers of 8 to 64 bits, index (8 bytes).
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_SUPPORT_HOSTTENSOR_H
#define LLMC_SUPPORT_HOSTTENSOR_H

#include "llmc/Support/LLVM.h"
#include <cstdint>
#include <memory>
#include <vector>

namespace llmc {

class HostTensor {
public:
  HostTensor() = default;
  /// A zero-filled tensor. `elementType` has a place in memory: engines have
  /// refused others at their door.
  HostTensor(Type elementType, ArrayRef<int64_t> shape);
  /// The tensor of `type` (static shape; an encoding is ignored), zero-filled.
  explicit HostTensor(RankedTensorType type);

  /// The value of a constant attribute; fails when it is not dense elements.
  static FailureOr<HostTensor> fromAttribute(Attribute attribute);
  /// A dense elements attribute of the same type and bits.
  Attribute toAttribute() const;

  explicit operator bool() const { return static_cast<bool>(elementType); }
  Type getElementType() const { return elementType; }
  ArrayRef<int64_t> getShape() const { return shape; }
  int64_t getRank() const { return shape.size(); }
  int64_t getNumElements() const { return numElements; }
  int64_t getElementBytes() const { return elementBytes; }
  int64_t getNumBytes() const { return numElements * elementBytes; }
  RankedTensorType getType() const;

  /// The same bytes as a tensor of `type`, which takes as many.
  HostTensor viewAs(RankedTensorType type) const;

  const char *bytes() const { return storage ? storage->data() : nullptr; }
  char *mutableBytes();

  /// Row-major strides in elements.
  SmallVector<int64_t> getStrides() const;

  /// Element `i` in row-major order as a double (floats, integers, i1).
  double getFloat(int64_t i) const;
  /// Element `i`, rounded to the element type.
  void setFloat(int64_t i, double value);
  /// Element `i` as a 64-bit integer (sign- or zero-extended by its type).
  int64_t getInt(int64_t i) const;
  void setInt(int64_t i, int64_t value);

  bool isFloat() const { return llvm::isa<mlir::FloatType>(elementType); }
  bool isUnsigned() const {
    return elementType.isUnsignedInteger() || elementType.isInteger(1);
  }

private:
  Type elementType;
  SmallVector<int64_t> shape;
  int64_t numElements = 0;
  int64_t elementBytes = 0;
  std::shared_ptr<std::vector<char>> storage;
};

/// Bytes of one element of `type` in memory (i1 takes one byte), or 0 when the
/// type has no place in memory (StoredElements.h; an index has one here).
int64_t getElementBytes(Type type);

/// Advances `index` through `shape` in row-major order; false at the end.
bool nextIndex(SmallVectorImpl<int64_t> &index, ArrayRef<int64_t> shape);

} // namespace llmc

#endif // LLMC_SUPPORT_HOSTTENSOR_H
