// RUN: split-file %s %t
// RUN: llmc-opt %t/sliced.mlir --llmc-split-states | FileCheck %t/sliced.mlir
// RUN: llmc-opt %t/sliced.mlir --llmc-split-states --llmc-split-states | FileCheck %t/sliced.mlir
// RUN: llmc-opt %t/first.mlir --llmc-split-states | FileCheck %t/first.mlir
// RUN: llmc-opt %t/others.mlir --llmc-split-states | FileCheck %t/others.mlir
// RUN: llmc-opt %t/reshaped.mlir --llmc-split-states | FileCheck %t/reshaped.mlir
// RUN: llmc-opt %t/whole.mlir --llmc-split-states --remarks-filter=training --remark-format=emitRemark 2>&1 | FileCheck %t/whole.mlir

//--- sliced.mlir
// A slice along another dimension is one of each part, once for all entries of
// a function. An optimizer state without a row has parts without
// one. Parts are not split again.
// CHECK: dist.state @w.m : tensor<8x12xf32>
// CHECK-NEXT: dist.state @w.m.0 part of @w.m box([0, 0] [8, 4]) : tensor<8x4xf32> {role = optimizer, of = @w.0}
// CHECK-NEXT: dist.state @w.m.1 part of @w.m box([0, 4] [8, 8]) : tensor<8x8xf32> {role = optimizer, of = @w.1}
// CHECK-NOT: dist.state
// CHECK-LABEL: func.func private @f
// CHECK-SAME: (%[[W0:[a-z0-9]+]]: tensor<8x4xf32> {{{[^}]*}}}, %[[W1:[a-z0-9]+]]: tensor<8x8xf32>
// CHECK-DAG: %[[S0:.*]] = stablehlo.slice %[[W0]] [0:5, 0:4]
// CHECK-DAG: %[[N0:.*]] = stablehlo.negate %[[S0]]
// CHECK-DAG: %[[S1:.*]] = stablehlo.slice %[[W1]] [0:5, 0:8]
// CHECK-DAG: %[[N1:.*]] = stablehlo.negate %[[S1]]
// CHECK-DAG: %[[R0:.*]] = stablehlo.reduce(%[[N0]] init:
// CHECK-DAG: %[[R1:.*]] = stablehlo.reduce(%[[N1]] init:
// CHECK: %[[R:.*]] = stablehlo.add %[[R0]], %[[R1]]
// CHECK-NEXT: return %[[W0]], %[[R]]
dist.mesh @mesh = <"tensor"=2>
dist.state @w : tensor<8x12xf32> {role = parameter, row = #dist.row<rest = <@mesh, [{}, {"tensor"}]>>, source = #dist.draw<ones>}
dist.state @w.m : tensor<8x12xf32> {role = optimizer, of = @w, source = #dist.draw<zeros>}
func.func private @f(%w: tensor<8x12xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<8x4xf32> {dist.port = #dist.port<output "y0">}, tensor<f32> {dist.port = #dist.port<output "y1">}) {
  %w1 = stablehlo.slice %w [0:5, 0:12] : (tensor<8x12xf32>) -> tensor<5x12xf32>
  %w0 = stablehlo.slice %w [0:8, 0:4] : (tensor<8x12xf32>) -> tensor<8x4xf32>
  %r = stablehlo.negate %w1 : tensor<5x12xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %s = stablehlo.reduce(%r init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<5x12xf32>, tensor<f32>) -> tensor<f32>
  return %w0, %s : tensor<8x4xf32>, tensor<f32>
}
dist.entry @forward function(@f)
dist.entry @again function(@f)

//--- reshaped.mlir
// Sums over a dimension that is a part of the sliced one. Where parts end between its elements, each part has a sum of its
// own; else the whole is put together for the sum.
// CHECK-LABEL: func.func private @f
// CHECK-SAME: (%[[W0:[a-z0-9]+]]: tensor<4xf32> {{{[^}]*}}}, %[[W1:[a-z0-9]+]]: tensor<8xf32>
// CHECK-DAG: %[[W:.*]] = stablehlo.concatenate %[[W0]], %[[W1]], dim = 0
// CHECK-DAG: %[[R0:.*]] = stablehlo.reshape %[[W0]] : (tensor<4xf32>) -> tensor<1x4xf32>
// CHECK-DAG: %[[R1:.*]] = stablehlo.reshape %[[W1]] : (tensor<8xf32>) -> tensor<2x4xf32>
// CHECK-DAG: %[[S0:.*]] = stablehlo.reduce(%[[R0]] init: {{.*}} across dimensions = [0] : (tensor<1x4xf32>
// CHECK-DAG: %[[S1:.*]] = stablehlo.reduce(%[[R1]] init: {{.*}} across dimensions = [0] : (tensor<2x4xf32>
// CHECK-DAG: %[[S:.*]] = stablehlo.add %[[S0]], %[[S1]]
// CHECK-DAG: %[[H:.*]] = stablehlo.reshape %[[W]] : (tensor<12xf32>) -> tensor<2x6xf32>
// CHECK-DAG: %[[T:.*]] = stablehlo.reduce(%[[H]] init: {{.*}} across dimensions = [0] : (tensor<2x6xf32>
// CHECK: return %[[W0]], %[[S]], %[[T]]
dist.mesh @mesh = <"tensor"=2>
dist.state @w : tensor<12xf32> {role = parameter, row = #dist.row<rest = <@mesh, [{"tensor"}]>>, source = #dist.draw<ones>}
func.func private @f(%w: tensor<12xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<4xf32> {dist.port = #dist.port<output "y0">}, tensor<4xf32> {dist.port = #dist.port<output "y1">}, tensor<6xf32> {dist.port = #dist.port<output "y2">}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = stablehlo.slice %w [0:4] : (tensor<12xf32>) -> tensor<4xf32>
  %1 = stablehlo.reshape %w : (tensor<12xf32>) -> tensor<3x4xf32>
  %2 = stablehlo.reduce(%1 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<3x4xf32>, tensor<f32>) -> tensor<4xf32>
  %3 = stablehlo.reshape %w : (tensor<12xf32>) -> tensor<2x6xf32>
  %4 = stablehlo.reduce(%3 init: %zero) applies stablehlo.add across dimensions = [0] : (tensor<2x6xf32>, tensor<f32>) -> tensor<6xf32>
  return %0, %2, %4 : tensor<4xf32>, tensor<4xf32>, tensor<6xf32>
}
dist.entry @forward function(@f)

//--- first.mlir
// Where the row splits both dims, the first slice decides.
// CHECK: dist.state @v.0 part of @v box([0, 0] [8, 4])
// CHECK: dist.state @w.0 part of @w box([0, 0] [2, 12])
// CHECK: dist.state @w.1 part of @w box([2, 0] [6, 12])
dist.mesh @mesh = <"tensor"=2, "data"=2>
dist.state @v : tensor<8x12xf32> {role = parameter, row = #dist.row<rest = <@mesh, [{"data"}, {"tensor"}]>>, source = #dist.draw<ones>}
dist.state @w : tensor<8x12xf32> {role = parameter, row = #dist.row<rest = <@mesh, [{"data"}, {"tensor"}]>>, source = #dist.draw<ones>}
func.func private @f(%v: tensor<8x12xf32> {dist.port = #dist.port<parameter @v>}, %w: tensor<8x12xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<8x4xf32> {dist.port = #dist.port<output "y0">}, tensor<2x12xf32> {dist.port = #dist.port<output "y1">}, tensor<f32> {dist.port = #dist.port<output "y2">}, tensor<f32> {dist.port = #dist.port<output "y3">}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %v0 = stablehlo.slice %v [0:8, 0:4] : (tensor<8x12xf32>) -> tensor<8x4xf32>
  %v1 = stablehlo.slice %v [0:2, 0:12] : (tensor<8x12xf32>) -> tensor<2x12xf32>
  %w0 = stablehlo.slice %w [0:2, 0:12] : (tensor<8x12xf32>) -> tensor<2x12xf32>
  %w1 = stablehlo.slice %w [0:8, 0:4] : (tensor<8x12xf32>) -> tensor<8x4xf32>
  %s = stablehlo.reduce(%v1 init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<2x12xf32>, tensor<f32>) -> tensor<f32>
  %t = stablehlo.reduce(%w1 init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x4xf32>, tensor<f32>) -> tensor<f32>
  return %v0, %w0, %s, %t : tensor<8x4xf32>, tensor<2x12xf32>, tensor<f32>, tensor<f32>
}
dist.entry @forward function(@f)

//--- others.mlir
// Of what is no state of parts a sum reads slices, and of another state's parts
// slices of them side by side, joined before the first, in its block and phase.
// CHECK-LABEL: func.func private @f
// CHECK-SAME: (%[[W0:[a-z0-9]+]]: tensor<8x4xf32> {{{[^}]*}}}, %[[W1:[a-z0-9]+]]: tensor<8x8xf32> {{{[^}]*}}}, %[[V0:[a-z0-9]+]]: tensor<8x6xf32> {{{[^}]*}}}, %[[V1:[a-z0-9]+]]: tensor<8x6xf32> {{{[^}]*}}}, %[[B:[a-z0-9]+]]: tensor<8x12xf32>
// CHECK-DAG: %[[B0:.*]] = stablehlo.slice %[[B]] [0:8, 0:4]
// CHECK-DAG: stablehlo.multiply %[[W0]], %[[B0]]
// CHECK-DAG: %[[B1:.*]] = stablehlo.slice %[[B]] [0:8, 4:12]
// CHECK-DAG: stablehlo.multiply %[[W1]], %[[B1]]
// CHECK: %[[V:.*]] = stablehlo.concatenate %[[V0]], %[[V1]], dim = 1 {dist.block = 3 : i64, dist.phase = #dist.phase<forward>}
// CHECK: %[[C0:.*]] = stablehlo.slice %[[V]] [0:8, 0:4]
// CHECK: stablehlo.multiply %[[W0]], %[[C0]]
// CHECK: %[[C1:.*]] = stablehlo.slice %[[V]] [0:8, 4:12]
// CHECK: stablehlo.multiply %[[W1]], %[[C1]]
// CHECK: return %[[W0]], %[[V0]],
dist.mesh @mesh = <"tensor"=2>
dist.state @w : tensor<8x12xf32> {role = parameter, row = #dist.row<rest = <@mesh, [{}, {"tensor"}]>>, source = #dist.draw<ones>}
dist.state @v : tensor<8x12xf32> {role = parameter, row = #dist.row<rest = <@mesh, [{}, {"tensor"}]>>, source = #dist.draw<ones>}
func.func private @f(%w: tensor<8x12xf32> {dist.port = #dist.port<parameter @w>}, %v: tensor<8x12xf32> {dist.port = #dist.port<parameter @v>}, %b: tensor<8x12xf32> {dist.port = #dist.port<input "b">}) -> (tensor<8x4xf32> {dist.port = #dist.port<output "y0">}, tensor<8x6xf32> {dist.port = #dist.port<output "y1">}, tensor<f32> {dist.port = #dist.port<output "y2">}, tensor<f32> {dist.port = #dist.port<output "y3">}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %w0 = stablehlo.slice %w [0:8, 0:4] : (tensor<8x12xf32>) -> tensor<8x4xf32>
  %v0 = stablehlo.slice %v [0:8, 0:6] : (tensor<8x12xf32>) -> tensor<8x6xf32>
  %p = stablehlo.multiply %w, %b : tensor<8x12xf32>
  %s = stablehlo.reduce(%p init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x12xf32>, tensor<f32>) -> tensor<f32>
  %q = stablehlo.multiply %w, %v {dist.block = 3 : i64, dist.phase = #dist.phase<forward>} : tensor<8x12xf32>
  %t = stablehlo.reduce(%q init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<8x12xf32>, tensor<f32>) -> tensor<f32>
  return %w0, %v0, %s, %t : tensor<8x4xf32>, tensor<8x6xf32>, tensor<f32>, tensor<f32>
}
dist.entry @forward function(@f)

//--- whole.mlir
// @a is a result, @b has an optimizer state of another shape, @c is read by a
// maximum, @d by a sum of two, and a state of @e is sliced elsewhere.
// CHECK-DAG: remark: {{.*}}'a' is used in slices but stays whole: a result that is not its own in @f"
// CHECK-DAG: remark: {{.*}}'b' is used in slices but stays whole: an optimizer state of another shape"
// CHECK-DAG: remark: {{.*}}'c' is used in slices but stays whole: stablehlo.reduce in @f"
// CHECK-DAG: remark: {{.*}}'d' is used in slices but stays whole: stablehlo.reduce in @f"
// CHECK-DAG: remark: {{.*}}'e' is used in slices but stays whole: slices that overlap"
// CHECK-NOT: remark
// CHECK-NOT: part of
dist.mesh @mesh = <"tensor"=2>
dist.state @a : tensor<12xf32> {role = parameter, row = #dist.row<rest = <@mesh, [{"tensor"}]>>, source = #dist.draw<ones>}
dist.state @b : tensor<12xf32> {role = parameter, row = #dist.row<rest = <@mesh, [{"tensor"}]>>, source = #dist.draw<ones>}
dist.state @b.m : tensor<1xf32> {role = optimizer, of = @b, source = #dist.draw<zeros>}
dist.state @c : tensor<12xf32> {role = parameter, row = #dist.row<rest = <@mesh, [{"tensor"}]>>, source = #dist.draw<ones>}
dist.state @d : tensor<12xf32> {role = parameter, row = #dist.row<rest = <@mesh, [{"tensor"}]>>, source = #dist.draw<ones>}
dist.state @e : tensor<12xf32> {role = parameter, row = #dist.row<rest = <@mesh, [{"tensor"}]>>, source = #dist.draw<ones>}
dist.state @e.m : tensor<12xf32> {role = optimizer, of = @e, source = #dist.draw<zeros>}
func.func private @f(%a: tensor<12xf32> {dist.port = #dist.port<parameter @a>}, %b: tensor<12xf32> {dist.port = #dist.port<parameter @b>},
   %c: tensor<12xf32> {dist.port = #dist.port<parameter @c>}, %d: tensor<12xf32> {dist.port = #dist.port<parameter @d>}, %e: tensor<12xf32> {dist.port = #dist.port<parameter @e>}, %m: tensor<12xf32> {dist.port = #dist.port<optimizer @e.m>}) -> (tensor<6xf32> {dist.port = #dist.port<output "y0">}, tensor<12xf32> {dist.port = #dist.port<output "y1">}, tensor<f32> {dist.port = #dist.port<output "y2">}, tensor<f32> {dist.port = #dist.port<output "y3">}, tensor<6xf32> {dist.port = #dist.port<output "y4">}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %a0 = stablehlo.slice %a [0:6] : (tensor<12xf32>) -> tensor<6xf32>
  %a1 = stablehlo.negate %a : tensor<12xf32>
  %b0 = stablehlo.slice %b [0:6] : (tensor<12xf32>) -> tensor<6xf32>
  %c0 = stablehlo.slice %c [0:6] : (tensor<12xf32>) -> tensor<6xf32>
  %c1 = stablehlo.reduce(%c init: %zero) applies stablehlo.maximum across dimensions = [0] : (tensor<12xf32>, tensor<f32>) -> tensor<f32>
  %d0 = stablehlo.slice %d [0:6] : (tensor<12xf32>) -> tensor<6xf32>
  %d1:2 = stablehlo.reduce(%d init: %zero), (%d init: %zero) across dimensions = [0] : (tensor<12xf32>, tensor<12xf32>, tensor<f32>, tensor<f32>) -> (tensor<f32>, tensor<f32>)
    reducer(%p: tensor<f32>, %h: tensor<f32>) (%q: tensor<f32>, %g: tensor<f32>) {
      %t = stablehlo.add %p, %h : tensor<f32>
      %u = stablehlo.add %q, %g : tensor<f32>
      stablehlo.return %t, %u : tensor<f32>, tensor<f32>
    }
  %s0 = stablehlo.add %a0, %b0 : tensor<6xf32>
  %s1 = stablehlo.add %c0, %d0 : tensor<6xf32>
  %s2 = stablehlo.add %s0, %s1 : tensor<6xf32>
  %e0 = stablehlo.slice %e [0:6] : (tensor<12xf32>) -> tensor<6xf32>
  %m1 = stablehlo.slice %m [3:9] : (tensor<12xf32>) -> tensor<6xf32>
  %s3 = stablehlo.add %e0, %m1 : tensor<6xf32>
  return %s2, %a1, %c1, %d1#0, %s3 : tensor<6xf32>, tensor<12xf32>, tensor<f32>, tensor<f32>, tensor<6xf32>
}
dist.entry @forward function(@f)
