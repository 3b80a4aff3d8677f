// RUN: llmc-opt %s --llmc-materialize | FileCheck %s

// Layouts move from attributes into types; constants carry them in their value,
// the body of a reduction keeps plain types.
#whole = #dist.layout<@mesh, [{}]>
#scalar = #dist.layout<@mesh, []>
dist.mesh @mesh = <"data"=1>
// CHECK-DAG: #[[SCALAR:.*]] = #dist.layout<@mesh, []>
// CHECK-DAG: #[[VECTOR:.*]] = #dist.layout<@mesh, [{}]>
// CHECK: func.func @f(%{{.*}}: tensor<4xf32, #[[VECTOR]]> {dist.input = "x", dist.role = "input"}) -> (tensor<f32, #[[SCALAR]]> {dist.name = "y"})
func.func @f(%x: tensor<4xf32> {dist.layout = #whole, dist.input = "x", dist.role = "input"}) -> (tensor<f32> {dist.layout = #scalar, dist.name = "y"}) {
  // CHECK-NEXT: stablehlo.constant dense<0.000000e+00> : tensor<f32, #[[SCALAR]]>
  %zero = stablehlo.constant {dist.layouts = [#scalar]} dense<0.0> : tensor<f32>
  // CHECK-NEXT: stablehlo.reduce(%{{.*}} init: %{{.*}}) across dimensions = [0] : (tensor<4xf32, #[[VECTOR]]>, tensor<f32, #[[SCALAR]]>) -> tensor<f32, #[[SCALAR]]>
  // CHECK-NEXT: reducer(%{{.*}}: tensor<f32>, %{{.*}}: tensor<f32>)
  %1 = stablehlo.reduce(%x init: %zero) across dimensions = [0] {dist.layouts = [#scalar]} : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
   reducer(%a: tensor<f32>, %b: tensor<f32>) {
    %2 = stablehlo.add %b, %a : tensor<f32>
    stablehlo.return %2 : tensor<f32>
  }
  // CHECK: return %{{.*}} : tensor<f32, #[[SCALAR]]>
  return %1 : tensor<f32>
}
dist.entry @forward function(@f) chunks([0])
