//===- Averages.h - Averages of parameters over the steps -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A recipe with `dist.average` keeps a state beside each parameter:
//
//   a_0 = p_0      a_t = d a_(t-1) + (1 - d) p_t
//
// (Polyak and Juditsky 1992; with a constant share, as an exponential moving
// average). A step that does not count leaves it as it is. That the averages
// have begun is a state of one number, since p_0 may be drawn, read from a
// file, or come from a run that had none.
//
// Tests: test/Transforms/Training/averages.mlir, test/EndToEnd/recipes.test
//===----------------------------------------------------------------------===//

#ifndef LLMC_TRANSFORMS_TRAINING_AVERAGES_H
#define LLMC_TRANSFORMS_TRAINING_AVERAGES_H

#include "llmc/Dialect/Dist/IR/Signature.h"

namespace llmc::training {

/// The averages of one recipe.
class Averages {
public:
  /// The name of a parameter's average, after its own.
  static constexpr llvm::StringLiteral kName = "average";

  /// Makes the state that says whether they have begun, at the builder's place;
  /// nothing for a recipe without averages.
  static std::optional<Averages>
  make(OpBuilder &builder, dist::TrainingOp recipe, mlir::SymbolTable &symbols);

  dist::StateOp getBegun() const { return begun; }
  dist::PortAttr getPort() const;
  /// Of a parameter: floats of at least 32 bits.
  static RankedTensorType getType(RankedTensorType parameter);

  /// The next average. `finite` is an i1, whether the step counts, or null;
  /// `begun` the state's value before the step.
  Value buildNext(OpBuilder &builder, Location loc, Value begun, Value average,
                  Value before, Value after, Value finite) const;
  /// The state's value after a step.
  Value buildBegun(OpBuilder &builder, Location loc) const;

private:
  dist::StateOp begun;
  double kept = 0;
};

} // namespace llmc::training

#endif // LLMC_TRANSFORMS_TRAINING_AVERAGES_H
