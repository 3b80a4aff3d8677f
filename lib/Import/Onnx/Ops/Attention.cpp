//===- Attention.cpp - Attention and rotary embeddings --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Values are [batch, heads, sequence, size]; operands of rank 3 have heads and
// sizes in their last dimension. Several heads of queries may share one of keys
// and values, which is then not repeated:
//
//   queries [b, k, g, s, d] . keys [b, k, t, d] -> scores [b, k, g, s, t]
//
//===----------------------------------------------------------------------===//

#include "../GraphImporter.h"
#include <cmath>

using namespace mlir;
using namespace llmc;
using namespace llmc::onnx;
namespace hlo = llmc::stablehlo;

namespace {
class AttentionBuilder {
public:
  explicit AttentionBuilder(NodeImport &node)
      : node(node), b(node.b), loc(node.loc) {}
  rt::Status build();

private:
  rt::Result<Value> split(unsigned operand, StringRef heads);
  rt::Result<Value> withPast(Value value, unsigned past);
  rt::Status checkShapes();
  rt::Status addMasks(Value &scores);
  rt::Status addGivenMask(Value &scores);
  rt::Result<Value> findLimits();
  void forbid(Value allowed);
  Value softmax(Value scores);
  Value grouped(Value scores, int64_t last);
  rt::Status finish(Value result, ArrayRef<Value> stages);
  Value hide(Value scores);

  NodeImport &node;
  OpBuilder &b;
  Location loc;
  Value queries, keys, values;
  /// i1, which positions a query sees; null: all.
  Value allowed;
  int64_t past = 0, batch = 0, heads = 0, shared = 0, length = 0, total = 0;
};
} // namespace

/// [batch, sequence, heads * size] -> [batch, heads, sequence, size].
rt::Result<Value> AttentionBuilder::split(unsigned operand, StringRef name) {
  Value value = node.input(operand);
  ArrayRef<int64_t> shape = node.shape(operand);
  if (node.rank(operand) == 4)
    return value;
  int64_t count = node.getInt(name, 0);
  if (node.rank(operand) != 3 || count < 1 || shape[2] % count != 0)
    return node.refuse("expected 4 dimensions, or 3 and '" + name.str() +
                       "' heads, got " + show(Type(node.type(operand))) +
                       " and " + std::to_string(count));
  Value parts = hlo::reshape(b, loc, value,
                             {shape[0], shape[1], count, shape[2] / count});
  return hlo::transpose(b, loc, parts, {0, 2, 1, 3});
}

/// What came before stands in front.
rt::Result<Value> AttentionBuilder::withPast(Value value, unsigned operand) {
  if (!node.has(operand))
    return value;
  ArrayRef<int64_t> before = node.shape(operand), now = shapeOf(value);
  if (before.size() != 4 || before[0] != now[0] || before[1] != now[1] ||
      before[3] != now[3])
    return node.refuse("expected a past that fits " + show(value.getType()) +
                       ", got " + show(Type(node.type(operand))));
  past = before[2];
  return hlo::concatenate(b, loc, ValueRange{node.input(operand), value}, 2);
}

rt::Status AttentionBuilder::checkShapes() {
  ArrayRef<int64_t> q = shapeOf(queries), k = shapeOf(keys),
                    v = shapeOf(values);
  batch = q[0], heads = q[1], length = q[2], total = k[2];
  shared = k[1];
  bool fits = k[0] == batch && v[0] == batch && k[1] == v[1] && k[2] == v[2] &&
              q[3] == k[3] && shared > 0 && heads % shared == 0;
  if (fits)
    return rt::Status::success();
  return node.refuse("expected queries, keys and values that fit, got " +
                     show(queries.getType()) + ", " + show(keys.getType()) +
                     " and " + show(values.getType()));
}

void AttentionBuilder::forbid(Value more) {
  SmallVector<int64_t> shape = {batch, heads, length, total};
  more = node.broadcast(more, shape);
  allowed = allowed ? hlo::logicalAnd(b, loc, allowed, more) : more;
}

