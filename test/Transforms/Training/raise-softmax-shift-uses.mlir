// RUN: llmc-opt %s --split-input-file --llmc-raise=softmax=false | FileCheck %s
// RUN: llmc-opt %s --split-input-file --llmc-raise=softmax=false --remarks-filter=training --remark-format=emitRemark -o /dev/null 2>&1 | grep -o 'the [a-z ]* has uses[a-z ]*\|the shift of an exponential cancels' | FileCheck %s --check-prefix=REMARK --match-full-lines

// Which uses a shift that cancels may have, and the first in the way if there
// is another: the cases below, one after the other.
// REMARK: the shift of an exponential cancels
// REMARK-NEXT: the shift of an exponential cancels
// REMARK-NEXT: the exponential has uses outside of a softmax
// REMARK-NEXT: the exponential has uses outside of a softmax
// REMARK-NEXT: the exponential has uses outside of a softmax
// REMARK-NEXT: the exponential has uses outside of a softmax
// REMARK-NEXT: the exponential has uses outside of a softmax
// REMARK-NEXT: the exponential has uses outside of a softmax
// REMARK-NEXT: the exponential has uses outside of a softmax
// REMARK-NEXT: the exponential has uses outside of a softmax
// REMARK-NEXT: the shifted value has uses outside of a softmax
// REMARK-NEXT: the shifted value has uses outside of a softmax
// REMARK-NEXT: the shifted value has uses outside of a softmax
// REMARK-NEXT: the shifted value has uses outside of a softmax
// REMARK-NEXT: the shifted value has uses outside of a softmax
// REMARK-NOT: {{.}}

