//===- LockstepStepInterpreter.h - Steps on all devices ---------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Runs the steps and entries of a module after phase 4 on every device of its
// mesh, as `StepInterpreter` does on global values:
//
//   states    each device holds its boxes of the buffers (`dist.buffer`);
//             padding is zero, and must be zero after each step
//   inputs    split by the layout of the argument's port; padding is poisoned
//             (NaN, large integers), so that a missing mask shows
//   sums      per device, over microbatches in their order
//   results   gathered by their layouts; replicas agree bit by bit, or the
//             step fails
//
// Test: test/Interpreter/LockstepStepTest.cpp
//===----------------------------------------------------------------------===//

#ifndef LLMC_INTERPRETER_LOCKSTEPSTEPINTERPRETER_H
#define LLMC_INTERPRETER_LOCKSTEPSTEPINTERPRETER_H

#include "llmc/Interpreter/LockstepInterpreter.h"
#include "llmc/Interpreter/StepInterpreter.h"

namespace llmc {

struct LockstepOptions {
  /// Fill the padding of inputs with NaN and large integers.
  bool poison = true;
  /// Of the run, for hyper values.
  uint64_t seed = 0;
  InterpreterLimits limits;
};

class LockstepStepInterpreter {
public:
  /// Gives the whole value of an input for a microbatch; fails after reporting
  /// why.
  using InputSource = std::function<FailureOr<HostTensor>(
      StringRef input, int64_t step, int64_t microbatch)>;

  /// Values of devices by name, in the order of the function's results.
  using NamedDeviceTensors = llvm::MapVector<mlir::StringAttr, DeviceTensors>;

  /// What one step computed: whole metrics, and the devices' sums.
  struct StepResult {
    NamedTensors metrics;
    NamedDeviceTensors gradients;
    /// By slot: the sum of the loss, the count, metrics.
    llvm::MapVector<Attribute, DeviceTensors> sums;
  };

  LockstepStepInterpreter(ModuleOp module, dist::MeshOp mesh,
                          LockstepOptions options = {});

  /// Puts the whole value of each state that a buffer holds into its boxes.
  LogicalResult setStates(const NamedTensors &states);
  /// The whole value, gathered from all boxes, or from those of its parts.
  FailureOr<HostTensor> getState(StringRef name) const;
  /// Names of all states that buffers hold, in module order.
  SmallVector<mlir::StringAttr> getStateNames() const;

  void setExternal(StringRef hyper, double value) { externals[hyper] = value; }
  void setObserver(LockstepInterpreter::Observer observer) {
    lockstep.setObserver(std::move(observer));
  }
  const LockstepInterpreter &getInterpreter() const { return lockstep; }

  LogicalResult runStep(StringRef name, int64_t step, InputSource inputs,
                        StepResult &result);

  /// The whole sum of a gradient, gathered by the layout of the argument that
  /// the update of step `name` takes; of a state in parts, from them.
  FailureOr<HostTensor> gatherGradient(StringRef name, StringRef state,
                                       const StepResult &result);

  /// Runs `dist.entry @name`; `wholes` gives the types of its results as whole
  /// tensors, which are gathered by the results' layouts.
  LogicalResult runEntry(StringRef name, int64_t step, InputSource inputs,
                         ArrayRef<RankedTensorType> wholes,
                         SmallVectorImpl<HostTensor> &results);

private:
  FailureOr<HostTensor> gatherParts(StringRef name, dist::StateOp whole,
                                    const StepResult &result);
  std::string gatherBoxes(const DeviceTensors &value, mlir::ArrayAttr boxes,
                          HostTensor &whole);
  struct Buffer {
    dist::BufferOp op;
    DeviceTensors value;
  };
  struct Call;

  Buffer *findBuffer(StringRef name);
  FailureOr<DeviceTensors> getArgument(mlir::func::FuncOp function, unsigned i,
                                       Call &call);
  FailureOr<DeviceTensors> getInput(mlir::func::FuncOp function, unsigned i,
                                    StringRef name, Call &call);
  LogicalResult collectArguments(mlir::func::FuncOp function, Call &call,
                                 SmallVectorImpl<DeviceTensors> &arguments);
  /// As of StepInterpreter.
  LogicalResult countFirst(dist::StepOp op, int64_t step, InputSource inputs);
  LogicalResult collectMetrics(mlir::func::FuncOp function,
                               ArrayRef<DeviceTensors> results,
                               NamedTensors &metrics);
  LogicalResult writeStates(mlir::func::FuncOp function,
                            ArrayRef<DeviceTensors> results);
  LogicalResult checkStates() const;
  LogicalResult checkPadding(const Buffer &buffer) const;
  DeviceTensors everywhere(const HostTensor &value) const;

  ModuleOp module;
  mlir::SymbolTable symbols;
  LockstepInterpreter lockstep;
  LockstepOptions options;
  llvm::MapVector<mlir::StringAttr, Buffer> buffers;
  llvm::StringMap<double> externals;
};

} // namespace llmc

#endif // LLMC_INTERPRETER_LOCKSTEPSTEPINTERPRETER_H
