// RUN: split-file %s %t
// RUN: llmc compile %t/empty.mlir --set data.inputs.x=0 --compile-to=import -o - | FileCheck %t/empty.mlir
// RUN: not llmc compile %t/split.mlir --set data.inputs.x=0 --compile-to=import -o - 2>&1 | FileCheck %t/split.mlir

//--- empty.mlir
// Constraints on a mesh without axes say nothing; they and the mesh go.
// CHECK-NOT: sdy
// CHECK: func.func public @loss
// CHECK-NEXT: stablehlo.constant
// CHECK-NEXT: stablehlo.reduce(%arg0 init:
// CHECK-NOT: sdy
module @jit_f {
  sdy.mesh @empty_mesh = <[]>
  func.func public @main(%arg0: tensor<4xf32> loc("x")) -> tensor<f32> {
    %0 = sdy.sharding_constraint %arg0 <@empty_mesh, [{}]> : tensor<4xf32>
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %1 = stablehlo.reduce(%0 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
    return %1 : tensor<f32>
  }
}

//--- split.mlir
// CHECK: llmc: error[unsupported]: {{.*}}split.mlir:6:10: expected sharding constraints on an empty mesh only, got axes (give layouts in the configuration)
module @jit_f {
  sdy.mesh @mesh = <["x"=2]>
  func.func public @main(%arg0: tensor<4xf32> loc("x")) -> tensor<f32> {
    // The place of the constraint:
    %0 = sdy.sharding_constraint %arg0 <@mesh, [{"x"}]> : tensor<4xf32>
    %zero = stablehlo.constant dense<0.0> : tensor<f32>
    %1 = stablehlo.reduce(%0 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
    return %1 : tensor<f32>
  }
}
