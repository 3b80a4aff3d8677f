//===- LoopElements.h - Elements in plain loops -----------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How loops read and write the elements of a buffer, by the type in which they
// compute.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_RUNTIME_BACKENDS_CPU_LOOPELEMENTS_H
#define LLMC_LIB_RUNTIME_BACKENDS_CPU_LOOPELEMENTS_H

#include "llmc/Runtime/Base/DType.h"

#include <cstdint>

namespace llmc::rt::cpu {

template <typename T> struct Typed {
  static T load(DType, const void *base, int64_t i) {
    return static_cast<const T *>(base)[i];
  }
  static void store(DType, void *base, int64_t i, T value) {
    static_cast<T *>(base)[i] = value;
  }
};

/// Elements of any float type, computed in Acc.
template <typename Acc> struct AnyFloat {
  static Acc load(DType type, const void *base, int64_t i) {
    return static_cast<Acc>(loadElement(type, base, i));
  }
  static void store(DType type, void *base, int64_t i, Acc value) {
    storeElement(type, base, i, static_cast<double>(value));
  }
};

/// Elements of any integer type, computed modulo 2^64; booleans are added by
/// "or".
struct AnyInteger {
  static uint64_t load(DType type, const void *base, int64_t i) {
    return static_cast<uint64_t>(loadInteger(type, base, i));
  }
  static void store(DType type, void *base, int64_t i, uint64_t value) {
    storeInteger(type, base, i,
                 type == DType::i1 ? value != 0 : static_cast<int64_t>(value));
  }
};

} // namespace llmc::rt::cpu

#endif // LLMC_LIB_RUNTIME_BACKENDS_CPU_LOOPELEMENTS_H
