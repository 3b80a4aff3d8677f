// RUN: split-file %s %t
// RUN: llmc-opt %t/loop.mlir --llmc-narrow | FileCheck %t/loop.mlir
// RUN: llmc-opt %t/nested.mlir --llmc-narrow | FileCheck %t/nested.mlir
// RUN: llmc-opt %t/conditional.mlir --llmc-narrow | FileCheck %t/conditional.mlir

//--- loop.mlir
// What a trip makes has a scale for each trip, which is made before the loop of
// what the trip was in the last microbatches; what it is now leaves the loop
// stacked. The weight's rows have current scales. A cotangent that enters by
// rows is e5m2, and has scales of its trips too.
// CHECK: dist.state @train.amax.0 : tensor<3x4xf32> {role = carried, source = #dist.draw<zeros>}
// CHECK: dist.state @train.amax.1 : tensor<3x4xf32>
// CHECK-NOT: dist.state @train.amax
// CHECK: func.func private @microbatch({{.*}}, %[[K0:[^:]*]]: tensor<3x4xf32> {dist.port = #dist.port<carried @train.amax.0>}, %[[K1:[^:]*]]: tensor<3x4xf32> {dist.port = #dist.port<carried @train.amax.1>})
// CHECK: %[[C:.*]] = dist.enter carry
// CHECK: %[[M:.*]] = stablehlo.select %{{.*}} : tensor<i1>, tensor<f32>
// CHECK: %[[MS:.*]] = dist.leave stack %[[M]] of <"l", trips = 3> {{.*}} : tensor<f32> -> tensor<3xf32>
// CHECK: %[[ROW:.*]] = stablehlo.reshape %[[MS]] {{.*}} -> tensor<3x1xf32>
// CHECK: %[[OLD:.*]] = stablehlo.slice %[[K0]] [0:3, 0:3]
// CHECK: %[[NEXT0:.*]] = stablehlo.concatenate %[[ROW]], %[[OLD]], dim = 1
// CHECK: %[[MOST:.*]] = stablehlo.reduce(%[[K0]] init: %{{.*}}) across dimensions = [1]
// CHECK: %[[ANY:.*]] = stablehlo.compare GT, %[[MOST]],
// CHECK: %[[S:.*]] = stablehlo.select %[[ANY]], %{{.*}} : tensor<3xi1>, tensor<3xf32>
// CHECK: %[[I:.*]] = stablehlo.divide %{{.*}}, %[[S]] {{.*}} : tensor<3xf32>
// CHECK: %[[ST:.*]] = dist.enter row %[[S]] of <"l", trips = 3> {{.*}} : tensor<3xf32> -> tensor<f32>
// CHECK: dist.enter row %[[I]] of <"l", trips = 3>
// CHECK: %[[CN:.*]] = nn.quantize %[[C]], %[[ST]] {{.*}} -> tensor<2x4xf8E4M3FN>
// CHECK: stablehlo.dot_general %[[CN]], %{{.*}} : (tensor<2x4xf8E4M3FN>, tensor<4x4xf8E4M3FN>)
// CHECK: %[[G:.*]] = dist.enter row %{{.*}} of <"l", trips = 3, reversed = true> {{.*}} -> tensor<2x4xf32>
// CHECK: dist.leave stack %{{.*}} of <"l", trips = 3, reversed = true> {{.*}} : tensor<f32> -> tensor<3xf32>
// CHECK: stablehlo.slice %[[K1]]
// CHECK: dist.enter row %{{.*}} of <"l", trips = 3, reversed = true> {{.*}} : tensor<3xf32> -> tensor<f32>
// CHECK: %[[GN:.*]] = nn.quantize %[[G]], %{{.*}} -> tensor<2x4xf8E5M2>
// CHECK: stablehlo.dot_general %[[CN]], %[[GN]], {{.*}} : (tensor<2x4xf8E4M3FN>, tensor<2x4xf8E5M2>)
dist.mesh @mesh = <"data"=1>
dist.state @w : tensor<3x4x4xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @microbatch(%x: tensor<2x4xf32> {dist.port = #dist.port<input "x">}, %w: tensor<3x4x4xf32> {dist.port = #dist.port<parameter @w>})
    -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}, tensor<3x4x4xf32> {dist.port = #dist.port<gradient @w>}) {
  %zero = stablehlo.constant {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} dense<0.0> : tensor<f32>
  %r = dist.enter row %w of <"l", trips = 3> {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} : tensor<3x4x4xf32> -> tensor<4x4xf32>
  %c = dist.enter carry %x of <"l", trips = 3> number(0) {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} : tensor<2x4xf32> -> tensor<2x4xf32>
  %y = stablehlo.dot_general %c, %r, contracting_dims = [1] x [0] {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %n = dist.next %c, %y {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} : tensor<2x4xf32>
  %ys = dist.leave stack %y of <"l", trips = 3> {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} : tensor<2x4xf32> -> tensor<3x2x4xf32>
  %l = stablehlo.reduce(%ys init: %zero) applies stablehlo.add across dimensions = [0, 1, 2] {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} : (tensor<3x2x4xf32>, tensor<f32>) -> tensor<f32>
  %gs = stablehlo.multiply %ys, %ys {dist.block = 1 : i64, dist.phase = #dist.phase<backward_weight>} : tensor<3x2x4xf32>
  %g = dist.enter row %gs of <"l", trips = 3, reversed = true> {dist.block = 1 : i64, dist.phase = #dist.phase<backward_weight>} : tensor<3x2x4xf32> -> tensor<2x4xf32>
  %gr = stablehlo.dot_general %c, %g, contracting_dims = [0] x [0] {dist.block = 1 : i64, dist.phase = #dist.phase<backward_weight>} : (tensor<2x4xf32>, tensor<2x4xf32>) -> tensor<4x4xf32>
  %gw = dist.leave stack %gr of <"l", trips = 3, reversed = true> {dist.block = 1 : i64, dist.phase = #dist.phase<backward_weight>} : tensor<4x4xf32> -> tensor<3x4x4xf32>
  return %l, %zero, %gw : tensor<f32>, tensor<f32>, tensor<3x4x4xf32>
}
func.func private @update(%w: tensor<3x4x4xf32> {dist.port = #dist.port<parameter @w>}, %g: tensor<3x4x4xf32> {dist.port = #dist.port<gradient @w>}) -> (tensor<3x4x4xf32> {dist.port = #dist.port<parameter @w>}) {
  return %g : tensor<3x4x4xf32>
}
dist.step @train microbatch(@microbatch) update(@update) microbatches(1) schedule(<1f1b>) {dist.precision = f8E4M3FN, dist.scaling = array<i64: 4, 0>}

//--- nested.mlir
// In a loop of another one a scale is of both trips. What is there before the
// loops and enters them as it is has one for each as well; the weight, which
// enters both, has current scales.
// CHECK: dist.state @train.amax.0 : tensor<3x5x2xf32>
// CHECK: dist.state @train.amax.1 : tensor<3x5x2xf32>
// CHECK-NOT: dist.state @train.amax
// CHECK: %[[M:.*]] = dist.leave stack %{{.*}} of <"t", trips = 5, in = <"l", trips = 3>> {{.*}} : tensor<f32> -> tensor<5xf32>
// CHECK: dist.leave stack %[[M]] of <"l", trips = 3> {{.*}} : tensor<5xf32> -> tensor<3x5xf32>
// CHECK: %[[S:.*]] = dist.enter row %{{.*}} of <"l", trips = 3> {{.*}} : tensor<3x5xf32> -> tensor<5xf32>
// CHECK: %[[ST:.*]] = dist.enter row %[[S]] of <"t", trips = 5, in = <"l", trips = 3>> {{.*}} : tensor<5xf32> -> tensor<f32>
// CHECK: nn.quantize %{{.*}}, %[[ST]]
dist.mesh @mesh = <"data"=1>
dist.state @w : tensor<3x4x4xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @microbatch(%x: tensor<2x4xf32> {dist.port = #dist.port<input "x">}, %w: tensor<3x4x4xf32> {dist.port = #dist.port<parameter @w>})
    -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}, tensor<3x4x4xf32> {dist.port = #dist.port<gradient @w>}) {
  %zero = stablehlo.constant {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} dense<0.0> : tensor<f32>
  %e = stablehlo.exponential %x {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} : tensor<2x4xf32>
  %r = dist.enter row %w of <"l", trips = 3> {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} : tensor<3x4x4xf32> -> tensor<4x4xf32>
  %o = dist.enter same %e of <"l", trips = 3> {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} : tensor<2x4xf32> -> tensor<2x4xf32>
  %c = dist.enter carry %x of <"l", trips = 3> number(0) {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} : tensor<2x4xf32> -> tensor<2x4xf32>
  %rt = dist.enter same %r of <"t", trips = 5, in = <"l", trips = 3>> {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} : tensor<4x4xf32> -> tensor<4x4xf32>
  %ot = dist.enter same %o of <"t", trips = 5, in = <"l", trips = 3>> {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} : tensor<2x4xf32> -> tensor<2x4xf32>
  %ct = dist.enter carry %c of <"t", trips = 5, in = <"l", trips = 3>> number(1) {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} : tensor<2x4xf32> -> tensor<2x4xf32>
  %y = stablehlo.dot_general %ct, %rt, contracting_dims = [1] x [0] {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %u = stablehlo.dot_general %ot, %rt, contracting_dims = [1] x [0] {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %z = stablehlo.add %y, %u {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} : tensor<2x4xf32>
  %nt = dist.next %ct, %z {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} : tensor<2x4xf32>
  %zt = dist.leave last %nt of <"t", trips = 5, in = <"l", trips = 3>> {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} : tensor<2x4xf32> -> tensor<2x4xf32>
  %n = dist.next %c, %zt {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} : tensor<2x4xf32>
  %s = dist.leave last %n of <"l", trips = 3> {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} : tensor<2x4xf32> -> tensor<2x4xf32>
  %l = stablehlo.reduce(%s init: %zero) applies stablehlo.add across dimensions = [0, 1] {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} : (tensor<2x4xf32>, tensor<f32>) -> tensor<f32>
  return %l, %zero, %w : tensor<f32>, tensor<f32>, tensor<3x4x4xf32>
}
func.func private @update(%w: tensor<3x4x4xf32> {dist.port = #dist.port<parameter @w>}, %g: tensor<3x4x4xf32> {dist.port = #dist.port<gradient @w>}) -> (tensor<3x4x4xf32> {dist.port = #dist.port<parameter @w>}) {
  return %g : tensor<3x4x4xf32>
}
dist.step @train microbatch(@microbatch) update(@update) microbatches(1) schedule(<1f1b>) {dist.precision = f8E4M3FN, dist.scaling = array<i64: 2, 0>}

//--- conditional.mlir
// Nobody can number the trips of a loop that its condition ends: scales are
// current.
// CHECK-NOT: dist.state @train.amax
// CHECK: nn.quantize
dist.mesh @mesh = <"data"=1>
dist.state @w : tensor<4x4xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @microbatch(%x: tensor<2x4xf32> {dist.port = #dist.port<input "x">}, %w: tensor<4x4xf32> {dist.port = #dist.port<parameter @w>})
    -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}, tensor<4x4xf32> {dist.port = #dist.port<gradient @w>}) {
  %zero = stablehlo.constant {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} dense<0.0> : tensor<f32>
  %yes = stablehlo.constant {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} dense<true> : tensor<i1>
  %f = dist.enter carry %yes of <"l", conditional = true> number(0) {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} : tensor<i1> -> tensor<i1>
  %c = dist.enter carry %x of <"l", conditional = true> number(1) {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} : tensor<2x4xf32> -> tensor<2x4xf32>
  %y = stablehlo.dot_general %c, %w, contracting_dims = [1] x [0] {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %s = stablehlo.reduce(%y init: %zero) applies stablehlo.add across dimensions = [0, 1] {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} : (tensor<2x4xf32>, tensor<f32>) -> tensor<f32>
  %on = stablehlo.compare LT, %s, %zero, FLOAT {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %nf = dist.next %f, %on {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} : tensor<i1>
  %n = dist.next %c, %y {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} : tensor<2x4xf32>
  %z = dist.leave last %n of <"l", conditional = true> {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} : tensor<2x4xf32> -> tensor<2x4xf32>
  %l = stablehlo.reduce(%z init: %zero) applies stablehlo.add across dimensions = [0, 1] {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} : (tensor<2x4xf32>, tensor<f32>) -> tensor<f32>
  return %l, %zero, %w : tensor<f32>, tensor<f32>, tensor<4x4xf32>
}
func.func private @update(%w: tensor<4x4xf32> {dist.port = #dist.port<parameter @w>}, %g: tensor<4x4xf32> {dist.port = #dist.port<gradient @w>}) -> (tensor<4x4xf32> {dist.port = #dist.port<parameter @w>}) {
  return %g : tensor<4x4xf32>
}
dist.step @train microbatch(@microbatch) update(@update) microbatches(1) schedule(<1f1b>) {dist.precision = f8E4M3FN, dist.scaling = array<i64: 4, 0>}
