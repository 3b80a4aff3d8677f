//===- ContractionShape.h - Sums of products --------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two of the kinds of what a library is asked for (Library.h): a contraction,
// and one for each group of rows.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_RUNTIME_BASE_CONTRACTIONSHAPE_H
#define LLMC_RUNTIME_BASE_CONTRACTIONSHAPE_H

#include "llmc/Runtime/Base/DType.h"
#include "llmc/Runtime/Base/Tied.h"

#include <array>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <vector>

namespace llmc::rt {

/// An element-wise function of a result, in the type of its sums.
enum class Activation : uint8_t {
  none = 0,
  relu = 1,     ///< the greater of x and 0
  gelu = 2,     ///< x / 2 * (1 + erf(x / sqrt(2)))
  geluTanh = 3, ///< the same with tanh(sqrt(2 / pi) * (x + 0.044715 x^3))
  tanh = 4,
  logistic = 5, ///< 1 / (1 + exp(-x))
};
inline constexpr std::array<std::string_view, 6> activationNames = {
    "none", "relu", "gelu", "gelu_tanh", "tanh", "logistic"};

constexpr std::string_view nameOf(Activation activation) {
  auto index = static_cast<size_t>(activation);
  return index < activationNames.size() ? activationNames[index] : "unknown";
}

enum class ContractionIndexKind : uint8_t { batch = 0, m = 1, n = 2, k = 3 };
inline constexpr std::array<std::string_view, 4> contractionIndexNames = {
    "batch", "m", "n", "k"};

constexpr std::string_view nameOf(ContractionIndexKind kind) {
  auto index = static_cast<size_t>(kind);
  return index < contractionIndexNames.size() ? contractionIndexNames[index]
                                              : "unknown";
}

/// One index, with its strides in elements; zero where an operand lacks it. A
/// batch has strides in a, b and c, m in a and c, n in b and c, k in a and b;
/// the bias may have one along any but k.
struct ContractionIndex {
  ContractionIndexKind kind = ContractionIndexKind::m;
  int64_t size = 1;
  int64_t strideA = 0, strideB = 0, strideC = 0;
  int64_t strideBias = 0;

  auto tied() const {
    return std::tie(kind, size, strideA, strideB, strideC, strideBias);
  }
};

/// c[batch, m, n] = activation(alpha * sum over k of a[batch, m, k] *
/// b[batch, k, n] + beta * c[batch, m, n] + bias[batch, m, n])
///
/// Each letter stands for any number of indices. An operand has a stride of its
/// own for each index, so transposed, sliced and repeated operands need no
/// copy. Sums are made, and scaled, added to and activated, in `accumulate`.
/// The buffers of a call are a, b, the bias where there is one, and c. What a
/// library cannot express, a backend runs by plain loops or refuses; it never
/// changes the meaning.
struct ContractionShape {
  DType a = DType::f32, b = DType::f32, c = DType::f32;
  DType accumulate = DType::f32;
  std::vector<ContractionIndex> indices; ///< Of one kind major to minor.
  double alpha = 1;
  double beta = 0; ///< 0: c is written; 1: c is added to.
  bool hasBias = false;
  DType bias = DType::f32; ///< f32 where there is none.
  Activation activation = Activation::none;

  auto tied() const {
    return std::tie(a, b, c, accumulate, indices, alpha, beta, hasBias, bias,
                    activation);
  }
};

/// A contraction for each group of rows. The rows of batch b, along index
/// number `rows`, lie group by group: those of group g are the sizes[b, g]
/// behind the rows of all groups before it. Where the rows are an m,
///
///   c[row] = a[row] * b[g]     with g the group of the row less first[b]
///
/// and 0 of a row without a group, or whose g is no matrix: b has `groups`, one
/// every `stride` elements. Where the rows are a k, c has them:
///
///   c[g] = sum over the rows of the group g + first[b] of a[row] * b[row]
///
/// and 0 of a group without rows. With a beta of 1 these are added to c. There
/// is one list of sizes, or one for each position of the batch; where there is
/// no first, it is 0. A list of sizes that are negative, or more together than
/// there are rows, ends the run. The buffers of a call are a, b, sizes, first
/// where there is one, and c.
struct GroupedContractionShape {
  ContractionShape product; ///< Of all rows; no bias, alpha, activation.
  int32_t rows = 0;         ///< Number of the index, which is an m or k.
  DType sizes = DType::i32; ///< Of first, too.
  int64_t numSizes = 1;
  int64_t groups = 1;
  int64_t stride = 0;
  bool hasOwnSizes = false;
  bool hasFirst = false;

  auto tied() const {
    return std::tie(product, rows, sizes, numSizes, groups, stride, hasOwnSizes,
                    hasFirst);
  }
};

LLMC_COMPARE_TIED(ContractionIndex)
LLMC_COMPARE_TIED(ContractionShape)
LLMC_COMPARE_TIED(GroupedContractionShape)

/// The indices of one kind, major to minor, without those of size 1, neighbours
/// merged where all operands go through both in one walk.
std::vector<ContractionIndex> walksOf(const ContractionShape &shape,
                                      ContractionIndexKind kind);

} // namespace llmc::rt

#endif // LLMC_RUNTIME_BASE_CONTRACTIONSHAPE_H
