//===- Slicing.cpp - Answers of slice, pad and concatenate ----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Boxes at static positions. With g the result's cotangent:
//
//   slice         g, padded with zeros to where its elements came from
//   pad           the operand's elements of g (a slice; where an edge cropped,
//                 g is first padded with zeros); the padding value gets the
//                 sum of all others
//   concatenate   one slice of g for each operand
//
// A dimension that the op changes has no factor in common between operand and
// result: splitting it would need elements of neighbours.
//
// Test: test/Dialect/StableHLO/Models/SlicingTest.cpp
//===----------------------------------------------------------------------===//

#include "../Combining.h"
#include "../Movement.h"
#include "llmc/Dialect/Graph/IR/Answers.h"
#include "llmc/Dialect/Graph/IR/Precision.h"
#include "llmc/Dialect/StableHLO/IR/Builders.h"
#include "llmc/Dialect/StableHLO/Models/Models.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::graph;
using namespace llmc::stablehlo;

namespace {
Value constantIndex(ElementCall &call, int64_t value) {
  return arith::ConstantIndexOp::create(call.builder, call.loc, value);
}

Value compareIndex(ElementCall &call, arith::CmpIPredicate predicate, Value x,
                   int64_t y) {
  return arith::CmpIOp::create(call.builder, call.loc, predicate, x,
                               constantIndex(call, y));
}

/// Gives dimension `d` of operand 0 and of the result one factor if the op
/// leaves it as it is, else one for each.
void addDimension(ShardingRule &rule, RankedTensorType from,
                  RankedTensorType to, int64_t d, bool isChanged) {
  if (!isChanged) {
    int factor = rule.addFactor(from.getDimSize(d));
    rule.operands[0][d] = rule.results[0][d] = {factor};
    return;
  }
  rule.operands[0][d] = {
      rule.addFactor(from.getDimSize(d), FactorKind::Permuted)};
  rule.results[0][d] = {rule.addFactor(to.getDimSize(d), FactorKind::Permuted)};
}

//===----------------------------------------------------------------------===//
// slice
//===----------------------------------------------------------------------===//

struct SliceAnswers : AnswerDefaults<SliceOp> {
  static ShardingRule rule(SliceOp op) {
    ShardingRule rule = ShardingRule::forOp(op);
    RankedTensorType from = typeOf(op.getOperand()), to = op.getType();
    for (int64_t d = 0; d < from.getRank(); ++d)
      addDimension(rule, from, to, d, from.getDimSize(d) != to.getDimSize(d));
    carryAnyPartial(rule, {0});
    return rule;
  }

  /// Dimensions that are kept whole have the device's size.
  static LogicalResult localize(SliceOp op, LocalForm &form) {
    auto clone = cast<SliceOp>(form.cloneOp());
    SmallVector<int64_t> limits(op.getLimitIndices()), strides(op.getStrides());
    for (int64_t d = 0; d < op.getType().getRank(); ++d)
      if (typeOf(op.getOperand()).getDimSize(d) == op.getType().getDimSize(d)) {
        limits[d] = clone.getType().getDimSize(d);
        strides[d] = 1;
      }
    clone.setLimitIndices(limits);
    clone.setStrides(strides);
    return success();
  }

  /// Reads only what it keeps.
  static OpCost cost(SliceOp op) {
    OpCost cost = getTrafficCost(op);
    cost.bytesRead = cost.bytesWritten;
    return cost;
  }

  static LogicalResult derive(SliceOp op, DerivativeCall &call) {
    RankedTensorType from = typeOf(op.getOperand()), to = op.getType();
    SmallVector<int64_t> low, high, interior;
    for (int64_t d = 0; d < from.getRank(); ++d) {
      int64_t stride = op.getStrides()[d], start = op.getStartIndices()[d];
      int64_t size = to.getDimSize(d);
      int64_t covered = size ? (size - 1) * stride + 1 : 0;
      low.push_back(start);
      interior.push_back(stride - 1);
      high.push_back(from.getDimSize(d) - start - covered);
    }
    Value zero = scalar(call.builder, call.loc, from.getElementType(), 0);
    call.gradients[0] = pad(call.builder, call.loc, call.cotangents[0], zero,
                            low, high, interior);
    return success();
  }

