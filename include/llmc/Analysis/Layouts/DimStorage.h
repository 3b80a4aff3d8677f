//===- DimStorage.h - Which extents split dims are stored with --*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An axis list is poured into the atoms of a dim, major to minor: axes that
// divide what is left of an atom are factored out; the first that does not pads
// it to a multiple of itself and all further axes. Where no op needs the
// boundary on the minor side of that atom, all atoms up to the next boundary
// that is needed are padded as one.
//
//   384 = 6 x 64, {t=4}                 [6:8, 64]
//   384 = 6 x 64, {t=2, d=5}, no need   [2, 192:195]
//
// All lists that split one atom share its extent, the least multiple over them,
// so that no move between them shifts elements:
//
//   50257 under {t=4} and {t=4, d=2}    50264 for both
//
// Refused: padding to twice the size or more, and a list that goes on to the
// right of an atom which is not used up.
//
// Test: test/Analysis/Layouts/DimStorageTest.cpp
//===----------------------------------------------------------------------===//

#ifndef LLMC_ANALYSIS_LAYOUTS_DIMSTORAGE_H
#define LLMC_ANALYSIS_LAYOUTS_DIMSTORAGE_H

#include "llmc/Analysis/Layouts/DimClasses.h"
#include "llmc/Analysis/Layouts/FactorSplits.h"
#include <map>

namespace llmc {

/// Numbers of mesh axes, major to minor.
using AxisList = SmallVector<int8_t, 4>;
using ClassAtoms = DimClasses::ClassAtoms;

class DimStorage {
public:
  explicit DimStorage(ArrayRef<int64_t> axisSizes) : axisSizes(axisSizes) {}

  /// Why the list alone cannot split a dim of these atoms for ops of the phases
  /// `phases`; empty when it can. "pads 2 to 4".
  std::string refuse(const ClassAtoms &atoms, ArrayRef<int8_t> list,
                     uint8_t phases) const;

  /// Adds a list that splits some dim of these atoms in these phases.
  void add(const ClassAtoms &atoms, ArrayRef<int8_t> list, uint8_t phases);
  /// Decides extents for all lists added; the reason when there are none.
  std::string solve();
  /// Forgets the lists.
  void clear() { uses.clear(); }
  /// Whether some list that was added is stored with padding.
  bool isPadded() const;
  /// Whether this is a list on atoms for which there are none.
  bool isRefused(const ClassAtoms &atoms, ArrayRef<int8_t> list) const {
    return keyOf(atoms, list) == refused;
  }
  /// The canonical atoms of a dim under a list that was added.
  Atoms getStored(const ClassAtoms &atoms, ArrayRef<int8_t> list) const;

  /// Axes into factors of these sizes, each boundary needed, padding allowed;
  /// false when a factor would have to be padded to twice its size or axes are
  /// left over.
  bool pourIntoFactors(ArrayRef<int8_t> list, ArrayRef<int64_t> sizes,
                       SmallVectorImpl<AxisList> &factors) const;

private:
  /// Axes on atoms first ... last, which are one factor if there are several.
  struct Piece {
    size_t first = 0, last = 0;
    AxisList axes;
    /// How many of the axes are even, how many of these on the first atom
    /// alone, and what the even ones leave of the atoms.
    size_t numEven = 0, numAlone = 0;
    int64_t left = 1;
    bool isMerged() const { return last != first; }
    bool isPadded() const { return numEven < axes.size(); }
  };
  struct Use {
    ClassAtoms atoms;
    AxisList list;
    uint8_t phases = 0;
    SmallVector<Piece, 2> pieces;
    Atoms stored;
  };
  using Key = std::pair<std::vector<int64_t>, std::vector<int8_t>>;

  static Key keyOf(const ClassAtoms &atoms, ArrayRef<int8_t> list);
  std::string pour(const ClassAtoms &atoms, ArrayRef<int8_t> list,
                   uint8_t phases, SmallVectorImpl<Piece> &pieces) const;
  int64_t productOf(ArrayRef<int8_t> list) const;

  /// What one atom (or several as one) is stored as.
  struct Shared {
    int64_t size = 1;
    /// Axes factored out in front, common to all lists that are padded.
    AxisList prefix;
    /// Of what the prefix leaves.
    int64_t extent = 1;
    bool isPadded = false;
  };
  using SharedAtoms = std::map<std::vector<int>, Shared>;
  std::string share(ArrayRef<const Piece *> pieces, int64_t size,
                    Shared &shared) const;
  std::string shareAll(SharedAtoms &shared);
  bool agrees(const Use &use, const Piece &piece, const Use &other,
              const Piece &o, const SharedAtoms &shared) const;
  bool separateMerged(const SharedAtoms &shared);
  std::string storeUse(Use &use, const SharedAtoms &shared) const;

  SmallVector<int64_t> axisSizes;
  std::map<Key, Use> uses;
  /// What `solve` gave its reason for.
  Key refused;
};

/// Whether a list of axes begins with those of `prefix`.
inline bool startsWith(ArrayRef<int8_t> list, ArrayRef<int8_t> prefix) {
  return list.take_front(prefix.size()) == prefix;
}

} // namespace llmc

#endif // LLMC_ANALYSIS_LAYOUTS_DIMSTORAGE_H
