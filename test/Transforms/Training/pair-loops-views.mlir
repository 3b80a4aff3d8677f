// RUN: llmc-opt %s --llmc-pair-loops | FileCheck %s

// A manual region has the dims of devices ahead of the rows of a stack, so what "b" reads of "f" is the states' stack with
// its dims moved, placed by a hint, reversed along the rows, and moved back; the gradient's stack comes out alike. Where dims
// are moved for good (%m), the stack is read as a stack, from its last row on.
// CHECK: func.func private @train.microbatch(%[[W:[a-z0-9]*]]:
// CHECK: %[[Y:.*]] = dist.enter carry %{{.*}} of <"f", trips = 5> number(0)
// CHECK: %[[YS:.*]] = dist.leave stack %[[Y]] of <"f", trips = 5>
// CHECK: %[[A:.*]] = stablehlo.transpose %[[YS]], dims = [1, 0, 2]
// CHECK: %[[B:.*]] = stablehlo.reverse %[[A]], dims = [1]
// CHECK: %[[C:.*]] = stablehlo.transpose %[[B]], dims = [1, 2, 0]
// CHECK: %[[D:.*]] = stablehlo.reverse %[[C]], dims = [0]
// CHECK: dist.enter row %[[D]] of <"f", trips = 5, reversed = true>
// CHECK: stablehlo.dot_general %[[Y]],
// CHECK: %[[GS:.*]] = dist.leave stack %{{.*}} of <"f", trips = 5, reversed = true>
// CHECK: return %{{.*}}, %{{.*}}, %[[GS]] :
dist.mesh @mesh = <"data"=2>
dist.state @w : tensor<5x4x4xf32> {role = parameter, source = #dist.draw<zeros>}
func.func private @train.microbatch(%W: tensor<5x4x4xf32> {dist.port = #dist.port<parameter @w>}, %x: tensor<2x4xf32> {dist.port = #dist.port<input "x">})
    -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}, tensor<5x4x4xf32> {dist.port = #dist.port<gradient @w>}) {
  %zero = stablehlo.constant {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} dense<0.0> : tensor<f32>
  %one = stablehlo.constant {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} dense<1.0> : tensor<f32>
  %y = dist.enter carry %x of <"f", trips = 5> number(0) {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} : tensor<2x4xf32> -> tensor<2x4xf32>
  %w = dist.enter row %W of <"f", trips = 5> {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} : tensor<5x4x4xf32> -> tensor<4x4xf32>
  %z = stablehlo.dot_general %y, %w, contracting_dims = [1] x [0] {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %f = dist.next %y, %z {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} : tensor<2x4xf32>
  %last = dist.leave last %f of <"f", trips = 5> {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} : tensor<2x4xf32> -> tensor<2x4xf32>
  %ys = dist.leave stack %y of <"f", trips = 5> {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} : tensor<2x4xf32> -> tensor<5x2x4xf32>
  %loss = stablehlo.reduce(%last init: %zero) applies stablehlo.add across dimensions = [0, 1] {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} : (tensor<2x4xf32>, tensor<f32>) -> tensor<f32>
  %t = stablehlo.transpose %ys, dims = [1, 0, 2] {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} : (tensor<5x2x4xf32>) -> tensor<2x5x4xf32>
  %p = dist.constraint %t to <@mesh, [{"data"}, {?}, {?}]> hint {dist.block = 1 : i64, dist.phase = #dist.phase<backward_input>} : tensor<2x5x4xf32>
  %rp = stablehlo.reverse %p, dims = [1] {dist.block = 1 : i64, dist.phase = #dist.phase<backward_input>} : tensor<2x5x4xf32>
  %rs = stablehlo.transpose %rp, dims = [1, 0, 2] {dist.block = 1 : i64, dist.phase = #dist.phase<backward_input>} : (tensor<2x5x4xf32>) -> tensor<5x2x4xf32>
  %rt = stablehlo.reverse %t, dims = [1] {dist.block = 1 : i64, dist.phase = #dist.phase<backward_input>} : tensor<2x5x4xf32>
  %m = stablehlo.transpose %rt, dims = [1, 2, 0] {dist.block = 1 : i64, dist.phase = #dist.phase<backward_input>} : (tensor<2x5x4xf32>) -> tensor<5x4x2xf32>
  %c = dist.enter carry %last of <"b", trips = 5> number(0) {dist.block = 1 : i64, dist.phase = #dist.phase<backward_input>} : tensor<2x4xf32> -> tensor<2x4xf32>
  %r = dist.enter row %rs of <"b", trips = 5> {dist.block = 1 : i64, dist.phase = #dist.phase<backward_input>} : tensor<5x2x4xf32> -> tensor<2x4xf32>
  %q = dist.enter row %m of <"b", trips = 5> {dist.block = 1 : i64, dist.phase = #dist.phase<backward_input>} : tensor<5x4x2xf32> -> tensor<4x2xf32>
  %gw = stablehlo.dot_general %r, %c, contracting_dims = [0] x [0] {dist.block = 1 : i64, dist.phase = #dist.phase<backward_input>} : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<4x4xf32>
  %qt = stablehlo.transpose %q, dims = [1, 0] {dist.block = 1 : i64, dist.phase = #dist.phase<backward_input>} : (tensor<4x2xf32>) -> tensor<2x4xf32>
  %d = stablehlo.add %c, %qt {dist.block = 1 : i64, dist.phase = #dist.phase<backward_input>} : tensor<2x4xf32>
  %n = dist.next %c, %d {dist.block = 1 : i64, dist.phase = #dist.phase<backward_input>} : tensor<2x4xf32>
  %gs = dist.leave stack %gw of <"b", trips = 5> {dist.block = 1 : i64, dist.phase = #dist.phase<backward_input>} : tensor<4x4xf32> -> tensor<5x4x4xf32>
  %gt = stablehlo.transpose %gs, dims = [1, 0, 2] {dist.block = 1 : i64, dist.phase = #dist.phase<backward_weight>} : (tensor<5x4x4xf32>) -> tensor<4x5x4xf32>
  %gr = stablehlo.reverse %gt, dims = [1] {dist.block = 1 : i64, dist.phase = #dist.phase<backward_weight>} : tensor<4x5x4xf32>
  %gradient = stablehlo.transpose %gr, dims = [1, 0, 2] {dist.block = 1 : i64, dist.phase = #dist.phase<backward_weight>} : (tensor<4x5x4xf32>) -> tensor<5x4x4xf32>
  return %loss, %one, %gradient : tensor<f32>, tensor<f32>, tensor<5x4x4xf32>
}
func.func private @train.update(%w: tensor<5x4x4xf32> {dist.port = #dist.port<parameter @w>}, %g: tensor<5x4x4xf32> {dist.port = #dist.port<gradient @w>}, %ls: tensor<f32> {dist.port = #dist.port<loss_sum>}, %count: tensor<f32> {dist.port = #dist.port<count>})
    -> (tensor<5x4x4xf32> {dist.port = #dist.port<parameter @w>}) {
  return %w : tensor<5x4x4xf32>
}
dist.step @train microbatch(@train.microbatch) update(@train.update) microbatches(1) schedule(<1f1b>)
