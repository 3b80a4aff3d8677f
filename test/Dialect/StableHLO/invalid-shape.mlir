// RUN: llmc-opt %s --split-input-file --verify-diagnostics

func.func @constant_type() {
  // expected-error@+1 {{expected a value of the result's shape and element type, 'tensor<5xf32>', got 'tensor<4xf32>'}}
  %0 = stablehlo.constant dense<1.0> : tensor<4xf32> -> tensor<5xf32>
  return
}

// -----

func.func @constant_elided() {
  // expected-error@+1 {{expected the elements of resource "__elided__", got none (the text was printed with elided constants)}}
  %0 = stablehlo.constant dense_resource<__elided__> : tensor<4xf32>
  return
}

// -----

func.func @iota() {
  // expected-error@+1 {{expected 'iota_dimension' in [0, 1), got 1}}
  %0 = stablehlo.iota dim = 1 : tensor<4xi32>
  return
}

// -----

func.func @broadcast_count(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{expected 2 entries in 'broadcast_dimensions', got 1}}
  %0 = stablehlo.broadcast_in_dim %x, dims = [0] : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @broadcast_range(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{expected 'broadcast_dimensions' in [0, 2), got -1}}
  %0 = stablehlo.broadcast_in_dim %x, dims = [0, -1] : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @broadcast_twice(%x: tensor<4x4xf32>) {
  // expected-error@+1 {{expected distinct 'broadcast_dimensions', got 1 twice}}
  %0 = stablehlo.broadcast_in_dim %x, dims = [1, 1] : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @broadcast_size(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{expected dim 1 of the operand to be 1 or 9, the size of dim 2 of the result, got 8}}
  %0 = stablehlo.broadcast_in_dim %x, dims = [0, 2] : (tensor<4x8xf32>) -> tensor<4x3x9xf32>
  return
}

// -----

func.func @reshape(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{expected a result of 32 elements, as the operand has, got 33}}
  %0 = stablehlo.reshape %x : (tensor<4x8xf32>) -> tensor<33xf32>
  return
}

// -----

func.func @transpose_shape(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{expected a result of shape [8, 4], got [4, 8]}}
  %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @slice_bounds(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{expected 0 <= start <= limit <= 8 in dim 1, got 0:9}}
  %0 = stablehlo.slice %x [0:4, 0:9] : (tensor<4x8xf32>) -> tensor<4x9xf32>
  return
}

// -----

func.func @slice_stride(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{expected a stride of at least 1 in dim 0, got 0}}
  %0 = stablehlo.slice %x [0:4:0, 0:8] : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @slice_shape(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{expected a result of shape [2, 8], got [1, 8]}}
  %0 = stablehlo.slice %x [0:4:3, 0:8] : (tensor<4x8xf32>) -> tensor<1x8xf32>
  return
}

// -----

func.func @pad_interior(%x: tensor<4xf32>, %s: tensor<f32>) {
  // expected-error@+1 {{expected an interior padding of at least 0 in dim 0, got -1}}
  %0 = stablehlo.pad %x, %s, low = [0], high = [0], interior = [-1] : (tensor<4xf32>, tensor<f32>) -> tensor<1xf32>
  return
}

// -----

func.func @pad_negative(%x: tensor<4xf32>, %s: tensor<f32>) {
  // expected-error@+1 {{expected a padded size in [0, 2^63) in dim 0, got -5 + 0 + 4 and 0 between elements}}
  %0 = stablehlo.pad %x, %s, low = [-5], high = [0], interior = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<1xf32>
  return
}

// -----

func.func @pad_overflow(%x: tensor<4xf32>, %s: tensor<f32>) {
  // expected-error@+1 {{expected a padded size in [0, 2^63) in dim 0, got 0 + 9223372036854775807 + 4 and 0 between elements}}
  %0 = stablehlo.pad %x, %s, low = [0], high = [9223372036854775807], interior = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<1xf32>
  return
}

// -----

