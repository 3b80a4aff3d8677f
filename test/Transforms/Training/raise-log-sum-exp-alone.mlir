// RUN: llmc-opt %s --llmc-normalize --llmc-raise | FileCheck %s
// RUN: llmc-opt %s --llmc-normalize --llmc-raise=log-sum-exp=false | FileCheck %s --check-prefix=OFF
// RUN: llmc-opt %s --llmc-normalize --llmc-raise --remarks-filter=training --remark-format=emitRemark -o /dev/null 2>&1 | grep '] log-sum-exp |' | FileCheck %s --check-prefix=REMARK
// OFF-NOT: nn.
// REMARK-COUNT-2: "a log-sum-exp"
// REMARK-NEXT: no log-sum-exp: what is subtracted is not the maximum
// REMARK-NEXT: no log-sum-exp: what is added is not what was subtracted
// REMARK-NEXT: no log-sum-exp: what is added is not what was subtracted
// REMARK-COUNT-3: no log-sum-exp: what is subtracted is not the maximum
// REMARK-COUNT-2: no log-sum-exp: the sum or its exponentials have other uses
// REMARK-NOT: log-sum-exp

// Written out.
// CHECK-LABEL: func.func @plain(
// CHECK-NEXT: %[[Y:.*]] = nn.log_sum_exp %arg0 {dims = array<i64: 1>} : (tensor<4x8xf32>) -> tensor<4xf32>
// CHECK-NEXT: return %[[Y]]
func.func @plain(%x: tensor<4x8xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}) {
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %m = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  %mb = stablehlo.broadcast_in_dim %m, dims = [0] : (tensor<4xf32>) -> tensor<4x8xf32>
  %d = stablehlo.subtract %x, %mb : tensor<4x8xf32>
  %e = stablehlo.exponential %d : tensor<4x8xf32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  %l = stablehlo.log %s : tensor<4xf32>
  %y = stablehlo.add %m, %l : tensor<4xf32>
  return %y : tensor<4xf32>
}
dist.entry @plain_entry function(@plain)

