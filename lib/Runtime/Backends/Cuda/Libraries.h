//===- Libraries.h - What a GPU's libraries compute -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_RUNTIME_BACKENDS_CUDA_LIBRARIES_H
#define LLMC_LIB_RUNTIME_BACKENDS_CUDA_LIBRARIES_H

#include "MatmulPlan.h"
#include "llmc/Runtime/Device/Device.h"

namespace llmc::rt::cuda {

/// A contraction is tried with as many algorithms as this, where somebody
/// measures; its form is the number of one in the order of the library's
/// heuristic.
constexpr uint32_t mostAlgorithms = 8;

/// What is computed for `shape`. Error (15) for kinds other than a contraction,
/// forms from `mostAlgorithms` on, and contractions that cuBLASLt cannot
/// compute. Needs no GPU and no library.
Result<MatmulPlan> planLibrary(const LibraryShape &shape);

} // namespace llmc::rt::cuda

#endif // LLMC_LIB_RUNTIME_BACKENDS_CUDA_LIBRARIES_H
