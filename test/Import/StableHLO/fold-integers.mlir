// Integers that are known are computed at import, as long as an op reads at most 64 of them.
// RUN: llmc compile %s --compile-to=import -o - --set data.inputs.x=0 | FileCheck %s
// CHECK: stablehlo.constant dense<7> : tensor<32xi32>
// CHECK: stablehlo.constant dense<5> : tensor<33xi32>
// CHECK: stablehlo.constant dense<6> : tensor<33xi32>
// CHECK: stablehlo.add {{.*}} : tensor<33xi32>
module @jit_loss {
  func.func public @main(%x: tensor<65xf32> loc("x")) -> (tensor<f32> {jax.result_info = "result"}) {
    %c = stablehlo.constant dense<3> : tensor<32xi32>
    %d = stablehlo.constant dense<4> : tensor<32xi32>
    %few = stablehlo.add %c, %d : tensor<32xi32>
    %e = stablehlo.constant dense<5> : tensor<33xi32>
    %g = stablehlo.constant dense<6> : tensor<33xi32>
    %many = stablehlo.add %e, %g : tensor<33xi32>
    %all = stablehlo.concatenate %few, %many, dim = 0 : (tensor<32xi32>, tensor<33xi32>) -> tensor<65xi32>
    %f = stablehlo.convert %all : (tensor<65xi32>) -> tensor<65xf32>
    %y = stablehlo.multiply %x, %f : tensor<65xf32>
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %loss = stablehlo.reduce(%y init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<65xf32>, tensor<f32>) -> tensor<f32>
    return %loss : tensor<f32>
  }
}
