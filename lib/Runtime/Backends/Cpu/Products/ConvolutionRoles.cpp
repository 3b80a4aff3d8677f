//===- ConvolutionRoles.cpp - A convolution as libraries see it -----------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tested by test/Runtime/Backends/Cpu/ConvolutionTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "ConvolutionRoles.h"

#include <tuple>

namespace llmc::rt::cpu {

namespace {

/// factors[a] * i + factors[b] * j + factors[c] * place = constant, of which
/// the solutions are the window's terms.
struct Equation {
  std::array<int64_t, 3> factors, sizes, strides;
  int64_t constant;

  explicit Equation(const ConvolutionWindow &w)
      : factors{w.dilationA, w.isReversed ? w.dilationB : -w.dilationB,
                -w.stepC},
        sizes{w.sizeA, w.sizeB, w.sizeC},
        strides{w.strideA, w.strideB, w.strideC},
        constant((w.isReversed ? w.dilationB * (w.sizeB - 1) : 0) - w.low) {}
};

/// Cuts off what no window sees, where the source is read. False where more
/// would have to be done.
bool fitSource(RoleWindow &window, int64_t high, bool isRead,
               int64_t &skipped) {
  if (window.low < 0) {
    skipped += -window.low * window.source.stride;
    window.source.size += window.low;
    window.low = 0;
    if (!isRead) {
      return false;
    }
  }
  window.high = high > 0 ? high : 0;
  // Places are counted by a division that rounds down: a rest does not count.
  if (-high >= window.stride) {
    window.source.size += high;
    if (!isRead) {
      return false;
    }
  }
  return window.source.size >= 1;
}

/// The equation solved for the source's place.
std::optional<RoleWindow> solve(const Equation &equation,
                                const ConvolutionRoles &roles,
                                int64_t &skipped) {
  auto dim = [&](ConvolutionOperand operand) {
    return OperandDim{equation.sizes[operand], equation.strides[operand]};
  };
  RoleWindow window;
  window.source = dim(roles.source);
  window.weights = dim(roles.weights);
  window.destination = dim(roles.destination);
  int64_t factor = equation.factors[roles.source];
  // A single place may have any step, and is 0.
  if (window.source.size == 1) {
    factor = equation.factors[roles.destination] < 0 ? 1 : -1;
  }
  if (factor != 1 && factor != -1) {
    return std::nullopt;
  }
  int64_t begin = factor * equation.constant;
  if (window.destination.size > 1) {
    window.stride = -factor * equation.factors[roles.destination];
  }
  if (window.weights.size > 1) {
    window.dilation = -factor * equation.factors[roles.weights];
  }
  if (window.stride < 1) {
    return std::nullopt;
  }
  if (window.dilation < 0) {
    window.isFlipped = true;
    begin += window.dilation * (window.weights.size - 1);
    window.dilation = -window.dilation;
  }
  window.low = -begin;
  int64_t end = window.stride * (window.destination.size - 1) +
                window.dilation * (window.weights.size - 1) + 1;
  int64_t high = end - window.low - window.source.size;
  if (!fitSource(window, high, roles.source != operandC, skipped)) {
    return std::nullopt;
  }
  return window;
}

/// The indices by kind; nothing where there are several of one.
std::optional<std::array<RoleShape::Index, 4>>
readIndices(const ConvolutionShape &shape) {
  std::array<RoleShape::Index, 4> found;
  for (const ContractionIndex &index : shape.indices) {
    auto kind = static_cast<size_t>(index.kind);
    if (index.size == 1) {
      continue;
    }
    if (kind >= found.size() || found[kind].size != 1 || index.size == 0) {
      return std::nullopt;
    }
    found[kind] = {index.size, {index.strideA, index.strideB, index.strideC}};
  }
  return found;
}

/// The kind of index that stands in both operands: m in a and c, n in b and c,
/// k in a and b.
ContractionIndexKind sharedBy(ConvolutionOperand x, ConvolutionOperand y) {
  constexpr std::array<ContractionIndexKind, 3> withoutOperand = {
      ContractionIndexKind::n, ContractionIndexKind::m,
      ContractionIndexKind::k};
  return withoutOperand[3 - x - y];
}

std::optional<RoleShape> assign(const ConvolutionShape &shape,
                                const std::array<RoleShape::Index, 4> &indices,
                                const ConvolutionRoles &roles) {
  auto at = [&](ContractionIndexKind kind) {
    return indices[static_cast<size_t>(kind)];
  };
  RoleShape result;
  result.roles = roles;
  result.groups = at(ContractionIndexKind::batch);
  result.samples = at(sharedBy(roles.source, roles.destination));
  result.inputs = at(sharedBy(roles.source, roles.weights));
  result.outputs = at(sharedBy(roles.weights, roles.destination));
  for (const ConvolutionWindow &window : shape.windows) {
    std::optional<RoleWindow> solved =
        solve(Equation(window), roles, result.skipped);
    if (!solved) {
      return std::nullopt;
    }
    result.windows.push_back(*solved);
  }
  return result;
}

/// Of two that fit: the weights that reach less far over the source, since a
/// kernel keeps what they see; then small weights, which are read again and
/// again; then none that are flipped, which takes a copy.
std::tuple<int64_t, int64_t, bool> rank(const RoleShape &shape) {
  int64_t reach = 1, size = 1;
  bool isFlipped = false;
  for (const RoleWindow &window : shape.windows) {
    reach *= window.dilation * (window.weights.size - 1) + 1;
    size *= window.weights.size;
    isFlipped |= window.isFlipped;
  }
  return {reach, size, isFlipped};
}

} // namespace

std::optional<RoleShape> findRoles(const ConvolutionShape &shape) {
  // Forward, by data, by weights; then with a and b exchanged.
  static constexpr ConvolutionRoles all[] = {
      {operandA, operandB, operandC}, {operandC, operandB, operandA},
      {operandA, operandC, operandB}, {operandB, operandA, operandC},
      {operandC, operandA, operandB}, {operandB, operandC, operandA}};
  std::optional<std::array<RoleShape::Index, 4>> indices = readIndices(shape);
  for (const ConvolutionWindow &w : shape.windows) {
    if (w.sizeA == 0 || w.sizeB == 0 || w.sizeC == 0) {
      return std::nullopt;
    }
  }
  std::optional<RoleShape> best;
  for (const ConvolutionRoles &roles : all) {
    if (!indices || (shape.hasBias && &roles != all)) {
      break;
    }
    std::optional<RoleShape> found = assign(shape, *indices, roles);
    if (found && (!best || rank(*found) < rank(*best))) {
      best = std::move(found);
    }
  }
  return best;
}

ContractionIndexKind findSamples(const ConvolutionShape &shape) {
  std::optional<RoleShape> found = findRoles(shape);
  return found ? sharedBy(found->roles.source, found->roles.destination)
               : ContractionIndexKind::m;
}

} // namespace llmc::rt::cpu
