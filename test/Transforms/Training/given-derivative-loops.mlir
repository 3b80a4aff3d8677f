// The loops of a text that has its derivative, on two stages: the backward loop is cut where its forward loop is, from the other
// end, and each piece has the block of the piece whose states it reads.
// RUN: llmc-opt %s --llmc-split-loops --llmc-find-blocks --llmc-sum-loss --llmc-differentiate | FileCheck %s
// RUN: llmc-opt %s --llmc-split-loops --llmc-find-blocks --llmc-sum-loss --llmc-differentiate --llmc-build-update --llmc-split-states | FileCheck %s --check-prefix=PARTS
// CHECK: func.func private @train.microbatch
// CHECK: dist.enter carry %{{.*}} of <"f.0", trips = 2> number(0) {dist.block = [[LOW:.*]] : i64, dist.phase = #dist.phase<forward>}
// CHECK: %[[YS0:.*]] = dist.leave stack %{{.*}} of <"f.0", trips = 2> {dist.block = [[LOW]] :
// CHECK: dist.enter carry %{{.*}} of <"f.1", trips = 3> number(0) {dist.block = [[HIGH:.*]] : i64, dist.phase = #dist.phase<forward>}
// CHECK: %[[YS1:.*]] = dist.leave stack %{{.*}} of <"f.1", trips = 3> {dist.block = [[HIGH]] :
// The weights of a piece stand where they are read, wherever the forward reads them.
// CHECK: dist.enter carry %{{.*}} of <"b.0", trips = 3> number(0) {dist.block = [[HIGH]] : i64, dist.phase = #dist.phase<backward_input>}
// CHECK: %[[WS1:.*]] = stablehlo.reverse %{{.*}}, dims = [0] {dist.block = [[HIGH]] :
// CHECK: dist.enter row %[[WS1]] of <"b.0", trips = 3> {dist.block = [[HIGH]] :
// CHECK: %[[R1:.*]] = stablehlo.reverse %[[YS1]], dims = [0] {dist.block = [[HIGH]] :
// CHECK: dist.enter row %[[R1]] of <"b.0", trips = 3> {dist.block = [[HIGH]] :
// So do rows of an input, of which the forward reads others in a lower block.
// CHECK: %[[US1:.*]] = stablehlo.reverse %{{.*}}, dims = [0] {dist.block = [[HIGH]] :
// CHECK: dist.enter row %[[US1]] of <"b.0", trips = 3> {dist.block = [[HIGH]] :
// CHECK: %[[G1:.*]] = dist.leave stack %{{.*}} of <"b.0", trips = 3> {dist.block = [[HIGH]] :
// CHECK: dist.enter carry %{{.*}} of <"b.1", trips = 2> number(0) {dist.block = [[LOW]] : i64, dist.phase = #dist.phase<backward_weight>}
// CHECK: %[[WS0:.*]] = stablehlo.reverse %{{.*}}, dims = [0] {dist.block = [[LOW]] :
// CHECK: dist.enter row %[[WS0]] of <"b.1", trips = 2> {dist.block = [[LOW]] :
// CHECK: %[[R0:.*]] = stablehlo.reverse %[[YS0]], dims = [0] {dist.block = [[LOW]] :
// CHECK: dist.enter row %[[R0]] of <"b.1", trips = 2> {dist.block = [[LOW]] :
// CHECK: %[[G0:.*]] = dist.leave stack %{{.*}} of <"b.1", trips = 2> {dist.block = [[LOW]] :
// CHECK: stablehlo.concatenate %[[G1]], %[[G0]], dim = 0 {dist.block = [[LOW]] :

