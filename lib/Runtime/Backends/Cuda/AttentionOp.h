//===- AttentionOp.h - An attention made ready by cuDNN ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One graph (CudnnAttention.h), op by op in the order in which cuDNN's flash
// engines look for them; scores lie in no memory.
//
//   forward    s = scale * q k^T, -inf where hidden;  m = max s
//              e = exp(s - m);  l = sum e;  rows = m + log l
//              out = (e / l) v
//   gradient   sums = delta * 1;  p = exp(scale * q k^T - rows), 0 where hidden
//              dv = p^T g;  ds = scale * p * (g v^T - sums)
//              dk = ds^T q;  dq = ds k
//
// dq is one product over all columns, since an engine that adds parts of it to
// memory, as they are made, adds in no fixed order. For that ds is stored: a
// gradient works with memory of the size of the scores, once for all layers.
// Where heads share k and v, dk and dv are made for each and then added up.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_RUNTIME_BACKENDS_CUDA_ATTENTIONOP_H
#define LLMC_LIB_RUNTIME_BACKENDS_CUDA_ATTENTIONOP_H

#include "CudnnGraph.h"
#include "PreparedOp.h"
#include "llmc/Runtime/Base/CudnnAttention.h"

namespace llmc::rt::cuda {

/// Bytes that a call may work with: what cuDNN 9.19 asks for, and as much again
/// as a MiB. A function of the sizes, so that plans are made without a GPU.
uint64_t attentionWorkspace(const CudnnAttention &attention);

class AttentionOp final : public PreparedOp {
public:
  AttentionOp(const Cudnn &cudnn, CudnnPlace place, CudnnAttention attention,
              uint64_t workspaceBytes);

  /// Error (15): no engine computes it within the workspace, or cuDNN is older
  /// than 9.16, whose engines of lengths that are no multiple of 128 are known
  /// to be wrong. `name` is what errors call it.
  Status prepare(const std::string &name);

  /// Error (15) also where a buffer lies at no multiple of 16 bytes.
  Status enqueue(CUstream stream, const uint64_t *buffers,
                 void *workspace) const override;

  int64_t chosenWorkspace() const { return engine.workspaceBytes; }

private:
  using Tensor = CudnnGraph::Tensor;

  struct Scalar {
    int64_t number;
    Tensor tensor;
    const void *value;
  };

  Tensor addScalar(const void *value, CudnnData type);
  Tensor addBuffer(const CudnnTensor &tensor);
  Tensor addRows(const CudnnTensor &tensor);
  Tensor addTransposed(const CudnnTensor &tensor);
  Tensor addScores() { return graph.addVirtual(CudnnData::f32, scores); }
  Tensor scale(Tensor x);
  Tensor hide(Tensor x);
  Tensor point(CudnnPoint mode, Tensor x, Tensor b);
  Tensor flip(Tensor x);
  void multiplyForKeys(Tensor a, Tensor b, const CudnnTensor &result);
  void buildForward();
  void buildGradient();

  const Cudnn &cudnn;
  CudnnPlace place;
  CudnnAttention attention;
  uint64_t workspaceBytes;
  CudnnGraph graph;
  CudnnEngine engine;
  CudnnGraph::Sizes scores, rows;
  CudnnData element;
  std::string name;

  /// Of the call, as far as the graph reads or writes them.
  std::vector<const CudnnTensor *> buffers;
  std::vector<Scalar> scalars;
  float factor, nothing, one = 1;
  int32_t shift;
};

} // namespace llmc::rt::cuda

#endif // LLMC_LIB_RUNTIME_BACKENDS_CUDA_ATTENTIONOP_H
