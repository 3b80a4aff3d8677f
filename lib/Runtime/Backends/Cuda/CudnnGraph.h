//===- CudnnGraph.h - A graph of cuDNN, op by op ----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Operations on tensors: those of the call, those that lie in no memory, since
// an engine keeps them to itself, and scalars that the host gives. What goes
// wrong first is the error of `finalize`.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_RUNTIME_BACKENDS_CUDA_CUDNNGRAPH_H
#define LLMC_LIB_RUNTIME_BACKENDS_CUDA_CUDNNGRAPH_H

#include "CudnnEngine.h"

#include <optional>

namespace llmc::rt::cuda {

/// cudnnPointwiseMode_t.
enum class CudnnPoint : int {
  add = 0,
  multiply = 1,
  divide = 6,
  subtract = 9,
  exponential = 13,
  logarithm = 15,
  isAtLeast = 303,
  index = 501,  ///< Of the element, along an axis.
  select = 601, ///< x where the choice is true, else b.
};

class CudnnGraph {
public:
  using Sizes = std::vector<int64_t>;
  /// A tensor by its place in the graph.
  using Tensor = size_t;

  explicit CudnnGraph(const Cudnn &cudnn) : cudnn(cudnn) {}

  /// One that the call gives under `number`; `alignment` in bytes.
  Tensor addBuffer(int64_t number, CudnnData type, const Sizes &sizes,
                   const Sizes &strides, int64_t alignment);
  /// A number that the call gives, of as many dims as tensors have.
  Tensor addScalar(int64_t number, CudnnData type);
  /// One that lies nowhere, with strides as if it had no gaps.
  Tensor addVirtual(CudnnData type, const Sizes &sizes);
  Tensor addVirtual(CudnnData type, const Sizes &sizes, const Sizes &strides);

  /// What a pointwise operation reads beside x.
  struct Beside {
    std::optional<Tensor> b = {}, choice = {};
    CudnnData type = CudnnData::f32; ///< That is computed in.
    std::optional<int64_t> axis = {};
  };
  void point(CudnnPoint mode, Tensor x, Tensor y, const Beside &beside);
  void multiply(Tensor a, Tensor b, Tensor c);
  void addUp(Tensor x, Tensor y) { reduce(0, x, y); }
  void takeGreatest(Tensor x, Tensor y) { reduce(3, x, y); }
  /// y has the elements of x, as its sizes and strides say.
  void reshape(Tensor x, Tensor y);

  Result<const CudnnObject *> finalize(const CudnnPlace &place);

private:
  using Attributes = std::vector<std::pair<CudnnAttribute, CudnnDescriptor>>;

  Tensor addTensor(CudnnData type, const Sizes &sizes, const Sizes &strides,
                   int64_t number, int64_t alignment,
                   std::optional<CudnnAttribute> flag);
  Status makeTensor(CudnnObject &made, CudnnData type, const Sizes &sizes,
                    const Sizes &strides, int64_t number, int64_t alignment,
                    std::optional<CudnnAttribute> flag);
  Status makePoint(CudnnPoint mode, Tensor x, Tensor y, const Beside &beside);
  Status makeMultiply(Tensor a, Tensor b, Tensor c);
  Status makeReduce(int kind, Tensor x, Tensor y);
  void reduce(int kind, Tensor x, Tensor y);
  Status addOperation(CudnnKind kind, const Attributes &attributes);
  CudnnDescriptor of(Tensor tensor) const { return tensors[tensor].get(); }
  /// A kind of settings with its attributes set.
  CudnnObject &keep(CudnnObject object);

  const Cudnn &cudnn;
  Status status = Status::success();
  std::vector<CudnnObject> tensors, settings, operations;
  CudnnObject graph;
  int64_t virtuals = 0;
};

} // namespace llmc::rt::cuda

#endif // LLMC_LIB_RUNTIME_BACKENDS_CUDA_CUDNNGRAPH_H
