//===- ScalarCode.h - Formulas as scalar code -------------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions without an op of `math` are series; this writes one element's code
// as the formula reads.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_LIB_DIALECT_CHLO_MODELS_SCALARCODE_H
#define LLMC_LIB_DIALECT_CHLO_MODELS_SCALARCODE_H

#include "llmc/Support/LLVM.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace llmc::chlo {

/// Emits arithmetic on floats of one type.
class ScalarCode {
public:
  ScalarCode(OpBuilder &b, Location loc, mlir::FloatType type)
      : b(b), loc(loc), type(type) {}

  Value constant(double value);
  Value add(Value x, Value y);
  Value sub(Value x, Value y);
  Value mul(Value x, Value y);
  Value div(Value x, Value y);
  Value neg(Value x);
  Value abs(Value x);
  Value exp(Value x);
  Value log(Value x);
  Value sqrt(Value x);
  Value sin(Value x);
  Value tan(Value x);
  Value pow(Value x, Value y);
  Value erf(Value x);
  Value erfc(Value x);
  Value floor(Value x);
  Value copySign(Value magnitude, Value sign);
  Value compare(mlir::arith::CmpFPredicate predicate, Value x, double y);
  Value compare(mlir::arith::CmpFPredicate predicate, Value x, Value y);
  Value both(Value x, Value y);
  Value select(Value holds, Value x, Value y);
  /// c[0] x^n + c[1] x^(n-1) + ... + c[n].
  Value polynomial(Value x, ArrayRef<double> coefficients);
  /// x - round(x), within [-1/2, 1/2].
  Value fraction(Value x);
  /// Whether x is an integer and x <= 0.
  Value isPole(Value x);

private:
  OpBuilder &b;
  Location loc;
  mlir::FloatType type;
};

/// `formula(code, elements)` in the wider type, rounded to that of the
/// elements.
Value emitInWider(
    OpBuilder &b, Location loc, mlir::FloatType wide, ValueRange elements,
    llvm::function_ref<Value(ScalarCode &, ArrayRef<Value>)> formula);

} // namespace llmc::chlo

#endif // LLMC_LIB_DIALECT_CHLO_MODELS_SCALARCODE_H
