// RUN: llmc-opt %s --llmc-prepare-step | FileCheck %s

// Two stacks of one type are each narrow on their own, and a trip reads its row
// of both; two readers of one stack read one narrow stack.
// CHECK-LABEL: func.func @m
// CHECK-DAG: %[[U:.*]] = stablehlo.convert %arg1 {{.*}}#dist.phase<prepare>
// CHECK-DAG: %[[V:.*]] = stablehlo.convert %arg2 {{.*}}#dist.phase<prepare>
// CHECK-NOT: #dist.phase<prepare>
// CHECK: dist.enter carry %arg0
// CHECK-NEXT: %[[THIRD:.*]] = dist.enter row %[[U]] of <"l", trips = 2>
// CHECK-NEXT: %[[FIRST:.*]] = dist.enter row %[[U]] of <"l", trips = 2>
// CHECK-NEXT: %[[SECOND:.*]] = dist.enter row %[[V]] of <"l", trips = 2>
// CHECK: stablehlo.dot_general %{{.*}}, %[[FIRST]],
// CHECK: stablehlo.dot_general %{{.*}}, %[[SECOND]],
// CHECK: stablehlo.dot_general %{{.*}}, %[[THIRD]],
#all = #dist.layout<@mesh, [{}, {}]>
#stack = #dist.layout<@mesh, [{}, {}, {}]>
#none = #dist.layout<@mesh, []>
dist.mesh @mesh = <"d"=2>
dist.state @u : tensor<2x4x4xf32> {role = parameter, source = #dist.draw<ones>}
dist.state @v : tensor<2x4x4xf32> {role = parameter, source = #dist.draw<ones>}
func.func @m(%x: tensor<4x4xf32, #all> {dist.port = #dist.port<input "x">}, %u: tensor<2x4x4xf32, #stack> {dist.port = #dist.port<parameter @u>}, %v: tensor<2x4x4xf32, #stack> {dist.port = #dist.port<parameter @v>}) -> (tensor<2x4x4xf32, #stack> {dist.port = #dist.port<gradient @u>}, tensor<2x4x4xf32, #stack> {dist.port = #dist.port<gradient @v>}, tensor<f32, #none> {dist.port = #dist.port<loss_sum>}, tensor<f32, #none> {dist.port = #dist.port<count>}) {
  %h = dist.enter carry %x of <"l", trips = 2> number(0) {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : tensor<4x4xf32, #all> -> tensor<4x4xf32, #all>
  %u0 = dist.enter row %u of <"l", trips = 2> {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : tensor<2x4x4xf32, #stack> -> tensor<4x4xf32, #all>
  %v0 = dist.enter row %v of <"l", trips = 2> {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : tensor<2x4x4xf32, #stack> -> tensor<4x4xf32, #all>
  %u1 = stablehlo.convert %u0 {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : (tensor<4x4xf32, #all>) -> tensor<4x4xbf16, #all>
  %v1 = stablehlo.convert %v0 {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : (tensor<4x4xf32, #all>) -> tensor<4x4xbf16, #all>
  %u2 = stablehlo.convert %u0 {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : (tensor<4x4xf32, #all>) -> tensor<4x4xbf16, #all>
  %h1 = stablehlo.convert %h {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : (tensor<4x4xf32, #all>) -> tensor<4x4xbf16, #all>
  %d0 = stablehlo.dot_general %h1, %u1, contracting_dims = [1] x [0] {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : (tensor<4x4xbf16, #all>, tensor<4x4xbf16, #all>) -> tensor<4x4xbf16, #all>
  %d1 = stablehlo.dot_general %d0, %v1, contracting_dims = [1] x [0] {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : (tensor<4x4xbf16, #all>, tensor<4x4xbf16, #all>) -> tensor<4x4xbf16, #all>
  %d2 = stablehlo.dot_general %d1, %u2, contracting_dims = [1] x [0] {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : (tensor<4x4xbf16, #all>, tensor<4x4xbf16, #all>) -> tensor<4x4xf32, #all>
  %h2 = dist.next %h, %d2 {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : tensor<4x4xf32, #all>
  %y = dist.leave last %h2 of <"l", trips = 2> {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : tensor<4x4xf32, #all> -> tensor<4x4xf32, #all>
  %g = stablehlo.broadcast_in_dim %y, dims = [1, 2] {dist.block = 0 : i64, dist.phase = #dist.phase<backward_input>} : (tensor<4x4xf32, #all>) -> tensor<2x4x4xf32, #stack>
  %1 = stablehlo.constant dense<1.0> : tensor<f32, #none>
  return %g, %g, %1, %1 : tensor<2x4x4xf32, #stack>, tensor<2x4x4xf32, #stack>, tensor<f32, #none>, tensor<f32, #none>
}
func.func @update(%l: tensor<f32, #none> {dist.port = #dist.port<loss_sum>}, %n: tensor<f32, #none> {dist.port = #dist.port<count>}, %u: tensor<2x4x4xf32, #stack> {dist.port = #dist.port<parameter @u>}, %v: tensor<2x4x4xf32, #stack> {dist.port = #dist.port<parameter @v>}, %gu: tensor<2x4x4xf32, #stack> {dist.port = #dist.port<gradient @u>}, %gv: tensor<2x4x4xf32, #stack> {dist.port = #dist.port<gradient @v>}) -> (tensor<2x4x4xf32, #stack> {dist.port = #dist.port<parameter @u>}, tensor<2x4x4xf32, #stack> {dist.port = #dist.port<parameter @v>}) {
  return %gu, %gv : tensor<2x4x4xf32, #stack>, tensor<2x4x4xf32, #stack>
}
dist.step @train microbatch(@m) update(@update) microbatches(2) schedule(<1f1b>) chunks([0])
