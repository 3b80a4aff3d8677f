//===- NNNormOps.td - Layer norm, RMS norm and batch norm --*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Layer norm and RMS norm proper: scale and bias are ops of their own after
// them, whose gradients are sums over rows by the plain rules. A batch norm has
// both: their gradients are the two sums that its own needs.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_DIALECT_NN_IR_NNNORMOPS
#define LLMC_DIALECT_NN_IR_NNNORMOPS

include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/OpBase.td"

def NN_NormGroup : OpDocGroup {
  let summary = "Norms";
  let description = [{
    Each row is divided by its size. What the backward needs is the result and
    one number for each row: neither the operand nor its mean is kept. A row of a
    batch norm is a feature of all samples; its backward reads the operand again,
    which is what a convolution has made anyway.
  }];
}

class NN_NormOp<string mnemonic> : NN_Op<mnemonic> {
  let arguments = (ins NN_FloatTensor:$operand, ConfinedAttr<I64Attr, [IntPositive]>:$dims, F64Attr:$epsilon);
  let results = (outs NN_FloatTensor:$result, NN_FloatTensor:$rstd);
  let assemblyFormat = "$operand attr-dict `:` functional-type(operands, results)";
  let builders = [OpBuilder<(ins "::mlir::Value":$operand, "int64_t":$dims, "double":$epsilon)>];
  let hasVerifier = 1;
}

class NN_NormGradOp<string mnemonic> : NN_Op<mnemonic> {
  let arguments = (ins NN_FloatTensor:$normalized, NN_FloatTensor:$rstd, NN_FloatTensor:$cotangent,
                       ConfinedAttr<I64Attr, [IntPositive]>:$dims);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = "$normalized `,` $rstd `,` $cotangent attr-dict `:` functional-type(operands, results)";
  let builders = [OpBuilder<(ins "::mlir::Value":$normalized, "::mlir::Value":$rstd, "::mlir::Value":$cotangent,
                                 "int64_t":$dims)>];
  let hasVerifier = 1;
}

