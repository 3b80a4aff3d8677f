//===- CallTargets.cpp - What becomes of custom calls ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Tests: test/Tools/llmc/ops-calls.test; test/Import/StableHLO imports them
//===----------------------------------------------------------------------===//

#include "llmc/Dialect/StableHLO/IR/CallTargets.h"
#include "llmc/Dialect/StableHLO/IR/StableHLO.h"
#include "llmc/Import/Program/StopGradient.h"
#include "llmc/Import/StableHLO/Import.h"

using namespace llmc;

llvm::ArrayRef<import::CallTarget> import::getCallTargets() {
  static constexpr CallTarget targets[] = {
      {stablehlo::kShardingTarget, "a layout of its operand"},
      {stablehlo::kManualEntryTarget, "the way into a manual region"},
      {stablehlo::kManualExitTarget, "the way out of a manual region"},
      {stablehlo::kLocalTarget, "the way into a manual region"},
      {stablehlo::kGlobalTarget, "the way out of a manual region"},
      {stablehlo::kResultTarget, "a layout of its operand"},
      {stablehlo::kGroupTarget, "a group of values that lie alike"},
      {stablehlo::kBarrierTarget, "a barrier to layouts"},
      {stablehlo::kPlacementTarget, "its operand"},
      {stablehlo::kFactorTargets[0], "stablehlo.cholesky"},
      {stablehlo::kFactorTargets[1], "stablehlo.cholesky"},
      {stablehlo::kPivotTargets[0], "stablehlo.lu"},
      {stablehlo::kPivotTargets[1], "stablehlo.lu"},
      {stablehlo::kSolveTargets[0], "stablehlo.triangular_solve"},
      {stablehlo::kSolveTargets[1], "stablehlo.triangular_solve"},
      {stablehlo::RaggedAllToAllOp::kCallTarget, "stablehlo.ragged_all_to_all"},
      {kStopGradientName, "its operands, without a derivative"}};
  return targets;
}
