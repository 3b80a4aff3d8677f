//===- DimClasses.h - Dims that hang together, as atoms ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rules tie dims: both sides of an addition share every dim, a reshape of 384
// to 6 x 64 ties one dim to two. Dims tied at once form a class; a class is cut
// where any rule cuts it, so that in the end every dim is a list of *atoms* and
// a rule speaks of whole atoms only (docs/layout-algebra.md, section 2).
//
//   reshape 384 -> 6 x 64:  dim 384 = (A, B), dims 6 = (A), 64 = (B)
//   add 384 + 384:          both (A, B)
//
// A boundary remembers in which phases some op needs it. Cuts that are no chain
// of divisors (6 x 64 and 8 x 48 of one dim) cannot be met.
//
// Union-find over nodes; a node is a leaf or cut in two.
//
// Test: test/Analysis/Layouts/DimClassesTest.cpp
//===----------------------------------------------------------------------===//

#ifndef LLMC_ANALYSIS_LAYOUTS_DIMCLASSES_H
#define LLMC_ANALYSIS_LAYOUTS_DIMCLASSES_H

#include "llmc/Support/LLVM.h"
#include <vector>

namespace llmc {

class DimClasses {
public:
  struct ClassAtom {
    /// Equal numbers: the same atom.
    int id = 0;
    int64_t size = 1;
    /// Phases (bits) in which an op needs the boundary on its minor side.
    uint8_t boundary = 0;
  };
  using ClassAtoms = SmallVector<ClassAtom, 2>;

  /// A new dim in a class of its own; returns its number.
  int addDim(int64_t size);

  /// Part of a dim: of size `size`, minor to it stand `minor` elements.
  struct Part {
    int dim = 0;
    int64_t size = 1;
    int64_t minor = 1;
  };

  /// States that the parts, of equal size, are the same for an op of the phases
  /// `phases`; false when their boundaries cannot be met (nothing but cuts at
  /// boundaries of the parts may then have changed).
  bool tie(ArrayRef<Part> parts, uint8_t phases);

  /// The atoms of a dim, major to minor; none for size 1.
  ClassAtoms getAtoms(int dim) const;

private:
  struct Node {
    int parent = -1;
    int64_t size = 1;
    int major = -1, minor = -1;
    uint8_t boundary = 0;
  };

  int find(int node) const;
  int addNode(int64_t size);
  /// Cuts so that a boundary stands major to `minorSize` elements.
  bool cut(int node, int64_t minorSize, uint8_t phases);
  bool canCut(int node, int64_t minorSize) const;
  void flatten(int node, ClassAtoms &atoms) const;
  /// The atoms of a part whose ends are boundaries.
  ClassAtoms atomsOf(const Part &part) const;
  bool meet(const Part &part, const Part &other);
  void join(int from, int to);
  void joinWhole(const Part &part, const Part &other);

  mutable std::vector<Node> nodes;
  std::vector<int> roots;
};

} // namespace llmc

#endif // LLMC_ANALYSIS_LAYOUTS_DIMCLASSES_H
