//===- StableHLONormOps.td - Batch normalization --------------------------===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The import replaces these ops by the arithmetic that the specification gives.
// JAX prints that arithmetic itself; PyTorch's lazy tensors print these ops.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_DIALECT_STABLEHLO_IR_STABLEHLONORMOPS_TD
#define LLMC_DIALECT_STABLEHLO_IR_STABLEHLONORMOPS_TD

include "llmc/Dialect/StableHLO/IR/StableHLOElementwiseOps.td"

class StableHLO_BatchNormOp<string mnemonic, string text>
    : StableHLO_Op<mnemonic, [Pure]> {
  let summary = text;
  let description = [{
    Constraints: `feature_index` is a dimension of the operand; what has the
    operand's shape and what has one element for each feature are of its element
    type.
  }];
  let hasVerifier = 1;
}

def StableHLO_BatchNormTrainingOp : StableHLO_BatchNormOp<"batch_norm_training",
    "Normalization by mean and variance of the batch, which are results too"> {
  let arguments = (ins FloatTensor:$operand, FloatTensor:$scale, FloatTensor:$offset,
                       F32Attr:$epsilon, I64Attr:$feature_index);
  let results = (outs FloatTensor:$output, FloatTensor:$batch_mean, FloatTensor:$batch_var);
}

def StableHLO_BatchNormInferenceOp : StableHLO_BatchNormOp<"batch_norm_inference",
    "Normalization by a mean and a variance that are given"> {
  let arguments = (ins FloatTensor:$operand, FloatTensor:$scale, FloatTensor:$offset,
                       FloatTensor:$mean, FloatTensor:$variance,
                       F32Attr:$epsilon, I64Attr:$feature_index);
  let results = (outs FloatTensor:$result);
}

def StableHLO_BatchNormGradOp : StableHLO_BatchNormOp<"batch_norm_grad",
    "Derivative of the normalization by mean and variance of the batch"> {
  let arguments = (ins FloatTensor:$operand, FloatTensor:$scale, FloatTensor:$mean,
                       FloatTensor:$variance, FloatTensor:$grad_output,
                       F32Attr:$epsilon, I64Attr:$feature_index);
  let results = (outs FloatTensor:$grad_operand, FloatTensor:$grad_scale,
                      FloatTensor:$grad_offset);
}

#endif // LLMC_DIALECT_STABLEHLO_IR_STABLEHLONORMOPS_TD
