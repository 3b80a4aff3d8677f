//===- Bits.cpp - Answers of ops on the bits of elements ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shifts, counts of bits, bitcast_convert: all inactive. An amount is read as
// unsigned; where it is the width or more, nothing is left of the bits (of an
// arithmetic shift the sign): JAX's random keys rely on it.
//
// bitcast_convert between widths splits an element along a new last dimension,
// or joins the elements along it, lowest bits first. That dimension is whole.
//
// Tests: test/Dialect/StableHLO/Models/ElementTest.cpp,
// test/EndToEnd/semantics.test
//===----------------------------------------------------------------------===//

#include "../Movement.h"
#include "llmc/Dialect/Graph/IR/Answers.h"
#include "llmc/Dialect/Graph/IR/Pointwise.h"
#include "llmc/Dialect/StableHLO/IR/StableHLO.h"
#include "llmc/Dialect/StableHLO/Models/Models.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/bit.h"
#include <cstring>

using namespace mlir;
using namespace llmc;
using namespace llmc::graph;
using namespace llmc::stablehlo;

//===----------------------------------------------------------------------===//
// Shifts
//===----------------------------------------------------------------------===//

/// The greatest amount that leaves anything.
static Value emitLastAmount(OpBuilder &b, Location loc, Type type) {
  return scalarConstant(b, loc, type, type.getIntOrFloatBitWidth() - 1);
}

template <typename ShiftOp>
static Value emitShift(OpBuilder &b, Location loc, Operation *, ValueRange x) {
  Type type = x[0].getType();
  Value last = emitLastAmount(b, loc, type);
  Value amount = arith::MinUIOp::create(b, loc, x[1], last);
  Value shifted = ShiftOp::create(b, loc, x[0], amount);
  Value isKept =
      arith::CmpIOp::create(b, loc, arith::CmpIPredicate::ule, x[1], last);
  return arith::SelectOp::create(b, loc, isKept, shifted,
                                 scalarConstant(b, loc, type, 0));
}

static Value emitArithmeticShift(OpBuilder &b, Location loc, Operation *,
                                 ValueRange x) {
  Value last = emitLastAmount(b, loc, x[0].getType());
  Value amount = arith::MinUIOp::create(b, loc, x[1], last);
  return arith::ShRSIOp::create(b, loc, x[0], amount);
}

/// The bits of a value of `type`, without those of its sign above them.
static uint64_t getBits(Type type, int64_t value) {
  unsigned width = type.getIntOrFloatBitWidth();
  uint64_t bits = static_cast<uint64_t>(value);
  return width == 64 ? bits : bits & ((uint64_t(1) << width) - 1);
}

static int64_t shiftLeftInt(Type type, int64_t x, int64_t amount) {
  uint64_t places = getBits(type, amount);
  return places < type.getIntOrFloatBitWidth() ? getBits(type, x) << places : 0;
}
static int64_t shiftLogicalInt(Type type, int64_t x, int64_t amount) {
  uint64_t places = getBits(type, amount);
  return places < type.getIntOrFloatBitWidth() ? getBits(type, x) >> places : 0;
}
/// Also of an unsigned type, whose highest bit is then the sign.
static int64_t shiftArithmeticInt(Type type, int64_t x, int64_t amount) {
  unsigned width = type.getIntOrFloatBitWidth();
  uint64_t places = std::min<uint64_t>(getBits(type, amount), width - 1);
  auto high = static_cast<int64_t>(getBits(type, x) << (64 - width));
  return high >> (64 - width) >> places;
}

//===----------------------------------------------------------------------===//
// Counts
//===----------------------------------------------------------------------===//

template <typename CountOp>
static Value emitCount(OpBuilder &b, Location loc, Operation *, ValueRange x) {
  return CountOp::create(b, loc, x[0]);
}

static int64_t popcountInt(Type type, int64_t x) {
  return llvm::popcount(getBits(type, x));
}
static int64_t leadingZerosInt(Type type, int64_t x) {
  return int64_t(llvm::countl_zero(getBits(type, x))) -
         (64 - int64_t(type.getIntOrFloatBitWidth()));
}

//===----------------------------------------------------------------------===//
// bitcast_convert
//===----------------------------------------------------------------------===//

namespace {
unsigned getWidth(RankedTensorType type) {
  return type.getElementType().getIntOrFloatBitWidth();
}

struct BitcastAnswers : AnswerDefaults<BitcastConvertOp> {
  static bool inactive(BitcastConvertOp) { return true; }
  static LogicalResult derive(BitcastConvertOp, DerivativeCall &) {
    return success();
  }

