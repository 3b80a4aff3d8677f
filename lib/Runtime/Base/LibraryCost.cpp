//===- LibraryCost.cpp - What calls of a library cost ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "llmc/Runtime/Base/LibraryCost.h"

#include <algorithm>

namespace llmc::rt {

/// The product of the sizes of all indices.
template <typename Shape> static double pointsOf(const Shape &shape) {
  double points = 1;
  for (const auto &index : shape.indices) {
    points *= static_cast<double>(index.size);
  }
  return points;
}

static double operationsIn(const ContractionShape &shape) {
  return 2 * pointsOf(shape);
}

/// Each window has the terms of the two smaller of its three operands.
static double operationsIn(const ConvolutionShape &shape) {
  double terms = pointsOf(shape);
  for (const ConvolutionWindow &window : shape.windows) {
    double a = double(window.sizeA), b = double(window.sizeB),
           c = double(window.sizeC);
    terms *= a * b * c / std::max({a, b, c});
  }
  return 2 * terms;
}

static double operationsIn(const AttentionShape &shape) {
  double scores = 1, depth = 1, value = 1;
  for (const AttentionIndex &index : shape.indices) {
    auto size = static_cast<double>(index.size);
    (index.kind == AttentionIndexKind::depth   ? depth
     : index.kind == AttentionIndexKind::value ? value
                                               : scores) *= size;
  }
  // Forward q k and p v; the gradient q k again, its own and those of q, k, v.
  return 2 * scores *
         (shape.isGradient ? 3 * depth + 2 * value : depth + value);
}

/// All rows have a group, at most; each is multiplied by one matrix.
static double operationsIn(const GroupedContractionShape &shape) {
  return operationsIn(shape.product);
}

static double operationsIn(const ArgsortShape &) { return 0; }

double operationsOf(const LibraryDescriptor &descriptor) {
  return std::visit([](const auto &shape) { return operationsIn(shape); },
                    descriptor);
}

//===----------------------------------------------------------------------===//
// Types of factors
//===----------------------------------------------------------------------===//

std::string_view rateNameOf(DType type) {
  if (!isFloat(type)) {
    return "";
  }
  std::string_view name = sizeOf(type) == 1 ? "fp8" : nameOf(type);
  const auto *known = std::find(rateNames.begin(), rateNames.end(), name);
  return known == rateNames.end() ? "" : *known;
}

static std::string_view rateNameOf(DType a, DType b) {
  return rateNameOf(sizeOf(a) < sizeOf(b) ? b : a);
}

static std::string_view factorsOf(const ContractionShape &shape) {
  return rateNameOf(shape.a, shape.b);
}
static std::string_view factorsOf(const ConvolutionShape &shape) {
  return rateNameOf(shape.a, shape.b);
}
static std::string_view factorsOf(const AttentionShape &shape) {
  return rateNameOf(shape.dtype);
}
static std::string_view factorsOf(const GroupedContractionShape &shape) {
  return factorsOf(shape.product);
}
static std::string_view factorsOf(const ArgsortShape &) { return ""; }

std::string_view rateNameOf(const LibraryDescriptor &descriptor) {
  return std::visit([](const auto &shape) { return factorsOf(shape); },
                    descriptor);
}

} // namespace llmc::rt
