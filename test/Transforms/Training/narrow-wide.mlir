// RUN: split-file %s %t
// RUN: llmc compile %t/model.mlir --config %t/model.toml --compile-to=training -o - | FileCheck %t/model.mlir

//--- model.toml
[mesh]
axes = ["data"]
[data.x]
kind = "array"
file = "x.npy"
[[init]]
match = "*"
draw = "ones"
[training]
precision = "bf16"
[optimizer]
name = "sgd"
lr = 0.1

//--- model.mlir
// Products that are parts of a Fourier transform, and those of the derivatives of
// factors and triangular equations, say how they multiply: a policy leaves them
// wide. The product of the text is narrowed, forward and backward.

// CHECK-LABEL: func.func private @train.microbatch
// CHECK: stablehlo.dot_general {{.*}} : (tensor<6x5xbf16>, tensor<5x5xbf16>) -> tensor<6x5xf32>
// CHECK: stablehlo.dot_general {{.*}}algorithm{{.*}} : (tensor<6x5xf32>, tensor<5x3xf32>) -> tensor<6x3xf32>
// CHECK-COUNT-5: stablehlo.dot_general {{.*}}algorithm{{.*}} : (tensor<5x5xf32>, tensor<5x5xf32>) -> tensor<5x5xf32>
// CHECK: stablehlo.dot_general {{.*}}algorithm{{.*}} : (tensor<6x3xf32>, tensor<5x3xf32>) -> tensor<6x5xf32>
// CHECK: stablehlo.dot_general {{.*}} : (tensor<6x5xbf16>, tensor<6x5xbf16>) -> tensor<5x5xf32>
// CHECK-NOT: stablehlo.dot_general
// CHECK: func.func private @train.update

func.func @main(%x: tensor<6x5xf32> loc("x"), %w: tensor<5x5xf32> loc("w")) -> tensor<f32> {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %count = stablehlo.constant dense<30.0> : tensor<f32>
  %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<6x5xf32>, tensor<5x5xf32>) -> tensor<6x5xf32>
  %s = stablehlo.fft %y, type = RFFT, length = [5] : (tensor<6x5xf32>) -> tensor<6x3xcomplex<f32>>
  %r = stablehlo.real %s : (tensor<6x3xcomplex<f32>>) -> tensor<6x3xf32>
  %rr = stablehlo.multiply %r, %r : tensor<6x3xf32>
  %a = stablehlo.reduce(%rr init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<6x3xf32>, tensor<f32>) -> tensor<f32>
  %mean = stablehlo.divide %a, %count : tensor<f32>
  %l = stablehlo.cholesky %w, lower = true : tensor<5x5xf32>
  %u, %pivots, %permutation = stablehlo.lu %w : (tensor<5x5xf32>) -> (tensor<5x5xf32>, tensor<5xi32>, tensor<5xi32>)
  %v = "stablehlo.triangular_solve"(%l, %u) <{left_side = true, lower = true, unit_diagonal = false, transpose_a = #stablehlo<transpose NO_TRANSPOSE>}> : (tensor<5x5xf32>, tensor<5x5xf32>) -> tensor<5x5xf32>
  %b = stablehlo.reduce(%v init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<5x5xf32>, tensor<f32>) -> tensor<f32>
  %loss = stablehlo.add %mean, %b : tensor<f32>
  return %loss : tensor<f32>
}
