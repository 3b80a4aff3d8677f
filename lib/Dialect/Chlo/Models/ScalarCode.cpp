//===- ScalarCode.cpp - Formulas as scalar code ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See ScalarCode.h.
//
//===----------------------------------------------------------------------===//

#include "ScalarCode.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::chlo;

Value ScalarCode::constant(double value) {
  return arith::ConstantOp::create(b, loc, b.getFloatAttr(type, value));
}
Value ScalarCode::add(Value x, Value y) {
  return arith::AddFOp::create(b, loc, x, y);
}
Value ScalarCode::sub(Value x, Value y) {
  return arith::SubFOp::create(b, loc, x, y);
}
Value ScalarCode::mul(Value x, Value y) {
  return arith::MulFOp::create(b, loc, x, y);
}
Value ScalarCode::div(Value x, Value y) {
  return arith::DivFOp::create(b, loc, x, y);
}
Value ScalarCode::neg(Value x) { return arith::NegFOp::create(b, loc, x); }
Value ScalarCode::abs(Value x) { return math::AbsFOp::create(b, loc, x); }
Value ScalarCode::exp(Value x) { return math::ExpOp::create(b, loc, x); }
Value ScalarCode::log(Value x) { return math::LogOp::create(b, loc, x); }
Value ScalarCode::sqrt(Value x) { return math::SqrtOp::create(b, loc, x); }
Value ScalarCode::sin(Value x) { return math::SinOp::create(b, loc, x); }
Value ScalarCode::tan(Value x) { return math::TanOp::create(b, loc, x); }
Value ScalarCode::pow(Value x, Value y) {
  return math::PowFOp::create(b, loc, x, y);
}
Value ScalarCode::erf(Value x) { return math::ErfOp::create(b, loc, x); }
Value ScalarCode::erfc(Value x) { return math::ErfcOp::create(b, loc, x); }
Value ScalarCode::floor(Value x) { return math::FloorOp::create(b, loc, x); }
Value ScalarCode::copySign(Value magnitude, Value sign) {
  return math::CopySignOp::create(b, loc, magnitude, sign);
}
Value ScalarCode::compare(arith::CmpFPredicate predicate, Value x, double y) {
  return compare(predicate, x, constant(y));
}
Value ScalarCode::compare(arith::CmpFPredicate predicate, Value x, Value y) {
  return arith::CmpFOp::create(b, loc, predicate, x, y);
}
Value ScalarCode::both(Value x, Value y) {
  return arith::AndIOp::create(b, loc, x, y);
}
Value ScalarCode::select(Value holds, Value x, Value y) {
  return arith::SelectOp::create(b, loc, holds, x, y);
}

Value ScalarCode::polynomial(Value x, ArrayRef<double> coefficients) {
  Value sum = constant(coefficients.front());
  for (double coefficient : coefficients.drop_front())
    sum = add(mul(sum, x), constant(coefficient));
  return sum;
}

Value ScalarCode::fraction(Value x) {
  return sub(x, floor(add(x, constant(0.5))));
}

Value ScalarCode::isPole(Value x) {
  return both(compare(arith::CmpFPredicate::OLE, x, 0),
              compare(arith::CmpFPredicate::OEQ, x, floor(x)));
}

Value chlo::emitInWider(
    OpBuilder &b, Location loc, FloatType wide, ValueRange elements,
    llvm::function_ref<Value(ScalarCode &, ArrayRef<Value>)> formula) {
  auto type = cast<FloatType>(elements[0].getType());
  SmallVector<Value> operands(elements);
  if (type.getWidth() >= wide.getWidth()) {
    ScalarCode code(b, loc, type);
    return formula(code, operands);
  }
  for (Value &operand : operands)
    operand = arith::ExtFOp::create(b, loc, wide, operand);
  ScalarCode code(b, loc, wide);
  return arith::TruncFOp::create(b, loc, type, formula(code, operands));
}
