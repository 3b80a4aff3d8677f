//===- TrainingMarks.h - What phase 1 reads off functions -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ports, blocks and phases as the passes of this phase read and write them,
// and how they find the function of a recipe.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TRANSFORMS_TRAINING_TRAININGMARKS_H
#define LLMC_TRANSFORMS_TRAINING_TRAININGMARKS_H

#include "llmc/Dialect/Dist/IR/Signature.h"
#include "llmc/Support/LLVM.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/Remarks.h"
#include <optional>
#include <string>

namespace llmc::training {

/// The state that the argument reads, or null.
mlir::FlatSymbolRefAttr getRead(mlir::func::FuncOp function, unsigned index);
/// The argument holds a parameter.
bool isParameter(mlir::func::FuncOp function, unsigned index);
/// The argument changes with the data of the step.
bool isInput(mlir::func::FuncOp function, unsigned index);

/// The function has its derivative, as the text gives it: results that are
/// gradients, or new parameters.
bool hasDerivative(mlir::func::FuncOp function);

std::optional<int64_t> getBlockMark(Operation *op);
/// Of the op that makes `value`; 0 for arguments.
int64_t getBlockOf(Value value);
void setBlockMark(Operation *op, int64_t block);
/// Ops without a block are new: they get the last of their operands', and where
/// none has one (constants, totals) the first of their users'; `last` where
/// only the terminator uses them.
void markNewBlocks(mlir::func::FuncOp function, int64_t last);
void setPhaseMark(Operation *op, dist::Phase phase);
/// Marks the ops of a function that has its derivative: what the loss depends
/// on is forward and has its block; all else is backward and gets the block of
/// the forward that it belongs to (GivenDerivative.cpp).
void markGivenDerivative(mlir::func::FuncOp function);

/// "train.microbatch", "train.update".
std::string getMicrobatchName(dist::TrainingOp training);
std::string getUpdateName(dist::TrainingOp training);
/// "train.counts": the entry that counts first. Its metrics, and the hyper
/// values of their totals, have this name and a number.
std::string getCountsName(dist::TrainingOp training);
/// "train.count_bound": what the text makes of a count before it divides.
std::string getBoundName(dist::TrainingOp training);
/// The function of that name on `count`, or `count` where there is none.
Value applyBound(OpBuilder &builder, dist::TrainingOp training, Value count,
                 mlir::SymbolTable &symbols);
/// @<training>.microbatch, or an error that names the pass that makes it.
FailureOr<mlir::func::FuncOp> findMicrobatch(dist::TrainingOp training);
/// The chunks into which the model will be cut; 1 without a pipeline.
int64_t countChunks(ModuleOp module);
/// The number of the result `loss`; the verifier has seen that there is one.
unsigned findLoss(mlir::func::FuncOp function);
/// Puts a dist.step of the same name in the recipe's place.
void makeStep(dist::TrainingOp recipe, mlir::func::FuncOp microbatch,
              mlir::func::FuncOp update);

/// The layout at rest of a state of `type` that an optimizer keeps for
/// `parameter`: what the user gave, or that of the parameter; null where the
/// rank is another.
dist::RowAttr getMomentRow(dist::StateOp parameter,
                           mlir::RankedTensorType type);

/// Forward functions of recipes and functions of entries, each once.
SmallVector<mlir::func::FuncOp> getGraphFunctions(ModuleOp module);

/// Makes these the results of the function, in place of all that it had; what
/// stood on those, ports included, is gone.
void setResults(mlir::func::FuncOp function, ValueRange values);

/// What `value` is but for its derivative, where an identity stops that; else
/// null.
Value getStopped(Value value);

/// Takes off the ops of a function what was said to the derivative alone.
void eraseDerivativeMarks(mlir::func::FuncOp function);
/// Erases ops without users, from the last to the first.
void eraseDeadOps(Block &block);
/// Erases arguments without users.
void eraseUnusedArguments(mlir::func::FuncOp function);

inline mlir::remark::RemarkOpts remarkOf(StringRef name) {
  return mlir::remark::RemarkOpts::name(name).category("training");
}

} // namespace llmc::training

#endif // LLMC_TRANSFORMS_TRAINING_TRAININGMARKS_H
