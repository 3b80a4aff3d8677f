//===- Convert.cpp - Answers of convert -----------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   float -> float     rounds to nearest even
//   float -> integer   truncates toward zero and saturates; NaN gives 0
//   integer -> float   rounds to nearest even
//   integer -> integer keeps the low bits
//   any -> i1          "not zero" (NaN is not zero)
//   i1 -> any          0 or 1
//
// The cotangent is converted back between floats; integers are inactive. This
// rule alone is mixed precision: a bf16 use of an f32 parameter has a bf16
// cotangent, which the parameter receives in f32.
//
// Test: test/Dialect/StableHLO/Models/ChoiceTest.cpp
//===----------------------------------------------------------------------===//

#include "llmc/Dialect/Dist/IR/PrecisionMarks.h"
#include "llmc/Dialect/Graph/IR/Pointwise.h"
#include "llmc/Dialect/StableHLO/IR/Builders.h"
#include "llmc/Dialect/StableHLO/Models/Models.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include <cmath>

using namespace mlir;
using namespace llmc;
using namespace llmc::graph;
using namespace llmc::stablehlo;

//===----------------------------------------------------------------------===//
// Rule and derivative
//===----------------------------------------------------------------------===//

/// Rounding is monotone, so it commutes with max and min. It commutes with a
/// sum only where nothing is rounded, in a wider float, or where rounding each
/// term is what is meant.
static void carryConvert(Operation *op, graph::ShardingRule &rule) {
  auto from = dyn_cast<FloatType>(getElement(op->getOperand(0)));
  auto to = dyn_cast<FloatType>(getElement(op->getResult(0)));
  if (!from || !to)
    return;
  rule.addLinear(ReductionKind::max, {{0}});
  rule.addLinear(ReductionKind::min, {{0}});
  if (to.getFPMantissaWidth() >= from.getFPMantissaWidth() ||
      op->hasAttr(dist::kRoundsTerms))
    rule.addLinear(ReductionKind::sum, {{0}});
}

static LogicalResult deriveConvert(Derivation &d) {
  Type from = getElement(d.operand(0));
  if (isa<FloatType>(from) && isa<FloatType>(getElement(d.result())))
    d.gradients[0] = convertTo(d.builder, d.loc(), d.cotangent, from);
  return success();
}

//===----------------------------------------------------------------------===//
// Scalar code
//===----------------------------------------------------------------------===//

/// Between two 16-bit formats there is no single step; f32 holds both exactly.
static Value emitFloatToFloat(OpBuilder &b, Location loc, Type to, Value x) {
  unsigned from = x.getType().getIntOrFloatBitWidth();
  unsigned width = to.getIntOrFloatBitWidth();
  if (x.getType() == to)
    return x;
  if (from == width)
    return emitFloatToFloat(b, loc, to,
                            arith::ExtFOp::create(b, loc, b.getF32Type(), x));
  if (from < width)
    return arith::ExtFOp::create(b, loc, to, x);
  return arith::TruncFOp::create(b, loc, to, x);
}

static double getLowest(Type element) {
  return isUnsignedElement(element)
             ? 0
             : -std::ldexp(1.0, element.getIntOrFloatBitWidth() - 1);
}

/// The first float above all values of the integer type: a power of two.
static double getEnd(Type element) {
  unsigned width = element.getIntOrFloatBitWidth();
  return std::ldexp(1.0, isUnsignedElement(element) ? width : width - 1);
}

static Value emitIntConstant(OpBuilder &b, Location loc, Type type,
                             const APInt &value) {
  return arith::ConstantOp::create(b, loc, b.getIntegerAttr(type, value));
}

/// Saturating, NaN to 0: the instruction itself is used inside the range only.
static Value emitFloatToInt(OpBuilder &b, Location loc, Type element, Value x) {
  if (isNarrowFloat(x.getType())) // f16 cannot hold the bounds
    x = arith::ExtFOp::create(b, loc, b.getF32Type(), x);
  Type type = getSignless(element);
  unsigned width = type.getIntOrFloatBitWidth();
  bool isUnsigned = isUnsignedElement(element);
  auto compare = [&](arith::CmpFPredicate predicate, double bound) -> Value {
    Value limit = scalarConstant(b, loc, x.getType(), bound);
    return arith::CmpFOp::create(b, loc, predicate, x, limit);
  };
  Value isInside = arith::AndIOp::create(
      b, loc, compare(arith::CmpFPredicate::OGE, getLowest(element)),
      compare(arith::CmpFPredicate::OLT, getEnd(element)));
  Value zero = scalarConstant(b, loc, x.getType(), 0);
  Value safe = arith::SelectOp::create(b, loc, isInside, x, zero);
  Value value = isUnsigned ? Value(arith::FPToUIOp::create(b, loc, type, safe))
                           : Value(arith::FPToSIOp::create(b, loc, type, safe));
  Value highest = emitIntConstant(b, loc, type,
                                  isUnsigned ? APInt::getMaxValue(width)
                                             : APInt::getSignedMaxValue(width));
  Value lowest = emitIntConstant(b, loc, type,
                                 isUnsigned ? APInt::getZero(width)
                                            : APInt::getSignedMinValue(width));
  Value raised = arith::SelectOp::create(
      b, loc, compare(arith::CmpFPredicate::OGE, getEnd(element)), highest,
      value);
  return arith::SelectOp::create(
      b, loc, compare(arith::CmpFPredicate::OLT, getLowest(element)), lowest,
      raised);
}

