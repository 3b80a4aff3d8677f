//===- Convolution.h - The parts of a convolution ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the answers of convolution share; Convolution.cpp says what the letters
// are.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_DIALECT_STABLEHLO_MODELS_CONVOLUTION_H
#define LLMC_LIB_DIALECT_STABLEHLO_MODELS_CONVOLUTION_H

#include "llmc/Dialect/Graph/IR/Answers.h"
#include "llmc/Dialect/StableHLO/IR/StableHLO.h"

namespace llmc::stablehlo {

/// One tensor's dimensions: samples and features, or input and output features
/// of a kernel, then the spatial ones.
struct TensorDims {
  int64_t first, second;
  SmallVector<int64_t> spatial;

  SmallVector<int64_t> list() const {
    SmallVector<int64_t> all = {first, second};
    all.append(spatial);
    return all;
  }
  /// Samples, places, features.
  SmallVector<int64_t> placesInside() const {
    SmallVector<int64_t> order = {first};
    order.append(spatial);
    order.push_back(second);
    return order;
  }
};

/// An op's dimensions and sizes.
struct ConvolutionParts {
  TensorDims input, kernel, output;
  SmallVector<WindowDim> window;
  /// y of each spatial dimension.
  SmallVector<int64_t> places;
  /// g, b, i and o.
  int64_t groups, samples, inputs, outputs;
  /// Of the batch, not of features.
  bool groupsBatch;

  explicit ConvolutionParts(ConvolutionOp op);
};

/// Some tensor has no elements.
bool isEmpty(ConvolutionOp op);

/// See DerivativeOpInterface::buildDerivative. Not of an empty one.
LogicalResult deriveConvolution(ConvolutionOp op, graph::DerivativeCall &call);

/// Fills `result`, which is not empty: sums in double (integers in 64 bits),
/// over the kernel's places and the input features in order, rounded once.
void evaluateConvolution(ConvolutionOp op, ArrayRef<HostTensor> operands,
                         HostTensor &result);

} // namespace llmc::stablehlo

#endif // LLMC_LIB_DIALECT_STABLEHLO_MODELS_CONVOLUTION_H
