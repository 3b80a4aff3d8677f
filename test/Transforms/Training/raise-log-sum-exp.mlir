// RUN: llmc-opt %s --split-input-file --llmc-raise | FileCheck %s

// Which log-sum-exps are known. What looks alike and is none of these is left
// as it is.

// The log-sum-exp is seen through transposes and dimensions of size 1,
// CHECK-LABEL: func.func @seen_through_transposes(
// CHECK: nn.softmax_cross_entropy
// CHECK-NOT: stablehlo.exponential
// CHECK: return
func.func @seen_through_transposes(%x: tensor<2x3x7xf32> {dist.port = #dist.port<input "x">}, %t: tensor<2x3x1xi32> {dist.port = #dist.port<input "t">}) -> (tensor<2x3xf32> {dist.port = #dist.port<output "y">}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %e = stablehlo.exponential %x : tensor<2x3x7xf32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<2x3x7xf32>, tensor<f32>) -> tensor<2x3xf32>
  %l = stablehlo.log %s : tensor<2x3xf32>
  %q = stablehlo.transpose %l, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
  %r = stablehlo.reshape %q : (tensor<3x2xf32>) -> tensor<1x3x1x2xf32>
  %u = stablehlo.reshape %r : (tensor<1x3x1x2xf32>) -> tensor<3x2xf32>
  %b = stablehlo.broadcast_in_dim %u, dims = [1, 0] : (tensor<3x2xf32>) -> tensor<2x3x7xf32>
  %p = stablehlo.subtract %x, %b : tensor<2x3x7xf32>
  %g = "stablehlo.gather"(%p, %t) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [2], operand_batching_dims = [0, 1], start_indices_batching_dims = [0, 1], start_index_map = [2], index_vector_dim = 2>, slice_sizes = array<i64: 1, 1, 1>}> : (tensor<2x3x7xf32>, tensor<2x3x1xi32>) -> tensor<2x3xf32>
  return %g : tensor<2x3xf32>
}
dist.entry @a function(@seen_through_transposes)

// -----

// and through no other reshape.
// CHECK-LABEL: func.func @seen_through_another_reshape(
// CHECK-NOT: nn.softmax_cross_entropy
// CHECK: return
func.func @seen_through_another_reshape(%x: tensor<4x7xf32> {dist.port = #dist.port<input "x">}, %t: tensor<4x1xi32> {dist.port = #dist.port<input "t">}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %e = stablehlo.exponential %x : tensor<4x7xf32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
  %l = stablehlo.log %s : tensor<4xf32>
  %q = stablehlo.reshape %l : (tensor<4xf32>) -> tensor<2x2xf32>
  %r = stablehlo.transpose %q, dims = [1, 0] : (tensor<2x2xf32>) -> tensor<2x2xf32>
  %u = stablehlo.reshape %r : (tensor<2x2xf32>) -> tensor<4xf32>
  %b = stablehlo.broadcast_in_dim %u, dims = [0] : (tensor<4xf32>) -> tensor<4x7xf32>
  %p = stablehlo.subtract %x, %b : tensor<4x7xf32>
  %g = "stablehlo.gather"(%p, %t) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<4x7xf32>, tensor<4x1xi32>) -> tensor<4xf32>
  return %g : tensor<4xf32>
}
dist.entry @a function(@seen_through_another_reshape)

// -----

// Each row has its own.
// CHECK-LABEL: func.func @rows_in_columns(
// CHECK-NOT: nn.softmax_cross_entropy
// CHECK: return
func.func @rows_in_columns(%x: tensor<4x4xf32> {dist.port = #dist.port<input "x">}, %t: tensor<4x1xi32> {dist.port = #dist.port<input "t">}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %e = stablehlo.exponential %x : tensor<4x4xf32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x4xf32>, tensor<f32>) -> tensor<4xf32>
  %l = stablehlo.log %s : tensor<4xf32>
  %b = stablehlo.broadcast_in_dim %l, dims = [1] : (tensor<4xf32>) -> tensor<4x4xf32>
  %p = stablehlo.subtract %x, %b : tensor<4x4xf32>
  %g = "stablehlo.gather"(%p, %t) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<4x4xf32>, tensor<4x1xi32>) -> tensor<4xf32>
  return %g : tensor<4xf32>
}
dist.entry @a function(@rows_in_columns)

// -----

