// RUN: llmc compile %s --compile-to=import -o - --set data.inputs.x=0 | FileCheck %s

// A sum over batching dims of a contraction that nothing else reads contracts
// them; the dims that are left keep their order.
// CHECK: func.func public @loss(%[[X:.*]]: tensor<4x3x2x8xf32>
// CHECK: %[[A:.*]] = stablehlo.dot_general %[[X]], %[[X]], batching_dims = [1] x [1], contracting_dims = [0, 3] x [0, 3], precision = [HIGH, DEFAULT] : {{.*}} -> tensor<3x2x2xf32>
// CHECK-NEXT: %[[B:.*]] = stablehlo.dot_general %[[X]], %[[X]], batching_dims = [0] x [0], contracting_dims = [1, 3] x [1, 3] : {{.*}} -> tensor<4x2x2xf32>
// CHECK-NEXT: %[[C:.*]] = stablehlo.transpose %[[B]], dims = [1, 2, 0] : {{.*}} -> tensor<2x2x4xf32>
// A free dim is no contraction, and neither is a maximum, nor what is read twice
// or does not start from zero.
// CHECK: %[[D:.*]] = stablehlo.dot_general {{.*}} -> tensor<4x3x2x2xf32>
// CHECK: stablehlo.reduce(%[[D]] init: %{{.*}}) applies stablehlo.add across dimensions = [0, 2]
// CHECK: %[[E:.*]] = stablehlo.dot_general {{.*}} -> tensor<4x3x2x2xf32>
// CHECK: stablehlo.reduce(%[[E]] init: %{{.*}}) applies stablehlo.maximum
// CHECK: %[[F:.*]] = stablehlo.dot_general {{.*}} -> tensor<4x3x2x2xf32>
// CHECK: stablehlo.reduce(%[[F]] init: %{{.*}}) applies stablehlo.add
// CHECK: %[[G:.*]] = stablehlo.dot_general {{.*}} -> tensor<4x3x2x2xf32>
// CHECK: stablehlo.reduce(%[[G]] init: %{{.*}}) applies stablehlo.add
func.func public @main(%x: tensor<4x3x2x8xf32> loc("x")) -> (tensor<3x2x2xf32>, tensor<2x2x4xf32>, tensor<3x2xf32>, tensor<3x2x2xf32>, tensor<3x2x2xf32>, tensor<4x3x2x2xf32>, tensor<3x2x2xf32>) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %0 = stablehlo.dot_general %x, %x, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3], precision = [HIGH, DEFAULT] : (tensor<4x3x2x8xf32>, tensor<4x3x2x8xf32>) -> tensor<4x3x2x2xf32>
  %1 = stablehlo.reduce(%0 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<4x3x2x2xf32>, tensor<f32>) -> tensor<3x2x2xf32>
  %2 = stablehlo.dot_general %x, %x, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3] : (tensor<4x3x2x8xf32>, tensor<4x3x2x8xf32>) -> tensor<4x3x2x2xf32>
  %3 = stablehlo.transpose %2, dims = [2, 3, 1, 0] : (tensor<4x3x2x2xf32>) -> tensor<2x2x3x4xf32>
  %4 = stablehlo.reduce(%3 init: %zero) applies stablehlo.add across dimensions = [2] : (tensor<2x2x3x4xf32>, tensor<f32>) -> tensor<2x2x4xf32>
  %5 = stablehlo.dot_general %x, %x, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3] : (tensor<4x3x2x8xf32>, tensor<4x3x2x8xf32>) -> tensor<4x3x2x2xf32>
  %6 = stablehlo.reduce(%5 init: %zero) applies stablehlo.add across dimensions = [0, 2] : (tensor<4x3x2x2xf32>, tensor<f32>) -> tensor<3x2xf32>
  %7 = stablehlo.dot_general %x, %x, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3] : (tensor<4x3x2x8xf32>, tensor<4x3x2x8xf32>) -> tensor<4x3x2x2xf32>
  %8 = stablehlo.reduce(%7 init: %zero) applies stablehlo.maximum across dimensions = [0] : (tensor<4x3x2x2xf32>, tensor<f32>) -> tensor<3x2x2xf32>
  %9 = stablehlo.dot_general %x, %x, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3] : (tensor<4x3x2x8xf32>, tensor<4x3x2x8xf32>) -> tensor<4x3x2x2xf32>
  %10 = stablehlo.reduce(%9 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<4x3x2x2xf32>, tensor<f32>) -> tensor<3x2x2xf32>
  %11 = stablehlo.dot_general %x, %x, batching_dims = [0, 1] x [0, 1], contracting_dims = [3] x [3] : (tensor<4x3x2x8xf32>, tensor<4x3x2x8xf32>) -> tensor<4x3x2x2xf32>
  %12 = stablehlo.reduce(%11 init: %one) applies stablehlo.add across dimensions = [0] : (tensor<4x3x2x2xf32>, tensor<f32>) -> tensor<3x2x2xf32>
  return %1, %4, %6, %8, %10, %9, %12 : tensor<3x2x2xf32>, tensor<2x2x4xf32>, tensor<3x2xf32>, tensor<3x2x2xf32>, tensor<3x2x2xf32>, tensor<4x3x2x2xf32>, tensor<3x2x2xf32>
}
