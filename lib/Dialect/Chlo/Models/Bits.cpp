//===- Bits.cpp - Answers of chlo ops on the bits of elements -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mulhi is inactive. next_after has no derivative: JAX refuses it too.
//
// Tests: test/Dialect/Chlo/Models/ChloModelsTest.cpp,
// test/EndToEnd/{semantics,derivatives}.test
//===----------------------------------------------------------------------===//

#include "llmc/Dialect/Chlo/IR/Chlo.h"
#include "llmc/Dialect/Chlo/Models/Models.h"
#include "llmc/Dialect/Graph/IR/Pointwise.h"
#include "llmc/Support/Refusal.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/APFloat.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::chlo;
using namespace llmc::graph;

//===----------------------------------------------------------------------===//
// mulhi
//===----------------------------------------------------------------------===//

namespace {
/// Products of integers of one type.
struct Products {
  OpBuilder &b;
  Location loc;
  Type type;

  Value constant(int64_t value) {
    return arith::ConstantOp::create(b, loc, b.getIntegerAttr(type, value));
  }
  Value add(Value x, Value y) { return arith::AddIOp::create(b, loc, x, y); }
  Value mul(Value x, Value y) { return arith::MulIOp::create(b, loc, x, y); }
  Value high(Value x) {
    return arith::ShRUIOp::create(b, loc, x, constant(32));
  }
  Value low(Value x) {
    return arith::AndIOp::create(b, loc, x, constant(0xFFFFFFFF));
  }

  /// The upper half of the product of two unsigned integers of 64 bits: the
  /// four products of their halves, none of which overflows.
  Value high64(Value x, Value y) {
    Value lows = mul(low(x), low(y));
    Value first = add(mul(high(x), low(y)), high(lows));
    Value second = add(mul(low(x), high(y)), low(first));
    Value top = mul(high(x), high(y));
    return add(top, add(high(first), high(second)));
  }

  /// `y` where `x` is negative: what the upper half of the unsigned product has
  /// too much.
  Value excess(Value x, Value y) {
    Value sign = arith::ShRSIOp::create(b, loc, x, constant(63));
    return arith::AndIOp::create(b, loc, sign, y);
  }
};
} // namespace

/// No kernel has integers of 128 bits.
static Value emitMulhi64(OpBuilder &b, Location loc, bool isUnsigned, Value x,
                         Value y) {
  Products p{b, loc, x.getType()};
  Value high = p.high64(x, y);
  if (isUnsigned)
    return high;
  Value excess = p.add(p.excess(x, y), p.excess(y, x));
  return arith::SubIOp::create(b, loc, high, excess);
}

/// In integers of twice the width, up to 64.
static Value emitMulhi(OpBuilder &b, Location loc, Operation *op,
                       ValueRange x) {
  Type type = x[0].getType();
  unsigned width = type.getIntOrFloatBitWidth();
  bool isUnsigned = isUnsignedElement(getElement(op->getResult(0)));
  if (width == 64)
    return emitMulhi64(b, loc, isUnsigned, x[0], x[1]);
  Type wide = b.getIntegerType(2 * width);
  auto extend = [&](Value value) -> Value {
    if (isUnsigned)
      return arith::ExtUIOp::create(b, loc, wide, value);
    return arith::ExtSIOp::create(b, loc, wide, value);
  };
  Value product = arith::MulIOp::create(b, loc, extend(x[0]), extend(x[1]));
  Value shift = scalarConstant(b, loc, wide, width);
  Value high = arith::ShRUIOp::create(b, loc, product, shift);
  return arith::TruncIOp::create(b, loc, type, high);
}

static int64_t mulhiInt(Type type, int64_t x, int64_t y) {
  unsigned width = type.getIntOrFloatBitWidth();
  bool isSigned = !isUnsignedElement(type);
  APInt lhs(64, x), rhs(64, y);
  APInt product =
      isSigned ? lhs.sext(128) * rhs.sext(128) : lhs.zext(128) * rhs.zext(128);
  return static_cast<int64_t>(product.lshr(width).trunc(64).getZExtValue());
}

//===----------------------------------------------------------------------===//
// next_after
//===----------------------------------------------------------------------===//

