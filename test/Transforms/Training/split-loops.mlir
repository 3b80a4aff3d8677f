// RUN: llmc-opt %s --llmc-split-loops --split-input-file | FileCheck %s

// Two chunks: a loop of five trips becomes one of two and one of three, the
// second from where the first ends. Stacks are laid side by side, sums added.
// CHECK-LABEL: func.func @loss
// CHECK-SAME: %[[W:[^:]*]]: tensor<5x4x4xf32>
// CHECK: %[[W0:.*]] = stablehlo.slice %[[W]] [0:2, 0:4, 0:4]
// CHECK: %[[R0:.*]] = dist.enter row %[[W0]] of <"l.0", trips = 2> : tensor<2x4x4xf32> -> tensor<4x4xf32>
// CHECK: %[[X0:.*]] = dist.enter carry %{{.*}} of <"l.0", trips = 2> number(0)
// CHECK: %[[Y0:.*]] = stablehlo.dot_general %[[X0]], %[[R0]]
// CHECK: %[[F0:.*]] = dist.next %[[X0]], %[[Y0]]
// CHECK: %[[L0:.*]] = dist.leave last %[[F0]] of <"l.0", trips = 2>
// CHECK: %[[S0:.*]] = dist.leave stack %[[Y0]] of <"l.0", trips = 2> : tensor<2x4xf32> -> tensor<2x2x4xf32>
// CHECK: %[[T0:.*]] = dist.leave sum
// CHECK: %[[W1:.*]] = stablehlo.slice %[[W]] [2:5, 0:4, 0:4]
// CHECK: dist.enter row %[[W1]] of <"l.1", trips = 3>
// CHECK: dist.enter carry %[[L0]] of <"l.1", trips = 3> number(0)
// CHECK: %[[L1:.*]] = dist.leave last %{{.*}} of <"l.1", trips = 3>
// CHECK: %[[S1:.*]] = dist.leave stack
// CHECK: %[[T1:.*]] = dist.leave sum
// CHECK: %[[S:.*]] = stablehlo.concatenate %[[S0]], %[[S1]], dim = 0
// CHECK: %[[T:.*]] = stablehlo.add %[[T0]], %[[T1]]
// CHECK-NOT: <"l",
// CHECK: return %[[L1]], %[[S]], %[[T]]
dist.mesh @mesh = <"pipe"=2> pipeline "pipe"
dist.state @w : tensor<5x4x4xf32> {role = parameter, source = #dist.draw<zeros>}
func.func @loss(%W: tensor<5x4x4xf32> {dist.port = #dist.port<parameter @w>}, %x0: tensor<2x4xf32> {dist.port = #dist.port<input "x">})
    -> (tensor<2x4xf32> {dist.port = #dist.port<output "y">}, tensor<5x2x4xf32> {dist.port = #dist.port<output "ys">}, tensor<2x4xf32> {dist.port = #dist.port<output "s">}) {
  %w = dist.enter row %W of <"l", trips = 5> : tensor<5x4x4xf32> -> tensor<4x4xf32>
  %x = dist.enter carry %x0 of <"l", trips = 5> number(0) : tensor<2x4xf32> -> tensor<2x4xf32>
  %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<2x4xf32>, tensor<4x4xf32>) -> tensor<2x4xf32>
  %f = dist.next %x, %y : tensor<2x4xf32>
  %last = dist.leave last %f of <"l", trips = 5> : tensor<2x4xf32> -> tensor<2x4xf32>
  %stack = dist.leave stack %y of <"l", trips = 5> : tensor<2x4xf32> -> tensor<5x2x4xf32>
  %sum = dist.leave sum %x of <"l", trips = 5> : tensor<2x4xf32> -> tensor<2x4xf32>
  return %last, %stack, %sum : tensor<2x4xf32>, tensor<5x2x4xf32>, tensor<2x4xf32>
}
dist.entry @forward function(@loss)

// -----

// Rows that are read from the last one on are cut before they are turned.
// CHECK-LABEL: func.func @turned
// CHECK-SAME: %[[W:[^:]*]]: tensor<5x4xf32>
// CHECK: %[[W0:.*]] = stablehlo.slice %[[W]] [3:5, 0:4]
// CHECK: %[[R0:.*]] = stablehlo.reverse %[[W0]], dims = [0]
// CHECK: dist.enter row %[[R0]] of <"l.0", trips = 2>
// CHECK: %[[W1:.*]] = stablehlo.slice %[[W]] [0:3, 0:4]
// CHECK: %[[R1:.*]] = stablehlo.reverse %[[W1]], dims = [0]
// CHECK: dist.enter row %[[R1]] of <"l.1", trips = 3>
dist.mesh @mesh = <"pipe"=2> pipeline "pipe"
dist.state @w : tensor<5x4xf32> {role = parameter, source = #dist.draw<zeros>}
func.func @turned(%W: tensor<5x4xf32> {dist.port = #dist.port<parameter @w>})
    -> (tensor<5x4xf32> {dist.port = #dist.port<output "y">}) {
  %r = stablehlo.reverse %W, dims = [0] : tensor<5x4xf32>
  %w = dist.enter row %r of <"l", trips = 5> : tensor<5x4xf32> -> tensor<4xf32>
  %stack = dist.leave stack %w of <"l", trips = 5> : tensor<4xf32> -> tensor<5x4xf32>
  return %stack : tensor<5x4xf32>
}
dist.entry @forward function(@turned)

// -----

// Each piece has the loops that are in its trips, under names of its own.
// CHECK-LABEL: func.func @inner
// CHECK: %[[X0:.*]] = dist.enter carry %{{.*}} of <"l.0", trips = 2> number(0)
// CHECK: %[[Y0:.*]] = dist.enter carry %[[X0]] of <"m.0", trips = 3, in = <"l.0", trips = 2>> number(0)
// CHECK: %[[N0:.*]] = dist.next %[[Y0]]
// CHECK: %[[L0:.*]] = dist.leave last %[[N0]] of <"m.0", trips = 3, in = <"l.0", trips = 2>>
// CHECK: %[[F0:.*]] = dist.next %[[X0]], %[[L0]]
// CHECK: %[[AFTER:.*]] = dist.leave last %[[F0]] of <"l.0", trips = 2>
// CHECK: %[[X1:.*]] = dist.enter carry %[[AFTER]] of <"l.1", trips = 3> number(0)
// CHECK: dist.enter carry %[[X1]] of <"m.1", trips = 3, in = <"l.1", trips = 3>> number(0)
// CHECK-NOT: <"m",
dist.mesh @mesh = <"pipe"=2> pipeline "pipe"
func.func @inner(%x0: tensor<2x4xf32> {dist.port = #dist.port<input "x">}) -> (tensor<2x4xf32> {dist.port = #dist.port<output "y">}) {
  %x = dist.enter carry %x0 of <"l", trips = 5> number(0) : tensor<2x4xf32> -> tensor<2x4xf32>
  %y = dist.enter carry %x of <"m", trips = 3, in = <"l", trips = 5>> number(0) : tensor<2x4xf32> -> tensor<2x4xf32>
  %z = stablehlo.tanh %y : tensor<2x4xf32>
  %g = dist.next %y, %z : tensor<2x4xf32>
  %last = dist.leave last %g of <"m", trips = 3, in = <"l", trips = 5>> : tensor<2x4xf32> -> tensor<2x4xf32>
  %f = dist.next %x, %last : tensor<2x4xf32>
  %out = dist.leave last %f of <"l", trips = 5> : tensor<2x4xf32> -> tensor<2x4xf32>
  return %out : tensor<2x4xf32>
}
dist.entry @forward function(@inner)

// -----

// Rows whose dims were cut and moved, and that are hinted to lie somewhere, are cut before all that. A hint that splits the
// rows stays, as does a reshape that mixes them with other dims.
// CHECK-LABEL: func.func @moved
// CHECK-SAME: %[[W:[^:]*]]: tensor<6x8xf32> {{.*}}, %[[V:[^:]*]]: tensor<6x8xf32>
// CHECK: %[[H:.*]] = dist.constraint %[[V]] to
// CHECK: %[[M:.*]] = stablehlo.reshape %{{.*}} : (tensor<6x8xf32>) -> tensor<4x12xf32>
// CHECK: %[[W0:.*]] = stablehlo.slice %[[W]] [0:3, 0:8]
// CHECK: %[[A0:.*]] = stablehlo.reshape %[[W0]] : (tensor<3x8xf32>) -> tensor<3x1x4x2xf32>
// CHECK: %[[B0:.*]] = stablehlo.transpose %[[A0]], dims = [2, 0, 1, 3] : (tensor<3x1x4x2xf32>) -> tensor<4x3x1x2xf32>
// CHECK: %[[C0:.*]] = dist.constraint %[[B0]] to {{.*}} hint : tensor<4x3x1x2xf32>
// CHECK: %[[D0:.*]] = stablehlo.transpose %[[C0]], dims = [1, 0, 2, 3]
// CHECK: dist.enter row %[[D0]] of <"l.0", trips = 3>
// CHECK: stablehlo.slice %[[H]] [0:3, 0:8]
// CHECK: stablehlo.slice %[[M]] [0:2, 0:12]
dist.mesh @mesh = <"pipe"=2, "data"=2> pipeline "pipe"
dist.state @w : tensor<6x8xf32> {role = parameter, source = #dist.draw<zeros>}
dist.state @v : tensor<6x8xf32> {role = parameter, source = #dist.draw<zeros>}
func.func @moved(%W: tensor<6x8xf32> {dist.port = #dist.port<parameter @w>}, %V: tensor<6x8xf32> {dist.port = #dist.port<parameter @v>})
    -> (tensor<6x4x1x2xf32> {dist.port = #dist.port<output "y">}, tensor<6x8xf32> {dist.port = #dist.port<output "z">}, tensor<4x12xf32> {dist.port = #dist.port<output "u">}) {
  %a = stablehlo.reshape %W : (tensor<6x8xf32>) -> tensor<6x1x4x2xf32>
  %b = stablehlo.transpose %a, dims = [2, 0, 1, 3] : (tensor<6x1x4x2xf32>) -> tensor<4x6x1x2xf32>
  %c = dist.constraint %b to <@mesh, [{"data"}, {}, {}, {}]> hint : tensor<4x6x1x2xf32>
  %d = stablehlo.transpose %c, dims = [1, 0, 2, 3] : (tensor<4x6x1x2xf32>) -> tensor<6x4x1x2xf32>
  %h = dist.constraint %V to <@mesh, [{"data"}, {}]> hint : tensor<6x8xf32>
  %m = stablehlo.reshape %V : (tensor<6x8xf32>) -> tensor<4x12xf32>
  %w = dist.enter row %d of <"l", trips = 6> : tensor<6x4x1x2xf32> -> tensor<4x1x2xf32>
  %v = dist.enter row %h of <"l", trips = 6> : tensor<6x8xf32> -> tensor<8xf32>
  %u = dist.enter row %m of <"k", trips = 4> : tensor<4x12xf32> -> tensor<12xf32>
  %y = dist.leave stack %w of <"l", trips = 6> : tensor<4x1x2xf32> -> tensor<6x4x1x2xf32>
  %z = dist.leave stack %v of <"l", trips = 6> : tensor<8xf32> -> tensor<6x8xf32>
  %t = dist.leave stack %u of <"k", trips = 4> : tensor<12xf32> -> tensor<4x12xf32>
  return %y, %z, %t : tensor<6x4x1x2xf32>, tensor<6x8xf32>, tensor<4x12xf32>
}
dist.entry @forward function(@moved)
