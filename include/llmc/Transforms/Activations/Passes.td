//===- Passes.td - Passes of phase 6 -----------------------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TRANSFORMS_MEMORY_PASSES
#define LLMC_TRANSFORMS_MEMORY_PASSES

include "mlir/Pass/PassBase.td"

def RecomputePass : Pass<"llmc-recompute", "::mlir::ModuleOp"> {
  let summary = "Save or recompute the values of each block";
  let description = [{
    For each block that the step's `recompute` selects, what the block's
    backward uses of its forward is computed again from the values that cross
    between blocks. The clones read those through a fence, after the incoming
    cotangent of the block. A remark for each block says what is kept.

    ```mlir
    %y:2 = dist.segment chunk(0) phase(forward) { %t = tanh %x ... yield %x, %t }
    dist.segment chunk(0) phase(backward) { ... multiply %dy, %y#1 ... }
    // becomes
    %y = dist.segment chunk(0) phase(forward) { %t = tanh %x ... yield %x }
    dist.segment chunk(0) phase(backward) {
      %f = dist.fence(%y) after(%dy)
      %t = tanh %f
      ... multiply %dy, %t ...
    }
    ```
  }];
  let dependentDialects = ["::llmc::dist::DistDialect"];
}

def TrimActivationsPass : Pass<"llmc-trim-activations", "::mlir::ModuleOp"> {
  let summary = "Keep for the backward what kernels keep anyway";
  let description = [{
    Kernel formation says which values of a forward segment are in memory in any
    case: operands and results of contractions, and what crosses between
    kernels. Those, and results of reductions, are kept for the backward; what
    is element-wise in them is computed again there, by the same scalar code and
    so with the same bits. A value stays kept where computing it again would
    keep more bytes. A remark says what is saved. Ops of the form Decompose whose
    results the backward reads are decomposed in the forward before that, since
    only their parts are element-wise: the result of a norm is computed again from
    its operand and two numbers for each row, where the operand is there anyway.

    ```mlir
    %y:3 = dist.segment chunk(0) phase(forward) { ... %u = add %d, %b  %t = tanh %u ... yield %y, %u, %t }
    // becomes, if the contraction's result %d is kept
    %y:2 = dist.segment chunk(0) phase(forward) { ... yield %y, %d }
    dist.segment chunk(0) phase(backward) { %u = add %y#1, %b  %t = tanh %u ... }
    ```
  }];
  let dependentDialects = ["::llmc::dist::DistDialect"];
}

def OutlineProgramsPass : Pass<"llmc-outline-programs", "::mlir::ModuleOp"> {
  let summary = "One function for each segment, over slots";
  let description = [{
    Steps and entries become `dist.timeline`. What crosses between segments of a
    chunk is an `act` slot, what crosses between stages is sent and received:
    upward by forwards, downward by backwards. Gradients, loss and count are
    `step` slots, to which each microbatch adds in order when there are several;
    of a join each stage adds what lives there. Each stage has a program for its
    part of the update.

    ```mlir
    func.func @train.c0.F(%x {dist.port = #dist.port<input "x">}, ...)
        -> (tensor<4xf32> {dist.port = #dist.port<act "a0", chunk = 0>}, ...)
    ```
  }];
  let dependentDialects = ["::llmc::dist::DistDialect"];
}

def VerifyMemoryPass : Pass<"llmc-verify-memory", "::mlir::ModuleOp"> {
  let summary = "Check what holds after phase 6";
  let description = [{
    Only timelines are left of steps and entries; programs hold no segment; every
    `act` slot and sum that is read is written at that stage by another program;
    states are read where they live; what is sent or received has a route.
  }];
}

#endif // LLMC_TRANSFORMS_MEMORY_PASSES
