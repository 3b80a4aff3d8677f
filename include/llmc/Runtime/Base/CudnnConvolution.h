//===- CudnnConvolution.h - Convolutions as cuDNN takes them ----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// cuDNN has a convolution and its two gradients as three operations on an image
// x, a filter w and a response y, of which the operation writes one:
//
//   y[n, k, p] = sum over c, j of x[n, c, stride p + dilation j - pad] w[k, c,
//   j]
//
//   forward          writes y     ConvolutionShape: a = x, b = w, c = y
//   data gradient    writes x                       a = y, b = w, c = x
//   filter gradient  writes w                       a = x, b = y, c = w
//
// A ConvolutionShape (Library.h) is one of them as its numbers say, which one
// function finds. The compiler asks it which calls it leaves to cuDNN, and the
// backend what the call is; neither needs the library for it.
//
// https://docs.nvidia.com/deeplearning/cudnn/backend/latest
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_RUNTIME_BASE_CUDNNCONVOLUTION_H
#define LLMC_RUNTIME_BASE_CUDNNCONVOLUTION_H

#include "llmc/Runtime/Base/Library.h"
#include "llmc/Runtime/Base/Status.h"

#include <array>
#include <cstdint>
#include <vector>

namespace llmc::rt {

enum class CudnnDirection : uint8_t { forward, data, filter };

/// Dims are samples (of w the features of y), features (of w those of x, within
/// a group), and at least two places. Groups are part of the features of x and
/// y and of the first dim of w, as their major part. Between elements of w are
/// no gaps.
struct CudnnTensor {
  unsigned operand = 0; ///< Which buffer it lies in: 0 is a, 1 is b, 2 is c.
  int64_t offset = 0;   ///< Elements that lie before it in the buffer.
  std::vector<int64_t> sizes, strides; ///< Strides in elements, at least 1.
};

struct CudnnConvolution {
  CudnnDirection direction = CudnnDirection::forward;
  CudnnTensor x, w, y;
  /// One for each place; none is negative.
  std::vector<int64_t> padsBefore, padsAfter, strides, dilations;
  /// The filter is read from its end.
  bool isFlipped = false;
};

/// The operation that computes `shape`. Error (15), which says what cuDNN
/// lacks: "expected <what cuDNN has>, got <what the shape has>".
Result<CudnnConvolution> findCudnnConvolution(const ConvolutionShape &shape);

} // namespace llmc::rt

#endif // LLMC_RUNTIME_BASE_CUDNNCONVOLUTION_H