  static ShardingRule rule(BitcastConvertOp op) {
    ShardingRule rule = ShardingRule::forOp(op);
    RankedTensorType from = typeOf(op.getOperand()), to = typeOf(op);
    for (int64_t d = 0; d < std::min(from.getRank(), to.getRank()); ++d) {
      int factor = rule.addFactor(from.getDimSize(d));
      rule.operands[0][d].push_back(factor);
      rule.results[0][d].push_back(factor);
    }
    if (from.getRank() > to.getRank())
      rule.operands[0].back().push_back(
          rule.addFactor(from.getShape().back(), FactorKind::Whole));
    if (to.getRank() > from.getRank())
      rule.results[0].back().push_back(
          rule.addFactor(to.getShape().back(), FactorKind::Whole));
    return rule;
  }

  static Value emitElement(BitcastConvertOp op, ElementCall &call) {
    unsigned from = getWidth(typeOf(op.getOperand())),
             to = getWidth(typeOf(op));
    Value bits =
        from < to ? joinParts(op, call, from, to) : takePart(call, from, to);
    Type element = getSignless(getElement(op.getResult()));
    return bits.getType() == element
               ? bits
               : Value(arith::BitcastOp::create(call.builder, call.loc, element,
                                                bits));
  }

  static LogicalResult evaluate(BitcastConvertOp op, EvaluationCall &call) {
    call.results.push_back(call.operands[0].viewAs(typeOf(op)));
    return success();
  }

private:
  static Value asInteger(ElementCall &call, Value x, unsigned width) {
    Type integer = call.builder.getIntegerType(width);
    return x.getType() == integer ? x
                                  : Value(arith::BitcastOp::create(
                                        call.builder, call.loc, integer, x));
  }

  static Value joinParts(BitcastConvertOp op, ElementCall &call, unsigned from,
                         unsigned to) {
    OpBuilder &b = call.builder;
    Type wide = b.getIntegerType(to);
    Value bits = scalarConstant(b, call.loc, wide, 0);
    for (int64_t part = 0; part < int64_t(to / from); ++part) {
      SmallVector<Value> index(call.indices);
      index.push_back(arith::ConstantIndexOp::create(b, call.loc, part));
      Value low = asInteger(call, call.source(0, index), from);
      Value high = arith::ShLIOp::create(
          b, call.loc, arith::ExtUIOp::create(b, call.loc, wide, low),
          scalarConstant(b, call.loc, wide, part * from));
      bits = arith::OrIOp::create(b, call.loc, bits, high);
    }
    return bits;
  }

  /// Equal widths: all of it.
  static Value takePart(ElementCall &call, unsigned from, unsigned to) {
    OpBuilder &b = call.builder;
    if (from == to)
      return asInteger(call, call.source(0, call.indices), from);
    Value bits =
        asInteger(call, call.source(0, call.indices.drop_back()), from);
    Value part = arith::IndexCastOp::create(b, call.loc, bits.getType(),
                                            call.indices.back());
    Value places = arith::MulIOp::create(
        b, call.loc, part, scalarConstant(b, call.loc, bits.getType(), to));
    Value low = arith::ShRUIOp::create(b, call.loc, bits, places);
    return arith::TruncIOp::create(b, call.loc, b.getIntegerType(to), low);
  }
};
} // namespace

//===----------------------------------------------------------------------===//
// Registration
//===----------------------------------------------------------------------===//

static const PointwiseAnswers shiftLeftAnswers = {
    1,
    0,
    nullptr,
    nullptr,
    emitShift<arith::ShLIOp>,
    evaluateBinary<nullptr, shiftLeftInt>};
static const PointwiseAnswers shiftLogicalAnswers = {
    1,
    0,
    nullptr,
    nullptr,
    emitShift<arith::ShRUIOp>,
    evaluateBinary<nullptr, shiftLogicalInt>};
static const PointwiseAnswers shiftArithmeticAnswers = {
    1,
    0,
    nullptr,
    nullptr,
    emitArithmeticShift,
    evaluateBinary<nullptr, shiftArithmeticInt>};
static const PointwiseAnswers popcountAnswers = {
    1,
    0,
    nullptr,
    nullptr,
    emitCount<math::CtPopOp>,
    evaluateUnary<nullptr, popcountInt>};
static const PointwiseAnswers leadingZerosAnswers = {
    1,
    0,
    nullptr,
    nullptr,
    emitCount<math::CountLeadingZerosOp>,
    evaluateUnary<nullptr, leadingZerosInt>};

void stablehlo::registerBitsModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, StableHLODialect *) {
    attachPointwise<ShiftLeftOp, shiftLeftAnswers>(context);
    attachPointwise<ShiftRightLogicalOp, shiftLogicalAnswers>(context);
    attachPointwise<ShiftRightArithmeticOp, shiftArithmeticAnswers>(context);
    attachPointwise<PopulationCountOp, popcountAnswers>(context);
    attachPointwise<CountLeadingZerosOp, leadingZerosAnswers>(context);
    attachAnswers<BitcastConvertOp, BitcastAnswers>(context);
  });
}
