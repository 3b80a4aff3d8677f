// RUN: llmc-opt %s --split-input-file --llmc-merge-moves | FileCheck %s

// What is computed alike is gathered once, also through ops with a body; other
// kinds of the op, other dims and other phases stay.
// CHECK-LABEL: func.func @alike
// CHECK-NEXT: %[[A:.*]] = stablehlo.negate %arg0
// CHECK-NEXT: %[[B:.*]] = dist.all_gather %[[A]] dim 0
// CHECK-NEXT: stablehlo.tanh %[[B]] {dist.block = 1
// CHECK-NEXT: %[[D:.*]] = stablehlo.tanh %[[B]] {dist.block = 2
// CHECK-NEXT: %[[E:.*]] = stablehlo.negate %arg0 {{.*}}backward_input
// CHECK-NEXT: dist.all_gather %[[E]]
// CHECK-NEXT: stablehlo.constant
// CHECK-NEXT: %[[R:.*]] = stablehlo.reduce(%[[D]]
// CHECK: %[[M:.*]] = dist.all_reduce %[[R]] over ["d"] sum
// CHECK-NEXT: %[[S:.*]] = stablehlo.reduce(%[[D]] {{.*}}maximum
// CHECK: %[[N:.*]] = dist.all_reduce %[[S]] over ["d"] sum
// CHECK-NEXT: return {{.*}}%[[M]], %[[M]], %[[N]]
#half = #dist.layout<@mesh, [{"d"}]>
#all = #dist.layout<@mesh, [{}]>
#none = #dist.layout<@mesh, []>
#term = #dist.layout<@mesh, [], partial = [sum{"d"}]>
dist.mesh @mesh = <"d"=2>
func.func @alike(%w: tensor<4xf32, #half> {dist.port = #dist.port<input "w">}) -> (tensor<4xf32, #all> {dist.port = #dist.port<output "a">}, tensor<4xf32, #all> {dist.port = #dist.port<output "b">}, tensor<4xf32, #all> {dist.port = #dist.port<output "c">}, tensor<f32, #none> {dist.port = #dist.port<output "d">}, tensor<f32, #none> {dist.port = #dist.port<output "e">}, tensor<f32, #none> {dist.port = #dist.port<output "f">}) {
  %0 = stablehlo.negate %w {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} : tensor<4xf32, #half>
  %1 = dist.all_gather %0 dim 0 over ["d"] {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} : tensor<4xf32, #half> -> tensor<4xf32, #all>
  %2 = stablehlo.tanh %1 {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} : tensor<4xf32, #all>
  %3 = stablehlo.negate %w {dist.block = 2 : i64, dist.phase = #dist.phase<forward>} : tensor<4xf32, #half>
  %4 = dist.all_gather %3 dim 0 over ["d"] {dist.block = 2 : i64, dist.phase = #dist.phase<forward>} : tensor<4xf32, #half> -> tensor<4xf32, #all>
  %5 = stablehlo.tanh %4 {dist.block = 2 : i64, dist.phase = #dist.phase<forward>} : tensor<4xf32, #all>
  %6 = stablehlo.negate %w {dist.block = 2 : i64, dist.phase = #dist.phase<backward_input>} : tensor<4xf32, #half>
  %7 = dist.all_gather %6 dim 0 over ["d"] {dist.block = 2 : i64, dist.phase = #dist.phase<backward_input>} : tensor<4xf32, #half> -> tensor<4xf32, #all>
  %z = stablehlo.constant dense<0.0> : tensor<f32, #none>
  %8 = stablehlo.reduce(%5 init: %z) applies stablehlo.add across dimensions = [0] : (tensor<4xf32, #all>, tensor<f32, #none>) -> tensor<f32, #term>
  %9 = dist.all_reduce %8 over ["d"] sum : tensor<f32, #term> -> tensor<f32, #none>
  %10 = stablehlo.reduce(%5 init: %z) applies stablehlo.add across dimensions = [0] : (tensor<4xf32, #all>, tensor<f32, #none>) -> tensor<f32, #term>
  %11 = dist.all_reduce %10 over ["d"] sum : tensor<f32, #term> -> tensor<f32, #none>
  %12 = stablehlo.reduce(%5 init: %z) applies stablehlo.maximum across dimensions = [0] : (tensor<4xf32, #all>, tensor<f32, #none>) -> tensor<f32, #term>
  %13 = dist.all_reduce %12 over ["d"] sum : tensor<f32, #term> -> tensor<f32, #none>
  return %2, %5, %7, %9, %11, %13 : tensor<4xf32, #all>, tensor<4xf32, #all>, tensor<4xf32, #all>, tensor<f32, #none>, tensor<f32, #none>, tensor<f32, #none>
}
dist.entry @forward function(@alike) chunks([0, 0, 0])

// -----

// Chunks are programs of their own.
// CHECK-LABEL: func.func @chunks
// CHECK-COUNT-2: dist.all_gather
#half = #dist.layout<@mesh, [{"d"}]>
#all = #dist.layout<@mesh, [{}]>
dist.mesh @mesh = <"d"=2>
func.func @chunks(%w: tensor<4xf32, #half> {dist.port = #dist.port<input "w">}) -> (tensor<4xf32, #all> {dist.port = #dist.port<output "a">}, tensor<4xf32, #all> {dist.port = #dist.port<output "b">}) {
  %0 = dist.all_gather %w dim 0 over ["d"] {dist.block = 0 : i64, dist.phase = #dist.phase<forward>} : tensor<4xf32, #half> -> tensor<4xf32, #all>
  %1 = dist.all_gather %w dim 0 over ["d"] {dist.block = 1 : i64, dist.phase = #dist.phase<forward>} : tensor<4xf32, #half> -> tensor<4xf32, #all>
  return %0, %1 : tensor<4xf32, #all>, tensor<4xf32, #all>
}
dist.entry @forward function(@chunks) chunks([0, 1])
