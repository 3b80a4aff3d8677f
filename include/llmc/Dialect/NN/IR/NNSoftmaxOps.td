//===- NNSoftmaxOps.td - Softmax and its logarithms --------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Softmax and log-softmax have a derivative of the result: the operand need not
// be kept. A log-sum-exp keeps one number for each row beside it.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_DIALECT_NN_IR_NNSOFTMAXOPS
#define LLMC_DIALECT_NN_IR_NNSOFTMAXOPS

include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/OpBase.td"

def NN_SoftmaxGroup : OpDocGroup {
  let summary = "Softmax";
  let description = "Along one dimension `dim`, any; a log-sum-exp along several.";
}

class NN_AlongDimOp<string mnemonic> : NN_Op<mnemonic> {
  let arguments = (ins NN_FloatTensor:$operand, ConfinedAttr<I64Attr, [IntNonNegative]>:$dim);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

class NN_AlongDimGradOp<string mnemonic> : NN_Op<mnemonic> {
  let arguments = (ins NN_FloatTensor:$output, NN_FloatTensor:$cotangent,
                       ConfinedAttr<I64Attr, [IntNonNegative]>:$dim);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = "$output `,` $cotangent attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

let opDocGroup = NN_SoftmaxGroup in {

def NN_SoftmaxOp : NN_AlongDimOp<"softmax"> {
  let summary = "exponentials over their sum";
  let description = [{
    ```mlir
    %y = nn.softmax %x {dim = 1 : i64} : (tensor<8x10xf32>) -> tensor<8x10xf32>
    ```
    With x one row along `dim` and m = max x:

        result = exp(x - m) / sum(exp(x - m))

    In `stablehlo`: reduce max, subtract, exponential, reduce add, divide. f16
    and bf16 are computed in f32.

    Made by raising in phase 1; lives until kernels are formed.

    Constraints: `dim` is a dimension of the operand; the result has its shape
    and element type.
  }];
}

def NN_SoftmaxGradOp : NN_AlongDimGradOp<"softmax_grad"> {
  let summary = "cotangent of the operand of a softmax";
  let description = [{
    ```mlir
    %dx = nn.softmax_grad %y, %g {dim = 1 : i64} : (tensor<8x10xf32>, tensor<8x10xf32>) -> tensor<8x10xf32>
    ```
    With y one row of the softmax and g its cotangent: y * (g - sum(g * y)).

    Constraints: `dim` is a dimension of y; cotangent and result have its shape
    and element type.
  }];
}

def NN_LogSoftmaxOp : NN_AlongDimOp<"log_softmax"> {
  let summary = "logarithm of a softmax";
  let description = [{
    ```mlir
    %y = nn.log_softmax %x {dim = 1 : i64} : (tensor<8x10xf32>) -> tensor<8x10xf32>
    ```
    With x one row along `dim` and m = max x:

        result = (x - m) - log(sum(exp(x - m)))

    Constraints: as `nn.softmax`.
  }];
}

def NN_LogSoftmaxGradOp : NN_AlongDimGradOp<"log_softmax_grad"> {
  let summary = "cotangent of the operand of a log-softmax";
  let description = [{
    ```mlir
    %dx = nn.log_softmax_grad %y, %g {dim = 1 : i64} : (tensor<8x10xf32>, tensor<8x10xf32>) -> tensor<8x10xf32>
    ```
    With y one row of the log-softmax and g its cotangent: g - exp(y) * sum(g).

    Constraints: as `nn.softmax_grad`.
  }];
}

def NN_LogSumExpOp : NN_Op<"log_sum_exp"> {
  let summary = "logarithm of a sum of exponentials";
  let description = [{
    ```mlir
    %y = nn.log_sum_exp %x {dims = array<i64: 1>, safe} : (tensor<8x10xf32>) -> tensor<8xf32>
    ```
    With x one row along `dims` and m = max x, or 0 where that is infinite or NaN
    and the op is `safe`:

        result = m + log(sum(exp(x - m)))

    A row whose maximum is infinite is so `safe`ly infinite, and NaN otherwise. In
    `stablehlo`: reduce max (is_finite, select), subtract, exponential, reduce add,
    log, add. f16 and bf16 are computed in f32, which the result has too.

    Made by raising in phase 1; lives until kernels are formed.

    Constraints: `dims` are dimensions of the operand, at least one, in rising
    order; the result has the operand's shape without them, and its element type,
    or f32 where that is wider.
  }];
  let arguments = (ins NN_FloatTensor:$operand, DenseI64ArrayAttr:$dims, UnitAttr:$safe);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = "$operand attr-dict `:` functional-type(operands, results)";
  let builders = [OpBuilder<(ins "::mlir::Value":$operand, "::llvm::ArrayRef<int64_t>":$dims, "bool":$safe)>];
  let hasVerifier = 1;
}

def NN_LogSumExpGradOp : NN_Op<"log_sum_exp_grad"> {
  let summary = "cotangent of the operand of a log-sum-exp";
  let description = [{
    ```mlir
    %dx = nn.log_sum_exp_grad %x, %y, %g {dims = array<i64: 1>}
        : (tensor<8x10xf32>, tensor<8xf32>, tensor<8xf32>) -> tensor<8x10xf32>
    ```
    With x one row, y its log-sum-exp and g that one's cotangent: exp(x - y) * g,
    the softmax times g.

    Constraints: as `nn.log_sum_exp`; y and g have one type, the result has that of
    x.
  }];
  let arguments = (ins NN_FloatTensor:$operand, NN_FloatTensor:$output, NN_FloatTensor:$cotangent,
                       DenseI64ArrayAttr:$dims);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = "$operand `,` $output `,` $cotangent attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

} // opDocGroup

#endif // LLMC_DIALECT_NN_IR_NNSOFTMAXOPS
