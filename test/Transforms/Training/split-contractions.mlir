// RUN: split-file %s %t
// RUN: llmc-opt %t/fused.mlir --llmc-split-contractions | FileCheck %t/fused.mlir
// RUN: llmc-opt %t/fused.mlir --llmc-split-contractions --remarks-filter=training --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %t/fused.mlir --check-prefix=REMARK
// RUN: llmc-opt %t/reshaped.mlir --llmc-split-contractions | FileCheck %t/reshaped.mlir
// RUN: llmc-opt %t/group.mlir --llmc-split-contractions | FileCheck %t/group.mlir
// RUN: llmc-opt %t/whole.mlir --llmc-split-contractions > %t/after
// RUN: llmc-opt %t/whole.mlir > %t/before
// RUN: diff %t/before %t/after
// RUN: llmc-opt %t/unsplit.mlir --llmc-split-contractions --remarks-filter=training --remark-format=emitRemark 2>&1 > %t/after | FileCheck %t/unsplit.mlir --allow-empty
// RUN: llmc-opt %t/unsplit.mlir > %t/before
// RUN: diff %t/before %t/after
// RUN: llmc-opt %t/constants.mlir --llmc-split-contractions | FileCheck %t/constants.mlir
// RUN: llmc-opt %t/ops.mlir --llmc-split-contractions --remarks-filter=training --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %t/ops.mlir
// RUN: llmc-opt %t/counted.mlir --llmc-split-contractions | FileCheck %t/counted.mlir
// RUN: llmc-opt %t/remarks.mlir --llmc-split-contractions --remarks-filter=training --remark-format=emitRemark -o /dev/null 2>&1 | FileCheck %t/remarks.mlir

