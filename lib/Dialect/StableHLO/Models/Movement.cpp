//===- Movement.cpp - Answers of ops that only rearrange elements ---------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// broadcast_in_dim, reshape, transpose, reverse and optimization_barrier:
// result[i] = operand[map(i)]. All are linear for partial values of any kind,
// and their derivative is the transposed map.
//
// Tests: test/Dialect/StableHLO/Models
//===----------------------------------------------------------------------===//

#include "Movement.h"
#include "llmc/Dialect/Graph/IR/Answers.h"
#include "llmc/Dialect/Graph/IR/Precision.h"
#include "llmc/Dialect/StableHLO/IR/Builders.h"
#include "llmc/Dialect/StableHLO/Models/Models.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::graph;
using namespace llmc::stablehlo;

void stablehlo::carryAnyPartial(ShardingRule &rule, ArrayRef<int> group) {
  SmallVector<SmallVector<int>> groups = {SmallVector<int>(group)};
  for (const ReductionTraits &traits : reductionTraits)
    rule.addLinear(traits.kind, groups);
}

RankedTensorType stablehlo::typeOf(Value value) {
  return cast<RankedTensorType>(value.getType());
}

LogicalResult stablehlo::evaluateMap(
    const HostTensor &operand, RankedTensorType resultType,
    function_ref<void(ArrayRef<int64_t> index, SmallVectorImpl<int64_t> &from)>
        map,
    SmallVectorImpl<HostTensor> &results) {
  HostTensor result(resultType);
  SmallVector<int64_t> strides = operand.getStrides();
  SmallVector<int64_t> index(resultType.getRank(), 0), from(operand.getRank());
  char *out = result.mutableBytes();
  int64_t bytes = operand.getElementBytes();
  for (int64_t i = 0; i < result.getNumElements(); ++i) {
    map(index, from);
    int64_t offset = 0;
    for (auto [at, stride] : llvm::zip(from, strides))
      offset += at * stride;
    std::memcpy(out + i * bytes, operand.bytes() + offset * bytes, bytes);
    nextIndex(index, resultType.getShape());
  }
  results.push_back(std::move(result));
  return success();
}

//===----------------------------------------------------------------------===//
// broadcast_in_dim
//===----------------------------------------------------------------------===//

namespace {
struct BroadcastAnswers : AnswerDefaults<BroadcastInDimOp> {
  static bool uniform(BroadcastInDimOp) { return true; }
  /// True when operand dimension `d` of size 1 is expanded.
  static bool isExpanded(BroadcastInDimOp op, int64_t d) {
    return typeOf(op.getOperand()).getDimSize(d) !=
           typeOf(op.getResult()).getDimSize(op.getBroadcastDimensions()[d]);
  }

  static ShardingRule rule(BroadcastInDimOp op) {
    ShardingRule rule = ShardingRule::forOp(op);
    RankedTensorType type = typeOf(op.getResult());
    for (int64_t d = 0; d < type.getRank(); ++d)
      rule.results[0][d].push_back(rule.addFactor(type.getDimSize(d)));
    for (auto [d, to] : llvm::enumerate(op.getBroadcastDimensions()))
      if (!isExpanded(op, d))
        rule.operands[0][d].push_back(rule.results[0][to].front());
    carryAnyPartial(rule, {0});
    return rule;
  }

  static LogicalResult derive(BroadcastInDimOp op, DerivativeCall &call) {
    RankedTensorType type = typeOf(op.getResult());
    ArrayRef<int64_t> dims = op.getBroadcastDimensions();
    SmallVector<int64_t> summed;
    SmallVector<int64_t> kept; // operand dimensions that survive, by result dim
    for (int64_t d = 0; d < type.getRank(); ++d) {
      const int64_t *source = llvm::find(dims, d);
      if (source == dims.end() || isExpanded(op, source - dims.begin()))
        summed.push_back(d);
      else
        kept.push_back(source - dims.begin());
    }
    Value g = call.cotangents[0];
    if (!summed.empty())
      g = reduceAdd(call.builder, call.loc, g, summed);
    // What is left stands in the order of result dimensions.
    SmallVector<int64_t> order(kept);
    llvm::sort(order);
    SmallVector<int64_t> permutation;
    for (int64_t d : order)
      permutation.push_back(llvm::find(kept, d) - kept.begin());
    if (!llvm::is_sorted(kept))
      g = transpose(call.builder, call.loc, g, permutation);
    ArrayRef<int64_t> shape = typeOf(op.getOperand()).getShape();
    if (typeOf(g).getShape() != shape)
      g = reshape(call.builder, call.loc, g, shape);
    call.gradients[0] = g;
    return success();
  }

