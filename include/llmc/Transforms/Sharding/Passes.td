//===- Passes.td - Passes of phases 2 and 3 ----------------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_TRANSFORMS_SHARDING_PASSES
#define LLMC_TRANSFORMS_SHARDING_PASSES

include "mlir/Pass/PassBase.td"

def AssignChunksPass : Pass<"llmc-assign-chunks", "::mlir::ModuleOp"> {
  let summary = "Put consecutive blocks into chunks, one for each pipeline stage";
  let description = [{
    Sums the cost of each block's forward ops and cuts the sequence of blocks so
    that the dearest chunk is as cheap as possible. `dist.step` and `dist.entry`
    get `chunks`, the chunk of each block.

    ```mlir
    dist.step @train ... microbatches(1) schedule(<1f1b>)
    // becomes
    dist.step @train ... microbatches(1) schedule(<1f1b>) chunks([0, 0, 0])
    ```
    Refuses more pipeline stages than blocks.
  }];
  let dependentDialects = ["::llmc::dist::DistDialect"];
}

def ReadCarriedPass : Pass<"llmc-read-carried", "::mlir::ModuleOp"> {
  let summary = "Read a state that each microbatch replaces in one chunk";
  let description = [{
    The next value of a carried state may be there before another chunk runs for
    the same microbatch. So the chunk that makes it reads the state for all others,
    whose uses become values of an optimization_barrier: what crosses chunks is
    sent and kept for each microbatch.

    ```mlir
    %a = f(%n) {dist.block = 0, ...}        // %n: carried @n, chunks([0, 1])
    %b = g(%n) {dist.block = 1, ...}
    return ..., %a                          // carried @n
    // becomes
    %here = stablehlo.optimization_barrier %n {dist.block = 0, ...}
    %a = f(%n) {dist.block = 0, ...}
    %b = g(%here) {dist.block = 1, ...}
    ```

    A forward use in a chunk before the one that makes the next value is refused.
  }];
  let dependentDialects = ["::llmc::stablehlo::StableHLODialect"];
}

def CloneConesPass : Pass<"llmc-clone-cones", "::mlir::ModuleOp"> {
  let summary = "Compute in each chunk what depends on inputs and constants alone";
  let description = [{
    Masks and positions that several chunks use are cloned into each of them,
    with the block of their first user there, where that costs less than sending
    the value in every microbatch. Constants are always cloned.

    ```mlir
    %m = stablehlo.convert %tokens {dist.block = 0, ...}        // used by blocks 0 and 1
    // with chunks([0, 1]) becomes
    %m  = stablehlo.convert %tokens {dist.block = 0, ...}
    %m2 = stablehlo.convert %tokens {dist.block = 1, ...}
    ```
  }];
  let dependentDialects = ["::llmc::dist::DistDialect"];
}

def GroupSumsPass : Pass<"llmc-group-sums", "::mlir::ModuleOp"> {
  let summary = "Add the terms of a gradient that one stage makes on that stage";
  let description = [{
    Where terms of a gradient or sum of the step come from several stages, those
    of one stage are added first; what remains between stages is a join, which
    moves nothing in a microbatch. Ops that are linear in their only operand are
    done for each stage.

    ```mlir
    %s = add %a, %b   // a, b at stage 1
    %t = add %s, %c   // c, d at stage 0
    %u = add %t, %d
    // becomes
    %s = add %a, %b
    %t = add %c, %d
    %u = add %s, %t
    ```
  }];
  let dependentDialects = ["::llmc::dist::DistDialect"];
}

def PropagateLayoutsPass : Pass<"llmc-propagate-layouts", "::mlir::ModuleOp"> {
  let summary = "Give every value of a program a layout";
  let description = [{
    Reads rows of `dist.state`, layouts of inputs and `dist.constraint`,
    and lets their axes spread along the ops' sharding rules
    (Analysis/Layouts/LayoutPropagation.h); adds the stages at which values live. Writes
    the layouts of the ports of the functions of steps and entries
    and `dist.layouts` on their ops. No value is partial yet.

    ```mlir
    // %x is split [{"data"}, {} ], %w [{}, {"tensor"} ]
    %0 = stablehlo.dot_general %x, %w ...
    // becomes, with #l = [{"data"}, {"tensor"} ]
    %0 = stablehlo.dot_general %x, %w {dist.layouts = [#l] } ...
    ```
    Rows get what was solved for what they gave. Constants used with several
    layouts become several. Remarks say
    where two lists met (kept, runner-up), what was not taken, and which reshapes
    pass no axes. What has a priority spreads after what has a lower one, or none.
    Refuses layouts that cannot be stored, parts of axes, extents and partial
    values in what is given.
  }];
  let dependentDialects = ["::llmc::dist::DistDialect"];
}

