//===- NNActivationOps.td - GELU and SiLU ------------------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Element-wise ops with a derivative in closed form, of the operand alone.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_DIALECT_NN_IR_NNACTIVATIONOPS
#define LLMC_DIALECT_NN_IR_NNACTIVATIONOPS

include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/OpBase.td"

def NN_ActivationGroup : OpDocGroup {
  let summary = "Activations";
  let description = "Element-wise ops whose derivative is one op. f16 and bf16 are computed in f32 and rounded once.";
}

let opDocGroup = NN_ActivationGroup in {

def NN_GeluOp : NN_Op<"gelu"> {
  let summary = "x times the normal distribution function of x";
  let description = [{
    ```mlir
    %y = nn.gelu %x : (tensor<8x10xf32>) -> tensor<8x10xf32>
    %z = nn.gelu %x {tanh} : (tensor<8x10xf32>) -> tensor<8x10xf32>
    ```
    x/2 * erfc(-x / sqrt 2), or with `tanh` its approximation
    x/2 * (1 + tanh(sqrt(2/pi) * (x + 0.044715 x^3))).

    Made by raising in phase 1; lives until kernels are formed.

    Constraints: the result has the operand's shape and element type.
  }];
  let arguments = (ins NN_FloatTensor:$operand, UnitAttr:$tanh);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def NN_GeluGradOp : NN_Op<"gelu_grad"> {
  let summary = "cotangent of the operand of a GELU";
  let description = [{
    ```mlir
    %dx = nn.gelu_grad %x, %g : (tensor<8x10xf32>, tensor<8x10xf32>) -> tensor<8x10xf32>
    ```
    g times the slope at x: erfc(-x / sqrt 2) / 2 + x exp(-x^2 / 2) / sqrt(2 pi);
    with `tanh` and t the tanh, u' = sqrt(2/pi) (1 + 3 * 0.044715 x^2):
    (1 + t) / 2 + x (1 - t^2) u' / 2.

    Constraints: cotangent and result have the operand's shape and element type.
  }];
  let arguments = (ins NN_FloatTensor:$operand, NN_FloatTensor:$cotangent, UnitAttr:$tanh);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = "$operand `,` $cotangent attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def NN_SiluOp : NN_Op<"silu"> {
  let summary = "x times the logistic function of x";
  let description = [{
    ```mlir
    %y = nn.silu %x : (tensor<8x10xf32>) -> tensor<8x10xf32>
    ```
    x / (1 + exp(-x)).

    Constraints: as `nn.gelu`.
  }];
  let arguments = (ins NN_FloatTensor:$operand);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

def NN_SiluGradOp : NN_Op<"silu_grad"> {
  let summary = "cotangent of the operand of a SiLU";
  let description = [{
    ```mlir
    %dx = nn.silu_grad %x, %g : (tensor<8x10xf32>, tensor<8x10xf32>) -> tensor<8x10xf32>
    ```
    With s = 1 / (1 + exp(-x)): g * s * (1 + x * (1 - s)).

    Constraints: as `nn.gelu_grad`.
  }];
  let arguments = (ins NN_FloatTensor:$operand, NN_FloatTensor:$cotangent);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = "$operand `,` $cotangent attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

} // opDocGroup

#endif // LLMC_DIALECT_NN_IR_NNACTIVATIONOPS
