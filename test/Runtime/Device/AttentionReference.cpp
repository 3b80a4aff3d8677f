//===- AttentionReference.cpp - Attention by plain loops ------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AttentionReference.h"

#include <algorithm>
#include <cmath>

namespace llmc::rt::test::attention {

using Index = AttentionIndex;
using Kind = AttentionIndexKind;

static const AttentionStride &strideOf(std::string_view operand) {
  std::string_view name = operand == "logsumexp" || operand == "delta" ? "rows"
                          : operand == "cotangent" ? "out"
                                                   : operand;
  return *std::find_if(
      attentionStrides.begin(), attentionStrides.end(),
      [&](const AttentionStride &s) { return s.name == name; });
}

static int64_t below(std::mt19937 &dice, int64_t end) {
  return static_cast<int64_t>(dice() % static_cast<uint64_t>(end));
}

/// Strides along a random order of the dims, some with gaps; some batch dims of
/// what may repeat have none.
static void drawStrides(std::mt19937 &dice, AttentionShape &shape,
                        const AttentionStride &stride) {
  std::vector<Index *> order;
  for (Index &index : shape.indices) {
    bool isRepeated =
        (stride.name == "bias" || stride.name == "bits") && below(dice, 3) == 0;
    if (stride.along[static_cast<size_t>(index.kind)] && !isRepeated) {
      order.push_back(&index);
    }
  }
  if (below(dice, 2)) {
    std::shuffle(order.begin(), order.end(), dice);
  }
  int64_t next = below(dice, 4) ? 1 : 2;
  for (size_t i = order.size(); i-- > 0;) {
    order[i]->*stride.stride = next;
    next = next * std::max<int64_t>(order[i]->size, 1) + below(dice, 2) * 3;
  }
}

AttentionShape drawShape(std::mt19937 &dice, const AttentionDraw &draw) {
  AttentionShape shape;
  for (int64_t i = below(dice, 3); i > 0; --i) {
    shape.indices.push_back({Kind::batch, 1 + below(dice, 3)});
  }
  shape.indices.push_back({Kind::row, 1 + below(dice, draw.mostRows)});
  shape.indices.push_back({Kind::column, 1 + below(dice, draw.mostColumns)});
  shape.indices.push_back({Kind::depth, 1 + below(dice, draw.mostWidth)});
  shape.indices.push_back({Kind::value, 1 + below(dice, draw.mostWidth)});
  shape.isGradient = draw.isGradient;
  shape.hasBias = below(dice, 3) == 0;
  shape.scale = 0.25 + 0.125 * static_cast<double>(below(dice, 4));
  if (below(dice, 2)) {
    shape.isCausal = true;
    shape.shift = below(dice, 20) - (shape.isGradient ? 0 : 5);
    shape.hasOffset = below(dice, 2);
  }
  if (draw.hasDropout) {
    auto bits = static_cast<RandomBits>(1 + below(dice, 3));
    uint64_t limit = uint64_t(below(dice, 1000)) << 22;
    shape.dropout = {bits, below(dice, 2) == 0,
                     bits == RandomBits::jax32 ? limit : limit << 32, 1.5};
  }
  for (const AttentionStride &each : attentionStrides) {
    bool isGradient = each.name[0] == 'd';
    if ((each.name == "bias" && !shape.hasBias) ||
        (each.name == "bits" && !shape.hasDropout()) ||
        (isGradient && !shape.isGradient)) {
      continue;
    }
    drawStrides(dice, shape, each);
  }
  for (Index &index : shape.indices) {
    if (index.kind == Kind::batch && below(dice, 2)) {
      index.strideK = index.strideV = index.strideDk = index.strideDv = 0;
    }
  }
  std::shuffle(shape.indices.begin(), shape.indices.end(), dice);
  return shape;
}

std::string describe(const AttentionShape &shape) {
  std::string text(shape.isGradient ? "gradient " : "forward ");
  text += nameOf(shape.dtype);
  for (const Index &index : shape.indices) {
    text += " " + std::string(nameOf(index.kind)) + " " +
            std::to_string(index.size);
    text += index.kind == Kind::batch && !index.strideK ? " of a group" : "";
  }
  text += shape.hasBias ? " with a bias" : "";
  text += shape.hasDropout()
              ? " dropping by " + std::string(nameOf(shape.dropout.bits))
              : "";
  text += shape.isSafe ? " safe" : "";
  text += shape.isCausal ? " causal " + std::to_string(shape.shift) : "";
  return text + (shape.hasOffset ? " with an offset" : "");
}

namespace {
/// A matrix of one batch in a buffer.
struct Matrix {
  double *base = nullptr;
  int64_t row = 0, column = 0;
  double &at(int64_t i, int64_t j = 0) const {
    return base[i * row + j * column];
  }
};

/// The operands of one batch, and its scores.
struct Batch {
  Matrix q, k, v, bias, out, logsumexp, delta, cotangent, dq, dk, dv;
  int64_t rows = 0, columns = 0, depth = 0, value = 0;
  std::vector<double> scores, factors;

