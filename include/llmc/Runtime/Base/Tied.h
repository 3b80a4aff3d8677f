//===- Tied.h - Comparing structs by their fields ---------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A struct says once which fields it has: `tied()` is a tuple of references to
// them all.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_RUNTIME_BASE_TIED_H
#define LLMC_RUNTIME_BASE_TIED_H

#include <tuple>

/// Equality and an order by value, for tables of what is prepared.
#define LLMC_COMPARE_TIED(Type)                                                \
  inline bool operator==(const Type &x, const Type &y) {                       \
    return x.tied() == y.tied();                                               \
  }                                                                            \
  inline bool operator<(const Type &x, const Type &y) {                        \
    return x.tied() < y.tied();                                                \
  }

#endif // LLMC_RUNTIME_BASE_TIED_H
