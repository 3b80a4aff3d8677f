//===- PartBuilder.h - Values cut along one dimension -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A part of a value is computed from parts of what the value is computed from:
//
//   (x . W + b)[:, 0:4]  =  x . W[:, 0:4] + b[0:4]
//
// Which operand is cut where, the op's sharding rule says; what the op is on
// the parts, its local form (LocalForm.h); ops that put parts together answer
// themselves (Parts.h). Where an op lets no cut pass, or at an argument, a
// slice is put.
//
// Test: test/Transforms/Training/split-contractions.mlir
//===----------------------------------------------------------------------===//

#ifndef LLMC_TRANSFORMS_TRAINING_PARTBUILDER_H
#define LLMC_TRANSFORMS_TRAINING_PARTBUILDER_H

#include "llmc/Dialect/Graph/IR/GraphInterfaces.h"
#include "llmc/Dialect/Graph/IR/Parts.h"
#include "llvm/ADT/DenseMap.h"
#include <map>
#include <optional>
#include <tuple>

namespace llmc::training {

using Cut = graph::DimRange;

/// A factor of an op's rule at positions [begin, end), and what that cuts of
/// each operand and result.
struct OpCut {
  int factor = -1;
  SmallVector<std::optional<Cut>> operands, results;
};

/// What cutting the dimension of result (operand) `number` cuts of the rest of
/// the op; nothing where no cut passes. The factor may pass or be reduced.
std::optional<OpCut> cutThroughResult(Operation *op, unsigned number, Cut cut);
std::optional<OpCut> cutThroughOperand(Operation *op, unsigned number, Cut cut);

/// The cut of a slice with stride 1 that leaves all other dimensions whole; of
/// one that cuts nothing, dimension 0.
std::optional<Cut> getCutOfSlice(Operation *op);

/// Builds parts of the values of one function, each once.
class PartBuilder {
public:
  /// The part of an argument, or null: a slice is put in front of its user.
  using ArgumentPart =
      std::function<Value(mlir::BlockArgument argument, Cut cut)>;

  explicit PartBuilder(mlir::MLIRContext *context,
                       ArgumentPart argumentPart = {})
      : builder(context), argumentPart(std::move(argumentPart)) {}

  /// The part of `value` for `user`, in front of which a slice of an argument
  /// is put.
  Value build(Value value, Cut cut, Operation *user);

  /// `op` on parts of its operands, in front of it. Fails where the op has no
  /// form for this cut; what was built then has no use.
  FailureOr<SmallVector<Value>> buildOp(Operation *op, const OpCut &cut);

private:
  Value buildOfOp(mlir::OpResult value, Cut cut);
  Value buildSlice(Value value, Cut cut, Operation *marks);

  OpBuilder builder;
  ArgumentPart argumentPart;
  /// Parts of results of ops.
  std::map<std::tuple<void *, int64_t, int64_t, int64_t>, Value> built;
};

/// Gives `to` the block and phase of `from`.
void copyMarks(Operation *from, Operation *to);

} // namespace llmc::training

#endif // LLMC_TRANSFORMS_TRAINING_PARTBUILDER_H
