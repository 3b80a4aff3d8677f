//===- AttentionPatterns.h - Attention in its spellings ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   s = q k^T                    a contraction; scales of s, q or k
//   s + bias, select(mask, s, -inf)        any number of them
//   p = softmax s                along the columns
//   o = p v                      a contraction
//
// with reshapes, transposes and conversions of floats in between, heads in one
// dim or in two, and keys and values that are repeated for groups of heads. The
// matcher reads; what it found is described in atoms of dims (DimAtoms.h).
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TRANSFORMS_TRAINING_ATTENTIONPATTERNS_H
#define LLMC_TRANSFORMS_TRAINING_ATTENTIONPATTERNS_H

#include "MaskPatterns.h"

namespace llmc::training {

/// A value that is added to the scores, times a number.
struct ScoreTerm {
  AtomView value;
  double factor = 1;
};

/// Scores that are a number where the mask is false, or to which it is added
/// there.
struct ScoreMask {
  Mask mask;
  double fill = 0;
  bool isAdded = false;
};

/// What attention is asked for. `batches`, `groups`, `rows` and so on list the
/// atoms of the canonical dims; a batch is of query, key and value, a group of
/// the query alone.
struct AttentionMatch {
  AtomView query, key, value;
  AtomList batches, groups, rows, columns, depth, values;
  double scale = 1;
  std::optional<int64_t> causal;
  bool isSafe = false;
  /// Masks are by a finite number: a row that sees nothing weighs all alike.
  bool isUniform = false;
  SmallVector<ScoreTerm> terms;
  SmallVector<ScoreMask> masks;
  /// The dims of the contraction's result.
  AtomDims result;
};

class AttentionMatcher {
public:
  explicit AttentionMatcher(ConstantCones &cones)
      : cones(cones), masks(atoms, cones) {}

  /// An attention whose last op is the contraction `op`. Where nothing matches,
  /// `reason` says why, or is empty where nothing looks like one.
  std::optional<AttentionMatch> match(Operation *op, StringRef &reason);

  DimAtoms atoms;

private:
  struct Contraction;
  bool matchWeights(Value weights);
  bool findScores(Value value, int depth);
  bool followSteps(Contraction &inner, StringRef &reason);
  bool followStep(mlir::OpOperand &step, StringRef &reason);
  bool addTerm(Value value, StringRef &reason);
  bool addMask(const ScoreMask &mask, StringRef &reason);
  bool matchOuter(Operation *op, unsigned side, StringRef &reason);
  bool takeSides(Contraction &inner, StringRef &reason);
  void peelSide(AtomView &side, bool isScaled);
  void sortDims();
  bool takeBands(StringRef &reason);
  bool takeBand(std::optional<Band> band, double fill);

  ConstantCones &cones;
  MaskReader masks;
  AttentionMatch found;
  /// From the softmax to the weights, and from the first contraction to the
  /// softmax: ops on the way, first to last.
  SmallVector<mlir::OpOperand *> afterSoftmax, beforeSoftmax;
  stablehlo::DotGeneralOp scores;
  AtomDims dims; ///< Of the value that the walk has come to.
};

/// Puts one `nn.attention` in the place of an attention whose last op is the
/// contraction `op`. Where it does not, `reason` is as of the matcher.
bool raiseAttention(Operation *op, ConstantCones &cones, StringRef &reason);

} // namespace llmc::training

#endif // LLMC_TRANSFORMS_TRAINING_ATTENTIONPATTERNS_H
