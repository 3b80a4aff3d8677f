// Of a derivative that the text has, each op gets the block of the forward that it belongs to: two layers, tanh(x w + b), and a
// weight that both use.
// RUN: llmc-opt %s --llmc-find-blocks --llmc-sum-loss --llmc-differentiate | FileCheck %s
// CHECK: func.func private @train.microbatch(%[[X:.*]]: tensor<4x4xf32> {dist.port = #dist.port<input "x">}, %{{.*}}: tensor<4x4xf32> {dist.port = #dist.port<parameter @w>}
// CHECK: stablehlo.tanh {{.*}}block = 1 : i64, dist.phase = #dist.phase<forward>
// CHECK: stablehlo.tanh {{.*}}block = 2 : i64, dist.phase = #dist.phase<forward>
// What both blocks could read stands in the last that the backward has not left: after the sum of block 3 that is block 2, whose cotangent it takes.
// CHECK: %[[G1:.*]] = stablehlo.multiply %cst{{.*}}block = 3 : i64, dist.phase = #dist.phase<backward_input>
// CHECK: stablehlo.reduce(%[[G1]] init{{.*}}block = 2 : i64, dist.phase = #dist.phase<backward_weight>
// CHECK: %[[W1:.*]] = stablehlo.dot_general {{.*}}block = 2 : i64, dist.phase = #dist.phase<backward_input>
// CHECK: %[[H:.*]] = stablehlo.dot_general %[[G1]], {{.*}}block = 2 : i64, dist.phase = #dist.phase<backward_input>
// CHECK: %[[G0:.*]] = stablehlo.multiply %[[H]], {{.*}}block = 2 : i64
// A bias' gradient reads nothing of the forward: it stands where the bias is used.
// CHECK: stablehlo.reduce(%[[G0]] init{{.*}}block = 1 : i64, dist.phase = #dist.phase<backward_weight>
// CHECK: %[[W0:.*]] = stablehlo.dot_general %[[X]], %[[G0]]{{.*}}block = 1 : i64, dist.phase = #dist.phase<backward_weight>
// Terms of a sum stay where they are.
// CHECK: stablehlo.add %[[W0]], %[[W1]] {{.*}}block = 1 : i64, dist.phase = #dist.phase<backward_weight>
dist.mesh @mesh = <"pipe"=2> pipeline "pipe"
dist.state @w : tensor<4x4xf32> {role = parameter, source = #dist.draw<zeros>}
dist.state @b0 : tensor<4xf32> {role = parameter, source = #dist.draw<zeros>}
dist.state @b1 : tensor<4xf32> {role = parameter, source = #dist.draw<zeros>}
func.func @loss(%x: tensor<4x4xf32> {dist.port = #dist.port<input "x">}, %w: tensor<4x4xf32> {dist.port = #dist.port<parameter @w>},
    %b0: tensor<4xf32> {dist.port = #dist.port<parameter @b0>}, %b1: tensor<4xf32> {dist.port = #dist.port<parameter @b1>})
    -> (tensor<f32> {dist.port = #dist.port<loss>}, tensor<4x4xf32> {dist.port = #dist.port<gradient @w>},
        tensor<4xf32> {dist.port = #dist.port<gradient @b0>}, tensor<4xf32> {dist.port = #dist.port<gradient @b1>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %y0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %c0 = stablehlo.broadcast_in_dim %b0, dims = [1] : (tensor<4xf32>) -> tensor<4x4xf32>
  %s0 = stablehlo.add %y0, %c0 : tensor<4x4xf32>
  %h0 = stablehlo.tanh %s0 : tensor<4x4xf32>
  %y1 = stablehlo.dot_general %h0, %w, contracting_dims = [1] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %c1 = stablehlo.broadcast_in_dim %b1, dims = [1] : (tensor<4xf32>) -> tensor<4x4xf32>
  %s1 = stablehlo.add %y1, %c1 : tensor<4x4xf32>
  %h1 = stablehlo.tanh %s1 : tensor<4x4xf32>
  %loss = stablehlo.reduce(%h1 init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<4x4xf32>, tensor<f32>) -> tensor<f32>
  %ones = stablehlo.constant dense<1.0> : tensor<4x4xf32>
  %p1 = stablehlo.multiply %h1, %h1 : tensor<4x4xf32>
  %g1 = stablehlo.subtract %ones, %p1 : tensor<4x4xf32>
  %k1 = stablehlo.multiply %ones, %g1 : tensor<4x4xf32>
  %gb1 = stablehlo.reduce(%k1 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<4x4xf32>, tensor<f32>) -> tensor<4xf32>
  %gw1 = stablehlo.dot_general %h0, %k1, contracting_dims = [0] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %gh0 = stablehlo.dot_general %k1, %w, contracting_dims = [1] x [1] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %g0 = stablehlo.multiply %gh0, %h0 : tensor<4x4xf32>
  %gb0 = stablehlo.reduce(%g0 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<4x4xf32>, tensor<f32>) -> tensor<4xf32>
  %gw0 = stablehlo.dot_general %x, %g0, contracting_dims = [0] x [0] : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  %gw = stablehlo.add %gw0, %gw1 : tensor<4x4xf32>
  return %loss, %gw, %gb0, %gb1 : tensor<f32>, tensor<4x4xf32>, tensor<4xf32>, tensor<4xf32>
}
func.func @sgd(%p: tensor<f32> {dist.port = #dist.port<parameter>}, %g: tensor<f32> {dist.port = #dist.port<gradient>}) -> (tensor<f32> {dist.port = #dist.port<parameter>}) {
  %d = stablehlo.subtract %p, %g : tensor<f32>
  return %d : tensor<f32>
}
dist.training @train forward(@loss) optimizer(@sgd) microbatches(1) schedule(<1f1b>)
