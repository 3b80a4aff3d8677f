//===- CudnnEngine.h - How cuDNN computes a graph ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// An engine is chosen once for each graph, when the plan is opened: the first
// in the order of cuDNN's heuristic that
//
//   adds in one order              the same plan gives the same bits
//   multiplies what it is given    f32 as f32, never as TF32
//   is no transform                Winograd's and Fourier's round otherwise
//   fits the workspace             which the plan has agreed on
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_RUNTIME_BACKENDS_CUDA_CUDNNENGINE_H
#define LLMC_LIB_RUNTIME_BACKENDS_CUDA_CUDNNENGINE_H

#include "Cudnn.h"
#include "llmc/Runtime/Base/DType.h"

#include <string>

namespace llmc::rt::cuda {

/// For what engines are chosen.
struct CudnnPlace {
  CudnnHandle handle = nullptr;     ///< Of the current device; or null, and
  CudnnDescriptor device = nullptr; ///< A description of one.
};

/// What an engine may do.
struct CudnnBounds {
  bool isNarrow = false; ///< Factors of 16 bits, which tensor cores multiply.
  uint64_t workspaceBytes = 0;
};

struct CudnnEngine {
  CudnnObject plan;
  int64_t workspaceBytes = 0; ///< At most those of the bounds.
};

/// Of elements of floats.
CudnnData cudnnTypeOf(DType type);

/// Error (15): no engine computes `what`, of a finalized graph, within the
/// bounds.
Result<CudnnEngine> chooseEngine(const Cudnn &cudnn, const CudnnPlace &place,
                                 const CudnnObject &graph, CudnnBounds bounds,
                                 const std::string &what);

} // namespace llmc::rt::cuda

#endif // LLMC_LIB_RUNTIME_BACKENDS_CUDA_CUDNNENGINE_H
