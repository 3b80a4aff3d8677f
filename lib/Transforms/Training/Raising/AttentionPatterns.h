//===- AttentionPatterns.h - Attention in its spellings ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   s = q k^T                    a contraction; scales of s, q or k
//   s + bias, select(mask, s, -inf)        any number of them
//   p = softmax s                along the columns
//   select(flags, p / r, 0), p * flags / r         by random bits, at most one
//   o = p v                      a contraction
//
// with reshapes, transposes and conversions of floats in between, heads in one
// dim or in two, and keys and values that are repeated for groups of heads. The
// matcher reads; what it found is described in atoms of dims (DimAtoms.h).
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TRANSFORMS_TRAINING_ATTENTIONPATTERNS_H
#define LLMC_TRANSFORMS_TRAINING_ATTENTIONPATTERNS_H

#include "AttentionTarget.h"
#include "MaskPatterns.h"
#include "RandomPatterns.h"
#include "llmc/Dialect/StableHLO/IR/StableHLO.h"

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

/// Weights that are dropped: an op between softmax and contraction by flags, or
/// by a multiplier that is made of them.
struct WeightDrop {
  Operation *op = nullptr;
  AtomView flags;
  bool isNegated = false;
  double factor = 1;
};

/// The bits that decide, and the position of each in its counter.
struct DropMatch {
  rt::Dropout dropout;
  BitDraw draw;
  Affine position;
  ScalarSum first;
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
  std::optional<DropMatch> drop;
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
  mlir::OpOperand *matchDrop(Operation *op);
  void readFlags();
  bool takeDrop(StringRef &reason);
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
  WeightDrop drop;
  AtomDims dims; ///< Of the value that the walk has come to.
};

bool isFloatConversion(Operation *op);
bool isShapeOp(Operation *op);

/// Puts one `nn.attention` in the place of an attention whose last op is the
/// contraction `op`. Where it does not, `reason` is as of the matcher, or what
/// `whyNot` says of its sizes, where one op is not wanted.
bool raiseAttention(Operation *op, ConstantCones &cones,
                    function_ref<StringRef(const AttentionSizes &)> whyNot,
                    StringRef &reason);

} // namespace llmc::training

#endif // LLMC_TRANSFORMS_TRAINING_ATTENTIONPATTERNS_H
