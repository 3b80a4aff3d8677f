//===- Evaluation.h - The entry 'evaluate' ----------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TRANSFORMS_TRAINING_EVALUATION_H
#define LLMC_TRANSFORMS_TRAINING_EVALUATION_H

#include "llmc/Dialect/Dist/IR/Dist.h"
#include "llmc/Support/LLVM.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/SymbolTable.h"

namespace llmc::training {

/// Adds the entry @evaluate, which has loss, count and the model's own metrics
/// of one batch as metrics, unless the module has a symbol of that name. An
/// entry of that name for the recipe's forward function becomes this one.
/// `source` computes them: it returns the loss (the count is 1), or its sum and
/// the count. @<training>.microbatch is there.
void makeEvaluation(dist::TrainingOp recipe, mlir::func::FuncOp source,
                    mlir::SymbolTable &symbols);

} // namespace llmc::training

#endif // LLMC_TRANSFORMS_TRAINING_EVALUATION_H
