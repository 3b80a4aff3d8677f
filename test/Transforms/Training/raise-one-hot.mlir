// RUN: llmc-opt %s --split-input-file --llmc-normalize --llmc-raise | FileCheck %s

// One-hot rows, by a product or a choice, whichever side counts.
// CHECK-LABEL: func.func @one_hot
// CHECK: nn.softmax_cross_entropy
// CHECK-NOT: stablehlo.exponential
// CHECK: return
func.func @one_hot(%x: tensor<4x7xf32> {dist.port = #dist.port<input "x">},
    %t: tensor<4xi32> {dist.port = #dist.port<input "t">}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}) {
  %e = stablehlo.exponential %x : tensor<4x7xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1]
      : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
  %l = stablehlo.log %s : tensor<4xf32>
  %b = stablehlo.broadcast_in_dim %l, dims = [0] : (tensor<4xf32>) -> tensor<4x7xf32>
  %p = stablehlo.subtract %x, %b : tensor<4x7xf32>
  %i = stablehlo.iota dim = 1 : tensor<4x7xi32>
  %tb = stablehlo.broadcast_in_dim %t, dims = [0] : (tensor<4xi32>) -> tensor<4x7xi32>
  %c = stablehlo.compare EQ, %tb, %i : (tensor<4x7xi32>, tensor<4x7xi32>) -> tensor<4x7xi1>
  %h = stablehlo.convert %c : (tensor<4x7xi1>) -> tensor<4x7xf32>
  %m = stablehlo.multiply %h, %p : tensor<4x7xf32>
  %r = stablehlo.reduce(%m init: %zero) applies stablehlo.add across dimensions = [1]
      : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
dist.entry @a function(@one_hot)

// -----

// CHECK-LABEL: func.func @one_hot_swapped
// CHECK: nn.softmax_cross_entropy
// CHECK-NOT: stablehlo.exponential
// CHECK: return
func.func @one_hot_swapped(%x: tensor<4x7xf32> {dist.port = #dist.port<input "x">},
    %t: tensor<4xi32> {dist.port = #dist.port<input "t">}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}) {
  %e = stablehlo.exponential %x : tensor<4x7xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1]
      : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
  %l = stablehlo.log %s : tensor<4xf32>
  %b = stablehlo.broadcast_in_dim %l, dims = [0] : (tensor<4xf32>) -> tensor<4x7xf32>
  %p = stablehlo.subtract %x, %b : tensor<4x7xf32>
  %i = stablehlo.iota dim = 1 : tensor<4x7xi32>
  %tb = stablehlo.broadcast_in_dim %t, dims = [0] : (tensor<4xi32>) -> tensor<4x7xi32>
  %c = stablehlo.compare EQ, %i, %tb : (tensor<4x7xi32>, tensor<4x7xi32>) -> tensor<4x7xi1>
  %h = stablehlo.convert %c : (tensor<4x7xi1>) -> tensor<4x7xf32>
  %m = stablehlo.multiply %h, %p : tensor<4x7xf32>
  %r = stablehlo.reduce(%m init: %zero) applies stablehlo.add across dimensions = [1]
      : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
dist.entry @a function(@one_hot_swapped)

// -----

// CHECK-LABEL: func.func @one_hot_select
// CHECK: nn.softmax_cross_entropy
// CHECK-NOT: stablehlo.exponential
// CHECK: return
func.func @one_hot_select(%x: tensor<4x7xf32> {dist.port = #dist.port<input "x">},
    %t: tensor<4xi32> {dist.port = #dist.port<input "t">}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}) {
  %e = stablehlo.exponential %x : tensor<4x7xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1]
      : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
  %l = stablehlo.log %s : tensor<4xf32>
  %b = stablehlo.broadcast_in_dim %l, dims = [0] : (tensor<4xf32>) -> tensor<4x7xf32>
  %p = stablehlo.subtract %x, %b : tensor<4x7xf32>
  %i = stablehlo.iota dim = 1 : tensor<4x7xi32>
  %tb = stablehlo.broadcast_in_dim %t, dims = [0] : (tensor<4xi32>) -> tensor<4x7xi32>
  %c = stablehlo.compare EQ, %tb, %i : (tensor<4x7xi32>, tensor<4x7xi32>) -> tensor<4x7xi1>
  %fill = stablehlo.constant dense<0.0> : tensor<4x7xf32>
  %m = stablehlo.select %c, %p, %fill : tensor<4x7xi1>, tensor<4x7xf32>
  %r = stablehlo.reduce(%m init: %zero) applies stablehlo.add across dimensions = [1]
      : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
dist.entry @a function(@one_hot_select)

// -----

// Not the sum of what one class has.
// CHECK-LABEL: func.func @all_but_one
// CHECK-NOT: nn.softmax_cross_entropy
// CHECK: return
func.func @all_but_one(%x: tensor<4x7xf32> {dist.port = #dist.port<input "x">},
    %t: tensor<4xi32> {dist.port = #dist.port<input "t">}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}) {
  %e = stablehlo.exponential %x : tensor<4x7xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1]
      : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
  %l = stablehlo.log %s : tensor<4xf32>
  %b = stablehlo.broadcast_in_dim %l, dims = [0] : (tensor<4xf32>) -> tensor<4x7xf32>
  %p = stablehlo.subtract %x, %b : tensor<4x7xf32>
  %i = stablehlo.iota dim = 1 : tensor<4x7xi32>
  %tb = stablehlo.broadcast_in_dim %t, dims = [0] : (tensor<4xi32>) -> tensor<4x7xi32>
  %c = stablehlo.compare NE, %tb, %i : (tensor<4x7xi32>, tensor<4x7xi32>) -> tensor<4x7xi1>
  %h = stablehlo.convert %c : (tensor<4x7xi1>) -> tensor<4x7xf32>
  %m = stablehlo.multiply %h, %p : tensor<4x7xf32>
  %r = stablehlo.reduce(%m init: %zero) applies stablehlo.add across dimensions = [1]
      : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
dist.entry @a function(@all_but_one)

// -----

// CHECK-LABEL: func.func @filled
// CHECK-NOT: nn.softmax_cross_entropy
// CHECK: return
func.func @filled(%x: tensor<4x7xf32> {dist.port = #dist.port<input "x">},
    %t: tensor<4xi32> {dist.port = #dist.port<input "t">}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}) {
  %e = stablehlo.exponential %x : tensor<4x7xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1]
      : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
  %l = stablehlo.log %s : tensor<4xf32>
  %b = stablehlo.broadcast_in_dim %l, dims = [0] : (tensor<4xf32>) -> tensor<4x7xf32>
  %p = stablehlo.subtract %x, %b : tensor<4x7xf32>
  %i = stablehlo.iota dim = 1 : tensor<4x7xi32>
  %tb = stablehlo.broadcast_in_dim %t, dims = [0] : (tensor<4xi32>) -> tensor<4x7xi32>
  %c = stablehlo.compare EQ, %tb, %i : (tensor<4x7xi32>, tensor<4x7xi32>) -> tensor<4x7xi1>
  %fill = stablehlo.constant dense<1.0> : tensor<4x7xf32>
  %m = stablehlo.select %c, %p, %fill : tensor<4x7xi1>, tensor<4x7xf32>
  %r = stablehlo.reduce(%m init: %zero) applies stablehlo.add across dimensions = [1]
      : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
dist.entry @a function(@filled)

// -----

// CHECK-LABEL: func.func @largest
// CHECK-NOT: nn.softmax_cross_entropy
// CHECK: return
func.func @largest(%x: tensor<4x7xf32> {dist.port = #dist.port<input "x">},
    %t: tensor<4xi32> {dist.port = #dist.port<input "t">}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}) {
  %e = stablehlo.exponential %x : tensor<4x7xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1]
      : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
  %l = stablehlo.log %s : tensor<4xf32>
  %b = stablehlo.broadcast_in_dim %l, dims = [0] : (tensor<4xf32>) -> tensor<4x7xf32>
  %p = stablehlo.subtract %x, %b : tensor<4x7xf32>
  %i = stablehlo.iota dim = 1 : tensor<4x7xi32>
  %tb = stablehlo.broadcast_in_dim %t, dims = [0] : (tensor<4xi32>) -> tensor<4x7xi32>
  %c = stablehlo.compare EQ, %tb, %i : (tensor<4x7xi32>, tensor<4x7xi32>) -> tensor<4x7xi1>
  %h = stablehlo.convert %c : (tensor<4x7xi1>) -> tensor<4x7xf32>
  %m = stablehlo.multiply %h, %p : tensor<4x7xf32>
  %init = stablehlo.constant dense<0xFF800000> : tensor<f32>
  %r = stablehlo.reduce(%m init: %init) applies stablehlo.maximum across dimensions = [1]
      : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
dist.entry @a function(@largest)

// -----

// CHECK-LABEL: func.func @counts_rows
// CHECK-NOT: nn.softmax_cross_entropy
// CHECK: return
func.func @counts_rows(%x: tensor<4x7xf32> {dist.port = #dist.port<input "x">},
    %t: tensor<4xi32> {dist.port = #dist.port<input "t">}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}) {
  %e = stablehlo.exponential %x : tensor<4x7xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1]
      : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
  %l = stablehlo.log %s : tensor<4xf32>
  %b = stablehlo.broadcast_in_dim %l, dims = [0] : (tensor<4xf32>) -> tensor<4x7xf32>
  %p = stablehlo.subtract %x, %b : tensor<4x7xf32>
  %i = stablehlo.iota dim = 0 : tensor<4x7xi32>
  %tb = stablehlo.broadcast_in_dim %t, dims = [0] : (tensor<4xi32>) -> tensor<4x7xi32>
  %c = stablehlo.compare EQ, %tb, %i : (tensor<4x7xi32>, tensor<4x7xi32>) -> tensor<4x7xi1>
  %h = stablehlo.convert %c : (tensor<4x7xi1>) -> tensor<4x7xf32>
  %m = stablehlo.multiply %h, %p : tensor<4x7xf32>
  %r = stablehlo.reduce(%m init: %zero) applies stablehlo.add across dimensions = [1]
      : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
dist.entry @a function(@counts_rows)

// -----

// CHECK-LABEL: func.func @no_iota
// CHECK-NOT: nn.softmax_cross_entropy
// CHECK: return
func.func @no_iota(%x: tensor<4x7xf32> {dist.port = #dist.port<input "x">},
    %t: tensor<4xi32> {dist.port = #dist.port<input "t">},
    %o: tensor<4x7xi32> {dist.port = #dist.port<input "o">}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}) {
  %e = stablehlo.exponential %x : tensor<4x7xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %s = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [1]
      : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
  %l = stablehlo.log %s : tensor<4xf32>
  %b = stablehlo.broadcast_in_dim %l, dims = [0] : (tensor<4xf32>) -> tensor<4x7xf32>
  %p = stablehlo.subtract %x, %b : tensor<4x7xf32>
  %i = stablehlo.iota dim = 1 : tensor<4x7xi32>
  %tb = stablehlo.broadcast_in_dim %t, dims = [0] : (tensor<4xi32>) -> tensor<4x7xi32>
  %c = stablehlo.compare EQ, %tb, %o : (tensor<4x7xi32>, tensor<4x7xi32>) -> tensor<4x7xi1>
  %h = stablehlo.convert %c : (tensor<4x7xi1>) -> tensor<4x7xf32>
  %m = stablehlo.multiply %h, %p : tensor<4x7xf32>
  %r = stablehlo.reduce(%m init: %zero) applies stablehlo.add across dimensions = [1]
      : (tensor<4x7xf32>, tensor<f32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
dist.entry @a function(@no_iota)
