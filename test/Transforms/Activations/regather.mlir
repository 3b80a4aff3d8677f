// What is gathered of a parameter for the forward is kept for the backward, or gathered again.
// RUN: split-file %s %t
// RUN: llmc compile %t/model.mlir --config %t/model.toml --mesh data=2 --compile-to=memory -o - | FileCheck %s --check-prefix=KEPT
// RUN: llmc compile %t/model.mlir --config %t/model.toml --mesh data=2 --set training.regather=true --compile-to=memory -o - | FileCheck %s --check-prefix=AGAIN
// What a step of several microbatches has made narrow before them is gathered again as a parameter is, also where its scale is.
// RUN: llmc compile %t/model.mlir --config %t/model.toml --mesh data=2 --set training.regather=true --set training.microbatches=2 --set training.precision='"bf16"' --compile-to=memory -o - | FileCheck %s --check-prefix=AGAIN
// RUN: llmc compile %t/model.mlir --config %t/model.toml --mesh data=2 --set training.regather=true --set training.microbatches=2 --set training.precision='"fp8"' --compile-to=memory -o - | FileCheck %s --check-prefix=AGAIN
// RUN: not llmc-opt %t/attribute.mlir 2>&1 | FileCheck %s --check-prefix=NUMBER
// KEPT-LABEL: func.func private @train.c0.F
// KEPT-COUNT-2: dist.all_gather
// KEPT-LABEL: func.func private @train.c0.B
// KEPT-NOT: dist.all_gather
// KEPT: dist.reduce_scatter

// The tanh is kept, and the backward does not read the first matrix.
// AGAIN-LABEL: func.func private @train.c0.F
// AGAIN-COUNT-2: dist.all_gather
// AGAIN-NOT: dist.all_gather
// AGAIN-LABEL: func.func private @train.c0.B
// AGAIN-NOT: dist.fence
// AGAIN: dist.all_gather
// AGAIN-NOT: dist.all_gather
// AGAIN-NOT: stablehlo.tanh
// AGAIN: dist.reduce_scatter
// NUMBER: error: expected a number of blocks for 'every' alone, got 2 for 'none'

//--- model.toml
[data]
kind = "array"
file = "x.npy"
inputs.x = 0
[[init]]
[[layout]]
input = "*"
dims = [["data"]]
[[layout]]
match = "*"
rest = [["data"]]
use = []
gradient = [["data"]]

//--- model.mlir
module @m {
  func.func public @main(%v: tensor<4x8xf32> loc("p['v']"), %w: tensor<8x6xf32> loc("p['w']"), %x: tensor<2x4xf32> loc("x")) -> (tensor<f32> {jax.result_info = "result"}) {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %count = stablehlo.constant dense<2.0> : tensor<f32>
    %0 = stablehlo.dot_general %x, %v, contracting_dims = [1] x [0] : (tensor<2x4xf32>, tensor<4x8xf32>) -> tensor<2x8xf32>
    %1 = stablehlo.tanh %0 : tensor<2x8xf32>
    %2 = stablehlo.dot_general %1, %w, contracting_dims = [1] x [0] : (tensor<2x8xf32>, tensor<8x6xf32>) -> tensor<2x6xf32>
    %3 = stablehlo.multiply %2, %2 : tensor<2x6xf32>
    %4 = stablehlo.reduce(%3 init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<2x6xf32>, tensor<f32>) -> tensor<f32>
    %5 = stablehlo.divide %4, %count : tensor<f32>
    return %5 : tensor<f32>
  }
}

//--- attribute.mlir
func.func private @f() attributes {a = #dist.recompute<none, 2 with gathers = true>}
