//===- Expression.cpp - What depends on the device or microbatch ----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Evaluation recurses without memory of shared nodes and allocates nothing;
// checkStructure bounds the number of nodes that it can visit.
//
// Test: test/Runtime/Plan/Format/ExpressionTest.cpp
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Plan/Format/Expression.h"

#include "llmc/Runtime/Base/CheckedMath.h"

#include <algorithm>
#include <fmt/format.h>

namespace llmc::rt::plan {

static std::optional<int64_t> apply(ExprOp op, int64_t a, int64_t b) {
  switch (op) {
  case ExprOp::add:
    return (Checked(a) + b).get();
  case ExprOp::sub:
    return (Checked(a) - b).get();
  case ExprOp::mul:
    return (Checked(a) * b).get();
  case ExprOp::floorDiv:
    return floorDiv(a, b);
  case ExprOp::mod:
    return floorMod(a, b);
  case ExprOp::min:
    return std::min(a, b);
  case ExprOp::max:
    return std::max(a, b);
  case ExprOp::equal:
    return a == b;
  case ExprOp::less:
    return a < b;
  case ExprOp::lessEqual:
    return a <= b;
  default:
    return std::nullopt;
  }
}

std::optional<int64_t> evaluate(const ExprTable &table, ExprId id,
                                const ExprScope &scope) {
  const ExprNode &node = table[id];
  switch (node.op) {
  case ExprOp::constant:
    return node.value;
  case ExprOp::coordinate:
    return scope.coordinates[node.value];
  case ExprOp::microbatch:
    return scope.microbatch;
  case ExprOp::parameter:
    return node.value < scope.numParameters
               ? std::optional<int64_t>(scope.parameters[node.value])
               : std::nullopt;
  default:
    break;
  }
  std::optional<int64_t> a = evaluate(table, node.lhs, scope);
  std::optional<int64_t> b = evaluate(table, node.rhs, scope);
  return a && b ? apply(node.op, *a, *b) : std::nullopt;
}

/// The hull of `op` at the four corners: exact for what is monotone in each
/// operand.
static std::optional<Interval> corners(ExprOp op, Interval a, Interval b) {
  std::optional<Interval> hull;
  for (int64_t x : {a.low, a.high}) {
    for (int64_t y : {b.low, b.high}) {
      std::optional<int64_t> value = apply(op, x, y);
      if (!value) {
        return std::nullopt;
      }
      hull = hull ? Interval{std::min(hull->low, *value),
                             std::max(hull->high, *value)}
                  : Interval{*value, *value};
    }
  }
  return hull;
}

static std::optional<Interval> boundMod(Interval a, Interval b) {
  if (b.low <= 0) {
    return std::nullopt;
  }
  if (b.isPoint() && floorDiv(a.low, b.low) == floorDiv(a.high, b.low)) {
    return Interval{*floorMod(a.low, b.low), *floorMod(a.high, b.low)};
  }
  return Interval{0, b.high - 1};
}

static Interval boundCompare(ExprOp op, Interval a, Interval b) {
  bool always, possible;
  if (op == ExprOp::equal) {
    always = a.isPoint() && b.isPoint() && a.low == b.low;
    possible = a.low <= b.high && b.low <= a.high;
  } else if (op == ExprOp::less) {
    always = a.high < b.low;
    possible = a.low < b.high;
  } else {
    always = a.high <= b.low;
    possible = a.low <= b.high;
  }
  return {always ? 1 : 0, possible ? 1 : 0};
}

static std::optional<Interval> boundBinary(ExprOp op, Interval a, Interval b) {
  switch (op) {
  case ExprOp::floorDiv:
    // A divisor that may be zero or change its sign is not monotone.
    return b.low > 0 ? corners(op, a, b) : std::nullopt;
  case ExprOp::mod:
    return boundMod(a, b);
  case ExprOp::equal:
  case ExprOp::less:
  case ExprOp::lessEqual:
    return boundCompare(op, a, b);
  default:
    return corners(op, a, b);
  }
}

std::optional<Interval> bound(const ExprTable &table, ExprId id,
                              const IntervalScope &scope) {
  const ExprNode &node = table[id];
  switch (node.op) {
  case ExprOp::constant:
    return Interval{node.value, node.value};
  case ExprOp::coordinate:
    return scope.coordinates[node.value];
  case ExprOp::microbatch:
    return scope.microbatch;
  case ExprOp::parameter:
    if (node.value >= static_cast<int64_t>(scope.parameters.size())) {
      return std::nullopt;
    }
    return scope.parameters[node.value];
  default:
    break;
  }
  std::optional<Interval> a = bound(table, node.lhs, scope);
  std::optional<Interval> b = bound(table, node.rhs, scope);
  return a && b ? boundBinary(node.op, *a, *b) : std::nullopt;
}

namespace {
/// What all values have in common: the lowest `count` bits are those of `bits`.
/// A constant has all 64.
struct LowBits {
  int count = 0;
  uint64_t bits = 0;
};
} // namespace

/// How many of the known bits are zeros, from the lowest one on.
static int zerosOf(LowBits x) {
  int zeros = 0;
  while (zeros < x.count && !(x.bits >> zeros & 1)) {
    ++zeros;
  }
  return zeros;
}

static LowBits lowBitsOf(Interval range) {
  return range.isPoint() ? LowBits{64, static_cast<uint64_t>(range.low)}
                         : LowBits{};
}

/// `a` rounded down to a multiple of `b`, divided by it; known where `b` is a
/// power of two.
static LowBits divideLowBits(LowBits a, LowBits b) {
  int shift = zerosOf(b);
  if (b.count < 64 || shift >= a.count || b.bits != uint64_t(1) << shift) {
    return {};
  }
  return {a.count - shift, a.bits >> shift};
}

static LowBits combineLowBits(ExprOp op, LowBits a, LowBits b) {
  int both = std::min(a.count, b.count);
  switch (op) {
  case ExprOp::add:
    return {both, a.bits + b.bits};
  case ExprOp::sub:
    return {both, a.bits - b.bits};
  case ExprOp::mul:
    return {std::min({a.count + zerosOf(b), b.count + zerosOf(a), 64}),
            a.bits * b.bits};
  case ExprOp::floorDiv:
    return divideLowBits(a, b);
  case ExprOp::mod:
    // Differs from `a` by a multiple of `b`.
    return {std::min(a.count, zerosOf(b)), a.bits};
  case ExprOp::min:
  case ExprOp::max:
    return {zerosOf({both, a.bits ^ b.bits}), a.bits};
  default:
    return {};
  }
}

static LowBits lowBits(const ExprTable &table, ExprId id,
                       const IntervalScope &scope) {
  const ExprNode &node = table[id];
  if (node.op < ExprOp::add) {
    // A leaf that `bound` accepted.
    return lowBitsOf(*bound(table, id, scope));
  }
  return combineLowBits(node.op, lowBits(table, node.lhs, scope),
                        lowBits(table, node.rhs, scope));
}

bool isMultipleOf(const ExprTable &table, ExprId id, const IntervalScope &scope,
                  int64_t size) {
  if (Interval range = *bound(table, id, scope); range.isPoint()) {
    return range.low % size == 0;
  }
  int zeros = zerosOf(lowBits(table, id, scope));
  return int64_t(1) << std::min(zeros, 62) >= size;
}

static std::string describeAt(const ExprTable &table, ExprId id,
                              const std::vector<std::string> &axes, int depth) {
  static constexpr const char *signs[] = {"+",   "-",   "*",  "floordiv", "mod",
                                          "min", "max", "==", "<",        "<="};
  const ExprNode &node = table[id];
  switch (node.op) {
  case ExprOp::constant:
    return fmt::format("{}", node.value);
  case ExprOp::coordinate:
    return fmt::format("coordinate({})", axes[node.value]);
  case ExprOp::microbatch:
    return "microbatch";
  case ExprOp::parameter:
    return fmt::format("parameter({})", node.value);
  default:
    break;
  }
  std::string lhs = describeAt(table, node.lhs, axes, depth + 1);
  std::string rhs = describeAt(table, node.rhs, axes, depth + 1);
  const char *sign =
      signs[static_cast<int>(node.op) - static_cast<int>(ExprOp::add)];
  if (node.op == ExprOp::min || node.op == ExprOp::max) {
    return fmt::format("{}({}, {})", sign, lhs, rhs);
  }
  std::string text = fmt::format("{} {} {}", lhs, sign, rhs);
  return depth ? "(" + text + ")" : text;
}

std::string describe(const ExprTable &table, ExprId id,
                     const std::vector<std::string> &axes) {
  return id == noExpr ? "0" : describeAt(table, id, axes, 0);
}

} // namespace llmc::rt::plan
