//===- ShardingRule.h - How an op's dimensions hang together ----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An op states its factors once, as in "b m k, b k n -> b m n, k reduced by
// sum". Propagation, reshard insertion, partitioning, verification and the
// cost model read this one rule and never the op's name.
//
//   dot_general m k, k n -> m n:
//     factors  = {m pass, n pass, k reduced sum}
//     operands = {{[m], [k]}, {[k], [n]}}, results = {{[m], [n]}}
//     carries  = {sum: {0}, {1}}
//
// A dimension is a list of factors, major to minor (a reshape merges and
// splits dimensions); a dimension of size 1 may have none. Which layouts an op
// may have by these facts: docs/layout-algebra.md, section 3.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_DIALECT_GRAPH_IR_SHARDINGRULE_H
#define LLMC_DIALECT_GRAPH_IR_SHARDINGRULE_H

#include "llmc/Runtime/Base/ReductionKind.h"
#include "llmc/Support/LLVM.h"
#include <string>

namespace llmc::graph {

enum class FactorKind {
  /// Splitting it splits every tensor that has it; nothing else changes.
  Pass,
  /// Absent from the results, which become partial when it is split.
  Reduced,
  /// Must not be split (sort dimension, index vector).
  Whole,
  /// Splitting it needs data of neighbours (slice, pad, reverse).
  Permuted,
};

struct Factor {
  int64_t size = 1;
  FactorKind kind = FactorKind::Pass;
  /// Meaningful for Reduced factors: how the results' summands combine. It
  /// also names the neutral value that padding of the operands must hold.
  ReductionKind reduction = ReductionKind::sum;
  /// Its positions are numbers in an operand (rows of a gather or a scatter):
  /// a part is told where it begins, and equal ops on parts are not one op.
  bool isAddressed = false;

  bool operator==(const Factor &other) const;
};

/// The factors of each dimension of one tensor, major to minor.
using TensorFactors = SmallVector<SmallVector<int, 1>>;

/// Groups of operands in which the results are jointly linear for partial
/// values of `kind`: add has one group {0, 1}; multiply has {0} and {1}.
struct Linearity {
  ReductionKind kind = ReductionKind::sum;
  SmallVector<SmallVector<int>> groups;

  bool operator==(const Linearity &other) const;
};

struct ShardingRule {
  SmallVector<Factor> factors;
  SmallVector<TensorFactors> operands;
  SmallVector<TensorFactors> results;
  SmallVector<Linearity> carries;
  /// Operands that are terms of one sum though a factor is reduced (scatter:
  /// operand and updates); only one device may contribute such an operand.
  SmallVector<int> addends;
  /// Factors for which `getDistributedForm` of the op names a global form with
  /// plain rules (cross-entropy over split classes).
  SmallVector<int> distributed;

  /// Adds a factor and returns its number.
  int addFactor(int64_t size, FactorKind kind = FactorKind::Pass,
                ReductionKind reduction = ReductionKind::sum);
  /// States that the result is linear in each group of operands.
  void addLinear(ReductionKind kind, ArrayRef<SmallVector<int>> groups);

  /// Empty factor lists for every operand and result of `op`.
  static ShardingRule forOp(Operation *op);
  /// Same-shape operands and results, dimension by dimension; scalar operands
  /// of an op with ranked results take no factors.
  static ShardingRule elementwise(Operation *op);

  /// "([m, k],[k, n])->([m, n]) {k reduced sum}", for remarks and tests.
  std::string str() const;

  bool operator==(const ShardingRule &other) const;
};

/// For tables of rules: a model has many ops, and few rules.
struct ShardingRuleHash {
  size_t operator()(const ShardingRule &rule) const;
};

/// Checks that each tensor's factors multiply to its shape; the message names
/// operand or result, dimension and both numbers.
LogicalResult verifyRule(Operation *op, const ShardingRule &rule);

} // namespace llmc::graph

#endif // LLMC_DIALECT_GRAPH_IR_SHARDINGRULE_H
