//===- CudnnAttention.h - Attention as cuDNN takes it -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// cuDNN computes an attention, or its gradient, as one graph of products and
// what lies between them, on tensors of four dims:
//
//   samples, heads, rows (of k and v columns), features
//
// It never stores the scores of an attention. Heads may share k and v: then
// these have fewer heads, each for as many of q that follow one another. An
// AttentionShape (Library.h) is such a graph as its numbers say, which one
// function finds. The compiler asks it which calls it leaves to cuDNN, and the
// backend what the call is; neither needs the library for it.
//
// What cuDNN lacks, or leaves open: weights that are dropped by counters of
// llmc's own; rows that see nothing, so anything that a bias could hide; a
// diagonal that the device moves; floats of 32 bits and more.
//
// https://docs.nvidia.com/deeplearning/cudnn/backend/latest
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_RUNTIME_BASE_CUDNNATTENTION_H
#define LLMC_RUNTIME_BASE_CUDNNATTENTION_H

#include "llmc/Runtime/Base/CudnnConvolution.h"

namespace llmc::rt {

struct CudnnAttention {
  bool isGradient = false;
  DType dtype = DType::bf16;
  double scale = 1;
  /// Column c is seen by rows from c - shift on; of all that is seen, it does
  /// not count.
  bool isCausal = false;
  int64_t shift = 0;
  /// Each with the buffer of the call that it lies in. `out` is the result, of
  /// a gradient its cotangent; `rows` are logsumexp.
  CudnnTensor q, k, v, out, rows;
  CudnnTensor delta, dq, dk, dv; ///< Of a gradient.

  int64_t samples() const { return q.sizes[0]; }
  int64_t heads() const { return q.sizes[1]; }
  int64_t keyHeads() const { return k.sizes[1]; }
  int64_t numRows() const { return q.sizes[2]; }
  int64_t numColumns() const { return k.sizes[2]; }
};

/// The graph that computes `shape`. Error (15), which says what cuDNN lacks:
/// "expected <what cuDNN has>, got <what the shape has>".
Result<CudnnAttention> findCudnnAttention(const AttentionShape &shape);

} // namespace llmc::rt

#endif // LLMC_RUNTIME_BASE_CUDNNATTENTION_H