// Two sums over the same dimension are two softmaxes.
// CHECK-LABEL: func.func @two_sums_of_the_same(
// CHECK: stablehlo.subtract %{{.*}} {dist.stop_gradient = array<i64: 1>}
// CHECK: return
func.func @two_sums_of_the_same(%x: tensor<4x7xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4x7xf32> {dist.port = #dist.port<output "y0">}, tensor<4x7xf32> {dist.port = #dist.port<output "y1">}) {
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %mx = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [1] : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
  %mb = stablehlo.broadcast_in_dim %mx, dims = [0] : (tensor<4xf32>) -> tensor<4x7xf32>
  %xs = stablehlo.subtract %x, %mb : tensor<4x7xf32>
  %e = stablehlo.exponential %xs : tensor<4x7xf32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
  %s2 = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
  %sb = stablehlo.broadcast_in_dim %s, dims = [0] : (tensor<4xf32>) -> tensor<4x7xf32>
  %q = stablehlo.divide %e, %sb : tensor<4x7xf32>
  %sb2 = stablehlo.broadcast_in_dim %s2, dims = [0] : (tensor<4xf32>) -> tensor<4x7xf32>
  %q2 = stablehlo.divide %e, %sb2 : tensor<4x7xf32>
  return %q, %q2 : tensor<4x7xf32>, tensor<4x7xf32>
}
dist.entry @a function(@two_sums_of_the_same)

// -----

// What is stopped already stays so.
// CHECK-LABEL: func.func @stopped_before(
// CHECK: stablehlo.subtract %{{.*}} {dist.stop_gradient = array<i64: 1, 0>}
// CHECK: return
func.func @stopped_before(%x: tensor<4x7xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4x7xf32> {dist.port = #dist.port<output "y0">}) {
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %mx = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [1] : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
  %mb = stablehlo.broadcast_in_dim %mx, dims = [0] : (tensor<4xf32>) -> tensor<4x7xf32>
  %xs = stablehlo.subtract %x, %mb {dist.stop_gradient = array<i64: 0>} : tensor<4x7xf32>
  %e = stablehlo.exponential %xs : tensor<4x7xf32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
  %sb = stablehlo.broadcast_in_dim %s, dims = [0] : (tensor<4xf32>) -> tensor<4x7xf32>
  %q = stablehlo.divide %e, %sb : tensor<4x7xf32>
  return %q : tensor<4x7xf32>
}
dist.entry @a function(@stopped_before)

// -----

// An exponential that is not summed is none of a softmax: nothing is said.
// CHECK-LABEL: func.func @alone(
// CHECK-NOT: dist.stop_gradient
// CHECK: return
func.func @alone(%x: tensor<4x7xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4x7xf32> {dist.port = #dist.port<output "y0">}) {
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %mx = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [1] : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
  %mb = stablehlo.broadcast_in_dim %mx, dims = [0] : (tensor<4xf32>) -> tensor<4x7xf32>
  %xs = stablehlo.subtract %x, %mb : tensor<4x7xf32>
  %e = stablehlo.exponential %xs : tensor<4x7xf32>
  return %e : tensor<4x7xf32>
}
dist.entry @a function(@alone)

// -----

// The exponential is read by sums from zero over the same dimensions, and
// divided by them.
// CHECK-LABEL: func.func @largest(
// CHECK-NOT: dist.stop_gradient
// CHECK: return
func.func @largest(%x: tensor<4x7xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4x7xf32> {dist.port = #dist.port<output "y0">}) {
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %mx = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [1] : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
  %mb = stablehlo.broadcast_in_dim %mx, dims = [0] : (tensor<4xf32>) -> tensor<4x7xf32>
  %xs = stablehlo.subtract %x, %mb : tensor<4x7xf32>
  %e = stablehlo.exponential %xs : tensor<4x7xf32>
  %s = stablehlo.reduce(%e init: %low) applies stablehlo.maximum across dimensions = [1] : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
  %sb = stablehlo.broadcast_in_dim %s, dims = [0] : (tensor<4xf32>) -> tensor<4x7xf32>
  %q = stablehlo.divide %e, %sb : tensor<4x7xf32>
  return %q : tensor<4x7xf32>
}
dist.entry @a function(@largest)

// -----

// CHECK-LABEL: func.func @from_one(
// CHECK-NOT: dist.stop_gradient
// CHECK: return
func.func @from_one(%x: tensor<4x7xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4x7xf32> {dist.port = #dist.port<output "y0">}) {
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %mx = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [1] : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
  %mb = stablehlo.broadcast_in_dim %mx, dims = [0] : (tensor<4xf32>) -> tensor<4x7xf32>
  %xs = stablehlo.subtract %x, %mb : tensor<4x7xf32>
  %e = stablehlo.exponential %xs : tensor<4x7xf32>
  %s = stablehlo.reduce(%e init: %one) applies stablehlo.add across dimensions = [1] : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
  %sb = stablehlo.broadcast_in_dim %s, dims = [0] : (tensor<4xf32>) -> tensor<4x7xf32>
  %q = stablehlo.divide %e, %sb : tensor<4x7xf32>
  return %q : tensor<4x7xf32>
}
dist.entry @a function(@from_one)

// -----

// CHECK-LABEL: func.func @two_sums_of_others(
// CHECK-NOT: dist.stop_gradient
// CHECK: return
func.func @two_sums_of_others(%x: tensor<4x7xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4x7xf32> {dist.port = #dist.port<output "y0">}, tensor<4x7xf32> {dist.port = #dist.port<output "y1">}) {
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %mx = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [1] : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
  %mb = stablehlo.broadcast_in_dim %mx, dims = [0] : (tensor<4xf32>) -> tensor<4x7xf32>
  %xs = stablehlo.subtract %x, %mb : tensor<4x7xf32>
  %e = stablehlo.exponential %xs : tensor<4x7xf32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
  %s2 = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<4x7xf32>, tensor<f32>) -> tensor<7xf32>
  %sb = stablehlo.broadcast_in_dim %s, dims = [0] : (tensor<4xf32>) -> tensor<4x7xf32>
  %q = stablehlo.divide %e, %sb : tensor<4x7xf32>
  %sb2 = stablehlo.broadcast_in_dim %s2, dims = [1] : (tensor<7xf32>) -> tensor<4x7xf32>
  %q2 = stablehlo.divide %e, %sb2 : tensor<4x7xf32>
  return %q, %q2 : tensor<4x7xf32>, tensor<4x7xf32>
}
dist.entry @a function(@two_sums_of_others)

// -----

// CHECK-LABEL: func.func @doubled(
// CHECK-NOT: dist.stop_gradient
// CHECK: return
func.func @doubled(%x: tensor<4x7xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4x7xf32> {dist.port = #dist.port<output "y0">}, tensor<4x7xf32> {dist.port = #dist.port<output "y1">}) {
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %mx = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [1] : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
  %mb = stablehlo.broadcast_in_dim %mx, dims = [0] : (tensor<4xf32>) -> tensor<4x7xf32>
  %xs = stablehlo.subtract %x, %mb : tensor<4x7xf32>
  %e = stablehlo.exponential %xs : tensor<4x7xf32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
  %sb = stablehlo.broadcast_in_dim %s, dims = [0] : (tensor<4xf32>) -> tensor<4x7xf32>
  %q = stablehlo.divide %e, %sb : tensor<4x7xf32>
  %d = stablehlo.add %e, %e : tensor<4x7xf32>
  return %q, %d : tensor<4x7xf32>, tensor<4x7xf32>
}
dist.entry @a function(@doubled)

// -----

// CHECK-LABEL: func.func @divisor(
// CHECK-NOT: dist.stop_gradient
// CHECK: return
func.func @divisor(%x: tensor<4x7xf32> {dist.port = #dist.port<input "x">}, %y: tensor<4x7xf32> {dist.port = #dist.port<input "y">}) -> (tensor<4x7xf32> {dist.port = #dist.port<output "y0">}, tensor<4x7xf32> {dist.port = #dist.port<output "y1">}) {
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %mx = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [1] : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
  %mb = stablehlo.broadcast_in_dim %mx, dims = [0] : (tensor<4xf32>) -> tensor<4x7xf32>
  %xs = stablehlo.subtract %x, %mb : tensor<4x7xf32>
  %e = stablehlo.exponential %xs : tensor<4x7xf32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
  %sb = stablehlo.broadcast_in_dim %s, dims = [0] : (tensor<4xf32>) -> tensor<4x7xf32>
  %q = stablehlo.divide %e, %sb : tensor<4x7xf32>
  %d = stablehlo.divide %y, %e : tensor<4x7xf32>
  return %q, %d : tensor<4x7xf32>, tensor<4x7xf32>
}
dist.entry @a function(@divisor)

// -----

// CHECK-LABEL: func.func @by_another(
// CHECK-NOT: dist.stop_gradient
// CHECK: return
func.func @by_another(%x: tensor<4x7xf32> {dist.port = #dist.port<input "x">}, %y: tensor<4x7xf32> {dist.port = #dist.port<input "y">}) -> (tensor<4x7xf32> {dist.port = #dist.port<output "y0">}, tensor<4x7xf32> {dist.port = #dist.port<output "y1">}) {
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %mx = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [1] : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
  %mb = stablehlo.broadcast_in_dim %mx, dims = [0] : (tensor<4xf32>) -> tensor<4x7xf32>
  %xs = stablehlo.subtract %x, %mb : tensor<4x7xf32>
  %e = stablehlo.exponential %xs : tensor<4x7xf32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
  %sb = stablehlo.broadcast_in_dim %s, dims = [0] : (tensor<4xf32>) -> tensor<4x7xf32>
  %q = stablehlo.divide %e, %sb : tensor<4x7xf32>
  %d = stablehlo.divide %e, %y : tensor<4x7xf32>
  return %q, %d : tensor<4x7xf32>, tensor<4x7xf32>
}
dist.entry @a function(@by_another)

// -----

// CHECK-LABEL: func.func @by_another_sum(
// CHECK-NOT: dist.stop_gradient
// CHECK: return
func.func @by_another_sum(%x: tensor<4x7xf32> {dist.port = #dist.port<input "x">}, %y: tensor<4x7xf32> {dist.port = #dist.port<input "y">}) -> (tensor<4x7xf32> {dist.port = #dist.port<output "y0">}, tensor<4x7xf32> {dist.port = #dist.port<output "y1">}) {
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %mx = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [1] : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
  %mb = stablehlo.broadcast_in_dim %mx, dims = [0] : (tensor<4xf32>) -> tensor<4x7xf32>
  %xs = stablehlo.subtract %x, %mb : tensor<4x7xf32>
  %e = stablehlo.exponential %xs : tensor<4x7xf32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
  %sb = stablehlo.broadcast_in_dim %s, dims = [0] : (tensor<4xf32>) -> tensor<4x7xf32>
  %q = stablehlo.divide %e, %sb : tensor<4x7xf32>
  %s3 = stablehlo.reduce(%y init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
  %sb3 = stablehlo.broadcast_in_dim %s3, dims = [0] : (tensor<4xf32>) -> tensor<4x7xf32>
  %d = stablehlo.divide %e, %sb3 : tensor<4x7xf32>
  return %q, %d : tensor<4x7xf32>, tensor<4x7xf32>
}
dist.entry @a function(@by_another_sum)

// -----

// CHECK-LABEL: func.func @by_a_logarithm(
// CHECK-NOT: dist.stop_gradient
// CHECK: return
func.func @by_a_logarithm(%x: tensor<4x7xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4x7xf32> {dist.port = #dist.port<output "y0">}) {
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %mx = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [1] : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
  %mb = stablehlo.broadcast_in_dim %mx, dims = [0] : (tensor<4xf32>) -> tensor<4x7xf32>
  %xs = stablehlo.subtract %x, %mb : tensor<4x7xf32>
  %e = stablehlo.exponential %xs : tensor<4x7xf32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
  %ls = stablehlo.log %s : tensor<4xf32>
  %lb = stablehlo.broadcast_in_dim %ls, dims = [0] : (tensor<4xf32>) -> tensor<4x7xf32>
  %q = stablehlo.divide %e, %lb : tensor<4x7xf32>
  return %q : tensor<4x7xf32>
}
dist.entry @a function(@by_a_logarithm)

// -----

// The shifted value is read by its exponential, and by the difference to the
// logarithm of the sum.
// CHECK-LABEL: func.func @shifted_doubled(
// CHECK-NOT: dist.stop_gradient
// CHECK: return
func.func @shifted_doubled(%x: tensor<4x7xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4x7xf32> {dist.port = #dist.port<output "y0">}, tensor<4x7xf32> {dist.port = #dist.port<output "y1">}) {
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %mx = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [1] : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
  %mb = stablehlo.broadcast_in_dim %mx, dims = [0] : (tensor<4xf32>) -> tensor<4x7xf32>
  %xs = stablehlo.subtract %x, %mb : tensor<4x7xf32>
  %e = stablehlo.exponential %xs : tensor<4x7xf32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
  %ls = stablehlo.log %s : tensor<4xf32>
  %lb = stablehlo.broadcast_in_dim %ls, dims = [0] : (tensor<4xf32>) -> tensor<4x7xf32>
  %q = stablehlo.subtract %xs, %lb : tensor<4x7xf32>
  %d = stablehlo.add %xs, %xs : tensor<4x7xf32>
  return %q, %d : tensor<4x7xf32>, tensor<4x7xf32>
}
dist.entry @a function(@shifted_doubled)

// -----

// CHECK-LABEL: func.func @shifted_subtracted(
// CHECK-NOT: dist.stop_gradient
// CHECK: return
func.func @shifted_subtracted(%x: tensor<4x7xf32> {dist.port = #dist.port<input "x">}, %y: tensor<4x7xf32> {dist.port = #dist.port<input "y">}) -> (tensor<4x7xf32> {dist.port = #dist.port<output "y0">}, tensor<4x7xf32> {dist.port = #dist.port<output "y1">}) {
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %mx = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [1] : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
  %mb = stablehlo.broadcast_in_dim %mx, dims = [0] : (tensor<4xf32>) -> tensor<4x7xf32>
  %xs = stablehlo.subtract %x, %mb : tensor<4x7xf32>
  %e = stablehlo.exponential %xs : tensor<4x7xf32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
  %ls = stablehlo.log %s : tensor<4xf32>
  %lb = stablehlo.broadcast_in_dim %ls, dims = [0] : (tensor<4xf32>) -> tensor<4x7xf32>
  %q = stablehlo.subtract %xs, %lb : tensor<4x7xf32>
  %d = stablehlo.subtract %y, %xs : tensor<4x7xf32>
  return %q, %d : tensor<4x7xf32>, tensor<4x7xf32>
}
dist.entry @a function(@shifted_subtracted)

// -----

// CHECK-LABEL: func.func @shifted_from_itself(
// CHECK-NOT: dist.stop_gradient
// CHECK: return
func.func @shifted_from_itself(%x: tensor<4x7xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4x7xf32> {dist.port = #dist.port<output "y0">}, tensor<4x7xf32> {dist.port = #dist.port<output "y1">}) {
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %mx = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [1] : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
  %mb = stablehlo.broadcast_in_dim %mx, dims = [0] : (tensor<4xf32>) -> tensor<4x7xf32>
  %xs = stablehlo.subtract %x, %mb : tensor<4x7xf32>
  %e = stablehlo.exponential %xs : tensor<4x7xf32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
  %ls = stablehlo.log %s : tensor<4xf32>
  %lb = stablehlo.broadcast_in_dim %ls, dims = [0] : (tensor<4xf32>) -> tensor<4x7xf32>
  %q = stablehlo.subtract %xs, %lb : tensor<4x7xf32>
  %d = stablehlo.subtract %xs, %xs : tensor<4x7xf32>
  return %q, %d : tensor<4x7xf32>, tensor<4x7xf32>
}
dist.entry @a function(@shifted_from_itself)

// -----

// CHECK-LABEL: func.func @shifted_without_sum(
// CHECK-NOT: dist.stop_gradient
// CHECK: return
func.func @shifted_without_sum(%x: tensor<4x7xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4x7xf32> {dist.port = #dist.port<output "y0">}) {
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %mx = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [1] : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
  %mb = stablehlo.broadcast_in_dim %mx, dims = [0] : (tensor<4xf32>) -> tensor<4x7xf32>
  %xs = stablehlo.subtract %x, %mb : tensor<4x7xf32>
  %e = stablehlo.exponential %xs : tensor<4x7xf32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
  %sb = stablehlo.broadcast_in_dim %s, dims = [0] : (tensor<4xf32>) -> tensor<4x7xf32>
  %q = stablehlo.subtract %xs, %sb : tensor<4x7xf32>
  return %q : tensor<4x7xf32>
}
dist.entry @a function(@shifted_without_sum)

// -----

// CHECK-LABEL: func.func @shifted_without_another(
// CHECK-NOT: dist.stop_gradient
// CHECK: return
func.func @shifted_without_another(%x: tensor<4x7xf32> {dist.port = #dist.port<input "x">}, %y: tensor<4x7xf32> {dist.port = #dist.port<input "y">}) -> (tensor<4x7xf32> {dist.port = #dist.port<output "y0">}, tensor<4x7xf32> {dist.port = #dist.port<output "y1">}) {
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %mx = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [1] : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
  %mb = stablehlo.broadcast_in_dim %mx, dims = [0] : (tensor<4xf32>) -> tensor<4x7xf32>
  %xs = stablehlo.subtract %x, %mb : tensor<4x7xf32>
  %e = stablehlo.exponential %xs : tensor<4x7xf32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
  %ls = stablehlo.log %s : tensor<4xf32>
  %lb = stablehlo.broadcast_in_dim %ls, dims = [0] : (tensor<4xf32>) -> tensor<4x7xf32>
  %q = stablehlo.subtract %xs, %lb : tensor<4x7xf32>
  %d = stablehlo.subtract %xs, %y : tensor<4x7xf32>
  return %q, %d : tensor<4x7xf32>, tensor<4x7xf32>
}
dist.entry @a function(@shifted_without_another)
