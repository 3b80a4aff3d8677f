//===- AttentionReference.h - Attention by plain loops ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random shapes, values of their buffers, and what comes out of them by the
// definition of AttentionShape, in double.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TEST_RUNTIME_DEVICE_ATTENTIONREFERENCE_H
#define LLMC_TEST_RUNTIME_DEVICE_ATTENTIONREFERENCE_H

#include "llmc/Runtime/Base/Library.h"

#include <random>
#include <string>
#include <vector>

namespace llmc::rt::test::attention {

/// The values of each buffer of a call, in the order of `operandsOf`.
using AttentionValues = std::vector<std::vector<double>>;

/// What no attention writes: results keep it between their elements.
inline constexpr double untouched = 77;

struct AttentionDraw {
  int64_t mostRows = 40, mostColumns = 40, mostWidth = 40;
  bool isGradient = false;
  bool hasDropout = false;
};

/// Any number of batch indices, groups, biases that repeat, permuted strides
/// with gaps.
AttentionShape drawShape(std::mt19937 &dice, const AttentionDraw &draw);

/// "gradient f32 batch 2 row 7 ... causal 3".
std::string describe(const AttentionShape &shape);

/// Inputs as their types round them; logsumexp and delta of a gradient are
/// those of the inputs, delta less a cotangent of logsumexp.
AttentionValues drawValues(std::mt19937 &dice, const AttentionShape &shape,
                           int32_t offset);

/// The results beside the inputs.
AttentionValues attend(const AttentionShape &shape, AttentionValues values);

} // namespace llmc::rt::test::attention

#endif // LLMC_TEST_RUNTIME_DEVICE_ATTENTIONREFERENCE_H
