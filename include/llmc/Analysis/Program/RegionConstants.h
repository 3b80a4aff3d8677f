//===- RegionConstants.h - Constants of bodies ------------------*- C++ -*-===//
//-*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The body of a reduction or scatter uses no value from outside; a constant
// that it needs is its own.
//
// Test: test/Transforms/Training/close-regions.mlir,
//       test/Transforms/Kernels/body-constants.mlir
//===----------------------------------------------------------------------===//

#ifndef LLMC_ANALYSIS_PROGRAM_REGIONCONSTANTS_H
#define LLMC_ANALYSIS_PROGRAM_REGIONCONSTANTS_H

#include "llmc/Support/LLVM.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"

namespace llmc {

/// A copy at the builder of `value`, which is computed from constants alone,
/// and of what it is computed from; what `mapping` has is taken from there.
Value cloneConstant(mlir::OpBuilder &builder, Value value,
                    mlir::IRMapping &mapping);

/// Copies the constants that `region` uses from outside, and what is computed
/// from constants by a few ops, into its first block.
void takeInConstants(mlir::Region &region);

} // namespace llmc

#endif // LLMC_ANALYSIS_PROGRAM_REGIONCONSTANTS_H
