//===- Logic.cpp - Answers of bitwise and comparing ops -------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// and, or, xor, not, compare, is_finite: all inactive. Comparisons with NaN are
// false but for NE; TOTALORDER orders floats as -NaN < -inf < ... < -0 < +0 <
// ... < inf < NaN, by their sign-magnitude bits read as two's complement.
//
// Test: test/Dialect/StableHLO/Models/ElementTest.cpp
//===----------------------------------------------------------------------===//

#include "llmc/Dialect/Graph/IR/Pointwise.h"
#include "llmc/Dialect/StableHLO/IR/StableHLO.h"
#include "llmc/Dialect/StableHLO/Models/Models.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace llmc;
using namespace llmc::graph;
using namespace llmc::stablehlo;

//===----------------------------------------------------------------------===//
// and, or, xor, not
//===----------------------------------------------------------------------===//

static void carryAnd(Operation *, graph::ShardingRule &rule) {
  rule.addLinear(ReductionKind::bitAnd, {{0, 1}});
}
static void carryOr(Operation *, graph::ShardingRule &rule) {
  rule.addLinear(ReductionKind::bitOr, {{0, 1}});
}

template <typename IntOp>
static Value emitBits(OpBuilder &b, Location loc, Operation *, ValueRange x) {
  return IntOp::create(b, loc, x[0], x[1]);
}

static Value emitNot(OpBuilder &b, Location loc, Operation *, ValueRange x) {
  Value ones = arith::ConstantOp::create(
      b, loc,
      b.getIntegerAttr(
          x[0].getType(),
          APInt::getAllOnes(x[0].getType().getIntOrFloatBitWidth())));
  return arith::XOrIOp::create(b, loc, x[0], ones);
}

static int64_t andInt(Type, int64_t x, int64_t y) { return x & y; }
static int64_t orInt(Type, int64_t x, int64_t y) { return x | y; }
static int64_t xorInt(Type, int64_t x, int64_t y) { return x ^ y; }
static int64_t notInt(Type type, int64_t x) {
  return type.isInteger(1) ? !x : ~x;
}

//===----------------------------------------------------------------------===//
// is_finite
//===----------------------------------------------------------------------===//

static Value emitIsFinite(OpBuilder &b, Location loc, Operation *,
                          ValueRange x) {
  Value magnitude = math::AbsFOp::create(b, loc, x[0]);
  Value infinity = scalarConstant(b, loc, x[0].getType(),
                                  std::numeric_limits<double>::infinity());
  return arith::CmpFOp::create(b, loc, arith::CmpFPredicate::OLT, magnitude,
                               infinity);
}

static LogicalResult evaluateIsFinite(Operation *,
                                      ArrayRef<HostTensor> operands,
                                      SmallVectorImpl<HostTensor> &results) {
  const HostTensor &x = operands[0];
  Type boolean = IntegerType::get(x.getElementType().getContext(), 1);
  HostTensor result(boolean, x.getShape());
  for (int64_t i = 0; i < x.getNumElements(); ++i)
    result.setInt(i, std::isfinite(x.getFloat(i)));
  results.push_back(std::move(result));
  return success();
}

//===----------------------------------------------------------------------===//
// compare
//===----------------------------------------------------------------------===//

static arith::CmpFPredicate getFloatPredicate(ComparisonDirection direction) {
  switch (direction) {
  case ComparisonDirection::EQ:
    return arith::CmpFPredicate::OEQ;
  case ComparisonDirection::NE:
    return arith::CmpFPredicate::UNE;
  case ComparisonDirection::GE:
    return arith::CmpFPredicate::OGE;
  case ComparisonDirection::GT:
    return arith::CmpFPredicate::OGT;
  case ComparisonDirection::LE:
    return arith::CmpFPredicate::OLE;
  case ComparisonDirection::LT:
    return arith::CmpFPredicate::OLT;
  }
  return arith::CmpFPredicate::AlwaysFalse;
}

static arith::CmpIPredicate getIntPredicate(ComparisonDirection direction,
                                            bool isUnsigned) {
  switch (direction) {
  case ComparisonDirection::EQ:
    return arith::CmpIPredicate::eq;
  case ComparisonDirection::NE:
    return arith::CmpIPredicate::ne;
  case ComparisonDirection::GE:
    return isUnsigned ? arith::CmpIPredicate::uge : arith::CmpIPredicate::sge;
  case ComparisonDirection::GT:
    return isUnsigned ? arith::CmpIPredicate::ugt : arith::CmpIPredicate::sgt;
  case ComparisonDirection::LE:
    return isUnsigned ? arith::CmpIPredicate::ule : arith::CmpIPredicate::sle;
  case ComparisonDirection::LT:
    return isUnsigned ? arith::CmpIPredicate::ult : arith::CmpIPredicate::slt;
  }
  return arith::CmpIPredicate::eq;
}

/// The bits of a float as an integer of the same order: all but the sign bit
/// are inverted in negative values.
static Value emitOrderedBits(OpBuilder &b, Location loc, Value x) {
  unsigned width = x.getType().getIntOrFloatBitWidth();
  Type type = b.getIntegerType(width);
  Value bits = arith::BitcastOp::create(b, loc, type, x);
  Value shift = scalarConstant(b, loc, type, width - 1);
  Value sign = arith::ShRSIOp::create(b, loc, bits, shift);
  Value mask =
      arith::ShRUIOp::create(b, loc, sign, scalarConstant(b, loc, type, 1));
  return arith::XOrIOp::create(b, loc, bits, mask);
}

