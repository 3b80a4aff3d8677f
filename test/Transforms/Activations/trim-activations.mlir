// RUN: llmc-opt %s --llmc-trim-activations | FileCheck %s

// The forward keeps the contraction's result and what another contraction
// reads; the tanh between them is computed again.
// CHECK-LABEL: func @train.microbatch
// CHECK:         %[[F:.*]]:{{[0-9]+}} = dist.segment
// CHECK:           %[[D:.*]] = stablehlo.dot_general
// CHECK:           %[[T:.*]] = stablehlo.tanh
// CHECK:         dist.segment
// CHECK:           stablehlo.add %[[F]]#{{[0-9]+}}, %{{.*}}
// CHECK:           stablehlo.tanh
// CHECK-NOT:       stablehlo.dot_general
// CHECK:           stablehlo.multiply
// CHECK:           stablehlo.add %{{.*}}, %[[F]]#3
// CHECK:           dist.yield
module {
  dist.mesh @mesh = <"data"=1>
  func.func @train.microbatch(%x: tensor<32x16xf32> {dist.port = #dist.port<input "x">}, %w: tensor<16x64xf32> {dist.port = #dist.port<input "w">}, %b: tensor<32x64xf32> {dist.port = #dist.port<input "b">}, %l: tensor<f32> {dist.port = #dist.port<input "l">})
      -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}) {
    %f:4 = dist.segment chunk(0) phase(forward) -> tensor<32x32xf32>, tensor<32x64xf32>, tensor<32x64xf32>, tensor<32x64xf32> {
      %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<32x16xf32>, tensor<16x64xf32>) -> tensor<32x64xf32>
      %1 = stablehlo.add %0, %b : tensor<32x64xf32>
      %2 = stablehlo.tanh %1 : tensor<32x64xf32>
      %3 = stablehlo.multiply %1, %2 : tensor<32x64xf32>
      %4 = stablehlo.dot_general %3, %3, contracting_dims = [1] x [1] : (tensor<32x64xf32>, tensor<32x64xf32>) -> tensor<32x32xf32>
      dist.yield %4, %1, %2, %3 : tensor<32x32xf32>, tensor<32x64xf32>, tensor<32x64xf32>, tensor<32x64xf32>
    }
    %g = dist.segment chunk(0) phase(backward) -> tensor<32x64xf32> {
      %0 = stablehlo.multiply %f#1, %f#2 : tensor<32x64xf32>
      %1 = stablehlo.add %0, %f#3 : tensor<32x64xf32>
      dist.yield %1 : tensor<32x64xf32>
    }
    return %l, %l : tensor<f32>, tensor<f32>
  }
  func.func @train.update() {
    return
  }
  dist.step @train microbatch(@train.microbatch) update(@train.update) microbatches(1) schedule(<gpipe>) chunks([0])
}