  double factor(int64_t row, int64_t column) const {
    return factors[static_cast<size_t>(row * columns + column)];
  }
  double score(int64_t row, int64_t column) const {
    return scores[static_cast<size_t>(row * columns + column)];
  }
};

/// Walks the batches of a call.
class Loops {
public:
  Loops(const AttentionShape &shape, AttentionValues &values)
      : shape(shape), values(values), operands(operandsOf(shape)) {
    for (const Index &index : shape.indices) {
      (index.kind == Kind::batch ? batch.emplace_back()
                                 : one[static_cast<size_t>(index.kind)]) =
          index;
    }
    diagonal = shape.shift;
    for (size_t i = 0; i < operands.size(); ++i) {
      diagonal +=
          operands[i].name == "offset" ? static_cast<int64_t>(values[i][0]) : 0;
    }
  }

  template <typename Visit>
  void forEachBatch(const Visit &visit, size_t level = 0) {
    if (level == batch.size()) {
      Batch here = makeBatch();
      visit(here);
      return;
    }
    Index before = at;
    for (int64_t i = 0; i < batch[level].size; ++i) {
      for (const AttentionStride &each : attentionStrides) {
        at.*each.stride = before.*each.stride + i * (batch[level].*each.stride);
      }
      forEachBatch(visit, level + 1);
    }
    at = before;
  }

private:
  const Index &indexOf(Kind kind) const {
    return one[static_cast<size_t>(kind)];
  }
  Matrix matrix(std::string_view operand, Kind row, Kind column) {
    int64_t Index::*stride = strideOf(operand).stride;
    for (size_t i = 0; i < operands.size(); ++i) {
      if (operands[i].name == operand) {
        return {values[i].data() + at.*stride, indexOf(row).*stride,
                indexOf(column).*stride};
      }
    }
    return {};
  }
  Batch makeBatch();
  double scoreOf(const Batch &here, int64_t row, int64_t column) const;
  double factorAt(int64_t row, int64_t column) const;

