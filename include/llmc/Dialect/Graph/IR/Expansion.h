//===- Expansion.h - What import makes of one op ----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An op is expanded (ExpansionOpInterface), computed where it is an integer of
// constants, or simplified (SimplificationOpInterface). The import walks over a
// function with `settle`, and an expansion that has to look at its own ops, as
// a loop does at its counter, walks over these.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_DIALECT_GRAPH_IR_EXPANSION_H
#define LLMC_DIALECT_GRAPH_IR_EXPANSION_H

#include "llmc/Support/LLVM.h"

namespace llmc::graph {

/// Replaces `op` by what it stands for. Returns the op to look at next: the
/// first that was built, else the one behind it; null at the block's end. On
/// failure an error has been emitted.
FailureOr<Operation *> settle(Operation *op);

/// Builds, in front of an op, what stands for its results, and appends these.
using Expander =
    llvm::function_ref<LogicalResult(OpBuilder &, SmallVectorImpl<Value> &)>;

/// The same for an expansion that is given. What it built in vain is erased,
/// and so is what nothing but `op` read. Not for the last op of a block.
FailureOr<Operation *> replaceBy(Operation *op, Expander expand);

/// The op behind `before`, or the first of the block where that is null.
Operation *getNext(Operation *before, Block *block);

/// Erases `op`, and what nothing but it read.
void eraseWithOperands(Operation *op);

} // namespace llmc::graph

#endif // LLMC_DIALECT_GRAPH_IR_EXPANSION_H
