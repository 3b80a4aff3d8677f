// RUN: llmc-opt %s --split-input-file --llmc-localize | FileCheck %s

// Encodings are gone, and each state has a buffer that says which box it holds.
#whole = #dist.layout<@mesh, [{}]>
dist.mesh @mesh = <"data"=1>
// CHECK: #[[WHOLE:.*]] = #dist.layout<@mesh, [{}]>
// CHECK: dist.state @w
// CHECK-NEXT: dist.buffer @w.local of @w : tensor<4xf32> holds [#dist.box<@w, #[[WHOLE]], [0]>]
dist.state @w : tensor<4xf32> {role = parameter, source = #dist.draw<ones>}
// CHECK: func.func @f(%{{.*}}: tensor<4xf32> {dist.port = #dist.port<input "x">}, %{{.*}}: tensor<4xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">})
func.func @f(%x: tensor<4xf32, #whole> {dist.port = #dist.port<input "x">}, %w: tensor<4xf32, #whole> {dist.port = #dist.port<parameter @w>}) -> (tensor<4xf32, #whole> {dist.port = #dist.port<output "y">}) {
  // CHECK: stablehlo.constant dense<2.000000e+00> : tensor<4xf32>
  %two = stablehlo.constant dense<2.0> : tensor<4xf32, #whole>
  // CHECK: stablehlo.multiply %{{.*}}, %{{.*}} : tensor<4xf32>
  %0 = stablehlo.multiply %x, %two : tensor<4xf32, #whole>
  %1 = stablehlo.add %0, %w : tensor<4xf32, #whole>
  return %1 : tensor<4xf32, #whole>
}
dist.entry @forward function(@f) chunks([0])

// -----

// A program of two entries is made local once.
#split = #dist.layout<@mesh, [{"x"}]>
dist.mesh @mesh = <"x"=4>
// CHECK-LABEL: func.func @twice(
// CHECK-SAME: %[[X:[a-z0-9]+]]: tensor<2xf32>
func.func @twice(%x: tensor<8xf32, #split> {dist.port = #dist.port<input "x">}) -> (tensor<8xf32, #split> {dist.port = #dist.port<output "y">}) {
  // CHECK-NEXT: %[[Y:.*]] = stablehlo.tanh %[[X]] : tensor<2xf32>
  // CHECK-NEXT: return %[[Y]] : tensor<2xf32>
  %0 = stablehlo.tanh %x : tensor<8xf32, #split>
  return %0 : tensor<8xf32, #split>
}
dist.entry @a function(@twice) chunks([0])
dist.entry @b function(@twice) chunks([0])
