//===- VerifyScheduled.cpp - What holds after phase 5 ---------------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//
// Test: test/Transforms/Scheduling/verify-scheduled.mlir
//===----------------------------------------------------------------------===//

#include "llmc/Analysis/Program/Program.h"
#include "llmc/Analysis/Program/ScheduleProblem.h"
#include "llmc/Transforms/Scheduling/Passes.h"

using namespace mlir;
using namespace llmc;

namespace llmc {
#define GEN_PASS_DEF_VERIFYSCHEDULEDPASS
#include "llmc/Transforms/Scheduling/Passes.h.inc"
} // namespace llmc

namespace {
struct VerifyScheduledPass
    : llmc::impl::VerifyScheduledPassBase<VerifyScheduledPass> {
  void runOnOperation() override;
};
} // namespace

static LogicalResult verifyTable(Operation *owner, dist::TableAttr table,
                                 const ScheduleProblem &problem,
                                 bool hasBackward) {
  if (!table)
    return owner->emitOpError() << "expected a table after phase 5";
  if (std::string reason =
          checkSchedule(problem, readSchedule(table), hasBackward);
      !reason.empty())
    return owner->emitOpError() << "expected a legal table: " << reason;
  return success();
}

void VerifyScheduledPass::runOnOperation() {
  markAllAnalysesPreserved();
  FailureOr<dist::MeshOp> mesh = getMesh(getOperation());
  if (failed(mesh))
    return signalPassFailure();
  for (Operation &op : getOperation().getBody()->getOperations()) {
    LogicalResult result = success();
    if (auto step = dyn_cast<dist::StepOp>(op))
      result =
          verifyTable(step, step.getTableAttr(),
                      getScheduleProblem(
                          *mesh, step.getChunks().value_or(ArrayRef<int64_t>()),
                          step.getMicrobatches()),
                      true);
    else if (auto entry = dyn_cast<dist::EntryOp>(op))
      result = verifyTable(
          entry, entry.getTableAttr(),
          getScheduleProblem(
              *mesh, entry.getChunks().value_or(ArrayRef<int64_t>()), 1),
          false);
    if (failed(result))
      return signalPassFailure();
  }
}
