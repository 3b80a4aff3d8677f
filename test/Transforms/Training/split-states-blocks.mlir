// RUN: llmc-opt %s --llmc-split-states --remarks-filter=training --remark-format=emitRemark 2>%t | FileCheck %s
// RUN: FileCheck %s --check-prefix=REMARKS --input-file=%t

// A stack of layers without a row is stored in parts, since each block reads a
// row of its own (@w). The gradient of a part is that of its row, without what
// the others add. Slices of one block (@v) are no reason, nor is one row that
// all blocks read (@u). What is read as a whole too (@z) stays whole.
// REMARKS-DAG: 'w' is stored in 2 parts
// REMARKS-DAG: 'z' is used in slices but stays whole: a result that is not its own in @f
// REMARKS-NOT: 'v'
// REMARKS-NOT: 'u'
// CHECK: dist.state @w.0 part of @w box([0, 0] [1, 4]) : tensor<1x4xf32> {role = parameter}
// CHECK: dist.state @w.1 part of @w box([1, 0] [1, 4]) : tensor<1x4xf32> {role = parameter}
// CHECK: dist.state @w.m.1 part of @w.m box([1, 0] [1, 4]) : tensor<1x4xf32> {role = optimizer, of = @w.1}
// CHECK-NOT: part of
// CHECK-LABEL: func.func private @microbatch
// CHECK-SAME: (%[[W0:[a-z0-9]+]]: tensor<1x4xf32> {{{[^}]*}}}, %[[W1:[a-z0-9]+]]: tensor<1x4xf32>
// CHECK: %[[A:.*]] = stablehlo.multiply %[[W0]], %[[W0]] {dist.block = 1 : i64}
// CHECK: %[[B:.*]] = stablehlo.multiply %[[W1]], %[[A]] {dist.block = 2 : i64}
// CHECK-NOT: stablehlo.pad
// CHECK: return %{{.*}}, %{{.*}}, %[[A]], %[[B]]
dist.mesh @mesh = <"data"=1>
dist.state @w : tensor<2x4xf32> {role = parameter, source = #dist.draw<ones>}
dist.state @w.m : tensor<2x4xf32> {role = optimizer, of = @w, source = #dist.draw<zeros>}
dist.state @v : tensor<2x4xf32> {role = parameter, source = #dist.draw<ones>}
dist.state @u : tensor<2x4xf32> {role = parameter, source = #dist.draw<ones>}
dist.state @z : tensor<2x4xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @microbatch(%w: tensor<2x4xf32> {dist.port = #dist.port<parameter @w>})
    -> (tensor<f32> {dist.port = #dist.port<loss_sum>}, tensor<f32> {dist.port = #dist.port<count>}, tensor<2x4xf32> {dist.port = #dist.port<gradient @w>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %w0 = stablehlo.slice %w [0:1, 0:4] {dist.block = 1 : i64} : (tensor<2x4xf32>) -> tensor<1x4xf32>
  %w1 = stablehlo.slice %w [1:2, 0:4] {dist.block = 2 : i64} : (tensor<2x4xf32>) -> tensor<1x4xf32>
  %a = stablehlo.multiply %w0, %w0 {dist.block = 1 : i64} : tensor<1x4xf32>
  %b = stablehlo.multiply %w1, %a {dist.block = 2 : i64} : tensor<1x4xf32>
  %p0 = stablehlo.pad %a, %zero, low = [0, 0], high = [1, 0], interior = [0, 0] {dist.block = 1 : i64} : (tensor<1x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  %p1 = stablehlo.pad %b, %zero, low = [1, 0], high = [0, 0], interior = [0, 0] {dist.block = 2 : i64} : (tensor<1x4xf32>, tensor<f32>) -> tensor<2x4xf32>
  %g = stablehlo.add %p1, %p0 {dist.block = 1 : i64} : tensor<2x4xf32>
  return %zero, %zero, %g : tensor<f32>, tensor<f32>, tensor<2x4xf32>
}
func.func private @update(%w: tensor<2x4xf32> {dist.port = #dist.port<parameter @w>}, %m: tensor<2x4xf32> {dist.port = #dist.port<optimizer @w.m>},
                          %g: tensor<2x4xf32> {dist.port = #dist.port<gradient @w>})
    -> (tensor<2x4xf32> {dist.port = #dist.port<parameter @w>}, tensor<2x4xf32> {dist.port = #dist.port<optimizer @w.m>}) {
  %n = stablehlo.add %m, %g {dist.phase = #dist.phase<update>} : tensor<2x4xf32>
  %1 = stablehlo.subtract %w, %n {dist.phase = #dist.phase<update>} : tensor<2x4xf32>
  return %1, %n : tensor<2x4xf32>, tensor<2x4xf32>
}
func.func private @f(%v: tensor<2x4xf32> {dist.port = #dist.port<parameter @v>}, %u: tensor<2x4xf32> {dist.port = #dist.port<parameter @u>}, %z: tensor<2x4xf32> {dist.port = #dist.port<parameter @z>})
    -> (tensor<1x4xf32> {dist.port = #dist.port<output "y1">}, tensor<1x4xf32> {dist.port = #dist.port<output "y2">}, tensor<1x4xf32> {dist.port = #dist.port<output "y3">}, tensor<2x4xf32> {dist.port = #dist.port<output "y4">}) {
  %v0 = stablehlo.slice %v [0:1, 0:4] {dist.block = 1 : i64} : (tensor<2x4xf32>) -> tensor<1x4xf32>
  %v1 = stablehlo.slice %v [1:2, 0:4] {dist.block = 1 : i64} : (tensor<2x4xf32>) -> tensor<1x4xf32>
  %u0 = stablehlo.slice %u [0:1, 0:4] {dist.block = 1 : i64} : (tensor<2x4xf32>) -> tensor<1x4xf32>
  %u1 = stablehlo.slice %u [0:1, 0:4] {dist.block = 2 : i64} : (tensor<2x4xf32>) -> tensor<1x4xf32>
  %z0 = stablehlo.slice %z [0:1, 0:4] {dist.block = 1 : i64} : (tensor<2x4xf32>) -> tensor<1x4xf32>
  %z1 = stablehlo.slice %z [1:2, 0:4] {dist.block = 2 : i64} : (tensor<2x4xf32>) -> tensor<1x4xf32>
  %y1 = stablehlo.add %v0, %v1 {dist.block = 1 : i64} : tensor<1x4xf32>
  %y2 = stablehlo.add %u0, %u1 {dist.block = 2 : i64} : tensor<1x4xf32>
  %y3 = stablehlo.add %z0, %z1 {dist.block = 2 : i64} : tensor<1x4xf32>
  %n = stablehlo.negate %z {dist.block = 3 : i64} : tensor<2x4xf32>
  return %y1, %y2, %y3, %n : tensor<1x4xf32>, tensor<1x4xf32>, tensor<1x4xf32>, tensor<2x4xf32>
}
dist.step @train microbatch(@microbatch) update(@update) microbatches(1) schedule(<1f1b>)
dist.entry @forward function(@f)
