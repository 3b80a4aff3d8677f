// RUN: llmc-opt %s --split-input-file --llmc-trim-activations | FileCheck %s
// RUN: llmc-opt %s --split-input-file --llmc-trim-activations --remarks-filter=memory --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// A sum of two products is kept, since what it is made of takes twice its
// bytes; its tanh is computed again, as are one product's absolute value, for
// which as many bytes are kept, and a constant. Each copy stands in front of
// its first reader.
// CHECK-LABEL: func @train.microbatch
// CHECK: %[[F:.*]]:6 = dist.segment chunk(0) phase(forward)
// CHECK: %[[P:.*]] = stablehlo.dot_general %{{.*}}, %arg1
// CHECK: %[[S:.*]] = stablehlo.add %[[P]]
// CHECK: dist.yield %{{.*}}, %[[S]], %{{.*}}, %{{.*}}, %{{.*}}, %[[P]] :
// CHECK: dist.segment chunk(0) phase(backward)
// CHECK-NEXT: %[[T:.*]] = stablehlo.tanh %[[F]]#1
// CHECK-NEXT: %[[A:.*]] = stablehlo.multiply %[[F]]#1, %[[T]]
// CHECK-NEXT: %[[U:.*]] = stablehlo.abs %[[F]]#5
// CHECK-NEXT: %[[B:.*]] = stablehlo.multiply %[[A]], %[[U]]
// CHECK-NEXT: %[[C:.*]] = stablehlo.constant
// CHECK-NEXT: %[[D:.*]] = stablehlo.multiply %[[B]], %[[C]]
// CHECK-NEXT: stablehlo.multiply %[[D]], %[[T]]
// CHECK: dist.segment chunk(1) phase(backward)
// CHECK-NEXT: stablehlo.negate %[[F]]#2
// Of 4 values of 8192 bytes two need nothing in their stead, one as much.
// REMARK: remark: {{.*}}16384 B less are kept for the backward; 3 ops are computed again
// REMARK-NOT: remark
dist.mesh @mesh = <"data"=1>
func.func @train.microbatch(%x: tensor<32x16xf32> {dist.port = #dist.port<input "x">}, %w: tensor<16x64xf32> {dist.port = #dist.port<input "w">}, %v: tensor<16x64xf32> {dist.port = #dist.port<input "v">}, %l: tensor<f32> {dist.port = #dist.port<input "l">})
    -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}) {
  %f:5 = dist.segment chunk(0) phase(forward) -> tensor<32x32xf32>, tensor<32x64xf32>, tensor<32x64xf32>, tensor<32x64xf32>, tensor<32x64xf32> {
    %c = stablehlo.constant dense<2.0> : tensor<32x64xf32>
    %p = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<32x16xf32>, tensor<16x64xf32>) -> tensor<32x64xf32>
    %q = stablehlo.dot_general %x, %v, contracting_dims = [1] x [0] : (tensor<32x16xf32>, tensor<16x64xf32>) -> tensor<32x64xf32>
    %s = stablehlo.add %p, %q : tensor<32x64xf32>
    %t = stablehlo.tanh %s : tensor<32x64xf32>
    %u = stablehlo.abs %p : tensor<32x64xf32>
    %d = stablehlo.dot_general %x, %x, contracting_dims = [1] x [1] : (tensor<32x16xf32>, tensor<32x16xf32>) -> tensor<32x32xf32>
    dist.yield %d, %s, %t, %u, %c : tensor<32x32xf32>, tensor<32x64xf32>, tensor<32x64xf32>, tensor<32x64xf32>, tensor<32x64xf32>
  }
  %g = dist.segment chunk(0) phase(backward) -> tensor<32x64xf32> {
    %0 = stablehlo.multiply %f#1, %f#2 : tensor<32x64xf32>
    %1 = stablehlo.multiply %0, %f#3 : tensor<32x64xf32>
    %2 = stablehlo.multiply %1, %f#4 : tensor<32x64xf32>
    %3 = stablehlo.multiply %2, %f#2 : tensor<32x64xf32>
    dist.yield %3 : tensor<32x64xf32>
  }
  %h = dist.segment chunk(1) phase(backward) -> tensor<32x64xf32> {
    %0 = stablehlo.negate %f#2 : tensor<32x64xf32>
    dist.yield %0 : tensor<32x64xf32>
  }
  return %l, %l : tensor<f32>, tensor<f32>
}
func.func @train.update() {
  return
}
dist.step @train microbatch(@train.microbatch) update(@train.update) microbatches(1) schedule(<gpipe>) chunks([0, 1])

// -----

// What the next forward reads is in memory all the same, so it is kept.
// CHECK-LABEL: func @read.microbatch
// CHECK: %[[F:.*]]:2 = dist.segment chunk(0) phase(forward)
// CHECK: dist.segment chunk(0) phase(backward)
// CHECK-NEXT: stablehlo.negate %[[F]]#1
dist.mesh @mesh = <"data"=1>
func.func @read.microbatch(%x: tensor<32x16xf32> {dist.port = #dist.port<input "x">}, %w: tensor<16x64xf32> {dist.port = #dist.port<input "w">}, %l: tensor<f32> {dist.port = #dist.port<input "l">})
    -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}) {
  %f:2 = dist.segment chunk(0) phase(forward) -> tensor<32x64xf32>, tensor<32x64xf32> {
    %p = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<32x16xf32>, tensor<16x64xf32>) -> tensor<32x64xf32>
    %t = stablehlo.tanh %p : tensor<32x64xf32>
    dist.yield %p, %t : tensor<32x64xf32>, tensor<32x64xf32>
  }
  %e = dist.segment chunk(1) phase(forward) -> tensor<32x64xf32> {
    %0 = stablehlo.negate %f#1 : tensor<32x64xf32>
    dist.yield %0 : tensor<32x64xf32>
  }
  %g = dist.segment chunk(0) phase(backward) -> tensor<32x64xf32> {
    %0 = stablehlo.negate %f#1 : tensor<32x64xf32>
    dist.yield %0 : tensor<32x64xf32>
  }
  return %l, %l : tensor<f32>, tensor<f32>
}
func.func @read.update() {
  return
}
dist.step @read microbatch(@read.microbatch) update(@read.update) microbatches(1) schedule(<gpipe>) chunks([0, 1])
