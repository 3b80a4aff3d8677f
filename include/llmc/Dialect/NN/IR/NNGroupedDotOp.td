//===- NNGroupedDotOp.td - Products of groups of rows ------*- tablegen -*-===//
//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a ragged product becomes at import, so that experts cost what their
// tokens cost, and not what all tokens cost with each of them.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_DIALECT_NN_IR_NNGROUPEDDOTOP
#define LLMC_DIALECT_NN_IR_NNGROUPEDDOTOP

include "mlir/IR/BuiltinAttributes.td"
include "mlir/IR/OpBase.td"

def NN_GroupGroup : OpDocGroup {
  let summary = "Groups of rows";
  let description = [{
    How many rows a group has is known in the step. What a device's library is
    asked for is `GroupedContractionShape` in `llmc/Runtime/Base/Library.h`.
  }];
}

let opDocGroup = NN_GroupGroup in {

def NN_GroupedDotOp : NN_Op<"grouped_dot"> {
  let summary = "a product of each group of rows with its own matrix";
  let description = [{
    ```mlir
    %y = nn.grouped_dot %x, %w, %sizes batch [] x [] contracting [1] x [1] rows 0 groups 0
        : (tensor<64x6xf32>, tensor<8x6x10xf32>, tensor<8xi32>) -> tensor<64x10xf32>
    %g = nn.grouped_dot %x, %dy, %sizes batch [] x [] contracting [0] x [0] rows 0
        : (tensor<64x6xf32>, tensor<64x10xf32>, tensor<8xi32>) -> tensor<8x6x10xf32>
    ```
    Dim `rows` of the left side is cut into groups: those of group g are the
    sizes[g] rows after those of all groups before it. As `stablehlo.dot_general`,
    but that the right side has a matrix for each group, along dim `groups`; a row
    is multiplied by the matrix of its group, and the result of a row without
    one is 0. Where the rows are contracted the result has a matrix for each
    group, which is the sum over the group's rows, and 0 for none. Dims of the
    result: batch, groups where rows are contracted, those left of the left side,
    those left of the right side.

    The sizes are those of all batches, or each batch has its own; their dims are
    the batch dims and the groups. With `first`, the matrices are those of the
    groups from first[batch] on, as many as there are, and rows of other groups
    are rows without one. Sizes that are negative, or more together than there
    are rows, end the run with an error.

    Made by the import of `chlo.ragged_dot`; its derivatives are such ops again.
    Becomes a call of a library.

    Constraints: dims in range, none twice; paired dims have equal sizes; rows that
    are no batch, and either contracted or beside a dim of groups; sizes and
    first of i32 or i64; a size for each group where there is no first; floats in
    all tensors or in none.
  }];
  let arguments = (ins AnyRankedTensor:$lhs, AnyRankedTensor:$rhs, NN_IntegerTensor:$sizes,
                       Optional<NN_IntegerTensor>:$first,
                       DenseI64ArrayAttr:$lhs_batch, DenseI64ArrayAttr:$rhs_batch,
                       DenseI64ArrayAttr:$lhs_contracting, DenseI64ArrayAttr:$rhs_contracting,
                       I64Attr:$rows, OptionalAttr<I64Attr>:$groups);
  let results = (outs AnyRankedTensor:$result);
  let assemblyFormat = [{
    $lhs `,` $rhs `,` $sizes (`first` $first^)? `batch` $lhs_batch `x` $rhs_batch
    `contracting` $lhs_contracting `x` $rhs_contracting `rows` $rows (`groups` $groups^)?
    attr-dict `:` functional-type(operands, $result)
  }];
  let builders = [
    /// `element` of the result; `matrices` of the result where rows are contracted.
    OpBuilder<(ins "::mlir::Value":$lhs, "::mlir::Value":$rhs, "::mlir::Value":$sizes, "::mlir::Value":$first,
                   "const ::llmc::GroupedDims &":$dims, "int64_t":$matrices, "::mlir::Type":$element)>];
  let hasVerifier = 1;
}

} // opDocGroup

#endif // LLMC_DIALECT_NN_IR_NNGROUPEDDOTOP
