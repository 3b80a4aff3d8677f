//===- DerivativeHarness.cpp - Checks of ops' derivatives -----------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See DerivativeHarness.h.
//
//===----------------------------------------------------------------------===//

#include "DerivativeHarness.h"
#include "llmc/Dialect/Graph/IR/GraphInterfaces.h"
#include "llmc/Dialect/StableHLO/IR/Builders.h"
#include "llmc/Interpreter/Interpreter.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Verifier.h"
#include <cmath>

using namespace mlir;
using namespace llmc;
using namespace llmc::test;

static bool isDifferentiated(func::FuncOp function, unsigned argument) {
  return isFloatTensor(function.getArgument(argument).getType()) &&
         !function.getArgAttr(argument, "test.fixed");
}

//===----------------------------------------------------------------------===//
// The reverse sweep
//===----------------------------------------------------------------------===//

namespace {
class Sweep {
public:
  Sweep(OpBuilder &builder, Location loc) : builder(builder), loc(loc) {}

  void addCotangent(Value value, Value cotangent) {
    Value &sum = cotangents[value];
    sum = sum ? stablehlo::add(builder, loc, sum, cotangent) : cotangent;
  }
  Value getCotangent(Value value) const { return cotangents.lookup(value); }
  void markActive(Value value) { active.insert(value); }

  void findActive(Operation *op) {
    auto derivative = dyn_cast<graph::DerivativeOpInterface>(op);
    if (derivative && derivative.isInactive())
      return;
    if (llvm::any_of(op->getOperands(),
                     [&](Value v) { return active.contains(v); }))
      for (Value result : op->getResults())
        if (isFloatTensor(result.getType()))
          active.insert(result);
  }

  LogicalResult reverse(Operation *op) {
    SmallVector<Value> incoming;
    for (Value result : op->getResults())
      incoming.push_back(active.contains(result) ? getCotangent(result)
                                                 : Value());
    if (llvm::none_of(incoming, [](Value v) { return bool(v); }))
      return success();
    auto derivative = dyn_cast<graph::DerivativeOpInterface>(op);
    if (!derivative)
      return graph::emitMissingAnswer(op, graph::Answer::Derivative);
    SmallVector<bool> needed;
    for (Value operand : op->getOperands())
      needed.push_back(active.contains(operand));
    SmallVector<Value> gradients(op->getNumOperands());
    if (failed(
            derivative.buildDerivative(builder, incoming, needed, gradients)))
      return failure();
    for (auto [i, gradient] : llvm::enumerate(gradients)) {
      if (!needed[i] || !gradient)
        continue;
      if (gradient.getType() != op->getOperand(i).getType())
        return op->emitOpError()
               << "expected a cotangent of operand #" << i << " of type "
               << op->getOperand(i).getType() << ", got " << gradient.getType();
      addCotangent(op->getOperand(i), gradient);
    }
    return success();
  }

private:
  OpBuilder &builder;
  Location loc;
  llvm::DenseMap<Value, Value> cotangents;
  llvm::DenseSet<Value> active;
};
} // namespace

/// The signature of @vjp: arguments, cotangents -> gradients.
static func::FuncOp createVjp(func::FuncOp function) {
  SmallVector<Type> inputs(function.getArgumentTypes());
  for (Type type : function.getResultTypes())
    if (isFloatTensor(type))
      inputs.push_back(type);
  SmallVector<Type> results;
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    if (isDifferentiated(function, i))
      results.push_back(function.getArgument(i).getType());
  OpBuilder builder(function->getContext());
  builder.setInsertionPointAfter(function);
  return func::FuncOp::create(builder, function.getLoc(), "vjp",
                              builder.getFunctionType(inputs, results));
}

