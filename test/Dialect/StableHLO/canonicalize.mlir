// RUN: llmc-opt %s --canonicalize | FileCheck %s

// Ops whose result is their operand go away.
// CHECK-LABEL: @identities
// CHECK-NEXT: return %arg0, %arg0, %arg0, %arg0, %arg0, %arg0, %arg0, %arg0, %arg0
func.func @identities(%x: tensor<4x8xf32>, %p: tensor<4x8xi1>, %s: tensor<f32>) -> (tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>) {
  %0 = stablehlo.convert %x : tensor<4x8xf32>
  %1 = stablehlo.reshape %x : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %2 = stablehlo.transpose %x, dims = [0, 1] : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %3 = stablehlo.broadcast_in_dim %x, dims = [0, 1] : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %4 = stablehlo.slice %x [0:4, 0:8] : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %5 = stablehlo.pad %x, %s, low = [0, 0], high = [0, 0], interior = [0, 0] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32>
  %6 = stablehlo.concatenate %x, dim = 0 : (tensor<4x8xf32>) -> tensor<4x8xf32>
  %7 = stablehlo.reverse %x, dims = [] : tensor<4x8xf32>
  %8 = stablehlo.select %p, %x, %x : tensor<4x8xi1>, tensor<4x8xf32>
  return %0, %1, %2, %3, %4, %5, %6, %7, %8 : tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32>
}

