//===- Combining.h - Bodies of reduce and scatter ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The function of scalars by which reduce and scatter combine elements: its
// scalar code, and its evaluation where it is one of the known kinds.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_DIALECT_STABLEHLO_MODELS_COMBINING_H
#define LLMC_LIB_DIALECT_STABLEHLO_MODELS_COMBINING_H

#include "llmc/Dialect/Graph/IR/ShardingRule.h"
#include "llmc/Dialect/StableHLO/IR/Builders.h"
#include <cmath>

namespace llmc::stablehlo {

/// On i1, sum and max are "or", product and min are "and".
ReductionKind canonicalKind(ReductionKind kind, Type element);

/// The scalar code of a body of element-wise ops on tensors of rank 0 for
/// scalar arguments; its returned values. Empty, with an error at the op, when
/// the body holds an op without such code.
SmallVector<Value> emitScalarBody(Region &body, OpBuilder &builder,
                                  Location loc, ValueRange arguments);

/// Calls `visit` with a function that combines two elements of type
/// `element`, held as T (double for floats, int64_t for integers and i1).
template <typename T, typename Visit>
void withCombination(ReductionKind kind, Type element, Visit visit) {
  if constexpr (std::is_same_v<T, double>) {
    auto greater = [](double x, double y) {
      if (std::isnan(x) || std::isnan(y))
        return std::nan("");
      return x > y || (x == y && std::signbit(y)) ? x : y;
    };
    switch (kind) {
    case ReductionKind::product:
      return visit([](double x, double y) { return x * y; });
    case ReductionKind::max:
      return visit(greater);
    case ReductionKind::min:
      return visit([=](double x, double y) { return -greater(-x, -y); });
    default:
      return visit([](double x, double y) { return x + y; });
    }
  } else {
    bool isBool = element.isInteger(1);
    bool isUnsigned = isBool || element.isUnsignedInteger();
    auto below = [=](int64_t x, int64_t y) {
      return isUnsigned ? uint64_t(x) < uint64_t(y) : x < y;
    };
    switch (kind) {
    case ReductionKind::sum:
      return visit([=](int64_t x, int64_t y) {
        return isBool ? x | y : int64_t(uint64_t(x) + uint64_t(y));
      });
    case ReductionKind::product:
      return visit([](int64_t x, int64_t y) {
        return int64_t(uint64_t(x) * uint64_t(y));
      });
    case ReductionKind::max:
      return visit([=](int64_t x, int64_t y) { return below(x, y) ? y : x; });
    case ReductionKind::min:
      return visit([=](int64_t x, int64_t y) { return below(y, x) ? y : x; });
    case ReductionKind::bitAnd:
      return visit([](int64_t x, int64_t y) { return x & y; });
    case ReductionKind::bitOr:
      return visit([](int64_t x, int64_t y) { return x | y; });
    }
  }
}

} // namespace llmc::stablehlo

#endif // LLMC_LIB_DIALECT_STABLEHLO_MODELS_COMBINING_H
