// RUN: split-file %s %t
// DEFINE: %{to} = llmc compile --config %t/all.toml --compile-to=training -o -
// RUN: %{to} %t/half.mlir --set training.rounding=stochastic | FileCheck %t/half.mlir
// RUN: %{to} %t/half.mlir | FileCheck %t/half.mlir --check-prefix=NEAREST
// RUN: %{to} %t/small.mlir --set training.rounding=stochastic | FileCheck %t/small.mlir
// RUN: not %{to} %t/wide.mlir --set training.rounding=stochastic 2>&1 | FileCheck %t/wide.mlir

//--- all.toml
[data]
kind = "array"
[data.inputs]
x = 0
[training]
parameters = ["p*"]
[optimizer]
name = "sgd"
[[init]]
match = "*"

//--- half.mlir
// What is stored in bf16 gets sixteen random bits below its last one, and is
// cut: those of its place, under a key of seed, name and step. What is not
// finite is converted. A parameter of f32 is stored as it is.
// CHECK-NOT: dist.stochastic_rounding
// CHECK-LABEL: func.func private @train.update
// CHECK-SAME: %[[SEED:[a-z0-9]+]]: tensor<i32> {dist.port = #dist.port<hyper @seed>}
// CHECK-SAME: %[[STEP:[a-z0-9]+]]: tensor<i32> {dist.port = #dist.port<hyper @step>}
// CHECK: %[[S:.*]] = stablehlo.convert %[[SEED]] {{.*}} -> tensor<ui32>
// CHECK: stablehlo.xor %[[S]],
// CHECK: stablehlo.convert %[[STEP]] {{.*}} -> tensor<ui32>
// CHECK: stablehlo.iota dim = 0
// CHECK: %[[BITS:.*]] = stablehlo.bitcast_convert %[[NEW:.*]] {dist.phase = #dist.phase<update>} : (tensor<4x4xf32>) -> tensor<4x4xui32>
// CHECK: %[[RAISED:.*]] = stablehlo.add %[[BITS]],
// CHECK: %[[CUT:.*]] = stablehlo.and %[[RAISED]],
// CHECK: %[[FLOAT:.*]] = stablehlo.bitcast_convert %[[CUT]] {{.*}} -> tensor<4x4xf32>
// CHECK: %[[IS:.*]] = stablehlo.is_finite %[[NEW]]
// CHECK: %[[UP:.*]] = stablehlo.convert %[[FLOAT]] {{.*}} -> tensor<4x4xbf16>
// CHECK: %[[NEAR:.*]] = stablehlo.convert %[[NEW]] {{.*}} -> tensor<4x4xbf16>
// CHECK: stablehlo.select %[[IS]], %[[UP]], %[[NEAR]]
// CHECK-NOT: bitcast_convert
// CHECK: return
// NEAREST-NOT: hyper @seed
// NEAREST-NOT: bitcast_convert
module @m {
  func.func public @main(%a: tensor<4x4xbf16> loc("p['a']"), %b: tensor<4xf32> loc("p['b']"), %x: tensor<2x4xf32> loc("x")) -> (tensor<f32> {jax.result_info = "result"}) {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %w = stablehlo.convert %a : (tensor<4x4xbf16>) -> tensor<4x4xf32>
    %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
    %1 = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<4xf32>) -> tensor<2x4xf32>
    %2 = stablehlo.add %0, %1 : tensor<2x4xf32>
    %3 = stablehlo.reduce(%2 init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<2x4xf32>, tensor<f32>) -> tensor<f32>
    return %3 : tensor<f32>
  }
}

//--- small.mlir
// Of f16 thirteen bits are cut. Numbers below its least normal one become
// multiples of its least one, as integers to which the drawn bits are added;
// what is above its largest one is converted.
// CHECK-LABEL: func.func private @train.update
// CHECK: %[[BITS:.*]] = stablehlo.bitcast_convert %[[NEW:.*]] {dist.phase = #dist.phase<update>} : (tensor<4x4xf32>) -> tensor<4x4xui32>
// CHECK: stablehlo.constant {{.*}} dense<8191> : tensor<4x4xui32>
// CHECK: %[[RAISED:.*]] = stablehlo.add %[[BITS]],
// CHECK: %[[CUT:.*]] = stablehlo.and %[[RAISED]],
// CHECK: %[[COUNT:.*]] = stablehlo.convert %{{.*}} : (tensor<4x4xui32>) -> tensor<4x4xf32>
// CHECK: stablehlo.constant {{.*}} dense<5.96046448E-8> : tensor<4x4xf32>
// CHECK: %[[NUMBER:.*]] = stablehlo.multiply %[[COUNT]],
// CHECK: %[[SMALL:.*]] = stablehlo.bitcast_convert %[[NUMBER]]
// CHECK: %[[SIGNED:.*]] = stablehlo.or %[[SMALL]],
// CHECK: stablehlo.select %{{.*}}, %[[SIGNED]], %[[CUT]]
// CHECK: %[[MAGNITUDE:.*]] = stablehlo.abs %[[NEW]]
// CHECK: stablehlo.constant {{.*}} dense<6.550400e+04>
// CHECK: stablehlo.compare LE, %[[MAGNITUDE]],
module @m {
  func.func public @main(%a: tensor<4x4xf16> loc("p['a']"), %x: tensor<2x4xf32> loc("x")) -> (tensor<f32> {jax.result_info = "result"}) {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %w = stablehlo.convert %a : (tensor<4x4xf16>) -> tensor<4x4xf32>
    %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
    %1 = stablehlo.reduce(%0 init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<2x4xf32>, tensor<f32>) -> tensor<f32>
    return %1 : tensor<f32>
  }
}

//--- wide.mlir
// CHECK: expected a parameter of bf16 or f16 beside stochastic rounding, got none
module @m {
  func.func public @main(%b: tensor<4xf32> loc("p['b']"), %x: tensor<2x4xf32> loc("x")) -> (tensor<f32> {jax.result_info = "result"}) {
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<4xf32>) -> tensor<2x4xf32>
    %1 = stablehlo.multiply %0, %x : tensor<2x4xf32>
    %2 = stablehlo.reduce(%1 init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<2x4xf32>, tensor<f32>) -> tensor<f32>
    return %2 : tensor<f32>
  }
}
