//===- GraphInterfaces.h - The five answers of a graph op -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Interfaces generated from GraphInterfaces.td, and the refusals: answers
// that an op does not have, each with its reason, in one table.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_DIALECT_GRAPH_IR_GRAPHINTERFACES_H
#define LLMC_DIALECT_GRAPH_IR_GRAPHINTERFACES_H

#include "llmc/Dialect/Graph/IR/Evaluation.h"
#include "llmc/Dialect/Graph/IR/Kernel.h"
#include "llmc/Dialect/Graph/IR/LocalForm.h"
#include "llmc/Dialect/Graph/IR/ShardingRule.h"
#include "mlir/IR/OpDefinition.h"

#include "llmc/Dialect/Graph/IR/GraphInterfaces.h.inc"

namespace llmc::graph {

enum class Answer { Rule, Derivative, Cost, Kernel, Evaluation };

/// "sharding rule", "derivative", "cost", "kernel", "evaluation".
StringRef stringifyAnswer(Answer answer);

/// Why ops named `opName` lack `answer` (Refusals.def); empty when the table
/// has no row for it.
StringRef getRefusal(StringRef opName, Answer answer);

/// The error for an op that lacks an answer: what was expected, what to do,
/// and the table's reason if there is one.
InFlightDiagnostic emitMissingAnswer(Operation *op, Answer answer);

} // namespace llmc::graph

#endif // LLMC_DIALECT_GRAPH_IR_GRAPHINTERFACES_H
