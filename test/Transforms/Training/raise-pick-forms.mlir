// RUN: llmc-opt %s --split-input-file --llmc-raise | FileCheck %s

// How a pick numbers its rows and classes.

// Rows numbered by an iota, in one piece beside the classes.
// CHECK-LABEL: func.func @numbered(
// CHECK: nn.softmax_cross_entropy
// CHECK-NOT: stablehlo.exponential
// CHECK: return
func.func @numbered(%x: tensor<4x7xf32> {dist.port = #dist.port<input "x">}, %t: tensor<4xi32> {dist.port = #dist.port<input "t">}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %e = stablehlo.exponential %x : tensor<4x7xf32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
  %l = stablehlo.log %s : tensor<4xf32>
  %b = stablehlo.broadcast_in_dim %l, dims = [0] : (tensor<4xf32>) -> tensor<4x7xf32>
  %p = stablehlo.subtract %x, %b : tensor<4x7xf32>
  %i1 = stablehlo.iota dim = 0 : tensor<4x1xi32>
  %t1 = stablehlo.broadcast_in_dim %t, dims = [0] : (tensor<4xi32>) -> tensor<4x1xi32>
  %it = stablehlo.concatenate %i1, %t1, dim = 1 : (tensor<4x1xi32>, tensor<4x1xi32>) -> tensor<4x2xi32>
  %g = "stablehlo.gather"(%p, %it) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<4x7xf32>, tensor<4x2xi32>) -> tensor<4xf32>
  return %g : tensor<4xf32>
}
dist.entry @a function(@numbered)

// -----

// What is no comparison with zero, or no sum, wraps no negative number.
// CHECK-LABEL: func.func @chosen_by_mask(
// CHECK-NOT: nn.softmax_cross_entropy
// CHECK: return
func.func @chosen_by_mask(%x: tensor<4x7xf32> {dist.port = #dist.port<input "x">}, %t: tensor<4xi32> {dist.port = #dist.port<input "t">}, %m: tensor<4xi1> {dist.port = #dist.port<input "m">}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %e = stablehlo.exponential %x : tensor<4x7xf32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
  %l = stablehlo.log %s : tensor<4xf32>
  %b = stablehlo.broadcast_in_dim %l, dims = [0] : (tensor<4xf32>) -> tensor<4x7xf32>
  %p = stablehlo.subtract %x, %b : tensor<4x7xf32>
  %i = stablehlo.iota dim = 0 : tensor<4xi32>
  %seven = stablehlo.constant dense<7> : tensor<4xi32>
  %j = stablehlo.add %i, %seven : tensor<4xi32>
  %h = stablehlo.select %m, %j, %i : tensor<4xi1>, tensor<4xi32>
  %i1 = stablehlo.broadcast_in_dim %h, dims = [0] : (tensor<4xi32>) -> tensor<4x1xi32>
  %t1 = stablehlo.broadcast_in_dim %t, dims = [0] : (tensor<4xi32>) -> tensor<4x1xi32>
  %it = stablehlo.concatenate %i1, %t1, dim = 1 : (tensor<4x1xi32>, tensor<4x1xi32>) -> tensor<4x2xi32>
  %g = "stablehlo.gather"(%p, %it) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<4x7xf32>, tensor<4x2xi32>) -> tensor<4xf32>
  return %g : tensor<4xf32>
}
dist.entry @a function(@chosen_by_mask)

// -----

