// RUN: llmc-opt %s --split-input-file --llmc-normalize --llmc-raise | FileCheck %s

// What else reads the log-sum-exp of a cross-entropy, as a loss that keeps it small, takes it from there: it is computed once.

// As JAX prints `logsumexp(x) - x[t]` and the square of the first.
// CHECK-LABEL: func.func @difference(
// CHECK: %[[L:.*]], %[[S:.*]] = nn.softmax_cross_entropy %arg0,
// CHECK-NOT: exponential
// CHECK: stablehlo.multiply %[[S]], %[[S]]
func.func @difference(%x: tensor<4x7xf32> {dist.port = #dist.port<input "x">}, %t: tensor<4x1xi32> {dist.port = #dist.port<input "t">}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}, tensor<4xf32> {dist.port = #dist.port<output "z">}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %zeros = stablehlo.constant dense<0.0> : tensor<4xf32>
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %m = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [1] : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
  %f = stablehlo.is_finite %m : (tensor<4xf32>) -> tensor<4xi1>
  %n = stablehlo.select %f, %m, %zeros : tensor<4xi1>, tensor<4xf32>
  %b = stablehlo.broadcast_in_dim %n, dims = [0] : (tensor<4xf32>) -> tensor<4x7xf32>
  %d = stablehlo.subtract %x, %b : tensor<4x7xf32>
  %e = stablehlo.exponential %d : tensor<4x7xf32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
  %a = stablehlo.abs %s : tensor<4xf32>
  %l = stablehlo.log %a : tensor<4xf32>
  %z = stablehlo.add %l, %n : tensor<4xf32>
  %g = "stablehlo.gather"(%x, %t) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<4x7xf32>, tensor<4x1xi32>) -> tensor<4xf32>
  %y = stablehlo.subtract %z, %g : tensor<4xf32>
  %q = stablehlo.multiply %z, %z : tensor<4xf32>
  return %y, %q : tensor<4xf32>, tensor<4xf32>
}
dist.entry @a function(@difference)

// -----

// Of a log-softmax; what reads it before the loss is there keeps the text's.
// CHECK-LABEL: func.func @log_softmax(
// CHECK: %[[A:.*]] = nn.log_sum_exp %arg0
// CHECK: %[[R:.*]] = stablehlo.reshape %[[A]] : (tensor<4xf32>) -> tensor<4x1xf32>
// CHECK: %[[E:.*]] = stablehlo.negate %[[R]]
// CHECK: %[[L:.*]], %[[S:.*]] = nn.softmax_cross_entropy %arg0,
// CHECK: %[[Z:.*]] = stablehlo.reshape %[[S]] : (tensor<4xf32>) -> tensor<4x1xf32>
// CHECK: stablehlo.multiply %[[Z]], %[[E]]
func.func @log_softmax(%x: tensor<4x7xf32> {dist.port = #dist.port<input "x">}, %t: tensor<4x1xi32> {dist.port = #dist.port<input "t">}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}, tensor<4x1xf32> {dist.port = #dist.port<output "z">}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %m = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [1] : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
  %mk = stablehlo.reshape %m : (tensor<4xf32>) -> tensor<4x1xf32>
  %b = stablehlo.broadcast_in_dim %mk, dims = [0, 1] : (tensor<4x1xf32>) -> tensor<4x7xf32>
  %d = stablehlo.subtract %x, %b : tensor<4x7xf32>
  %e = stablehlo.exponential %d : tensor<4x7xf32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
  %sk = stablehlo.reshape %s : (tensor<4xf32>) -> tensor<4x1xf32>
  %l = stablehlo.log %sk : tensor<4x1xf32>
  %z = stablehlo.add %l, %mk : tensor<4x1xf32>
  %early = stablehlo.negate %z : tensor<4x1xf32>
  %zb = stablehlo.broadcast_in_dim %z, dims = [0, 1] : (tensor<4x1xf32>) -> tensor<4x7xf32>
  %p = stablehlo.subtract %x, %zb : tensor<4x7xf32>
  %g = "stablehlo.gather"(%p, %t) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<4x7xf32>, tensor<4x1xi32>) -> tensor<4xf32>
  %q = stablehlo.multiply %z, %early : tensor<4x1xf32>
  return %g, %q : tensor<4xf32>, tensor<4x1xf32>
}
dist.entry @a function(@log_softmax)

// -----

// The loss is the same without a shift of the logits, and their log-sum-exp is not.
// CHECK-LABEL: func.func @shifted(
// CHECK: %[[D:.*]] = stablehlo.subtract %arg0,
// CHECK: %[[E:.*]] = stablehlo.exponential %[[D]]
// CHECK: %[[Z:.*]] = stablehlo.log
// CHECK: nn.softmax_cross_entropy %arg0,
// CHECK: stablehlo.multiply %[[Z]], %[[Z]]
func.func @shifted(%x: tensor<4x7xf32> {dist.port = #dist.port<input "x">}, %o: tensor<4xf32> {dist.port = #dist.port<input "o">}, %t: tensor<4x1xi32> {dist.port = #dist.port<input "t">}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}, tensor<4xf32> {dist.port = #dist.port<output "z">}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %b = stablehlo.broadcast_in_dim %o, dims = [0] : (tensor<4xf32>) -> tensor<4x7xf32>
  %d = stablehlo.subtract %x, %b : tensor<4x7xf32>
  %e = stablehlo.exponential %d : tensor<4x7xf32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
  %z = stablehlo.log %s : tensor<4xf32>
  %zb = stablehlo.broadcast_in_dim %z, dims = [0] : (tensor<4xf32>) -> tensor<4x7xf32>
  %p = stablehlo.subtract %d, %zb : tensor<4x7xf32>
  %g = "stablehlo.gather"(%p, %t) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<4x7xf32>, tensor<4x1xi32>) -> tensor<4xf32>
  %q = stablehlo.multiply %z, %z : tensor<4xf32>
  return %g, %q : tensor<4xf32>, tensor<4xf32>
}
dist.entry @a function(@shifted)
