//===- DistCollectiveOps.td - Collectives over mesh axes ---*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Communication over axes of a mesh. Each op has two typings: before localize
// its types are global shapes with layouts, after it local shapes.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_DIALECT_DIST_IR_DISTCOLLECTIVEOPS
#define LLMC_DIALECT_DIST_IR_DISTCOLLECTIVEOPS

include "llmc/Dialect/Dist/IR/DistInterfaces.td"
include "llmc/Dialect/Dist/IR/DistLayoutOps.td"

def Dist_CollectiveGroup : OpDocGroup {
  let summary = "Collectives";
  let description = [{
    Each takes a list of buffers and moves them together. `over [...]` names the
    axes, major to minor; the groups are the devices that differ in these axes
    alone. A name (`@c0`) is shared by the clones of one collective in several
    programs; `on @mesh` is needed where the types have no layouts and the
    module has several meshes. On global values each is the identity.
    One with a name has an effect: a program without a use of its result has it
    too, since the others wait for it. One without a name has none.

    Constraints of all: at least one buffer; as many results; either all types
    have layouts of one mesh, or none has; at least one axis, each once and of the mesh;
    element types are kept.
  }];
}

class Dist_CollectiveOp<string mnemonic, dag extra = (ins)>
    : Dist_Op<mnemonic, [AlwaysSpeculatable, DeclareOpInterfaceMethods<MemoryEffectsOpInterface>, Dist_SymbolUser,
                         DeclareOpInterfaceMethods<Dist_CollectiveInterface, ["verifyBuffer", "getExchange"]>]> {
  let arguments = !con((ins OptionalAttr<FlatSymbolRefAttr>:$symbol, Variadic<AnyRankedTensor>:$inputs), extra,
                       (ins StrArrayAttr:$axes, OptionalAttr<FlatSymbolRefAttr>:$mesh));
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let hasVerifier = 1;
  let extraClassDefinition = [{
    void $cppClass::getEffects(
        ::llvm::SmallVectorImpl<::mlir::SideEffects::EffectInstance<::mlir::MemoryEffects::Effect>> &effects) {
      addMeeting(getSymbolAttr(), effects);
    }
  }];
}