// As JAX prints it, along two dimensions that are kept: infinite rows are shifted by nothing.
// CHECK-LABEL: func.func @guarded(
// CHECK-NEXT: %[[Y:.*]] = nn.log_sum_exp %arg0 {dims = array<i64: 0, 2>, safe} : (tensor<2x4x8xf32>) -> tensor<4xf32>
// CHECK-NEXT: %[[R:.*]] = stablehlo.reshape %[[Y]] : (tensor<4xf32>) -> tensor<1x4x1xf32>
// CHECK-NEXT: return %[[R]]
func.func @guarded(%x: tensor<2x4x8xf32> {dist.port = #dist.port<input "x">}) -> (tensor<1x4x1xf32> {dist.port = #dist.port<output "y">}) {
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %m0 = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [0, 2] : (tensor<2x4x8xf32>, tensor<f32>) -> tensor<4xf32>
  %lows = stablehlo.broadcast_in_dim %low, dims = [] : (tensor<f32>) -> tensor<4xf32>
  %m1 = stablehlo.maximum %lows, %m0 : tensor<4xf32>
  %f = stablehlo.is_finite %m1 : (tensor<4xf32>) -> tensor<4xi1>
  %zeros = stablehlo.broadcast_in_dim %zero, dims = [] : (tensor<f32>) -> tensor<4xf32>
  %m = stablehlo.select %f, %m1, %zeros : tensor<4xi1>, tensor<4xf32>
  %mk = stablehlo.broadcast_in_dim %m, dims = [1] : (tensor<4xf32>) -> tensor<1x4x1xf32>
  %mb = stablehlo.broadcast_in_dim %mk, dims = [0, 1, 2] : (tensor<1x4x1xf32>) -> tensor<2x4x8xf32>
  %d = stablehlo.subtract %x, %mb : tensor<2x4x8xf32>
  %e = stablehlo.exponential %d : tensor<2x4x8xf32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [0, 2] : (tensor<2x4x8xf32>, tensor<f32>) -> tensor<4xf32>
  %sk = stablehlo.broadcast_in_dim %s, dims = [1] : (tensor<4xf32>) -> tensor<1x4x1xf32>
  %a = stablehlo.abs %sk : tensor<1x4x1xf32>
  %l = stablehlo.log %a : tensor<1x4x1xf32>
  %y = stablehlo.add %l, %mk : tensor<1x4x1xf32>
  return %y : tensor<1x4x1xf32>
}
dist.entry @guarded_entry function(@guarded)

// Exponentials may overflow.
// CHECK-LABEL: func.func @no_shift(
// CHECK-NOT: nn.
// CHECK: return
func.func @no_shift(%x: tensor<4x8xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %e = stablehlo.exponential %x : tensor<4x8xf32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  %l = stablehlo.log %s : tensor<4xf32>
  return %l : tensor<4xf32>
}
dist.entry @no_shift_entry function(@no_shift)

// So they may with another shift.
// CHECK-LABEL: func.func @other_shift(
// CHECK-NOT: nn.
// CHECK: return
func.func @other_shift(%x: tensor<4x8xf32> {dist.port = #dist.port<input "x">}, %o: tensor<4xf32> {dist.port = #dist.port<input "o">}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}) {
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %mb = stablehlo.broadcast_in_dim %o, dims = [0] : (tensor<4xf32>) -> tensor<4x8xf32>
  %d = stablehlo.subtract %x, %mb : tensor<4x8xf32>
  %e = stablehlo.exponential %d : tensor<4x8xf32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  %l = stablehlo.log %s : tensor<4xf32>
  %y = stablehlo.add %o, %l : tensor<4xf32>
  return %y : tensor<4xf32>
}
dist.entry @other_shift_entry function(@other_shift)

// The sum is shifted, and not back.
// CHECK-LABEL: func.func @other_added(
// CHECK-NOT: nn.
// CHECK: return
func.func @other_added(%x: tensor<4x8xf32> {dist.port = #dist.port<input "x">}, %o: tensor<4xf32> {dist.port = #dist.port<input "o">}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}) {
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %m = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  %mb = stablehlo.broadcast_in_dim %m, dims = [0] : (tensor<4xf32>) -> tensor<4x8xf32>
  %d = stablehlo.subtract %x, %mb : tensor<4x8xf32>
  %e = stablehlo.exponential %d : tensor<4x8xf32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  %l = stablehlo.log %s : tensor<4xf32>
  %y = stablehlo.add %o, %l : tensor<4xf32>
  return %y : tensor<4xf32>
}
dist.entry @other_added_entry function(@other_added)

// Of an infinite row, 0 is subtracted and infinity added.
// CHECK-LABEL: func.func @half_guarded(
// CHECK-NOT: nn.
// CHECK: return
func.func @half_guarded(%x: tensor<4x8xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}) {
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %m = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  %f = stablehlo.is_finite %m : (tensor<4xf32>) -> tensor<4xi1>
  %zeros = stablehlo.broadcast_in_dim %zero, dims = [] : (tensor<f32>) -> tensor<4xf32>
  %g = stablehlo.select %f, %m, %zeros : tensor<4xi1>, tensor<4xf32>
  %mb = stablehlo.broadcast_in_dim %g, dims = [0] : (tensor<4xf32>) -> tensor<4x8xf32>
  %d = stablehlo.subtract %x, %mb : tensor<4x8xf32>
  %e = stablehlo.exponential %d : tensor<4x8xf32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  %l = stablehlo.log %s : tensor<4xf32>
  %y = stablehlo.add %m, %l : tensor<4xf32>
  return %y : tensor<4xf32>
}
dist.entry @half_guarded_entry function(@half_guarded)

// Something else is finite.
// CHECK-LABEL: func.func @other_guard(
// CHECK-NOT: nn.
// CHECK: return
func.func @other_guard(%x: tensor<4x8xf32> {dist.port = #dist.port<input "x">}, %o: tensor<4xf32> {dist.port = #dist.port<input "o">}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}) {
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %m = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  %f = stablehlo.is_finite %o : (tensor<4xf32>) -> tensor<4xi1>
  %zeros = stablehlo.broadcast_in_dim %zero, dims = [] : (tensor<f32>) -> tensor<4xf32>
  %g = stablehlo.select %f, %m, %zeros : tensor<4xi1>, tensor<4xf32>
  %mb = stablehlo.broadcast_in_dim %g, dims = [0] : (tensor<4xf32>) -> tensor<4x8xf32>
  %d = stablehlo.subtract %x, %mb : tensor<4x8xf32>
  %e = stablehlo.exponential %d : tensor<4x8xf32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  %l = stablehlo.log %s : tensor<4xf32>
  %y = stablehlo.add %g, %l : tensor<4xf32>
  return %y : tensor<4xf32>
}
dist.entry @other_guard_entry function(@other_guard)

// The maximum is of all rows: those far below it vanish.
// CHECK-LABEL: func.func @other_dims(
// CHECK-NOT: nn.
// CHECK: return
func.func @other_dims(%x: tensor<4x8xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}) {
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %m = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [0, 1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<f32>
  %mb = stablehlo.broadcast_in_dim %m, dims = [] : (tensor<f32>) -> tensor<4x8xf32>
  %d = stablehlo.subtract %x, %mb : tensor<4x8xf32>
  %e = stablehlo.exponential %d : tensor<4x8xf32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  %l = stablehlo.log %s : tensor<4xf32>
  %mr = stablehlo.broadcast_in_dim %m, dims = [] : (tensor<f32>) -> tensor<4xf32>
  %y = stablehlo.add %mr, %l : tensor<4xf32>
  return %y : tensor<4xf32>
}
dist.entry @other_dims_entry function(@other_dims)

// The maximum is of rows, the sum of columns.
// CHECK-LABEL: func.func @turned(
// CHECK-NOT: nn.
// CHECK: return
func.func @turned(%x: tensor<4x4xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}) {
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %m = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [1] : (tensor<4x4xf32>, tensor<f32>) -> tensor<4xf32>
  %mb = stablehlo.broadcast_in_dim %m, dims = [0] : (tensor<4xf32>) -> tensor<4x4xf32>
  %d = stablehlo.subtract %x, %mb : tensor<4x4xf32>
  %e = stablehlo.exponential %d : tensor<4x4xf32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<4x4xf32>, tensor<f32>) -> tensor<4xf32>
  %l = stablehlo.log %s : tensor<4xf32>
  %y = stablehlo.add %m, %l : tensor<4xf32>
  return %y : tensor<4xf32>
}
dist.entry @turned_entry function(@turned)

// Something else reads the exponentials.
// CHECK-LABEL: func.func @exponential_used(
// CHECK-NOT: nn.
// CHECK: return
func.func @exponential_used(%x: tensor<4x8xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4x8xf32> {dist.port = #dist.port<output "z">}, tensor<4xf32> {dist.port = #dist.port<output "y">}) {
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %m = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  %mb = stablehlo.broadcast_in_dim %m, dims = [0] : (tensor<4xf32>) -> tensor<4x8xf32>
  %d = stablehlo.subtract %x, %mb : tensor<4x8xf32>
  %e = stablehlo.exponential %d : tensor<4x8xf32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  %l = stablehlo.log %s : tensor<4xf32>
  %y = stablehlo.add %m, %l : tensor<4xf32>
  return %e, %y : tensor<4x8xf32>, tensor<4xf32>
}
dist.entry @exponential_used_entry function(@exponential_used)

// Something else reads the sum.
// CHECK-LABEL: func.func @sum_used(
// CHECK-NOT: nn.
// CHECK: return
func.func @sum_used(%x: tensor<4x8xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}) {
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %m = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  %mb = stablehlo.broadcast_in_dim %m, dims = [0] : (tensor<4xf32>) -> tensor<4x8xf32>
  %d = stablehlo.subtract %x, %mb : tensor<4x8xf32>
  %e = stablehlo.exponential %d : tensor<4x8xf32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  %l = stablehlo.log %s : tensor<4xf32>
  %y = stablehlo.add %m, %l : tensor<4xf32>
  %w = stablehlo.multiply %y, %s : tensor<4xf32>
  return %w : tensor<4xf32>
}
dist.entry @sum_used_entry function(@sum_used)

// Weights of the exponentials: nothing looks like a log-sum-exp.
// CHECK-LABEL: func.func @weighted(
// CHECK-NOT: nn.
// CHECK: return
func.func @weighted(%x: tensor<4x8xf32> {dist.port = #dist.port<input "x">}, %o: tensor<4x8xf32> {dist.port = #dist.port<input "o">}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}) {
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %m = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  %mb = stablehlo.broadcast_in_dim %m, dims = [0] : (tensor<4xf32>) -> tensor<4x8xf32>
  %d = stablehlo.subtract %x, %mb : tensor<4x8xf32>
  %e = stablehlo.exponential %d : tensor<4x8xf32>
  %w = stablehlo.multiply %e, %o : tensor<4x8xf32>
  %s = stablehlo.reduce(%w init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  %l = stablehlo.log %s : tensor<4xf32>
  %y = stablehlo.add %m, %l : tensor<4xf32>
  return %y : tensor<4xf32>
}
dist.entry @weighted_entry function(@weighted)
