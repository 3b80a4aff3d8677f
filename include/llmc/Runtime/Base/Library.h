//===- Library.h - What a library is asked for ------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The one list of what a plan may leave to a device's library. A descriptor
// says all that a library needs to make itself ready, and nothing of where the
// buffers lie: equal descriptors are one op of the library. The compiler makes
// them, plans store them, the loader compares them with the operands, devices
// prepare them.
//
//   compiler            plan                      device
//   dist.contract  ->   library, contraction  ->  prepare once, call often
//   dist.convolve  ->   library, convolution  ->
//   dist.attend    ->   library, attention    ->
//   dist.argsort   ->   library, argsort      ->
//   dist.contract_groups -> library, grouped_contraction ->
//
// A new kind is a struct here or beside this file, an alternative of
// `LibraryDescriptor`, and what CONTRIBUTING.md lists under "A library op".
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_RUNTIME_BASE_LIBRARY_H
#define LLMC_RUNTIME_BASE_LIBRARY_H

#include "llmc/Runtime/Base/ArgsortShape.h"
#include "llmc/Runtime/Base/ContractionShape.h"
#include "llmc/Runtime/Base/DType.h"
#include "llmc/Runtime/Base/RandomBits.h"
#include "llmc/Runtime/Base/Tied.h"

#include <array>
#include <cstdint>
#include <string_view>
#include <tuple>
#include <variant>
#include <vector>

namespace llmc::rt {

/// One spatial dim of a convolution. A place of c has a term for each element i
/// of a and j of b with
///
///   dilationA * i  =  stepC * place + dilationB * j' - low
///
/// where j' is j, or sizeB - 1 - j where b is reversed: what lies between the
/// elements of a, before and behind them is zero. The three numbers stand
/// alike, so each operand is a convolution's result of the other two.
struct ConvolutionWindow {
  int64_t sizeA = 1, sizeB = 1, sizeC = 1;
  int64_t strideA = 0, strideB = 0, strideC = 0; ///< In elements, of memory.
  int64_t dilationA = 1, dilationB = 1, stepC = 1;
  int64_t low = 0;
  bool isReversed = false;

  auto tied() const {
    return std::tie(sizeA, sizeB, sizeC, strideA, strideB, strideC, dilationA,
                    dilationB, stepC, low, isReversed);
  }
};

/// c[batch, m, n, places] = beta * c[..] + bias[batch, m, n] +
///     sum over k and the windows of a[batch, m, k, i..] * b[batch, k, n, j..]
///
/// As a contraction, with windows: batch counts groups, m samples, k and n the
/// features of a and c. Sums are made and added to in `accumulate`. The buffers
/// of a call are a, b, the bias where there is one, and c.
struct ConvolutionShape {
  DType a = DType::f32, b = DType::f32, c = DType::f32;
  DType accumulate = DType::f32;
  std::vector<ContractionIndex> indices; ///< Of one kind major to minor.
  std::vector<ConvolutionWindow> windows;
  double beta = 0; ///< 0: c is written; 1: c is added to.
  bool hasBias = false;
  DType bias = DType::f32; ///< f32 where there is none.

  auto tied() const {
    return std::tie(a, b, c, accumulate, indices, windows, beta, hasBias, bias);
  }
};

enum class AttentionIndexKind : uint8_t {
  batch = 0,  ///< Of all; a group of heads that share k and v has no stride
              ///< in them, and their gradients are sums over it.
  row = 1,    ///< Of q and the result: a query.
  column = 2, ///< Of k and v: what is attended to.
  depth = 3,  ///< Of q and k.
  value = 4,  ///< Of v and the result.
};
inline constexpr std::array<std::string_view, 5> attentionIndexNames = {
    "batch", "row", "column", "depth", "value"};

constexpr std::string_view nameOf(AttentionIndexKind kind) {
  auto index = static_cast<size_t>(kind);
  return index < attentionIndexNames.size() ? attentionIndexNames[index]
                                            : "unknown";
}

/// One index, with its strides in elements; zero where an operand lacks it.
struct AttentionIndex {
  AttentionIndexKind kind = AttentionIndexKind::batch;
  int64_t size = 1;
  int64_t strideQ = 0, strideK = 0, strideV = 0;
  int64_t strideBias = 0;
  int64_t strideOut = 0;  ///< Of the result, or of its cotangent.
  int64_t strideRows = 0; ///< Of logsumexp, and of delta.
  int64_t strideDq = 0, strideDk = 0, strideDv = 0; ///< Of a gradient only.
  int64_t strideBits = 0; ///< Of the counter of a weight's random bits.

