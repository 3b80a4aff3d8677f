// RUN: llmc-opt %s --llmc-find-blocks | FileCheck %s

dist.state @e : tensor<4x4xf32> {role = parameter, source = #dist.draw<normal, 0.02>}
dist.state @w0 : tensor<4x4xf32> {role = parameter, source = #dist.draw<normal, 0.02>}
dist.state @w1 : tensor<4x4xf32> {role = parameter, source = #dist.draw<normal, 0.02>}
dist.state @w2 : tensor<4x4xf32> {role = parameter, source = #dist.draw<normal, 0.02>}

// Prologue, three layers, epilogue. The hoisted transposes belong to the layer
// that uses them, the shared scale to the first one.
// CHECK-LABEL: func.func @layers
func.func @layers(%x: tensor<2x4xf32> {dist.port = #dist.port<input "x">},
                  %e: tensor<4x4xf32> {dist.port = #dist.port<parameter @e>}, %w0: tensor<4x4xf32> {dist.port = #dist.port<parameter @w0>},
                  %w1: tensor<4x4xf32> {dist.port = #dist.port<parameter @w1>}, %w2: tensor<4x4xf32> {dist.port = #dist.port<parameter @w2>}) -> (tensor<2x4xf32> {dist.port = #dist.port<output "y">}) {
  // CHECK: stablehlo.constant {dist.block = 1 : i64}
  %scale = stablehlo.constant dense<0.5> : tensor<2x4xf32>
  // CHECK: stablehlo.transpose {{.*}} {dist.block = 1 : i64}
  %t0 = stablehlo.transpose %w0, dims = [1, 0] : (tensor<4x4xf32>) -> tensor<4x4xf32>
  // CHECK: stablehlo.transpose {{.*}} {dist.block = 2 : i64}
  %t1 = stablehlo.transpose %w1, dims = [1, 0] : (tensor<4x4xf32>) -> tensor<4x4xf32>
  // CHECK: stablehlo.transpose {{.*}} {dist.block = 3 : i64}
  %t2 = stablehlo.transpose %w2, dims = [1, 0] : (tensor<4x4xf32>) -> tensor<4x4xf32>
  // CHECK: stablehlo.dot_general {{.*}} {dist.block = 0 : i64}
  %x0 = stablehlo.dot_general %x, %e, contracting_dims = [1] x [0] : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  // CHECK: stablehlo.dot_general {{.*}} {dist.block = 1 : i64}
  // CHECK-NEXT: stablehlo.tanh {{.*}} {dist.block = 1 : i64}
  // CHECK-NEXT: stablehlo.multiply {{.*}} {dist.block = 1 : i64}
  // CHECK-NEXT: stablehlo.add {{.*}} {dist.block = 1 : i64}
  %a0 = stablehlo.dot_general %x0, %t0, contracting_dims = [1] x [0] : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %b0 = stablehlo.tanh %a0 : tensor<2x4xf32>
  %c0 = stablehlo.multiply %b0, %scale : tensor<2x4xf32>
  %x1 = stablehlo.add %x0, %c0 : tensor<2x4xf32>
  // CHECK-NEXT: stablehlo.dot_general {{.*}} {dist.block = 2 : i64}
  %a1 = stablehlo.dot_general %x1, %t1, contracting_dims = [1] x [0] : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %b1 = stablehlo.tanh %a1 : tensor<2x4xf32>
  %c1 = stablehlo.multiply %b1, %scale : tensor<2x4xf32>
  %x2 = stablehlo.add %x1, %c1 : tensor<2x4xf32>
  // CHECK: stablehlo.add {{.*}} {dist.block = 2 : i64}
  // CHECK-NEXT: stablehlo.dot_general {{.*}} {dist.block = 3 : i64}
  %a2 = stablehlo.dot_general %x2, %t2, contracting_dims = [1] x [0] : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %b2 = stablehlo.tanh %a2 : tensor<2x4xf32>
  %c2 = stablehlo.multiply %b2, %scale : tensor<2x4xf32>
  %x3 = stablehlo.add %x2, %c2 : tensor<2x4xf32>
  // CHECK: stablehlo.exponential {{.*}} {dist.block = 4 : i64}
  %r = stablehlo.exponential %x3 : tensor<2x4xf32>
  return %r : tensor<2x4xf32>
}
dist.entry @a function(@layers)

// The bodies of reductions are part of what an op is: a sum and a maximum do
// not repeat.
// CHECK-LABEL: func.func @regions
func.func @regions(%x: tensor<4x4xf32> {dist.port = #dist.port<input "x">},
                   %e: tensor<4x4xf32> {dist.port = #dist.port<parameter @e>}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}) {
  // CHECK-NOT: dist.block = 1
  // CHECK: return
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %a = stablehlo.add %x, %e : tensor<4x4xf32>
  %s = stablehlo.reduce(%a init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<4x4xf32>, tensor<f32>) -> tensor<4xf32>
  %b = stablehlo.broadcast_in_dim %s, dims = [0] : (tensor<4xf32>) -> tensor<4x4xf32>
  %c = stablehlo.add %b, %e : tensor<4x4xf32>
  %m = stablehlo.reduce(%c init: %zero) applies stablehlo.maximum across dimensions = [0] : (tensor<4x4xf32>, tensor<f32>) -> tensor<4xf32>
  %d = stablehlo.broadcast_in_dim %m, dims = [0] : (tensor<4xf32>) -> tensor<4x4xf32>
  %r = stablehlo.reduce(%d init: %zero) applies stablehlo.minimum across dimensions = [0] : (tensor<4x4xf32>, tensor<f32>) -> tensor<4xf32>
  return %r : tensor<4xf32>
}
dist.entry @b function(@regions)

// Layers may read different rows of a stack of parameters.
dist.state @stack : tensor<2x4x4xf32> {role = parameter, source = #dist.draw<normal, 0.02>}
// CHECK-LABEL: func.func @stacked
func.func @stacked(%x: tensor<2x4xf32> {dist.port = #dist.port<input "x">},
                   %e: tensor<4x4xf32> {dist.port = #dist.port<parameter @e>},
                   %w: tensor<2x4x4xf32> {dist.port = #dist.port<parameter @stack>}) -> (tensor<2x4xf32> {dist.port = #dist.port<output "y">}) {
  // CHECK: stablehlo.dot_general {{.*}} {dist.block = 0 : i64}
  %x0 = stablehlo.dot_general %x, %e, contracting_dims = [1] x [0] : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  // CHECK: stablehlo.slice {{.*}} {dist.block = 1 : i64}
  %s0 = stablehlo.slice %w [0:1, 0:4, 0:4] : (tensor<2x4x4xf32>) -> tensor<1x4x4xf32>
  %w0 = stablehlo.reshape %s0 : (tensor<1x4x4xf32>) -> tensor<4x4xf32>
  // CHECK: stablehlo.dot_general {{.*}} {dist.block = 1 : i64}
  // CHECK: stablehlo.tanh {{.*}} {dist.block = 1 : i64}
  %a0 = stablehlo.dot_general %x0, %w0, contracting_dims = [1] x [0] : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %x1 = stablehlo.tanh %a0 : tensor<2x4xf32>
  // CHECK: stablehlo.slice {{.*}} {dist.block = 2 : i64}
  %s1 = stablehlo.slice %w [1:2, 0:4, 0:4] : (tensor<2x4x4xf32>) -> tensor<1x4x4xf32>
  %w1 = stablehlo.reshape %s1 : (tensor<1x4x4xf32>) -> tensor<4x4xf32>
  // CHECK: stablehlo.dot_general {{.*}} {dist.block = 2 : i64}
  // CHECK: stablehlo.tanh {{.*}} {dist.block = 2 : i64}
  %a1 = stablehlo.dot_general %x1, %w1, contracting_dims = [1] x [0] : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %x2 = stablehlo.tanh %a1 : tensor<2x4xf32>
  return %x2 : tensor<2x4xf32>
}
dist.entry @c function(@stacked)

// Rows of an input are told apart: times are no layers.
// CHECK-LABEL: func.func @times
func.func @times(%x: tensor<2x2x4xf32> {dist.port = #dist.port<input "x">},
                 %w: tensor<4x4xf32> {dist.port = #dist.port<parameter @e>}) -> (tensor<2x4xf32> {dist.port = #dist.port<output "y">}) {
  // CHECK-NOT: dist.block = 1
  // CHECK: return
  %s0 = stablehlo.slice %x [0:1, 0:2, 0:4] : (tensor<2x2x4xf32>) -> tensor<1x2x4xf32>
  %u0 = stablehlo.reshape %s0 : (tensor<1x2x4xf32>) -> tensor<2x4xf32>
  %s1 = stablehlo.slice %x [1:2, 0:2, 0:4] : (tensor<2x2x4xf32>) -> tensor<1x2x4xf32>
  %u1 = stablehlo.reshape %s1 : (tensor<1x2x4xf32>) -> tensor<2x4xf32>
  %h0 = stablehlo.dot_general %u0, %w, contracting_dims = [1] x [0] : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %a0 = stablehlo.add %h0, %u0 : tensor<2x4xf32>
  %h1 = stablehlo.dot_general %a0, %w, contracting_dims = [1] x [0] : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %a1 = stablehlo.add %h1, %u1 : tensor<2x4xf32>
  %h2 = stablehlo.dot_general %a1, %w, contracting_dims = [1] x [0] : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  return %h2 : tensor<2x4xf32>
}
dist.entry @d function(@times)

// Two layers, of which the first takes the input as it is: what it computes of
// that alone is a part of it.
// CHECK-LABEL: func.func @of_inputs
func.func @of_inputs(%x: tensor<2x4xf32> {dist.port = #dist.port<input "x">},
                     %w0: tensor<4x4xf32> {dist.port = #dist.port<parameter @w0>}, %w1: tensor<4x4xf32> {dist.port = #dist.port<parameter @w1>}) -> (tensor<2x4xf32> {dist.port = #dist.port<output "y">}) {
  // CHECK-NEXT: stablehlo.exponential {{.*}} {dist.block = 1 : i64}
  // CHECK-NEXT: stablehlo.dot_general {{.*}} {dist.block = 1 : i64}
  // CHECK-NEXT: stablehlo.exponential {{.*}} {dist.block = 2 : i64}
  // CHECK-NEXT: stablehlo.dot_general {{.*}} {dist.block = 2 : i64}
  // CHECK-NEXT: stablehlo.negate {{.*}} {dist.block = 3 : i64}
  %a0 = stablehlo.exponential %x : tensor<2x4xf32>
  %b0 = stablehlo.dot_general %a0, %w0, contracting_dims = [1] x [0] : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %a1 = stablehlo.exponential %b0 : tensor<2x4xf32>
  %b1 = stablehlo.dot_general %a1, %w1, contracting_dims = [1] x [0] : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %y = stablehlo.negate %b1 : tensor<2x4xf32>
  return %y : tensor<2x4xf32>
}
dist.entry @of_inputs_entry function(@of_inputs)
