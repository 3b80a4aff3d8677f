// RUN: llmc-opt %s --llmc-pair-loops | FileCheck %s

// The outer loop "b" becomes the reversed loop "f". In its trips "r" runs "i" again, and stays a forward run, now in reversed trips;
// "s", which reads the states of "r", becomes the reversed run of it: what it reads of "r" enters it as it is, so that the square
// is of "s". "t", which reads the states of "i" that the forward trip has stacked, becomes the reversed loop "i": it reads what
// "i" carries where it is, in front of the barrier of `jax.checkpoint`, and rows of @W as they enter, through both loops. No stack
// of states is left.
// CHECK-LABEL: func.func private @train.microbatch
// CHECK-SAME: (%[[W:[a-z0-9]*]]: tensor<4x5x2xf32>
// CHECK: %[[Y:.*]] = dist.enter carry %{{.*}} of <"f", trips = 4> number(0)
// CHECK: %[[C:.*]] = dist.enter carry %[[Y]] of <"i", trips = 5, in = <"f", trips = 4>> number(0)
// CHECK-NOT: dist.leave stack
// CHECK: %[[G:.*]] = dist.enter carry %{{.*}} of <"f", trips = 4, reversed = true> number(0)
// CHECK: %[[RC:.*]] = dist.enter carry %[[Y]] of <"r", trips = 5, in = <"f", trips = 4, reversed = true>> number(0)
// CHECK-NOT: dist.leave stack
// CHECK: %[[SG:.*]] = dist.enter carry %[[G]] of <"r", trips = 5, reversed = true, in = <"f", trips = 4, reversed = true>> number(0)
// CHECK: %[[SC:.*]] = dist.enter same %[[RC]] of <"r", trips = 5, reversed = true, in = <"f", trips = 4, reversed = true>>
// CHECK: %[[SQ:.*]] = stablehlo.multiply %[[SC]], %[[SC]]
// CHECK: stablehlo.multiply %[[SG]], %[[SQ]]
// CHECK: %[[SL:.*]] = dist.leave last %{{.*}} of <"r", trips = 5, reversed = true, in = <"f", trips = 4, reversed = true>>
// CHECK: %[[S:.*]] = dist.leave stack %{{.*}} of <"r", trips = 5, reversed = true, in = <"f", trips = 4, reversed = true>>
// CHECK: %[[TG:.*]] = dist.enter carry %[[SL]] of <"i", trips = 5, reversed = true, in = <"f", trips = 4, reversed = true>> number(0)
// CHECK: %[[TW:.*]] = dist.enter row %[[W]] of <"f", trips = 4, reversed = true>
// CHECK: dist.enter row %[[TW]] of <"i", trips = 5, reversed = true, in = <"f", trips = 4, reversed = true>>
// CHECK: stablehlo.multiply %[[TG]], %[[C]]
// CHECK: %[[T:.*]] = dist.leave stack %{{.*}} of <"i", trips = 5, reversed = true, in = <"f", trips = 4, reversed = true>>
// CHECK: %[[GS:.*]] = stablehlo.add %[[S]], %[[T]]
// CHECK: %[[GRADIENT:.*]] = dist.leave stack %[[GS]] of <"f", trips = 4, reversed = true>
// CHECK: return %{{.*}}, %{{.*}}, %[[GRADIENT]] :
dist.mesh @mesh = <"pipe"=1>
dist.state @w : tensor<4x5x2xf32> {role = parameter, source = #dist.draw<zeros>}
func.func private @train.microbatch(%W: tensor<4x5x2xf32> {dist.port = #dist.port<parameter @w>}, %x: tensor<2xf32> {dist.port = #dist.port<input "x">})
    -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}, tensor<4x5x2xf32> {dist.port = #dist.port<gradient @w>}) {
  %zero = stablehlo.constant {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} dense<0.0> : tensor<f32>
  %one = stablehlo.constant {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} dense<1.0> : tensor<f32>
  %y = dist.enter carry %x of <"f", trips = 4> number(0) {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} : tensor<2xf32> -> tensor<2xf32>
  %w = dist.enter row %W of <"f", trips = 4> {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} : tensor<4x5x2xf32> -> tensor<5x2xf32>
  %c = dist.enter carry %y of <"i", trips = 5, in = <"f", trips = 4>> number(0) {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} : tensor<2xf32> -> tensor<2xf32>
  %v = dist.enter row %w of <"i", trips = 5, in = <"f", trips = 4>> {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} : tensor<5x2xf32> -> tensor<2xf32>
  %m = stablehlo.multiply %c, %v {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} : tensor<2xf32>
  %n = dist.next %c, %m {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} : tensor<2xf32>
  %l = dist.leave last %n of <"i", trips = 5, in = <"f", trips = 4>> {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} : tensor<2xf32> -> tensor<2xf32>
  %cs = dist.leave stack %c of <"i", trips = 5, in = <"f", trips = 4>> {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} : tensor<2xf32> -> tensor<5x2xf32>
  %vs = dist.leave stack %v of <"i", trips = 5, in = <"f", trips = 4>> {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} : tensor<2xf32> -> tensor<5x2xf32>
  %z = dist.next %y, %l {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} : tensor<2xf32>
  %last = dist.leave last %z of <"f", trips = 4> {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} : tensor<2xf32> -> tensor<2xf32>
  %css = dist.leave stack %cs of <"f", trips = 4> {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} : tensor<5x2xf32> -> tensor<4x5x2xf32>
  %vss = dist.leave stack %vs of <"f", trips = 4> {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} : tensor<5x2xf32> -> tensor<4x5x2xf32>
  %ys = dist.leave stack %y of <"f", trips = 4> {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} : tensor<2xf32> -> tensor<4x2xf32>
  %loss = stablehlo.reduce(%last init: %zero) applies stablehlo.add across dimensions = [0] {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} : (tensor<2xf32>, tensor<f32>) -> tensor<f32>
  %rcss = stablehlo.reverse %css, dims = [0] {dist.block = 1 : i64, dist.phase = #dist.phase<backward_input>} : tensor<4x5x2xf32>
  %rvss = stablehlo.reverse %vss, dims = [0] {dist.block = 1 : i64, dist.phase = #dist.phase<backward_input>} : tensor<4x5x2xf32>
  %rys = stablehlo.reverse %ys, dims = [0] {dist.block = 1 : i64, dist.phase = #dist.phase<backward_input>} : tensor<4x2xf32>
  %rW = stablehlo.reverse %W, dims = [0] {dist.block = 1 : i64, dist.phase = #dist.phase<backward_input>} : tensor<4x5x2xf32>
  %g = dist.enter carry %last of <"b", trips = 4> number(0) {dist.block = 1 : i64, dist.phase = #dist.phase<backward_input>} : tensor<2xf32> -> tensor<2xf32>
  %bcs = dist.enter row %rcss of <"b", trips = 4> {dist.block = 1 : i64, dist.phase = #dist.phase<backward_input>} : tensor<4x5x2xf32> -> tensor<5x2xf32>
  %bvs = dist.enter row %rvss of <"b", trips = 4> {dist.block = 1 : i64, dist.phase = #dist.phase<backward_input>} : tensor<4x5x2xf32> -> tensor<5x2xf32>
  %by = dist.enter row %rys of <"b", trips = 4> {dist.block = 1 : i64, dist.phase = #dist.phase<backward_input>} : tensor<4x2xf32> -> tensor<2xf32>
  %bw = dist.enter row %rW of <"b", trips = 4> {dist.block = 1 : i64, dist.phase = #dist.phase<backward_input>} : tensor<4x5x2xf32> -> tensor<5x2xf32>
  %rc = dist.enter carry %by of <"r", trips = 5, in = <"b", trips = 4>> number(0) {dist.block = 1 : i64, dist.phase = #dist.phase<backward_input>} : tensor<2xf32> -> tensor<2xf32>
  %rv = dist.enter row %bw of <"r", trips = 5, in = <"b", trips = 4>> {dist.block = 1 : i64, dist.phase = #dist.phase<backward_input>} : tensor<5x2xf32> -> tensor<2xf32>
  %rm = stablehlo.multiply %rc, %rv {dist.block = 1 : i64, dist.phase = #dist.phase<backward_input>} : tensor<2xf32>
  %rn = dist.next %rc, %rm {dist.block = 1 : i64, dist.phase = #dist.phase<backward_input>} : tensor<2xf32>
  %rcs = dist.leave stack %rc of <"r", trips = 5, in = <"b", trips = 4>> {dist.block = 1 : i64, dist.phase = #dist.phase<backward_input>} : tensor<2xf32> -> tensor<5x2xf32>
  %rrcs = stablehlo.reverse %rcs, dims = [0] {dist.block = 1 : i64, dist.phase = #dist.phase<backward_input>} : tensor<5x2xf32>
  %rbw = stablehlo.reverse %bw, dims = [0] {dist.block = 1 : i64, dist.phase = #dist.phase<backward_input>} : tensor<5x2xf32>
  %sg = dist.enter carry %g of <"s", trips = 5, in = <"b", trips = 4>> number(0) {dist.block = 1 : i64, dist.phase = #dist.phase<backward_input>} : tensor<2xf32> -> tensor<2xf32>
  %sc = dist.enter row %rrcs of <"s", trips = 5, in = <"b", trips = 4>> {dist.block = 1 : i64, dist.phase = #dist.phase<backward_input>} : tensor<5x2xf32> -> tensor<2xf32>
  %sv = dist.enter row %rbw of <"s", trips = 5, in = <"b", trips = 4>> {dist.block = 1 : i64, dist.phase = #dist.phase<backward_input>} : tensor<5x2xf32> -> tensor<2xf32>
  %sq = stablehlo.multiply %sc, %sc {dist.block = 1 : i64, dist.phase = #dist.phase<backward_input>} : tensor<2xf32>
  %sgw = stablehlo.multiply %sg, %sq {dist.block = 1 : i64, dist.phase = #dist.phase<backward_input>} : tensor<2xf32>
  %sgx = stablehlo.multiply %sg, %sv {dist.block = 1 : i64, dist.phase = #dist.phase<backward_input>} : tensor<2xf32>
  %sn = dist.next %sg, %sgx {dist.block = 1 : i64, dist.phase = #dist.phase<backward_input>} : tensor<2xf32>
  %sl = dist.leave last %sn of <"s", trips = 5, in = <"b", trips = 4>> {dist.block = 1 : i64, dist.phase = #dist.phase<backward_input>} : tensor<2xf32> -> tensor<2xf32>
  %sgs = dist.leave stack %sgw of <"s", trips = 5, in = <"b", trips = 4>> {dist.block = 1 : i64, dist.phase = #dist.phase<backward_input>} : tensor<2xf32> -> tensor<5x2xf32>
  %gs1 = stablehlo.reverse %sgs, dims = [0] {dist.block = 1 : i64, dist.phase = #dist.phase<backward_input>} : tensor<5x2xf32>
  %kept:2 = stablehlo.optimization_barrier {dist.block = 1 : i64, dist.phase = #dist.phase<backward_input>} %bcs, %by : tensor<5x2xf32>, tensor<2xf32>
  %rbcs = stablehlo.reverse %kept#0, dims = [0] {dist.block = 1 : i64, dist.phase = #dist.phase<backward_input>} : tensor<5x2xf32>
  %rbvs = stablehlo.reverse %bvs, dims = [0] {dist.block = 1 : i64, dist.phase = #dist.phase<backward_input>} : tensor<5x2xf32>
  %tg = dist.enter carry %sl of <"t", trips = 5, in = <"b", trips = 4>> number(0) {dist.block = 1 : i64, dist.phase = #dist.phase<backward_input>} : tensor<2xf32> -> tensor<2xf32>
  %tc = dist.enter row %rbcs of <"t", trips = 5, in = <"b", trips = 4>> {dist.block = 1 : i64, dist.phase = #dist.phase<backward_input>} : tensor<5x2xf32> -> tensor<2xf32>
  %tv = dist.enter row %rbvs of <"t", trips = 5, in = <"b", trips = 4>> {dist.block = 1 : i64, dist.phase = #dist.phase<backward_input>} : tensor<5x2xf32> -> tensor<2xf32>
  %tgw = stablehlo.multiply %tg, %tc {dist.block = 1 : i64, dist.phase = #dist.phase<backward_input>} : tensor<2xf32>
  %tgx = stablehlo.multiply %tg, %tv {dist.block = 1 : i64, dist.phase = #dist.phase<backward_input>} : tensor<2xf32>
  %tn = dist.next %tg, %tgx {dist.block = 1 : i64, dist.phase = #dist.phase<backward_input>} : tensor<2xf32>
  %tl = dist.leave last %tn of <"t", trips = 5, in = <"b", trips = 4>> {dist.block = 1 : i64, dist.phase = #dist.phase<backward_input>} : tensor<2xf32> -> tensor<2xf32>
  %tgs = dist.leave stack %tgw of <"t", trips = 5, in = <"b", trips = 4>> {dist.block = 1 : i64, dist.phase = #dist.phase<backward_input>} : tensor<2xf32> -> tensor<5x2xf32>
  %gs2 = stablehlo.reverse %tgs, dims = [0] {dist.block = 1 : i64, dist.phase = #dist.phase<backward_input>} : tensor<5x2xf32>
  %gs = stablehlo.add %gs1, %gs2 {dist.block = 1 : i64, dist.phase = #dist.phase<backward_input>} : tensor<5x2xf32>
  %gn = dist.next %g, %tl {dist.block = 1 : i64, dist.phase = #dist.phase<backward_input>} : tensor<2xf32>
  %gss = dist.leave stack %gs of <"b", trips = 4> {dist.block = 1 : i64, dist.phase = #dist.phase<backward_input>} : tensor<5x2xf32> -> tensor<4x5x2xf32>
  %gradient = stablehlo.reverse %gss, dims = [0] {dist.block = 1 : i64, dist.phase = #dist.phase<backward_input>} : tensor<4x5x2xf32>
  return %loss, %one, %gradient : tensor<f32>, tensor<f32>, tensor<4x5x2xf32>
}
func.func private @train.update(%w: tensor<4x5x2xf32> {dist.port = #dist.port<parameter @w>}, %g: tensor<4x5x2xf32> {dist.port = #dist.port<gradient @w>}) -> (tensor<4x5x2xf32> {dist.port = #dist.port<parameter @w>}) {
  %p = stablehlo.subtract %w, %g {dist.phase = #dist.phase<update>} : tensor<4x5x2xf32>
  return %p : tensor<4x5x2xf32>
}
dist.step @train microbatch(@train.microbatch) update(@train.update) microbatches(1) schedule(<1f1b>)
