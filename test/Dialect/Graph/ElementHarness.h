//===- ElementHarness.h - Scalar code against evaluation --------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two of an op's answers say what one element of its result is: the scalar code
// for kernels and the evaluation. Here the scalar code is run by folding op
// after op, without code generation, and both are compared at every element:
// bit by bit, but for transcendental functions (two units in the last place).
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TEST_DIALECT_GRAPH_ELEMENTHARNESS_H
#define LLMC_TEST_DIALECT_GRAPH_ELEMENTHARNESS_H

#include "GraphContext.h"
#include <gtest/gtest.h>

namespace llmc::test {

/// Checks every op of form Element in the first function of `text`; other ops
/// are evaluated only. `numChecked` counts the ops checked.
testing::AssertionResult
checkElements(StringRef text, int *numChecked = nullptr, uint64_t seed = 1);

} // namespace llmc::test

#endif // LLMC_TEST_DIALECT_GRAPH_ELEMENTHARNESS_H
