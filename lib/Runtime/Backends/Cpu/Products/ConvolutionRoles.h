//===- ConvolutionRoles.h - A convolution as libraries see it ---*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Libraries have three convolutions, which differ in what they compute of
//
//   source place = stride * destination place + dilation * weights place - low
//
// forward the destination, backward by data the source, backward by weights the
// weights. Ours (ConvolutionShape) has three operands that stand alike, so each
// may be any of the three where its places have no step:
//
//   a, c, b = source, destination, weights     x * w, strided or not
//   c, a, b                                    the cotangent of x; a transposed
//                                              convolution
//   a, b, c                                    the cotangent of w
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_RUNTIME_BACKENDS_CPU_CONVOLUTIONROLES_H
#define LLMC_LIB_RUNTIME_BACKENDS_CPU_CONVOLUTIONROLES_H

#include "llmc/Runtime/Base/Library.h"

#include <array>
#include <optional>

namespace llmc::rt::cpu {

/// The operands by number.
enum ConvolutionOperand : size_t { operandA, operandB, operandC };

/// Which operand is the source, the weights and the destination.
struct ConvolutionRoles {
  ConvolutionOperand source, weights, destination;
};

/// One dim of an operand, strides in elements.
struct OperandDim {
  int64_t size = 1;
  int64_t stride = 0;
};

/// One window; `low` and `high` are at least 0.
struct RoleWindow {
  int64_t stride = 1, dilation = 1;
  int64_t low = 0, high = 0;
  /// The weights' places count from their end.
  bool isFlipped = false;
  OperandDim source, weights, destination;
};

/// Groups, samples and features of a group, and the windows: samples stand in
/// source and destination, inputs in source and weights, outputs in weights and
/// destination.
struct RoleShape {
  ConvolutionRoles roles;
  /// Each with the stride in operand a, b and c.
  struct Index {
    int64_t size = 1;
    std::array<int64_t, 3> strides{};
  };
  Index groups, samples, inputs, outputs;
  std::vector<RoleWindow> windows;
  /// Elements of the source that come before the first one that is read.
  int64_t skipped = 0;
};

/// The shape by the roles whose weights reach least far over the source;
/// nothing where none fits, or there are several indices of a kind. With a
/// bias, forward alone.
std::optional<RoleShape> findRoles(const ConvolutionShape &shape);

/// The kind of the index over samples, m where there are no roles.
ContractionIndexKind findSamples(const ConvolutionShape &shape);

} // namespace llmc::rt::cpu

#endif // LLMC_LIB_RUNTIME_BACKENDS_CPU_CONVOLUTIONROLES_H
