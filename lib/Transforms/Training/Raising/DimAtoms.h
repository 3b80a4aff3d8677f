//===- DimAtoms.h - What dims are after reshapes ----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A reshape merges dims and splits them again. An atom is a part of a dim that
// is never split; each dim of a tensor is a list of atoms, major to minor, and
// dims of size 1 are empty lists:
//
//   k           tensor<4x12x16>    [a] [b] [c]
//   reshape     tensor<48x16>      [a, b] [c]
//   reshape     tensor<48x2x8>     [a, b] [d] [e]      c is cut into d and e
//   transpose   tensor<2x48x8>     [d] [a, b] [e]
//
// So shape ops between two values are one permutation of atoms, whatever their
// number.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TRANSFORMS_TRAINING_DIMATOMS_H
#define LLMC_TRANSFORMS_TRAINING_DIMATOMS_H

#include "llmc/Support/LLVM.h"
#include "mlir/IR/Value.h"
#include <optional>

namespace llmc::training {

using AtomList = SmallVector<int, 2>;
/// The atoms of each dim of a tensor.
using AtomDims = SmallVector<AtomList, 4>;

/// A value whose dims are lists of atoms. An atom that it lacks it repeats.
struct AtomView {
  Value value;
  AtomDims dims;
};

class DimAtoms {
public:
  /// A dim of that size: an atom, or none for size 1.
  AtomList add(int64_t size);
  int64_t sizeOf(int atom) const { return sizes[atom]; }
  int64_t sizeOf(ArrayRef<int> atoms) const;

  /// The atoms that these have been cut into.
  AtomList expand(ArrayRef<int> atoms) const;
  /// All atoms of the dims, in order.
  AtomList flatten(ArrayRef<AtomList> dims) const;
  /// Cuts atoms where dims of these sizes need it; nothing where no cut does.
  std::optional<AtomDims> regroup(ArrayRef<int> atoms, ArrayRef<int64_t> shape);

  /// Makes the view one of the operand of its shape op; false where its maker
  /// is none, or not one that atoms describe.
  bool lookThrough(AtomView &view);
  /// The dims of the shape op's result, from those of its operand.
  std::optional<AtomDims> follow(Operation *op, ArrayRef<AtomList> dims);

private:
  SmallVector<int64_t> sizes;
  /// Major and minor part of an atom that has been cut, else (-1, -1).
  SmallVector<std::pair<int, int>> parts;
};

} // namespace llmc::training

#endif // LLMC_TRANSFORMS_TRAINING_DIMATOMS_H
