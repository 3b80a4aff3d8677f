// RUN: llmc-opt %s --split-input-file --verify-diagnostics --llmc-place-reductions | FileCheck %s

// Nothing is partial where whole dimensions are reduced.
#whole = #dist.layout<@mesh, [{}]>
#scalar = #dist.layout<@mesh, []>
dist.mesh @mesh = <"data"=2>
// CHECK-LABEL: func.func @whole
func.func @whole(%x: tensor<4xf32> {dist.layout = #whole, dist.input = "x", dist.role = "input"}) -> (tensor<f32> {dist.layout = #scalar, dist.name = "y"}) {
  %zero = stablehlo.constant {dist.layouts = [#scalar]} dense<0.0> : tensor<f32>
  // CHECK: stablehlo.reduce
  %1 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] {dist.layouts = [#scalar]} : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  return %1 : tensor<f32>
}
dist.entry @forward function(@whole) chunks([0])

// -----

#split = #dist.layout<@mesh, [{"data"}]>
#scalar = #dist.layout<@mesh, []>
dist.mesh @mesh = <"data"=2>
func.func @split(%x: tensor<4xf32> {dist.layout = #split, dist.input = "x", dist.role = "input"}) -> (tensor<f32> {dist.layout = #scalar, dist.name = "y"}) {
  %zero = stablehlo.constant {dist.layouts = [#scalar]} dense<0.0> : tensor<f32>
  // expected-error@+1 {{expected dim 0 of operand #0 to be whole: it is reduced, and the result would be partial, which is not supported yet}}
  %1 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] {dist.layouts = [#scalar]} : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  return %1 : tensor<f32>
}
dist.entry @forward function(@split) chunks([0])
