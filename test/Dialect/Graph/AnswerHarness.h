//===- AnswerHarness.h - Checks of rule, kernel and evaluation --*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Questions to the ops of a straight-line function, given as text. Arguments
// are drawn as GraphContext.h says.
//
//   checkKernels   runs each op of the form Element, Reduction or Update by its
//                  scalar code, folded element by element, and compares with
//                  its evaluation; every read and write must be in bounds
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TEST_DIALECT_GRAPH_ANSWERHARNESS_H
#define LLMC_TEST_DIALECT_GRAPH_ANSWERHARNESS_H

#include "GraphContext.h"
#include <gtest/gtest.h>
#include <vector>

namespace llmc::test {

/// Elements of the first result of the first function. Empty on error.
std::vector<double> evaluate(StringRef text, uint64_t seed = 1);

/// The rule of the last op with one before the terminator, or the diagnostics.
std::string printRule(StringRef text);

/// One line for each op named `opName` in the function's derivative, or the
/// diagnostics.
std::string printVjp(StringRef text, StringRef opName);

testing::AssertionResult checkKernels(StringRef text, double tolerance = 0,
                                      uint64_t seed = 1);

/// Replaces each op that has a decomposition and compares the function's
/// results before and after.
testing::AssertionResult checkDecomposition(StringRef text, double tolerance,
                                            uint64_t seed = 1);

/// Replaces each op that has a form of one round by what it builds for such
/// parts, and compares the function's results before and after.
testing::AssertionResult checkOneRound(StringRef text,
                                       llvm::ArrayRef<int64_t> parts,
                                       double tolerance, uint64_t seed = 1);

} // namespace llmc::test

#endif // LLMC_TEST_DIALECT_GRAPH_ANSWERHARNESS_H
