//===- LocalFunction.h - One function on local values -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_TRANSFORMS_PARTITION_LOCALFUNCTION_H
#define LLMC_LIB_TRANSFORMS_PARTITION_LOCALFUNCTION_H

#include "llmc/Analysis/Program/Program.h"

namespace llmc {

/// Gives the function local types, and its ops their local forms.
LogicalResult localizeFunction(const ProgramFunction &program,
                               dist::MeshOp mesh);

} // namespace llmc

#endif // LLMC_LIB_TRANSFORMS_PARTITION_LOCALFUNCTION_H
