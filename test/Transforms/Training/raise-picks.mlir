// RUN: llmc-opt %s --split-input-file --llmc-normalize --llmc-raise | FileCheck %s

// Which picks of a class are known: rows numbered by an iota, with or without
// JAX's wrapping of negative indices. What looks alike and is none of these
// is left as it is.

// x < 0 ? x + n : x is x for what counts from 0.
// CHECK-LABEL: func.func @wrapped
// CHECK: nn.softmax_cross_entropy
// CHECK-NOT: stablehlo.gather
// CHECK: return
func.func @wrapped(%x: tensor<4x7xf32> {dist.port = #dist.port<input "x">},
    %t: tensor<4xi32> {dist.port = #dist.port<input "t">}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}) {
  %e = stablehlo.exponential %x : tensor<4x7xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1]
      : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
  %l = stablehlo.log %s : tensor<4xf32>
  %b = stablehlo.broadcast_in_dim %l, dims = [0] : (tensor<4xf32>) -> tensor<4x7xf32>
  %p = stablehlo.subtract %x, %b : tensor<4x7xf32>
  %i = stablehlo.iota dim = 0 : tensor<4xi32>
  %low = stablehlo.constant dense<0> : tensor<4xi32>
  %n = stablehlo.constant dense<4> : tensor<4xi32>
  %c = stablehlo.compare LT, %i, %low : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
  %w = stablehlo.add %i, %n : tensor<4xi32>
  %f = stablehlo.select %c, %w, %i : tensor<4xi1>, tensor<4xi32>
  %r1 = stablehlo.reshape %f : (tensor<4xi32>) -> tensor<4x1xi32>
  %t1 = stablehlo.reshape %t : (tensor<4xi32>) -> tensor<4x1xi32>
  %it = stablehlo.concatenate %r1, %t1, dim = 1 : (tensor<4x1xi32>, tensor<4x1xi32>) -> tensor<4x2xi32>
  %g = "stablehlo.gather"(%p, %it) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1],
      start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}>
      : (tensor<4x7xf32>, tensor<4x2xi32>) -> tensor<4xf32>
  return %g : tensor<4xf32>
}
dist.entry @a function(@wrapped)

// -----

// CHECK-LABEL: func.func @wrapped_swapped
// CHECK: nn.softmax_cross_entropy
// CHECK-NOT: stablehlo.gather
// CHECK: return
func.func @wrapped_swapped(%x: tensor<4x7xf32> {dist.port = #dist.port<input "x">},
    %t: tensor<4xi32> {dist.port = #dist.port<input "t">}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}) {
  %e = stablehlo.exponential %x : tensor<4x7xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1]
      : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
  %l = stablehlo.log %s : tensor<4xf32>
  %b = stablehlo.broadcast_in_dim %l, dims = [0] : (tensor<4xf32>) -> tensor<4x7xf32>
  %p = stablehlo.subtract %x, %b : tensor<4x7xf32>
  %i = stablehlo.iota dim = 0 : tensor<4xi32>
  %low = stablehlo.constant dense<0> : tensor<4xi32>
  %n = stablehlo.constant dense<4> : tensor<4xi32>
  %c = stablehlo.compare LT, %i, %low : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
  %w = stablehlo.add %n, %i : tensor<4xi32>
  %f = stablehlo.select %c, %w, %i : tensor<4xi1>, tensor<4xi32>
  %r1 = stablehlo.reshape %f : (tensor<4xi32>) -> tensor<4x1xi32>
  %t1 = stablehlo.reshape %t : (tensor<4xi32>) -> tensor<4x1xi32>
  %it = stablehlo.concatenate %r1, %t1, dim = 1 : (tensor<4x1xi32>, tensor<4x1xi32>) -> tensor<4x2xi32>
  %g = "stablehlo.gather"(%p, %it) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1],
      start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}>
      : (tensor<4x7xf32>, tensor<4x2xi32>) -> tensor<4xf32>
  return %g : tensor<4xf32>
}
dist.entry @a function(@wrapped_swapped)

// -----

