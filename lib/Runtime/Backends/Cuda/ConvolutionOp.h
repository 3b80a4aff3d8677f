//===- ConvolutionOp.h - A convolution made ready by cuDNN ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A graph of one operation (CudnnConvolution.h), whose engine is chosen once,
// when the plan is opened (CudnnEngine.h).
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_RUNTIME_BACKENDS_CUDA_CONVOLUTIONOP_H
#define LLMC_LIB_RUNTIME_BACKENDS_CUDA_CONVOLUTIONOP_H

#include "CudnnEngine.h"
#include "PreparedOp.h"
#include "llmc/Runtime/Base/CudnnConvolution.h"

#include <array>
#include <string>

namespace llmc::rt::cuda {

/// Bytes that a convolution may work with: 32 MiB, and room for each operand in
/// another layout. A function of the shape, so that plans are made without a
/// GPU.
uint64_t convolutionWorkspace(const ConvolutionShape &shape);

class ConvolutionOp final : public PreparedOp {
public:
  ConvolutionOp(const Cudnn &cudnn, CudnnPlace place, ConvolutionShape shape,
                CudnnConvolution convolution, uint64_t workspaceBytes)
      : cudnn(cudnn), place(place), shape(std::move(shape)),
        convolution(std::move(convolution)), workspaceBytes(workspaceBytes) {}

  /// Error (15): no engine computes it as the plan wants it within the
  /// workspace. `name` is what errors call it.
  Status prepare(const std::string &name);

  Status enqueue(CUstream stream, const uint64_t *buffers,
                 void *workspace) const override;

  /// Of the engine for buffers at multiples of 16 bytes.
  int64_t chosenWorkspace() const { return variants[0].engine.workspaceBytes; }

private:
  /// Tensors, operation and plan for buffers that lie at multiples of 16 bytes,
  /// and for any.
  struct Variant {
    std::array<CudnnObject, 3> tensors;
    CudnnObject settings, operation, graph;
    CudnnEngine engine;
  };

  Result<CudnnObject> makeTensor(const CudnnTensor &tensor, int64_t alignment);
  Status makeSettings(Variant &variant);
  Status makeGraph(Variant &variant, int64_t alignment);
  std::array<const CudnnTensor *, 3> tensorsOf() const {
    return {&convolution.x, &convolution.w, &convolution.y};
  }

  const Cudnn &cudnn;
  CudnnPlace place;
  ConvolutionShape shape;
  CudnnConvolution convolution;
  uint64_t workspaceBytes;
  std::array<Variant, 2> variants; ///< Aligned, any.
};

} // namespace llmc::rt::cuda

#endif // LLMC_LIB_RUNTIME_BACKENDS_CUDA_CONVOLUTIONOP_H