func.func @pad_scalar(%x: tensor<4xf32>, %s: tensor<1xf32>) {
  // expected-error@+1 {{operand #1 must be tensor of rank 0, but got 'tensor<1xf32>'}}
  %0 = stablehlo.pad %x, %s, low = [0], high = [0], interior = [0] : (tensor<4xf32>, tensor<1xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @concatenate_none() {
  // expected-error@+1 {{expected at least 1 operand, got 0}}
  %0 = "stablehlo.concatenate"() <{dimension = 0 : i64}> : () -> tensor<4xf32>
  return
}

// -----

func.func @concatenate_rank(%x: tensor<4x8xf32>, %y: tensor<4xf32>) {
  // expected-error@+1 {{expected operands that fit together, got 'tensor<4x8xf32>' and 'tensor<4xf32>'}}
  %0 = stablehlo.concatenate %x, %y, dim = 0 : (tensor<4x8xf32>, tensor<4xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @concatenate_sizes(%x: tensor<4x8xf32>, %y: tensor<4x7xf32>) {
  // expected-error@+1 {{expected an operand of shape [4, 8], got [4, 7]}}
  %0 = stablehlo.concatenate %x, %y, dim = 0 : (tensor<4x8xf32>, tensor<4x7xf32>) -> tensor<8x8xf32>
  return
}

// -----

func.func @barrier_count(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected as many results as operands, 1, got 2}}
  %0:2 = stablehlo.optimization_barrier %x : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
  return
}

// -----

func.func @barrier_type(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected result #0 of the shape and element type of its operand, 'tensor<4xf32>', got 'tensor<5xf32>'}}
  %0 = stablehlo.optimization_barrier %x : (tensor<4xf32>) -> tensor<5xf32>
  return
}

// -----

func.func @constant_element() {
  // expected-error@+1 {{expected a value of the result's shape and element type, 'tensor<4xf64>', got 'tensor<4xf32>'}}
  %0 = stablehlo.constant dense<1.0> : tensor<4xf32> -> tensor<4xf64>
  return
}

// -----

func.func @iota_negative() {
  // expected-error@+1 {{expected 'iota_dimension' in [0, 1), got -1}}
  %0 = stablehlo.iota dim = -1 : tensor<4xi32>
  return
}

// -----

func.func @transpose_count(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{expected 2 entries in 'permutation', got 1}}
  %0 = stablehlo.transpose %x, dims = [0] : (tensor<4x8xf32>) -> tensor<4xf32>
  return
}

// -----

func.func @transpose_twice(%x: tensor<4x4xf32>) {
  // expected-error@+1 {{expected distinct 'permutation', got 1 twice}}
  %0 = stablehlo.transpose %x, dims = [1, 1] : (tensor<4x4xf32>) -> tensor<4x4xf32>
  return
}

// -----

func.func @reverse_range(%x: tensor<4x4xf32>) {
  // expected-error@+1 {{expected 'dimensions' in [0, 2), got 2}}
  %0 = stablehlo.reverse %x, dims = [0, 2] : tensor<4x4xf32>
  return
}

// -----

func.func @slice_starts(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{expected 2 entries in 'start_indices', got 1}}
  %0 = "stablehlo.slice"(%x) <{start_indices = array<i64: 0>, limit_indices = array<i64: 4, 8>, strides = array<i64: 1, 1>}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @slice_limits(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{expected 2 entries in 'limit_indices', got 1}}
  %0 = "stablehlo.slice"(%x) <{start_indices = array<i64: 0, 0>, limit_indices = array<i64: 4>, strides = array<i64: 1, 1>}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @slice_strides(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{expected 2 entries in 'strides', got 1}}
  %0 = "stablehlo.slice"(%x) <{start_indices = array<i64: 0, 0>, limit_indices = array<i64: 4, 8>, strides = array<i64: 1>}> : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @slice_before(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{expected 0 <= start <= limit <= 8 in dim 1, got -1:8}}
  %0 = stablehlo.slice %x [0:4, -1:8] : (tensor<4x8xf32>) -> tensor<4x9xf32>
  return
}

// -----

func.func @slice_backwards(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{expected 0 <= start <= limit <= 8 in dim 1, got 3:2}}
  %0 = stablehlo.slice %x [0:4, 3:2] : (tensor<4x8xf32>) -> tensor<4x0xf32>
  return
}

// -----

