//===- DistKernelOps.td - Launches and contractions --------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What program bodies hold once kernels are formed (phase 7).
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_DIALECT_DIST_IR_DISTKERNELOPS
#define LLMC_DIALECT_DIST_IR_DISTKERNELOPS

include "llmc/Dialect/Dist/IR/DistLayoutOps.td"

def Dist_KernelGroup : OpDocGroup {
  let summary = "Kernels";
  let description = "Uses of formed kernels and of the library's contractions.";
}

let opDocGroup = Dist_KernelGroup in {

def Dist_LaunchOp : Dist_Op<"launch", [Pure]> {
  let summary = "runs a formed kernel";
  let description = [{
    ```mlir
    %h, %s = dist.launch @k.3f2a(%a, %b) {tied = [[0, 1] ], scratch = 64 : i64}
        : (tensor<4x6xf32>, tensor<4x2xf32>) -> (tensor<4x2xf32>, tensor<4xf32>)
    ```
    `tied` lists (result, operand) pairs that share a buffer: the kernel works
    in place. `scratch` is in bytes. The kernel is a function on memrefs in the
    module `@kernels`. Made by kernel formation, becomes `plan.kernel`.

    Constraints: tied pairs are in range, no result and no operand twice, with types of
    equal size in bytes; scratch at least 0.
  }];
  let arguments = (ins SymbolRefAttr:$kernel, Variadic<AnyType>:$inputs, OptionalAttr<ArrayAttr>:$tied,
                       DefaultValuedAttr<Dist_I64Attr, "0">:$scratch);
  let results = (outs Variadic<AnyRankedTensor>:$results);
  let assemblyFormat = "$kernel `(` $inputs `)` attr-dict `:` functional-type($inputs, $results)";
  let extraClassDeclaration = [{
    /// Pairs (result, operand) that share a buffer.
    llvm::SmallVector<std::pair<int64_t, int64_t>> getTiedPairs();
  }];
  let hasVerifier = 1;
}

def Dist_ContractOp : Dist_Op<"contract", [Pure]> {
  let summary = "a contraction done by a library, with an optional accumulator";
  let description = [{
    ```mlir
    %y = dist.contract %x, %w batch [] x [] contracting [1] x [0]
        : (tensor<4x4xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    %g = dist.contract %x, %dy plus %acc batch [] x [] contracting [0] x [0]
        : (tensor<4x4xf32>, tensor<4x6xf32>, tensor<4x6xf32>) -> tensor<4x6xf32>
    ```
    Dims of the result: batch, those left of the left side, those left of the
    right side. The accumulator shares the result's buffer (beta = 1). Sums are
    made in the result's element type or wider. Made by kernel formation,
    becomes `plan.contract`.

    Constraints: dims in range, none twice; paired dims have equal sizes; the
    result has the dims stated; the accumulator has the result's type; both sides
    have the same element type.
  }];
  let arguments = (ins AnyRankedTensor:$lhs, AnyRankedTensor:$rhs, Optional<AnyRankedTensor>:$accumulator,
                       DenseI64ArrayAttr:$lhs_batch, DenseI64ArrayAttr:$rhs_batch,
                       DenseI64ArrayAttr:$lhs_contracting, DenseI64ArrayAttr:$rhs_contracting);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs (`plus` $accumulator^)? `batch` $lhs_batch `x` $rhs_batch
    `contracting` $lhs_contracting `x` $rhs_contracting attr-dict `:` functional-type(operands, $result)
  }];
  let hasVerifier = 1;
}

} // opDocGroup

#endif // LLMC_DIALECT_DIST_IR_DISTKERNELOPS