FailureOr<func::FuncOp> test::buildVjp(func::FuncOp function) {
  func::FuncOp vjp = createVjp(function);
  Block *block = vjp.addEntryBlock();
  OpBuilder builder = OpBuilder::atBlockBegin(block);
  Sweep sweep(builder, function.getLoc());
  IRMapping mapping;
  for (auto [i, argument] : llvm::enumerate(function.getArguments())) {
    mapping.map(argument, block->getArgument(i));
    if (isDifferentiated(function, i))
      sweep.markActive(block->getArgument(i));
  }
  SmallVector<Operation *> forward;
  for (Operation &op : function.getBody().front().without_terminator()) {
    forward.push_back(builder.clone(op, mapping));
    sweep.findActive(forward.back());
  }
  unsigned next = function.getNumArguments();
  Operation *terminator = function.getBody().front().getTerminator();
  for (Value result : terminator->getOperands())
    if (isFloatTensor(result.getType()))
      sweep.addCotangent(mapping.lookup(result), block->getArgument(next++));
  for (Operation *op : llvm::reverse(forward))
    if (failed(sweep.reverse(op)))
      return failure();
  SmallVector<Value> gradients;
  for (unsigned i = 0; i < function.getNumArguments(); ++i)
    if (isDifferentiated(function, i)) {
      Value argument = block->getArgument(i);
      Value gradient = sweep.getCotangent(argument);
      gradients.push_back(gradient ? gradient
                                   : stablehlo::constantLike(builder,
                                                             function.getLoc(),
                                                             argument, 0));
    }
  func::ReturnOp::create(builder, function.getLoc(), gradients);
  if (failed(mlir::verify(vjp)))
    return failure();
  return vjp;
}

//===----------------------------------------------------------------------===//
// Oracles
//===----------------------------------------------------------------------===//

namespace {
using Tensors = SmallVector<HostTensor>;

/// A parsed function with its derivative and random arguments.
struct Differentiated {
  GraphContext context;
  OwningOpRef<ModuleOp> module;
  func::FuncOp function, vjp;
  Tensors arguments;
  std::string error;

  Differentiated(StringRef text, uint64_t seed) { prepare(text, seed); }

  void prepare(StringRef text, uint64_t seed) {
    module = context.parse(text);
    function = module ? getFunction(*module) : func::FuncOp();
    if (!function)
      return fail("expected a function");
    WalkResult rules = function.walk([](graph::ShardingRuleOpInterface op) {
      return failed(graph::verifyRule(op, op.getShardingRule()))
                 ? WalkResult::interrupt()
                 : WalkResult::advance();
    });
    FailureOr<func::FuncOp> built = buildVjp(function);
    if (rules.wasInterrupted() || failed(built))
      return fail("no derivative");
    vjp = *built;
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      arguments.push_back(drawArgument(function, i, seed));
  }

  void fail(StringRef what) {
    error = (what + "\n" + context.takeMessages()).str();
  }

  Tensors run(func::FuncOp callee, ArrayRef<HostTensor> inputs) {
    Interpreter interpreter;
    Tensors results;
    if (failed(interpreter.interpret(callee, inputs, results)))
      fail("evaluation failed");
    return results;
  }

  /// The float results of the function.
  Tensors runForward(ArrayRef<HostTensor> inputs) {
    Tensors results = run(function, inputs);
    llvm::erase_if(results, [](const HostTensor &t) { return !t.isFloat(); });
    return results;
  }

  Tensors runVjp(ArrayRef<HostTensor> inputs, ArrayRef<HostTensor> weights) {
    Tensors all(inputs);
    all.append(weights.begin(), weights.end());
    return run(vjp, all);
  }

  /// Random tensors like the differentiated arguments.
  Tensors drawDirection(uint64_t seed) {
    Tensors direction;
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      if (isDifferentiated(function, i))
        direction.push_back(drawTensor(arguments[i].getType(), seed * 977 + i));
    return direction;
  }

  Tensors drawWeights(uint64_t seed) {
    Tensors weights;
    for (Type type : function.getResultTypes())
      if (isFloatTensor(type))
        weights.push_back(drawTensor(cast<RankedTensorType>(type),
                                     seed * 613 + weights.size() + 7));
    return weights;
  }

  /// The arguments moved by `distance` along `direction`.
  Tensors moved(ArrayRef<HostTensor> direction, double distance) {
    Tensors result = arguments;
    unsigned next = 0;
    for (unsigned i = 0; i < function.getNumArguments(); ++i) {
      if (!isDifferentiated(function, i))
        continue;
      const HostTensor &delta = direction[next++];
      for (int64_t k = 0; k < delta.getNumElements(); ++k)
        result[i].setFloat(k, arguments[i].getFloat(k) +
                                  distance * delta.getFloat(k));
    }
    return result;
  }