static Value emitIntToInt(OpBuilder &b, Location loc, bool fromUnsigned,
                          Type to, Value x) {
  unsigned from = x.getType().getIntOrFloatBitWidth();
  unsigned width = to.getIntOrFloatBitWidth();
  if (from == width)
    return x;
  if (from > width)
    return arith::TruncIOp::create(b, loc, to, x);
  if (fromUnsigned)
    return arith::ExtUIOp::create(b, loc, to, x);
  return arith::ExtSIOp::create(b, loc, to, x);
}

static Value emitConvert(OpBuilder &b, Location loc, Operation *op,
                         ValueRange x) {
  Type from = getElement(op->getOperand(0));
  Type to = getElement(op->getResult(0));
  bool isFloat = isa<FloatType>(from);
  if (to.isInteger(1)) {
    Value zero = scalarConstant(b, loc, x[0].getType(), 0);
    if (isFloat)
      return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::UNE, x[0],
                                   zero);
    return arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ne, x[0], zero);
  }
  if (isFloat)
    return isa<FloatType>(to) ? emitFloatToFloat(b, loc, to, x[0])
                              : emitFloatToInt(b, loc, to, x[0]);
  bool fromUnsigned = isUnsignedElement(from);
  if (!isa<FloatType>(to))
    return emitIntToInt(b, loc, fromUnsigned, getSignless(to), x[0]);
  if (fromUnsigned)
    return arith::UIToFPOp::create(b, loc, to, x[0]);
  return arith::SIToFPOp::create(b, loc, to, x[0]);
}

//===----------------------------------------------------------------------===//
// Evaluation
//===----------------------------------------------------------------------===//

static int64_t convertToInt(double x, Type to) {
  if (to.isInteger(1))
    return x != 0;
  if (std::isnan(x))
    return 0;
  bool isUnsigned = isUnsignedElement(to);
  unsigned width = to.getIntOrFloatBitWidth();
  if (x < getLowest(to))
    return isUnsigned ? 0 : APInt::getSignedMinValue(width).getSExtValue();
  if (x >= getEnd(to))
    return isUnsigned
               ? static_cast<int64_t>(APInt::getMaxValue(width).getZExtValue())
               : APInt::getSignedMaxValue(width).getSExtValue();
  return isUnsigned ? static_cast<int64_t>(static_cast<uint64_t>(x))
                    : static_cast<int64_t>(x);
}

/// One rounding: a 64-bit integer goes to the float type directly, since by way
/// of double f32 would be rounded twice.
static void storeIntAsFloat(HostTensor &result, int64_t i, int64_t value,
                            bool isUnsigned) {
  auto type = cast<FloatType>(result.getElementType());
  APFloat rounded(type.getFloatSemantics());
  rounded.convertFromAPInt(APInt(64, static_cast<uint64_t>(value)),
                           /*IsSigned=*/!isUnsigned,
                           APFloat::rmNearestTiesToEven);
  bool losesInfo = false;
  rounded.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven,
                  &losesInfo);
  result.setFloat(i, rounded.convertToDouble());
}

static void convertFloats(const HostTensor &x, HostTensor &result) {
  forEachRun(x.getNumElements(), [&](int64_t first, int64_t count) {
    double run[kElementRun];
    loadFloats(x, first, {run, size_t(count)});
    if (result.isFloat())
      return storeFloats(result, first, {run, size_t(count)});
    int64_t out[kElementRun];
    for (int64_t i = 0; i < count; ++i)
      out[i] = convertToInt(run[i], result.getElementType());
    storeInts(result, first, {out, size_t(count)});
  });
}

static void convertInts(const HostTensor &x, HostTensor &result) {
  // Up to 32 bits a double holds every value, and rounding it is the only one.
  bool isExact = x.getElementBytes() <= 4;
  forEachRun(x.getNumElements(), [&](int64_t first, int64_t count) {
    int64_t run[kElementRun];
    loadInts(x, first, {run, size_t(count)});
    if (!result.isFloat())
      return storeInts(result, first, {run, size_t(count)});
    if (!isExact) {
      for (int64_t i = 0; i < count; ++i)
        storeIntAsFloat(result, first + i, run[i], x.isUnsigned());
      return;
    }
    double out[kElementRun];
    for (int64_t i = 0; i < count; ++i)
      out[i] = static_cast<double>(run[i]);
    storeFloats(result, first, {out, size_t(count)});
  });
}

static LogicalResult evaluateConvert(Operation *op,
                                     ArrayRef<HostTensor> operands,
                                     SmallVectorImpl<HostTensor> &results) {
  const HostTensor &x = operands[0];
  HostTensor result(getElement(op->getResult(0)), x.getShape());
  if (x.isFloat())
    convertFloats(x, result);
  else
    convertInts(x, result);
  results.push_back(std::move(result));
  return success();
}

//===----------------------------------------------------------------------===//
// Registration
//===----------------------------------------------------------------------===//

static const PointwiseAnswers convertAnswers = {
    1, 0, carryConvert, deriveConvert, emitConvert, evaluateConvert};

void stablehlo::registerConvertModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, StableHLODialect *) {
    attachPointwise<ConvertOp, convertAnswers>(context);
  });
}