// Another comparison chooses the wrapped number for some of the rows.
// CHECK-LABEL: func.func @greater
// CHECK-NOT: nn.softmax_cross_entropy
// CHECK: return
func.func @greater(%x: tensor<4x7xf32> {dist.port = #dist.port<input "x">},
    %t: tensor<4xi32> {dist.port = #dist.port<input "t">}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}) {
  %e = stablehlo.exponential %x : tensor<4x7xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1]
      : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
  %l = stablehlo.log %s : tensor<4xf32>
  %b = stablehlo.broadcast_in_dim %l, dims = [0] : (tensor<4xf32>) -> tensor<4x7xf32>
  %p = stablehlo.subtract %x, %b : tensor<4x7xf32>
  %i = stablehlo.iota dim = 0 : tensor<4xi32>
  %low = stablehlo.constant dense<0> : tensor<4xi32>
  %n = stablehlo.constant dense<4> : tensor<4xi32>
  %c = stablehlo.compare GT, %i, %low : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
  %w = stablehlo.add %i, %n : tensor<4xi32>
  %f = stablehlo.select %c, %w, %i : tensor<4xi1>, tensor<4xi32>
  %r1 = stablehlo.reshape %f : (tensor<4xi32>) -> tensor<4x1xi32>
  %t1 = stablehlo.reshape %t : (tensor<4xi32>) -> tensor<4x1xi32>
  %it = stablehlo.concatenate %r1, %t1, dim = 1 : (tensor<4x1xi32>, tensor<4x1xi32>) -> tensor<4x2xi32>
  %g = "stablehlo.gather"(%p, %it) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1],
      start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}>
      : (tensor<4x7xf32>, tensor<4x2xi32>) -> tensor<4xf32>
  return %g : tensor<4xf32>
}
dist.entry @a function(@greater)

// -----

// CHECK-LABEL: func.func @below_one
// CHECK-NOT: nn.softmax_cross_entropy
// CHECK: return
func.func @below_one(%x: tensor<4x7xf32> {dist.port = #dist.port<input "x">},
    %t: tensor<4xi32> {dist.port = #dist.port<input "t">}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}) {
  %e = stablehlo.exponential %x : tensor<4x7xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1]
      : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
  %l = stablehlo.log %s : tensor<4xf32>
  %b = stablehlo.broadcast_in_dim %l, dims = [0] : (tensor<4xf32>) -> tensor<4x7xf32>
  %p = stablehlo.subtract %x, %b : tensor<4x7xf32>
  %i = stablehlo.iota dim = 0 : tensor<4xi32>
  %low = stablehlo.constant dense<1> : tensor<4xi32>
  %n = stablehlo.constant dense<4> : tensor<4xi32>
  %c = stablehlo.compare LT, %i, %low : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
  %w = stablehlo.add %i, %n : tensor<4xi32>
  %f = stablehlo.select %c, %w, %i : tensor<4xi1>, tensor<4xi32>
  %r1 = stablehlo.reshape %f : (tensor<4xi32>) -> tensor<4x1xi32>
  %t1 = stablehlo.reshape %t : (tensor<4xi32>) -> tensor<4x1xi32>
  %it = stablehlo.concatenate %r1, %t1, dim = 1 : (tensor<4x1xi32>, tensor<4x1xi32>) -> tensor<4x2xi32>
  %g = "stablehlo.gather"(%p, %it) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1],
      start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}>
      : (tensor<4x7xf32>, tensor<4x2xi32>) -> tensor<4xf32>
  return %g : tensor<4xf32>
}
dist.entry @a function(@below_one)

// -----

