//===- DistProgramOps.td - Meshes, states, steps -----------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The symbols that make a program: meshes, states, hyper values, the recipe of
// a training, steps and entries.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_DIALECT_DIST_IR_DISTPROGRAMOPS
#define LLMC_DIALECT_DIST_IR_DISTPROGRAMOPS

include "llmc/Dialect/Dist/IR/DistAttrs.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/CommonAttrConstraints.td"
include "mlir/IR/CommonTypeConstraints.td"
include "mlir/IR/OpBase.td"
include "mlir/IR/SymbolInterfaces.td"

// Read with its sign, so that verifiers see negative numbers.
def Dist_I64Attr : TypedSignlessIntegerAttrBase<I64, "int64_t", "64-bit integer"> {
  let convertFromStorage = "$_self.getValue().getSExtValue()";
}

class Dist_Op<string mnemonic, list<Trait> traits = []> : Op<Dist_Dialect, mnemonic, traits>;

class Dist_SymbolOp<string mnemonic, list<Trait> traits = []>
    : Dist_Op<mnemonic, !listconcat([Symbol, HasParent<"::mlir::ModuleOp">], traits)>;

def Dist_SymbolUser : DeclareOpInterfaceMethods<SymbolUserOpInterface, ["verifySymbolUses"]>;

def Dist_ProgramGroup : OpDocGroup {
  let summary = "Programs";
  let description = "Symbols of the module that say what there is and what is run.";
}

