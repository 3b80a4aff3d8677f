//===- RuleHarness.h - Checks of sharding rules by evaluation ---*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Holds what an op's rule states against its evaluation:
//
//   Pass factor f     the op on the halves of its operands along f gives the
//                     halves of its results
//   Reduced factor f  the op on the halves gives two values that combine, by
//                     the factor's reduction, to its result
//   carries           for operands partial by a reduction, the op on the parts
//                     gives parts of the result
//
// Factors of odd size, and those that are not the major part of each dimension
// that they are in, are not halved. An op whose attributes name sizes cannot be
// halved by its types alone; it is counted as skipped. So are dimensions that
// the indices of a gather or scatter address.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TEST_DIALECT_GRAPH_RULEHARNESS_H
#define LLMC_TEST_DIALECT_GRAPH_RULEHARNESS_H

#include "GraphContext.h"
#include <gtest/gtest.h>

namespace llmc::test {

struct RuleChecks {
  int numHalved = 0;
  int numReduced = 0;
  int numCarried = 0;
  int numSkipped = 0;
};

/// Checks the rule of every op in the first function of `text`.
testing::AssertionResult
checkRules(StringRef text, RuleChecks *checks = nullptr, uint64_t seed = 1);

} // namespace llmc::test

#endif // LLMC_TEST_DIALECT_GRAPH_RULEHARNESS_H
