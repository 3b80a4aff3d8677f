// RUN: llmc-opt %s --split-input-file --llmc-propagate-layouts --llmc-verify-layouts --mlir-print-local-scope | FileCheck %s

// A group has one layout, and what it gets from one member goes on from all.
dist.mesh @mesh = <"data"=2>
// CHECK-LABEL: func.func @group(
// CHECK-SAME: input "y", layout = <@mesh, [{}, {"data"}]>
func.func @group(%x: tensor<8x8xf32> {dist.port = #dist.port<input "x", layout = <@mesh, [{}, {"data"}]>>},
                 %y: tensor<8x8xf32> {dist.port = #dist.port<input "y">}) -> (tensor<8x8xf32> {dist.port = #dist.port<output "z">}) {
  // CHECK: dist.group = 0 : i64, dist.layouts = [#dist.layout<@mesh, [{}, {"data"}]>]
  %0 = dist.constraint %x to <@mesh, [{?}, {?}]> {dist.group = 0 : i64} : tensor<8x8xf32>
  // CHECK: dist.group = 0 : i64, dist.layouts = [#dist.layout<@mesh, [{}, {"data"}]>]
  %1 = dist.constraint %y to <@mesh, [{?}, {?}]> {dist.group = 0 : i64} : tensor<8x8xf32>
  // CHECK: dist.group = 1 : i64, dist.layouts = [#dist.layout<@mesh, [{}, {}]>]
  %other = stablehlo.constant dense<0.0> : tensor<8x8xf32>
  %2 = dist.constraint %other to <@mesh, [{?}, {?}]> {dist.group = 1 : i64} : tensor<8x8xf32>
  // CHECK: stablehlo.tanh{{.*}}#dist.layout<@mesh, [{}, {"data"}]>
  %3 = stablehlo.tanh %1 : tensor<8x8xf32>
  return %3 : tensor<8x8xf32>
}
dist.entry @forward function(@group) chunks([0])

// -----

// Axes of an operand pass forward, those of a result do not.
dist.mesh @mesh = <"data"=2, "tensor"=2>
// CHECK-LABEL: func.func @onward(
// CHECK-SAME: input "x", layout = <@mesh, [{"data"}, {}]>
// CHECK-SAME: input "y", layout = <@mesh, [{}, {}]>
func.func @onward(%x: tensor<8x8xf32> {dist.port = #dist.port<input "x", layout = <@mesh, [{"data", ?}, {?}]>>},
                   %y: tensor<8x8xf32> {dist.port = #dist.port<input "y">}) -> (tensor<8x8xf32> {dist.port = #dist.port<output "z">}, tensor<8x8xf32> {dist.port = #dist.port<output "u">}) {
  // CHECK: dist.direction = "FORWARD", dist.layouts = [#dist.layout<@mesh, [{"data"}, {}]>]
  %0 = dist.constraint %x to <@mesh, [{?}, {?}]> {dist.direction = "FORWARD"} : tensor<8x8xf32>
  // CHECK: dist.direction = "FORWARD", dist.layouts = [#dist.layout<@mesh, [{}, {"tensor"}]>]
  %1 = dist.constraint %y to <@mesh, [{?}, {?}]> {dist.direction = "FORWARD"} : tensor<8x8xf32>
  %2 = dist.constraint %1 to <@mesh, [{}, {"tensor"}]> : tensor<8x8xf32>
  return %0, %2 : tensor<8x8xf32>, tensor<8x8xf32>
}
dist.entry @forward function(@onward) chunks([0])

// -----

// Backward the other way round, and none at all.
dist.mesh @mesh = <"data"=2, "tensor"=2>
// CHECK-LABEL: func.func @backward(
// CHECK-SAME: input "y", layout = <@mesh, [{}, {"tensor"}]>
// CHECK-SAME: input "w", layout = <@mesh, [{}, {}]>
func.func @backward(%x: tensor<8x8xf32> {dist.port = #dist.port<input "x", layout = <@mesh, [{"data", ?}, {?}]>>},
                    %y: tensor<8x8xf32> {dist.port = #dist.port<input "y">},
                    %w: tensor<8x8xf32> {dist.port = #dist.port<input "w">}) -> (tensor<8x8xf32> {dist.port = #dist.port<output "z">}, tensor<8x8xf32> {dist.port = #dist.port<output "u">}, tensor<8x8xf32> {dist.port = #dist.port<output "v">}) {
  // CHECK: dist.direction = "BACKWARD", dist.layouts = [#dist.layout<@mesh, [{}, {}]>]
  %0 = dist.constraint %x to <@mesh, [{?}, {?}]> {dist.direction = "BACKWARD"} : tensor<8x8xf32>
  // CHECK: dist.direction = "BACKWARD", dist.layouts = [#dist.layout<@mesh, [{}, {"tensor"}]>]
  %1 = dist.constraint %y to <@mesh, [{?}, {?}]> {dist.direction = "BACKWARD"} : tensor<8x8xf32>
  %2 = dist.constraint %1 to <@mesh, [{}, {"tensor"}]> : tensor<8x8xf32>
  // CHECK: dist.direction = "NONE", dist.layouts = [#dist.layout<@mesh, [{}, {"tensor"}]>]
  %3 = dist.constraint %w to <@mesh, [{?}, {?}]> {dist.direction = "NONE"} : tensor<8x8xf32>
  %4 = dist.constraint %3 to <@mesh, [{}, {"tensor"}]> : tensor<8x8xf32>
  return %0, %2, %4 : tensor<8x8xf32>, tensor<8x8xf32>, tensor<8x8xf32>
}
dist.entry @forward function(@backward) chunks([0])
