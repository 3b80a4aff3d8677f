//===- SdyOps.td - Ops of the sdy dialect ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What JAX prints: meshes, constraints, manual regions.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_DIALECT_SDY_IR_SDYOPS_TD
#define LLMC_DIALECT_SDY_IR_SDYOPS_TD

include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/CommonAttrConstraints.td"
include "mlir/IR/SymbolInterfaces.td"
include "mlir/Interfaces/SideEffectInterfaces.td"
include "llmc/Dialect/Sdy/IR/SdyAttributes.td"

def Sdy_MeshOp : Op<Sdy_Dialect, "mesh", [Symbol]> {
  let summary = "Named mesh";
  let arguments = (ins SymbolNameAttr:$sym_name, Sdy_MeshAttr:$mesh);
  let assemblyFormat = "$sym_name `=` $mesh attr-dict";
}

def Sdy_ShardingConstraintOp : Op<Sdy_Dialect, "sharding_constraint",
    [Pure, AllTypesMatch<["input", "result"]>,
     DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Its operand, with a sharding asked for";
  let description = [{
    Constraints: the mesh exists; one entry for each dimension; axes of the mesh,
    no part of one twice.
  }];
  let arguments = (ins AnyRankedTensor:$input, Sdy_TensorShardingAttr:$sharding);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$input $sharding attr-dict `:` type($result)";
}

def Sdy_ShardingGroupOp : Op<Sdy_Dialect, "sharding_group"> {
  let summary = "Its operand lies as all values of its group";
  let description = [{
    The text's functions share the numbers of groups.

    Constraints: a number of at least 0.
  }];
  let arguments = (ins AnyRankedTensor:$input,
                       ConfinedAttr<I64Attr, [IntNonNegative]>:$group_id);
  let assemblyFormat = "$input `group_id` `` `=` `` $group_id attr-dict `:` type($input)";
}

def Sdy_PropagationBarrierOp : Op<Sdy_Dialect, "propagation_barrier",
    [Pure, AllTypesMatch<["input", "result"]>]> {
  let summary = "Its operand, which axes leave or enter in one direction only";
  let description = [{
    Axes pass to the result (`FORWARD`), to the operand (`BACKWARD`) or not at all
    (`NONE`).
  }];
  let arguments = (ins AnyRankedTensor:$input, StrAttr:$allowed_direction);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $input `allowed_direction` `` `=` `` custom<Direction>($allowed_direction) attr-dict `:`
    type($result)
  }];
  let hasVerifier = 1;
}

def Sdy_ManualComputationOp : Op<Sdy_Dialect, "manual_computation",
    [IsolatedFromAbove, RecursiveMemoryEffects, SingleBlock,
     DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "What one device of some axes computes";
  let description = [{
    The region has the part of each operand that the device holds by its sharding,
    of which only the axes `manual_axes` count, and returns its part of each result.

    Constraints: a sharding for each operand and each result, in which manual axes
    stand before others; arguments of the region and what it returns have the shape
    of operand and result, divided by the manual axes of each dimension; no axis is
    manual in an enclosing region too.
  }];
  let arguments = (ins Variadic<AnyRankedTensor>:$tensors,
                       Sdy_TensorShardingPerValueAttr:$in_shardings,
                       Sdy_TensorShardingPerValueAttr:$out_shardings,
                       Sdy_ManualAxesAttr:$manual_axes);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    `(` operands `)`
    `in_shardings` `` `=` `` custom<Shardings>($in_shardings)
    `out_shardings` `` `=` `` custom<Shardings>($out_shardings)
    `manual_axes` `` `=` `` custom<ManualAxes>($manual_axes)
    custom<ManualBody>($body) attr-dict `:` functional-type(operands, results)
  }];
  let hasRegionVerifier = 1;
}

def Sdy_ReturnOp : Op<Sdy_Dialect, "return",
    [Pure, Terminator, HasParent<"ManualComputationOp">]> {
  let summary = "End of a manual region";
  let arguments = (ins Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = "attr-dict ($results^ `:` type($results))?";
}

def Sdy_PlaceOp : Op<Sdy_Dialect, "place",
    [Pure, AllTypesMatch<["input", "result"]>,
     DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "Its operand, with a sharding where the mesh allows it";
  let description = [{
    A constraint that follows from a manual region: the text says for which mesh it
    is written, and the program may run on another. Made by the import, and gone
    with it.

    Constraints: as `sdy.sharding_constraint`.
  }];
  let arguments = (ins AnyRankedTensor:$input, Sdy_TensorShardingAttr:$sharding);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = "$input $sharding attr-dict `:` type($result)";
}

class Sdy_BoundaryOp<string mnemonic> : Op<Sdy_Dialect, mnemonic,
    [Pure, DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let arguments = (ins AnyRankedTensor:$input, Sdy_TensorShardingAttr:$sharding,
                       Sdy_ManualAxesAttr:$manual_axes);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $input $sharding `manual_axes` `` `=` `` custom<ManualAxes>($manual_axes) attr-dict `:`
    functional-type(operands, results)
  }];
}

def Sdy_ToLocalOp : Sdy_BoundaryOp<"to_local"> {
  let summary = "The part that a device holds";
  let description = [{
    The entry of a manual region whose ops stand among all others. Made by the
    import, and gone with it.

    Constraints: those of `sdy.manual_computation` for an operand.
  }];
}

def Sdy_ToGlobalOp : Sdy_BoundaryOp<"to_global"> {
  let summary = "The whole of which devices hold the parts";
  let description = [{
    The exit of a manual region whose ops stand among all others. Made by the
    import, and gone with it.

    Constraints: those of `sdy.manual_computation` for a result.
  }];
}

#endif // LLMC_DIALECT_SDY_IR_SDYOPS_TD
