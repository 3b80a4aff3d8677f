// RUN: llmc-opt %s --split-input-file --llmc-recompute | FileCheck %s
// RUN: sed 's/(<all>)/(<every, 2>)/' %s | llmc-opt --split-input-file --llmc-recompute | FileCheck %s --check-prefix=EVERY
// RUN: llmc-opt %s --split-input-file --llmc-recompute --remarks-filter=memory --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

#F = #dist.phase<forward>
#B = #dist.phase<backward_input>

// Each block's fence reads what the block reads, and stands after all
// cotangents that reach its backward from other blocks and are there: neither
// a constant, nor one that comes later, nor one of its own.
// CHECK-LABEL: func.func @two.microbatch
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>
// CHECK: %[[F:.*]]:5 = dist.segment chunk(0) phase(forward)
// CHECK: dist.segment chunk(0) phase(backward)
// CHECK-NEXT: %[[ONE:.*]] = stablehlo.constant
// CHECK-NEXT: %[[F1:.*]] = dist.fence(%[[F]]#3) : tensor<4xf32>
// CHECK-NEXT: %[[B:.*]] = stablehlo.tanh %[[F1]] {dist.block = 1 : i64, dist.phase = #dist.phase<backward>}
// CHECK-NEXT: %[[D1:.*]] = stablehlo.multiply %[[B]], %[[X]]
// CHECK-NEXT: %[[D2:.*]] = stablehlo.multiply %[[D1]], %[[F]]#3
// CHECK-NEXT: %[[F0:.*]] = dist.fence(%[[X]]) after(%[[D2]], %[[D1]]) : tensor<4xf32>
// CHECK-NEXT: %[[TWO:.*]] = stablehlo.constant {{.*}}dense<2.0
// CHECK-NEXT: %[[A:.*]] = stablehlo.tanh %[[F0]]
// CHECK-NEXT: %[[W:.*]] = stablehlo.broadcast_in_dim %[[A]]
// CHECK-NEXT: %[[A3:.*]] = stablehlo.add %[[W]], %[[TWO]]
// CHECK-NEXT: %[[E0:.*]] = stablehlo.negate %[[ONE]]
// CHECK-NEXT: %[[E1:.*]] = stablehlo.multiply %[[D2]], %[[A]]
// CHECK-NEXT: %[[LATE:.*]] = stablehlo.negate %[[E1]]
// Of three blocks, every second one is kept.
// EVERY-LABEL: func.func @two.microbatch
// EVERY: dist.segment chunk(0) phase(backward)
// EVERY-NOT: dist.fence
// EVERY: stablehlo.multiply
// EVERY: stablehlo.multiply
// EVERY-NEXT: dist.fence({{.*}}) after
// EVERY-NOT: dist.fence
// EVERY: dist.yield
// 4 and 8 elements of f32: what is not kept is their sum.
// REMARK: remark: {{.*}}block 0: 4 ops are computed again, 48 B are not kept
// REMARK: remark: {{.*}}block 1: 1 ops are computed again, 16 B are not kept
dist.mesh @mesh = <"data"=1>
func.func @two.microbatch(%x: tensor<4xf32> {dist.port = #dist.port<input "x">}, %l: tensor<f32> {dist.port = #dist.port<input "l">})
    -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}) {
  %f:5 = dist.segment chunk(0) phase(forward) -> tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<2x4xf32> {
    %two = stablehlo.constant {dist.block = 2 : i64, dist.phase = #F} dense<2.0> : tensor<2x4xf32>
    %a = stablehlo.tanh %x {dist.block = 0 : i64, dist.phase = #F} : tensor<4xf32>
    %w = stablehlo.broadcast_in_dim %a, dims = [1] {dist.block = 0 : i64, dist.phase = #F} : (tensor<4xf32>) -> tensor<2x4xf32>
    %a3 = stablehlo.add %w, %two {dist.block = 0 : i64, dist.phase = #F} : tensor<2x4xf32>
    %a2 = stablehlo.multiply %a, %x {dist.block = 0 : i64, dist.phase = #F} : tensor<4xf32>
    %b = stablehlo.tanh %a2 {dist.block = 1 : i64, dist.phase = #F} : tensor<4xf32>
    %b2 = stablehlo.multiply %b, %a2 {dist.block = 1 : i64, dist.phase = #F} : tensor<4xf32>
    dist.yield %b2, %a, %b, %a2, %a3 : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<2x4xf32>
  }
  %g = dist.segment chunk(0) phase(backward) -> tensor<4xf32> {
    %one = stablehlo.constant {dist.block = 1 : i64, dist.phase = #B} dense<1.0> : tensor<4xf32>
    %d1 = stablehlo.multiply %f#2, %x {dist.block = 1 : i64, dist.phase = #B} : tensor<4xf32>
    %d2 = stablehlo.multiply %d1, %f#3 {dist.block = 1 : i64, dist.phase = #B} : tensor<4xf32>
    %e0 = stablehlo.negate %one {dist.block = 0 : i64, dist.phase = #B} : tensor<4xf32>
    %e1 = stablehlo.multiply %d2, %f#1 {dist.block = 0 : i64, dist.phase = #B} : tensor<4xf32>
    %late = stablehlo.negate %e1 {dist.block = 1 : i64, dist.phase = #B} : tensor<4xf32>
    %e2 = stablehlo.multiply %e1, %late {dist.block = 0 : i64, dist.phase = #B} : tensor<4xf32>
    %s = stablehlo.slice %f#4 [1:2, 0:4] {dist.block = 0 : i64, dist.phase = #B} : (tensor<2x4xf32>) -> tensor<1x4xf32>
    %r = stablehlo.reshape %s {dist.block = 0 : i64, dist.phase = #B} : (tensor<1x4xf32>) -> tensor<4xf32>
    %e3 = stablehlo.add %e2, %r {dist.block = 0 : i64, dist.phase = #B} : tensor<4xf32>
    %e4 = stablehlo.add %e3, %d1 {dist.block = 0 : i64, dist.phase = #B} : tensor<4xf32>
    dist.yield %e4 : tensor<4xf32>
  }
  return %l, %l : tensor<f32>, tensor<f32>
}
func.func @two.update() {
  return
}
dist.step @two microbatch(@two.microbatch) update(@two.update) microbatches(1) schedule(<gpipe>) recompute(<all>) chunks([0, 0, 0])

// -----

#F = #dist.phase<forward>
#B = #dist.phase<backward_input>

// What another chunk's backward reads is not made again here, and a value that
// the backward hands out as it is has its clone in front of the end. A region
// brings what it reads from outside. An argument that the forward hands over is
// no value of its own.
// CHECK-LABEL: func.func @outer.microbatch
// CHECK-SAME: %[[X:.*]]: tensor<4xf32>
// CHECK: dist.segment chunk(0) phase(backward)
// CHECK-NEXT: %[[F:.*]]:2 = dist.fence(%[[X]], %{{.*}}) : tensor<4xf32>, tensor<f32>
// CHECK-NEXT: %[[C:.*]] = stablehlo.constant
// CHECK-NEXT: %[[R:.*]] = stablehlo.reduce(%[[F]]#0 init: %[[C]])
// CHECK: stablehlo.maximum %{{.*}}, %[[F]]#1
// CHECK: dist.yield %[[R]]
// CHECK: dist.segment chunk(1) phase(backward)
// CHECK-NOT: dist.fence
// EVERY-LABEL: func.func @outer.microbatch
// REMARK: remark: {{.*}}block 0: 2 ops are computed again, 4 B are not kept
// REMARK-NOT: remark
dist.mesh @mesh = <"data"=1>
func.func @outer.microbatch(%x: tensor<4xf32> {dist.port = #dist.port<input "x">}, %l: tensor<f32> {dist.port = #dist.port<input "l">})
    -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}) {
  %f:3 = dist.segment chunk(0) phase(forward) -> tensor<f32>, tensor<4xf32>, tensor<4xf32> {
    %low = stablehlo.constant {dist.block = 0 : i64, dist.phase = #F} dense<0xFF800000> : tensor<f32>
    %a = stablehlo.reduce(%x init: %low) across dimensions = [0] {dist.block = 0 : i64, dist.phase = #F} : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
      reducer(%p: tensor<f32>, %q: tensor<f32>) {
        %m = stablehlo.maximum %p, %l : tensor<f32>
        %n = stablehlo.maximum %m, %q : tensor<f32>
        stablehlo.return %n : tensor<f32>
      }
    %b = stablehlo.negate %x {dist.block = 0 : i64, dist.phase = #F} : tensor<4xf32>
    dist.yield %a, %b, %x : tensor<f32>, tensor<4xf32>, tensor<4xf32>
  }
  %g0:2 = dist.segment chunk(0) phase(backward) -> tensor<f32>, tensor<4xf32> {
    dist.yield %f#0, %f#2 : tensor<f32>, tensor<4xf32>
  }
  %g1 = dist.segment chunk(1) phase(backward) -> tensor<4xf32> {
    %n = stablehlo.negate %f#1 {dist.block = 1 : i64, dist.phase = #B} : tensor<4xf32>
    dist.yield %n : tensor<4xf32>
  }
  return %l, %l : tensor<f32>, tensor<f32>
}
func.func @outer.update() {
  return
}
dist.step @outer microbatch(@outer.microbatch) update(@outer.update) microbatches(1) schedule(<gpipe>) recompute(<all>) chunks([0, 1])
