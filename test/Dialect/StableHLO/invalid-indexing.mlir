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

// -----

func.func @offset_range(%w: tensor<64x32xf32>, %t: tensor<2x8x1xi32>) {
  // expected-error@+1 {{expected 'offset_dims' in [0, 3), got 3}}
  %0 = "stablehlo.gather"(%w, %t) <{dimension_numbers = #stablehlo.gather<offset_dims = [3], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, slice_sizes = array<i64: 1, 32>}> : (tensor<64x32xf32>, tensor<2x8x1xi32>) -> tensor<2x8x32xf32>
  return
}

// -----

func.func @collapsed_range(%w: tensor<64x32xf32>, %t: tensor<2x8x1xi32>) {
  // expected-error@+1 {{expected 'collapsed_slice_dims' in [0, 2), got 2}}
  %0 = "stablehlo.gather"(%w, %t) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [2], start_index_map = [0], index_vector_dim = 2>, slice_sizes = array<i64: 1, 32>}> : (tensor<64x32xf32>, tensor<2x8x1xi32>) -> tensor<2x8x32xf32>
  return
}

// -----

func.func @batching_range(%w: tensor<64x32xf32>, %t: tensor<2x8x1xi32>) {
  // expected-error@+1 {{expected 'operand_batching_dims' in [0, 2), got -1}}
  %0 = "stablehlo.gather"(%w, %t) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], operand_batching_dims = [-1], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 32>}> : (tensor<64x32xf32>, tensor<2x8x1xi32>) -> tensor<2x8x32xf32>
  return
}

// -----

func.func @collapsed_sorted(%w: tensor<64x32xf32>, %t: tensor<2x8x1xi32>) {
  // expected-error@+1 {{expected sorted 'collapsed_slice_dims', got [1, 0]}}
  %0 = "stablehlo.gather"(%w, %t) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1, 0], start_index_map = [0], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1>}> : (tensor<64x32xf32>, tensor<2x8x1xi32>) -> tensor<2x8xf32>
  return
}

// -----

func.func @batching_sorted(%w: tensor<8x2x4xf32>, %t: tensor<2x8x1xi32>) {
  // expected-error@+1 {{expected sorted 'operand_batching_dims', got [1, 0]}}
  %0 = "stablehlo.gather"(%w, %t) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [2], operand_batching_dims = [1, 0], start_indices_batching_dims = [0, 1], start_index_map = [2], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 1>}> : (tensor<8x2x4xf32>, tensor<2x8x1xi32>) -> tensor<2x8xf32>
  return
}

// -----

func.func @map_apart(%w: tensor<2x32xf32>, %t: tensor<2x8x1xi32>) {
  // expected-error@+1 {{expected 'start_index_map' and 'operand_batching_dims' apart, got 0 in both}}
  %0 = "stablehlo.gather"(%w, %t) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [0], index_vector_dim = 2>, slice_sizes = array<i64: 1, 32>}> : (tensor<2x32xf32>, tensor<2x8x1xi32>) -> tensor<2x8x32xf32>
  return
}

// -----

func.func @map_range(%w: tensor<64x32xf32>, %t: tensor<2x8x1xi32>) {
  // expected-error@+1 {{expected 'start_index_map' in [0, 2), got 2}}
  %0 = "stablehlo.gather"(%w, %t) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [2], index_vector_dim = 2>, slice_sizes = array<i64: 1, 32>}> : (tensor<64x32xf32>, tensor<2x8x1xi32>) -> tensor<2x8x32xf32>
  return
}

// -----

func.func @indices_batching_twice(%w: tensor<2x2x4xf32>, %t: tensor<2x2x1xi32>) {
  // expected-error@+1 {{expected distinct 'start_indices_batching_dims', got 1 twice}}
  %0 = "stablehlo.gather"(%w, %t) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [2], operand_batching_dims = [0, 1], start_indices_batching_dims = [1, 1], start_index_map = [2], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 1>}> : (tensor<2x2x4xf32>, tensor<2x2x1xi32>) -> tensor<2x2xf32>
  return
}

// -----

