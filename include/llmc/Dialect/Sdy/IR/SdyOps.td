//===- SdyOps.td - Ops of the sdy dialect ---------------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The two ops that JAX prints outside manual regions.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_DIALECT_SDY_IR_SDYOPS_TD
#define LLMC_DIALECT_SDY_IR_SDYOPS_TD

include "mlir/IR/BuiltinAttributeInterfaces.td"
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

#endif // LLMC_DIALECT_SDY_IR_SDYOPS_TD
