// RUN: split-file %s %t
// RUN: not llmc compile --compile-to=training %t/open.mlir --config %t/open.toml -o - 2>&1 | FileCheck %s

// A derivative through a loop that only its condition ends is refused with the
// way from a parameter to the loss.
// CHECK: {{^}}llmc: error[unsupported]: {{.*}}open.mlir:{{.*}}: 'dist.leave' op expected a loop with a bound ('i < N & ...'), or none, between parameters and loss, got one that its condition alone ends: 'w' -> stablehlo.multiply -> the loop -> stablehlo.tanh -> stablehlo.reduce -> the loss{{$}}

//--- open.mlir
func.func public @main(%w: tensor<4xf32> loc("params['w']"), %x: tensor<4xf32> loc("x")) -> tensor<f32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %half = stablehlo.constant dense<0.5> : tensor<4xf32>
  %s = stablehlo.multiply %w, %x : tensor<4xf32>
  %0 = stablehlo.while(%y = %s) : tensor<4xf32>
  cond {
    %1 = stablehlo.reduce(%y init: %zero) applies stablehlo.maximum across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
    %2 = stablehlo.compare GT, %1, %zero, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %2 : tensor<i1>
  } do {
    %1 = stablehlo.subtract %y, %half : tensor<4xf32>
    stablehlo.return %1 : tensor<4xf32>
  }
  %t = stablehlo.tanh %0 : tensor<4xf32>
  %r = stablehlo.reduce(%t init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  return %r : tensor<f32>
}

//--- open.toml
[data.inputs]
x = 0
[[init]]
draw = "normal"
std = 0.1
[optimizer]
name = "sgd"
lr = 0.1