// It is the logarithm of a sum from zero of exponentials of what it is
// subtracted from.
// CHECK-LABEL: func.func @largest(
// CHECK-NOT: nn.softmax_cross_entropy
// CHECK: return
func.func @largest(%x: tensor<4x7xf32> {dist.port = #dist.port<input "x">}, %t: tensor<4x1xi32> {dist.port = #dist.port<input "t">}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %e = stablehlo.exponential %x : tensor<4x7xf32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.maximum across dimensions = [1] : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
  %l = stablehlo.log %s : tensor<4xf32>
  %b = stablehlo.broadcast_in_dim %l, dims = [0] : (tensor<4xf32>) -> tensor<4x7xf32>
  %p = stablehlo.subtract %x, %b : tensor<4x7xf32>
  %g = "stablehlo.gather"(%p, %t) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<4x7xf32>, tensor<4x1xi32>) -> tensor<4xf32>
  return %g : tensor<4xf32>
}
dist.entry @a function(@largest)

// -----

// CHECK-LABEL: func.func @from_one(
// CHECK-NOT: nn.softmax_cross_entropy
// CHECK: return
func.func @from_one(%x: tensor<4x7xf32> {dist.port = #dist.port<input "x">}, %t: tensor<4x1xi32> {dist.port = #dist.port<input "t">}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %e = stablehlo.exponential %x : tensor<4x7xf32>
  %s = stablehlo.reduce(%e init: %one) applies stablehlo.add across dimensions = [1] : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
  %l = stablehlo.log %s : tensor<4xf32>
  %b = stablehlo.broadcast_in_dim %l, dims = [0] : (tensor<4xf32>) -> tensor<4x7xf32>
  %p = stablehlo.subtract %x, %b : tensor<4x7xf32>
  %g = "stablehlo.gather"(%p, %t) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<4x7xf32>, tensor<4x1xi32>) -> tensor<4xf32>
  return %g : tensor<4xf32>
}
dist.entry @a function(@from_one)

// -----

// CHECK-LABEL: func.func @no_exponential(
// CHECK-NOT: nn.softmax_cross_entropy
// CHECK: return
func.func @no_exponential(%x: tensor<4x7xf32> {dist.port = #dist.port<input "x">}, %t: tensor<4x1xi32> {dist.port = #dist.port<input "t">}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %e = stablehlo.tanh %x : tensor<4x7xf32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
  %l = stablehlo.log %s : tensor<4xf32>
  %b = stablehlo.broadcast_in_dim %l, dims = [0] : (tensor<4xf32>) -> tensor<4x7xf32>
  %p = stablehlo.subtract %x, %b : tensor<4x7xf32>
  %g = "stablehlo.gather"(%p, %t) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<4x7xf32>, tensor<4x1xi32>) -> tensor<4xf32>
  return %g : tensor<4xf32>
}
dist.entry @a function(@no_exponential)

// -----

// CHECK-LABEL: func.func @no_logarithm(
// CHECK-NOT: nn.softmax_cross_entropy
// CHECK: return
func.func @no_logarithm(%x: tensor<4x7xf32> {dist.port = #dist.port<input "x">}, %t: tensor<4x1xi32> {dist.port = #dist.port<input "t">}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %e = stablehlo.exponential %x : tensor<4x7xf32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
  %b = stablehlo.broadcast_in_dim %s, dims = [0] : (tensor<4xf32>) -> tensor<4x7xf32>
  %p = stablehlo.subtract %x, %b : tensor<4x7xf32>
  %g = "stablehlo.gather"(%p, %t) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<4x7xf32>, tensor<4x1xi32>) -> tensor<4xf32>
  return %g : tensor<4xf32>
}
dist.entry @a function(@no_logarithm)

// -----

// CHECK-LABEL: func.func @of_others(
// CHECK-NOT: nn.softmax_cross_entropy
// CHECK: return
func.func @of_others(%z: tensor<4x7xf32> {dist.port = #dist.port<input "z">}, %x: tensor<4x7xf32> {dist.port = #dist.port<input "x">}, %t: tensor<4x1xi32> {dist.port = #dist.port<input "t">}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %e = stablehlo.exponential %z : tensor<4x7xf32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
  %l = stablehlo.log %s : tensor<4xf32>
  %b = stablehlo.broadcast_in_dim %l, dims = [0] : (tensor<4xf32>) -> tensor<4x7xf32>
  %p = stablehlo.subtract %x, %b : tensor<4x7xf32>
  %g = "stablehlo.gather"(%p, %t) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<4x7xf32>, tensor<4x1xi32>) -> tensor<4xf32>
  return %g : tensor<4xf32>
}
dist.entry @a function(@of_others)

// -----

