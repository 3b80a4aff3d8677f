//===- Aliases.h - Values that show another's bytes -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An op of kernel form Alias moves nothing: its result is its operand's bytes
// under another shape or name (a reshape, a fence).
//
// Tests: test/Transforms/Kernels/form-kernels.mlir,
//        test/Transforms/Ordering/order-collectives.mlir
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_ANALYSIS_PROGRAM_ALIASES_H
#define LLMC_ANALYSIS_PROGRAM_ALIASES_H

#include "llmc/Support/LLVM.h"

namespace llmc {

bool isAlias(Operation *op);

/// The value whose bytes `value` shows: through all aliases.
Value getAliasRoot(Value value);

} // namespace llmc

#endif // LLMC_ANALYSIS_PROGRAM_ALIASES_H
