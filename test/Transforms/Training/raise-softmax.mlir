// RUN: llmc-opt %s --llmc-normalize --llmc-raise | FileCheck %s
// RUN: llmc-opt %s --llmc-normalize --llmc-raise=softmax=false | FileCheck %s --check-prefix=OFF
// RUN: llmc-opt %s --llmc-normalize --llmc-raise --remarks-filter=training --remark-format=emitRemark -o /dev/null 2>&1 | grep '] softmax |' | FileCheck %s --check-prefix=REMARK
// OFF-NOT: nn.
// REMARK-COUNT-2: "a softmax"
// REMARK-NEXT: "logarithm of a softmax"
// REMARK-NEXT: no softmax: what is subtracted is not the maximum
// REMARK-NEXT: no softmax: what is subtracted is not the maximum
// REMARK-NEXT: no softmax: the exponential or its operand has other uses
// REMARK-NEXT: no softmax: the exponential or its operand has other uses
// REMARK-NOT: softmax

// As an import of ONNX writes it.
// CHECK-LABEL: func.func @softmax
// CHECK-NEXT: %[[Y:.*]] = nn.softmax %arg0 {dim = 1 : i64} : (tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: return %[[Y]]
func.func @softmax(%x: tensor<4x8xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4x8xf32> {dist.port = #dist.port<output "y">}) {
  %mz = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %m = stablehlo.reduce(%x init: %mz) applies stablehlo.maximum across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  %mb = stablehlo.broadcast_in_dim %m, dims = [0] : (tensor<4xf32>) -> tensor<4x8xf32>
  %sh = stablehlo.subtract %x, %mb : tensor<4x8xf32>
  %e = stablehlo.exponential %sh : tensor<4x8xf32>
  %sz = stablehlo.constant dense<0.0> : tensor<f32>
  %s = stablehlo.reduce(%e init: %sz) applies stablehlo.add across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  %sb = stablehlo.broadcast_in_dim %s, dims = [0] : (tensor<4xf32>) -> tensor<4x8xf32>
  %y = stablehlo.divide %e, %sb : tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}
dist.entry @e23 function(@softmax)

// As JAX prints it, along another dimension.
// CHECK-LABEL: func.func @bounded
// CHECK-NEXT: %[[Y:.*]] = nn.softmax %arg0 {dim = 0 : i64} : (tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: return %[[Y]]
func.func @bounded(%x: tensor<4x8xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4x8xf32> {dist.port = #dist.port<output "y">}) {
  %mz = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %m = stablehlo.reduce(%x init: %mz) applies stablehlo.maximum across dimensions = [0] : (tensor<4x8xf32>, tensor<f32>) -> tensor<8xf32>
  %low = stablehlo.constant dense<0xFF800000> : tensor<8xf32>
  %mm = stablehlo.maximum %low, %m : tensor<8xf32>
  %mb = stablehlo.broadcast_in_dim %mm, dims = [1] : (tensor<8xf32>) -> tensor<4x8xf32>
  %sh = stablehlo.subtract %x, %mb : tensor<4x8xf32>
  %e = stablehlo.exponential %sh : tensor<4x8xf32>
  %sz = stablehlo.constant dense<0.0> : tensor<f32>
  %s = stablehlo.reduce(%e init: %sz) applies stablehlo.add across dimensions = [0] : (tensor<4x8xf32>, tensor<f32>) -> tensor<8xf32>
  %sb = stablehlo.broadcast_in_dim %s, dims = [1] : (tensor<8xf32>) -> tensor<4x8xf32>
  %y = stablehlo.divide %e, %sb : tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}
dist.entry @e24 function(@bounded)

// The logarithm.
// CHECK-LABEL: func.func @log_softmax
// CHECK-NEXT: %[[Y:.*]] = nn.log_softmax %arg0 {dim = 1 : i64} : (tensor<4x8xf32>) -> tensor<4x8xf32>
// CHECK-NEXT: return %[[Y]]
func.func @log_softmax(%x: tensor<4x8xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4x8xf32> {dist.port = #dist.port<output "y">}) {
  %mz = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %m = stablehlo.reduce(%x init: %mz) applies stablehlo.maximum across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  %low = stablehlo.constant dense<0xFF800000> : tensor<4xf32>
  %mm = stablehlo.maximum %low, %m : tensor<4xf32>
  %mb = stablehlo.broadcast_in_dim %mm, dims = [0] : (tensor<4xf32>) -> tensor<4x8xf32>
  %sh = stablehlo.subtract %x, %mb : tensor<4x8xf32>
  %e = stablehlo.exponential %sh : tensor<4x8xf32>
  %sz = stablehlo.constant dense<0.0> : tensor<f32>
  %s = stablehlo.reduce(%e init: %sz) applies stablehlo.add across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  %l = stablehlo.log %s : tensor<4xf32>
  %lb = stablehlo.broadcast_in_dim %l, dims = [0] : (tensor<4xf32>) -> tensor<4x8xf32>
  %y = stablehlo.subtract %sh, %lb : tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}
dist.entry @e25 function(@log_softmax)

// The maximum of another tensor: exponentials may overflow.
// CHECK-LABEL: func.func @other_shift
// CHECK-NOT: nn.
// CHECK: return
func.func @other_shift(%x: tensor<4x8xf32> {dist.port = #dist.port<input "x">}, %o: tensor<4x8xf32> {dist.port = #dist.port<input "o">}) -> (tensor<4x8xf32> {dist.port = #dist.port<output "y">}) {
  %mz = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %m = stablehlo.reduce(%o init: %mz) applies stablehlo.maximum across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  %mb = stablehlo.broadcast_in_dim %m, dims = [0] : (tensor<4xf32>) -> tensor<4x8xf32>
  %sh = stablehlo.subtract %x, %mb : tensor<4x8xf32>
  %e = stablehlo.exponential %sh : tensor<4x8xf32>
  %sz = stablehlo.constant dense<0.0> : tensor<f32>
  %s = stablehlo.reduce(%e init: %sz) applies stablehlo.add across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  %sb = stablehlo.broadcast_in_dim %s, dims = [0] : (tensor<4xf32>) -> tensor<4x8xf32>
  %y = stablehlo.divide %e, %sb : tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}
dist.entry @e26 function(@other_shift)

// No shift.
// CHECK-LABEL: func.func @no_shift
// CHECK-NOT: nn.
// CHECK: return
func.func @no_shift(%x: tensor<4x8xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4x8xf32> {dist.port = #dist.port<output "y">}) {
  %e = stablehlo.exponential %x : tensor<4x8xf32>
  %sz = stablehlo.constant dense<0.0> : tensor<f32>
  %s = stablehlo.reduce(%e init: %sz) applies stablehlo.add across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  %sb = stablehlo.broadcast_in_dim %s, dims = [0] : (tensor<4xf32>) -> tensor<4x8xf32>
  %y = stablehlo.divide %e, %sb : tensor<4x8xf32>
  return %y : tensor<4x8xf32>
}
dist.entry @e27 function(@no_shift)

// The exponential is read by something else.
// CHECK-LABEL: func.func @exponential_used
// CHECK-NOT: nn.
// CHECK: return
func.func @exponential_used(%x: tensor<4x8xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4x8xf32> {dist.port = #dist.port<output "y">}) {
  %mz = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %m = stablehlo.reduce(%x init: %mz) applies stablehlo.maximum across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  %mb = stablehlo.broadcast_in_dim %m, dims = [0] : (tensor<4xf32>) -> tensor<4x8xf32>
  %sh = stablehlo.subtract %x, %mb : tensor<4x8xf32>
  %e = stablehlo.exponential %sh : tensor<4x8xf32>
  %sz = stablehlo.constant dense<0.0> : tensor<f32>
  %s = stablehlo.reduce(%e init: %sz) applies stablehlo.add across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  %sb = stablehlo.broadcast_in_dim %s, dims = [0] : (tensor<4xf32>) -> tensor<4x8xf32>
  %y = stablehlo.divide %e, %sb : tensor<4x8xf32>
  %r = stablehlo.add %y, %e : tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}
dist.entry @e28 function(@exponential_used)

// The shifted operand is read by something else.
// CHECK-LABEL: func.func @shifted_used
// CHECK-NOT: nn.
// CHECK: return
func.func @shifted_used(%x: tensor<4x8xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4x8xf32> {dist.port = #dist.port<output "y">}) {
  %mz = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %m = stablehlo.reduce(%x init: %mz) applies stablehlo.maximum across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  %mb = stablehlo.broadcast_in_dim %m, dims = [0] : (tensor<4xf32>) -> tensor<4x8xf32>
  %sh = stablehlo.subtract %x, %mb : tensor<4x8xf32>
  %e = stablehlo.exponential %sh : tensor<4x8xf32>
  %sz = stablehlo.constant dense<0.0> : tensor<f32>
  %s = stablehlo.reduce(%e init: %sz) applies stablehlo.add across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  %sb = stablehlo.broadcast_in_dim %s, dims = [0] : (tensor<4xf32>) -> tensor<4x8xf32>
  %y = stablehlo.divide %e, %sb : tensor<4x8xf32>
  %r = stablehlo.add %y, %sh : tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}
dist.entry @e29 function(@shifted_used)

// The exponential of another tensor over the sum: nothing looks like a softmax.
// CHECK-LABEL: func.func @other_numerator
// CHECK-NOT: nn.
// CHECK: return
func.func @other_numerator(%x: tensor<4x8xf32> {dist.port = #dist.port<input "x">}, %o: tensor<4x8xf32> {dist.port = #dist.port<input "o">}) -> (tensor<4x8xf32> {dist.port = #dist.port<output "y">}) {
  %mz = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %m = stablehlo.reduce(%x init: %mz) applies stablehlo.maximum across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  %mb = stablehlo.broadcast_in_dim %m, dims = [0] : (tensor<4xf32>) -> tensor<4x8xf32>
  %sh = stablehlo.subtract %x, %mb : tensor<4x8xf32>
  %e = stablehlo.exponential %sh : tensor<4x8xf32>
  %sz = stablehlo.constant dense<0.0> : tensor<f32>
  %s = stablehlo.reduce(%e init: %sz) applies stablehlo.add across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
  %sb = stablehlo.broadcast_in_dim %s, dims = [0] : (tensor<4xf32>) -> tensor<4x8xf32>
  %y = stablehlo.divide %e, %sb : tensor<4x8xf32>
  %oe = stablehlo.exponential %o : tensor<4x8xf32>
  %r = stablehlo.divide %oe, %sb : tensor<4x8xf32>
  return %r : tensor<4x8xf32>
}
dist.entry @e30 function(@other_numerator)
