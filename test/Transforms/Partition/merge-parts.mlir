// RUN: llmc-opt %s --split-input-file --llmc-merge-parts | FileCheck %s

// Two parts of a fused weight: one buffer with two boxes, one product forward,
// one for the gradient, one for the cotangent of %x; the optimizer runs once,
// and its collectives move one buffer.
#w = #dist.layout<@mesh, [{}, {"t"}]>
#m = #dist.layout<@mesh, [{"d"}, {"t"}]>
#x = #dist.layout<@mesh, [{"d"}, {}]>
dist.mesh @mesh = <"d"=2, "t"=2>
// CHECK: dist.buffer @w.local of @w : tensor<4x4xf32> holds [#dist.box<@w.0, #{{.*}}, [0, 0]>, #dist.box<@w.1, #{{.*}}, [0, 2]>]
// CHECK-NOT: dist.buffer @w.0.local
// CHECK: dist.buffer @w.m.local of @w.m : tensor<2x4xf32> holds
dist.state @w : tensor<4x8xf32> {role = parameter, source = #dist.draw<normal, 0.5>}
dist.state @w.0 part of @w box([0, 0] [4, 4]) : tensor<4x4xf32> {role = parameter}
dist.buffer @w.0.local of @w.0 : tensor<4x2xf32> holds [#dist.box<@w.0, #w, [0, 0]>]
dist.state @w.1 part of @w box([0, 4] [4, 4]) : tensor<4x4xf32> {role = parameter}
dist.buffer @w.1.local of @w.1 : tensor<4x2xf32> holds [#dist.box<@w.1, #w, [0, 0]>]
dist.state @w.m : tensor<4x8xf32> {role = optimizer, of = @w, source = #dist.draw<zeros>}
dist.state @w.m.0 part of @w.m box([0, 0] [4, 4]) : tensor<4x4xf32> {role = optimizer, of = @w.0}
dist.buffer @w.m.0.local of @w.m.0 : tensor<2x2xf32> holds [#dist.box<@w.m.0, #m, [0, 0]>]
dist.state @w.m.1 part of @w.m box([0, 4] [4, 4]) : tensor<4x4xf32> {role = optimizer, of = @w.1}
dist.buffer @w.m.1.local of @w.m.1 : tensor<2x2xf32> holds [#dist.box<@w.m.1, #m, [0, 0]>]
// CHECK-LABEL: func.func @micro
// CHECK-SAME: (%[[X:.*]]: tensor<3x4xf32> {{{.*}}}, %[[W:.*]]: tensor<4x4xf32> {dist.port = #dist.port<parameter @w>})
// CHECK-SAME: -> (tensor<f32> {{{.*}}}, tensor<f32> {{{.*}}}, tensor<4x4xf32> {dist.port = #dist.port<gradient @w>})
func.func @micro(%x: tensor<3x4xf32> {dist.port = #dist.port<input "x", layout = #x>}, %w0: tensor<4x2xf32> {dist.port = #dist.port<parameter @w.0>}, %w1: tensor<4x2xf32> {dist.port = #dist.port<parameter @w.1>})
    -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}, tensor<4x2xf32> {dist.port = #dist.port<gradient @w.0>}, tensor<4x2xf32> {dist.port = #dist.port<gradient @w.1>}) {
  %zero = stablehlo.constant {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} dense<0.0> : tensor<f32>
  %n = stablehlo.constant {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} dense<6.0> : tensor<f32>
  // CHECK: %[[AB:.*]] = stablehlo.dot_general %[[X]], %[[W]], contracting_dims = [1] x [0] {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : (tensor<3x4xf32>, tensor<4x4xf32>) -> tensor<3x4xf32>
  // CHECK-DAG: %[[A:.*]] = stablehlo.slice %[[AB]] [0:3, 0:2] {dist.block = 0 : i64, dist.phase = #dist.phase<forward>}
  // CHECK-DAG: %[[B:.*]] = stablehlo.slice %[[AB]] [0:3, 2:4]
  %a = stablehlo.dot_general %x, %w0, contracting_dims = [1] x [0] {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : (tensor<3x4xf32>, tensor<4x2xf32>) -> tensor<3x2xf32>
  %b = stablehlo.dot_general %x, %w1, contracting_dims = [1] x [0] {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : (tensor<3x4xf32>, tensor<4x2xf32>) -> tensor<3x2xf32>
  // CHECK: %[[P:.*]] = stablehlo.multiply %[[A]], %[[B]]
  %p = stablehlo.multiply %a, %b {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : tensor<3x2xf32>
  %da = stablehlo.multiply %p, %b {dist.block = 0 : i64, dist.phase = #dist.phase<backward_input>} : tensor<3x2xf32>
  %db = stablehlo.multiply %p, %a {dist.block = 0 : i64, dist.phase = #dist.phase<backward_input>} : tensor<3x2xf32>
  // CHECK: %[[D:.*]] = stablehlo.concatenate %{{.*}}, %{{.*}}, dim = 1 {{{.*}}} : (tensor<3x2xf32>, tensor<3x2xf32>) -> tensor<3x4xf32>
  // CHECK-DAG: %[[DX:.*]] = stablehlo.dot_general %[[D]], %[[W]], contracting_dims = [1] x [1] {{{.*}}} : (tensor<3x4xf32>, tensor<4x4xf32>) -> tensor<3x4xf32>
  %xa = stablehlo.dot_general %da, %w0, contracting_dims = [1] x [1] {dist.block = 0 : i64, dist.phase = #dist.phase<backward_input>} : (tensor<3x2xf32>, tensor<4x2xf32>) -> tensor<3x4xf32>
  %xb = stablehlo.dot_general %db, %w1, contracting_dims = [1] x [1] {dist.block = 0 : i64, dist.phase = #dist.phase<backward_input>} : (tensor<3x2xf32>, tensor<4x2xf32>) -> tensor<3x4xf32>
  %dx = stablehlo.add %xa, %xb {dist.block = 0 : i64, dist.phase = #dist.phase<backward_input>} : tensor<3x4xf32>
  // CHECK-DAG: stablehlo.reduce(%[[DX]]
  %l = stablehlo.reduce(%dx init: %zero) applies stablehlo.add across dimensions = [0, 1] {dist.block = 0 : i64, dist.phase = #dist.phase<backward_input>} : (tensor<3x4xf32>, tensor<f32>) -> tensor<f32>
  // CHECK-DAG: %[[G:.*]] = stablehlo.dot_general %[[X]], %[[D]], contracting_dims = [0] x [0] {{{.*}}} : (tensor<3x4xf32>, tensor<3x4xf32>) -> tensor<4x4xf32>
  // CHECK: return %{{.*}}, %{{.*}}, %[[G]]
  %g0 = stablehlo.dot_general %x, %da, contracting_dims = [0] x [0] {dist.block = 0 : i64, dist.phase = #dist.phase<backward_weight>} : (tensor<3x4xf32>, tensor<3x2xf32>) -> tensor<4x2xf32>
  %g1 = stablehlo.dot_general %x, %db, contracting_dims = [0] x [0] {dist.block = 0 : i64, dist.phase = #dist.phase<backward_weight>} : (tensor<3x4xf32>, tensor<3x2xf32>) -> tensor<4x2xf32>
  return %l, %n, %g0, %g1 : tensor<f32>, tensor<f32>, tensor<4x2xf32>, tensor<4x2xf32>
}
// CHECK-LABEL: func.func @update
// CHECK-SAME: (%[[W:[a-z0-9]+]]: tensor<4x4xf32> {dist.port = #dist.port<parameter @w>}, %[[M:[a-z0-9]+]]: tensor<2x4xf32> {dist.port = #dist.port<optimizer @w.m>}, %[[G:[a-z0-9]+]]: tensor<4x4xf32> {dist.port = #dist.port<gradient @w>}
func.func @update(%w0: tensor<4x2xf32> {dist.port = #dist.port<parameter @w.0>}, %w1: tensor<4x2xf32> {dist.port = #dist.port<parameter @w.1>}, %m0: tensor<2x2xf32> {dist.port = #dist.port<optimizer @w.m.0>}, %m1: tensor<2x2xf32> {dist.port = #dist.port<optimizer @w.m.1>},
    %g0: tensor<4x2xf32> {dist.port = #dist.port<gradient @w.0>}, %g1: tensor<4x2xf32> {dist.port = #dist.port<gradient @w.1>}, %l: tensor<f32> {dist.port = #dist.port<loss_sum>}, %n: tensor<f32> {dist.port = #dist.port<count>})
    -> (tensor<4x2xf32> {dist.port = #dist.port<parameter @w.0>}, tensor<4x2xf32> {dist.port = #dist.port<parameter @w.1>}, tensor<2x2xf32> {dist.port = #dist.port<optimizer @w.m.0>}, tensor<2x2xf32> {dist.port = #dist.port<optimizer @w.m.1>}, tensor<f32> {dist.port = #dist.port<metric "norm">}) {
  %zero = stablehlo.constant {dist.phase = #dist.phase<update>} dense<0.0> : tensor<f32>
  %none = stablehlo.constant {dist.phase = #dist.phase<update>} dense<0> : tensor<i32>
  %two = stablehlo.constant {dist.phase = #dist.phase<update>} dense<2> : tensor<i32>
  %c = dist.coordinate ["d"] {dist.phase = #dist.phase<update>} : tensor<i32>
  %o = stablehlo.multiply %c, %two {dist.phase = #dist.phase<update>} : tensor<i32>
  // CHECK: %[[S:.*]] = dist.reduce_scatter @c0 %[[G]] dim 0 over ["d"] sum {{{.*}}} : tensor<4x4xf32> -> tensor<2x4xf32>
  %s0 = dist.reduce_scatter @c0 %g0 dim 0 over ["d"] sum {dist.phase = #dist.phase<update>} : tensor<4x2xf32> -> tensor<2x2xf32>
  %s1 = dist.reduce_scatter @c1 %g1 dim 0 over ["d"] sum {dist.phase = #dist.phase<update>} : tensor<4x2xf32> -> tensor<2x2xf32>
  %q0 = stablehlo.multiply %s0, %s0 {dist.phase = #dist.phase<update>} : tensor<2x2xf32>
  %q1 = stablehlo.multiply %s1, %s1 {dist.phase = #dist.phase<update>} : tensor<2x2xf32>
  %r0 = stablehlo.reduce(%q0 init: %zero) applies stablehlo.add across dimensions = [0, 1] {dist.phase = #dist.phase<update>} : (tensor<2x2xf32>, tensor<f32>) -> tensor<f32>
  %r1 = stablehlo.reduce(%q1 init: %zero) applies stablehlo.add across dimensions = [0, 1] {dist.phase = #dist.phase<update>} : (tensor<2x2xf32>, tensor<f32>) -> tensor<f32>
  %r = stablehlo.add %r0, %r1 {dist.phase = #dist.phase<update>} : tensor<f32>
  %norm = dist.all_reduce @c2 %r over ["d", "t"] sum {dist.phase = #dist.phase<update>} : tensor<f32>
  // CHECK-DAG: %[[N:.*]] = stablehlo.add %[[M]], %[[S]] {{{.*}}} : tensor<2x4xf32>
  // CHECK-DAG: %[[V:.*]] = stablehlo.dynamic_slice %[[W]], %{{.*}}, %{{.*}}, sizes = [2, 4] {{{.*}}} : (tensor<4x4xf32>, tensor<i32>, tensor<i32>) -> tensor<2x4xf32>
  // CHECK: %[[NEW:.*]] = stablehlo.subtract %[[V]], %[[N]]
  // CHECK: %[[ALL:.*]] = dist.all_gather %[[NEW]] dim 0 over ["d"] {{{.*}}} : tensor<2x4xf32> -> tensor<4x4xf32>
  // CHECK: return %[[ALL]], %[[N]]
  %n0 = stablehlo.add %m0, %s0 {dist.phase = #dist.phase<update>} : tensor<2x2xf32>
  %n1 = stablehlo.add %m1, %s1 {dist.phase = #dist.phase<update>} : tensor<2x2xf32>
  %v0 = stablehlo.dynamic_slice %w0, %o, %none, sizes = [2, 2] {dist.phase = #dist.phase<update>} : (tensor<4x2xf32>, tensor<i32>, tensor<i32>) -> tensor<2x2xf32>
  %v1 = stablehlo.dynamic_slice %w1, %o, %none, sizes = [2, 2] {dist.phase = #dist.phase<update>} : (tensor<4x2xf32>, tensor<i32>, tensor<i32>) -> tensor<2x2xf32>
  %d0 = stablehlo.subtract %v0, %n0 {dist.phase = #dist.phase<update>} : tensor<2x2xf32>
  %d1 = stablehlo.subtract %v1, %n1 {dist.phase = #dist.phase<update>} : tensor<2x2xf32>
  %a0 = dist.all_gather %d0 dim 0 over ["d"] {dist.phase = #dist.phase<update>} : tensor<2x2xf32> -> tensor<4x2xf32>
  %a1 = dist.all_gather %d1 dim 0 over ["d"] {dist.phase = #dist.phase<update>} : tensor<2x2xf32> -> tensor<4x2xf32>
  return %a0, %a1, %n0, %n1, %norm : tensor<4x2xf32>, tensor<4x2xf32>, tensor<2x2xf32>, tensor<2x2xf32>, tensor<f32>
}
dist.step @train microbatch(@micro) update(@update) microbatches(2) schedule(<1f1b>)

// -----

// The parts are used on different left sides: a merged weight would be copied,
// so they stay.
#w = #dist.layout<@mesh, [{}, {"t"}]>
dist.mesh @mesh = <"t"=2>
dist.state @w : tensor<4x8xf32> {role = parameter, source = #dist.draw<normal, 0.5>}
dist.state @w.0 part of @w box([0, 0] [4, 4]) : tensor<4x4xf32> {role = parameter}
// CHECK: dist.buffer @w.0.local
dist.buffer @w.0.local of @w.0 : tensor<4x2xf32> holds [#dist.box<@w.0, #w, [0, 0]>]
dist.state @w.1 part of @w box([0, 4] [4, 4]) : tensor<4x4xf32> {role = parameter}
// CHECK: dist.buffer @w.1.local
dist.buffer @w.1.local of @w.1 : tensor<4x2xf32> holds [#dist.box<@w.1, #w, [0, 0]>]
// CHECK-LABEL: func.func @apart
// CHECK-COUNT-2: stablehlo.dot_general
func.func @apart(%x: tensor<3x4xf32> {dist.port = #dist.port<input "x">}, %y: tensor<3x4xf32> {dist.port = #dist.port<input "y">}, %w0: tensor<4x2xf32> {dist.port = #dist.port<parameter @w.0>}, %w1: tensor<4x2xf32> {dist.port = #dist.port<parameter @w.1>}) -> (tensor<3x2xf32> {dist.port = #dist.port<output "a">}, tensor<3x2xf32> {dist.port = #dist.port<output "b">}) {
  %a = stablehlo.dot_general %x, %w0, contracting_dims = [1] x [0] {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : (tensor<3x4xf32>, tensor<4x2xf32>) -> tensor<3x2xf32>
  %b = stablehlo.dot_general %y, %w1, contracting_dims = [1] x [0] {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : (tensor<3x4xf32>, tensor<4x2xf32>) -> tensor<3x2xf32>
  return %a, %b : tensor<3x2xf32>, tensor<3x2xf32>
}
dist.entry @e function(@apart) chunks([0])

// -----

// The parts of the moments are split differently, so they cannot lie in one
// buffer: the parameter's do not either, though nothing else is against it.
#w = #dist.layout<@mesh, [{}, {"t"}]>
#m = #dist.layout<@mesh, [{"d"}, {"t"}]>
dist.mesh @mesh = <"d"=2, "t"=2>
dist.state @w : tensor<4x8xf32> {role = parameter, source = #dist.draw<normal, 0.5>}
dist.state @w.0 part of @w box([0, 0] [4, 4]) : tensor<4x4xf32> {role = parameter}
// CHECK: dist.buffer @w.0.local
dist.buffer @w.0.local of @w.0 : tensor<4x2xf32> holds [#dist.box<@w.0, #w, [0, 0]>]
dist.state @w.1 part of @w box([0, 4] [4, 4]) : tensor<4x4xf32> {role = parameter}
// CHECK: dist.buffer @w.1.local
dist.buffer @w.1.local of @w.1 : tensor<4x2xf32> holds [#dist.box<@w.1, #w, [0, 0]>]
dist.state @w.m : tensor<4x8xf32> {role = optimizer, of = @w, source = #dist.draw<zeros>}
dist.state @w.m.0 part of @w.m box([0, 0] [4, 4]) : tensor<4x4xf32> {role = optimizer, of = @w.0}
// CHECK: dist.buffer @w.m.0.local
dist.buffer @w.m.0.local of @w.m.0 : tensor<2x2xf32> holds [#dist.box<@w.m.0, #m, [0, 0]>]
dist.state @w.m.1 part of @w.m box([0, 4] [4, 4]) : tensor<4x4xf32> {role = optimizer, of = @w.1}
// CHECK: dist.buffer @w.m.1.local
dist.buffer @w.m.1.local of @w.m.1 : tensor<4x2xf32> holds [#dist.box<@w.m.1, #w, [0, 0]>]
// CHECK-LABEL: func.func @f
// CHECK-COUNT-2: stablehlo.dot_general
func.func @f(%x: tensor<3x4xf32> {dist.port = #dist.port<input "x">}, %w0: tensor<4x2xf32> {dist.port = #dist.port<parameter @w.0>}, %w1: tensor<4x2xf32> {dist.port = #dist.port<parameter @w.1>}) -> (tensor<3x2xf32> {dist.port = #dist.port<output "a">}, tensor<3x2xf32> {dist.port = #dist.port<output "b">}) {
  %a = stablehlo.dot_general %x, %w0, contracting_dims = [1] x [0] {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : (tensor<3x4xf32>, tensor<4x2xf32>) -> tensor<3x2xf32>
  %b = stablehlo.dot_general %x, %w1, contracting_dims = [1] x [0] {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : (tensor<3x4xf32>, tensor<4x2xf32>) -> tensor<3x2xf32>
  return %a, %b : tensor<3x2xf32>, tensor<3x2xf32>
}
dist.entry @e function(@f) chunks([0])

// -----

// The same without the moments is one buffer and one product.
#w = #dist.layout<@mesh, [{}, {"t"}]>
dist.mesh @mesh = <"d"=2, "t"=2>
dist.state @w : tensor<4x8xf32> {role = parameter, source = #dist.draw<normal, 0.5>}
dist.state @w.0 part of @w box([0, 0] [4, 4]) : tensor<4x4xf32> {role = parameter}
// CHECK: dist.buffer @w.local of @w : tensor<4x4xf32>
dist.buffer @w.0.local of @w.0 : tensor<4x2xf32> holds [#dist.box<@w.0, #w, [0, 0]>]
dist.state @w.1 part of @w box([0, 4] [4, 4]) : tensor<4x4xf32> {role = parameter}
dist.buffer @w.1.local of @w.1 : tensor<4x2xf32> holds [#dist.box<@w.1, #w, [0, 0]>]
// CHECK-LABEL: func.func @one
// CHECK-COUNT-1: stablehlo.dot_general
// CHECK-NOT: stablehlo.dot_general
// CHECK: dist.entry
func.func @one(%x: tensor<3x4xf32> {dist.port = #dist.port<input "x">}, %w0: tensor<4x2xf32> {dist.port = #dist.port<parameter @w.0>}, %w1: tensor<4x2xf32> {dist.port = #dist.port<parameter @w.1>}) -> (tensor<3x2xf32> {dist.port = #dist.port<output "a">}, tensor<3x2xf32> {dist.port = #dist.port<output "b">}) {
  %a = stablehlo.dot_general %x, %w0, contracting_dims = [1] x [0] {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : (tensor<3x4xf32>, tensor<4x2xf32>) -> tensor<3x2xf32>
  %b = stablehlo.dot_general %x, %w1, contracting_dims = [1] x [0] {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : (tensor<3x4xf32>, tensor<4x2xf32>) -> tensor<3x2xf32>
  return %a, %b : tensor<3x2xf32>, tensor<3x2xf32>
}
dist.entry @e function(@one) chunks([0])

// -----

// What is known of the layouts of a gradient's parts becomes its boxes.
#w = #dist.layout<@mesh, [{}, {"t"}]>
dist.mesh @mesh = <"t"=2>
dist.state @w : tensor<4x8xf32> {role = parameter, source = #dist.draw<normal, 0.5>}
dist.state @w.0 part of @w box([0, 0] [4, 4]) : tensor<4x4xf32> {role = parameter}
dist.buffer @w.0.local of @w.0 : tensor<4x2xf32> holds [#dist.box<@w.0, #w, [0, 0]>]
dist.state @w.1 part of @w box([0, 4] [4, 4]) : tensor<4x4xf32> {role = parameter}
dist.buffer @w.1.local of @w.1 : tensor<4x2xf32> holds [#dist.box<@w.1, #w, [0, 0]>]
// CHECK-LABEL: func.func @boxed(
// CHECK-SAME: %{{.*}}: tensor<4x4xf32> {dist.port = #dist.port<parameter @w>}, %{{.*}}: tensor<4x4xf32> {dist.port = #dist.port<gradient @w, boxes = [#dist.box<@w.0, #[[W:[a-z0-9]+]], [0, 0]>, #dist.box<@w.1, #[[W]], [0, 2]>]>}
// CHECK-SAME: -> (tensor<4x4xf32> {dist.port = #dist.port<parameter @w>})
func.func @boxed.micro(%w0: tensor<4x2xf32> {dist.port = #dist.port<parameter @w.0>}, %w1: tensor<4x2xf32> {dist.port = #dist.port<parameter @w.1>})
    -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}, tensor<4x2xf32> {dist.port = #dist.port<gradient @w.0>}, tensor<4x2xf32> {dist.port = #dist.port<gradient @w.1>}) {
  %n = stablehlo.constant {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} dense<6.0> : tensor<f32>
  return %n, %n, %w0, %w1 : tensor<f32>, tensor<f32>, tensor<4x2xf32>, tensor<4x2xf32>
}
func.func @boxed(%w0: tensor<4x2xf32> {dist.port = #dist.port<parameter @w.0>}, %w1: tensor<4x2xf32> {dist.port = #dist.port<parameter @w.1>},
    %g0: tensor<4x2xf32> {dist.port = #dist.port<gradient @w.0, layout = #w>}, %g1: tensor<4x2xf32> {dist.port = #dist.port<gradient @w.1, layout = #w>}, %l: tensor<f32> {dist.port = #dist.port<loss_sum>}, %n: tensor<f32> {dist.port = #dist.port<count>})
    -> (tensor<4x2xf32> {dist.port = #dist.port<parameter @w.0>}, tensor<4x2xf32> {dist.port = #dist.port<parameter @w.1>}) {
  %d0 = stablehlo.subtract %w0, %g0 {dist.phase = #dist.phase<update>} : tensor<4x2xf32>
  %d1 = stablehlo.subtract %w1, %g1 {dist.phase = #dist.phase<update>} : tensor<4x2xf32>
  return %d0, %d1 : tensor<4x2xf32>, tensor<4x2xf32>
}
dist.step @train microbatch(@boxed.micro) update(@boxed) microbatches(1) schedule(<1f1b>)

// -----

// Products of unequal precision are two.
#w = #dist.layout<@mesh, [{}, {"t"}]>
dist.mesh @mesh = <"t"=2>
dist.state @w : tensor<4x16xf32> {role = parameter, source = #dist.draw<normal, 0.5>}
dist.state @w.0 part of @w box([0, 0] [4, 8]) : tensor<4x8xf32> {role = parameter}
// CHECK: dist.buffer @w.0.local
dist.buffer @w.0.local of @w.0 : tensor<4x4xf32> holds [#dist.box<@w.0, #w, [0, 0]>]
dist.state @w.1 part of @w box([0, 8] [4, 8]) : tensor<4x8xf32> {role = parameter}
// CHECK: dist.buffer @w.1.local
dist.buffer @w.1.local of @w.1 : tensor<4x4xf32> holds [#dist.box<@w.1, #w, [0, 0]>]
// CHECK-LABEL: func.func @precision
// CHECK-COUNT-2: stablehlo.dot_general {{.*}} -> tensor<4x4xf32>
func.func @precision(%x: tensor<4x4xf32> {dist.port = #dist.port<input "x">}, %w0: tensor<4x4xf32> {dist.port = #dist.port<parameter @w.0>}, %w1: tensor<4x4xf32> {dist.port = #dist.port<parameter @w.1>}) -> (tensor<4x4xf32> {dist.port = #dist.port<output "a">}, tensor<4x4xf32> {dist.port = #dist.port<output "b">}) {
  %a = stablehlo.dot_general %x, %w0, contracting_dims = [1] x [0], precision = [HIGHEST, HIGHEST] {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %b = stablehlo.dot_general %x, %w1, contracting_dims = [1] x [0] {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %a, %b : tensor<4x4xf32>, tensor<4x4xf32>
}
dist.entry @e function(@precision) chunks([0])


// -----

// Products that have the parts on different sides are two.
#w = #dist.layout<@mesh, [{}, {"t"}]>
dist.mesh @mesh = <"t"=2>
dist.state @w : tensor<4x16xf32> {role = parameter, source = #dist.draw<normal, 0.5>}
dist.state @w.0 part of @w box([0, 0] [4, 8]) : tensor<4x8xf32> {role = parameter}
// CHECK: dist.buffer @w.0.local
dist.buffer @w.0.local of @w.0 : tensor<4x4xf32> holds [#dist.box<@w.0, #w, [0, 0]>]
dist.state @w.1 part of @w box([0, 8] [4, 8]) : tensor<4x8xf32> {role = parameter}
// CHECK: dist.buffer @w.1.local
dist.buffer @w.1.local of @w.1 : tensor<4x4xf32> holds [#dist.box<@w.1, #w, [0, 0]>]
// CHECK-LABEL: func.func @sides
// CHECK-COUNT-2: stablehlo.dot_general {{.*}} -> tensor<4x4xf32>
func.func @sides(%x: tensor<4x4xf32> {dist.port = #dist.port<input "x">}, %w0: tensor<4x4xf32> {dist.port = #dist.port<parameter @w.0>}, %w1: tensor<4x4xf32> {dist.port = #dist.port<parameter @w.1>}) -> (tensor<4x4xf32> {dist.port = #dist.port<output "a">}, tensor<4x4xf32> {dist.port = #dist.port<output "b">}) {
  %a = stablehlo.dot_general %x, %w0, contracting_dims = [1] x [0] {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %b = stablehlo.dot_general %w1, %x, contracting_dims = [1] x [0] {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %a, %b : tensor<4x4xf32>, tensor<4x4xf32>
}
dist.entry @e function(@sides) chunks([0])

// -----

// A line of two parts used by both stages: its gradients are joins, so the terms
// of each stage are copied together there, and one join is of wholes. %g0 is the
// gradient of @c too: it stays a join, since no op of a stage could slice one.
#s = #dist.layout<@mesh, [{"t"}], at = {"p" = [0, 1]}>
dist.mesh @mesh = <"p"=2, "t"=2> pipeline "p"
dist.state @b : tensor<8xf32> {role = parameter, source = #dist.draw<zeros>}
dist.state @b.0 part of @b box([0] [4]) : tensor<4xf32> {role = parameter}
dist.buffer @b.0.local of @b.0 : tensor<2xf32> holds [#dist.box<@b.0, #s, [0]>]
dist.state @b.1 part of @b box([4] [4]) : tensor<4xf32> {role = parameter}
dist.buffer @b.1.local of @b.1 : tensor<2xf32> holds [#dist.box<@b.1, #s, [0]>]
// CHECK: dist.buffer @b.local of @b : tensor<4xf32> holds
dist.state @c : tensor<4xf32> {role = parameter, source = #dist.draw<zeros>}
dist.buffer @c.local of @c : tensor<2xf32> holds [#dist.box<@c, #s, [0]>]
// CHECK-LABEL: func.func @joined
// CHECK-SAME: %[[B:[a-z0-9]+]]: tensor<4xf32> {dist.port = #dist.port<parameter @b>}
func.func @joined(%n: tensor<f32> {dist.port = #dist.port<input "n">}, %x: tensor<2xf32> {dist.port = #dist.port<input "x">}, %y: tensor<2xf32> {dist.port = #dist.port<input "y">}, %b0: tensor<2xf32> {dist.port = #dist.port<parameter @b.0>}, %b1: tensor<2xf32> {dist.port = #dist.port<parameter @b.1>}, %c: tensor<2xf32> {dist.port = #dist.port<parameter @c>})
    -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}, tensor<2xf32> {dist.port = #dist.port<gradient @b.0>}, tensor<2xf32> {dist.port = #dist.port<gradient @b.1>}, tensor<2xf32> {dist.port = #dist.port<gradient @c>}) {
  // CHECK: %[[H0:.*]] = stablehlo.multiply %{{.*}}, %{{.*}} {dist.block = 1 : i64
  // CHECK: %[[H1:.*]] = stablehlo.multiply %{{.*}}, %{{.*}} {dist.block = 1 : i64
  %h0 = stablehlo.multiply %x, %b0 {dist.block = 1 : i64, dist.phase = #dist.phase<backward_weight>} : tensor<2xf32>
  %h1 = stablehlo.multiply %x, %b1 {dist.block = 1 : i64, dist.phase = #dist.phase<backward_weight>} : tensor<2xf32>
  // CHECK: %[[H:.*]] = stablehlo.concatenate %[[H0]], %[[H1]], dim = 0 {dist.block = 1 : i64, dist.phase = #dist.phase<backward_weight>}
  // CHECK: %[[L0:.*]] = stablehlo.multiply %{{.*}}, %{{.*}} {dist.block = 0 : i64
  // CHECK: %[[L1:.*]] = stablehlo.multiply %{{.*}}, %{{.*}} {dist.block = 0 : i64
  %l0 = stablehlo.multiply %y, %b0 {dist.block = 0 : i64, dist.phase = #dist.phase<backward_weight>} : tensor<2xf32>
  %l1 = stablehlo.multiply %y, %b1 {dist.block = 0 : i64, dist.phase = #dist.phase<backward_weight>} : tensor<2xf32>
  // CHECK: %[[L:.*]] = stablehlo.concatenate %[[L0]], %[[L1]], dim = 0 {dist.block = 0 : i64, dist.phase = #dist.phase<backward_weight>}
  // CHECK-DAG: %[[G:.*]] = dist.join %[[H]], %[[L]] over "p" {dist.at = array<i64: 0, 1>} : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
  // CHECK-DAG: %[[C:.*]] = dist.join %[[H0]], %[[L0]] over "p"
  %g0 = dist.join %h0, %l0 over "p" {dist.at = array<i64: 0, 1>} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  %g1 = dist.join %h1, %l1 over "p" {dist.at = array<i64: 0, 1>} : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
  // CHECK: return %{{.*}}, %{{.*}}, %[[G]], %[[C]] : tensor<f32>, tensor<f32>, tensor<4xf32>, tensor<2xf32>
  return %n, %n, %g0, %g1, %g0 : tensor<f32>, tensor<f32>, tensor<2xf32>, tensor<2xf32>, tensor<2xf32>
}
func.func @update() { return }
dist.step @s microbatch(@joined) update(@update) microbatches(1) schedule(<gpipe>) chunks([0, 1])

// -----

// The terms of the parts stand at different stages: no op can copy them together.
#s = #dist.layout<@mesh, [{"t"}], at = {"p" = [0, 1]}>
dist.mesh @mesh = <"p"=2, "t"=2> pipeline "p"
dist.state @b : tensor<8xf32> {role = parameter, source = #dist.draw<zeros>}
dist.state @b.0 part of @b box([0] [4]) : tensor<4xf32> {role = parameter}
dist.buffer @b.0.local of @b.0 : tensor<2xf32> holds [#dist.box<@b.0, #s, [0]>]
dist.state @b.1 part of @b box([4] [4]) : tensor<4xf32> {role = parameter}
dist.buffer @b.1.local of @b.1 : tensor<2xf32> holds [#dist.box<@b.1, #s, [0]>]
// CHECK-NOT: dist.buffer @b.local
// CHECK-LABEL: func.func @elsewhere
// CHECK-NOT: stablehlo.concatenate
func.func @elsewhere(%n: tensor<f32> {dist.port = #dist.port<input "n">}, %x: tensor<2xf32> {dist.port = #dist.port<input "x">}, %b0: tensor<2xf32> {dist.port = #dist.port<parameter @b.0>}, %b1: tensor<2xf32> {dist.port = #dist.port<parameter @b.1>})
    -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}, tensor<2xf32> {dist.port = #dist.port<gradient @b.0>}, tensor<2xf32> {dist.port = #dist.port<gradient @b.1>}) {
  %h0 = stablehlo.multiply %x, %b0 {dist.block = 1 : i64, dist.phase = #dist.phase<backward_weight>} : tensor<2xf32>
  %h1 = stablehlo.multiply %x, %b1 {dist.block = 0 : i64, dist.phase = #dist.phase<backward_weight>} : tensor<2xf32>
  return %n, %n, %h0, %h1 : tensor<f32>, tensor<f32>, tensor<2xf32>, tensor<2xf32>
}
func.func @update() { return }
dist.step @s microbatch(@elsewhere) update(@update) microbatches(1) schedule(<gpipe>) chunks([0, 1])

// -----

// No layout is made of dims of both parts: it would have one axis twice.
#a = #dist.layout<@mesh, [{"d"}, {"t"}]>
#b = #dist.layout<@mesh, [{"t"}, {"d"}]>
dist.mesh @mesh = <"d"=2, "t"=2>
dist.state @w : tensor<4x8xf32> {role = parameter, source = #dist.draw<zeros>}
// CHECK: dist.buffer @w.0.local
dist.state @w.0 part of @w box([0, 0] [4, 4]) : tensor<4x4xf32> {role = parameter}
dist.buffer @w.0.local of @w.0 : tensor<2x2xf32> holds [#dist.box<@w.0, #a, [0, 0]>]
// CHECK: dist.buffer @w.1.local
dist.state @w.1 part of @w box([0, 4] [4, 4]) : tensor<4x4xf32> {role = parameter}
dist.buffer @w.1.local of @w.1 : tensor<2x2xf32> holds [#dist.box<@w.1, #b, [0, 0]>]
func.func @crossed(%w0: tensor<2x2xf32> {dist.port = #dist.port<parameter @w.0>}, %w1: tensor<2x2xf32> {dist.port = #dist.port<parameter @w.1>}) -> (tensor<2x2xf32> {dist.port = #dist.port<output "y">}) {
  %y = stablehlo.add %w0, %w1 {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : tensor<2x2xf32>
  return %y : tensor<2x2xf32>
}
dist.entry @e function(@crossed) chunks([0])

// -----

// Two weights of parts with an input between them: each whole stands in the
// place of its first part. What is made of the first product moves after the
// one product, other ops stay.
#w = #dist.layout<@mesh, [{}, {"t"}]>
dist.mesh @mesh = <"t"=2>
dist.state @v : tensor<4x8xf32> {role = parameter, source = #dist.draw<normal, 0.5>}
dist.state @v.0 part of @v box([0, 0] [4, 4]) : tensor<4x4xf32> {role = parameter}
dist.buffer @v.0.local of @v.0 : tensor<4x2xf32> holds [#dist.box<@v.0, #w, [0, 0]>]
dist.state @v.1 part of @v box([0, 4] [4, 4]) : tensor<4x4xf32> {role = parameter}
dist.buffer @v.1.local of @v.1 : tensor<4x2xf32> holds [#dist.box<@v.1, #w, [0, 0]>]
dist.state @w : tensor<4x8xf32> {role = parameter, source = #dist.draw<normal, 0.5>}
dist.state @w.0 part of @w box([0, 0] [4, 4]) : tensor<4x4xf32> {role = parameter}
dist.buffer @w.0.local of @w.0 : tensor<4x2xf32> holds [#dist.box<@w.0, #w, [0, 0]>]
dist.state @w.1 part of @w box([0, 4] [4, 4]) : tensor<4x4xf32> {role = parameter}
dist.buffer @w.1.local of @w.1 : tensor<4x2xf32> holds [#dist.box<@w.1, #w, [0, 0]>]
// CHECK-LABEL: func.func @two
// CHECK-SAME: (%[[X:.*]]: tensor<3x4xf32> {{{.*}}}, %[[V:.*]]: tensor<4x4xf32> {dist.port = #dist.port<parameter @v>}, %[[K:.*]]: tensor<3x2xf32> {{{.*}}}, %[[W:.*]]: tensor<4x4xf32> {dist.port = #dist.port<parameter @w>})
func.func @two(%x: tensor<3x4xf32> {dist.port = #dist.port<input "x">}, %v0: tensor<4x2xf32> {dist.port = #dist.port<parameter @v.0>}, %v1: tensor<4x2xf32> {dist.port = #dist.port<parameter @v.1>}, %k: tensor<3x2xf32> {dist.port = #dist.port<input "k">}, %w0: tensor<4x2xf32> {dist.port = #dist.port<parameter @w.0>}, %w1: tensor<4x2xf32> {dist.port = #dist.port<parameter @w.1>})
    -> (tensor<3x2xf32> {dist.port = #dist.port<output "a">}, tensor<3x2xf32> {dist.port = #dist.port<output "b">}, tensor<3x2xf32> {dist.port = #dist.port<output "c">}) {
  // CHECK-NEXT: %[[C:.*]] = stablehlo.exponential %[[K]]
  // CHECK-NEXT: %[[VV:.*]] = stablehlo.dot_general %[[X]], %[[V]], {{.*}} -> tensor<3x4xf32>
  // CHECK-NEXT: %[[P:.*]] = stablehlo.slice %[[VV]] [0:3, 0:2]
  // CHECK-NEXT: stablehlo.exponential %[[P]]
  // CHECK-NEXT: stablehlo.slice %[[VV]] [0:3, 2:4]
  // CHECK: %[[WW:.*]] = stablehlo.dot_general %[[X]], %[[W]], {{.*}} -> tensor<3x4xf32>
  // CHECK-COUNT-2: stablehlo.slice %[[WW]]
  // CHECK-NOT: stablehlo.dot_general
  // CHECK: return %{{.*}}, %{{.*}}, %[[C]]
  %p = stablehlo.dot_general %x, %v0, contracting_dims = [1] x [0] {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : (tensor<3x4xf32>, tensor<4x2xf32>) -> tensor<3x2xf32>
  %e = stablehlo.exponential %p {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : tensor<3x2xf32>
  %c = stablehlo.exponential %k {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : tensor<3x2xf32>
  %q = stablehlo.dot_general %x, %v1, contracting_dims = [1] x [0] {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : (tensor<3x4xf32>, tensor<4x2xf32>) -> tensor<3x2xf32>
  %r = stablehlo.dot_general %x, %w0, contracting_dims = [1] x [0] {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : (tensor<3x4xf32>, tensor<4x2xf32>) -> tensor<3x2xf32>
  %s = stablehlo.dot_general %x, %w1, contracting_dims = [1] x [0] {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : (tensor<3x4xf32>, tensor<4x2xf32>) -> tensor<3x2xf32>
  %a = stablehlo.add %e, %q {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : tensor<3x2xf32>
  %b = stablehlo.add %r, %s {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : tensor<3x2xf32>
  return %a, %b, %c : tensor<3x2xf32>, tensor<3x2xf32>, tensor<3x2xf32>
}
dist.entry @e function(@two) chunks([0])

// -----

// Parts that lie in one buffer already stay as they are.
#w = #dist.layout<@mesh, [{}, {"t"}]>
dist.mesh @mesh = <"t"=2>
dist.state @w : tensor<4x8xf32> {role = parameter, source = #dist.draw<zeros>}
dist.state @w.0 part of @w box([0, 0] [4, 4]) : tensor<4x4xf32> {role = parameter}
dist.state @w.1 part of @w box([0, 4] [4, 4]) : tensor<4x4xf32> {role = parameter}
// CHECK: dist.buffer @both of @w : tensor<4x4xf32> holds [#dist.box<@w.0, #{{.*}}, [0, 0]>, #dist.box<@w.1, #{{.*}}, [0, 2]>]
// CHECK-NOT: dist.buffer
// CHECK: func.func @together(%arg0: tensor<4x4xf32> {dist.port = #dist.port<parameter @w>})
dist.buffer @both of @w : tensor<4x4xf32> holds [#dist.box<@w.0, #w, [0, 0]>, #dist.box<@w.1, #w, [0, 2]>]
func.func @together(%w: tensor<4x4xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<4x4xf32> {dist.port = #dist.port<output "y">}) {
  %y = stablehlo.negate %w {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}
dist.entry @e function(@together) chunks([0])
