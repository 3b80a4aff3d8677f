//===- LinearAttention.cpp - Attention as a recurrence --------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tensors are [batch, times, heads * size]. A head of keys has a state
// S [keys, values], and the heads of queries that share it read it:
//
//   S <- exp(decay) S + k (x) beta (v - S^T k)      output = scale q^T S
//
// Without a gate the decay is 0; without the delta rule v stands for the
// difference, and beta is 1. The times are the trips of a loop. (Yang et al.,
// Gated Delta Networks, 2024; Katharopoulos et al., 2020.)
//
// Tests: test/EndToEnd/Onnx/newer.test
//===----------------------------------------------------------------------===//

#include "../GraphImporter.h"
#include "Trips.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::onnx;
namespace hlo = llmc::stablehlo;

namespace {
/// Operands: query, key, value, state, decay, beta.
class LinearAttention {
public:
  explicit LinearAttention(NodeImport &node)
      : node(node), b(node.b), loc(node.loc) {}
  rt::Status import();

private:
  enum Operand : unsigned { kQuery, kKey, kValue, kState, kDecay, kBeta };

  rt::Status readSizes();
  rt::Status readRule();
  rt::Status checkShape(unsigned operand, ArrayRef<int64_t> shape) const;
  rt::Result<Value> readRows(unsigned operand, ArrayRef<int64_t> sizes);
  rt::Result<TripOperands> readOperands();
  Value contractKeys(Value x, Value state, bool hasGroups) const;
  SmallVector<Value> step(Value state, ArrayRef<Value> rows) const;

  NodeImport &node;
  OpBuilder &b;
  Location loc;
  bool isGated = false, isDelta = false;
  int64_t batch = 0, times = 0, heads = 0, groups = 0, keys = 0, values = 0;
  double scale = 1;
  Type element;
};
} // namespace

rt::Status LinearAttention::checkShape(unsigned operand,
                                       ArrayRef<int64_t> shape) const {
  if (node.shape(operand) == shape)
    return rt::Status::success();
  return node.refuse("expected operand " + std::to_string(operand) +
                     " of shape " + show(shape) + ", got " +
                     show(Type(node.type(operand))));
}

rt::Status LinearAttention::readRule() {
  StringRef rule = node.getText("update_rule", "gated_delta");
  if (!llvm::is_contained({"linear", "gated", "delta", "gated_delta"}, rule))
    return node.refuse("expected update_rule linear, gated, delta or "
                       "gated_delta, got '" +
                       rule.str() + "'");
  isGated = rule.starts_with("gated");
  isDelta = rule.ends_with("delta");
  for (auto [operand, isNeeded, name] :
       {std::tuple(kDecay, isGated, "decay"), {kBeta, isDelta, "beta"}})
    if (node.has(operand) != isNeeded)
      return node.refuse("expected " + std::string(isNeeded ? "a " : "no ") +
                         name + " where update_rule is '" + rule.str() +
                         "', got " + (isNeeded ? "none" : "one"));
  return rt::Status::success();
}

rt::Status LinearAttention::readSizes() {
  for (unsigned i : {kQuery, kKey, kValue})
    if (node.rank(i) != 3)
      return node.refuse("expected operand " + std::to_string(i) +
                         " with 3 dimensions, got " + show(Type(node.type(i))));
  heads = node.getInt("kv_num_heads", 0);
  int64_t queries = node.getInt("q_num_heads", 0);
  int64_t width = node.shape(kQuery)[2], valueWidth = node.shape(kValue)[2];
  if (heads < 1 || queries < 1 || queries % heads || width % queries ||
      valueWidth % heads)
    return node.refuse("expected numbers of heads that fit, got " +
                       std::to_string(queries) + " of queries and " +
                       std::to_string(heads) + " of keys and values for " +
                       show(Type(node.type(kQuery))) + " and " +
                       show(Type(node.type(kValue))));
  batch = node.shape(kQuery)[0], times = node.shape(kQuery)[1];
  groups = queries / heads, keys = width / queries, values = valueWidth / heads;
  double given = node.getFloat("scale", 0);
  scale = given != 0 ? given : 1 / std::sqrt(static_cast<double>(keys));
  element = node.element(kQuery).isF64() ? node.element(kQuery)
                                         : Type(b.getF32Type());
  LLMC_TRY(checkShape(kKey, {batch, times, heads * keys}));
  LLMC_TRY(checkShape(kValue, {batch, times, heads * values}));
  if (node.has(kState))
    LLMC_TRY(checkShape(kState, {batch, heads, keys, values}));
  return readRule();
}

