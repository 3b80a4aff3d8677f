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

/// What is computed for `shape`. Error (15) for kinds other than a contraction,
/// forms other than 0, and contractions that cuBLASLt cannot compute. Needs no
/// GPU and no library.
Result<MatmulPlan> planLibrary(const LibraryShape &shape);

} // namespace llmc::rt::cuda

#endif // LLMC_LIB_RUNTIME_BACKENDS_CUDA_LIBRARIES_H