// CHECK-LABEL: func.func @of_two(
// CHECK-NOT: nn.softmax_cross_entropy
// CHECK: return
func.func @of_two(%x: tensor<4x7xf32> {dist.port = #dist.port<input "x">}, %t: tensor<4x1xi32> {dist.port = #dist.port<input "t">}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %e = stablehlo.exponential %x : tensor<4x7xf32>
  %s:2 = stablehlo.reduce(%e init: %zero), (%e init: %zero) across dimensions = [1] : (tensor<4x7xf32>, tensor<4x7xf32>, tensor<f32>, tensor<f32>) -> (tensor<4xf32>, tensor<4xf32>)
    reducer(%h: tensor<f32>, %i: tensor<f32>) (%j: tensor<f32>, %k: tensor<f32>) {
      %u = stablehlo.add %h, %i : tensor<f32>
      %v = stablehlo.maximum %j, %k : tensor<f32>
      stablehlo.return %u, %v : tensor<f32>, tensor<f32>
    }
  %l = stablehlo.log %s#0 : tensor<4xf32>
  %b = stablehlo.broadcast_in_dim %l, dims = [0] : (tensor<4xf32>) -> tensor<4x7xf32>
  %p = stablehlo.subtract %x, %b : tensor<4x7xf32>
  %g = "stablehlo.gather"(%p, %t) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<4x7xf32>, tensor<4x1xi32>) -> tensor<4xf32>
  return %g : tensor<4xf32>
}
dist.entry @a function(@of_two)

// -----

// A shift that is added again is that of the exponentials.
// CHECK-LABEL: func.func @added_after(
// CHECK: nn.softmax_cross_entropy %arg0,
// CHECK-NOT: stablehlo.exponential
// CHECK: return
func.func @added_after(%x: tensor<4x7xf32> {dist.port = #dist.port<input "x">}, %t: tensor<4x1xi32> {dist.port = #dist.port<input "t">}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %mx = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [1] : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
  %mb = stablehlo.broadcast_in_dim %mx, dims = [0] : (tensor<4xf32>) -> tensor<4x7xf32>
  %xs = stablehlo.subtract %x, %mb : tensor<4x7xf32>
  %e = stablehlo.exponential %xs : tensor<4x7xf32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
  %l = stablehlo.log %s : tensor<4xf32>
  %al = stablehlo.add %l, %mx : tensor<4xf32>
  %b = stablehlo.broadcast_in_dim %al, dims = [0] : (tensor<4xf32>) -> tensor<4x7xf32>
  %p = stablehlo.subtract %x, %b : tensor<4x7xf32>
  %g = "stablehlo.gather"(%p, %t) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<4x7xf32>, tensor<4x1xi32>) -> tensor<4xf32>
  return %g : tensor<4xf32>
}
dist.entry @a function(@added_after)

// -----

// CHECK-LABEL: func.func @added_before(
// CHECK: nn.softmax_cross_entropy %arg0,
// CHECK-NOT: stablehlo.exponential
// CHECK: return
func.func @added_before(%x: tensor<4x7xf32> {dist.port = #dist.port<input "x">}, %t: tensor<4x1xi32> {dist.port = #dist.port<input "t">}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %mx = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [1] : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
  %mb = stablehlo.broadcast_in_dim %mx, dims = [0] : (tensor<4xf32>) -> tensor<4x7xf32>
  %xs = stablehlo.subtract %x, %mb : tensor<4x7xf32>
  %e = stablehlo.exponential %xs : tensor<4x7xf32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
  %l = stablehlo.log %s : tensor<4xf32>
  %al = stablehlo.add %mx, %l : tensor<4xf32>
  %b = stablehlo.broadcast_in_dim %al, dims = [0] : (tensor<4xf32>) -> tensor<4x7xf32>
  %p = stablehlo.subtract %x, %b : tensor<4x7xf32>
  %g = "stablehlo.gather"(%p, %t) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<4x7xf32>, tensor<4x1xi32>) -> tensor<4xf32>
  return %g : tensor<4xf32>
}
dist.entry @a function(@added_before)

// -----

// CHECK-LABEL: func.func @other_added(
// CHECK-NOT: nn.softmax_cross_entropy
// CHECK: return
func.func @other_added(%x: tensor<4x7xf32> {dist.port = #dist.port<input "x">}, %t: tensor<4x1xi32> {dist.port = #dist.port<input "t">}, %o: tensor<4xf32> {dist.port = #dist.port<input "o">}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %mx = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [1] : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
  %mb = stablehlo.broadcast_in_dim %mx, dims = [0] : (tensor<4xf32>) -> tensor<4x7xf32>
  %xs = stablehlo.subtract %x, %mb : tensor<4x7xf32>
  %e = stablehlo.exponential %xs : tensor<4x7xf32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
  %l = stablehlo.log %s : tensor<4xf32>
  %al = stablehlo.add %l, %o : tensor<4xf32>
  %b = stablehlo.broadcast_in_dim %al, dims = [0] : (tensor<4xf32>) -> tensor<4x7xf32>
  %p = stablehlo.subtract %x, %b : tensor<4x7xf32>
  %g = "stablehlo.gather"(%p, %t) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<4x7xf32>, tensor<4x1xi32>) -> tensor<4xf32>
  return %g : tensor<4xf32>
}
dist.entry @a function(@other_added)

