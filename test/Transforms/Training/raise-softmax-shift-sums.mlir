// RUN: llmc-opt %s --split-input-file --llmc-raise=softmax=false | FileCheck %s
// RUN: llmc-opt %s --split-input-file --llmc-raise=softmax=false --remarks-filter=training --remark-format=emitRemark -o /dev/null 2>&1 | grep -o 'the [a-z ]* has uses[a-z ]*\|the shift of an exponential cancels' | FileCheck %s --check-prefix=REMARK --match-full-lines

// Which uses the sum of a softmax and its logarithm may have: in all cases below
// there is another.
// REMARK: the sum has uses outside of a softmax
// REMARK-NEXT: the sum has uses outside of a softmax
// REMARK-NEXT: the sum has uses outside of a softmax
// REMARK-NEXT: the sum has uses outside of a softmax
// REMARK-NEXT: the sum has uses outside of a softmax
// REMARK-NEXT: the sum has uses outside of a softmax
// REMARK-NEXT: the sum has uses outside of a softmax
// REMARK-NEXT: the sum has uses outside of a softmax
// REMARK-NEXT: the sum has uses outside of a softmax
// REMARK-NEXT: the sum has uses outside of a softmax
// REMARK-NEXT: the sum has uses outside of a softmax
// REMARK-NOT: {{.}}

