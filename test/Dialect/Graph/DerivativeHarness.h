//===- DerivativeHarness.h - Checks of ops' derivatives ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A small reverse sweep over a straight-line function, op by op through
// DerivativeOpInterface, and two oracles for what it builds:
//
//   checkDerivative   along random directions v with cotangents w, in f64:
//                     <vjp(x, w), v> = <w, f(x + h v) - f(x - h v)> / 2h
//   checkLinear       <f(v), w> = <v, vjp(w)> to rounding, for functions that
//                     are linear in all differentiated arguments together
//
//   EXPECT_TRUE(checkDerivative(R"(
//     func.func @f(%x: tensor<3xf64> {test.low = 0.5, test.high = 2.0})
//         -> tensor<3xf64> {
//       %y = stablehlo.log %x : tensor<3xf64>
//       return %y : tensor<3xf64>
//     })"));
//
// Every float argument is differentiated unless it is marked `test.fixed`.
// Argument values: GraphContext.h.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TEST_DIALECT_GRAPH_DERIVATIVEHARNESS_H
#define LLMC_TEST_DIALECT_GRAPH_DERIVATIVEHARNESS_H

#include "GraphContext.h"
#include <gtest/gtest.h>
#include <vector>

namespace llmc::test {

struct DerivativeOptions {
  uint64_t seed = 1;
  int numDirections = 4;
  double step = 1e-5;
  double tolerance = 1e-6;
};

/// `text` with an argument, as `%x`, that is not differentiated.
std::string fix(std::string text, const std::string &argument);

/// Central differences; also checks every op's rule (verifyRule).
testing::AssertionResult checkDerivative(StringRef text,
                                         DerivativeOptions options = {});

/// The dot-product test; the tolerance is 1e-12 relative.
testing::AssertionResult checkLinear(StringRef text, uint64_t seed = 1);

/// Adds @vjp after `function`: its arguments, then a cotangent for each float
/// result, gives a cotangent for each differentiated argument (zeros where the
/// derivative is zero). Fails when an op on the way refuses.
FailureOr<mlir::func::FuncOp> buildVjp(mlir::func::FuncOp function);

/// The cotangents of the differentiated arguments of the first function of
/// `text`, as numbers. Cotangents of the results are all 1. Empty on error.
std::vector<std::vector<double>> computeGradients(StringRef text);

} // namespace llmc::test

#endif // LLMC_TEST_DIALECT_GRAPH_DERIVATIVEHARNESS_H
