// RUN: llmc-opt %s --split-input-file --verify-diagnostics --llmc-propagate-layouts | FileCheck %s

// On a mesh of one device every argument, result and op result is whole; the
// body of a reduction has no layouts.
// CHECK-DAG: #[[SCALAR:.*]] = #dist.layout<@mesh, []>
// CHECK-DAG: #[[VECTOR:.*]] = #dist.layout<@mesh, [{}]>
dist.mesh @mesh = <"pipe"=1, "data"=1> pipeline "pipe"
// CHECK: func.func @f(%{{.*}}: tensor<4xf32> {dist.input = "x", dist.layout = #[[VECTOR]], dist.role = "input"}) -> (tensor<f32> {dist.layout = #[[SCALAR]], dist.name = "y"})
func.func @f(%x: tensor<4xf32> {dist.role = "input", dist.input = "x"}) -> (tensor<f32> {dist.name = "y"}) {
  // CHECK: stablehlo.tanh %{{.*}} {dist.layouts = [#[[VECTOR]]]}
  %0 = stablehlo.tanh %x : tensor<4xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  // CHECK: stablehlo.reduce{{.*}} {dist.layouts = [#[[SCALAR]]]}
  %1 = stablehlo.reduce(%0 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  return %1 : tensor<f32>
}
dist.entry @forward function(@f)

// -----

// expected-error@+1 {{expected a mesh of one device, got 2: splitting a program over devices is not supported yet}}
dist.mesh @mesh = <"data"=2>
func.func @f(%x: tensor<4xf32> {dist.role = "input", dist.input = "x"}) -> (tensor<4xf32> {dist.name = "y"}) {
  return %x : tensor<4xf32>
}
dist.entry @forward function(@f)
