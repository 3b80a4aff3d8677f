// The file is written exactly as it is printed, so the text itself is the check.
// RUN: grep -v '^ *//' %s > %t.expected
// RUN: llmc-opt %s --verify-roundtrip | diff -bB %t.expected -
// RUN: llmc-opt %s --mlir-print-op-generic | llmc-opt | diff -bB %t.expected -

module {
  func.func @functions(%arg0: tensor<4x8xf32>, %arg1: tensor<4xui32>) {
    %0 = chlo.erf %arg0 : tensor<4x8xf32> -> tensor<4x8xf32>
    %1 = chlo.erfc %arg0 : tensor<4x8xf32> -> tensor<4x8xf32>
    %2 = chlo.square %arg0 : tensor<4x8xf32> -> tensor<4x8xf32>
    %3 = chlo.acos %arg0 : tensor<4x8xf32> -> tensor<4x8xf32>
    %4 = chlo.acosh %arg0 : tensor<4x8xf32> -> tensor<4x8xf32>
    %5 = chlo.asin %arg0 : tensor<4x8xf32> -> tensor<4x8xf32>
    %6 = chlo.asinh %arg0 : tensor<4x8xf32> -> tensor<4x8xf32>
    %7 = chlo.atan %arg0 : tensor<4x8xf32> -> tensor<4x8xf32>
    %8 = chlo.atanh %arg0 : tensor<4x8xf32> -> tensor<4x8xf32>
    %9 = chlo.cosh %arg0 : tensor<4x8xf32> -> tensor<4x8xf32>
    %10 = chlo.sinh %arg0 : tensor<4x8xf32> -> tensor<4x8xf32>
    %11 = chlo.erf_inv %arg0 : tensor<4x8xf32> -> tensor<4x8xf32>
    %12 = chlo.lgamma %arg0 : tensor<4x8xf32> -> tensor<4x8xf32>
    %13 = chlo.digamma %arg0 : tensor<4x8xf32> -> tensor<4x8xf32>
    %14 = chlo.polygamma %arg0, %arg0 : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x8xf32>
    %15 = chlo.next_after %arg0, %arg0 : tensor<4x8xf32>, tensor<4x8xf32> -> tensor<4x8xf32>
    %16 = chlo.mulhi %arg1, %arg1 : tensor<4xui32>, tensor<4xui32> -> tensor<4xui32>
    %17 = chlo.bessel_i1e %arg0 : tensor<4x8xf32> -> tensor<4x8xf32>
    return
  }

  // Groups along a free dimension, a contracted one and one of the batch.
  func.func @ragged(%arg0: tensor<5x4x6xf32>, %arg1: tensor<3x5x6x2xf32>, %arg2: tensor<5x6x2xf32>, %arg3: tensor<3xi32>) {
    %0 = "chlo.ragged_dot"(%arg0, %arg1, %arg3) <{precision_config = [#chlo<precision DEFAULT>, #chlo<precision HIGHEST>], ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [1], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [2], lhs_ragged_dimensions = [1], rhs_group_dimensions = [0]>}> : (tensor<5x4x6xf32>, tensor<3x5x6x2xf32>, tensor<3xi32>) -> tensor<5x4x2xf32>
    %1 = "chlo.ragged_dot"(%arg0, %arg2, %arg3) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [2]>}> : (tensor<5x4x6xf32>, tensor<5x6x2xf32>, tensor<3xi32>) -> tensor<3x5x4x2xf32>
    %2 = "chlo.ragged_dot"(%arg0, %arg2, %arg3) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0]>}> : (tensor<5x4x6xf32>, tensor<5x6x2xf32>, tensor<3xi32>) -> tensor<5x4x2xf32>
    return
  }
}