// CHECK-LABEL: func.func @compares_other
// CHECK-NOT: nn.softmax_cross_entropy
// CHECK: return
func.func @compares_other(%x: tensor<4x7xf32> {dist.port = #dist.port<input "x">},
    %t: tensor<4xi32> {dist.port = #dist.port<input "t">},
    %o: tensor<4xi32> {dist.port = #dist.port<input "o">}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}) {
  %e = stablehlo.exponential %x : tensor<4x7xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1]
      : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
  %l = stablehlo.log %s : tensor<4xf32>
  %b = stablehlo.broadcast_in_dim %l, dims = [0] : (tensor<4xf32>) -> tensor<4x7xf32>
  %p = stablehlo.subtract %x, %b : tensor<4x7xf32>
  %i = stablehlo.iota dim = 0 : tensor<4xi32>
  %low = stablehlo.constant dense<0> : tensor<4xi32>
  %n = stablehlo.constant dense<4> : tensor<4xi32>
  %c = stablehlo.compare LT, %o, %low : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
  %w = stablehlo.add %i, %n : tensor<4xi32>
  %f = stablehlo.select %c, %w, %i : tensor<4xi1>, tensor<4xi32>
  %r1 = stablehlo.reshape %f : (tensor<4xi32>) -> tensor<4x1xi32>
  %t1 = stablehlo.reshape %t : (tensor<4xi32>) -> tensor<4x1xi32>
  %it = stablehlo.concatenate %r1, %t1, dim = 1 : (tensor<4x1xi32>, tensor<4x1xi32>) -> tensor<4x2xi32>
  %g = "stablehlo.gather"(%p, %it) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1],
      start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}>
      : (tensor<4x7xf32>, tensor<4x2xi32>) -> tensor<4xf32>
  return %g : tensor<4xf32>
}
dist.entry @a function(@compares_other)

// -----

// CHECK-LABEL: func.func @wraps_other
// CHECK-NOT: nn.softmax_cross_entropy
// CHECK: return
func.func @wraps_other(%x: tensor<4x7xf32> {dist.port = #dist.port<input "x">},
    %t: tensor<4xi32> {dist.port = #dist.port<input "t">},
    %o: tensor<4xi32> {dist.port = #dist.port<input "o">}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}) {
  %e = stablehlo.exponential %x : tensor<4x7xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1]
      : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
  %l = stablehlo.log %s : tensor<4xf32>
  %b = stablehlo.broadcast_in_dim %l, dims = [0] : (tensor<4xf32>) -> tensor<4x7xf32>
  %p = stablehlo.subtract %x, %b : tensor<4x7xf32>
  %i = stablehlo.iota dim = 0 : tensor<4xi32>
  %low = stablehlo.constant dense<0> : tensor<4xi32>
  %n = stablehlo.constant dense<4> : tensor<4xi32>
  %c = stablehlo.compare LT, %i, %low : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
  %w = stablehlo.add %o, %n : tensor<4xi32>
  %f = stablehlo.select %c, %w, %i : tensor<4xi1>, tensor<4xi32>
  %r1 = stablehlo.reshape %f : (tensor<4xi32>) -> tensor<4x1xi32>
  %t1 = stablehlo.reshape %t : (tensor<4xi32>) -> tensor<4x1xi32>
  %it = stablehlo.concatenate %r1, %t1, dim = 1 : (tensor<4x1xi32>, tensor<4x1xi32>) -> tensor<4x2xi32>
  %g = "stablehlo.gather"(%p, %it) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1],
      start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}>
      : (tensor<4x7xf32>, tensor<4x2xi32>) -> tensor<4xf32>
  return %g : tensor<4xf32>
}
dist.entry @a function(@wraps_other)

// -----

// CHECK-LABEL: func.func @not_counted
// CHECK-NOT: nn.softmax_cross_entropy
// CHECK: return
func.func @not_counted(%x: tensor<4x7xf32> {dist.port = #dist.port<input "x">},
    %t: tensor<4xi32> {dist.port = #dist.port<input "t">},
    %o: tensor<4xi32> {dist.port = #dist.port<input "o">}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}) {
  %e = stablehlo.exponential %x : tensor<4x7xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1]
      : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
  %l = stablehlo.log %s : tensor<4xf32>
  %b = stablehlo.broadcast_in_dim %l, dims = [0] : (tensor<4xf32>) -> tensor<4x7xf32>
  %p = stablehlo.subtract %x, %b : tensor<4x7xf32>
  %i = stablehlo.iota dim = 0 : tensor<4xi32>
  %low = stablehlo.constant dense<0> : tensor<4xi32>
  %n = stablehlo.constant dense<4> : tensor<4xi32>
  %c = stablehlo.compare LT, %o, %low : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
  %w = stablehlo.add %o, %n : tensor<4xi32>
  %f = stablehlo.select %c, %w, %o : tensor<4xi1>, tensor<4xi32>
  %r1 = stablehlo.reshape %f : (tensor<4xi32>) -> tensor<4x1xi32>
  %t1 = stablehlo.reshape %t : (tensor<4xi32>) -> tensor<4x1xi32>
  %it = stablehlo.concatenate %r1, %t1, dim = 1 : (tensor<4x1xi32>, tensor<4x1xi32>) -> tensor<4x2xi32>
  %g = "stablehlo.gather"(%p, %it) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1],
      start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}>
      : (tensor<4x7xf32>, tensor<4x2xi32>) -> tensor<4xf32>
  return %g : tensor<4xf32>
}
dist.entry @a function(@not_counted)

