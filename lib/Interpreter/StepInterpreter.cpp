//===- StepInterpreter.cpp - Evaluation of a training program -------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// See StepInterpreter.h. What an argument or result means is read from its
// port, never from its position.
//
//===----------------------------------------------------------------------===//

#include "llmc/Interpreter/StepInterpreter.h"
#include "StepValues.h"
#include "llmc/Dialect/Dist/IR/Signature.h"
#include "llmc/Support/StoredElements.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/TypeUtilities.h"

using namespace mlir;
using namespace llmc;

/// What the arguments of one call come from.
struct StepInterpreter::Call {
  int64_t step = 0;
  int64_t microbatch = 0;
  InputSource inputs;
  /// Sums of the microbatches; null in @microbatch and entries.
  const StepResult *sums = nullptr;
};

StepInterpreter::StepInterpreter(ModuleOp module, InterpreterLimits limits)
    : module(module), symbols(module), limits(limits), interpreter(limits) {}

//===----------------------------------------------------------------------===//
// States
//===----------------------------------------------------------------------===//

HostTensor StepInterpreter::getState(StringRef name) const {
  return states.lookup(StringAttr::get(ModuleOp(module).getContext(), name));
}

LogicalResult StepInterpreter::setState(StringRef name, HostTensor value) {
  auto state = symbols.lookup<dist::StateOp>(name);
  if (!state)
    return mlir::emitError(module.getLoc())
           << "expected the name of a state, got '" << name << "'";
  if (!value || value.getType() != state.getTensorType()) {
    auto diagnostic = state.emitOpError() << "expected a value of type "
                                          << state.getTensorType() << ", got ";
    if (value)
      return diagnostic << value.getType();
    return diagnostic << "nothing";
  }
  if (state.isPart())
    pasteBox(states[state.getPartOfAttr().getAttr()], value,
             *state.getBoxOffsets());
  else
    for (auto part : module.getOps<dist::StateOp>())
      if (part.getPartOf() == name)
        states[part.getSymNameAttr()] =
            cutBox(value, part.getTensorType(), *part.getBoxOffsets());
  states[state.getSymNameAttr()] = std::move(value);
  return success();
}

