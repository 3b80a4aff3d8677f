//===- HostElements.h - Spans of a host tensor's elements -------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Evaluations compute with two scalar types only: floats of every width as
// double, integers and i1 as int64. These functions move runs of elements
// between a tensor and such arrays, one type switch for a run.
//
// A double result is rounded once, to nearest even, when it is stored. For f32,
// bf16 and f16 this equals the op's own rounding for add, subtract, multiply,
// divide and sqrt (double has more than twice their digits); transcendental
// functions are off by less than one unit in the last place of double before
// that rounding.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_SUPPORT_HOSTELEMENTS_H
#define LLMC_SUPPORT_HOSTELEMENTS_H

#include "llmc/Support/HostTensor.h"
#include "llvm/ADT/STLExtras.h"

namespace llmc {

/// Elements of a run: a buffer of this size lies in the first-level cache.
constexpr int64_t kElementRun = 512;

/// Reads elements [first, first + out.size()) of any element type.
void loadFloats(const HostTensor &tensor, int64_t first,
                llvm::MutableArrayRef<double> out);
/// Writes elements, rounded to the float type of `tensor`.
void storeFloats(HostTensor &tensor, int64_t first, ArrayRef<double> values);

/// Reads integers, sign- or zero-extended by their type (i1: 0 or 1).
void loadInts(const HostTensor &tensor, int64_t first,
              llvm::MutableArrayRef<int64_t> out);
/// Writes integers modulo 2^width; to i1: "not zero".
void storeInts(HostTensor &tensor, int64_t first, ArrayRef<int64_t> values);

/// `value` modulo 2^width of the integer type, sign- or zero-extended.
int64_t wrapInt(int64_t value, Type type);

} // namespace llmc

#endif // LLMC_SUPPORT_HOSTELEMENTS_H