// CHECK-LABEL: func.func @chosen_product(
// CHECK-NOT: nn.softmax_cross_entropy
// CHECK: return
func.func @chosen_product(%x: tensor<4x7xf32> {dist.port = #dist.port<input "x">}, %t: tensor<4xi32> {dist.port = #dist.port<input "t">}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %e = stablehlo.exponential %x : tensor<4x7xf32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
  %l = stablehlo.log %s : tensor<4xf32>
  %b = stablehlo.broadcast_in_dim %l, dims = [0] : (tensor<4xf32>) -> tensor<4x7xf32>
  %p = stablehlo.subtract %x, %b : tensor<4x7xf32>
  %i = stablehlo.iota dim = 0 : tensor<4xi32>
  %z = stablehlo.constant dense<0> : tensor<4xi32>
  %seven = stablehlo.constant dense<7> : tensor<4xi32>
  %j = stablehlo.multiply %i, %seven : tensor<4xi32>
  %m = stablehlo.compare LT, %i, %z : (tensor<4xi32>, tensor<4xi32>) -> tensor<4xi1>
  %h = stablehlo.select %m, %j, %i : tensor<4xi1>, tensor<4xi32>
  %i1 = stablehlo.broadcast_in_dim %h, dims = [0] : (tensor<4xi32>) -> tensor<4x1xi32>
  %t1 = stablehlo.broadcast_in_dim %t, dims = [0] : (tensor<4xi32>) -> tensor<4x1xi32>
  %it = stablehlo.concatenate %i1, %t1, dim = 1 : (tensor<4x1xi32>, tensor<4x1xi32>) -> tensor<4x2xi32>
  %g = "stablehlo.gather"(%p, %it) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<4x7xf32>, tensor<4x2xi32>) -> tensor<4xf32>
  return %g : tensor<4xf32>
}
dist.entry @a function(@chosen_product)

// -----

// One piece for each dimension, side by side, the classes last.
// CHECK-LABEL: func.func @given_whole(
// CHECK-NOT: nn.softmax_cross_entropy
// CHECK: return
func.func @given_whole(%x: tensor<4x7xf32> {dist.port = #dist.port<input "x">}, %t: tensor<4xi32> {dist.port = #dist.port<input "t">}, %o: tensor<4x2xi32> {dist.port = #dist.port<input "o">}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %e = stablehlo.exponential %x : tensor<4x7xf32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
  %l = stablehlo.log %s : tensor<4xf32>
  %b = stablehlo.broadcast_in_dim %l, dims = [0] : (tensor<4xf32>) -> tensor<4x7xf32>
  %p = stablehlo.subtract %x, %b : tensor<4x7xf32>
  %it = stablehlo.concatenate %o, dim = 1 : (tensor<4x2xi32>) -> tensor<4x2xi32>
  %g = "stablehlo.gather"(%p, %it) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<4x7xf32>, tensor<4x2xi32>) -> tensor<4xf32>
  return %g : tensor<4xf32>
}
dist.entry @a function(@given_whole)

// -----

// CHECK-LABEL: func.func @one_above_the_other(
// CHECK-NOT: nn.softmax_cross_entropy
// CHECK: return
func.func @one_above_the_other(%x: tensor<4x7xf32> {dist.port = #dist.port<input "x">}, %t: tensor<4xi32> {dist.port = #dist.port<input "t">}, %o: tensor<2x2xi32> {dist.port = #dist.port<input "o">}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %e = stablehlo.exponential %x : tensor<4x7xf32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
  %l = stablehlo.log %s : tensor<4xf32>
  %b = stablehlo.broadcast_in_dim %l, dims = [0] : (tensor<4xf32>) -> tensor<4x7xf32>
  %p = stablehlo.subtract %x, %b : tensor<4x7xf32>
  %i2 = stablehlo.iota dim = 0 : tensor<2x2xi32>
  %it = stablehlo.concatenate %i2, %o, dim = 0 : (tensor<2x2xi32>, tensor<2x2xi32>) -> tensor<4x2xi32>
  %g = "stablehlo.gather"(%p, %it) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<4x7xf32>, tensor<4x2xi32>) -> tensor<4xf32>
  return %g : tensor<4xf32>
}
dist.entry @a function(@one_above_the_other)

// -----