static Value emitCompare(OpBuilder &b, Location loc, Operation *op,
                         ValueRange x) {
  auto compare = cast<CompareOp>(op);
  ComparisonDirection direction = compare.getComparisonDirection();
  switch (compare.getOrderType()) {
  case ComparisonType::FLOAT:
    return arith::CmpFOp::create(b, loc, getFloatPredicate(direction), x[0],
                                 x[1]);
  case ComparisonType::TOTALORDER:
    return arith::CmpIOp::create(b, loc, getIntPredicate(direction, false),
                                 emitOrderedBits(b, loc, x[0]),
                                 emitOrderedBits(b, loc, x[1]));
  default:
    return arith::CmpIOp::create(
        b, loc,
        getIntPredicate(direction,
                        compare.getOrderType() == ComparisonType::UNSIGNED),
        x[0], x[1]);
  }
}

template <typename T>
static bool holds(ComparisonDirection direction, T x, T y) {
  switch (direction) {
  case ComparisonDirection::EQ:
    return x == y;
  case ComparisonDirection::NE:
    return x != y;
  case ComparisonDirection::GE:
    return x >= y;
  case ComparisonDirection::GT:
    return x > y;
  case ComparisonDirection::LE:
    return x <= y;
  case ComparisonDirection::LT:
    return x < y;
  }
  return false;
}

/// The place of a float in the total order, as an integer: the bits of every
/// narrower type order as those of the double of the same value and sign; only
/// NaN payloads are not told apart.
static int64_t getTotalOrder(double x) {
  int64_t bits;
  static_assert(sizeof(bits) == sizeof(x), "a double has 64 bits");
  std::memcpy(&bits, &x, sizeof(x));
  return bits < 0 ? bits ^ std::numeric_limits<int64_t>::max() : bits;
}

static LogicalResult evaluateCompare(Operation *op,
                                     ArrayRef<HostTensor> operands,
                                     SmallVectorImpl<HostTensor> &results) {
  auto compare = cast<CompareOp>(op);
  ComparisonDirection direction = compare.getComparisonDirection();
  ComparisonType order = compare.getOrderType();
  const HostTensor &x = operands[0], &y = operands[1];
  HostTensor result(IntegerType::get(op->getContext(), 1), x.getShape());
  forEachRun(x.getNumElements(), [&](int64_t first, int64_t count) {
    int64_t out[kElementRun];
    if (x.isFloat()) {
      double lhs[kElementRun], rhs[kElementRun];
      loadFloats(x, first, {lhs, size_t(count)});
      loadFloats(y, first, {rhs, size_t(count)});
      for (int64_t i = 0; i < count; ++i)
        out[i] =
            order == ComparisonType::TOTALORDER
                ? holds(direction, getTotalOrder(lhs[i]), getTotalOrder(rhs[i]))
                : holds(direction, lhs[i], rhs[i]);
    } else {
      int64_t lhs[kElementRun], rhs[kElementRun];
      loadInts(x, first, {lhs, size_t(count)});
      loadInts(y, first, {rhs, size_t(count)});
      for (int64_t i = 0; i < count; ++i)
        out[i] = order == ComparisonType::UNSIGNED
                     ? holds(direction, uint64_t(lhs[i]), uint64_t(rhs[i]))
                     : holds(direction, lhs[i], rhs[i]);
    }
    storeInts(result, first, {out, size_t(count)});
  });
  results.push_back(std::move(result));
  return success();
}

//===----------------------------------------------------------------------===//
// Registration
//===----------------------------------------------------------------------===//

static const PointwiseAnswers andAnswers = {1,
                                            0,
                                            carryAnd,
                                            nullptr,
                                            emitBits<arith::AndIOp>,
                                            evaluateBinary<nullptr, andInt>};
static const PointwiseAnswers orAnswers = {1,
                                           0,
                                           carryOr,
                                           nullptr,
                                           emitBits<arith::OrIOp>,
                                           evaluateBinary<nullptr, orInt>};
static const PointwiseAnswers xorAnswers = {1,
                                            0,
                                            nullptr,
                                            nullptr,
                                            emitBits<arith::XOrIOp>,
                                            evaluateBinary<nullptr, xorInt>};
static const PointwiseAnswers notAnswers = {
    1, 0, nullptr, nullptr, emitNot, evaluateUnary<nullptr, notInt>};
static const PointwiseAnswers isFiniteAnswers = {
    1, 0, nullptr, nullptr, emitIsFinite, evaluateIsFinite};
static const PointwiseAnswers compareAnswers = {
    1, 0, nullptr, nullptr, emitCompare, evaluateCompare};

void stablehlo::registerLogicModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, StableHLODialect *) {
    attachPointwise<AndOp, andAnswers>(context);
    attachPointwise<OrOp, orAnswers>(context);
    attachPointwise<XorOp, xorAnswers>(context);
    attachPointwise<NotOp, notAnswers>(context);
    attachPointwise<IsFiniteOp, isFiniteAnswers>(context);
    attachPointwise<CompareOp, compareAnswers>(context);
  });
}