  auto tied() const {
    return std::tie(kind, size, strideQ, strideK, strideV, strideBias,
                    strideOut, strideRows, strideDq, strideDk, strideDv,
                    strideBits);
  }
};

/// A stride of an index, and the kinds of index, by their number, that its
/// operand has: it has no stride along the others.
struct AttentionStride {
  std::string_view name;
  int64_t AttentionIndex::*stride;
  std::array<bool, attentionIndexNames.size()> along;
};
inline constexpr std::array<AttentionStride, 10> attentionStrides = {{
    {"q", &AttentionIndex::strideQ, {true, true, false, true, false}},
    {"k", &AttentionIndex::strideK, {true, false, true, true, false}},
    {"v", &AttentionIndex::strideV, {true, false, true, false, true}},
    {"bias", &AttentionIndex::strideBias, {true, true, true, false, false}},
    {"out", &AttentionIndex::strideOut, {true, true, false, false, true}},
    {"rows", &AttentionIndex::strideRows, {true, true, false, false, false}},
    {"dq", &AttentionIndex::strideDq, {true, true, false, true, false}},
    {"dk", &AttentionIndex::strideDk, {true, false, true, true, false}},
    {"dv", &AttentionIndex::strideDv, {true, false, true, false, true}},
    {"bits", &AttentionIndex::strideBits, {true, true, true, false, false}},
}};

/// Scaled dot-product attention (Vaswani et al. 2017, 3.2.1), in tiles, so that
/// no row-by-column matrix is ever stored (Dao et al. 2022, algorithms 1, 4).
///
///   s[row, column] = scale * sum over depth of q * k + bias
///   s              = -inf  where causal and column > row + shift + offset
///   logsumexp[row] = log(sum over columns of exp(s))
///   out[row, value] = sum over columns of exp(s - logsumexp) * v
///
/// The gradient has the cotangent of `out` and, for each row, delta, the sum
/// over values of cotangent * out (minus the cotangent of logsumexp):
///
///   p = exp(s - logsumexp),  ds = p * (cotangent * v - delta)
///   dq = scale * ds * k,  dk = scale * ds^T * q,  dv = p^T * cotangent
///
/// With a dropout the weights exp(s - logsumexp) are multiplied by a factor m
/// before they meet v, which is 0 where one is dropped; logsumexp is that of
/// all scores. Then ds = p * (m * cotangent * v - delta), dv = (m * p)^T *
/// cotangent. The bits of a weight are those of the counter state[1] + the sum
/// of its positions times strideBits under the key state[0], so that it does
/// not matter in which tile, or on which device, they are drawn.
///
/// A row that sees no column, as all its scores are -inf, has a logsumexp of
/// -inf and is NaN elsewhere. Where `isSafe`, its result is 0, and it takes no
/// part in gradients: p is 0, and its delta is not read.
///
/// There is one index each of row, column, depth and value. Sums are made in
/// `accumulate`, which is also the type of logsumexp and delta. The buffers are
/// q, k, v, the bias, the offset (one i32) and the state (two u64) where there
/// are any, and then out, logsumexp; of a gradient logsumexp, delta, cotangent,
/// dq, dk, dv.
struct AttentionShape {
  DType dtype = DType::f32; ///< Of q, k, v, the result and all gradients.
  DType accumulate = DType::f32;
  std::vector<AttentionIndex> indices; ///< Of one kind major to minor.
  double scale = 1;
  bool isGradient = false; ///< No stride of dq, dk and dv where it is not.
  bool isSafe = false;     ///< See above: PyTorch's softmax of masked rows.
  bool isCausal = false;
  int64_t shift = 0; ///< 0 where it is not causal.
  bool hasOffset = false;
  bool hasBias = false;
  DType bias = DType::f32; ///< f32 where there is none.
  Dropout dropout;

  bool hasDropout() const { return dropout.bits != RandomBits::none; }
  auto tied() const {
    return std::tie(dtype, accumulate, indices, scale, isGradient, isSafe,
                    isCausal, shift, hasOffset, hasBias, bias, dropout);
  }
};

LLMC_COMPARE_TIED(ConvolutionWindow)
LLMC_COMPARE_TIED(ConvolutionShape)
LLMC_COMPARE_TIED(AttentionIndex)
LLMC_COMPARE_TIED(AttentionShape)

/// The order of the alternatives is stored in plan files: append only.
using LibraryDescriptor =
    std::variant<ContractionShape, ConvolutionShape, AttentionShape,
                 ArgsortShape, GroupedContractionShape>;
inline constexpr std::array<std::string_view,
                            std::variant_size_v<LibraryDescriptor>>
    libraryKindNames = {"contraction", "convolution", "attention", "argsort",
                        "grouped_contraction"};

inline constexpr std::array<std::string_view, libraryKindNames.size()>
    libraryKindPhrases = {"a contraction", "a convolution", "an attention",
                          "an argsort", "a grouped contraction"};

/// The name with its article.
inline std::string_view phraseOf(const LibraryDescriptor &descriptor) {
  return libraryKindPhrases[descriptor.index()];
}

inline std::string_view nameOf(const LibraryDescriptor &descriptor) {
  return libraryKindNames[descriptor.index()];
}

/// A buffer of a call.
struct LibraryOperand {
  std::string_view name;
  DType dtype;
  bool isRead, isWritten;
};

/// The buffers of a call in order: what ordering passes, the loader compares
/// and a device is given.
std::vector<LibraryOperand> operandsOf(const LibraryDescriptor &descriptor);

} // namespace llmc::rt

#endif // LLMC_RUNTIME_BASE_LIBRARY_H
