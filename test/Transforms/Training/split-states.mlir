// RUN: split-file %s %t
// RUN: llmc-opt %t/parts.mlir --llmc-split-states | FileCheck %t/parts.mlir
// RUN: llmc-opt %t/merged-dim.mlir --llmc-split-states | FileCheck %t/merged-dim.mlir
// RUN: llmc-opt %t/whole.mlir --llmc-split-states --remarks-filter=training --remark-format=emitRemark 2>&1 | FileCheck %t/whole.mlir

//--- parts.mlir
// Each slice of the weight is a part, as are the optimizer's state and the
// gradient; the sum over the whole gradient is the sum over its parts.
// CHECK: dist.state @w : tensor<8x12xf32>
// CHECK-NEXT: dist.state @w.0 part of @w box([0, 0] [8, 4]) : tensor<8x4xf32> {role = parameter, row = #dist.row<rest = #[[ROW:[a-z0-9]+]]>}
// CHECK-NEXT: dist.state @w.1 part of @w box([0, 4] [8, 8]) : tensor<8x8xf32> {role = parameter, row = #dist.row<rest = #[[ROW]]>}
// CHECK-NEXT: dist.state @w.m : tensor<8x12xf32>
// CHECK-NEXT: dist.state @w.m.0 part of @w.m box([0, 0] [8, 4]) : tensor<8x4xf32> {role = optimizer, of = @w.0, row = #dist.row<rest = #[[ROW]]>}
// CHECK-NEXT: dist.state @w.m.1 part of @w.m box([0, 4] [8, 8]) : tensor<8x8xf32> {role = optimizer, of = @w.1, row = #dist.row<rest = #[[ROW]]>}
// CHECK-LABEL: func.func private @microbatch
// CHECK-SAME: (%[[X:.*]]: tensor<2x8xf32> {{{.*}}}, %[[W0:.*]]: tensor<8x4xf32> {dist.port = #dist.port<parameter @w.0>}, %[[W1:.*]]: tensor<8x8xf32> {dist.port = #dist.port<parameter @w.1>})
// CHECK-SAME: tensor<8x4xf32> {dist.port = #dist.port<gradient @w.0>}, tensor<8x8xf32> {dist.port = #dist.port<gradient @w.1>})
// CHECK-NOT: stablehlo.slice
// CHECK-NOT: stablehlo.pad
// CHECK: stablehlo.dot_general %[[X]], %[[W0]],
// CHECK: stablehlo.dot_general %[[X]], %[[W1]],
// CHECK: %[[G0:.*]] = stablehlo.dot_general %[[X]], %{{.*}} -> tensor<8x4xf32>
// CHECK: %[[G1:.*]] = stablehlo.dot_general %[[X]], %{{.*}} -> tensor<8x8xf32>
// CHECK-NOT: stablehlo.add
// CHECK: return %{{.*}}, %{{.*}}, %[[G0]], %[[G1]]
// CHECK-LABEL: func.func private @update
// CHECK-SAME: (%[[P0:[a-z0-9]+]]: tensor<8x4xf32> {dist.port = #dist.port<parameter @w.0{{.*}}}, %[[P1:[a-z0-9]+]]: tensor<8x8xf32> {dist.port = #dist.port<parameter @w.1{{.*}}}, %[[M0:[a-z0-9]+]]: tensor<8x4xf32> {dist.port = #dist.port<optimizer @w.m.0{{.*}}}, %[[M1:[a-z0-9]+]]: tensor<8x8xf32> {dist.port = #dist.port<optimizer @w.m.1{{.*}}}, %[[H0:[a-z0-9]+]]: tensor<8x4xf32> {dist.port = #dist.port<gradient @w.0{{.*}}}, %[[H1:[a-z0-9]+]]: tensor<8x8xf32> {dist.port = #dist.port<gradient @w.1
// CHECK-SAME: -> (tensor<8x4xf32> {dist.port = #dist.port<parameter @w.0>}, tensor<8x8xf32> {dist.port = #dist.port<parameter @w.1>}, tensor<8x4xf32> {dist.port = #dist.port<optimizer @w.m.0>}, tensor<8x8xf32> {dist.port = #dist.port<optimizer @w.m.1>}, tensor<f32>
// CHECK-DAG: %[[Q0:.*]] = stablehlo.multiply %[[H0]], %[[H0]] {dist.phase = #dist.phase<update>} : tensor<8x4xf32>
// CHECK-DAG: %[[Q1:.*]] = stablehlo.multiply %[[H1]], %[[H1]] {{.*}} : tensor<8x8xf32>
// CHECK-DAG: %[[S0:.*]] = stablehlo.reduce(%[[Q0]] init:
// CHECK-DAG: %[[S1:.*]] = stablehlo.reduce(%[[Q1]] init:
// CHECK: %[[S:.*]] = stablehlo.add %[[S0]], %[[S1]] {dist.phase = #dist.phase<update>}
// CHECK-DAG: %[[N0:.*]] = stablehlo.add %[[M0]], %[[H0]]
// CHECK-DAG: %[[N1:.*]] = stablehlo.add %[[M1]], %[[H1]]
// CHECK-NOT: tensor<8x12xf32>
// CHECK: return %{{.*}}, %{{.*}}, %[[N0]], %[[N1]], %[[S]]
// CHECK-LABEL: func.func private @f
// CHECK-SAME: %[[V0:.*]]: tensor<8x4xf32> {dist.port = #dist.port<parameter @w.0{{.*}}}, %{{.*}}: tensor<8x8xf32> {dist.port = #dist.port<parameter @w.1
// CHECK-NEXT: return %[[V0]]
dist.mesh @mesh = <"tensor"=2>
dist.state @w : tensor<8x12xf32> {role = parameter, row = #dist.row<rest = <@mesh, [{}, {"tensor"}]>>, source = #dist.draw<ones>}
dist.state @w.m : tensor<8x12xf32> {role = optimizer, of = @w, row = #dist.row<rest = <@mesh, [{}, {"tensor"}]>>, source = #dist.draw<zeros>}
func.func private @microbatch(%x: tensor<2x8xf32> {dist.port = #dist.port<input "x">}, %w: tensor<8x12xf32> {dist.port = #dist.port<parameter @w>})
    -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}, tensor<8x12xf32> {dist.port = #dist.port<gradient @w>}) {
  %w0 = stablehlo.slice %w [0:8, 0:4] : (tensor<8x12xf32>) -> tensor<8x4xf32>
  %w1 = stablehlo.slice %w [0:8, 4:12] : (tensor<8x12xf32>) -> tensor<8x8xf32>
  %0 = stablehlo.dot_general %x, %w0, contracting_dims = [1] x [0] : (tensor<2x8xf32>, tensor<8x4xf32>) -> tensor<2x4xf32>
  %1 = stablehlo.dot_general %x, %w1, contracting_dims = [1] x [0] : (tensor<2x8xf32>, tensor<8x8xf32>) -> tensor<2x8xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %one = stablehlo.constant dense<1.0> : tensor<f32>
  %l = stablehlo.reduce(%0 init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<2x4xf32>, tensor<f32>) -> tensor<f32>
  %g0 = stablehlo.dot_general %x, %0, contracting_dims = [0] x [0] : (tensor<2x8xf32>, tensor<2x4xf32>) -> tensor<8x4xf32>
  %g1 = stablehlo.dot_general %x, %1, contracting_dims = [0] x [0] : (tensor<2x8xf32>, tensor<2x8xf32>) -> tensor<8x8xf32>
  %p0 = stablehlo.pad %g0, %zero, low = [0, 0], high = [0, 8], interior = [0, 0] : (tensor<8x4xf32>, tensor<f32>) -> tensor<8x12xf32>
  %p1 = stablehlo.pad %g1, %zero, low = [0, 4], high = [0, 0], interior = [0, 0] : (tensor<8x8xf32>, tensor<f32>) -> tensor<8x12xf32>
  %g = stablehlo.add %p0, %p1 : tensor<8x12xf32>
  return %l, %one, %g : tensor<f32>, tensor<f32>, tensor<8x12xf32>
}
func.func private @update(%w: tensor<8x12xf32> {dist.port = #dist.port<parameter @w>}, %m: tensor<8x12xf32> {dist.port = #dist.port<optimizer @w.m>},
                          %g: tensor<8x12xf32> {dist.port = #dist.port<gradient @w>})
    -> (tensor<8x12xf32> {dist.port = #dist.port<parameter @w>}, tensor<8x12xf32> {dist.port = #dist.port<optimizer @w.m>}, tensor<f32> {dist.port = #dist.port<metric "norm">}) {
  %zero = stablehlo.constant {dist.phase = #dist.phase<update>} dense<0.0> : tensor<f32>
  %q = stablehlo.multiply %g, %g {dist.phase = #dist.phase<update>} : tensor<8x12xf32>
  %s = stablehlo.reduce(%q init: %zero) applies stablehlo.add across dimensions = [0, 1] {dist.phase = #dist.phase<update>} : (tensor<8x12xf32>, tensor<f32>) -> tensor<f32>
  %b = stablehlo.broadcast_in_dim %s, dims = [] {dist.phase = #dist.phase<update>} : (tensor<f32>) -> tensor<8x12xf32>
  %n = stablehlo.add %m, %g {dist.phase = #dist.phase<update>} : tensor<8x12xf32>
  %0 = stablehlo.multiply %n, %b {dist.phase = #dist.phase<update>} : tensor<8x12xf32>
  %1 = stablehlo.subtract %w, %0 {dist.phase = #dist.phase<update>} : tensor<8x12xf32>
  return %1, %n, %s : tensor<8x12xf32>, tensor<8x12xf32>, tensor<f32>
}
func.func private @f(%w: tensor<8x12xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<8x4xf32> {dist.port = #dist.port<output "y">}) {
  %w0 = stablehlo.slice %w [0:8, 0:4] : (tensor<8x12xf32>) -> tensor<8x4xf32>
  return %w0 : tensor<8x4xf32>
}
dist.step @train microbatch(@microbatch) update(@update) microbatches(1) schedule(<1f1b>)
dist.entry @forward function(@f)

//--- merged-dim.mlir
// The sum reads the cut dim merged with another one: each part is reshaped and
// summed over its own elements, 4 x 8 and 8 x 8 of 12 x 8.
// CHECK-LABEL: func.func private @f
// CHECK-SAME: %[[W0:.*]]: tensor<4x8xf32> {dist.port = #dist.port<parameter @w.0{{.*}}}, %[[W1:.*]]: tensor<8x8xf32> {dist.port = #dist.port<parameter @w.1
// CHECK-DAG: %[[R0:.*]] = stablehlo.reshape %[[W0]] : (tensor<4x8xf32>) -> tensor<32xf32>
// CHECK-DAG: %[[R1:.*]] = stablehlo.reshape %[[W1]] : (tensor<8x8xf32>) -> tensor<64xf32>
// CHECK-DAG: %[[S0:.*]] = stablehlo.reduce(%[[R0]] init:
// CHECK-DAG: %[[S1:.*]] = stablehlo.reduce(%[[R1]] init:
// CHECK: %[[S:.*]] = stablehlo.add %[[S0]], %[[S1]]
// CHECK: return %[[W0]], %[[S]]
dist.mesh @mesh = <"tensor"=2>
dist.state @w : tensor<12x8xf32> {role = parameter, row = #dist.row<rest = <@mesh, [{"tensor"}, {}]>>, source = #dist.draw<ones>}
func.func private @f(%w: tensor<12x8xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<4x8xf32> {dist.port = #dist.port<output "y0">}, tensor<f32> {dist.port = #dist.port<output "y1">}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %w0 = stablehlo.slice %w [0:4, 0:8] : (tensor<12x8xf32>) -> tensor<4x8xf32>
  %flat = stablehlo.reshape %w : (tensor<12x8xf32>) -> tensor<96xf32>
  %s = stablehlo.reduce(%flat init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<96xf32>, tensor<f32>) -> tensor<f32>
  return %w0, %s : tensor<4x8xf32>, tensor<f32>
}
dist.entry @forward function(@f)

//--- whole.mlir
// @a is also used whole, slices of @b overlap, no row splits @c, and @d is not
// sliced.
// CHECK-DAG: remark: {{.*}}'a' is used in slices but stays whole: stablehlo.sort in @f
// CHECK-DAG: remark: {{.*}}'b' is used in slices but stays whole: slices that overlap
// CHECK-NOT: remark
// CHECK-NOT: part of
dist.mesh @mesh = <"tensor"=2>
dist.state @a : tensor<12xf32> {role = parameter, row = #dist.row<rest = <@mesh, [{"tensor"}]>>, source = #dist.draw<ones>}
dist.state @b : tensor<12xf32> {role = parameter, row = #dist.row<rest = <@mesh, [{"tensor"}]>>, source = #dist.draw<ones>}
dist.state @c : tensor<12xf32> {role = parameter, row = #dist.row<rest = <@mesh, [{}]>>, source = #dist.draw<ones>}
dist.state @d : tensor<12xf32> {role = parameter, row = #dist.row<rest = <@mesh, [{"tensor"}]>>, source = #dist.draw<ones>}
func.func private @f(%a: tensor<12xf32> {dist.port = #dist.port<parameter @a>}, %b: tensor<12xf32> {dist.port = #dist.port<parameter @b>}, %c: tensor<12xf32> {dist.port = #dist.port<parameter @c>},
                     %d: tensor<12xf32> {dist.port = #dist.port<parameter @d>}) -> (tensor<6xf32> {dist.port = #dist.port<output "y0">}, tensor<6xf32> {dist.port = #dist.port<output "y1">}, tensor<6xf32> {dist.port = #dist.port<output "y2">}, tensor<12xf32> {dist.port = #dist.port<output "y3">}, tensor<12xf32> {dist.port = #dist.port<output "y4">}) {
  %a0 = stablehlo.slice %a [0:6] : (tensor<12xf32>) -> tensor<6xf32>
  %s = "stablehlo.sort"(%a) <{dimension = 0 : i64}> ({
  ^bb0(%x: tensor<f32>, %y: tensor<f32>):
    %lt = stablehlo.compare LT, %x, %y : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %lt : tensor<i1>
  }) : (tensor<12xf32>) -> tensor<12xf32>
  %b0 = stablehlo.slice %b [0:6] : (tensor<12xf32>) -> tensor<6xf32>
  %b1 = stablehlo.slice %b [4:10] : (tensor<12xf32>) -> tensor<6xf32>
  %b2 = stablehlo.add %b0, %b1 : tensor<6xf32>
  %c0 = stablehlo.slice %c [0:6] : (tensor<12xf32>) -> tensor<6xf32>
  %d0 = stablehlo.negate %d : tensor<12xf32>
  return %a0, %b2, %c0, %s, %d0 : tensor<6xf32>, tensor<6xf32>, tensor<6xf32>, tensor<12xf32>, tensor<12xf32>
}
dist.entry @forward function(@f)
