//===- Differentiate.cpp - The derivative of a microbatch function --------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//   %y = f %x          [block 1, forward]
//   ... %gy ...        [block 2, backward_input]
//   %gx = vjp f %gy    [block 1, backward_weight], loc(fused<"backward">[f])
//
// Returns one gradient for each parameter. What an op's derivative is, the op
// says (DerivativeOpInterface); the sweep itself is ReverseSweep.cpp. A
// function that has gradients of the text gets its marks alone.
//
// Test: test/Transforms/Training/differentiate.mlir
//===----------------------------------------------------------------------===//

#include "../Floats/LossScale.h"
#include "../TrainingMarks.h"
#include "ReverseSweep.h"
#include "llmc/Dialect/Dist/IR/LoopRuns.h"
#include "llmc/Dialect/StableHLO/IR/Builders.h"
#include "llmc/Transforms/Training/Passes.h"
#include "llvm/ADT/SetVector.h"

namespace llmc {
#define GEN_PASS_DEF_DIFFERENTIATEPASS
#include "llmc/Transforms/Training/Passes.h.inc"
#include "mlir/IR/TypeUtilities.h"
} // namespace llmc

using namespace mlir;
using namespace llmc;

static FailureOr<unsigned> findLossSum(func::FuncOp function) {
  auto kind = dist::PortKind::LossSum;
  if (std::optional<unsigned> found =
          dist::Signature(function).findResult(kind))
    return *found;
  return emitError(function.getLoc())
         << "expected a result '" << dist::stringifyPortKind(kind)
         << "', got none";
}

/// Adds one result for each argument that has a gradient.
static void addGradientResults(func::FuncOp function,
                               ArrayRef<Value> gradients) {
  MLIRContext *context = function.getContext();
  Operation *terminator = function.front().getTerminator();
  SmallVector<Value> values(terminator->getOperands());
  dist::Signature signature(function);
  for (unsigned i = 0; i < gradients.size(); ++i) {
    if (!gradients[i])
      continue;
    values.push_back(gradients[i]);
    signature.results.push_back(
        dist::PortAttr::get(context, dist::PortKind::Gradient,
                            dist::getState(signature.arguments[i])));
  }
  terminator->setOperands(values);
  function.setType(FunctionType::get(context, function.getArgumentTypes(),
                                     ValueRange(values).getTypes()));
  signature.write(function);
}

/// Through any op, differentiable or not.
static bool dependsOn(Value value, Value argument) {
  llvm::SetVector<Value> open;
  open.insert(value);
  for (size_t i = 0; i < open.size(); ++i)
    if (Operation *op = open[i].getDefiningOp())
      open.insert(op->operand_begin(), op->operand_end());
  return open.contains(argument);
}

/// A parameter to which nothing flows from the loss still has a gradient.
static Value makeZero(func::FuncOp function, BlockArgument parameter,
                      Value loss) {
  emitWarning(parameter.getLoc())
      << "parameter "
      << training::getRead(function, parameter.getArgNumber()).getValue()
      << (dependsOn(loss, parameter)
              ? " has a gradient of 0: the loss depends on it only through "
                "integers or ops that have no derivative"
              : " has a gradient of 0: the loss does not depend on it")
      << " (training.frozen leaves it out of the training)";
  OpBuilder builder(function.front().getTerminator());
  Value zero =
      stablehlo::constantLike(builder, parameter.getLoc(), parameter, 0.0);
  training::setBlockMark(zero.getDefiningOp(), 0);
  training::setPhaseMark(zero.getDefiningOp(), dist::Phase::BackwardWeight);
  return zero;
}

/// A value that enters the forward as it is, or by rows, in the backward's
/// trips of the same loops.
static Value enterBackward(OpBuilder &builder, dist::EnterOp old) {
  Value input = old.getInput();
  if (auto around = input.getDefiningOp<dist::EnterOp>();
      around && !around.isCarry())
    input = enterBackward(builder, around);
  auto enter = dist::EnterOp::create(builder, old.getLoc(), input,
                                     old.getKind(), old.getLoop().getReverse());
  training::setBlockMark(enter, training::getBlockMark(old).value_or(0));
  training::setPhaseMark(enter, dist::Phase::BackwardWeight);
  return enter;
}

