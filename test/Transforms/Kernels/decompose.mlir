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

// A long row is reduced in parts: of whole dims, where these are long enough, or
// of neighbours. What is made of them is a row again.
// CHECK-LABEL: func.func @long
func.func @long(%x: tensor<3x768x1024xf32>, %y: tensor<1048576xf32>) -> (tensor<3xf32>, tensor<f32>) {
  %0 = stablehlo.constant dense<0.0> : tensor<f32>
  %1 = stablehlo.constant dense<0xFF800000> : tensor<f32>
  // CHECK: %[[ROWS:.*]] = stablehlo.reduce(%arg0 init: %{{.*}}) applies stablehlo.add across dimensions = [2]{{.*}} -> tensor<3x768xf32>
  // CHECK: %[[SUM:.*]] = stablehlo.reduce(%[[ROWS]] init: %{{.*}}) applies stablehlo.add across dimensions = [1]
  %2 = stablehlo.reduce(%x init: %0) applies stablehlo.add across dimensions = [1, 2] : (tensor<3x768x1024xf32>, tensor<f32>) -> tensor<3xf32>
  // CHECK: %[[PARTS:.*]] = stablehlo.reshape %arg1 : (tensor<1048576xf32>) -> tensor<1024x1024xf32>
  // CHECK: %[[MOST:.*]] = stablehlo.reduce(%[[PARTS]] init: %{{.*}}) applies stablehlo.maximum across dimensions = [1]
  // CHECK: %[[ALL:.*]] = stablehlo.reduce(%[[MOST]] init: %{{.*}}) applies stablehlo.maximum across dimensions = [0]
  %3 = stablehlo.reduce(%y init: %1) applies stablehlo.maximum across dimensions = [0] : (tensor<1048576xf32>, tensor<f32>) -> tensor<f32>
  // CHECK: return %[[SUM]], %[[ALL]]
  return %2, %3 : tensor<3xf32>, tensor<f32>
}

// What element-wise ops make for it alone they make in the shape of the parts.
// CHECK-LABEL: func.func @squares
func.func @squares(%x: tensor<8x100000xf32>, %y: tensor<8x100000xf32>) -> tensor<f32> {
  %0 = stablehlo.constant dense<0.0> : tensor<f32>
  // CHECK: %[[X:.*]] = stablehlo.reshape %arg0 : (tensor<8x100000xf32>) -> tensor<800x1000xf32>
  // CHECK: %[[Y:.*]] = stablehlo.reshape %arg1 : (tensor<8x100000xf32>) -> tensor<800x1000xf32>
  // CHECK: %[[D:.*]] = stablehlo.subtract %[[X]], %[[Y]] : tensor<800x1000xf32>
  // CHECK: %[[S:.*]] = stablehlo.multiply %[[D]], %[[D]] : tensor<800x1000xf32>
  // CHECK: stablehlo.reduce(%[[S]] init: %{{.*}}) applies stablehlo.add across dimensions = [1]
  %1 = stablehlo.subtract %x, %y : tensor<8x100000xf32>
  %2 = stablehlo.multiply %1, %1 : tensor<8x100000xf32>
  %3 = stablehlo.reduce(%2 init: %0) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x100000xf32>, tensor<f32>) -> tensor<f32>
  return %3 : tensor<f32>
}

// What starts from a number, is no row, is short, or one of many, stays.
// CHECK-LABEL: func.func @stays
// CHECK-COUNT-4: stablehlo.reduce
// CHECK-NOT: stablehlo.reduce
func.func @stays(%x: tensor<768x1024xf32>, %y: tensor<65536xf32>, %z: tensor<17x131072xf32>) -> (tensor<f32>, tensor<1024xf32>, tensor<f32>, tensor<17xf32>) {
  %0 = stablehlo.constant dense<0.0> : tensor<f32>
  %1 = stablehlo.constant dense<1.0> : tensor<f32>
  %2 = stablehlo.reduce(%x init: %1) applies stablehlo.add across dimensions = [0, 1] : (tensor<768x1024xf32>, tensor<f32>) -> tensor<f32>
  %3 = stablehlo.reduce(%x init: %0) applies stablehlo.add across dimensions = [0] : (tensor<768x1024xf32>, tensor<f32>) -> tensor<1024xf32>
  %4 = stablehlo.reduce(%y init: %0) applies stablehlo.add across dimensions = [0] : (tensor<65536xf32>, tensor<f32>) -> tensor<f32>
  %5 = stablehlo.reduce(%z init: %0) applies stablehlo.add across dimensions = [1] : (tensor<17x131072xf32>, tensor<f32>) -> tensor<17xf32>
  return %2, %3, %4, %5 : tensor<f32>, tensor<1024xf32>, tensor<f32>, tensor<17xf32>
}
