//===- Libraries.h - What a GPU's libraries compute -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_RUNTIME_BACKENDS_CUDA_LIBRARIES_H
#define LLMC_LIB_RUNTIME_BACKENDS_CUDA_LIBRARIES_H

#include "llmc/Runtime/Base/CudnnAttention.h"
#include "llmc/Runtime/Base/MatmulPlan.h"
#include "llmc/Runtime/Device/Device.h"

#include <variant>

namespace llmc::rt::cuda {

/// A contraction is tried with as many algorithms as this, where somebody
/// measures; its form is the number of one in the order of the library's
/// heuristic.
constexpr uint32_t mostAlgorithms = 8;

/// By the library that computes it: cuBLASLt or cuDNN. A further kind is an
/// alternative here, and an op beside MatmulOp.h, ConvolutionOp.h and
/// AttentionOp.h.
using LibraryPlan = std::variant<MatmulPlan, CudnnConvolution, CudnnAttention>;

/// What is computed for `shape`. Error (15) for kinds that no library has,
/// forms that they do not number, and what cuBLASLt or cuDNN cannot compute.
/// Needs no GPU and no library.
Result<LibraryPlan> planLibrary(const LibraryShape &shape);

/// Bytes that a call of the shape may work with, whatever is chosen for it.
uint64_t workspaceOf(const LibraryShape &shape);

} // namespace llmc::rt::cuda

#endif // LLMC_LIB_RUNTIME_BACKENDS_CUDA_LIBRARIES_H
