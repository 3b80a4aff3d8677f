//===- StableHLODynamicOps.td - Ops whose sizes are operands --------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Shapes are static here, so each of these ops has a form whose sizes are
// attributes. The import replaces it by that, and refuses sizes that are not
// known before the run.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_DIALECT_STABLEHLO_IR_STABLEHLODYNAMICOPS_TD
#define LLMC_DIALECT_STABLEHLO_IR_STABLEHLODYNAMICOPS_TD

include "llmc/Dialect/StableHLO/IR/StableHLOElementwiseOps.td"

/// Constraints that these ops do not state are those of the static form.
class StableHLO_DynamicOp<string mnemonic, string text>
    : StableHLO_Op<mnemonic, [Pure]> {
  let summary = text;
  let description = "Constraints: those of the op without `dynamic`, which takes its place.";
}

def StableHLO_DynamicReshapeOp : StableHLO_DynamicOp<"dynamic_reshape", "Reshape to a computed shape"> {
  let arguments = (ins GraphOrComplexTensor:$operand, IntTensor:$output_shape);
  let results = (outs GraphOrComplexTensor:$result);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

def StableHLO_DynamicBroadcastInDimOp : StableHLO_DynamicOp<"dynamic_broadcast_in_dim",
    "Repetition to a computed shape"> {
  let arguments = (ins GraphOrComplexTensor:$operand, IntTensor:$output_dimensions,
                       DenseI64ArrayAttr:$broadcast_dimensions,
                       OptionalAttr<DenseI64ArrayAttr>:$known_expanding_dimensions,
                       OptionalAttr<DenseI64ArrayAttr>:$known_nonexpanding_dimensions);
  let results = (outs GraphOrComplexTensor:$result);
  let assemblyFormat = [{
    $operand `,` $output_dimensions `,` `dims` `=` $broadcast_dimensions attr-dict `:`
    functional-type(operands, results)
  }];
}

def StableHLO_DynamicIotaOp : StableHLO_DynamicOp<"dynamic_iota",
    "Position along one dimension of a computed shape"> {
  let arguments = (ins IntTensor:$output_shape, I64Attr:$iota_dimension);
  let results = (outs NumberOrComplexTensor:$result);
  let assemblyFormat = [{
    $output_shape `,` `dim` `=` $iota_dimension attr-dict `:`
    functional-type(operands, results)
  }];
}

def StableHLO_DynamicPadOp : StableHLO_DynamicOp<"dynamic_pad", "Padding by computed amounts"> {
  let arguments = (ins GraphOrComplexTensor:$operand, ScalarOrComplexTensor:$padding_value,
                       IntTensor:$edge_padding_low, IntTensor:$edge_padding_high,
                       IntTensor:$interior_padding);
  let results = (outs GraphOrComplexTensor:$result);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

def StableHLO_RealDynamicSliceOp : StableHLO_DynamicOp<"real_dynamic_slice",
    "Box at computed indices with computed strides"> {
  let description = "Constraints: those of `slice`, which takes its place.";
  let arguments = (ins GraphOrComplexTensor:$operand, IntTensor:$start_indices,
                       IntTensor:$limit_indices, IntTensor:$strides);
  let results = (outs GraphOrComplexTensor:$result);
  let assemblyFormat = "operands attr-dict `:` functional-type(operands, results)";
}

def StableHLO_DynamicGatherOp : StableHLO_DynamicOp<"dynamic_gather",
    "Boxes of a computed size at run-time positions"> {
  let arguments = (ins GraphOrComplexTensor:$operand, IntTensor:$start_indices,
                       IntTensor:$slice_sizes,
                       StableHLO_GatherDimensionNumbersAttr:$dimension_numbers,
                       DefaultValuedOptionalAttr<BoolAttr, "false">:$indices_are_sorted);
  let results = (outs GraphOrComplexTensor:$result);
}

def StableHLO_DynamicConvOp : StableHLO_DynamicOp<"dynamic_conv",
    "Convolution of an input that is padded by computed amounts"> {
  let description = "Constraints: those of `convolution`, which takes its place.";
  let arguments = (ins GraphOrComplexTensor:$lhs, GraphOrComplexTensor:$rhs, IntTensor:$padding,
                       OptionalAttr<DenseI64ArrayAttr>:$window_strides,
                       OptionalAttr<DenseI64ArrayAttr>:$lhs_dilation,
                       OptionalAttr<DenseI64ArrayAttr>:$rhs_dilation,
                       OptionalAttr<DenseBoolArrayAttr>:$window_reversal,
                       StableHLO_ConvDimensionNumbersAttr:$dimension_numbers,
                       I64Attr:$feature_group_count, I64Attr:$batch_group_count,
                       OptionalAttr<StableHLO_PrecisionConfigAttr>:$precision_config);
  let results = (outs GraphOrComplexTensor:$result);
}

def StableHLO_GetDimensionSizeOp : StableHLO_Op<"get_dimension_size", [Pure]> {
  let summary = "Size of a dimension";
  let description = "Constraints: a dimension of the operand; the result is a scalar of i32.";
  let arguments = (ins GraphOrComplexTensor:$operand, I64Attr:$dimension);
  let results = (outs IndexScalar:$result);
  let assemblyFormat = [{
    $operand `,` `dim` `=` $dimension attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def StableHLO_SetDimensionSizeOp : StableHLO_Op<"set_dimension_size", [Pure]> {
  let summary = "The operand with another size of a dimension, at most its own";
  let description = [{
    Only the size that the dimension has leaves a static shape.

    Constraints: a dimension of the operand; a scalar size; the result is of the
    operand's shape and element type.
  }];
  let arguments = (ins GraphOrComplexTensor:$operand, IndexScalar:$size, I64Attr:$dimension);
  let results = (outs GraphOrComplexTensor:$result);
  let assemblyFormat = [{
    $operand `,` $size `,` `dim` `=` $dimension attr-dict `:`
    functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

#endif // LLMC_DIALECT_STABLEHLO_IR_STABLEHLODYNAMICOPS_TD
