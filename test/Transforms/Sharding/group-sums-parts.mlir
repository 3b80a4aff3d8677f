// RUN: llmc-opt %s --llmc-group-sums | FileCheck %s
// RUN: llmc-opt %s --llmc-group-sums --llmc-propagate-layouts --llmc-verify-layouts | FileCheck %s --check-prefix=STAGES

// What is linear in its first operand beside constants is done for each stage,
// with constants of its own: each stage pads and scales its own term. The
// gradient of @v has a term of stage 1, where @v is not used: it goes to stage 0.
// The terms of that of @u are both at stage 1: they are added there.
#F = #dist.phase<forward>
#W = #dist.phase<backward_weight>
dist.mesh @mesh = <"pipe"=2> pipeline "pipe"
dist.state @w : tensor<6x4xf32> {role = parameter}
dist.state @v : tensor<4x4xf32> {role = parameter}
dist.state @u : tensor<4x4xf32> {role = parameter}
// CHECK-LABEL: func.func private @microbatch
// CHECK-DAG: %[[T1:.*]] = stablehlo.negate %{{.*}} {dist.block = 1
// CHECK-DAG: %[[T0:.*]] = stablehlo.tanh %{{.*}} {dist.block = 0
// CHECK: %[[Z1:.*]] = stablehlo.constant {dist.block = 1{{.*}} dense<0.0
// CHECK: %[[P1:.*]] = stablehlo.pad %[[T1]], %[[Z1]]{{.*}}dist.block = 1
// CHECK: %[[Z0:.*]] = stablehlo.constant {dist.block = 0{{.*}} dense<0.0
// CHECK: %[[P0:.*]] = stablehlo.pad %[[T0]], %[[Z0]]{{.*}}dist.block = 0
// CHECK: %[[M1:.*]] = stablehlo.multiply %[[P1]], %{{.*}} {dist.block = 1
// CHECK: %[[M0:.*]] = stablehlo.multiply %[[P0]], %{{.*}} {dist.block = 0
// CHECK: %[[G:.*]] = stablehlo.add %[[M1]], %[[M0]]
// CHECK: %[[U:.*]] = stablehlo.add %[[T1]], %[[T1]] {dist.block = 1
// CHECK: return %{{.*}}, %{{.*}}, %[[G]], %{{.*}}, %[[U]]
// STAGES-DAG: #[[BOTH:.*]] = #dist.layout<@mesh, [{}, {}], at = {"pipe" = [0, 1]}>
// STAGES-DAG: #[[FIRST:.*]] = #dist.layout<@mesh, [{}, {}], at = {"pipe" = [0]}>
// STAGES-DAG: #[[SECOND:.*]] = #dist.layout<@mesh, [{}, {}], at = {"pipe" = [1]}>
// STAGES: stablehlo.add {{.*}}dist.layouts = [#[[BOTH]]]
// STAGES: stablehlo.add {{.*}}dist.layouts = [#[[FIRST]]]
// STAGES: stablehlo.add {{.*}}dist.layouts = [#[[SECOND]]]
func.func private @microbatch(
    %w: tensor<6x4xf32> {dist.port = #dist.port<parameter @w>},
    %v: tensor<4x4xf32> {dist.port = #dist.port<parameter @v>},
    %u: tensor<4x4xf32> {dist.port = #dist.port<parameter @u>})
    -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>},
        tensor<6x4xf32> {dist.port = #dist.port<gradient @w>},
        tensor<4x4xf32> {dist.port = #dist.port<gradient @v>},
        tensor<4x4xf32> {dist.port = #dist.port<gradient @u>}) {
  %one = stablehlo.constant {dist.block = 1 : i64, dist.phase = #F} dense<1.0> : tensor<f32>
  %zero = stablehlo.constant {dist.block = 0 : i64, dist.phase = #W} dense<0.0> : tensor<f32>
  %half = stablehlo.constant {dist.block = 0 : i64, dist.phase = #W} dense<0.5> : tensor<6x4xf32>
  %lower = stablehlo.slice %w [2:6, 0:4] {dist.block = 1 : i64, dist.phase = #F} : (tensor<6x4xf32>) -> tensor<4x4xf32>
  %upper = stablehlo.slice %w [2:6, 0:4] {dist.block = 0 : i64, dist.phase = #F} : (tensor<6x4xf32>) -> tensor<4x4xf32>
  %d = stablehlo.negate %lower {dist.block = 1 : i64, dist.phase = #W} : tensor<4x4xf32>
  %a = stablehlo.tanh %upper {dist.block = 0 : i64, dist.phase = #W} : tensor<4x4xf32>
  %sum = stablehlo.add %d, %a {dist.block = 0 : i64, dist.phase = #W} : tensor<4x4xf32>
  %padded = stablehlo.pad %sum, %zero, low = [2, 0], high = [0, 0], interior = [0, 0] {dist.block = 0 : i64, dist.phase = #W} : (tensor<4x4xf32>, tensor<f32>) -> tensor<6x4xf32>
  %g = stablehlo.multiply %padded, %half {dist.block = 0 : i64, dist.phase = #W} : tensor<6x4xf32>
  %b = stablehlo.sine %v {dist.block = 0 : i64, dist.phase = #W} : tensor<4x4xf32>
  %dv = stablehlo.add %d, %b {dist.block = 0 : i64, dist.phase = #W} : tensor<4x4xf32>
  %du = stablehlo.add %d, %d {dist.block = 0 : i64, dist.phase = #W} : tensor<4x4xf32>
  return %one, %one, %g, %dv, %du : tensor<f32>, tensor<f32>, tensor<6x4xf32>, tensor<4x4xf32>, tensor<4x4xf32>
}
func.func private @update() { return }
dist.step @train microbatch(@microbatch) update(@update) microbatches(1) schedule(<1f1b>) recompute(<none>) chunks([0, 1])