  /// The arguments with the differentiated ones replaced.
  Tensors replaced(ArrayRef<HostTensor> values) {
    Tensors result = arguments;
    unsigned next = 0;
    for (unsigned i = 0; i < function.getNumArguments(); ++i)
      if (isDifferentiated(function, i))
        result[i] = values[next++];
    return result;
  }
};
} // namespace

/// The dot product over all elements, and (as second) the sum of magnitudes.
static std::pair<double, double> dot(ArrayRef<HostTensor> lhs,
                                     ArrayRef<HostTensor> rhs) {
  double sum = 0, magnitude = 0;
  for (auto [x, y] : llvm::zip_equal(lhs, rhs))
    for (int64_t i = 0; i < x.getNumElements(); ++i) {
      sum += x.getFloat(i) * y.getFloat(i);
      magnitude += std::fabs(x.getFloat(i) * y.getFloat(i));
    }
  return {sum, magnitude};
}

std::string test::fix(std::string text, const std::string &argument) {
  size_t at = text.find('>', text.find(argument + ": tensor<"));
  return text.insert(at + 1, " {test.fixed}");
}

testing::AssertionResult test::checkDerivative(StringRef text,
                                               DerivativeOptions options) {
  Differentiated subject(text, options.seed);
  for (int k = 0; k < options.numDirections && subject.error.empty(); ++k) {
    uint64_t seed = options.seed + k;
    Tensors direction = subject.drawDirection(seed);
    Tensors weights = subject.drawWeights(seed);
    Tensors gradients = subject.runVjp(subject.arguments, weights);
    Tensors above = subject.runForward(subject.moved(direction, options.step));
    Tensors below = subject.runForward(subject.moved(direction, -options.step));
    if (!subject.error.empty())
      break;
    double expected = (dot(above, weights).first - dot(below, weights).first) /
                      (2 * options.step);
    double actual = dot(gradients, direction).first;
    double scale = std::max({std::fabs(expected), std::fabs(actual), 1e-2});
    if (!(std::fabs(expected - actual) <= options.tolerance * scale))
      return testing::AssertionFailure()
             << "seed " << seed << ": central difference " << expected
             << ", derivative " << actual;
  }
  if (!subject.error.empty())
    return testing::AssertionFailure() << subject.error;
  return testing::AssertionSuccess();
}

testing::AssertionResult test::checkLinear(StringRef text, uint64_t seed) {
  Differentiated subject(text, seed);
  if (subject.error.empty()) {
    Tensors direction = subject.drawDirection(seed);
    Tensors weights = subject.drawWeights(seed);
    Tensors images = subject.runForward(subject.replaced(direction));
    Tensors gradients = subject.runVjp(subject.arguments, weights);
    if (subject.error.empty()) {
      auto [expected, scale] = dot(images, weights);
      double actual = dot(gradients, direction).first;
      if (std::fabs(expected - actual) <= 1e-12 * std::max(scale, 1e-6))
        return testing::AssertionSuccess();
      return testing::AssertionFailure()
             << "seed " << seed << ": <f(v), w> = " << expected
             << ", <v, vjp(w)> = " << actual;
    }
  }
  return testing::AssertionFailure() << subject.error;
}

std::vector<std::vector<double>> test::computeGradients(StringRef text) {
  Differentiated subject(text, 1);
  if (!subject.error.empty()) {
    ADD_FAILURE() << subject.error;
    return {};
  }
  Tensors weights = subject.drawWeights(1);
  for (HostTensor &weight : weights)
    for (int64_t i = 0; i < weight.getNumElements(); ++i)
      weight.setFloat(i, 1);
  std::vector<std::vector<double>> result;
  for (const HostTensor &gradient :
       subject.runVjp(subject.arguments, weights)) {
    result.emplace_back();
    for (int64_t i = 0; i < gradient.getNumElements(); ++i)
      result.back().push_back(gradient.getFloat(i));
  }
  return result;
}