func.func @indices_batching_range(%w: tensor<2x32xf32>, %t: tensor<2x8x1xi32>) {
  // expected-error@+1 {{expected 'start_indices_batching_dims' in [0, 3), got 3}}
  %0 = "stablehlo.gather"(%w, %t) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], operand_batching_dims = [0], start_indices_batching_dims = [3], start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 32>}> : (tensor<2x32xf32>, tensor<2x8x1xi32>) -> tensor<2x8x32xf32>
  return
}

// -----

func.func @vector_dim_negative(%w: tensor<64x32xf32>, %t: tensor<2x8x1xi32>) {
  // expected-error@+1 {{expected 'index_vector_dim' in [0, 3], got -1}}
  %0 = "stablehlo.gather"(%w, %t) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = -1>, slice_sizes = array<i64: 1, 32>}> : (tensor<64x32xf32>, tensor<2x8x1xi32>) -> tensor<2x8x32xf32>
  return
}

// -----

// The first pair fits.
func.func @second_batch_sizes(%w: tensor<2x9x4xf32>, %t: tensor<2x8x1xi32>) {
  // expected-error@+1 {{expected batching dimensions 1 and 1 of one size, got 9 and 8}}
  %0 = "stablehlo.gather"(%w, %t) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [2], operand_batching_dims = [0, 1], start_indices_batching_dims = [0, 1], start_index_map = [2], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 1>}> : (tensor<2x9x4xf32>, tensor<2x8x1xi32>) -> tensor<2x8xf32>
  return
}

// -----

func.func @updates_rank(%w: tensor<64x32xf32>, %t: tensor<2x8x1xi32>, %u: tensor<2x4x2x32xf32>) {
  // expected-error@+1 {{expected updates of rank 3, got 'tensor<2x4x2x32xf32>'}}
  %0 = "stablehlo.scatter"(%w, %t, %u) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [3], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 2>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<f32>):
    stablehlo.return %q : tensor<f32>
  }) : (tensor<64x32xf32>, tensor<2x8x1xi32>, tensor<2x4x2x32xf32>) -> tensor<64x32xf32>
  return
}

// -----

func.func @slice_negative(%w: tensor<64x32xf32>, %t: tensor<2x8x1xi32>) {
  // expected-error@+1 {{expected 'slice_sizes' in [0, 32] for dim 1, got -1}}
  %0 = "stablehlo.gather"(%w, %t) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, slice_sizes = array<i64: 1, -1>}> : (tensor<64x32xf32>, tensor<2x8x1xi32>) -> tensor<2x8x32xf32>
  return
}

// -----

func.func @slice_too_long(%w: tensor<64x32xf32>, %t: tensor<2x8x1xi32>) {
  // expected-error@+1 {{expected 'slice_sizes' in [0, 32] for dim 1, got 33}}
  %0 = "stablehlo.gather"(%w, %t) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, slice_sizes = array<i64: 1, 33>}> : (tensor<64x32xf32>, tensor<2x8x1xi32>) -> tensor<2x8x33xf32>
  return
}

// -----

func.func @slice_batching(%w: tensor<2x4x32xf32>, %t: tensor<2x8x1xi32>) {
  // expected-error@+1 {{expected 'slice_sizes' in [0, 1] for dim 0, got 2}}
  %0 = "stablehlo.gather"(%w, %t) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 2, 1, 32>}> : (tensor<2x4x32xf32>, tensor<2x8x1xi32>) -> tensor<2x8x32xf32>
  return
}

// -----