  static Value emitElement(SliceOp op, ElementCall &call) {
    OpBuilder &b = call.builder;
    SmallVector<Value> from;
    for (auto [index, start, stride] :
         llvm::zip(call.indices, op.getStartIndices(), op.getStrides())) {
      Value at = index;
      if (stride != 1)
        at =
            arith::MulIOp::create(b, call.loc, at, constantIndex(call, stride));
      if (start != 0)
        at = arith::AddIOp::create(b, call.loc, at, constantIndex(call, start));
      from.push_back(at);
    }
    return call.source(0, from);
  }

  static LogicalResult evaluate(SliceOp op, EvaluationCall &call) {
    ArrayRef<int64_t> starts = op.getStartIndices(), strides = op.getStrides();
    return evaluateMap(
        call.operands[0], op.getType(),
        [&](ArrayRef<int64_t> index, SmallVectorImpl<int64_t> &from) {
          for (size_t d = 0; d < index.size(); ++d)
            from[d] = starts[d] + index[d] * strides[d];
        },
        call.results);
  }
};

//===----------------------------------------------------------------------===//
// pad
//===----------------------------------------------------------------------===//

struct PadAnswers : AnswerDefaults<PadOp> {
  static bool isChanged(PadOp op, int64_t d) {
    return op.getEdgePaddingLow()[d] || op.getEdgePaddingHigh()[d] ||
           op.getInteriorPadding()[d];
  }

  static ShardingRule rule(PadOp op) {
    ShardingRule rule = ShardingRule::forOp(op);
    RankedTensorType from = typeOf(op.getOperand()), to = op.getType();
    for (int64_t d = 0; d < from.getRank(); ++d)
      addDimension(rule, from, to, d, isChanged(op, d));
    // A neutral padding value may be repeated by every device; another one is
    // a summand of its own.
    for (const ReductionTraits &traits : reductionTraits) {
      SmallVector<int> group = {0};
      if (!isNeutral(op.getPaddingValue(), traits.kind))
        group.push_back(1);
      rule.addLinear(traits.kind, {group});
    }
    return rule;
  }

  static LogicalResult derive(PadOp op, DerivativeCall &call) {
    OpBuilder &b = call.builder;
    Value g = call.cotangents[0];
    RankedTensorType from = typeOf(op.getOperand());
    if (call.needed[0])
      call.gradients[0] = takeOperand(op, call, g);
    if (!call.needed[1])
      return success();
    // A select by where the padding is: a difference of sums would cancel.
    Value inside = constantSplat(b, call.loc, from.clone(b.getI1Type()), 0);
    Value isPadding =
        pad(b, call.loc, inside, scalar(b, call.loc, b.getI1Type(), 1),
            op.getEdgePaddingLow(), op.getEdgePaddingHigh(),
            op.getInteriorPadding());
    Value padding =
        select(b, call.loc, isPadding, g, constantLike(b, call.loc, g, 0));
    call.gradients[1] =
        reduceAdd(b, call.loc, padding,
                  llvm::to_vector(llvm::seq<int64_t>(0, from.getRank())));
    return success();
  }

