//===- LayoutCheck.h - Layouts of an op against its rule --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The verifier's rule; the errors are those of docs/layout-algebra.md,
// section 3. Each dimension's axes are poured into its factors; a factor is
// split alike everywhere (E1), an axis splits one factor (E2), whole factors
// are whole (E3); a value that is partial passes only where the op is linear
// (E4 to E7), the result is partial exactly where the rule makes it so (E8),
// and operands live where the op does (E9).
//
//   dot m k, k n -> m n   [{}, {t}] x [{t}, {}] -> P{t}     legal
//   dot m k, k n -> m n   [{}, {}]  x [{t}, {}]             E1 on factor k
//   exp                   P{t}                              E6
//
// Test: test/Analysis/Layouts/LayoutCheckTest.cpp
//===----------------------------------------------------------------------===//

#ifndef LLMC_ANALYSIS_LAYOUTS_LAYOUTCHECK_H
#define LLMC_ANALYSIS_LAYOUTS_LAYOUTCHECK_H

#include "llmc/Dialect/Dist/IR/Dist.h"
#include "llmc/Dialect/Graph/IR/ShardingRule.h"

namespace llmc {

struct LayoutProblem {
  /// For names in messages only; may be null.
  Operation *op = nullptr;
  graph::ShardingRule rule;
  dist::MeshAxesAttr mesh;
  /// One for each operand and result; null for values that are no tensors.
  SmallVector<dist::LayoutAttr> operands, results;
};

/// Empty when the layouts are legal, else the reason, as in the table of
/// docs/layout-algebra.md, section 3.
std::string checkLayouts(const LayoutProblem &problem);

} // namespace llmc

#endif // LLMC_ANALYSIS_LAYOUTS_LAYOUTCHECK_H
