// RUN: llmc-opt %s --llmc-normalize --llmc-raise | FileCheck %s

// A maximum at which the text stops the derivative, as JAX writes it, is that of
// a softmax: the shift cancels.
// CHECK-LABEL: func.func @softmax(
// CHECK-NEXT: %[[Y:.*]] = nn.softmax %arg0
// CHECK-NEXT: return %[[Y]]
func.func @softmax(%x: tensor<4x8xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4x8xf32> {dist.port = #dist.port<output "y">}) {
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %r = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  %k = stablehlo.broadcast_in_dim %r, dims = [0] : (tensor<4xf32>) -> tensor<4x1xf32>
  %m = stablehlo.optimization_barrier {dist.stop_gradient = array<i64: 0>} %k : tensor<4x1xf32>
  %b = stablehlo.broadcast_in_dim %m, dims = [0, 1] : (tensor<4x1xf32>) -> tensor<4x8xf32>
  %d = stablehlo.subtract %x, %b : tensor<4x8xf32>
  %e = stablehlo.exponential %d : tensor<4x8xf32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  %t = stablehlo.broadcast_in_dim %s, dims = [0] : (tensor<4xf32>) -> tensor<4x8xf32>
  %y = stablehlo.divide %e, %t : tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}
dist.entry @softmax_entry function(@softmax)

// It is that of a log-sum-exp where it is stopped on both sides.
// CHECK-LABEL: func.func @log_sum_exp(
// CHECK-NEXT: %[[Y:.*]] = nn.log_sum_exp %arg0 {dims = array<i64: 1>, safe}
// CHECK-NEXT: return %[[Y]]
func.func @log_sum_exp(%x: tensor<4x8xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}) {
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %r = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  %f = stablehlo.is_finite %r : (tensor<4xf32>) -> tensor<4xi1>
  %z = stablehlo.broadcast_in_dim %zero, dims = [] : (tensor<f32>) -> tensor<4xf32>
  %g = stablehlo.select %f, %r, %z : tensor<4xi1>, tensor<4xf32>
  %m = stablehlo.optimization_barrier {dist.stop_gradient = array<i64: 0>} %g : tensor<4xf32>
  %b = stablehlo.broadcast_in_dim %m, dims = [0] : (tensor<4xf32>) -> tensor<4x8xf32>
  %d = stablehlo.subtract %x, %b : tensor<4x8xf32>
  %e = stablehlo.exponential %d : tensor<4x8xf32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  %l = stablehlo.log %s : tensor<4xf32>
  %y = stablehlo.add %l, %m : tensor<4xf32>
  return %y : tensor<4xf32>
}
dist.entry @log_sum_exp_entry function(@log_sum_exp)

// Stopped on one side it has another derivative.
// CHECK-LABEL: func.func @one_side(
// CHECK-NOT: nn.
// CHECK: return
func.func @one_side(%x: tensor<4x8xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}) {
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %r = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  %m = stablehlo.optimization_barrier {dist.stop_gradient = array<i64: 0>} %r : tensor<4xf32>
  %b = stablehlo.broadcast_in_dim %r, dims = [0] : (tensor<4xf32>) -> tensor<4x8xf32>
  %d = stablehlo.subtract %x, %b : tensor<4x8xf32>
  %e = stablehlo.exponential %d : tensor<4x8xf32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  %l = stablehlo.log %s : tensor<4xf32>
  %y = stablehlo.add %l, %m : tensor<4xf32>
  return %y : tensor<4xf32>
}
dist.entry @one_side_entry function(@one_side)

// A barrier that does not stop a derivative stays one.
// CHECK-LABEL: func.func @barrier(
// CHECK: stablehlo.optimization_barrier
// CHECK-NOT: nn.
// CHECK: return
func.func @barrier(%x: tensor<4x8xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4x8xf32> {dist.port = #dist.port<output "y">}) {
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %r = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  %m = stablehlo.optimization_barrier %r : tensor<4xf32>
  %b = stablehlo.broadcast_in_dim %m, dims = [0] : (tensor<4xf32>) -> tensor<4x8xf32>
  %d = stablehlo.subtract %x, %b : tensor<4x8xf32>
  %e = stablehlo.exponential %d : tensor<4x8xf32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  %t = stablehlo.broadcast_in_dim %s, dims = [0] : (tensor<4xf32>) -> tensor<4x8xf32>
  %y = stablehlo.divide %e, %t : tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}
dist.entry @barrier_entry function(@barrier)
