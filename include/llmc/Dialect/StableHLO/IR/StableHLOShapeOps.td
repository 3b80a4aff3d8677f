//===- StableHLOShapeOps.td - Constants and data movement -----------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Ops that create elements or move them, without arithmetic.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_DIALECT_STABLEHLO_IR_STABLEHLOSHAPEOPS_TD
#define LLMC_DIALECT_STABLEHLO_IR_STABLEHLOSHAPEOPS_TD

include "mlir/IR/OpAsmInterface.td"
include "llmc/Dialect/StableHLO/IR/StableHLOElementwiseOps.td"

def StableHLO_ConstantOp : StableHLO_Op<"constant", [Pure, ConstantLike,
    DeclareOpInterfaceMethods<OpAsmOpInterface, ["getAsmResultNames"]>]> {
  let summary = "Constant tensor";
  let description = [{
    Constraints: the value has the shape and element type of the result, and its
    elements are in the text (not elided).
  }];
  let arguments = (ins ElementsAttr:$value);
  let results = (outs GraphOrComplexTensor:$output);
  let builders = [OpBuilder<(ins "::mlir::ElementsAttr":$value), [{
    build($_builder, $_state, value.getShapedType(), value);
  }]>];
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
  let hasFolder = 1;
}

def StableHLO_IotaOp : StableHLO_Op<"iota", [Pure]> {
  let summary = "Position along one dimension";
  let description = "Constraints: `iota_dimension` is a dimension of the result.";
  let arguments = (ins I64Attr:$iota_dimension);
  let results = (outs NumberOrComplexTensor:$output);
  let assemblyFormat = "`dim` `=` $iota_dimension attr-dict `:` type($output)";
  let hasVerifier = 1;
}

