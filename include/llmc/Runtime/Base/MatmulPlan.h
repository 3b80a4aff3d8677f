//===- MatmulPlan.h - Contractions as cuBLASLt takes them -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// cuBLASLt multiplies matrices whose columns lie in a row: D = op(X) op(Y), in
// batches of one stride. A contraction (ContractionShape.h) has any number of
// indices with any strides. One m, one n and one k become the matrices; of the
// others the longest is the batch, and the rest are calls one after the other.
//
//   c[i, j] of rows, a[i, k] * b[k, j]     D = c^T: X = b^T as it lies, Y = a^T
//   c[h, i, j], heads h                    a batch of size h
//   two k that do not lie in a row         a call for each outer k, which add
//
// Floats of eight bits it multiplies only where k is contiguous in both factors
// (op(X) is a transposition and op(Y) is none), in multiples of 16.
//
// What cannot be said so is refused, never computed otherwise. No driver and no
// library is needed to say it: compilers ask it too.
//
// https://docs.nvidia.com/cuda/cublas/#cublasltmatmul
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_RUNTIME_BASE_MATMULPLAN_H
#define LLMC_RUNTIME_BASE_MATMULPLAN_H

#include "llmc/Runtime/Base/ContractionShape.h"
#include "llmc/Runtime/Base/Status.h"

#include <cstdint>
#include <string>
#include <vector>

namespace llmc::rt::cuda {

/// Bytes that each contraction may work with: what NVIDIA advises for sm_90,
/// and a fixed number, so that plans are made without a GPU.
constexpr uint64_t matmulWorkspaceBytes = uint64_t(32) << 20;

/// `rows` by `cols` elements; a column is contiguous, and `lead` elements on
/// from the column before it.
struct MatrixLayout {
  int64_t rows = 1, cols = 1;
  int64_t lead = 1;
  int64_t batchStride = 0; ///< Elements; 0 where all batches share it.
};

/// One call: offsets in elements of the four operands from their buffers.
struct MatmulCall {
  int64_t a = 0, b = 0, c = 0, bias = 0;
  bool adds = false;     ///< c is added to.
  bool finishes = false; ///< Bias and activation follow it.
};

/// D[M, N] = alpha * op(X)[M, K] * op(Y)[K, N] + (adds) D
struct MatmulPlan {
  ContractionShape shape;   ///< Types, scale, bias, activation.
  bool isSwapped = false;   ///< X is b: D is c transposed.
  bool transposesX = false; ///< X lies as [K, M].
  bool transposesY = false; ///< Y lies as [N, K].
  MatrixLayout x, y, d;
  int32_t batches = 1;
  int64_t biasBatchStride = 0;
  /// Every batch of every operand begins where the first does modulo 16 bytes.
  bool keepsAlignment = true;
  std::vector<MatmulCall> calls;

  /// Operands begin at multiples of 16 bytes: no algorithm takes others.
  bool needsAlignment() const { return sizeOf(shape.a) == 1; }
};

/// Error (15), with the reason, where cuBLASLt has no way to compute `shape`;
/// `name` is what errors call it.
Result<MatmulPlan> planMatmul(const ContractionShape &shape,
                              const std::string &name);

} // namespace llmc::rt::cuda

#endif // LLMC_RUNTIME_BASE_MATMULPLAN_H
