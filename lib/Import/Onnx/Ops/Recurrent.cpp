//===- Recurrent.cpp - LSTM, GRU and RNN ----------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The steps are the trips of a loop. What depends on no state, the product of
// all inputs with W, is one product before it:
//
//   gates [steps, batch, gates * hidden] = x W^T + bias
//   of each step: state = cell(gates[t], state)
//
// Rows whose sequence has ended keep their states, and give zeros; so a
// sequence that is read from its end begins where its row ends.
//
// Tests: test/EndToEnd/Onnx/backend.test, test/EndToEnd/Torch/recurrent.test
//===----------------------------------------------------------------------===//

#include "../GraphImporter.h"
#include "Trips.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::onnx;
namespace hlo = llmc::stablehlo;

namespace {
/// What the ops have in common. Operands: x, W, R, B, lengths, initial states.
class Recurrence {
public:
  using States = SmallVector<Value>;

  Recurrence(NodeImport &node, int64_t numGates, size_t numStates)
      : node(node), b(node.b), loc(node.loc), numGates(numGates),
        numStates(numStates) {}
  virtual ~Recurrence() = default;
  rt::Status import();

protected:
  /// The states after a step; the first is what the op gives.
  virtual States step(Value gates, const States &states) = 0;
  /// Weights of a direction that the cell needs beside R.
  virtual rt::Status readMore(int64_t direction) {
    return rt::Status::success();
  }

  Value gate(Value gates, int64_t i) const {
    return hlo::slice(b, loc, gates, {0, i * hidden},
                      {batch, (i + 1) * hidden});
  }
  /// x R^T, of the gates from `begin` to before `end`.
  Value recur(Value state, int64_t begin, int64_t end) const;
  /// A part of the bias of R, for each row.
  Value biasOfState(int64_t begin, int64_t end) const;
  Value activate(size_t i, Value x) const;
  Value overRows(Value vector) const {
    return hlo::broadcastInDim(
        b, loc, vector,
        RankedTensorType::get({batch, shapeOf(vector)[0]}, element), {1});
  }
  Value add(Value x, Value y) const { return hlo::add(b, loc, x, y); }
  Value mul(Value x, Value y) const { return hlo::mul(b, loc, x, y); }
  /// Row `direction` of a weight, without that dimension.
  Value takeDirection(Value weight, int64_t direction) const;
  virtual SmallVector<StringRef> defaultActivations() const = 0;

  NodeImport &node;
  OpBuilder &b;
  Location loc;
  int64_t numGates;
  size_t numStates;
  int64_t steps = 0, batch = 0, inputs = 0, hidden = 0, directions = 1;
  Type element;
  /// Of the direction that is imported.
  Value weights, stateWeights, bias, stateBias;
  SmallVector<StringRef> activations;

private:
  rt::Status readShapes();
  rt::Status readActivations();
  rt::Status checkShape(unsigned operand, ArrayRef<int64_t> shape) const;
  rt::Status readWeights(int64_t direction);
  Value initialState(unsigned operand, int64_t direction) const;
  Value multiplyInputs() const;
  rt::Status runDirection(int64_t direction, bool isReverse);
  Value hold(Value t, Value value, Value otherwise) const;
  Value stack(ArrayRef<Value> values) const;

  bool isBatchFirst = false;
  Value x;
  /// Of each direction: what the op gives, [steps, batch, hidden], and the last
  /// states.
  SmallVector<Value> outputs;
  SmallVector<States> last;
};
} // namespace

//===----------------------------------------------------------------------===//
// Shapes and weights
//===----------------------------------------------------------------------===//

rt::Status Recurrence::checkShape(unsigned operand,
                                  ArrayRef<int64_t> shape) const {
  if (!node.has(operand) || node.shape(operand) == shape)
    return rt::Status::success();
  return node.refuse("expected operand " + std::to_string(operand) +
                     " of shape " + show(shape) + ", got " +
                     show(Type(node.type(operand))));
}

