//===- Comparator.h - Orders by keys ----------------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a comparator of a sort says, where it is an order by keys: functions of
// an element, of which the first that differs decides.
//
//   (x0, y0, x1, y1)
//   or(lt(f(x0), f(y0)), and(eq(f(x0), f(y0)), gt(x1, y1)))
//     ->  f(x0), then x1 descending
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_DIALECT_STABLEHLO_MODELS_COMPARATOR_H
#define LLMC_LIB_DIALECT_STABLEHLO_MODELS_COMPARATOR_H

#include "llmc/Support/LLVM.h"

namespace llmc::stablehlo {

struct ComparatorKey {
  Value value; ///< Of the body, made of the first of each pair of arguments.
  bool isDescending = false;
  /// Floats are compared by numbers, of which zeros are equal and NaN is none.
  bool isOfNumbers = false;
};

/// The keys of `body`, which is verified to be element-wise; none where it is
/// no order by keys that is known to be one.
SmallVector<ComparatorKey> readComparator(Region &body);

} // namespace llmc::stablehlo

#endif // LLMC_LIB_DIALECT_STABLEHLO_MODELS_COMPARATOR_H