static LogicalResult refuseDerivative(Derivation &d) {
  return emitRefusal(d.op, rt::ErrorKind::unsupported)
         << "expected an op with a derivative, got one that JAX does not "
            "differentiate either; use jax.lax.stop_gradient on its operand";
}

/// One step of the bits, away from zero or toward it; from zero to the smallest
/// number of the sign of `y`.
static Value emitNextAfter(OpBuilder &b, Location loc, Operation *,
                           ValueRange v) {
  Value x = v[0], y = v[1];
  Type element = x.getType();
  Type integer = b.getIntegerType(element.getIntOrFloatBitWidth());
  auto toBits = [&](Value value) {
    return arith::BitcastOp::create(b, loc, integer, value);
  };
  auto compare = [&](arith::CmpFPredicate predicate, Value lhs,
                     Value rhs) -> Value {
    return arith::CmpFOp::create(b, loc, predicate, lhs, rhs);
  };
  auto choose = [&](Value holds, Value lhs, Value rhs) -> Value {
    return arith::SelectOp::create(b, loc, holds, lhs, rhs);
  };
  Value zero = scalarConstant(b, loc, element, 0);
  Value one = scalarConstant(b, loc, integer, 1);
  Value minusOne = scalarConstant(b, loc, integer, -1);
  // A positive float grows with its bits, a negative one falls.
  Value goesUp = compare(arith::CmpFPredicate::OGT, y, x);
  Value isPositive = compare(arith::CmpFPredicate::OGT, x, zero);
  Value grows = arith::CmpIOp::create(b, loc, arith::CmpIPredicate::eq, goesUp,
                                      isPositive);
  Value moved =
      arith::AddIOp::create(b, loc, toBits(x), choose(grows, one, minusOne));
  Value sign = arith::ConstantOp::create(
      b, loc,
      b.getIntegerAttr(integer,
                       APInt::getSignMask(integer.getIntOrFloatBitWidth())));
  Value smallest = arith::OrIOp::create(
      b, loc, arith::AndIOp::create(b, loc, toBits(y), sign), one);
  Value isZero = compare(arith::CmpFPredicate::OEQ, x, zero);
  Value bits = choose(isZero, smallest, moved);
  Value stepped = arith::BitcastOp::create(b, loc, element, bits);
  Value kept = choose(compare(arith::CmpFPredicate::OEQ, x, y), y, stepped);
  Value isNaN = compare(arith::CmpFPredicate::UNO, x, y);
  return choose(isNaN, arith::AddFOp::create(b, loc, x, y), kept);
}

/// By LLVM's floats of the element's own type.
static LogicalResult evaluateNextAfter(Operation *op,
                                       ArrayRef<HostTensor> operands,
                                       SmallVectorImpl<HostTensor> &results) {
  const HostTensor &from = operands[0], &to = operands[1];
  auto type = cast<FloatType>(from.getElementType());
  HostTensor result(type, from.getShape());
  for (int64_t i = 0; i < from.getNumElements(); ++i) {
    double x = from.getFloat(i), y = to.getFloat(i);
    if (x == y || x != x || y != y) {
      result.setFloat(i, x == y ? y : x + y);
      continue;
    }
    APFloat value(x);
    bool lost;
    value.convert(type.getFloatSemantics(), APFloat::rmNearestTiesToEven,
                  &lost);
    value.next(/*nextDown=*/y < x);
    value.convert(APFloat::IEEEdouble(), APFloat::rmNearestTiesToEven, &lost);
    result.setFloat(i, value.convertToDouble());
  }
  results.push_back(std::move(result));
  return success();
}

//===----------------------------------------------------------------------===//
// Registration
//===----------------------------------------------------------------------===//

static const PointwiseAnswers mulhiAnswers = {
    1, 0, nullptr, nullptr, emitMulhi, evaluateBinary<nullptr, mulhiInt>};
static const PointwiseAnswers nextAfterAnswers = {
    6, 0, nullptr, refuseDerivative, emitNextAfter, evaluateNextAfter};

void chlo::registerBitsModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, ChloDialect *) {
    attachPointwise<MulhiOp, mulhiAnswers>(context);
    attachPointwise<NextAfterOp, nextAfterAnswers>(context);
  });
}
