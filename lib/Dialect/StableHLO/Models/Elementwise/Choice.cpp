//===- Choice.cpp - Answers of select and clamp ---------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// With g the result's cotangent:
//
//   select(p, a, b)     a: select(p, g, 0)      b: select(p, 0, g)
//   clamp(lo, x, hi)    x: g where lo < x < hi  lo: g where x < lo < hi
//                       hi: g where x > hi      (strict; scalar bounds sum up)
//
// A scalar predicate or bound is read at every element. A value partial by any
// reduction passes both branches of a select.
//
// Test: test/Dialect/StableHLO/Models/ChoiceTest.cpp
//===----------------------------------------------------------------------===//

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
// select
//===----------------------------------------------------------------------===//

static void carrySelect(Operation *, graph::ShardingRule &rule) {
  for (const ReductionTraits &traits : reductionTraits)
    rule.addLinear(traits.kind, {{1, 2}});
}

static LogicalResult deriveSelect(Derivation &d) {
  Value zero = constantLike(d.builder, d.loc(), d.cotangent, 0);
  if (d.needed[1])
    d.gradients[1] =
        select(d.builder, d.loc(), d.operand(0), d.cotangent, zero);
  if (d.needed[2])
    d.gradients[2] =
        select(d.builder, d.loc(), d.operand(0), zero, d.cotangent);
  return success();
}

static Value emitSelect(OpBuilder &b, Location loc, Operation *, ValueRange x) {
  return arith::SelectOp::create(b, loc, x[0], x[1], x[2]);
}

static LogicalResult evaluateSelect(Operation *, ArrayRef<HostTensor> operands,
                                    SmallVectorImpl<HostTensor> &results) {
  const HostTensor &onTrue = operands[1], &onFalse = operands[2];
  bool isScalar = operands[0].getRank() == 0;
  HostTensor result = onFalse;
  char *bytes = result.mutableBytes();
  int64_t size = onTrue.getElementBytes();
  for (int64_t i = 0; i < onTrue.getNumElements(); ++i)
    if (operands[0].bytes()[isScalar ? 0 : i])
      std::memcpy(bytes + i * size, onTrue.bytes() + i * size, size);
  results.push_back(std::move(result));
  return success();
}

//===----------------------------------------------------------------------===//
// clamp
//===----------------------------------------------------------------------===//

/// `bound` with the shape of `like`.
static Value broadcastBound(OpBuilder &b, Location loc, Value bound,
                            Value like) {
  auto type = cast<RankedTensorType>(like.getType());
  auto from = cast<RankedTensorType>(bound.getType());
  return from.getRank() == type.getRank()
             ? bound
             : broadcastInDim(b, loc, bound, type, {});
}

/// The cotangent of a bound from that of its elements: a scalar sums them up.
static Value sumToBound(OpBuilder &b, Location loc, Value gradient,
                        Value bound) {
  auto type = cast<RankedTensorType>(gradient.getType());
  if (cast<RankedTensorType>(bound.getType()).getRank() == type.getRank())
    return gradient;
  return reduceAdd(b, loc, gradient,
                   llvm::to_vector(llvm::seq<int64_t>(0, type.getRank())));
}

/// Monotone in what is clamped.
static void carryClamp(Operation *, graph::ShardingRule &rule) {
  rule.addLinear(ReductionKind::max, {{1}});
  rule.addLinear(ReductionKind::min, {{1}});
}

static LogicalResult deriveClamp(Derivation &d) {
  OpBuilder &b = d.builder;
  Location loc = d.loc();
  Value x = d.operand(1);
  Value low = broadcastBound(b, loc, d.operand(0), x);
  Value high = broadcastBound(b, loc, d.operand(2), x);
  Value zero = constantLike(b, loc, d.cotangent, 0);
  auto isLess = [&](Value lhs, Value rhs) {
    return compare(b, loc, ComparisonDirection::LT, lhs, rhs);
  };
  auto keepWhere = [&](Value condition) {
    return select(b, loc, condition, d.cotangent, zero);
  };
  if (d.needed[0]) {
    Value wins = logicalAnd(b, loc, isLess(x, low), isLess(low, high));
    d.gradients[0] = sumToBound(b, loc, keepWhere(wins), d.operand(0));
  }
  if (d.needed[1])
    d.gradients[1] =
        keepWhere(logicalAnd(b, loc, isLess(low, x), isLess(x, high)));
  if (d.needed[2])
    d.gradients[2] =
        sumToBound(b, loc, keepWhere(isLess(high, x)), d.operand(2));
  return success();
}

