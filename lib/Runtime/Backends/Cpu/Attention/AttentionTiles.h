//===- AttentionTiles.h - Tiles of an attention's operands ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operands of any float type and strides become matrices in the type of the
// sums, row by row, and results go back.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_RUNTIME_BACKENDS_CPU_ATTENTIONTILES_H
#define LLMC_LIB_RUNTIME_BACKENDS_CPU_ATTENTIONTILES_H

#include "llmc/Runtime/Base/DType.h"

#include <algorithm>
#include <cstring>

namespace llmc::rt::cpu {

template <typename T> inline constexpr DType dtypeOf = DType::f32;
template <> inline constexpr DType dtypeOf<double> = DType::f64;

/// A matrix somewhere in an operand; the strides are in elements.
struct StridedMatrix {
  void *base;
  DType dtype;
  int64_t offset, row, column;

  StridedMatrix from(int64_t i) const {
    return {base, dtype, offset + i * row, row, column};
  }
};

/// A matrix row by row.
template <typename T> struct RowMatrix {
  const T *base;
  int64_t row;
};

template <typename T>
void loadRow(const StridedMatrix &from, int64_t i, int64_t columns, T *to) {
  int64_t at = from.offset + i * from.row;
  if (from.dtype == dtypeOf<T>) {
    const T *base = static_cast<const T *>(from.base) + at;
    if (from.column == 1) {
      std::copy(base, base + columns, to);
      return;
    }
    for (int64_t j = 0; j < columns; ++j) {
      to[j] = base[j * from.column];
    }
  } else if (from.dtype == DType::bf16) {
    const uint16_t *base = static_cast<const uint16_t *>(from.base) + at;
    for (int64_t j = 0; j < columns; ++j) {
      uint32_t bits = uint32_t(base[j * from.column]) << 16;
      float value;
      std::memcpy(&value, &bits, sizeof(value));
      to[j] = value;
    }
  } else {
    for (int64_t j = 0; j < columns; ++j) {
      to[j] = static_cast<T>(
          loadElement(from.dtype, from.base, at + j * from.column));
    }
  }
}

/// `rows` of `columns`, and zeros up to `padded` rows.
template <typename T>
void copyRows(const StridedMatrix &from, int64_t rows, int64_t columns,
              int64_t padded, T *to) {
  for (int64_t i = 0; i < rows; ++i) {
    loadRow(from, i, columns, to + i * columns);
  }
  std::fill(to + rows * columns, to + padded * columns, T(0));
}

/// Where they lie, if they lie row by row, else in `buffer`.
template <typename T>
RowMatrix<T> loadRows(const StridedMatrix &from, int64_t rows, int64_t columns,
                      T *buffer) {
  if (from.dtype == dtypeOf<T> && from.column == 1) {
    return {static_cast<const T *>(from.base) + from.offset, from.row};
  }
  copyRows(from, rows, columns, rows, buffer);
  return {buffer, columns};
}

template <typename T>
void storeRow(const StridedMatrix &to, int64_t i, int64_t columns,
              const T *from, T factor) {
  int64_t at = to.offset + i * to.row;
  if (to.dtype == dtypeOf<T>) {
    T *base = static_cast<T *>(to.base) + at;
    for (int64_t j = 0; j < columns; ++j) {
      base[j * to.column] = from[j] * factor;
    }
    return;
  }
  for (int64_t j = 0; j < columns; ++j) {
    storeElement(to.dtype, to.base, at + j * to.column,
                 static_cast<double>(from[j] * factor));
  }
}

/// Parts of a workspace, each from a multiple of 64 bytes on; without a base it
/// only counts.
class Workspace {
public:
  explicit Workspace(void *base) : base(static_cast<char *>(base)) {}

  template <typename T> T *take(int64_t count) {
    char *part = base ? base + used : nullptr;
    used += (count * static_cast<int64_t>(sizeof(T)) + 63) / 64 * 64;
    return reinterpret_cast<T *>(part);
  }
  int64_t bytes() const { return used; }

private:
  char *base;
  int64_t used = 0;
};

} // namespace llmc::rt::cpu

#endif // LLMC_LIB_RUNTIME_BACKENDS_CPU_ATTENTIONTILES_H
