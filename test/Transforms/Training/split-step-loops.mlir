// Loops of a whole step: of a microbatch they stay loops, on its part of the batch; of an update they are copies of their trips.
// RUN: split-file %s %t
// RUN: llmc-opt %t/slices.mlir --llmc-split-step | FileCheck %t/slices.mlir
// RUN: llmc-opt %t/update.mlir --llmc-split-step | FileCheck %t/update.mlir
// RUN: llmc-opt %t/nest.mlir --llmc-split-step | FileCheck %t/nest.mlir
// RUN: sed 's/trips = 2>/trips = 20000>/g' %t/nest.mlir > %t/wide.mlir
// RUN: not llmc-opt %t/wide.mlir --llmc-split-step 2>&1 | FileCheck %t/nest.mlir --check-prefix=WIDE
// RUN: not llmc-opt %t/changes.mlir --llmc-split-step 2>&1 | FileCheck %t/changes.mlir
// RUN: not llmc-opt %t/conditional.mlir --llmc-split-step 2>&1 | FileCheck %t/conditional.mlir
// RUN: not llmc-opt %t/long.mlir --llmc-split-step 2>&1 | FileCheck %t/long.mlir

//--- slices.mlir
// What is carried is a slice where it starts from samples (%y) or becomes some (%c), and a term where it is added up (%s), also
// from a weight's decay (%d), which counts in the first microbatch alone. Nothing crosses in the middle of a loop: %s and %d do
// where they leave it.
// CHECK: func.func private @train.microbatch({{.*}}%[[X:[a-z0-9]*]]: tensor<4x3xf32> {dist.port = #dist.port<input "x">}
// CHECK: dist.enter carry %[[X]] of <"f", trips = 5> number(0) {{.*}}: tensor<4x3xf32>
// CHECK: dist.leave stack %{{.*}} of <"f", trips = 5> {{.*}}: tensor<4x3xf32> -> tensor<5x4x3xf32>
// CHECK: stablehlo.broadcast_in_dim %{{.*}} -> tensor<4x3xf32>
// CHECK: dist.enter carry %{{.*}} of <"b", trips = 5> number(0) {{.*}}: tensor<4x3xf32>
// CHECK: dist.enter row %{{.*}} of <"b", trips = 5> {{.*}}: tensor<5x4x3xf32> -> tensor<4x3xf32>
// CHECK: %[[S:.*]] = dist.enter carry %{{.*}} of <"b", trips = 5> number(1) {{.*}}: tensor<3xf32>
// CHECK: %[[D0:.*]] = stablehlo.select
// CHECK: %[[D:.*]] = dist.enter carry %[[D0]] of <"b", trips = 5> number(2) {{.*}}: tensor<3xf32>
// CHECK: %[[FS:.*]] = dist.next %[[S]],
// CHECK: %[[FD:.*]] = dist.next %[[D]],
// CHECK: %[[LS:.*]] = dist.leave last %[[FS]]
// CHECK: %[[LD:.*]] = dist.leave last %[[FD]]
// CHECK-NOT: 8x3xf32
// CHECK: return %{{.*}}, %{{.*}}, %[[LS]], %[[LD]], %{{.*}} :
// CHECK: func.func private @train.update({{.*}}%[[GV:[a-z0-9]*]]: tensor<3xf32> {dist.port = #dist.port<gradient @v>}, %[[GW:[a-z0-9]*]]: tensor<3xf32> {dist.port = #dist.port<gradient @w>}
// CHECK-NOT: dist.enter
// CHECK: dist.step @train
dist.state @v : tensor<3xf32> {role = parameter, source = #dist.draw<zeros>}
dist.state @w : tensor<3xf32> {role = parameter, source = #dist.draw<zeros>}
func.func @step(%v: tensor<3xf32> {dist.port = #dist.port<parameter @v>}, %w: tensor<3xf32> {dist.port = #dist.port<parameter @w>}, %x: tensor<8x3xf32> {dist.port = #dist.port<input "x">})
    -> (tensor<3xf32> {dist.port = #dist.port<parameter @v>}, tensor<3xf32> {dist.port = #dist.port<parameter @w>}, tensor<f32> {dist.port = #dist.port<loss>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %vs = stablehlo.broadcast_in_dim %v, dims = [1] : (tensor<3xf32>) -> tensor<8x3xf32>
  %ws = stablehlo.broadcast_in_dim %w, dims = [1] : (tensor<3xf32>) -> tensor<8x3xf32>
  %y = dist.enter carry %x of <"f", trips = 5> number(0) : tensor<8x3xf32> -> tensor<8x3xf32>
  %y0 = stablehlo.multiply %y, %vs : tensor<8x3xf32>
  %y1 = stablehlo.add %y0, %ws : tensor<8x3xf32>
  %fy = dist.next %y, %y1 : tensor<8x3xf32>
  %last = dist.leave last %fy of <"f", trips = 5> : tensor<8x3xf32> -> tensor<8x3xf32>
  %ys = dist.leave stack %y of <"f", trips = 5> : tensor<8x3xf32> -> tensor<5x8x3xf32>
  %loss = stablehlo.reduce(%last init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x3xf32>, tensor<f32>) -> tensor<f32>
  %rys = stablehlo.reverse %ys, dims = [0] : tensor<5x8x3xf32>
  %c0 = stablehlo.broadcast_in_dim %zero, dims = [] : (tensor<f32>) -> tensor<8x3xf32>
  %s0 = stablehlo.broadcast_in_dim %zero, dims = [] : (tensor<f32>) -> tensor<3xf32>
  %c = dist.enter carry %c0 of <"b", trips = 5> number(0) : tensor<8x3xf32> -> tensor<8x3xf32>
  %r = dist.enter row %rys of <"b", trips = 5> : tensor<5x8x3xf32> -> tensor<8x3xf32>
  %s = dist.enter carry %s0 of <"b", trips = 5> number(1) : tensor<3xf32> -> tensor<3xf32>
  %d = dist.enter carry %w of <"b", trips = 5> number(2) : tensor<3xf32> -> tensor<3xf32>
  %c1 = stablehlo.add %c, %r : tensor<8x3xf32>
  %m = stablehlo.multiply %c1, %r : tensor<8x3xf32>
  %g = stablehlo.reduce(%m init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<8x3xf32>, tensor<f32>) -> tensor<3xf32>
  %h = stablehlo.reduce(%c1 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<8x3xf32>, tensor<f32>) -> tensor<3xf32>
  %s1 = stablehlo.add %s, %g : tensor<3xf32>
  %d1 = stablehlo.add %d, %h : tensor<3xf32>
  %fc = dist.next %c, %c1 : tensor<8x3xf32>
  %fs = dist.next %s, %s1 : tensor<3xf32>
  %fd = dist.next %d, %d1 : tensor<3xf32>
  %gv = dist.leave last %fs of <"b", trips = 5> : tensor<3xf32> -> tensor<3xf32>
  %gw = dist.leave last %fd of <"b", trips = 5> : tensor<3xf32> -> tensor<3xf32>
  %v1 = stablehlo.subtract %v, %gv : tensor<3xf32>
  %w1 = stablehlo.subtract %w, %gw : tensor<3xf32>
  return %v1, %w1, %loss : tensor<3xf32>, tensor<3xf32>, tensor<f32>
}
dist.training @train forward(@step) microbatches(2) schedule(<1f1b>)

//--- update.mlir
// The gradient crosses before the loop of the update, which reads a row of its rates, adds up what it multiplied with, and stacks
// what it carries.
// CHECK: func.func private @train.microbatch
// CHECK-NOT: dist.enter
// CHECK: func.func private @train.update({{.*}}%[[G:[a-z0-9]*]]: tensor<2x2xf32> {dist.port = #dist.port<gradient @w>}
// CHECK: %[[R0:.*]] = stablehlo.slice %[[RATES:.*]] [0:1]
// CHECK: %[[A0:.*]] = stablehlo.reshape %[[R0]] {{.*}}: (tensor<1xf32>) -> tensor<f32>
// CHECK: %[[B0:.*]] = stablehlo.broadcast_in_dim %[[A0]]
// CHECK: %[[D0:.*]] = stablehlo.dot_general %[[G]], %[[B0]]
// CHECK: %[[R1:.*]] = stablehlo.slice %[[RATES]] [1:2]
// CHECK: %[[A1:.*]] = stablehlo.reshape %[[R1]]
// CHECK: %[[B1:.*]] = stablehlo.broadcast_in_dim %[[A1]]
// CHECK: %[[D1:.*]] = stablehlo.dot_general %[[D0]], %[[B1]]
// CHECK: %[[S:.*]] = stablehlo.add %[[B0]], %[[B1]]
// CHECK: stablehlo.concatenate %{{.*}}, %{{.*}}, dim = 0 {{.*}}: (tensor<1x2x2xf32>, tensor<1x2x2xf32>) -> tensor<2x2x2xf32>
// CHECK: stablehlo.subtract %[[D1]], %[[S]]
// CHECK-NOT: dist.enter
// CHECK: dist.step @train
dist.state @w : tensor<2x2xf32> {role = parameter, source = #dist.draw<zeros>}
func.func @step(%w: tensor<2x2xf32> {dist.port = #dist.port<parameter @w>}, %x: tensor<8x2x2xf32> {dist.port = #dist.port<input "x">})
    -> (tensor<2x2xf32> {dist.port = #dist.port<parameter @w>}, tensor<f32> {dist.port = #dist.port<loss>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %loss = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<8x2x2xf32>, tensor<f32>) -> tensor<f32>
  %g = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<8x2x2xf32>, tensor<f32>) -> tensor<2x2xf32>
  %rates = stablehlo.constant dense<[1.0, 2.0]> : tensor<2xf32>
  %r = dist.enter row %rates of <"u", trips = 2> : tensor<2xf32> -> tensor<f32>
  %c = dist.enter carry %g of <"u", trips = 2> number(0) : tensor<2x2xf32> -> tensor<2x2xf32>
  %b = stablehlo.broadcast_in_dim %r, dims = [] : (tensor<f32>) -> tensor<2x2xf32>
  %d = stablehlo.dot_general %c, %b, contracting_dims = [1] x [0] : (tensor<2x2xf32>, tensor<2x2xf32>) -> tensor<2x2xf32>
  %f = dist.next %c, %d : tensor<2x2xf32>
  %last = dist.leave last %f of <"u", trips = 2> : tensor<2x2xf32> -> tensor<2x2xf32>
  %sum = dist.leave sum %b of <"u", trips = 2> : tensor<2x2xf32> -> tensor<2x2xf32>
  %stack = dist.leave stack %d of <"u", trips = 2> : tensor<2x2xf32> -> tensor<2x2x2xf32>
  %s = stablehlo.reduce(%stack init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<2x2x2xf32>, tensor<f32>) -> tensor<2x2xf32>
  %e = stablehlo.subtract %last, %sum : tensor<2x2xf32>
  %w0 = stablehlo.subtract %w, %e : tensor<2x2xf32>
  %w1 = stablehlo.subtract %w0, %s : tensor<2x2xf32>
  return %w1, %loss : tensor<2x2xf32>, tensor<f32>
}
dist.training @train forward(@step) microbatches(2) schedule(<1f1b>)

//--- nest.mlir
// A loop in each trip of another one: the inner one is copied for each trip of the outer one, and begins with the sum of what that
// carries, which has a body of its own in each copy.
// CHECK: func.func private @train.update({{.*}}%[[G:[a-z0-9]*]]: tensor<2x2xf32> {dist.port = #dist.port<gradient @w>}
// CHECK: %[[S0:.*]] = stablehlo.reduce(%[[G]] init: {{.*}} applies stablehlo.add across dimensions = [0]
// CHECK: %[[A0:.*]] = stablehlo.tanh %[[S0]]
// CHECK: %[[A1:.*]] = stablehlo.tanh %[[A0]]
// CHECK: %[[A2:.*]] = stablehlo.tanh %[[A1]]
// CHECK: %[[B0:.*]] = stablehlo.broadcast_in_dim %[[A2]]
// CHECK: %[[C1:.*]] = stablehlo.add %[[G]], %[[B0]]
// CHECK: %[[S1:.*]] = stablehlo.reduce(%[[C1]] init: {{.*}} applies stablehlo.add across dimensions = [0]
// CHECK: %[[A3:.*]] = stablehlo.tanh %[[S1]]
// CHECK: %[[A4:.*]] = stablehlo.tanh %[[A3]]
// CHECK: %[[A5:.*]] = stablehlo.tanh %[[A4]]
// CHECK: %[[B1:.*]] = stablehlo.broadcast_in_dim %[[A5]]
// CHECK: %[[C2:.*]] = stablehlo.add %[[C1]], %[[B1]]
// CHECK: stablehlo.subtract %{{.*}}, %[[C2]]
// CHECK-NOT: dist.enter
// CHECK: dist.step @train
// WIDE: error: expected loops of an update to be copied to at most 65536 ops, got {{[0-9]+}} (shorten the loop)
dist.state @w : tensor<2x2xf32> {role = parameter, source = #dist.draw<zeros>}
func.func @step(%w: tensor<2x2xf32> {dist.port = #dist.port<parameter @w>}, %x: tensor<8x2x2xf32> {dist.port = #dist.port<input "x">})
    -> (tensor<2x2xf32> {dist.port = #dist.port<parameter @w>}, tensor<f32> {dist.port = #dist.port<loss>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %loss = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<8x2x2xf32>, tensor<f32>) -> tensor<f32>
  %g = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<8x2x2xf32>, tensor<f32>) -> tensor<2x2xf32>
  %c = dist.enter carry %g of <"u", trips = 2> number(0) : tensor<2x2xf32> -> tensor<2x2xf32>
  %s = stablehlo.reduce(%c init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<2x2xf32>, tensor<f32>) -> tensor<2xf32>
  %a = dist.enter carry %s of <"v", trips = 3, in = <"u", trips = 2>> number(0) : tensor<2xf32> -> tensor<2xf32>
  %t = stablehlo.tanh %a : tensor<2xf32>
  %n = dist.next %a, %t : tensor<2xf32>
  %l = dist.leave last %n of <"v", trips = 3, in = <"u", trips = 2>> : tensor<2xf32> -> tensor<2xf32>
  %b = stablehlo.broadcast_in_dim %l, dims = [1] : (tensor<2xf32>) -> tensor<2x2xf32>
  %d = stablehlo.add %c, %b : tensor<2x2xf32>
  %f = dist.next %c, %d : tensor<2x2xf32>
  %last = dist.leave last %f of <"u", trips = 2> : tensor<2x2xf32> -> tensor<2x2xf32>
  %w1 = stablehlo.subtract %w, %last : tensor<2x2xf32>
  return %w1, %loss : tensor<2x2xf32>, tensor<f32>
}
dist.training @train forward(@step) microbatches(1) schedule(<1f1b>)

//--- changes.mlir
// CHECK: changes.mlir:[[# @LINE + 8]]:{{.*}}: error: expected a step whose gradients are sums over the batch, since it has 2 microbatches, got 'dist.enter' that changes from trip to trip how it depends on the batch; set training.microbatches = 1
dist.state @w : tensor<4xf32> {role = parameter, source = #dist.draw<zeros>}
func.func @step(%w: tensor<4xf32> {dist.port = #dist.port<parameter @w>}, %x: tensor<8x4xf32> {dist.port = #dist.port<input "x">})
    -> (tensor<4xf32> {dist.port = #dist.port<parameter @w>}, tensor<f32> {dist.port = #dist.port<loss>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %loss = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  %s = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<8x4xf32>, tensor<f32>) -> tensor<4xf32>
  %s0 = stablehlo.broadcast_in_dim %s, dims = [1] : (tensor<4xf32>) -> tensor<8x4xf32>
  %c = dist.enter carry %s0 of <"l", trips = 5> number(0) : tensor<8x4xf32> -> tensor<8x4xf32>
  %y = stablehlo.tanh %x : tensor<8x4xf32>
  %f = dist.next %c, %y : tensor<8x4xf32>
  %sum = dist.leave sum %c of <"l", trips = 5> : tensor<8x4xf32> -> tensor<8x4xf32>
  %g = stablehlo.reduce(%sum init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<8x4xf32>, tensor<f32>) -> tensor<4xf32>
  %w1 = stablehlo.subtract %w, %g : tensor<4xf32>
  return %w1, %loss : tensor<4xf32>, tensor<f32>
}
dist.training @train forward(@step) microbatches(2) schedule(<1f1b>)

//--- conditional.mlir
// CHECK: conditional.mlir:[[# @LINE + 8]]:{{.*}}: error: expected loops of known trips in an update, got one that its condition alone ends (give it a bound: 'i < N & ...')
dist.state @w : tensor<4xf32> {role = parameter, source = #dist.draw<zeros>}
func.func @step(%w: tensor<4xf32> {dist.port = #dist.port<parameter @w>}, %x: tensor<8x4xf32> {dist.port = #dist.port<input "x">})
    -> (tensor<4xf32> {dist.port = #dist.port<parameter @w>}, tensor<f32> {dist.port = #dist.port<loss>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %loss = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  %g = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<8x4xf32>, tensor<f32>) -> tensor<4xf32>
  %true = stablehlo.constant dense<true> : tensor<i1>
  %on = dist.enter carry %true of <"u", conditional = true> number(0) : tensor<i1> -> tensor<i1>
  %c = dist.enter carry %g of <"u", conditional = true> number(1) : tensor<4xf32> -> tensor<4xf32>
  %d = stablehlo.multiply %c, %w : tensor<4xf32>
  %n = stablehlo.reduce(%d init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  %p = stablehlo.compare GT, %n, %zero : (tensor<f32>, tensor<f32>) -> tensor<i1>
  %fp = dist.next %on, %p : tensor<i1>
  %f = dist.next %c, %d : tensor<4xf32>
  %last = dist.leave last %f of <"u", conditional = true> : tensor<4xf32> -> tensor<4xf32>
  %w1 = stablehlo.subtract %w, %last : tensor<4xf32>
  return %w1, %loss : tensor<4xf32>, tensor<f32>
}
dist.training @train forward(@step) microbatches(1) schedule(<1f1b>)

//--- long.mlir
// CHECK: long.mlir:[[# @LINE + 7]]:{{.*}}: error: expected loops of an update to be copied to at most 65536 ops, got 90000 (shorten the loop)
dist.state @w : tensor<4xf32> {role = parameter, source = #dist.draw<zeros>}
func.func @step(%w: tensor<4xf32> {dist.port = #dist.port<parameter @w>}, %x: tensor<8x4xf32> {dist.port = #dist.port<input "x">})
    -> (tensor<4xf32> {dist.port = #dist.port<parameter @w>}, tensor<f32> {dist.port = #dist.port<loss>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %loss = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  %g = stablehlo.reduce(%x init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<8x4xf32>, tensor<f32>) -> tensor<4xf32>
  %c = dist.enter carry %g of <"u", trips = 30000> number(0) : tensor<4xf32> -> tensor<4xf32>
  %d = stablehlo.multiply %c, %w : tensor<4xf32>
  %f = dist.next %c, %d : tensor<4xf32>
  %last = dist.leave last %f of <"u", trips = 30000> : tensor<4xf32> -> tensor<4xf32>
  %w1 = stablehlo.subtract %w, %last : tensor<4xf32>
  return %w1, %loss : tensor<4xf32>, tensor<f32>
}
dist.training @train forward(@step) microbatches(1) schedule(<1f1b>)
