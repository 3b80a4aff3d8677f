// A table with weight cells: backward-input and backward-weight stay apart, and
// become programs of their own; what a weight gradient needs lives until then.
// RUN: llmc-opt %s --llmc-cut-segments --llmc-verify-local --llmc-schedule --llmc-verify-scheduled | FileCheck %s --check-prefix=SEGMENTS
// RUN: llmc-opt %s --llmc-cut-segments --llmc-verify-local --llmc-schedule --llmc-verify-scheduled --llmc-outline-programs --llmc-verify-memory | FileCheck %s
// RUN: sed 's/table <.*>>) chunks/table <["F0.0 F0.1 . B0.0 . B0.1 U", ". F1.0 B1.0 F1.1 B1.1 . U"]>>) chunks/' %s | llmc-opt --llmc-cut-segments --llmc-verify-local --llmc-schedule --llmc-verify-scheduled --llmc-outline-programs --llmc-verify-memory | FileCheck %s --check-prefix=MERGED
// RUN: sed 's/B0.0 W0.0/W0.0 B0.0/' %s | not llmc-opt --llmc-cut-segments --llmc-schedule 2>&1 | FileCheck %s --check-prefix=ORDER
// RUN: sed 's/B1.0 W1.0/B1.0 ./' %s | not llmc-opt --llmc-cut-segments --llmc-schedule 2>&1 | FileCheck %s --check-prefix=MISSING
// ORDER: expected a legal schedule: cell W0.0 stands before B0.0, on which it depends
// MISSING: expected a legal schedule: cell W1.0 is missing

// SEGMENTS: dist.segment chunk(1) phase(backward_input)
// SEGMENTS: dist.transfer @t1
// SEGMENTS: dist.segment chunk(1) phase(backward_weight)
// SEGMENTS: dist.segment chunk(0) phase(backward_input)
// SEGMENTS: dist.segment chunk(0) phase(backward_weight)

// CHECK: programs([#dist.program<@train.c0.F, {{.*}}#dist.program<@train.c1.B, chunk = 1, phase = backward_input, at = [1]>, #dist.program<@train.c1.W, chunk = 1, phase = backward_weight, at = [1]>, #dist.program<@train.c0.B, chunk = 0, phase = backward_input, at = [0]>, #dist.program<@train.c0.W, chunk = 0, phase = backward_weight, at = [0]>
// CHECK-SAME: transfers([#dist.route<@t0 : @train.c0.F -> @train.c1.F>, #dist.route<@t1 : @train.c1.B -> @train.c0.B>])
// The received gradient passes through the backward to the weight program.
// CHECK-LABEL: func.func private @train.c0.B
// CHECK-SAME: %[[R:[a-z0-9]+]]: tensor<4xf32> {dist.port = #dist.port<recv @t1>}
// CHECK-SAME: -> ({{.*}}tensor<4xf32> {dist.port = #dist.port<act "[[$A:c0.a[0-9]+]]", chunk = 0>})
// CHECK: return {{.*}}%[[R]] :
// CHECK-LABEL: func.func private @train.c0.W
// CHECK-SAME: {dist.port = #dist.port<act "[[$A]]", chunk = 0>}
// CHECK-SAME: -> (tensor<4xf32> {dist.port = #dist.port<gradient @w>})

// MERGED: #dist.program<@train.c1.B, chunk = 1, phase = backward, at = [1]>, #dist.program<@train.c0.B, chunk = 0, phase = backward, at = [0]>
// MERGED-LABEL: func.func private @train.c0.B
// MERGED-SAME: {dist.port = #dist.port<recv @t1>}
// MERGED-SAME: -> (tensor<4xf32> {dist.port = #dist.port<gradient @w>})

#F = #dist.phase<forward>
#B = #dist.phase<backward_input>
#W = #dist.phase<backward_weight>
dist.mesh @mesh = <"pipe"=2> pipeline "pipe"
dist.state @w : tensor<4xf32> {role = parameter, source = #dist.draw<ones>}
dist.buffer @w.local of @w : tensor<4xf32> holds [#dist.box<@w, #dist.layout<@mesh, [{}], at = {"pipe" = [0]}>, [0]>]
dist.state @v : tensor<4xf32> {role = parameter, source = #dist.draw<ones>}
dist.buffer @v.local of @v : tensor<4xf32> holds [#dist.box<@v, #dist.layout<@mesh, [{}], at = {"pipe" = [1]}>, [0]>]
func.func private @train.microbatch(%x: tensor<4xf32> {dist.port = #dist.port<input "x">}, %w: tensor<4xf32> {dist.port = #dist.port<parameter @w>}, %v: tensor<4xf32> {dist.port = #dist.port<parameter @v>})
    -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}, tensor<4xf32> {dist.port = #dist.port<gradient @w>}, tensor<4xf32> {dist.port = #dist.port<gradient @v>}) {
  %a = stablehlo.multiply %x, %w {dist.block = 0 : i64, dist.phase = #F} : tensor<4xf32>
  %t = stablehlo.tanh %a {dist.block = 0 : i64, dist.phase = #F} : tensor<4xf32>
  %a1 = dist.transfer @t0 %t along "pipe" 0 -> 1 {dist.block = 0 : i64, dist.phase = #F} : tensor<4xf32>
  %b = stablehlo.multiply %a1, %v {dist.block = 1 : i64, dist.phase = #F} : tensor<4xf32>
  %zero = stablehlo.constant {dist.block = 1 : i64, dist.phase = #F} dense<0.0> : tensor<f32>
  %ls = stablehlo.reduce(%b init: %zero) applies stablehlo.add across dimensions = [0] {dist.block = 1 : i64, dist.phase = #F} : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  %count = stablehlo.constant {dist.block = 1 : i64, dist.phase = #F} dense<4.0> : tensor<f32>
  %n = stablehlo.negate %v {dist.block = 1 : i64, dist.phase = #B} : tensor<4xf32>
  %g1 = dist.transfer @t1 %n along "pipe" 1 -> 0 {dist.block = 1 : i64, dist.phase = #B} : tensor<4xf32>
  %gv = stablehlo.multiply %a1, %a1 {dist.block = 1 : i64, dist.phase = #W} : tensor<4xf32>
  %s = stablehlo.multiply %t, %g1 {dist.block = 0 : i64, dist.phase = #B} : tensor<4xf32>
  %p = stablehlo.multiply %s, %x {dist.block = 0 : i64, dist.phase = #W} : tensor<4xf32>
  %gw = stablehlo.multiply %p, %g1 {dist.block = 0 : i64, dist.phase = #W} : tensor<4xf32>
  return %ls, %count, %gw, %gv : tensor<f32>, tensor<f32>, tensor<4xf32>, tensor<4xf32>
}
func.func private @train.update(%w: tensor<4xf32> {dist.port = #dist.port<parameter @w>}, %g: tensor<4xf32> {dist.port = #dist.port<gradient @w>}, %ls: tensor<f32> {dist.port = #dist.port<loss_sum>}, %count: tensor<f32> {dist.port = #dist.port<count>})
    -> (tensor<4xf32> {dist.port = #dist.port<parameter @w>}) {
  %new = stablehlo.subtract %w, %g {dist.at = array<i64: 0>, dist.phase = #dist.phase<update>} : tensor<4xf32>
  return %new : tensor<4xf32>
}
dist.step @train microbatch(@train.microbatch) update(@train.update) microbatches(2) schedule(<file table <["F0.0 F0.1 . B0.0 W0.0 . B0.1 W0.1 U", ". F1.0 B1.0 W1.0 F1.1 B1.1 W1.1 U ."]>>) chunks([0, 1])
