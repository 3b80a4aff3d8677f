//===- PlanTableOps.td - Streams, frames, programs, entries ---------------===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tables of a plan: everything but the instructions.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_DIALECT_PLAN_IR_PLANTABLEOPS
#define LLMC_DIALECT_PLAN_IR_PLANTABLEOPS

include "llmc/Dialect/Plan/IR/PlanAttrs.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/CommonAttrConstraints.td"
include "mlir/IR/CommonTypeConstraints.td"
include "mlir/IR/SymbolInterfaces.td"

// Read with its sign, so that verifiers see negative numbers.
def Plan_I64Attr : TypedSignlessIntegerAttrBase<I64, "int64_t", "64-bit integer"> {
  let convertFromStorage = "$_self.getValue().getSExtValue()";
}

class Plan_Op<string mnemonic, list<Trait> traits = []> : Op<Plan_Dialect, mnemonic, traits>;
class Plan_SymbolOp<string mnemonic, list<Trait> traits = []>
    : Plan_Op<mnemonic, !listconcat([Symbol, HasParent<"::mlir::ModuleOp">], traits)>;

def Plan_SymbolUser : DeclareOpInterfaceMethods<SymbolUserOpInterface, ["verifySymbolUses"]>;

def Plan_TableGroup : OpDocGroup {
  let summary = "Tables";
  let description = "What a plan has: each op is an entry of one of its tables.";
}