// -----

// Rows are numbered by no iota, or by half an iota.
// CHECK-LABEL: func.func @rows_given
// CHECK-NOT: nn.softmax_cross_entropy
// CHECK: return
func.func @rows_given(%x: tensor<4x7xf32> {dist.port = #dist.port<input "x">},
    %t: tensor<4xi32> {dist.port = #dist.port<input "t">},
    %o: tensor<4xi32> {dist.port = #dist.port<input "o">}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}) {
  %e = stablehlo.exponential %x : tensor<4x7xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1]
      : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
  %l = stablehlo.log %s : tensor<4xf32>
  %b = stablehlo.broadcast_in_dim %l, dims = [0] : (tensor<4xf32>) -> tensor<4x7xf32>
  %p = stablehlo.subtract %x, %b : tensor<4x7xf32>
  %r1 = stablehlo.reshape %o : (tensor<4xi32>) -> tensor<4x1xi32>
  %t1 = stablehlo.reshape %t : (tensor<4xi32>) -> tensor<4x1xi32>
  %it = stablehlo.concatenate %r1, %t1, dim = 1 : (tensor<4x1xi32>, tensor<4x1xi32>) -> tensor<4x2xi32>
  %g = "stablehlo.gather"(%p, %it) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1],
      start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}>
      : (tensor<4x7xf32>, tensor<4x2xi32>) -> tensor<4xf32>
  return %g : tensor<4xf32>
}
dist.entry @a function(@rows_given)

// -----

// CHECK-LABEL: func.func @iota_of_more
// CHECK-NOT: nn.softmax_cross_entropy
// CHECK: return
func.func @iota_of_more(%x: tensor<4x7xf32> {dist.port = #dist.port<input "x">},
    %t: tensor<4xi32> {dist.port = #dist.port<input "t">}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}) {
  %e = stablehlo.exponential %x : tensor<4x7xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1]
      : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
  %l = stablehlo.log %s : tensor<4xf32>
  %b = stablehlo.broadcast_in_dim %l, dims = [0] : (tensor<4xf32>) -> tensor<4x7xf32>
  %p = stablehlo.subtract %x, %b : tensor<4x7xf32>
  %i = stablehlo.iota dim = 0 : tensor<8xi32>
  %f = stablehlo.slice %i [4:8] : (tensor<8xi32>) -> tensor<4xi32>
  %r1 = stablehlo.reshape %f : (tensor<4xi32>) -> tensor<4x1xi32>
  %t1 = stablehlo.reshape %t : (tensor<4xi32>) -> tensor<4x1xi32>
  %it = stablehlo.concatenate %r1, %t1, dim = 1 : (tensor<4x1xi32>, tensor<4x1xi32>) -> tensor<4x2xi32>
  %g = "stablehlo.gather"(%p, %it) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1],
      start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}>
      : (tensor<4x7xf32>, tensor<4x2xi32>) -> tensor<4xf32>
  return %g : tensor<4xf32>
}
dist.entry @a function(@iota_of_more)

// -----

