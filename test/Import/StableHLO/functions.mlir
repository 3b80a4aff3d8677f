// RUN: llmc compile %s --set data.inputs.x=0 --compile-to=import -o - | llmc-opt --mlir-print-op-generic | FileCheck %s

// JAX's own relu and relu6 keep their names, whatever number tells them apart
// and wherever they are called. A function of the user's has frames of the
// user's program in its locations; its name says nothing.

// CHECK-LABEL: sym_name = "loss"
// CHECK: "stablehlo.maximum"({{.*}}) {dist.jax_function = "relu"}
// CHECK: "stablehlo.maximum"{{.*}} : (tensor
// CHECK-NEXT: stablehlo.constant
// CHECK-NEXT: stablehlo.broadcast_in_dim
// CHECK-NEXT: "stablehlo.minimum"{{.*}} {dist.jax_function = "relu6"}
// The user's relu, and a function that is not named so.
// CHECK: "stablehlo.maximum"({{.*}}) : (tensor
// CHECK: "stablehlo.maximum"({{.*}}) : (tensor
// One of two results, and one that returns its argument.
// CHECK: "stablehlo.maximum"({{.*}}) : (tensor
// CHECK-NOT: jax_function
module @jit_f {
  func.func public @main(%arg0: tensor<4xf32> loc("x")) -> tensor<f32> {
    %0 = call @layer(%arg0) : (tensor<4xf32>) -> tensor<4xf32>
    %1 = call @relu_1(%arg0) : (tensor<4xf32>) -> tensor<4xf32>
    %2 = call @relu_x(%arg0) : (tensor<4xf32>) -> tensor<4xf32>
    %3 = stablehlo.add %0, %1 : tensor<4xf32>
    %6:2 = call @relu_3(%2) : (tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>)
    %7 = call @relu_4(%6#1) : (tensor<4xf32>) -> tensor<4xf32>
    %4 = stablehlo.add %3, %7 : tensor<4xf32>
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %5 = stablehlo.reduce(%4 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
    return %5 : tensor<f32>
  }
  func.func private @layer(%arg0: tensor<4xf32>) -> tensor<4xf32> {
    %0 = call @relu(%arg0) : (tensor<4xf32>) -> tensor<4xf32>
    %1 = call @relu6_12(%0) : (tensor<4xf32>) -> tensor<4xf32>
    return %1 : tensor<4xf32>
  }
  func.func private @relu(%arg0: tensor<4xf32>) -> tensor<4xf32> {
    %c = stablehlo.constant dense<0.0> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<f32>) -> tensor<4xf32> loc("max")
    %1 = stablehlo.maximum %arg0, %0 : tensor<4xf32> loc("max")
    return %1 : tensor<4xf32>
  }
  func.func private @relu6_12(%arg0: tensor<4xf32>) -> tensor<4xf32> {
    %c = stablehlo.constant dense<0.0> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<f32>) -> tensor<4xf32> loc("max")
    %1 = stablehlo.maximum %arg0, %0 : tensor<4xf32> loc("max")
    %d = stablehlo.constant dense<6.0> : tensor<f32>
    %2 = stablehlo.broadcast_in_dim %d, dims = [] : (tensor<f32>) -> tensor<4xf32> loc("min")
    %3 = stablehlo.minimum %1, %2 : tensor<4xf32> loc("min")
    return %3 : tensor<4xf32>
  }
  func.func private @relu_1(%arg0: tensor<4xf32>) -> tensor<4xf32> {
    %c = stablehlo.constant dense<0.0> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<f32>) -> tensor<4xf32> loc("max"("relu"("model.py":3:9)))
    %1 = stablehlo.maximum %arg0, %0 : tensor<4xf32> loc("max"("relu"("model.py":3:9)))
    return %1 : tensor<4xf32>
  }
  func.func private @relu_3(%arg0: tensor<4xf32>) -> (tensor<4xf32>, tensor<4xf32>) {
    %0 = stablehlo.maximum %arg0, %arg0 : tensor<4xf32> loc("max")
    return %0, %0 : tensor<4xf32>, tensor<4xf32>
  }
  func.func private @relu_4(%arg0: tensor<4xf32>) -> tensor<4xf32> {
    return %arg0 : tensor<4xf32>
  }
  func.func private @relu_x(%arg0: tensor<4xf32>) -> tensor<4xf32> {
    %c = stablehlo.constant dense<0.0> : tensor<f32>
    %0 = stablehlo.broadcast_in_dim %c, dims = [] : (tensor<f32>) -> tensor<4xf32> loc("max")
    %1 = stablehlo.maximum %arg0, %0 : tensor<4xf32> loc("max")
    return %1 : tensor<4xf32>
  }
}
