// RUN: llmc-opt %s --llmc-outline-programs | FileCheck %s

// Each segment becomes a function over slots: what crosses from forward to
// backward is an act slot; gradient, loss and count are step slots, to which
// each of the two microbatches adds; the step becomes a timeline.
// CHECK: dist.timeline @train microbatches(2)
// CHECK-SAME: #dist.program<@train.c0.F, chunk = 0, phase = forward, at = [0]>, #dist.program<@train.c0.B, chunk = 0, phase = backward, at = [0]>, #dist.program<@train.u0, phase = update, at = [0]>
// CHECK-SAME: table(<["F0.0 B0.0 F0.1 B0.1 U"]>)

// CHECK-LABEL: func.func private @train.c0.F
// CHECK-SAME: {dist.port = #dist.port<buffer @w.local>}
// CHECK-SAME: {dist.port = #dist.port<input "x">}
// CHECK-SAME: %[[SUM:[a-z0-9]+]]: tensor<f32> {dist.port = #dist.port<loss_sum>}
// CHECK-SAME: -> (tensor<4xf32> {dist.port = #dist.port<act "c0.a0", chunk = 0>}, tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}, tensor<4xf32> {dist.port = #dist.port<act "c0.a1", chunk = 0>})
// CHECK: %[[LOSS:.*]] = stablehlo.reduce
// CHECK: stablehlo.add %[[SUM]], %[[LOSS]]

// CHECK-LABEL: func.func private @train.c0.B
// CHECK-SAME: {dist.port = #dist.port<act "c0.a0", chunk = 0>}
// CHECK-SAME: %[[ACC:[a-z0-9]+]]: tensor<4xf32> {dist.port = #dist.port<gradient @w>}
// CHECK-SAME: -> (tensor<4xf32> {dist.port = #dist.port<gradient @w>})
// CHECK: stablehlo.add %[[ACC]],

// CHECK-LABEL: func.func private @train.u0
// CHECK-SAME: {dist.port = #dist.port<metric "loss">}
// CHECK-NOT: dist.segment
dist.mesh @mesh = <"data"=1>
dist.state @w : tensor<4xf32> {role = parameter, source = #dist.draw<ones>}
dist.buffer @w.local of @w : tensor<4xf32> holds [#dist.box<@w, #dist.layout<@mesh, [{}]>, [0]>]
func.func private @train.microbatch(%x: tensor<4xf32> {dist.port = #dist.port<input "x">}, %w: tensor<4xf32> {dist.port = #dist.port<parameter @w>})
    -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}, tensor<4xf32> {dist.port = #dist.port<gradient @w>}) {
  %f:3 = dist.segment chunk(0) phase(forward) -> tensor<4xf32>, tensor<f32>, tensor<f32> {
    %t = stablehlo.tanh %w {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : tensor<4xf32>
    %p = stablehlo.multiply %t, %x {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : tensor<4xf32>
    %zero = stablehlo.constant {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} dense<0.0> : tensor<f32>
    %ls = stablehlo.reduce(%p init: %zero) applies stablehlo.add across dimensions = [0] {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
    %count = stablehlo.constant {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} dense<4.0> : tensor<f32>
    dist.yield %t, %ls, %count : tensor<4xf32>, tensor<f32>, tensor<f32>
  }
  %g = dist.segment chunk(0) phase(backward) -> tensor<4xf32> {
    %one = stablehlo.constant {dist.block = 0 : i64, dist.phase = #dist.phase<backward_weight>} dense<1.0> : tensor<4xf32>
    %tt = stablehlo.multiply %f#0, %f#0 {dist.block = 0 : i64, dist.phase = #dist.phase<backward_weight>} : tensor<4xf32>
    %d = stablehlo.subtract %one, %tt {dist.block = 0 : i64, dist.phase = #dist.phase<backward_weight>} : tensor<4xf32>
    %gw = stablehlo.multiply %x, %d {dist.block = 0 : i64, dist.phase = #dist.phase<backward_weight>} : tensor<4xf32>
    dist.yield %gw : tensor<4xf32>
  }
  return %f#1, %f#2, %g : tensor<f32>, tensor<f32>, tensor<4xf32>
}
func.func private @train.update(%w: tensor<4xf32> {dist.port = #dist.port<parameter @w>}, %g: tensor<4xf32> {dist.port = #dist.port<gradient @w>}, %ls: tensor<f32> {dist.port = #dist.port<loss_sum>}, %count: tensor<f32> {dist.port = #dist.port<count>})
    -> (tensor<4xf32> {dist.port = #dist.port<parameter @w>}, tensor<f32> {dist.port = #dist.port<metric "loss">}) {
  %u:2 = dist.segment at(0) phase(update) -> tensor<4xf32>, tensor<f32> {
    %new = stablehlo.subtract %w, %g {dist.phase = #dist.phase<update>} : tensor<4xf32>
    %loss = stablehlo.divide %ls, %count {dist.phase = #dist.phase<update>} : tensor<f32>
    dist.yield %new, %loss : tensor<4xf32>, tensor<f32>
  }
  return %u#0, %u#1 : tensor<4xf32>, tensor<f32>
}
dist.step @train microbatch(@train.microbatch) update(@train.update) microbatches(2) schedule(<1f1b>) chunks([0]) table(<["F0.0 B0.0 F0.1 B0.1 U"]>)
