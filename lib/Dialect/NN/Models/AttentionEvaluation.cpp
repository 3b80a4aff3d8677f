//===- AttentionEvaluation.cpp - Attention by plain loops -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Query and result are seen as [batch, row, x] with rows of all groups, key and
// value as [batch, column, x].
//
//===----------------------------------------------------------------------===//

#include "AttentionEvaluation.h"

#include "llmc/Support/HostElements.h"
#include <cmath>
#include <vector>

using namespace mlir;
using namespace llmc;
using namespace llmc::nn;

namespace {
using Doubles = std::vector<double>;

Doubles load(const HostTensor &tensor) {
  Doubles values(tensor.getNumElements());
  loadFloats(tensor, 0, values);
  return values;
}

HostTensor store(RankedTensorType type, const Doubles &values) {
  HostTensor tensor(type);
  storeFloats(tensor, 0, values);
  return tensor;
}

/// The scores of one row at a time.
class RowScores {
public:
  template <typename Op>
  RowScores(Op op, const HostTensor *bias, const HostTensor *offset,
            const HostTensor *state)
      : shape(op.getScoreShape()), scale(op.getScale().convertToDouble()),
        isSafe(op.getSafe()), columns(shape.back()),
        rowsInGroup(shape[shape.size() - 2]),
        depth(op.getQuery().getType().getShape().back()),
        values(op.getValue().getType().getShape().back()) {
    for (int64_t dim = 0; dim + 1 < static_cast<int64_t>(shape.size()); ++dim)
      (dim < op.getNumBatches() ? batches : rows) *= shape[dim];
    if (op.getCausal())
      limit = static_cast<int64_t>(*op.getCausal()) +
              (offset ? offset->getInt(0) : 0);
    if (state) {
      dropout = op.getDropout()->getValue();
      strides.assign(op.getBitStrides()->begin(), op.getBitStrides()->end());
      for (int64_t i : {0, 1})
        seed[i] = static_cast<uint64_t>(state->getInt(i));
    }
    if (!bias)
      return;
    added = load(*bias);
    biasShape.assign(bias->getShape().begin(), bias->getShape().end());
  }

  /// The row as its query, with all keys of its batch.
  Doubles of(int64_t batch, int64_t row, const double *query,
             const double *keys) const {
    Doubles scores(columns);
    int64_t last = limit ? row % rowsInGroup + *limit : columns;
    for (int64_t column = 0; column < columns; ++column) {
      double product = 0;
      for (int64_t i = 0; i < depth; ++i)
        product += query[i] * keys[column * depth + i];
      double score = scale * product + biasAt(batch * rows + row, column);
      scores[column] = column > last ? -INFINITY : score;
    }
    return scores;
  }

  /// exp(score - logsumexp), 0 where a safe row sees nothing.
  void weigh(Doubles &scores, double logsumexp) const {
    bool isZero = isSafe && logsumexp == -INFINITY;
    for (double &score : scores)
      score = isZero ? 0 : std::exp(score - logsumexp);
  }

  /// What dropout multiplies the weights of a row of all batches by.
  Doubles factorsOf(int64_t row) const {
    Doubles factors(columns, 1);
    if (dropout.bits == rt::RandomBits::none)
      return factors;
    uint64_t first = seed[1];
    for (size_t dim = shape.size() - 1; dim-- > 0; row /= shape[dim])
      first += static_cast<uint64_t>(row % shape[dim] * strides[dim]);
    for (int64_t column = 0; column < columns; ++column) {
      uint64_t counter = first + static_cast<uint64_t>(column * strides.back());
      factors[column] =
          factorOf(dropout, drawBits(dropout.bits, seed[0], counter));
    }
    return factors;
  }

  double biasAt(int64_t row, int64_t column) const {
    if (added.empty())
      return 0;
    int64_t place = 0, stride = 1;
    for (size_t dim = shape.size(); dim-- > 0;) {
      bool isLast = dim + 1 == shape.size();
      int64_t at = isLast ? column : row % shape[dim];
      row = isLast ? row : row / shape[dim];
      place += biasShape[dim] == 1 ? 0 : at * stride;
      stride *= biasShape[dim];
    }
    return added[place];
  }

