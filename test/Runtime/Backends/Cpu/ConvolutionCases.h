//===- ConvolutionCases.h - Convolutions and plain sums ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shapes of convolutions by their sizes, and what a device makes of them
// against plain sums. Elements are small integers, so that every order of
// summation gives the same sum, in f32 too.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TEST_RUNTIME_BACKENDS_CPU_CONVOLUTIONCASES_H
#define LLMC_TEST_RUNTIME_BACKENDS_CPU_CONVOLUTIONCASES_H

#include "llmc/Runtime/Base/Library.h"

#include <functional>
#include <string>

namespace llmc::rt::test {

/// Sizes of one convolution.
struct ConvolutionSizes {
  int64_t groups = 1, samples = 1, inputs = 1, outputs = 1;
  bool groupsBatch = false;
  std::vector<ConvolutionWindow> windows; ///< Strides are found.
};

enum Operand { inputOperand, kernelOperand, outputOperand };
/// The order in which the dims of an operand lie: 0 and 1 are its first two,
/// which are samples and features or a kernel's inputs and outputs.
using Order = std::function<std::vector<size_t>(size_t rank, Operand operand)>;

/// The dims `first`, the spatial dims, the dims `last`.
std::vector<size_t> orderOf(size_t rank, const std::vector<size_t> &first,
                            const std::vector<size_t> &last);
/// Pictures with their features inside, a kernel with its outputs inside.
std::vector<size_t> usualOrder(size_t rank, Operand operand);

ConvolutionShape makeShape(ConvolutionSizes sizes,
                           const Order &order = usualOrder);

/// A window with as many places as fit.
ConvolutionWindow makeWindow(int64_t size, int64_t kernel, int64_t step,
                             int64_t low, int64_t high, int64_t dilationA = 1,
                             int64_t dilationB = 1, bool isReversed = false);

/// Adds a bias of the outputs.
void setBias(ConvolutionShape &shape);
/// With one type for all.
ConvolutionShape in(ConvolutionShape shape, DType type);
std::string describe(const ConvolutionShape &shape);

/// The greatest error of a result; infinite where memory beside the results is
/// written.
double greatestError(const ConvolutionShape &shape, int threads);

} // namespace llmc::rt::test

#endif // LLMC_TEST_RUNTIME_BACKENDS_CPU_CONVOLUTIONCASES_H
