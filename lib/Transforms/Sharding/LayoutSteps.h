//===- LayoutSteps.h - Steps of a reshard as ops ----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The planner's steps between two layouts (ReshardOfLayouts.h) as ops of
// `dist`, and the marks that say in which segment a new op runs.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_TRANSFORMS_SHARDING_LAYOUTSTEPS_H
#define LLMC_LIB_TRANSFORMS_SHARDING_LAYOUTSTEPS_H

#include "llmc/Analysis/Layouts/ReshardOfLayouts.h"
#include "llmc/Analysis/Program/Program.h"

namespace llmc {

/// Builds the ops of steps; one for a module, since it numbers names.
class StepBuilder {
public:
  explicit StepBuilder(dist::MeshOp mesh) : mesh(mesh) {}

  /// Appends the op or ops that take `input` to the layout of `step`, each at
  /// the builder's insertion point. Fails when a value cannot be lifted.
  FailureOr<Value> build(OpBuilder &builder, Location loc, Value input,
                         const ReshardStep &step, FunctionKind kind);

private:
  FailureOr<Value> buildLift(OpBuilder &builder, Location loc, Value input,
                             const ReshardStep &step);
  Value buildCollective(OpBuilder &builder, Location loc, Value input,
                        const ReshardStep &step);
  Value buildPermute(OpBuilder &builder, Location loc, Value input,
                     const ReshardStep &step);
  Value buildSend(OpBuilder &builder, Location loc, Value input,
                  const ReshardStep &step);
  Value buildBroadcast(OpBuilder &builder, Location loc, Value input,
                       const ReshardStep &step);
  mlir::FlatSymbolRefAttr nameFor(OpBuilder &builder, mlir::ArrayAttr axes);

  dist::MeshOp mesh;
  int64_t numTransfers = 0;
  int64_t numCollectives = 0;
};

/// What says in which segment an op runs.
class SegmentMarks {
public:
  SegmentMarks(dist::MeshOp mesh, const ProgramFunction &program);

  /// Copies block and phase of `like` to `op`, whose value lives where `layout`
  /// says. A block that does not live there is replaced by the first that does.
  void set(Operation *op, Operation *like, dist::LayoutAttr layout) const;

  /// The chunk of the block of `op`, or 0.
  int64_t getChunk(Operation *op) const;

  /// Whether the segment of `op` runs before that of `other`.
  bool isEarlier(Operation *op, Operation *other) const;

private:
  bool livesAt(int64_t block, llvm::ArrayRef<int64_t> pin) const;

  std::string pipeline;
  int64_t numStages = 1;
  FunctionKind kind;
  SmallVector<int64_t> chunks;
};

/// Calls `rewrite` for each function of the program, once.
LogicalResult rewriteFunctions(
    ModuleOp module,
    function_ref<LogicalResult(dist::MeshOp, const ProgramFunction &,
                               LayoutReshards &, StepBuilder &)>
        rewrite);

} // namespace llmc

#endif // LLMC_LIB_TRANSFORMS_SHARDING_LAYOUTSTEPS_H
