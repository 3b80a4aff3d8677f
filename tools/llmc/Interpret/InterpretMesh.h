//===- InterpretMesh.h - A program on all devices of a mesh -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `llmc interpret --mesh`: the local programs after phase 4 in lockstep, and
// how far they are from the whole program.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TOOLS_LLMC_INTERPRETMESH_H
#define LLMC_TOOLS_LLMC_INTERPRETMESH_H

#include "llmc/Interpreter/LockstepStepInterpreter.h"
#include "llmc/Runtime/Base/Status.h"
#include "mlir/IR/OwningOpRef.h"

namespace llmc::driver {

class MeshRun {
public:
  /// `local`: after phase 4; `whole`: after phase 1, for the types of inputs.
  MeshRun(mlir::OwningOpRef<ModuleOp> local, ModuleOp whole, uint64_t seed);

  LogicalResult start(const NamedTensors &states) {
    return interpreter.setStates(states);
  }
  const rt::Mesh &getMesh() const {
    return interpreter.getInterpreter().getMesh();
  }
  void setObserver(LockstepInterpreter::Observer observer) {
    interpreter.setObserver(std::move(observer));
  }
  LogicalResult runStep(StringRef name, int64_t step,
                        const StepInterpreter::InputSource &source,
                        StepInterpreter::StepResult &result);
  LogicalResult runEntry(StringRef name,
                         const StepInterpreter::InputSource &source,
                         mlir::func::FuncOp whole,
                         SmallVectorImpl<HostTensor> &results);
  /// The whole value of a state; empty for an unknown name.
  HostTensor getState(StringRef name);
  /// Names of all states that are no parts, in module order.
  SmallVector<mlir::StringAttr> getWholeStates();

  /// Notes how far `got` is from `want`, relative to the largest element
  /// error where it is farther than rounding takes it.
  rt::Status compare(const std::string &what, const HostTensor &want,
                     const HostTensor &got);
  /// Metrics, gradients and states of a step.
  LogicalResult compareStep(int64_t step, const StepInterpreter &whole,
                            const StepInterpreter::StepResult &want,
                            const StepInterpreter::StepResult &got);
  /// Prints the largest distance.
  void report() const;

private:
  LockstepStepInterpreter::InputSource
  wholeInputs(const StepInterpreter::InputSource &source);

  mlir::OwningOpRef<ModuleOp> local;
  ModuleOp whole;
  LockstepStepInterpreter interpreter;
  double farthest = 0;
  std::string farthestName = "nothing";
  int64_t numCompared = 0;
};

} // namespace llmc::driver

#endif // LLMC_TOOLS_LLMC_INTERPRETMESH_H
