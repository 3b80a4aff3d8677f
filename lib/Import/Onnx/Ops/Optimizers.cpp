//===- Optimizers.cpp - Training ops of ONNX ------------------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// ai.onnx.preview.training, version 1. The operands of an optimizer are the
// rate, the number of steps so far, and then tensors by kind: all values, all
// gradients, all states.
//
//===----------------------------------------------------------------------===//

#include "../GraphImporter.h"
#include "llmc/Dialect/Graph/IR/GraphInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::onnx;
namespace hlo = llmc::stablehlo;

namespace {
/// Arithmetic on tensors and scalars, which are repeated.
class UpdateBuilder {
public:
  explicit UpdateBuilder(NodeImport &node)
      : node(node), b(node.b), loc(node.loc) {}

  Value constant(double value, Type element) {
    return hlo::scalar(b, loc, element, value);
  }
  Value spread(Value x, Value like) {
    return node.broadcast(
        node.convert(hlo::reshape(b, loc, x, {}), elementOf(like)),
        shapeOf(like));
  }
  Value times(Value x, double factor) {
    return hlo::mul(b, loc, x, node.like(x, factor));
  }
  Value scale(Value x, Value factor) {
    return hlo::mul(b, loc, x, spread(factor, x));
  }
  Value add(Value x, Value y) { return hlo::add(b, loc, x, y); }
  Value sub(Value x, Value y) { return hlo::sub(b, loc, x, y); }
  Value mul(Value x, Value y) { return hlo::mul(b, loc, x, y); }
  Value div(Value x, Value y) { return hlo::div(b, loc, x, y); }
  Value root(Value x) { return hlo::sqrt(b, loc, x); }
  /// `one` after the first step, else `other`; all are scalars.
  Value afterFirst(Value steps, Value one, Value other) {
    Value count = hlo::reshape(b, loc, steps, {});
    Value is = hlo::compare(b, loc, hlo::ComparisonDirection::GT, count,
                            node.like(count, 0));
    return hlo::select(b, loc, is, one, other);
  }

private:
  NodeImport &node;
  OpBuilder &b;
  Location loc;
};

/// The tensors of an optimizer: one row for each value.
struct UpdateRow {
  Value x, gradient;
  SmallVector<Value> states;
};
} // namespace

static rt::Result<SmallVector<UpdateRow>> readRows(NodeImport &node,
                                                   size_t states) {
  size_t each = states + 2, count = (node.numInputs() - 2) / each;
  if (node.numInputs() < 2 + each || (node.numInputs() - 2) % each != 0)
    return node.refuse("expected a rate, a count and " + std::to_string(each) +
                       " tensors for each value, got " +
                       std::to_string(node.numInputs()) + " operands");
  SmallVector<UpdateRow> rows;
  for (size_t i = 0; i < count; ++i) {
    UpdateRow row{node.input(2 + i), node.input(2 + count + i), {}};
    for (size_t k = 0; k < states; ++k)
      row.states.push_back(node.input(2 + (2 + k) * count + i));
    for (Value value : row.states)
      if (value.getType() != row.x.getType())
        return node.refuse("expected states of the type of their value, got " +
                           show(value.getType()));
    if (row.gradient.getType() != row.x.getType() ||
        !isa<FloatType>(elementOf(row.x)))
      return node.refuse("expected gradients of the type of their value, got " +
                         show(row.gradient.getType()));
    for (Value value : row.states)
      if (isa<BlockArgument>(row.x) && isa<BlockArgument>(value))
        node.importer.optimizerStates[value] = row.x;
    rows.push_back(row);
  }
  return rows;
}

/// Results by kind: all values, then each state.
static rt::Status finishRows(NodeImport &node, ArrayRef<UpdateRow> rows) {
  SmallVector<Value> results;
  for (const UpdateRow &row : rows)
    results.push_back(row.x);
  for (size_t k = 0; k < rows.front().states.size(); ++k)
    for (const UpdateRow &row : rows)
      results.push_back(row.states[k]);
  return node.finish(results);
}

