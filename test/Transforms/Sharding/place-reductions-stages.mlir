// RUN: llmc-opt %s --llmc-place-reductions | FileCheck %s

// What leaves a microbatch at stage 0 and is kept at both stages is a term of
// the sum, which the update makes once. What is kept at another stage than its
// own is moved as it is: it is no term of anything there. A maximum over the
// stages is none either: microbatches are summed.
// CHECK-DAG: #[[TERM:.*]] = #dist.layout<@mesh, [{}], partial = [sum{"pipe"}], at = {"pipe" = [0, 1]}>
// CHECK-DAG: #[[FIRST:.*]] = #dist.layout<@mesh, [{}], at = {"pipe" = [0]}>
// CHECK-DAG: #[[SECOND:.*]] = #dist.layout<@mesh, [{}], at = {"pipe" = [1]}>
// CHECK-DAG: #[[BOTH:.*]] = #dist.layout<@mesh, [{}], at = {"pipe" = [0, 1]}>
#first = #dist.layout<@mesh, [{}], at = {"pipe" = [0]}>
#second = #dist.layout<@mesh, [{}], at = {"pipe" = [1]}>
#s = #dist.layout<@mesh, [], at = {"pipe" = [0]}>
#both = #dist.layout<@mesh, [{}], at = {"pipe" = [0, 1]}>
dist.mesh @mesh = <"pipe"=2> pipeline "pipe"
dist.state @shared : tensor<8xf32> {role = parameter, source = #dist.draw<ones>}
dist.state @moved : tensor<8xf32> {role = parameter, source = #dist.draw<ones>}
dist.state @own : tensor<8xf32> {role = parameter, source = #dist.draw<ones>}
// CHECK: func.func @microbatch
// CHECK-SAME: tensor<8xf32> {dist.port = #dist.port<gradient @shared, layout = #[[TERM]]>}, tensor<8xf32> {dist.port = #dist.port<gradient @moved, layout = #[[SECOND]]>}, tensor<8xf32> {dist.port = #dist.port<gradient @own, layout = #[[FIRST]]>})
func.func @microbatch(%x: tensor<8xf32> {dist.port = #dist.port<input "x", layout = #first>})
    -> (tensor<f32> {dist.port = #dist.port<loss_sum, layout = #s>}, tensor<f32> {dist.port = #dist.port<count, layout = #s>}, tensor<8xf32> {dist.port = #dist.port<gradient @shared, layout = #both>}, tensor<8xf32> {dist.port = #dist.port<gradient @moved, layout = #second>}, tensor<8xf32> {dist.port = #dist.port<gradient @own, layout = #first>}) {
  // CHECK: stablehlo.negate {{.*}}dist.layouts = [#[[FIRST]]]
  %a = stablehlo.negate %x {dist.layouts = [#first]} : tensor<8xf32>
  // CHECK: stablehlo.tanh {{.*}}dist.layouts = [#[[FIRST]]]
  %b = stablehlo.tanh %x {dist.layouts = [#first]} : tensor<8xf32>
  // CHECK: stablehlo.sine {{.*}}dist.layouts = [#[[FIRST]]]
  %c = stablehlo.sine %x {dist.layouts = [#first]} : tensor<8xf32>
  %one = stablehlo.constant {dist.layouts = [#s]} dense<1.0> : tensor<f32>
  return %one, %one, %a, %b, %c : tensor<f32>, tensor<f32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>
}
// CHECK: func.func @update
// CHECK-SAME: tensor<8xf32> {dist.port = #dist.port<gradient @shared, layout = #[[TERM]]>}
// CHECK-SAME: tensor<8xf32> {dist.port = #dist.port<gradient @moved, layout = #[[SECOND]]>}
// CHECK-SAME: tensor<8xf32> {dist.port = #dist.port<gradient @own, layout = #[[FIRST]]>}
func.func @update(%ga: tensor<8xf32> {dist.port = #dist.port<gradient @shared, layout = #both>}, %gb: tensor<8xf32> {dist.port = #dist.port<gradient @moved, layout = #second>}, %gc: tensor<8xf32> {dist.port = #dist.port<gradient @own, layout = #first>}, %ls: tensor<f32> {dist.port = #dist.port<loss_sum, layout = #s>}, %n: tensor<f32> {dist.port = #dist.port<count, layout = #s>})
    -> (tensor<8xf32> {dist.port = #dist.port<parameter @shared, layout = #both>}, tensor<8xf32> {dist.port = #dist.port<parameter @moved, layout = #second>}, tensor<8xf32> {dist.port = #dist.port<parameter @own, layout = #first>}, tensor<f32> {dist.port = #dist.port<metric "loss", layout = #s>}) {
  // CHECK: stablehlo.tanh {{.*}}dist.layouts = [#[[BOTH]]]
  %a = stablehlo.tanh %ga {dist.layouts = [#both]} : tensor<8xf32>
  // CHECK: stablehlo.tanh {{.*}}dist.layouts = [#[[SECOND]]]
  %b = stablehlo.tanh %gb {dist.layouts = [#second]} : tensor<8xf32>
  %c = stablehlo.tanh %gc {dist.layouts = [#first]} : tensor<8xf32>
  %metric = stablehlo.divide %ls, %n {dist.layouts = [#s]} : tensor<f32>
  return %a, %b, %c, %metric : tensor<8xf32>, tensor<8xf32>, tensor<8xf32>, tensor<f32>
}
dist.step @train microbatch(@microbatch) update(@update) microbatches(4) schedule(<1f1b>) chunks([0, 1])
