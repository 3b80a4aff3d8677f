//===- NNOps.td - Structured ops of models -----------------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The few ops for which fusion decides speed or memory. Each has a definition
// in `stablehlo` terms, and its derivative is again an op of this dialect.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_DIALECT_NN_IR_NNOPS
#define LLMC_DIALECT_NN_IR_NNOPS

include "llmc/Support/Dropout.td"
include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/InferTypeOpInterface.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def NN_Dialect : Dialect {
  let name = "nn";
  let cppNamespace = "::llmc::nn";
  let summary = "structured ops of neural networks";
  let description = [{
    Raised from imported graphs by patterns of phase 1, or made by the import,
    and lowered to kernels of their own or to calls of a library. Types may have layouts; element types of floats are those of
    the graph, targets are integers.
  }];
  let useDefaultAttributePrinterParser = 1;
}

class NN_Op<string mnemonic, list<Trait> traits = []> : Op<NN_Dialect, mnemonic, !listconcat([Pure], traits)>;

def NN_FloatTensor : RankedTensorOf<[AnyFloat]>;
def NN_IntegerTensor : RankedTensorOf<[AnySignlessInteger]>;
def NN_StateTensor : RankedTensorOf<[UI64]>;

def NN_DropoutAttr : Llmc_DropoutAttr<NN_Dialect>;

def NN_LossGroup : OpDocGroup {
  let summary = "Losses";
  let description = "Losses of a whole batch, without reduction over it.";
}

let opDocGroup = NN_LossGroup in {

def NN_SoftmaxCrossEntropyOp : NN_Op<"softmax_cross_entropy"> {
  let summary = "cross-entropy of logits against class numbers";
  let description = [{
    ```mlir
    %loss, %lse = nn.softmax_cross_entropy %logits, %targets
        : (tensor<8x128x50257xf32>, tensor<8x128xi32>) -> (tensor<8x128xf32>, tensor<8x128xf32>)
    ```
    The last dim of the logits are the classes; with x the logits of one row, c
    its target and m = max x:

        logsumexp = m + log(sum(exp(x - m)))
        loss      = logsumexp - x[c]

    A target outside 0 ... classes - 1 picks 0: its loss is logsumexp, and its
    gradient is the softmax. In `stablehlo`: reduce max, subtract, exponential,
    reduce add, log, add; a comparison of the targets with an iota selects the
    picked logit. `logsumexp` is what the derivative needs
    (`nn.softmax_cross_entropy_grad`); its own cotangent g' adds
    g' * softmax(x).

    Made by raising in phase 1; lives until kernels are formed.

    Constraints: logits of rank at least 1; targets, loss and logsumexp have
    the logits' shape without its last dim; loss and logsumexp have the logits'
    element type.
  }];
  let arguments = (ins NN_FloatTensor:$logits, NN_IntegerTensor:$targets);
  let results = (outs NN_FloatTensor:$loss, NN_FloatTensor:$logsumexp);
  let assemblyFormat = "$logits `,` $targets attr-dict `:` functional-type(operands, results)";
  let builders = [OpBuilder<(ins "::mlir::Value":$logits, "::mlir::Value":$targets)>];
  let hasVerifier = 1;
}

def NN_SoftmaxCrossEntropyGradOp : NN_Op<"softmax_cross_entropy_grad"> {
  let summary = "cotangent of the logits of a cross-entropy";
  let description = [{
    ```mlir
    %dlogits = nn.softmax_cross_entropy_grad %logits, %targets, %lse, %g
        : (tensor<8x10xf32>, tensor<8xi32>, tensor<8xf32>, tensor<8xf32>) -> tensor<8x10xf32>
    ```
    With x the logits of one row, c its target and g the cotangent of its loss:

        dlogits[j] = (exp(x[j] - logsumexp) - (j == c ? 1 : 0)) * g

    In `stablehlo`: broadcast, subtract, exponential; a comparison of the
    targets with an iota selects where 1 is subtracted; multiply.

    Constraints: as `nn.softmax_cross_entropy`; logsumexp and g have the shape
    of the targets and the logits' element type; the result has the logits'
    shape and element type.
  }];
  let arguments = (ins NN_FloatTensor:$logits, NN_IntegerTensor:$targets, NN_FloatTensor:$logsumexp,
                       NN_FloatTensor:$cotangent);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = [{
    $logits `,` $targets `,` $logsumexp `,` $cotangent attr-dict `:` functional-type(operands, results)
  }];
  let builders = [OpBuilder<(ins "::mlir::Value":$logits, "::mlir::Value":$targets, "::mlir::Value":$logsumexp,
                                 "::mlir::Value":$cotangent)>];
  let hasVerifier = 1;
}

} // opDocGroup

include "llmc/Dialect/NN/IR/NNActivationOps.td"
include "llmc/Dialect/NN/IR/NNArgsortOp.td"
include "llmc/Dialect/NN/IR/NNAttentionOps.td"
include "llmc/Dialect/NN/IR/NNGroupedDotOp.td"
include "llmc/Dialect/NN/IR/NNNormOps.td"
include "llmc/Dialect/NN/IR/NNQuantizeOp.td"
include "llmc/Dialect/NN/IR/NNRotaryOps.td"
include "llmc/Dialect/NN/IR/NNSoftmaxOps.td"

#endif // LLMC_DIALECT_NN_IR_NNOPS
