//===- MatmulOp.h - A contraction made ready ------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_RUNTIME_BACKENDS_CUDA_MATMULOP_H
#define LLMC_LIB_RUNTIME_BACKENDS_CUDA_MATMULOP_H

#include "Cublas.h"
#include "PreparedOp.h"
#include "llmc/Runtime/Base/MatmulPlan.h"

#include <cuda.h>

#include <array>
#include <memory>
#include <string>
#include <vector>

namespace llmc::rt::cuda {

/// Descriptors and algorithms are chosen once, from what the library's
/// heuristic lists for the workspace of the plan, best first: the one whose
/// number is the form. For calls that finish a result and for those that do
/// not, each for buffers that lie at multiples of 16 bytes and for any.
class MatmulOp final : public PreparedOp {
public:
  /// `handle` is of the device that is current.
  MatmulOp(const Cublas &cublas, cublasLtHandle_t handle, MatmulPlan plan,
           uint64_t workspaceBytes, uint32_t form)
      : cublas(cublas), handle(handle), plan(std::move(plan)),
        workspaceBytes(workspaceBytes), form(form) {}
  ~MatmulOp() override;
  MatmulOp(const MatmulOp &) = delete;

  /// Error (15): the library has not so many algorithms within the workspace.
  Status prepare(const std::string &name);

  /// Enqueues all calls. `buffers` are a, b, the bias where there is one, c.
  Status enqueue(CUstream stream, const uint64_t *buffers,
                 void *workspace) const override;

private:
  /// An operation with and without what follows the sum.
  struct Variant {
    cublasLtMatmulDesc_t desc = nullptr;
    std::array<cublasLtMatmulAlgo_t, 2> algorithms; ///< Aligned, any.
  };

  Status makeLayouts();
  Status makeVariant(bool finishes, Variant &variant);
  Status choose(Variant &variant, const std::string &name);
  Result<cublasLtMatmulAlgo_t> ask(const Variant &variant, uint32_t alignment,
                                   const std::string &name) const;
  Status setLayout(cublasLtMatrixLayout_t *layout, const MatrixLayout &from,
                   cudaDataType type);
  template <typename T>
  Status set(cublasLtMatmulDesc_t desc, cublasLtMatmulDescAttributes_t what,
             T value) const;

  const Cublas &cublas;
  cublasLtHandle_t handle;
  MatmulPlan plan;
  uint64_t workspaceBytes;
  uint32_t form;
  cublasLtMatrixLayout_t x = nullptr, y = nullptr, d = nullptr;
  /// By `finishes`.
  std::array<Variant, 2> variants;
};

} // namespace llmc::rt::cuda

#endif // LLMC_LIB_RUNTIME_BACKENDS_CUDA_MATMULOP_H
