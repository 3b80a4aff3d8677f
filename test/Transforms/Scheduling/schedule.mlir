// RUN: llmc-opt %s --split-input-file --verify-diagnostics --llmc-schedule | FileCheck %s

// With one stage every schedule is gradient accumulation. The table has no
// weight cells, so the weight segment becomes the chunk's backward.
// CHECK-LABEL: func.func private @train.microbatch
// CHECK: dist.segment chunk(0) phase(forward)
// CHECK: dist.segment chunk(0) phase(backward) ->
// CHECK: dist.step @train {{.*}} table(<["F0.0 B0.0 F0.1 B0.1 U"]>)
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
  %g = dist.segment chunk(0) phase(backward_weight) -> tensor<4xf32> {
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
dist.step @train microbatch(@train.microbatch) update(@train.update) microbatches(2) schedule(<1f1b>) chunks([0])

// -----

// Backward-input and backward-weight become one segment, in which a weight
// gradient stands right after what it needs.
dist.mesh @mesh = <"data"=1>
// CHECK-LABEL: func.func private @merged
func.func private @merged(%x: tensor<4xf32> {dist.port = #dist.port<input "x">})
    -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}) {
  // CHECK: %[[B:.*]]:2 = dist.segment chunk(0) phase(backward) -> tensor<f32>, tensor<f32>
  // CHECK-NEXT: %[[S:.*]] = stablehlo.constant
  // CHECK-NEXT: %[[N:.*]] = stablehlo.negate %[[S]]
  // CHECK-NEXT: %[[U:.*]] = stablehlo.abs %[[S]]
  // CHECK-NEXT: dist.yield %[[U]], %[[N]]
  %b:2 = dist.segment chunk(0) phase(backward_input) -> tensor<f32>, tensor<f32> {
    %s = stablehlo.constant {dist.block = 0 : i64, dist.phase = #dist.phase<backward_input>} dense<1.0> : tensor<f32>
    %u = stablehlo.abs %s {dist.block = 0 : i64, dist.phase = #dist.phase<backward_input>} : tensor<f32>
    dist.yield %s, %u : tensor<f32>, tensor<f32>
  }
  %w = dist.segment chunk(0) phase(backward_weight) -> tensor<f32> {
    %n = stablehlo.negate %b#0 {dist.block = 0 : i64, dist.phase = #dist.phase<backward_weight>} : tensor<f32>
    dist.yield %n : tensor<f32>
  }
  return %b#1, %w : tensor<f32>, tensor<f32>
}
func.func private @nothing(%ls: tensor<f32> {dist.port = #dist.port<loss_sum>}, %count: tensor<f32> {dist.port = #dist.port<count>}) {
  return
}
dist.step @train microbatch(@merged) update(@nothing) microbatches(1) schedule(<1f1b>) chunks([0])

// -----

dist.mesh @mesh = <"data"=1>
func.func @f(%x: tensor<4xf32> {dist.port = #dist.port<input "x">}) -> (tensor<4xf32> {dist.port = #dist.port<output "y">}) {
  return %x : tensor<4xf32>
}
// CHECK-LABEL: func.func @f
// CHECK: dist.segment chunk(0) phase(forward) {
// CHECK: dist.entry @forward function(@f) chunks([0]) table(<["F0.0"]>)
dist.entry @forward function(@f) chunks([0])

// -----

dist.mesh @mesh = <"data"=1>
func.func private @m() -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}) {
  %0 = stablehlo.constant dense<1.0> : tensor<f32>
  return %0, %0 : tensor<f32>, tensor<f32>
}
func.func private @u(%ls: tensor<f32> {dist.port = #dist.port<loss_sum>}, %count: tensor<f32> {dist.port = #dist.port<count>}) {
  return
}
// expected-error-re@+1 {{expected a schedule out of {{.*}}1f1b{{.*}}, got 'sideways'}}
dist.step @train microbatch(@m) update(@u) microbatches(1) schedule(<"sideways">) chunks([0])

// -----

// A cell needs its segment: what a chunk lacks is added, empty, in the place
// that it has in the order of the table.
dist.mesh @mesh = <"pipe"=3> pipeline "pipe"
// CHECK-LABEL: func.func private @lacking
// CHECK: dist.segment chunk(0) phase(forward)
// CHECK: dist.segment chunk(1) phase(forward) {
// CHECK-NEXT: dist.yield
// CHECK: dist.segment chunk(2) phase(forward) ->
// CHECK: dist.segment chunk(2) phase(backward) {
// CHECK-NEXT: dist.yield
// CHECK: dist.segment chunk(1) phase(backward) ->
// CHECK: dist.segment chunk(0) phase(backward) {
// CHECK-NEXT: dist.yield
// CHECK-NEXT: }
// CHECK-NEXT: return
func.func private @lacking(%x: tensor<f32> {dist.port = #dist.port<input "x">})
    -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}) {
  %a = dist.segment chunk(0) phase(forward) -> tensor<f32> {
    %0 = stablehlo.negate %x : tensor<f32>
    dist.yield %0 : tensor<f32>
  }
  %b = dist.segment chunk(2) phase(forward) -> tensor<f32> {
    %0 = stablehlo.negate %a : tensor<f32>
    dist.yield %0 : tensor<f32>
  }
  %c = dist.segment chunk(1) phase(backward_input) -> tensor<f32> {
    %0 = stablehlo.negate %b : tensor<f32>
    dist.yield %0 : tensor<f32>
  }
  return %b, %c : tensor<f32>, tensor<f32>
}
func.func private @lacking.update(%ls: tensor<f32> {dist.port = #dist.port<loss_sum>}, %count: tensor<f32> {dist.port = #dist.port<count>}) {
  return
}
dist.step @train microbatch(@lacking) update(@lacking.update) microbatches(1) schedule(<1f1b>) chunks([0, 1, 2])