  static Value emitElement(BroadcastInDimOp op, ElementCall &call) {
    SmallVector<Value> from;
    for (auto [d, to] : llvm::enumerate(op.getBroadcastDimensions()))
      from.push_back(isExpanded(op, d) ? arith::ConstantIndexOp::create(
                                             call.builder, call.loc, 0)
                                             .getResult()
                                       : call.indices[to]);
    return call.source(0, from);
  }

  static LogicalResult evaluate(BroadcastInDimOp op, EvaluationCall &call) {
    ArrayRef<int64_t> dims = op.getBroadcastDimensions();
    SmallVector<bool> expanded;
    for (size_t d = 0; d < dims.size(); ++d)
      expanded.push_back(isExpanded(op, d));
    return evaluateMap(
        call.operands[0], typeOf(op.getResult()),
        [&](ArrayRef<int64_t> index, SmallVectorImpl<int64_t> &from) {
          for (size_t d = 0; d < dims.size(); ++d)
            from[d] = expanded[d] ? 0 : index[dims[d]];
        },
        call.results);
  }
};

//===----------------------------------------------------------------------===//
// reshape
//===----------------------------------------------------------------------===//

/// Pours the dimensions of two shapes with equal element counts into common
/// factors, major to minor: 384 | 6, 64 gives 6, 64. Where the boundaries are
/// no chain of divisors (6, 64 | 8, 48), the dimensions up to the next common
/// boundary get whole factors of their own.
struct ReshapeFactors {
  ShardingRule &rule;
  TensorFactors &from, &to;
  ArrayRef<int64_t> fromShape, toShape;

  void pour() {
    size_t f = 0, t = 0;
    while (true) {
      while (f < fromShape.size() && fromShape[f] == 1)
        ++f;
      while (t < toShape.size() && toShape[t] == 1)
        ++t;
      if (f == fromShape.size() || t == toShape.size())
        return;
      size_t fEnd = f, tEnd = t;
      findBoundary(fEnd, tEnd);
      if (!pourGroup(f, fEnd, t, tEnd)) {
        for (size_t d = f; d < fEnd; ++d)
          from[d] = {rule.addFactor(fromShape[d], FactorKind::Whole)};
        for (size_t d = t; d < tEnd; ++d)
          to[d] = {rule.addFactor(toShape[d], FactorKind::Whole)};
      }
      f = fEnd, t = tEnd;
    }
  }

private:
  /// Advances both ends past the least groups of equal size.
  void findBoundary(size_t &fEnd, size_t &tEnd) {
    int64_t left = fromShape[fEnd++], right = toShape[tEnd++];
    while (left != right)
      if (left < right)
        left *= fromShape[fEnd++];
      else
        right *= toShape[tEnd++];
  }

  /// One group; false when boundaries do not divide each other.
  bool pourGroup(size_t f, size_t fEnd, size_t t, size_t tEnd) {
    SmallVector<std::pair<size_t, size_t>> places;
    SmallVector<int64_t> sizes;
    int64_t left = fromShape[f], right = toShape[t];
    while (f < fEnd && t < tEnd) {
      int64_t size = std::min(left, right);
      if (left % size || right % size)
        return false;
      if (size > 1) {
        places.push_back({f, t});
        sizes.push_back(size);
      }
      left /= size, right /= size;
      if (left == 1 && ++f < fEnd)
        left = fromShape[f];
      if (right == 1 && ++t < tEnd)
        right = toShape[t];
    }
    for (auto [place, size] : llvm::zip(places, sizes)) {
      int factor = rule.addFactor(size);
      from[place.first].push_back(factor);
      to[place.second].push_back(factor);
    }
    return true;
  }
};

struct ReshapeAnswers : AnswerDefaults<ReshapeOp> {
  static bool uniform(ReshapeOp) { return true; }
  static ShardingRule rule(ReshapeOp op) {
    ShardingRule rule = ShardingRule::forOp(op);
    RankedTensorType from = typeOf(op.getOperand()), to = typeOf(op);
    if (from.getNumElements() != 0)
      ReshapeFactors{rule, rule.operands[0], rule.results[0], from.getShape(),
                     to.getShape()}
          .pour();
    else
      for (auto [type, tensor] :
           {std::pair(from, &rule.operands[0]), {to, &rule.results[0]}})
        for (int64_t d = 0; d < type.getRank(); ++d)
          (*tensor)[d] = {
              rule.addFactor(type.getDimSize(d), FactorKind::Whole)};
    carryAnyPartial(rule, {0});
    return rule;
  }

