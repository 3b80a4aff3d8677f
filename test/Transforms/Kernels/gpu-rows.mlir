// Rows of a loop of six trips begin at multiples of 28 and of 4 bytes: the
// plan's kernels ask for no more than that of memory of such a size, so the
// loader, by which the plan has to go, accepts them.
// REQUIRES: stand-ins
// RUN: split-file %s %t
// RUN: llmc compile %t/model.mlir --config %t/all.toml --target cuda:fibers -o %t/wide
// RUN: llmc inspect %t/wide | FileCheck %s
// RUN: llmc compile %t/model.mlir --config %t/all.toml --target cuda:fibers --set training.precision=fp8 --set training.fp8_scaling=delayed -o %t/narrow
// RUN: llmc inspect %t/narrow | FileCheck %s
// CHECK: loop

//--- all.toml
[data]
kind = "array"
[data.inputs]
x = 0
[optimizer]
name = "sgd"
[[init]]
match = "*"

//--- model.mlir
module @m {
  func.func public @main(%b: tensor<6x7xf32> loc("p['b']"), %w: tensor<6x7x7xf32> loc("p['w']"), %x: tensor<8x7xf32> loc("x")) -> (tensor<f32> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<0> : tensor<i32>
    %one = stablehlo.constant dense<1> : tensor<i32>
    %six = stablehlo.constant dense<6> : tensor<i32>
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %count = stablehlo.constant dense<56.0> : tensor<f32>
    %n, %y = stablehlo.while(%i = %c, %h = %x) : tensor<i32>, tensor<8x7xf32>
    cond {
      %0 = stablehlo.compare LT, %i, %six, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %0 : tensor<i1>
    } do {
      %0 = stablehlo.dynamic_slice %w, %i, %c, %c, sizes = [1, 7, 7] : (tensor<6x7x7xf32>, tensor<i32>, tensor<i32>, tensor<i32>) -> tensor<1x7x7xf32>
      %1 = stablehlo.reshape %0 : (tensor<1x7x7xf32>) -> tensor<7x7xf32>
      %2 = stablehlo.dynamic_slice %b, %i, %c, sizes = [1, 7] : (tensor<6x7xf32>, tensor<i32>, tensor<i32>) -> tensor<1x7xf32>
      %3 = stablehlo.dot_general %h, %1, contracting_dims = [1] x [0] : (tensor<8x7xf32>, tensor<7x7xf32>) -> tensor<8x7xf32>
      %4 = stablehlo.broadcast_in_dim %2, dims = [0, 1] : (tensor<1x7xf32>) -> tensor<8x7xf32>
      %5 = stablehlo.add %3, %4 : tensor<8x7xf32>
      %6 = stablehlo.tanh %5 : tensor<8x7xf32>
      %7 = stablehlo.add %i, %one : tensor<i32>
      stablehlo.return %7, %6 : tensor<i32>, tensor<8x7xf32>
    }
    %s = stablehlo.multiply %y, %y : tensor<8x7xf32>
    %sum = stablehlo.reduce(%s init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x7xf32>, tensor<f32>) -> tensor<f32>
    %mean = stablehlo.divide %sum, %count : tensor<f32>
    return %mean : tensor<f32>
  }
}
