// RUN: llmc-opt %s --split-input-file --llmc-prepare-step | FileCheck %s
// RUN: sed 's/chunks(\[0\])/recompute(<none and conversions = true>) chunks([0])/' %s | llmc-opt --split-input-file --llmc-prepare-step | FileCheck %s --check-prefix=AGAIN
// RUN: llmc-opt %s --split-input-file --llmc-prepare-step --llmc-report-costs=least-bytes=64 --remarks-filter=costs --remark-format=emitRemark -o /dev/null 2>&1 | grep -o '[a-z]* | Category.*' | FileCheck %s --check-prefix=REMARK
// RUN: llmc-opt %s --split-input-file --llmc-prepare-step --llmc-localize --llmc-cut-segments --llmc-verify-local --llmc-schedule --llmc-outline-programs --llmc-verify-memory | FileCheck %s --check-prefix=PROGRAMS

// What is made of @v alone moves once, with what makes less of it; its source is
// computed for the input too, as before. What rests split and is used whole by
// its row is gathered in each microbatch, and so is what is made of it; an input
// is on the way to the last one.
// CHECK-LABEL: func.func @m
// CHECK-NEXT: %[[P:.*]] = stablehlo.negate %arg1 {{.*}}#dist.phase<prepare>
// CHECK-NEXT: %[[N:.*]] = stablehlo.negate %arg1 {{.*}}#dist.phase<forward>
// CHECK-NEXT: %[[G:.*]] = dist.all_gather %[[P]] {{.*}}#dist.phase<prepare>
// CHECK-NEXT: %[[C:.*]] = stablehlo.convert %[[G]] {{.*}}#dist.phase<prepare>
// CHECK-NEXT: stablehlo.convert %[[C]] {{.*}}#dist.phase<forward>
// CHECK-NEXT: %[[X:.*]] = dist.reshard %arg0
// CHECK-NEXT: stablehlo.add %[[N]], %[[X]] {{.*}}#dist.phase<forward>
// CHECK-NEXT: dist.all_gather %arg2 {{.*}}#dist.phase<backward_input>
// CHECK-NEXT: stablehlo.tanh {{.*}}#dist.phase<backward_input>
// CHECK-NEXT: dist.reshard {{.*}}#dist.phase<backward_input>
// CHECK-NEXT: dist.all_gather {{.*}}#dist.phase<backward_input>
// CHECK-NEXT: dist.all_gather %{{.*}}#dist.phase<forward>
// REMARK: gather | Category:costs | Remark="'stablehlo.negate' of 'v' is gathered over {"d"} once in a step, 8 B received: 'stablehlo.convert' reads it whole"
// REMARK-NEXT: keep | Category:costs | Remark="what 'stablehlo.convert' makes is computed or moved once in a step and kept for all 2 microbatches, 8 B on each device: no input is on the way to it"
// REMARK-NEXT: gather | Category:costs | Remark="'w' is gathered over {"d"} in each microbatch, 8 B received: 'stablehlo.tanh' reads it whole, and it is the same in all 2 microbatches of a step"
// REMARK-NEXT: gather | Category:costs | Remark="'stablehlo.tanh' of 'w' is gathered over {"d"} in each microbatch
// REMARK-NEXT: gather | Category:costs | Remark="what 'stablehlo.add' makes is gathered over {"d"} in each microbatch
// PROGRAMS: dist.timeline @train {{.*}}programs([#dist.program<@train.c0.P, chunk = 0, phase = prepare, at = [0]>, #dist.program<@train.c0.F, chunk = 0, phase = forward, at = [0]>
// PROGRAMS-LABEL: func.func private @train.c0.P(
// PROGRAMS-SAME: -> (tensor<4xf16> {dist.port = #dist.port<kept "c0.a0", chunk = 0>})
// PROGRAMS-LABEL: func.func private @train.c0.F(
// PROGRAMS-SAME: tensor<4xf16> {dist.port = #dist.port<kept "c0.a0", chunk = 0>}
#half = #dist.layout<@mesh, [{"d"}]>
#all = #dist.layout<@mesh, [{}]>
#none = #dist.layout<@mesh, []>
dist.mesh @mesh = <"d"=2>
dist.state @v : tensor<4xf32> {role = parameter, source = #dist.draw<ones>}
dist.state @w : tensor<4xf32> {role = parameter, row = #dist.row<rest = #half, use = #all>, source = #dist.draw<ones>}
func.func @m(%x: tensor<4xf32, #all> {dist.port = #dist.port<input "x">}, %v: tensor<4xf32, #half> {dist.port = #dist.port<parameter @v>}, %w: tensor<4xf32, #half> {dist.port = #dist.port<parameter @w>}) -> (tensor<4xf32, #all> {dist.port = #dist.port<gradient @v>}, tensor<4xf32, #all> {dist.port = #dist.port<gradient @w>}, tensor<f32, #none> {dist.port = #dist.port<loss_sum>}, tensor<f32, #none> {dist.port = #dist.port<count>}) {
  %0 = stablehlo.negate %v {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : tensor<4xf32, #half>
  %1 = dist.all_gather %0 dim 0 over ["d"] {dist.block = 0 : i64, dist.phase = #dist.phase<backward_input>} : tensor<4xf32, #half> -> tensor<4xf32, #all>
  %2 = stablehlo.convert %1 {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : (tensor<4xf32, #all>) -> tensor<4xf16, #all>
  %3 = stablehlo.convert %2 {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : (tensor<4xf16, #all>) -> tensor<4xf32, #all>
  %y = dist.reshard %x {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : tensor<4xf32, #all> -> tensor<4xf32, #half>
  %4 = stablehlo.add %0, %y {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : tensor<4xf32, #half>
  %5 = dist.all_gather %w dim 0 over ["d"] {dist.block = 0 : i64, dist.phase = #dist.phase<backward_input>} : tensor<4xf32, #half> -> tensor<4xf32, #all>
  %6 = stablehlo.tanh %5 {dist.block = 0 : i64, dist.phase = #dist.phase<backward_input>} : tensor<4xf32, #all>
  %7 = dist.reshard %6 {dist.block = 0 : i64, dist.phase = #dist.phase<backward_input>} : tensor<4xf32, #all> -> tensor<4xf32, #half>
  %8 = dist.all_gather %7 dim 0 over ["d"] {dist.block = 0 : i64, dist.phase = #dist.phase<backward_input>} : tensor<4xf32, #half> -> tensor<4xf32, #all>
  %9 = dist.all_gather %4 dim 0 over ["d"] {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : tensor<4xf32, #half> -> tensor<4xf32, #all>
  %10 = stablehlo.multiply %9, %3 {dist.block = 0 : i64, dist.phase = #dist.phase<backward_input>} : tensor<4xf32, #all>
  %c = stablehlo.constant dense<1.0> : tensor<f32, #none>
  return %10, %8, %c, %c : tensor<4xf32, #all>, tensor<4xf32, #all>, tensor<f32, #none>, tensor<f32, #none>
}
func.func @u(%v: tensor<4xf32, #half> {dist.port = #dist.port<parameter @v>}, %w: tensor<4xf32, #half> {dist.port = #dist.port<parameter @w>}, %g: tensor<4xf32, #all> {dist.port = #dist.port<gradient @v>}, %h: tensor<4xf32, #all> {dist.port = #dist.port<gradient @w>}, %loss: tensor<f32, #none> {dist.port = #dist.port<loss_sum>}, %count: tensor<f32, #none> {dist.port = #dist.port<count>}) -> (tensor<4xf32, #half> {dist.port = #dist.port<parameter @v>}, tensor<4xf32, #half> {dist.port = #dist.port<parameter @w>}) {
  %0 = dist.reshard %g {dist.phase = #dist.phase<update>} : tensor<4xf32, #all> -> tensor<4xf32, #half>
  %1 = dist.reshard %h {dist.phase = #dist.phase<update>} : tensor<4xf32, #all> -> tensor<4xf32, #half>
  return %0, %1 : tensor<4xf32, #half>, tensor<4xf32, #half>
}
dist.step @train microbatch(@m) update(@u) microbatches(2) schedule(<1f1b>) chunks([0])

// -----

// Upward what is the same is sent once, and received by a program of its own;
// downward it is sent in each microbatch. A sum is added to in each.
// CHECK-LABEL: func.func @m
// CHECK-NEXT: %[[N:.*]] = stablehlo.negate %arg1 {{.*}}#dist.phase<prepare>
// CHECK-NEXT: dist.transfer @t0 %[[N]] {{.*}}#dist.phase<prepare>
// CHECK-NEXT: stablehlo.add {{.*}}#dist.phase<forward>
// CHECK-NEXT: stablehlo.negate %arg2 {{.*}}#dist.phase<forward>
// CHECK-NEXT: dist.transfer @t1 {{.*}}#dist.phase<backward_input>
// REMARK: keep | Category:costs | Remark="what 'dist.transfer' makes is computed or moved once in a step and kept for all 2 microbatches, 16 B on each device: no input is on the way to it"
// PROGRAMS: dist.timeline @train {{.*}}programs([#dist.program<@train.c0.P, chunk = 0, phase = prepare, at = [0]>, #dist.program<@train.c1.P, chunk = 1, phase = prepare, at = [1]>
// PROGRAMS-SAME: transfers([#dist.route<@t0 : @train.c0.P -> @train.c1.P>, #dist.route<@t1 : @train.c1.B -> @train.c0.B>])
// PROGRAMS-LABEL: func.func private @train.c1.P(%arg0: tensor<4xf32> {dist.port = #dist.port<recv @t0>}) -> (tensor<4xf32> {dist.port = #dist.port<kept "c1.a0", chunk = 1>})
// PROGRAMS-LABEL: func.func private @train.c1.F(
// PROGRAMS-SAME: tensor<4xf32> {dist.port = #dist.port<kept "c1.a0", chunk = 1>}
#p0 = #dist.layout<@mesh, [{}], at = {"pipe" = [0]}>
#p1 = #dist.layout<@mesh, [{}], at = {"pipe" = [1]}>
#n1 = #dist.layout<@mesh, [], at = {"pipe" = [1]}>
dist.mesh @mesh = <"pipe"=2> pipeline "pipe"
dist.state @v : tensor<4xf32> {role = parameter, source = #dist.draw<ones>}
dist.state @w : tensor<4xf32> {role = parameter, source = #dist.draw<ones>}
func.func @m(%x: tensor<4xf32, #p1> {dist.port = #dist.port<input "x">}, %v: tensor<4xf32, #p0> {dist.port = #dist.port<parameter @v>}, %w: tensor<4xf32, #p1> {dist.port = #dist.port<parameter @w>}) -> (tensor<4xf32, #p0> {dist.port = #dist.port<gradient @v>}, tensor<4xf32, #p1> {dist.port = #dist.port<gradient @w>}, tensor<f32, #n1> {dist.port = #dist.port<loss_sum>}, tensor<f32, #n1> {dist.port = #dist.port<count>}) {
  %0 = stablehlo.negate %v {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : tensor<4xf32, #p0>
  %1 = dist.transfer @t0 %0 along "pipe" 0 -> 1 {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : tensor<4xf32, #p0> -> tensor<4xf32, #p1>
  %2 = stablehlo.add %1, %x {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} : tensor<4xf32, #p1>
  %3 = stablehlo.negate %w {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} : tensor<4xf32, #p1>
  %4 = dist.transfer @t1 %3 along "pipe" 1 -> 0 {dist.block = 1 : i64, dist.phase = #dist.phase<backward_input>} : tensor<4xf32, #p1> -> tensor<4xf32, #p0>
  %5 = stablehlo.tanh %4 {dist.block = 0 : i64, dist.phase = #dist.phase<backward_input>} : tensor<4xf32, #p0>
  %c = stablehlo.constant {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} dense<1.0> : tensor<f32, #n1>
  return %5, %2, %c, %c : tensor<4xf32, #p0>, tensor<4xf32, #p1>, tensor<f32, #n1>, tensor<f32, #n1>
}
func.func @u(%v: tensor<4xf32, #p0> {dist.port = #dist.port<parameter @v>}, %w: tensor<4xf32, #p1> {dist.port = #dist.port<parameter @w>}, %g: tensor<4xf32, #p0> {dist.port = #dist.port<gradient @v>}, %h: tensor<4xf32, #p1> {dist.port = #dist.port<gradient @w>}, %loss: tensor<f32, #n1> {dist.port = #dist.port<loss_sum>}, %count: tensor<f32, #n1> {dist.port = #dist.port<count>}) -> (tensor<4xf32, #p0> {dist.port = #dist.port<parameter @v>}, tensor<4xf32, #p1> {dist.port = #dist.port<parameter @w>}) {
  return %g, %h : tensor<4xf32, #p0>, tensor<4xf32, #p1>
}
dist.step @train microbatch(@m) update(@u) microbatches(2) schedule(<1f1b>) chunks([0, 1])

// -----

// One microbatch moves as before.
// CHECK-LABEL: func.func @one
// CHECK-NOT: prepare
// CHECK: microbatches(1)
#half = #dist.layout<@mesh, [{"d"}]>
#all = #dist.layout<@mesh, [{}]>
#none = #dist.layout<@mesh, []>
dist.mesh @mesh = <"d"=2>
dist.state @v : tensor<4xf32> {role = parameter, source = #dist.draw<ones>}
func.func @one(%v: tensor<4xf32, #half> {dist.port = #dist.port<parameter @v>}) -> (tensor<4xf32, #all> {dist.port = #dist.port<gradient @v>}, tensor<f32, #none> {dist.port = #dist.port<loss_sum>}, tensor<f32, #none> {dist.port = #dist.port<count>}) {
  %0 = dist.all_gather %v dim 0 over ["d"] {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : tensor<4xf32, #half> -> tensor<4xf32, #all>
  %1 = stablehlo.tanh %0 {dist.block = 0 : i64, dist.phase = #dist.phase<backward_input>} : tensor<4xf32, #all>
  %c = stablehlo.constant dense<1.0> : tensor<f32, #none>
  return %1, %c, %c : tensor<4xf32, #all>, tensor<f32, #none>, tensor<f32, #none>
}
func.func @u(%v: tensor<4xf32, #half> {dist.port = #dist.port<parameter @v>}, %g: tensor<4xf32, #all> {dist.port = #dist.port<gradient @v>}, %loss: tensor<f32, #none> {dist.port = #dist.port<loss_sum>}, %count: tensor<f32, #none> {dist.port = #dist.port<count>}) -> (tensor<4xf32, #half> {dist.port = #dist.port<parameter @v>}) {
  %0 = dist.reshard %g {dist.phase = #dist.phase<update>} : tensor<4xf32, #all> -> tensor<4xf32, #half>
  return %0 : tensor<4xf32, #half>
}
dist.step @train microbatch(@one) update(@u) microbatches(1) schedule(<1f1b>) chunks([0])

// -----

// What contractions read in another type is made once, with what orders it
// and its scale, of which the microbatches read a root; so is the part of a
// state that is gathered in passing. What only a loop of elements reads is made
// where it is read, as is what an input is on the way to.
// CHECK-LABEL: func.func @narrow
// CHECK-NEXT: %[[N:.*]] = stablehlo.convert %arg1 {{.*}}#dist.phase<prepare>
// CHECK-NEXT: stablehlo.transpose %[[N]], {{.*}}#dist.phase<prepare>
// CHECK-NEXT: stablehlo.convert %arg1 {{.*}}#dist.phase<forward>{{.*}}xf16
// CHECK-NEXT: stablehlo.negate
// CHECK-NEXT: %[[S:.*]] = stablehlo.slice %arg1 {{.*}}#dist.phase<prepare>
// CHECK-NEXT: %[[R:.*]] = stablehlo.reshape %[[S]] {{.*}}#dist.phase<prepare>
// CHECK-NEXT: stablehlo.sqrt %[[R]] {{.*}}#dist.phase<prepare>
// CHECK-NEXT: nn.quantize %arg1, %[[R]] {{.*}}#dist.phase<prepare>
// CHECK-NEXT: %[[H:.*]] = stablehlo.convert %arg2 {{.*}}#dist.phase<prepare>
// CHECK-NEXT: dist.all_gather %[[H]] {{.*}}#dist.phase<forward>
// CHECK-NEXT: stablehlo.convert %arg0 {{.*}}#dist.phase<forward>
// AGAIN-LABEL: func.func @narrow
// AGAIN-NOT: #dist.phase<prepare>
// AGAIN: dist.step
#half = #dist.layout<@mesh, [{"d"}, {}]>
#all = #dist.layout<@mesh, [{}, {}]>
#none = #dist.layout<@mesh, []>
dist.mesh @mesh = <"d"=2>
dist.state @v : tensor<4x4xf32> {role = parameter, source = #dist.draw<ones>}
dist.state @w : tensor<4x4xf32> {role = parameter, row = #dist.row<rest = #half, use = #all>, source = #dist.draw<ones>}
func.func @narrow(%x: tensor<4x4xf32, #all> {dist.port = #dist.port<input "x">}, %v: tensor<4x4xf32, #all> {dist.port = #dist.port<parameter @v>}, %w: tensor<4x4xf32, #half> {dist.port = #dist.port<parameter @w>}) -> (tensor<4x4xf32, #all> {dist.port = #dist.port<gradient @v>}, tensor<4x4xf32, #all> {dist.port = #dist.port<gradient @w>}, tensor<f32, #none> {dist.port = #dist.port<loss_sum>}, tensor<f32, #none> {dist.port = #dist.port<count>}) {
  %0 = stablehlo.convert %v {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : (tensor<4x4xf32, #all>) -> tensor<4x4xbf16, #all>
  %1 = stablehlo.transpose %0, dims = [1, 0] {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : (tensor<4x4xbf16, #all>) -> tensor<4x4xbf16, #all>
  %2 = stablehlo.convert %v {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : (tensor<4x4xf32, #all>) -> tensor<4x4xf16, #all>
  %3 = stablehlo.negate %2 {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : tensor<4x4xf16, #all>
  %4 = stablehlo.slice %v [0:1, 0:1] {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : (tensor<4x4xf32, #all>) -> tensor<1x1xf32, #all>
  %5 = stablehlo.reshape %4 {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : (tensor<1x1xf32, #all>) -> tensor<f32, #none>
  %6 = stablehlo.sqrt %5 {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : tensor<f32, #none>
  %7 = nn.quantize %v, %5 {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : (tensor<4x4xf32, #all>, tensor<f32, #none>) -> tensor<4x4xf8E4M3FN, #all>
  %8 = stablehlo.convert %w {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : (tensor<4x4xf32, #half>) -> tensor<4x4xbf16, #half>
  %9 = dist.all_gather %8 dim 0 over ["d"] {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : tensor<4x4xbf16, #half> -> tensor<4x4xbf16, #all>
  %10 = stablehlo.convert %x {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : (tensor<4x4xf32, #all>) -> tensor<4x4xbf16, #all>
  %11 = stablehlo.dot_general %10, %1, contracting_dims = [1] x [0] {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : (tensor<4x4xbf16, #all>, tensor<4x4xbf16, #all>) -> tensor<4x4xf32, #all>
  %12 = stablehlo.dot_general %10, %9, contracting_dims = [1] x [0] {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : (tensor<4x4xbf16, #all>, tensor<4x4xbf16, #all>) -> tensor<4x4xf32, #all>
  %13 = stablehlo.dot_general %7, %7, contracting_dims = [1] x [0] {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : (tensor<4x4xf8E4M3FN, #all>, tensor<4x4xf8E4M3FN, #all>) -> tensor<4x4xf32, #all>
  %14 = stablehlo.add %11, %13 {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : tensor<4x4xf32, #all>
  %15 = stablehlo.convert %3 {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : (tensor<4x4xf16, #all>) -> tensor<4x4xf32, #all>
  %16 = stablehlo.add %14, %15 {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : tensor<4x4xf32, #all>
  return %16, %12, %6, %6 : tensor<4x4xf32, #all>, tensor<4x4xf32, #all>, tensor<f32, #none>, tensor<f32, #none>
}
func.func @u(%v: tensor<4x4xf32, #all> {dist.port = #dist.port<parameter @v>}, %w: tensor<4x4xf32, #half> {dist.port = #dist.port<parameter @w>}, %g: tensor<4x4xf32, #all> {dist.port = #dist.port<gradient @v>}, %h: tensor<4x4xf32, #all> {dist.port = #dist.port<gradient @w>}, %loss: tensor<f32, #none> {dist.port = #dist.port<loss_sum>}, %count: tensor<f32, #none> {dist.port = #dist.port<count>}) -> (tensor<4x4xf32, #all> {dist.port = #dist.port<parameter @v>}, tensor<4x4xf32, #half> {dist.port = #dist.port<parameter @w>}) {
  %1 = dist.reshard %h {dist.phase = #dist.phase<update>} : tensor<4x4xf32, #all> -> tensor<4x4xf32, #half>
  return %g, %1 : tensor<4x4xf32, #all>, tensor<4x4xf32, #half>
}
dist.step @train microbatch(@narrow) update(@u) microbatches(2) schedule(<1f1b>) chunks([0])
