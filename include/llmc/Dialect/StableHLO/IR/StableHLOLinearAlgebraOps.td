//===- StableHLOLinearAlgebraOps.td - Factors and solutions of matrices ---===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Dimensions before the last two number matrices, each of which stands for
// itself. On CPUs JAX prints calls of LAPACK in place of these ops; the import
// reads those as the ops. StableHLO has no factors with pivots: that op stands
// beside its own, as texts have it as a call and its answers share code with them.
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

def StableHLO_LuOp : StableHLO_Op<"lu", [Pure]> {
  let summary = "Triangular factors of matrices whose rows are exchanged";
  let description = [{
    Texts have it as a custom call of LAPACK's getrf, of which the import makes this
    op. Step k exchanges row k with row `pivots[k]`, the first of those from k on whose
    element in column k has the greatest magnitude, and subtracts multiples of it from
    the rows after it. With `permutation` the rows of a in their final order, a[p] = l u:
    `factors` has u on and above its diagonal, and below it l, whose diagonal is 1.
    A pivot of 0 has a column of 0 below it, and the steps go on.

    Constraints: the last two dimensions of a are equal; factors have a's type, pivots
    and permutation one element of i32 for each row.
  }];
  let arguments = (ins FloatTensor:$a);
  let results = (outs FloatTensor:$factors, IntTensor:$pivots, IntTensor:$permutation);
  let assemblyFormat = "$a attr-dict `:` functional-type(operands, results)";
  let builders = [OpBuilder<(ins "::mlir::Value":$a)>];
  let hasVerifier = 1;
}

def StableHLO_LuInPlaceOp : StableHLO_Op<"lu_in_place", [Pure, AllTypesMatch<["x", "result"]>]> {
  let summary = "The same within one tensor, as a kernel computes it";
  let description = [{
    What `stablehlo.lu` becomes before kernels are formed, in panels of few columns. The
    operand has a panel of m rows and n columns, n <= m, its rows' numbers in a column
    after it, and two more rows of any numbers: row m of the result has the pivots, the
    last column the permutation, and the last row what steps have left.

    Constraints: more rows than columns, of which there is at least one.
  }];
  let arguments = (ins RankedTensorOf<[F32, F64]>:$x);
  let results = (outs RankedTensorOf<[F32, F64]>:$result);
  let assemblyFormat = "$x attr-dict `:` type($x)";
  let hasVerifier = 1;
}

#endif // LLMC_DIALECT_STABLEHLO_IR_STABLEHLOLINEARALGEBRAOPS_TD