//--- fused.mlir
// REMARK: Remark="split a product into 3, one for each slice"
// REMARK-NOT: Remark
// One product with its bias, in three: each on its columns of the weight and
// its part of the bias. What has no dimension of the cut stays one.
// CHECK-LABEL: func.func @loss
// CHECK-SAME: (%[[X:.*]]: tensor<2x8xf32> {{.*}}, %[[W:.*]]: tensor<8x12xf32> {{.*}}, %[[B:.*]]: tensor<12xf32>
// CHECK-DAG: %[[W0:.*]] = stablehlo.slice %[[W]] [0:8, 0:4] {dist.block = 3 : i64}
// CHECK-DAG: %[[D0:.*]] = stablehlo.dot_general %[[X]], %[[W0]], {{.*}}{dist.block = 3 : i64} : (tensor<2x8xf32>, tensor<8x4xf32>) -> tensor<2x4xf32>
// CHECK-DAG: %[[W2:.*]] = stablehlo.slice %[[W]] [0:8, 8:12]
// CHECK-DAG: %[[D2:.*]] = stablehlo.dot_general %[[X]], %[[W2]],
// CHECK-DAG: %[[B0:.*]] = stablehlo.slice %[[B]] [0:4] {dist.block = 4 : i64}
// CHECK-DAG: %[[R0:.*]] = stablehlo.broadcast_in_dim %[[B0]], dims = [1] {dist.block = 4 : i64} : (tensor<4xf32>) -> tensor<2x4xf32>
// CHECK-DAG: %[[S0:.*]] = stablehlo.add %[[D0]], %[[R0]]
// CHECK-DAG: %[[S2:.*]] = stablehlo.add %[[D2]], %{{.*}} : tensor<2x4xf32>
// CHECK-NOT: tensor<2x12xf32>
// CHECK: %[[P:.*]] = stablehlo.multiply %[[S0]], %{{.*}} : tensor<2x4xf32>
// CHECK: stablehlo.multiply %[[P]], %[[S2]]
dist.mesh @mesh = <"tensor"=2>
dist.state @w : tensor<8x12xf32> {role = parameter, row = #dist.row<rest = <@mesh, [{}, {"tensor"}]>>, source = #dist.draw<ones>}
dist.state @b : tensor<12xf32> {role = parameter, row = #dist.row<rest = <@mesh, [{"tensor"}]>>, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%x: tensor<2x8xf32> {dist.port = #dist.port<input "x">}, %w: tensor<8x12xf32> {dist.port = #dist.port<parameter @w>},
                %b: tensor<12xf32> {dist.port = #dist.port<parameter @b>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] {dist.block = 3 : i64} : (tensor<2x8xf32>, tensor<8x12xf32>) -> tensor<2x12xf32>
  %1 = stablehlo.broadcast_in_dim %b, dims = [1] {dist.block = 4 : i64} : (tensor<12xf32>) -> tensor<2x12xf32>
  %2 = stablehlo.add %0, %1 : tensor<2x12xf32>
  %3 = stablehlo.slice %2 [0:2, 0:4] : (tensor<2x12xf32>) -> tensor<2x4xf32>
  %4 = stablehlo.slice %2 [0:2, 4:8] : (tensor<2x12xf32>) -> tensor<2x4xf32>
  %5 = stablehlo.slice %2 [0:2, 8:12] : (tensor<2x12xf32>) -> tensor<2x4xf32>
  %6 = stablehlo.multiply %3, %4 : tensor<2x4xf32>
  %7 = stablehlo.multiply %6, %5 : tensor<2x4xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %8 = stablehlo.reduce(%7 init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<2x4xf32>, tensor<f32>) -> tensor<f32>
  return %8 : tensor<f32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(1) schedule(<1f1b>)

//--- reshaped.mlir
// The slices are of a major factor, after a reshape and a transpose; uneven
// parts, and one weight that two products share.
// CHECK-LABEL: func.func @loss
// CHECK-DAG: stablehlo.slice %{{.*}} [0:8, 0:4] : (tensor<8x12xf32>) -> tensor<8x4xf32>
// CHECK-DAG: stablehlo.slice %{{.*}} [0:8, 4:12] : (tensor<8x12xf32>) -> tensor<8x8xf32>
// CHECK-DAG: stablehlo.reshape %{{.*}} : (tensor<2x4xf32>) -> tensor<2x1x4xf32>
// CHECK-DAG: stablehlo.reshape %{{.*}} : (tensor<2x8xf32>) -> tensor<2x2x4xf32>
// CHECK-DAG: stablehlo.transpose %{{.*}}, dims = [1, 0, 2] : (tensor<2x2x4xf32>) -> tensor<2x2x4xf32>
// CHECK-NOT: tensor<2x12xf32>
dist.mesh @mesh = <"tensor"=2>
dist.state @w : tensor<8x12xf32> {role = parameter, row = #dist.row<use = <@mesh, [{}, {"tensor"}]>>, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%x: tensor<2x8xf32> {dist.port = #dist.port<input "x">}, %w: tensor<8x12xf32> {dist.port = #dist.port<parameter @w>})
    -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<2x8xf32>, tensor<8x12xf32>) -> tensor<2x12xf32>
  %1 = stablehlo.reshape %0 : (tensor<2x12xf32>) -> tensor<2x3x4xf32>
  %2 = stablehlo.transpose %1, dims = [1, 0, 2] : (tensor<2x3x4xf32>) -> tensor<3x2x4xf32>
  %3 = stablehlo.slice %2 [0:1, 0:2, 0:4] : (tensor<3x2x4xf32>) -> tensor<1x2x4xf32>
  %4 = stablehlo.slice %2 [1:3, 0:2, 0:4] : (tensor<3x2x4xf32>) -> tensor<2x2x4xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %5 = stablehlo.reduce(%3 init: %zero) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<1x2x4xf32>, tensor<f32>) -> tensor<f32>
  %6 = stablehlo.reduce(%4 init: %zero) applies stablehlo.add across dimensions = [0, 1, 2] : (tensor<2x2x4xf32>, tensor<f32>) -> tensor<f32>
  %7 = stablehlo.add %5, %6 : tensor<f32>
  return %7 : tensor<f32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(1) schedule(<1f1b>)

//--- group.mlir
// A part has not the shape of the sharding group of the whole, and is not in it.
// CHECK-LABEL: func.func @loss
// CHECK: dist.constraint %arg0 {{.*}}{dist.group = 3 : i64}
// CHECK: stablehlo.dot_general {{.*}} -> tensor<2x4xf32>
// CHECK-NOT: dist.group
dist.mesh @mesh = <"tensor"=2>
dist.state @w : tensor<8x8xf32> {role = parameter, row = #dist.row<rest = <@mesh, [{}, {"tensor"}]>>, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%x: tensor<2x8xf32> {dist.port = #dist.port<input "x">}, %w: tensor<8x8xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %0 = dist.constraint %x to <@mesh, [{?}, {?}]> {dist.group = 3 : i64} : tensor<2x8xf32>
  %1 = stablehlo.dot_general %0, %w, contracting_dims = [1] x [0] : (tensor<2x8xf32>, tensor<8x8xf32>) -> tensor<2x8xf32>
  %2 = dist.constraint %1 to <@mesh, [{?}, {?}]> {dist.group = 3 : i64} : tensor<2x8xf32>
  %3 = stablehlo.slice %2 [0:2, 0:4] : (tensor<2x8xf32>) -> tensor<2x4xf32>
  %4 = stablehlo.slice %2 [0:2, 4:8] : (tensor<2x8xf32>) -> tensor<2x4xf32>
  %5 = stablehlo.multiply %3, %4 : tensor<2x4xf32>
  %6 = stablehlo.reduce(%5 init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<2x4xf32>, tensor<f32>) -> tensor<f32>
  return %6 : tensor<f32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(1) schedule(<1f1b>)

//--- whole.mlir
// No row splits the sliced dimension: one product is faster.
dist.mesh @mesh = <"tensor"=2>
dist.state @w : tensor<8x12xf32> {role = parameter, row = #dist.row<rest = <@mesh, [{"tensor"}, {}]>>, source = #dist.draw<ones>}
dist.state @b : tensor<12xf32> {role = parameter, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%x: tensor<2x8xf32> {dist.port = #dist.port<input "x">}, %w: tensor<8x12xf32> {dist.port = #dist.port<parameter @w>},
                %b: tensor<12xf32> {dist.port = #dist.port<parameter @b>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<2x8xf32>, tensor<8x12xf32>) -> tensor<2x12xf32>
  %1 = stablehlo.broadcast_in_dim %b, dims = [1] : (tensor<12xf32>) -> tensor<2x12xf32>
  %2 = stablehlo.add %0, %1 : tensor<2x12xf32>
  %3 = stablehlo.slice %2 [0:2, 0:6] : (tensor<2x12xf32>) -> tensor<2x6xf32>
  %4 = stablehlo.slice %2 [0:2, 6:12] : (tensor<2x12xf32>) -> tensor<2x6xf32>
  %6 = stablehlo.multiply %3, %4 : tensor<2x6xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %8 = stablehlo.reduce(%6 init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<2x6xf32>, tensor<f32>) -> tensor<f32>
  return %8 : tensor<f32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(1) schedule(<1f1b>)

//--- remarks.mlir
// A second use, and an activation, stand against it; slices that leave a gap
// say nothing.
// CHECK: remark: {{.*}}a split state's product is sliced but stays whole: another use of stablehlo.dot_general stands between
// CHECK: remark: {{.*}}a split state's product is sliced but stays whole: an argument that is no state stands between
// CHECK-NOT: remark
dist.mesh @mesh = <"tensor"=2>
dist.state @w : tensor<8x12xf32> {role = parameter, row = #dist.row<rest = <@mesh, [{}, {"tensor"}]>>, source = #dist.draw<ones>}
func.func private @opt(%p: tensor<1xf32> {dist.port = #dist.port<parameter>}, %g: tensor<1xf32> {dist.port = #dist.port<gradient>})
    -> (tensor<1xf32> {dist.port = #dist.port<parameter>}) { return %p : tensor<1xf32> }
func.func @loss(%x: tensor<2x8xf32> {dist.port = #dist.port<input "x">}, %y: tensor<2x12xf32> {dist.port = #dist.port<input "y">},
                %w: tensor<8x12xf32> {dist.port = #dist.port<parameter @w>}) -> (tensor<f32> {dist.port = #dist.port<loss>}) {
  %gap = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<2x8xf32>, tensor<8x12xf32>) -> tensor<2x12xf32>
  %g0 = stablehlo.slice %gap [0:2, 0:6] : (tensor<2x12xf32>) -> tensor<2x6xf32>
  %g1 = stablehlo.slice %gap [0:2, 5:11] : (tensor<2x12xf32>) -> tensor<2x6xf32>
  %0 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<2x8xf32>, tensor<8x12xf32>) -> tensor<2x12xf32>
  %1 = stablehlo.add %0, %y : tensor<2x12xf32>
  %2 = stablehlo.slice %1 [0:2, 0:6] : (tensor<2x12xf32>) -> tensor<2x6xf32>
  %3 = stablehlo.slice %1 [0:2, 6:12] : (tensor<2x12xf32>) -> tensor<2x6xf32>
  %4 = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<2x8xf32>, tensor<8x12xf32>) -> tensor<2x12xf32>
  %5 = stablehlo.tanh %4 : tensor<2x12xf32>
  %6 = stablehlo.slice %5 [0:2, 0:6] : (tensor<2x12xf32>) -> tensor<2x6xf32>
  %7 = stablehlo.slice %5 [0:2, 6:12] : (tensor<2x12xf32>) -> tensor<2x6xf32>
  %zero = stablehlo.constant dense<0.0> : tensor<f32>
  %8 = stablehlo.reduce(%4 init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<2x12xf32>, tensor<f32>) -> tensor<f32>
  %a = stablehlo.multiply %g0, %g1 : tensor<2x6xf32>
  %b = stablehlo.multiply %2, %3 : tensor<2x6xf32>
  %c = stablehlo.multiply %6, %7 : tensor<2x6xf32>
  %d = stablehlo.add %a, %b : tensor<2x6xf32>
  %e = stablehlo.add %d, %c : tensor<2x6xf32>
  %f = stablehlo.reduce(%e init: %zero) applies stablehlo.add across dimensions = [0, 1] : (tensor<2x6xf32>, tensor<f32>) -> tensor<f32>
  %s = stablehlo.add %f, %8 : tensor<f32>
  return %s : tensor<f32>
}
dist.training @train forward(@loss) optimizer(@opt) microbatches(1) schedule(<1f1b>)

//--- unsplit.mlir
// Slices that end before the whole does, that begin after it, along one of two
// dimensions or along both, or just one, are no parts of a product: nothing is said.
// CHECK-NOT: remark
dist.mesh @mesh = <"tensor"=2>
dist.state @w : tensor<8x12xf32> {role = parameter, row = #dist.row<rest = <@mesh, [{}, {"tensor"}]>>, source = #dist.draw<ones>}
func.func private @f(%x: tensor<2x8xf32> {dist.port = #dist.port<input "x">}, %z: tensor<12x8xf32> {dist.port = #dist.port<input "z">}, %w: tensor<8x12xf32> {dist.port = #dist.port<parameter @w>})
    -> (tensor<2x4xf32> {dist.port = #dist.port<output "y0">}, tensor<2x4xf32> {dist.port = #dist.port<output "y1">}, tensor<2x4xf32> {dist.port = #dist.port<output "y2">}, tensor<2x4xf32> {dist.port = #dist.port<output "y3">}, tensor<12x6xf32> {dist.port = #dist.port<output "y4">}, tensor<6x12xf32> {dist.port = #dist.port<output "y5">}, tensor<2x6xf32> {dist.port = #dist.port<output "y6">}, tensor<1x6xf32> {dist.port = #dist.port<output "y7">}, tensor<1x6xf32> {dist.port = #dist.port<output "y8">}) {
  %a = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<2x8xf32>, tensor<8x12xf32>) -> tensor<2x12xf32>
  %a0 = stablehlo.slice %a [0:2, 0:4] : (tensor<2x12xf32>) -> tensor<2x4xf32>
  %a1 = stablehlo.slice %a [0:2, 4:8] : (tensor<2x12xf32>) -> tensor<2x4xf32>
  %b = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<2x8xf32>, tensor<8x12xf32>) -> tensor<2x12xf32>
  %b0 = stablehlo.slice %b [0:2, 4:8] : (tensor<2x12xf32>) -> tensor<2x4xf32>
  %b1 = stablehlo.slice %b [0:2, 8:12] : (tensor<2x12xf32>) -> tensor<2x4xf32>
  %c = stablehlo.dot_general %z, %w, contracting_dims = [1] x [0] : (tensor<12x8xf32>, tensor<8x12xf32>) -> tensor<12x12xf32>
  %c0 = stablehlo.slice %c [0:12, 0:6] : (tensor<12x12xf32>) -> tensor<12x6xf32>
  %c1 = stablehlo.slice %c [6:12, 0:12] : (tensor<12x12xf32>) -> tensor<6x12xf32>
  %d = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<2x8xf32>, tensor<8x12xf32>) -> tensor<2x12xf32>
  %d0 = stablehlo.slice %d [0:2, 0:6] : (tensor<2x12xf32>) -> tensor<2x6xf32>
  %e = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<2x8xf32>, tensor<8x12xf32>) -> tensor<2x12xf32>
  %e0 = stablehlo.slice %e [0:1, 0:6] : (tensor<2x12xf32>) -> tensor<1x6xf32>
  %e1 = stablehlo.slice %e [0:1, 6:12] : (tensor<2x12xf32>) -> tensor<1x6xf32>
  return %a0, %a1, %b0, %b1, %c0, %c1, %d0, %e0, %e1 : tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>, tensor<12x6xf32>, tensor<6x12xf32>, tensor<2x6xf32>, tensor<1x6xf32>, tensor<1x6xf32>
}
dist.entry @forward function(@f)

//--- constants.mlir
// A constant may have another use: each part has its own.
// CHECK-LABEL: func.func private @f
// CHECK-DAG: %[[C0:.*]] = stablehlo.constant dense<5.0{{.*}}> : tensor<2x6xf32>
// CHECK-DAG: %[[D0:.*]] = stablehlo.dot_general %{{.*}} -> tensor<2x6xf32>
// CHECK-DAG: stablehlo.multiply %[[D0]], %[[C0]] : tensor<2x6xf32>
// CHECK-NOT: -> tensor<2x12xf32>
// CHECK: return
dist.mesh @mesh = <"tensor"=2>
dist.state @w : tensor<8x12xf32> {role = parameter, row = #dist.row<rest = <@mesh, [{}, {"tensor"}]>>, source = #dist.draw<ones>}
func.func private @f(%x: tensor<2x8xf32> {dist.port = #dist.port<input "x">}, %w: tensor<8x12xf32> {dist.port = #dist.port<parameter @w>})
    -> (tensor<2x6xf32> {dist.port = #dist.port<output "y0">}, tensor<2x6xf32> {dist.port = #dist.port<output "y1">}, tensor<2x12xf32> {dist.port = #dist.port<output "y2">}) {
  %a = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<2x8xf32>, tensor<8x12xf32>) -> tensor<2x12xf32>
  %c = stablehlo.constant dense<5.0> : tensor<2x12xf32>
  %b = stablehlo.multiply %a, %c : tensor<2x12xf32>
  %b0 = stablehlo.slice %b [0:2, 0:6] : (tensor<2x12xf32>) -> tensor<2x6xf32>
  %b1 = stablehlo.slice %b [0:2, 6:12] : (tensor<2x12xf32>) -> tensor<2x6xf32>
  return %b0, %b1, %c : tensor<2x6xf32>, tensor<2x6xf32>, tensor<2x12xf32>
}
dist.entry @forward function(@f)

//--- ops.mlir
// Ops that no cut passes: what turns the dimension around, and a product of a
// state with itself, which is cut in one place and not, or otherwise, in the
// other.
// CHECK: remark: {{.*}}a split state's product is sliced but stays whole: stablehlo.dot_general stands between
// CHECK: remark: {{.*}}a split state's product is sliced but stays whole: stablehlo.dot_general stands between
// CHECK: remark: {{.*}}a split state's product is sliced but stays whole: stablehlo.reverse stands between
// CHECK-NOT: remark
dist.mesh @mesh = <"tensor"=2>
dist.state @w : tensor<12x12xf32> {role = parameter, row = #dist.row<rest = <@mesh, [{"tensor"}, {}]>>, source = #dist.draw<ones>}
func.func private @f(%x: tensor<12x12xf32> {dist.port = #dist.port<input "x">}, %v: tensor<12xf32> {dist.port = #dist.port<input "v">}, %w: tensor<12x12xf32> {dist.port = #dist.port<parameter @w>})
    -> (tensor<6x12xf32> {dist.port = #dist.port<output "y0">}, tensor<6x12xf32> {dist.port = #dist.port<output "y1">}, tensor<6xf32> {dist.port = #dist.port<output "y2">}, tensor<6xf32> {dist.port = #dist.port<output "y3">}, tensor<6x12xf32> {dist.port = #dist.port<output "y4">}, tensor<6x12xf32> {dist.port = #dist.port<output "y5">}) {
  %d = stablehlo.dot_general %w, %x, contracting_dims = [1] x [0] : (tensor<12x12xf32>, tensor<12x12xf32>) -> tensor<12x12xf32>
  %d2 = stablehlo.dot_general %w, %x, contracting_dims = [1] x [0] : (tensor<12x12xf32>, tensor<12x12xf32>) -> tensor<12x12xf32>
  %rd = stablehlo.reverse %d2, dims = [0] : tensor<12x12xf32>
  %r = stablehlo.add %d, %rd : tensor<12x12xf32>
  %r0 = stablehlo.slice %r [0:6, 0:12] : (tensor<12x12xf32>) -> tensor<6x12xf32>
  %r1 = stablehlo.slice %r [6:12, 0:12] : (tensor<12x12xf32>) -> tensor<6x12xf32>
  %e = stablehlo.dot_general %w, %v, contracting_dims = [1] x [0] : (tensor<12x12xf32>, tensor<12xf32>) -> tensor<12xf32>
  %eb = stablehlo.dot_general %w, %w, batching_dims = [0] x [1], contracting_dims = [1] x [0] : (tensor<12x12xf32>, tensor<12x12xf32>) -> tensor<12xf32>
  %b = stablehlo.add %e, %eb : tensor<12xf32>
  %b0 = stablehlo.slice %b [0:6] : (tensor<12xf32>) -> tensor<6xf32>
  %b1 = stablehlo.slice %b [6:12] : (tensor<12xf32>) -> tensor<6xf32>
  %h = stablehlo.dot_general %w, %x, contracting_dims = [1] x [0] : (tensor<12x12xf32>, tensor<12x12xf32>) -> tensor<12x12xf32>
  %hc = stablehlo.dot_general %w, %w, contracting_dims = [1] x [1] : (tensor<12x12xf32>, tensor<12x12xf32>) -> tensor<12x12xf32>
  %c = stablehlo.add %h, %hc : tensor<12x12xf32>
  %c0 = stablehlo.slice %c [0:6, 0:12] : (tensor<12x12xf32>) -> tensor<6x12xf32>
  %c1 = stablehlo.slice %c [6:12, 0:12] : (tensor<12x12xf32>) -> tensor<6x12xf32>
  return %r0, %r1, %b0, %b1, %c0, %c1 : tensor<6x12xf32>, tensor<6x12xf32>, tensor<6xf32>, tensor<6xf32>, tensor<6x12xf32>, tensor<6x12xf32>
}
dist.entry @forward function(@f)

//--- counted.mlir
// What counts along the cut begins where its part does; what counts along
// another dimension begins at 0.
// CHECK-LABEL: func.func private @f
// CHECK-COUNT-2: stablehlo.iota dim = 0 : tensor<2x6xf32>
// CHECK: %[[ZERO:.*]] = stablehlo.constant dense<0> : tensor<i32>
// CHECK: stablehlo.broadcast_in_dim %[[ZERO]], dims = [] : (tensor<i32>) -> tensor<6xi32>
// CHECK: %[[SIX:.*]] = stablehlo.constant dense<6> : tensor<i32>
// CHECK: stablehlo.broadcast_in_dim %[[SIX]], dims = [] : (tensor<i32>) -> tensor<6xi32>
// CHECK-NOT: tensor<2x12xf32>
dist.mesh @mesh = <"tensor"=2>
dist.state @w : tensor<8x12xf32> {role = parameter, row = #dist.row<rest = <@mesh, [{}, {"tensor"}]>>, source = #dist.draw<ones>}
func.func private @f(%x: tensor<2x8xf32> {dist.port = #dist.port<input "x">}, %w: tensor<8x12xf32> {dist.port = #dist.port<parameter @w>})
    -> (tensor<2x6xf32> {dist.port = #dist.port<output "y0">}, tensor<2x6xf32> {dist.port = #dist.port<output "y1">}) {
  %a = stablehlo.dot_general %x, %w, contracting_dims = [1] x [0] : (tensor<2x8xf32>, tensor<8x12xf32>) -> tensor<2x12xf32>
  %i = stablehlo.iota dim = 0 : tensor<2x12xf32>
  %j = stablehlo.iota dim = 1 : tensor<2x12xf32>
  %b = stablehlo.add %a, %i : tensor<2x12xf32>
  %c = stablehlo.multiply %b, %j : tensor<2x12xf32>
  %b0 = stablehlo.slice %c [0:2, 0:6] : (tensor<2x12xf32>) -> tensor<2x6xf32>
  %b1 = stablehlo.slice %c [0:2, 6:12] : (tensor<2x12xf32>) -> tensor<2x6xf32>
  return %b0, %b1 : tensor<2x6xf32>, tensor<2x6xf32>
}
dist.entry @forward function(@f)
