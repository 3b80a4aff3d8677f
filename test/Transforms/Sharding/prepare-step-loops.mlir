// RUN: llmc-opt %s --llmc-prepare-step | FileCheck %s
// RUN: sed 's/chunks(\[0\])/recompute(<none and conversions = true>) chunks([0])/' %s | llmc-opt --llmc-prepare-step | FileCheck %s --check-prefix=AGAIN
// RUN: sed 's/microbatches(2)/microbatches(1)/' %s | llmc-opt --llmc-prepare-step | FileCheck %s --check-prefix=AGAIN
// RUN: llmc-opt %s --llmc-prepare-step --llmc-report-costs=least-bytes=64 --remarks-filter=costs --remark-format=emitRemark -o /dev/null 2>&1 | grep -o 'keep | Category.*' | FileCheck %s --check-prefix=REMARK
// RUN: llmc-opt %s --llmc-prepare-step --llmc-localize --llmc-cut-segments --llmc-verify-local --llmc-schedule --llmc-outline-programs --llmc-verify-memory | FileCheck %s --check-prefix=PROGRAMS

// Rows that contractions of trips read narrow are rows of a stack that is
// narrow before the loop, once for both runs of it, through loops in each other
// and what enters as it is; what a device stores of a row is narrow before it is
// gathered, in each trip. What only a loop of elements reads stays, as do rows
// with a scale of their own, what is carried, and what an input is on the way
// to.
// CHECK-LABEL: func.func @m
// CHECK-NEXT: %[[V:.*]] = stablehlo.convert %arg3 {{.*}}#dist.phase<prepare>{{.*}}-> tensor<2x3x4x4xbf16, {{.*}}
// CHECK-NEXT: %[[U:.*]] = stablehlo.convert %arg2 {{.*}}#dist.phase<prepare>{{.*}}-> tensor<2x4x4xbf16, {{.*}}
// CHECK-NEXT: %[[W:.*]] = stablehlo.convert %arg4 {{.*}}#dist.phase<prepare>{{.*}}-> tensor<2x4x4xbf16, {{.*}}
// CHECK-NEXT: dist.enter carry %arg0
// CHECK-NEXT: %[[K:.*]] = dist.enter carry %arg1
// CHECK-NEXT: %[[W0:.*]] = dist.enter row %[[W]] of <"l", trips = 2>
// CHECK-NEXT: %[[W1:.*]] = dist.all_gather %[[W0]] dim 0 {{.*}}#dist.phase<forward>
// CHECK-NEXT: %[[F0:.*]] = dist.enter row %arg3 of <"l", trips = 2>
// CHECK-NEXT: %[[V0:.*]] = dist.enter row %[[V]] of <"l", trips = 2>
// CHECK-NEXT: %[[U0:.*]] = dist.enter row %[[U]] of <"l", trips = 2>
// CHECK-NEXT: %[[C:.*]] = dist.enter carry {{.*}} of <"t", trips = 3, in = <"l", trips = 2>>
// CHECK-NEXT: %[[F1:.*]] = dist.enter row %[[F0]] of <"t", trips = 3, in = <"l", trips = 2>>
// CHECK-NEXT: %[[V1:.*]] = dist.enter row %[[V0]] of <"t", trips = 3, in = <"l", trips = 2>>
// CHECK-NEXT: %[[CN:.*]] = stablehlo.convert %[[C]] {{.*}}#dist.phase<forward>
// CHECK-NEXT: stablehlo.dot_general %[[CN]], %[[V1]],
// CHECK-NEXT: stablehlo.convert %[[F1]] {{.*}}#dist.phase<forward>{{.*}}xf16
// CHECK: nn.quantize %[[F1]], {{.*}}#dist.phase<forward>
// CHECK: %[[ON:.*]] = stablehlo.convert
// CHECK-NEXT: %[[KN:.*]] = stablehlo.convert %[[K]] {{.*}}#dist.phase<forward>
// CHECK-NEXT: stablehlo.dot_general %[[ON]], %[[W1]],
// CHECK-NEXT: stablehlo.dot_general %[[ON]], %[[U0]],
// CHECK-NEXT: stablehlo.dot_general %[[ON]], %[[KN]],
// CHECK: %[[B0:.*]] = dist.enter row %[[U]] of <"l", trips = 2, reversed = true>
// CHECK-NEXT: %[[B1:.*]] = dist.enter same %[[B0]] of <"t"
// CHECK: stablehlo.dot_general %{{.*}}, %[[B1]],
// AGAIN-LABEL: func.func @m
// AGAIN-NOT: #dist.phase<prepare>
// AGAIN-NOT: stablehlo.convert %arg
// AGAIN: dist.step
// REMARK: kept for all 2 microbatches, 192 B on each device
// REMARK-NEXT: kept for all 2 microbatches, 64 B on each device
// REMARK-NEXT: kept for all 2 microbatches, 32 B on each device
// A trip reads its row of what is kept.
// PROGRAMS-LABEL: func.func private @train.c0.P(
// PROGRAMS-SAME: -> (tensor<2x3x4x4xbf16> {dist.port = #dist.port<kept "c0.a0", chunk = 0>}, tensor<2x4x4xbf16> {dist.port = #dist.port<kept "c0.a1", chunk = 0>}, tensor<2x2x4xbf16> {dist.port = #dist.port<kept "c0.a2", chunk = 0>})
// PROGRAMS-LABEL: func.func private @train.c0.F.1(
// PROGRAMS-SAME: tensor<2x4xbf16> {dist.port = #dist.port<kept "c0.a2", chunk = 0, trips = 2>}
// PROGRAMS-LABEL: func.func private @train.c0.F.2(
// PROGRAMS-SAME: tensor<4x4xbf16> {dist.port = #dist.port<kept "c0.a0", chunk = 0, trips = [2, 3]>}
// PROGRAMS-LABEL: func.func private @train.c0.B.2(
// PROGRAMS-SAME: tensor<4x4xbf16> {dist.port = #dist.port<kept "c0.a1", chunk = 0, trips = [2, 0]>}
#row = #dist.layout<@mesh, [{"d"}, {}]>
#half = #dist.layout<@mesh, [{}, {"d"}, {}]>
#all = #dist.layout<@mesh, [{}, {}]>
#stack = #dist.layout<@mesh, [{}, {}, {}]>
#stacks = #dist.layout<@mesh, [{}, {}, {}, {}]>
#none = #dist.layout<@mesh, []>
dist.mesh @mesh = <"d"=2>
dist.state @p : tensor<4x4xf32> {role = parameter, source = #dist.draw<ones>}
dist.state @u : tensor<2x4x4xf32> {role = parameter, source = #dist.draw<ones>}
dist.state @v : tensor<2x3x4x4xf32> {role = parameter, source = #dist.draw<ones>}
dist.state @w : tensor<2x4x4xf32> {role = parameter, row = #dist.row<rest = #half, use = #stack>, source = #dist.draw<ones>}
func.func @m(%x: tensor<4x4xf32, #all> {dist.port = #dist.port<input "x">}, %p: tensor<4x4xf32, #all> {dist.port = #dist.port<parameter @p>}, %u: tensor<2x4x4xf32, #stack> {dist.port = #dist.port<parameter @u>}, %v: tensor<2x3x4x4xf32, #stacks> {dist.port = #dist.port<parameter @v>}, %w: tensor<2x4x4xf32, #half> {dist.port = #dist.port<parameter @w>}) -> (tensor<4x4xf32, #all> {dist.port = #dist.port<gradient @p>}, tensor<2x4x4xf32, #stack> {dist.port = #dist.port<gradient @u>}, tensor<2x3x4x4xf32, #stacks> {dist.port = #dist.port<gradient @v>}, tensor<2x4x4xf32, #stack> {dist.port = #dist.port<gradient @w>}, tensor<f32, #none> {dist.port = #dist.port<loss_sum>}, tensor<f32, #none> {dist.port = #dist.port<count>}) {
  %h = dist.enter carry %x of <"l", trips = 2> number(0) {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : tensor<4x4xf32, #all> -> tensor<4x4xf32, #all>
  %k = dist.enter carry %p of <"l", trips = 2> number(1) {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : tensor<4x4xf32, #all> -> tensor<4x4xf32, #all>
  %w0 = dist.enter row %w of <"l", trips = 2> {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : tensor<2x4x4xf32, #half> -> tensor<4x4xf32, #row>
  %w1 = stablehlo.convert %w0 {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : (tensor<4x4xf32, #row>) -> tensor<4x4xbf16, #row>
  %w2 = dist.all_gather %w1 dim 0 over ["d"] {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : tensor<4x4xbf16, #row> -> tensor<4x4xbf16, #all>
  %v0 = dist.enter row %v of <"l", trips = 2> {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : tensor<2x3x4x4xf32, #stacks> -> tensor<3x4x4xf32, #stack>
  %u0 = dist.enter row %u of <"l", trips = 2> {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : tensor<2x4x4xf32, #stack> -> tensor<4x4xf32, #all>
  %u1 = stablehlo.convert %u0 {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : (tensor<4x4xf32, #all>) -> tensor<4x4xbf16, #all>
  %c = dist.enter carry %h of <"t", trips = 3, in = <"l", trips = 2>> number(0) {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : tensor<4x4xf32, #all> -> tensor<4x4xf32, #all>
  %v1 = dist.enter row %v0 of <"t", trips = 3, in = <"l", trips = 2>> {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : tensor<3x4x4xf32, #stack> -> tensor<4x4xf32, #all>
  %v2 = stablehlo.convert %v1 {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : (tensor<4x4xf32, #all>) -> tensor<4x4xbf16, #all>
  %c1 = stablehlo.convert %c {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : (tensor<4x4xf32, #all>) -> tensor<4x4xbf16, #all>
  %d0 = stablehlo.dot_general %c1, %v2, contracting_dims = [1] x [0] {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : (tensor<4x4xbf16, #all>, tensor<4x4xbf16, #all>) -> tensor<4x4xf32, #all>
  %e0 = stablehlo.convert %v1 {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : (tensor<4x4xf32, #all>) -> tensor<4x4xf16, #all>
  %e1 = stablehlo.convert %e0 {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : (tensor<4x4xf16, #all>) -> tensor<4x4xf32, #all>
  %s0 = stablehlo.slice %v1 [0:1, 0:1] {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : (tensor<4x4xf32, #all>) -> tensor<1x1xf32, #all>
  %s1 = stablehlo.reshape %s0 {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : (tensor<1x1xf32, #all>) -> tensor<f32, #none>
  %q = nn.quantize %v1, %s1 {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : (tensor<4x4xf32, #all>, tensor<f32, #none>) -> tensor<4x4xf8E4M3FN, #all>
  %d1 = stablehlo.dot_general %q, %q, contracting_dims = [1] x [0] {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : (tensor<4x4xf8E4M3FN, #all>, tensor<4x4xf8E4M3FN, #all>) -> tensor<4x4xf32, #all>
  %a0 = stablehlo.add %d0, %e1 {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : tensor<4x4xf32, #all>
  %a1 = stablehlo.add %a0, %d1 {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : tensor<4x4xf32, #all>
  %c2 = dist.next %c, %a1 {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : tensor<4x4xf32, #all>
  %o = dist.leave last %c2 of <"t", trips = 3, in = <"l", trips = 2>> {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : tensor<4x4xf32, #all> -> tensor<4x4xf32, #all>
  %o1 = stablehlo.convert %o {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : (tensor<4x4xf32, #all>) -> tensor<4x4xbf16, #all>
  %k1 = stablehlo.convert %k {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : (tensor<4x4xf32, #all>) -> tensor<4x4xbf16, #all>
  %d2 = stablehlo.dot_general %o1, %w2, contracting_dims = [1] x [0] {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : (tensor<4x4xbf16, #all>, tensor<4x4xbf16, #all>) -> tensor<4x4xf32, #all>
  %d3 = stablehlo.dot_general %o1, %u1, contracting_dims = [1] x [0] {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : (tensor<4x4xbf16, #all>, tensor<4x4xbf16, #all>) -> tensor<4x4xf32, #all>
  %d4 = stablehlo.dot_general %o1, %k1, contracting_dims = [1] x [0] {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : (tensor<4x4xbf16, #all>, tensor<4x4xbf16, #all>) -> tensor<4x4xf32, #all>
  %a2 = stablehlo.add %d2, %d3 {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : tensor<4x4xf32, #all>
  %a3 = stablehlo.add %a2, %d4 {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : tensor<4x4xf32, #all>
  %h1 = dist.next %h, %a3 {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : tensor<4x4xf32, #all>
  %k2 = dist.next %k, %a3 {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : tensor<4x4xf32, #all>
  %y = dist.leave last %h1 of <"l", trips = 2> {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : tensor<4x4xf32, #all> -> tensor<4x4xf32, #all>
  %g = dist.enter carry %y of <"l", trips = 2, reversed = true> number(0) {dist.block = 0 : i64, dist.phase = #dist.phase<backward_input>} : tensor<4x4xf32, #all> -> tensor<4x4xf32, #all>
  %b0 = dist.enter row %u of <"l", trips = 2, reversed = true> {dist.block = 0 : i64, dist.phase = #dist.phase<backward_input>} : tensor<2x4x4xf32, #stack> -> tensor<4x4xf32, #all>
  %b1 = dist.enter same %b0 of <"t", trips = 3, reversed = true, in = <"l", trips = 2, reversed = true>> {dist.block = 0 : i64, dist.phase = #dist.phase<backward_input>} : tensor<4x4xf32, #all> -> tensor<4x4xf32, #all>
  %i = dist.enter carry %g of <"t", trips = 3, reversed = true, in = <"l", trips = 2, reversed = true>> number(0) {dist.block = 0 : i64, dist.phase = #dist.phase<backward_input>} : tensor<4x4xf32, #all> -> tensor<4x4xf32, #all>
  %b2 = stablehlo.convert %b1 {dist.block = 0 : i64, dist.phase = #dist.phase<backward_input>} : (tensor<4x4xf32, #all>) -> tensor<4x4xbf16, #all>
  %i1 = stablehlo.convert %i {dist.block = 0 : i64, dist.phase = #dist.phase<backward_input>} : (tensor<4x4xf32, #all>) -> tensor<4x4xbf16, #all>
  %d5 = stablehlo.dot_general %i1, %b2, contracting_dims = [1] x [0] {dist.block = 0 : i64, dist.phase = #dist.phase<backward_input>} : (tensor<4x4xbf16, #all>, tensor<4x4xbf16, #all>) -> tensor<4x4xf32, #all>
  %i2 = dist.next %i, %d5 {dist.block = 0 : i64, dist.phase = #dist.phase<backward_input>} : tensor<4x4xf32, #all>
  %j = dist.leave last %i2 of <"t", trips = 3, reversed = true, in = <"l", trips = 2, reversed = true>> {dist.block = 0 : i64, dist.phase = #dist.phase<backward_input>} : tensor<4x4xf32, #all> -> tensor<4x4xf32, #all>
  %g1 = dist.next %g, %j {dist.block = 0 : i64, dist.phase = #dist.phase<backward_input>} : tensor<4x4xf32, #all>
  %z = dist.leave last %g1 of <"l", trips = 2, reversed = true> {dist.block = 0 : i64, dist.phase = #dist.phase<backward_input>} : tensor<4x4xf32, #all> -> tensor<4x4xf32, #all>
  %gu = stablehlo.broadcast_in_dim %z, dims = [1, 2] {dist.block = 0 : i64, dist.phase = #dist.phase<backward_input>} : (tensor<4x4xf32, #all>) -> tensor<2x4x4xf32, #stack>
  %gv = stablehlo.broadcast_in_dim %z, dims = [2, 3] {dist.block = 0 : i64, dist.phase = #dist.phase<backward_input>} : (tensor<4x4xf32, #all>) -> tensor<2x3x4x4xf32, #stacks>
  %1 = stablehlo.constant dense<1.0> : tensor<f32, #none>
  return %z, %gu, %gv, %gu, %1, %1 : tensor<4x4xf32, #all>, tensor<2x4x4xf32, #stack>, tensor<2x3x4x4xf32, #stacks>, tensor<2x4x4xf32, #stack>, tensor<f32, #none>, tensor<f32, #none>
}
func.func @update(%l: tensor<f32, #none> {dist.port = #dist.port<loss_sum>}, %n: tensor<f32, #none> {dist.port = #dist.port<count>}, %p: tensor<4x4xf32, #all> {dist.port = #dist.port<parameter @p>}, %u: tensor<2x4x4xf32, #stack> {dist.port = #dist.port<parameter @u>}, %v: tensor<2x3x4x4xf32, #stacks> {dist.port = #dist.port<parameter @v>}, %w: tensor<2x4x4xf32, #half> {dist.port = #dist.port<parameter @w>}, %gp: tensor<4x4xf32, #all> {dist.port = #dist.port<gradient @p>}, %gu: tensor<2x4x4xf32, #stack> {dist.port = #dist.port<gradient @u>}, %gv: tensor<2x3x4x4xf32, #stacks> {dist.port = #dist.port<gradient @v>}, %gw: tensor<2x4x4xf32, #stack> {dist.port = #dist.port<gradient @w>}) -> (tensor<4x4xf32, #all> {dist.port = #dist.port<parameter @p>}, tensor<2x4x4xf32, #stack> {dist.port = #dist.port<parameter @u>}, tensor<2x3x4x4xf32, #stacks> {dist.port = #dist.port<parameter @v>}, tensor<2x4x4xf32, #half> {dist.port = #dist.port<parameter @w>}) {
  %0 = dist.reshard %gw {dist.phase = #dist.phase<update>} : tensor<2x4x4xf32, #stack> -> tensor<2x4x4xf32, #half>
  return %gp, %gu, %gv, %0 : tensor<4x4xf32, #all>, tensor<2x4x4xf32, #stack>, tensor<2x3x4x4xf32, #stacks>, tensor<2x4x4xf32, #half>
}
dist.step @train microbatch(@m) update(@update) microbatches(2) schedule(<1f1b>) chunks([0])
