// A step of the text is cut where the update takes the fewest bytes of the batch, each as the gradient of a state.
// RUN: split-file %s %t
// RUN: llmc-opt %t/clip.mlir --llmc-split-step | FileCheck %t/clip.mlir
// RUN: llmc-opt %t/states.mlir --llmc-split-step | FileCheck %t/states.mlir
// RUN: llmc-opt %t/momentum.mlir --llmc-split-step | FileCheck %t/momentum.mlir
// RUN: llmc-opt %t/new.mlir --llmc-split-step | FileCheck %t/new.mlir
// RUN: llmc-opt %t/rows.mlir --llmc-split-step | FileCheck %t/rows.mlir
// RUN: not llmc-opt %t/vector.mlir --llmc-split-step 2>&1 | FileCheck %t/vector.mlir

//--- clip.mlir
// Terms of a gradient are added and its norm is bounded; the sum crosses, not what is made of it, and the norm is the update's.
// The count of rows is a metric of the batch, an integer in the text; where a value is a metric it crosses as such.
// CHECK: func.func private @train.microbatch(%[[W:.*]]: tensor<4xf32> {dist.port = #dist.port<parameter @w>}, %[[X:.*]]: tensor<8x4xf32> {dist.port = #dist.port<input "x">})
// CHECK-SAME: -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}, tensor<4xf32> {dist.port = #dist.port<gradient @w>}, tensor<f32> {dist.port = #dist.port<metric_sum "rows">}) {
// CHECK: %[[WS:.*]] = stablehlo.broadcast_in_dim %[[W]], {{.*}}phase = #dist.phase<forward>
// CHECK: %[[Y:.*]] = stablehlo.multiply %[[X]], %[[WS]]
// CHECK: %[[LOSS:.*]] = stablehlo.reduce(%[[Y]]
// CHECK: %[[G0:.*]] = stablehlo.reduce(%[[X]]
// CHECK: %[[G1:.*]] = stablehlo.reduce(%[[Y]] {{.*}} dimensions = [0]
// CHECK: %[[G:.*]] = stablehlo.add %[[G0]], %[[G1]] {{.*}}phase = #dist.phase<backward_weight>
// CHECK: %[[ROWS:.*]] = stablehlo.convert %{{.*}} : (tensor<i32>) -> tensor<f32>
// CHECK: %[[COUNT:.*]] = stablehlo.constant {{.*}}dense<1.000000e+00> : tensor<f32>
// CHECK: return %[[LOSS]], %[[COUNT]], %[[G]], %[[ROWS]]
// CHECK: func.func private @evaluate.function(
// CHECK-SAME: -> (tensor<f32> {dist.port = #dist.port<metric "loss">}, tensor<f32> {dist.port = #dist.port<metric "count">}, tensor<f32> {dist.port = #dist.port<metric "rows">})
// CHECK: func.func private @train.update(%[[W:.*]]: tensor<4xf32> {dist.port = #dist.port<parameter @w>}, %[[SUM:.*]]: tensor<f32> {dist.port = #dist.port<loss_sum>}, %[[G:.*]]: tensor<4xf32> {dist.port = #dist.port<gradient @w>}, %[[ROWS:.*]]: tensor<f32> {dist.port = #dist.port<metric_sum "rows">})
// CHECK-SAME: -> (tensor<4xf32> {dist.port = #dist.port<parameter @w>}, tensor<f32> {dist.port = #dist.port<metric "loss">}, tensor<f32> {dist.port = #dist.port<metric "norm">}, tensor<f32> {dist.port = #dist.port<metric "rows">}) {
// CHECK: %[[SQUARES:.*]] = stablehlo.multiply %[[G]], %[[G]] {dist.phase = #dist.phase<update>}
// CHECK: %[[NORM:.*]] = stablehlo.reduce(%[[SQUARES]]
// CHECK: %[[NEW:.*]] = stablehlo.subtract %[[W]]
// CHECK: return %[[NEW]], %[[SUM]], %[[NORM]], %[[ROWS]]
// CHECK-NOT: @step
// CHECK: dist.step @train microbatch(@train.microbatch) update(@train.update) microbatches(1)
dist.state @w : tensor<4xf32> {role = parameter, source = #dist.draw<zeros>}
func.func @step(%w: tensor<4xf32> {dist.port = #dist.port<parameter @w>}, %x: tensor<8x4xf32> {dist.port = #dist.port<input "x">})
    -> (tensor<4xf32> {dist.port = #dist.port<parameter @w>}, tensor<f32> {dist.port = #dist.port<loss>}, tensor<f32> {dist.port = #dist.port<output "norm", metric = "norm">}, tensor<i32> {dist.port = #dist.port<output "rows", metric = "rows">}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %izero = stablehlo.constant dense<0> : tensor<i32>
  %ws = stablehlo.broadcast_in_dim %w, dims = [1] : (tensor<4xf32>) -> tensor<8x4xf32>
  %y = stablehlo.multiply %x, %ws : tensor<8x4xf32>
  %loss = stablehlo.reduce(%y init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  %g0 = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<8x4xf32>, tensor<f32>) -> tensor<4xf32>
  %g1 = stablehlo.reduce(%y init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<8x4xf32>, tensor<f32>) -> tensor<4xf32>
  %g = stablehlo.add %g0, %g1 : tensor<4xf32>
  %squares = stablehlo.multiply %g, %g : tensor<4xf32>
  %norm = stablehlo.reduce(%squares init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  %scales = stablehlo.broadcast_in_dim %norm, dims = [] : (tensor<f32>) -> tensor<4xf32>
  %d = stablehlo.divide %g, %scales : tensor<4xf32>
  %new = stablehlo.subtract %w, %d : tensor<4xf32>
  %ints = stablehlo.convert %x : (tensor<8x4xf32>) -> tensor<8x4xi32>
  %rows = stablehlo.reduce(%ints init: %izero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xi32>, tensor<i32>) -> tensor<i32>
  return %new, %loss, %norm, %rows : tensor<4xf32>, tensor<f32>, tensor<f32>, tensor<i32>
}
dist.training @train forward(@step) microbatches(1) schedule(<1f1b>)

//--- states.mlir
// Statistics of the batch are "gradients" of their state, a counter is none of the batch. A copy of the weights that the loss
// depends on gets no gradient: it is carried. The gradient goes to the parameter before it goes to a state that is nearer.
// CHECK: dist.state @w : tensor<4xf32> {role = parameter
// CHECK: dist.state @target : tensor<4xf32> {role = carried
// CHECK: func.func private @train.microbatch(
// CHECK-SAME: #dist.port<parameter @w>
// CHECK-SAME: #dist.port<carried @target>
// CHECK-SAME: -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}, tensor<4xf32> {dist.port = #dist.port<gradient @w>}, tensor<4xf32> {dist.port = #dist.port<gradient @mean>})
// CHECK: func.func private @train.update(
// CHECK-NOT: input
// CHECK-SAME: -> (tensor<4xf32> {dist.port = #dist.port<parameter @w>}, tensor<4xf32> {dist.port = #dist.port<carried @target>}, tensor<4xf32> {dist.port = #dist.port<carried @m>}, tensor<4xf32> {dist.port = #dist.port<carried @mean>}, tensor<i32> {dist.port = #dist.port<carried @n>}, tensor<f32> {dist.port = #dist.port<metric "loss">})
dist.state @w : tensor<4xf32> {role = parameter, source = #dist.draw<zeros>}
dist.state @target : tensor<4xf32> {role = parameter, source = #dist.draw<zeros>}
dist.state @m : tensor<4xf32> {role = carried, source = #dist.draw<zeros>}
dist.state @mean : tensor<4xf32> {role = carried, source = #dist.draw<zeros>}
dist.state @n : tensor<i32> {role = carried, source = #dist.draw<zeros>}
func.func @step(%w: tensor<4xf32> {dist.port = #dist.port<parameter @w>}, %target: tensor<4xf32> {dist.port = #dist.port<parameter @target>},
    %m: tensor<4xf32> {dist.port = #dist.port<carried @m>}, %mean: tensor<4xf32> {dist.port = #dist.port<carried @mean>},
    %n: tensor<i32> {dist.port = #dist.port<carried @n>}, %x: tensor<8x4xf32> {dist.port = #dist.port<input "x">})
    -> (tensor<4xf32> {dist.port = #dist.port<parameter @w>}, tensor<4xf32> {dist.port = #dist.port<parameter @target>}, tensor<4xf32> {dist.port = #dist.port<carried @m>},
        tensor<4xf32> {dist.port = #dist.port<carried @mean>}, tensor<i32> {dist.port = #dist.port<carried @n>}, tensor<f32> {dist.port = #dist.port<loss>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %one = stablehlo.constant dense<1> : tensor<i32>
  %sum = stablehlo.add %w, %target : tensor<4xf32>
  %ws = stablehlo.broadcast_in_dim %sum, dims = [1] : (tensor<4xf32>) -> tensor<8x4xf32>
  %y = stablehlo.multiply %x, %ws : tensor<8x4xf32>
  %loss = stablehlo.reduce(%y init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  %g = stablehlo.reduce(%y init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<8x4xf32>, tensor<f32>) -> tensor<4xf32>
  %rows = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<8x4xf32>, tensor<f32>) -> tensor<4xf32>
  %m1 = stablehlo.add %m, %g : tensor<4xf32>
  %w1 = stablehlo.subtract %w, %m1 : tensor<4xf32>
  %target1 = stablehlo.maximum %target, %w1 : tensor<4xf32>
  %mean1 = stablehlo.add %mean, %rows : tensor<4xf32>
  %n1 = stablehlo.add %n, %one : tensor<i32>
  return %w1, %target1, %m1, %mean1, %n1, %loss : tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>, tensor<i32>, tensor<f32>
}
dist.training @train forward(@step) microbatches(1) schedule(<1f1b>)

//--- momentum.mlir
// Only the momentum is computed from the gradient element by element: that is the gradient of its parameter all the same.
// CHECK: dist.state @w : tensor<4x4xf32> {role = parameter
// CHECK: func.func private @train.microbatch(
// CHECK-SAME: tensor<4x4xf32> {dist.port = #dist.port<gradient @w>})
// CHECK: func.func private @train.update({{.*}}tensor<4x4xf32> {dist.port = #dist.port<gradient @w>})
dist.state @w : tensor<4x4xf32> {role = parameter, source = #dist.draw<zeros>}
dist.state @m : tensor<4x4xf32> {role = optimizer, of = @w, source = #dist.draw<zeros>}
func.func @step(%w: tensor<4x4xf32> {dist.port = #dist.port<parameter @w>}, %m: tensor<4x4xf32> {dist.port = #dist.port<optimizer @m>},
    %x: tensor<8x4x4xf32> {dist.port = #dist.port<input "x">})
    -> (tensor<4x4xf32> {dist.port = #dist.port<parameter @w>}, tensor<4x4xf32> {dist.port = #dist.port<optimizer @m>}, tensor<f32> {dist.port = #dist.port<loss>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %ws = stablehlo.broadcast_in_dim %w, dims = [1, 2] : (tensor<4x4xf32>) -> tensor<8x4x4xf32>
  %y = stablehlo.multiply %x, %ws : tensor<8x4x4xf32>
  %loss = stablehlo.reduce(%y init: %zero) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<8x4x4xf32>, tensor<f32>) -> tensor<f32>
  %g = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<8x4x4xf32>, tensor<f32>) -> tensor<4x4xf32>
  %m1 = stablehlo.add %m, %g : tensor<4x4xf32>
  %q = stablehlo.dot_general %m1, %m1, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %w1 = stablehlo.subtract %w, %q : tensor<4x4xf32>
  return %w1, %m1, %loss : tensor<4x4xf32>, tensor<4x4xf32>, tensor<f32>
}
dist.training @train forward(@step) microbatches(1) schedule(<1f1b>)

//--- new.mlir
// Where nothing before it can cross, what is added to the state does: a product is no place of its factors.
// CHECK: func.func private @train.microbatch(
// CHECK: %[[D:.*]] = stablehlo.dot_general
// CHECK: %[[U:.*]] = stablehlo.dot_general %[[D]], %[[D]]
// CHECK: return %{{.*}}, %{{.*}}, %[[U]] :
dist.state @w : tensor<4x4xf32> {role = parameter, source = #dist.draw<zeros>}
func.func @step(%w: tensor<4x4xf32> {dist.port = #dist.port<parameter @w>}, %x: tensor<4x4xf32> {dist.port = #dist.port<input "x">})
    -> (tensor<f32> {dist.port = #dist.port<loss>}, tensor<4x4xf32> {dist.port = #dist.port<parameter @w>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %g = stablehlo.dot_general %x, %w, contracting_dims = [0] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %u = stablehlo.dot_general %g, %g, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %half = stablehlo.multiply %u, %u : tensor<4x4xf32>
  %w1 = stablehlo.subtract %w, %half : tensor<4x4xf32>
  %loss = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x4xf32>, tensor<f32>) -> tensor<f32>
  return %loss, %w1 : tensor<f32>, tensor<4x4xf32>
}
dist.training @train forward(@step) microbatches(1) schedule(<1f1b>)

//--- rows.mlir
// States of the text's optimizer lie as the row of their parameter says.
// CHECK: #[[ZERO:.*]] = #dist.layout<@mesh, [{"data"}]>
// CHECK: dist.state @w : tensor<4xf32> {role = parameter, row = #dist.row<rest = #[[REST:.*]]>, source
// CHECK: dist.state @m.w : tensor<4xf32> {role = optimizer, of = @w, row = #dist.row<rest = #[[ZERO]]>, source
dist.mesh @mesh = <"data"=2>
dist.state @w : tensor<4xf32> {role = parameter, row = #dist.row<rest = #dist.layout<@mesh, [{}]>, optimizer = #dist.layout<@mesh, [{"data"}]>>, source = #dist.draw<zeros>}
dist.state @m.w : tensor<4xf32> {role = optimizer, of = @w, source = #dist.draw<zeros>}
func.func @step(%w: tensor<4xf32> {dist.port = #dist.port<parameter @w>}, %m: tensor<4xf32> {dist.port = #dist.port<optimizer @m.w>}, %x: tensor<8x4xf32> {dist.port = #dist.port<input "x">})
    -> (tensor<4xf32> {dist.port = #dist.port<parameter @w>}, tensor<4xf32> {dist.port = #dist.port<optimizer @m.w>}, tensor<f32> {dist.port = #dist.port<loss>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %loss = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  %g = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<8x4xf32>, tensor<f32>) -> tensor<4xf32>
  %m1 = stablehlo.add %m, %g : tensor<4xf32>
  %w1 = stablehlo.subtract %w, %m1 : tensor<4xf32>
  return %w1, %m1, %loss : tensor<4xf32>, tensor<4xf32>, tensor<f32>
}
dist.training @train forward(@step) microbatches(1) schedule(<1f1b>)

//--- vector.mlir
// CHECK: error: 'dist.training' op expected the loss of @step to be one float, got 'tensor<4xf32>'
dist.state @w : tensor<4xf32> {role = parameter, source = #dist.draw<zeros>}
func.func @step(%w: tensor<4xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<4xf32> {dist.port = #dist.port<parameter @w>}, tensor<4xf32> {dist.port = #dist.port<loss>}) {
  %w1 = stablehlo.add %w, %w : tensor<4xf32>
  return %w1, %w1 : tensor<4xf32>, tensor<4xf32>
}
dist.training @train forward(@step) microbatches(1) schedule(<1f1b>)