// Nothing can be taken out of a dimension without elements.
func.func @slice_collapsed_empty(%w: tensor<0x32xf32>, %t: tensor<2x8x1xi32>) {
  // expected-error@+1 {{expected 'slice_sizes' in [0, 0] for dim 0, got 1}}
  %0 = "stablehlo.gather"(%w, %t) <{dimension_numbers = #stablehlo.gather<offset_dims = [2], collapsed_slice_dims = [0], start_index_map = [0], index_vector_dim = 2>, slice_sizes = array<i64: 1, 32>}> : (tensor<0x32xf32>, tensor<2x8x1xi32>) -> tensor<2x8x32xf32>
  return
}

// -----

// The second input, updates and results are checked as the first.
func.func @second_input(%w: tensor<64x32xf32>, %v: tensor<64x31xi32>, %t: tensor<2x8x1xi32>, %u: tensor<2x8x32xf32>, %y: tensor<2x8x32xi32>) {
  // expected-error@+1 {{expected an input of shape [64, 32], got [64, 31]}}
  %0:2 = "stablehlo.scatter"(%w, %v, %t, %u, %y) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 2>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<i32>, %r: tensor<f32>, %s: tensor<i32>):
    stablehlo.return %r, %s : tensor<f32>, tensor<i32>
  }) : (tensor<64x32xf32>, tensor<64x31xi32>, tensor<2x8x1xi32>, tensor<2x8x32xf32>, tensor<2x8x32xi32>) -> (tensor<64x32xf32>, tensor<64x32xi32>)
  return
}

// -----

func.func @second_updates(%w: tensor<64x32xf32>, %v: tensor<64x32xi32>, %t: tensor<2x8x1xi32>, %u: tensor<2x8x32xf32>, %y: tensor<2x8x31xi32>) {
  // expected-error@+1 {{expected updates of shape [2, 8, 32], got [2, 8, 31]}}
  %0:2 = "stablehlo.scatter"(%w, %v, %t, %u, %y) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 2>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<i32>, %r: tensor<f32>, %s: tensor<i32>):
    stablehlo.return %r, %s : tensor<f32>, tensor<i32>
  }) : (tensor<64x32xf32>, tensor<64x32xi32>, tensor<2x8x1xi32>, tensor<2x8x32xf32>, tensor<2x8x31xi32>) -> (tensor<64x32xf32>, tensor<64x32xi32>)
  return
}

// -----

func.func @second_result(%w: tensor<64x32xf32>, %v: tensor<64x32xi32>, %t: tensor<2x8x1xi32>, %u: tensor<2x8x32xf32>, %y: tensor<2x8x32xi32>) {
  // expected-error@+1 {{expected a result of shape [64, 32], got [32, 64]}}
  %0:2 = "stablehlo.scatter"(%w, %v, %t, %u, %y) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 2>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<i32>, %r: tensor<f32>, %s: tensor<i32>):
    stablehlo.return %r, %s : tensor<f32>, tensor<i32>
  }) : (tensor<64x32xf32>, tensor<64x32xi32>, tensor<2x8x1xi32>, tensor<2x8x32xf32>, tensor<2x8x32xi32>) -> (tensor<64x32xf32>, tensor<32x64xi32>)
  return
}

// -----

func.func @second_result_element(%w: tensor<64x32xf32>, %v: tensor<64x32xi32>, %t: tensor<2x8x1xi32>, %u: tensor<2x8x32xf32>, %y: tensor<2x8x32xi32>) {
  // expected-error@+1 {{expected input, updates and result of one element type, got 'tensor<64x32xi32>', 'tensor<2x8x32xi32>' and 'tensor<64x32xi64>'}}
  %0:2 = "stablehlo.scatter"(%w, %v, %t, %u, %y) <{scatter_dimension_numbers = #stablehlo.scatter<update_window_dims = [2], inserted_window_dims = [0], scatter_dims_to_operand_dims = [0], index_vector_dim = 2>}> ({
  ^bb0(%p: tensor<f32>, %q: tensor<i32>, %r: tensor<f32>, %s: tensor<i32>):
    stablehlo.return %r, %s : tensor<f32>, tensor<i32>
  }) : (tensor<64x32xf32>, tensor<64x32xi32>, tensor<2x8x1xi32>, tensor<2x8x32xf32>, tensor<2x8x32xi32>) -> (tensor<64x32xf32>, tensor<64x32xi64>)
  return
}

// -----

func.func @dynamic_count(%w: tensor<64x32xf32>, %i: tensor<i32>) {
  // expected-error@+1 {{expected 2 entries in 'slice_sizes', got 3}}
  %0 = stablehlo.dynamic_slice %w, %i, %i, sizes = [1, 32, 1] : (tensor<64x32xf32>, tensor<i32>, tensor<i32>) -> tensor<1x32xf32>
  return
}

// -----

