//===- Contraction.h - Sums of products -------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What contractions and convolutions share.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_DIALECT_STABLEHLO_MODELS_CONTRACTION_H
#define LLMC_LIB_DIALECT_STABLEHLO_MODELS_CONTRACTION_H

#include "llmc/Dialect/StableHLO/IR/StableHLO.h"
#include "llmc/Support/HostElements.h"
#include "llmc/Support/LLVM.h"
#include <numeric>
#include <vector>

namespace llmc::stablehlo {

/// A type that has all values of both: floats, or integers modulo 2^64.
Type getCommonType(Type a, Type b);

/// A product of factors of one type that says how it multiplies, so that no
/// policy narrows them: part of an op that rounds no factor itself.
Value multiplyAsWide(OpBuilder &b, Location loc, Value lhs, Value rhs,
                     DotDimensionNumbersAttr dims);

/// Elements of a float tensor as double, of any other as 64 bits.
inline void load(const HostTensor &tensor, llvm::MutableArrayRef<double> out) {
  loadFloats(tensor, 0, out);
}
inline void load(const HostTensor &tensor, llvm::MutableArrayRef<int64_t> out) {
  loadInts(tensor, 0, out);
}
inline void store(HostTensor &tensor, int64_t first, ArrayRef<double> values) {
  storeFloats(tensor, first, values);
}
inline void store(HostTensor &tensor, int64_t first, ArrayRef<int64_t> values) {
  storeInts(tensor, first, values);
}

/// The elements with the dimensions in the order `dims`.
template <typename T>
std::vector<T> pack(const HostTensor &tensor, ArrayRef<int64_t> dims) {
  std::vector<T> plain(tensor.getNumElements());
  load(tensor, plain);
  if (llvm::is_sorted(dims))
    return plain;
  SmallVector<int64_t> strides = tensor.getStrides();
  SmallVector<int64_t> shape, steps, index(dims.size(), 0);
  for (int64_t d : dims) {
    shape.push_back(tensor.getShape()[d]);
    steps.push_back(strides[d]);
  }
  std::vector<T> packed(plain.size());
  for (T &element : packed) {
    element = plain[std::inner_product(index.begin(), index.end(),
                                       steps.begin(), int64_t(0))];
    nextIndex(index, shape);
  }
  return packed;
}

} // namespace llmc::stablehlo

#endif // LLMC_LIB_DIALECT_STABLEHLO_MODELS_CONTRACTION_H
