//===- OpView.h - An op's operands by factors -------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Questions that OpLayouts.cpp asks of an op with decided layouts: which axes
// split which factors, and what is sent, in elements of whole tensors, where an
// axis is left to a factor that is added up:
//
//   dot m k, k n -> m n, k split by {t}: each device adds up terms, and the
//   result is scattered; or the operands are gathered along k
//
// Test: test/Analysis/Layouts/OpLayoutsTest.cpp
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_ANALYSIS_OPVIEW_H
#define LLMC_LIB_ANALYSIS_OPVIEW_H

#include "llmc/Analysis/Layouts/FactorSplits.h"
#include "llmc/Analysis/Layouts/OpLayouts.h"

namespace llmc {

inline bool containsAxis(ArrayRef<dist::AxisAttr> axes, dist::AxisAttr axis) {
  return llvm::any_of(axes, [&](dist::AxisAttr a) { return a.overlaps(axis); });
}

/// A problem with what several questions need of it.
struct OpView {
  explicit OpView(const LayoutProblem &decided);

  ArrayRef<dist::LayoutAttr> operands() const { return decided.operands; }
  const graph::TensorFactors &factorsOf(size_t operand) const {
    return decided.rule.operands[operand];
  }
  bool has(size_t operand, int factor) const;
  bool isSplitBy(size_t operand, int factor, dist::AxisAttr axis) const;
  int64_t getElements(const graph::TensorFactors &tensor) const;
  double getLocalElements(const graph::TensorFactors &tensor,
                          dist::LayoutAttr layout,
                          ArrayRef<dist::AxisAttr> without) const;
  double countDevices(ArrayRef<dist::AxisAttr> axes) const;
  bool isPartial(size_t operand, dist::AxisAttr axis, ReductionKind kind) const;
  bool isApart(size_t operand, dist::AxisAttr axis) const;
  bool isSum() const;

  const LayoutProblem &decided;
  /// Mesh and pins of the op; null when nothing has a layout.
  dist::LayoutAttr like;
  /// The decided layout of the first result.
  dist::LayoutAttr wanted;
  /// For each operand with a layout, the splits of its factors.
  SmallVector<FactorSplits> poured;
};

/// One operand alone has the factor, as the table of a gather its rows.
bool isOfOne(const OpView &view, int factor);

/// One operand is split along the reduced factor, another one could be for
/// nothing, or none has it, but adding up the results sends more than gathering
/// the operand.
bool isDearSum(const OpView &view, int factor, ArrayRef<dist::AxisAttr> axes);

/// Whether the result shall leave `axis`, which splits it along `resultFactor`,
/// to the reduced `factor`: the result is then scattered after the op.
bool isTakenFrom(const OpView &view, int resultFactor, int factor,
                 dist::AxisAttr axis);

} // namespace llmc

#endif // LLMC_LIB_ANALYSIS_OPVIEW_H