/// A mask of booleans says what is seen, one of numbers is added. What it lacks
/// at the end of the last dimension is not seen.
rt::Status AttentionBuilder::addGivenMask(Value &scores) {
  Value mask = node.input(3);
  bool isBool = elementOf(mask).isInteger(1);
  int64_t rank = rankOf(mask);
  int64_t lacks = rank == 0 ? 0 : total - shapeOf(mask).back();
  if (lacks > 0 && shapeOf(mask).back() != 1) {
    SmallVector<int64_t> low(rank, 0), high(rank, 0);
    high.back() = lacks;
    Value edge = isBool ? hlo::scalar(b, loc, b.getI1Type(), 0)
                        : hlo::lowestScalar(b, loc, elementOf(mask));
    mask = hlo::pad(b, loc, mask, edge, low, high);
  }
  LLMC_TRY_ASSIGN(SmallVector<int64_t> shape,
                  node.broadcastShape({scores, mask}));
  if (ArrayRef<int64_t>(shape) != shapeOf(scores))
    return node.refuse("expected a mask that can be repeated to " +
                       show(scores.getType()) + ", got " +
                       show(Type(node.type(3))));
  if (isBool) {
    forbid(mask);
    return rt::Status::success();
  }
  Value wide = node.convert(node.broadcast(mask, shape), elementOf(scores));
  scores = hlo::add(b, loc, scores, wide);
  return rt::Status::success();
}

/// i64 [batch, 1, 1, 1]: positions of keys that count, in each sample.
rt::Result<Value> AttentionBuilder::findLimits() {
  if (!node.has(6))
    return Value();
  if (node.rank(6) != 1 || node.shape(6)[0] != batch)
    return node.refuse("expected a length for each of " +
                       std::to_string(batch) + " samples, got " +
                       show(Type(node.type(6))));
  Value limits = node.convert(node.input(6), b.getI64Type());
  return hlo::reshape(b, loc, limits, {batch, 1, 1, 1});
}

rt::Status AttentionBuilder::addMasks(Value &scores) {
  if (node.has(3))
    LLMC_TRY(addGivenMask(scores));
  LLMC_TRY_ASSIGN(Value limits, findLimits());
  int64_t left = node.getInt("left_window_size", -1);
  int64_t right = node.getInt("right_window_size", -1);
  if (node.getInt("is_causal", 0))
    right = right < 0 ? 0 : std::min<int64_t>(right, 0);
  auto type =
      RankedTensorType::get({batch, heads, length, total}, b.getI64Type());
  Value place = hlo::iota(b, loc, type, 3);
  auto compare = [&](hlo::ComparisonDirection direction, Value other) {
    forbid(hlo::compare(b, loc, direction, place, other));
  };
  if (limits)
    compare(hlo::ComparisonDirection::LT,
            node.broadcast(limits, type.getShape()));
  if (left < 0 && right < 0)
    return rt::Status::success();
  // The last query stands at the last position that there is.
  Value query = hlo::iota(b, loc, type, 2);
  Value first = node.like(query, double(past));
  if (limits)
    first = hlo::sub(b, loc, node.broadcast(limits, type.getShape()),
                     node.like(query, double(length)));
  query = hlo::add(b, loc, query, first);
  if (right >= 0)
    compare(hlo::ComparisonDirection::LE,
            hlo::add(b, loc, query, node.like(query, double(right))));
  if (left >= 0)
    compare(hlo::ComparisonDirection::GE,
            hlo::sub(b, loc, query, node.like(query, double(left))));
  return rt::Status::success();
}

/// What is not seen has the lowest score.
Value AttentionBuilder::hide(Value scores) {
  if (!allowed)
    return scores;
  Value lowest = node.broadcast(hlo::lowestScalar(b, loc, elementOf(scores)),
                                shapeOf(scores));
  return hlo::select(b, loc, allowed, scores, lowest);
}

/// A query that sees nothing has weights of 0.
Value AttentionBuilder::softmax(Value scores) {
  auto type = cast<RankedTensorType>(scores.getType());
  bool maySeeNothing = node.has(3) || node.has(6);
  Value most = hlo::reduceMax(b, loc, scores, {3});
  if (maySeeNothing) {
    Value isSeen = hlo::compare(
        b, loc, hlo::ComparisonDirection::GT, most,
        node.broadcast(hlo::lowestScalar(b, loc, type.getElementType()),
                       shapeOf(most)));
    most = hlo::select(b, loc, isSeen, most, node.like(most, 0));
  }
  Value shifted =
      hlo::sub(b, loc, scores, hlo::broadcastAlong(b, loc, most, type, {3}));
  Value weights = hlo::exp(b, loc, shifted);
  Value sum = hlo::reduceAdd(b, loc, weights, {3});
  if (maySeeNothing) {
    Value isSeen = hlo::compare(b, loc, hlo::ComparisonDirection::GT, sum,
                                node.like(sum, 0));
    sum = hlo::select(b, loc, isSeen, sum, node.like(sum, 1));
  }
  return hlo::div(b, loc, weights, hlo::broadcastAlong(b, loc, sum, type, {3}));
}

