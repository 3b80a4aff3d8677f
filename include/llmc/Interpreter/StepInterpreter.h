//===- StepInterpreter.h - Evaluation of a training program -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs the steps and entries of a module after phase 1 (or later, as long as
// its functions are evaluated globally) on one host, as the plan will run them:
//
//   initial states   drawn by the runtime's generator, or read from a file
//   @microbatch      once for each microbatch; gradients, loss sum and count
//                    are summed in microbatch order, in the row's `accumulate`
//                    type; carried states are written at once
//   @update          once, on the sums; its states are written together
//
// Hyper values are evaluated in double by the runtime's rules. So a plan can be
// compared with it value by value.
//
// Test: test/Interpreter/StepInterpreterTest.cpp
//===----------------------------------------------------------------------===//

#ifndef LLMC_INTERPRETER_STEPINTERPRETER_H
#define LLMC_INTERPRETER_STEPINTERPRETER_H

#include "llmc/Dialect/Dist/IR/Dist.h"
#include "llmc/Interpreter/Interpreter.h"
#include "llvm/ADT/MapVector.h"

namespace llmc {

/// Values by name, in the order of the function's results.
using NamedTensors = llvm::MapVector<mlir::StringAttr, HostTensor>;

/// Values by their slot (`PortAttr::getSlot`).
using SlotTensors = llvm::MapVector<Attribute, HostTensor>;

class StepInterpreter {
public:
  /// Gives the value of `input` (the name of its port) for a microbatch; fails
  /// after reporting why.
  using InputSource = std::function<FailureOr<HostTensor>(
      StringRef input, int64_t step, int64_t microbatch,
      RankedTensorType type)>;

  explicit StepInterpreter(ModuleOp module, InterpreterLimits limits = {});

  /// Draws or reads every state; fails when they take more bytes than the limit
  /// of live values. Relative paths of sources start at `directory`.
  LogicalResult initializeStates(uint64_t seed, StringRef directory = "");

  /// The value of a state; empty for an unknown name. Parts and their whole
  /// always agree.
  HostTensor getState(StringRef name) const;
  /// Replaces a state; fails on an unknown name or another type.
  LogicalResult setState(StringRef name, HostTensor value);
  const NamedTensors &getStates() const { return states; }

  /// The value of a hyper whose rule is `external`.
  void setExternal(StringRef hyper, double value) { externals[hyper] = value; }

  /// What one step computed.
  struct StepResult {
    /// Results of @update that are metrics.
    NamedTensors metrics;
    /// Sums over microbatches, by the state's name; of parts, by the whole's.
    NamedTensors gradients;
    /// By slot: the sum of the loss, the count, metrics.
    SlotTensors sums;
  };

  /// Runs `dist.step @name`. `step` counts from 0.
  LogicalResult runStep(StringRef name, int64_t step, InputSource inputs,
                        StepResult &result);

  /// Runs `dist.entry @name`; its results in order. States are not written.
  LogicalResult runEntry(StringRef name, int64_t step, InputSource inputs,
                         SmallVectorImpl<HostTensor> &results);

  /// Sees every evaluated op; for values that have a name.
  void setObserver(Interpreter::Observer observer) {
    interpreter.setObserver(std::move(observer));
  }

private:
  struct Call;
  LogicalResult collectArguments(mlir::func::FuncOp function, Call &call,
                                 SmallVectorImpl<HostTensor> &arguments);
  /// Empty where nothing gives it.
  FailureOr<HostTensor> getArgument(mlir::func::FuncOp function, unsigned i,
                                    Call &call);
  FailureOr<HostTensor> getHyper(mlir::func::FuncOp function,
                                 mlir::FlatSymbolRefAttr name, int64_t step);
  /// Gives the hyper values that an entry counts for the step their totals
  /// over the microbatches, where the module has one.
  LogicalResult countFirst(dist::StepOp op, int64_t step, InputSource inputs);
  LogicalResult writeStates(mlir::func::FuncOp function,
                            ArrayRef<HostTensor> results);
  FailureOr<HostTensor> makeInitial(dist::StateOp state, StringRef directory);

  ModuleOp module;
  mlir::SymbolTable symbols;
  InterpreterLimits limits;
  Interpreter interpreter;
  NamedTensors states;
  llvm::StringMap<double> externals;
  uint64_t seed = 0;
};

} // namespace llmc

#endif // LLMC_INTERPRETER_STEPINTERPRETER_H
