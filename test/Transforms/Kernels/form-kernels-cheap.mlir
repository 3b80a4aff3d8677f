// RUN: llmc-opt %s --llmc-form-kernels | FileCheck %s

// What is cheap is computed again in each of two reductions that share no
// kernel: two launches. What is not is computed once and kept: three.

// At most 12 ops.
// CHECK-LABEL: func.func @twelve(
// CHECK-COUNT-2: dist.launch
// CHECK-NOT: dist.launch
func.func @twelve(%x: tensor<8x4x2xf32>) -> (tensor<4x2xf32>, tensor<8x2xf32>) {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.negate %x : tensor<8x4x2xf32>
  %1 = stablehlo.negate %0 : tensor<8x4x2xf32>
  %2 = stablehlo.negate %1 : tensor<8x4x2xf32>
  %3 = stablehlo.negate %2 : tensor<8x4x2xf32>
  %4 = stablehlo.negate %3 : tensor<8x4x2xf32>
  %5 = stablehlo.negate %4 : tensor<8x4x2xf32>
  %6 = stablehlo.negate %5 : tensor<8x4x2xf32>
  %7 = stablehlo.negate %6 : tensor<8x4x2xf32>
  %8 = stablehlo.negate %7 : tensor<8x4x2xf32>
  %9 = stablehlo.negate %8 : tensor<8x4x2xf32>
  %10 = stablehlo.negate %9 : tensor<8x4x2xf32>
  %11 = stablehlo.negate %10 : tensor<8x4x2xf32>
  %r0 = stablehlo.reduce(%11 init: %z) applies stablehlo.add across dimensions = [0] : (tensor<8x4x2xf32>, tensor<f32>) -> tensor<4x2xf32>
  %r1 = stablehlo.reduce(%11 init: %z) applies stablehlo.add across dimensions = [1] : (tensor<8x4x2xf32>, tensor<f32>) -> tensor<8x2xf32>
  return %r0, %r1 : tensor<4x2xf32>, tensor<8x2xf32>
}

// CHECK-LABEL: func.func @thirteen(
// CHECK-COUNT-3: dist.launch
// CHECK-NOT: dist.launch
func.func @thirteen(%x: tensor<8x4x2xf32>) -> (tensor<4x2xf32>, tensor<8x2xf32>) {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.negate %x : tensor<8x4x2xf32>
  %1 = stablehlo.negate %0 : tensor<8x4x2xf32>
  %2 = stablehlo.negate %1 : tensor<8x4x2xf32>
  %3 = stablehlo.negate %2 : tensor<8x4x2xf32>
  %4 = stablehlo.negate %3 : tensor<8x4x2xf32>
  %5 = stablehlo.negate %4 : tensor<8x4x2xf32>
  %6 = stablehlo.negate %5 : tensor<8x4x2xf32>
  %7 = stablehlo.negate %6 : tensor<8x4x2xf32>
  %8 = stablehlo.negate %7 : tensor<8x4x2xf32>
  %9 = stablehlo.negate %8 : tensor<8x4x2xf32>
  %10 = stablehlo.negate %9 : tensor<8x4x2xf32>
  %11 = stablehlo.negate %10 : tensor<8x4x2xf32>
  %12 = stablehlo.negate %11 : tensor<8x4x2xf32>
  %r0 = stablehlo.reduce(%12 init: %z) applies stablehlo.add across dimensions = [0] : (tensor<8x4x2xf32>, tensor<f32>) -> tensor<4x2xf32>
  %r1 = stablehlo.reduce(%12 init: %z) applies stablehlo.add across dimensions = [1] : (tensor<8x4x2xf32>, tensor<f32>) -> tensor<8x2xf32>
  return %r0, %r1 : tensor<4x2xf32>, tensor<8x2xf32>
}
// None of them transcendental.
// CHECK-LABEL: func.func @dear(
// CHECK-COUNT-3: dist.launch
// CHECK-NOT: dist.launch
func.func @dear(%x: tensor<8x4x2xf32>) -> (tensor<4x2xf32>, tensor<8x2xf32>) {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.tanh %x : tensor<8x4x2xf32>
  %r0 = stablehlo.reduce(%0 init: %z) applies stablehlo.add across dimensions = [0] : (tensor<8x4x2xf32>, tensor<f32>) -> tensor<4x2xf32>
  %r1 = stablehlo.reduce(%0 init: %z) applies stablehlo.add across dimensions = [1] : (tensor<8x4x2xf32>, tensor<f32>) -> tensor<8x2xf32>
  return %r0, %r1 : tensor<4x2xf32>, tensor<8x2xf32>
}
// Reads no more than it would write and an eighth: 64 and 8 elements.
// CHECK-LABEL: func.func @eighth(
// CHECK-COUNT-2: dist.launch
// CHECK-NOT: dist.launch
func.func @eighth(%x: tensor<8x4x2xf32>, %b: tensor<8xf32>) -> (tensor<4x2xf32>, tensor<8x2xf32>) {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.broadcast_in_dim %b, dims = [0] : (tensor<8xf32>) -> tensor<8x4x2xf32>
  %1 = stablehlo.multiply %x, %0 : tensor<8x4x2xf32>
  %r0 = stablehlo.reduce(%1 init: %z) applies stablehlo.add across dimensions = [0] : (tensor<8x4x2xf32>, tensor<f32>) -> tensor<4x2xf32>
  %r1 = stablehlo.reduce(%1 init: %z) applies stablehlo.add across dimensions = [1] : (tensor<8x4x2xf32>, tensor<f32>) -> tensor<8x2xf32>
  return %r0, %r1 : tensor<4x2xf32>, tensor<8x2xf32>
}

