//===- SigmoidPatterns.cpp - Sigmoids written as quotients ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   1 / (1 + exp(-x))          ->  logistic x       the sum in either order
//   power(1 + exp(-x), -1)     ->  logistic x
//   e / (1 + e), e = exp x     ->  logistic x
//   a / (1 + exp(-x))          ->  a * logistic x   silu: a = x
//   1 / (1 + exp z)            ->  logistic (-z)
//
// The derivative of the quotient runs through exp(-x), which is infinite where
// the sigmoid is nearly 0, and becomes NaN there; that of logistic needs only
// the result. So JAX derives `logistic`, which it prints as the quotient.
//
// Test: test/Transforms/Training/raise-sigmoid.mlir
//===----------------------------------------------------------------------===//

#include "SigmoidPatterns.h"
#include "llmc/Dialect/StableHLO/IR/Builders.h"
#include "llmc/Dialect/StableHLO/IR/RowView.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::training;
using stablehlo::isSplatOf;

/// The exponential of `1 + exp z`, or null.
static stablehlo::ExpOp matchOnePlusExp(Value value) {
  auto sum = value.getDefiningOp<stablehlo::AddOp>();
  if (!sum)
    return {};
  for (unsigned i : {0u, 1u})
    if (auto exponential = sum->getOperand(i).getDefiningOp<stablehlo::ExpOp>();
        exponential && isSplatOf(sum->getOperand(1 - i), 1))
      return exponential;
  return {};
}

/// -value, without a second negation.
static Value negate(OpBuilder &builder, Location loc, Value value) {
  if (auto negation = value.getDefiningOp<stablehlo::NegOp>())
    return negation.getOperand();
  return stablehlo::neg(builder, loc, value);
}

bool training::raiseSigmoid(Operation *op) {
  Value dividend, divisor;
  if (auto quotient = dyn_cast<stablehlo::DivOp>(op)) {
    dividend = quotient.getLhs();
    divisor = quotient.getRhs();
  } else if (auto power = dyn_cast<stablehlo::PowOp>(op);
             power && isSplatOf(power.getRhs(), -1)) {
    divisor = power.getLhs();
  } else {
    return false;
  }
  stablehlo::ExpOp exponential = matchOnePlusExp(divisor);
  if (!exponential)
    return false;
  OpBuilder builder(op);
  Location loc = op->getLoc();
  Value z = exponential.getOperand(), result;
  if (dividend == exponential.getResult()) {
    result = stablehlo::logistic(builder, loc, z);
  } else {
    result = stablehlo::logistic(builder, loc, negate(builder, loc, z));
    if (dividend && !isSplatOf(dividend, 1))
      result = stablehlo::mul(builder, loc, dividend, result);
  }
  op->getResult(0).replaceAllUsesWith(result);
  return true;
}