static rt::Status importAdagrad(NodeImport &node) {
  LLMC_TRY_ASSIGN(SmallVector<UpdateRow> rows, readRows(node, 1));
  UpdateBuilder u(node);
  double decay = node.getFloat("decay_factor", 0);
  double epsilon = node.getFloat("epsilon", 1e-6f),
         norm = node.getFloat("norm_coefficient", 0);
  for (UpdateRow &row : rows) {
    Type element = elementOf(row.x);
    Value steps = node.convert(
        hlo::reshape(node.b, node.loc, node.input(1), {}), element);
    Value rate = node.convert(hlo::reshape(node.b, node.loc, node.input(0), {}),
                              element);
    rate = u.div(rate, u.add(u.constant(1, element), u.times(steps, decay)));
    Value gradient = u.add(u.times(row.x, norm), row.gradient);
    Value squares = u.add(row.states[0], u.mul(gradient, gradient));
    Value size = u.root(squares);
    size = u.add(size, node.like(size, epsilon));
    row.x = u.sub(row.x, u.scale(u.div(gradient, size), rate));
    row.states[0] = squares;
  }
  return finishRows(node, rows);
}

static rt::Status importMomentum(NodeImport &node) {
  LLMC_TRY_ASSIGN(SmallVector<UpdateRow> rows, readRows(node, 1));
  UpdateBuilder u(node);
  double alpha = node.getFloat("alpha", 0), beta = node.getFloat("beta", 0);
  double norm = node.getFloat("norm_coefficient", 0);
  StringRef mode = node.getText("mode", "standard");
  if (mode != "standard" && mode != "nesterov")
    return node.refuse("expected mode standard or nesterov, got '" +
                       mode.str() + "'");
  for (UpdateRow &row : rows) {
    Type element = elementOf(row.x);
    Value share = u.afterFirst(node.input(1), u.constant(beta, element),
                               u.constant(1, element));
    Value gradient = u.add(u.times(row.x, norm), row.gradient);
    Value speed =
        u.add(u.times(row.states[0], alpha), u.scale(gradient, share));
    Value way =
        mode == "nesterov" ? u.add(gradient, u.times(speed, alpha)) : speed;
    row.x = u.sub(row.x, u.scale(way, node.input(0)));
    row.states[0] = speed;
  }
  return finishRows(node, rows);
}

static rt::Status importAdam(NodeImport &node) {
  LLMC_TRY_ASSIGN(SmallVector<UpdateRow> rows, readRows(node, 2));
  UpdateBuilder u(node);
  double alpha = node.getFloat("alpha", 0.9f),
         beta = node.getFloat("beta", 0.999f);
  double epsilon = node.getFloat("epsilon", 1e-6f);
  double norm = node.getFloat("norm_coefficient", 0),
         after = node.getFloat("norm_coefficient_post", 0);
  for (UpdateRow &row : rows) {
    Type element = elementOf(row.x);
    auto scalarOf = [&](unsigned i) {
      return node.convert(hlo::reshape(node.b, node.loc, node.input(i), {}),
                          element);
    };
    Value one = u.constant(1, element), rate = scalarOf(0);
    auto lost = [&](double share) {
      return u.sub(one, hlo::pow(node.b, node.loc, u.constant(share, element),
                                 scalarOf(1)));
    };
    Value corrected = u.div(u.mul(rate, u.root(lost(beta))), lost(alpha));
    rate = u.afterFirst(node.input(1), corrected, rate);
    Value gradient = u.add(u.times(row.x, norm), row.gradient);
    Value mean =
        u.add(u.times(row.states[0], alpha), u.times(gradient, 1 - alpha));
    Value power = u.add(u.times(row.states[1], beta),
                        u.times(u.mul(gradient, gradient), 1 - beta));
    Value size = u.root(power);
    size = u.add(size, node.like(size, epsilon));
    Value next = u.sub(row.x, u.scale(u.div(mean, size), rate));
    row = {u.times(next, 1 - after), row.gradient, {mean, power}};
  }
  return finishRows(node, rows);
}

//===----------------------------------------------------------------------===//
// Gradient
//===----------------------------------------------------------------------===//

namespace {
/// The sweep from a value back to others, over the ops between them.
class BackwardSweep {
public:
  BackwardSweep(NodeImport &node, Value from, ArrayRef<Value> to)
      : node(node), from(from), to(to.begin(), to.end()) {}
  rt::Result<SmallVector<Value>> run();

private:
  /// Ops between `to` and `from`, in order.
  SmallVector<Operation *> findPath();
  rt::Status goThrough(Operation *op);

