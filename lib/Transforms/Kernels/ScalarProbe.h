//===- ScalarProbe.h - What an op's scalar code shows -----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Asks an element-wise op for the code of one element on made-up indices, and
// reads off what the op is: an addition, a permutation of dims, a repetition, a
// constant zero. So no pass needs an op's name.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_TRANSFORMS_KERNELS_SCALARPROBE_H
#define LLMC_LIB_TRANSFORMS_KERNELS_SCALARPROBE_H

#include "llmc/Support/LLVM.h"
#include <optional>

namespace llmc::kernels {

/// True when result[i] = operand 0[i] + operand 1[i], one addition.
bool isAddition(Operation *op);

/// For an op that only permutes the dims of its one operand: the dim of the
/// operand for each dim of the result.
std::optional<SmallVector<int64_t>> getPermutation(Operation *op);

/// A value that another one repeats: its dims that are not of size 1 are `dims`
/// of the other, which is the same along all others.
struct Repetition {
  Value of;
  SmallVector<int64_t> dims;
};

/// What `value` repeats after all steps that only repeat; itself without any.
Repetition getRepetition(Value value);

/// True when every element of `value` is a constant zero.
bool isZero(Value value);

} // namespace llmc::kernels

#endif // LLMC_LIB_TRANSFORMS_KERNELS_SCALARPROBE_H
