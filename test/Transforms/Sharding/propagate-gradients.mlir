// Gradients that other stages make than those that use the parameter: on three stages, one in each block.
// RUN: llmc-opt %s --llmc-propagate-layouts --llmc-verify-layouts --mlir-print-local-scope | FileCheck %s

// @late is used at 2 and its gradient made at 0, so it lives at both. The terms of @sum, which is used at 1 and 2, stay at 0, 1
// and 2 where the last addition would be at 0, as nothing adds up a sum over stages within a microbatch. Those of @first, which
// is used at 0, are sent there.
// CHECK-LABEL: func.func private @train.microbatch(
// CHECK-SAME: #dist.port<parameter @late, layout = <@mesh, [{}], at = {"pipe" = [0, 2]}>>
// CHECK-SAME: #dist.port<parameter @sum, layout = <@mesh, [{}], at = {"pipe" = [0, 1, 2]}>>
// CHECK-SAME: #dist.port<parameter @first, layout = <@mesh, [{}], at = {"pipe" = [0]}>>
// CHECK-SAME: #dist.port<gradient @late, layout = <@mesh, [{}], at = {"pipe" = [0, 2]}>>
// CHECK-SAME: #dist.port<gradient @sum, layout = <@mesh, [{}], at = {"pipe" = [0, 1, 2]}>>
// CHECK-SAME: #dist.port<gradient @first, layout = <@mesh, [{}], at = {"pipe" = [0]}>>
// CHECK: stablehlo.add %[[G2:[^,]*]], %[[G1:[^ ]*]] {{.*}}#dist.layout<@mesh, [{}], at = {"pipe" = [1, 2]}>
// CHECK: stablehlo.add {{.*}}#dist.layout<@mesh, [{}], at = {"pipe" = [0, 1, 2]}>
// CHECK: stablehlo.add {{.*}}#dist.layout<@mesh, [{}], at = {"pipe" = [0]}>
dist.mesh @mesh = <"pipe"=3> pipeline "pipe"
dist.state @late : tensor<4xf32> {role = parameter, source = #dist.draw<zeros>}
dist.state @sum : tensor<4xf32> {role = parameter, source = #dist.draw<zeros>}
dist.state @first : tensor<4xf32> {role = parameter, source = #dist.draw<zeros>}
func.func private @train.microbatch(%x: tensor<4xf32> {dist.port = #dist.port<input "x">}, %late: tensor<4xf32> {dist.port = #dist.port<parameter @late>},
    %sum: tensor<4xf32> {dist.port = #dist.port<parameter @sum>}, %first: tensor<4xf32> {dist.port = #dist.port<parameter @first>})
    -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}, tensor<4xf32> {dist.port = #dist.port<gradient @late>},
        tensor<4xf32> {dist.port = #dist.port<gradient @sum>}, tensor<4xf32> {dist.port = #dist.port<gradient @first>}) {
  %a = stablehlo.multiply %x, %first {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : tensor<4xf32>
  %b = stablehlo.multiply %a, %sum {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} : tensor<4xf32>
  %c = stablehlo.multiply %b, %sum {dist.block = 2 : i64, dist.phase = #dist.phase<forward>} : tensor<4xf32>
  %d = stablehlo.multiply %c, %late {dist.block = 2 : i64, dist.phase = #dist.phase<forward>} : tensor<4xf32>
  %zero = stablehlo.constant {dist.block = 2 : i64, dist.phase = #dist.phase<forward>} dense<0.0> : tensor<f32>
  %l = stablehlo.reduce(%d init: %zero) applies stablehlo.add across dimensions = [0] {dist.block = 2 : i64, dist.phase = #dist.phase<forward>} : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  %one = stablehlo.constant {dist.block = 2 : i64, dist.phase = #dist.phase<forward>} dense<1.0> : tensor<f32>
  %g2 = stablehlo.tanh %d {dist.block = 2 : i64, dist.phase = #dist.phase<backward_input>} : tensor<4xf32>
  %g1 = stablehlo.tanh %g2 {dist.block = 1 : i64, dist.phase = #dist.phase<backward_input>} : tensor<4xf32>
  %g0 = stablehlo.tanh %g1 {dist.block = 0 : i64, dist.phase = #dist.phase<backward_input>} : tensor<4xf32>
  %h0 = stablehlo.sine %g0 {dist.block = 0 : i64, dist.phase = #dist.phase<backward_weight>} : tensor<4xf32>
  %s = stablehlo.add %g2, %g1 {dist.block = 1 : i64, dist.phase = #dist.phase<backward_weight>} : tensor<4xf32>
  %t = stablehlo.add %s, %g0 {dist.block = 0 : i64, dist.phase = #dist.phase<backward_weight>} : tensor<4xf32>
  %u = stablehlo.add %g2, %h0 {dist.block = 0 : i64, dist.phase = #dist.phase<backward_weight>} : tensor<4xf32>
  return %l, %one, %g0, %t, %u : tensor<f32>, tensor<f32>, tensor<4xf32>, tensor<4xf32>, tensor<4xf32>
}
func.func private @train.update(%late: tensor<4xf32> {dist.port = #dist.port<parameter @late>}, %g: tensor<4xf32> {dist.port = #dist.port<gradient @late>}) -> (tensor<4xf32> {dist.port = #dist.port<parameter @late>}) {
  %p = stablehlo.subtract %late, %g {dist.phase = #dist.phase<update>} : tensor<4xf32>
  return %p : tensor<4xf32>
}
dist.step @train microbatch(@train.microbatch) update(@train.update) microbatches(1) schedule(<1f1b>) chunks([0, 1, 2])
