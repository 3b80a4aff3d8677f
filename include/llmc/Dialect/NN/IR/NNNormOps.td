//===- NNNormOps.td - Layer norm and RMS norm --------------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The norms proper: scale and bias are ops of their own after them, whose
// gradients are sums over rows by the plain rules.
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
    one number for each row: neither the operand nor its mean is kept.
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

} // opDocGroup

#endif // LLMC_DIALECT_NN_IR_NNNORMOPS
