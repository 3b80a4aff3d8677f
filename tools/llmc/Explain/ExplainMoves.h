//===- ExplainMoves.h - What a step communicates, by place ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TOOLS_LLMC_EXPLAINMOVES_H
#define LLMC_TOOLS_LLMC_EXPLAINMOVES_H

#include "../Driver/Places.h"
#include "../Driver/PlanFacts.h"
#include "../Driver/Remarks.h"
#include "mlir/IR/BuiltinOps.h"

namespace llmc::driver {

/// A line of an explanation, and by what it is sorted.
struct ExplainedLine {
  double weight = 0;
  std::string text;
};

/// Collectives and messages of a step of `entry` on all stages, equal ones as
/// one line: place, how often, bytes, seconds where the machine has links, and
/// which two ops they stand between.
std::vector<ExplainedLine> explainMoves(mlir::ModuleOp module,
                                        const PlanFacts &facts,
                                        const rt::plan::Entry &entry,
                                        const Remarks &remarks,
                                        const Places &places);

/// "model.mlir:8", or "model.mlir:8 and 3 more". Assumes a list of at least
/// one.
std::string showFirst(const std::vector<std::string> &list);

/// The text with layouts that lack the words that are the same in each.
std::string shortenLayouts(llvm::StringRef text);

} // namespace llmc::driver

#endif // LLMC_TOOLS_LLMC_EXPLAINMOVES_H
