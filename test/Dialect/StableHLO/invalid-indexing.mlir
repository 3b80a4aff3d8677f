// RUN: llmc-opt %s --split-input-file --verify-diagnostics

func.func @offset_sorted(%w: tensor<64x32xf32>, %t: tensor<1xi32>) {
  // expected-error@+1 {{expected sorted 'offset_dims', got [1, 0]}}
  %0 = "stablehlo.gather"(%w, %t) <{dimension_numbers = #stablehlo.gather<offset_dims = [1, 0], start_index_map = [0]>, slice_sizes = array<i64: 1, 32>}> : (tensor<64x32xf32>, tensor<1xi32>) -> tensor<1x32xf32>
  return
}

// -----

func.func @dropped_apart(%w: tensor<64x32xf32>, %t: tensor<2x8x1xi32>) {
  // expected-error@+1 {{expected 'collapsed_slice_dims' and 'operand_batching_dims' apart, got 0 in both}}
  %0 = "stablehlo.gather"(%w, %t) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 32>}> : (tensor<64x32xf32>, tensor<2x8x1xi32>) -> tensor<2x8x32xf32>
  return
}

// -----

func.func @vector_dim(%w: tensor<64x32xf32>, %t: tensor<2x8x1xi32>) {
  // expected-error@+1 {{expected 'index_vector_dim' in [0, 3], got 4}}
  %0 = "stablehlo.gather"(%w, %t) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 4>, slice_sizes = array<i64: 1, 32>}> : (tensor<64x32xf32>, tensor<2x8x1xi32>) -> tensor<2x8x32xf32>
  return
}

// -----

func.func @vector_batch(%w: tensor<64x32xf32>, %t: tensor<2x8x1xi32>) {
  // expected-error@+1 {{expected 'index_vector_dim' apart from 'start_indices_batching_dims', got 2 in both}}
  %0 = "stablehlo.gather"(%w, %t) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], operand_batching_dims = [0], start_indices_batching_dims = [2], start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 32>}> : (tensor<64x32xf32>, tensor<2x8x1xi32>) -> tensor<2x8x32xf32>
  return
}

// -----

func.func @map_count(%w: tensor<64x32xf32>, %t: tensor<2x8x1xi32>) {
  // expected-error@+1 {{expected 1 entry in 'start_index_map', got 2}}
  %0 = "stablehlo.gather"(%w, %t) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0, 1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 32>}> : (tensor<64x32xf32>, tensor<2x8x1xi32>) -> tensor<2x8x32xf32>
  return
}

// -----

func.func @offset_count(%w: tensor<64x32xf32>, %t: tensor<2x8x1xi32>) {
  // expected-error@+1 {{expected 1 entry in 'offset_dims', got 0}}
  %0 = "stablehlo.gather"(%w, %t) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, slice_sizes = array<i64: 1, 32>}> : (tensor<64x32xf32>, tensor<2x8x1xi32>) -> tensor<2x8x32xf32>
  return
}

// -----

func.func @batch_count(%w: tensor<64x32xf32>, %t: tensor<2x8x1xi32>) {
  // expected-error@+1 {{expected 1 entry in 'start_indices_batching_dims', got 0}}
  %0 = "stablehlo.gather"(%w, %t) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], operand_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 32>}> : (tensor<64x32xf32>, tensor<2x8x1xi32>) -> tensor<2x8x32xf32>
  return
}

// -----

func.func @batch_sizes(%w: tensor<64x32xf32>, %t: tensor<2x8x1xi32>) {
  // expected-error@+1 {{expected batching dimensions 0 and 0 of one size, got 64 and 2}}
  %0 = "stablehlo.gather"(%w, %t) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 32>}> : (tensor<64x32xf32>, tensor<2x8x1xi32>) -> tensor<2x8x32xf32>
  return
}

// -----

func.func @result_rank(%w: tensor<64x32xf32>, %t: tensor<2x8x1xi32>) {
  // expected-error@+1 {{expected a result of rank 3, got 'tensor<16x1x2x32xf32>'}}
  %0 = "stablehlo.gather"(%w, %t) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, slice_sizes = array<i64: 1, 32>}> : (tensor<64x32xf32>, tensor<2x8x1xi32>) -> tensor<16x1x2x32xf32>
  return
}

// -----

func.func @slice_collapsed(%w: tensor<64x32xf32>, %t: tensor<2x8x1xi32>) {
  // expected-error@+1 {{expected 'slice_sizes' in [0, 1] for dim 0, got 2}}
  %0 = "stablehlo.gather"(%w, %t) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, slice_sizes = array<i64: 2, 32>}> : (tensor<64x32xf32>, tensor<2x8x1xi32>) -> tensor<2x8x32xf32>
  return
}

// -----

func.func @slice_count(%w: tensor<64x32xf32>, %t: tensor<2x8x1xi32>) {
  // expected-error@+1 {{expected 2 entries in 'slice_sizes', got 1}}
  %0 = "stablehlo.gather"(%w, %t) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, slice_sizes = array<i64: 1>}> : (tensor<64x32xf32>, tensor<2x8x1xi32>) -> tensor<2x8x32xf32>
  return
}

// -----

func.func @gather_shape(%w: tensor<64x32xf32>, %t: tensor<2x8x1xi32>) {
  // expected-error@+1 {{expected a result of shape [2, 8, 32], got [2, 8, 31]}}
  %0 = "stablehlo.gather"(%w, %t) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, slice_sizes = array<i64: 1, 32>}> : (tensor<64x32xf32>, tensor<2x8x1xi32>) -> tensor<2x8x31xf32>
  return
}

// -----

