//===- MeshCaseConditions.cpp - What the last bits of inputs change -------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Two orders of one sum differ by rounding. Where a program amplifies the last
// bits of what it is given (1 - tanh(x)^2 at large x), the same amplification
// makes devices differ from the whole. So a program that differs is run once
// more by the interpreter with noise of a few units in the last place; it is a
// failure unless this changes its results as visibly.
//
//===----------------------------------------------------------------------===//

#include "MeshCase.h"
#include "RandomPrograms.h"

using namespace mlir;
using namespace llmc;
using namespace llmc::test;

/// Gives the states their initial values, changed by up to twice the noise.
LogicalResult MeshCase::initialize(StepInterpreter &interpreter, double noise) {
  if (failed(interpreter.initializeStates(seed)))
    return failure();
  if (noise == 0)
    return success();
  NamedTensors states = interpreter.getStates();
  for (auto &[name, value] : states) {
    for (int64_t i = 0; value.isFloat() && i < value.getNumElements(); ++i)
      value.setFloat(i, value.getFloat(i) * (1 + noise * (i % 3)));
    (void)interpreter.setState(name, value);
  }
  return success();
}

/// Whether noise in the last bits changes a result of the entry visibly.
bool MeshCase::isIllConditioned(ArrayRef<HostTensor> expected) {
  for (double noise : {1e-13, -3e-13}) {
    StepInterpreter interpreter(*whole);
    SmallVector<HostTensor> results;
    if (failed(initialize(interpreter, noise)) ||
        failed(interpreter.runEntry(
            "forward", 0,
            [&](StringRef name, int64_t step, int64_t m,
                RankedTensorType type) -> FailureOr<HostTensor> {
              return giveInput(name, step, m, type, noise);
            },
            results)))
      return true;
    for (auto [x, y] : llvm::zip_equal(expected, results))
      if (!compareTensors(x, y, 1e-9).empty())
        return true;
  }
  return false;
}

/// Whether noise of a few units in the last place changes metrics, gradients or
/// states by more than the tolerance in so many steps.
bool MeshCase::areStepsIllConditioned(int64_t numSteps) {
  StepInterpreter exact(*whole), up(*whole), down(*whole);
  constexpr double kUnit = 0x1p-52;
  if (failed(initialize(exact)) || failed(initialize(up, kUnit)) ||
      failed(initialize(down, -3 * kUnit)))
    return false;
  auto run = [&](StepInterpreter &interpreter, int64_t step, double noise) {
    StepInterpreter::StepResult result;
    (void)interpreter.runStep(
        "train", step,
        [&](StringRef name, int64_t step, int64_t m,
            RankedTensorType type) -> FailureOr<HostTensor> {
          return giveInput(name, step, m, type, noise);
        },
        result);
    return result;
  };
  auto differ = [](const NamedTensors &want, const NamedTensors &got) {
    return llvm::any_of(want, [&](auto &entry) {
      return !compareTensors(entry.second, got.lookup(entry.first),
                             kStepTolerance)
                  .empty();
    });
  };
  for (int64_t step = 0; step < numSteps; ++step) {
    StepInterpreter::StepResult want = run(exact, step, 0);
    for (auto [noisy, noise] : {std::pair(&up, kUnit), {&down, -3 * kUnit}}) {
      StepInterpreter::StepResult got = run(*noisy, step, noise);
      if (differ(want.metrics, got.metrics) ||
          differ(want.gradients, got.gradients) ||
          differ(exact.getStates(), noisy->getStates()))
        return true;
    }
  }
  return false;
}
