//===- OpLayouts.h - In which splits an op runs -----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Propagation decides a layout for each value; how an op then runs follows
// from these and its sharding rule alone:
//
// - a factor of a result is split as the decided layout of the result says;
// - a factor that is reduced is split as the largest operand says, unless its
//   axes are taken. Where the result wants the same axis, what moves fewer
//   elements wins: gathering the operands (four times, if they agree), or
//   scattering the partial result; where another operand must move for that,
//   as indices do for a table, only if no use gathers the first one anyway
//   (UsesInPlace.h). Nor is it split where operands disagree, or one alone has
//   it as a table its rows, and adding up the results sends more than gathering
//   the operand that is split;
// - a factor that must be whole, or needs data of neighbours, is not split;
// - the result is partial over the axes of reduced factors, and over those over
//   which it was decided partial and the op carries its operands' partial sums.
//
//   dot m k, k n -> m n   [{d}, {t}] x [{t}, {}], decided [{d}, {}]
//     splits m {d}, k {t};  wants both operands as they are;
//     makes [{d}, {}] partial (sum) over t
//   add                   P{t}, full, decided P{t}
//     wants P{t} of both: the second is kept on one coordinate
//
// So the layouts that an op wants and makes are legal by its rule
// (LayoutCheck.h), whatever was decided; where they differ from the decided
// ones, values are resharded.
//
// Test: test/Analysis/Layouts/OpLayoutsTest.cpp
//===----------------------------------------------------------------------===//

#ifndef LLMC_ANALYSIS_LAYOUTS_OPLAYOUTS_H
#define LLMC_ANALYSIS_LAYOUTS_OPLAYOUTS_H

#include "llmc/Analysis/Layouts/FactorSplits.h"
#include "llmc/Analysis/Layouts/LayoutCheck.h"

namespace llmc {

/// An axis over which results are partial because operands are.
struct CarriedAxis {
  dist::AxisAttr axis;
  ReductionKind kind;
  /// Operands in which the op is jointly linear.
  SmallVector<int> group;

  bool operator==(const CarriedAxis &other) const {
    return axis == other.axis && kind == other.kind && group == other.group;
  }
};

struct OpLayouts {
  /// One for each factor of the rule, never absent.
  FactorSplits splits;
  /// Axes that split a reduced factor, with its kind.
  SmallVector<std::pair<dist::AxisAttr, ReductionKind>> reduced;
  SmallVector<CarriedAxis> carried;
  /// The op is the sum of values at disjoint coordinates of this axis, each of
  /// which stays where it is (`dist.join`); null otherwise.
  dist::AxisAttr joined;
  /// What the op wants of each operand; null for values that are no tensors.
  SmallVector<dist::LayoutAttr> operands;
  /// What it makes.
  SmallVector<dist::LayoutAttr> results;

  bool operator==(const OpLayouts &other) const;
};

/// For tables: a model has many ops, which run in few ways.
struct OpLayoutsHash {
  size_t operator()(const OpLayouts &layouts) const;
};

/// How the op runs, given the layouts decided for operands and results. The op
/// lives where its first result does.
OpLayouts getOpLayouts(const LayoutProblem &decided);

/// The splits alone.
FactorSplits chooseSplits(const LayoutProblem &decided);

/// True where a value in layout `have` can be read as `want`: the same, but
/// `have` may live at more coordinates of an axis over which it is not partial.
bool isReadableAs(dist::LayoutAttr have, dist::LayoutAttr want);

} // namespace llmc

#endif // LLMC_ANALYSIS_LAYOUTS_OPLAYOUTS_H