/// [b, heads, s, last] -> [b, shared, heads / shared, s, last].
Value AttentionBuilder::grouped(Value value, int64_t last) {
  return hlo::reshape(b, loc, value,
                      {batch, shared, heads / shared, length, last});
}

rt::Status AttentionBuilder::finish(Value result, ArrayRef<Value> stages) {
  if (node.rank(0) == 3) {
    int64_t size = shapeOf(result)[3];
    result = hlo::reshape(b, loc, hlo::transpose(b, loc, result, {0, 2, 1, 3}),
                          {batch, length, heads * size});
  }
  // After the product, the cap, the mask, the softmax.
  int64_t mode = node.getInt("qk_matmul_output_mode", 0);
  if (mode < 0 || mode >= static_cast<int64_t>(stages.size()))
    return node.refuse("expected qk_matmul_output_mode 0 to 3, got " +
                       std::to_string(mode));
  return node.finish({result, keys, values, stages[mode]});
}

rt::Status AttentionBuilder::build() {
  LLMC_TRY_ASSIGN(queries, split(0, "q_num_heads"));
  LLMC_TRY_ASSIGN(keys, split(1, "kv_num_heads"));
  LLMC_TRY_ASSIGN(values, split(2, "kv_num_heads"));
  LLMC_TRY_ASSIGN(keys, withPast(keys, 4));
  LLMC_TRY_ASSIGN(values, withPast(values, 5));
  LLMC_TRY(checkShapes());
  int64_t size = shapeOf(queries)[3];
  MLIRContext *context = b.getContext();
  Value scores =
      hlo::dotGeneral(b, loc, grouped(queries, size), keys,
                      hlo::dotDims(context, {0, 1}, {0, 1}, {4}, {3}));
  scores = hlo::reshape(b, loc, scores, {batch, heads, length, total});
  double scale = node.getFloat("scale", 1 / std::sqrt(double(size)));
  scores = hlo::mul(b, loc, scores, node.like(scores, scale));
  Value raw = scores;
  if (double cap = node.getFloat("softcap", 0); cap > 0) {
    Value part = hlo::mul(b, loc, scores, node.like(scores, 1 / cap));
    scores = hlo::mul(b, loc, hlo::tanh(b, loc, part), node.like(part, cap));
  }
  Value capped = scores;
  LLMC_TRY(addMasks(scores));
  Value masked = scores = hide(scores);
  Type narrow = elementOf(scores);
  auto precision =
      static_cast<ElementType>(node.getInt("softmax_precision", 0));
  Type wide = toElement(context, precision);
  scores = node.convert(scores, wide && isa<FloatType>(wide) ? wide : narrow);
  Value weights = node.convert(softmax(scores), narrow);
  Value result =
      hlo::dotGeneral(b, loc, grouped(weights, total), values,
                      hlo::dotDims(context, {0, 1}, {0, 1}, {4}, {2}));
  result =
      hlo::reshape(b, loc, result, {batch, heads, length, shapeOf(values)[3]});
  return finish(result, {raw, capped, masked, weights});
}

static rt::Status importAttention(NodeImport &node) {
  for (unsigned i = 0; i < 3; ++i)
    if (node.rank(i) != 3 && node.rank(i) != 4)
      return node.refuse("expected 3 or 4 dimensions, got " +
                         show(Type(node.type(i))));
  return AttentionBuilder(node).build();
}

//===----------------------------------------------------------------------===//
// Rotary embedding
//===----------------------------------------------------------------------===//

/// Angles [batch, sequence, size / 2], looked up where positions are given.
static rt::Result<Value> readAngles(NodeImport &node, unsigned operand) {
  Value table = node.input(operand);
  if (!node.has(3)) {
    if (rankOf(table) != 3)
      return node.refuse("expected angles of each position, got " +
                         show(table.getType()));
    return table;
  }
  if (rankOf(table) != 2 || node.rank(3) != 2)
    return node.refuse("expected a table of angles and positions of each "
                       "sample, got " +
                       show(table.getType()) + " and " +
                       show(Type(node.type(3))));
  SmallVector<int64_t> shape(node.shape(3));
  shape.push_back(shapeOf(table)[1]);
  auto dims = hlo::GatherDimensionNumbersAttr::get(node.b.getContext(), {2},
                                                   {0}, {}, {}, {0}, 2);
  return hlo::gather(node.b, node.loc,
                     RankedTensorType::get(shape, elementOf(table)), table,
                     node.input(3), dims, {1, shapeOf(table)[1]});
}

