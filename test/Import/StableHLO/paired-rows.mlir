// Rows that the positions of a gather or scatter number are batching dims: what splits them sees that they stay apart.
// RUN: split-file %s %t
// DEFINE: %{import} = llmc compile --compile-to=import -o - --config %t/run.toml
// RUN: %{import} %t/gather.mlir | FileCheck %s --check-prefix=GATHER
// RUN: %{import} %t/scatter.mlir | FileCheck %s --check-prefix=SCATTER
// RUN: %{import} %t/stays.mlir | FileCheck %s --check-prefix=STAYS
// RUN: %{import} %t/wraps.mlir | FileCheck %s --check-prefix=WRAPS

// As JAX prints x[arange(4)[:, None], i]: the negative positions that a row may not have are fixed all the same.
// GATHER: func.func public @{{.*}}(%[[X:arg0]]: tensor<4x8x3xf32>
// GATHER: %[[I:.*]] = stablehlo.broadcast_in_dim %arg1
// GATHER: "stablehlo.gather"(%[[X]], %[[I]]) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>
// GATHER-SAME: (tensor<4x8x3xf32>, tensor<4x2x1xi32>) -> tensor<4x2x3xf32>

//--- gather.mlir
func.func public @main(%x: tensor<4x8x3xf32> loc("w.x"), %i: tensor<4x2xi32> loc("i")) -> (tensor<4x2x3xf32>) {
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

// Rows that a constant of other integers numbers, beside two other positions: of the operand's dims 1 and 0 both are batching dims.
// SCATTER: "stablehlo.scatter"(%{{.*}}, %{{.*}}, %arg2) <{indices_are_sorted = false, scatter_dimension_numbers = #stablehlo.scatter<inserted_window_dims = [2], input_batching_dims = [0, 1], scatter_indices_batching_dims = [1, 0], scatter_dims_to_operand_dims = [2], index_vector_dim = 2>
// SCATTER: (tensor<2x4x8xf32>, tensor<4x2x1xi32>, tensor<4x2xf32>) -> tensor<2x4x8xf32>

//--- scatter.mlir
func.func public @main(%x: tensor<2x4x8xf32> loc("w.x"), %i: tensor<4x2x1xi32> loc("i"), %u: tensor<4x2xf32> loc("w.u")) -> (tensor<2x4x8xf32>) {
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

// A diagonal has one batching dim, as a dim of the indices is paired once; what counts a part of the rows, or backwards,
// stays a position.
// STAYS: #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 1>
// STAYS: #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>
// STAYS: #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>

//--- stays.mlir
func.func public @main(%x: tensor<4x4xf32> loc("w.x"), %z: tensor<5x4xf32> loc("w.z"), %i: tensor<4x1xi32> loc("i")) -> (tensor<4xf32>, tensor<4xf32>, tensor<4xf32>) {
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

// Of 200 rows i8 holds 128: what it counts starts again below zero.
// WRAPS: #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>

//--- wraps.mlir
func.func public @main(%x: tensor<200x4xf32> loc("w.x"), %i: tensor<200x1xi8> loc("i")) -> (tensor<200xf32>) {
  %n = stablehlo.iota dim = 0 : tensor<200x1xi32>
  %rows = stablehlo.convert %n : (tensor<200x1xi32>) -> tensor<200x1xi8>
  %at = stablehlo.concatenate %rows, %i, dim = 1 : (tensor<200x1xi8>, tensor<200x1xi8>) -> tensor<200x2xi8>
  %y = "stablehlo.gather"(%x, %at) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<200x4xf32>, tensor<200x2xi8>) -> tensor<200xf32>
  return %y : tensor<200xf32>
}

//--- run.toml
[data.inputs]
i = 0

[training]
parameters = ["w.*"]

[[init]]
match = "*"
draw = "normal"
