// RUN: llmc-opt %s --cse | FileCheck %s --check-prefix=MERGED
// RUN: llmc-opt %s --cse --llmc-body-constants | FileCheck %s
// RUN: llmc-opt %s --llmc-phase-kernels | FileCheck %s --check-prefix=KERNELS

// A body's constant that is equal to one outside is one with it after CSE, and its own again.
// MERGED-LABEL: func private @f
// MERGED: %[[OUT:.*]] = stablehlo.constant
// MERGED: reducer
// MERGED-NOT: stablehlo.constant
// MERGED: stablehlo.multiply %{{.*}}, %[[OUT]]
// CHECK-LABEL: func private @f
// CHECK: reducer
// CHECK: %[[OWN:.*]] = stablehlo.constant dense<2.000000e+00>
// CHECK: stablehlo.multiply %{{.*}}, %[[OWN]]
// KERNELS: dist.launch
func.func private @f(%x: tensor<4x8xf32>) -> (tensor<4xf32>, tensor<f32>) {
  %two = stablehlo.constant dense<2.0> : tensor<f32>
  %r = stablehlo.reduce(%x init: %two) across dimensions = [1] : (tensor<4x8xf32>, tensor<f32>) -> tensor<4xf32>
    reducer(%p: tensor<f32>, %e: tensor<f32>) {
      %own = stablehlo.constant dense<2.0> : tensor<f32>
      %m = stablehlo.multiply %p, %own : tensor<f32>
      %s = stablehlo.add %m, %e : tensor<f32>
      stablehlo.return %s : tensor<f32>
    }
  %n = stablehlo.add %two, %two : tensor<f32>
  return %r, %n : tensor<4xf32>, tensor<f32>
}