def VerifyLayoutsPass : Pass<"llmc-verify-layouts", "::mlir::ModuleOp"> {
  let summary = "Check what holds after phase 2";
  let description = [{
    Every block has a chunk; every tensor argument, result and op result of a
    program has a layout in which it can be stored on the mesh, not open, not
    partial yet, and pinned to stages iff there are several.
  }];
}

def PlaceReductionsPass : Pass<"llmc-place-reductions", "::mlir::ModuleOp"> {
  let summary = "Decide where partial values are reduced";
  let description = [{
    An op that reduces a split dimension makes a partial value. It may stay
    partial as long as ops are linear in it; where it is reduced is a minimum cut
    for each mesh axis, over the microbatch and the update that takes its sums.
    An op carries a partial operand also where its other operands are split by
    the axis, at the price of moving those; and one that would add up terms may
    have its operands moved instead, which a `dist.constraint` then says. Both
    are for light ops only (Remaking.h). Writes partial sets into layouts of
    ports and `dist.layouts`, and nothing else but these constraints.

    ```mlir
    %a = stablehlo.dot_general %u, %w {dist.layouts = [#full]} // contracts "t"
    // becomes
    %a = stablehlo.dot_general %u, %w {dist.layouts = [#partial_t]}
    ```
  }];
}

def PlaceGroupsPass : Pass<"llmc-place-groups", "::mlir::ModuleOp"> {
  let summary = "Keep rows of groups where the groups' matrices are";
  let description = [{
    Where the matrices of groups are split, a device multiplies the rows of its
    own groups. Between two such products it needs these rows only, whatever it
    has in place of the others. So what stands between products of the same
    groups, row by row, gets a leading dim of the devices, which is split; it is
    added up where something else reads it.

    ```mlir
    %h = nn.grouped_dot %x, %w, %s ... rows 0 groups 0   // %w is split along its first dim
    %a = tanh %h
    %y = nn.grouped_dot %a, %v, %s ... rows 0 groups 0
    // becomes, of 2 devices
    %xs = broadcast_in_dim %x                            // [2, m, k]
    %hs = nn.grouped_dot %xs, %ws, %s first %f batch [0] x [0] ...   // [2, m, n]
    %as = tanh %hs
    %ys = nn.grouped_dot %as, %vs, %s first %f batch [0] x [0] ...
    %y = reduce add %ys over [0]
    ```
  }];
  let dependentDialects = ["::llmc::dist::DistDialect", "::llmc::stablehlo::StableHLODialect"];
}

def DistributeOpsPass : Pass<"llmc-distribute-ops", "::mlir::ModuleOp"> {
  let summary = "Replace ops by global ops where a factor that they need whole is split";
  let description = [{
    An op may name a distributed form for a factor: global ops with plain rules.
    Where the decided layouts split that factor, the form takes the op's place,
    with its block and phase and with layouts of its own.

    ```mlir
    %l, %lse = nn.softmax_cross_entropy %logits, %targets {dist.layouts = [#rows, #rows]} : ...
    // becomes, where "tensor" splits the classes of the logits
    %max = stablehlo.reduce ... applies stablehlo.maximum {dist.layouts = [#rows]}
    %sum = stablehlo.reduce ... applies stablehlo.add     {dist.layouts = [#rows]}
    ...
    ```
    Where a sum of the form waits for another, and the machine's latencies make
    it shorter, what is enough to know of each part is gathered instead, and all
    devices join it. Remarks of the category `layouts` say what was compared.
  }];
  let dependentDialects = ["::llmc::dist::DistDialect", "::llmc::stablehlo::StableHLODialect"];
}

def MaterializePass : Pass<"llmc-materialize", "::mlir::ModuleOp"> {
  let summary = "Write layouts into types";
  let description = [{
    ```mlir
    %0 = stablehlo.add %x, %y {dist.layouts = [#l]} : tensor<4xf32>
    // becomes
    %0 = stablehlo.add %x, %y : tensor<4xf32, #l>
    ```
    Where a value is not what an op wants by its rule, `dist.reshard` stands
    after its definition, once for each wanted layout; `dist.keep` makes a full
    value partial, `dist.join` takes the place of a sum of values at disjoint
    pipeline coordinates. Values without operands are computed again instead,
    and so is what is made element by element of operands that are moved for
    less than the value (Remaking.h). An argument that reads a state has the layout at rest; `dist.constraint` is
    gone. New ops carry the block and phase of the op that makes the value, or
    of the first that uses it where the value grows.

    Element regions (bodies of reductions) keep plain types. Constants carry the
    encoding in the type of their value.
  }];
  let dependentDialects = ["::llmc::dist::DistDialect"];
}

