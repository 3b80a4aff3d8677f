//===- CheckedMath.h - 64-bit arithmetic that cannot wrap -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// For sizes and offsets that a file supplies: every result is present or
// absent, never wrapped.
//
//   Checked(offset) + Checked(count) * 4 <= size     // absent: not valid
//
// Test: test/Runtime/Base/CheckedMathTest.cpp
//===----------------------------------------------------------------------===//

#ifndef LLMC_RUNTIME_BASE_CHECKEDMATH_H
#define LLMC_RUNTIME_BASE_CHECKEDMATH_H

#include <cstdint>
#include <optional>
#include <vector>

namespace llmc::rt {

/// An int64 that remembers whether the computation left the range.
class Checked {
public:
  constexpr Checked(int64_t value) : value_(value) {}
  static constexpr Checked overflow() {
    Checked c(0);
    c.valid_ = false;
    return c;
  }

  constexpr bool valid() const { return valid_; }
  /// Assumes `valid()`.
  constexpr int64_t value() const { return value_; }
  std::optional<int64_t> get() const {
    return valid_ ? std::optional<int64_t>(value_) : std::nullopt;
  }
  /// Valid and within [low, high].
  constexpr bool within(int64_t low, int64_t high) const {
    return valid_ && value_ >= low && value_ <= high;
  }

  friend Checked operator+(Checked a, Checked b) {
    int64_t r;
    bool bad = __builtin_add_overflow(a.value_, b.value_, &r);
    return combine(a, b, r, bad);
  }
  friend Checked operator-(Checked a, Checked b) {
    int64_t r;
    bool bad = __builtin_sub_overflow(a.value_, b.value_, &r);
    return combine(a, b, r, bad);
  }
  friend Checked operator*(Checked a, Checked b) {
    int64_t r;
    bool bad = __builtin_mul_overflow(a.value_, b.value_, &r);
    return combine(a, b, r, bad);
  }

private:
  static Checked combine(Checked a, Checked b, int64_t r, bool bad) {
    return bad || !a.valid_ || !b.valid_ ? overflow() : Checked(r);
  }
  int64_t value_;
  bool valid_ = true;
};

/// The product of all sizes; overflow when one is negative.
inline Checked checkedProduct(const std::vector<int64_t> &sizes) {
  Checked product = 1;
  for (int64_t size : sizes) {
    if (size < 0) {
      return Checked::overflow();
    }
    product = product * size;
  }
  return product;
}

/// Division that rounds towards minus infinity, and its remainder (with the
/// sign of `b`). Absent for b = 0 and for the one quotient that overflows.
inline std::optional<int64_t> floorDiv(int64_t a, int64_t b) {
  if (b == 0 || (a == INT64_MIN && b == -1)) {
    return std::nullopt;
  }
  int64_t q = a / b;
  return (a % b != 0 && ((a < 0) != (b < 0))) ? q - 1 : q;
}
inline std::optional<int64_t> floorMod(int64_t a, int64_t b) {
  if (b == 0) {
    return std::nullopt;
  }
  if (b == -1) {
    return 0;
  }
  int64_t r = a % b;
  return (r != 0 && ((r < 0) != (b < 0))) ? r + b : r;
}

/// The least multiple of `alignment` that is not below `value`.
inline Checked alignUp(int64_t value, int64_t alignment) {
  Checked sum = Checked(value) + (alignment - 1);
  return sum.valid() ? Checked(sum.value() / alignment * alignment) : sum;
}

} // namespace llmc::rt

#endif // LLMC_RUNTIME_BASE_CHECKEDMATH_H
