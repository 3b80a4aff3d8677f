// RUN: llmc-opt %s --llmc-trim-activations | FileCheck %s

// The forward keeps the contraction's result and what another contraction
// reads; the tanh between them is computed again.
// CHECK-LABEL: func @train.microbatch
// CHECK:         %[[F:.*]]:{{[0-9]+}} = dist.segment
// CHECK:           %[[D:.*]] = stablehlo.dot_general
// CHECK:           %[[T:.*]] = stablehlo.tanh
// CHECK:         dist.segment
// CHECK:           stablehlo.add %[[F]]#{{[0-9]+}}, %arg2
// CHECK:           stablehlo.tanh
// CHECK-NOT:       stablehlo.dot_general
// CHECK:           dist.yield
module {
  dist.mesh @mesh = <"data"=1>
  func.func @train.microbatch(%x: tensor<32x16xf32>, %w: tensor<16x64xf32>, %b: tensor<32x64xf32>) -> (tensor<32x64xf32>, tensor<32x64xf32>) {
    %f:3 = dist.segment chunk(0) phase(forward) -> tensor<32x64xf32>, tensor<32x64xf32>, tensor<32x64xf32> {
      %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<32x16xf32>, tensor<16x64xf32>) -> tensor<32x64xf32>
      %1 = stablehlo.add %0, %b : tensor<32x64xf32>
      %2 = stablehlo.tanh %1 : tensor<32x64xf32>
      %3 = stablehlo.multiply %1, %2 : tensor<32x64xf32>
      dist.yield %3, %1, %2 : tensor<32x64xf32>, tensor<32x64xf32>, tensor<32x64xf32>
    }
    %g = dist.segment chunk(0) phase(backward) -> tensor<32x64xf32> {
      %0 = stablehlo.multiply %f#1, %f#2 : tensor<32x64xf32>
      dist.yield %0 : tensor<32x64xf32>
    }
    return %f#0, %g : tensor<32x64xf32>, tensor<32x64xf32>
  }
}
