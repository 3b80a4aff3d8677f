//===- StableHLOLinearAlgebraOps.td - Factors and solutions of matrices ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Dimensions before the last two number matrices, each of which stands for
// itself. On CPUs JAX prints calls of LAPACK in place of these ops; the import
// reads those as the ops.
//
//===----------------------------------------------------------------------===//

#ifndef LLMC_DIALECT_STABLEHLO_IR_STABLEHLOLINEARALGEBRAOPS_TD
#define LLMC_DIALECT_STABLEHLO_IR_STABLEHLOLINEARALGEBRAOPS_TD

include "llmc/Dialect/StableHLO/IR/StableHLOElementwiseOps.td"

def StableHLO_CholeskyOp : StableHLO_Op<"cholesky", [Pure]> {
  let summary = "Triangular factors of symmetric matrices";
  let description = [{
    With `lower` l of l times its transpose, else u of the transpose of u times u.
    Of the operand only that triangle is read, and the other one of the result is
    0. Where a matrix is not positive definite, its whole triangle is NaN.

    Constraints: the last two dimensions are equal, and the result has the operand's
    type.
  }];
  let arguments = (ins FloatTensor:$a, DefaultValuedOptionalAttr<BoolAttr, "false">:$lower);
  let results = (outs FloatTensor:$result);
  let assemblyFormat = [{
    $a (`,` `lower` `=` $lower^)? attr-dict `:` custom<SameTypes>(type($a), type($result))
  }];
  let hasVerifier = 1;
}

def StableHLO_TriangularSolveOp : StableHLO_Op<"triangular_solve", [Pure]> {
  let summary = "Solutions of equations with triangular matrices";
  let description = [{
    x of op(a) x = b, or of x op(a) = b where a is not on the left side; op is the
    transpose or nothing, and the adjoint of reals is the transpose. Of a only the
    triangle is read that `lower` names, of a unit diagonal not even that.

    Constraints: ranks are equal and at least 2; the last two dimensions of a are
    equal, to the rows of b on the left side, else to its columns; the dimensions
    before are those of b; element types are equal, and the result has b's type.
  }];
  let arguments = (ins FloatTensor:$a, FloatTensor:$b, BoolAttr:$left_side, BoolAttr:$lower,
                       BoolAttr:$unit_diagonal, StableHLO_TransposeAttr:$transpose_a);
  let results = (outs FloatTensor:$result);
  let hasVerifier = 1;
}

#endif // LLMC_DIALECT_STABLEHLO_IR_STABLEHLOLINEARALGEBRAOPS_TD
