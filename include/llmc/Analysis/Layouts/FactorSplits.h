//===- FactorSplits.h - Layouts seen through a sharding rule ----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A layout splits dimensions, a sharding rule speaks of factors. Here a layout
// is poured into the factors of a rule, and factors are put together to a
// layout again (docs/layout-algebra.md, section 2).
//
//   dim {"tensor"}:512 of size 384, factors (6, 64), tensor=4
//     pour:     6 gets {"tensor"} and extent 8; 64 stays whole
//     assemble: {"tensor"}:512 again
//
// A dimension is stored as a product of *atoms* (size, extent), major to minor.
// They are canonical: what lies minor to a padded atom without padding of its
// own belongs to it, since [6:8, 64] and 384:512 hold the same elements at the
// same positions. So equal storage has one form.
//
// Test: test/Analysis/Layouts/FactorSplitsTest.cpp
//===----------------------------------------------------------------------===//

#ifndef LLMC_ANALYSIS_LAYOUTS_FACTORSPLITS_H
#define LLMC_ANALYSIS_LAYOUTS_FACTORSPLITS_H

#include "llmc/Dialect/Dist/IR/Dist.h"
#include "llmc/Dialect/Graph/IR/ShardingRule.h"

namespace llmc {

struct Atom {
  int64_t size = 1;
  /// At least the size.
  int64_t extent = 1;
  bool operator==(const Atom &other) const {
    return size == other.size && extent == other.extent;
  }
};
using Atoms = SmallVector<Atom, 1>;

/// How one factor is split and stored.
struct FactorSplit {
  /// Major to minor; axes of size 1 split nothing and are left out.
  SmallVector<dist::AxisAttr, 1> axes;
  /// Canonical; empty where the factor is not padded.
  Atoms atoms;

  /// What is stored of a factor of this size, padding included.
  int64_t getExtent(int64_t size) const;
  bool isPadded() const { return !atoms.empty(); }
  /// Neither split nor padded.
  bool isWhole() const { return axes.empty() && atoms.empty(); }
  bool operator==(const FactorSplit &other) const {
    return axes == other.axes && atoms == other.atoms;
  }
  bool operator!=(const FactorSplit &other) const { return !(*this == other); }
};

/// One for each factor of a rule; nothing where no tensor has said anything.
using FactorSplits = SmallVector<std::optional<FactorSplit>>;

/// `{"a", "b"}`
std::string showAxes(ArrayRef<dist::AxisAttr> axes);

/// The canonical form of adjacent atoms; empty when none is padded.
Atoms canonicalAtoms(ArrayRef<Atom> atoms);

/// `dim` of `size` with canonical atoms and without axes of size 1; openness
/// and priority are kept.
dist::DimAttr canonicalDim(dist::DimAttr dim, int64_t size,
                           dist::MeshAxesAttr mesh);
/// All dims canonical.
dist::LayoutAttr canonicalLayout(dist::LayoutAttr layout,
                                 ArrayRef<int64_t> shape,
                                 dist::MeshAxesAttr mesh);

/// Pours `dim` into factors of the given sizes, whose product is the dim's
/// size: axes go major to minor, and each must divide what is left of the
/// factor it meets. Returns an empty string and one split for each factor, or
/// the reason ("axis "t" of size 4 does not divide what is left (6) of ...",
/// to which the caller adds which tensor).
std::string projectDim(dist::DimAttr dim, ArrayRef<int64_t> sizes,
                       dist::MeshAxesAttr mesh,
                       SmallVectorImpl<FactorSplit> &splits);

/// The dim that consists of these factors, or null when none does: a split
/// factor stands minor to one that is not used up.
dist::DimAttr assembleDim(MLIRContext *context, ArrayRef<FactorSplit> splits,
                          ArrayRef<int64_t> sizes, dist::MeshAxesAttr mesh);

/// Pours all dims of one tensor and calls `visit` for each factor of each dim.
/// Returns the reason when a dim cannot be poured; its dim is named by `where`,
/// as in "dim 1 of #0".
std::string projectToFactors(
    dist::LayoutAttr layout, const graph::TensorFactors &tensor,
    ArrayRef<graph::Factor> factors, dist::MeshAxesAttr mesh, StringRef where,
    llvm::function_ref<void(int factor, const FactorSplit &split)> visit);

/// The same, merged into `splits` (resized when empty): a factor that already
/// has another split is the reason.
std::string projectToFactors(dist::LayoutAttr layout,
                             const graph::TensorFactors &tensor,
                             ArrayRef<graph::Factor> factors,
                             dist::MeshAxesAttr mesh, StringRef where,
                             FactorSplits &splits);

/// The layout of a tensor of these factors, with mesh symbol and pins of
/// `like`, never partial; factors without a split are whole. Null where a dim
/// cannot be assembled.
dist::LayoutAttr layoutFromFactors(const graph::TensorFactors &tensor,
                                   ArrayRef<graph::Factor> factors,
                                   const FactorSplits &splits,
                                   dist::MeshAxesAttr mesh,
                                   dist::LayoutAttr like);

} // namespace llmc

#endif // LLMC_ANALYSIS_LAYOUTS_FACTORSPLITS_H
