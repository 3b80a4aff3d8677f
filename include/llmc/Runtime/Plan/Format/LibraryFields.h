//===- LibraryFields.h - The fields of descriptors by name ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The part of PlanFields.h for what a library is asked for.
//
// Test: test/Runtime/Plan/Print/PlanPrintTest.cpp
//===----------------------------------------------------------------------===//

#ifndef LLMC_RUNTIME_PLAN_FORMAT_LIBRARYFIELDS_H
#define LLMC_RUNTIME_PLAN_FORMAT_LIBRARYFIELDS_H

#include "llmc/Runtime/Base/Library.h"

#include <type_traits>

namespace llmc::rt::plan {

// One definition for const and mutable plans; PlanFields.h ends it.
#define LLMC_FIELDS(Type)                                                      \
  template <                                                                   \
      typename V, typename T,                                                  \
      std::enable_if_t<std::is_same_v<std::remove_const_t<T>, Type>, int> = 0> \
  void fields(V &v, T &x)

LLMC_FIELDS(ContractionIndex) {
  v("kind", x.kind);
  v("size", x.size);
  v("stride_a", x.strideA);
  v("stride_b", x.strideB);
  v("stride_c", x.strideC);
  v("stride_bias", x.strideBias);
}
LLMC_FIELDS(ContractionShape) {
  v("a", x.a);
  v("b", x.b);
  v("c", x.c);
  v("accumulate", x.accumulate);
  v("indices", x.indices);
  v("alpha", x.alpha);
  v("beta", x.beta);
  v("has_bias", x.hasBias);
  v("bias", x.bias);
  v("activation", x.activation);
}
LLMC_FIELDS(ConvolutionWindow) {
  v("size_a", x.sizeA);
  v("size_b", x.sizeB);
  v("size_c", x.sizeC);
  v("stride_a", x.strideA);
  v("stride_b", x.strideB);
  v("stride_c", x.strideC);
  v("dilation_a", x.dilationA);
  v("dilation_b", x.dilationB);
  v("step_c", x.stepC);
  v("low", x.low);
  v("is_reversed", x.isReversed);
}
LLMC_FIELDS(ConvolutionShape) {
  v("a", x.a);
  v("b", x.b);
  v("c", x.c);
  v("accumulate", x.accumulate);
  v("indices", x.indices);
  v("windows", x.windows);
  v("beta", x.beta);
  v("has_bias", x.hasBias);
  v("bias", x.bias);
}
LLMC_FIELDS(AttentionIndex) {
  v("kind", x.kind);
  v("size", x.size);
  v("stride_q", x.strideQ);
  v("stride_k", x.strideK);
  v("stride_v", x.strideV);
  v("stride_bias", x.strideBias);
  v("stride_out", x.strideOut);
  v("stride_rows", x.strideRows);
  v("stride_dq", x.strideDq);
  v("stride_dk", x.strideDk);
  v("stride_dv", x.strideDv);
  v("stride_bits", x.strideBits);
}
LLMC_FIELDS(Dropout) {
  v("bits", x.bits);
  v("keeps_below", x.keepsBelow);
  v("limit", x.limit);
  v("factor", x.factor);
}
LLMC_FIELDS(AttentionShape) {
  v("dtype", x.dtype);
  v("accumulate", x.accumulate);
  v("indices", x.indices);
  v("scale", x.scale);
  v("is_gradient", x.isGradient);
  v("is_safe", x.isSafe);
  v("is_causal", x.isCausal);
  v("shift", x.shift);
  v("has_offset", x.hasOffset);
  v("has_bias", x.hasBias);
  v("bias", x.bias);
  v("dropout", x.dropout);
}
LLMC_FIELDS(ArgsortKey) {
  v("dtype", x.dtype);
  v("is_descending", x.isDescending);
}
LLMC_FIELDS(ArgsortShape) {
  v("keys", x.keys);
  v("outer", x.outer);
  v("size", x.size);
  v("inner", x.inner);
  v("count", x.count);
}

LLMC_FIELDS(GroupedContractionShape) {
  v("product", x.product);
  v("rows", x.rows);
  v("sizes", x.sizes);
  v("num_sizes", x.numSizes);
  v("groups", x.groups);
  v("stride", x.stride);
  v("has_own_sizes", x.hasOwnSizes);
  v("has_first", x.hasFirst);
}

} // namespace llmc::rt::plan

#endif // LLMC_RUNTIME_PLAN_FORMAT_LIBRARYFIELDS_H
