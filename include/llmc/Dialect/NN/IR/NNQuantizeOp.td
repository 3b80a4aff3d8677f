//===- NNQuantizeOp.td - Scaled floats of eight bits -------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How a contraction's factors become floats of eight bits.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_DIALECT_NN_IR_NNQUANTIZEOP
#define LLMC_DIALECT_NN_IR_NNQUANTIZEOP

include "mlir/IR/OpBase.td"

def NN_QuantizeGroup : OpDocGroup {
  let summary = "Scaled floats";
  let description = "Floats of eight bits, with a scale for each tensor.";
}

let opDocGroup = NN_QuantizeGroup in {

def NN_QuantizeOp : NN_Op<"quantize"> {
  let summary = "a tensor times a scale, as floats of eight bits";
  let description = [{
    ```mlir
    %q = nn.quantize %x, %scale : (tensor<8x10xf32>, tensor<f32>) -> tensor<8x10xf8E4M3FN>
    ```
    Each element times the scale in f32, clamped to the largest number of the
    result's type and rounded to nearest, ties to even. An element that is
    infinite or not a number stays so where the type has it, and is not a number
    in `f8E4M3FN`: what has overflowed is not hidden.

    Made by `llmc-narrow`; lives until kernels are formed.

    Constraints: the scale is a scalar of f32; the result has the operand's
    shape and elements of eight bits, the operand wider ones.
  }];
  let arguments = (ins NN_FloatTensor:$operand, NN_FloatTensor:$scale);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = "$operand `,` $scale attr-dict `:` functional-type(operands, results)";
  let hasVerifier = 1;
}

} // opDocGroup

#endif // LLMC_DIALECT_NN_IR_NNQUANTIZEOP