func.func @gather_element(%w: tensor<64x32xf32>, %t: tensor<2x8x1xi32>) {
  // expected-error@+1 {{expected a result of 'f32', got 'tensor<2x8x32xf64>'}}
  %0 = "stablehlo.gather"(%w, %t) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, slice_sizes = array<i64: 1, 32>}> : (tensor<64x32xf32>, tensor<2x8x1xi32>) -> tensor<2x8x32xf64>
  return
}

// -----

func.func @gather_indices(%w: tensor<64x32xf32>, %t: tensor<2x8x1xf32>) {
  // expected-error@+1 {{operand #1 must be statically shaped tensor of integers, but got 'tensor<2x8x1xf32>'}}
  %0 = "stablehlo.gather"(%w, %t) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, slice_sizes = array<i64: 1, 32>}> : (tensor<64x32xf32>, tensor<2x8x1xf32>) -> tensor<2x8x32xf32>
  return
}

// -----

func.func @scatter_none(%t: tensor<2x8x1xi32>) {
  // expected-error@+1 {{expected at least 1 input, got 0}}
  "stablehlo.scatter"(%t) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 2>}> ({
    stablehlo.return
  }) : (tensor<2x8x1xi32>) -> ()
  return
}

// -----

func.func @scatter_results(%w: tensor<64x32xf32>, %t: tensor<2x8x1xi32>, %u: tensor<2x8x32xf32>) {
  // expected-error@+1 {{expected 1 results, got 2}}
  %0:2 = "stablehlo.scatter"(%w, %t, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 2>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    stablehlo.return %q : tensor<f32>
  }) : (tensor<64x32xf32>, tensor<2x8x1xi32>, tensor<2x8x32xf32>) -> (tensor<64x32xf32>, tensor<64x32xf32>)
  return
}

// -----

func.func @scatter_rank(%w: tensor<64x32xf32>, %t: tensor<2x8x1xi32>, %u: tensor<16x32xf32>) {
  // expected-error@+1 {{expected 'update_window_dims' in [0, 2), got 2}}
  %0 = "stablehlo.scatter"(%w, %t, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 2>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    stablehlo.return %q : tensor<f32>
  }) : (tensor<64x32xf32>, tensor<2x8x1xi32>, tensor<16x32xf32>) -> tensor<64x32xf32>
  return
}

// -----

func.func @scatter_window(%w: tensor<64x32xf32>, %t: tensor<2x8x1xi32>, %u: tensor<2x8x33xf32>) {
  // expected-error@+1 {{expected an update window of at most 32 in dim 1, got 33}}
  %0 = "stablehlo.scatter"(%w, %t, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 2>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    stablehlo.return %q : tensor<f32>
  }) : (tensor<64x32xf32>, tensor<2x8x1xi32>, tensor<2x8x33xf32>) -> tensor<64x32xf32>
  return
}

// -----

func.func @scatter_shape(%w: tensor<64x32xf32>, %t: tensor<2x8x1xi32>, %u: tensor<2x9x32xf32>) {
  // expected-error@+1 {{expected updates of shape [2, 8, 32], got [2, 9, 32]}}
  %0 = "stablehlo.scatter"(%w, %t, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 2>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    stablehlo.return %q : tensor<f32>
  }) : (tensor<64x32xf32>, tensor<2x8x1xi32>, tensor<2x9x32xf32>) -> tensor<64x32xf32>
  return
}

// -----

func.func @scatter_elements(%w: tensor<64x32xf32>, %t: tensor<2x8x1xi32>, %u: tensor<2x8x32xf64>) {
  // expected-error@+1 {{expected input, updates and result of one element type, got 'tensor<64x32xf32>', 'tensor<2x8x32xf64>' and 'tensor<64x32xf32>'}}
  %0 = "stablehlo.scatter"(%w, %t, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 2>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    stablehlo.return %q : tensor<f32>
  }) : (tensor<64x32xf32>, tensor<2x8x1xi32>, tensor<2x8x32xf64>) -> tensor<64x32xf32>
  return
}

// -----

func.func @starts_count(%w: tensor<64x32xf32>, %i: tensor<i32>, %j: tensor<i64>) {
  // expected-error@+1 {{expected 2 entries in 'start_indices', got 1}}
  %0 = stablehlo.dynamic_slice %w, %i, sizes = [1, 32] : (tensor<64x32xf32>, tensor<i32>) -> tensor<1x32xf32>
  return
}

// -----

func.func @starts_types(%w: tensor<64x32xf32>, %i: tensor<i32>, %j: tensor<i64>) {
  // expected-error@+1 {{expected start indices of one element type, got 'tensor<i32>' and 'tensor<i64>'}}
  %0 = stablehlo.dynamic_slice %w, %i, %j, sizes = [1, 32] : (tensor<64x32xf32>, tensor<i32>, tensor<i64>) -> tensor<1x32xf32>
  return
}

// -----

func.func @dynamic_sizes(%w: tensor<64x32xf32>, %i: tensor<i32>, %j: tensor<i64>) {
  // expected-error@+1 {{expected 'slice_sizes' in [0, 32] for dim 1, got 33}}
  %0 = stablehlo.dynamic_slice %w, %i, %i, sizes = [1, 33] : (tensor<64x32xf32>, tensor<i32>, tensor<i32>) -> tensor<1x33xf32>
  return
}

// -----

func.func @update_fits(%w: tensor<64x32xf32>, %i: tensor<i32>, %j: tensor<i64>, %u: tensor<65x1xf32>) {
  // expected-error@+1 {{expected an update that fits in 'tensor<64x32xf32>', got 'tensor<65x1xf32>'}}
  %0 = stablehlo.dynamic_update_slice %w, %u, %i, %i : (tensor<64x32xf32>, tensor<65x1xf32>, tensor<i32>, tensor<i32>) -> tensor<64x32xf32>
  return
}