// CHECK-LABEL: func.func @more(
// CHECK-COUNT-3: dist.launch
// CHECK-NOT: dist.launch
func.func @more(%x: tensor<8x4x2xf32>, %b: tensor<8xf32>, %c: tensor<8xf32>) -> (tensor<4x2xf32>, tensor<8x2xf32>) {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.broadcast_in_dim %b, dims = [0] : (tensor<8xf32>) -> tensor<8x4x2xf32>
  %1 = stablehlo.multiply %x, %0 : tensor<8x4x2xf32>
  %2 = stablehlo.broadcast_in_dim %c, dims = [0] : (tensor<8xf32>) -> tensor<8x4x2xf32>
  %3 = stablehlo.add %1, %2 : tensor<8x4x2xf32>
  %r0 = stablehlo.reduce(%3 init: %z) applies stablehlo.add across dimensions = [0] : (tensor<8x4x2xf32>, tensor<f32>) -> tensor<4x2xf32>
  %r1 = stablehlo.reduce(%3 init: %z) applies stablehlo.add across dimensions = [1] : (tensor<8x4x2xf32>, tensor<f32>) -> tensor<8x2xf32>
  return %r0, %r1 : tensor<4x2xf32>, tensor<8x2xf32>
}
// What all rows read, tables and scalars, does not count.
// CHECK-LABEL: func.func @tables(
// CHECK-COUNT-2: dist.launch
// CHECK-NOT: dist.launch
func.func @tables(%x: tensor<8x4x2xf32>, %b: tensor<4x2xf32>, %c: tensor<4x2xf32>, %d: tensor<f32>) -> (tensor<4x2xf32>, tensor<8x2xf32>) {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.broadcast_in_dim %b, dims = [1, 2] : (tensor<4x2xf32>) -> tensor<8x4x2xf32>
  %1 = stablehlo.multiply %x, %0 : tensor<8x4x2xf32>
  %2 = stablehlo.broadcast_in_dim %c, dims = [1, 2] : (tensor<4x2xf32>) -> tensor<8x4x2xf32>
  %3 = stablehlo.add %1, %2 : tensor<8x4x2xf32>
  %4 = stablehlo.broadcast_in_dim %d, dims = [] : (tensor<f32>) -> tensor<8x4x2xf32>
  %5 = stablehlo.add %3, %4 : tensor<8x4x2xf32>
  %r0 = stablehlo.reduce(%5 init: %z) applies stablehlo.add across dimensions = [0] : (tensor<8x4x2xf32>, tensor<f32>) -> tensor<4x2xf32>
  %r1 = stablehlo.reduce(%5 init: %z) applies stablehlo.add across dimensions = [1] : (tensor<8x4x2xf32>, tensor<f32>) -> tensor<8x2xf32>
  return %r0, %r1 : tensor<4x2xf32>, tensor<8x2xf32>
}
// At most 8 values.
// CHECK-LABEL: func.func @of_8(
// CHECK-COUNT-2: dist.launch
// CHECK-NOT: dist.launch
func.func @of_8(%p0: tensor<8x4x1xf32>, %p1: tensor<8x4x1xf32>, %p2: tensor<8x4x1xf32>, %p3: tensor<8x4x1xf32>, %p4: tensor<8x4x1xf32>, %p5: tensor<8x4x1xf32>, %p6: tensor<8x4x1xf32>, %p7: tensor<8x4x1xf32>) -> (tensor<4x8xf32>, tensor<8x8xf32>) {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.concatenate %p0, %p1, %p2, %p3, %p4, %p5, %p6, %p7, dim = 2 : (tensor<8x4x1xf32>, tensor<8x4x1xf32>, tensor<8x4x1xf32>, tensor<8x4x1xf32>, tensor<8x4x1xf32>, tensor<8x4x1xf32>, tensor<8x4x1xf32>, tensor<8x4x1xf32>) -> tensor<8x4x8xf32>
  %r0 = stablehlo.reduce(%0 init: %z) applies stablehlo.add across dimensions = [0] : (tensor<8x4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %r1 = stablehlo.reduce(%0 init: %z) applies stablehlo.add across dimensions = [1] : (tensor<8x4x8xf32>, tensor<f32>) -> tensor<8x8xf32>
  return %r0, %r1 : tensor<4x8xf32>, tensor<8x8xf32>
}

// CHECK-LABEL: func.func @of_9(
// CHECK-COUNT-3: dist.launch
// CHECK-NOT: dist.launch
func.func @of_9(%p0: tensor<8x4x1xf32>, %p1: tensor<8x4x1xf32>, %p2: tensor<8x4x1xf32>, %p3: tensor<8x4x1xf32>, %p4: tensor<8x4x1xf32>, %p5: tensor<8x4x1xf32>, %p6: tensor<8x4x1xf32>, %p7: tensor<8x4x1xf32>, %p8: tensor<8x4x1xf32>) -> (tensor<4x9xf32>, tensor<8x9xf32>) {
  %z = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.concatenate %p0, %p1, %p2, %p3, %p4, %p5, %p6, %p7, %p8, dim = 2 : (tensor<8x4x1xf32>, tensor<8x4x1xf32>, tensor<8x4x1xf32>, tensor<8x4x1xf32>, tensor<8x4x1xf32>, tensor<8x4x1xf32>, tensor<8x4x1xf32>, tensor<8x4x1xf32>, tensor<8x4x1xf32>) -> tensor<8x4x9xf32>
  %r0 = stablehlo.reduce(%0 init: %z) applies stablehlo.add across dimensions = [0] : (tensor<8x4x9xf32>, tensor<f32>) -> tensor<4x9xf32>
  %r1 = stablehlo.reduce(%0 init: %z) applies stablehlo.add across dimensions = [1] : (tensor<8x4x9xf32>, tensor<f32>) -> tensor<8x9xf32>
  return %r0, %r1 : tensor<4x9xf32>, tensor<8x9xf32>
}
