//===- StreamWaits.h - Signals and waits of a timeline ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Reads the programs of a timeline as plain lists of accesses, asks for the
// reduced waits (Solvers/Streams/StreamOrder.h) and writes them into the
// programs.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_TRANSFORMS_ORDERING_STREAMWAITS_H
#define LLMC_LIB_TRANSFORMS_ORDERING_STREAMWAITS_H

#include "llmc/Dialect/Plan/IR/Plan.h"
#include "llmc/Support/LLVM.h"

namespace llmc::ordering {

/// A run of a program in a walk; 0 in prologue and epilogue.
struct PlanCall {
  plan::ProgramOp program;
  int64_t microbatch = 0;
};

/// Adds signals and waits to the programs of `walks` (one for each stage), and
/// events to frames.
LogicalResult addWaits(ModuleOp module, ArrayRef<std::vector<PlanCall>> walks);

} // namespace llmc::ordering

#endif // LLMC_LIB_TRANSFORMS_ORDERING_STREAMWAITS_H
