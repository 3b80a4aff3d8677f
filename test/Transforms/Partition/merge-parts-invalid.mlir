// RUN: llmc-opt %s --verify-diagnostics --llmc-merge-parts

// The first part of the new weight is needed for the second part of its moment,
// and the other way round: as one op each they would need each other.
#w = #dist.layout<@mesh, [{}, {"t"}]>
#U = #dist.phase<update>
dist.mesh @mesh = <"t"=2>
dist.state @w : tensor<4x8xf32> {role = parameter, source = #dist.draw<zeros>}
dist.state @w.0 part of @w box([0, 0] [4, 4]) : tensor<4x4xf32> {role = parameter}
dist.buffer @w.0.local of @w.0 : tensor<4x2xf32> holds [#dist.box<@w.0, #w, [0, 0]>]
dist.state @w.1 part of @w box([0, 4] [4, 4]) : tensor<4x4xf32> {role = parameter}
dist.buffer @w.1.local of @w.1 : tensor<4x2xf32> holds [#dist.box<@w.1, #w, [0, 0]>]
dist.state @m : tensor<4x8xf32> {role = optimizer, of = @w, source = #dist.draw<zeros>}
dist.state @m.0 part of @m box([0, 0] [4, 4]) : tensor<4x4xf32> {role = optimizer, of = @w.0}
dist.buffer @m.0.local of @m.0 : tensor<4x2xf32> holds [#dist.box<@m.0, #w, [0, 0]>]
dist.state @m.1 part of @m box([0, 4] [4, 4]) : tensor<4x4xf32> {role = optimizer, of = @w.1}
dist.buffer @m.1.local of @m.1 : tensor<4x2xf32> holds [#dist.box<@m.1, #w, [0, 0]>]
func.func @micro(%n: tensor<f32> {dist.port = #dist.port<input "n">}, %w0: tensor<4x2xf32> {dist.port = #dist.port<parameter @w.0>}, %w1: tensor<4x2xf32> {dist.port = #dist.port<parameter @w.1>})
    -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}, tensor<4x2xf32> {dist.port = #dist.port<gradient @w.0>}, tensor<4x2xf32> {dist.port = #dist.port<gradient @w.1>}) {
  return %n, %n, %w0, %w1 : tensor<f32>, tensor<f32>, tensor<4x2xf32>, tensor<4x2xf32>
}
// expected-error@+1 {{expected parts that can be merged in one order, got a cycle of ops}}
func.func @update(%w0: tensor<4x2xf32> {dist.port = #dist.port<parameter @w.0>}, %w1: tensor<4x2xf32> {dist.port = #dist.port<parameter @w.1>}, %m0: tensor<4x2xf32> {dist.port = #dist.port<optimizer @m.0>}, %m1: tensor<4x2xf32> {dist.port = #dist.port<optimizer @m.1>})
    -> (tensor<4x2xf32> {dist.port = #dist.port<parameter @w.0>}, tensor<4x2xf32> {dist.port = #dist.port<parameter @w.1>}, tensor<4x2xf32> {dist.port = #dist.port<optimizer @m.0>}, tensor<4x2xf32> {dist.port = #dist.port<optimizer @m.1>}) {
  %k = stablehlo.constant {dist.phase = #U} dense<2.0> : tensor<4x4xf32>
  %a0 = stablehlo.tanh %w0 {dist.phase = #U} : tensor<4x2xf32>
  %b0 = stablehlo.sine %m0 {dist.phase = #U} : tensor<4x2xf32>
  %p0 = stablehlo.dot_general %k, %a0, contracting_dims = [1] x [0] {dist.phase = #U} : (tensor<4x4xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
  %q0 = stablehlo.dot_general %k, %b0, contracting_dims = [1] x [0] {dist.phase = #U} : (tensor<4x4xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
  %a1 = stablehlo.abs %q0 {dist.phase = #U} : tensor<4x2xf32>
  %b1 = stablehlo.negate %p0 {dist.phase = #U} : tensor<4x2xf32>
  %p1 = stablehlo.dot_general %k, %a1, contracting_dims = [1] x [0] {dist.phase = #U} : (tensor<4x4xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
  %q1 = stablehlo.dot_general %k, %b1, contracting_dims = [1] x [0] {dist.phase = #U} : (tensor<4x4xf32>, tensor<4x2xf32>) -> tensor<4x2xf32>
  return %p0, %p1, %q0, %q1 : tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>, tensor<4x2xf32>
}
dist.step @s microbatch(@micro) update(@update) microbatches(1) schedule(<gpipe>) chunks([0])