  static OpCost cost(ReshapeOp) { return {}; }
  static constexpr bool mayBeAlias = true;
  static KernelForm form(ReshapeOp) { return KernelForm::Alias; }

  static LogicalResult derive(ReshapeOp op, DerivativeCall &call) {
    call.gradients[0] = reshape(call.builder, call.loc, call.cotangents[0],
                                typeOf(op.getOperand()).getShape());
    return success();
  }

  static LogicalResult evaluate(ReshapeOp op, EvaluationCall &call) {
    call.results.push_back(call.operands[0].viewAs(typeOf(op)));
    return success();
  }
};

//===----------------------------------------------------------------------===//
// transpose and reverse
//===----------------------------------------------------------------------===//

struct TransposeAnswers : AnswerDefaults<TransposeOp> {
  static bool uniform(TransposeOp) { return true; }

  /// Whether only dims of size 1 change places: the bytes are the operand's.
  static bool isReshape(TransposeOp op) {
    SmallVector<int64_t> moved;
    llvm::copy_if(
        op.getPermutation(), std::back_inserter(moved),
        [&](int64_t d) { return typeOf(op.getOperand()).getDimSize(d) != 1; });
    return llvm::is_sorted(moved);
  }
  static constexpr bool mayBeAlias = true;
  static KernelForm form(TransposeOp op) {
    return isReshape(op) ? KernelForm::Alias : KernelForm::Element;
  }
  static OpCost cost(TransposeOp op) {
    return isReshape(op) ? OpCost() : getTrafficCost(op);
  }

  static ShardingRule rule(TransposeOp op) {
    ShardingRule rule = ShardingRule::forOp(op);
    for (auto [to, from] : llvm::enumerate(op.getPermutation())) {
      int factor = rule.addFactor(typeOf(op.getResult()).getDimSize(to));
      rule.operands[0][from].push_back(factor);
      rule.results[0][to].push_back(factor);
    }
    carryAnyPartial(rule, {0});
    return rule;
  }

  static LogicalResult derive(TransposeOp op, DerivativeCall &call) {
    SmallVector<int64_t> inverse(op.getPermutation().size());
    for (auto [to, from] : llvm::enumerate(op.getPermutation()))
      inverse[from] = to;
    call.gradients[0] =
        transpose(call.builder, call.loc, call.cotangents[0], inverse);
    return success();
  }

  static Value emitElement(TransposeOp op, ElementCall &call) {
    SmallVector<Value> from(call.indices.size());
    for (auto [to, d] : llvm::enumerate(op.getPermutation()))
      from[d] = call.indices[to];
    return call.source(0, from);
  }

  static LogicalResult evaluate(TransposeOp op, EvaluationCall &call) {
    ArrayRef<int64_t> permutation = op.getPermutation();
    return evaluateMap(
        call.operands[0], typeOf(op.getResult()),
        [&](ArrayRef<int64_t> index, SmallVectorImpl<int64_t> &from) {
          for (auto [to, d] : llvm::enumerate(permutation))
            from[d] = index[to];
        },
        call.results);
  }
};

struct ReverseAnswers : AnswerDefaults<ReverseOp> {
  static bool isReversed(ReverseOp op, int64_t d) {
    return llvm::is_contained(op.getDimensions(), d);
  }