let opDocGroup = Dist_CollectiveGroup in {

def Dist_AllReduceOp : Dist_CollectiveOp<"all_reduce", (ins Dist_ReductionAttr:$kind)> {
  let summary = "reduces over the axes; every device gets the result";
  let description = [{
    ```mlir
    %x0 = dist.all_reduce %x0p over ["tensor"] sum : tensor<4x4xf32>
    %s:2 = dist.all_reduce @stats %a, %b over ["tensor"] sum : tensor<4xf32>, tensor<4xf32>
    ```
    Constraints: with layouts, the input is partial over all axes with this kind
    and the result has the input's layout without these; otherwise equal types.
    All members get the same bits.
  }];
  let assemblyFormat = [{
    ($symbol^)? $inputs `over` custom<AxisNames>($axes) (`on` $mesh^)? $kind attr-dict `:`
    custom<BufferTypes>(type($inputs), type($results))
  }];
}

def Dist_ReduceScatterOp : Dist_CollectiveOp<"reduce_scatter", (ins Dist_ReductionAttr:$kind, Dist_I64Attr:$dim)> {
  let summary = "reduces over the axes; each device gets its part of a dim";
  let description = [{
    ```mlir
    %s = dist.reduce_scatter %p dim 0 over ["tensor"] sum : tensor<4x4xf32> -> tensor<2x4xf32>
    ```
    Constraints: with layouts, the input is partial over all axes with this
    kind, and in the result the axes are appended to the dim's axes; otherwise
    the dim's size is divided by the number of members.
  }];
  let assemblyFormat = [{
    ($symbol^)? $inputs `dim` $dim `over` custom<AxisNames>($axes) (`on` $mesh^)? $kind attr-dict `:`
    custom<BufferTypes>(type($inputs), type($results))
  }];
}

def Dist_AllGatherOp : Dist_CollectiveOp<"all_gather", (ins Dist_I64Attr:$dim)> {
  let summary = "each device gets the parts of a dim that all members hold";
  let description = [{
    ```mlir
    %x = dist.all_gather %s dim 0 over ["tensor"] : tensor<2x4xf32> -> tensor<4x4xf32>
    ```
    Constraints: with layouts, the axes are the last of the dim's axes, and the
    result lacks them; otherwise the dim's size is multiplied by the number of
    members.
  }];
  let assemblyFormat = [{
    ($symbol^)? $inputs `dim` $dim `over` custom<AxisNames>($axes) (`on` $mesh^)? attr-dict `:`
    custom<BufferTypes>(type($inputs), type($results))
  }];
}

def Dist_AllToAllOp : Dist_CollectiveOp<"all_to_all", (ins Dist_I64Attr:$split_dim, Dist_I64Attr:$concat_dim)> {
  let summary = "moves axes from the end of one dim's list to the end of another's";
  let description = [{
    ```mlir
    %y = dist.all_to_all %x split 1 concat 0 over ["x"] : tensor<2x8xf32> -> tensor<4x4xf32>
    ```
    Constraints: the dims differ; with layouts, the axes are the last of the
    concatenated dim's axes and are appended to the split dim's; otherwise sizes
    are divided and multiplied by the number of members.
  }];
  let assemblyFormat = [{
    ($symbol^)? $inputs `split` $split_dim `concat` $concat_dim `over` custom<AxisNames>($axes) (`on` $mesh^)?
    attr-dict `:` custom<BufferTypes>(type($inputs), type($results))
  }];
}

def Dist_PermuteOp : Dist_CollectiveOp<"permute", (ins OptionalAttr<StrArrayAttr>:$to,
                                                       OptionalAttr<DenseI64ArrayAttr>:$from)> {
  let summary = "exchanges equal parts between devices";
  let description = [{
    ```mlir
    %y = dist.permute %x over ["x", "y"] to ["y", "x"] : tensor<2x4xf32>
    %z = dist.permute %x over ["x"] from [3, 0, 1, 2] : tensor<2x4xf32>
    ```
    With `from`, member i receives from member `from[i]`. With `to`, each member has two numbers: its coordinates read as digits in the order of
    `over`, and read in the order of `to`. A device receives from the member
    whose number by `over` equals its own number by `to`. So `[{x, y} ]` becomes
    `[{y, x} ]`, and `[{x}, {y} ]` becomes `[{y}, {x} ]`.

    Constraints: one of the two. `to` is a permutation of the axes, and another
    order; with layouts, each dim has as many parts before as after, and extents,
    partial axes and pins are unchanged; otherwise equal types. `from` is a
    permutation of the members, and no layouts.
  }];
  let assemblyFormat = [{
    ($symbol^)? $inputs `over` custom<AxisNames>($axes) (`to` custom<AxisNames>($to)^)? (`from` $from^)? (`on` $mesh^)? attr-dict `:`
    custom<BufferTypes>(type($inputs), type($results))
  }];
}

def Dist_BroadcastOp : Dist_CollectiveOp<"broadcast", (ins DenseI64ArrayAttr:$from)> {
  let summary = "the value of one member for all";
  let description = [{
    ```mlir
    %y = dist.broadcast %x from [0] over ["data"] : tensor<4xf32>
    ```
    `from` has one coordinate for each axis.

    Constraints: coordinates lie inside their axes; with layouts, the input is
    pinned at (or partial by sum over) each axis and the result neither, all else equal;
    otherwise equal types.
  }];
  let assemblyFormat = [{
    ($symbol^)? $inputs `from` $from `over` custom<AxisNames>($axes) (`on` $mesh^)? attr-dict `:`
    custom<BufferTypes>(type($inputs), type($results))
  }];
}

def Dist_ReduceOp : Dist_CollectiveOp<"reduce", (ins Dist_ReductionAttr:$kind, DenseI64ArrayAttr:$to)> {
  let summary = "reduces over the axes; one member gets the result";
  let description = [{
    ```mlir
    %y = dist.reduce %x to [1] over ["pipe"] sum : tensor<4xf32>
    ```
    What the other members hold afterwards is undefined.

    Constraints: coordinates lie inside their axes; with layouts, the input is
    partial over each axis with this kind and the result pinned at the coordinate, all
    else equal; otherwise equal types.
  }];
  let assemblyFormat = [{
    ($symbol^)? $inputs `to` $to `over` custom<AxisNames>($axes) (`on` $mesh^)? $kind attr-dict `:`
    custom<BufferTypes>(type($inputs), type($results))
  }];
}

def Dist_RaggedAllToAllOp : Dist_CollectiveOp<"ragged_all_to_all", (ins RankedTensorOf<[I64]>:$counts, Dist_I64Attr:$dim)> {
  let summary = "slices of rows to each member, as many as the run says";
  let description = [{
    ```mlir
    %y = dist.ragged_all_to_all %x dim 0 counts %n : tensor<4x4xi64> over ["expert"] : tensor<8x16xf32> -> tensor<32x16xf32>
    ```
    What `dist.send_rows` becomes where an axis splits its members. Of the device's
    lists of slices, `counts`, as there, those for member i come from place i n /
    members on; each has an entry for each slice that goes out, the last one
    for each that comes in. Rows that nobody sends are zero; a slice that does
    not fit ends the run.

    Constraints: no layouts, one buffer; input and result differ in their rows,
    dim `dim`, only; `counts` are [dims before `dim`, 4, n] of i64, n a multiple of the members.
  }];
  let assemblyFormat = [{
    ($symbol^)? $inputs `dim` $dim `counts` $counts `:` type($counts) `over` custom<AxisNames>($axes) (`on` $mesh^)?
    attr-dict `:` custom<BufferTypes>(type($inputs), type($results))
  }];
}

} // opDocGroup