/// [times, batch, sizes...] of a packed operand.
rt::Result<Value> LinearAttention::readRows(unsigned operand,
                                            ArrayRef<int64_t> sizes) {
  SmallVector<int64_t> shape = {batch, times};
  shape.append(sizes.begin(), sizes.end());
  LLMC_TRY(checkShape(operand, {batch, times, llvm::product_of(sizes)}));
  Value x = node.convert(node.input(operand), element);
  return moveDimension(node, hlo::reshape(b, loc, x, shape), 1, 0);
}

rt::Result<TripOperands> LinearAttention::readOperands() {
  TripOperands operands;
  operands.trips = times;
  auto add = [&](unsigned operand, ArrayRef<int64_t> sizes) -> rt::Status {
    LLMC_TRY_ASSIGN(Value rows, readRows(operand, sizes));
    operands.stacks.push_back(rows);
    return rt::Status::success();
  };
  LLMC_TRY(add(kQuery, {heads, groups, keys}));
  LLMC_TRY(add(kKey, {heads, keys}));
  LLMC_TRY(add(kValue, {heads, values}));
  auto isOfHeads = [&](unsigned operand) {
    return node.rank(operand) == 3 && node.shape(operand)[2] == heads;
  };
  if (isGated)
    LLMC_TRY(add(kDecay, {heads, isOfHeads(kDecay) ? 1 : keys}));
  if (isDelta)
    LLMC_TRY(add(kBeta, {isOfHeads(kBeta) ? heads : 1, 1}));
  operands.carried.push_back(
      node.has(kState) ? node.convert(node.input(kState), element)
                       : node.splat({batch, heads, keys, values}, element, 0));
  return operands;
}

/// x [batch, heads, (groups,) keys] times S [batch, heads, keys, values].
Value LinearAttention::contractKeys(Value x, Value state,
                                    bool hasGroups) const {
  return hlo::dotGeneral(
      b, loc, x, state,
      hlo::dotDims(b.getContext(), {0, 1}, {0, 1}, {hasGroups ? 3 : 2}, {2}));
}

SmallVector<Value> LinearAttention::step(Value state,
                                         ArrayRef<Value> rows) const {
  Value query = rows[0], key = rows[1], value = rows[2];
  SmallVector<int64_t> shape = {batch, heads, keys, values};
  auto spread = [&](Value x, ArrayRef<int64_t> dims) {
    return hlo::broadcastInDim(b, loc, x, RankedTensorType::get(shape, element),
                               dims);
  };
  if (isGated) {
    Value decay = node.broadcast(hlo::exp(b, loc, rows[3]), shapeOf(key));
    state = hlo::mul(b, loc, state, spread(decay, {0, 1, 2}));
  }
  if (isDelta) {
    value = hlo::sub(b, loc, value, contractKeys(key, state, false));
    value =
        hlo::mul(b, loc, value, node.broadcast(rows.back(), shapeOf(value)));
  }
  Value outer =
      hlo::mul(b, loc, spread(key, {0, 1, 2}), spread(value, {0, 1, 3}));
  state = hlo::add(b, loc, state, outer);
  Value output = contractKeys(query, state, true);
  return {state, hlo::mul(b, loc, output, node.like(output, scale))};
}

rt::Status LinearAttention::import() {
  LLMC_TRY(readSizes());
  LLMC_TRY_ASSIGN(TripOperands operands, readOperands());
  Type stateElement = node.element(node.has(kState) ? kState : kQuery);
  SmallVector<int64_t> shape = {batch, times, heads * groups * values};
  if (times == 0)
    return node.finish({node.splat(shape, node.element(kQuery), 0),
                        node.convert(operands.carried[0], stateElement)});
  auto body = [&](Value, ArrayRef<Value> carried,
                  ArrayRef<Value> rows) -> rt::Result<SmallVector<Value>> {
    return step(carried[0], rows);
  };
  LLMC_TRY_ASSIGN(SmallVector<Value> results,
                  importRolled(node, operands, body));
  Value output =
      hlo::reshape(b, loc, moveDimension(node, results[1], 0, 1), shape);
  return node.finish({node.convert(output, node.element(kQuery)),
                      node.convert(results[0], stateElement)});
}

static rt::Status importLinearAttention(NodeImport &node) {
  return LinearAttention(node).import();
}

void onnx::addLinearAttentionOps(OpTable &table) {
  table["LinearAttention"] = {importLinearAttention, 3, 6, kNewestKnown};
}
