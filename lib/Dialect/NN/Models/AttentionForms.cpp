//===- AttentionForms.cpp - Attention in global ops -----------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Dims of the scores are batches, groups, row, column. All is computed in the
// type of logsumexp, and rounded once at the end.
//
// Tested by test/Dialect/NN/Models/AttentionTest.cpp.
//
//===----------------------------------------------------------------------===//

#include "AttentionForms.h"

#include "llmc/Dialect/StableHLO/IR/BitArithmetic.h"
#include "llmc/Dialect/StableHLO/IR/Builders.h"
#include <cmath>

using namespace mlir;
using namespace llmc;
using namespace llmc::nn;
namespace hlo = llmc::stablehlo;

namespace {
/// Ops on the scores of an attention or of its gradient.
template <typename Op> class Scores {
public:
  Scores(Op op, OpBuilder &b, ArrayRef<Value> indices = {})
      : op(op), b(b), loc(op.getLoc()), indices(indices),
        element(getTensorType(op.getLogsumexp()).getElementType()),
        type(RankedTensorType::get(op.getScoreShape(), element)),
        columns(type.getRank() - 1), batches(op.getNumBatches()) {}

  Value widen(Value value) { return hlo::convertTo(b, loc, value, element); }
  Value round(Value value, Type wanted) {
    return hlo::convertTo(b, loc, value, wanted);
  }
  Value spread(Value rows) {
    return hlo::broadcastAlong(b, loc, rows, type, {columns});
  }

  /// scale * query key^T + bias, -inf where masked.
  Value build() {
    Value scores = contractLast(op.getQuery(), op.getKey());
    Value scale =
        hlo::constantLike(b, loc, scores, op.getScale().convertToDouble());
    scores = hlo::mul(b, loc, scores, scale);
    if (op.getBias())
      scores = hlo::add(b, loc, scores, spreadBias());
    if (!op.getCausal())
      return scores;
    Value nothing = hlo::broadcastInDim(
        b, loc, hlo::lowestScalar(b, loc, element), type, {});
    return hlo::select(b, loc, buildIsSeen(), scores, nothing);
  }

  /// exp(scores - logsumexp), 0 in safe rows that see nothing.
  Value buildWeights(Value scores, Value logsumexp) {
    Value weights =
        hlo::exp(b, loc, hlo::sub(b, loc, scores, spread(logsumexp)));
    if (!op.getSafe())
      return weights;
    Value zeros = hlo::constantLike(b, loc, weights, 0);
    return hlo::select(b, loc, spreadFlags(buildIsSeeing(logsumexp)), weights,
                       zeros);
  }

  /// Weights, or their cotangents, times what dropout multiplies them with.
  Value drop(Value values) {
    if (!op.getDropout())
      return values;
    if (!isKept)
      isKept = buildIsKept();
    double factor = op.getDropout()->getValue().factor;
    Value scaled =
        hlo::mul(b, loc, values, hlo::constantLike(b, loc, values, factor));
    return hlo::select(b, loc, isKept, scaled,
                       hlo::constantLike(b, loc, values, 0));
  }

  /// weights * (drop(cotangent value^T) - delta).
  Value buildScoreCotangent(Value weights, Value delta, Value cotangent) {
    Value products = drop(contractLast(cotangent, op.getValue()));
    Value difference = hlo::sub(b, loc, products, spread(delta));
    Value product = hlo::mul(b, loc, weights, difference);
    if (!op.getSafe())
      return product;
    // A delta of what was NaN must not come back.
    Value zeros = hlo::constantLike(b, loc, product, 0);
    Value isZero =
        hlo::compare(b, loc, hlo::ComparisonDirection::EQ, weights, zeros);
    return hlo::select(b, loc, isZero, zeros, product);
  }

  /// [batches, groups, row, x] by [batches, column, x].
  Value contractLast(Value rows, Value columns) {
    return contract(rows, columns, {getTensorType(rows).getRank() - 1},
                    {getTensorType(columns).getRank() - 1});
  }
  /// [batches, groups, row, column] by [batches, column, x].
  Value contractColumns(Value scores, Value values) {
    return contract(scores, values, {columns}, {batches});
  }
  /// [batches, groups, row, column] by [batches, groups, row, x], over groups
  /// and rows.
  Value contractRows(Value scores, Value rows) {
    SmallVector<int64_t> dims = llvm::to_vector(llvm::seq(batches, columns));
    return contract(scores, rows, dims, dims);
  }

  /// Where rows are not -inf.
  Value buildIsSeeing(Value rows) {
    return hlo::compare(b, loc, hlo::ComparisonDirection::NE, rows,
                        hlo::constantLike(b, loc, rows, -INFINITY));
  }

private:
  Value contract(Value lhs, Value rhs, ArrayRef<int64_t> lhsDims,
                 ArrayRef<int64_t> rhsDims) {
    SmallVector<int64_t> batch =
        llvm::to_vector(llvm::seq<int64_t>(0, batches));
    return hlo::dotGeneral(
        b, loc, widen(lhs), widen(rhs),
        hlo::dotDims(b.getContext(), batch, batch, lhsDims, rhsDims));
  }

  Value spreadBias() {
    Value bias = widen(op.getBias());
    SmallVector<int64_t> dims =
        llvm::to_vector(llvm::seq<int64_t>(0, type.getRank()));
    return hlo::broadcastInDim(b, loc, bias, type, dims);
  }
  Value spreadFlags(Value rows) {
    return hlo::broadcastAlong(b, loc, rows, type.clone(b.getI1Type()),
                               {columns});
  }

  /// Where each score stands along a dim of the whole.
  Value buildIndex(hlo::BitArithmetic &bits, size_t dim) {
    if (dim >= indices.size() || !indices[dim])
      return bits.indices(type.getShape(), dim);
    Value index = bits.convert(indices[dim], 64);
    Type number = getTensorType(index).getElementType();
    return hlo::broadcastInDim(b, loc, index, type.clone(number),
                               {static_cast<int64_t>(dim)});
  }

  /// By the random bits of each place.
  Value buildIsKept() {
    const rt::Dropout &dropout = op.getDropout()->getValue();
    hlo::BitArithmetic bits(b, loc);
    auto stateAt = [&](int64_t i) {
      Value element = hlo::slice(b, loc, op.getState(), {i}, {i + 1});
      return hlo::reshape(b, loc, element, {});
    };
    Value counter = stateAt(1);
    for (auto [dim, stride] : llvm::enumerate(*op.getBitStrides()))
      if (stride != 0 && type.getDimSize(dim) > 1)
        counter = bits.apply<hlo::AddOp>(
            counter, bits.apply<hlo::MulOp>(buildIndex(bits, dim), stride));
    Value drawn = bits.drawBits(dropout.bits, stateAt(0), counter);
    Value limit = bits.constant(drawn.getType(), dropout.limit);
    Value flags =
        hlo::compare(b, loc,
                     dropout.keepsBelow ? hlo::ComparisonDirection::LT
                                        : hlo::ComparisonDirection::GE,
                     drawn, limit);
    auto wanted = type.clone(b.getI1Type());
    return flags.getType() == wanted
               ? flags
               : hlo::broadcastInDim(b, loc, flags, wanted, {});
  }

  /// column <= row + shift + offset.
  Value buildIsSeen() {
    auto integers = type.clone(b.getI32Type());
    Value limit = hlo::iota(b, loc, integers, columns - 1);
    Value shift = hlo::constantLike(
        b, loc, limit,
        static_cast<double>(static_cast<int64_t>(*op.getCausal())));
    limit = hlo::add(b, loc, limit, shift);
    if (op.getOffset())
      limit =
          hlo::add(b, loc, limit,
                   hlo::broadcastInDim(b, loc, op.getOffset(), integers, {}));
    return hlo::compare(b, loc, hlo::ComparisonDirection::LE,
                        hlo::iota(b, loc, integers, columns), limit);
  }

  Op op;
  OpBuilder &b;
  Location loc;
  ArrayRef<Value> indices;
  Type element;
  RankedTensorType type;
  int64_t columns, batches;
  Value isKept;
};
} // namespace