// Ops of equal types that move elements stay.
// CHECK-LABEL: @moves
// CHECK-NEXT: stablehlo.transpose
// CHECK-NEXT: stablehlo.broadcast_in_dim
// CHECK-NEXT: stablehlo.pad
// CHECK-NEXT: stablehlo.reverse
func.func @moves(%x: tensor<4x4xf32>, %s: tensor<f32>) -> (tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>) {
  %0 = stablehlo.transpose %x, dims = [1, 0] : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %1 = stablehlo.broadcast_in_dim %x, dims = [1, 0] : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %2 = stablehlo.pad %x, %s, low = [1, 0], high = [-1, 0], interior = [0, 0] : (tensor<4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  %3 = stablehlo.reverse %x, dims = [0] : tensor<4x4xf32>
  return %0, %1, %2, %3 : tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
}

// CHECK-LABEL: @reshape_of_reshape
// CHECK-NEXT: %[[FLAT:.*]] = stablehlo.reshape %arg0 : (tensor<4x8xf32>) -> tensor<32xf32>
// CHECK-NEXT: return %[[FLAT]], %arg0
func.func @reshape_of_reshape(%x: tensor<4x8xf32>) -> (tensor<32xf32>, tensor<4x8xf32>) {
  %0 = stablehlo.reshape %x : (tensor<4x8xf32>) -> tensor<2x16xf32>
  %1 = stablehlo.reshape %0 : (tensor<2x16xf32>) -> tensor<32xf32>
  %2 = stablehlo.reshape %0 : (tensor<2x16xf32>) -> tensor<4x8xf32>
  return %1, %2 : tensor<32xf32>, tensor<4x8xf32>
}

// A three-cycle applied twice is its inverse; applied three times, nothing.
// CHECK-LABEL: @transpose_of_transpose
// CHECK-NEXT: %[[TWICE:.*]] = stablehlo.transpose %arg0, dims = [2, 0, 1] : (tensor<2x3x4xf32>) -> tensor<4x2x3xf32>
// CHECK-NEXT: return %[[TWICE]], %arg0
func.func @transpose_of_transpose(%x: tensor<2x3x4xf32>) -> (tensor<4x2x3xf32>, tensor<2x3x4xf32>) {
  %0 = stablehlo.transpose %x, dims = [1, 2, 0] : (tensor<2x3x4xf32>) -> tensor<3x4x2xf32>
  %1 = stablehlo.transpose %0, dims = [1, 2, 0] : (tensor<3x4x2xf32>) -> tensor<4x2x3xf32>
  %2 = stablehlo.transpose %1, dims = [1, 2, 0] : (tensor<4x2x3xf32>) -> tensor<2x3x4xf32>
  return %1, %2 : tensor<4x2x3xf32>, tensor<2x3x4xf32>
}

// A change of encoding is a change.
// CHECK-LABEL: @encodings
// CHECK-NEXT: stablehlo.convert
// CHECK-NEXT: stablehlo.reshape
// CHECK-NEXT: stablehlo.reshape
func.func @encodings(%x: tensor<4x8xf32, "a">) -> (tensor<4x8xf32>, tensor<4x8xf32, "a">) {
  %0 = stablehlo.convert %x : (tensor<4x8xf32, "a">) -> tensor<4x8xf32>
  %1 = stablehlo.reshape %x : (tensor<4x8xf32, "a">) -> tensor<32xf32, "b">
  %2 = stablehlo.reshape %1 : (tensor<32xf32, "b">) -> tensor<4x8xf32, "a">
  return %0, %2 : tensor<4x8xf32>, tensor<4x8xf32, "a">
}

// Equal constants become one, and stay constants of this dialect.
// CHECK-LABEL: @constants
// CHECK-NEXT: %[[ONE:.*]] = stablehlo.constant dense<1.000000e+00> : tensor<f32>
// CHECK-NEXT: return %[[ONE]], %[[ONE]]
func.func @constants() -> (tensor<f32>, tensor<f32>) {
  %0 = stablehlo.constant dense<1.0> : tensor<f32>
  %1 = stablehlo.constant dense<1.0> : tensor<f32>
  return %0, %1 : tensor<f32>, tensor<f32>
}

// Constants move to the right of commutative ops.
// CHECK-LABEL: @commutative
// CHECK: stablehlo.add %arg0, %cst
func.func @commutative(%x: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.constant dense<1.0> : tensor<f32>
  %1 = stablehlo.add %0, %x : tensor<f32>
  return %1 : tensor<f32>
}

// Unused ops go, with their bodies.
// CHECK-LABEL: @unused
// CHECK-NEXT: return
func.func @unused(%x: tensor<4xf32>) {
  %0 = stablehlo.constant dense<1.0> : tensor<f32>
  %1 = stablehlo.reduce(%x init: %0) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  return
}

// Views of views are one view, but not where a layout stands between: what a
// device has of it decides what it sees.
// CHECK-LABEL: @views
// CHECK-NEXT: stablehlo.reshape %arg0 : (tensor<4x8xf32>) -> tensor<2x16xf32>
// CHECK-NEXT: stablehlo.transpose %arg1, dims = [1, 2, 0]
// CHECK-NEXT: return
func.func @views(%x: tensor<4x8xf32>, %y: tensor<2x3x4xf32>) -> (tensor<2x16xf32>, tensor<3x4x2xf32>) {
  %0 = stablehlo.reshape %x : (tensor<4x8xf32>) -> tensor<32xf32>
  %1 = stablehlo.reshape %0 : (tensor<32xf32>) -> tensor<2x16xf32>
  %2 = stablehlo.transpose %y, dims = [2, 1, 0] : (tensor<2x3x4xf32>) -> tensor<4x3x2xf32>
  %3 = stablehlo.transpose %2, dims = [1, 0, 2] : (tensor<4x3x2xf32>) -> tensor<3x4x2xf32>
  return %1, %3 : tensor<2x16xf32>, tensor<3x4x2xf32>
}

#m = #dist.layout<@mesh, [{}, {}]>
#v = #dist.layout<@mesh, [{}]>
dist.mesh @mesh = <"d"=2>
// CHECK-LABEL: @laid_views
// CHECK-COUNT-2: stablehlo.reshape
// CHECK-COUNT-2: stablehlo.transpose
// CHECK-NEXT: return
func.func @laid_views(%x: tensor<4x8xf32, #m>) -> (tensor<2x16xf32, #m>, tensor<4x8xf32, #m>) {
  %0 = stablehlo.reshape %x : (tensor<4x8xf32, #m>) -> tensor<32xf32, #v>
  %1 = stablehlo.reshape %0 : (tensor<32xf32, #v>) -> tensor<2x16xf32, #m>
  %2 = stablehlo.transpose %x, dims = [1, 0] : (tensor<4x8xf32, #m>) -> tensor<8x4xf32, #m>
  %3 = stablehlo.transpose %2, dims = [1, 0] : (tensor<8x4xf32, #m>) -> tensor<4x8xf32, #m>
  return %1, %3 : tensor<2x16xf32, #m>, tensor<4x8xf32, #m>
}

// CHECK-LABEL: @one_is_laid
// CHECK-COUNT-6: stablehlo.reshape
// CHECK-COUNT-6: stablehlo.transpose
// CHECK-NEXT: return
func.func @one_is_laid(%a: tensor<4x8xf32, "a">, %x: tensor<4x8xf32>)
    -> (tensor<2x16xf32>, tensor<2x16xf32>, tensor<2x16xf32, "a">, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32, "b">) {
  %0 = stablehlo.reshape %a : (tensor<4x8xf32, "a">) -> tensor<32xf32>
  %1 = stablehlo.reshape %0 : (tensor<32xf32>) -> tensor<2x16xf32>
  %2 = stablehlo.reshape %x : (tensor<4x8xf32>) -> tensor<32xf32, "a">
  %3 = stablehlo.reshape %2 : (tensor<32xf32, "a">) -> tensor<2x16xf32>
  %4 = stablehlo.reshape %x : (tensor<4x8xf32>) -> tensor<32xf32>
  %5 = stablehlo.reshape %4 : (tensor<32xf32>) -> tensor<2x16xf32, "a">
  %6 = stablehlo.transpose %a, dims = [1, 0] : (tensor<4x8xf32, "a">) -> tensor<8x4xf32>
  %7 = stablehlo.transpose %6, dims = [1, 0] : (tensor<8x4xf32>) -> tensor<4x8xf32>
  %8 = stablehlo.transpose %x, dims = [1, 0] : (tensor<4x8xf32>) -> tensor<8x4xf32, "a">
  %9 = stablehlo.transpose %8, dims = [1, 0] : (tensor<8x4xf32, "a">) -> tensor<4x8xf32>
  %10 = stablehlo.transpose %x, dims = [1, 0] : (tensor<4x8xf32>) -> tensor<8x4xf32>
  %11 = stablehlo.transpose %10, dims = [1, 0] : (tensor<8x4xf32>) -> tensor<4x8xf32, "b">
  return %1, %3, %5, %7, %9, %11 : tensor<2x16xf32>, tensor<2x16xf32>, tensor<2x16xf32, "a">, tensor<4x8xf32>, tensor<4x8xf32>, tensor<4x8xf32, "b">
}

// What changes the layout alone stays.
// CHECK-LABEL: @relaid
// CHECK-NEXT: stablehlo.pad
// CHECK-NEXT: stablehlo.slice
// CHECK-NEXT: stablehlo.concatenate
// CHECK-NEXT: stablehlo.reverse
// CHECK-NEXT: stablehlo.transpose
// CHECK-NEXT: stablehlo.broadcast_in_dim
// CHECK-NEXT: stablehlo.reshape
// CHECK-NEXT: return
func.func @relaid(%x: tensor<4x8xf32>, %s: tensor<f32>) -> (tensor<4x8xf32, "a">, tensor<4x8xf32, "a">, tensor<4x8xf32, "a">, tensor<4x8xf32, "a">, tensor<4x8xf32, "a">, tensor<4x8xf32, "a">, tensor<4x8xf32, "a">) {
  %0 = stablehlo.pad %x, %s, low = [0, 0], high = [0, 0], interior = [0, 0] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4x8xf32, "a">
  %1 = stablehlo.slice %x [0:4, 0:8] : (tensor<4x8xf32>) -> tensor<4x8xf32, "a">
  %2 = stablehlo.concatenate %x, dim = 0 : (tensor<4x8xf32>) -> tensor<4x8xf32, "a">
  %3 = stablehlo.reverse %x, dims = [] : (tensor<4x8xf32>) -> tensor<4x8xf32, "a">
  %4 = stablehlo.transpose %x, dims = [0, 1] : (tensor<4x8xf32>) -> tensor<4x8xf32, "a">
  %5 = stablehlo.broadcast_in_dim %x, dims = [0, 1] : (tensor<4x8xf32>) -> tensor<4x8xf32, "a">
  %6 = stablehlo.reshape %x : (tensor<4x8xf32>) -> tensor<4x8xf32, "a">
  return %0, %1, %2, %3, %4, %5, %6 : tensor<4x8xf32, "a">, tensor<4x8xf32, "a">, tensor<4x8xf32, "a">, tensor<4x8xf32, "a">, tensor<4x8xf32, "a">, tensor<4x8xf32, "a">, tensor<4x8xf32, "a">
}

// One choice of two that lie elsewhere than the result.
// CHECK-LABEL: @relaid_choice
// CHECK-NEXT: %[[Y:.*]] = stablehlo.select %arg0, %arg1, %arg1 : (tensor<i1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32, "a">
// CHECK-NEXT: return %[[Y]]
func.func @relaid_choice(%p: tensor<i1>, %x: tensor<4xf32>) -> tensor<4xf32, "a"> {
  %0 = stablehlo.select %p, %x, %x : (tensor<i1>, tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32, "a">
  return %0 : tensor<4xf32, "a">
}
