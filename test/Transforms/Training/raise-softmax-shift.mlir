// RUN: llmc-opt %s --llmc-normalize --llmc-raise="softmax=false log-sum-exp=false" | FileCheck %s
// RUN: llmc-opt %s --llmc-normalize --llmc-raise="softmax=false log-sum-exp=false softmax-shift=false" | FileCheck %s --check-prefix=OFF
// RUN: llmc-opt %s --llmc-normalize --llmc-raise="softmax=false log-sum-exp=false" --remarks-filter=training --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// REMARK-COUNT-3: the shift of an exponential cancels
// REMARK: the sum has uses outside of a softmax
// REMARK: the exponential has uses outside of a softmax
// REMARK: the sum has uses outside of a softmax
// OFF-NOT: dist.stop_gradient

// CHECK-LABEL: func.func @softmax
func.func @softmax(%x: tensor<4x7xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4x7xf32> {dist.port = #dist.port<output "y">}) {
  // CHECK: stablehlo.subtract %{{.*}} {dist.stop_gradient = array<i64: 1>}
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [1]
      : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<4xf32>) -> tensor<4x7xf32>
  %2 = stablehlo.subtract %x, %1 : tensor<4x7xf32>
  %3 = stablehlo.exponential %2 : tensor<4x7xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %4 = stablehlo.reduce(%3 init: %zero) applies stablehlo.add across dimensions = [1]
      : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
  %5 = stablehlo.reshape %4 : (tensor<4xf32>) -> tensor<4x1xf32>
  %6 = stablehlo.broadcast_in_dim %5, dims = [0, 1] : (tensor<4x1xf32>) -> tensor<4x7xf32>
  %7 = stablehlo.divide %3, %6 : tensor<4x7xf32>
  return %7 : tensor<4x7xf32>
}
dist.entry @a function(@softmax)

// Both uses of the shift are stopped: log(sum(exp(x - m))) + m.
// CHECK-LABEL: func.func @log_sum_exp
func.func @log_sum_exp(%x: tensor<4x7xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4x1xf32> {dist.port = #dist.port<output "y">}) {
  // CHECK: stablehlo.subtract %{{.*}} {dist.stop_gradient = array<i64: 1>}
  // CHECK: stablehlo.add %{{.*}} {dist.stop_gradient = array<i64: 1>}
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [1]
      : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<4xf32>) -> tensor<4x7xf32>
  %2 = stablehlo.subtract %x, %1 : tensor<4x7xf32>
  %3 = stablehlo.exponential %2 : tensor<4x7xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %4 = stablehlo.reduce(%3 init: %zero) applies stablehlo.add across dimensions = [1]
      : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
  %5 = stablehlo.reshape %4 : (tensor<4xf32>) -> tensor<4x1xf32>
  %6 = stablehlo.log %5 : tensor<4x1xf32>
  %7 = stablehlo.reshape %0 : (tensor<4xf32>) -> tensor<4x1xf32>
  %8 = stablehlo.add %6, %7 : tensor<4x1xf32>
  return %8 : tensor<4x1xf32>
}
dist.entry @b function(@log_sum_exp)

// The logarithm of a softmax: the sum is used by its logarithm alone, and that beside the shifted values.
// CHECK-LABEL: func.func @log_softmax
func.func @log_softmax(%x: tensor<4x7xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4x7xf32> {dist.port = #dist.port<output "y">}) {
  // CHECK: stablehlo.subtract %{{.*}} {dist.stop_gradient = array<i64: 1>}
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [1]
      : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<4xf32>) -> tensor<4x7xf32>
  %2 = stablehlo.subtract %x, %1 : tensor<4x7xf32>
  %3 = stablehlo.exponential %2 : tensor<4x7xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %4 = stablehlo.reduce(%3 init: %zero) applies stablehlo.add across dimensions = [1]
      : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
  %5 = stablehlo.reshape %4 : (tensor<4xf32>) -> tensor<4x1xf32>
  %6 = stablehlo.log %5 : tensor<4x1xf32>
  %7 = stablehlo.broadcast_in_dim %6, dims = [0, 1] : (tensor<4x1xf32>) -> tensor<4x7xf32>
  %8 = stablehlo.subtract %2, %7 : tensor<4x7xf32>
  return %8 : tensor<4x7xf32>
}
dist.entry @log_softmax_entry function(@log_softmax)

