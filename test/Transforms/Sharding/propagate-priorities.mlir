// RUN: llmc-opt %s --split-input-file --llmc-propagate-layouts --llmc-verify-layouts --mlir-print-local-scope | FileCheck %s

// Of two inputs the first one gives the sum its axes, and what has no priority
// before what has one.
dist.mesh @mesh = <"data"=2>
// CHECK-LABEL: func.func @first(
func.func @first(%x: tensor<8x8xf32> {dist.port = #dist.port<input "x", layout = <@mesh, [{"data"}, {}]>>},
                 %y: tensor<8x8xf32> {dist.port = #dist.port<input "y", layout = <@mesh, [{}, {"data"}]>>}) -> (tensor<8x8xf32> {dist.port = #dist.port<output "z">}) {
  // CHECK: stablehlo.add{{.*}}#dist.layout<@mesh, [{"data"}, {}]>
  %0 = stablehlo.add %x, %y : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
dist.entry @forward function(@first) chunks([0])

// -----

// The layout that waited stands in the end, without its priority.
dist.mesh @mesh = <"data"=2>
// CHECK-LABEL: func.func @second(
// CHECK-SAME: input "x", layout = <@mesh, [{"data"}, {}]>
// CHECK-SAME: input "y", layout = <@mesh, [{}, {"data"}]>
func.func @second(%x: tensor<8x8xf32> {dist.port = #dist.port<input "x", layout = <@mesh, [{"data"}p1, {}]>>},
                  %y: tensor<8x8xf32> {dist.port = #dist.port<input "y", layout = <@mesh, [{}, {"data"}]>>}) -> (tensor<8x8xf32> {dist.port = #dist.port<output "z">}) {
  // CHECK: stablehlo.add{{.*}}#dist.layout<@mesh, [{}, {"data"}]>
  %0 = stablehlo.add %x, %y : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
dist.entry @forward function(@second) chunks([0])

// -----

// The lower number is first; and what another round has left free is taken.
dist.mesh @mesh = <"data"=2, "tensor"=2>
// CHECK-LABEL: func.func @numbers(
func.func @numbers(%x: tensor<8x8xf32> {dist.port = #dist.port<input "x", layout = <@mesh, [{"data"}p3, {}]>>},
                   %y: tensor<8x8xf32> {dist.port = #dist.port<input "y", layout = <@mesh, [{"tensor"}p2, {"data"}p1]>>}) -> (tensor<8x8xf32> {dist.port = #dist.port<output "z">}) {
  // CHECK: stablehlo.add{{.*}}#dist.layout<@mesh, [{"tensor"}, {"data"}]>
  %0 = stablehlo.add %x, %y : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
dist.entry @forward function(@numbers) chunks([0])

// -----

// An open dim waits too, and an axis of a dim that waits goes to no other dim
// of its tensor meanwhile.
dist.mesh @mesh = <"data"=2, "tensor"=2>
// CHECK-LABEL: func.func @open(
// CHECK-SAME: input "x", layout = <@mesh, [{"tensor"}, {"data"}]>
func.func @open(%x: tensor<8x8xf32> {dist.port = #dist.port<input "x", layout = <@mesh, [{?}, {"data"}p1]>>},
                %y: tensor<8x8xf32> {dist.port = #dist.port<input "y", layout = <@mesh, [{"tensor", "data"}, {}]>>}) -> (tensor<8x8xf32> {dist.port = #dist.port<output "z">}) {
  // CHECK: stablehlo.add{{.*}}#dist.layout<@mesh, [{"tensor", "data"}, {}]>
  %0 = stablehlo.add %x, %y : tensor<8x8xf32>
  return %0 : tensor<8x8xf32>
}
dist.entry @forward function(@open) chunks([0])

// -----

// A state's row, whose axes would spread before those of inputs, and a
// constraint.
dist.mesh @mesh = <"data"=2>
dist.state @w : tensor<8x8xf32> {role = parameter, row = #dist.row<rest = #dist.layout<@mesh, [{"data"}p2, {}]>>}
// CHECK: dist.state @w {{.*}}rest = <@mesh, [{"data"}, {}]>
// CHECK-LABEL: func.func @rows(
func.func @rows(%x: tensor<8x8xf32> {dist.port = #dist.port<input "x">},
                %w: tensor<8x8xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<8x8xf32> {dist.port = #dist.port<output "z">}) {
  // CHECK: dist.constraint{{.*}}#dist.layout<@mesh, [{}, {"data"}]>]
  %0 = dist.constraint %x to <@mesh, [{?}, {"data", ?}p1]> : tensor<8x8xf32>
  // CHECK: stablehlo.add{{.*}}#dist.layout<@mesh, [{}, {"data"}]>
  %1 = stablehlo.add %0, %w : tensor<8x8xf32>
  return %1 : tensor<8x8xf32>
}
dist.entry @forward function(@rows) chunks([0])
