// RUN: llmc-opt %s --llmc-pair-loops | FileCheck %s
// RUN: llmc-opt %s --llmc-pair-loops --remarks-filter=training --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %s --check-prefix=REMARK

// The loop "b" undoes "f", of which it reads two states from the last trip on: it becomes the reversed loop "f". What "f" carries
// is read where it is, a row that enters "f" enters again, and other stacks are read from their last row on: @W as it is, as "b"
// has read it reversed, and %un, which "b" has read as it is, reversed. What is stacked comes out in the order of "f": as it is
// where it has been reversed (the gradient), else reversed (%hs). "o" is the loop of another block, whose states "p" reads in
// "b"'s block: it stays as it is.
// CHECK: func.func private @train.microbatch(%[[W:[a-z0-9]*]]: tensor<5x4x4xf32> {dist.port = #dist.port<parameter @w>}
// CHECK: %[[US:.*]] = stablehlo.negate
// CHECK: %[[Y:.*]] = dist.enter carry %{{.*}} of <"f", trips = 5> number(0)
// CHECK: dist.enter carry %{{.*}} of <"f", trips = 5, reversed = true> number(0) {dist.block = 1 : i64, dist.phase = #dist.phase<backward_input>}
// CHECK: %[[V:.*]] = dist.enter row %[[W]] of <"f", trips = 5, reversed = true>
// CHECK: %[[X:.*]] = dist.enter row %[[W]] of <"f", trips = 5, reversed = true> {dist.block = 1 : i64, dist.phase = #dist.phase<backward_input>}
// CHECK: %[[R:.*]] = stablehlo.reverse %[[US]], dims = [0] {dist.block = 1 : i64, dist.phase = #dist.phase<backward_input>}
// CHECK: dist.enter row %[[R]] of <"f", trips = 5, reversed = true>
// CHECK: %[[G:.*]] = stablehlo.dot_general %[[Y]],
// CHECK: stablehlo.add %[[G]], %[[X]]
// CHECK: %[[GS:.*]] = dist.leave stack %{{.*}} of <"f", trips = 5, reversed = true>
// CHECK: %[[HS:.*]] = dist.leave stack %{{.*}} of <"f", trips = 5, reversed = true>
// CHECK: %[[HR:.*]] = stablehlo.reverse %[[HS]], dims = [0] {dist.block = 1 : i64, dist.phase = #dist.phase<backward_input>}
// CHECK: stablehlo.reduce(%[[HR]] init
// CHECK: dist.enter row %{{.*}} of <"p", trips = 5>
// CHECK: return %{{.*}}, %{{.*}}, %[[GS]], %{{.*}} :
// REMARK-NOT: remark
// REMARK: pair-loops.mlir:{{[0-9:]*}} remark: [Passed] pair-loops | {{.*}}"loop 'b' is the reversed run of loop 'f', whose states it reads where they are made: 2"
// REMARK-NOT: remark
// REMARK: pair-loops.mlir:{{[0-9:]*}} remark: [Missed] pair-loops | {{.*}}"loop 'p' reads rows from the last one on, and stays a loop of its own: expected states of a loop of its block with 5 trips, got none"
// REMARK-NOT: remark
dist.mesh @mesh = <"pipe"=2> pipeline "pipe"
dist.state @w : tensor<5x4x4xf32> {role = parameter, source = #dist.draw<zeros>}
dist.state @v : tensor<5x4xf32> {role = parameter, source = #dist.draw<zeros>}
func.func private @train.microbatch(%W: tensor<5x4x4xf32> {dist.port = #dist.port<parameter @w>}, %V: tensor<5x4xf32> {dist.port = #dist.port<parameter @v>}, %x: tensor<2x4xf32> {dist.port = #dist.port<input "x">}, %u: tensor<5x2x4xf32> {dist.port = #dist.port<input "u">})
    -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}, tensor<5x4x4xf32> {dist.port = #dist.port<gradient @w>}, tensor<5x4xf32> {dist.port = #dist.port<gradient @v>}) {
  %zero = stablehlo.constant {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} dense<0.0> : tensor<f32>
  %one = stablehlo.constant {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} dense<1.0> : tensor<f32>
  %a = dist.enter carry %x of <"o", trips = 5> number(0) {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : tensor<2x4xf32> -> tensor<2x4xf32>
  %b = stablehlo.tanh %a {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : tensor<2x4xf32>
  %fo = dist.next %a, %b {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : tensor<2x4xf32>
  %o = dist.leave last %fo of <"o", trips = 5> {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : tensor<2x4xf32> -> tensor<2x4xf32>
  %os = dist.leave stack %b of <"o", trips = 5> {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : tensor<2x4xf32> -> tensor<5x2x4xf32>
  %us = stablehlo.reverse %u, dims = [0] {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} : tensor<5x2x4xf32>
  %un = stablehlo.negate %us {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} : tensor<5x2x4xf32>
  %y = dist.enter carry %o of <"f", trips = 5> number(0) {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} : tensor<2x4xf32> -> tensor<2x4xf32>
  %w = dist.enter row %W of <"f", trips = 5> {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} : tensor<5x4x4xf32> -> tensor<4x4xf32>
  %z = stablehlo.dot_general %y, %w, contracting_dims = [1] x [0] {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %f = dist.next %y, %z {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} : tensor<2x4xf32>
  %last = dist.leave last %f of <"f", trips = 5> {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} : tensor<2x4xf32> -> tensor<2x4xf32>
  %ys = dist.leave stack %y of <"f", trips = 5> {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} : tensor<2x4xf32> -> tensor<5x2x4xf32>
  %xs = dist.leave stack %w of <"f", trips = 5> {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} : tensor<4x4xf32> -> tensor<5x4x4xf32>
  %loss = stablehlo.reduce(%last init: %zero) applies stablehlo.add across dimensions = [0, 1] {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} : (tensor<2x4xf32>, tensor<f32>) -> tensor<f32>
  %ws = stablehlo.reverse %W, dims = [0] {dist.block = 1 : i64, dist.phase = #dist.phase<backward_input>} : tensor<5x4x4xf32>
  %rs = stablehlo.reverse %ys, dims = [0] {dist.block = 1 : i64, dist.phase = #dist.phase<backward_input>} : tensor<5x2x4xf32>
  %rx = stablehlo.reverse %xs, dims = [0] {dist.block = 1 : i64, dist.phase = #dist.phase<backward_input>} : tensor<5x4x4xf32>
  %c = dist.enter carry %last of <"b", trips = 5> number(0) {dist.block = 1 : i64, dist.phase = #dist.phase<backward_input>} : tensor<2x4xf32> -> tensor<2x4xf32>
  %v = dist.enter row %ws of <"b", trips = 5> {dist.block = 1 : i64, dist.phase = #dist.phase<backward_input>} : tensor<5x4x4xf32> -> tensor<4x4xf32>
  %r = dist.enter row %rs of <"b", trips = 5> {dist.block = 1 : i64, dist.phase = #dist.phase<backward_input>} : tensor<5x2x4xf32> -> tensor<2x4xf32>
  %q = dist.enter row %rx of <"b", trips = 5> {dist.block = 1 : i64, dist.phase = #dist.phase<backward_input>} : tensor<5x4x4xf32> -> tensor<4x4xf32>
  %e = dist.enter row %un of <"b", trips = 5> {dist.block = 1 : i64, dist.phase = #dist.phase<backward_input>} : tensor<5x2x4xf32> -> tensor<2x4xf32>
  %d = stablehlo.dot_general %c, %v, contracting_dims = [1] x [1] {dist.block = 1 : i64, dist.phase = #dist.phase<backward_input>} : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %de = stablehlo.add %d, %e {dist.block = 1 : i64, dist.phase = #dist.phase<backward_input>} : tensor<2x4xf32>
  %gw = stablehlo.dot_general %r, %c, contracting_dims = [0] x [0] {dist.block = 1 : i64, dist.phase = #dist.phase<backward_input>} : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<4x4xf32>
  %gx = stablehlo.add %gw, %q {dist.block = 1 : i64, dist.phase = #dist.phase<backward_input>} : tensor<4x4xf32>
  %n = dist.next %c, %de {dist.block = 1 : i64, dist.phase = #dist.phase<backward_input>} : tensor<2x4xf32>
  %gs = dist.leave stack %gx of <"b", trips = 5> {dist.block = 1 : i64, dist.phase = #dist.phase<backward_input>} : tensor<4x4xf32> -> tensor<5x4x4xf32>
  %hs = dist.leave stack %d of <"b", trips = 5> {dist.block = 1 : i64, dist.phase = #dist.phase<backward_input>} : tensor<2x4xf32> -> tensor<5x2x4xf32>
  %gradient = stablehlo.reverse %gs, dims = [0] {dist.block = 1 : i64, dist.phase = #dist.phase<backward_input>} : tensor<5x4x4xf32>
  %k = stablehlo.reduce(%hs init: %zero) applies stablehlo.add across dimensions = [0] {dist.block = 1 : i64, dist.phase = #dist.phase<backward_input>} : (tensor<5x2x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  %ro = stablehlo.reverse %os, dims = [0] {dist.block = 1 : i64, dist.phase = #dist.phase<backward_weight>} : tensor<5x2x4xf32>
  %ko = dist.enter same %k of <"p", trips = 5> {dist.block = 1 : i64, dist.phase = #dist.phase<backward_weight>} : tensor<2x4xf32> -> tensor<2x4xf32>
  %po = dist.enter row %ro of <"p", trips = 5> {dist.block = 1 : i64, dist.phase = #dist.phase<backward_weight>} : tensor<5x2x4xf32> -> tensor<2x4xf32>
  %mo = stablehlo.multiply %po, %ko {dist.block = 1 : i64, dist.phase = #dist.phase<backward_weight>} : tensor<2x4xf32>
  %vo = stablehlo.reduce(%mo init: %zero) applies stablehlo.add across dimensions = [0] {dist.block = 1 : i64, dist.phase = #dist.phase<backward_weight>} : (tensor<2x4xf32>, tensor<f32>) -> tensor<4xf32>
  %gv = dist.leave stack %vo of <"p", trips = 5> {dist.block = 1 : i64, dist.phase = #dist.phase<backward_weight>} : tensor<4xf32> -> tensor<5x4xf32>
  return %loss, %one, %gradient, %gv : tensor<f32>, tensor<f32>, tensor<5x4x4xf32>, tensor<5x4xf32>
}
func.func private @train.update(%w: tensor<5x4x4xf32> {dist.port = #dist.port<parameter @w>}, %g: tensor<5x4x4xf32> {dist.port = #dist.port<gradient @w>}) -> (tensor<5x4x4xf32> {dist.port = #dist.port<parameter @w>}) {
  %p = stablehlo.subtract %w, %g {dist.phase = #dist.phase<update>} : tensor<5x4x4xf32>
  return %p : tensor<5x4x4xf32>
}
dist.step @train microbatch(@train.microbatch) update(@train.update) microbatches(1) schedule(<1f1b>)
