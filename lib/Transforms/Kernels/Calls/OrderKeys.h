//===- OrderKeys.h - What elements are ordered by, in code ------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_TRANSFORMS_KERNELS_CALLS_ORDERKEYS_H
#define LLMC_LIB_TRANSFORMS_KERNELS_CALLS_ORDERKEYS_H

#include "CallForm.h"

namespace llmc::kernels {

/// An element of a row: its keys as numbers that grow in their order, and where
/// it lies.
struct OrderItem {
  Values keys;
  Value place;
};

class OrderKeys {
public:
  OrderKeys(GridCode &code, const rt::ArgsortShape &shape)
      : code(code), shape(shape) {}

  /// The integers that keys become.
  Type getType(unsigned key) const;
  /// The element at `place` of `row`; the keys are the first memory.
  OrderItem load(Value row, Value place);
  /// Behind all elements.
  OrderItem makeLast(Value place);
  Value isBefore(const OrderItem &left, const OrderItem &right);
  OrderItem select(Value condition, const OrderItem &left,
                   const OrderItem &right);
  /// Stores that `place` is number `rank` of `row`, in the result `memory`.
  void storeResult(Value memory, Value row, Value rank, Value place);

private:
  Value toNumber(unsigned key, Value element);
  /// Where element `at` of a row lies, of `size` along the dim.
  Value offset(Value row, Value at, int64_t size);

  GridCode &code;
  const rt::ArgsortShape &shape;
};

} // namespace llmc::kernels

#endif // LLMC_LIB_TRANSFORMS_KERNELS_CALLS_ORDERKEYS_H
