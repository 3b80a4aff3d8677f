//===- Reduction.cpp - Sums of what ranks gave ----------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Nccl/Reduction.h"
#include "BlasLt/Numbers.h"

#include <algorithm>
#include <type_traits>

using namespace llmc::standin;

size_t llmc::standin::bytesOfType(ncclDataType_t type) {
  static const size_t bytes[] = {1, 1, 4, 4, 8, 8, 2, 4, 8, 2, 1, 1};
  return type >= 0 && type <= ncclFloat8e5m2 ? bytes[type] : 0;
}

const char *llmc::standin::nameOfType(ncclDataType_t type) {
  static const char *const names[] = {"i8",  "u8",   "i32",  "u32",
                                      "i64", "u64",  "f16",  "f32",
                                      "f64", "bf16", "e4m3", "e5m2"};
  return type >= 0 && type <= ncclFloat8e5m2 ? names[type] : "no type";
}

const char *llmc::standin::nameOfOp(ncclRedOp_t op) {
  static const char *const names[] = {"sum", "prod", "max", "min", "avg"};
  return op >= 0 && op <= ncclAvg ? names[op] : "no op";
}

namespace {

/// A number as it lies in memory, and as it is computed with.
template <typename T> struct Plain {
  using Value = T;
  static constexpr size_t kBytes = sizeof(T);
  static T load(const char *at) {
    T value;
    std::memcpy(&value, at, sizeof value);
    return value;
  }
  static void store(char *at, T value) {
    std::memcpy(at, &value, sizeof value);
  }
  static T round(T value) { return value; }
};

template <const FloatFormat &format, typename Bits> struct Narrow {
  using Value = float;
  static constexpr size_t kBytes = sizeof(Bits);
  static float load(const char *at) {
    Bits bits;
    std::memcpy(&bits, at, sizeof bits);
    return decode(format, bits);
  }
  static void store(char *at, float value) {
    auto bits = static_cast<Bits>(encode(format, value));
    std::memcpy(at, &bits, sizeof bits);
  }
  static float round(float value) { return roundTo(format, value); }
};

template <typename T> T combine(ncclRedOp_t op, T a, T b) {
  switch (op) {
  case ncclProd:
    return a * b;
  case ncclMax:
    return std::max(a, b);
  case ncclMin:
    return std::min(a, b);
  default:
    return a + b;
  }
}

template <typename Format>
void reduceAs(ncclRedOp_t op, const std::vector<const char *> &from, char *to,
              size_t count, size_t part, size_t first) {
  using T = typename Format::Value;
  size_t ranks = from.size();
  constexpr bool isFloat = std::is_floating_point<T>::value;
  // The mean of floats: each is divided before they are added.
  T factor = isFloat && op == ncclAvg ? T(1) / T(ranks) : T(1);
  for (size_t i = 0; i < count; ++i) {
    size_t begin = (first + i) / part + 1;
    auto term = [&](size_t step) {
      const char *at = from[(begin + step) % ranks] + i * Format::kBytes;
      T value = Format::load(at);
      return isFloat ? Format::round(value * factor) : value;
    };
    T sum = term(0);
    for (size_t step = 1; step < ranks; ++step)
      sum = Format::round(combine<T>(op, sum, term(step)));
    if (!isFloat && op == ncclAvg)
      sum = sum / T(ranks);
    Format::store(to + i * Format::kBytes, sum);
  }
}

constexpr FloatFormat kHalf = kF16, kBrain = kBF16, kNarrow4 = kE4M3,
                      kNarrow5 = kE5M2;

} // namespace

void llmc::standin::reduce(ncclDataType_t type, ncclRedOp_t op,
                           const std::vector<const char *> &from, char *to,
                           size_t count, size_t part, size_t first) {
  auto run = [&](auto format) {
    reduceAs<decltype(format)>(op, from, to, count, part, first);
  };
  switch (type) {
  case ncclInt8:
    return run(Plain<int8_t>());
  case ncclUint8:
    return run(Plain<uint8_t>());
  case ncclInt32:
    return run(Plain<int32_t>());
  case ncclUint32:
    return run(Plain<uint32_t>());
  case ncclInt64:
    return run(Plain<int64_t>());
  case ncclUint64:
    return run(Plain<uint64_t>());
  case ncclFloat32:
    return run(Plain<float>());
  case ncclFloat64:
    return run(Plain<double>());
  case ncclFloat16:
    return run(Narrow<kHalf, uint16_t>());
  case ncclBfloat16:
    return run(Narrow<kBrain, uint16_t>());
  case ncclFloat8e4m3:
    return run(Narrow<kNarrow4, uint8_t>());
  case ncclFloat8e5m2:
    return run(Narrow<kNarrow5, uint8_t>());
  }
}