void nn::buildAttention(AttentionOp op, OpBuilder &b,
                        SmallVectorImpl<Value> &results,
                        ArrayRef<Value> indices) {
  Scores<AttentionOp> with(op, b, indices);
  Location loc = op.getLoc();
  Value scores = with.build();
  int64_t columns = getTensorType(scores).getRank() - 1;
  Value max = hlo::reduceMax(b, loc, scores, {columns});
  // Of a row that sees nothing the sum of exponentials is 0.
  max = hlo::select(b, loc, with.buildIsSeeing(max), max,
                    hlo::constantLike(b, loc, max, 0));
  Value shifted = hlo::sub(b, loc, scores, with.spread(max));
  Value sum = hlo::reduceAdd(b, loc, hlo::exp(b, loc, shifted), {columns});
  Value logsumexp = hlo::add(b, loc, max, hlo::log(b, loc, sum));
  Value weights = with.buildWeights(scores, logsumexp);
  Value result = with.contractColumns(with.drop(weights), op.getValue());
  results.push_back(
      with.round(result, op.getResult().getType().getElementType()));
  results.push_back(logsumexp);
}

void nn::buildAttentionGrad(AttentionGradOp op, OpBuilder &b,
                            SmallVectorImpl<Value> &results,
                            ArrayRef<Value> indices) {
  Scores<AttentionGradOp> with(op, b, indices);
  Location loc = op.getLoc();
  Type element = op.getQuery().getType().getElementType();
  Value weights = with.buildWeights(with.build(), op.getLogsumexp());
  Value scores =
      with.buildScoreCotangent(weights, op.getDelta(), op.getCotangent());
  Value scale =
      hlo::constantLike(b, loc, scores, op.getScale().convertToDouble());
  Value scaled = hlo::mul(b, loc, scores, scale);
  for (Value cotangent :
       {with.contractColumns(scaled, op.getKey()),
        with.contractRows(scaled, op.getQuery()),
        with.contractRows(with.drop(weights), op.getCotangent())})
    results.push_back(with.round(cotangent, element));
}

Value nn::buildBiasCotangent(AttentionOp op, OpBuilder &b, Value delta,
                             Value cotangent) {
  Scores<AttentionOp> with(op, b);
  Location loc = op.getLoc();
  Value weights = with.buildWeights(with.build(), op.getLogsumexp());
  Value scores = with.buildScoreCotangent(weights, delta, cotangent);
  RankedTensorType bias = op.getBias().getType();
  SmallVector<int64_t> summed;
  for (auto [dim, size] : llvm::enumerate(bias.getShape()))
    if (size != getTensorType(scores).getDimSize(dim))
      summed.push_back(dim);
  Value sum = hlo::reduceAdd(b, loc, scores, summed);
  return hlo::reshape(b, loc, with.round(sum, bias.getElementType()),
                      bias.getShape());
}
