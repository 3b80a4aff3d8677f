//===- StableHLOOps.td - Contractions, reductions, indexing ---------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The structured ops, and the file from which all ops are generated.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_DIALECT_STABLEHLO_IR_STABLEHLOOPS_TD
#define LLMC_DIALECT_STABLEHLO_IR_STABLEHLOOPS_TD

include "llmc/Dialect/StableHLO/IR/StableHLOCollectiveOps.td"
include "llmc/Dialect/StableHLO/IR/StableHLOComplexOps.td"
include "llmc/Dialect/StableHLO/IR/StableHLOControlOps.td"
include "llmc/Dialect/StableHLO/IR/StableHLODynamicOps.td"
include "llmc/Dialect/StableHLO/IR/StableHLOLinearAlgebraOps.td"
include "llmc/Dialect/StableHLO/IR/StableHLONormOps.td"
include "llmc/Dialect/StableHLO/IR/StableHLORandomOps.td"
include "llmc/Dialect/StableHLO/IR/StableHLOShapeOps.td"
include "llmc/Dialect/StableHLO/IR/StableHLOWindowOps.td"

def StableHLO_DotGeneralOp : StableHLO_Op<"dot_general", [Pure]> {
  let summary = "Contraction";
  let description = [{
    Result dimensions: batch, free of the left side, free of the right side. A
    result element type wider than the operands' is the accumulation type.

    Constraints: batching and contracting dimensions pair off, are distinct on
    each side, and have equal sizes; the result has the shape above; precisions
    are none or two; operands and result are all floats or all no floats. With an
    algorithm both precisions are `DEFAULT`.
  }];
  let arguments = (ins GraphOrComplexTensor:$lhs, GraphOrComplexTensor:$rhs,
                       StableHLO_DotDimensionNumbersAttr:$dot_dimension_numbers,
                       OptionalAttr<StableHLO_PrecisionConfigAttr>:$precision_config,
                       OptionalAttr<StableHLO_DotAlgorithmAttr>:$algorithm);
  let results = (outs GraphOrComplexTensor:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs `,` custom<DotDimensions>($dot_dimension_numbers)
    `` custom<DotPrecision>($precision_config, $algorithm)
    attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def StableHLO_DotOp : StableHLO_Op<"dot", [Pure]> {
  let summary = "Product of vectors and matrices";
  let description = [{
    The form that `dot_general` has replaced: the import writes it so.

    Constraints: operands of rank 1 or 2; the last dimension of the left side has the
    size of the first one of the right, and the result has the others; precisions and
    element types are as those of `dot_general`.
  }];
  let arguments = (ins GraphOrComplexTensor:$lhs, GraphOrComplexTensor:$rhs,
                       OptionalAttr<StableHLO_PrecisionConfigAttr>:$precision_config);
  let results = (outs GraphOrComplexTensor:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs `` custom<Precision>($precision_config)
    attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def StableHLO_MapOp : StableHLO_Op<"map", [RecursiveMemoryEffects,
    RecursivelySpeculatable]> {
  let summary = "A function of scalars on the elements of tensors";
  let description = [{
    The import writes the function's ops on tensors.

    Constraints: n >= 1 inputs of one shape, the result's; `dimensions` are all of
    them in order; the function takes a scalar of each input's element type and
    returns one of the result's.
  }];
  let arguments = (ins Variadic<GraphOrComplexTensor>:$inputs, DenseI64ArrayAttr:$dimensions);
  let results = (outs GraphOrComplexTensor:$result);
  let regions = (region SizedRegion<1>:$computation);
  let hasVerifier = 1;
}

def StableHLO_ReduceOp : StableHLO_Op<"reduce", [RecursiveMemoryEffects,
    RecursivelySpeculatable, SameVariadicOperandSize]> {
  let summary = "Reduction over dimensions by a function of scalars";
  let description = [{
    The compact form names the function when it is one commutative op:
    `stablehlo.reduce(%x init: %c) applies stablehlo.add across dimensions = [1]`.
    Ours reduces in row-major order starting with `init`, once.

    Constraints: n >= 1 inputs of one shape, n scalar inits and n results; all of
    pair i have one element type; distinct dimensions in range; results have the
    remaining dimensions; the body takes 2n scalars and returns n.
  }];
  let arguments = (ins Variadic<GraphOrComplexTensor>:$inputs,
                       Variadic<ScalarOrComplexTensor>:$init_values,
                       DenseI64ArrayAttr:$dimensions);
  let results = (outs Variadic<GraphOrComplexTensor>:$result);
  let regions = (region SizedRegion<1>:$body);
  let extraClassDeclaration = [{
    /// The body's only op if the compact form may name it, else null.
    ::mlir::Operation *getAppliedOp();
  }];
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

def StableHLO_GatherOp : StableHLO_Op<"gather", [Pure]> {
  let summary = "Boxes of the operand at run-time positions";
  let description = [{
    Start indices are clamped so that each whole box fits. The first batching
    dimensions of the result come from the indices, the others, at `offset_dims`,
    from the boxes.

    Constraints: those of the published specification, C1 to C23.
  }];
  let arguments = (ins GraphOrComplexTensor:$operand, IntTensor:$start_indices,
                       StableHLO_GatherDimensionNumbersAttr:$dimension_numbers,
                       DenseI64ArrayAttr:$slice_sizes,
                       DefaultValuedOptionalAttr<BoolAttr, "false">:$indices_are_sorted);
  let results = (outs GraphOrComplexTensor:$result);
  let hasVerifier = 1;
}

def StableHLO_ScatterOp : StableHLO_Op<"scatter", [RecursiveMemoryEffects,
    RecursivelySpeculatable, SameVariadicOperandSize]> {
  let summary = "Inputs with updates combined in at run-time positions";
  let description = [{
    An update element out of bounds is dropped. Ours applies updates in row-major
    order of the updates.

    Constraints: those of the published specification, without promotion: pair i
    has one element type throughout.
  }];
  let arguments = (ins Variadic<GraphOrComplexTensor>:$inputs, IntTensor:$scatter_indices,
                       Variadic<GraphOrComplexTensor>:$updates,
                       StableHLO_ScatterDimensionNumbersAttr:$scatter_dimension_numbers,
                       DefaultValuedOptionalAttr<BoolAttr, "false">:$indices_are_sorted,
                       DefaultValuedOptionalAttr<BoolAttr, "false">:$unique_indices);
  let results = (outs Variadic<GraphOrComplexTensor>:$result);
  let regions = (region SizedRegion<1>:$update_computation);
  let hasVerifier = 1;
}

def StableHLO_SortOp : StableHLO_Op<"sort", [RecursiveMemoryEffects,
    RecursivelySpeculatable]> {
  let summary = "Inputs in order along a dimension";
  let description = [{
    The comparator says of two elements, one of each input in turn, whether the
    first comes before the second. Ours always keeps the order of equal ones.

    Constraints: n >= 1 inputs of one shape and n results of the inputs' types; a
    dimension in [-rank, rank); the comparator takes 2n scalars and returns one of
    i1.
  }];
  let arguments = (ins Variadic<GraphOrComplexTensor>:$inputs,
                       DefaultValuedOptionalAttr<I64Attr, "-1">:$dimension,
                       DefaultValuedOptionalAttr<BoolAttr, "false">:$is_stable);
  let results = (outs Variadic<GraphOrComplexTensor>:$results);
  let regions = (region SizedRegion<1>:$comparator);
  let extraClassDeclaration = [{
    /// The dimension, counted from the first.
    int64_t getSortedDim();
  }];
  let hasVerifier = 1;
}

def StableHLO_ReturnOp : StableHLO_Op<"return", [Pure, Terminator]> {
  let summary = "End of a region of this dialect";
  let arguments = (ins Variadic<AnyType>:$results);
  let builders = [OpBuilder<(ins), [{ build($_builder, $_state, ::mlir::ValueRange()); }]>];
  let assemblyFormat = "$results attr-dict (`:` type($results)^)?";
}

#endif // LLMC_DIALECT_STABLEHLO_IR_STABLEHLOOPS_TD
