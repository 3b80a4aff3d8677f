//===- Functions.cpp - Functions of f64 as code of kernels ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One code for processors and for GPUs, so that both have the same bits. f32
// computes these functions in f64 and rounds once: the result is the C
// library's, rounded, but for values within some 2^-52 of a tie.
//
// Test: test/Codegen/FunctionsTest.cpp
//
//===----------------------------------------------------------------------===//

#include "Functions.h"
#include "Doubles.h"

using namespace mlir;

namespace llmc::codegen {

namespace {
struct Function {
  StringRef op, name;
  Value (Doubles::*ofOne)(Value);
  Value (Doubles::*ofTwo)(Value, Value) = nullptr;
};
} // namespace

static const Function functions[] = {
    {"math.acos", "acos", &Doubles::acos},
    {"math.acosh", "acosh", &Doubles::acosh},
    {"math.asin", "asin", &Doubles::asin},
    {"math.asinh", "asinh", &Doubles::asinh},
    {"math.atan", "atan", &Doubles::atan},
    {"math.atan2", "atan2", nullptr, &Doubles::atan2},
    {"math.atanh", "atanh", &Doubles::atanh},
    {"math.cbrt", "cbrt", &Doubles::cbrt},
    {"math.cos", "cos", &Doubles::cos},
    {"math.cosh", "cosh", &Doubles::cosh},
    {"math.erf", "erf", &Doubles::erf},
    {"math.erfc", "erfc", &Doubles::erfc},
    {"math.exp", "exp", &Doubles::exp},
    {"math.exp2", "exp2", &Doubles::exp2},
    {"math.expm1", "expm1", &Doubles::expm1},
    {"math.log", "log", &Doubles::log},
    {"math.log10", "log10", &Doubles::log10},
    {"math.log1p", "log1p", &Doubles::log1p},
    {"math.log2", "log2", &Doubles::log2},
    {"math.powf", "pow", nullptr, &Doubles::pow},
    {"math.sin", "sin", &Doubles::sin},
    {"math.sinh", "sinh", &Doubles::sinh},
    {"math.tan", "tan", &Doubles::tan},
    {"math.tanh", "tanh", &Doubles::tanh},
    {"arith.remf", "fmod", nullptr, &Doubles::fmod},
};

Pair Doubles::sum(Value x, Value y) {
  Value high = add(x, y);
  Value rest = sub(high, x);
  return {high, add(sub(x, sub(high, rest)), sub(y, rest))};
}

Pair Doubles::quickSum(Value x, Value y) {
  Value high = add(x, y);
  return {high, sub(y, sub(high, x))};
}

Pair Doubles::product(Value x, Value y) {
  Value high = mul(x, y);
  return {high, fma(x, y, negate(high))};
}

Pair Doubles::product(Pair x, Pair y) {
  Pair result = product(x.high, y.high);
  result.low = fma(x.low, y.high, fma(x.high, y.low, result.low));
  return quickSum(result.high, result.low);
}

Value Doubles::polynomial(Value x, ArrayRef<double> coefficients) {
  Value sum = number(coefficients.back());
  for (double coefficient : llvm::reverse(coefficients.drop_back()))
    sum = fma(sum, x, number(coefficient));
  return sum;
}

StringRef getFunctionName(StringRef op) {
  for (const Function &function : functions)
    if (function.op == op)
      return function.name;
  return {};
}

Value makeFunction(OpBuilder &builder, Location loc, StringRef name,
                   ValueRange arguments) {
  Doubles doubles(builder, loc);
  for (const Function &function : functions)
    if (function.name == name)
      return function.ofTwo
                 ? (doubles.*function.ofTwo)(arguments[0], arguments[1])
                 : (doubles.*function.ofOne)(arguments[0]);
  return {};
}

} // namespace llmc::codegen