  const AttentionShape &shape;
  AttentionValues &values;
  std::vector<LibraryOperand> operands;
  std::vector<Index> batch;
  Index one[attentionIndexNames.size()];
  Index at;
  int64_t diagonal = 0;
};
} // namespace

double Loops::scoreOf(const Batch &here, int64_t row, int64_t column) const {
  if (shape.isCausal && column > row + diagonal) {
    return -INFINITY;
  }
  double sum = 0;
  for (int64_t d = 0; d < here.depth; ++d) {
    sum += here.q.at(row, d) * here.k.at(column, d);
  }
  return shape.scale * sum + (shape.hasBias ? here.bias.at(row, column) : 0);
}

double Loops::factorAt(int64_t row, int64_t column) const {
  if (!shape.hasDropout()) {
    return 1;
  }
  uint64_t state[2] = {0, 0};
  for (size_t i = 0; i < operands.size(); ++i) {
    for (size_t j = 0; j < 2 && operands[i].name == "state"; ++j) {
      state[j] = static_cast<uint64_t>(values[i][j]);
    }
  }
  int64_t counter = at.strideBits + row * indexOf(Kind::row).strideBits +
                    column * indexOf(Kind::column).strideBits;
  return factorOf(shape.dropout,
                  drawBits(shape.dropout.bits, state[0],
                           state[1] + static_cast<uint64_t>(counter)));
}

Batch Loops::makeBatch() {
  Batch here;
  here.q = matrix("q", Kind::row, Kind::depth);
  here.k = matrix("k", Kind::column, Kind::depth);
  here.v = matrix("v", Kind::column, Kind::value);
  here.bias = matrix("bias", Kind::row, Kind::column);
  here.out = matrix("out", Kind::row, Kind::value);
  here.logsumexp = matrix("logsumexp", Kind::row, Kind::value);
  here.delta = matrix("delta", Kind::row, Kind::value);
  here.cotangent = matrix("cotangent", Kind::row, Kind::value);
  here.dq = matrix("dq", Kind::row, Kind::depth);
  here.dk = matrix("dk", Kind::column, Kind::depth);
  here.dv = matrix("dv", Kind::column, Kind::value);
  here.rows = indexOf(Kind::row).size;
  here.columns = indexOf(Kind::column).size;
  here.depth = indexOf(Kind::depth).size;
  here.value = indexOf(Kind::value).size;
  for (int64_t row = 0; row < here.rows; ++row) {
    for (int64_t column = 0; column < here.columns; ++column) {
      here.scores.push_back(scoreOf(here, row, column));
      here.factors.push_back(factorAt(row, column));
    }
  }
  return here;
}

static double logsumexp(const Batch &here, int64_t row) {
  double most = -INFINITY, sum = 0;
  for (int64_t c = 0; c < here.columns; ++c) {
    most = std::max(most, here.score(row, c));
  }
  for (int64_t c = 0; c < here.columns && most > -INFINITY; ++c) {
    sum += std::exp(here.score(row, c) - most);
  }
  return most + std::log(sum);
}

/// The cotangent of a weight.
static double term(const Batch &here, int64_t row, int64_t column) {
  double sum = 0;
  for (int64_t e = 0; e < here.value; ++e) {
    sum += here.cotangent.at(row, e) * here.v.at(column, e);
  }
  return sum * here.factor(row, column);
}

static size_t extentOf(const AttentionShape &shape, std::string_view operand) {
  if (operand == "offset" || operand == "state") {
    return operand == "offset" ? 1 : 2;
  }
  const AttentionStride &stride = strideOf(operand);
  int64_t extent = 1;
  for (const Index &index : shape.indices) {
    bool isSummed = index.kind == Kind::batch && index.*stride.stride == 0;
    if (index.size == 0 && !isSummed &&
        stride.along[static_cast<size_t>(index.kind)]) {
      return 0;
    }
    extent += std::max<int64_t>(index.size - 1, 0) * (index.*stride.stride);
  }
  return static_cast<size_t>(extent);
}

/// What a buffer of that type holds.
static double rounded(DType dtype, double value) {
  double bytes = 0;
  storeElement(dtype, &bytes, 0, value);
  return loadElement(dtype, &bytes, 0);
}

/// Logsumexp and delta of what the other buffers hold.
static void setSums(std::mt19937 &dice, const AttentionShape &shape,
                    AttentionValues &values) {
  Loops(shape, values).forEachBatch([&](const Batch &here) {
    for (int64_t row = 0; row < here.rows; ++row) {
      double sum = logsumexp(here, row), delta = 0;
      for (int64_t c = 0; c < here.columns; ++c) {
        double p = std::exp(here.score(row, c) - sum);
        delta += p == 0 ? 0 : p * term(here, row, c);
      }
      delta -= static_cast<double>(below(dice, 8)) / 8;
      here.logsumexp.at(row) = rounded(shape.accumulate, sum);
      here.delta.at(row) = rounded(shape.accumulate, delta);
    }
  });
}

AttentionValues drawValues(std::mt19937 &dice, const AttentionShape &shape,
                           int32_t offset) {
  AttentionValues values;
  std::uniform_real_distribution<double> draw(-1, 1);
  for (const LibraryOperand &operand : operandsOf(shape)) {
    std::vector<double> &each =
        values.emplace_back(extentOf(shape, operand.name), untouched);
    for (double &value : each) {
      if (operand.name == "offset") {
        value = offset;
      } else if (operand.name == "state") {
        // Counters near 2^32, whose high half changes.
        value = &value == each.data()
                    ? static_cast<double>(dice())
                    : 4294967296.0 - static_cast<double>(below(dice, 100));
      } else if (operand.isRead) {
        value = rounded(operand.dtype, draw(dice));
      }
    }
  }
  if (shape.isGradient) {
    setSums(dice, shape, values);
  }
  return values;
}

/// A row that takes no part: a safe one that sees nothing.
static bool isOut(const AttentionShape &shape, double logsumexp) {
  return shape.isSafe && logsumexp == -INFINITY;
}

static void attendForward(const AttentionShape &shape, const Batch &here) {
  for (int64_t row = 0; row < here.rows; ++row) {
    double sum = logsumexp(here, row);
    here.logsumexp.at(row) = sum;
    for (int64_t e = 0; e < here.value; ++e) {
      bool isZero = isOut(shape, sum);
      double out = sum > -INFINITY || isZero ? 0 : NAN;
      for (int64_t c = 0; c < here.columns && !isZero; ++c) {
        out += std::exp(here.score(row, c) - sum) * here.factor(row, c) *
               here.v.at(c, e);
      }
      here.out.at(row, e) = out;
    }
  }
}

static void addGradient(const Batch &here, double scale, int64_t row,
                        int64_t c) {
  double p = std::exp(here.score(row, c) - here.logsumexp.at(row));
  if (p == 0) {
    return;
  }
  double ds = p * (term(here, row, c) - here.delta.at(row));
  for (int64_t d = 0; d < here.depth; ++d) {
    here.dq.at(row, d) += scale * ds * here.k.at(c, d);
    here.dk.at(c, d) += scale * ds * here.q.at(row, d);
  }
  for (int64_t e = 0; e < here.value; ++e) {
    here.dv.at(c, e) += p * here.factor(row, c) * here.cotangent.at(row, e);
  }
}

/// Zero at the elements of the gradients, not between them.
static void clearGradients(const Batch &here) {
  auto clear = [](const Matrix &matrix, int64_t rows, int64_t columns) {
    for (int64_t i = 0; i < rows; ++i) {
      for (int64_t j = 0; j < columns; ++j) {
        matrix.at(i, j) = 0;
      }
    }
  };
  clear(here.dq, here.rows, here.depth);
  clear(here.dk, here.columns, here.depth);
  clear(here.dv, here.columns, here.value);
}

AttentionValues attend(const AttentionShape &shape, AttentionValues values) {
  if (!shape.isGradient) {
    Loops(shape, values).forEachBatch([&](const Batch &here) {
      attendForward(shape, here);
    });
    return values;
  }
  Loops(shape, values).forEachBatch(clearGradients);
  Loops(shape, values).forEachBatch([&](const Batch &here) {
    for (int64_t row = 0; row < here.rows; ++row) {
      bool isIn = !isOut(shape, here.logsumexp.at(row));
      for (int64_t c = 0; c < here.columns && isIn; ++c) {
        addGradient(here, shape.scale, row, c);
      }
    }
  });
  return values;
}

} // namespace llmc::rt::test::attention
