//===- MeshCase.h - A random program in random layouts ----------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A program, a mesh and layouts, all drawn from one seed: rows of states,
// layouts of inputs, constraints on values. Phases 2 to 4 make local programs
// of it; run on all devices in lockstep they must give what the interpreter
// gives for the whole; and so must the plan that all phases make of it, run on
// virtual devices.
//
//   Graph    a graph of random ops after an entry
//   Exact    a training step on integers: bit for bit
//   Smooth   two training steps on f64: to 1e-12, or to what the last bits of
//            parameters and inputs change
//
// With a random table in place of phase 2, each value has a layout of its own:
// every reshard occurs, though no propagation would ask for it.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TEST_ENDTOEND_PROPERTIES_MESHCASE_H
#define LLMC_TEST_ENDTOEND_PROPERTIES_MESHCASE_H

#include "GraphContext.h"
#include "llmc/Interpreter/LockstepStepInterpreter.h"
#include "llmc/Runtime/Executor/Session.h"
#include "mlir/Pass/PassManager.h"
#include <map>
#include <random>

namespace llmc::test {

enum class CaseKind { Graph, Exact, Smooth };

/// Relative distance of a value after a step on f64.
constexpr double kStepTolerance = 1e-12;

/// How often each op ran on a mesh, by its name.
using OpCounts = std::map<std::string, int64_t>;

class MeshCase {
public:
  /// `mesh` as after `dist.mesh @mesh = `.
  MeshCase(GraphContext &context, CaseKind kind, const std::string &mesh,
           uint64_t seed);

  /// Draws the layout of every value instead of propagating.
  void useRandomTable() { hasRandomTable = true; }
  /// Takes a program as it is after phase 1, layouts included, and another one
  /// that gives the values which are expected.
  void useProgram(mlir::OwningOpRef<ModuleOp> program,
                  mlir::OwningOpRef<ModuleOp> onOneDevice) {
    whole = std::move(program);
    reference = std::move(onOneDevice);
  }
  /// Of values after a step on f64.
  void setTolerance(double relative) { stepTolerance = relative; }
  /// What differs or fails, with the program; nothing when all is well.
  std::string run(OpCounts &counts);
  /// The same of the plan, which is left in `folder`.
  std::string runPlan(const std::string &folder);
  /// The program has fewer blocks than the mesh has stages, or its results
  /// differ and change as much with the last bits of its inputs.
  bool isSkipped() const { return skipped; }
  /// The plan gives the gradients of parameters.
  bool comparesGradients() const { return hasGradients; }

private:
  using Inputs = std::function<FailureOr<HostTensor>(
      StringRef, int64_t, int64_t, RankedTensorType)>;

  std::string makeProgram();
  std::string makeGraph();
  std::string makeTraining();
  void decorate();
  void decorateStates();
  void decorateInputs(mlir::func::FuncOp function);
  void constrain(mlir::func::FuncOp function);
  dist::LayoutAttr drawLayout(RankedTensorType type);
  dist::LayoutAttr drawEvenLayout(RankedTensorType type);
  dist::LayoutAttr layoutOfMark(mlir::StringAttr mark, RankedTensorType type);
  void drawTable(mlir::func::FuncOp function);
  std::string drawTables();
  bool hasEnoughBlocks();
  std::string compile();
  std::string runPhase(const char *name, void (*build)(mlir::OpPassManager &));
  std::string compareSteps(OpCounts &counts);
  std::string compareStep(const StepInterpreter &expected,
                          const StepInterpreter::StepResult &want,
                          LockstepStepInterpreter &lockstep,
                          const LockstepStepInterpreter::StepResult &got);
  std::string compareEntry(OpCounts &counts);
  rt::Status openPlan(const std::string &folder);
  rt::Status givePlanInputs(const std::string &entry, int64_t step,
                            mlir::func::FuncOp function, int64_t microbatches);
  const rt::plan::Entry &getPlanEntry(StringRef name);
  rt::Result<HostTensor> fetchFromPlan(const std::string &name, Type element);
  std::string comparePlan(const StepInterpreter &expected,
                          const StepInterpreter::StepResult &want);
  std::string compareCopies(const StepInterpreter &expected);
  std::string comparePlanSteps();
  std::string comparePlanEntry();
  HostTensor giveInput(StringRef name, int64_t step, int64_t microbatch,
                       RankedTensorType type, double noise = 0);
  void setIntegers(StepInterpreter &interpreter);
  bool isRepresentable(const StepInterpreter &interpreter,
                       const StepInterpreter::StepResult &result);
  LogicalResult initialize(StepInterpreter &interpreter, double noise = 0);
  bool isIllConditioned(ArrayRef<HostTensor> expected);
  bool areStepsIllConditioned(int64_t numSteps);
  ModuleOp getReference() { return reference ? *reference : *whole; }
  NamedTensors getStates(const StepInterpreter &expected);
  std::string printed(ModuleOp of);
  dist::MeshOp getMeshOp(ModuleOp of) {
    return *of.getOps<dist::MeshOp>().begin();
  }

  GraphContext &context;
  CaseKind kind;
  std::string mesh;
  uint64_t seed;
  std::mt19937_64 engine;
  mlir::OwningOpRef<ModuleOp> whole, local, reference;
  std::unique_ptr<rt::Session> session;
  std::map<std::string, dist::LayoutAttr> inputLayouts, markLayouts;
  double stepTolerance = kStepTolerance;
  bool skipped = false, hasRandomTable = false, hasGradients = true;
};

} // namespace llmc::test

#endif // LLMC_TEST_ENDTOEND_PROPERTIES_MESHCASE_H
