//===- Convolution.h - A convolution in plain loops -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TEST_RUNTIME_STANDIN_CUDNN_CONVOLUTION_H
#define LLMC_TEST_RUNTIME_STANDIN_CUDNN_CONVOLUTION_H

#include "Cudnn/Descriptors.h"

#include <array>

namespace llmc::standin {

struct TensorFields {
  int64_t number = 0, alignment = 1;
  cudnnDataType_t type = CUDNN_DATA_FLOAT;
  std::vector<int64_t> sizes, strides;
  bool isVirtual = false; ///< It lies nowhere.
  bool isScalar = false;  ///< The host gives it.

  int64_t elementBytes() const;
  uint64_t extent() const; ///< Bytes.
};

TensorFields readTensor(const Descriptor &tensor);
/// Of a type of floats, element `at`.
double loadElement(cudnnDataType_t type, const char *base, int64_t at);
void storeElement(cudnnDataType_t type, char *base, int64_t at, double value);

/// What the operation of a graph computes: of x, w and y it writes number
/// `written`, and reads the others.
struct Convolution {
  int written = 2;
  std::array<TensorFields, 3> tensors; ///< x, w, y.
  std::vector<int64_t> before, after, strides, dilations;
  bool flips = false;
  cudnnDataType_t compute = CUDNN_DATA_FLOAT;
  double alpha = 1, beta = 0;
};

/// Of a finalized graph.
Convolution readConvolution(const Descriptor &graph);
/// By the rules of its documentation; of an operation that is being finalized.
cudnnStatus_t checkConvolution(const Descriptor &operation);

/// The engines that compute it, the best first.
std::vector<Engine> enginesFor(const Convolution &convolution, bool isFallback);

/// `memory` is where x, w and y lie.
void convolve(const Convolution &convolution, const Engine &engine,
              const std::array<char *, 3> &memory);

} // namespace llmc::standin

#endif // LLMC_TEST_RUNTIME_STANDIN_CUDNN_CONVOLUTION_H
