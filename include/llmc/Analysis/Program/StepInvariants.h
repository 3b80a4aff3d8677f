//===- StepInvariants.h - What is alike in all microbatches -----*- C++ -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A microbatch computes some values from parameters, constants and hyper values
// alone. These are alike in all microbatches of a step: no input, no number of
// the microbatch and no state that it replaces is on the way to them. In a loop
// they may differ from trip to trip.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_ANALYSIS_PROGRAM_STEPINVARIANTS_H
#define LLMC_ANALYSIS_PROGRAM_STEPINVARIANTS_H

#include "llmc/Support/LLVM.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "llvm/ADT/DenseSet.h"

namespace llmc {

class StepInvariants {
public:
  /// Of the function of a microbatch, at the top of its body. Arguments that
  /// are `leftOut` count as changing.
  explicit StepInvariants(
      mlir::func::FuncOp function,
      llvm::function_ref<bool(mlir::BlockArgument)> leftOut = {});

  /// Whether the value may differ from microbatch to microbatch.
  bool changes(Value value) const { return changing.contains(value); }

private:
  llvm::DenseSet<Value> changing;
};

} // namespace llmc

#endif // LLMC_ANALYSIS_PROGRAM_STEPINVARIANTS_H
