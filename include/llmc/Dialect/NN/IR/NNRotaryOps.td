//===- NNRotaryOps.td - Rotary embeddings ------------------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The derivative of a rotation is the rotation back: no op of its own.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_DIALECT_NN_IR_NNROTARYOPS
#define LLMC_DIALECT_NN_IR_NNROTARYOPS

include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/OpBase.td"

def NN_RotaryGroup : OpDocGroup {
  let summary = "Rotary embeddings";
  let description = "Pairs of numbers are turned by angles of their position.";
}

let opDocGroup = NN_RotaryGroup in {

def NN_RotaryOp : NN_Op<"rotary"> {
  let summary = "pairs of numbers, turned";
  let description = [{
    ```mlir
    %y = nn.rotary %x, %cos, %sin
        : (tensor<8x64x4x16xf32>, tensor<1x64x1x8xf32>, tensor<1x64x1x8xf32>) -> tensor<8x64x4x16xf32>
    ```
    The last dim has h pairs, of elements i and i + h. With (a, b) one pair, c and s
    the cosine and sine of its angle:

        result = (a * c - b * s, b * c + a * s)

    Tables have one number for each pair, or one for each element, of which the
    first stands for a and the second for b in the line above. In `stablehlo`:
    reshape to pairs, reverse the two, multiply, add. f16 and bf16 are computed in
    f32 and rounded once.

    Made by raising in phase 1; lives until kernels are formed.

    Constraints: the last dim is even; the tables have one type, the operand's
    element type and rank, 1 or its size in each dim but the last, and in that its
    size or half of it; the result has the operand's type.
  }];
  let arguments = (ins NN_FloatTensor:$operand, NN_FloatTensor:$cosine, NN_FloatTensor:$sine);
  let results = (outs NN_FloatTensor:$result);
  let assemblyFormat = "$operand `,` $cosine `,` $sine attr-dict `:` functional-type(operands, results)";
  let builders = [OpBuilder<(ins "::mlir::Value":$operand, "::mlir::Value":$cosine, "::mlir::Value":$sine)>];
  let hasVerifier = 1;
}

} // opDocGroup

#endif // LLMC_DIALECT_NN_IR_NNROTARYOPS