namespace {
/// Turns pairs of numbers, of a tensor [batch, sequence, heads, size].
class RotaryBuilder {
public:
  RotaryBuilder(NodeImport &node, Value x) : b(node.b), loc(node.loc), x(x) {}
  rt::Result<Value> build(NodeImport &node);

private:
  Value part(int64_t begin, int64_t end, int64_t step);
  OpBuilder &b;
  Location loc;
  Value x;
};
} // namespace

Value RotaryBuilder::part(int64_t begin, int64_t end, int64_t step) {
  SmallVector<int64_t> starts(4, 0), limits(shapeOf(x)), steps(4, 1);
  starts[3] = begin;
  limits[3] = end;
  steps[3] = step;
  return hlo::slice(b, loc, x, starts, limits, steps);
}

rt::Result<Value> RotaryBuilder::build(NodeImport &node) {
  int64_t size = shapeOf(x)[3];
  int64_t turned = node.getInt("rotary_embedding_dim", 0);
  turned = turned == 0 ? size : turned;
  LLMC_TRY_ASSIGN(Value cosine, readAngles(node, 1));
  LLMC_TRY_ASSIGN(Value sine, readAngles(node, 2));
  SmallVector<int64_t> expected = {shapeOf(x)[0], shapeOf(x)[1], turned / 2};
  if (turned < 2 || turned > size || turned % 2 != 0 ||
      shapeOf(cosine) != ArrayRef<int64_t>(expected) ||
      shapeOf(sine) != ArrayRef<int64_t>(expected))
    return node.refuse("expected angles of the shape " + show(expected) +
                       ", got " + show(cosine.getType()));
  bool isMixed = node.getInt("interleaved", 0);
  int64_t half = turned / 2;
  Value one = isMixed ? part(0, turned, 2) : part(0, half, 1);
  Value other = isMixed ? part(1, turned, 2) : part(half, turned, 1);
  auto type = cast<RankedTensorType>(one.getType());
  Value c = hlo::broadcastInDim(b, loc, cosine, type, {0, 1, 3});
  Value s = hlo::broadcastInDim(b, loc, sine, type, {0, 1, 3});
  Value real =
      hlo::sub(b, loc, hlo::mul(b, loc, c, one), hlo::mul(b, loc, s, other));
  Value imaginary =
      hlo::add(b, loc, hlo::mul(b, loc, s, one), hlo::mul(b, loc, c, other));
  SmallVector<Value> parts = {real, imaginary};
  if (isMixed) {
    SmallVector<int64_t> pair(shapeOf(real)), flat(shapeOf(real));
    pair.push_back(1);
    flat[3] = turned;
    Value stacked =
        hlo::concatenate(b, loc,
                         ValueRange{hlo::reshape(b, loc, real, pair),
                                    hlo::reshape(b, loc, imaginary, pair)},
                         4);
    parts = {hlo::reshape(b, loc, stacked, flat)};
  }
  if (turned < size)
    parts.push_back(part(turned, size, 1));
  return parts.size() == 1 ? parts.front() : hlo::concatenate(b, loc, parts, 3);
}

static rt::Status importRotaryEmbedding(NodeImport &node) {
  Value x = node.input(0);
  ArrayRef<int64_t> shape = node.shape(0);
  int64_t heads = node.getInt("num_heads", 0);
  bool isFlat = node.rank(0) == 3;
  if ((!isFlat && node.rank(0) != 4) ||
      (isFlat && (heads < 1 || shape[2] % heads != 0)))
    return node.refuse("expected 4 dimensions, or 3 and num_heads, got " +
                       show(Type(node.type(0))) + " and " +
                       std::to_string(heads));
  x = isFlat ? hlo::reshape(node.b, node.loc, x,
                            {shape[0], shape[1], heads, shape[2] / heads})
             : hlo::transpose(node.b, node.loc, x, {0, 2, 1, 3});
  LLMC_TRY_ASSIGN(Value result, RotaryBuilder(node, x).build(node));
  result = isFlat ? hlo::reshape(node.b, node.loc, result, shape)
                  : hlo::transpose(node.b, node.loc, result, {0, 2, 1, 3});
  return node.finish({result});
}

void onnx::addAttentionOps(OpTable &table) {
  table["Attention"] = {importAttention, 3, 7, kNewestKnown};
  table["RotaryEmbedding"] = {importRotaryEmbedding, 3, 4, kNewestKnown};
}