def ExpandReshardsPass : Pass<"llmc-expand-reshards", "::mlir::ModuleOp"> {
  let summary = "Turn changes of layout into collectives and transfers";
  let description = [{
    Each `dist.reshard` becomes the cheapest plan between its layouts.

    ```mlir
    %1 = dist.reshard %0 : tensor<8x4xf32, #partial_at_0> -> tensor<8x4xf32, #full_at_1>
    // becomes
    %a = dist.reduce_scatter %0 dim 0 over ["tensor"] sum : ...
    %b = dist.transfer @t0 %a along "pipe" 0 -> 1 : ...
    %1 = dist.all_gather %b dim 0 over ["tensor"] : ...
    ```
    What moves nothing (slices, views, stages that forget a value) stays
    `dist.reshard`. Collectives over the pipeline axis have names, since the
    programs of several stages contain them. Each move that sends is a remark of
    category `layouts` with its bytes and the two ops it stands between.
  }];
  let dependentDialects = ["::llmc::dist::DistDialect"];
}

def MergeMovesPass : Pass<"llmc-merge-moves", "::mlir::ModuleOp"> {
  let summary = "Move once what is moved alike several times";
  let description = [{
    Collectives of one chunk and phase that move values which are computed alike
    become one, and what only the others have read is erased.

    ```mlir
    %a = stablehlo.convert %w {dist.block = 1, ...}
    %b = dist.all_gather %a dim 0 over ["data"] {dist.block = 1, ...}
    %c = stablehlo.convert %w {dist.block = 2, ...}
    %d = dist.all_gather %c dim 0 over ["data"] {dist.block = 2, ...}
    // %d becomes %b, %c goes away
    ```
  }];
}

def PrepareStepPass : Pass<"llmc-prepare-step", "::mlir::ModuleOp"> {
  let summary = "Move once in a step what is alike in all its microbatches";
  let description = [{
    A collective or transfer of a value that is made of parameters, constants and
    hyper values alone, with all that this value is made of, gets the phase
    `prepare`, which runs before the first microbatch of a step of several. What it
    makes is kept through the step. What a row says is gathered for its use
    (ZeRO-3, FSDP) stays in each microbatch, with all that is made of it; so does
    what runs in the trips of a loop, and what is sent downward. What makes a
    parameter narrow that a library or a move reads is prepared as well, unless
    the step's `recompute` says that conversions are done again; where the trips
    of a loop do so with rows, it is first put in front of the loop, on the stack.

    ```mlir
    %p = stablehlo.dot_general %a, %b {dist.block = 1, dist.phase = #dist.phase<forward>}
    %q = dist.all_reduce %p over ["tensor"] sum {dist.block = 1, dist.phase = #dist.phase<forward>}
    // becomes
    %p = stablehlo.dot_general %a, %b {dist.block = 1, dist.phase = #dist.phase<prepare>}
    %q = dist.all_reduce %p over ["tensor"] sum {dist.block = 1, dist.phase = #dist.phase<prepare>}
    ```
  }];
  let dependentDialects = ["::llmc::dist::DistDialect"];
}

def ReportCostsPass : Pass<"llmc-report-costs", "::mlir::ModuleOp"> {
  let summary = "Say what the layouts of a program cost";
  let description = [{
    Changes nothing. Remarks of category `costs` say what is gathered, what
    devices hold or compute alike, and what is padded, each with its place and
    bytes; what is equal but for the number of a block is one remark.

    ```
    gather: 'blocks.*.w' is gathered over {"data"} in each microbatch, 1536 B
      received: 'stablehlo.dot_general' reads it whole (4 times)
    replication: what 'stablehlo.add' makes is computed alike on all 2 devices of
      {"tensor"} in each microbatch, 512 B on each: 'dist.all_reduce' made what
      it reads whole
    keep: what 'stablehlo.sqrt' makes is computed or moved once in a step and kept for all 4
      microbatches, 96 B on each device: no input is on the way to it
    pad: 'wte' has dim 0 stored as 50260 instead of 50257, split by {"tensor"}:
      768 of 12866560 B are padding
    ```
  }];
  let options = [Option<"leastBytes", "least-bytes", "int64_t", "65536", "replicated values of fewer bytes are left out">];
}

def VerifyMaterializedPass : Pass<"llmc-verify-materialized", "::mlir::ModuleOp"> {
  let summary = "Check every op's layouts against its rule";
  let description = [{
    The rule of docs/layout-algebra.md, section 3: factors are split alike in all
    tensors, an axis splits one factor, whole factors are whole, partial values
    pass through linear ops only and are never returned as full ones, operands
    live where their op does. Also: what `dist.reshard` is left moves nothing,
    and every ranked tensor has an encoding.
  }];
}

#endif // LLMC_TRANSFORMS_SHARDING_PASSES
