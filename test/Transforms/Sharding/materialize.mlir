// RUN: llmc-opt %s --split-input-file --llmc-materialize | FileCheck %s

// Layouts move from attributes into types; constants carry them in their value,
// the body of a reduction keeps plain types.
#whole = #dist.layout<@mesh, [{}]>
#scalar = #dist.layout<@mesh, []>
dist.mesh @mesh = <"data"=1>
// CHECK-DAG: #[[SCALAR:.*]] = #dist.layout<@mesh, []>
// CHECK-DAG: #[[VECTOR:.*]] = #dist.layout<@mesh, [{}]>
// CHECK: func.func @f(%{{.*}}: tensor<4xf32, #[[VECTOR]]> {dist.port = #dist.port<input "x">}) -> (tensor<f32, #[[SCALAR]]> {dist.port = #dist.port<output "y">})
func.func @f(%x: tensor<4xf32> {dist.port = #dist.port<input "x", layout = #whole>}) -> (tensor<f32> {dist.port = #dist.port<output "y", layout = #scalar>}) {
  // CHECK-NEXT: stablehlo.constant dense<0.000000e+00> : tensor<f32, #[[SCALAR]]>
  %zero = stablehlo.constant {dist.layouts = [#scalar]} dense<0.0> : tensor<f32>
  // CHECK-NEXT: stablehlo.reduce(%{{.*}} init: %{{.*}}) across dimensions = [0] : (tensor<4xf32, #[[VECTOR]]>, tensor<f32, #[[SCALAR]]>) -> tensor<f32, #[[SCALAR]]>
  // CHECK-NEXT: reducer(%{{.*}}: tensor<f32>, %{{.*}}: tensor<f32>)
  %1 = stablehlo.reduce(%x init: %zero) across dimensions = [0] {dist.layouts = [#scalar]} : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
   reducer(%a: tensor<f32>, %b: tensor<f32>) {
    %2 = stablehlo.add %b, %a : tensor<f32>
    stablehlo.return %2 : tensor<f32>
  }
  // CHECK: return %{{.*}} : tensor<f32, #[[SCALAR]]>
  return %1 : tensor<f32>
}
dist.entry @forward function(@f) chunks([0])

// -----

// One reshard for two uses that want the same, a slice for a third; a constant
// is made again; a constraint is gone.
#rows = #dist.layout<@mesh, [{"x"}, {}]>
#columns = #dist.layout<@mesh, [{}, {"x"}]>
#whole = #dist.layout<@mesh, [{}, {}]>
dist.mesh @mesh = <"x"=2>
// CHECK-LABEL: func.func @shared
// CHECK-SAME: %[[X:[^:]*]]: tensor<4x4xf32, #[[ROWS:[a-z0-9_]*]]>
func.func @shared(%x: tensor<4x4xf32> {dist.port = #dist.port<input "x", layout = #rows>}) -> (tensor<4x4xf32> {dist.port = #dist.port<output "y", layout = #whole>}, tensor<4x4xf32> {dist.port = #dist.port<output "z", layout = #rows>}) {
  // CHECK-NEXT: %[[W:.*]] = dist.reshard %[[X]] {{.*}}: tensor<4x4xf32, #[[ROWS]]> -> tensor<4x4xf32, #[[WHOLE:.*]]>
  // CHECK-NEXT: %[[C:.*]] = stablehlo.constant {{.*}}dense<2.000000e+00> : tensor<4x4xf32, #[[ROWS]]>
  // CHECK-NEXT: %[[D:.*]] = stablehlo.constant {{.*}}dense<2.000000e+00> : tensor<4x4xf32, #[[WHOLE]]>
  %c = stablehlo.constant {dist.layouts = [#rows]} dense<2.0> : tensor<4x4xf32>
  %k = dist.constraint %x to <@mesh, [{"x"}, {}]> {dist.layouts = [#rows]} : tensor<4x4xf32>
  // CHECK-NEXT: %[[A:.*]] = stablehlo.tanh %[[W]] : tensor<4x4xf32, #[[WHOLE]]>
  %a = stablehlo.tanh %k {dist.layouts = [#whole]} : tensor<4x4xf32>
  // CHECK-NEXT: %[[B:.*]] = stablehlo.abs %[[W]] : tensor<4x4xf32, #[[WHOLE]]>
  %b = stablehlo.abs %x {dist.layouts = [#whole]} : tensor<4x4xf32>
  // CHECK-NEXT: stablehlo.add %[[A]], %[[D]]
  %e = stablehlo.add %a, %c {dist.layouts = [#whole]} : tensor<4x4xf32>
  // CHECK-NEXT: %[[M:.*]] = stablehlo.multiply %[[X]], %[[C]]
  %m = stablehlo.multiply %k, %c {dist.layouts = [#rows]} : tensor<4x4xf32>
  %f = stablehlo.add %e, %b {dist.layouts = [#whole]} : tensor<4x4xf32>
  return %f, %m : tensor<4x4xf32>, tensor<4x4xf32>
}
dist.entry @forward function(@shared) chunks([0])

// -----

// The row's `use`: the state is stored split, gathered for its uses.
#rest = #dist.layout<@mesh, [{"x"}, {}]>
#whole = #dist.layout<@mesh, [{}, {}]>
dist.mesh @mesh = <"x"=2>
dist.state @w : tensor<4x4xf32> {role = parameter, row = #dist.row<rest = #rest, use = #whole>, source = #dist.draw<ones>}
// CHECK-LABEL: func.func @use
func.func @use(%x: tensor<4x4xf32> {dist.port = #dist.port<input "x", layout = #whole>}, %w: tensor<4x4xf32> {dist.port = #dist.port<parameter @w, layout = #rest>}) -> (tensor<4x4xf32> {dist.port = #dist.port<output "y", layout = #whole>}) {
  // CHECK-NEXT: %[[W:.*]] = dist.reshard %{{.*}} {dist.block = 0 : i64, dist.phase = #dist.phase<forward>}
  // CHECK-NEXT: stablehlo.dot_general %{{.*}}, %[[W]]
  %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] {dist.layouts = [#whole], dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}
dist.entry @forward function(@use) chunks([0])

// -----

// A weight is gathered for one product; its transpose, which another product
// wants whole too, is that of the gathered weight.
#rest = #dist.layout<@mesh, [{"x"}, {}]>
#turned = #dist.layout<@mesh, [{}, {"x"}]>
#whole = #dist.layout<@mesh, [{}, {}]>
#F = #dist.phase<forward>
dist.mesh @mesh = <"x"=2>
dist.state @w : tensor<4x4xf32> {role = parameter, row = #dist.row<rest = #rest>, source = #dist.draw<zeros>}
// CHECK-LABEL: func.func @transposed
func.func @transposed(%x: tensor<4x4xf32> {dist.port = #dist.port<input "x", layout = #whole>}, %w: tensor<4x4xf32> {dist.port = #dist.port<parameter @w, layout = #rest>}) -> (tensor<4x4xf32> {dist.port = #dist.port<output "y", layout = #whole>}) {
  // CHECK: %[[W:.*]] = dist.reshard
  // CHECK-NOT: dist.reshard
  // CHECK: %[[T:.*]] = stablehlo.transpose %[[W]]
  %t = stablehlo.transpose %w, dims = [1, 0] {dist.layouts = [#turned], dist.block = 0 : i64, dist.phase = #F} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  // CHECK: stablehlo.dot_general %{{.*}}, %[[W]]
  %y = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] {dist.layouts = [#whole], dist.block = 0 : i64, dist.phase = #F} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  // CHECK: stablehlo.dot_general %{{.*}}, %[[T]]
  %z = stablehlo.dot_general %y, %t, contracting_dims = [1] x [0] {dist.layouts = [#whole], dist.block = 0 : i64, dist.phase = #F} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %z : tensor<4x4xf32>
}
dist.entry @forward function(@transposed) chunks([0])

// -----

// A partial value that another stage wants both reduced and in summands goes
// there once: reduced, and kept by one device of "x" for the op that adds.
#columns1 = #dist.layout<@mesh, [{}, {"x"}], at = {"pipe" = [1]}>
#rows1 = #dist.layout<@mesh, [{"x"}, {}], at = {"pipe" = [1]}>
#partial1 = #dist.layout<@mesh, [{}, {}], partial = [sum{"x"}], at = {"pipe" = [1]}>
#partial0 = #dist.layout<@mesh, [{}, {}], partial = [sum{"x"}], at = {"pipe" = [0]}>
#whole0 = #dist.layout<@mesh, [{}, {}], at = {"pipe" = [0]}>
#F = #dist.phase<forward>
#B = #dist.phase<backward_input>
dist.mesh @mesh = <"pipe"=2, "x"=2> pipeline "pipe"
// CHECK-LABEL: func.func @once
func.func @once(%x: tensor<4x4xf32> {dist.port = #dist.port<input "x", layout = #columns1>}, %w: tensor<4x4xf32> {dist.port = #dist.port<input "w", layout = #rows1>}) -> (tensor<4x4xf32> {dist.port = #dist.port<output "y", layout = #whole0>}, tensor<4x4xf32> {dist.port = #dist.port<output "z", layout = #partial0>}) {
  // CHECK: %[[P:.*]] = stablehlo.dot_general
  // CHECK-NEXT: %[[W:.*]] = dist.reshard %[[P]]
  // CHECK-NEXT: %[[K:.*]] = dist.keep %[[W]] where "x" = 0
  %p = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] {dist.layouts = [#partial1], dist.block = 1 : i64, dist.phase = #F} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  // CHECK-NEXT: stablehlo.negate %[[K]]
  %z = stablehlo.negate %p {dist.layouts = [#partial0], dist.block = 0 : i64, dist.phase = #B} : tensor<4x4xf32>
  // CHECK-NEXT: stablehlo.tanh %[[W]]
  %y = stablehlo.tanh %p {dist.layouts = [#whole0], dist.block = 0 : i64, dist.phase = #B} : tensor<4x4xf32>
  return %y, %z : tensor<4x4xf32>, tensor<4x4xf32>
}
dist.entry @forward function(@once) chunks([0, 1])

// -----

// A weight of the first stage that the backward of the second alone reads otherwise is sent by the forward of the first,
// whose backward runs later.
#w0 = #dist.layout<@mesh, [{}, {}], at = {"pipe" = [0]}>
#w1 = #dist.layout<@mesh, [{}, {}], at = {"pipe" = [1]}>
#B = #dist.phase<backward_input>
dist.mesh @mesh = <"pipe"=2, "x"=2> pipeline "pipe"
dist.state @w : tensor<4x4xf32> {role = parameter, source = #dist.draw<ones>}
// CHECK-LABEL: func.func @sent
func.func @sent(%w: tensor<4x4xf32> {dist.port = #dist.port<parameter @w, layout = #w0>}, %x: tensor<4x4xf32> {dist.port = #dist.port<input "x", layout = #w1>}) -> (tensor<4x4xf32> {dist.port = #dist.port<output "y", layout = #w1>}) {
  // CHECK: dist.reshard %arg0 {dist.block = 0 : i64, dist.phase = #dist.phase<forward>}
  %y = stablehlo.multiply %x, %w {dist.layouts = [#w1], dist.block = 1 : i64, dist.phase = #B} : tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}
dist.entry @forward function(@sent) chunks([0, 1])

// -----

// So is the negative of the transpose: of a chain of such ops only the weight is
// gathered, and none of what is made of its parts is left.
#rest = #dist.layout<@mesh, [{"x"}, {}]>
#turned = #dist.layout<@mesh, [{}, {"x"}]>
#whole = #dist.layout<@mesh, [{}, {}]>
#F = #dist.phase<forward>
dist.mesh @mesh = <"x"=2>
dist.state @w : tensor<4x4xf32> {role = parameter, source = #dist.draw<ones>}
// CHECK-LABEL: func.func @chain
func.func @chain(%x: tensor<4x4xf32> {dist.port = #dist.port<input "x", layout = #whole>}, %w: tensor<4x4xf32> {dist.port = #dist.port<parameter @w, layout = #rest>}) -> (tensor<4x4xf32> {dist.port = #dist.port<output "y", layout = #whole>}) {
  // CHECK-NEXT: %[[W:.*]] = dist.reshard %arg1
  // CHECK-NEXT: %[[T:.*]] = stablehlo.transpose %[[W]]
  // CHECK-NEXT: %[[N:.*]] = stablehlo.negate %[[T]]
  %t = stablehlo.transpose %w, dims = [1, 0] {dist.layouts = [#turned], dist.block = 0 : i64, dist.phase = #F} : (tensor<4x4xf32>) -> tensor<4x4xf32>
  %n = stablehlo.negate %t {dist.layouts = [#turned], dist.block = 0 : i64, dist.phase = #F} : tensor<4x4xf32>
  // CHECK-NEXT: %[[A:.*]] = stablehlo.dot_general %arg0, %[[W]]
  %a = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] {dist.layouts = [#whole], dist.block = 0 : i64, dist.phase = #F} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  // CHECK-NEXT: stablehlo.dot_general %[[A]], %[[N]]
  %y = stablehlo.dot_general %a, %n, contracting_dims = [1] x [0] {dist.layouts = [#whole], dist.block = 0 : i64, dist.phase = #F} : (tensor<4x4xf32>, tensor<4x4xf32>) -> tensor<4x4xf32>
  return %y : tensor<4x4xf32>
}
dist.entry @forward function(@chain) chunks([0])
