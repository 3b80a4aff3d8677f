//===- DistScheduleOps.td - Segments, transfers, timelines -*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How a step is cut into programs, and when they run.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_DIALECT_DIST_IR_DISTSCHEDULEOPS
#define LLMC_DIALECT_DIST_IR_DISTSCHEDULEOPS

include "llmc/Dialect/Dist/IR/DistCollectiveOps.td"
include "mlir/Interfaces/ControlFlowInterfaces.td"

def Dist_ScheduleGroup : OpDocGroup {
  let summary = "Segments and schedules";
  let description = "The cut of a step into chunks and phases, and its table.";
}

let opDocGroup = Dist_ScheduleGroup in {

def Dist_SegmentOp : Dist_Op<"segment", [RecursiveMemoryEffects, SingleBlock]> {
  let summary = "ops of one chunk and phase, or of some pipeline coordinates";
  let description = [{
    ```mlir
    %x, %a = dist.segment chunk(0) phase(forward) -> tensor<2x4xf32>, tensor<4xf32> {
      ...
      dist.yield %x1, %a1 : tensor<2x4xf32>, tensor<4xf32>
    }
    %w2 = dist.segment at(0, 1) phase(update) -> tensor<4x4xf32> { ... }
    ```
    With `loop(<"l", trips = 12>)` the ops of one trip: `dist.enter` stands among
    them, and results are values of trips, read by the same trip of another
    segment of the loop, or by `dist.leave`.

    Made by localize, which leaves no op of a step outside a segment; phase 6
    turns segments into functions. Values of earlier siblings are used directly;
    the results are exactly what crosses.

    Constraints: a chunk (at least 0), or in phase `update` the coordinates of
    the pipeline axis (ascending from 0 on); not nested; the yielded types are
    the result types.
  }];
  let arguments = (ins OptionalAttr<Dist_I64Attr>:$chunk, OptionalAttr<DenseI64ArrayAttr>:$at,
                       Dist_PhaseAttr:$phase, OptionalAttr<Dist_LoopAttr>:$loop);
  let results = (outs Variadic<AnyType>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    (`chunk` `(` $chunk^ `)`)? (`at` `(` custom<Coordinates>($at)^ `)`)? `phase` `(` custom<PhaseName>($phase) `)`
    (`loop` `(` $loop^ `)`)? (`->` type($results)^)? attr-dict-with-keyword $body
  }];
  let builders = [
    OpBuilder<(ins "::mlir::TypeRange":$results, "int64_t":$chunk, "Phase":$phase,
                   CArg<"LoopAttr", "{}">:$loop)>,
    OpBuilder<(ins "::mlir::TypeRange":$results, "::llvm::ArrayRef<int64_t>":$at)>
  ];
  let extraClassDeclaration = [{
    YieldOp getYield();
  }];
  let hasVerifier = 1;
  let hasRegionVerifier = 1;
}

def Dist_YieldOp : Dist_Op<"yield", [Pure, Terminator, ReturnLike, HasParent<"::llmc::dist::SegmentOp">]> {
  let summary = "results of a segment";
  let description = "Constraints: stands in a `dist.segment`.";
  let arguments = (ins Variadic<AnyType>:$operands);
  let assemblyFormat = "($operands^ `:` type($operands))? attr-dict";
  let builders = [OpBuilder<(ins), [{ build($_builder, $_state, ::mlir::ValueRange()); }]>];
}

def Dist_TransferOp : Dist_Op<"transfer", [Pure, Dist_SymbolUser]> {
  let summary = "moves a value from one coordinate of the pipeline axis to another";
  let description = [{
    ```mlir
    %x1r = dist.transfer @t0 %x1s along "pipe" 0 -> 1 : tensor<2x4xf32>
    ```
    Made by phase 3, becomes a send and a receive of the name's transfer.

    Constraints: the coordinates differ and lie inside the axis; with layouts, the input is
    pinned at the first coordinate alone, the result at the second, all else
    equal; otherwise equal types.
  }];
  let arguments = (ins FlatSymbolRefAttr:$symbol, AnyRankedTensor:$input, StrAttr:$axis, Dist_I64Attr:$from, Dist_I64Attr:$to,
                       OptionalAttr<FlatSymbolRefAttr>:$mesh);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $symbol $input `along` $axis $from `->` $to (`on` $mesh^)? attr-dict `:`
    custom<BufferType>(type($input), type($result))
  }];
  let hasVerifier = 1;
}

def Dist_TimelineOp : Dist_SymbolOp<"timeline", [Dist_SymbolUser]> {
  let summary = "a step as programs, transfers and a table";
  let description = [{
    ```mlir
    dist.timeline @train microbatches(2)
        programs([#dist.program<@train.c0.F, chunk = 0, phase = forward, at = [0]>, ...])
        transfers([#dist.route<@t0: @train.c0.F -> @train.c1.F>])
        table(#dist.table<["F0.0 F0.1 . B0.0 . B0.1 U", ...]>)
    ```
    Takes the place of `dist.step` and `dist.entry` in phase 6; `counts` as in
    `dist.entry`. Consumed by phase 7.

    Constraints: microbatches at least 1; every program is a function, named
    once, with every argument and result a port of a timeline (`buffer`, `input`,
    `hyper`, `act`, `carry`, `kept`, sums, `metric`, `output`, transfers, the microbatch); the programs of a (chunk, phase), of
    which each is a part that runs after those before it, stand side by side; for each coordinate
    one update at most; a transfer is named once, sent by its first
    program and received by its second with the same type; every cell has a program that runs at its
    row, and its microbatch exists; programs of phase `prepare` have no cell and run before all others, in their order; the table has a row for each pipeline coordinate
    of the mesh.
  }];
  let arguments = (ins SymbolNameAttr:$sym_name, OptionalAttr<FlatSymbolRefAttr>:$counts, Dist_I64Attr:$microbatches,
                       TypedArrayAttrBase<Dist_ProgramAttr, "array of programs">:$programs,
                       TypedArrayAttrBase<Dist_RouteAttr, "array of routes">:$transfers, Dist_TableAttr:$table);
  let assemblyFormat = [{
    $sym_name (`counts` `(` $counts^ `)`)? `microbatches` `(` $microbatches `)` `programs` `(` $programs `)` `transfers` `(` $transfers `)`
    `table` `(` $table `)` attr-dict
  }];
  let hasVerifier = 1;
}

} // opDocGroup

#endif // LLMC_DIALECT_DIST_IR_DISTSCHEDULEOPS
