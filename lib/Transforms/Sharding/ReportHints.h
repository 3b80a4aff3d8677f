//===- ReportHints.h - What a user may want to ask for ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_TRANSFORMS_SHARDING_REPORTHINTS_H
#define LLMC_LIB_TRANSFORMS_SHARDING_REPORTHINTS_H

#include "llmc/Analysis/Program/Program.h"

namespace llmc {

/// Remarks of category `hints`, with what would be otherwise: gathered weights
/// that are kept for the backward, values that are exchanged all to all, a
/// batch that does not divide. Assumes a program after phase 3.
void reportHints(dist::MeshOp mesh, ArrayRef<ProgramFunction> functions);

} // namespace llmc

#endif // LLMC_LIB_TRANSFORMS_SHARDING_REPORTHINTS_H
