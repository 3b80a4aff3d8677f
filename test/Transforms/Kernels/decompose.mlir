// RUN: llmc-opt %s --llmc-decompose | FileCheck %s

// A structured op has no kernel of its own: it becomes the ops that compute it,
// here the shifted log-sum-exp of each row and the logit of its class.
// CHECK-LABEL: func.func @loss
// CHECK-SAME: %[[X:.*]]: tensor<4x7xf32>, %[[T:.*]]: tensor<4xi32>
func.func @loss(%x: tensor<4x7xf32>, %t: tensor<4xi32>) -> (tensor<4xf32>, tensor<4xf32>) {
  // CHECK: %[[MAX:.*]] = stablehlo.reduce(%[[X]] init: %{{.*}}) applies stablehlo.maximum across dimensions = [1]
  // CHECK: stablehlo.exponential
  // CHECK: stablehlo.reduce({{.*}}) applies stablehlo.add across dimensions = [1]
  // CHECK: stablehlo.log
  // CHECK-NOT: nn.
  %l, %lse = nn.softmax_cross_entropy %x, %t : (tensor<4x7xf32>, tensor<4xi32>) -> (tensor<4xf32>, tensor<4xf32>)
  return %l, %lse : tensor<4xf32>, tensor<4xf32>
}

// CHECK-LABEL: func.func @gradient
func.func @gradient(%x: tensor<4x7xf32>, %t: tensor<4xi32>, %lse: tensor<4xf32>, %g: tensor<4xf32>) -> tensor<4x7xf32> {
  // CHECK: stablehlo.exponential
  // CHECK-NOT: nn.
  %0 = nn.softmax_cross_entropy_grad %x, %t, %lse, %g : (tensor<4x7xf32>, tensor<4xi32>, tensor<4xf32>, tensor<4xf32>) -> tensor<4x7xf32>
  return %0 : tensor<4x7xf32>
}

// Other ops stay.
// CHECK-LABEL: func.func @other
// CHECK-NEXT: stablehlo.tanh
// CHECK-NEXT: return
func.func @other(%x: tensor<4xf32>) -> tensor<4xf32> {
  %0 = stablehlo.tanh %x : tensor<4xf32>
  return %0 : tensor<4xf32>
}