rt::Status Recurrence::readShapes() {
  StringRef direction = node.getText("direction", "forward");
  if (direction != "forward" && direction != "reverse" &&
      direction != "bidirectional")
    return node.refuse("expected direction forward, reverse or bidirectional, "
                       "got '" +
                       direction.str() + "'");
  directions = direction == "bidirectional" ? 2 : 1;
  isBatchFirst = node.getInt("layout", 0) != 0;
  for (unsigned i : {0u, 1u, 2u})
    if (node.rank(i) != 3)
      return node.refuse("expected operand " + std::to_string(i) +
                         " with 3 dimensions, got " + show(Type(node.type(i))));
  x = node.input(0);
  if (isBatchFirst)
    x = hlo::transpose(b, loc, x, {1, 0, 2});
  element = node.element(0);
  steps = shapeOf(x)[0], batch = shapeOf(x)[1], inputs = shapeOf(x)[2];
  hidden = node.getInt("hidden_size", node.shape(2)[2]);
  int64_t rows = numGates * hidden;
  LLMC_TRY(checkShape(1, {directions, rows, inputs}));
  LLMC_TRY(checkShape(2, {directions, rows, hidden}));
  LLMC_TRY(checkShape(3, {directions, 2 * rows}));
  LLMC_TRY(checkShape(4, {batch}));
  SmallVector<int64_t> states = {directions, batch, hidden};
  if (isBatchFirst)
    std::swap(states[0], states[1]);
  for (unsigned i = 0; i < numStates; ++i)
    LLMC_TRY(checkShape(5 + i, states));
  return rt::Status::success();
}

rt::Status Recurrence::readActivations() {
  SmallVector<StringRef> defaults = defaultActivations();
  for (int64_t i = 0; i < directions; ++i)
    activations.append(defaults);
  const NodeAttribute *given = node.attribute("activations");
  if (!given)
    return rt::Status::success();
  if (given->strings.size() != activations.size())
    return node.refuse("expected " + std::to_string(activations.size()) +
                       " activations, got " +
                       std::to_string(given->strings.size()));
  for (auto [i, text] : llvm::enumerate(given->strings)) {
    StringRef name(text.data(), text.size());
    if (!llvm::is_contained({"sigmoid", "tanh", "relu"}, name.lower()))
      return node.unsupported("expected activations Sigmoid, Tanh and Relu, "
                              "got '" +
                              name.str() + "'");
    activations[i] = name;
  }
  return rt::Status::success();
}

Value Recurrence::takeDirection(Value weight, int64_t direction) const {
  SmallVector<int64_t> starts(rankOf(weight), 0), limits(shapeOf(weight));
  starts[0] = direction, limits[0] = direction + 1;
  Value row = limits[0] - starts[0] == shapeOf(weight)[0]
                  ? weight
                  : hlo::slice(b, loc, weight, starts, limits);
  return hlo::reshape(b, loc, row, shapeOf(weight).drop_front());
}

rt::Status Recurrence::readWeights(int64_t direction) {
  weights = takeDirection(node.input(1), direction);
  stateWeights = takeDirection(node.input(2), direction);
  bias = stateBias = {};
  if (node.has(3)) {
    int64_t rows = numGates * hidden;
    Value both = takeDirection(node.input(3), direction);
    bias = hlo::slice(b, loc, both, {0}, {rows});
    stateBias = hlo::slice(b, loc, both, {rows}, {2 * rows});
  }
  return readMore(direction);
}

Value Recurrence::initialState(unsigned operand, int64_t direction) const {
  if (!node.has(operand))
    return node.splat({batch, hidden}, element, 0);
  Value state = node.input(operand);
  if (isBatchFirst)
    state = hlo::transpose(b, loc, state, {1, 0, 2});
  return takeDirection(state, direction);
}

//===----------------------------------------------------------------------===//
// A step
//===----------------------------------------------------------------------===//

Value Recurrence::recur(Value state, int64_t begin, int64_t end) const {
  Value rows = hlo::slice(b, loc, stateWeights, {begin * hidden, 0},
                          {end * hidden, hidden});
  return hlo::dotGeneral(b, loc, state, rows,
                         hlo::dotDims(b.getContext(), {}, {}, {1}, {1}));
}

Value Recurrence::biasOfState(int64_t begin, int64_t end) const {
  if (!stateBias)
    return node.splat({batch, (end - begin) * hidden}, element, 0);
  return overRows(
      hlo::slice(b, loc, stateBias, {begin * hidden}, {end * hidden}));
}

Value Recurrence::activate(size_t i, Value x) const {
  if (double clip = node.getFloat("clip", 0); clip > 0)
    x = hlo::max(b, loc, hlo::min(b, loc, x, node.like(x, clip)),
                 node.like(x, -clip));
  std::string name = activations[i].lower();
  if (name == "sigmoid")
    return hlo::logistic(b, loc, x);
  if (name == "tanh")
    return hlo::tanh(b, loc, x);
  return hlo::max(b, loc, x, node.like(x, 0));
}