  /// The operand's elements of `g`, zero for those that a negative edge cut.
  static Value takeOperand(PadOp op, DerivativeCall &call, Value g) {
    OpBuilder &b = call.builder;
    RankedTensorType from = typeOf(op.getOperand());
    SmallVector<int64_t> low, high, starts, limits, strides;
    for (int64_t d = 0; d < from.getRank(); ++d) {
      int64_t before = op.getEdgePaddingLow()[d], size = from.getDimSize(d);
      low.push_back(std::max<int64_t>(-before, 0));
      high.push_back(std::max<int64_t>(-op.getEdgePaddingHigh()[d], 0));
      starts.push_back(std::max<int64_t>(before, 0));
      strides.push_back(op.getInteriorPadding()[d] + 1);
      int64_t covered = size ? (size - 1) * strides.back() + 1 : 0;
      limits.push_back(starts.back() + covered);
    }
    auto isZero = [](int64_t amount) { return amount == 0; };
    if (!llvm::all_of(low, isZero) || !llvm::all_of(high, isZero))
      g = pad(b, call.loc, g, scalar(b, call.loc, from.getElementType(), 0),
              low, high);
    return slice(b, call.loc, g, starts, limits, strides);
  }

  /// The operand's index, and whether there is an element; the index is 0
  /// where there is none.
  static Value emitElement(PadOp op, ElementCall &call) {
    OpBuilder &b = call.builder;
    RankedTensorType type = typeOf(op.getOperand());
    Value padding = call.source(1, {});
    if (type.getNumElements() == 0)
      return padding;
    Value isInside;
    auto require = [&](Value condition) {
      isInside = isInside
                     ? arith::AndIOp::create(b, call.loc, isInside, condition)
                           .getResult()
                     : condition;
    };
    SmallVector<Value> from(call.indices);
    for (int64_t d = 0; d < type.getRank(); ++d) {
      if (!isChanged(op, d))
        continue;
      int64_t stride = op.getInteriorPadding()[d] + 1;
      Value at =
          arith::SubIOp::create(b, call.loc, call.indices[d],
                                constantIndex(call, op.getEdgePaddingLow()[d]));
      // One unsigned comparison covers both ends.
      require(compareIndex(call, arith::CmpIPredicate::ult, at,
                           (type.getDimSize(d) - 1) * stride + 1));
      from[d] = at;
      if (stride == 1)
        continue;
      Value divisor = constantIndex(call, stride);
      Value rest = arith::RemUIOp::create(b, call.loc, at, divisor);
      require(compareIndex(call, arith::CmpIPredicate::eq, rest, 0));
      from[d] = arith::DivUIOp::create(b, call.loc, at, divisor);
    }
    if (!isInside)
      return call.source(0, from);
    for (int64_t d = 0; d < type.getRank(); ++d)
      if (isChanged(op, d))
        from[d] = arith::SelectOp::create(b, call.loc, isInside, from[d],
                                          constantIndex(call, 0));
    return arith::SelectOp::create(b, call.loc, isInside, call.source(0, from),
                                   padding);
  }

  static LogicalResult evaluate(PadOp op, EvaluationCall &call) {
    const HostTensor &x = call.operands[0];
    HostTensor result(op.getType());
    int64_t bytes = result.getElementBytes();
    char *out = result.mutableBytes();
    for (int64_t i = 0; i < result.getNumElements(); ++i)
      std::memcpy(out + i * bytes, call.operands[1].bytes(), bytes);
    SmallVector<int64_t> index(x.getRank(), 0), strides = result.getStrides();
    for (int64_t i = 0; i < x.getNumElements();
         ++i, nextIndex(index, x.getShape())) {
      int64_t to = 0;
      bool isKept = true;
      for (int64_t d = 0; d < x.getRank(); ++d) {
        int64_t at = op.getEdgePaddingLow()[d] +
                     index[d] * (op.getInteriorPadding()[d] + 1);
        isKept &= at >= 0 && at < result.getShape()[d];
        to += at * strides[d];
      }
      if (isKept)
        std::memcpy(out + to * bytes, x.bytes() + i * bytes, bytes);
    }
    call.results.push_back(std::move(result));
    return success();
  }
};

//===----------------------------------------------------------------------===//
// concatenate
//===----------------------------------------------------------------------===//

struct ConcatenateAnswers : AnswerDefaults<ConcatenateOp> {
  static int64_t sizeOf(ConcatenateOp op, unsigned operand) {
    return typeOf(op.getInputs()[operand]).getDimSize(op.getDimension());
  }

