// RUN: llmc-opt %s --llmc-trim-activations | FileCheck %s
// RUN: llmc-opt %s --llmc-trim-activations --remarks-filter=memory --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// A product and its tanh are handed over twice each: the copy of the tanh reads
// the first of the products, and stands for both.
// CHECK-LABEL: func @train.microbatch
// CHECK: %[[F:.*]]:4 = dist.segment chunk(0) phase(forward)
// CHECK: dist.segment chunk(0) phase(backward)
// CHECK-NEXT: %[[A:.*]] = stablehlo.add %[[F]]#1, %[[F]]#3
// CHECK-NEXT: %[[T:.*]] = stablehlo.tanh %[[F]]#1
// CHECK-NEXT: %[[B:.*]] = stablehlo.multiply %[[A]], %[[T]]
// CHECK-NEXT: %[[C:.*]] = stablehlo.multiply %[[B]], %[[T]]
// CHECK-NEXT: dist.yield %[[C]]
// REMARK: remark: {{.*}}16384 B less are kept for the backward; 1 ops are computed again
// REMARK-NOT: remark
dist.mesh @mesh = <"data"=1>
func.func @train.microbatch(%x: tensor<32x16xf32> {dist.port = #dist.port<input "x">}, %w: tensor<16x64xf32> {dist.port = #dist.port<input "w">}, %l: tensor<f32> {dist.port = #dist.port<input "l">})
    -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}) {
  %f:4 = dist.segment chunk(0) phase(forward) -> tensor<32x64xf32>, tensor<32x64xf32>, tensor<32x64xf32>, tensor<32x64xf32> {
    %p = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<32x16xf32>, tensor<16x64xf32>) -> tensor<32x64xf32>
    %t = stablehlo.tanh %p : tensor<32x64xf32>
    dist.yield %t, %p, %t, %p : tensor<32x64xf32>, tensor<32x64xf32>, tensor<32x64xf32>, tensor<32x64xf32>
  }
  %g = dist.segment chunk(0) phase(backward) -> tensor<32x64xf32> {
    %0 = stablehlo.add %f#1, %f#3 : tensor<32x64xf32>
    %1 = stablehlo.multiply %0, %f#2 : tensor<32x64xf32>
    %2 = stablehlo.multiply %1, %f#0 : tensor<32x64xf32>
    dist.yield %2 : tensor<32x64xf32>
  }
  return %l, %l : tensor<f32>, tensor<f32>
}
func.func @train.update() {
  return
}
dist.step @train microbatch(@train.microbatch) update(@train.update) microbatches(1) schedule(<1f1b>) chunks([0])