  NodeImport &node;
  Value from;
  llvm::SmallSetVector<Value, 4> to;
  llvm::DenseSet<Value> reached;
  llvm::DenseMap<Value, Value> cotangents;
};
} // namespace

SmallVector<Operation *> BackwardSweep::findPath() {
  SmallVector<Operation *> path;
  reached.insert(to.begin(), to.end());
  for (Operation &op : *node.b.getInsertionBlock()) {
    bool isFed = llvm::any_of(op.getOperands(), [&](Value operand) {
      return reached.contains(operand);
    });
    bool isAsked = llvm::any_of(
        op.getResults(), [&](Value result) { return to.contains(result); });
    if (!isFed || isAsked)
      continue;
    path.push_back(&op);
    for (Value result : op.getResults())
      if (isa<FloatType>(elementOf(result)))
        reached.insert(result);
  }
  return path;
}

rt::Status BackwardSweep::goThrough(Operation *op) {
  SmallVector<Value> given, gradients(op->getNumOperands());
  SmallVector<bool> needed;
  for (Value result : op->getResults())
    given.push_back(cotangents.lookup(result));
  if (llvm::none_of(given, [](Value value) { return bool(value); }))
    return rt::Status::success();
  for (Value operand : op->getOperands())
    needed.push_back(reached.contains(operand));
  auto derivative = dyn_cast<graph::DerivativeOpInterface>(op);
  if (derivative && derivative.isInactive())
    return rt::Status::success();
  if (!derivative ||
      failed(derivative.buildDerivative(node.b, given, needed, gradients)))
    return node.unsupported("expected ops with a derivative, got '" +
                            op->getName().getStringRef().str() + "'");
  for (auto [operand, gradient, isNeeded] :
       llvm::zip_equal(op->getOperands(), gradients, needed)) {
    if (!gradient || !isNeeded)
      continue;
    Value &sum = cotangents[operand];
    sum = sum ? hlo::add(node.b, node.loc, sum, gradient) : gradient;
  }
  return rt::Status::success();
}

rt::Result<SmallVector<Value>> BackwardSweep::run() {
  cotangents[from] = node.like(from, 1);
  SmallVector<Operation *> path = findPath();
  for (Operation *op : llvm::reverse(path))
    LLMC_TRY(goThrough(op));
  SmallVector<Value> results;
  for (Value value : to) {
    Value gradient = cotangents.lookup(value);
    results.push_back(gradient ? gradient : node.like(value, 0));
  }
  return results;
}

/// The derivatives of `y` by `xs`; the operands are the values of `xs`, `zs`.
static rt::Status importGradient(NodeImport &node) {
  const NodeAttribute *xs = node.attribute("xs");
  StringRef y = node.getText("y", "");
  const Binding *from =
      node.importer.current->find(std::string_view(y.data(), y.size()));
  if (!xs || !from || from->isList || from->values.empty())
    return node.refuse("expected the names of tensors in 'xs' and 'y', got "
                       "others",
                       rt::ErrorKind::malformed);
  SmallVector<Value> to;
  for (std::string_view name : xs->strings) {
    const Binding *value = node.importer.current->find(name);
    if (!value || value->isList || value->values.empty())
      return node.refuse("expected a tensor '" + std::string(name) +
                             "', got none",
                         rt::ErrorKind::malformed);
    to.push_back(value->values.front());
  }
  LLMC_TRY_ASSIGN(SmallVector<Value> gradients,
                  BackwardSweep(node, from->values.front(), to).run());
  if (gradients.size() != to.size())
    return node.refuse("expected each name of 'xs' once, got one again");
  node.importer.derivatives.insert(gradients.begin(), gradients.end());
  return node.finish(gradients);
}

void onnx::addOptimizerOps(OpTable &table) {
  auto add = [&](const char *name, rt::Status (*handle)(NodeImport &)) {
    table[std::string("ai.onnx.preview.training.") + name] = {handle, 1, kAny,
                                                              1};
  };
  add("Adagrad", importAdagrad);
  add("Momentum", importMomentum);
  add("Adam", importAdam);
  add("Gradient", importGradient);
}