def Dist_RouteOp : Dist_Op<"route", [Pure, SameOperandsAndResultType]> {
  let summary = "rows of a dim from other rows, or zeros";
  let description = [{
    ```mlir
    %y = dist.route %x dim 0 from [3, 0, 1, 2] : tensor<4x8xf32>
    %z = dist.route %x dim 0 from [-1, 0, 1, 2] split : tensor<4x8xf32>
    ```
    Row i of the result is row `from[i]` of the input, zero where that is -1: what
    devices send to each other in a manual region, where each has a row. Made by
    the import. Where an axis splits the dim, phase 3 marks it `split`, and
    localize makes it permutations between devices; where none does, it is
    slices, when kernels are formed.

    Constraints: an entry for each row, in [-1, rows), no row twice.
  }];
  let arguments = (ins AnyRankedTensor:$input, Dist_I64Attr:$dim, DenseI64ArrayAttr:$from, UnitAttr:$split);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$input `dim` $dim `from` $from (`split` $split^)? attr-dict `:` type($input)";
  let hasVerifier = 1;
}

def Dist_SendRowsOp : Dist_Op<"send_rows", [Pure]> {
  let summary = "slices of rows from members to members, as many as the run says";
  let description = [{
    ```mlir
    %y = dist.send_rows %x, %slices : tensor<4x8x16xf32>, tensor<4x4x4xi64> -> tensor<4x32x16xf32>
    ```
    What devices of a manual region send to each other where the data says how much
    (`ragged_all_to_all`). Here 4 members have 8 rows each, and get up to 32. Of
    member i, `slices[i]` has four lists with an entry for each slice: the first row
    that is sent, how many are, the row of the receiver from which on they lie there,
    and how many rows come in for slice i of the list of the member that sends
    them. With s slices for each member, entries j s to j s + s - 1 go to member j.
    Rows that nobody sends are zero. The sizes of `slices` before the members are
    those of a batch, which `input` and the result have too.

    Slices that leave their rows, overlap in the result or are not those
    that are expected are errors where devices exchange them. Where no axis
    splits the members, a row that does not exist is any row.

    Made by the import. Where an axis splits the members, phase 3 marks it `split`,
    and localize makes it `dist.ragged_all_to_all`; where none does, it is a gather.

    Constraints: `slices` is [batch…, members, 4, n], n a multiple of the members;
    `input` and the result are [batch…, members, rows, …] and differ in their rows only.
  }];
  let arguments = (ins AnyRankedTensor:$input, RankedTensorOf<[I64]>:$slices, UnitAttr:$split);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $input `,` $slices (`split` $split^)? attr-dict `:` type($input) `,` type($slices) `->` type($result)
  }];
  let hasVerifier = 1;
  let extraClassDeclaration = [{
    /// The dim of the members; that of their rows is the next one.
    int64_t getMembersDim() { return getSlices().getType().getRank() - 3; }
    int64_t getNumMembers() { return getSlices().getType().getDimSize(getMembersDim()); }
  }];
}

#endif // LLMC_DIALECT_DIST_IR_DISTCOLLECTIVEOPS