  SmallVector<int64_t> shape;
  double scale;
  bool isSafe;
  int64_t columns, rowsInGroup, depth, values;
  int64_t batches = 1, rows = 1; ///< Rows of all groups.
  std::optional<int64_t> limit;
  Doubles added;
  SmallVector<int64_t> biasShape;
  rt::Dropout dropout;
  SmallVector<int64_t> strides;
  uint64_t seed[2] = {0, 0};
};

/// A value times the factor of its weight, where that is not dropped.
double keep(double value, double factor) {
  return factor == 0 ? 0 : value * factor;
}

const HostTensor *find(ArrayRef<HostTensor> operands, Operation *op,
                       Value wanted, unsigned from) {
  for (unsigned i = from; wanted && i < operands.size(); ++i)
    if (op->getOperand(i) == wanted)
      return &operands[i];
  return nullptr;
}
} // namespace

void nn::evaluateAttention(AttentionOp op, ArrayRef<HostTensor> operands,
                           SmallVectorImpl<HostTensor> &results) {
  RowScores with(op, find(operands, op, op.getBias(), 3),
                 find(operands, op, op.getOffset(), 3),
                 find(operands, op, op.getState(), 3));
  Doubles query = load(operands[0]), key = load(operands[1]),
          value = load(operands[2]);
  Doubles result(with.batches * with.rows * with.values), logsumexp;
  for (int64_t row = 0; row < with.batches * with.rows; ++row) {
    int64_t batch = row / with.rows;
    Doubles scores =
        with.of(batch, row % with.rows, query.data() + row * with.depth,
                key.data() + batch * with.columns * with.depth);
    double max = -INFINITY, sum = 0;
    for (double score : scores)
      max = std::isnan(score) || score > max ? score : max;
    max = max == -INFINITY ? 0 : max;
    for (double score : scores)
      sum += std::exp(score - max);
    logsumexp.push_back(max + std::log(sum));
    with.weigh(scores, logsumexp.back());
    Doubles factors = with.factorsOf(row);
    for (int64_t column = 0; column < with.columns; ++column)
      for (int64_t i = 0; i < with.values; ++i)
        result[row * with.values + i] +=
            keep(scores[column], factors[column]) *
            value[(batch * with.columns + column) * with.values + i];
  }
  results.push_back(store(op.getResult().getType(), result));
  results.push_back(store(op.getLogsumexp().getType(), logsumexp));
}

void nn::evaluateAttentionGrad(AttentionGradOp op,
                               ArrayRef<HostTensor> operands,
                               SmallVectorImpl<HostTensor> &results) {
  RowScores with(op, find(operands, op, op.getBias(), 6),
                 find(operands, op, op.getOffset(), 6),
                 find(operands, op, op.getState(), 6));
  int64_t depth = with.depth, values = with.values;
  Doubles query = load(operands[0]), key = load(operands[1]),
          value = load(operands[2]), logsumexp = load(operands[3]),
          delta = load(operands[4]), cotangent = load(operands[5]);
  Doubles dquery(query.size()), dkey(key.size()), dvalue(value.size());
  for (int64_t row = 0; row < with.batches * with.rows; ++row) {
    int64_t first = row / with.rows * with.columns;
    Doubles weights =
        with.of(row / with.rows, row % with.rows, query.data() + row * depth,
                key.data() + first * depth);
    with.weigh(weights, logsumexp[row]);
    Doubles factors = with.factorsOf(row);
    for (int64_t column = 0; column < with.columns; ++column) {
      int64_t place = first + column;
      double product = 0, weight = weights[column];
      for (int64_t i = 0; i < values; ++i) {
        product += cotangent[row * values + i] * value[place * values + i];
        dvalue[place * values + i] +=
            keep(weight, factors[column]) * cotangent[row * values + i];
      }
      double ds = weight == 0 && with.isSafe
                      ? 0
                      : with.scale * weight *
                            (keep(product, factors[column]) - delta[row]);
      for (int64_t i = 0; i < depth; ++i) {
        dquery[row * depth + i] += ds * key[place * depth + i];
        dkey[place * depth + i] += ds * query[row * depth + i];
      }
    }
  }
  results.push_back(store(op.getDquery().getType(), dquery));
  results.push_back(store(op.getDkey().getType(), dkey));
  results.push_back(store(op.getDvalue().getType(), dvalue));
}