// The sum is read by its logarithm and as the divisor of the exponential, the
// logarithm by those two.
// CHECK-LABEL: func.func @sum_divided(
// CHECK-NOT: dist.stop_gradient
// CHECK: return
func.func @sum_divided(%x: tensor<4x7xf32> {dist.port = #dist.port<input "x">}, %y: tensor<4x7xf32> {dist.port = #dist.port<input "y">}) -> (tensor<4x7xf32> {dist.port = #dist.port<output "y0">}, tensor<4x7xf32> {dist.port = #dist.port<output "y1">}) {
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %mx = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [1] : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
  %mb = stablehlo.broadcast_in_dim %mx, dims = [0] : (tensor<4xf32>) -> tensor<4x7xf32>
  %xs = stablehlo.subtract %x, %mb : tensor<4x7xf32>
  %e = stablehlo.exponential %xs : tensor<4x7xf32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
  %sb = stablehlo.broadcast_in_dim %s, dims = [0] : (tensor<4xf32>) -> tensor<4x7xf32>
  %q = stablehlo.divide %e, %sb : tensor<4x7xf32>
  %d = stablehlo.divide %sb, %y : tensor<4x7xf32>
  return %q, %d : tensor<4x7xf32>, tensor<4x7xf32>
}
dist.entry @a function(@sum_divided)

// -----

// CHECK-LABEL: func.func @sum_divides_another(
// CHECK-NOT: dist.stop_gradient
// CHECK: return
func.func @sum_divides_another(%x: tensor<4x7xf32> {dist.port = #dist.port<input "x">}, %y: tensor<4x7xf32> {dist.port = #dist.port<input "y">}) -> (tensor<4x7xf32> {dist.port = #dist.port<output "y0">}, tensor<4x7xf32> {dist.port = #dist.port<output "y1">}) {
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %mx = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [1] : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
  %mb = stablehlo.broadcast_in_dim %mx, dims = [0] : (tensor<4xf32>) -> tensor<4x7xf32>
  %xs = stablehlo.subtract %x, %mb : tensor<4x7xf32>
  %e = stablehlo.exponential %xs : tensor<4x7xf32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
  %sb = stablehlo.broadcast_in_dim %s, dims = [0] : (tensor<4xf32>) -> tensor<4x7xf32>
  %q = stablehlo.divide %e, %sb : tensor<4x7xf32>
  %d = stablehlo.divide %y, %sb : tensor<4x7xf32>
  return %q, %d : tensor<4x7xf32>, tensor<4x7xf32>
}
dist.entry @a function(@sum_divides_another)

// -----

// CHECK-LABEL: func.func @logarithm_divides(
// CHECK-NOT: dist.stop_gradient
// CHECK: return
func.func @logarithm_divides(%x: tensor<4x7xf32> {dist.port = #dist.port<input "x">}, %y: tensor<4x7xf32> {dist.port = #dist.port<input "y">}) -> (tensor<4x7xf32> {dist.port = #dist.port<output "y0">}, tensor<4x7xf32> {dist.port = #dist.port<output "y1">}) {
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
  %d = stablehlo.divide %y, %lb : tensor<4x7xf32>
  return %q, %d : tensor<4x7xf32>, tensor<4x7xf32>
}
dist.entry @a function(@logarithm_divides)

// -----

// CHECK-LABEL: func.func @sum_subtracted(
// CHECK-NOT: dist.stop_gradient
// CHECK: return
func.func @sum_subtracted(%x: tensor<4x7xf32> {dist.port = #dist.port<input "x">}, %y: tensor<4x7xf32> {dist.port = #dist.port<input "y">}) -> (tensor<4x7xf32> {dist.port = #dist.port<output "y0">}, tensor<4x7xf32> {dist.port = #dist.port<output "y1">}) {
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %mx = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [1] : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
  %mb = stablehlo.broadcast_in_dim %mx, dims = [0] : (tensor<4xf32>) -> tensor<4x7xf32>
  %xs = stablehlo.subtract %x, %mb : tensor<4x7xf32>
  %e = stablehlo.exponential %xs : tensor<4x7xf32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
  %sb = stablehlo.broadcast_in_dim %s, dims = [0] : (tensor<4xf32>) -> tensor<4x7xf32>
  %q = stablehlo.divide %e, %sb : tensor<4x7xf32>
  %d = stablehlo.subtract %y, %sb : tensor<4x7xf32>
  return %q, %d : tensor<4x7xf32>, tensor<4x7xf32>
}
dist.entry @a function(@sum_subtracted)

// -----

// CHECK-LABEL: func.func @logarithm_less_another(
// CHECK-NOT: dist.stop_gradient
// CHECK: return
func.func @logarithm_less_another(%x: tensor<4x7xf32> {dist.port = #dist.port<input "x">}, %y: tensor<4x7xf32> {dist.port = #dist.port<input "y">}) -> (tensor<4x7xf32> {dist.port = #dist.port<output "y0">}, tensor<4x7xf32> {dist.port = #dist.port<output "y1">}) {
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
  %d = stablehlo.subtract %lb, %y : tensor<4x7xf32>
  return %q, %d : tensor<4x7xf32>, tensor<4x7xf32>
}
dist.entry @a function(@logarithm_less_another)

// -----

// CHECK-LABEL: func.func @another_less_logarithm(
// CHECK-NOT: dist.stop_gradient
// CHECK: return
func.func @another_less_logarithm(%x: tensor<4x7xf32> {dist.port = #dist.port<input "x">}, %y: tensor<4x7xf32> {dist.port = #dist.port<input "y">}) -> (tensor<4x7xf32> {dist.port = #dist.port<output "y0">}, tensor<4x7xf32> {dist.port = #dist.port<output "y1">}) {
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
  %d = stablehlo.subtract %y, %lb : tensor<4x7xf32>
  return %q, %d : tensor<4x7xf32>, tensor<4x7xf32>
}
dist.entry @a function(@another_less_logarithm)

// -----

// CHECK-LABEL: func.func @sum_added(
// CHECK-NOT: dist.stop_gradient
// CHECK: return
func.func @sum_added(%x: tensor<4x7xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4x7xf32> {dist.port = #dist.port<output "y0">}, tensor<4x7xf32> {dist.port = #dist.port<output "y1">}) {
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %mx = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [1] : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
  %mb = stablehlo.broadcast_in_dim %mx, dims = [0] : (tensor<4xf32>) -> tensor<4x7xf32>
  %xs = stablehlo.subtract %x, %mb : tensor<4x7xf32>
  %e = stablehlo.exponential %xs : tensor<4x7xf32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
  %sb = stablehlo.broadcast_in_dim %s, dims = [0] : (tensor<4xf32>) -> tensor<4x7xf32>
  %q = stablehlo.divide %e, %sb : tensor<4x7xf32>
  %d = stablehlo.add %sb, %mb : tensor<4x7xf32>
  return %q, %d : tensor<4x7xf32>, tensor<4x7xf32>
}
dist.entry @a function(@sum_added)

// -----

// CHECK-LABEL: func.func @logarithm_of_logarithm(
// CHECK-NOT: dist.stop_gradient
// CHECK: return
func.func @logarithm_of_logarithm(%x: tensor<4x7xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4x7xf32> {dist.port = #dist.port<output "y0">}, tensor<4xf32> {dist.port = #dist.port<output "y1">}) {
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
  %d = stablehlo.log %ls : tensor<4xf32>
  return %q, %d : tensor<4x7xf32>, tensor<4xf32>
}
dist.entry @a function(@logarithm_of_logarithm)

// -----

// To the logarithm the shift itself is added, each row's to its own.
// CHECK-LABEL: func.func @another_added(
// CHECK-NOT: dist.stop_gradient
// CHECK: return
func.func @another_added(%x: tensor<4x7xf32> {dist.port = #dist.port<input "x">}, %y: tensor<4x7xf32> {dist.port = #dist.port<input "y">}) -> (tensor<4x7xf32> {dist.port = #dist.port<output "y0">}) {
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %mx = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [1] : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
  %mb = stablehlo.broadcast_in_dim %mx, dims = [0] : (tensor<4xf32>) -> tensor<4x7xf32>
  %xs = stablehlo.subtract %x, %mb : tensor<4x7xf32>
  %e = stablehlo.exponential %xs : tensor<4x7xf32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
  %ls = stablehlo.log %s : tensor<4xf32>
  %lb = stablehlo.broadcast_in_dim %ls, dims = [0] : (tensor<4xf32>) -> tensor<4x7xf32>
  %q = stablehlo.add %lb, %y : tensor<4x7xf32>
  return %q : tensor<4x7xf32>
}
dist.entry @a function(@another_added)

// -----

// CHECK-LABEL: func.func @added_crosswise(
// CHECK-NOT: dist.stop_gradient
// CHECK: return
func.func @added_crosswise(%x: tensor<4x4xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4x4xf32> {dist.port = #dist.port<output "y0">}) {
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %mx = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [1] : (tensor<4x4xf32>, tensor<f32>) -> tensor<4xf32>
  %mb = stablehlo.broadcast_in_dim %mx, dims = [0] : (tensor<4xf32>) -> tensor<4x4xf32>
  %xs = stablehlo.subtract %x, %mb : tensor<4x4xf32>
  %e = stablehlo.exponential %xs : tensor<4x4xf32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x4xf32>, tensor<f32>) -> tensor<4xf32>
  %ls = stablehlo.log %s : tensor<4xf32>
  %lb = stablehlo.broadcast_in_dim %ls, dims = [0] : (tensor<4xf32>) -> tensor<4x4xf32>
  %mc = stablehlo.broadcast_in_dim %mx, dims = [1] : (tensor<4xf32>) -> tensor<4x4xf32>
  %q = stablehlo.add %lb, %mc : tensor<4x4xf32>
  return %q : tensor<4x4xf32>
}
dist.entry @a function(@added_crosswise)

// -----

// CHECK-LABEL: func.func @added_to_all(
// CHECK-NOT: dist.stop_gradient
// CHECK: return
func.func @added_to_all(%x: tensor<4x7xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4x7xf32> {dist.port = #dist.port<output "y0">}) {
  %low = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %mx = stablehlo.reduce(%x init: %low) applies stablehlo.maximum across dimensions = [1] : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
  %mb = stablehlo.broadcast_in_dim %mx, dims = [0] : (tensor<4xf32>) -> tensor<4x7xf32>
  %xs = stablehlo.subtract %x, %mb : tensor<4x7xf32>
  %e = stablehlo.exponential %xs : tensor<4x7xf32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1] : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
  %ls = stablehlo.log %s : tensor<4xf32>
  %lb = stablehlo.broadcast_in_dim %ls, dims = [0] : (tensor<4xf32>) -> tensor<4x7xf32>
  %q = stablehlo.add %lb, %mb : tensor<4x7xf32>
  return %q : tensor<4x7xf32>
}
dist.entry @a function(@added_to_all)
