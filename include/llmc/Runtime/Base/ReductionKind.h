//===- ReductionKind.h - How values of several devices combine --*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The one list of reductions: of sharding rules, partial values, the planner of
// reshards, the bodies of reduce and scatter, plans and communicators.
//
//   kind         x, y           neutral     once more with itself
//   sum          x + y          0           changes it
//   max, min     the extreme    -inf, inf   changes nothing
//   and, or      bit by bit     all ones, 0 changes nothing
//   product      x y            1           changes it
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_RUNTIME_BASE_REDUCTIONKIND_H
#define LLMC_RUNTIME_BASE_REDUCTIONKIND_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <type_traits>

namespace llmc {

/// The numbers are those of plan files.
enum class ReductionKind : uint8_t {
  sum = 0,
  max = 1,
  min = 2,
  bitAnd = 3,
  bitOr = 4,
  product = 5,
};

struct ReductionTraits {
  ReductionKind kind;
  std::string_view name;
  /// Combining a value with itself changes nothing, so that a full value may
  /// stand for a term on every device.
  bool isIdempotent;
  /// Of integers alone.
  bool isBitwise;
};

/// By number.
inline constexpr std::array<ReductionTraits, 6> reductionTraits = {{
    {ReductionKind::sum, "sum", false, false},
    {ReductionKind::max, "max", true, false},
    {ReductionKind::min, "min", true, false},
    {ReductionKind::bitAnd, "and", true, true},
    {ReductionKind::bitOr, "or", true, true},
    {ReductionKind::product, "product", false, false},
}};

static_assert(
    [] {
      for (std::size_t i = 0; i < reductionTraits.size(); ++i)
        if (static_cast<std::size_t>(reductionTraits[i].kind) != i)
          return false;
      return true;
    }(),
    "expected one row for each kind, by number");

/// Assumes one of the kinds, as below: readers of files check the number.
constexpr const ReductionTraits &traitsOf(ReductionKind kind) {
  return reductionTraits[static_cast<std::size_t>(kind)];
}
constexpr bool isIdempotent(ReductionKind kind) {
  return traitsOf(kind).isIdempotent;
}
constexpr bool isBitwise(ReductionKind kind) {
  return traitsOf(kind).isBitwise;
}

/// "sum", "max", "min", "and", "or", "product"; "unknown" for a number beyond.
constexpr std::string_view nameOf(ReductionKind kind) {
  auto number = static_cast<std::size_t>(kind);
  return number < reductionTraits.size() ? reductionTraits[number].name
                                         : "unknown";
}
constexpr std::optional<ReductionKind> reductionNamed(std::string_view name) {
  for (const ReductionTraits &traits : reductionTraits)
    if (traits.name == name)
      return traits.kind;
  return std::nullopt;
}

/// The functions of the kinds on numbers of one type. Integers wrap around; a
/// NaN of either side is the extreme of both.
struct SumOf {
  template <typename T> static constexpr T apply(T x, T y) {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(static_cast<uint64_t>(x) +
                            static_cast<uint64_t>(y));
    else
      return x + y;
  }
};
struct ProductOf {
  template <typename T> static constexpr T apply(T x, T y) {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(static_cast<uint64_t>(x) *
                            static_cast<uint64_t>(y));
    else
      return x * y;
  }
};
struct MaxOf {
  template <typename T> static constexpr T apply(T x, T y) {
    return x != x || x > y ? x : y;
  }
};
struct MinOf {
  template <typename T> static constexpr T apply(T x, T y) {
    return x != x || x < y ? x : y;
  }
};
struct BitAndOf {
  template <typename T> static constexpr T apply(T x, T y) {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(x & y);
    else
      return static_cast<T>(x != 0 && y != 0);
  }
};
struct BitOrOf {
  template <typename T> static constexpr T apply(T x, T y) {
    if constexpr (std::is_integral_v<T>)
      return static_cast<T>(x | y);
    else
      return static_cast<T>(x != 0 || y != 0);
  }
};

/// Calls `visit` with the function of the kind.
template <typename Visit>
constexpr auto withReduction(ReductionKind kind, Visit visit) {
  switch (kind) {
  case ReductionKind::sum:
    return visit(SumOf());
  case ReductionKind::max:
    return visit(MaxOf());
  case ReductionKind::min:
    return visit(MinOf());
  case ReductionKind::bitAnd:
    return visit(BitAndOf());
  case ReductionKind::bitOr:
    return visit(BitOrOf());
  case ReductionKind::product:
    return visit(ProductOf());
  }
  return decltype(visit(SumOf()))();
}

template <typename T> constexpr T combine(ReductionKind kind, T x, T y) {
  return withReduction(kind, [&](auto op) { return op.apply(x, y); });
}

} // namespace llmc

#endif // LLMC_RUNTIME_BASE_REDUCTIONKIND_H
