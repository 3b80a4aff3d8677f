// RUN: llmc-opt %s --llmc-recompute | FileCheck %s

// Block 2 stands after a loop, in another segment of the forward, and reads %t of block 0: so does its backward, which
// comes before that of block 0. %t is kept, and %s, which block 0 alone reads, is computed again.
// CHECK-LABEL: func.func private @train.microbatch
// CHECK: %[[A:.*]]:3 = dist.segment chunk(0) phase(forward)
// CHECK: %[[S:.*]] = stablehlo.sine
// CHECK: %[[T:.*]] = stablehlo.tanh %[[S]]
// CHECK: dist.yield %{{.*}}, %[[T]], %{{.*}}
// CHECK: dist.segment chunk(0) phase(backward)
// CHECK-NEXT: %[[G:.*]] = stablehlo.multiply %[[A]]#1, %[[A]]#1 {dist.block = 2
// CHECK: %[[F:.*]] = dist.fence(%{{.*}})
// CHECK-NEXT: %[[AGAIN:.*]] = stablehlo.sine %[[F]] {dist.block = 0
// CHECK-NEXT: stablehlo.multiply %[[G]], %[[AGAIN]]
dist.mesh @mesh = <"data"=1>
dist.state @w : tensor<4xf32> {role = parameter, source = #dist.draw<ones>}
dist.buffer @w.local of @w : tensor<4xf32> holds [#dist.box<@w, #dist.layout<@mesh, [{}]>, [0]>]
func.func private @train.microbatch(%x: tensor<4xf32> {dist.port = #dist.port<input "x">}, %w: tensor<4xf32> {dist.port = #dist.port<parameter @w>})
    -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}, tensor<4xf32> {dist.port = #dist.port<gradient @w>}) {
  %a:3 = dist.segment chunk(0) phase(forward) -> tensor<4xf32>, tensor<4xf32>, tensor<f32> {
    %s = stablehlo.sine %w {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : tensor<4xf32>
    %t = stablehlo.tanh %s {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : tensor<4xf32>
    %count = stablehlo.constant {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} dense<4.0> : tensor<f32>
    dist.yield %s, %t, %count : tensor<4xf32>, tensor<4xf32>, tensor<f32>
  }
  %l = dist.segment chunk(0) phase(forward) loop(<"l", trips = 3>) -> tensor<4xf32> {
    %c = dist.enter carry %x of <"l", trips = 3> number(0) {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} : tensor<4xf32> -> tensor<4xf32>
    %d = stablehlo.cosine %c {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} : tensor<4xf32>
    %n = dist.next %c, %d {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} : tensor<4xf32>
    dist.yield %n : tensor<4xf32>
  }
  %y = dist.leave last %l of <"l", trips = 3> {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} : tensor<4xf32> -> tensor<4xf32>
  %f = dist.segment chunk(0) phase(forward) -> tensor<f32> {
    %p = stablehlo.multiply %a#1, %y {dist.block = 2 : i64, dist.phase = #dist.phase<forward>} : tensor<4xf32>
    %zero = stablehlo.constant {dist.block = 2 : i64, dist.phase = #dist.phase<forward>} dense<0.0> : tensor<f32>
    %ls = stablehlo.reduce(%p init: %zero) applies stablehlo.add across dimensions = [0] {dist.block = 2 : i64, dist.phase = #dist.phase<forward>} : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
    dist.yield %ls : tensor<f32>
  }
  %g = dist.segment chunk(0) phase(backward) -> tensor<4xf32> {
    %tt = stablehlo.multiply %a#1, %a#1 {dist.block = 2 : i64, dist.phase = #dist.phase<backward_input>} : tensor<4xf32>
    %gw = stablehlo.multiply %tt, %a#0 {dist.block = 0 : i64, dist.phase = #dist.phase<backward_weight>} : tensor<4xf32>
    dist.yield %gw : tensor<4xf32>
  }
  return %f, %a#2, %g : tensor<f32>, tensor<f32>, tensor<4xf32>
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
dist.step @train microbatch(@train.microbatch) update(@train.update) microbatches(1) schedule(<1f1b>) recompute(<all>) chunks([0, 0, 0]) table(<["F0.0 B0.0 U"]>)