/// `value` in the rows whose sequence has the step `t`, elsewhere `otherwise`.
Value Recurrence::hold(Value t, Value value, Value otherwise) const {
  if (!node.has(4))
    return value;
  Value lengths = node.convert(node.input(4), b.getI64Type());
  Value isThere = hlo::compare(b, loc, hlo::ComparisonDirection::GT, lengths,
                               node.broadcast(t, shapeOf(lengths)));
  Value mask = hlo::broadcastInDim(
      b, loc, isThere, RankedTensorType::get({batch, hidden}, b.getI1Type()),
      {0});
  return hlo::select(b, loc, mask, value, otherwise);
}

/// [steps, batch, gates * hidden], of what depends on no state.
Value Recurrence::multiplyInputs() const {
  Value gates = hlo::dotGeneral(b, loc, x, weights,
                                hlo::dotDims(b.getContext(), {}, {}, {2}, {1}));
  if (!bias)
    return gates;
  return add(gates,
             hlo::broadcastInDim(b, loc, bias,
                                 cast<RankedTensorType>(gates.getType()), {2}));
}

rt::Status Recurrence::runDirection(int64_t direction, bool isReverse) {
  TripOperands operands;
  operands.trips = steps;
  for (size_t i = 0; i < numStates; ++i)
    operands.carried.push_back(initialState(5 + i, direction));
  if (steps == 0) {
    outputs.push_back(node.splat({0, batch, hidden}, element, 0));
    last.push_back(operands.carried);
    return rt::Status::success();
  }
  auto inOrder = [&](Value stack) {
    return isReverse ? hlo::reverse(b, loc, stack, {0}) : stack;
  };
  operands.stacks = {inOrder(multiplyInputs())};
  auto body = [&](Value number, ArrayRef<Value> states,
                  ArrayRef<Value> rows) -> rt::Result<SmallVector<Value>> {
    Value t = number;
    if (isReverse)
      t = hlo::sub(b, loc, node.integersAsTensor({steps - 1}, {}), number);
    SmallVector<Value> next = step(rows[0], SmallVector<Value>(states));
    Value given = hold(t, next[0], node.like(next[0], 0));
    for (size_t k = 0; k < numStates; ++k)
      next[k] = hold(t, next[k], states[k]);
    next.push_back(given);
    return next;
  };
  LLMC_TRY_ASSIGN(SmallVector<Value> results,
                  importRolled(node, operands, body));
  outputs.push_back(inOrder(results.pop_back_val()));
  last.push_back(results);
  return rt::Status::success();
}

//===----------------------------------------------------------------------===//
// The op
//===----------------------------------------------------------------------===//

/// The last states of all directions.
Value Recurrence::stack(ArrayRef<Value> values) const {
  SmallVector<Value> rows;
  int64_t at = isBatchFirst ? 1 : 0;
  SmallVector<int64_t> shape = {batch, hidden};
  shape.insert(shape.begin() + at, 1);
  for (Value value : values)
    rows.push_back(hlo::reshape(b, loc, value, shape));
  return hlo::concatenate(b, loc, rows, at);
}

rt::Status Recurrence::import() {
  LLMC_TRY(readShapes());
  LLMC_TRY(readActivations());
  // Of each direction [steps, 1, batch, hidden].
  SmallVector<Value> given, results;
  for (int64_t i = 0; i < directions; ++i) {
    LLMC_TRY(readWeights(i));
    LLMC_TRY(
        runDirection(i, i == 1 || node.getText("direction", "") == "reverse"));
    given.push_back(
        hlo::reshape(b, loc, outputs[i], {steps, 1, batch, hidden}));
  }
  // [steps, directions, batch, hidden], or [batch, steps, directions, hidden].
  Value all = hlo::concatenate(b, loc, given, 1);
  results.push_back(isBatchFirst ? hlo::transpose(b, loc, all, {2, 0, 1, 3})
                                 : all);
  for (size_t i = 0; i < numStates; ++i) {
    SmallVector<Value> states;
    for (const States &each : last)
      states.push_back(each[i]);
    results.push_back(stack(states));
  }
  return node.finish(results);
}

