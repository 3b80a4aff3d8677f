//===- StridedCopy.cpp - Operands as oneDNN can take them -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/Runtime/Backends/Cpu/ConvolutionTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "StridedCopy.h"

#include "LoopElements.h"

#include <algorithm>
#include <array>
#include <cstring>

namespace llmc::rt::cpu {

namespace {
/// Elements of bf16, rounded to nearest even: in line, unlike those of any
/// type.
struct BFloat16 {
  static float load(DType, const void *base, int64_t i) {
    uint32_t bits = uint32_t(static_cast<const uint16_t *>(base)[i]) << 16;
    float value;
    std::memcpy(&value, &bits, sizeof(value));
    return value;
  }
  static void store(DType, void *base, int64_t i, float value) {
    uint32_t bits;
    std::memcpy(&bits, &value, sizeof(bits));
    bool isNaN = value != value;
    bits = isNaN ? bits | 0x400000u : bits + 0x7fffu + ((bits >> 16) & 1u);
    static_cast<uint16_t *>(base)[i] = static_cast<uint16_t>(bits >> 16);
  }
};

/// Elements of f16, read in line: an exponent less, which a product by a power
/// of two gives back, to the smallest numbers too.
struct Half : AnyFloat<float> {
  static float load(DType, const void *base, int64_t i) {
    constexpr uint32_t sign = 0x8000u, exponent = 0x7c00u;
    uint32_t half = static_cast<const uint16_t *>(base)[i];
    uint32_t bits = (half & (sign - 1)) << 13;
    float value;
    std::memcpy(&value, &bits, sizeof(value));
    value *= 0x1p112f;
    std::memcpy(&bits, &value, sizeof(bits));
    bool isFinite = (half & exponent) != exponent;
    bits |= (isFinite ? 0u : 0x7f800000u) | (half & sign) << 16;
    std::memcpy(&value, &bits, sizeof(value));
    return value;
  }
};

/// Floats of eight bits, read from a table of all of them.
template <DType type> struct Eighth : AnyFloat<float> {
  static std::array<float, 256> makeTable() {
    std::array<float, 256> numbers;
    for (int bits = 0; bits < 256; ++bits) {
      numbers[bits] = static_cast<float>(
          fromSmallFloat(*findSmallFloat(type), static_cast<uint8_t>(bits)));
    }
    return numbers;
  }
  static inline const std::array<float, 256> table = makeTable();

  static float load(DType, const void *base, int64_t i) {
    return table[static_cast<const uint8_t *>(base)[i]];
  }
};

/// Calls `visit` with what reads and writes elements of `type`.
template <typename Visit> void withElements(DType type, const Visit &visit) {
  switch (type) {
  case DType::f32:
    return visit(Typed<float>());
  case DType::bf16:
    return visit(BFloat16());
  case DType::f16:
    return visit(Half());
  case DType::f8E4M3FN:
    return visit(Eighth<DType::f8E4M3FN>());
  case DType::f8E5M2:
    return visit(Eighth<DType::f8E5M2>());
  default:
    return visit(AnyFloat<float>());
  }
}

/// Elements along the innermost dim: `count` of them, each with the steps from
/// one to the next.
struct Steps {
  int64_t count, copy, original;
};

template <typename Elements>
void readLine(DType type, const void *original, float *copy, int64_t from,
              int64_t to, const Steps &steps) {
  for (int64_t i = 0; i < steps.count; ++i) {
    copy[to + i * steps.copy] =
        Elements::load(type, original, from + i * steps.original);
  }
}

template <typename Elements>
void writeLine(DType type, const float *copy, void *original, int64_t from,
               int64_t to, const Steps &steps, bool adds) {
  for (int64_t i = 0; i < steps.count; ++i) {
    int64_t at = to + i * steps.original;
    float value = copy[from + i * steps.copy];
    if (adds) {
      value += Elements::load(type, original, at);
    }
    Elements::store(type, original, at, value);
  }
}
} // namespace

StridedCopy::StridedCopy(std::vector<CopiedDim> list, DType type)
    : dims(std::move(list)), type(type) {
  std::sort(dims.begin(), dims.end(),
            [](const auto &x, const auto &y) { return x.stride > y.stride; });
  for (const CopiedDim &dim : dims) {
    elements += (dim.size - 1) * dim.stride;
  }
}

/// Calls `line` with the first element of each line in both.
template <typename Line>
void StridedCopy::walk(size_t dim, int64_t copy, int64_t original,
                       const Line &line) const {
  const CopiedDim &here = dims[dim];
  int64_t step = here.isFlipped ? -here.stride : here.stride;
  original += here.isFlipped ? (here.size - 1) * here.stride : 0;
  if (dim + 1 == dims.size()) {
    line(copy, original, Steps{here.size, here.stride, step});
    return;
  }
  for (int64_t i = 0; i < here.size; ++i) {
    walk(dim + 1, copy + i * here.stride, original + i * step, line);
  }
}

void StridedCopy::read(const void *original, void *copy) const {
  auto *to = static_cast<float *>(copy);
  withElements(type, [&](auto elements) {
    walk(0, 0, 0, [&](int64_t copied, int64_t from, const Steps &steps) {
      readLine<decltype(elements)>(type, original, to, from, copied, steps);
    });
  });
}

void StridedCopy::write(const void *copy, void *original, bool adds) const {
  const auto *from = static_cast<const float *>(copy);
  withElements(type, [&](auto elements) {
    walk(0, 0, 0, [&](int64_t copied, int64_t to, const Steps &steps) {
      writeLine<decltype(elements)>(type, from, original, copied, to, steps,
                                    adds);
    });
  });
}

} // namespace llmc::rt::cpu