// The log-sum-exp has its rows where the picked logits have theirs, whatever
// dimensions of size 1 stand between.
// CHECK-LABEL: func.func @rows_among_ones
// CHECK: nn.softmax_cross_entropy
// CHECK-NOT: stablehlo.exponential
// CHECK: return
func.func @rows_among_ones(%x: tensor<4x1x7xf32> {dist.port = #dist.port<input "x">},
    %t: tensor<4x1x1xi32> {dist.port = #dist.port<input "t">}) -> (tensor<1x4xf32> {dist.port = #dist.port<output "y">}) {
  %e = stablehlo.exponential %x : tensor<4x1x7xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [2]
      : (tensor<4x1x7xf32>, tensor<f32>) -> tensor<4x1xf32>
  %l = stablehlo.log %s : tensor<4x1xf32>
  %r = stablehlo.reshape %l : (tensor<4x1xf32>) -> tensor<1x4xf32>
  %g = "stablehlo.gather"(%x, %t) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [2],
      operand_batching_dims = [0, 1], start_indices_batching_dims = [0, 1], start_index_map = [2],
      index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 1>}>
      : (tensor<4x1x7xf32>, tensor<4x1x1xi32>) -> tensor<4x1xf32>
  %q = stablehlo.reshape %g : (tensor<4x1xf32>) -> tensor<1x4xf32>
  %d = stablehlo.subtract %r, %q : tensor<1x4xf32>
  return %d : tensor<1x4xf32>
}
dist.entry @a function(@rows_among_ones)

// -----

// The rows of one are not the rows of the other.
// CHECK-LABEL: func.func @rows_of_others
// CHECK-NOT: nn.softmax_cross_entropy
// CHECK: return
func.func @rows_of_others(%x: tensor<2x3x7xf32> {dist.port = #dist.port<input "x">},
    %t: tensor<2x3x1xi32> {dist.port = #dist.port<input "t">}) -> (tensor<3x2xf32> {dist.port = #dist.port<output "y">}) {
  %e = stablehlo.exponential %x : tensor<2x3x7xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [2]
      : (tensor<2x3x7xf32>, tensor<f32>) -> tensor<2x3xf32>
  %l = stablehlo.log %s : tensor<2x3xf32>
  %r = stablehlo.transpose %l, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %g = "stablehlo.gather"(%x, %t) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [2],
      operand_batching_dims = [0, 1], start_indices_batching_dims = [0, 1], start_index_map = [2],
      index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 1>}>
      : (tensor<2x3x7xf32>, tensor<2x3x1xi32>) -> tensor<2x3xf32>
  %q = stablehlo.reshape %g : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %d = stablehlo.subtract %r, %q : tensor<3x2xf32>
  return %d : tensor<3x2xf32>
}
dist.entry @a function(@rows_of_others)

// -----

// A batch of one sample: its dimension is none of the gather's batching ones.
// CHECK-LABEL: func.func @one_sample
// CHECK: nn.softmax_cross_entropy %{{.*}}, %{{.*}} : (tensor<1x4x7xf32>, tensor<1x4xi32>)
// CHECK-NOT: stablehlo.gather
// CHECK: return
func.func @one_sample(%x: tensor<1x4x7xf32> {dist.port = #dist.port<input "x">},
    %t: tensor<4x1x1xi32> {dist.port = #dist.port<input "t">}) -> (tensor<1x4x1xf32> {dist.port = #dist.port<output "y">}) {
  %e = stablehlo.exponential %x : tensor<1x4x7xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [2]
      : (tensor<1x4x7xf32>, tensor<f32>) -> tensor<1x4xf32>
  %l = stablehlo.log %s : tensor<1x4xf32>
  %b = stablehlo.broadcast_in_dim %l, dims = [0, 1] : (tensor<1x4xf32>) -> tensor<1x4x7xf32>
  %p = stablehlo.subtract %x, %b : tensor<1x4x7xf32>
  %g = "stablehlo.gather"(%p, %t) <{dimension_numbers = #stablehlo.gather<offset_dims = [0], collapsed_slice_dims = [2],
      operand_batching_dims = [1], start_indices_batching_dims = [0], start_index_map = [2], index_vector_dim = 2>,
      slice_sizes = array<i64: 1, 1, 1>}> : (tensor<1x4x7xf32>, tensor<4x1x1xi32>) -> tensor<1x4x1xf32>
  return %g : tensor<1x4x1xf32>
}
dist.entry @e function(@one_sample)