  static ShardingRule rule(ReverseOp op) {
    ShardingRule rule = ShardingRule::forOp(op);
    RankedTensorType type = typeOf(op.getResult());
    for (int64_t d = 0; d < type.getRank(); ++d) {
      int factor = rule.addFactor(type.getDimSize(d), isReversed(op, d)
                                                          ? FactorKind::Permuted
                                                          : FactorKind::Pass);
      rule.operands[0][d].push_back(factor);
      rule.results[0][d].push_back(factor);
    }
    carryAnyPartial(rule, {0});
    return rule;
  }

  static LogicalResult derive(ReverseOp op, DerivativeCall &call) {
    call.gradients[0] =
        reverse(call.builder, call.loc, call.cotangents[0], op.getDimensions());
    return success();
  }

  static Value emitElement(ReverseOp op, ElementCall &call) {
    RankedTensorType type = typeOf(op.getResult());
    SmallVector<Value> from(call.indices.begin(), call.indices.end());
    for (int64_t d : op.getDimensions()) {
      Value last = arith::ConstantIndexOp::create(call.builder, call.loc,
                                                  type.getDimSize(d) - 1);
      from[d] = arith::SubIOp::create(call.builder, call.loc, last, from[d]);
    }
    return call.source(0, from);
  }

  static LogicalResult evaluate(ReverseOp op, EvaluationCall &call) {
    RankedTensorType type = typeOf(op.getResult());
    return evaluateMap(
        call.operands[0], type,
        [&](ArrayRef<int64_t> index, SmallVectorImpl<int64_t> &from) {
          for (int64_t d = 0; d < type.getRank(); ++d)
            from[d] = isReversed(op, d) ? type.getDimSize(d) - 1 - index[d]
                                        : index[d];
        },
        call.results);
  }
};

//===----------------------------------------------------------------------===//
// optimization_barrier
//===----------------------------------------------------------------------===//

/// An identity that keeps recomputation from being merged with the original.
struct BarrierAnswers : AnswerDefaults<OptimizationBarrierOp> {
  static ShardingRule rule(OptimizationBarrierOp op) {
    ShardingRule rule = ShardingRule::forOp(op);
    for (auto [i, value] : llvm::enumerate(op->getResults()))
      for (int64_t d = 0; d < typeOf(value).getRank(); ++d) {
        int factor = rule.addFactor(typeOf(value).getDimSize(d));
        rule.operands[i][d].push_back(factor);
        rule.results[i][d].push_back(factor);
      }
    return rule;
  }

  static OpCost cost(OptimizationBarrierOp) { return {}; }
  static constexpr bool mayBeAlias = true;
  static KernelForm form(OptimizationBarrierOp) { return KernelForm::Alias; }

  /// A barrier over the cotangents that are there.
  static LogicalResult derive(OptimizationBarrierOp op, DerivativeCall &call) {
    SmallVector<Value> present;
    SmallVector<unsigned> places;
    for (auto [i, g] : llvm::enumerate(call.cotangents))
      if (g && call.needed[i]) {
        present.push_back(g);
        places.push_back(i);
      }
    if (present.empty())
      return success();
    auto barrier = OptimizationBarrierOp::create(
        call.builder, call.loc, ValueRange(present).getTypes(), present);
    for (auto [place, value] : llvm::zip(places, barrier->getResults()))
      call.gradients[place] = value;
    return success();
  }

  static LogicalResult evaluate(OptimizationBarrierOp, EvaluationCall &call) {
    call.results.append(call.operands.begin(), call.operands.end());
    return success();
  }
};
} // namespace

void stablehlo::registerMovementModels(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *context, StableHLODialect *) {
    attachAnswers<BroadcastInDimOp, BroadcastAnswers>(context);
    attachAnswers<ReshapeOp, ReshapeAnswers>(context);
    attachAnswers<TransposeOp, TransposeAnswers>(context);
    attachAnswers<ReverseOp, ReverseAnswers>(context);
    attachAnswers<OptimizationBarrierOp, BarrierAnswers>(context);
    BroadcastInDimOp::attachInterface<MoveModel<BroadcastInDimOp>>(*context);
    ReshapeOp::attachInterface<MoveModel<ReshapeOp>>(*context);
    TransposeOp::attachInterface<MoveModel<TransposeOp>>(*context);
    ReverseOp::attachInterface<MoveModel<ReverseOp>>(*context);
  });
}