// -----

// CHECK-LABEL: func.func @added_unshifted(
// CHECK-NOT: nn.softmax_cross_entropy
// CHECK: return
func.func @added_unshifted(%x: tensor<4x7xf32> {dist.port = #dist.port<input "x">}, %t: tensor<4x1xi32> {dist.port = #dist.port<input "t">}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %mx = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [1] : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
  %mb = stablehlo.broadcast_in_dim %mx, dims = [0] : (tensor<4xf32>) -> tensor<4x7xf32>
  %xs = stablehlo.subtract %x, %mb : tensor<4x7xf32>
  %e = stablehlo.exponential %x : tensor<4x7xf32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
  %l = stablehlo.log %s : tensor<4xf32>
  %al = stablehlo.add %l, %mx : tensor<4xf32>
  %b = stablehlo.broadcast_in_dim %al, dims = [0] : (tensor<4xf32>) -> tensor<4x7xf32>
  %p = stablehlo.subtract %x, %b : tensor<4x7xf32>
  %g = "stablehlo.gather"(%p, %t) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<4x7xf32>, tensor<4x1xi32>) -> tensor<4xf32>
  return %g : tensor<4xf32>
}
dist.entry @a function(@added_unshifted)

// -----

// CHECK-LABEL: func.func @added_to_other_rows(
// CHECK-NOT: nn.softmax_cross_entropy
// CHECK: return
func.func @added_to_other_rows(%x: tensor<4x4xf32> {dist.port = #dist.port<input "x">}, %t: tensor<4x1xi32> {dist.port = #dist.port<input "t">}, %o: tensor<4xf32> {dist.port = #dist.port<input "o">}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %ob = stablehlo.broadcast_in_dim %o, dims = [0] : (tensor<4xf32>) -> tensor<4x4xf32>
  %xs = stablehlo.subtract %x, %ob : tensor<4x4xf32>
  %e = stablehlo.exponential %xs : tensor<4x4xf32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x4xf32>, tensor<f32>) -> tensor<4xf32>
  %l = stablehlo.log %s : tensor<4xf32>
  %lb = stablehlo.broadcast_in_dim %l, dims = [0] : (tensor<4xf32>) -> tensor<4x4xf32>
  %oc = stablehlo.broadcast_in_dim %o, dims = [1] : (tensor<4xf32>) -> tensor<4x4xf32>
  %b = stablehlo.add %lb, %oc : tensor<4x4xf32>
  %p = stablehlo.subtract %x, %b : tensor<4x4xf32>
  %g = "stablehlo.gather"(%p, %t) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<4x4xf32>, tensor<4x1xi32>) -> tensor<4xf32>
  return %g : tensor<4xf32>
}
dist.entry @a function(@added_to_other_rows)

// -----

// What differs from class to class is no shift: it stays.
// CHECK-LABEL: func.func @shifted_in_columns(
// CHECK: %[[X:.*]] = stablehlo.subtract %arg0,
// CHECK: nn.softmax_cross_entropy %[[X]],
func.func @shifted_in_columns(%x: tensor<4x7xf32> {dist.port = #dist.port<input "x">}, %t: tensor<4x1xi32> {dist.port = #dist.port<input "t">}, %o: tensor<7xf32> {dist.port = #dist.port<input "o">}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %ob = stablehlo.broadcast_in_dim %o, dims = [1] : (tensor<7xf32>) -> tensor<4x7xf32>
  %xs = stablehlo.subtract %x, %ob : tensor<4x7xf32>
  %e = stablehlo.exponential %xs : tensor<4x7xf32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
  %l = stablehlo.log %s : tensor<4xf32>
  %b = stablehlo.broadcast_in_dim %l, dims = [0] : (tensor<4xf32>) -> tensor<4x7xf32>
  %p = stablehlo.subtract %xs, %b : tensor<4x7xf32>
  %g = "stablehlo.gather"(%p, %t) <{dimension_numbers = #stablehlo.gather<collapsed_slice_dims = [1], operand_batching_dims = [0], start_indices_batching_dims = [0], start_index_map = [1], index_vector_dim = 1>, slice_sizes = array<i64: 1, 1>}> : (tensor<4x7xf32>, tensor<4x1xi32>) -> tensor<4xf32>
  return %g : tensor<4xf32>
}
dist.entry @a function(@shifted_in_columns)