// A part of the gradient stands where it is made, though the whole is put together below.
// PARTS: func.func private @train.microbatch
// PARTS: dist.enter carry %{{.*}} of <"b.0", trips = 3> number(0) {dist.block = [[HIGH:.*]] : i64, dist.phase
// PARTS: %[[G1:.*]] = dist.leave stack %{{.*}} of <"b.0", trips = 3> {dist.block = [[HIGH]] :
// PARTS: %[[G0:.*]] = dist.leave stack %{{.*}} of <"b.1", trips = 2> {dist.block = [[LOW:.*]] : i64, dist.phase
// PARTS-DAG: %[[P0:.*]] = stablehlo.reverse %[[G0]], dims = [0] {dist.block = [[LOW]] :
// PARTS-DAG: %[[P1:.*]] = stablehlo.reverse %[[G1]], dims = [0] {dist.block = [[HIGH]] :
// PARTS: return %{{.*}}, %{{.*}}, %[[P0]], %[[P1]] :
dist.mesh @mesh = <"pipe"=2> pipeline "pipe"
dist.state @w : tensor<5x4x4xf32> {role = parameter, source = #dist.draw<zeros>}
func.func @loss(%W: tensor<5x4x4xf32> {dist.port = #dist.port<parameter @w>}, %x: tensor<2x4xf32> {dist.port = #dist.port<input "x">},
                %U: tensor<5x4x4xf32> {dist.port = #dist.port<input "u">})
    -> (tensor<f32> {dist.port = #dist.port<loss>}, tensor<5x4x4xf32> {dist.port = #dist.port<gradient @w>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %w = dist.enter row %W of <"f", trips = 5> : tensor<5x4x4xf32> -> tensor<4x4xf32>
  %y = dist.enter carry %x of <"f", trips = 5> number(0) : tensor<2x4xf32> -> tensor<2x4xf32>
  %u = dist.enter row %U of <"f", trips = 5> : tensor<5x4x4xf32> -> tensor<4x4xf32>
  %wu = stablehlo.multiply %w, %u : tensor<4x4xf32>
  %z = stablehlo.dot_general %y, %wu, contracting_dims = [1] x [0] : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %f = dist.next %y, %z : tensor<2x4xf32>
  %last = dist.leave last %f of <"f", trips = 5> : tensor<2x4xf32> -> tensor<2x4xf32>
  %ys = dist.leave stack %y of <"f", trips = 5> : tensor<2x4xf32> -> tensor<5x2x4xf32>
  %loss = stablehlo.reduce(%last init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<2x4xf32>, tensor<f32>) -> tensor<f32>
  %g = stablehlo.tanh %last : tensor<2x4xf32>
  %ws = stablehlo.reverse %W, dims = [0] : tensor<5x4x4xf32>
  %us = stablehlo.reverse %U, dims = [0] : tensor<5x4x4xf32>
  %rs = stablehlo.reverse %ys, dims = [0] : tensor<5x2x4xf32>
  %c = dist.enter carry %g of <"b", trips = 5> number(0) : tensor<2x4xf32> -> tensor<2x4xf32>
  %v = dist.enter row %ws of <"b", trips = 5> : tensor<5x4x4xf32> -> tensor<4x4xf32>
  %r = dist.enter row %rs of <"b", trips = 5> : tensor<5x2x4xf32> -> tensor<2x4xf32>
  %t = dist.enter row %us of <"b", trips = 5> : tensor<5x4x4xf32> -> tensor<4x4xf32>
  %vt = stablehlo.multiply %v, %t : tensor<4x4xf32>
  %d = stablehlo.dot_general %c, %vt, contracting_dims = [1] x [1] : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %go = stablehlo.dot_general %r, %c, contracting_dims = [0] x [0] : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<4x4xf32>
  %gw = stablehlo.multiply %go, %t : tensor<4x4xf32>
  %n = dist.next %c, %d : tensor<2x4xf32>
  %gs = dist.leave stack %gw of <"b", trips = 5> : tensor<4x4xf32> -> tensor<5x4x4xf32>
  %gradient = stablehlo.reverse %gs, dims = [0] : tensor<5x4x4xf32>
  return %loss, %gradient : tensor<f32>, tensor<5x4x4xf32>
}
func.func @sgd(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>}) -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) {
  %d = stablehlo.subtract %p, %g : tensor<1xf32>
  return %d : tensor<1xf32>
}
dist.training @train forward(@loss) optimizer(@sgd) microbatches(1) schedule(<1f1b>)
