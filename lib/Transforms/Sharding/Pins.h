//===- Pins.h - At which stages values live ---------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Pins follow from chunks and are never propagated:
//
//   op of a microbatch or entry   the stage of its block's chunk
//   input                         where it is used
//   state and its gradient        where the parameter is used, and where its
//                                 gradient is made
//   hyper value                   everywhere
//   metric of an update           everywhere; of an entry: where it is made
//   op of an update               where all its tensors live (not scalars)
//
// A sum of values at different stages whose result reaches nothing but
// gradients and sums of the step is a *join*: it lives where its terms live,
// and no data moves. So is a sum in an update whose operands share no stage.
//
//   %gE = add %head @1, %embedding @0      @[0, 1]
//
// Test: test/Transforms/Sharding/propagate-pins.mlir
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_TRANSFORMS_SHARDING_PINS_H
#define LLMC_LIB_TRANSFORMS_SHARDING_PINS_H

#include "StateRows.h"
#include "llmc/Analysis/Program/Program.h"

namespace llmc {

/// Bit s: stage s.
using StageSet = uint64_t;

class Pins {
public:
  /// Reports an error where an op has no block or there are too many stages.
  static FailureOr<Pins> compute(ArrayRef<ProgramFunction> functions,
                                 dist::MeshOp mesh, const StateRows &rows);

  /// False on a mesh without a pipeline axis of several coordinates.
  bool isPinned() const { return numStages > 1; }
  StageSet getAll() const {
    return numStages >= 64 ? ~StageSet(0) : (StageSet(1) << numStages) - 1;
  }
  StageSet of(mlir::Value value) const { return values.lookup(value); }
  StageSet ofResult(mlir::func::FuncOp function, unsigned result) const;
  /// The attribute, empty when nothing is pinned.
  SmallVector<dist::PinAttr> getAt(StageSet stages) const;

private:
  Pins(dist::MeshOp mesh, const StateRows &rows)
      : axis(mesh.getPipelineAttr()), rows(rows),
        numStages(getPipelineSize(mesh)) {}

  LogicalResult pinForward(const ProgramFunction &program);
  LogicalResult pinOps(const ProgramFunction &program);
  void pinArguments(mlir::func::FuncOp function);
  void pinGradients(mlir::func::FuncOp function);
  void pinCarried(mlir::func::FuncOp function);
  void joinSums(mlir::func::FuncOp function);
  StageSet stagesOfUses(Value value) const;
  StageSet ofSum(mlir::func::FuncOp function, unsigned result) const;
  void pinUpdate(const ProgramFunction &program, mlir::func::FuncOp microbatch);
  void pinUpdateOp(Operation &op);
  StageSet ofState(mlir::StringAttr name) const;

  mlir::StringAttr axis;
  const StateRows &rows;
  int64_t numStages;
  llvm::DenseMap<mlir::Value, StageSet> values;
  /// Values that are sums over their stages.
  llvm::DenseSet<mlir::Value> joins;
  llvm::DenseMap<mlir::StringAttr, StageSet> states;
  llvm::DenseSet<Operation *> updates;
};

} // namespace llmc

#endif // LLMC_LIB_TRANSFORMS_SHARDING_PINS_H