/// What the backward of a loop reads of a value that entered the forward as it
/// is, or by rows, enters it again: nothing is kept for it in each trip.
static void enterAgain(func::FuncOp function) {
  dist::LoopRuns loops(function.front());
  for (const dist::LoopRun &run : loops.getRuns()) {
    llvm::MapVector<Value, SmallVector<OpOperand *>> uses;
    if (run.loop.getReversed() && run.in < 0)
      for (Operation *op : run.ops)
        for (OpOperand &operand : op->getOpOperands())
          if (auto enter = operand.get().getDefiningOp<dist::EnterOp>();
              enter && !enter.isCarry() && !enter.getLoop().getReversed())
            uses[operand.get()].push_back(&operand);
    for (auto &[value, operands] : uses) {
      OpBuilder builder(operands.front()->getOwner());
      Value enter =
          enterBackward(builder, value.getDefiningOp<dist::EnterOp>());
      for (OpOperand *operand : operands)
        operand->set(enter);
    }
  }
}

/// The argument that holds a scale that the recipe wants, or null.
static BlockArgument addScale(dist::TrainingOp recipe, func::FuncOp function,
                              std::optional<training::LossScale> &scale) {
  if (!recipe.getLossScale())
    return {};
  scale = training::LossScale::make(recipe, function);
  dist::Signature signature(function);
  signature.arguments.push_back(scale->getPort(scale->scale));
  BlockArgument argument = function.front().addArgument(
      scale->scale.getTensorType(), recipe.getLoc());
  function.setType(FunctionType::get(function.getContext(),
                                     function.front().getArgumentTypes(),
                                     function.getFunctionType().getResults()));
  signature.write(function);
  return argument;
}

static LogicalResult differentiate(dist::TrainingOp recipe,
                                   func::FuncOp function) {
  if (training::hasDerivative(function)) {
    training::markGivenDerivative(function);
    training::eraseDerivativeMarks(function);
    return success();
  }
  FailureOr<unsigned> loss = findLossSum(function);
  if (failed(loss))
    return failure();
  std::optional<training::LossScale> scale;
  BlockArgument factor = addScale(recipe, function, scale);
  auto seed = [&](OpBuilder &builder, Value loss) {
    if (!scale)
      return stablehlo::constantLike(builder, loss.getLoc(), loss, 1.0);
    return scale->buildSeed(builder, loss.getLoc(), factor,
                            getElementTypeOrSelf(loss.getType()));
  };
  SmallVector<bool> wanted, inputs;
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    wanted.push_back(training::isParameter(function, i));
    inputs.push_back(training::isInput(function, i));
    Type type = function.getArgumentTypes()[i];
    if (wanted.back() && !isa<FloatType>(getElementTypeOrSelf(type)))
      return emitError(function.getLoc())
             << "expected parameter " << training::getRead(function, i)
             << " to have a float type, got " << type
             << "; give it the role constant";
  }
  training::ReverseSweep sweep(function, wanted, inputs);
  Value lossValue = function.front().getTerminator()->getOperand(*loss);
  SmallVector<Value> gradients;
  if (failed(sweep.run(lossValue, seed, gradients)))
    return failure();
  for (unsigned i = 0; i < gradients.size(); ++i)
    if (wanted[i] && !gradients[i])
      gradients[i] = makeZero(function, function.getArgument(i), lossValue);
  addGradientResults(function, gradients);
  dist::closeLeaves(function.front());
  enterAgain(function);
  training::eraseDeadOps(function.front());
  training::eraseDerivativeMarks(function);
  return success();
}

namespace {

struct DifferentiatePass
    : llmc::impl::DifferentiatePassBase<DifferentiatePass> {
  void runOnOperation() override {
    ModuleOp module = getOperation();
    for (auto recipe : module.getOps<dist::TrainingOp>()) {
      FailureOr<func::FuncOp> function = training::findMicrobatch(recipe);
      if (failed(function) || failed(differentiate(recipe, *function)))
        return signalPassFailure();
    }
    // Entries have no derivative: all is forward, and no mark is needed.
    for (func::FuncOp function : training::getGraphFunctions(module)) {
      if (function.isExternal())
        continue;
      training::eraseDerivativeMarks(function);
      for (Operation &op : function.front().without_terminator())
        training::setPhaseMark(&op, dist::Phase::Forward);
    }
  }
};

} // namespace