// The sum is used on its own, too: its derivative by the shift is not zero.
// CHECK-LABEL: func.func @leaks
func.func @leaks(%x: tensor<4x7xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4x7xf32> {dist.port = #dist.port<output "y0">}, tensor<4xf32> {dist.port = #dist.port<output "y1">}) {
  // CHECK-NOT: dist.stop_gradient
  // CHECK: return
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [1]
      : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<4xf32>) -> tensor<4x7xf32>
  %2 = stablehlo.subtract %x, %1 : tensor<4x7xf32>
  %3 = stablehlo.exponential %2 : tensor<4x7xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %4 = stablehlo.reduce(%3 init: %zero) applies stablehlo.add across dimensions = [1]
      : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
  %5 = stablehlo.broadcast_in_dim %4, dims = [0] : (tensor<4xf32>) -> tensor<4x7xf32>
  %6 = stablehlo.divide %3, %5 : tensor<4x7xf32>
  return %6, %4 : tensor<4x7xf32>, tensor<4xf32>
}
dist.entry @c function(@leaks)

// The shift differs along the summed dimension: it does not cancel.
// CHECK-LABEL: func.func @no_row_constant
func.func @no_row_constant(%x: tensor<7x7xf32> {dist.port = #dist.port<input "x">}) -> (tensor<7x7xf32> {dist.port = #dist.port<output "y">}) {
  // CHECK-NOT: dist.stop_gradient
  // CHECK: return
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [0]
      : (tensor<7x7xf32>, tensor<f32>) -> tensor<7xf32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [1] : (tensor<7xf32>) -> tensor<7x7xf32>
  %2 = stablehlo.subtract %x, %1 : tensor<7x7xf32>
  %3 = stablehlo.exponential %2 : tensor<7x7xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %4 = stablehlo.reduce(%3 init: %zero) applies stablehlo.add across dimensions = [1]
      : (tensor<7x7xf32>, tensor<f32>) -> tensor<7xf32>
  %5 = stablehlo.broadcast_in_dim %4, dims = [0] : (tensor<7xf32>) -> tensor<7x7xf32>
  %6 = stablehlo.divide %3, %5 : tensor<7x7xf32>
  return %6 : tensor<7x7xf32>
}
dist.entry @d function(@no_row_constant)

// Rows that are merged with others are not followed to the shift.
// CHECK-LABEL: func.func @merged_rows
func.func @merged_rows(%x: tensor<4x7xf32> {dist.port = #dist.port<input "x">}) -> (tensor<2x2xf32> {dist.port = #dist.port<output "y">}) {
  // CHECK-NOT: dist.stop_gradient
  // CHECK: return
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %0 = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [1]
      : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
  %1 = stablehlo.broadcast_in_dim %0, dims = [0] : (tensor<4xf32>) -> tensor<4x7xf32>
  %2 = stablehlo.subtract %x, %1 : tensor<4x7xf32>
  %3 = stablehlo.exponential %2 : tensor<4x7xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %4 = stablehlo.reduce(%3 init: %zero) applies stablehlo.add across dimensions = [1]
      : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
  %5 = stablehlo.log %4 : tensor<4xf32>
  %6 = stablehlo.reshape %5 : (tensor<4xf32>) -> tensor<2x2xf32>
  %7 = stablehlo.reshape %0 : (tensor<4xf32>) -> tensor<2x2xf32>
  %8 = stablehlo.add %6, %7 : tensor<2x2xf32>
  return %8 : tensor<2x2xf32>
}
dist.entry @merged_rows_entry function(@merged_rows)
