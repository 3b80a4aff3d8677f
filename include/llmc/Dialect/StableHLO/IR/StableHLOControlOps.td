//===- StableHLOControlOps.td - Loops, branches, calls --------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The import replaces these ops: loops by their trips, branches by the one that
// is taken or by all of them, a composite by the op that has its name or by its
// decomposition.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_DIALECT_STABLEHLO_IR_STABLEHLOCONTROLOPS_TD
#define LLMC_DIALECT_STABLEHLO_IR_STABLEHLOCONTROLOPS_TD

include "mlir/IR/OpAsmInterface.td"
include "mlir/IR/SymbolInterfaces.td"
include "llmc/Dialect/StableHLO/IR/StableHLOElementwiseOps.td"

def StableHLO_WhileOp : StableHLO_Op<"while", [RecursiveMemoryEffects,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmBlockArgumentNames"]>]> {
  let summary = "A body that is repeated as long as a condition holds";
  let description = [{
    Both regions take what goes into a trip; the body returns what goes into the
    next one, and the results are what the condition refused.

    ```mlir
    %r:2 = stablehlo.while(%iterArg = %a, %iterArg_0 = %b) : tensor<i32>, tensor<4xf32>
    cond { … stablehlo.return %p : tensor<i1> } do { … stablehlo.return %i, %x … }
    ```

    Constraints: arguments of both regions, results of the body and results of the
    op have the shapes and element types of the operands; the condition returns
    a scalar of i1.
  }];
  let arguments = (ins Variadic<GraphOrComplexTensor>:$operand);
  let results = (outs Variadic<GraphOrComplexTensor>:$result);
  let regions = (region SizedRegion<1>:$cond, SizedRegion<1>:$body);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def StableHLO_CaseOp : StableHLO_Op<"case", [RecursiveMemoryEffects]> {
  let summary = "The branch with a number";
  let description = [{
    An index out of range takes the last branch.

    Constraints: the index is a scalar of i32; there is at least one branch; branches
    take nothing, and return the shapes and element types of the results.
  }];
  let arguments = (ins IndexScalar:$index);
  let results = (outs Variadic<GraphOrComplexTensor>:$result);
  let regions = (region VariadicRegion<SizedRegion<1>>:$branches);
  let hasVerifier = 1;
}

def StableHLO_IfOp : StableHLO_Op<"if", [RecursiveMemoryEffects]> {
  let summary = "One of two branches";
  let description = [{
    Constraints: the predicate is a scalar of i1; branches take nothing, and return
    the shapes and element types of the results.
  }];
  let arguments = (ins BoolTensor:$pred);
  let results = (outs Variadic<GraphOrComplexTensor>:$result);
  let regions = (region SizedRegion<1>:$true_branch, SizedRegion<1>:$false_branch);
  let hasVerifier = 1;
}

def StableHLO_CompositeOp : StableHLO_Op<"composite",
    [DeclareOpInterfaceMethods<SymbolUserOpInterface>]> {
  let summary = "An op by its name, with a function that computes the same";
  let description = [{
    `stablehlo.composite "my.gelu" %x {decomposition = @gelu} : (T) -> T`

    Constraints: the name has a namespace; the decomposition is a function of the
    module, whose arguments and results have the types of inputs and results.
  }];
  let arguments = (ins Variadic<AnyType>:$inputs, StrAttr:$name,
                       OptionalAttr<DictionaryAttr>:$composite_attributes,
                       FlatSymbolRefAttr:$decomposition,
                       DefaultValuedOptionalAttr<I32Attr, "0">:$version);
  let results = (outs Variadic<AnyType>:$result);
  let assemblyFormat = "$name $inputs attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def StableHLO_CustomCallOp : StableHLO_Op<"custom_call"> {
  let summary = "What another program calls by a name";
  let description = [{
    The import makes `@Sharding` a constraint and `@ragged_all_to_all` the op of
    that name, drops `@annotate_device_placement` and refuses all others by their
    name.
  }];
  let arguments = (ins Variadic<AnyType>:$inputs, StrAttr:$call_target_name,
                       DefaultValuedOptionalAttr<BoolAttr, "false">:$has_side_effect,
                       OptionalAttr<AnyAttr>:$backend_config,
                       OptionalAttr<I32Attr>:$api_version,
                       OptionalAttr<ArrayAttr>:$called_computations,
                       OptionalAttr<ArrayAttr>:$operand_layouts,
                       OptionalAttr<ArrayAttr>:$result_layouts,
                       OptionalAttr<ArrayAttr>:$output_operand_aliases);
  let results = (outs Variadic<AnyType>:$result);
  let assemblyFormat = [{
    custom<CallTarget>($call_target_name) `(` $inputs `)` attr-dict `:`
    functional-type(operands, results)
  }];
}

def StableHLO_TupleOp : StableHLO_Op<"tuple", [Pure]> {
  let summary = "Several values as one";
  let description = [{
    Older texts return tuples. The import takes them apart.

    Constraints: the result is the tuple of the values' types.
  }];
  let arguments = (ins Variadic<AnyType>:$values);
  let results = (outs AnyTuple:$result);
  let assemblyFormat = "$values attr-dict `:` custom<TupleTypes>(type($values), type($result))";
  let hasVerifier = 1;
}

def StableHLO_GetTupleElementOp : StableHLO_Op<"get_tuple_element", [Pure]> {
  let summary = "One of the values of a tuple";
  let description = "Constraints: an index within the tuple; the result is of that type.";
  let arguments = (ins AnyTuple:$operand, I32Attr:$index);
  let results = (outs AnyType:$result);
  let assemblyFormat = [{
    $operand `[` $index `]` attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

#endif // LLMC_DIALECT_STABLEHLO_IR_STABLEHLOCONTROLOPS_TD