// CHECK-LABEL: func.func @in_columns(
// CHECK-NOT: nn.softmax_cross_entropy
// CHECK: return
func.func @in_columns(%x: tensor<4x7xf32> {dist.port = #dist.port<input "x">}, %t: tensor<4xi32> {dist.port = #dist.port<input "t">}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %e = stablehlo.exponential %x : tensor<4x7xf32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
  %l = stablehlo.log %s : tensor<4xf32>
  %b = stablehlo.broadcast_in_dim %l, dims = [0] : (tensor<4xf32>) -> tensor<4x7xf32>
  %p = stablehlo.subtract %x, %b : tensor<4x7xf32>
  %i2 = stablehlo.iota dim = 1 : tensor<1x4xi32>
  %t2 = stablehlo.broadcast_in_dim %t, dims = [1] : (tensor<4xi32>) -> tensor<1x4xi32>
  %it = stablehlo.concatenate %i2, %t2, dim = 0 : (tensor<1x4xi32>, tensor<1x4xi32>) -> tensor<2x4xi32>
  %g = "stablehlo.gather"(%p, %it) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 0>, slice_sizes = array<i64: 1, 1>}> : (tensor<4x7xf32>, tensor<2x4xi32>) -> tensor<4xf32>
  return %g : tensor<4xf32>
}
dist.entry @a function(@in_columns)

// -----

// CHECK-LABEL: func.func @half_of_the_rows(
// CHECK-NOT: nn.softmax_cross_entropy
// CHECK: return
func.func @half_of_the_rows(%x: tensor<8x7xf32> {dist.port = #dist.port<input "x">}, %t: tensor<4xi32> {dist.port = #dist.port<input "t">}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %e = stablehlo.exponential %x : tensor<8x7xf32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<8x7xf32>, tensor<f32>) -> tensor<8xf32>
  %l = stablehlo.log %s : tensor<8xf32>
  %b = stablehlo.broadcast_in_dim %l, dims = [0] : (tensor<8xf32>) -> tensor<8x7xf32>
  %p = stablehlo.subtract %x, %b : tensor<8x7xf32>
  %i1 = stablehlo.iota dim = 0 : tensor<4x1xi32>
  %t1 = stablehlo.broadcast_in_dim %t, dims = [0] : (tensor<4xi32>) -> tensor<4x1xi32>
  %it = stablehlo.concatenate %i1, %t1, dim = 1 : (tensor<4x1xi32>, tensor<4x1xi32>) -> tensor<4x2xi32>
  %g = "stablehlo.gather"(%p, %it) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<8x7xf32>, tensor<4x2xi32>) -> tensor<4xf32>
  return %g : tensor<4xf32>
}
dist.entry @a function(@half_of_the_rows)

// -----

