//===- Cublas.h - cuBLASLt, as far as it is used --------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// https://docs.nvidia.com/cuda/cublas/#using-the-cublaslt-api
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_RUNTIME_BACKENDS_CUDA_CUBLAS_H
#define LLMC_LIB_RUNTIME_BACKENDS_CUDA_CUBLAS_H

#include "SymbolTable.h"

#include <cublasLt.h>

#include <string_view>

namespace llmc::rt::cuda {

#define LLMC_CUDA_CUBLAS(X)                                                    \
  X(cublasLtCreate)                                                            \
  X(cublasLtDestroy)                                                           \
  X(cublasLtGetVersion)                                                        \
  X(cublasLtGetStatusName)                                                     \
  X(cublasLtGetStatusString)                                                   \
  X(cublasLtMatmul)                                                            \
  X(cublasLtMatmulAlgoGetHeuristic)                                            \
  X(cublasLtMatmulDescCreate)                                                  \
  X(cublasLtMatmulDescDestroy)                                                 \
  X(cublasLtMatmulDescSetAttribute)                                            \
  X(cublasLtMatmulPreferenceCreate)                                            \
  X(cublasLtMatmulPreferenceDestroy)                                           \
  X(cublasLtMatmulPreferenceSetAttribute)                                      \
  X(cublasLtMatrixLayoutCreate)                                                \
  X(cublasLtMatrixLayoutDestroy)                                               \
  X(cublasLtMatrixLayoutSetAttribute)

struct Cublas {
  LLMC_CUDA_CUBLAS(LLMC_CUDA_MEMBER)

  /// Loads libcublasLt.so.13, or .12, once for the process. Error (15): it is
  /// not there or lacks a symbol.
  static Result<const Cublas *> get();

  /// `what` failed: "<what>: <name> (<text>)"; 15 where the library does not
  /// have what is asked for, 12 where memory is missing, else 70.
  Status check(cublasStatus_t status, std::string_view what) const;
};

} // namespace llmc::rt::cuda

#endif // LLMC_LIB_RUNTIME_BACKENDS_CUDA_CUBLAS_H