LogicalResult StepInterpreter::writeStates(func::FuncOp function,
                                           ArrayRef<HostTensor> results) {
  for (unsigned i = 0; i < function.getNumResults(); ++i)
    if (FlatSymbolRefAttr name =
            dist::getState(dist::getResultPort(function, i)))
      if (failed(setState(name.getValue(), results[i])))
        return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// Arguments
//===----------------------------------------------------------------------===//

FailureOr<HostTensor> StepInterpreter::getHyper(func::FuncOp function,
                                                FlatSymbolRefAttr name,
                                                int64_t step) {
  return evaluateHyper(function, symbols, name, externals, step, seed);
}

/// Why `argument` cannot be given a value.
static LogicalResult reportArgument(func::FuncOp function, unsigned argument,
                                    StringRef expected) {
  return mlir::emitError(function.getArgument(argument).getLoc())
         << "expected " << expected << " for argument #" << argument << " of '"
         << function.getSymName() << "', got none";
}

FailureOr<HostTensor> StepInterpreter::getArgument(func::FuncOp function,
                                                   unsigned i, Call &call) {
  dist::PortAttr port = dist::getArgumentPort(function, i);
  Type type = function.getArgument(i).getType();
  if (FlatSymbolRefAttr state = dist::getState(port))
    return getState(state.getValue());
  if (FlatSymbolRefAttr hyper = dist::getHyper(port))
    return getHyper(function, hyper, call.step);
  if (FlatSymbolRefAttr of = dist::getGradientOf(port))
    return call.sums ? call.sums->gradients.lookup(of.getAttr()) : HostTensor();
  if (dist::isScalarSum(port))
    return call.sums ? call.sums->sums.lookup(port.getSlot()) : HostTensor();
  if (dist::isPort(port, dist::PortKind::Step))
    return makeScalar(type, call.step);
  if (dist::isPort(port, dist::PortKind::Microbatch))
    return makeScalar(type, call.microbatch);
  StringAttr input = dist::getInput(port);
  if (!input)
    return HostTensor();
  auto tensor = dyn_cast<RankedTensorType>(type);
  if (!tensor || !call.inputs)
    return reportArgument(function, i, "an input");
  return call.inputs(
      input.getValue(), call.step, call.microbatch,
      RankedTensorType::get(tensor.getShape(), tensor.getElementType()));
}

LogicalResult
StepInterpreter::collectArguments(func::FuncOp function, Call &call,
                                  SmallVectorImpl<HostTensor> &arguments) {
  for (unsigned i = 0; i < function.getNumArguments(); ++i) {
    FailureOr<HostTensor> value = getArgument(function, i, call);
    if (failed(value))
      return failure();
    if (!*value)
      return reportArgument(function, i, "a state, hyper value, input or sum");
    arguments.push_back(std::move(*value));
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Steps and entries
//===----------------------------------------------------------------------===//

static void collectMetrics(func::FuncOp update, ArrayRef<HostTensor> results,
                           NamedTensors &metrics) {
  for (unsigned i = 0; i < update.getNumResults(); ++i)
    if (StringAttr name = dist::getMetric(dist::getResultPort(update, i)))
      metrics[name] = results[i];
}

/// Gradients of the parts of one parameter become the parameter's.
static void joinGradients(const SymbolTable &symbols, NamedTensors &gradients) {
  NamedTensors joined;
  for (auto &[name, value] : gradients) {
    auto state = symbols.lookup<dist::StateOp>(name);
    if (!state || !state.isPart()) {
      joined[name] = value;
      continue;
    }
    StringAttr symbol = state.getPartOfAttr().getAttr();
    auto whole = symbols.lookup<dist::StateOp>(symbol);
    HostTensor &sum = joined[symbol];
    if (!sum)
      sum =
          HostTensor(value.getElementType(), whole.getTensorType().getShape());
    pasteBox(sum, value, *state.getBoxOffsets());
  }
  gradients = std::move(joined);
}

LogicalResult StepInterpreter::countFirst(dist::StepOp op, int64_t step,
                                          InputSource inputs) {
  dist::EntryOp entry = dist::findCounting(op);
  auto function = entry ? symbols.lookup<func::FuncOp>(entry.getFunction())
                        : func::FuncOp();
  if (!function)
    return success();
  llvm::StringMap<double> totals;
  for (int64_t m = 0; m < static_cast<int64_t>(op.getMicrobatches()); ++m) {
    Call call{step, m, inputs};
    SmallVector<HostTensor> arguments, results;
    NamedTensors counts;
    if (failed(collectArguments(function, call, arguments)) ||
        failed(interpreter.interpret(function, arguments, results)))
      return failure();
    collectMetrics(function, results, counts);
    addCounts(counts, totals);
  }
  for (auto &[name, total] : totals)
    setExternal(name, total);
  return success();
}

LogicalResult StepInterpreter::runStep(StringRef name, int64_t step,
                                       InputSource inputs, StepResult &result) {
  auto op = symbols.lookup<dist::StepOp>(name);
  if (!op)
    return mlir::emitError(module.getLoc())
           << "expected a 'dist.step' named '" << name << "'";
  auto microbatch = symbols.lookup<func::FuncOp>(op.getMicrobatch());
  auto update = symbols.lookup<func::FuncOp>(op.getUpdate());
  if (!microbatch || !update)
    return op.emitOpError() << "expected functions of the module";
  if (failed(verifyStoredElements(module)) ||
      failed(countFirst(op, step, inputs)))
    return failure();
  for (int64_t m = 0; m < static_cast<int64_t>(op.getMicrobatches()); ++m) {
    Call call{step, m, inputs};
    SmallVector<HostTensor> arguments, results;
    if (failed(collectArguments(microbatch, call, arguments)) ||
        failed(interpreter.interpret(microbatch, arguments, results)) ||
        failed(writeStates(microbatch, results)))
      return failure();
    addResults(symbols, microbatch, ArrayRef(results), result);
  }
  convertSums(update, result);
  Call call{step, 0, nullptr, &result};
  SmallVector<HostTensor> arguments, results;
  if (failed(collectArguments(update, call, arguments)) ||
      failed(interpreter.interpret(update, arguments, results)))
    return failure();
  collectMetrics(update, results, result.metrics);
  joinGradients(symbols, result.gradients);
  return writeStates(update, results);
}

LogicalResult StepInterpreter::runEntry(StringRef name, int64_t step,
                                        InputSource inputs,
                                        SmallVectorImpl<HostTensor> &results) {
  auto entry = symbols.lookup<dist::EntryOp>(name);
  auto function = entry ? symbols.lookup<func::FuncOp>(entry.getFunction())
                        : func::FuncOp();
  if (!function)
    return mlir::emitError(module.getLoc())
           << "expected a 'dist.entry' named '" << name << "'";
  if (failed(verifyStoredElements(module)))
    return failure();
  Call call{step, 0, inputs};
  SmallVector<HostTensor> arguments;
  if (failed(collectArguments(function, call, arguments)))
    return failure();
  return interpreter.interpret(function, arguments, results);
}