func.func @slice_second_stride(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{expected a stride of at least 1 in dim 1, got -1}}
  %0 = stablehlo.slice %x [0:4, 0:8:-1] : (tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

func.func @pad_low(%x: tensor<4xf32>, %s: tensor<f32>) {
  // expected-error@+1 {{expected 1 entry in 'edge_padding_low', got 2}}
  %0 = stablehlo.pad %x, %s, low = [0, 0], high = [0], interior = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return
}

// -----

func.func @pad_high(%x: tensor<4xf32>, %s: tensor<f32>) {
  // expected-error@+1 {{expected 1 entry in 'edge_padding_high', got 0}}
  %0 = stablehlo.pad %x, %s, low = [0], high = [], interior = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return
}

// -----

func.func @pad_interior_count(%x: tensor<4xf32>, %s: tensor<f32>) {
  // expected-error@+1 {{expected 1 entry in 'interior_padding', got 2}}
  %0 = stablehlo.pad %x, %s, low = [0], high = [0], interior = [0, 0] : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return
}

// -----

func.func @pad_second_interior(%x: tensor<4x4xf32>, %s: tensor<f32>) {
  // expected-error@+1 {{expected an interior padding of at least 0 in dim 1, got -1}}
  %0 = stablehlo.pad %x, %s, low = [0, 0], high = [0, 0], interior = [0, -1] : (tensor<4x4xf32>, tensor<f32>) -> tensor<4x1xf32>
  return
}

// -----

// Each step of the size may overflow: the gaps, their sum with the elements,
// the lower edge; the last two would come back into range.
func.func @pad_overflow_gaps(%x: tensor<5xf32>, %s: tensor<f32>) {
  // expected-error@+1 {{expected a padded size in [0, 2^63) in dim 0, got 0 + 0 + 5 and 4611686018427387904 between elements}}
  %0 = stablehlo.pad %x, %s, low = [0], high = [0], interior = [4611686018427387904] : (tensor<5xf32>, tensor<f32>) -> tensor<5xf32>
  return
}

// -----

func.func @pad_overflow_size(%x: tensor<2xf32>, %s: tensor<f32>) {
  // expected-error@+1 {{expected a padded size in [0, 2^63) in dim 0, got -9223372036854775807 + 0 + 2 and 9223372036854775807 between elements}}
  %0 = stablehlo.pad %x, %s, low = [-9223372036854775807], high = [0], interior = [9223372036854775807] : (tensor<2xf32>, tensor<f32>) -> tensor<2xf32>
  return
}

// -----

func.func @pad_overflow_low(%x: tensor<4xf32>, %s: tensor<f32>) {
  // expected-error@+1 {{expected a padded size in [0, 2^63) in dim 0, got 9223372036854775807 + -9223372036854775807 + 4 and 0 between elements}}
  %0 = stablehlo.pad %x, %s, low = [9223372036854775807], high = [-9223372036854775807], interior = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<4xf32>
  return
}

// -----

func.func @pad_shape(%x: tensor<4xf32>, %s: tensor<f32>) {
  // expected-error@+1 {{expected a result of shape [0], got [1]}}
  %0 = stablehlo.pad %x, %s, low = [-4], high = [0], interior = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<1xf32>
  return
}

// -----

func.func @concatenate_dim(%x: tensor<4x8xf32>) {
  // expected-error@+1 {{expected 'dimension' in [0, 2), got 2}}
  %0 = stablehlo.concatenate %x, %x, dim = 2 : (tensor<4x8xf32>, tensor<4x8xf32>) -> tensor<4x8xf32>
  return
}

// -----

// Nine of the longest that there are.
func.func @concatenate_overflow(%x: tensor<1152921504606846975x0xi8>) {
  // expected-error@+1 {{expected operands that fit together, got 'tensor<1152921504606846975x0xi8>' and 'tensor<1152921504606846975x0xi8>'}}
  %0 = stablehlo.concatenate %x, %x, %x, %x, %x, %x, %x, %x, %x, dim = 0 : (tensor<1152921504606846975x0xi8>, tensor<1152921504606846975x0xi8>, tensor<1152921504606846975x0xi8>, tensor<1152921504606846975x0xi8>, tensor<1152921504606846975x0xi8>, tensor<1152921504606846975x0xi8>, tensor<1152921504606846975x0xi8>, tensor<1152921504606846975x0xi8>, tensor<1152921504606846975x0xi8>) -> tensor<4x0xi8>
  return
}

// -----

func.func @concatenate_third(%x: tensor<4x8xf32>, %y: tensor<2x8xf32>, %z: tensor<4x9xf32>) {
  // expected-error@+1 {{expected an operand of shape [4, 8], got [4, 9]}}
  %0 = stablehlo.concatenate %x, %y, %z, dim = 0 : (tensor<4x8xf32>, tensor<2x8xf32>, tensor<4x9xf32>) -> tensor<10x8xf32>
  return
}

// -----

func.func @concatenate_shape(%x: tensor<4x8xf32>, %y: tensor<2x8xf32>) {
  // expected-error@+1 {{expected a result of shape [8, 8], got [6, 8]}}
  %0 = stablehlo.concatenate %x, %y, %y, dim = 0 : (tensor<4x8xf32>, tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<6x8xf32>
  return
}

// -----

func.func @barrier_second_element(%x: tensor<4xf32>) {
  // expected-error@+1 {{expected result #1 of the shape and element type of its operand, 'tensor<4xf32>', got 'tensor<4xf64>'}}
  %0:2 = stablehlo.optimization_barrier %x, %x : (tensor<4xf32>, tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf64>)
  return
}
