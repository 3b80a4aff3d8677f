//===- ConvolutionPrimitive.h - A convolution of oneDNN ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What oneDNN is asked for, and the primitive that it answers with, which says
// in which layouts it wants its operands.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_RUNTIME_BACKENDS_CPU_CONVOLUTIONPRIMITIVE_H
#define LLMC_LIB_RUNTIME_BACKENDS_CPU_CONVOLUTIONPRIMITIVE_H

#include "ConvolutionRoles.h"
#include "OneDnn.h"

namespace llmc::rt::cpu {

/// An operand as it lies in memory.
struct DescribedOperand {
  dnnl::memory::dims dims, strides;

  void add(int64_t size, int64_t stride) {
    dims.push_back(size);
    strides.push_back(stride);
  }
  dnnl::memory::desc plain() const {
    return {dims, dnnl::memory::data_type::f32, strides};
  }
  /// oneDNN's choice.
  dnnl::memory::desc any() const {
    return {dims, dnnl::memory::data_type::f32, dnnl::memory::format_tag::any};
  }

  /// Row-major.
  dnnl::memory::desc featuresOutside() const {
    dnnl::memory::dims dense(dims.size(), 1);
    for (size_t d = dims.size(); d-- > 1;) {
      dense[d - 1] = dense[d] * dims[d];
    }
    return {dims, dnnl::memory::data_type::f32, dense};
  }
  /// Strides of features that lie side by side, places around them, samples
  /// outside.
  dnnl::memory::dims featuresInside() const {
    dnnl::memory::dims dense(dims.size());
    int64_t stride = dense[1] = 1;
    stride *= dims[1];
    for (size_t d = dims.size(); d-- > 2;) {
      dense[d] = stride;
      stride *= dims[d];
    }
    dense[0] = stride;
    return dense;
  }
  dnnl::memory::desc inside() const {
    return {dims, dnnl::memory::data_type::f32, featuresInside()};
  }
  bool hasFeaturesInside() const {
    dnnl::memory::dims dense = featuresInside();
    for (size_t d = 0; d < dims.size(); ++d) {
      if (dims[d] != 1 && strides[d] != dense[d]) {
        return false;
      }
    }
    return true;
  }
};

/// A convolution as oneDNN is asked for it.
struct ConvolutionQuestion {
  RoleShape shape;
  DescribedOperand source, weights, destination;
  bool hasBias = false;
  dnnl::memory::dims strides = {}, dilations = {}, low = {}, high = {};

  dnnl::memory::desc bias() const {
    if (!hasBias) {
      return {};
    }
    return {{shape.groups.size * shape.outputs.size},
            dnnl::memory::data_type::f32,
            dnnl::memory::format_tag::x};
  }
};

/// A primitive with the layouts that it wants.
struct ConvolutionPrimitive {
  dnnl::primitive primitive;
  dnnl::memory::desc source, weights, destination, scratch;
};

/// Nothing where oneDNN cannot be asked.
std::optional<ConvolutionQuestion> makeQuestion(const ConvolutionShape &shape);

/// Throws dnnl::error; `dnnl_unimplemented` where oneDNN has plain loops only.
ConvolutionPrimitive makePrimitive(const ConvolutionQuestion &question);

} // namespace llmc::rt::cpu

#endif // LLMC_LIB_RUNTIME_BACKENDS_CPU_CONVOLUTIONPRIMITIVE_H