def StableHLO_BroadcastInDimOp : StableHLO_Op<"broadcast_in_dim", [Pure, UniformElement]> {
  let summary = "Repetition along new or unit dimensions";
  let description = [{
    Operand dimension i becomes result dimension `broadcast_dimensions[i]`.

    Constraints: one distinct result dimension for each operand dimension, of
    the same size unless the operand's is 1; one element type.
  }];
  let arguments = (ins GraphOrComplexTensor:$operand, DenseI64ArrayAttr:$broadcast_dimensions);
  let results = (outs GraphOrComplexTensor:$result);
  let assemblyFormat = [{
    $operand `,` `dims` `=` $broadcast_dimensions attr-dict `:`
    functional-type(operands, results)
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

def StableHLO_BroadcastOp : StableHLO_Op<"broadcast", [Pure]> {
  let summary = "Repetition along new first dimensions";
  let description = [{
    The form that `broadcast_in_dim` has replaced: the import writes it so.

    Constraints: the result has the dimensions `broadcast_sizes` before those of the
    operand, and its element type.
  }];
  let arguments = (ins GraphOrComplexTensor:$operand, DenseI64ArrayAttr:$broadcast_sizes);
  let results = (outs GraphOrComplexTensor:$result);
  let assemblyFormat = [{
    $operand `,` `sizes` `=` $broadcast_sizes attr-dict `:`
    functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def StableHLO_ReshapeOp : StableHLO_Op<"reshape", [Pure, UniformElement]> {
  let summary = "The same elements in row-major order under another shape";
  let description = "Constraints: one number of elements and one element type.";
  let arguments = (ins GraphOrComplexTensor:$operand);
  let results = (outs GraphOrComplexTensor:$result);
  let builders = [OpBuilder<(ins "::mlir::Value":$operand,
                                 "::llvm::ArrayRef<int64_t>":$shape), [{
    build($_builder, $_state, withoutEncoding(operand.getType()).clone(shape), operand);
  }]>];
  let assemblyFormat = "$operand attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
  let hasFolder = 1;
}

def StableHLO_TransposeOp : StableHLO_Op<"transpose", [Pure, UniformElement]> {
  let summary = "Permutation of dimensions";
  let description = [{
    Result dimension i is operand dimension `permutation[i]`.

    Constraints: `permutation` is one; shapes agree under it; one element type.
  }];
  let arguments = (ins GraphOrComplexTensor:$operand, DenseI64ArrayAttr:$permutation);
  let results = (outs GraphOrComplexTensor:$result);
  let builders = [OpBuilder<(ins "::mlir::Value":$operand,
                                 "::llvm::ArrayRef<int64_t>":$permutation)>];
  let assemblyFormat = [{
    $operand `,` `dims` `=` $permutation attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

def StableHLO_ReverseOp : StableHLO_Op<"reverse", [Pure, ElementwiseShape, UniformElement]> {
  let summary = "Reversed order along some dimensions";
  let description = "Constraints: distinct dimensions of the operand; one type.";
  let arguments = (ins GraphOrComplexTensor:$operand, DenseI64ArrayAttr:$dimensions);
  let results = (outs GraphOrComplexTensor:$result);
  let builders = [OpBuilder<(ins "::mlir::Value":$operand,
                                 "::llvm::ArrayRef<int64_t>":$dimensions), [{
    build($_builder, $_state, withoutEncoding(operand.getType()), operand, dimensions);
  }]>];
  let assemblyFormat = [{
    $operand `,` `dims` `=` $dimensions attr-dict `:`
    custom<SameTypes>(type($operand), type($result))
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

def StableHLO_SliceOp : StableHLO_Op<"slice", [Pure, UniformElement]> {
  let summary = "Box with static bounds and strides";
  let description = [{
    Constraints: for each dimension `0 <= start <= limit <= size` and
    `stride >= 1`; the result's size is `ceil((limit - start) / stride)`.
  }];
  let arguments = (ins GraphOrComplexTensor:$operand, DenseI64ArrayAttr:$start_indices,
                       DenseI64ArrayAttr:$limit_indices, DenseI64ArrayAttr:$strides);
  let results = (outs GraphOrComplexTensor:$result);
  let builders = [OpBuilder<(ins "::mlir::Value":$operand,
                                 "::llvm::ArrayRef<int64_t>":$starts,
                                 "::llvm::ArrayRef<int64_t>":$limits,
                                 "::llvm::ArrayRef<int64_t>":$strides)>];
  let assemblyFormat = [{
    $operand custom<SliceRanges>($start_indices, $limit_indices, $strides)
    attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

def StableHLO_PadOp : StableHLO_Op<"pad", [Pure, UniformElement]> {
  let summary = "Padding at both edges and between elements";
  let description = [{
    Interior padding comes first; a negative edge then crops.

    Constraints: one entry for each dimension, interior at least 0; the result's
    size is `low + high + size + max(size - 1, 0) * interior`, at least 0.
  }];
  let arguments = (ins GraphOrComplexTensor:$operand, ScalarOrComplexTensor:$padding_value,
                       DenseI64ArrayAttr:$edge_padding_low,
                       DenseI64ArrayAttr:$edge_padding_high,
                       DenseI64ArrayAttr:$interior_padding);
  let results = (outs GraphOrComplexTensor:$result);
  let builders = [OpBuilder<(ins "::mlir::Value":$operand, "::mlir::Value":$value,
                                 "::llvm::ArrayRef<int64_t>":$low,
                                 "::llvm::ArrayRef<int64_t>":$high,
                                 "::llvm::ArrayRef<int64_t>":$interior)>];
  let assemblyFormat = [{
    $operand `,` $padding_value `,` `low` `=` $edge_padding_low `,`
    `high` `=` $edge_padding_high `,` `interior` `=` $interior_padding
    attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

def StableHLO_ConcatenateOp : StableHLO_Op<"concatenate", [Pure, UniformElement]> {
  let summary = "Operands one after another along a dimension";
  let description = [{
    Constraints: at least one operand; shapes agree but for `dimension`, where the
    result has the sum; one element type.
  }];
  let arguments = (ins Variadic<GraphOrComplexTensor>:$inputs, I64Attr:$dimension);
  let results = (outs GraphOrComplexTensor:$result);
  let builders = [OpBuilder<(ins "::mlir::ValueRange":$inputs, "int64_t":$dimension)>];
  let assemblyFormat = [{
    custom<OperandsThenComma>($inputs) `dim` `=` $dimension attr-dict `:`
    functional-type(operands, results)
  }];
  let hasVerifier = 1;
  let hasFolder = 1;
}

def StableHLO_DynamicSliceOp : StableHLO_Op<"dynamic_slice", [Pure]> {
  let summary = "Box at a run-time position";
  let description = [{
    Start indices are clamped so that the whole box fits.

    Constraints: one integer scalar and one size for each dimension, sizes within
    the operand's; the result has these sizes and the operand's element type.
  }];
  let arguments = (ins GraphOrComplexTensor:$operand, Variadic<IndexScalar>:$start_indices,
                       DenseI64ArrayAttr:$slice_sizes);
  let results = (outs GraphOrComplexTensor:$result);
  let builders = [OpBuilder<(ins "::mlir::Value":$operand, "::mlir::ValueRange":$starts,
                                 "::llvm::ArrayRef<int64_t>":$sizes), [{
    build($_builder, $_state, withoutEncoding(operand.getType()).clone(sizes), operand,
          starts, sizes);
  }]>];
  let assemblyFormat = [{
    $operand `,` custom<OperandsThenComma>($start_indices) `sizes` `=` $slice_sizes
    attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def StableHLO_DynamicUpdateSliceOp : StableHLO_Op<"dynamic_update_slice", [Pure]> {
  let summary = "Operand with a box at a run-time position replaced";
  let description = [{
    Start indices are clamped so that the whole update fits.

    Constraints: one integer scalar for each dimension; the update has the
    operand's rank and element type and fits in it; the result is as the operand.
  }];
  let arguments = (ins GraphOrComplexTensor:$operand, GraphOrComplexTensor:$update,
                       Variadic<IndexScalar>:$start_indices);
  let results = (outs GraphOrComplexTensor:$result);
  let builders = [OpBuilder<(ins "::mlir::Value":$operand, "::mlir::Value":$update,
                                 "::mlir::ValueRange":$starts), [{
    build($_builder, $_state, withoutEncoding(operand.getType()), operand, update, starts);
  }]>];
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def StableHLO_OptimizationBarrierOp : StableHLO_Op<"optimization_barrier", [Pure]> {
  let summary = "Its operands, none of which is computed again after it";
  let description = "Constraints: each result has the shape and element type of its operand.";
  let arguments = (ins Variadic<GraphOrComplexTensor>:$operand);
  let results = (outs Variadic<GraphOrComplexTensor>:$result);
  let hasCustomAssemblyFormat = 1;
  let hasVerifier = 1;
}

#endif // LLMC_DIALECT_STABLEHLO_IR_STABLEHLOSHAPEOPS_TD
