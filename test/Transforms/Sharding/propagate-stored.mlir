// RUN: llmc-opt %s --split-input-file --llmc-propagate-layouts --llmc-verify-layouts --mlir-print-local-scope | FileCheck %s

// Rows that say nothing of `use` (as annotations of JAX), over an axis that splits samples.

// A weight is kept split and gathered where samples are split by the same axis; over the other axis it stays split. Its row says
// so from now on. That the bias is split reaches no value of the samples.
// CHECK: dist.state @w {{.*}}#dist.row<rest = <@mesh, [{"data"}, {"tensor"}]>, use = <@mesh, [{"data"}, {"tensor"}]>>
// CHECK-LABEL: func.func @dense(
// CHECK: stablehlo.dot_general {{.*}}[#dist.layout<@mesh, [{"data"}, {"tensor"}]>]
// CHECK: stablehlo.broadcast_in_dim {{.*}}[#dist.layout<@mesh, [{"data"}, {"tensor"}]>]
// CHECK: stablehlo.add {{.*}}[#dist.layout<@mesh, [{"data"}, {"tensor"}]>]
dist.mesh @mesh = <"data"=2, "tensor"=2>
dist.state @w : tensor<16x8xf32> {role = parameter, row = #dist.row<rest = <@mesh, [{"data"}, {"tensor"}]>>, source = #dist.draw<zeros>}
dist.state @b : tensor<8xf32> {role = parameter, row = #dist.row<rest = <@mesh, [{"data"}]>>, source = #dist.draw<zeros>}
func.func @dense(%x: tensor<4x16xf32> {dist.port = #dist.port<input "x", layout = <@mesh, [{"data"}, {}]>>},
                 %w: tensor<16x8xf32> {dist.port = #dist.port<parameter @w>},
                 %b: tensor<8xf32> {dist.port = #dist.port<parameter @b>}) -> (tensor<4x8xf32> {dist.port = #dist.port<output "y">}) {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<4x16xf32>, tensor<16x8xf32>) -> tensor<4x8xf32>
  %1 = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<8xf32>) -> tensor<4x8xf32>
  %2 = stablehlo.add %0, %1 : tensor<4x8xf32>
  return %2 : tensor<4x8xf32>
}
dist.entry @forward function(@dense) chunks([0])

// -----

// Experts are split by the axis of the samples, and nothing else wants it where they are used: they stay where they are, and what
// is sent to them is split as they are.
// CHECK-LABEL: func.func @experts(
// CHECK: stablehlo.dot_general {{.*}}[#dist.layout<@mesh, [{"data"}, {}, {}]>]
// CHECK: stablehlo.dot_general {{.*}}[#dist.layout<@mesh, [{"data"}, {}, {}]>]
dist.mesh @mesh = <"data"=2>
dist.state @up : tensor<4x8x6xf32> {role = parameter, row = #dist.row<rest = <@mesh, [{"data"}, {}, {}]>>, source = #dist.draw<zeros>}
func.func @experts(%x: tensor<10x8xf32> {dist.port = #dist.port<input "x", layout = <@mesh, [{"data"}, {}]>>},
                   %place: tensor<10x4x3xf32> {dist.port = #dist.port<input "place", layout = <@mesh, [{"data"}, {}, {}]>>},
                   %up: tensor<4x8x6xf32> {dist.port = #dist.port<parameter @up>}) -> (tensor<4x3x6xf32> {dist.port = #dist.port<output "y">}) {
  %0 = stablehlo.dot_general %place, %x, contracting_dims = [0] x [0] : (tensor<10x4x3xf32>, tensor<10x8xf32>) -> tensor<4x3x8xf32>
  %1 = stablehlo.dot_general %0, %up, batching_dims = [0] x [0], contracting_dims = [2] x [1] : (tensor<4x3x8xf32>, tensor<4x8x6xf32>) -> tensor<4x3x6xf32>
  return %1 : tensor<4x3x6xf32>
}
dist.entry @forward function(@experts) chunks([0])

// -----

// A weight that is stored split by the axis of the samples alone is not used split by another one, which what it multiplies has:
// its products would be terms, and its gradient would change its axis for the update.
// CHECK: dist.state @w {{.*}}#dist.row<rest = <@mesh, [{"data"}, {}]>, use = <@mesh, [{"data"}, {}]>>
// CHECK-LABEL: func.func @foreign(
dist.mesh @mesh = <"data"=2, "tensor"=2>
dist.state @w : tensor<16x8xf32> {role = parameter, row = #dist.row<rest = <@mesh, [{"data"}, {}]>>, source = #dist.draw<zeros>}
func.func @foreign(%x: tensor<4x16xf32> {dist.port = #dist.port<input "x", layout = <@mesh, [{"data"}, {"tensor"}]>>},
                   %w: tensor<16x8xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<4x8xf32> {dist.port = #dist.port<output "y">}) {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<4x16xf32>, tensor<16x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
dist.entry @forward function(@foreign) chunks([0])

// -----

// The 12 patches of a picture are 3 x 4, and no sample is split along them: a weight that is stored split along 12 is gathered
// for them, and needs no boundary of 3 and 4, for which it would be padded to 16.
// CHECK: dist.state @w {{.*}}#dist.row<rest = <@mesh, [{"data"}, {}]>, use = <@mesh, [{"data"}, {}]>>
// CHECK-LABEL: func.func @patches(
dist.mesh @mesh = <"data"=2>
dist.state @w : tensor<12x10xf32> {role = parameter, row = #dist.row<rest = <@mesh, [{"data"}, {}]>>, source = #dist.draw<zeros>}
func.func @patches(%x: tensor<8x3x4xf32> {dist.port = #dist.port<input "x", layout = <@mesh, [{"data"}, {}, {}]>>},
                   %w: tensor<12x10xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<8x10xf32> {dist.port = #dist.port<output "y">}) {
  %0 = stablehlo.reshape %x : (tensor<8x3x4xf32>) -> tensor<8x12xf32>
  %1 = stablehlo.dot_general %0, %w, contracting_dims = [1] x [0] : (tensor<8x12xf32>, tensor<12x10xf32>) -> tensor<8x10xf32>
  return %1 : tensor<8x10xf32>
}
dist.entry @forward function(@patches) chunks([0])

// -----

// Where samples are not split by the axis, a weight that is split is used so.
// CHECK: dist.state @w {{.*}}#dist.row<rest = <@mesh, [{"tensor"}, {}]>>
// CHECK-LABEL: func.func @rows(%{{[^:]*}}: tensor<4x16xf32> {dist.port = #dist.port<input "x", layout = <@mesh, [{}, {"tensor"}]>>}
dist.mesh @mesh = <"tensor"=2>
dist.state @w : tensor<16x8xf32> {role = parameter, row = #dist.row<rest = <@mesh, [{"tensor"}, {}]>>, source = #dist.draw<zeros>}
func.func @rows(%x: tensor<4x16xf32> {dist.port = #dist.port<input "x">},
                %w: tensor<16x8xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<4x8xf32> {dist.port = #dist.port<output "y">}) {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<4x16xf32>, tensor<16x8xf32>) -> tensor<4x8xf32>
  return %0 : tensor<4x8xf32>
}
dist.entry @forward function(@rows) chunks([0])

// -----

// A gradient that is split where its parameter and moments are whole: ops of the update make whole values, so that the gradient
// alone is gathered. The other parameter is whole at rest and its moment is split: the update follows the moment.
// CHECK-LABEL: func.func private @train.update(
// CHECK-SAME: #dist.port<gradient @w, layout = <@mesh, [{"tensor"}]>>
// CHECK: stablehlo.add {{.*}}[#dist.layout<@mesh, [{}]>]
// CHECK: stablehlo.subtract {{.*}}[#dist.layout<@mesh, [{}]>]
// CHECK: stablehlo.add {{.*}}[#dist.layout<@mesh, [{"tensor"}]>]
dist.mesh @mesh = <"tensor"=2>
dist.state @w : tensor<8xf32> {role = parameter, row = #dist.row<rest = <@mesh, [{}]>>, source = #dist.draw<zeros>}
dist.state @m : tensor<8xf32> {role = optimizer, of = @w, row = #dist.row<rest = <@mesh, [{}]>>, source = #dist.draw<zeros>}
dist.state @v : tensor<8xf32> {role = parameter, row = #dist.row<rest = <@mesh, [{}]>>, source = #dist.draw<zeros>}
dist.state @n : tensor<8xf32> {role = optimizer, of = @v, row = #dist.row<rest = <@mesh, [{"tensor"}]>>, source = #dist.draw<zeros>}
func.func private @train.microbatch(%x: tensor<8xf32> {dist.port = #dist.port<input "x", layout = <@mesh, [{"tensor"}]>>},
    %w: tensor<8xf32> {dist.port = #dist.port<parameter @w>}, %v: tensor<8xf32> {dist.port = #dist.port<parameter @v>})
    -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}, tensor<8xf32> {dist.port = #dist.port<gradient @w>},
        tensor<8xf32> {dist.port = #dist.port<gradient @v>}) {
  %a = stablehlo.multiply %x, %w {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : tensor<8xf32>
  %b = stablehlo.multiply %a, %v {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : tensor<8xf32>
  %zero = stablehlo.constant {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} dense<0.0> : tensor<f32>
  %l = stablehlo.reduce(%b init: %zero) applies stablehlo.add across dimensions = [0] {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : (tensor<8xf32>, tensor<f32>) -> tensor<f32>
  %one = stablehlo.constant {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} dense<1.0> : tensor<f32>
  %g = stablehlo.tanh %b {dist.block = 0 : i64, dist.phase = #dist.phase<backward_weight>} : tensor<8xf32>
  %h = stablehlo.sine %b {dist.block = 0 : i64, dist.phase = #dist.phase<backward_weight>} : tensor<8xf32>
  return %l, %one, %g, %h : tensor<f32>, tensor<f32>, tensor<8xf32>, tensor<8xf32>
}
func.func private @train.update(%w: tensor<8xf32> {dist.port = #dist.port<parameter @w>}, %m: tensor<8xf32> {dist.port = #dist.port<optimizer @m>},
    %v: tensor<8xf32> {dist.port = #dist.port<parameter @v>}, %n: tensor<8xf32> {dist.port = #dist.port<optimizer @n>},
    %g: tensor<8xf32> {dist.port = #dist.port<gradient @w>}, %h: tensor<8xf32> {dist.port = #dist.port<gradient @v>})
    -> (tensor<8xf32> {dist.port = #dist.port<parameter @w>}, tensor<8xf32> {dist.port = #dist.port<optimizer @m>},
        tensor<8xf32> {dist.port = #dist.port<parameter @v>}, tensor<8xf32> {dist.port = #dist.port<optimizer @n>}) {
  %m1 = stablehlo.add %m, %g {dist.phase = #dist.phase<update>} : tensor<8xf32>
  %w1 = stablehlo.subtract %w, %m1 {dist.phase = #dist.phase<update>} : tensor<8xf32>
  %n1 = stablehlo.add %n, %h {dist.phase = #dist.phase<update>} : tensor<8xf32>
  %v1 = stablehlo.subtract %v, %n1 {dist.phase = #dist.phase<update>} : tensor<8xf32>
  return %w1, %m1, %v1, %n1 : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}
dist.step @train microbatch(@train.microbatch) update(@train.update) microbatches(1) schedule(<1f1b>) chunks([0])
