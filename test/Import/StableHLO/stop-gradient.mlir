// RUN: split-file %s %t
// RUN: llmc compile %t/model.mlir --config %t/model.toml --compile-to=import -o - | FileCheck %t/model.mlir
// RUN: llmc compile %t/model.mlir --config %t/model.toml --compile-to=training -o - | FileCheck %s --check-prefix=AFTER
// RUN: not llmc compile %t/types.mlir --config %t/model.toml --compile-to=import -o - 2>&1 | FileCheck %s --check-prefix=TYPES
// AFTER-NOT: optimization_barrier
// AFTER-NOT: stop_gradient
// TYPES: error[diagnosed]: {{.*}}types.mlir:{{.*}}: expected 'llmc.stop_gradient' to return its operands, got results of other types

//--- model.toml
[data]
kind = "array"
file = "x.npy"
inputs.x = 0
[[init]]

//--- model.mlir
// A composite, with its function, and a custom call; one in a function that is called.
// CHECK-COUNT-2: stablehlo.optimization_barrier {{.*}}dist.stop_gradient = array<i64: 0>
// CHECK-NOT: llmc.stop_gradient
module @m {
  func.func public @main(%w: tensor<4xf32> loc("w"), %x: tensor<2x4xf32> loc("x")) -> (tensor<f32> {jax.result_info = "result"}) {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %0 = stablehlo.composite "llmc.stop_gradient" %w {decomposition = @same} : (tensor<4xf32>) -> tensor<4xf32>
    %1 = func.call @part(%w) : (tensor<4xf32>) -> tensor<4xf32>
    %2 = stablehlo.multiply %0, %1 : tensor<4xf32>
    %3 = stablehlo.multiply %2, %w : tensor<4xf32>
    %4 = stablehlo.broadcast_in_dim %3, dims = [1] : (tensor<4xf32>) -> tensor<2x4xf32>
    %5 = stablehlo.multiply %4, %x : tensor<2x4xf32>
    %6 = stablehlo.reduce(%5 init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<2x4xf32>, tensor<f32>) -> tensor<f32>
    return %6 : tensor<f32>
  }
  func.func private @same(%x: tensor<4xf32>) -> tensor<4xf32> {
    return %x : tensor<4xf32>
  }
  func.func private @part(%x: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.custom_call @llmc.stop_gradient(%x) : (tensor<4xf32>) -> tensor<4xf32>
    return %0 : tensor<4xf32>
  }
}

//--- types.mlir
module @m {
  func.func public @main(%w: tensor<4xf32> loc("w"), %x: tensor<2x4xf32> loc("x")) -> (tensor<f32> {jax.result_info = "result"}) {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %0 = stablehlo.custom_call @llmc.stop_gradient(%w) : (tensor<4xf32>) -> tensor<2x2xf32>
    return %zero : tensor<f32>
  }
}