/// minimum(maximum(x, low), high): NaN if any of them is.
static Value emitClamp(OpBuilder &b, Location loc, Operation *op,
                       ValueRange x) {
  if (isa<FloatType>(x[1].getType())) {
    Value raised = arith::MaximumFOp::create(b, loc, x[1], x[0]);
    return arith::MinimumFOp::create(b, loc, raised, x[2]);
  }
  if (isUnsignedElement(getElement(op->getResult(0)))) {
    Value raised = arith::MaxUIOp::create(b, loc, x[1], x[0]);
    return arith::MinUIOp::create(b, loc, raised, x[2]);
  }
  Value raised = arith::MaxSIOp::create(b, loc, x[1], x[0]);
  return arith::MinSIOp::create(b, loc, raised, x[2]);
}

static double clampFloat(double low, double x, double high) {
  if (std::isnan(low) || std::isnan(x) || std::isnan(high))
    return std::nan("");
  return std::min(std::max(x, low), high);
}

static int64_t clampInt(bool isUnsigned, int64_t low, int64_t x, int64_t high) {
  if (!isUnsigned)
    return std::min(std::max(x, low), high);
  return int64_t(
      std::min(std::max(uint64_t(x), uint64_t(low)), uint64_t(high)));
}

/// One run of clamp in scalars of type T.
template <typename T, typename Function, typename Store>
static void clampRun(ArrayRef<HostTensor> operands, int64_t first,
                     int64_t count, Function function, Store store) {
  T low[kElementRun], x[kElementRun], high[kElementRun];
  bool isRanked = operands[1].getRank() > 0;
  size_t size = count;
  auto repeats = [&](unsigned i) {
    return isRanked && operands[i].getRank() == 0;
  };
  loadRun(operands[0], repeats(0), first, MutableArrayRef<T>(low, size));
  loadRun(operands[1], false, first, MutableArrayRef<T>(x, size));
  loadRun(operands[2], repeats(2), first, MutableArrayRef<T>(high, size));
  for (int64_t i = 0; i < count; ++i)
    x[i] = function(low[i], x[i], high[i]);
  store(ArrayRef<T>(x, size));
}

static LogicalResult evaluateClamp(Operation *, ArrayRef<HostTensor> operands,
                                   SmallVectorImpl<HostTensor> &results) {
  const HostTensor &x = operands[1];
  HostTensor result(x.getElementType(), x.getShape());
  bool isUnsigned = x.isUnsigned();
  forEachRun(x.getNumElements(), [&](int64_t first, int64_t count) {
    if (x.isFloat())
      return clampRun<double>(
          operands, first, count, clampFloat,
          [&](ArrayRef<double> values) { storeFloats(result, first, values); });
    clampRun<int64_t>(
        operands, first, count,
        [&](int64_t low, int64_t value, int64_t high) {
          return clampInt(isUnsigned, low, value, high);
        },
        [&](ArrayRef<int64_t> values) { storeInts(result, first, values); });
  });
  results.push_back(std::move(result));
  return success();
}

//===----------------------------------------------------------------------===//
// Registration
//===----------------------------------------------------------------------===//

static const PointwiseAnswers selectAnswers = {
    0, 0, carrySelect, deriveSelect, emitSelect, evaluateSelect};
static const PointwiseAnswers clampAnswers = {
    2, 0, carryClamp, deriveClamp, emitClamp, evaluateClamp};

void stablehlo::registerChoiceModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, StableHLODialect *) {
    attachPointwise<SelectOp, selectAnswers>(context);
    attachPointwise<ClampOp, clampAnswers>(context);
  });
}
