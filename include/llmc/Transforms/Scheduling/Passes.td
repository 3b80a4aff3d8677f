//===- Passes.td - Passes of phase 5 -----------------------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TRANSFORMS_PIPELINE_PASSES
#define LLMC_TRANSFORMS_PIPELINE_PASSES

include "mlir/Pass/PassBase.td"

def SchedulePass : Pass<"llmc-schedule", "::mlir::ModuleOp"> {
  let summary = "Choose and check the table of each step and entry";
  let description = [{
    Runs the generator that the schedule names, or takes its table, checks it,
    and writes it into `table`. A table without weight cells merges each chunk's
    backward-input and backward-weight segments into one of phase `backward`, in
    which a weight gradient stands right after the last value that it needs.

    ```mlir
    dist.step @train ... microbatches(2) schedule(<1f1b>) chunks([0])
    // becomes
    dist.step @train ... table(<["F0.0 B0.0 F0.1 B0.1 U"]>)
    ```
  }];
  let dependentDialects = ["::llmc::dist::DistDialect"];
}

def VerifyScheduledPass : Pass<"llmc-verify-scheduled", "::mlir::ModuleOp"> {
  let summary = "Check what holds after phase 5";
  let description = [{
    Every step and entry has a table, and the table is legal for its chunks.
  }];
}

#endif // LLMC_TRANSFORMS_PIPELINE_PASSES
