//===- Program.h - The functions that a program runs ------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Steps and entries name the functions of a program; every pass of phases 2 to
// 6 walks them in the same order through here.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_ANALYSIS_PROGRAM_PROGRAM_H
#define LLMC_ANALYSIS_PROGRAM_PROGRAM_H

#include "llmc/Dialect/Dist/IR/Dist.h"
#include "llmc/Support/LLVM.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace llmc {

enum class FunctionKind {
  /// Forward and backward of a step: once for each microbatch.
  Microbatch,
  /// Once for each step.
  Update,
  /// A function of its own.
  Entry,
};

struct ProgramFunction {
  mlir::func::FuncOp function;
  FunctionKind kind;
  /// The `dist.step` or `dist.entry` that names it.
  Operation *owner;

  /// The chunk of each block; nothing before phase 2.
  std::optional<ArrayRef<int64_t>> getChunks() const;
};

/// Functions of all steps and entries, in module order, each once for each
/// owner.
SmallVector<ProgramFunction> getProgramFunctions(ModuleOp module);

/// The type of the input of this name; null where no function takes it.
RankedTensorType getInputType(ModuleOp module, StringRef name);

/// The module's mesh; reports an error when there is none or several.
FailureOr<dist::MeshOp> getMesh(ModuleOp module);

/// Number of coordinates along the mesh's pipeline axis (1 without one).
int64_t getPipelineSize(dist::MeshOp mesh);

/// The marks of `op`; nothing when it has none.
std::optional<int64_t> getBlock(Operation *op);
std::optional<dist::Phase> getPhase(Operation *op);
/// The chunk of the block of `op` by the chunks of all blocks; nothing for an
/// op of no block, or of one beyond them.
std::optional<int64_t> getChunk(Operation *op, ArrayRef<int64_t> chunks);

/// Static bytes of a tensor value.
int64_t getBytes(Value value);

} // namespace llmc

#endif // LLMC_ANALYSIS_PROGRAM_PROGRAM_H
