//===- NarrowIndices.h - Indices of 32 bits where they fit ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_CODEGEN_NARROWINDICES_H
#define LLMC_LIB_CODEGEN_NARROWINDICES_H

#include "llmc/Dialect/Dist/IR/Dist.h"
#include "llvm/ADT/StringMap.h"
#include <memory>

namespace mlir {
class Pass;
} // namespace mlir

namespace llmc::codegen {

/// What a launch of a kernel is known to be; all numbers are at least 1.
struct LaunchBounds {
  static LaunchBounds of(dist::KernelOp kernel);

  int64_t rows = 1, blocks = 1, threads = 1;
  /// For each argument of the code that is an index, one more than its most.
  llvm::SmallDenseMap<unsigned, int64_t> below;
};

/// Computes with 32 bits what is an index of 64 and fits. `bounds` has the
/// kernels by the names of their codes; other functions stay as they are.
std::unique_ptr<mlir::Pass>
createNarrowIndicesPass(llvm::StringMap<LaunchBounds> bounds);

} // namespace llmc::codegen

#endif // LLMC_LIB_CODEGEN_NARROWINDICES_H
