// RUN: llmc-opt %s --split-input-file --verify-diagnostics --llmc-recompute | FileCheck %s
// RUN: sed 's/(<all>)/(<every, 2>)/' %s | llmc-opt --split-input-file --verify-diagnostics --llmc-recompute | FileCheck %s
// RUN: sed 's/(<all>)/(<every, 1>)/' %s | llmc-opt --split-input-file --verify-diagnostics --llmc-recompute | FileCheck %s --check-prefix=EVERY
// EVERY-NOT: dist.fence
// RUN: not llmc-opt %s --split-input-file --llmc-recompute --remarks-filter=memory --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK
// REMARK: block 0: 1 ops are computed again, 16 B are not kept

// The backward computes tanh again, after a fence, and the forward does not
// hand it over.
// CHECK-LABEL: func.func private @train.microbatch
// CHECK-SAME: %[[X:.*]]: tensor<4xf32> {{{.*}}}, %[[W:.*]]: tensor<4xf32> {
// CHECK: dist.segment chunk(0) phase(forward)
// CHECK: dist.segment chunk(0) phase(backward)
// CHECK: %[[F:.*]] = dist.fence(%[[W]])
// CHECK: %[[T:.*]] = stablehlo.tanh %[[F]]
// CHECK: stablehlo.multiply %[[T]], %[[T]]
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
dist.step @train microbatch(@train.microbatch) update(@train.update) microbatches(2) schedule(<1f1b>) recompute(<all>) chunks([0]) table(<["F0.0 B0.0 F0.1 B0.1 U"]>)

// -----

// What another block's op reads first is computed again before that.
// CHECK-LABEL: func.func private @train.microbatch
// CHECK: dist.segment chunk(0) phase(backward)
// CHECK: %[[F:.*]] = dist.fence
// CHECK: %[[T:.*]] = stablehlo.tanh %[[F]]
// CHECK: %[[E:.*]] = stablehlo.exponential %[[T]]
// CHECK: stablehlo.multiply %[[E]], %{{.*}} {dist.block = 1
// CHECK: stablehlo.multiply %[[T]], %{{.*}} {dist.block = 0
dist.mesh @mesh = <"data"=1>
dist.state @w : tensor<4xf32> {role = parameter, source = #dist.draw<ones>}
dist.buffer @w.local of @w : tensor<4xf32> holds [#dist.box<@w, #dist.layout<@mesh, [{}]>, [0]>]
func.func private @train.microbatch(%x: tensor<4xf32> {dist.port = #dist.port<input "x">}, %w: tensor<4xf32> {dist.port = #dist.port<parameter @w>})
    -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}, tensor<4xf32> {dist.port = #dist.port<gradient @w>}) {
  %f:4 = dist.segment chunk(0) phase(forward) -> tensor<4xf32>, tensor<f32>, tensor<f32>, tensor<4xf32> {
    %t = stablehlo.tanh %w {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : tensor<4xf32>
    %e = stablehlo.exponential %t {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : tensor<4xf32>
    %p = stablehlo.multiply %t, %x {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : tensor<4xf32>
    %zero = stablehlo.constant {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} dense<0.0> : tensor<f32>
    %ls = stablehlo.reduce(%p init: %zero) applies stablehlo.add across dimensions = [0] {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
    %count = stablehlo.constant {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} dense<4.0> : tensor<f32>
    dist.yield %e, %ls, %count, %t : tensor<4xf32>, tensor<f32>, tensor<f32>, tensor<4xf32>
  }
  %g = dist.segment chunk(0) phase(backward) -> tensor<4xf32> {
    %d = stablehlo.multiply %f#0, %x {dist.block = 1 : i64, dist.phase = #dist.phase<backward_weight>} : tensor<4xf32>
    %gw = stablehlo.multiply %f#3, %d {dist.block = 0 : i64, dist.phase = #dist.phase<backward_weight>} : tensor<4xf32>
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
dist.step @train microbatch(@train.microbatch) update(@train.update) microbatches(2) schedule(<1f1b>) recompute(<all>) chunks([0, 0]) table(<["F0.0 B0.0 F0.1 B0.1 U"]>)

// -----

// Without `recompute` the forward hands it over.
// CHECK-LABEL: func.func private @train.microbatch
// CHECK: %[[F:.*]]:3 = dist.segment chunk(0) phase(forward)
// CHECK-NOT: dist.fence
// CHECK: stablehlo.multiply %[[F]]#0, %[[F]]#0
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

// -----

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
// expected-error@+1 {{expected 'chunks' before recomputation}}
dist.step @train microbatch(@train.microbatch) update(@train.update) microbatches(2) schedule(<1f1b>) recompute(<all>) table(<["F0.0 B0.0 F0.1 B0.1 U"]>)
