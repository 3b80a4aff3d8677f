//===- Passes.td - Passes of phases 7b and 8 ---------------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// In the order in which they run.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TRANSFORMS_ORDERING_PASSES_TD
#define LLMC_TRANSFORMS_ORDERING_PASSES_TD

include "mlir/Pass/PassBase.td"

def OrderPass : Pass<"llmc-order", "::mlir::ModuleOp"> {
  let summary = "Turn timelines into programs of instructions on streams";
  let description = [{
    Slots become buffers of frames, launches and contractions become
    instructions, in an order with a low peak of memory that keeps dependencies
    and fences. Aliases share bytes, tied operands are worked on in place,
    results are written into their slots where that is legal. Data, hyper values
    and metrics are copied on a stream of their own, with as few signals and
    waits as keep the order. Accumulators that are read before they are written
    start from zero. Frames and buffers have no offsets yet.

    ```mlir
    func.func private @train.c0.F(%x: tensor<4xf32> {dist.port = #dist.port<input "x">})
        -> (tensor<4xf32> {dist.port = #dist.port<act "a0", chunk = 0>}) {
      %0 = dist.launch @kernels::@k(%x) : (tensor<4xf32>) -> tensor<4xf32>
      return %0 : tensor<4xf32>
    }
    // becomes
    plan.program @train.c0.F forward chunk(0) {
      plan.copy on @K to(<@train.input0.x, [4], f32>) host input name("x")
      plan.signal on @K @train.input0 event(1)
      plan.wait on @C @train.input0 event(1)
      plan.kernel on @C @kernels::@k operands([#plan.use<read, <@train.input0.x, [4], f32>>,
          #plan.use<write, <@train.act0.a0, [4], f32>>]) scalars([])
    }
    ```
    Collectives run on a stream for each set of axes, in place where their
    operand dies; transfers on one for each neighbour and direction, from and to
    slots of their own. Memory of a call that other streams touch is opened and
    closed by the compute stream, so that programs may share it.
  }];
  let options = [
    Option<"threads", "threads", "int64_t", "1", "Threads of a device's kernels and contractions">,
    Option<"seed", "seed", "int64_t", "0", "Seed of initial values and samples">,
    ListOption<"fetch", "fetch", "std::string", "Slots of kind step whose values are copied to the host in each step">
  ];
  let dependentDialects = ["::llmc::dist::DistDialect", "::llmc::plan::PlanDialect"];
}

def AssignPlacesPass : Pass<"llmc-assign-places", "::mlir::ModuleOp"> {
  let summary = "Give every buffer and frame its place in the arena";
  let description = [{
    Within a call-local frame, buffers whose lifetimes are ordered share bytes;
    frames of programs that never run at the same time share memory, and so do
    entries. A remark for each stage says what each kind of memory takes. Waits
    that the places make superfluous are erased.

    ```mlir
    plan.frame @train.c0.F.tmp tmp
    plan.buffer @train.c0.F.tmp.0 in @train.c0.F.tmp bytes(64)
    // becomes
    plan.frame @train.c0.F.tmp tmp offset(512) size(64)
    plan.buffer @train.c0.F.tmp.0 in @train.c0.F.tmp bytes(64) offset(0)
    ```
  }];
  let dependentDialects = ["::llmc::plan::PlanDialect"];
}

def VerifyPlanPass : Pass<"llmc-verify-plan", "::mlir::ModuleOp"> {
  let summary = "Check what holds after phase 8";
  let description = [{
    No timeline, no function but kernels is left; every frame and buffer has a
    place, arenas are known, and every kernel that is launched exists. The
    loader checks the plan itself.
  }];
}

#endif // LLMC_TRANSFORMS_ORDERING_PASSES_TD
