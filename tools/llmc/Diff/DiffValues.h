//===- DiffValues.h - What a step computed, by name -------------*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Test: test/EndToEnd/diff.test
//===----------------------------------------------------------------------===//

#ifndef LLMC_TOOLS_LLMC_DIFFVALUES_H
#define LLMC_TOOLS_LLMC_DIFFVALUES_H

#include "llmc/Interpreter/StepInterpreter.h"
#include "llmc/Runtime/Executor/Session.h"
#include <map>
#include <string>
#include <vector>

namespace llmc::driver {

/// A value of a step that a user knows by name.
struct StepValue {
  /// "loss", "grad.w", "w".
  std::string name;
  /// The symbol of the state of which it is, or whose gradient; "" of metrics.
  std::string state;
  bool isGradient = false;
  std::vector<double> elements;
};

/// Metrics first, then gradients, then states, each in the order of the whole
/// program.
using StepValues = std::vector<StepValue>;

/// Of a step of the whole program.
StepValues readValues(ModuleOp module, const StepInterpreter &interpreter,
                      const StepInterpreter::StepResult &result);

/// The same values of a step that a plan has run. Errors: as of `fetch`.
rt::Result<StepValues> readValues(rt::Session &session, const StepValues &like);

/// The largest difference of two tensors, relative to the largest element of
/// the first one (at least 0.01: what is nothing but rounding is no value);
/// infinite where one of them alone is not finite.
double getDistance(ArrayRef<double> want, ArrayRef<double> got);

/// The distance of each value by its number. Of states of a parameter those
/// elements are left out whose gradient is small beside the largest one: an
/// optimizer that divides by its size makes a step of its rounding.
std::vector<double> getDistances(const StepValues &want, const StepValues &got);

bool isFinite(const StepValue &value);

/// The elements as numbers.
std::vector<double> toNumbers(const HostTensor &tensor);

} // namespace llmc::driver

#endif // LLMC_TOOLS_LLMC_DIFFVALUES_H
