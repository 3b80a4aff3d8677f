//===- NNArgsortOp.td - Orders along a dim -----------------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What sorts and the best k of a row become at import, so that a library orders
// n elements in n log n comparisons and not in n * n.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_DIALECT_NN_IR_NNARGSORTOP
#define LLMC_DIALECT_NN_IR_NNARGSORTOP

include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/OpBase.td"

def NN_OrderGroup : OpDocGroup {
  let summary = "Orders";
  let description = [{
    What is read at these positions is a `stablehlo.gather`, whose derivative and
    layouts are its own. What a device's library is asked for is in
    `llmc/Runtime/Base/ArgsortShape.h`.
  }];
}

def NN_KeyTensor : RankedTensorOf<[AnyFloat, AnyInteger]>;

let opDocGroup = NN_OrderGroup in {

def NN_ArgsortOp : NN_Op<"argsort"> {
  let summary = "where the elements that stand first in order lie along a dim";
  let description = [{
    ```mlir
    %p = nn.argsort %x dim 1 descending [true] : (tensor<4x50000xf32>) -> tensor<4x8xi32>
    %p = nn.argsort %x, %y dim 0 descending [false, true]
        : (tensor<64x4xi32>, tensor<64x4xf32>) -> tensor<64x4xi32>
    ```
    Of two elements along the dim the one stands before the other that is less in
    the first key in which they differ, or greater where the key's flag is set;
    elements that are equal in all keys stand as they lie. Integers are compared as
    numbers, an i1 as 0 or 1, floats by IEEE 754's total order, in which -NaN <
    -inf < ... < -0 < 0 < ... < inf < NaN: who wants zeros or NaNs to be equal
    makes them so in the keys. The result has the positions of the first elements
    in order, as many as its dim has.

    Made by the import of `stablehlo.sort`, `chlo.top_k` and their likes of ONNX;
    becomes a call of a library.

    Constraints: keys of one shape, which has the dim with less than 2^31 elements,
    and a flag for each of them; the result has that shape, with at most as many
    elements along the dim, of i32.
  }];
  let arguments = (ins Variadic<NN_KeyTensor>:$keys, I64Attr:$dim, DenseBoolArrayAttr:$descending);
  let results = (outs NN_IntegerTensor:$result);
  let assemblyFormat = [{
    $keys `dim` $dim `descending` $descending attr-dict `:` functional-type($keys, $result)
  }];
  let builders = [OpBuilder<(ins "::mlir::ValueRange":$keys, "int64_t":$dim, "int64_t":$count,
                                 "::llvm::ArrayRef<bool>":$descending)>];
  let hasVerifier = 1;
}

} // opDocGroup

#endif // LLMC_DIALECT_NN_IR_NNARGSORTOP
