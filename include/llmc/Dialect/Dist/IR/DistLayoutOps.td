//===- DistLayoutOps.td - Ops that change or state layouts -*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Changes of layout as values: constraint, reshard, keep, join, fence and the
// device's own coordinate.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_DIALECT_DIST_IR_DISTLAYOUTOPS
#define LLMC_DIALECT_DIST_IR_DISTLAYOUTOPS

include "llmc/Dialect/Dist/IR/DistProgramOps.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def Dist_LayoutGroup : OpDocGroup {
  let summary = "Layouts";
  let description = [{
    On global values all of these are the identity; what they change is where
    the elements live.
  }];
}

let opDocGroup = Dist_LayoutGroup in {

def Dist_ConstraintOp : Dist_Op<"constraint", [Pure, SameOperandsAndResultType, Dist_SymbolUser]> {
  let summary = "states the layout that a value shall have";
  let description = [{
    ```mlir
    %y = dist.constraint %x to <@mesh, [{"data", ?}, {} ]> : tensor<8x4xf32>
    ```
    Made by the importer (patterns, `sdy` annotations), read by propagation, gone after
    materialize. Open dims may be split further. A `hint`, of a manual region that was
    written for a mesh of other sizes, is dropped where the layout does not fit.

    Constraints: the layout has the tensor's rank and fits shape and mesh; no encoding.
  }];
  let arguments = (ins AnyRankedTensor:$input, Dist_LayoutAttr:$layout, UnitAttr:$hint);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$input `to` $layout (`hint` $hint^)? attr-dict `:` type($input)";
  let hasFolder = 1;
}

def Dist_ReshardOp : Dist_Op<"reshard", [Pure, Dist_SymbolUser]> {
  let summary = "gives a value another layout";
  let description = [{
    ```mlir
    %x0 = dist.reshard %x0p : tensor<8x4xf32, #tp0> -> tensor<8x4xf32, #r0>
    ```
    Made by materialize wherever layouts differ; the planner then replaces it by
    collectives, transfers and reshards that move nothing. Gone after localize.

    Constraints: same shape and element type; both types have layouts, of meshes that exist, that fit
    shape and mesh.
  }];
  let arguments = (ins AnyRankedTensor:$input);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$input attr-dict `:` type($input) `->` type($result)";
  let hasFolder = 1;
  let hasCanonicalizer = 1;
  let hasVerifier = 1;
}

def Dist_KeepOp : Dist_Op<"keep", [Pure, Dist_SymbolUser]> {
  let summary = "makes a full value partial: kept on one coordinate, or embedded";
  let description = [{
    ```mlir
    %k = dist.keep %x where "data" = 0 : tensor<8xf32, #full> -> tensor<8xf32, #partial_data>
    %e = dist.keep %x where "data" : tensor<8xf32, #split_data> -> tensor<8xf32, #partial_data>
    ```
    The sum over the axis is the value again, or the product where the result is
    partial by product. With a coordinate, only that coordinate holds the value
    and the others the neutral element, 0 or 1 (a select, never a multiplication);
    without one, the axis splits a dim as its minor-most axis and each device's
    part is embedded in neutral elements. Made by materialize, gone after localize.

    Constraints: same shape and element type. With encodings: the input is not
    partial over the axis and the result is the input's layout with sum or product over it;
    with a coordinate the axis splits no dim; without one it is the minor-most
    axis of a dim of the input and of none of the result; coordinates lie inside the axis.
    Without encodings: a coordinate, and equal types.
  }];
  let arguments = (ins AnyRankedTensor:$input, StrAttr:$axis, OptionalAttr<Dist_I64Attr>:$coordinate);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $input `where` $axis (`=` $coordinate^)? attr-dict `:` type($input) `->` type($result)
  }];
  let hasVerifier = 1;
}

def Dist_JoinOp : Dist_Op<"join", [Pure, Dist_SymbolUser]> {
  let summary = "sum of values that live at different coordinates of a pinned axis";
  let description = [{
    ```mlir
    %g = dist.join %h, %e over "pipe" : (tensor<10x4xf32, #at1>, tensor<10x4xf32, #at0>) -> tensor<10x4xf32, #at01>
    ```
    Each operand counts as zero where it does not live. No data moves and no
    kernel runs; it is gone after localize. On global values it is the sum.

    Constraints: at least two operands; same shape and element type; all types
    have layouts; operands are pinned on the axis at disjoint coordinates, are
    not partial over it unless at several coordinates, and otherwise have equal
    layouts; the result has that layout, at the union, partial by sum over the
    axis.
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$inputs, StrAttr:$axis);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$inputs `over` $axis attr-dict `:` functional-type($inputs, $result)";
  let hasVerifier = 1;
}

def Dist_FenceOp : Dist_Op<"fence", [AttrSizedOperandSegments]> {
  let summary = "identity that keeps a recomputation apart and late";
  let description = [{
    ```mlir
    %f = dist.fence(%x0) after(%dx) : tensor<4x4xf32>, tensor<4x4xf32>
    ```
    Clones made for recomputation read their inputs through a fence: common
    subexpressions are not merged across it, and what follows it does not start
    before the values after which it stands. Made by phase 6, an order edge in
    phase 7, gone in the plan.

    Its results count as freshly allocated, so that an unused fence can be
    erased and yet no two are merged.

    Constraints: at least one input; results have the inputs' types.
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$inputs, Variadic<AnyRankedTensor>:$after);
  let results = (outs Res<Variadic<AnyRankedTensor>, "", [MemAlloc]>:$results);
  let assemblyFormat = [{
    `(` $inputs `)` (`after` `(` $after^ `)`)? attr-dict `:` custom<FenceTypes>(type($inputs), type($after), type($results))
  }];
  let builders = [OpBuilder<(ins "::mlir::ValueRange":$inputs, CArg<"::mlir::ValueRange", "{}">:$after)>];
  let hasVerifier = 1;
}

def Dist_CoordinateOp : Dist_Op<"coordinate", [Pure, Dist_SymbolUser]> {
  let summary = "the device's own coordinate";
  let description = [{
    ```mlir
    %c = dist.coordinate ["tensor"] : tensor<i32>
    %d = dist.coordinate ["data", "tensor"] : tensor<i32>   // data * |tensor| + tensor
    ```
    Made by localize; becomes an expression of the plan.

    Constraints: at least one axis, each once and of the mesh; a tensor of rank
    0 of a signless integer.
  }];
  let arguments = (ins StrArrayAttr:$axes, OptionalAttr<FlatSymbolRefAttr>:$mesh);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "custom<AxisNames>($axes) (`on` $mesh^)? attr-dict `:` type($result)";
  let hasVerifier = 1;
}

} // opDocGroup

#endif // LLMC_DIALECT_DIST_IR_DISTLAYOUTOPS