let opDocGroup = Plan_TableGroup in {

def Plan_DeviceOp : Plan_Op<"device", [HasParent<"::mlir::ModuleOp">]> {
  let summary = "what holds for every device of the plan";
  let description = [{
    ```mlir
    plan.device threads(2) seed(7) arenas([1296, 736])
    ```
    Threads of a device's kernels, and from phase 8 on the bytes of each stage's
    arena.

    Constraints: threads at least 1; arenas at least 0.
  }];
  let arguments = (ins Plan_I64Attr:$threads, DefaultValuedAttr<Plan_I64Attr, "0">:$seed, OptionalAttr<DenseI64ArrayAttr>:$arenas);
  let assemblyFormat = [{
    `threads` `(` $threads `)` (`seed` `(` $seed^ `)`)? (`arenas` `(` $arenas^ `)`)? attr-dict
  }];
  let hasVerifier = 1;
}

def Plan_StreamOp : Plan_SymbolOp<"stream"> {
  let summary = "a list of instructions that run in order";
  let description = [{
    ```mlir
    plan.stream @C compute
    plan.stream @T collective priority(1)
    ```
    Ready heads of greater priority run first.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, Plan_StreamKindAttr:$kind, DefaultValuedAttr<Plan_I64Attr, "0">:$priority);
  let assemblyFormat = "$sym_name $kind (`priority` `(` $priority^ `)`)? attr-dict";
}

def Plan_FrameOp : Plan_SymbolOp<"frame"> {
  let summary = "a place for buffers, bound to one of its slots by each call";
  let description = [{
    ```mlir
    plan.frame @act0 act slots(2) slot(<mod(microbatch, 2)>) events(8) chunk(0) stages([0])
    plan.frame @tmp tmp events(4) offset(512) size(224)
    ```
    Event 0 of each slot is `free`. `offset` (of slot 0 in the arena) and
    `size` (of a slot) are there from phase 8 on. `chunk` is the chunk whose
    microbatches in flight an `act` frame holds.

    Constraints: slots and events at least 1; a slot expression where there are several
    slots; stages ascending; offset and size together, at least 0 and multiples of 64; a
    chunk on `act` frames alone.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, Plan_FrameKindAttr:$kind, DefaultValuedAttr<Plan_I64Attr, "1">:$slots,
                       OptionalAttr<Plan_ExprAttr>:$slot, DefaultValuedAttr<Plan_I64Attr, "1">:$events,
                       OptionalAttr<Plan_I64Attr>:$chunk, OptionalAttr<DenseI64ArrayAttr>:$stages,
                       OptionalAttr<Plan_I64Attr>:$offset, OptionalAttr<Plan_I64Attr>:$size);
  let assemblyFormat = [{
    $sym_name $kind (`slots` `(` $slots^ `)`)? (`slot` `(` $slot^ `)`)? (`events` `(` $events^ `)`)?
    (`chunk` `(` $chunk^ `)`)? (`stages` `(` $stages^ `)`)? (`offset` `(` $offset^ `)`)?
    (`size` `(` $size^ `)`)? attr-dict
  }];
  let extraClassDeclaration = [{
    bool isPlaced() { return getOffset().has_value(); }
  }];
  let hasVerifier = 1;
}

def Plan_BufferOp : Plan_SymbolOp<"buffer", [Plan_SymbolUser]> {
  let summary = "bytes of a frame";
  let description = [{
    ```mlir
    plan.buffer @tmp.x0 in @tmp bytes(64)
    plan.buffer @tmp.x0 in @tmp bytes(64) offset(128)
    ```
    The offset within a slot is there from phase 8 on; buffers whose lifetimes
    do not meet may share bytes.

    Constraints: the frame exists; bytes at least 0; the offset at least 0 and a multiple
    of 64; in a placed frame an offset, and the buffer inside the frame.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, FlatSymbolRefAttr:$frame, Plan_I64Attr:$bytes, OptionalAttr<Plan_I64Attr>:$offset);
  let assemblyFormat = "$sym_name `in` $frame `bytes` `(` $bytes `)` (`offset` `(` $offset^ `)`)? attr-dict";
  let hasVerifier = 1;
}

def Plan_PartOp : Plan_Op<"part", [HasParent<"::mlir::ModuleOp">, Plan_SymbolUser]> {
  let summary = "where a box of a state is stored";
  let description = [{
    ```mlir
    plan.part of @W1 origin([0, 4]) shape([4, 4]) layout(#dist.layout<...>) stages([0])
        place(<@state.W1, [4, 2], f32, offset = 8, strides = [6, 1]>)
    ```
    `shape` is that of the box in the whole tensor, the place has the device's
    local shape. Absent stages: all.

    Constraints: origin, shape and place have one rank; origins and sizes at least 0;
    the buffer exists and holds the place; stages ascending.
  }];
  let arguments = (ins FlatSymbolRefAttr:$state, DenseI64ArrayAttr:$origin, DenseI64ArrayAttr:$shape,
                       OptionalAttr<AnyAttr>:$layout, OptionalAttr<DenseI64ArrayAttr>:$stages, Plan_OperandAttr:$place);
  let assemblyFormat = [{
    `of` $state `origin` `(` $origin `)` `shape` `(` $shape `)` (`layout` `(` $layout^ `)`)?
    (`stages` `(` $stages^ `)`)? `place` `(` $place `)` attr-dict
  }];
  let hasVerifier = 1;
}

def Plan_SlotOp : Plan_Op<"slot", [HasParent<"::mlir::ModuleOp">, Plan_SymbolUser]> {
  let summary = "where a slot of a timeline's programs lies";
  let description = [{
    ```mlir
    plan.slot of @train port(#dist.port<act "a0", chunk = 0>) place(<@train.act0.a0, [48], f32>)
    plan.slot of @train port(#dist.port<gradient @w>) place(<@train.step.grad.w, [4, 6], f32>) fetched
    plan.slot of @train place(<@train.scratch.all, [4096], i8>)
    ```
    Made by `llmc-make-frames`, one for each slot of a `dist.timeline`, and
    consumed by `llmc-order-programs`; there is none after phase 7. `fetched`:
    the host gets the slot after the update. Without a port it is the kernels'
    scratch.

    Constraints: the timeline and the buffer exist, and the buffer holds the
    place; only what has a port is fetched.
  }];
  let arguments = (ins FlatSymbolRefAttr:$timeline, OptionalAttr<AnyAttr>:$port, Plan_OperandAttr:$place, UnitAttr:$fetched);
  let assemblyFormat = [{
    `of` $timeline (`port` `(` $port^ `)`)? `place` `(` $place `)` (`fetched` $fetched^)? attr-dict
  }];
  let hasVerifier = 1;
}

def Plan_ObjectOp : Plan_SymbolOp<"object"> {
  let summary = "a shared object with kernels, beside the plan";
  let description = [{
    ```mlir
    plan.object @kernels file("3f2a.so") hash(1234) features(["avx2", "fma"])
    ```
    Constraints: a plain file name, without folders.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, StrAttr:$file, Plan_I64Attr:$hash, StrArrayAttr:$features);
  let assemblyFormat = "$sym_name `file` `(` $file `)` `hash` `(` $hash `)` `features` `(` $features `)` attr-dict";
  let hasVerifier = 1;
}

def Plan_ProgramOp : Plan_SymbolOp<"program", [NoTerminator, SingleBlock]> {
  let summary = "instructions of one chunk and phase";
  let description = [{
    ```mlir
    plan.program @train.c0.F forward chunk(0) {
      plan.wait on @C @act0 event(0)
      ...
    }
    ```
    `parameters` counts the numbers that a call binds.

    Constraints: a chunk exactly for forward and backward phases; parameters at least 0;
    the body holds instructions only.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, Plan_PhaseAttr:$phase, OptionalAttr<Plan_I64Attr>:$chunk,
                       DefaultValuedAttr<Plan_I64Attr, "0">:$parameters);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    $sym_name $phase (`chunk` `(` $chunk^ `)`)? (`parameters` `(` $parameters^ `)`)? attr-dict-with-keyword $body
  }];
  let hasVerifier = 1;
}

def Plan_TableOp : Plan_SymbolOp<"table", [Plan_SymbolUser]> {
  let summary = "the schedule of an entry";
  let description = [{
    ```mlir
    plan.table @train.table programs([@train.c0.F, @train.c0.B]) rows(<["0.0 .", "1.0 0.0"]>)
    ```
    Constraints: programs exist; cells name one of them.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, TypedArrayAttrBase<FlatSymbolRefAttr, "array of programs">:$programs,
                       Plan_TableAttr:$rows);
  let assemblyFormat = "$sym_name `programs` `(` $programs `)` `rows` `(` $rows `)` attr-dict";
  let hasVerifier = 1;
}

def Plan_EntryOp : Plan_SymbolOp<"entry", [Plan_SymbolUser]> {
  let summary = "what can be run by name";
  let description = [{
    ```mlir
    plan.entry @train train microbatches(2) chunks(2) prologue([@p0, @p1]) table(@train.table)
        epilogue([@u0, unit]) inputs([#plan.input<"tokens", tensor<8xi32>>]) hypers([@lr])
        metrics([#plan.metric<"loss", f32>]) fetches([])
    ```
    Prologue and epilogue have a program for each stage, or `unit`. `reorder`:
    the backward of a chunk may leave the order of microbatches. Hyper values
    are symbols of `dist.hyper`. An entry that `counts(@train)` runs before each
    step of the other, once for each of its microbatches.

    Constraints: microbatches and chunks at least 1; table and programs exist; as many
    stages in prologue and epilogue as in the table; what it counts for is another entry; cells' microbatches exist; names of
    inputs, metrics and fetches occur once.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, Plan_EntryKindAttr:$kind,
                       OptionalAttr<FlatSymbolRefAttr>:$counts, Plan_I64Attr:$microbatches, Plan_I64Attr:$chunks,
                       UnitAttr:$reorder, ArrayAttr:$prologue, FlatSymbolRefAttr:$table, ArrayAttr:$epilogue,
                       TypedArrayAttrBase<Plan_InputAttr, "array of inputs">:$inputs,
                       TypedArrayAttrBase<FlatSymbolRefAttr, "array of hyper values">:$hypers,
                       TypedArrayAttrBase<Plan_MetricAttr, "array of metrics">:$metrics,
                       TypedArrayAttrBase<Plan_FetchAttr, "array of fetched values">:$fetches);
  let assemblyFormat = [{
    $sym_name $kind (`counts` `(` $counts^ `)`)? `microbatches` `(` $microbatches `)` `chunks` `(` $chunks `)` (`reorder` $reorder^)?
    `prologue` `(` $prologue `)` `table` `(` $table `)` `epilogue` `(` $epilogue `)` `inputs` `(` $inputs `)`
    `hypers` `(` $hypers `)` `metrics` `(` $metrics `)` `fetches` `(` $fetches `)` attr-dict
  }];
  let hasVerifier = 1;
}

} // opDocGroup

#endif // LLMC_DIALECT_PLAN_IR_PLANTABLEOPS
