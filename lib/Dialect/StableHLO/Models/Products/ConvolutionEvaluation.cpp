//===- ConvolutionEvaluation.cpp - Convolutions by plain loops ------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Test: test/Dialect/StableHLO/Models/ConvolutionTest.cpp
//===----------------------------------------------------------------------===//

#include "Contraction.h"
#include "Convolution.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::stablehlo;

namespace {
template <typename T> class Convolving {
public:
  Convolving(ConvolutionOp op, ArrayRef<HostTensor> operands)
      : parts(op), x(pack<T>(operands[0], parts.input.placesInside())),
        k(pack<T>(operands[1], kernelOrder())),
        sums(op.getType().getNumElements()) {
    for (const WindowDim &dim : parts.window)
      kernelPlaces.push_back(dim.window);
  }

  void run(HostTensor &result);

private:
  /// Places, input and output features.
  SmallVector<int64_t> kernelOrder() {
    SmallVector<int64_t> order = parts.kernel.spatial;
    order.append({parts.kernel.first, parts.kernel.second});
    return order;
  }
  std::optional<int64_t> findInput(ArrayRef<int64_t> y, ArrayRef<int64_t> at);
  void sumAt(int64_t group, int64_t sample, ArrayRef<int64_t> y, T *to);
  void putInOrder(HostTensor &result);

  ConvolutionParts parts;
  std::vector<T> x, k, sums;
  SmallVector<int64_t> kernelPlaces;
};

/// The place of the input, row-major, that the kernel's place `at` meets.
template <typename T>
std::optional<int64_t> Convolving<T>::findInput(ArrayRef<int64_t> y,
                                                ArrayRef<int64_t> at) {
  int64_t place = 0;
  for (auto [d, dim] : llvm::enumerate(parts.window)) {
    int64_t element = dim.isReversed ? dim.window - 1 - at[d] : at[d];
    int64_t dilated =
        y[d] * dim.stride + element * dim.windowDilation - dim.low;
    if (dilated < 0 || dilated % dim.baseDilation ||
        dilated / dim.baseDilation >= dim.size)
      return std::nullopt;
    place = place * dim.size + dilated / dim.baseDilation;
  }
  return place;
}

/// Adds the terms of the output features of a group to `to`.
template <typename T>
void Convolving<T>::sumAt(int64_t group, int64_t sample, ArrayRef<int64_t> y,
                          T *to) {
  int64_t size = 1, kernelPlace = 0;
  for (const WindowDim &dim : parts.window)
    size *= dim.size;
  int64_t features =
              parts.groupsBatch ? parts.inputs : parts.groups * parts.inputs,
          firstSample = parts.groupsBatch ? group * parts.samples : 0,
          firstFeature = parts.groupsBatch ? 0 : group * parts.inputs;
  SmallVector<int64_t> at(parts.window.size(), 0);
  do {
    std::optional<int64_t> place = findInput(y, at);
    const T *from =
        k.data() + kernelPlace++ * parts.inputs * parts.groups * parts.outputs +
        group * parts.outputs;
    if (!place)
      continue;
    const T *row = x.data() +
                   ((firstSample + sample) * size + *place) * features +
                   firstFeature;
    for (int64_t i = 0; i < parts.inputs; ++i)
      for (int64_t o = 0; o < parts.outputs; ++o)
        to[o] += row[i] * from[i * parts.groups * parts.outputs + o];
  } while (nextIndex(at, kernelPlaces));
}

/// Samples, places and features of the sums to the dimensions of the result.
template <typename T> void Convolving<T>::putInOrder(HostTensor &result) {
  SmallVector<int64_t> strides = result.getStrides(), shape, steps;
  for (int64_t dim : parts.output.placesInside()) {
    shape.push_back(result.getShape()[dim]);
    steps.push_back(strides[dim]);
  }
  SmallVector<int64_t> index(shape.size(), 0);
  for (const T &sum : sums) {
    store(result,
          std::inner_product(index.begin(), index.end(), steps.begin(),
                             int64_t(0)),
          ArrayRef<T>(&sum, 1));
    nextIndex(index, shape);
  }
}

template <typename T> void Convolving<T>::run(HostTensor &result) {
  T *to = sums.data();
  for (int64_t sample = 0; sample < parts.samples; ++sample) {
    SmallVector<int64_t> y(parts.places.size(), 0);
    do {
      for (int64_t group = 0; group < parts.groups; ++group) {
        sumAt(group, sample, y, to);
        to += parts.outputs;
      }
    } while (nextIndex(y, parts.places));
  }
  putInOrder(result);
}

} // namespace

void stablehlo::evaluateConvolution(ConvolutionOp op,
                                    ArrayRef<HostTensor> operands,
                                    HostTensor &result) {
  if (result.isFloat())
    Convolving<double>(op, operands).run(result);
  else
    Convolving<int64_t>(op, operands).run(result);
}
