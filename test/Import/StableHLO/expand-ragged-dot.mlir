// A product of groups is one op; groups of a batch change nothing.
// RUN: split-file %s %t
// DEFINE: %{import} = llmc compile --compile-to=import -o - --set data.inputs.x=0
// RUN: %{import} %t/rows.mlir | llmc-opt | FileCheck %s --check-prefix=ROWS
// RUN: %{import} %t/contracted.mlir | llmc-opt | FileCheck %s --check-prefix=CONTRACTED
// RUN: %{import} %t/batch.mlir | llmc-opt | FileCheck %s --check-prefix=BATCH

// Batch, rows, columns; the group's dimension is the right side's last one.
// ROWS-LABEL: func.func @loss
// ROWS: nn.grouped_dot %arg0, %{{.*}}, %{{.*}} batch [0] x [1] contracting [2] x [0] rows 1 groups 3 : (tensor<5x4x6xf32>, tensor<6x5x2x3xf32>, tensor<3xi32>) -> tensor<5x4x2xf32>
// ROWS-NEXT: return

// Groups come before the batch; sizes are signed.
// CONTRACTED-LABEL: func.func @loss
// CONTRACTED: %[[SIZES:.*]] = stablehlo.constant dense<[1, 0, 2]> : tensor<3xi64>
// CONTRACTED: %[[G:.*]] = nn.grouped_dot %arg0, %{{.*}}, %[[SIZES]] batch [0] x [0] contracting [2] x [1] rows 2 : (tensor<5x4x6xf32>, tensor<5x6x2xf32>, tensor<3xi64>) -> tensor<5x3x4x2xf32>
// CONTRACTED-NEXT: stablehlo.transpose %[[G]], dims = [1, 0, 2, 3] : {{.*}} -> tensor<3x5x4x2xf32>

// BATCH-LABEL: func.func @loss
// BATCH: stablehlo.dot_general %arg0, %{{.*}}, batching_dims = [0] x [0], contracting_dims = [2] x [1]
// BATCH-NEXT: return

//--- rows.mlir
func.func @main(%x: tensor<5x4x6xf32> loc("x")) -> tensor<5x4x2xf32> {
  %w = stablehlo.constant dense<2.0> : tensor<6x5x2x3xf32>
  %sizes = stablehlo.constant dense<[1, 0, 2]> : tensor<3xi32>
  %0 = "chlo.ragged_dot"(%x, %w, %sizes) <{precision_config = [#chlo<precision HIGH>, #chlo<precision DEFAULT>], ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [1], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [0], lhs_ragged_dimensions = [1], rhs_group_dimensions = [3]>}> : (tensor<5x4x6xf32>, tensor<6x5x2x3xf32>, tensor<3xi32>) -> tensor<5x4x2xf32>
  return %0 : tensor<5x4x2xf32>
}

//--- contracted.mlir
func.func @main(%x: tensor<5x4x6xf32> loc("x")) -> tensor<3x5x4x2xf32> {
  %w = stablehlo.constant dense<2.0> : tensor<5x6x2xf32>
  %sizes = stablehlo.constant dense<[1, 0, 2]> : tensor<3xui8>
  %0 = "chlo.ragged_dot"(%x, %w, %sizes) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [2]>}> : (tensor<5x4x6xf32>, tensor<5x6x2xf32>, tensor<3xui8>) -> tensor<3x5x4x2xf32>
  return %0 : tensor<3x5x4x2xf32>
}

//--- batch.mlir
func.func @main(%x: tensor<5x4x6xf32> loc("x")) -> tensor<5x4x2xf32> {
  %w = stablehlo.constant dense<2.0> : tensor<5x6x2xf32>
  %sizes = stablehlo.constant dense<[1, 0, 2]> : tensor<3xi32>
  %0 = "chlo.ragged_dot"(%x, %w, %sizes) <{ragged_dot_dimension_numbers = #chlo.ragged_dot<lhs_batching_dimensions = [0], rhs_batching_dimensions = [0], lhs_contracting_dimensions = [2], rhs_contracting_dimensions = [1], lhs_ragged_dimensions = [0]>}> : (tensor<5x4x6xf32>, tensor<5x6x2xf32>, tensor<3xi32>) -> tensor<5x4x2xf32>
  return %0 : tensor<5x4x2xf32>
}
