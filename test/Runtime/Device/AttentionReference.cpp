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
    bool isBias = stride.name == "bias" && below(dice, 3) == 0;
    if (stride.along[static_cast<size_t>(index.kind)] && !isBias) {
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
  for (const AttentionStride &each : attentionStrides) {
    bool isGradient = each.name[0] == 'd';
    if ((each.name == "bias" && !shape.hasBias) ||
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
  text += shape.isSafe ? " safe" : "";
  text += shape.isCausal ? " causal " + std::to_string(shape.shift) : "";
  return text + (shape.hasOffset ? " with an offset" : "");
}

/// One call's walk: where each stride stands, and rows by columns below it.
namespace {
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
    if (shape.hasOffset) {
      diagonal += static_cast<int64_t>(valuesOf("offset")[0]);
    }
  }

  /// `Visit` at each place of the batch indices.
  template <typename Visit>
  void forEachBatch(const Visit &visit, size_t level = 0) {
    if (level == batch.size()) {
      visit();
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

  /// An element: `x` along the operand's first kind, `y` along its second.
  double &element(std::string_view operand, Kind first, int64_t x,
                  Kind second = Kind::batch, int64_t y = 0) {
    int64_t Index::*stride = strideOf(operand).stride;
    int64_t place = at.*stride + x * (indexOf(first).*stride);
    place += second == Kind::batch ? 0 : y * (indexOf(second).*stride);
    return valuesOf(operand)[static_cast<size_t>(place)];
  }
  const Index &indexOf(Kind kind) const {
    return one[static_cast<size_t>(kind)];
  }
  int64_t sizeOf(Kind kind) const { return indexOf(kind).size; }

  std::vector<double> &valuesOf(std::string_view name) {
    for (size_t i = 0; i < operands.size(); ++i) {
      if (operands[i].name == name) {
        return values[i];
      }
    }
    return none;
  }

  double score(int64_t row, int64_t column) {
    if (shape.isCausal && column > row + diagonal) {
      return -INFINITY;
    }
    double sum = 0;
    for (int64_t d = 0; d < sizeOf(Kind::depth); ++d) {
      sum += element("q", Kind::row, row, Kind::depth, d) *
             element("k", Kind::column, column, Kind::depth, d);
    }
    sum *= shape.scale;
    return shape.hasBias
               ? sum + element("bias", Kind::row, row, Kind::column, column)
               : sum;
  }
  double logsumexp(int64_t row) {
    double most = -INFINITY, sum = 0;
    for (int64_t c = 0; c < sizeOf(Kind::column); ++c) {
      most = std::max(most, score(row, c));
    }
    for (int64_t c = 0; c < sizeOf(Kind::column) && most > -INFINITY; ++c) {
      sum += std::exp(score(row, c) - most);
    }
    return most + std::log(sum);
  }
  /// Sum over values of `of` * v.
  double valueProduct(std::string_view of, int64_t row, int64_t column) {
    double sum = 0;
    for (int64_t e = 0; e < sizeOf(Kind::value); ++e) {
      sum += element(of, Kind::row, row, Kind::value, e) *
             element("v", Kind::column, column, Kind::value, e);
    }
    return sum;
  }

private:
  const AttentionShape &shape;
  AttentionValues &values;
  std::vector<LibraryOperand> operands;
  std::vector<Index> batch;
  Index one[attentionIndexNames.size()];
  Index at;
  int64_t diagonal = 0;
  std::vector<double> none;
};
} // namespace

static size_t extentOf(const AttentionShape &shape, std::string_view operand) {
  if (operand == "offset") {
    return 1;
  }
  const AttentionStride &stride = strideOf(operand);
  int64_t extent = 1;
  for (const Index &index : shape.indices) {
    if (index.size == 0 && stride.along[static_cast<size_t>(index.kind)]) {
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
  Loops loops(shape, values);
  loops.forEachBatch([&] {
    for (int64_t row = 0; row < loops.sizeOf(Kind::row); ++row) {
      double sum = loops.logsumexp(row), delta = 0;
      for (int64_t c = 0; c < loops.sizeOf(Kind::column); ++c) {
        double p = std::exp(loops.score(row, c) - sum);
        delta += p == 0 ? 0 : p * loops.valueProduct("cotangent", row, c);
      }
      delta -= static_cast<double>(below(dice, 8)) / 8;
      loops.element("logsumexp", Kind::row, row) =
          rounded(shape.accumulate, sum);
      loops.element("delta", Kind::row, row) = rounded(shape.accumulate, delta);
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

static void attendForward(Loops &loops, bool isSafe) {
  for (int64_t row = 0; row < loops.sizeOf(Kind::row); ++row) {
    double sum = loops.logsumexp(row);
    loops.element("logsumexp", Kind::row, row) = sum;
    std::vector<double> p;
    for (int64_t c = 0; c < loops.sizeOf(Kind::column); ++c) {
      bool isZero = isSafe && !std::isfinite(sum);
      p.push_back(isZero ? 0 : std::exp(loops.score(row, c) - sum));
    }
    for (int64_t e = 0; e < loops.sizeOf(Kind::value); ++e) {
      double out = sum > -INFINITY || isSafe ? 0 : NAN;
      for (size_t c = 0; c < p.size(); ++c) {
        out += p[c] * loops.element("v", Kind::column, static_cast<int64_t>(c),
                                    Kind::value, e);
      }
      loops.element("out", Kind::row, row, Kind::value, e) = out;
    }
  }
}

static void addGradient(Loops &loops, double scale, int64_t row, int64_t c,
                        bool isSafe) {
  if (isSafe && !std::isfinite(loops.element("logsumexp", Kind::row, row))) {
    return;
  }
  double p = std::exp(loops.score(row, c) -
                      loops.element("logsumexp", Kind::row, row));
  double ds = p * (loops.valueProduct("cotangent", row, c) -
                   loops.element("delta", Kind::row, row));
  for (int64_t d = 0; d < loops.sizeOf(Kind::depth); ++d) {
    loops.element("dq", Kind::row, row, Kind::depth, d) +=
        scale * ds * loops.element("k", Kind::column, c, Kind::depth, d);
    loops.element("dk", Kind::column, c, Kind::depth, d) +=
        scale * ds * loops.element("q", Kind::row, row, Kind::depth, d);
  }
  for (int64_t e = 0; e < loops.sizeOf(Kind::value); ++e) {
    loops.element("dv", Kind::column, c, Kind::value, e) +=
        p * loops.element("cotangent", Kind::row, row, Kind::value, e);
  }
}

/// Zero at the elements of the gradients, not between them.
static void clearGradients(Loops &loops) {
  auto clear = [&](std::string_view name, Kind first, Kind second) {
    for (int64_t x = 0; x < loops.sizeOf(first); ++x) {
      for (int64_t y = 0; y < loops.sizeOf(second); ++y) {
        loops.element(name, first, x, second, y) = 0;
      }
    }
  };
  clear("dq", Kind::row, Kind::depth);
  clear("dk", Kind::column, Kind::depth);
  clear("dv", Kind::column, Kind::value);
}

AttentionValues attend(const AttentionShape &shape, AttentionValues values) {
  Loops loops(shape, values);
  if (!shape.isGradient) {
    loops.forEachBatch([&] { attendForward(loops, shape.isSafe); });
    return values;
  }
  loops.forEachBatch([&] { clearGradients(loops); });
  loops.forEachBatch([&] {
    for (int64_t row = 0; row < loops.sizeOf(Kind::row); ++row) {
      for (int64_t c = 0; c < loops.sizeOf(Kind::column); ++c) {
        addGradient(loops, shape.scale, row, c, shape.isSafe);
      }
    }
  });
  return values;
}

} // namespace llmc::rt::test::attention