let opDocGroup = NN_NormGroup in {

def NN_LayerNormOp : NN_NormOp<"layer_norm"> {
  let summary = "rows of mean 0 and variance 1";
  let description = [{
    ```mlir
    %y, %rstd = nn.layer_norm %x {dims = 1 : i64, epsilon = 1.000000e-05 : f64}
        : (tensor<8x128x768xf32>) -> (tensor<8x128x768xf32>, tensor<8x128xf32>)
    ```
    The last `dims` dimensions are a row; with x one row:

        rstd   = 1 / sqrt(mean((x - mean x)^2) + epsilon)
        result = (x - mean x) * rstd

    In `stablehlo`: reduce add and divide, subtract, multiply, reduce add and
    divide, add, rsqrt, multiply. f16 and bf16 are computed in f32. `rstd` is
    what the derivative needs beside the result (`nn.layer_norm_grad`).

    Made by raising in phase 1; lives until kernels are formed.

    Constraints: the operand's rank is at least `dims`; the result has the
    operand's type; `rstd` has its shape without the last `dims` dimensions, and
    its element type, or f32 where that is wider.
  }];
}

def NN_LayerNormGradOp : NN_NormGradOp<"layer_norm_grad"> {
  let summary = "cotangent of the operand of a layer norm";
  let description = [{
    ```mlir
    %dx = nn.layer_norm_grad %y, %rstd, %g {dims = 1 : i64}
        : (tensor<8x10xf32>, tensor<8xf32>, tensor<8x10xf32>) -> tensor<8x10xf32>
    ```
    With y the result of the norm for one row and g its cotangent:

        result = (g - mean g - y * mean(g * y)) * rstd

    Constraints: as `nn.layer_norm`; the cotangent and the result have the type
    of y.
  }];
}

def NN_RmsNormOp : NN_NormOp<"rms_norm"> {
  let summary = "rows of mean square 1";
  let description = [{
    ```mlir
    %y, %rstd = nn.rms_norm %x {dims = 1 : i64, epsilon = 1.000000e-06 : f64}
        : (tensor<8x128x768xf32>) -> (tensor<8x128x768xf32>, tensor<8x128xf32>)
    ```
    The last `dims` dimensions are a row; with x one row:

        rstd   = 1 / sqrt(mean(x^2) + epsilon)
        result = x * rstd

    Constraints: as `nn.layer_norm`.
  }];
}

def NN_RmsNormGradOp : NN_NormGradOp<"rms_norm_grad"> {
  let summary = "cotangent of the operand of an RMS norm";
  let description = [{
    ```mlir
    %dx = nn.rms_norm_grad %y, %rstd, %g {dims = 1 : i64}
        : (tensor<8x10xf32>, tensor<8xf32>, tensor<8x10xf32>) -> tensor<8x10xf32>
    ```
    With y the result of the norm for one row and g its cotangent:

        result = (g - y * mean(g * y)) * rstd

    Constraints: as `nn.layer_norm_grad`.
  }];
}

def NN_BatchNormOp : NN_Op<"batch_norm"> {
  let summary = "features of mean 0 and variance 1 over the batch, scaled and shifted";
  let description = [{
    ```mlir
    %y, %mean, %variance = nn.batch_norm %x, %scale, %offset {dim = 3 : i64, epsilon = 1.000000e-05 : f64}
        : (tensor<8x32x32x64xf32>, tensor<64xf32>, tensor<64xf32>) -> (tensor<8x32x32x64xf32>, tensor<64xf32>, tensor<64xf32>)
    ```
    With x all elements of one feature, which is a number along `dim`:

        variance = mean((x - mean)^2), or max(0, mean(x^2) - mean^2) with `squares`
        result   = (x - mean) / sqrt(variance + epsilon) * scale + offset

    The form of the variance is the text's: that of `squares` reads x once less.
    In `stablehlo`: the sums of a feature, then the operations above. f16 and bf16
    are computed in f32. Mean and variance are what running statistics are made of
    and what the derivative needs (`nn.batch_norm_grad`).

    Made by raising in phase 1; lives until kernels are formed.

    Constraints: `dim` is a dimension of the operand, whose rank is at least 2; the
    result has the operand's type; the others have one element for each feature, of
    the operand's element type, or f32 where that is wider.
  }];
  let arguments = (ins NN_FloatTensor:$operand, NN_FloatTensor:$scale, NN_FloatTensor:$offset,
                       ConfinedAttr<I64Attr, [IntNonNegative]>:$dim, F64Attr:$epsilon, UnitAttr:$squares);
  let results = (outs NN_FloatTensor:$result, NN_FloatTensor:$mean, NN_FloatTensor:$variance);
  let assemblyFormat = "$operand `,` $scale `,` $offset attr-dict `:` functional-type(operands, results)";
  let builders = [OpBuilder<(ins "::mlir::Value":$operand, "::mlir::Value":$scale, "::mlir::Value":$offset,
                                 "int64_t":$dim, "double":$epsilon, "bool":$squares)>];
  let hasVerifier = 1;
}

def NN_BatchNormGradOp : NN_Op<"batch_norm_grad"> {
  let summary = "cotangents of operand, scale and offset of a batch norm";
  let description = [{
    ```mlir
    %dx, %dscale, %doffset = nn.batch_norm_grad %x, %scale, %mean, %variance, %g {dim = 1 : i64, epsilon = 1.000000e-05 : f64}
        : (tensor<8x10xf32>, tensor<10xf32>, tensor<10xf32>, tensor<10xf32>, tensor<8x10xf32>) -> (tensor<8x10xf32>, tensor<10xf32>, tensor<10xf32>)
    ```
    With x all n elements of one feature, g their cotangents and y = (x - mean) * rstd,
    rstd = 1 / sqrt(variance + epsilon):

        dscale  = sum(g * y)
        doffset = sum(g)
        dx      = scale * rstd * (g - doffset / n - y * dscale / n)

    Constraints: as `nn.batch_norm`; the cotangent and the first result have the
    operand's type.
  }];
  let arguments = (ins NN_FloatTensor:$operand, NN_FloatTensor:$scale, NN_FloatTensor:$mean,
                       NN_FloatTensor:$variance, NN_FloatTensor:$cotangent,
                       ConfinedAttr<I64Attr, [IntNonNegative]>:$dim, F64Attr:$epsilon);
  let results = (outs NN_FloatTensor:$doperand, NN_FloatTensor:$dscale, NN_FloatTensor:$doffset);
  let assemblyFormat = [{
    $operand `,` $scale `,` $mean `,` $variance `,` $cotangent attr-dict `:` functional-type(operands, results)
  }];
  let builders = [OpBuilder<(ins "::llmc::nn::BatchNormOp":$forward, "::mlir::Value":$cotangent)>];
  let hasVerifier = 1;
}

} // opDocGroup

#endif // LLMC_DIALECT_NN_IR_NNNORMOPS
