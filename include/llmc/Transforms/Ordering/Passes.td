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

def MakeFramesPass : Pass<"llmc-make-frames", "::mlir::ModuleOp"> {
  let summary = "Give states and slots buffers in frames";
  let description = [{
    Each `dist.buffer` becomes a buffer of a state frame, each slot of a
    timeline's programs one of the frame of its kind: sums and metrics in `step`,
    activations in `act` with a slot for each microbatch in flight, data in
    `input` with one more, what is sent and received in a `bnd` frame for each
    end. Frames and buffers have no offsets yet. The timeline and its functions
    stay; `plan.slot` says where each slot lies.

    ```mlir
    dist.timeline @train ...
    // becomes
    plan.frame @train.input0 input slots(2) slot(<mod(microbatch, 2)>)
    plan.buffer @train.input0.x in @train.input0 bytes(16)
    plan.slot of @train port(#dist.port<input "x">) place(<@train.input0.x, [4], f32>)
    dist.timeline @train ...
    ```
    A sum that is fetched and partial over axes is returned by the update once
    its collectives have reduced it, in a slot of its own.
  }];
  let options = [
    Option<"threads", "threads", "int64_t", "1", "Threads of a device's kernels and contractions">,
    Option<"seed", "seed", "int64_t", "0", "Seed of initial values and samples">,
    ListOption<"fetch", "fetch", "std::string", "Slots of kind step whose values are copied to the host in each step">
  ];
  let dependentDialects = ["::llmc::dist::DistDialect", "::llmc::plan::PlanDialect"];
}

def OrderProgramsPass : Pass<"llmc-order-programs", "::mlir::ModuleOp"> {
  let summary = "Turn timelines into programs of instructions on streams";
  let description = [{
    Launches and contractions become instructions, in an order with a low peak of
    memory that keeps dependencies and fences. Aliases share bytes, tied operands
    are worked on in place, results are written into their slots where that is
    legal; what is left is memory of the call. Data, hyper values and metrics are
    copied on a stream of their own. Accumulators that are read before they are
    written start from zero. Nothing orders the streams yet.

    ```mlir
    plan.slot of @train port(#dist.port<input "x">) place(<@train.input0.x, [4], f32>)
    plan.slot of @train port(#dist.port<act "a0", chunk = 0>) place(<@train.act0.a0, [4], f32>)
    func.func private @train.c0.F(%x: tensor<4xf32> {dist.port = #dist.port<input "x">})
        -> (tensor<4xf32> {dist.port = #dist.port<act "a0", chunk = 0>}) {
      %0 = dist.launch @kernels::@k(%x) : (tensor<4xf32>) -> tensor<4xf32>
      return %0 : tensor<4xf32>
    }
    // becomes
    plan.program @train.c0.F forward chunk(0) {
      plan.copy on @K to(<@train.input0.x, [4], f32>) host input name("x")
      plan.kernel on @C @kernels::@k operands([#plan.use<read, <@train.input0.x, [4], f32>>,
          #plan.use<write, <@train.act0.a0, [4], f32>>]) scalars([])
    }
    ```
    Collectives run on a stream for each set of axes, in place where their
    operand dies; transfers on one for each neighbour and direction, from and to
    slots of their own.
  }];
  let dependentDialects = ["::llmc::dist::DistDialect", "::llmc::plan::PlanDialect"];
}

def BucketCollectivesPass : Pass<"llmc-bucket-collectives", "::mlir::ModuleOp"> {
  let summary = "Make one collective of small ones that are ready together";
  let description = [{
    Collectives of one kind, reduction, stream, axes and element type become one
    of several buffers, up to the bytes at which a bucket is full by the machine
    (`bucket`, or the latency and bandwidth of the axes' links; without a latency
    there are no buckets). Members do not depend on each other, and wait for the
    last of them no longer than what reads them may be put off. Each element is
    reduced as before, so no bit changes.

    ```mlir
    plan.library on @C ... write <@g1, [4], f32>
    plan.collective on @X.data @x0 all_reduce reduction sum axes(["data"]) inputs([<@g1, [4], f32>]) ...
    plan.library on @C ... write <@g2, [4], f32>
    plan.collective on @X.data @x1 all_reduce reduction sum axes(["data"]) inputs([<@g2, [4], f32>]) ...
    // becomes
    plan.library on @C ... write <@g1, [4], f32>
    plan.library on @C ... write <@g2, [4], f32>
    plan.collective on @X.data @x0 all_reduce reduction sum axes(["data"]) inputs([<@g1, [4], f32>, <@g2, [4], f32>]) ...
    ```
    Collectives between stages and those that take counts stay alone, in their
    order; so do those of programs that call others.
  }];
  let dependentDialects = ["::llmc::dist::DistDialect", "::llmc::plan::PlanDialect"];
}

def AddWaitsPass : Pass<"llmc-add-waits", "::mlir::ModuleOp"> {
  let summary = "Order streams by signals and waits";
  let description = [{
    Of two accesses to a buffer's slot, of which one writes, the second waits for
    the first, in every entry as its prologue, table and epilogue run. There are
    as few waits as can be: without any one of them some pair is not ordered.
    Frames get the events that their slots need; event 0, `free`, is set at the
    start and lets a slot be used again. Memory of a call that other streams
    touch is opened and closed by the compute stream, so that programs may share
    it.

    ```mlir
    plan.copy on @K to(<@in.x, [4], f32>) host input name("x")
    plan.kernel on @C @kernels::@k operands([#plan.use<read, <@in.x, [4], f32>>]) scalars([])
    // becomes
    plan.copy on @K to(<@in.x, [4], f32>) host input name("x")
    plan.signal on @K @in event(1)
    plan.wait on @C @in event(1)
    plan.kernel on @C @kernels::@k operands([#plan.use<read, <@in.x, [4], f32>>]) scalars([])
    ```
    A program is refused that already has signals or waits, or that two entries
    run.
  }];
  let dependentDialects = ["::llmc::plan::PlanDialect"];
}

def AssignPlacesPass : Pass<"llmc-assign-places", "::mlir::ModuleOp"> {
  let summary = "Give every buffer and frame its place in the arena";
  let description = [{
    Within a call-local frame, buffers whose lifetimes are ordered share bytes;
    frames of programs that never run at the same time share memory, and so do
    entries. A remark for each stage says what each kind of memory takes.

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

def PruneWaitsPass : Pass<"llmc-prune-waits", "::mlir::ModuleOp"> {
  let summary = "Erase waits that the places make superfluous";
  let description = [{
    Before places are known a wait keeps accesses to one buffer apart; afterwards
    it is accesses to the same bytes. Each wait without which all of these are
    still ordered is erased, and each signal that nothing waits for.

    ```mlir
    plan.kernel on @C @kernels::@k operands([#plan.use<write, <@tmp.a, [4], f32>>]) scalars([])
    plan.signal on @C @tmp event(1)  // goes if nobody else ever uses the bytes of @tmp.a
    ```
    Where entries share programs, all waits stay. Accesses that nothing orders
    are an error of the passes before.
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