func.func @dynamic_negative(%w: tensor<64x32xf32>, %i: tensor<i32>) {
  // expected-error@+1 {{expected 'slice_sizes' in [0, 32] for dim 1, got -1}}
  %0 = stablehlo.dynamic_slice %w, %i, %i, sizes = [1, -1] : (tensor<64x32xf32>, tensor<i32>, tensor<i32>) -> tensor<1x32xf32>
  return
}

// -----

func.func @dynamic_element(%w: tensor<64x32xf32>, %i: tensor<i32>) {
  // expected-error@+1 {{expected a result of 'f32', got 'tensor<1x32xf64>'}}
  %0 = stablehlo.dynamic_slice %w, %i, %i, sizes = [1, 32] : (tensor<64x32xf32>, tensor<i32>, tensor<i32>) -> tensor<1x32xf64>
  return
}

// -----

func.func @dynamic_shape(%w: tensor<64x32xf32>, %i: tensor<i32>) {
  // expected-error@+1 {{expected a result of shape [1, 32], got [32, 1]}}
  %0 = stablehlo.dynamic_slice %w, %i, %i, sizes = [1, 32] : (tensor<64x32xf32>, tensor<i32>, tensor<i32>) -> tensor<32x1xf32>
  return
}

// -----

func.func @update_starts(%w: tensor<64x32xf32>, %u: tensor<1x1xf32>, %i: tensor<i32>) {
  // expected-error@+1 {{expected 2 entries in 'start_indices', got 3}}
  %0 = stablehlo.dynamic_update_slice %w, %u, %i, %i, %i : (tensor<64x32xf32>, tensor<1x1xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<64x32xf32>
  return
}

// -----

func.func @update_rank(%w: tensor<64x32xf32>, %u: tensor<1x1x1xf32>, %i: tensor<i32>) {
  // expected-error@+1 {{expected an update that fits in 'tensor<64x32xf32>', got 'tensor<1x1x1xf32>'}}
  %0 = stablehlo.dynamic_update_slice %w, %u, %i, %i : (tensor<64x32xf32>, tensor<1x1x1xf32>, tensor<i32>, tensor<i32>) -> tensor<64x32xf32>
  return
}

// -----

func.func @update_element(%w: tensor<64x32xf32>, %u: tensor<1x1xi32>, %i: tensor<i32>) {
  // expected-error@+1 {{expected an update that fits in 'tensor<64x32xf32>', got 'tensor<1x1xi32>'}}
  %0 = stablehlo.dynamic_update_slice %w, %u, %i, %i : (tensor<64x32xf32>, tensor<1x1xi32>, tensor<i32>, tensor<i32>) -> tensor<64x32xf32>
  return
}

// -----

// The first dimension just fits.
func.func @update_second(%w: tensor<64x32xf32>, %u: tensor<64x33xf32>, %i: tensor<i32>) {
  // expected-error@+1 {{expected an update that fits in 'tensor<64x32xf32>', got 'tensor<64x33xf32>'}}
  %0 = stablehlo.dynamic_update_slice %w, %u, %i, %i : (tensor<64x32xf32>, tensor<64x33xf32>, tensor<i32>, tensor<i32>) -> tensor<64x32xf32>
  return
}

// -----

func.func @update_result_element(%w: tensor<64x32xf32>, %u: tensor<64x32xf32>, %i: tensor<i32>) {
  // expected-error@+1 {{expected a result of 'f32', got 'tensor<64x32xf64>'}}
  %0 = stablehlo.dynamic_update_slice %w, %u, %i, %i : (tensor<64x32xf32>, tensor<64x32xf32>, tensor<i32>, tensor<i32>) -> tensor<64x32xf64>
  return
}

// -----

func.func @update_result_shape(%w: tensor<64x32xf32>, %u: tensor<64x32xf32>, %i: tensor<i32>) {
  // expected-error@+1 {{expected a result of shape [64, 32], got [32, 64]}}
  %0 = stablehlo.dynamic_update_slice %w, %u, %i, %i : (tensor<64x32xf32>, tensor<64x32xf32>, tensor<i32>, tensor<i32>) -> tensor<32x64xf32>
  return
}
