//===- Expression.h - What depends on the device or microbatch --*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Offsets, slots, scalars of kernels and peers may be expressions over mesh
// coordinates, the microbatch and the parameters of a program. They are nodes
// of one table of the plan; a node refers to earlier nodes only.
//
//   5 * coordinate("tensor")  =  [0] constant 5, [1] coordinate 2, [2] mul 0 1
//
// Test: test/Runtime/Plan/Format/ExpressionTest.cpp
//===----------------------------------------------------------------------===//

#ifndef LLMC_RUNTIME_PLAN_FORMAT_EXPRESSION_H
#define LLMC_RUNTIME_PLAN_FORMAT_EXPRESSION_H

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace llmc::rt::plan {

/// Index of a node, or `noExpr`.
using ExprId = int32_t;
inline constexpr ExprId noExpr = -1;

/// The numbers are stored in plan files: append only.
enum class ExprOp : uint8_t {
  constant = 0,   ///< value
  coordinate = 1, ///< of mesh axis `value`
  microbatch = 2,
  parameter = 3, ///< number `value` of the running program
  add = 4,
  sub = 5,
  mul = 6,
  floorDiv = 7, ///< rounds towards minus infinity
  mod = 8,      ///< has the sign of the divisor
  min = 9,
  max = 10,
  equal = 11, ///< comparisons yield 0 or 1
  less = 12,
  lessEqual = 13,
};
inline constexpr int numExprOps = 14;

struct ExprNode {
  ExprOp op = ExprOp::constant;
  ExprId lhs = noExpr;
  ExprId rhs = noExpr;
  int64_t value = 0;
};

using ExprTable = std::vector<ExprNode>;

/// The values of the leaves.
struct ExprScope {
  const int64_t *coordinates = nullptr;
  int64_t microbatch = 0;
  const int64_t *parameters = nullptr;
  int64_t numParameters = 0;
};

/// Absent on overflow, division by zero or a parameter that does not exist.
/// Assumes a table that passed `checkStructure`.
std::optional<int64_t> evaluate(const ExprTable &table, ExprId id,
                                const ExprScope &scope);

struct Interval {
  int64_t low = 0;
  int64_t high = 0;
  bool isPoint() const { return low == high; }
};

/// The leaves as intervals, one for each mesh axis and each parameter.
struct IntervalScope {
  std::vector<Interval> coordinates;
  Interval microbatch;
  std::vector<Interval> parameters;
};

/// Bounds of all values; exact when each leaf occurs once. Absent when some
/// value may overflow or divide by zero.
std::optional<Interval> bound(const ExprTable &table, ExprId id,
                              const IntervalScope &scope);

/// True when every value is a multiple of `size`, a power of two. Bounds alone
/// would not do: 2 * coordinate over 3 devices ends in multiples of 4, and
/// meets 2 between them. Assumes that `bound` is present.
bool isMultipleOf(const ExprTable &table, ExprId id, const IntervalScope &scope,
                  int64_t size);

/// "5 * coordinate(tensor) + microbatch mod 2"; `axes` are the mesh's names.
std::string describe(const ExprTable &table, ExprId id,
                     const std::vector<std::string> &axes);

} // namespace llmc::rt::plan

#endif // LLMC_RUNTIME_PLAN_FORMAT_EXPRESSION_H
