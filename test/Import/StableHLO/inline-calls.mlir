// RUN: llmc compile %s --set data.inputs.x=0 --compile-to=import -o - | FileCheck %s
// RUN: llmc compile %s --set data.inputs.x=0 --compile-to=import -o - | llmc-opt | FileCheck %s --check-prefix=ONE

// Private functions are inlined wherever they are called, calls within calls
// too; the call's name goes in front of the names inside.

// ONE: func.func public @loss
// ONE-NOT: call
// ONE-NOT: @layer
// ONE-NOT: @activation
// ONE: dist.entry @forward function(@loss)
// CHECK: func.func public @loss
// CHECK: stablehlo.tanh %arg0 : tensor<4xf32> loc(#[[FIRST:.*]])
// CHECK-NEXT: stablehlo.negate %{{.*}} : tensor<4xf32> loc(#[[NEGATE:.*]])
// CHECK-NEXT: stablehlo.tanh %{{.*}} : tensor<4xf32> loc(#[[SECOND:.*]])
// CHECK-NEXT: stablehlo.negate
// CHECK-DAG: #[[FIRST]] = loc("layer0/act/tanh"
// CHECK-DAG: #[[NEGATE]] = loc("layer0/neg"
// CHECK-DAG: #[[SECOND]] = loc("layer1/act/tanh"
module @jit_f {
  func.func public @main(%arg0: tensor<4xf32> loc("x")) -> tensor<f32> {
    %0 = call @layer(%arg0) : (tensor<4xf32>) -> tensor<4xf32> loc("layer0")
    %1 = call @layer(%0) : (tensor<4xf32>) -> tensor<4xf32> loc("layer1")
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %2 = stablehlo.reduce(%1 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
    return %2 : tensor<f32>
  }
  func.func private @layer(%arg0: tensor<4xf32>) -> tensor<4xf32> {
    %0 = call @activation(%arg0) : (tensor<4xf32>) -> tensor<4xf32> loc("act")
    %1 = stablehlo.negate %0 : tensor<4xf32> loc("neg")
    return %1 : tensor<4xf32>
  }
  func.func private @activation(%arg0: tensor<4xf32>) -> tensor<4xf32> {
    %0 = stablehlo.tanh %arg0 : tensor<4xf32> loc("tanh")
    return %0 : tensor<4xf32>
  }
}