//===----------------------------------------------------------------------===//
// The cells
//===----------------------------------------------------------------------===//

namespace {
/// Gates in the order input, output, forget, cell.
class LSTM : public Recurrence {
public:
  explicit LSTM(NodeImport &node) : Recurrence(node, 4, 2) {}

private:
  SmallVector<StringRef> defaultActivations() const override {
    return {"Sigmoid", "Tanh", "Tanh"};
  }
  rt::Status readMore(int64_t direction) override {
    first = 3 * direction;
    if (!node.has(7))
      return rt::Status::success();
    if (node.shape(7) != ArrayRef<int64_t>{directions, 3 * hidden})
      return node.refuse("expected operand 7 of shape " +
                         show({directions, 3 * hidden}) + ", got " +
                         show(Type(node.type(7))));
    peepholes = takeDirection(node.input(7), direction);
    return rt::Status::success();
  }
  /// What a gate sees of the cell, by its own weights.
  Value peep(Value gate, Value cell, int64_t i) const {
    if (!peepholes)
      return gate;
    Value weight =
        hlo::slice(b, loc, peepholes, {i * hidden}, {(i + 1) * hidden});
    return add(gate, mul(overRows(weight), cell));
  }
  States step(Value gates, const States &states) override;

  size_t first = 0;
  Value peepholes;
};

/// Gates in the order update, reset, hidden.
class GRU : public Recurrence {
public:
  explicit GRU(NodeImport &node) : Recurrence(node, 3, 1) {}

private:
  SmallVector<StringRef> defaultActivations() const override {
    return {"Sigmoid", "Tanh"};
  }
  rt::Status readMore(int64_t direction) override {
    first = 2 * direction;
    return rt::Status::success();
  }
  States step(Value gates, const States &states) override;

  size_t first = 0;
};

class RNN : public Recurrence {
public:
  explicit RNN(NodeImport &node) : Recurrence(node, 1, 1) {}

private:
  SmallVector<StringRef> defaultActivations() const override {
    return {"Tanh"};
  }
  rt::Status readMore(int64_t direction) override {
    first = direction;
    return rt::Status::success();
  }
  States step(Value gates, const States &states) override {
    Value sum = add(gates, add(recur(states[0], 0, 1), biasOfState(0, 1)));
    return {activate(first, sum)};
  }

  size_t first = 0;
};
} // namespace

Recurrence::States LSTM::step(Value gates, const States &states) {
  gates = add(gates, add(recur(states[0], 0, 4), biasOfState(0, 4)));
  Value input = activate(first, peep(gate(gates, 0), states[1], 0));
  Value forget = node.getInt("input_forget", 0)
                     ? hlo::sub(b, loc, node.like(input, 1), input)
                     : activate(first, peep(gate(gates, 2), states[1], 2));
  Value candidate = activate(first + 1, gate(gates, 3));
  Value cell = add(mul(forget, states[1]), mul(input, candidate));
  Value output = activate(first, peep(gate(gates, 1), cell, 1));
  return {mul(output, activate(first + 2, cell)), cell};
}

Recurrence::States GRU::step(Value gates, const States &states) {
  Value state = states[0];
  Value both = add(recur(state, 0, 2), biasOfState(0, 2));
  Value update =
      activate(first, add(gate(gates, 0),
                          hlo::slice(b, loc, both, {0, 0}, {batch, hidden})));
  Value reset =
      activate(first, add(gate(gates, 1), hlo::slice(b, loc, both, {0, hidden},
                                                     {batch, 2 * hidden})));
  Value seen = node.getInt("linear_before_reset", 0)
                   ? mul(reset, add(recur(state, 2, 3), biasOfState(2, 3)))
                   : add(recur(mul(reset, state), 2, 3), biasOfState(2, 3));
  Value candidate = activate(first + 1, add(gate(gates, 2), seen));
  Value kept = hlo::sub(b, loc, node.like(update, 1), update);
  return {add(mul(kept, candidate), mul(update, state))};
}

template <typename Cell> static rt::Status importCell(NodeImport &node) {
  return Cell(node).import();
}

void onnx::addRecurrentOps(OpTable &table) {
  table["LSTM"] = {importCell<LSTM>, 3, 8, kNewestKnown};
  table["GRU"] = {importCell<GRU>, 3, 6, kNewestKnown};
  table["RNN"] = {importCell<RNN>, 3, 6, kNewestKnown};
}
