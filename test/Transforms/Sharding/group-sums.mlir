// RUN: llmc-opt %s --llmc-group-sums | FileCheck %s
// RUN: llmc-opt %s --llmc-group-sums --llmc-propagate-layouts --llmc-verify-layouts -o /dev/null

// @w is used by two blocks of each stage, and its gradient is turned at the end.
// Each stage adds and turns its own terms; one sum is left between them. The
// gradient of @v has one term for each stage and stays as it is. Rows of the
// gradient of @u are made at stage 1 and padded in a block of stage 0: there
// they are padded and added where they are made, also by the sum that is at
// that stage itself.
#F = #dist.phase<forward>
#B = #dist.phase<backward_input>
#W = #dist.phase<backward_weight>
dist.mesh @mesh = <"pipe"=2> pipeline "pipe"
dist.state @w : tensor<4x4xf32> {role = parameter}
dist.state @v : tensor<4x4xf32> {role = parameter}
dist.state @u : tensor<4x4xf32> {role = parameter}
// CHECK-LABEL: func.func private @microbatch
// CHECK: %[[D:.*]] = stablehlo.negate %{{.*}} {dist.block = 3
// CHECK: %[[C:.*]] = stablehlo.cosine %{{.*}} {dist.block = 2
// CHECK: %[[S1:.*]] = stablehlo.add %[[D]], %[[C]] {dist.block = 2 : i64, dist.phase = #dist.phase<backward_weight>}
// CHECK: %[[B:.*]] = stablehlo.sine %{{.*}} {dist.block = 1
// CHECK: %[[V:.*]] = stablehlo.add %[[D]], %[[B]] {dist.block = 1
// CHECK: %[[A:.*]] = stablehlo.tanh %{{.*}} {dist.block = 0
// CHECK: %[[S0:.*]] = stablehlo.add %[[B]], %[[A]] {dist.block = 0 : i64, dist.phase = #dist.phase<backward_weight>}
// CHECK: %[[T1:.*]] = stablehlo.transpose %[[S1]]{{.*}}dist.block = 2
// CHECK: %[[T0:.*]] = stablehlo.transpose %[[S0]]{{.*}}dist.block = 0
// CHECK: %[[G:.*]] = stablehlo.add %[[T1]], %[[T0]]
// CHECK: %[[R:.*]] = stablehlo.slice %[[C]]
// CHECK: %[[P:.*]] = stablehlo.pad %[[R]]{{.*}}dist.block = 2
// CHECK: %[[P1:.*]] = stablehlo.add %[[P]], %[[D]] {dist.block = 2
// CHECK: %[[U:.*]] = stablehlo.add %[[P1]], %[[A]]
// CHECK: return %{{.*}}, %{{.*}}, %[[G]], %[[V]], %[[U]]
func.func private @microbatch(
    %w: tensor<4x4xf32> {dist.port = #dist.port<parameter @w>},
    %v: tensor<4x4xf32> {dist.port = #dist.port<parameter @v>},
    %u: tensor<4x4xf32> {dist.port = #dist.port<parameter @u>})
    -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>},
        tensor<4x4xf32> {dist.port = #dist.port<gradient @w>},
        tensor<4x4xf32> {dist.port = #dist.port<gradient @v>},
        tensor<4x4xf32> {dist.port = #dist.port<gradient @u>}) {
  %one = stablehlo.constant {dist.block = 3 : i64, dist.phase = #F} dense<1.0> : tensor<f32>
  %d = stablehlo.negate %w {dist.block = 3 : i64, dist.phase = #B} : tensor<4x4xf32>
  %c = stablehlo.cosine %w {dist.block = 2 : i64, dist.phase = #W} : tensor<4x4xf32>
  %dc = stablehlo.add %d, %c {dist.block = 2 : i64, dist.phase = #W} : tensor<4x4xf32>
  %b = stablehlo.sine %v {dist.block = 1 : i64, dist.phase = #W} : tensor<4x4xf32>
  %dv = stablehlo.add %d, %b {dist.block = 1 : i64, dist.phase = #W} : tensor<4x4xf32>
  %dcb = stablehlo.add %dc, %b {dist.block = 1 : i64, dist.phase = #W} : tensor<4x4xf32>
  %a = stablehlo.tanh %w {dist.block = 0 : i64, dist.phase = #W} : tensor<4x4xf32>
  %dcba = stablehlo.add %dcb, %a {dist.block = 0 : i64, dist.phase = #W} : tensor<4x4xf32>
  %g = stablehlo.transpose %dcba, dims = [1, 0] {dist.block = 0 : i64, dist.phase = #W} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %r = stablehlo.slice %c [0:2, 0:4] {dist.block = 2 : i64, dist.phase = #W} : (tensor<4x4xf32>) -> tensor<2x4xf32>
  %zero = stablehlo.constant {dist.block = 0 : i64, dist.phase = #W} dense<0.0> : tensor<f32>
  %p = stablehlo.pad %r, %zero, low = [0, 0], high = [2, 0], interior = [0, 0] {dist.block = 0 : i64, dist.phase = #W} : (tensor<2x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  %pd = stablehlo.add %p, %d {dist.block = 2 : i64, dist.phase = #W} : tensor<4x4xf32>
  %pda = stablehlo.add %pd, %a {dist.block = 0 : i64, dist.phase = #W} : tensor<4x4xf32>
  return %one, %one, %g, %dv, %pda : tensor<f32>, tensor<f32>, tensor<4x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
}
func.func private @update() { return }
dist.step @train microbatch(@microbatch) update(@update) microbatches(1) schedule(<1f1b>) recompute(<none>) chunks([0, 0, 1, 1])
