//===- MaskPatterns.h - Causal masks in their spellings ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Masks of attention are conjunctions: what is causal, and what the data says
// of padding. The causal part is arithmetic on positions, or a table; it is
// recognised whatever the text makes it of, and whatever its size:
//
//   compare GE, iota 0, iota 1              column - row <= 0
//   select(compare …, 1, 0) == 0            the negation
//   dense<[[true, false], [true, true]]>    column - row <= 0
//
// Matchers only read; atoms of dims are cut where reshapes need it.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TRANSFORMS_TRAINING_MASKPATTERNS_H
#define LLMC_TRANSFORMS_TRAINING_MASKPATTERNS_H

#include "DimAtoms.h"
#include "llmc/Support/HostTensor.h"
#include "llvm/ADT/DenseMap.h"
#include <memory>

namespace llmc::training {

/// Flags, or their negation.
struct Mask {
  AtomView flags;
  bool isNegated = false;
};

/// True where `plus - minus <= shift`, for the positions along two atoms, or
/// the negation of that.
struct Band {
  int plus = -1, minus = -1;
  int64_t shift = 0;
  bool isNegated = false;
};

/// Values that depend on no argument, each evaluated once.
class ConstantCones {
public:
  /// Null where `value` depends on an argument, or is larger than what import
  /// of a model may spend time on.
  const HostTensor *evaluate(Value value);

private:
  std::unique_ptr<HostTensor> compute(Value value);
  Value findMissing(Operation *op);

  llvm::DenseMap<Value, std::unique_ptr<HostTensor>> known;
};

/// The sum of positions along atoms, each times a number, and a number.
struct Affine {
  SmallVector<std::pair<int, int64_t>> terms;
  int64_t constant = 0;

  void add(const Affine &other, int64_t sign);
  void add(int atom, int64_t factor);
  /// The position along the dim, times `factor`.
  void addDim(const DimAtoms &atoms, ArrayRef<int> dim, int64_t factor);
  /// The least and the greatest that it is.
  std::pair<int64_t, int64_t> getRange(const DimAtoms &atoms) const;
};

class MaskReader {
public:
  MaskReader(DimAtoms &atoms, ConstantCones &cones)
      : atoms(atoms), cones(cones) {}

  /// The masks of which `mask` is the conjunction, those that are true
  /// everywhere left out.
  void split(Mask mask, SmallVectorImpl<Mask> &masks);
  std::optional<Band> matchBand(Mask mask);
  std::optional<Affine> matchAffine(AtomView view);
  /// A table of 0 in the band, and of `fill` elsewhere.
  std::optional<Band> matchBandOfNumbers(AtomView view, double &fill);

private:
  std::optional<Affine> matchMultiple(AtomView view);
  std::optional<Band> matchCompare(Mask mask);
  std::optional<Mask> matchChoice(Mask mask);
  std::optional<Band> matchTable(const AtomView &view, const HostTensor &table,
                                 function_ref<bool(int64_t)> isTrueAt);
  bool isTrue(const Mask &mask);

  DimAtoms &atoms;
  ConstantCones &cones;
};

/// The number that all elements of `value` are, a scalar computation included.
std::optional<double> getNumber(Value value, ConstantCones &cones);

} // namespace llmc::training

#endif // LLMC_TRANSFORMS_TRAINING_MASKPATTERNS_H
