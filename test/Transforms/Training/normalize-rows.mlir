// Rows that the positions of a gather or scatter number are batching dims: what splits them sees that they stay apart.
// RUN: llmc-opt --split-input-file --llmc-normalize %s | FileCheck %s

// As JAX prints x[arange(4)[:, None], i]: the negative positions that a row may not have are fixed all the same.
// CHECK-LABEL: func.func @gather
// CHECK-SAME: %[[X:arg0]]: tensor<4x8x3xf32>
// CHECK: %[[I:.*]] = stablehlo.broadcast_in_dim %arg1
// CHECK: "stablehlo.gather"(%[[X]], %[[I]]) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>
// CHECK-SAME: (tensor<4x8x3xf32>, tensor<4x2x1xi32>) -> tensor<4x2x3xf32>
func.func @gather(%x: tensor<4x8x3xf32> {dist.port = #dist.port<input "x">},
                  %i: tensor<4x2xi32> {dist.port = #dist.port<input "i">}) -> (tensor<4x2x3xf32> {dist.port = #dist.port<output "y">}) {
  %n = stablehlo.iota dim = 0 : tensor<4xi32>
  %column = stablehlo.broadcast_in_dim %n, dims = [0] : (tensor<4xi32>) -> tensor<4x1xi32>
  %zero = stablehlo.constant dense<0> : tensor<4x1xi32>
  %four = stablehlo.constant dense<4> : tensor<4x1xi32>
  %negative = stablehlo.compare LT, %column, %zero, SIGNED : (tensor<4x1xi32>, tensor<4x1xi32>) -> tensor<4x1xi1>
  %wrapped = stablehlo.add %column, %four : tensor<4x1xi32>
  %fixed = stablehlo.select %negative, %wrapped, %column : tensor<4x1xi1>, tensor<4x1xi32>
  %rows = stablehlo.broadcast_in_dim %fixed, dims = [0, 1] : (tensor<4x1xi32>) -> tensor<4x2x1xi32>
  %places = stablehlo.broadcast_in_dim %i, dims = [0, 1] : (tensor<4x2xi32>) -> tensor<4x2x1xi32>
  %at = stablehlo.concatenate %rows, %places, dim = 2 : (tensor<4x2x1xi32>, tensor<4x2x1xi32>) -> tensor<4x2x2xi32>
  %y = "stablehlo.gather"(%x, %at) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 3>, indices_are_sorted = true}> : (tensor<4x8x3xf32>, tensor<4x2x2xi32>) -> tensor<4x2x3xf32>
  return %y : tensor<4x2x3xf32>
}
dist.entry @a function(@gather)

// -----

// Rows that a constant of other integers numbers, beside two other positions: of the operand's dims 1 and 0 both are batching dims.
// CHECK-LABEL: func.func @scatter
// CHECK: "stablehlo.scatter"(%{{.*}}, %{{.*}}, %arg2) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [2], input_batching_dims = [0, 1], scatter_indices_batching_dims = [1, 0], scatter_dims_to_operand_dims = [2], index_vector_dim = 2>
// CHECK: (tensor<2x4x8xf32>, tensor<4x2x1xi32>, tensor<4x2xf32>) -> tensor<2x4x8xf32>
func.func @scatter(%x: tensor<2x4x8xf32> {dist.port = #dist.port<input "x">},
                   %i: tensor<4x2x1xi32> {dist.port = #dist.port<input "i">},
                   %u: tensor<4x2xf32> {dist.port = #dist.port<input "u">}) -> (tensor<2x4x8xf32> {dist.port = #dist.port<output "y">}) {
  %c = stablehlo.constant dense<[0, 1, 2, 3]> : tensor<4xi64>
  %four = stablehlo.constant dense<4> : tensor<4xi64>
  %no = stablehlo.constant dense<false> : tensor<4xi1>
  %wrapped = stablehlo.add %c, %four : tensor<4xi64>
  %long = stablehlo.select %no, %wrapped, %c : tensor<4xi1>, tensor<4xi64>
  %fixed = stablehlo.convert %long : (tensor<4xi64>) -> tensor<4xi32>
  %rows = stablehlo.broadcast_in_dim %fixed, dims = [0] : (tensor<4xi32>) -> tensor<4x2x1xi32>
  %columns = stablehlo.iota dim = 1 : tensor<4x2x1xi32>
  %at = stablehlo.concatenate %rows, %columns, %i, dim = 2 : (tensor<4x2x1xi32>, tensor<4x2x1xi32>, tensor<4x2x1xi32>) -> tensor<4x2x3xi32>
  %y = "stablehlo.scatter"(%x, %at, %u) <{scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [0, 1, 2], scatter_dims_to_operand_dims = [1, 0, 2], index_vector_dim = 2>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      stablehlo.return %b : tensor<f32>
  }) : (tensor<2x4x8xf32>, tensor<4x2x3xi32>, tensor<4x2xf32>) -> tensor<2x4x8xf32>
  return %y : tensor<2x4x8xf32>
}
dist.entry @b function(@scatter)

// -----

// A diagonal has one batching dim, as a dim of the indices is paired once; what counts a part of the rows, or backwards,
// stays a position.
// CHECK-LABEL: func.func @stays
// CHECK: #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 1>
// CHECK: #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>
// CHECK: #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>
func.func @stays(%x: tensor<4x4xf32> {dist.port = #dist.port<input "x">},
                 %z: tensor<5x4xf32> {dist.port = #dist.port<input "z">},
                 %i: tensor<4x1xi32> {dist.port = #dist.port<input "i">}) -> (tensor<4xf32> {dist.port = #dist.port<output "y0">}, tensor<4xf32> {dist.port = #dist.port<output "y1">}, tensor<4xf32> {dist.port = #dist.port<output "y2">}) {
  %n = stablehlo.iota dim = 0 : tensor<4x1xi32>
  %back = stablehlo.constant dense<[[3], [2], [1], [0]]> : tensor<4x1xi32>
  %both = stablehlo.concatenate %n, %n, dim = 1 : (tensor<4x1xi32>, tensor<4x1xi32>) -> tensor<4x2xi32>
  %a = "stablehlo.gather"(%x, %both) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<4x4xf32>, tensor<4x2xi32>) -> tensor<4xf32>
  %part = stablehlo.concatenate %n, %i, dim = 1 : (tensor<4x1xi32>, tensor<4x1xi32>) -> tensor<4x2xi32>
  %b = "stablehlo.gather"(%z, %part) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<5x4xf32>, tensor<4x2xi32>) -> tensor<4xf32>
  %mirrored = stablehlo.concatenate %back, %i, dim = 1 : (tensor<4x1xi32>, tensor<4x1xi32>) -> tensor<4x2xi32>
  %c = "stablehlo.gather"(%x, %mirrored) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<4x4xf32>, tensor<4x2xi32>) -> tensor<4xf32>
  return %a, %b, %c : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
dist.entry @c function(@stays)

// -----

// Of 200 rows i8 holds 128: what it counts starts again below zero.
// CHECK-LABEL: func.func @wraps
// CHECK: #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>
func.func @wraps(%x: tensor<200x4xf32> {dist.port = #dist.port<input "x">},
                 %i: tensor<200x1xi8> {dist.port = #dist.port<input "i">}) -> (tensor<200xf32> {dist.port = #dist.port<output "y">}) {
  %n = stablehlo.iota dim = 0 : tensor<200x1xi32>
  %rows = stablehlo.convert %n : (tensor<200x1xi32>) -> tensor<200x1xi8>
  %at = stablehlo.concatenate %rows, %i, dim = 1 : (tensor<200x1xi8>, tensor<200x1xi8>) -> tensor<200x2xi8>
  %y = "stablehlo.gather"(%x, %at) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<200x4xf32>, tensor<200x2xi8>) -> tensor<200xf32>
  return %y : tensor<200xf32>
}
dist.entry @d function(@wraps)