let opDocGroup = Dist_ProgramGroup in {

def Dist_MeshOp : Dist_SymbolOp<"mesh"> {
  let summary = "a mesh of devices with named axes";
  let description = [{
    ```mlir
    dist.mesh @mesh = <"pipe"=2, "data"=2, "tensor"=2> pipeline "pipe"
    ```
    `pipeline` names the axis whose coordinates run different programs.
    `devices` lists the device ids in mesh order when they are not 0, 1, 2, ...
    `machine` says what its axes cross and what a device can do.
    Made by the importer; lives through all phases. A mesh is a public symbol:
    types name it, which symbol uses do not show.

    Constraints: public; the pipeline axis and those of `machine` exist;
    `devices` is a permutation of 0 ... number of devices - 1.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, Dist_MeshAxesAttr:$axes, OptionalAttr<StrAttr>:$pipeline,
                       OptionalAttr<DenseI64ArrayAttr>:$devices, OptionalAttr<Dist_MachineAttr>:$machine);
  let assemblyFormat = [{
    $sym_name `=` custom<MeshAxes>($axes) (`pipeline` $pipeline^)? (`devices` $devices^)? (`machine` $machine^)?
    attr-dict
  }];
  let builders = [OpBuilder<(ins "::llvm::StringRef":$name, "MeshAxesAttr":$axes, CArg<"::llvm::StringRef", "{}">:$pipeline)>];
  let hasVerifier = 1;
}

def Dist_StateOp : Dist_SymbolOp<"state", [Dist_SymbolUser]> {
  let summary = "a tensor that persists over steps";
  let description = [{
    ```mlir
    dist.state @wte : tensor<50257x768xf32> {role = parameter, source = #dist.draw<normal, 0.02>}
    dist.state @wte.m : tensor<50257x768xf32> {role = optimizer, of = @wte, source = #dist.draw<zeros>}
    dist.state @W1.0 part of @W1 box([0, 0] [4, 4]) : tensor<4x4xf32> {role = parameter}
    ```
    The type is that of the whole tensor. Made by the importer and, for
    optimizer states and parts, by phase 1. A part takes name, initial values
    and checkpoint from the state of which it is a part; that state is then no
    longer read or written itself. `optimizer` overrides the function that
    `dist.training` names.

    Constraints: a ranked tensor of static shape without encoding; an optimizer
    state names the parameter it belongs to, which exists; a part lies inside
    its whole, has the box's shape, the whole's element type and role, and no
    source; a whole is no part; layouts of the row have the state's rank; a
    drawn source is for float or integer elements; the source's bytes match the
    type.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, OptionalAttr<FlatSymbolRefAttr>:$part_of,
                       OptionalAttr<DenseI64ArrayAttr>:$box_offsets, OptionalAttr<DenseI64ArrayAttr>:$box_sizes,
                       TypeAttrOf<AnyRankedTensor>:$type, Dist_RoleAttr:$role, OptionalAttr<FlatSymbolRefAttr>:$of,
                       OptionalAttr<Dist_RowAttr>:$row, OptionalAttr<AnyAttr>:$source,
                       OptionalAttr<FlatSymbolRefAttr>:$optimizer);
  let assemblyFormat = [{
    $sym_name (`part` `of` $part_of^ `box` `(` $box_offsets $box_sizes `)`)? `:` $type
    custom<StateFields>($role, $of, $row, $source, $optimizer) attr-dict-with-keyword
  }];
  let builders = [
    OpBuilder<(ins "::llvm::StringRef":$name, "::mlir::RankedTensorType":$type, "Role":$role,
                   CArg<"::mlir::Attribute", "{}">:$source, CArg<"::llvm::StringRef", "{}">:$of)>
  ];
  let extraClassDeclaration = [{
    mlir::RankedTensorType getTensorType() { return mlir::cast<mlir::RankedTensorType>(getType()); }
    bool isPart() { return getPartOf().has_value(); }
  }];
  let hasVerifier = 1;
}

def Dist_BufferOp : Dist_SymbolOp<"buffer", [Dist_SymbolUser]> {
  let summary = "what a device holds of states, as one local tensor";
  let description = [{
    ```mlir
    dist.buffer @W1.local of @W1 : tensor<4x6xf32> holds [#dist.box<@W1.0, #w, [0, 0]>, #dist.box<@W1.1, #w, [0, 2]>]
    ```
    Made by localize: programs read and write local buffers; the boxes say which
    elements of which state they are. Lives until the plan is written.

    Constraints: static shape without encoding; the state exists, and each box
    is of it or of a part of it; at least one box; each box's state
    exists and has the buffer's element type; each layout fits its state and
    mesh; the boxes' local shapes lie inside the buffer and do not overlap.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, FlatSymbolRefAttr:$of, TypeAttrOf<AnyRankedTensor>:$type,
                       TypedArrayAttrBase<Dist_BoxAttr, "array of boxes">:$boxes);
  let assemblyFormat = "$sym_name `of` $of `:` $type `holds` $boxes attr-dict";
  let extraClassDeclaration = [{
    mlir::RankedTensorType getTensorType() { return mlir::cast<mlir::RankedTensorType>(getType()); }
  }];
  let hasVerifier = 1;
}

def Dist_HyperOp : Dist_SymbolOp<"hyper"> {
  let summary = "a scalar that is written before each step";
  let description = [{
    ```mlir
    dist.hyper @lr : tensor<f32> = <warmup_cosine, base = 0.001, warmup = 100, total = 1000>
    dist.hyper @step : tensor<i32> = <step>
    ```
    Constraints: a tensor of rank 0 of a float or signless integer; a
    constant or warm-up rule gives floats.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypeAttrOf<AnyRankedTensor>:$type, Dist_RuleAttr:$rule);
  let assemblyFormat = "$sym_name `:` $type `=` $rule attr-dict";
  let hasVerifier = 1;
}

def Dist_TrainingOp : Dist_SymbolOp<"training", [Dist_SymbolUser]> {
  let summary = "the recipe from which phase 1 makes a training step";
  let description = [{
    ```mlir
    dist.training @train forward(@loss) optimizer(@optimizer.adamw) microbatches(4)
        schedule(<1f1b>) clip(1.0) recompute(<every, 2>)
    ```
    Made by the importer, consumed by phase 1, which leaves a `dist.step` of the
    same name. `optimizer` is a function for one parameter: (parameter,
    gradient, moments, hyper) -> (parameter', moments'), as its ports say. Where
    the forward function returns gradients it has its derivative; without an
    `optimizer` it is the whole step, and returns the new states. `clip` bounds the global norm of the
    gradients. `accumulate` is the element type in which gradients are summed
    when the state's row names none. In the dictionary after it may stand:
    `precision` (f64: all floats are widened; bf16 or f16: factors of contractions
    are narrowed; f8E4M3FN: they are floats of eight bits with a scale), `loss_scale` (the first scale of the loss, and the number of good
    steps after which it doubles), `raise` (false: ops stay as the
    text has them), `derivative_of_text` (ops of functions with a custom rule
    are derived), `mean_of_microbatches` (the loss is the mean of those of
    the microbatches, whatever that of the whole batch may be) and
    `skip_not_finite` (a step whose loss or norm is not finite changes nothing).

    Constraints: all symbols are functions; the forward function has exactly one
    port `loss`; its arguments are inputs, hyper values, states, step or
    microbatch, its other results carried states, outputs and, with an
    optimizer, gradients of the shape of their state, each once; without one, any states; microbatches at least 1; `clip` positive and finite;
    `accumulate` a float; `precision` f32, f64, bf16, f16 or f8E4M3FN; `loss_scale` a power of two
    and at least 1 step.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, FlatSymbolRefAttr:$forward, OptionalAttr<FlatSymbolRefAttr>:$optimizer,
                       Dist_I64Attr:$microbatches, Dist_ScheduleAttr:$schedule, OptionalAttr<F64Attr>:$clip,
                       OptionalAttr<TypeAttr>:$accumulate, OptionalAttr<Dist_RecomputeAttr>:$recompute,
                       OptionalAttr<TypeAttr>:$precision, OptionalAttr<BoolAttr>:$raise,
                       UnitAttr:$derivative_of_text, UnitAttr:$mean_of_microbatches,
                       UnitAttr:$skip_not_finite, OptionalAttr<DenseF64ArrayAttr>:$loss_scale);
  let assemblyFormat = [{
    $sym_name `forward` `(` $forward `)` (`optimizer` `(` $optimizer^ `)`)? `microbatches` `(` $microbatches `)`
    `schedule` `(` $schedule `)` (`clip` `(` $clip^ `)`)? (`accumulate` `(` $accumulate^ `)`)?
    (`recompute` `(` $recompute^ `)`)? attr-dict
  }];
  let hasVerifier = 1;
}

def Dist_StepOp : Dist_SymbolOp<"step", [Dist_SymbolUser]> {
  let summary = "a training step: a function for each microbatch, then the update";
  let description = [{
    ```mlir
    dist.step @train microbatch(@microbatch) update(@update) microbatches(4) schedule(<1f1b>)
    ```
    The results of `@microbatch` that are gradients, loss sum or count are
    summed over microbatches, in microbatch order, in the row's `accumulate`
    type; `@update` takes the sums. Made by phase 1; phase 6 puts a
    `dist.timeline` in its place.

    Constraints: both are functions; every argument of both is an input, a
    hyper value, a state, step, microbatch, or a sum, every result a state, a
    sum (of `@microbatch`) or a metric (of `@update`); inputs and
    microbatch index belong to `@microbatch` alone; states that are read or written exist,
    have the role that the port says and the value's shape and element type; a state is written at most once, a parameter only
    by `@update`; `@microbatch` returns one loss sum and one count; each gradient that
    `@update` takes is returned by `@microbatch` with the same type (encoding
    included) and shape of its state; microbatches at least 1; `chunks`, the chunk of each
    block, ascends from 0 by at most 1.

    Phase 2 adds `chunks`, phase 5 `table`.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, FlatSymbolRefAttr:$microbatch, FlatSymbolRefAttr:$update,
                       Dist_I64Attr:$microbatches, Dist_ScheduleAttr:$schedule, OptionalAttr<Dist_RecomputeAttr>:$recompute,
                       OptionalAttr<DenseI64ArrayAttr>:$chunks, OptionalAttr<Dist_TableAttr>:$table);
  let assemblyFormat = [{
    $sym_name `microbatch` `(` $microbatch `)` `update` `(` $update `)` `microbatches` `(` $microbatches `)`
    `schedule` `(` $schedule `)` (`recompute` `(` $recompute^ `)`)? (`chunks` `(` $chunks^ `)`)?
    (`table` `(` $table^ `)`)? attr-dict
  }];
  let hasVerifier = 1;
}

def Dist_EntryOp : Dist_SymbolOp<"entry", [Dist_SymbolUser]> {
  let summary = "a function that can be run by name";
  let description = [{
    ```mlir
    dist.entry @forward function(@f)
    dist.entry @train.counts counts(@train) function(@g)
    ```
    An entry that `counts` for a training step runs before it, once for each
    microbatch; the sums of its metrics are external hyper values of the step.

    Constraints: the function exists; what it counts for is a recipe, a step or
    a timeline, for which no other entry counts, and each of its results a metric
    with the name of an external hyper value; its arguments are inputs, hyper values,
    states, step or microbatch, its results states, loss, metrics or outputs; states
    exist and have the value's shape and element type; `chunks` as in `dist.step`.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, OptionalAttr<FlatSymbolRefAttr>:$counts, FlatSymbolRefAttr:$function,
                       OptionalAttr<DenseI64ArrayAttr>:$chunks, OptionalAttr<Dist_TableAttr>:$table);
  let assemblyFormat = [{
    $sym_name (`counts` `(` $counts^ `)`)? `function` `(` $function `)` (`chunks` `(` $chunks^ `)`)? (`table` `(` $table^ `)`)? attr-dict
  }];
  let hasVerifier = 1;
}

def Dist_ExecutionOp : Dist_Op<"execution", [HasParent<"::mlir::ModuleOp">]> {
  let summary = "what the last phases take beside the program";
  let description = [{
    ```mlir
    dist.execution seed(17) threads(4) target("cuda:sm_90")
    ```
    The seed of initial values and of the order of samples, the threads for
    which scratch memory is reserved on each device, and what the program is
    compiled for, "cpu" where it is left out. Written after import, so that a
    compilation can be resumed from the text alone.

    Constraints: once in a module; at least one thread.
  }];
  let arguments = (ins Dist_I64Attr:$seed, Dist_I64Attr:$threads, OptionalAttr<StrAttr>:$target);
  let assemblyFormat = "`seed` `(` $seed `)` `threads` `(` $threads `)` (`target` `(` $target^ `)`)? attr-dict";
  let hasVerifier = 1;
}

} // opDocGroup

#endif // LLMC_DIALECT_DIST_IR_DISTPROGRAMOPS