  static ShardingRule rule(ConcatenateOp op) {
    ShardingRule rule = ShardingRule::forOp(op);
    RankedTensorType type = op.getType();
    int64_t along = op.getDimension();
    SmallVector<int> group;
    for (int64_t d = 0; d < type.getRank(); ++d) {
      int factor =
          rule.addFactor(type.getDimSize(d),
                         d == along ? FactorKind::Permuted : FactorKind::Pass);
      rule.results[0][d] = {factor};
      for (size_t k = 0; k < rule.operands.size(); ++k)
        rule.operands[k][d] = {
            d != along ? factor
                       : rule.addFactor(sizeOf(op, k), FactorKind::Permuted)};
    }
    for (size_t k = 0; k < rule.operands.size(); ++k)
      group.push_back(k);
    carryAnyPartial(rule, group);
    return rule;
  }

  static LogicalResult derive(ConcatenateOp op, DerivativeCall &call) {
    RankedTensorType type = op.getType();
    int64_t along = op.getDimension();
    SmallVector<int64_t> starts(type.getRank(), 0), limits(type.getShape());
    for (size_t k = 0; k < op.getInputs().size(); ++k) {
      limits[along] = starts[along] + sizeOf(op, k);
      if (call.needed[k])
        call.gradients[k] =
            slice(call.builder, call.loc, call.cotangents[0], starts, limits);
      starts[along] = limits[along];
    }
    return success();
  }

  /// Selects from the last operand to the first; each is read at its first
  /// index where the element is another's.
  static Value emitElement(ConcatenateOp op, ElementCall &call) {
    OpBuilder &b = call.builder;
    int64_t along = op.getDimension();
    int64_t start = op.getType().getDimSize(along);
    Value at = call.indices[along], zero = constantIndex(call, 0), element;
    for (size_t k = op.getInputs().size(); k-- > 0;) {
      int64_t size = sizeOf(op, k);
      start -= size;
      if (size == 0)
        continue;
      SmallVector<Value> from(call.indices);
      Value local =
          arith::SubIOp::create(b, call.loc, at, constantIndex(call, start));
      // One unsigned comparison covers both ends.
      Value isOwn = compareIndex(call, arith::CmpIPredicate::ult, local, size);
      from[along] =
          arith::SelectOp::create(b, call.loc, isOwn, local, zero).getResult();
      Value own = call.source(k, from);
      element = element
                    ? arith::SelectOp::create(b, call.loc, isOwn, own, element)
                          .getResult()
                    : own;
    }
    return element;
  }

  static LogicalResult evaluate(ConcatenateOp op, EvaluationCall &call) {
    HostTensor result(op.getType());
    int64_t along = op.getDimension(), bytes = result.getElementBytes();
    int64_t outer = 1, inner = bytes;
    for (auto [d, size] : llvm::enumerate(result.getShape())) {
      outer *= static_cast<int64_t>(d) < along ? size : 1;
      inner *= static_cast<int64_t>(d) > along ? size : 1;
    }
    char *out = result.mutableBytes();
    for (int64_t o = 0; o < outer; ++o)
      for (const HostTensor &x : call.operands) {
        int64_t run = x.getShape()[along] * inner;
        if (run == 0)
          continue;
        std::memcpy(out, x.bytes() + o * run, run);
        out += run;
      }
    call.results.push_back(std::move(result));
    return success();
  }
};
} // namespace

void stablehlo::registerSlicingModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, StableHLODialect *) {
    attachAnswers<SliceOp, SliceAnswers>(context);
    SliceOp::attachInterface<MoveModel<SliceOp>>(*context);
    attachAnswers<PadOp, PadAnswers>(context);
    attachAnswers<ConcatenateOp, ConcatenateAnswers>(context);
  });
}
