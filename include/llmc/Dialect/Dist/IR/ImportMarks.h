//===- ImportMarks.h - What the importer says beside the IR -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Attributes on symbols that carry the user's choices to the pass that acts on
// them, and what only the names of inlined functions said.
//
// Tests: test/Import/StableHLO/{layouts,machine,functions}.mlir
//===----------------------------------------------------------------------===//

#ifndef LLMC_DIALECT_DIST_IR_IMPORTMARKS_H
#define LLMC_DIALECT_DIST_IR_IMPORTMARKS_H

#include "llvm/ADT/StringRef.h"

namespace llmc::dist {

/// On the `dist.state` of a parameter, until phase 1 has made its optimizer
/// states: their layout at rest (a #dist.layout).
constexpr llvm::StringLiteral kOptimizerRest = "llmc.optimizer_rest";

/// On `dist.mesh`: what the machine can do, a dictionary
///   {links = [{name = "net", latency = 1e-5, bandwidth = 1e10}],
///    axes = {data = "net"}, flops = 1e12, memory = 1e10}
/// of f64 and names; an axis that `axes` lacks has the first class. Absent: all
/// axes are alike.
constexpr llvm::StringLiteral kMachine = "llmc.machine";

/// On an op that gave the result of one of JAX's own functions, until phase 1
/// has differentiated it: the function's name. Only for those whose ops another
/// function may have too, with another derivative by JAX.
constexpr llvm::StringLiteral kJaxFunction = "llmc.jax_function";
constexpr llvm::StringLiteral kNamedJaxFunctions[] = {"relu", "relu6",
                                                      "log1mexp"};

} // namespace llmc::dist

#endif // LLMC_DIALECT_DIST_IR_IMPORTMARKS_H