// Each dimension has its number.
// CHECK-LABEL: func.func @rows_of_two_numbers(
// CHECK-NOT: nn.softmax_cross_entropy
// CHECK: return
func.func @rows_of_two_numbers(%x: tensor<4x1x7xf32> {dist.port = #dist.port<input "x">}, %t: tensor<4xi32> {dist.port = #dist.port<input "t">}) -> (tensor<4x1xf32> {dist.port = #dist.port<output "y">}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %e = stablehlo.exponential %x : tensor<4x1x7xf32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<4x1x7xf32>, tensor<f32>) -> tensor<4x1xf32>
  %l = stablehlo.log %s : tensor<4x1xf32>
  %b = stablehlo.broadcast_in_dim %l, dims = [0, 1] : (tensor<4x1xf32>) -> tensor<4x1x7xf32>
  %p = stablehlo.subtract %x, %b : tensor<4x1x7xf32>
  %i1 = stablehlo.iota dim = 0 : tensor<4x1xi32>
  %t1 = stablehlo.broadcast_in_dim %t, dims = [0] : (tensor<4xi32>) -> tensor<4x1xi32>
  %it = stablehlo.concatenate %i1, %t1, dim = 1 : (tensor<4x1xi32>, tensor<4x1xi32>) -> tensor<4x2xi32>
  %g = "stablehlo.gather"(%p, %it) <{dimension_numbers = #stablehlo.gather<offset_dims = [1], collapsed_slice_dims = [0, 2], start_index_map = [0, 2], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1, 1>}> : (tensor<4x1x7xf32>, tensor<4x2xi32>) -> tensor<4x1xf32>
  return %g : tensor<4x1xf32>
}
dist.entry @a function(@rows_of_two_numbers)

// -----

// CHECK-LABEL: func.func @classes_first(
// CHECK-NOT: nn.softmax_cross_entropy
// CHECK: return
func.func @classes_first(%x: tensor<4x4xf32> {dist.port = #dist.port<input "x">}, %t: tensor<4xi32> {dist.port = #dist.port<input "t">}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %e = stablehlo.exponential %x : tensor<4x4xf32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x4xf32>, tensor<f32>) -> tensor<4xf32>
  %l = stablehlo.log %s : tensor<4xf32>
  %b = stablehlo.broadcast_in_dim %l, dims = [0] : (tensor<4xf32>) -> tensor<4x4xf32>
  %p = stablehlo.subtract %x, %b : tensor<4x4xf32>
  %t1 = stablehlo.broadcast_in_dim %t, dims = [0] : (tensor<4xi32>) -> tensor<4x1xi32>
  %i1 = stablehlo.iota dim = 0 : tensor<4x1xi32>
  %it = stablehlo.concatenate %t1, %i1, dim = 1 : (tensor<4x1xi32>, tensor<4x1xi32>) -> tensor<4x2xi32>
  %g = "stablehlo.gather"(%p, %it) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [0, 1], start_index_map = [0, 1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<4x4xf32>, tensor<4x2xi32>) -> tensor<4xf32>
  return %g : tensor<4xf32>
}
dist.entry @a function(@classes_first)

// -----

// Rows paired by batching dimensions,
// CHECK-LABEL: func.func @batched(
// CHECK: nn.softmax_cross_entropy
// CHECK-NOT: stablehlo.exponential
// CHECK: return
func.func @batched(%x: tensor<2x2x7xf32> {dist.port = #dist.port<input "x">}, %t: tensor<2x2x1xi32> {dist.port = #dist.port<input "t">}) -> (tensor<2x2xf32> {dist.port = #dist.port<output "y">}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %e = stablehlo.exponential %x : tensor<2x2x7xf32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<2x2x7xf32>, tensor<f32>) -> tensor<2x2xf32>
  %l = stablehlo.log %s : tensor<2x2xf32>
  %b = stablehlo.broadcast_in_dim %l, dims = [0, 1] : (tensor<2x2xf32>) -> tensor<2x2x7xf32>
  %p = stablehlo.subtract %x, %b : tensor<2x2x7xf32>
  %g = "stablehlo.gather"(%p, %t) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [2], operand_batching_dims = [0, 1], start_indices_batching_dims = [0, 1], start_index_map = [2], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 1>}> : (tensor<2x2x7xf32>, tensor<2x2x1xi32>) -> tensor<2x2xf32>
  return %g : tensor<2x2xf32>
}
dist.entry @a function(@batched)

// -----

// in their order,
// CHECK-LABEL: func.func @batched_crosswise(
// CHECK-NOT: nn.softmax_cross_entropy
// CHECK: return
func.func @batched_crosswise(%x: tensor<2x2x7xf32> {dist.port = #dist.port<input "x">}, %t: tensor<2x2x1xi32> {dist.port = #dist.port<input "t">}) -> (tensor<2x2xf32> {dist.port = #dist.port<output "y">}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %e = stablehlo.exponential %x : tensor<2x2x7xf32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<2x2x7xf32>, tensor<f32>) -> tensor<2x2xf32>
  %l = stablehlo.log %s : tensor<2x2xf32>
  %b = stablehlo.broadcast_in_dim %l, dims = [0, 1] : (tensor<2x2xf32>) -> tensor<2x2x7xf32>
  %p = stablehlo.subtract %x, %b : tensor<2x2x7xf32>
  %g = "stablehlo.gather"(%p, %t) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [2], operand_batching_dims = [0, 1], start_indices_batching_dims = [1, 0], start_index_map = [2], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 1>}> : (tensor<2x2x7xf32>, tensor<2x2x1xi32>) -> tensor<2x2xf32>
  return %g : tensor<2x2xf32>
}
dist.entry @a function(@batched_crosswise)

// -----

// one class of each.
// CHECK-LABEL: func.func @three_of_each(
// CHECK-NOT: nn.softmax_cross_entropy
// CHECK: return
func.func @three_of_each(%x: tensor<4x7xf32> {dist.port = #dist.port<input "x">}, %t: tensor<4x3x1xi32> {dist.port = #dist.port<input "t">}) -> (tensor<4x3xf32> {dist.port = #dist.port<output "y">}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %e = stablehlo.exponential %x : tensor<4x7xf32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
  %l = stablehlo.log %s : tensor<4xf32>
  %b = stablehlo.broadcast_in_dim %l, dims = [0] : (tensor<4xf32>) -> tensor<4x7xf32>
  %p = stablehlo.subtract %x, %b : tensor<4x7xf32>
  %g = "stablehlo.gather"(%p, %t) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1>}> : (tensor<4x7xf32>, tensor<4x3x1xi32>) -> tensor<4x3xf32>
  return %g : tensor<4x3xf32>
}
dist.entry @a function(@three_of_each)

// -----

// The classes of a one-hot, among dimensions of size 1.
// CHECK-LABEL: func.func @one_hot_among_ones(
// CHECK: nn.softmax_cross_entropy
// CHECK-NOT: stablehlo.exponential
// CHECK: return
func.func @one_hot_among_ones(%x: tensor<4x1x7xf32> {dist.port = #dist.port<input "x">}, %t: tensor<4x1xi32> {dist.port = #dist.port<input "t">}) -> (tensor<4x1xf32> {dist.port = #dist.port<output "y">}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %e = stablehlo.exponential %x : tensor<4x1x7xf32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<4x1x7xf32>, tensor<f32>) -> tensor<4x1xf32>
  %l = stablehlo.log %s : tensor<4x1xf32>
  %b = stablehlo.broadcast_in_dim %l, dims = [0, 1] : (tensor<4x1xf32>) -> tensor<4x1x7xf32>
  %p = stablehlo.subtract %x, %b : tensor<4x1x7xf32>
  %i = stablehlo.iota dim = 2 : tensor<4x1x7xi32>
  %tb = stablehlo.broadcast_in_dim %t, dims = [0, 1] : (tensor<4x1xi32>) -> tensor<4x1x7xi32>
  %c = stablehlo.compare EQ, %tb, %i : (tensor<4x1x7xi32>, tensor<4x1x7xi32>) -> tensor<4x1x7xi1>
  %h = stablehlo.convert %c : (tensor<4x1x7xi1>) -> tensor<4x1x7xf32>
  %q = stablehlo.multiply %h, %p : tensor<4x1x7xf32>
  %r = stablehlo.reduce(%q init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<4x1x7xf32>, tensor<f32>) -> tensor<4x1xf32>
  return %r : tensor<4x1xf32>
}
dist.entry @a function(@one_hot_among_ones)

// -----

// Rows of others,
// CHECK-LABEL: func.func @one_hot_crosswise(
// CHECK-NOT: nn.softmax_cross_entropy
// CHECK: return
func.func @one_hot_crosswise(%x: tensor<2x2x7xf32> {dist.port = #dist.port<input "x">}, %t: tensor<2x2xi32> {dist.port = #dist.port<input "t">}) -> (tensor<2x2xf32> {dist.port = #dist.port<output "y">}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %e = stablehlo.exponential %x : tensor<2x2x7xf32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<2x2x7xf32>, tensor<f32>) -> tensor<2x2xf32>
  %l = stablehlo.log %s : tensor<2x2xf32>
  %b = stablehlo.broadcast_in_dim %l, dims = [0, 1] : (tensor<2x2xf32>) -> tensor<2x2x7xf32>
  %p = stablehlo.subtract %x, %b : tensor<2x2x7xf32>
  %i = stablehlo.iota dim = 2 : tensor<2x2x7xi32>
  %tb = stablehlo.broadcast_in_dim %t, dims = [1, 0] : (tensor<2x2xi32>) -> tensor<2x2x7xi32>
  %c = stablehlo.compare EQ, %tb, %i : (tensor<2x2x7xi32>, tensor<2x2x7xi32>) -> tensor<2x2x7xi1>
  %h = stablehlo.convert %c : (tensor<2x2x7xi1>) -> tensor<2x2x7xf32>
  %q = stablehlo.multiply %h, %p : tensor<2x2x7xf32>
  %r = stablehlo.reduce(%q init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<2x2x7xf32>, tensor<f32>) -> tensor<2x2xf32>
  return %r : tensor<2x2xf32>
}
dist.entry @a function(@one_hot_crosswise)

// -----

// one class for all rows,
// CHECK-LABEL: func.func @one_for_all(
// CHECK-NOT: nn.softmax_cross_entropy
// CHECK: return
func.func @one_for_all(%x: tensor<4x7xf32> {dist.port = #dist.port<input "x">}, %t: tensor<i32> {dist.port = #dist.port<input "t">}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %e = stablehlo.exponential %x : tensor<4x7xf32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
  %l = stablehlo.log %s : tensor<4xf32>
  %b = stablehlo.broadcast_in_dim %l, dims = [0] : (tensor<4xf32>) -> tensor<4x7xf32>
  %p = stablehlo.subtract %x, %b : tensor<4x7xf32>
  %i = stablehlo.iota dim = 1 : tensor<4x7xi32>
  %tb = stablehlo.broadcast_in_dim %t, dims = [] : (tensor<i32>) -> tensor<4x7xi32>
  %c = stablehlo.compare EQ, %tb, %i : (tensor<4x7xi32>, tensor<4x7xi32>) -> tensor<4x7xi1>
  %h = stablehlo.convert %c : (tensor<4x7xi1>) -> tensor<4x7xf32>
  %q = stablehlo.multiply %h, %p : tensor<4x7xf32>
  %r = stablehlo.reduce(%q init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
dist.entry @a function(@one_for_all)

// -----

// and a sum that starts from another number are no pick.
// CHECK-LABEL: func.func @from_one(
// CHECK-NOT: nn.softmax_cross_entropy
// CHECK: return
func.func @from_one(%x: tensor<4x7xf32> {dist.port = #dist.port<input "x">}, %t: tensor<4xi32> {dist.port = #dist.port<input "t">}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %e = stablehlo.exponential %x : tensor<4x7xf32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
  %l = stablehlo.log %s : tensor<4xf32>
  %b = stablehlo.broadcast_in_dim %l, dims = [0] : (tensor<4xf32>) -> tensor<4x7xf32>
  %p = stablehlo.subtract %x, %b : tensor<4x7xf32>
  %i = stablehlo.iota dim = 1 : tensor<4x7xi32>
  %tb = stablehlo.broadcast_in_dim %t, dims = [0] : (tensor<4xi32>) -> tensor<4x7xi32>
  %c = stablehlo.compare EQ, %tb, %i : (tensor<4x7xi32>, tensor<4x7xi32>) -> tensor<4x7xi1>
  %h = stablehlo.convert %c : (tensor<4x7xi1>) -> tensor<4x7xf32>
  %q = stablehlo.multiply %h, %p : tensor<4x7xf32>
  %r = stablehlo.reduce(%q init: %one) applies stablehlo.add across dimensions = [1] : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
dist.entry @a function(@from_one)
