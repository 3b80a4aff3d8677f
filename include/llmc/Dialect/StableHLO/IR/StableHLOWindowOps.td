//===- StableHLOWindowOps.td - Windows that move over a tensor ------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The import replaces these ops, by slices that are combined and by contractions
// of slices.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_DIALECT_STABLEHLO_IR_STABLEHLOWINDOWOPS_TD
#define LLMC_DIALECT_STABLEHLO_IR_STABLEHLOWINDOWOPS_TD

include "llmc/Dialect/StableHLO/IR/StableHLOShapeOps.td"

def StableHLO_ConvolutionOp : StableHLO_Op<"convolution", [Pure]> {
  let summary = "Contraction of a kernel with each window of the input";
  let description = [{
    The spatial dimensions of the input are dilated by `lhs_dilation` and padded
    with zeros; the window has the kernel's spatial sizes. With feature groups,
    group g of the output features sees group g of the input features only; with
    batch groups it sees group g of the batch only.

    Constraints: those of the published specification, C1 to C27; the element
    type of the result may be wider, as that of `dot_general`.
  }];
  let arguments = (ins GraphOrComplexTensor:$lhs, GraphOrComplexTensor:$rhs,
                       OptionalAttr<DenseI64ArrayAttr>:$window_strides,
                       OptionalAttr<I64ElementsAttr>:$padding,
                       OptionalAttr<DenseI64ArrayAttr>:$lhs_dilation,
                       OptionalAttr<DenseI64ArrayAttr>:$rhs_dilation,
                       OptionalAttr<DenseBoolArrayAttr>:$window_reversal,
                       StableHLO_ConvDimensionNumbersAttr:$dimension_numbers,
                       I64Attr:$feature_group_count, I64Attr:$batch_group_count,
                       OptionalAttr<StableHLO_PrecisionConfigAttr>:$precision_config);
  let results = (outs GraphOrComplexTensor:$result);
  let extraClassDeclaration = [{
    /// The window along each spatial dimension, in the order of their numbers.
    /// The lists have been verified to be as long.
    ::llvm::SmallVector<WindowDim> getWindow();
  }];
  let assemblyFormat = [{
    `(` operands `)` `dim_numbers` `=` custom<ConvolutionDimensions>($dimension_numbers) `,`
    `window` `=` `{` custom<WindowAttributes>($window_strides, $padding,
      $lhs_dilation, $rhs_dilation, $window_reversal) `}`
    attr-dict `:` functional-type(operands, results)
  }];
  let hasVerifier = 1;
}

def StableHLO_ReduceWindowOp : StableHLO_Op<"reduce_window", [RecursiveMemoryEffects,
    RecursivelySpeculatable, SameVariadicOperandSize]> {
  let summary = "Reduction of each window by a function of scalars";
  let description = [{
    The inputs are dilated and padded with their initial values, and each window
    is reduced as by `reduce`, starting with the initial values, once.

    Constraints: those of the published specification, without promotion: pair i
    has one element type throughout.
  }];
  let arguments = (ins Variadic<GraphOrComplexTensor>:$inputs,
                       Variadic<ScalarOrComplexTensor>:$init_values,
                       DenseI64ArrayAttr:$window_dimensions,
                       OptionalAttr<DenseI64ArrayAttr>:$window_strides,
                       OptionalAttr<DenseI64ArrayAttr>:$base_dilations,
                       OptionalAttr<DenseI64ArrayAttr>:$window_dilations,
                       OptionalAttr<I64ElementsAttr>:$padding);
  let results = (outs Variadic<GraphOrComplexTensor>:$result);
  let regions = (region SizedRegion<1>:$body);
  let extraClassDeclaration = [{
    /// The window along each dimension. The lists have been verified to be as
    /// long as the inputs' rank.
    ::llvm::SmallVector<WindowDim> getWindow();
  }];
  let hasVerifier = 1;
}

def StableHLO_SelectAndScatterOp : StableHLO_Op<"select_and_scatter",
    [RecursiveMemoryEffects, RecursivelySpeculatable]> {
  let summary = "Source elements at the elements that windows of the operand select";
  let description = [{
    Of each window one element is selected: from the first on, in row-major order, the
    one before stays where `select` says so of it and the next. Padding is never
    selected. A result element is the initial value, combined by `scatter` with the
    source elements of the windows that select its place, in their order. It is the
    derivative of a maximum over windows.

    Constraints: those of the published specification, without promotion: operand,
    source, initial value and result have one element type.
  }];
  let arguments = (ins GraphTensor:$operand, GraphTensor:$source, ScalarTensor:$init_value,
                       OptionalAttr<DenseI64ArrayAttr>:$window_dimensions,
                       OptionalAttr<DenseI64ArrayAttr>:$window_strides,
                       OptionalAttr<I64ElementsAttr>:$padding);
  let results = (outs GraphTensor:$result);
  let regions = (region SizedRegion<1>:$select, SizedRegion<1>:$scatter);
  let extraClassDeclaration = [{
    /// The window along each dimension. The lists have been verified to be as
    /// long as the operand's rank.
    ::llvm::SmallVector<WindowDim> getWindow();
  }];
  let hasVerifier = 1;
}

#endif // LLMC_DIALECT_STABLEHLO_IR_STABLEHLOWINDOWOPS_TD
